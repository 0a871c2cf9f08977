/** Opening a ledger: made where it is missing, refused where it belongs to another service. The only place that asks which kind it is. */

import { randomUUID } from "node:crypto";
import { Failure } from "../failure.ts";
import { actionMethods, countActions } from "./actions.ts";
import { type Database, first, type Session } from "./database.ts";
import { findMethods } from "./find.ts";
import { guardMethods } from "./guard.ts";
import { importMethods } from "./import.ts";
import { invocationMethods } from "./invocations.ts";
import type { Ledger } from "./ledger.ts";
import { outputMethods } from "./outputs.ts";
import type { ServerOptions } from "./postgres-connection.ts";
import { runMethods } from "./runs.ts";
import { sql } from "./sql.ts";
import { openSqlite } from "./sqlite.ts";
import { statusMethods } from "./statuses.ts";
import { stepMethods } from "./steps.ts";
import type { Workers } from "./workers.ts";

export type LedgerPlace =
  | { readonly kind: "sqlite"; readonly path: string }
  | ({ readonly kind: "postgres" } & ServerOptions);

export interface OpenOptions {
  readonly place: LedgerPlace;
  /** The environment's base URL, or the sandbox's instance; undefined: not compared, for reading only. */
  readonly boundTo: string | undefined;
}

/**
 * @throws Failure `usage` where it belongs to another service, has tables of another version or is in an unsafe place; `storage`
 * where it is damaged or can't be reached.
 */
export async function openLedger(options: OpenOptions): Promise<Ledger> {
  const ledger = await open(options, false);
  if (ledger === undefined) throw new Error("a ledger that is not there was not made");
  return ledger;
}

/** The same, read-only; undefined where there is none. */
export const findLedger = (options: OpenOptions): Promise<Ledger | undefined> => open(options, true);

async function open({ place, boundTo }: OpenOptions, isToRead: boolean): Promise<Ledger | undefined> {
  const opened = await openDatabase(place, isToRead);
  if (opened === undefined) return undefined;
  const { database, workers, wake } = opened;
  try {
    const { bound, instance } = await bind(database, boundTo, isToRead);
    return toLedger(database, { workers, wake, bound, instance });
  } catch (cause) {
    await database[Symbol.asyncDispose]();
    throw cause;
  }
}

interface Opened {
  readonly database: Database;
  readonly workers: Workers | undefined;
  readonly wake: (session: Session) => Promise<void>;
}

async function openDatabase(place: LedgerPlace, isToRead: boolean): Promise<Opened | undefined> {
  switch (place.kind) {
    case "sqlite": {
      const opened = openSqlite(place.path, isToRead);
      return opened && { database: opened, workers: undefined, wake: async () => undefined };
    }
    case "postgres": {
      // Only where it is wanted: the driver takes a tenth of a second to load.
      const [{ openPostgres }, { workersOf }] = await Promise.all([import("./postgres.ts"), import("./lanes.ts")]);
      const opened = await openPostgres(place, isToRead);
      return (
        opened && {
          ...opened,
          workers: workersOf(opened.database, opened.server),
          wake: (session) => opened.server.notify(session),
        }
      );
    }
  }
}

const META = sql`SELECT (SELECT value FROM meta WHERE name = 'bound_to') AS bound, (SELECT value FROM meta WHERE name = 'instance') AS instance`;

/** What it belongs to. A new one belongs to who opens it to write. */
async function bind(
  database: Database,
  boundTo: string | undefined,
  isToRead: boolean,
): Promise<{ readonly bound: string | undefined; readonly instance: string }> {
  const read = (session: Session) => first<{ bound: string | null; instance: string | null }>(session, META);
  let found = await database.read(read);
  if (found?.bound == null && !isToRead && boundTo !== undefined)
    found = await database.write(async (session) => {
      await session.run(sql`INSERT INTO meta (name, value) VALUES ('bound_to', ${boundTo}), ('instance', ${randomUUID()}),
        ('created_at', ${new Date().toISOString()}) ON CONFLICT DO NOTHING`);
      return await read(session);
    });
  const bound = found?.bound ?? undefined;
  if (bound !== undefined && boundTo !== undefined && bound !== boundTo) {
    if (isToRead || (await database.read(hasRuns))) throw ofOtherService(database.place, bound, boundTo);
    // As long as nothing was entered, a mistyped address binds nobody.
    await database.write((session) => session.run(sql`UPDATE meta SET value = ${boundTo} WHERE name = 'bound_to'`));
    return { bound: boundTo, instance: found?.instance ?? "" };
  }
  return { bound, instance: found?.instance ?? "" };
}

const hasRuns = async (session: Session): Promise<boolean> =>
  (await first(session, sql`SELECT 1 AS one FROM runs LIMIT 1`)) !== undefined;

const ofOtherService = (place: string, bound: string, boundTo: string): Failure =>
  new Failure(
    "usage",
    `The ledger ${place} belongs to ${bound}, but the environment now names ${boundTo}. Nothing was sent.`,
    {
      hint: boundTo.startsWith("sandbox:")
        ? "The sandbox's state was replaced. Set its ledger aside too: tickets sandbox --reset"
        : "What one service has accepted says nothing about another. If it is the same service under a new address, write its promises, with the old one: tickets results -o FILE\nThen move this ledger away and, with the new one, import them: tickets results --import FILE",
    },
  );

interface About extends Omit<Opened, "database"> {
  readonly bound: string | undefined;
  readonly instance: string;
}

function toLedger(database: Database, { workers, wake, bound, instance }: About): Ledger {
  const ids = new Map<number, string>();
  return {
    kind: database.kind,
    place: database.place,
    instance,
    workers,
    boundTo: bound,
    get exhausted() {
      return database.exhausted;
    },
    lock: (options) => database.lock(options),
    holder: (name) => database.holder(name),
    ...runMethods(database, wake),
    ...stepMethods(database, wake),
    ...actionMethods(database, ids),
    ...findMethods(database, ids),
    ...importMethods(database),
    ...guardMethods(database),
    ...outputMethods(database),
    ...invocationMethods(database),
    ...statusMethods(database),
    size: async () => ({ bytes: await database.bytes(), actions: await database.read(countActions) }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
