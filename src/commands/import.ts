/** `tickets results --import`: gives a lost or restored ledger its memory back from promises files. */

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";
import { z } from "zod";
import { type ActionData, isActionName } from "../actions/actions.ts";
import { GUARDED_COLUMN, unguardCell } from "../actions/formula-guard.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import { parseJson, stringifyJson } from "../actions/json.ts";
import { cleanText, count } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { changeChunk } from "../ledger/chunks.ts";
import {
  forgetUnplaced,
  IMPORTED,
  IMPORTED_MAPPING,
  mergeOutcomes,
  rememberUnplaced,
  unplacedActions,
} from "../ledger/known-state.ts";
import { type Ledger, runListPath, writeMeta } from "../ledger/ledger.ts";
import { insertOutcomes, leavesOpen, type NewOutcome } from "../ledger/outcomes.ts";
import { wasReset } from "../ledger/run-list.ts";
import {
  type ChunkRecord,
  chunksOf,
  endAttempt,
  endRun,
  findRun,
  keepDoubtedAnswer,
  type RunRecord,
  readAnswer,
  UNDECIDED_STATES,
} from "../ledger/runs.ts";
import { DECIDED_STATES } from "../ledger/states.ts";
import { promiseFormat } from "../outputs/promise-lines.ts";
import { noteRejects } from "../outputs/rejects.ts";
import { dataOfLine } from "../plan/batch.ts";
import { CONTENT_BYTES } from "../plan/index-file.ts";
import { type Manifest, manifestOf } from "../plan/manifest.ts";
import { openPlan, type Plan, planFiles } from "../plan/plan.ts";
import { fileFailure } from "../readers/bytes.ts";
import { refuseEmptyName } from "../readers/inputs.ts";
import { lostRunsFailure } from "../run/lost-runs.ts";
import { mendLost } from "../run/mend-lost.ts";
import { planDirectory } from "../run/places.ts";
import { openSession, type Session } from "../run/session.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { cutChunk, replaceChunk } from "../sending/chunk-parts.ts";
import { enterLostRun, isImportedRun } from "../sending/mend-lost.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";

const LINE = z.looseObject({
  source: z.string(),
  line: z.coerce.number().int().nonnegative(),
  action: z.string().refine(isActionName),
  eventId: z.string().optional(),
  ticketId: z.string().optional(),
  nftId: z.string().optional(),
  status: z.string(),
  actionPromise: z.string().optional(),
  environment: z.string(),
  run: z.string().regex(/^[0-9a-f]{8}$/),
  seq: z.coerce.number().int().positive(),
  chunk: z.coerce.number().int().positive(),
  at: z.string(),
  response: z.unknown().optional(),
});
type Line = z.infer<typeof LINE>;

export interface ImportOptions extends EnvironmentOptions {
  readonly file: string;
  readonly waitLock: number;
}

/**
 * Runs that the ledger knows are left as they are, so importing twice changes nothing. A promises file holds ids and not
 * every field, so what can only be recognised by its other fields (scans, claims, updates, resales) is remembered by its
 * ticket or event alone; a later action of the same kind on it is then a problem that a person decides, never sent unasked.
 */
