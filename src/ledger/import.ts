/** What promises files say, entered as if it had been sent from here: how a lost ledger comes back, and how one moves. */

import { Failure } from "../failure.ts";
import { importCommand, settleCommand } from "../next-command.ts";
import { type ActionFacts, IS_WANTED, identities, insertActions, keyOf, selectActions } from "./actions.ts";
import { closeAttempt, storeAnswers } from "./attempts.ts";
import { cutOut, insertChunk, type Origin, readOutcomes, selectChunks } from "./chunk-life.ts";
import { type Database, scalar, sql, type Writer } from "./database.ts";
import { insertRun, type Run, selectRuns } from "./runs.ts";

/** A line of a promises file as an import takes it. */
export interface ImportedLine extends ActionFacts {
  readonly runId: string;
  readonly environment: string;
  readonly chunk: number;
  readonly seq: number;
  readonly source: string;
  readonly line: number;
  readonly at: string;
  readonly outcome: "accepted" | "rejected" | "settled";
  readonly promise: string | undefined;
  readonly response: string | undefined;
  readonly normal?: string | undefined;
}

/** A run as promises files name it. */
export interface ImportedRun {
  readonly run: string;
  readonly environment: string;
  /** When it was entered, or answered first. */
  readonly at: string;
}

export interface Imported {
  readonly entered: number;
  /** The ledger knew them. */
  readonly known: number;
  readonly runs: readonly string[];
}

