/** From files to a checked plan, whose new actions the ledger can enter: the whole way in some eight steps. */

import { rmSync } from "node:fs";
import type { ActionName } from "../actions/actions.ts";
import { ACTION_NAMES } from "../actions/actions.ts";
import type { SourceLine } from "../actions/problem.ts";
import { severityIn } from "../check/rules.ts";
import { makeFolder } from "../disk/folders.ts";
import type { Corrected, GuardNote, Ledger, NewAction, NewChunk } from "../ledger/ledger.ts";
import { createRowDigester } from "../map/row-digest.ts";
import type { Input } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { keptRow } from "../read/row.ts";
import { dependsText } from "./across.ts";
import { actionsByKey, bodiesOf, type ChunkLimits, cutChunks, type Sorting } from "./chunks.ts";
import { type Made, mappingChanged, notesOf, nothingRecognised, usuallyShows } from "./guard.ts";
import { type Held, NOTHING_HELD, spreadHeld } from "./held.ts";
import { type JudgeOptions, judgeActions, type Recognised } from "./judge.ts";
import { spreadOverLanes } from "./lanes.ts";
import { orderByPosition, orderByTime } from "./order.ts";
import { reportFindings, wholeFile } from "./problems.ts";
import { type Reading, type RowsOptions, readRows } from "./rows.ts";
import type { ReadInput, RowsRead, RunNames } from "./rows-read.ts";
import { lineIn, Store } from "./store.ts";
import type { Verdict } from "./verdicts.ts";

/** In which order actions are sent (docs/nightly.md#the-same-export-again). */
export type Order = "input" | "time";

/** How many invalid rows a run bears. */
export type Allowance = { readonly rows: number } | { readonly percent: number };

export interface PlanOptions extends Omit<RowsOptions, "isByTime" | "severityOf" | "ledger" | "readingOf" | "now"> {
  /** Folder of the plan's file; made here, must not exist, and is gone with the plan. */
  readonly directory: string;
  readonly readingOf: (file: InputFile, input: Input) => Promise<Reading & { readonly made: readonly Made[] }>;
  readonly ledger: Pick<Ledger, "actionsOf" | "near" | "body" | "corrected" | "guard" | "run"> | undefined;
  /** Undefined where no environment is asked. */
  readonly environment:
    | { readonly complete: boolean; readonly chunkSize: number; readonly maxChunkBytes: number }
    | undefined;
  /** `--resend` and `--adopt`. */
  readonly mode: JudgeOptions["mode"];
  readonly order: Order;
  readonly lanes: number;
  readonly maxInvalid: Allowance;
  /** Of all rules. */
  readonly severities: Parameters<typeof severityIn>[0];
  readonly now: () => Date;
  readonly onJudged: (actions: number) => void;
}

export interface RowCounts {
  readonly read: number;
  readonly mapped: number;
  readonly skipped: number;
  readonly invalid: number;
  readonly held: number;
}

/** They add up: `total` is the sum of all others. */
export type ActionCounts = Readonly<Record<"total" | "new" | "alreadySent" | Exclude<Verdict, "new" | "sent">, number>>;

/** A row that is not sent, or not whole, for its rejects. */
export interface RowNotSent extends SourceLine {
  readonly input: number;
  /** As `NewChunk.rows`. */
  readonly text: string;
  /** What is the matter with it: the gravest of its actions. */
  readonly state: "invalid" | "held" | "late" | "unclear" | "changed";
  readonly reason: string;
  /** Of a bad row, or of one that is unclear. */
  readonly digest: string | undefined;
  /** Where it was first read; the run's id undefined: in this one. */
  readonly position: { readonly run: string | undefined; readonly seq: number };
}

