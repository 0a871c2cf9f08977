import { open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { MAX_ACTIONS_PER_REQUEST } from "../actions/actions.ts";
import type { Severity } from "../actions/problem.ts";
import { CrossActionChecks, type KnownState, type KnownTicket, NOTHING_KNOWN } from "../checks/cross-action.ts";
import { severityIn } from "../checks/severity.ts";
import { makeFolder } from "../disk/folders.ts";
import { syncDirectory, syncFile } from "../disk/sync.ts";
import { ledgerKnownState } from "../ledger/known-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Pending } from "../ledger/pending.ts";
import { type Mending, NO_REJECTED_ROWS, rejectedRows } from "../ledger/rejected-rows.ts";
import { lastSettlement } from "../ledger/settlements.ts";
import { openActionText } from "../mapping/open-actions.ts";
import type { CsvOptions } from "../readers/csv.ts";
import type { Clock } from "../readers/finished.ts";
import { type Input, openInput } from "../readers/input.ts";
import type { InputFile } from "../readers/input-file.ts";
import { type BlockedRow, candidateFiles, removeCandidates } from "./candidates/candidates.ts";
import { createBlockedRows, createInvalidRows, type InvalidRows } from "./candidates/rows-not-sent.ts";
import { type Compiled, compile, type OnUnderstood } from "./compile/compile.ts";
import type { MadeMapper } from "./compile/compile-rows.ts";
import { select } from "./decide/decide.ts";
import type { HeldFor } from "./decide/held-rows.ts";
import type { Selection } from "./decide/selection.ts";
import type { WaitingRows } from "./decide/waiting-rows.ts";
import { copyRanges, createFile } from "./files/append-file.ts";
import { cutChunks } from "./files/cut-chunks.ts";
import { RECORD_BYTES, readOrigin } from "./files/index-file.ts";
import { type Copies, copyInputs } from "./files/input-copies.ts";
import { type Manifest, manifestOf, type Order, type RowCounts, type RunOptions } from "./files/manifest.ts";
import { planFiles } from "./files/plan.ts";
import type { ChangedAction } from "./findings/changed-actions.ts";
import type { ProblemLog } from "./findings/problem-log.ts";
import { createSalesSeen, type Vanished } from "./findings/vanished-tickets.ts";
import { assignLanes, writeByLane } from "./order/assign-lanes.ts";
import { groupKept } from "./order/group-candidates.ts";
import { createLaneGroups, type LaneAssignment, type LaneGroups, RowEvents } from "./order/lane-groups.ts";
import { createTimeOrder } from "./order/time-order.ts";
import { createRowPlaces } from "./rejects/find-row-places.ts";

export interface PlanOptions {
  readonly files: readonly InputFile[];
  /** Folder of the plan; made here, must not exist. */
  readonly directory: string;
  readonly run: string;
  /** Keep a copy of each input beside the plan, so that rejects can be written when the input is gone. */
  readonly copyInputs: boolean;
  readonly reading: {
    readonly encoding?: string | undefined;
    readonly maxInputBytes?: number | undefined;
    readonly stdin?: Readable;
    /** Take a file of 0 bytes for an input without rows. */
    readonly allowEmpty?: boolean | undefined;
    readonly clock?: Clock | undefined;
  };
  readonly mapperFor: (file: InputFile, input: Input) => Promise<MadeMapper>;
  /** What the sources of the config read rows as. */
  readonly sources: ReadonlySet<string>;
  /** How a file is written, where a source of the config says so. */
  readonly readingOf: (file: InputFile) => { readonly encoding?: string; readonly csv?: CsvOptions };
  readonly mappingDigest: string;
  readonly environment:
    | {
        readonly name: string;
        readonly boundTo: string;
        readonly complete: boolean;
        readonly chunkSize: number;
        readonly maxChunkBytes: number;
      }
    | undefined;
  readonly ledger: Ledger | undefined;
  readonly pending: Pending;
  readonly again: boolean;
  readonly limit: number;
  readonly order: Order;
  /** Lanes that the plan's events are spread over at the most, 1 to 64. */
  readonly lanes: number;
  /** Compare the sales of the ledger with those of the input, which is then a full export. */
  readonly reportVanished: boolean;
  readonly maxInvalid: Allowance;
  /** Of all rules; one that is not among them is an error. */
  readonly severities: ReadonlyMap<string, Severity>;
  readonly problems: ProblemLog;
  readonly onUnderstood: OnUnderstood;
  readonly onRows: (rows: number, share: number | undefined) => void;
  readonly onOrdered: (actions: number) => void;
  /** What the run's later steps need of the command line; kept in the manifest. */
  readonly runOptions: RunOptions;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/** How many invalid rows a run bears. */
export type Allowance = { readonly rows: number } | { readonly percent: number };

export interface PlanResult {
  /** Undefined when too many rows are invalid: then nothing may be sent. */
  readonly manifest: Manifest | undefined;
  readonly rows: RowCounts;
  /** The rows that others are held for. */
  readonly heldFor: readonly HeldFor[];
  readonly actions: Manifest["actions"];
  /** The rows of the actions that are pending or waiting. */
  readonly waitingRows: WaitingRows;
  readonly repeated: number;
  readonly byAction: Readonly<Record<string, number>>;
  /** Of the actions that are sent. */
  readonly plannedByAction: Readonly<Record<string, number>>;
  readonly changed: readonly ChangedAction[];
  /** Mended rows, and what is sent of each. */
  readonly mendings: readonly Mending[];
  /** Where it was asked for. */
  readonly vanished: Vanished | undefined;
  readonly skipReasons: ReadonlyMap<string, number>;
  /** Rows that give their event and nothing else, by the reason for the latter. */
  readonly eventOnlyReasons: ReadonlyMap<string, number>;
  readonly inputs: Compiled["inputs"];
  /** The manifest's digest of the same name. */
  readonly mapping: string;
  /** Part of a file could not be read as rows, or its mapping fits nothing in it, so no allowance for invalid rows helps. */
  readonly isUnreadable: boolean;
}

/**
 * Makes a plan. After it resolves with a manifest, everything in `directory` is on disk and the input files are not needed
 * any more; before that the folder holds no manifest and means nothing.
 */
export async function makePlan(options: PlanOptions): Promise<PlanResult> {
  const { directory, ledger, signal, pending } = options;
  const severityOf = severityIn(options.severities);
  makeFolder(directory, { mode: 0o700 });
  await using copies = await copyInputs(options);
  using timeOrder = options.order === "time" ? createTimeOrder(directory) : undefined;
  using salesSeen = options.reportVanished ? createSalesSeen(directory) : undefined;
  using invalid = createInvalidRows(directory, "rows" in options.maxInvalid ? options.maxInvalid.rows : undefined);
  using blockedRows = createBlockedRows(directory);
  const rowEvents = options.lanes > 1 ? new RowEvents() : undefined;
  const known = ledger === undefined ? NO_REJECTED_ROWS : rejectedRows(ledger);
  const settledBefore = ledger === undefined ? 0 : lastSettlement(ledger);
  const compiled = await compile({
    ...options,
    timeOrder,
    salesSeen,
    rowEvents,
    areLasting: options.lanes === 1,
    invalid,
    rejectedRows: known,
    blockedRows,
    severityOf,
    now: Math.floor(options.now().getTime() / 1000),
    open: (file) => openCopied(file, options, copies),
    allowEmpty: options.reading.allowEmpty ?? false,
  });
  const vanished = await salesSeen?.vanished(ledger, signal);
  await timeOrder?.arrange({ blockedRows, onOrdered: options.onOrdered, signal });
  const selection = await select({
    ...options,
    compiled,
    blockedRows,
    invalid,
    severityOf,
    rejectedRows: known,
    isByTime: timeOrder !== undefined,
    crossChecks: () => acrossFor(options, compiled.newEvents),
  });
  const result = {
    rows: countRows(compiled, invalid),
    mendings: [],
    heldFor: selection.heldFor,
    actions: countActions(selection),
    waitingRows: selection.waitingRows,
    repeated: selection.repeated,
    byAction: selection.byAction,
    plannedByAction: selection.plannedByAction,
    changed: selection.changed.shown,
    vanished,
    skipReasons: compiled.skipReasons,
    eventOnlyReasons: compiled.eventOnlyReasons,
    inputs: compiled.inputs,
    mapping: options.mappingDigest,
    isUnreadable: compiled.unreadable || compiled.unfit,
  };
  const bearable = !result.isUnreadable && invalid.invalid <= allowedRows(options.maxInvalid, result.rows.read);
  if (!bearable) return { ...result, manifest: undefined };
  const { assignment, chunks } = await writeActions(options, compiled, selection, rowEvents);
  const placeOf = createRowPlaces(selection.lastAccepted, {
    kept: selection.kept,
    lanes: assignment?.lanes.map((lane) => lane.actions) ?? [selection.fresh],
    laneOf: (action) => assignment?.of(action) ?? 0,
    moved: timeOrder && (await placesOf(blockedRows)),
  });
  await invalid.writeTo(planFiles(directory).invalid, selection.openOfInvalid, placeOf);
  const { newestFirst } = selection;
  const behind = behindOf(selection, pending);
  const manifest = manifestFor(options, result, { copies, chunks, newestFirst, behind, settledBefore });
  await copies.synced();
  await compiled.synced;
  const mendings = await mendingsOf(planFiles(directory).index, selection.mends);
  await writeManifest(directory, manifest);
  return { ...result, manifest, mendings };
}

/** Opens an input, or the copy that is kept of it. */
function openCopied(file: InputFile, options: PlanOptions, copies: Copies): Promise<Input> {
  const copy = copies.get(file);
  const { encoding, maxInputBytes, stdin, clock } = options.reading;
  return openInput(file, {
    signal: options.signal,
    ...options.readingOf(file),
    ...(encoding !== undefined && { encoding }),
    ...(maxInputBytes !== undefined && { maxInputBytes }),
    ...(stdin !== undefined && { stdin }),
    ...(clock !== undefined && { clock }),
    ...(copy !== undefined && { contentPath: join(options.directory, copy), original: copies.original(file) }),
  });
}

function countRows({ rows: { read, skipped, mended } }: Compiled, { invalid, held }: InvalidRows): RowCounts {
  return { read, mapped: read - skipped - invalid - held - mended, skipped, invalid, held, mended };
}

function countActions(selection: Selection): Manifest["actions"] {
  const { fresh, alreadySent, pending, waiting, late, superseded, unclear, changed } = selection;
  return {
    total: fresh + alreadySent + pending + waiting + late + superseded + unclear,
    planned: fresh,
    alreadySent,
    changed: changed.count,
    pending,
    waiting,
    late,
    superseded,
    unclear,
  };
}

/** Writes the actions that are sent, lane after lane, and cuts them into chunks. */
async function writeActions(
  options: PlanOptions,
  { candidates }: Compiled,
  selection: Selection,
  rowEvents: RowEvents | undefined,
): Promise<{ readonly assignment: LaneAssignment | undefined; readonly chunks: Manifest["chunks"] }> {
  const { directory, lanes, signal } = options;
  const { kept } = selection;
  const limits = chunkLimits(options);
  const groups = rowEvents && (await groupsOfKept(options, kept, rowEvents));
  const assignment = groups && assignLanes(groups, lanes);
  if (assignment !== undefined && assignment.lanes.length > 1)
    return { assignment, chunks: await writeByLane(directory, kept, assignment, limits, signal) };
  await keepSelected(directory, selection, candidates);
  const { actions, index } = planFiles(directory);
  // The candidates were not meant to stay.
  if (assignment !== undefined) for (const path of [actions, index]) await syncFile(path);
  return { assignment, chunks: await cutChunks({ actions, index }, limits) };
}

async function groupsOfKept(options: PlanOptions, kept: Selection["kept"], rowEvents: RowEvents): Promise<LaneGroups> {
  const groups = createLaneGroups(knownStateOf(options), rowEvents);
  await groupKept(options.directory, kept, groups, options.signal);
  return groups;
}

const knownStateOf = ({ ledger, pending }: Pick<PlanOptions, "ledger" | "pending">): KnownState =>
  ledger === undefined ? NOTHING_KNOWN : ledgerKnownState(ledger, pending);

function manifestFor(
  { environment, problems, ...options }: PlanOptions,
  { inputs, rows, actions, repeated, byAction }: Omit<PlanResult, "manifest">,
  {
    copies,
    chunks,
    newestFirst,
    behind,
    settledBefore,
  }: {
    readonly copies: Copies;
    readonly chunks: Manifest["chunks"];
    /** Inputs, by number. */
    readonly newestFirst: ReadonlySet<number>;
    readonly behind: NonNullable<Manifest["behind"]>;
    readonly settledBefore: number;
  },
): Manifest {
  return manifestOf({
    run: options.run,
    createdAt: options.now().toISOString(),
    environment: environment?.name ?? "",
    boundTo: environment?.boundTo ?? "",
    inputs: inputs.map(({ name, bytes, sha256, rows, encoding, delimiter, headerLine, readAs, rules, key }, at) => {
      const file = options.files[at];
      const copy = file === undefined ? undefined : copies.get(file);
      return {
        name,
        ...(copy !== undefined && { copy }),
        format: file?.format ?? "",
        compression: file?.compression ?? "none",
        bytes,
        sha256,
        rows,
        encoding,
        readAs,
        rules: [...rules],
        ...(key !== undefined && { key }),
        ...(newestFirst.has(at) && { newestFirst: true as const }),
        ...(delimiter !== undefined && { delimiter }),
        ...(headerLine !== undefined && { headerLine }),
      };
    }),
    mapping: options.mappingDigest,
    rows,
    actions,
    ...(actions.pending > 0 && { behind, settledBefore }),
    repeated,
    byAction: { ...byAction },
    problems: { errors: problems.errors, warnings: problems.warnings },
    chunks: [...chunks],
    again: options.again,
    options: options.runOptions,
  });
}

/** See `Manifest.behind`. */
const behindOf = ({ heldBy }: Selection, { standings }: Pending): NonNullable<Manifest["behind"]> =>
  [...heldBy].map(([run, actions]) => ({ run, actions, standing: standings.get(run) ?? "waits" }));

/** By row that is not sent: the first candidate that it stands before. */
async function placesOf(blockedRows: AsyncIterable<BlockedRow>): Promise<ReadonlyMap<number, number>> {
  const places = new Map<number, number>();
  for await (const { row, before } of blockedRows) places.set(row, Math.min(before, places.get(row) ?? before));
  return places;
}

/** What the plan sends of each mended row. */
async function mendingsOf(index: string, mends: Selection["mends"]): Promise<readonly Mending[]> {
  if (mends.size === 0) return [];
  const byKey = new Map(
    [...mends.values()].map((mend) => [mend.row, { ...mend, seqs: [] as number[], seqOf: new Map<string, number>() }]),
  );
  await using file = await open(index, "r");
  const block = Buffer.allocUnsafe(RECORD_BYTES * 8192);
  for (let seq = 1; ; ) {
    const { bytesRead } = await file.read(block, 0, block.length, (seq - 1) * RECORD_BYTES);
    if (bytesRead === 0) break;
    for (let at = 0; at < bytesRead; at += RECORD_BYTES, seq += 1) {
      const { row, action, nth } = readOrigin(block, at);
      const mending = byKey.get(mends.get(row)?.row ?? "");
      if (mending === undefined) continue;
      mending.seqs.push(seq);
      mending.seqOf.set(openActionText(action, nth), seq);
    }
  }
  return [...byKey.values()];
}

function allowedRows(allowance: Allowance, read: number): number {
  return "rows" in allowance ? allowance.rows : Math.floor((read * allowance.percent) / 100);
}

const chunkLimits = ({ environment }: PlanOptions) => ({
  size: environment?.chunkSize ?? MAX_ACTIONS_PER_REQUEST,
  bytes: environment?.maxChunkBytes ?? Number.POSITIVE_INFINITY,
});

function acrossFor(options: PlanOptions, laterEvents: Pick<ReadonlySet<string>, "has">): CrossActionChecks {
  const known = knownStateOf(options);
  const knownState: KnownState = options.again
    ? {
        ...NOTHING_KNOWN,
        event: known.event,
        isKnownId: known.isKnownId,
        ticket: (ref) => asSold(known.ticket(ref)),
      }
    : known;
  return new CrossActionChecks({
    knownState,
    hasEnvironment: options.environment !== undefined,
    complete: options.environment?.complete ?? false,
    laterEvents,
    severityOf: severityIn(options.severities),
  });
}

/** What is sent again on purpose would meet its own traces: the holder it made, the check-in it made. */
const asSold = (ticket: KnownTicket | undefined): KnownTicket | undefined => {
  if (ticket === undefined) return undefined;
  const { holder: _, ...rest } = ticket;
  return { ...rest, state: "sold" };
};

async function keepSelected(directory: string, selection: Selection, candidates: number): Promise<void> {
  const from = candidateFiles(directory);
  const to = planFiles(directory);
  if (selection.fresh === candidates) {
    await rename(from.lines, to.actions);
    await rename(from.index, to.index);
  } else {
    await copyRanges(from.lines, to.actions, selection.kept);
    await copyRanges(
      from.index,
      to.index,
      selection.kept.map(({ first, count }) => ({ start: first * RECORD_BYTES, end: (first + count) * RECORD_BYTES })),
    );
  }
  await removeCandidates(directory);
}

/** Durably, and renamed into place: from then on the folder is a plan. */
async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const path = planFiles(directory).manifest;
  await writeDurably(`${path}.tmp`, `${JSON.stringify(manifest)}\n`);
  await rename(`${path}.tmp`, path);
  await syncDirectory(directory);
  await syncDirectory(dirname(directory));
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await createFile(path);
  await file.text(text);
  await file.sync();
}
