/** Refills a lost or restored ledger from promises files. */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ActionData } from "../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import { stringifyJson } from "../actions/json.ts";
import { statusCommand } from "../actions/next-command.ts";
import { andMore } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { sha256OfFile } from "../disk/sha256-of-file.ts";
import { Failure } from "../failure.ts";
import { changeChunk } from "../ledger/chunks.ts";
import { IMPORTED } from "../ledger/known-state.ts";
import { type Ledger, runListPath, writeMeta } from "../ledger/ledger.ts";
import { mergeOutcomes } from "../ledger/merge.ts";
import { insertOutcomes, type NewOutcome } from "../ledger/new-outcomes.ts";
import { countByAction, hasOutcome, outcomesOfChunk, unprojectedChunks } from "../ledger/outcomes.ts";
import { adoptOutput } from "../ledger/outputs.ts";
import { readRunList, wasReset } from "../ledger/run-list.ts";
import {
  type ChunkRecord,
  chunksOf,
  countRun,
  enterImportedRun,
  findRun,
  IMPORTED_MAPPING,
  isImportedRun,
  noteManifest,
  openRuns,
} from "../ledger/runs.ts";
import { promiseFormat, promiseLines } from "../outputs/promise-lines.ts";
import { CONTENT_BYTES } from "../plan/files/index-file.ts";
import { type Manifest, manifestOf, NO_ACTIONS, parseManifest } from "../plan/files/manifest.ts";
import { refuseEmptyName } from "../readers/inputs.ts";
import type { RunContext } from "./context.ts";
import { lostRunsFailure } from "./lost-runs.ts";
import { arePromisesElsewhere, labelOf, lockOutput } from "./promises.ts";
import { appendWhole, mendEnd, type PromiseLine, readPromises } from "./promises-file.ts";
import { openSession, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";

export interface ImportSettings {
  readonly settings: Settings;
  readonly file: string;
  /** Milliseconds to wait while another run holds the ledger. */
  readonly waitLock: number;
}

/** The result of an import. */
export interface ImportResult {
  readonly path: string;
  /** Actions that the ledger knows now and did not know before. */
  readonly imported: number;
  /** How many runs these belong to. */
  readonly runs: number;
  /** Actions of the file that it knew before. */
  readonly known: number;
  /** Why nothing can be sent yet: runs are still lost. */
  readonly stillLost: Failure | undefined;
  /** Runs of which only these promises are known, so that there may be more. */
  readonly onlyPromised: readonly string[];
}

/**
 * Runs that the ledger knows stay as they are, so importing twice changes nothing. A promises file holds ids, not every
 * field. Actions that only their other fields can tell apart (scans, claims, updates, resales) are therefore remembered by
 * ticket or event alone; a later action of the same kind on it is a problem for a person to decide, and never sent unasked.
 */
export async function importResults(context: RunContext, options: ImportSettings): Promise<ImportResult> {
  const { cwd, progress } = context;
  const { settings, file } = options;
  const { environment } = settings;
  refuseEmptyName(file);
  await using session = await openSession(context, settings, {
    command: "tickets results --import",
    waitLockMs: options.waitLock,
    mayLackRuns: true,
  });
  const { ledger } = session;
  const path = resolve(cwd, file);
  // In a shared ledger others write promises while this one imports.
  using _lock = await lockOutput(context, ledger, path, "tickets results --import");
  const { lines, end } = await readToImport(path, file);
  refuseForeign(file, lines, environment);
  const runs = Map.groupBy(lines, ({ run }) => run);
  refuseReset(file, [...runs.keys()], environment);
  const lacking = [...runs].flatMap(([run, ofRun]) => {
    const missing = linesLacking(ledger, run, ofRun);
    return missing.length === 0 ? [] : [{ run, missing }];
  });
  refuseBesideOpenRun(session, lacking, cwd);
  const listed = readRunList(runListPath(environment.ledgerPath));
  for (const { run, missing } of lacking) importRun(session, path, run, missing);
  mergeOutcomes(ledger);
  const isOurs = await mendEnd(path, end);
  if (end.isIncomplete) progress.happened({ kind: "promises end amid a line", file, text: end.text, isCutOff: isOurs });
  if (isOurs) await adoptFile(ledger, path, runs);
  for (const [run, ofRun] of runs) tellLacking(context, session, { path, file }, run, ofRun);
  const lost = session.lost();
  const imported = lacking.reduce((sum, { missing }) => sum + missing.length, 0);
  return {
    path,
    imported,
    runs: lacking.length,
    known: lines.length - imported,
    stillLost:
      lost.length === 0 ? undefined : lostRunsFailure(lost, environment, cwd, "Nothing is sent until that is mended."),
    onlyPromised: lacking.flatMap(({ run }) => (listed.has(run) ? [] : [run])),
  };
}

async function readToImport(path: string, file: string) {
  try {
    return await readPromises(path, file);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw new Failure(cause.code, `${cause.message} Nothing was imported.`, { cause, hint: cause.hint });
  }
}

const linesLacking = (ledger: Ledger, name: string, lines: readonly PromiseLine[]): readonly PromiseLine[] => {
  const run = findRun(ledger, name);
  return run === undefined ? lines : lines.filter(({ seq }) => !hasOutcome(ledger, run.runNo, seq));
};

/**
 * A run that was planned without what is imported would send it again. And what a file knows better than the ledger of a run
 * that it has sent itself, an older copy has forgotten.
 */
function refuseBesideOpenRun(
  { ledger, environment, lost }: Session,
  lacking: readonly { readonly run: string }[],
  cwd: string,
): void {
  if (lacking.length === 0) return;
  const older = lost().filter(({ how }) => how === "older");
  if (older.length > 0) throw lostRunsFailure(older, environment, cwd, "Nothing was imported.");
  const half = lacking.find(({ run }) => {
    const known = findRun(ledger, run);
    return known !== undefined && !isImportedRun(known);
  });
  const waiting = [...new Set([...(half === undefined ? [] : [half.run]), ...openRuns(ledger).map(({ run }) => run)])];
  const [first] = waiting;
  if (first === undefined) return;
  throw new Failure(
    "usage",
    `The ledger of ${environment.name} holds ${waiting.slice(0, 3).join(", ")}${andMore(waiting.length - 3)}, which ${waiting.length === 1 ? "was" : "were"} planned without what the file tells. Nothing was imported.`,
    {
      hint:
        half === undefined
          ? `Finish or close it first: ${statusCommand(environment, first)}\nOr move this ledger away, and import all promises into a new one.`
          : "This ledger is an older copy. Put back the ledger that knows more. If it is gone, move this one away, and import all promises into a new one.",
    },
  );
}

/** Enters a run that the ledger lost, or more lines of one that was imported before. */
function importRun(
  { ledger, environment, boundTo, runList }: Session,
  path: string,
  run: string,
  lines: readonly PromiseLine[],
): void {
  const rows = lines.toSorted((a, b) => a.seq - b.seq);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return;
  const { record, manifest } = ledger.transaction(() => {
    const record = enterImportedRun(ledger, run, first.at, last.at);
    const { runNo, createdAt } = record;
    const known = new Map(chunksOf(ledger, runNo).map((each) => [each.chunk, each]));
    for (const [chunk, ofChunk] of Map.groupBy(rows, (row) => row.chunk)) {
      const before = known.get(chunk);
      const seqs = [...ofChunk.map(({ seq }) => seq), ...(before === undefined ? [] : endsOf(before))];
      const from = Math.min(...seqs);
      const borders = { first: from, count: Math.max(...seqs) - from + 1 };
      changeChunk(ledger, before === undefined ? "remember" : "rememberMore", { runNo, chunk }, borders);
      insertOutcomes(ledger, runNo, ofChunk.map(toOutcome));
    }
    const manifest = manifestOfImported(
      { run, createdAt, environment: lines[0]?.environment ?? environment.name, boundTo },
      countByAction(ledger, runNo),
    );
    noteManifest(ledger, runNo, JSON.stringify(manifest));
    writeMeta(ledger, IMPORTED, "yes");
    return { record, manifest };
  });
  runList.imported(ledger, { ...record, output: path }, manifest);
}

function manifestOfImported(
  run: Pick<Manifest, "run" | "createdAt" | "environment" | "boundTo">,
  byAction: Manifest["byAction"],
): Manifest {
  const total = Object.values(byAction).reduce((sum, actions) => sum + actions, 0);
  return manifestOf({
    ...run,
    inputs: [],
    mapping: IMPORTED_MAPPING,
    rows: { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0, mended: 0 },
    actions: { ...NO_ACTIONS, total, planned: total },
    repeated: 0,
    byAction,
    problems: { errors: 0, warnings: 0 },
    chunks: [],
    again: false,
    options: { directory: "", safeCsv: false },
  });
}

/** The first and the last action of a chunk. */
const endsOf = ({ first, count: actions }: ChunkRecord): readonly number[] => [first, first + actions - 1];

function toOutcome(line: PromiseLine): NewOutcome {
  const { source, action, eventId, ticketId, nftId, status, actionPromise, seq, chunk, at, response } = line;
  const data: ActionData = {
    ...(eventId !== undefined && { eventId }),
    ...(ticketId !== undefined && { ticketId }),
    ...(nftId !== undefined && { nftId }),
  };
  const identity = importedIdentityText({ action, data }) ?? identityText({ action, data });
  return {
    seq,
    chunk,
    source,
    line: line.line,
    action,
    data: stringifyJson(data),
    outcome: status === "success" ? "accepted" : status === "settled-by-hand" ? "settled by hand" : "rejected",
    status,
    actionPromise,
    response: response === undefined || typeof response === "string" ? response : stringifyJson(response),
    at,
    identity: digestOf(identity),
    // Only the ids are known, so no later action is ever called changed against it.
    content: Buffer.alloc(CONTENT_BYTES),
  };
}

/** What the ledger has of a run that wrote into this file, and the file has not: somebody took it out, or put an older copy back. */
function tellLacking(
  { progress }: RunContext,
  { ledger, environment }: Session,
  { path, file }: { readonly path: string; readonly file: string },
  run: string,
  lines: readonly PromiseLine[],
): void {
  const known = findRun(ledger, run);
  if (known?.output !== path) return;
  const promises = countRun(ledger, known.runNo).accepted - lines.filter(({ status }) => status === "success").length;
  if (promises > 0) progress.happened({ kind: "promises lacking", environment, file, run, promises });
}

function refuseForeign(file: string, lines: readonly PromiseLine[], { name, ledgerNames }: Environment): void {
  const foreign = lines.find((line) => !ledgerNames.includes(line.environment));
  if (foreign === undefined) return;
  throw new Failure(
    "usage",
    `${file} holds promises of ${foreign.environment}, not of ${name}. Nothing was imported.`,
    { hint: `Name its environment: --env ${foreign.environment}` },
  );
}

/** The new sandbox has nothing of what the old one took; a ledger that believed otherwise would never send it. */
function refuseReset(file: string, runs: readonly string[], environment: Environment): void {
  const run = runs.find((each) => wasReset(runListPath(environment.ledgerPath), each));
  if (run === undefined) return;
  throw new Failure(
    "usage",
    `${file} belongs to the sandbox before its reset (run ${run}); the new sandbox has none of it. Nothing was imported.`,
    { hint: "You need no import: whatever you stream is sent to the new sandbox." },
  );
}

/** Makes the file the ledger's own again, so that later runs append to it. */
async function adoptFile(
  ledger: Ledger,
  path: string,
  runs: ReadonlyMap<string, readonly PromiseLine[]>,
): Promise<void> {
  const chunks = [...runs].flatMap(([run, lines]) => unnotedChunks(ledger, path, run, lines));
  const lacking = chunks.map(({ rest }) => rest).join("");
  if (lacking !== "") await appendWhole(path, lacking);
  const sha256 = await sha256OfFile(path);
  const { size, mtimeNs } = await stat(path, { bigint: true });
  adoptOutput(ledger, { path, length: Number(size), mtimeNs: String(mtimeNs), sha256 }, chunks);
}

/**
 * Chunks of a run whose lines reached its file, all or some, before the process could note that, as with most that are killed.
 * Each with the lines that the file lacks.
 */
function unnotedChunks(ledger: Ledger, path: string, name: string, lines: readonly PromiseLine[]) {
  const run = findRun(ledger, name);
  if (run?.output !== path || arePromisesElsewhere(ledger, run)) return [];
  const { runNo } = run;
  const { safeCsv } = parseManifest(run.manifest).options;
  const told = new Set(lines.map(({ seq }) => seq));
  return unprojectedChunks(ledger, runNo).flatMap((chunk) => {
    const outcomes = outcomesOfChunk(ledger, runNo, chunk);
    const untold = outcomes.filter(({ seq }) => !told.has(seq));
    if (untold.length === outcomes.length) return [];
    return [{ runNo, chunk, rest: promiseLines(untold, labelOf(run), promiseFormat(path), safeCsv) }];
  });
}