export async function importResults(options: ImportOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  context.trace.files = [options.file];
  const settings = await loadSettings(runContextOf(context), options, "any");
  const { environment } = settings;
  await using session = await openSession(runContextOf(context), settings, {
    command: "tickets results --import",
    waitLockMs: options.waitLock,
    mayLackRuns: true,
  });
  const path = resolve(cwd, options.file);
  const { lines, end } = await readPromises(path, options.file);
  const foreign = lines.find((line) => !environment.ledgerNames.includes(line.environment));
  if (foreign !== undefined) {
    throw new Failure(
      "usage",
      `${options.file} holds promises of ${foreign.environment}, not of ${environment.name}. Nothing was imported.`,
      { hint: `Name its environment: --env ${foreign.environment}` },
    );
  }
  const runs = Map.groupBy(lines, ({ run }) => run);
  refuseReset(options.file, [...runs.keys()], environment);
  let [imported, unplaced] = [0, 0];
  for (const [run, ofRun] of runs) {
    const known = findRun(session.ledger, run) ?? (await enterFromPlan(session, run));
    const missing = known === undefined ? ofRun : missingFrom(session.ledger, known, ofRun);
    if (missing.length === 0) continue;
    // An imported run may go on in another file, or in the rest of this one.
    if (known === undefined || isImportedRun(known)) {
      importRun(session, run, missing);
      imported += missing.length;
      continue;
    }
    const placed = await completeRun(session, known, missing);
    imported += placed;
    if (placed === missing.length) continue;
    const left = missingFrom(session.ledger, known, missing);
    session.ledger.transaction(() => {
      rememberUnplaced(session.ledger, known.runNo, left.map(toOutcome));
      writeMeta(session.ledger, IMPORTED, "yes");
    });
    unplaced += left.length;
    reporter.warn(
      `${count(left.length, "promise")} of run ${run} can't be placed: the ledger has the chunk that held ${left.length === 1 ? "it" : "them"} as open or closed whole, and the run's plan is lost. The ids are remembered, and not sent again. For the rest of the run: restore the folder ${planDirectory(environment, run)} from a backup, then import once more.`,
    );
  }
  mergeOutcomes(session.ledger);
  const isOurs = await mendEnd(path, end);
  if (end.isIncomplete)
    reporter.warn(
      `${options.file} ends amid a line, as a power cut leaves it. What there is of that line is left out${isOurs ? ", and cut off" : ""}: ${cleanText(end.text, 200)}`,
    );
  if (isOurs) await adoptOutput(session.ledger, path);
  for (const original of await originalsOf(session, path, [...runs.keys()]))
    await adoptOutput(session.ledger, original);
  await mendDecided(session, context);
  for (const [run, ofRun] of runs) await endAsListed(session, run, ofRun);
  const known = lines.length - imported - unplaced;
  reporter.info(
    `${count(imported, "action")} of ${count(runs.size, "run")} imported from ${displayPath(path, cwd)}${known === 0 ? "" : `; ${count(known, "action")} ${known === 1 ? "was" : "were"} known already`}.`,
  );
  tellStillLost(session, context);
  for (const run of runs.keys()) tellOnlyPromises(session, run, context);
  return EXIT_CODES.ok;
}

/** What a sandbox had taken before its reset, the new one has not; a ledger that believed so would never send it. */
function refuseReset(file: string, runs: readonly string[], environment: Session["environment"]): void {
  const run = runs.find((each) => wasReset(runListPath(environment.ledgerPath), each));
  if (run === undefined) return;
  throw new Failure(
    "usage",
    `${file} is of the sandbox before its reset (run ${run}); the new one has nothing of it. Nothing was imported.`,
    { hint: "No import is needed: what you stream is sent to the new sandbox." },
  );
}

/** Of a run that the list of runs says all of, nothing is left to ask. */
async function mendDecided(session: Session, context: Context): Promise<void> {
  for (const lost of session.lost()) {
    const run = findRun(session.ledger, lost.run);
    if (lost.isDecided && run !== undefined && existsSync(planDirectory(session.environment, run.run)))
      await mendLost(runContextOf(context), session, run, lost);
  }
}

/** A run that had ended, and of which the ledger knows all now, does not come first once more. */
async function endAsListed(
  { ledger, runList, environment }: Session,
  name: string,
  lines: readonly Line[],
): Promise<void> {
  const [run, listed] = [findRun(ledger, name), runList.content.runs.get(name)];
  if (run?.state !== "open" || listed?.stopped?.state !== "finished") return;
  if (UNDECIDED_STATES.some((state) => chunksOf(ledger, run.runNo, state).length > 0)) return;
  await noteRejectsOf(ledger, run, planDirectory(environment, name));
  const exitCode = EXIT_CODES[leavesOpen(ledger, run.runNo) ? "finished-with-rejects" : "ok"];
  ledger.transaction(() => {
    // The rejects were written before the list was told.
    for (const chunk of DECIDED_STATES.flatMap((state) => chunksOf(ledger, run.runNo, state)))
      changeChunk(ledger, "writeRejects", chunk);
    const last = lines
      .map(({ at }) => at)
      .toSorted()
      .at(-1);
    endRun(ledger, run.runNo, "finished", exitCode, last ?? run.createdAt);
  });
}

