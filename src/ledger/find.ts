/** All that was ever sent about a ticket, an event or a promise. */

import { selectActions, selectBySubject } from "./actions.ts";
import { selectAttempts } from "./attempts.ts";
import { readBody } from "./chunk-life.ts";
import { type Database, type Session, scalar, select } from "./database.ts";
import type { FoundAction, Item, KnownAction, Ledger, Run } from "./ledger.ts";
import { elementsOf, uuidToBytes } from "./outcomes.ts";
import { selectRuns } from "./runs.ts";
import { selectSettlements } from "./settle.ts";
import { type Sql, sql } from "./sql.ts";
import { readOutcomes } from "./steps.ts";

/** A chunk in which something of what is looked for may be, and the place of it where that is known. */
interface Spot {
  readonly run: number;
  readonly chunk: number;
  readonly place?: number | undefined;
}

export const findMethods = (database: Database): Pick<Ledger, "about"> => ({
  about: (id) =>
    database.read(async (session) => {
      const known = await knownAs(session, id);
      const found: FoundAction[] = [];
      for (const [run, adopted] of Map.groupBy(known.filter(isAdopted), (action) => action.run))
        found.push(...toAdopted(adopted, await selectSettlements(session, sql`run = ${run} AND chunk IS NULL`)));
      const spots: readonly Spot[] = [
        ...known.flatMap(({ run, chunk, place }) => (chunk === undefined ? [] : [{ run, chunk, place }])),
        // Of what was rejected or abandoned only its chunk knows.
        ...(await chunksThat(session, sql`chunks WHERE rejected > 0 OR state = 'abandoned'`)),
        // Bytes may stand there by chance; the items decide.
        ...(await chunksThat(session, sql`outcomes WHERE ${holdsPromise(session, id)}`)),
      ];
      const runs = new Map((await selectRuns(session, sql``)).map((run) => [run.number, run]));
      for (const here of Map.groupBy(spots, ({ run, chunk }) => `${run} ${chunk}`).values()) {
        const places = new Set(here.map(({ place }) => place));
        const isMeant = (item: Item): boolean =>
          places.has(item.place) ||
          item.promise === id ||
          (["rejected", "not sent"].includes(item.outcome) && names(item, id));
        const [{ run, chunk }] = here as [Spot]; // a group has one at least
        found.push(...(await itemsIn(session, runs.get(run), chunk, isMeant)));
      }
      return found.toSorted((a, b) => a.position.run - b.position.run || a.position.seq - b.position.seq);
    }),
});

async function knownAs(session: Session, id: string): Promise<readonly KnownAction[]> {
  const subjects = ["e", "n", "t"].map((kind) => `${kind}:${id}`);
  // No index: it would cost every night what this costs once.
  const ofTickets = sql`event = ${id} AND subject NOT LIKE 'e:%'`;
  return [...(await selectBySubject(session, subjects)), ...(await selectActions(session, sql`actions`, ofTickets))];
}

const isAdopted = ({ chunk }: KnownAction): boolean => chunk === undefined;
const names = ({ origin: { subject, event } }: Item, id: string): boolean => subject.slice(2) === id || event === id;

const chunksThat = (session: Session, from: Sql) => select<Spot>(session, sql`SELECT run, chunk FROM ${from}`);

function holdsPromise({ dialect }: Session, id: string): Sql {
  const bytes = uuidToBytes(id.toLowerCase());
  return bytes === undefined
    ? sql`promises_json LIKE ${`%${JSON.stringify(id).replaceAll(/[\\%_]/g, "\\$&")}%`} ESCAPE '\\'`
    : sql`${dialect.indexOf("promises", bytes)} > 0`;
}

/** Those actions of a chunk that are meant, with all that is known of them. */
async function itemsIn(
  session: Session,
  run: Run | undefined,
  chunk: number,
  isMeant: (item: Item) => boolean,
): Promise<readonly FoundAction[]> {
  if (run === undefined) return [];
  const { number, run: runId, inputs } = run;
  const { chunk: of, items } = await readOutcomes(session, number, chunk);
  const meant = items.filter(isMeant);
  if (meant.length === 0) return [];
  const isThere = sql`run = ${number} AND chunk = ${chunk} AND body IS NOT NULL`;
  const hasBody = (await scalar(session, sql`SELECT 1 AS one FROM bodies WHERE ${isThere}`)) !== undefined;
  const body = hasBody ? elementsOf(await readBody(session, number, chunk)) : [];
  const attempts = await selectAttempts(session, sql`attempts.run = ${number} AND attempts.chunk = ${chunk}`);
  const settlements = await selectSettlements(session, sql`run = ${number} AND (chunk = ${chunk} OR chunk IS NULL)`);
  return meant.map(({ origin, place: at, outcome, promise, response }) => {
    const { subject, kind, mark, line, seq } = origin;
    return {
      ...{ subject, kind, mark, run: number, runId, chunk, place: at, line, outcome, promise, response },
      ...{ position: { run: number, seq }, chunkState: of.state, source: inputs[origin.input]?.name },
      ...{ json: body[at] && Buffer.from(body[at]).toString(), answeredAt: of.answeredAt, attempts, settlements },
    };
  });
}

const toAdopted = (adopted: readonly KnownAction[], settlements: FoundAction["settlements"]): readonly FoundAction[] =>
  adopted.map(({ subject, kind, mark, run, runId, chunk, place, position }) => ({
    ...{ subject, kind, mark, run, runId, chunk, place, position, outcome: "adopted", attempts: [], settlements },
  }));