/** A checked plan. Disposed of, its file is gone. */
export class Plan implements Disposable {
  readonly inputs: readonly ReadInput[];
  readonly rows: RowCounts;
  readonly actions: ActionCounts;
  /** All of them, and those that are new, by kind. */
  readonly byAction: Readonly<Record<string, number>>;
  readonly newByAction: Readonly<Record<string, number>>;
  readonly skipReasons: ReadonlyMap<string, number>;
  readonly eventOnlyReasons: ReadonlyMap<string, number>;
  readonly held: Held;
  /** Lanes that are used. */
  readonly lanes: number;
  /** Nothing may be sent: too many rows are invalid, or a file as a whole is. */
  readonly isRefused: boolean;
  /** A file as a whole is invalid, or part of it can't be read as rows: no allowance helps. */
  readonly isUnfit: boolean;
  /** What the ledger remembers of the sources, once something is entered or all was known. */
  readonly guard: readonly GuardNote[];
  readonly #store: Store;
  readonly #directory: string;
  readonly #limits: ChunkLimits;
  readonly #sorting: Sorting;
  readonly #mode: JudgeOptions["mode"];
  readonly #runs: RunNames;

  constructor(store: Store, made: Making, { directory, environment, order, mode }: PlanOptions) {
    const { read, held, lanes, guard } = made;
    this.#store = store;
    this.#directory = directory;
    this.#limits = { size: environment?.chunkSize ?? MOST_ACTIONS, bytes: environment?.maxChunkBytes ?? MOST_BYTES };
    this.#mode = mode;
    const isAsRead = order === "input" && !read.hasPositions;
    this.#sorting = lanes > 1 ? "by lane" : isAsRead ? "as read" : "by place";
    this.#runs = read.runs;
    this.inputs = read.inputs;
    this.rows = countRows(read, held);
    const counts = countActions(store);
    this.actions = counts.actions;
    this.byAction = counts.byAction;
    this.newByAction = counts.newByAction;
    this.skipReasons = read.skipReasons;
    this.eventOnlyReasons = read.eventOnlyReasons;
    this.held = held;
    this.lanes = lanes;
    this.guard = guard;
    this.isRefused = made.isRefused;
    this.isUnfit = made.isUnfit;
  }