/** Where the rows of its rejects stood is known again. Without its plan they stay unknown. */
async function noteRejectsOf(ledger: Ledger, run: RunRecord, directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  try {
    await using plan = await openPlan(directory, run.manifest);
    await noteRejects({ ledger, run, plan, encoding: plan.manifest.options.encoding });
  } catch {
    // A damaged one tells no more than one that is lost.
  }
}

/** What is missing after an import stops the next command, so it is told now. */
function tellStillLost(session: Session, { reporter, cwd }: Context): void {
  const { environment } = session;
  const lost = session.lost();
  if (lost.length === 0) return;
  const { message, hint } = lostRunsFailure(lost, environment, cwd, "Until that is mended nothing is sent.");
  reporter.warn(message);
  if (hint !== undefined) reporter.info(hint);
}

/** Where neither list nor plan tells of a run, nothing else says that there may be more of it. */
function tellOnlyPromises({ ledger, runList }: Session, name: string, { reporter }: Context): void {
  const run = findRun(ledger, name);
  if (run === undefined || !isImportedRun(run) || runList.content.runs.has(name)) return;
  reporter.warn(
    `Of run ${name} only these promises are known. What of it was in doubt stands in no promises file, and would be sent again: if it was not all answered, look at what the service has first.`,
  );
}

/** @throws Failure `usage` for a file that is none of promises, or that is damaged elsewhere than at its end. */
/** The last line of a file, where no line end follows it. */
interface UnendedLine {
  /** Where it begins: as much of the file holds whole lines. */
  readonly start: number;
  /** Empty where all lines end. */
  readonly text: string;
  /** A process that died, or a power cut, left half of it. */
  readonly isIncomplete: boolean;
}