export const importMethods = (database: Database) => ({
  /**
   * Enters runs that promises files name, the oldest first, before their lines: by its number it is known what came later. Those
   * that the ledger knows stay as they are.
   *
   * @throws Failure `usage` where it knows a later run than one that it lacks; so does `importActions`.
   */
  importRuns: (runs: readonly ImportedRun[]) =>
    database.write(async (writer) => {
      for (const run of runs) await beginRun(writer, run);
    }),
  /** Enters what promises files say. What the ledger knows stays as it is, so that it can be done again. */
  async importActions(lines: AsyncIterable<readonly ImportedLine[]>): Promise<Imported> {
    const [total, runs] = [{ entered: 0, known: 0 }, new Set<string>()];
    for await (const group of groupsOf(lines)) {
      const entered = await database.write((writer) => importGroup(writer, group));
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

interface Pending {
  readonly line: ImportedLine;
  readonly chunk: number;
  readonly place: number;
}

/** @returns how many of them are new here. */
async function importGroup(writer: Writer, group: Group): Promise<number> {
  const run = await runWith(writer, group);
  const wanted = sql`${identities(group)} AS wanted CROSS JOIN actions`;
  const known = new Map((await selectActions(writer, wanted, IS_WANTED)).map((each) => [keyOf(each), each]));
  const rejected = await rejectedIn(writer, run.number, group);
  const [pending, fresh]: [Pending[], ImportedLine[]] = [[], []];
  for (const line of group) {
    const found = known.get(keyOf(line));
    const isRejected = line.outcome === "rejected";
    if (found?.state === "pending" && found.run === run.number)
      pending.push({ line, chunk: found.chunk ?? 0, place: found.place ?? 0 });
    else if (found?.state === "pending" && !isRejected) throw plannedElsewhere(found.runId, run.environment);
    // What was rejected is known by its place in the input, the rest by its identity.
    else if (isRejected ? !rejected.has(line.seq) : found === undefined) fresh.push(line);
  }
  await answerPending(writer, run.number, pending);
  await enter(writer, run, fresh);
  return pending.length + fresh.length;
}

/** The places in the input of what is known to be rejected. */
async function rejectedIn(writer: Writer, run: number, group: Group): Promise<ReadonlySet<number>> {
  const rejected = new Set<number>();
  if (group.every(({ outcome }) => outcome !== "rejected")) return rejected;
  for (const { chunk } of await selectChunks(writer, sql`run = ${run} AND rejected > 0`))
    for (const { outcome, origin } of (await readOutcomes(writer, run, chunk)).items)
      if (outcome === "rejected") rejected.add(origin.seq);
  return rejected;
}

/** The run as the ledger knows it, or with nothing yet. */
async function beginRun(writer: Writer, { run, environment, at }: ImportedRun): Promise<Run> {
  const [known] = await selectRuns(writer, sql`WHERE id = ${run}`);
  if (known !== undefined) return known;
  const [later] = await selectRuns(
    writer,
    sql`WHERE created_at > ${at} AND (kind <> 'sent' OR state IN ('open', 'closing') OR EXISTS
      (SELECT 1 FROM chunks WHERE run = number AND state NOT IN ('planned', 'split', 'abandoned'))) ORDER BY number LIMIT 1`,
  );
  if (later !== undefined && later.endedAt === undefined) throw plannedElsewhere(later.run, environment);
  if (later !== undefined) throw knownLater(later.run, environment, run);
  const counts = { rows: {}, actions: {}, byAction: {}, problems: {}, options: {} };
  const facts = { run, createdAt: at, environment, output: undefined, inputs: [], ...counts };
  return await insertRun(writer, facts, "imported", at);
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
async function runWith(writer: Writer, group: Group): Promise<Run> {
  const [{ runId, environment, at }] = group;
  const run = await beginRun(writer, { run: runId, environment, at });
  const names = new Set(group.map(({ source }) => source)).difference(new Set(run.inputs.map(({ name }) => name)));
  if (names.size === 0) return run;
  const inputs = [
    ...run.inputs,
    ...Array.from(names, (name) => ({ name, source: "", format: "", sha256: "", rows: 0 })),
  ];
  const { rows, actions, byAction, problems, options } = run;
  const facts = JSON.stringify({ environment: run.environment, inputs, rows, actions, byAction, problems, options });
  await writer.run(sql`UPDATE runs SET facts = ${facts} WHERE id = ${runId}`);
  return { ...run, inputs };
}

/** An older ledger does not know what became of what the run itself has still to send, or waits for. */
async function answerPending(writer: Writer, run: number, pending: readonly Pending[]): Promise<void> {
  for (const [from, ofChunk] of Map.groupBy(pending, ({ chunk }) => chunk)) {
    // Its answer may be on its way; where it was sent from here, nobody waits for it any more.
    await closeAttempt(writer, run, { chunk: from, at: ofChunk[0]?.line.at ?? "", class: "answered" });
    const byPlace = new Map(ofChunk.map(({ place, line }) => [place, line]));
    const [chunk] = await cutOut(writer, run, from, new Set(byPlace.keys()));
    const inOrder = [...byPlace].toSorted(([one], [other]) => one - other);
    await answer(
      writer,
      run,
      chunk,
      inOrder.map(([, line]) => line),
    );
  }
}

/** The file that says what became of a chunk has its lines. */
async function answer(writer: Writer, run: number, chunk: number, lines: readonly ImportedLine[]): Promise<void> {
  const answers = lines.map(({ outcome, promise, response }) => {
    if (outcome === "rejected") return { outcome, response: response ?? "null" } as const;
    return outcome === "accepted" && promise !== undefined
      ? ({ outcome, promise } as const)
      : ({ outcome: "settled", response } as const);
  });
  await storeAnswers(writer, run, { chunk, answers, httpStatus: undefined, at: lines[0]?.at ?? "" }, "import");
  await writer.run(sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk = ${chunk}`);
}

/** As a chunk that was answered. */
async function enter(writer: Writer, { number, inputs }: Run, lines: readonly ImportedLine[]): Promise<void> {
  const [line] = lines;
  if (line === undefined) return;
  // The number that it had, unless something else here has it.
  const free = sql`SELECT CASE WHEN EXISTS (SELECT 1 FROM chunks WHERE run = ${number} AND chunk = ${line.chunk})
    THEN (SELECT max(chunk) + 1 FROM chunks WHERE run = ${number}) ELSE ${line.chunk} END AS chunk`;
  const chunk = (await scalar<number>(writer, free)) ?? line.chunk;
  const origins = lines.map(({ subject, kind, mark, content, time, event, owner, seq, line: at, source }): Origin => {
    const input = inputs.findIndex(({ name }) => name === source);
    return { input, line: at, row: 0, seq, subject, kind, mark, content, time, event, owner };
  });
  const spot = { run: number, chunk, lane: 0, stage: 0, whole: chunk, first: 0, state: "planned" } as const;
  await insertChunk(writer, spot, { body: undefined, origins, rows: undefined });
  await answer(writer, number, chunk, lines);
  const taken = lines.flatMap((each, place) => (each.outcome === "rejected" ? [] : [{ ...each, chunk, place }]));
  // A file that has an action twice has it once.
  await insertActions(writer, number, taken, "ON CONFLICT DO NOTHING");
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
