/** What promises files tell, entered as if it had been sent from here: how a lost ledger comes back, and how one moves. */

import { settleCommand } from "../actions/next-command.ts";
import { Failure } from "../failure.ts";
import { insertSpellings, toRow } from "./actions.ts";
import { cutOut, insertChunk, readOrigins, readOutcomes, selectChunks, storeAnswers } from "./chunk-life.ts";
import { type Database, first, type Session } from "./database.ts";
import type { Answer, Imported, ImportedLine, Ledger, Origin, Run, RunInput } from "./ledger.ts";
import { itemsOf, toStored } from "./outcomes.ts";
import { insertRun, selectRuns } from "./runs.ts";
import { ACTIONS, PENDING } from "./schema.ts";
import { raw, rowsOf, sql } from "./sql.ts";

type Counts = { -readonly [K in keyof Omit<Imported, "runs">]: Imported[K] };

export const importMethods = (database: Database): Pick<Ledger, "importActions"> => ({
  async importActions(lines) {
    const total: Counts = { entered: 0, known: 0 };
    const runs = new Set<string>();
    for await (const group of groupsOf(lines)) {
      const [{ runId }] = group;
      const counts = await database.write((session) => importGroup(session, database, group));
      if (counts.entered > 0) runs.add(runId);
      for (const name of ["entered", "known"] as const) total[name] += counts[name];
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

async function importGroup(session: Session, database: Database, group: Group): Promise<Counts> {
  const run = await runFor(session, group);
  const pending = await pendingAmong(session, run.number, group);
  for (const [chunk, ofChunk] of Map.groupBy(pending, (each) => Number(each.chunk)))
    await answer(session, database, run.number, chunk, new Map(ofChunk.map(({ place, line }) => [place, line])));
  const told = new Set(pending.map(({ line }) => line));
  const rest = group.filter((line) => !told.has(line));
  const [chunk] = await selectChunks(session, sql`run = ${run.number} AND chunk = ${group[0].chunk}`);
  // It may have been told in parts, and have been cut otherwise here.
  const here = chunk && new Set((await readOrigins(session, run.number, chunk.chunk)).map(({ seq }) => seq));
  const others = rest.filter(({ seq }) => here?.has(seq) !== true);
  const counts = await enter(session, run, others, here === undefined ? group[0].chunk : undefined);
  return { entered: counts.entered + told.size, known: counts.known + rest.length - others.length };
}

/** What the run itself has still to send, or waits for: an older ledger does not know what became of it. */
async function pendingAmong(session: Session, run: number, group: Group) {
  const wanted = rowsOf(
    { subject: "text", kind: "text", mark: "text", line: "int" },
    group.map(({ subject, kind, mark }, line) => [subject, kind, mark, line]),
  );
  const rows = await session.all<{ chunk: number; place: number; line: number }>(
    sql`SELECT actions.chunk, actions.place, wanted.line FROM ${wanted} AS wanted CROSS JOIN actions
      JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk
      WHERE actions.subject = wanted.subject AND actions.kind = wanted.kind AND actions.mark = wanted.mark
        AND actions.run = ${run} AND chunks.state IN ${raw(PENDING)}`,
  );
  return rows.map(({ chunk, place, line }) => ({ chunk, place: Number(place), line: group[Number(line)] ?? group[0] }));
}

async function answer(
  session: Session,
  { place }: Database,
  run: number,
  from: number,
  told: ReadonlyMap<number, ImportedLine>,
): Promise<void> {
  const chunk = await cutOut(session, run, from, new Set(told.keys()), place);
  const lines = [...told].sort(([one], [other]) => one - other).map(([, line]) => line);
  const at = lines[0]?.at ?? "";
  await storeAnswers(session, run, { chunk, answers: lines.map(toAnswer), httpStatus: undefined, at }, "import", place);
  // The file that tells it has its lines.
  await session.run(sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk = ${chunk}`);
}

/** What a person said the service has is entered as accepted, without a promise. */
const toAnswer = ({ outcome, promise, response = "null" }: ImportedLine): Answer =>
  outcome === "rejected" ? { outcome, response } : { outcome: "accepted", promise: promise ?? "" };

async function runFor(session: Session, [{ runId, environment, at }]: Group): Promise<Run> {
  const find = async () => (await selectRuns(session, sql`WHERE id = ${runId}`))[0];
  const known = await find();
  if (known !== undefined) return known;
  const empty = { rows: {}, actions: {}, byAction: {}, problems: {}, options: {}, inputs: [] };
  await insertRun(session, { run: runId, createdAt: at, environment, output: undefined, ...empty }, "imported");
  await session.run(sql`UPDATE runs SET ended_at = ${at}, exit_code = 0 WHERE id = ${runId}`);
  const made = await find();
  if (made === undefined) throw new Error(`run ${runId} was not made`);
  return made;
}

/** @param wanted the chunk's number, if it is free. */
async function enter(
  session: Session,
  run: Run,
  lines: readonly ImportedLine[],
  wanted: number | undefined,
): Promise<Counts> {
  await refusePlanned(session, run, lines);
  const known = await knownAmong(session, lines);
  const rejected = lines.some(({ outcome }) => outcome === "rejected")
    ? await rejectedOf(session, run.number)
    : new Set();
  const isKnown = (line: ImportedLine): boolean =>
    line.outcome === "rejected" ? rejected.has(line.seq) : known.has(keyOf(line));
  const fresh = lines.filter((line) => !isKnown(line));
  const counts: Counts = { entered: fresh.length, known: lines.length - fresh.length };
  if (fresh.length === 0) return counts;
  const last = await first<{ last: number }>(
    session,
    sql`SELECT coalesce(max(chunk), 0) AS last FROM chunks WHERE run = ${run.number}`,
  );
  const chunk = wanted ?? Number(last?.last) + 1;
  const inputs = await inputsWith(session, run, fresh);
  const origins = fresh.map((line): Origin => {
    const { subject, kind, mark, content, time, event, owner, seq } = line;
    const input = inputs.findIndex(({ name }) => name === line.source);
    return { input, line: line.line, row: 0, seq, subject, kind, mark, content, time, event, owner };
  });
  const place = { run: run.number, chunk, lane: 0, stage: 0, whole: chunk, first: 0, state: "answered" } as const;
  await insertChunk(session, place, { body: undefined, origins, rows: undefined });
  await noteAnswers(session, run.number, chunk, fresh);
  const rows = fresh.flatMap((line, at) => (line.outcome === "rejected" ? [] : [toRow(run.number, line, chunk, at)]));
  // A file that tells of one action twice tells of it once.
  await session.insert(ACTIONS, rows, "ON CONFLICT DO NOTHING");
  await insertSpellings(session, fresh);
  return counts;
}

async function noteAnswers(
  session: Session,
  run: number,
  chunk: number,
  lines: readonly ImportedLine[],
): Promise<void> {
  const answers = lines.map((line) =>
    line.outcome === "settled" || (line.outcome === "accepted" && line.promise === undefined)
      ? { outcome: "settled" as const, ...(line.response !== undefined && { response: line.response }) }
      : toAnswer(line),
  );
  const count = (outcome: string): number => answers.filter((each) => each.outcome === outcome).length;
  const { letters, promises, promises_json, responses } = toStored(answers);
  await session.run(sql`INSERT INTO outcomes (run, chunk, letters, promises, promises_json, responses)
    VALUES (${run}, ${chunk}, ${letters}, ${promises}, ${promises_json}, ${responses})`);
  await session.run(sql`UPDATE chunks SET accepted = ${count("accepted")}, rejected = ${count("rejected")}, answered_at = ${lines[0]?.at},
    is_written = 1 WHERE run = ${run} AND chunk = ${chunk}`);
}

/** By their places in the input. */
async function rejectedOf(session: Session, run: number): Promise<ReadonlySet<number>> {
  const seqs = new Set<number>();
  for (const { chunk } of await selectChunks(session, sql`run = ${run} AND rejected > 0`)) {
    const items = itemsOf(await readOrigins(session, run, chunk), await readOutcomes(session, run, chunk), "not sent");
    for (const { outcome, origin } of items) if (outcome === "rejected") seqs.add(origin.seq);
  }
  return seqs;
}

/** An action that another run is about to send, or may have sent, is not known to be accepted: it would be sent again. */
async function refusePlanned(session: Session, run: Run, lines: readonly ImportedLine[]): Promise<void> {
  const other = await first<{ id: string }>(
    session,
    sql`SELECT runs.id FROM ${identities(lines)} AS wanted CROSS JOIN actions
      JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk JOIN runs ON runs.number = actions.run
      WHERE actions.subject = wanted.subject AND actions.kind = wanted.kind AND actions.mark = wanted.mark
        AND actions.run <> ${run.number} AND chunks.state IN ${raw(PENDING)} LIMIT 1`,
  );
  if (other === undefined) return;
  const ofEnvironment = { named: ["--env", run.environment] };
  throw new Failure(
    "usage",
    `Run ${other.id}, which is not finished, was planned without what the file tells, and has the same actions. Nothing more was imported.`,
    {
      hint: `Settle what is in doubt, then import again once it is closed: ${settleCommand(other.id, ofEnvironment, "--abandon")}`,
    },
  );
}

const keyOf = ({ subject, kind, mark }: Pick<ImportedLine, "subject" | "kind" | "mark">): string =>
  JSON.stringify([subject, kind, mark]);

async function knownAmong(session: Session, lines: readonly ImportedLine[]): Promise<ReadonlySet<string>> {
  const wanted = identities(lines);
  const rows = await session.all<Pick<ImportedLine, "subject" | "kind" | "mark">>(
    sql`SELECT wanted.subject, wanted.kind, wanted.mark FROM ${wanted} AS wanted CROSS JOIN actions
      WHERE actions.subject = wanted.subject AND actions.kind = wanted.kind AND actions.mark = wanted.mark`,
  );
  return new Set(rows.map(keyOf));
}

const identities = (lines: readonly ImportedLine[]) =>
  rowsOf(
    { subject: "text", kind: "text", mark: "text" },
    lines.filter(({ outcome }) => outcome !== "rejected").map(({ subject, kind, mark }) => [subject, kind, mark]),
  );

/** The run's inputs, with those that these lines name. */
async function inputsWith(session: Session, run: Run, lines: readonly ImportedLine[]): Promise<readonly RunInput[]> {
  const names = new Set(run.inputs.map(({ name }) => name));
  const more = [...new Set(lines.map(({ source }) => source))].filter((name) => !names.has(name));
  if (more.length === 0) return run.inputs;
  const inputs = [...run.inputs, ...more.map((name) => ({ name, source: "", format: "", sha256: "", rows: 0 }))];
  const row = await first<{ facts: string }>(session, sql`SELECT facts FROM runs WHERE number = ${run.number}`);
  const facts = { ...JSON.parse(row?.facts ?? "{}"), inputs };
  await session.run(sql`UPDATE runs SET facts = ${JSON.stringify(facts)} WHERE number = ${run.number}`);
  return inputs;
}