async function readPromises(
  path: string,
  name: string,
): Promise<{ readonly lines: readonly Line[]; readonly end: UnendedLine }> {
  refuseEmptyName(name);
  await access(path).catch((cause: unknown) => {
    throw new Failure("usage", `There is no file ${name} that can be read.`, { cause });
  });
  if ((await stat(path)).isDirectory()) throw fileFailure({ name }, Object.assign(new Error(), { code: "EISDIR" }));
  const lines: Line[] = [];
  /** What a line says of an action, by run and place in it. */
  const saidOf = new Map<string, string>();
  const add = (value: unknown, at: number): void => {
    const parsed = LINE.safeParse(value);
    if (!parsed.success)
      throw new Failure("usage", `${name}:${at} is not a line of a promises file. Nothing was imported.`, {
        hint: "Name a promises file as tickets wrote it.",
      });
    const line = parsed.data;
    const place = `${line.run} ${line.seq}`;
    const said = JSON.stringify([line.action, line.status, line.actionPromise]);
    // Standard output may have been given a chunk's lines twice, before and after a kill.
    if (saidOf.get(place) === said) return;
    if (saidOf.has(place))
      throw new Failure(
        "usage",
        `${name}:${at} says otherwise of an action than a line before it. Nothing was imported.`,
        {
          hint: "Name a promises file as tickets wrote it.",
        },
      );
    saidOf.set(place, said);
    lines.push(line);
  };
  let at = 0;
  let isIncomplete = false;
  const last = await unendedLine(path);
  try {
    if (promiseFormat(path) === "csv") {
      const addRow = ({ [GUARDED_COLUMN]: guarded, ...cells }: Record<string, string>): void => {
        at += 1;
        const given = Object.entries(cells).filter(([, value]) => value !== "");
        const asItWas = guarded === undefined ? given : given.map(([name, value]) => [name, unguardCell(value)]);
        add(Object.fromEntries(asItWas), at + 1);
      };
      let header: string[] = [];
      const columns = (names: string[]): string[] => {
        header = names;
        return names;
      };
      await pipeline(wholeLines(path, last.start), parse({ columns, bom: true }), async (rows) => {
        for await (const row of rows as AsyncIterable<Record<string, string>>) addRow(row);
      });
      const row = last.text === "" ? undefined : parseRow(last.text, header);
      isIncomplete = last.text !== "" && row === undefined;
      if (row !== undefined) addRow(row);
    } else {
      for await (const text of linesOf(path, last.start)) {
        at += 1;
        if (text.trim() !== "") add(parseLine(text), at);
      }
      const value = parseLine(last.text);
      isIncomplete = last.text.trim() !== "" && value === undefined;
      if (value !== undefined) add(value, at);
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure(
      "usage",
      `${name} can't be read as a promises file: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    );
  }
  if (lines.length === 0) throw new Failure("usage", `${name} holds no promises.`);
  return { lines, end: { ...last, isIncomplete } };
}

async function unendedLine(path: string): Promise<Pick<UnendedLine, "start" | "text">> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - block.length);
    const { bytesRead } = await file.read(block, 0, end - from, from);
    const at = block.subarray(0, bytesRead).lastIndexOf("\n");
    if (at !== -1 || from === 0) {
      const start = at === -1 ? 0 : from + at + 1;
      const text = Buffer.alloc(size - start);
      await file.read(text, 0, text.length, start);
      return { start, text: text.toString("utf8") };
    }
    end = from;
  }
  return { start: 0, text: "" };
}

const wholeLines = (path: string, end: number): Readable =>
  end === 0 ? Readable.from([]) : createReadStream(path, { end: end - 1 });

/** The row of a line; undefined where that has no end, or too few cells. */
function parseRow(text: string, columns: string[]): Record<string, string> | undefined {
  try {
    return parseText(text, { columns })[0] as Record<string, string> | undefined; // rows by columns
  } catch {
    return undefined;
  }
}

/** The lines of a file. Those of Node's readline end at U+2028 and U+2029 too, which JSON text holds as they are. */
async function* linesOf(path: string, end: number): AsyncGenerator<string> {
  let rest = "";
  for await (const block of wholeLines(path, end).setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + block).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

function parseLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Why a file can't give the ledger back what it lacks; undefined where it can. */
export async function whyNotImported(path: string): Promise<string | undefined> {
  try {
    await readPromises(path, path);
    return undefined;
  } catch (cause) {
    return cause instanceof Failure ? cause.message : String(cause);
  }
}

const NO_ACTIONS = {
  total: 0,
  planned: 0,
  alreadySent: 0,
  changed: 0,
  pending: 0,
  waiting: 0,
  late: 0,
  superseded: 0,
  unclear: 0,
} as const satisfies Manifest["actions"];

/** A run that the ledger does not know, entered from its plan; undefined where that is lost, or damaged. */
async function enterFromPlan({ ledger, environment, lost }: Session, run: string): Promise<RunRecord | undefined> {
  const directory = planDirectory(environment, run);
  const listed = lost().find((each) => each.run === run && each.how === "unknown");
  if (listed === undefined || !existsSync(directory)) return undefined;
  try {
    await using plan = await openPlan(directory, readFileSync(planFiles(directory).manifest, "utf8").trimEnd());
    for (const chunk of plan.manifest.chunks) await plan.lines(chunk); // its bytes are compared with their digest
    return enterLostRun(ledger, plan, listed);
  } catch (cause) {
    if (cause instanceof Failure) return undefined; // the ids that promises hold are enough to send nothing twice
    throw cause;
  }
}

/** A run that the ledger lost, or more lines of one that was imported. */
function importRun({ ledger, environment, boundTo }: Session, run: string, lines: readonly Line[]): void {
  const rows = lines.toSorted((a, b) => a.seq - b.seq);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return;
  ledger.transaction(() => {
    ledger.run(
      `INSERT INTO runs (run, created_at, ended_at, state, exit_code, manifest) VALUES (?, ?, ?, 'finished', 0, '')
       ON CONFLICT (run) DO UPDATE SET created_at = min(created_at, excluded.created_at), ended_at = max(ended_at, excluded.ended_at)`,
      run,
      first.at,
      last.at,
    );
    const { runNo = 0, createdAt = first.at } = findRun(ledger, run) ?? {};
    const known = new Map(chunksOf(ledger, runNo).map((each) => [each.chunk, each]));
    for (const [chunk, ofChunk] of Map.groupBy(rows, (row) => row.chunk)) {
      const before = known.get(chunk);
      const seqs = [...ofChunk.map(({ seq }) => seq), ...(before === undefined ? [] : endsOf(before))];
      const from = Math.min(...seqs);
      const borders = { first: from, count: Math.max(...seqs) - from + 1 };
      changeChunk(ledger, before === undefined ? "remember" : "rememberMore", { runNo, chunk }, borders);
      insertOutcomes(ledger, runNo, ofChunk.map(toOutcome));
    }
    const byAction = Object.fromEntries(
      ledger
        .all("SELECT action, sum(actions) AS n FROM tallies WHERE run_no = ? GROUP BY action", runNo)
        .map(({ action, n }) => [String(action), Number(n)]),
    );
    const total = Object.values(byAction).reduce((sum, actions) => sum + actions, 0);
    const manifest = manifestOf({
      run,
      createdAt,
      environment: lines[0]?.environment ?? environment.name,
      boundTo,
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
    ledger.run("UPDATE runs SET manifest = ? WHERE run_no = ?", JSON.stringify(manifest), runNo);
    writeMeta(ledger, IMPORTED, "yes");
  });
}

/** The first and the last action of a chunk. */
const endsOf = ({ first, count: actions }: ChunkRecord): readonly number[] => [first, first + actions - 1];

function missingFrom(ledger: Ledger, { runNo }: RunRecord, lines: readonly Line[]): readonly Line[] {
  return lines.filter(
    ({ seq }) => ledger.get("SELECT 1 AS one FROM actions WHERE run_no = ? AND seq = ?", runNo, seq) === undefined,
  );
}

/**
 * An older copy of the ledger knows the run, but not all that became of it. Lines are placed by the numbers of their actions:
 * how chunks were cut since then, this copy does not know.
 *
 * @returns how many lines the ledger has now. Without the run's plan a chunk can't be cut.
 */
async function completeRun(
  { ledger, environment }: Session,
  run: RunRecord,
  missing: readonly Line[],
): Promise<number> {
  const directory = planDirectory(environment, run.run);
  await using plan = existsSync(directory) ? await openPlan(directory, run.manifest) : undefined;
  const lines = new Map(missing.map((line) => [line.seq, line]));
  const unplaced = unplacedActions(ledger, run.runNo);
  let placed = 0;
  for (const chunk of UNDECIDED_STATES.flatMap((state) => chunksOf(ledger, run.runNo, state))) {
    const told = numbersOf(chunk).flatMap((seq) => lines.get(seq) ?? []);
    if (told.length === 0 || (plan === undefined && told.length < chunk.count)) continue;
    const { parts, rows } = await placeLines(ledger, plan, chunk, lines);
    ledger.transaction(() => {
      if (chunk.state === "sending") endAttempt(ledger, chunk, { ...UNHEARD, at: new Date().toISOString() });
      if (chunk.state === "answered" && told.length < chunk.count)
        keepDoubtedAnswer(ledger, chunk, readAnswer(ledger, chunk).body);
      replaceChunk(ledger, chunk, parts);
      forgetUnplaced(
        ledger,
        run.runNo,
        rows.map(({ seq }) => seq).filter((seq) => unplaced.has(seq)),
      );
      insertOutcomes(ledger, run.runNo, rows);
      for (const { chunk: number, state } of parts)
        if (state === "settled") changeChunk(ledger, "project", { runNo: run.runNo, chunk: number });
      if (plan === undefined) writeMeta(ledger, IMPORTED, "yes");
    });
    placed += told.length;
  }
  return placed;
}

const UNHEARD = {
  event: "doubt",
  class: "in doubt",
  httpStatus: undefined,
  detail: "the answer is not in the ledger, which was put back from an older copy",
} as const;

const numbersOf = ({ first, count: actions }: Pick<ChunkRecord, "first" | "count">): readonly number[] =>
  Array.from({ length: actions }, (_, at) => first + at);

/** The chunk as parts that lines tell of and others, and what the lines say. Without a plan they tell of all of it. */
async function placeLines(
  ledger: Ledger,
  plan: Plan | undefined,
  chunk: ChunkRecord,
  lines: ReadonlyMap<number, Line>,
): Promise<{ readonly parts: readonly ChunkRecord[]; readonly rows: readonly NewOutcome[] }> {
  if (plan === undefined) {
    const rows = numbersOf(chunk).flatMap((seq) => lines.get(seq) ?? []);
    const whole = { ...chunk, state: "settled", detail: undefined } as const;
    return { parts: [whole], rows: rows.map((line) => ({ ...toOutcome(line), chunk: chunk.chunk })) };
  }
  const [actions, records] = await Promise.all([plan.lines(chunk), plan.records(chunk)]);
  // Of what was under way, the answer is lost.
  const rest = chunk.state === "sending" || chunk.state === "answered" ? "in doubt" : chunk.state;
  const cut = cutChunk(ledger, chunk, actions, (seq) => (lines.has(seq) ? "settled" : rest));
  const parts = cut.map((part) =>
    part.state === "in doubt" && part.detail === undefined ? { ...part, detail: UNHEARD.detail } : part,
  );
  const rows = parts.flatMap((part) =>
    numbersOf(part).flatMap((seq): NewOutcome[] => {
      const [line, action, record] = [lines.get(seq), actions[seq - chunk.first], records[seq - chunk.first]];
      if (line === undefined || action === undefined || record === undefined) return [];
      const { identity, content } = record;
      return [{ ...toOutcome(line), chunk: part.chunk, data: dataOfLine(action, record.action), identity, content }];
    }),
  );
  return { parts, rows };
}

function toOutcome(line: Line): NewOutcome {
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
    ...(actionPromise !== undefined && { actionPromise }),
    ...(response !== undefined && { response: typeof response === "string" ? response : stringifyJson(response) }),
    at,
    identity: digestOf(identity),
    // What was sent beyond the ids is not known, so nothing is ever said to have changed.
    content: Buffer.alloc(CONTENT_BYTES),
  };
}

/**
 * Makes the file end with a whole line, as what is appended to must. Returns whether it does: a copy that can't be written is
 * imported all the same.
 */
async function mendEnd(path: string, { start, text, isIncomplete }: UnendedLine): Promise<boolean> {
  if (text === "") return true;
  try {
    await using file = await open(path, "r+");
    if (isIncomplete) await file.truncate(start);
    else await file.write("\n", (await file.stat()).size);
    await file.sync();
    return true;
  } catch {
    return false;
  }
}

/** Files that these runs wrote, where what was imported is a copy of them to the byte, so that they are known as well. */
async function originalsOf(
  { ledger, runList }: Session,
  path: string,
  runs: readonly string[],
): Promise<readonly string[]> {
  const outputs = new Set(runs.flatMap((run) => runList.content.runs.get(run)?.outputs ?? []));
  const known = ledger.all("SELECT path FROM outputs").map((row) => String(row.path));
  const originals: string[] = [];
  for (const output of outputs)
    if (output !== path && !known.includes(output) && (await areSameBytes(output, path))) originals.push(output);
  return originals;
}

async function areSameBytes(one: string, other: string): Promise<boolean> {
  const [found, expected] = await Promise.all([stat(one).catch(() => undefined), stat(other)]);
  if (found?.isFile() !== true || found.size !== expected.size) return false;
  return (await sha256Of(one)) === (await sha256Of(other));
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const block of createReadStream(path)) hash.update(block);
  return hash.digest("hex");
}

/** The file is the ledger's own again, and later runs append to it. */
async function adoptOutput(ledger: Ledger, path: string): Promise<void> {
  const sha256 = await sha256Of(path);
  const { size, mtimeNs } = await stat(path, { bigint: true });
  ledger.transaction(() => {
    ledger.run("DELETE FROM output_segments WHERE path = ?", path);
    ledger.run(
      "INSERT OR REPLACE INTO outputs (path, kind, length, mtime_ns) VALUES (?, 'promises', ?, ?)",
      path,
      Number(size),
      String(mtimeNs),
    );
    ledger.run(
      "INSERT INTO output_segments (path, start, length, sha256) VALUES (?, 0, ?, ?)",
      path,
      Number(size),
      sha256,
    );
  });
}
