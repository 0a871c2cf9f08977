/** What promises files tell, entered as if it had been sent from here: how a lost ledger comes back, and how one moves. */

import { settleCommand } from "../actions/next-command.ts";
import { Failure } from "../failure.ts";
import { IS_WANTED, identities, insertSpellings, toRow } from "./actions.ts";
import { storeAnswers } from "./answers.ts";
import { cutOut, insertChunk, readWhole, selectChunks } from "./chunk-life.ts";
import { PENDING_STATES } from "./chunks.ts";
import { type Database, type Session, scalar, select } from "./database.ts";
import type { ImportedLine, Ledger, Origin, Run, RunInput } from "./ledger.ts";
import { itemsOf } from "./outcomes.ts";
import { insertRun, selectRuns } from "./runs.ts";
import { ACTIONS } from "./schema.ts";
import { sql, words } from "./sql.ts";

export const importMethods = (database: Database): Pick<Ledger, "importActions"> => ({
  async importActions(lines) {
    const [total, runs] = [{ entered: 0, known: 0 }, new Set<string>()];
    for await (const group of groupsOf(lines)) {
      const entered = await database.write((session) => importGroup(session, database.place, group));
      if (entered > 0) runs.add(group[0].runId);
      total.entered += entered;
      total.known += group.length - entered;
    }
    return { ...total, runs: [...runs] };
  },
});

type Group = readonly [ImportedLine, ...ImportedLine[]];

/** Lines of a chunk that stand together; a file has those of one chunk after another. */
async function* groupsOf(lines: AsyncIterable<readonly ImportedLine[]>): AsyncGenerator<Group> {
  let group: [ImportedLine, ...ImportedLine[]] | undefined;
  for await (const some of lines)
    for (const line of some) {
      const isSame = group?.[0].runId === line.runId && group[0].chunk === line.chunk;
      if (group !== undefined && isSame) group.push(line);
      else {
        if (group !== undefined) yield group;
        group = [line];
      }
    }
  if (group !== undefined) yield group;
}

/** @returns how many of them are new here. */
async function importGroup(session: Session, place: string, group: Group): Promise<number> {
  const run = await runFor(session, group);
  const told = await answerPending(session, place, run.number, group);
  const rest = group.filter((line) => !told.has(line));
  const [chunk] = await selectChunks(session, sql`run = ${run.number} AND chunk = ${group[0].chunk}`);
  // It may have been told in parts, and have been cut otherwise here.
  const here = chunk && (await readWhole(session, run.number, chunk.chunk)).origins.map(({ seq }) => seq);
  const seqs = new Set(here);
  const others = rest.filter(({ seq }) => !seqs.has(seq));
  return told.size + (await enter(session, place, run, others, here === undefined ? group[0].chunk : undefined));
}

async function runFor(session: Session, [{ runId, environment, at }]: Group): Promise<Run> {
  const find = async () => (await selectRuns(session, sql`WHERE id = ${runId}`))[0];
  const known = await find();
  if (known !== undefined) return known;
  const empty = { rows: {}, actions: {}, byAction: {}, problems: {}, options: {}, inputs: [] };
  await insertRun(session, { run: runId, createdAt: at, environment, output: undefined, ...empty }, "imported", at);
  const made = await find();
  if (made === undefined) throw new Error(`run ${runId} was not made`);
  return made;
}

interface Pending {
  readonly run: number;
  readonly id: string;
  readonly chunk: number;
  readonly place: number;
  readonly at: number;
}

/** Which of these some run has still to send, or waits for. */
const selectPending = (session: Session, lines: readonly ImportedLine[]): Promise<readonly Pending[]> =>
  select(
    session,
    sql`SELECT actions.run, runs.id, actions.chunk, actions.place, wanted.at FROM ${identities(lines)} AS wanted CROSS JOIN actions
      JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk JOIN runs ON runs.number = actions.run
      WHERE ${IS_WANTED} AND chunks.state IN ${words(PENDING_STATES)}`,
  );

/**
 * An older ledger does not know what became of what the run itself has still to send, or waits for.
 *
 * @returns the lines that told it.
 */
async function answerPending(
  session: Session,
  place: string,
  run: number,
  group: Group,
): Promise<ReadonlySet<ImportedLine>> {
  const pending = (await selectPending(session, group)).filter((each) => each.run === run);
  const told = new Set<ImportedLine>();
  for (const [from, ofChunk] of Map.groupBy(pending, ({ chunk }) => chunk)) {
    const chunk = await cutOut(session, run, from, new Set(ofChunk.map((each) => each.place)), place);
    const lines = ofChunk.toSorted((a, b) => a.place - b.place).map(({ at }) => group[at] ?? group[0]);
    await answer(session, place, run, chunk, lines);
    for (const line of lines) told.add(line);
  }
  return told;
}