  /** The new actions as chunks; to be read to the end before `byKey`. */
  chunks(): AsyncGenerator<NewChunk> {
    return cutChunks(this.#store, this.#sorting, this.#limits, (run) => this.#runs.idOf(run));
  }

  /** The JSON of the new actions, many at a time. */
  bodies(): Generator<readonly string[]> {
    return bodiesOf(this.#store, this.#sorting);
  }

  /** The new actions by identity, as the ledger enters or adopts them. */
  byKey(): AsyncGenerator<readonly NewAction[]> {
    return actionsByKey(this.#store);
  }

  /** Rows that are told and not sent, in the order of the input. */
  *notSent(): Generator<RowNotSent> {
    type Found = Omit<RowNotSent, "source" | "position" | "digest" | "reason"> & {
      digest: string | null;
      reason: string | null;
      cause: number | null;
      run: number | null;
      seq: number;
      place: number | null;
    };
    const lineOf = lineIn(this.#store, this.inputs);
    for (const batch of this.#store.batches<Found>(NOT_SENT))
      for (const { digest: bad, run, seq, place: _, cause, reason: told, ...row } of batch) {
        const reason = told ?? `depends-on-invalid: ${dependsText(lineOf(cause ?? 0))}`;
        const position = { run: run === null ? undefined : this.#runs.idOf(run), seq };
        const source = this.inputs[row.input]?.name ?? "";
        const digest = row.state === "unclear" ? this.#digest(row) : (bad ?? undefined);
        yield { ...row, reason, source, digest, position };
      }
  }

  #digest({ input, line, text }: Pick<RowNotSent, "input" | "line" | "text">): string {
    const { header, delimiter, readAs = "" } = this.inputs[input] ?? {};
    return createRowDigester(header, readAs)(keptRow(text, line, { header, delimiter }));
  }

  /** Bad rows, by their digests, whose corrected version the ledger knows. */
  corrected(): readonly Corrected[] {
    return this.#store.all(this.#mode === "adopt" ? CORRECTED_OR_ADOPTED : CORRECTED);
  }

  /** What is said of every action, and the line of its row; of a bad row that gives none, `bad`. */
  verdicts(): readonly { readonly line: number; readonly verdict: Verdict | "bad" }[] {
    return this.#store.all(
      "SELECT line, coalesce(verdict, 'bad') AS verdict FROM row LEFT JOIN action USING (row) ORDER BY row, seq",
    );
  }

  [Symbol.dispose](): void {
    this.#store[Symbol.dispose]();
    removeFolder(this.#directory);
  }
}

/** What is left of it costs nothing but room, which the next command frees. */
function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
}

const MOST_ACTIONS = 5000;
const MOST_BYTES = 8 * 1024 * 1024;

interface Making {
  readonly read: RowsRead;
  readonly held: Held;
  readonly lanes: number;
  readonly guard: readonly GuardNote[];
  readonly isRefused: boolean;
  readonly isUnfit: boolean;
}

/** Makes a plan: `validate` walks the same way without a ledger. The inputs are not needed any more after it resolves. */
export async function makePlan(options: PlanOptions): Promise<Plan> {
  makeFolder(options.directory, { mode: 0o700 });
  const store = new Store(options.directory);
  try {
    return await planIn(store, options);
  } catch (cause) {
    store[Symbol.dispose]();
    removeFolder(options.directory);
    throw cause;
  }
}

async function planIn(store: Store, options: PlanOptions): Promise<Plan> {
  const { order, signal, ledger, environment } = options;
  const severityOf = severityIn(options.severities);
  const now = Math.floor(options.now().getTime() / 1000);
  const sources = new Sources(options);
  const readingOf = (file: InputFile, input: Input) => sources.readingOf(file, input);
  const read = await readRows(store, { ...options, readingOf, severityOf, now, isByTime: order === "time" });
  if (read.hasPositions) orderByPosition(store);
  if (order === "time") orderByTime(store, signal);
  const shows = (input: number) => usuallyShows(sources.guardOf(read.inputs[input]?.readAs ?? ""));
  const { complete = false } = environment ?? {};
  const hasEnvironment = environment !== undefined;
  const judged = await judgeActions(store, read, { ...options, ledger, severityOf, shows, complete, hasEnvironment });
  const isStrange = sources.isStrange(read, judged.recognised);
  const held = judged.isAnyHeld ? spreadHeld(store, { severityOf, findings: judged.findings }) : NOTHING_HELD;
  const lanes = spreadOverLanes(store, judged.events, options.lanes, signal);
  const isUnfit = isStrange || read.isUnfit;
  const isRefused = isUnfit || read.invalid > allowedRows(options.maxInvalid, read.read);
  const guard = read.isCut || options.mode !== "judge" ? [] : sources.notes(read, judged.recognised);
  return new Plan(store, { read, held, lanes, guard, isRefused, isUnfit }, options);
}

/** What the ledger knows of the sources that are read. */
class Sources {
  readonly #options: PlanOptions;
  readonly #then = new Map<string, Awaited<ReturnType<Ledger["guard"]>>>();
  readonly #made = new Map<string, readonly Made[]>();

  constructor(options: PlanOptions) {
    this.#options = options;
  }

  async readingOf(file: InputFile, input: Input): Promise<Reading> {
    const { ledger, readingOf } = this.#options;
    const reading = await readingOf(file, input);
    const { readAs, made } = reading;
    const isFirst = !this.#then.has(readAs);
    if (!isFirst) return reading;
    const then = (await ledger?.guard(readAs)) ?? [];
    this.#then.set(readAs, then);
    this.#made.set(readAs, made);
    return { ...reading, findings: [...reading.findings, ...mappingChanged(readAs, made, then)] };
  }

  guardOf(readAs: string): Awaited<ReturnType<Ledger["guard"]>> {
    return this.#then.get(readAs) ?? [];
  }

  /** Tells of sources of which nothing is recognised any more; whether that is an error. */
  isStrange(read: RowsRead, recognised: readonly Recognised[]): boolean {
    const { problems, severities, files, mode } = this.#options;
    if (mode !== "judge" || read.isCut) return false;
    let isError = false;
    for (const [readAs, { first, counts }] of bySource(read, recognised)) {
      const finding = nothingRecognised(readAs, counts, this.guardOf(readAs));
      const file = files[first];
      if (finding === undefined || file === undefined) continue;
      isError = reportFindings(problems, file, severityIn(severities), wholeFile(1), 0, [finding]) || isError;
    }
    return isError;
  }

  notes(read: RowsRead, recognised: readonly Recognised[]): readonly GuardNote[] {
    const at = this.#options.now().toISOString();
    return [...bySource(read, recognised)].flatMap(([readAs, { counts }]) =>
      counts.rows === 0 ? [] : notesOf(readAs, this.#made.get(readAs) ?? [], counts, this.guardOf(readAs), at),
    );
  }
}

function bySource(
  { inputs }: RowsRead,
  recognised: readonly Recognised[],
): ReadonlyMap<string, { readonly first: number; readonly counts: Recognised }> {
  const sources = new Map<string, { readonly first: number; readonly counts: Recognised }>();
  for (const [at, { readAs }] of inputs.entries()) {
    const { rows = 0, recognised: known = 0 } = recognised[at] ?? {};
    const source = sources.get(readAs) ?? { first: at, counts: { rows: 0, recognised: 0 } };
    source.counts.rows += rows;
    source.counts.recognised += known;
    sources.set(readAs, source);
  }
  return sources;
}

function allowedRows(allowance: Allowance, read: number): number {
  return "rows" in allowance ? allowance.rows : Math.floor((read * allowance.percent) / 100);
}

const countRows = ({ read, skipped, invalid }: RowsRead, held: Held): RowCounts => ({
  read,
  mapped: read - skipped - invalid - held.rows,
  skipped,
  invalid,
  held: held.rows,
});

function countActions(store: Store): Pick<Plan, "actions" | "byAction" | "newByAction"> {
  const actions = { total: 0, new: 0, alreadySent: 0, changed: 0, late: 0, unclear: 0, held: 0 };
  const byAction: Record<string, number> = {};
  const newByAction: Record<string, number> = {};
  const found = store.all<{ kind: ActionName; verdict: Verdict; actions: number }>(
    "SELECT kind, verdict, count(*) AS actions FROM action WHERE verdict <> 'bad' GROUP BY kind, verdict",
  );
  for (const kind of ACTION_NAMES)
    for (const { verdict, actions: count } of found.filter((each) => each.kind === kind)) {
      actions.total += count;
      actions[verdict === "sent" ? "alreadySent" : verdict] += count;
      byAction[kind] = (byAction[kind] ?? 0) + count;
      if (verdict === "new") newByAction[kind] = count;
    }
  return { actions, byAction, newByAction };
}

const CORRECTED_OR_ADOPTED = `SELECT digest, subject, kind, mark FROM row JOIN action USING (row)
WHERE digest IS NOT NULL AND state IS NULL AND verdict IN ('sent', 'new')`;
const CORRECTED = `SELECT digest, subject, kind, mark FROM row JOIN action USING (row)
WHERE digest IS NOT NULL AND state IS NULL AND verdict = 'sent' AND why IS NOT 'copy'`;

/** Of a row's actions, the one that stands first counts for its position. */
const NOT_SENT = `
SELECT row.input, line, text, digest, coalesce(state, verdict) AS state,
  coalesce(row.reason, action.reason, CASE WHEN why = 'pending' THEN 'held: the run ' || cause || ' is not finished.' END) AS reason,
  CAST(cause AS INTEGER) AS cause,
  coalesce(action.run, row.run) AS run, coalesce(action.at, place, row.at) AS seq, min(place) AS place
FROM row LEFT JOIN action ON action.row = row.row AND verdict IN ('bad', 'held', 'late', 'unclear', 'changed')
WHERE state IN ('invalid', 'held') OR (state IS NULL AND verdict IS NOT NULL)
GROUP BY row.row ORDER BY row.row`;
