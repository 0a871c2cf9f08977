/** All that was ever sent about a ticket, an event or a promise. */

import { selectActions } from "./actions.ts";
import { readBody } from "./chunk-life.ts";
import type { Database, Session } from "./database.ts";
import type { Attempt, FoundAction, Item, KnownAction, Ledger, Outcomes, Run, Settlement } from "./ledger.ts";
import { elementsOf, uuidToBytes } from "./outcomes.ts";
import { selectRuns } from "./runs.ts";
import { rowsOf, type Sql, sql } from "./sql.ts";
import { selectAttempts, selectOutcomes } from "./steps.ts";

/** @param ids of runs, by number, as far as they are known. */
export const findMethods = (database: Database, ids: Map<number, string>): Pick<Ledger, "about"> => ({
  about: (id) =>
    database.read(async (session) => {
      const known = await knownAs(session, id, ids);
      const look = lookAt(session, database.place);
      const found: FoundAction[] = [];
      for (const action of known) found.push(await look.known(action));
      // Of what was rejected or abandoned only its chunk tells.
      for (const { run, chunk } of await chunksThat(session, sql`rejected > 0 OR state = 'abandoned'`))
        for (const item of await look.items(run, chunk))
          if (["rejected", "not sent"].includes(item.outcome) && names(item, id))
            found.push(await look.item(run, chunk, item));
      for (const { run, chunk } of await withPromise(session, database, id))
        for (const item of await look.items(run, chunk))
          if (item.promise === id) found.push(await look.item(run, chunk, item));
      return found.toSorted((a, b) => a.position.run - b.position.run || a.position.seq - b.position.seq);
    }),
});

async function knownAs(session: Session, id: string, ids: Map<number, string>): Promise<readonly KnownAction[]> {
  const subjects = rowsOf(
    { subject: "text" },
    ["e", "n", "t"].map((kind) => [`${kind}:${id}`]),
  );
  const bySubject = sql`${subjects} AS wanted CROSS JOIN actions WHERE actions.subject = wanted.subject`;
  // No index: it would cost every night what this costs once.
  const ofTickets = sql`actions WHERE event = ${id} AND subject NOT LIKE 'e:%'`;
  return [...(await selectActions(session, bySubject, ids)), ...(await selectActions(session, ofTickets, ids))];
}

const names = ({ origin: { subject, event } }: Item, id: string): boolean => subject.slice(2) === id || event === id;

const chunksThat = (session: Session, where: Sql) =>
  session.all<{ run: number; chunk: number }>(sql`SELECT run, chunk FROM chunks WHERE ${where} ORDER BY run, chunk`);

/** Bytes may stand there by chance; the items tell. */
async function withPromise(session: Session, { dialect }: Database, id: string) {
  const bytes = uuidToBytes(id.toLowerCase());
  const isIn =
    bytes === undefined
      ? sql`promises_json LIKE ${`%${JSON.stringify(id).replaceAll(/[\\%_]/g, "\\$&")}%`} ESCAPE '\\'`
      : sql`${dialect.indexOf("promises", bytes)} > 0`;
  return await session.all<{ run: number; chunk: number }>(
    sql`SELECT run, chunk FROM outcomes WHERE ${isIn} ORDER BY run, chunk`,
  );
}

/** What is asked of the same chunk again and again is read once. */
function lookAt(session: Session, place: string) {
  const once = <T>(read: (run: number, chunk: number) => Promise<T>) => {
    let [key, last]: [string, Promise<T> | undefined] = ["", undefined];
    return (run: number, chunk: number): Promise<T> => {
      if (key !== `${run} ${chunk}` || last === undefined) [key, last] = [`${run} ${chunk}`, read(run, chunk)];
      return last;
    };
  };
  const outcomes = once<Outcomes>((run, chunk) => selectOutcomes(session, run, chunk));
  const bodies = once<readonly Uint8Array[]>(async (run, chunk) => {
    const isThere = sql`run = ${run} AND chunk = ${chunk} AND body IS NOT NULL`;
    const [found] = await session.all(sql`SELECT 1 AS one FROM bodies WHERE ${isThere}`);
    return found === undefined ? [] : elementsOf(await readBody(session, run, chunk, place));
  });
  const runs = once<Run | undefined>(async (run) => (await selectRuns(session, sql`WHERE number = ${run}`))[0]);
  const attempts = once<readonly Attempt[]>((run, chunk) =>
    selectAttempts(session, sql`attempts.run = ${run} AND attempts.chunk = ${chunk}`),
  );
  const settlements = once<readonly Settlement[]>((run, chunk) =>
    session.all(sql`SELECT chunk, decision, who, at, reason FROM settlements
      WHERE run = ${run} AND (chunk = ${chunk} OR chunk IS NULL) ORDER BY id`),
  );
  const item = async (run: number, chunk: number, { origin, place: at, outcome, promise, response }: Item) => {
    const [{ chunk: of }, ofRun, body] = [await outcomes(run, chunk), await runs(run, 0), await bodies(run, chunk)];
    const bytes = body[at];
    const { subject, kind, mark, line, seq } = origin;
    return {
      ...{ subject, kind, mark, run, chunk, place: at, line, outcome, promise, response },
      runId: ofRun?.run ?? "",
      position: { run, seq },
      chunkState: of.state,
      source: ofRun?.inputs[origin.input]?.name,
      json: bytes === undefined ? undefined : Buffer.from(bytes).toString(),
      answeredAt: of.answeredAt,
      attempts: await attempts(run, chunk),
      settlements: await settlements(run, chunk),
    } satisfies FoundAction;
  };
  return {
    items: async (run: number, chunk: number) => (await outcomes(run, chunk)).items,
    item,
    known: async (action: KnownAction): Promise<FoundAction> => {
      const { subject, kind, mark, run, runId, chunk, place: at, position } = action;
      if (chunk !== undefined && at !== undefined) {
        const { items } = await outcomes(run, chunk);
        const found = items[at];
        if (found !== undefined) return await item(run, chunk, found);
      }
      return {
        ...{ subject, kind, mark, run, runId, chunk, place: at, position, outcome: "adopted" },
        ...{ chunkState: undefined, source: undefined, line: undefined, promise: undefined, response: undefined },
        ...{ json: undefined, answeredAt: undefined, attempts: [], settlements: await settlements(run, 0) },
      };
    },
  };
}
