/** The sandbox's state on disk: one SQLite file, its tables and the statements on them. No rules live here. */

import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { FieldName, MetadataAttribute } from "../actions/fields.ts";
import { parseJson, stringifyJson } from "../actions/json.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "./item.ts";

/** Marks the file as a sandbox's, so that no other database is taken for one ("TKSB"). */
const APPLICATION_ID = 0x544b_5342;
const SCHEMA_VERSION = 1;
const BUSY_TIMEOUT_MS = 10_000;

const SCHEMA = `
  CREATE TABLE sandbox (instance_id TEXT NOT NULL, created_at INTEGER NOT NULL, requests INTEGER NOT NULL) STRICT;
  -- fields: JSON of what was sent and not cleared; what is absent has the field table's default.
  CREATE TABLE events (
    number INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, tickets INTEGER NOT NULL, fields TEXT NOT NULL
  ) STRICT;
  CREATE TABLE tickets (
    number INTEGER PRIMARY KEY, ticket_id TEXT NOT NULL UNIQUE, event INTEGER NOT NULL, token INTEGER NOT NULL,
    state TEXT NOT NULL, claimed INTEGER NOT NULL, scans INTEGER NOT NULL, holder TEXT, wallet TEXT NOT NULL,
    fields TEXT NOT NULL, UNIQUE (event, token)
  ) STRICT;
  -- Everything processed, in order. status is success or error; code and rule say why an item was refused.
  CREATE TABLE actions (
    seq INTEGER PRIMARY KEY, request INTEGER NOT NULL, item INTEGER NOT NULL, action TEXT, event_id TEXT, ticket_id TEXT,
    nft_id TEXT, data TEXT NOT NULL, status TEXT NOT NULL, code TEXT, rule TEXT, promise TEXT UNIQUE, at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE statuses (promise TEXT PRIMARY KEY, status TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE templates (id TEXT PRIMARY KEY, attributes TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The histories on the page need these. The first one asked for makes them: a sandbox that nobody looks at need not pay for them. */
const HISTORY_INDEXES = `
  CREATE INDEX IF NOT EXISTS actions_of_ticket ON actions (ticket_id) WHERE ticket_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS actions_by_nft ON actions (nft_id) WHERE nft_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS actions_of_event ON actions (event_id) WHERE ticket_id IS NULL AND nft_id IS NULL;
