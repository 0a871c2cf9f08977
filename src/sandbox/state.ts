/** The sandbox's state on disk: one SQLite file, its tables and the statements on them. No rules live here. */

import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FieldName, MetadataAttribute } from "../actions/fields.ts";
import { parseJson, stringifyJson } from "../actions/json.ts";
import { Failure } from "../failure.ts";

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

/** Field values as they were sent, without those that equal the field's default; other keys where a relaxed rule let them in. */
export type StoredFields = { readonly [F in FieldName]?: unknown } & { readonly [key: string]: unknown };

export interface EventRow {
  readonly number: number;
  readonly eventId: string;
  /** Tickets sold so far, which is also the last token number. */
  readonly tickets: number;
  readonly fields: StoredFields;
}

export type TicketState = "valid" | "checked-in" | "invalidated";

export interface TicketRow {
  readonly number: number;
  readonly ticketId: string;
  /** The event's number. */
  readonly event: number;
  readonly token: number;
  readonly state: TicketState;
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

/** What is read of a row, under the names that its object has. */
const EVENT = "SELECT number, event_id AS eventId, tickets, fields FROM events";
const TICKET =
  "SELECT number, ticket_id AS ticketId, event, token, state, claimed, scans, holder, wallet, fields FROM tickets";
const ACTION = `SELECT seq, request, item, action, event_id AS eventId, ticket_id AS ticketId, nft_id AS nftId, data,
    status, code, rule, promise AS actionPromise, at FROM actions`;

/**
 * What the histories on the page need. Made when the first of them is asked for, since a sandbox that nobody looks at should
 * not pay for it with each action.
 */
const HISTORY_INDEXES = `
  CREATE INDEX IF NOT EXISTS actions_of_ticket ON actions (ticket_id) WHERE ticket_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS actions_by_nft ON actions (nft_id) WHERE nft_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS actions_of_event ON actions (event_id) WHERE ticket_id IS NULL AND nft_id IS NULL;
`;

/** Behind every text that begins with another. */
const LAST_CHARACTER = "\u{10ffff}";

/** Every statement, prepared once. */
function prepareAll(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text);
  return {
    sandbox: prepare("SELECT instance_id AS instanceId, created_at AS createdAt, requests FROM sandbox"),
    countRequest: prepare("UPDATE sandbox SET requests = requests + 1 RETURNING requests"),
    eventById: prepare(`${EVENT} WHERE event_id = ?`),
    eventByNumber: prepare(`${EVENT} WHERE number = ?`),
    addEvent: prepare("INSERT INTO events (event_id, tickets, fields) VALUES (?, 0, ?)"),
    setEvent: prepare("UPDATE events SET tickets = ?, fields = ? WHERE number = ?"),
    ticketById: prepare(`${TICKET} WHERE ticket_id = ?`),
    ticketByToken: prepare(`${TICKET} WHERE event = ? AND token = ?`),
    addTicket: prepare(`
    INSERT INTO tickets (ticket_id, event, token, state, claimed, scans, holder, wallet, fields)
    VALUES (?, ?, ?, 'valid', 0, 0, ?, ?, ?) ON CONFLICT (ticket_id) DO NOTHING`),
    setTicket: prepare(
      "UPDATE tickets SET state = ?, claimed = ?, scans = ?, holder = ?, wallet = ?, fields = ? WHERE number = ?",
    ),
    addAction: prepare(`
    INSERT INTO actions (request, item, action, event_id, ticket_id, nft_id, data, status, code, rule, promise, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    actionsAfter: prepare(`${ACTION} WHERE seq > ? ORDER BY seq LIMIT ?`),
    actionsBefore: prepare(`${ACTION} WHERE seq < ? ORDER BY seq DESC LIMIT ?`),
    actionsAbout: prepare(`${ACTION} WHERE (ticket_id = ? OR nft_id = ?) AND seq < ? ORDER BY seq DESC LIMIT ?`),
    actionsOfEvent: prepare(
      `${ACTION} WHERE event_id = ? AND ticket_id IS NULL AND nft_id IS NULL AND seq < ? ORDER BY seq DESC LIMIT ?`,
    ),
    countAfter: prepare(
      "SELECT status, count(*) AS count, max(seq) AS last FROM actions WHERE seq > ? GROUP BY status",
    ),
    // Nothing is ever removed, so the last number is the count.
    lastNumbers: prepare(`SELECT coalesce((SELECT max(number) FROM events), 0) AS events,
      coalesce((SELECT max(number) FROM tickets), 0) AS tickets, requests FROM sandbox`),
    ticketsLike: prepare(
      "SELECT ticket_id AS id FROM tickets WHERE ticket_id >= ? AND ticket_id < ? ORDER BY 1 LIMIT ?",
    ),
    eventsLike: prepare("SELECT event_id AS id FROM events WHERE event_id >= ? AND event_id < ? ORDER BY 1 LIMIT ?"),
    actionByPromise: prepare(`${ACTION} WHERE promise = ?`),
    countActions: prepare("SELECT action, status, count(*) AS count FROM actions GROUP BY action, status"),
    countRows: prepare(
      "SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM tickets) AS tickets, requests FROM sandbox",
    ),
    statusOf: prepare("SELECT status FROM statuses WHERE promise = ?"),
    setStatus: prepare("INSERT OR REPLACE INTO statuses (promise, status) VALUES (?, ?)"),
    templateById: prepare("SELECT attributes FROM templates WHERE id = ?"),
    setTemplate: prepare("INSERT OR REPLACE INTO templates (id, attributes) VALUES (?, ?)"),
  };
}

export type State = ReturnType<typeof openState>;

/**
 * Opens the state, creating it when there is none. Other processes may have it open too: each transaction sees the
 * others' work whole or not at all. After a kill nothing committed is lost; after a power cut the last moments may be.
 *
 * @throws Failure `storage` when the file is damaged, of a newer version or not a sandbox's.
 */
export function openState(path: string, now: () => number) {
  const database = openDatabase(path, now);
  const sql = prepareAll(database);

  return {
    // The casts below state the columns that this file's own tables and selects give.
    ...(sql.sandbox.get() as unknown as { readonly instanceId: string; readonly createdAt: number }),

    /** Runs `work` in one transaction; what it throws undoes everything. */
    transaction: <T>(work: () => T): T => inTransaction(database, work),

    countRequest: () => (sql.countRequest.get() as unknown as { readonly requests: number }).requests,

    event: (eventId: string) => toEvent(sql.eventById.get(eventId)),
    eventNumbered: (number: number) => toEvent(sql.eventByNumber.get(number)),
    addEvent(eventId: string, fields: StoredFields): EventRow {
      const { lastInsertRowid } = sql.addEvent.run(eventId, stringifyJson(fields));
      return { number: Number(lastInsertRowid), eventId, tickets: 0, fields };
    },
    saveEvent(event: EventRow): void {
      sql.setEvent.run(event.tickets, stringifyJson(event.fields), event.number);
    },

    ticket: (ticketId: string) => toTicket(sql.ticketById.get(ticketId)),
    ticketByToken: (event: number, token: number) => toTicket(sql.ticketByToken.get(event, token)),
    /** Adds a ticket unless its ticketId is known; says whether it did. */
    addTicket(ticket: Pick<TicketRow, "ticketId" | "event" | "token" | "holder" | "wallet" | "fields">): boolean {
      const { ticketId, event, token, holder, wallet, fields } = ticket;
      return Number(sql.addTicket.run(ticketId, event, token, holder, wallet, stringifyJson(fields)).changes) === 1;
    },
    saveTicket(ticket: TicketRow): void {
      const { state, claimed, scans, holder, wallet, fields, number } = ticket;
      sql.setTicket.run(state, Number(claimed), scans, holder, wallet, stringifyJson(fields), number);
    },

    record(action: Omit<ProcessedAction, "seq">): void {
      const { request, item, eventId, ticketId, nftId, data, status, code, rule, actionPromise, at } = action;
      sql.addAction.run(
        ...[request, item, action.action, eventId, ticketId, nftId, data, status, code, rule, actionPromise, at],
      );
    },
    actionsAfter: (seq: number, limit: number) =>
      sql.actionsAfter.all(seq, limit) as unknown as readonly ProcessedAction[],
    ...pagesOf(database, sql),
    actionOf: (promise: string) => sql.actionByPromise.get(promise) as unknown as ProcessedAction | undefined,
    counts: () => ({
      ...(sql.countRows.get() as unknown as {
        readonly events: number;
        readonly tickets: number;
        readonly requests: number;
      }),
      actions: sql.countActions.all() as unknown as readonly {
        readonly action: string | null;
        readonly status: ProcessedAction["status"];
        readonly count: number;
      }[],
    }),

    statusOf: (promise: string) =>
      (sql.statusOf.get(promise) as unknown as { readonly status: string } | undefined)?.status,
    setStatus(promise: string, status: string): void {
      sql.setStatus.run(promise, status);
    },
    template(id: string): readonly MetadataAttribute[] {
      const row = sql.templateById.get(id.toLowerCase()) as unknown as { readonly attributes: string } | undefined;
      return row === undefined ? [] : (parseJson(row.attributes) as readonly MetadataAttribute[]); // as setTemplate wrote
    },
    setTemplate(id: string, attributes: readonly MetadataAttribute[]): void {
      sql.setTemplate.run(id.toLowerCase(), stringifyJson(attributes));
    },

    close(): void {
      if (database.isOpen) database.close();
    },
  };
}

/** What is read to be looked at, a page at a time. */
function pagesOf(database: DatabaseSync, sql: ReturnType<typeof prepareAll>) {
  return {
    /** The newest first, of those before `seq`. */
    actionsBefore: (seq: number, limit: number) =>
      sql.actionsBefore.all(seq, limit) as unknown as readonly ProcessedAction[],
    /** Likewise, of one ticket, by whichever id they named it. */
    actionsAbout(ticketId: string, nftId: string, seq: number, limit: number): readonly ProcessedAction[] {
      database.exec(HISTORY_INDEXES);
      return sql.actionsAbout.all(ticketId, nftId, seq, limit) as unknown as readonly ProcessedAction[];
    },
    /** Likewise, of an event and none of its tickets. */
    actionsOfEvent(eventId: string, seq: number, limit: number): readonly ProcessedAction[] {
      database.exec(HISTORY_INDEXES);
      return sql.actionsOfEvent.all(eventId, seq, limit) as unknown as readonly ProcessedAction[];
    },
    /** How much was processed after `seq`, by status, and the last of it. */
    countAfter: (seq: number) =>
      sql.countAfter.all(seq) as unknown as readonly {
        readonly status: ProcessedAction["status"];
        readonly count: number;
        readonly last: number;
      }[],
    /** The same counts as `counts`, without reading every row. */
    totals: () =>
      sql.lastNumbers.get() as unknown as {
        readonly events: number;
        readonly tickets: number;
        readonly requests: number;
      },
    /** Ids that begin with a text. */
    ticketsLike: (start: string, limit: number) =>
      sql.ticketsLike.all(start, start + LAST_CHARACTER, limit).map(({ id }) => String(id)),
    eventsLike: (start: string, limit: number) =>
      sql.eventsLike.all(start, start + LAST_CHARACTER, limit).map(({ id }) => String(id)),
  };
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function toEvent(row: object | undefined): EventRow | undefined {
  if (row === undefined) return undefined;
  const event = row as Omit<EventRow, "fields"> & { readonly fields: string }; // the columns of EVENT
  return { ...event, fields: parseJson(event.fields) as StoredFields }; // as stringifyJson wrote it
}

function toTicket(row: object | undefined): TicketRow | undefined {
  if (row === undefined) return undefined;
  const ticket = row as Omit<TicketRow, "fields" | "claimed"> & { readonly fields: string; readonly claimed: number }; // the columns of TICKET
  return { ...ticket, claimed: ticket.claimed === 1, fields: parseJson(ticket.fields) as StoredFields }; // as stringifyJson wrote it
}

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