/** The file that tells what became of a chunk has its lines. */
async function answer(
  session: Session,
  place: string,
  run: number,
  chunk: number,
  lines: readonly ImportedLine[],
): Promise<void> {
  const answers = lines.map(({ outcome, promise, response }) => {
    if (outcome === "rejected") return { outcome, response: response ?? "null" } as const;
    return outcome === "accepted" && promise !== undefined
      ? ({ outcome, promise } as const)
      : ({ outcome: "settled", response } as const);
  });
  await storeAnswers(session, run, { chunk, answers, httpStatus: undefined, at: lines[0]?.at ?? "" }, "import", place);
  await session.run(sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk = ${chunk}`);
}

/** @param wanted the chunk's number, if it is free. @returns how many of the lines were not known. */
async function enter(
  session: Session,
  place: string,
  { number: run, ...ofRun }: Run,
  lines: readonly ImportedLine[],
  wanted: number | undefined,
): Promise<number> {
  const sent = lines.filter(({ outcome }) => outcome !== "rejected");
  const other = (await selectPending(session, sent)).find((each) => each.run !== run);
  if (other !== undefined) throw plannedElsewhere(other.id, ofRun.environment);
  const rows = await select<{ at: number }>(
    session,
    sql`SELECT wanted.at FROM ${identities(sent)} AS wanted CROSS JOIN actions WHERE ${IS_WANTED}`,
  );
  const known = new Set(rows.map(({ at }) => sent[at]));
  const rejected = sent.length < lines.length ? await rejectedOf(session, run) : new Set();
  const isKnown = (line: ImportedLine): boolean =>
    line.outcome === "rejected" ? rejected.has(line.seq) : known.has(line);
  const fresh = lines.filter((line) => !isKnown(line));
  if (fresh.length === 0) return 0;
  const last = await scalar<number>(session, sql`SELECT max(chunk) FROM chunks WHERE run = ${run}`);
  const chunk = wanted ?? (last ?? 0) + 1;
  const inputs = await inputsWith(session, run, ofRun.inputs, fresh);
  const origins = fresh.map((line): Origin => {
    const { subject, kind, mark, content, time, event, owner, seq } = line;
    const input = inputs.findIndex(({ name }) => name === line.source);
    return { input, line: line.line, row: 0, seq, subject, kind, mark, content, time, event, owner };
  });
  const spot = { run, chunk, lane: 0, stage: 0, whole: chunk, first: 0, state: "planned" } as const;
  await insertChunk(session, spot, { body: undefined, origins, rows: undefined });
  await answer(session, place, run, chunk, fresh);
  const actions = fresh.flatMap((line, at) => (line.outcome === "rejected" ? [] : [toRow(run, line, chunk, at)]));
  // A file that tells of one action twice tells of it once.
  await session.insert(ACTIONS, actions, "ON CONFLICT DO NOTHING");
  await insertSpellings(session, fresh);
  return fresh.length;
}

/** An action that another run is about to send, or may have sent, is not known to be accepted: it would be sent again. */
const plannedElsewhere = (run: string, environment: string): Failure =>
  new Failure(
    "usage",
    `Run ${run}, which is not finished, was planned without what the file tells, and has the same actions. Nothing more was imported.`,
    {
      hint: `Settle what is in doubt, then import again once it is closed: ${settleCommand(run, { named: ["--env", environment] }, "--abandon")}`,
    },
  );

/** By their places in the input. */
async function rejectedOf(session: Session, run: number): Promise<ReadonlySet<number>> {
  const seqs = new Set<number>();
  for (const { chunk } of await selectChunks(session, sql`run = ${run} AND rejected > 0`)) {
    const { origins, stored } = await readWhole(session, run, chunk);
    for (const { outcome, origin } of itemsOf(origins, stored, "not sent"))
      if (outcome === "rejected") seqs.add(origin.seq);
  }
  return seqs;
}

/** The run's inputs, with those that these lines name. */
async function inputsWith(
  session: Session,
  run: number,
  known: readonly RunInput[],
  lines: readonly ImportedLine[],
): Promise<readonly RunInput[]> {
  const names = new Set(lines.map(({ source }) => source));
  for (const { name } of known) names.delete(name);
  if (names.size === 0) return known;
  const more = [...names].map((name) => ({ name, source: "", format: "", sha256: "", rows: 0 }));
  const facts = await scalar<string>(session, sql`SELECT facts FROM runs WHERE number = ${run}`);
  const inputs = [...known, ...more];
  const text = JSON.stringify({ ...JSON.parse(facts ?? "{}"), inputs });
  await session.run(sql`UPDATE runs SET facts = ${text} WHERE number = ${run}`);
  return inputs;
}