`;

/** Field values as they were sent, without those that equal the field's default; other keys where a relaxed rule let them in. */
export type StoredFields = { readonly [F in FieldName]?: unknown } & { readonly [key: string]: unknown };

export interface EventRow {
  readonly number: number;
  readonly eventId: string;
  /** Tickets sold so far, which is also the last token number. */
  readonly tickets: number;
  readonly fields: StoredFields;
}

export interface TicketRow {
  readonly number: number;
  readonly ticketId: string;
  readonly nftId: string;
  /** The event's number. */
  readonly event: number;
  readonly token: number;
  readonly state: "valid" | "checked-in" | "invalidated";
  readonly claimed: boolean;
  readonly scans: number;
  /** The user of the last sale or resale; null when a relaxed rule let a sale without user through. */
  readonly holder: string | null;
  readonly wallet: string;
  readonly fields: StoredFields;
}

/** One line of the sandbox's own record of what it did. */
export interface ProcessedAction {
  /** Counts everything processed, from 1. */
  readonly seq: number;
  /** Counts the requests of which anything was processed, from 1. */
  readonly request: number;
  /** 0-based place in its request. */
  readonly item: number;
  /** As sent; null when it was not text. */
  readonly action: string | null;
  readonly eventId: string | null;
  readonly ticketId: string | null;
  readonly nftId: string | null;
  /** The item's data as JSON text. */
  readonly data: string;
  readonly status: "success" | "error";
  readonly code: string | null;
  readonly rule: string | null;
  readonly actionPromise: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Rows as the statements below give them. */
type EventColumns = Omit<EventRow, "fields"> & { readonly fields: string };
type TicketColumns = Omit<TicketRow, "nftId" | "fields" | "claimed"> & {
  readonly fields: string;
  readonly claimed: number;
};
type Count = Pick<ProcessedAction, "action" | "status"> & { readonly count: number; readonly last: number };
type Totals = Readonly<Record<"requests" | "events" | "tickets", number>>;

/** What is read of a row, under the names that its object has. */
const EVENT = "SELECT number, event_id AS eventId, tickets, fields FROM events";
const TICKET =
  "SELECT number, ticket_id AS ticketId, event, token, state, claimed, scans, holder, wallet, fields FROM tickets";
const ACTION = `SELECT seq, request, item, action, event_id AS eventId, ticket_id AS ticketId, nft_id AS nftId, data,
    status, code, rule, promise AS actionPromise, at FROM actions`;
const NEWEST_BEFORE = "seq < ? ORDER BY seq DESC LIMIT ?";

const NFT_ID = /^SANDBOX-(\d{1,15})-(\d{1,15})$/;
/** Behind every text that begins with another. */
const LAST_CHARACTER = "\u{10ffff}";

export type State = ReturnType<typeof openState>;

/**
 * Opens the state, creating it when there is none. Other processes may have it open too: each transaction sees the
 * others' work whole or not at all. After a kill nothing committed is lost; after a power cut the last moments may be.
 *
 * @throws Failure `storage` when the file is damaged, of a newer version or not a sandbox's.
 */
export function openState(path: string, now: () => number) {
  const database = openDatabase(path, now);
  const sql = sqlOn(database);
  return {
    // Made with the state.
    ...(sql.one("SELECT instance_id AS instanceId, created_at AS createdAt FROM sandbox") as {
      readonly instanceId: string;
      readonly createdAt: number;
    }),
    ...eventsIn(sql),
    ...ticketsIn(sql),
    ...recordIn(sql, () => database.exec(HISTORY_INDEXES)),

    /** Runs `work` in one transaction; what it throws undoes everything. */
    transaction<T>(work: () => T): T {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    // Nothing is ever removed, so the last number is the count.
    totals: () =>
      sql.one(`SELECT requests, coalesce((SELECT max(number) FROM events), 0) AS events,
        coalesce((SELECT max(number) FROM tickets), 0) AS tickets FROM sandbox`) as Totals,
    /** Ids of a kind that begin with a text. */
    idsFrom(kind: "event" | "ticket", start: string, limit: number): readonly string[] {
      const text = `SELECT ${kind}_id AS id FROM ${kind}s WHERE ${kind}_id >= ? AND ${kind}_id < ? ORDER BY 1 LIMIT ?`;
      return sql.all<{ readonly id: string }>(text, start, start + LAST_CHARACTER, limit).map(({ id }) => id);
    },
    template(id: string): readonly MetadataAttribute[] {
      const row = sql.one<{ readonly attributes: string }>(
        "SELECT attributes FROM templates WHERE id = ?",
        id.toLowerCase(),
      );
      return row === undefined ? [] : (parseJson(row.attributes) as readonly MetadataAttribute[]); // as setTemplate wrote
    },
    setTemplate(id: string, attributes: readonly MetadataAttribute[]): void {
      const json = stringifyJson(attributes);
      sql.run("INSERT OR REPLACE INTO templates (id, attributes) VALUES (?, ?)", id.toLowerCase(), json);
    },
    close(): void {
      if (database.isOpen) database.close();
    },
  };
}

type Sql = ReturnType<typeof sqlOn>;

/** Statements by their text, each prepared once. `Row` says which columns one gives. */
function sqlOn(database: DatabaseSync) {
  const statements = new Map<string, StatementSync>();
  const statementOf = (text: string): StatementSync => {
    const statement = statements.get(text) ?? database.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  return {
    run: (text: string, ...values: SQLInputValue[]) => statementOf(text).run(...values),
    one: <Row>(text: string, ...values: SQLInputValue[]) => statementOf(text).get(...values) as Row | undefined,
    all: <Row>(text: string, ...values: SQLInputValue[]) =>
      statementOf(text).all(...values) as unknown as readonly Row[],
  };
}

function eventsIn({ run, one }: Sql) {
  return {
    event: (eventId: string) => toEvent(one(`${EVENT} WHERE event_id = ?`, eventId)),
    eventNumbered: (number: number) => toEvent(one(`${EVENT} WHERE number = ?`, number)),
    addEvent(eventId: string, fields: StoredFields): EventRow {
      const json = stringifyJson(fields);
      const { lastInsertRowid } = run("INSERT INTO events (event_id, tickets, fields) VALUES (?, 0, ?)", eventId, json);
      return { number: Number(lastInsertRowid), eventId, tickets: 0, fields };
    },
    saveEvent: ({ fields, number }: EventRow) =>
      run("UPDATE events SET fields = ? WHERE number = ?", stringifyJson(fields), number),
  };
}

function ticketsIn({ run, one }: Sql) {
  return {
    ticket: (ticketId: string) => toTicket(one(`${TICKET} WHERE ticket_id = ?`, ticketId)),
    ticketOfNft(nftId: string): TicketRow | undefined {
      const [, event, token] = NFT_ID.exec(nftId) ?? [];
      if (event === undefined || token === undefined) return undefined;
      const ticket = toTicket(one(`${TICKET} WHERE event = ? AND token = ?`, Number(event), Number(token)));
      // Leading zeros make another id.
      return ticket?.nftId === nftId ? ticket : undefined;
    },
    /** Adds the event's next ticket and counts it, unless its ticketId is known; says whether it did. */
    addTicket(event: EventRow, ticket: Pick<TicketRow, "ticketId" | "holder" | "wallet" | "fields">): boolean {
      const { ticketId, holder, wallet, fields } = ticket;
      const { changes } = run(
        `INSERT INTO tickets (ticket_id, event, token, state, claimed, scans, holder, wallet, fields)
          VALUES (?, ?, ?, 'valid', 0, 0, ?, ?, ?) ON CONFLICT (ticket_id) DO NOTHING`,
        ...[ticketId, event.number, event.tickets + 1, holder, wallet, stringifyJson(fields)],
      );
      if (Number(changes) === 0) return false;
      run("UPDATE events SET tickets = tickets + 1 WHERE number = ?", event.number);
      return true;
    },
    saveTicket({ state, claimed, scans, holder, wallet, fields, number }: TicketRow): void {
      run(
        "UPDATE tickets SET state = ?, claimed = ?, scans = ?, holder = ?, wallet = ?, fields = ? WHERE number = ?",
        ...[state, Number(claimed), scans, holder, wallet, stringifyJson(fields), number],
      );
    },
  };
}

function recordIn({ run, one, all }: Sql, makeIndexes: () => void) {
  const actions = (text: string, ...values: SQLInputValue[]) => all<ProcessedAction>(`${ACTION} ${text}`, ...values);
  return {
    /** Counts a request; gives its number. */
    countRequest: () => (one("UPDATE sandbox SET requests = requests + 1 RETURNING requests") as Totals).requests,
    record({ ids, ...line }: Omit<ProcessedAction, "seq" | keyof Ids> & { readonly ids: Ids }): void {
      const { eventId = null, ticketId = null, nftId = null } = ids;
      const { request, item, action, data, status, code, rule, actionPromise, at } = line;
      run(
        `INSERT INTO actions (request, item, action, event_id, ticket_id, nft_id, data, status, code, rule, promise, at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[request, item, action, eventId, ticketId, nftId, data, status, code, rule, actionPromise, at],
      );
    },
    actionOf: (promise: string) => actions("WHERE promise = ?", promise)[0],
    actionsAfter: (seq: number, limit: number) => actions("WHERE seq > ? ORDER BY seq LIMIT ?", seq, limit),
    // The newest first, from here on.
    actionsBefore: (seq: number, limit: number) => actions(`WHERE ${NEWEST_BEFORE}`, seq, limit),
    /** Those of a ticket, by whichever id they named it. */
    actionsOfTicket({ ticketId, nftId }: TicketRow, before: number, limit: number): readonly ProcessedAction[] {
      makeIndexes();
      return actions(`WHERE (ticket_id = ? OR nft_id = ?) AND ${NEWEST_BEFORE}`, ticketId, nftId, before, limit);
    },
    /** Those of an event and none of its tickets. */
    actionsOfEvent(eventId: string, before: number, limit: number): readonly ProcessedAction[] {
      makeIndexes();
      const ofEvent = "event_id = ? AND ticket_id IS NULL AND nft_id IS NULL";
      return actions(`WHERE ${ofEvent} AND ${NEWEST_BEFORE}`, eventId, before, limit);
    },
    /** What was processed after a `seq`. */
    countsAfter: (seq: number) =>
      all<Count>(
        "SELECT action, status, count(*) AS count, max(seq) AS last FROM actions WHERE seq > ? GROUP BY action, status",
        seq,
      ),

    /** What was set, if anything. */
    statusOf: (promise: string) =>
      one<{ readonly status: string }>("SELECT status FROM statuses WHERE promise = ?", promise)?.status,
    setStatus: (promise: string, status: string) =>
      run("INSERT OR REPLACE INTO statuses (promise, status) VALUES (?, ?)", promise, status),
  };
}

