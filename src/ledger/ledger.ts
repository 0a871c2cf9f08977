/**
 * What one environment has been sent, behind one interface: a file of SQLite or a schema of PostgreSQL. Only the sandbox
 * and what is temporary (the plan, the promises that a run has seen) have SQL of their own; others know this folder by this file.
 * A method that changes something is one transaction: after it resolves, the change is on disk; when it throws, nothing has changed.
 */

import { randomUUID } from "node:crypto";
import { Failure } from "../failure.ts";
import { actionMethods } from "./actions.ts";
import { type Database, first, type Reader, sql } from "./database.ts";
import { findMethods } from "./find.ts";
import { importMethods } from "./import.ts";
import { type Workers, workersOf } from "./lanes.ts";
import type { LockHolder, LockOptions } from "./lock.ts";
import { noteMethods } from "./notes.ts";
import type { ServerOptions } from "./postgres-connection.ts";
import { runMethods } from "./runs.ts";
import { settleMethods } from "./settle.ts";
import { openSqlite } from "./sqlite.ts";
import { stepMethods } from "./steps.ts";

export type { Corrected, KnownAction, NewAction, Position } from "./actions.ts";
export type { Answer, Attempt, Claim, Ended, Intent, Stepped } from "./attempts.ts";
export type { Chunk, Item, NewChunk, Origin, Outcomes } from "./chunk-life.ts";
export type { FoundAction } from "./find.ts";
export type { Imported, ImportedLine, ImportedRun } from "./import.ts";
export type { Team, Worker, Workers } from "./lanes.ts";
export type { LockHolder } from "./lock.ts";
export type { Guard, GuardNote, Invocation, Output, Written } from "./notes.ts";
export type { ServerFacts } from "./postgres-failures.ts";
export type { NewRun, Run, RunCounts, RunInput } from "./runs.ts";
export type { By, Settlement } from "./settle.ts";
export type { Request } from "./steps.ts";

export interface Ledger
  extends AsyncDisposable,
    ReturnType<typeof runMethods>,
    ReturnType<typeof stepMethods>,
    ReturnType<typeof settleMethods>,
    ReturnType<typeof actionMethods>,
    ReturnType<typeof noteMethods>,
    ReturnType<typeof findMethods>,
    ReturnType<typeof importMethods> {
  /** For people; without user and password. */
  readonly place: string;
  /** Of this database, from its making on. */
  readonly instance: string;
  /** What it belongs to: a base URL, or the sandbox's instance. */
  readonly boundTo: string | undefined;
  /** A commit succeeded only by the room that the ballast gave: store what is known, and stop. */
  readonly exhausted: "a full disk" | "a failed write" | undefined;
  /** This machine's name, where others share the ledger: the same path is another file on each. */
  readonly machine: string | undefined;
  /** Several machines may send; undefined where the ledger is one machine's alone. */
  readonly workers: Workers | undefined;
  /**
   * Takes the environment's lock. It ends with the process, however that ends.
   *
   * @throws Failure `busy` naming who holds it.
   */
  lock(options: LockOptions): Promise<AsyncDisposable>;
  /** Who holds the lock right now; takes nothing. `undefined`: nobody. */
  holder(name: string): Promise<LockHolder | undefined>;
}

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
  const server = place.kind === "postgres" ? await onServer(place, isToRead) : undefined;
  const database = place.kind === "sqlite" ? openSqlite(place.path, isToRead) : server;
  if (database === undefined) return undefined;
  try {
    const bound = await bind(database, boundTo, isToRead);
    return {
      ...{ place: database.place, machine: database.machine, workers: server && workersOf(server), ...bound },
      get exhausted() {
        return database.exhausted;
      },
      lock: (named) => database.lock(named),
      holder: (name) => database.holder(name),
      ...runMethods(database),
      ...stepMethods(database),
      ...settleMethods(database),
      ...actionMethods(database),
      ...noteMethods(database),
      ...findMethods(database),
      ...importMethods(database),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  } catch (cause) {
    await database[Symbol.asyncDispose]();
    throw cause;
  }
}

/** The driver takes a tenth of a second to load. */
const onServer = async (options: ServerOptions, isToRead: boolean) =>
  await (await import("./postgres.ts")).openPostgres(options, isToRead);

async function readMeta(reader: Reader): Promise<Pick<Ledger, "boundTo" | "instance">> {
  const rows = await reader.all<{ name: string; value: string }>(sql`SELECT name, value FROM meta`);
  const meta = new Map(rows.map(({ name, value }) => [name, value]));
  return { boundTo: meta.get("bound_to"), instance: meta.get("instance") ?? "" };
}

/** What it belongs to. A new one belongs to who opens it to write. */
async function bind(database: Database, boundTo: string | undefined, isToRead: boolean) {
  let found = await readMeta(database);
  if (found.boundTo === undefined && boundTo !== undefined && !isToRead)
    found = await database.write(async (writer) => {
      await writer.run(sql`INSERT INTO meta (name, value) VALUES ('bound_to', ${boundTo}), ('instance', ${randomUUID()})
        ON CONFLICT DO NOTHING`);
      return await readMeta(writer);
    });
  if (found.boundTo === undefined || boundTo === undefined || found.boundTo === boundTo) return found;
  const hasRuns = (await first(database, sql`SELECT 1 AS one FROM runs LIMIT 1`)) !== undefined;
  if (isToRead || hasRuns) throw ofOtherService(database.place, found.boundTo, boundTo);
  // As long as nothing was entered, a mistyped address binds nobody.
  await database.write((writer) => writer.run(sql`UPDATE meta SET value = ${boundTo} WHERE name = 'bound_to'`));
  return { ...found, boundTo };
}

const ofOtherService = (place: string, bound: string, boundTo: string): Failure =>
  new Failure("usage", `The ledger ${place} belongs to ${bound}, but the environment now names ${boundTo}.`, {
    nothingSent: true,
    hint: boundTo.startsWith("sandbox:")
      ? "The sandbox's state was replaced. Set its ledger aside too: tickets sandbox --reset"
      : "What one service has accepted says nothing about another. If it is the same service under a new address, write its promises, with the old one: tickets results -o FILE\nThen move this ledger away and, with the new one, import them: tickets results --import FILE",
  });
