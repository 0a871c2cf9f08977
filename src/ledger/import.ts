/** What promises files say, entered as if it had been sent from here: how a lost ledger comes back, and how one moves. */

import { Failure } from "../failure.ts";
import { importCommand, settleCommand } from "../next-command.ts";
import { IS_WANTED, identities, insertSpellings, toRow } from "./actions.ts";
import { cutOut, insertChunks, packChunk, readWhole, selectChunks } from "./chunk-life.ts";
import { PENDING_STATES } from "./chunks.ts";
import { type Database, type Session, scalar, select } from "./database.ts";
import type { Imported, ImportedLine, ImportedRun, Origin, Run } from "./ledger.ts";
import { columnsOf, itemsOf } from "./outcomes.ts";
import { insertRun, selectRuns } from "./runs.ts";
import { ACTIONS } from "./schema.ts";
import { sql, words } from "./sql.ts";
import { storeAnswers } from "./steps.ts";

/** As `Ledger.importRuns` says. */
export const importRuns = (database: Database, runs: readonly ImportedRun[]): Promise<void> =>
  database.write(async (session) => {
    for (const run of runs) await beginRun(session, run);
  });

/** As `Ledger.importActions` says. */
export async function importLines(
  database: Database,
  lines: AsyncIterable<readonly ImportedLine[]>,
): Promise<Imported> {
  const [total, runs] = [{ entered: 0, known: 0 }, new Set<string>()];
  for await (const group of groupsOf(lines)) {
    const entered = await database.write((session) => importGroup(session, group));
    if (entered > 0) runs.add(group[0].runId);
    total.entered += entered;
    total.known += group.length - entered;
  }
  return { ...total, runs: [...runs] };
}

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
async function importGroup(session: Session, group: Group): Promise<number> {
  const run = await runWith(session, group);
  const answered = await answerPending(session, run.number, group);
  const others = group.filter((line) => !answered.has(line));
  return answered.size + (await enter(session, run, others));
}

const selectRun = async (session: Session, id: string): Promise<Run | undefined> =>
  (await selectRuns(session, sql`WHERE id = ${id}`))[0];

async function beginRun(session: Session, { run, environment, at }: ImportedRun): Promise<void> {
  if ((await selectRun(session, run)) !== undefined) return;
  const [later] = await selectRuns(
    session,
    sql`WHERE created_at > ${at} AND (kind <> 'sent' OR state IN ('open', 'closing') OR EXISTS
      (SELECT 1 FROM chunks WHERE run = number AND state NOT IN ('planned', 'split', 'abandoned'))) ORDER BY number LIMIT 1`,
  );
  if (later !== undefined && later.endedAt === undefined) throw plannedElsewhere(later.run, environment);
  if (later !== undefined) throw knownLater(later.run, environment, run);
  const counts = { rows: {}, actions: {}, byAction: {}, problems: {}, options: {} };
  const facts = { run, createdAt: at, environment, output: undefined, inputs: [], ...counts };
  await insertRun(session, facts, "imported", at);
}

const knownLater = (later: string, environment: string, run: string): Failure =>
  new Failure(
    "usage",
    `The ledger knows run ${later}, and lacks run ${run}, which came before it: imported now, it would count as the later one. Nothing more was imported.`,
    {
      hint: `Move the ledger away. Then import all promises files into a new one, in one command: ${importCommand({ named: ["--env", environment] })}`,
    },
  );

/** The run of these lines, with the inputs that they name. */
async function runWith(session: Session, group: Group): Promise<Run> {
  const [{ runId, environment, at }] = group;
  await beginRun(session, { run: runId, environment, at });
  const { inputs = [] } = (await selectRun(session, runId)) ?? {};
  const names = new Set(group.map(({ source }) => source)).difference(new Set(inputs.map(({ name }) => name)));
  if (names.size > 0) {
    const all = [...inputs, ...[...names].map((name) => ({ name, source: "", format: "", sha256: "", rows: 0 }))];
    const known = await scalar<string>(session, sql`SELECT facts FROM runs WHERE id = ${runId}`);
    const facts = JSON.stringify({ ...JSON.parse(known ?? "{}"), inputs: all });
    await session.run(sql`UPDATE runs SET facts = ${facts} WHERE id = ${runId}`);
  }
  const run = await selectRun(session, runId);
  if (run === undefined) throw new Error(`run ${runId} was not made`);
  return run;
}

/** Which of these some run has still to send, or waits for. */
const selectPending = (session: Session, lines: readonly ImportedLine[]) =>
  select<{ run: number; id: string; chunk: number; place: number; at: number }>(
    session,
    sql`SELECT actions.run, runs.id, actions.chunk, actions.place, wanted.at FROM ${identities(lines)} AS wanted CROSS JOIN actions
      JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk JOIN runs ON runs.number = actions.run
      WHERE ${IS_WANTED} AND chunks.state IN ${words(PENDING_STATES)}`,
  );