function toEvent(row: EventColumns | undefined): EventRow | undefined {
  return row && { ...row, fields: fieldsIn(row.fields) };
}

function toTicket(row: TicketColumns | undefined): TicketRow | undefined {
  if (row === undefined) return undefined;
  const nftId = `SANDBOX-${row.event}-${row.token}`;
  return { ...row, nftId, claimed: row.claimed === 1, fields: fieldsIn(row.fields) };
}

const fieldsIn = (json: string) => parseJson(json) as StoredFields; // as stringifyJson wrote them

function openDatabase(path: string, now: () => number): DatabaseSync {
  const onDisk = path !== ":memory:";
  let database: DatabaseSync | undefined;
  try {
    if (onDisk) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // SQLite would create it readable for all; its companion files take the mode of this one.
      closeSync(openSync(path, "a", 0o600));
    }
    database = new DatabaseSync(path);
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const number = (name: string) => Number(Object.values(database?.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE");
    const empty = number("schema_version") === 0;
    if (!empty && number("application_id") !== APPLICATION_ID)
      throw new Failure("storage", `${path} is a database, but not a sandbox's state.`, {
        hint: "Name another state directory with --state-dir.",
      });
    if (!empty && number("user_version") > SCHEMA_VERSION)
      throw new Failure("storage", `${path} was written by a newer version of tickets.`, {
        hint: "Use that version, or start a new sandbox with `tickets sandbox --reset`.",
      });
    if (empty) {
      database.exec(SCHEMA);
      database.prepare("INSERT INTO sandbox VALUES (?, ?, 0)").run(randomUUID(), now());
    }
    database.exec("COMMIT");
    return database;
  } catch (cause) {
    if (database?.isOpen) database.close();
    if (cause instanceof Failure) throw cause;
    throw new Failure("storage", `Could not open the sandbox's state ${path} (${reasonOf(cause)}).`, {
      hint: "If it is damaged, `tickets sandbox --reset` sets it aside and starts a new one.",
      cause,
    });
  }
}

/**
 * Makes one file of the state, which can be set aside, so that the next start makes a new instance. Of a damaged one its files
 * stay as they are.
 *
 * @returns false when there is no state.
 * @throws Failure `busy` while another process has the state open.
 */
export function closeState(path: string): boolean {
  if (!existsSync(path)) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // Leaving WAL needs the file for oneself alone, and folds the companion files into the main one.
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
  } catch (cause) {
    if (/locked|busy/i.test(reasonOf(cause)))
      throw new Failure("busy", `Another process has the sandbox's state ${path} open.`, {
        hint: "End it first, then reset.",
        cause,
      });
  } finally {
    if (database?.isOpen) database.close();
  }
  chmodSync(path, 0o600);
  return true;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
