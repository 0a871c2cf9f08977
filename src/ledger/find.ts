/** All that was ever sent about a ticket, an event or a promise. */

import { elementsOf } from "../actions/json.ts";
import { type KnownAction, selectActions, selectBySubject } from "./actions.ts";
import { type Attempt, selectAttempts } from "./attempts.ts";
import { type Chunk, type Item, readBody, readOutcomes } from "./chunk-life.ts";
import { type Database, type Reader, type Sql, select, sql } from "./database.ts";
import { type Run, selectRuns } from "./runs.ts";
import { type Settlement, selectSettlements } from "./settle.ts";

/** An action that was entered, with what became of it and of its chunk. */
export interface FoundAction extends Pick<KnownAction, "subject" | "kind" | "position"> {
  readonly run: Run;
  /** Undefined for one that was adopted. */
  readonly chunk?: Chunk;
  readonly item?: Item;
  /** `{action, data}` as it was sent; undefined once pruned, and where it was adopted or imported. */
  readonly json?: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly settlements: readonly Settlement[];
}

/** A chunk in which something of what is looked for may be; what was adopted has none. */
type Spot = Pick<KnownAction, "run" | "chunk">;

export const findMethods = (database: Database) => ({
  /**
   * All that was ever sent about a ticketId, nftId, eventId or actionPromise, in the order in which it was read. An eventId or a
   * promise reads the whole ledger.
   */
  async about(id: string): Promise<readonly FoundAction[]> {
    const known = await knownAs(database, id);
    const spots: readonly Spot[] = [...known, ...(await otherChunks(database, id))];
    const runs = new Map((await selectRuns(database, sql``)).map((run) => [run.number, run]));
    const found: FoundAction[] = [];
    for (const [spot] of Map.groupBy(spots, ({ run, chunk }) => `${run} ${chunk}`).values()) {
      const run = spot && runs.get(spot.run);
      if (run !== undefined) found.push(...(await actionsIn(database, run, spot?.chunk, known, id)));
    }
    return found.toSorted((a, b) => a.position.run - b.position.run || a.position.seq - b.position.seq);
  },
});

async function knownAs(reader: Reader, id: string): Promise<readonly KnownAction[]> {
  const subjects = ["e", "n", "t"].map((kind) => `${kind}:${id}`);
  // No index: it would cost every night what this costs once.
  const ofTickets = sql`event = ${id} AND subject NOT LIKE 'e:%'`;
  return [...(await selectBySubject(reader, subjects)), ...(await selectActions(reader, sql`actions`, ofTickets))];
}

/** Of what was rejected or abandoned only its chunk knows. */
const otherChunks = (reader: Reader, id: string): Promise<readonly Spot[]> =>
  select(
    reader,
    sql`SELECT run, chunk FROM chunks WHERE rejected > 0 OR state = 'abandoned'
      UNION SELECT run, chunk FROM bodies WHERE ${holdsPromise(id)}`,
  );

/** As it stands in JSON. */
const holdsPromise = (id: string): Sql =>
  sql`outcomes LIKE ${`%${JSON.stringify(id).replaceAll(/[\\%_]/g, "\\$&")}%`} ESCAPE '\\'`;

const isAbout = ({ outcome, promise, origin: { subject, event } }: Item, id: string): boolean =>
  outcome !== "moved" && (promise === id || subject.slice(2) === id || event === id);

/** Those actions of a chunk that are meant, or were adopted by the run, with all that is known of them. */
async function actionsIn(
  reader: Reader,
  run: Run,
  number: number | undefined,
  known: readonly KnownAction[],
  id: string,
): Promise<readonly FoundAction[]> {
  const where = sql`run = ${run.number} AND (chunk = ${number} OR chunk IS NULL)`;
  const settlements = await selectSettlements(reader, where);
  if (number === undefined)
    return known
      .filter((action) => action.run === run.number && action.chunk === undefined)
      .map(({ subject, kind, position }) => ({ run, subject, kind, position, attempts: [], settlements }));
  const { chunk, items } = await readOutcomes(reader, run.number, number);
  const meant = items.filter((item) => isAbout(item, id));
  if (meant.length === 0) return [];
  const body = elementsOf((await readBody(reader, run.number, number)) ?? Buffer.of());
  const attempts = await selectAttempts(reader, sql`attempts.run = ${run.number} AND attempts.chunk = ${number}`);
  return meant.map((item) => {
    const { subject, kind, seq } = item.origin;
    const position = { run: run.number, seq };
    return { run, subject, kind, position, chunk, item, json: body[item.place]?.toString(), attempts, settlements };
  });
}