/**
 * An older ledger does not know what became of what the run itself has still to send, or waits for.
 *
 * @returns the lines that say it.
 */
async function answerPending(session: Session, run: number, group: Group): Promise<ReadonlySet<ImportedLine>> {
  const pending = (await selectPending(session, group)).filter((each) => each.run === run);
  const answered = new Set<ImportedLine>();
  for (const [from, ofChunk] of Map.groupBy(pending, ({ chunk }) => chunk)) {
    const chunk = await cutOut(session, run, from, new Set(ofChunk.map((each) => each.place)));
    const lines = ofChunk.toSorted((a, b) => a.place - b.place).map(({ at }) => group[at] ?? group[0]);
    await answer(session, run, chunk, lines);
    for (const line of lines) answered.add(line);
  }
  return answered;
}

/** The file that says what became of a chunk has its lines. */
async function answer(session: Session, run: number, chunk: number, lines: readonly ImportedLine[]): Promise<void> {
  const answers = lines.map(({ outcome, promise, response }) => {
    if (outcome === "rejected") return { outcome, response: response ?? "null" } as const;
    return outcome === "accepted" && promise !== undefined
      ? ({ outcome, promise } as const)
      : ({ outcome: "settled", response } as const);
  });
  await storeAnswers(session, run, { chunk, answers, httpStatus: undefined, at: lines[0]?.at ?? "" }, "import");
  await session.run(sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk = ${chunk}`);
}

/** @returns how many of the lines were not known. */
async function enter(session: Session, run: Run, lines: readonly ImportedLine[]): Promise<number> {
  const { number, inputs, environment } = run;
  const sent = lines.filter(({ outcome }) => outcome !== "rejected");
  const other = (await selectPending(session, sent)).find((each) => each.run !== number);
  if (other !== undefined) throw plannedElsewhere(other.id, environment);
  const fresh = await unknownOf(session, number, lines);
  const [line] = fresh;
  if (line === undefined) return 0;
  // The number that it had, unless something else here has it.
  const free = sql`SELECT CASE WHEN EXISTS (SELECT 1 FROM chunks WHERE run = ${number} AND chunk = ${line.chunk})
    THEN (SELECT max(chunk) + 1 FROM chunks WHERE run = ${number}) ELSE ${line.chunk} END AS chunk`;
  const chunk = (await scalar<number>(session, free)) ?? line.chunk;
  const origins = fresh.map(({ subject, kind, mark, content, time, event, owner, seq, line: at, source }): Origin => {
    const input = inputs.findIndex(({ name }) => name === source);
    return { input, line: at, row: 0, seq, subject, kind, mark, content, time, event, owner };
  });
  const spot = { run: number, chunk, lane: 0, stage: 0, whole: chunk, first: 0, state: "planned" } as const;
  await insertChunks(session, [
    await packChunk(spot, { body: undefined, origins: columnsOf(origins), rows: undefined }),
  ]);
  await answer(session, number, chunk, fresh);
  const actions = fresh.flatMap((each, at) => (each.outcome === "rejected" ? [] : [toRow(number, each, chunk, at)]));
  // A file that has an action twice has it once.
  await session.insert(ACTIONS, actions, "ON CONFLICT DO NOTHING");
  await insertSpellings(session, fresh);
  return fresh.length;
}

/** What another run is about to send, or may have sent, is not known to be accepted, and would count as the earlier one. */
const plannedElsewhere = (run: string, environment: string): Failure =>
  new Failure(
    "usage",
    `Run ${run}, which is not finished, was planned without what the file says. Nothing more was imported.`,
    {
      hint: `Settle what is in doubt, then import again once it is closed: ${settleCommand(run, { named: ["--env", environment] }, "--abandon")}`,
    },
  );

/** What was rejected is known by its place in the input, the rest by its identity. */
async function unknownOf(
  session: Session,
  run: number,
  lines: readonly ImportedLine[],
): Promise<readonly ImportedLine[]> {
  const rows = await select<{ at: number }>(
    session,
    sql`SELECT wanted.at FROM ${identities(lines)} AS wanted CROSS JOIN actions WHERE ${IS_WANTED}`,
  );
  const known = new Set(rows.map(({ at }) => at));
  const rejected = new Set<number>();
  if (lines.some(({ outcome }) => outcome === "rejected"))
    for (const { chunk } of await selectChunks(session, sql`run = ${run} AND rejected > 0`)) {
      const { origins, stored } = await readWhole(session, run, chunk);
      for (const { outcome, origin } of itemsOf(origins, stored, "not sent"))
        if (outcome === "rejected") rejected.add(origin.seq);
    }
  return lines.filter((line, at) => !(line.outcome === "rejected" ? rejected.has(line.seq) : known.has(at)));
}
