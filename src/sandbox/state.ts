/** The sandbox's state on disk: one SQLite file, its tables and the statements on them. No rules live here. */

import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { FieldName, MetadataAttribute } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "./item.ts";

/** Marks the file as a sandbox's, so that no other database is taken for one ("TKSB"). */
const APPLICATION_ID = 0x544b_5342;
const SCHEMA_VERSION = 2;
const BUSY_TIMEOUT_MS = 10_000;

const SCHEMA = `
  CREATE TABLE sandbox (instance_id TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
  -- fields: JSON of what was sent and not cleared; what is absent has the field table's default.
  CREATE TABLE events (
    number INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, tickets INTEGER NOT NULL, fields TEXT NOT NULL
  ) STRICT;
  CREATE TABLE tickets (
    number INTEGER PRIMARY KEY, ticket_id TEXT NOT NULL UNIQUE, event INTEGER NOT NULL, token INTEGER NOT NULL,
    state TEXT NOT NULL, claimed INTEGER NOT NULL, scans INTEGER NOT NULL, holder TEXT, wallet TEXT NOT NULL,
    fields TEXT NOT NULL, UNIQUE (event, token)
  ) STRICT;
  -- Every request to /stream with the right key. first_seq: of its items in actions; kinds: how many of each action.
  CREATE TABLE requests (
    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, first_seq INTEGER, accepted INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0, kinds TEXT NOT NULL DEFAULT '', ms INTEGER, answer TEXT, fault TEXT
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

/** Actions about an event itself, and refused ones about its tickets: where it is not registered, those are all there is. */
const OF_EVENT = "(ticket_id IS NULL AND nft_id IS NULL OR status = 'error')";
/** Why an item was refused. */
const REASON = "coalesce(rule, code)";

/** The page needs these. The first look makes them: a sandbox that nobody looks at need not pay for them. */
const PAGE_INDEXES = `
  CREATE INDEX IF NOT EXISTS actions_of_ticket ON actions (ticket_id) WHERE ticket_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS actions_by_nft ON actions (nft_id) WHERE nft_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS actions_of_event ON actions (event_id) WHERE ${OF_EVENT};
  CREATE INDEX IF NOT EXISTS actions_refused ON actions (${REASON}) WHERE status = 'error';
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
  /** The number of its request. */
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

/** A request to `/stream`. */
export interface RequestRow {
  /** Counts the requests with the right key, from 1. */
  readonly number: number;
  readonly at: number;
  /** The `seq` of its first item; null where nothing was processed. */
  readonly firstSeq: number | null;
  readonly accepted: number;
  readonly refused: number;
  /** How many of each action, such as `1 newEvent, 20 soldTicket`. */
  readonly kinds: string;
  /** How long it took; null, like `answer`, until it ends. */
  readonly ms: number | null;
  /** What was sent back, such as `HTTP 200`. */
  readonly answer: string | null;
  /** The fault that struck it, if any. */
  readonly fault: string | null;
}

/** Rows as the statements below give them. */
type EventColumns = Omit<EventRow, "fields"> & { readonly fields: string };
type TicketColumns = Omit<TicketRow, "nftId" | "fields" | "claimed"> & {
  readonly fields: string;
  readonly claimed: number;
};
type Totals = Readonly<Record<"requests" | "events" | "tickets" | "accepted" | "refused", number>>;

/** What is read of a row, under the names that its object has. */
const EVENT = "SELECT number, event_id AS eventId, tickets, fields FROM events";
const TICKET =
  "SELECT number, ticket_id AS ticketId, event, token, state, claimed, scans, holder, wallet, fields FROM tickets";
const ACTION = `SELECT seq, request, item, action, event_id AS eventId, ticket_id AS ticketId, nft_id AS nftId, data,
    status, code, rule, promise AS actionPromise, at FROM actions`;
const REQUEST = "SELECT number, at, first_seq AS firstSeq, accepted, refused, kinds, ms, answer, fault FROM requests";
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
    ...requestsIn(sql),
    ...recordIn(sql),
    ...historiesIn(sql, () => database.exec(PAGE_INDEXES)),

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
      sql.one(`SELECT coalesce(max(number), 0) AS requests, coalesce((SELECT max(number) FROM events), 0) AS events,
        coalesce((SELECT max(number) FROM tickets), 0) AS tickets,
        coalesce(sum(accepted), 0) AS accepted, coalesce(sum(refused), 0) AS refused FROM requests`) as Totals,
    template(id: string): readonly MetadataAttribute[] {
      const row = sql.one<{ readonly attributes: string }>(
        "SELECT attributes FROM templates WHERE id = ?",
        id.toLowerCase(),
      );
      return row === undefined ? [] : (parseJson(row.attributes) as readonly MetadataAttribute[]); // as setTemplate wrote
    },
    setTemplate(id: string, attributes: readonly MetadataAttribute[]): void {
      const json = JSON.stringify(attributes);
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
      const json = JSON.stringify(fields);
      const { lastInsertRowid } = run("INSERT INTO events (event_id, tickets, fields) VALUES (?, 0, ?)", eventId, json);
      return { number: Number(lastInsertRowid), eventId, tickets: 0, fields };
    },
    saveEvent: ({ fields, number }: EventRow) =>
      run("UPDATE events SET fields = ? WHERE number = ?", JSON.stringify(fields), number),
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
        ...[ticketId, event.number, event.tickets + 1, holder, wallet, JSON.stringify(fields)],
      );
      if (Number(changes) === 0) return false;
      run("UPDATE events SET tickets = tickets + 1 WHERE number = ?", event.number);
      return true;
    },
    saveTicket({ state, claimed, scans, holder, wallet, fields, number }: TicketRow): void {
      run(
        "UPDATE tickets SET state = ?, claimed = ?, scans = ?, holder = ?, wallet = ?, fields = ? WHERE number = ?",
        ...[state, Number(claimed), scans, holder, wallet, JSON.stringify(fields), number],
      );
    },
  };
}

function requestsIn({ run, one, all }: Sql) {
  return {
    /** Gives the number of a request that begins. */
    openRequest: (at: number) => Number(run("INSERT INTO requests (at) VALUES (?)", at).lastInsertRowid),
    saveProcessed: ({
      number,
      firstSeq,
      accepted,
      refused,
      kinds,
    }: Omit<RequestRow, "at" | "ms" | "answer" | "fault">) =>
      run(
        "UPDATE requests SET first_seq = ?, accepted = ?, refused = ?, kinds = ? WHERE number = ?",
        ...[firstSeq, accepted, refused, kinds, number],
      ),
    endRequest: ({ number, ms, answer, fault }: Pick<RequestRow, "number" | "ms" | "answer" | "fault">) =>
      run("UPDATE requests SET ms = ?, answer = ?, fault = ? WHERE number = ?", ms, answer, fault, number),
    request: (number: number) => one<RequestRow>(`${REQUEST} WHERE number = ?`, number),
    requestsBefore: (number: number, limit: number) =>
      all<RequestRow>(`${REQUEST} WHERE number < ? ORDER BY number DESC LIMIT ?`, number, limit),
  };
}

function recordIn({ run, one, all }: Sql) {
  return {
    /** Gives the line's `seq`. */
    record({ ids, ...line }: Omit<ProcessedAction, "seq" | keyof Ids> & { readonly ids: Ids }): number {
      const { eventId = null, ticketId = null, nftId = null } = ids;
      const { request, item, action, data, status, code, rule, actionPromise, at } = line;
      const { lastInsertRowid } = run(
        `INSERT INTO actions (request, item, action, event_id, ticket_id, nft_id, data, status, code, rule, promise, at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[request, item, action, eventId, ticketId, nftId, data, status, code, rule, actionPromise, at],
      );
      return Number(lastInsertRowid);
    },
    actionOf: (promise: string) => one<ProcessedAction>(`${ACTION} WHERE promise = ?`, promise),
    actionsAfter: (seq: number, limit: number) =>
      all<ProcessedAction>(`${ACTION} WHERE seq > ? ORDER BY seq LIMIT ?`, seq, limit),
    /** What was set, if anything. */
    statusOf: (promise: string) =>
      one<{ readonly status: string }>("SELECT status FROM statuses WHERE promise = ?", promise)?.status,
    setStatus: (promise: string, status: string) =>
      run("INSERT OR REPLACE INTO statuses (promise, status) VALUES (?, ?)", promise, status),
  };
}

/** What the page looks up in the record: the newest first, before a `seq`. */
function historiesIn({ all: select }: Sql, makeIndexes: () => void) {
  const all = <Row>(text: string, ...values: SQLInputValue[]) => {
    makeIndexes();
    return select<Row>(text, ...values);
  };
  const newest = (where: string, ...values: SQLInputValue[]) =>
    all<ProcessedAction>(`${ACTION} WHERE ${where} AND ${NEWEST_BEFORE}`, ...values);
  const ids = { ticket: "ticket_id IS NOT NULL", event: OF_EVENT };
  return {
    /** Those that name a ticket by either of its ids. */
    actionsOfTicket: (ticketId: string, nftId: string, before: number, limit: number) =>
      newest("(ticket_id = ? OR nft_id = ?)", ticketId, nftId, before, limit),
    actionsOfEvent: (eventId: string, before: number, limit: number) =>
      newest(`event_id = ? AND ${OF_EVENT}`, eventId, before, limit),
    /** Those refused for one reason, or for any. */
    refusedActions: (reason: string | undefined, before: number, limit: number) =>
      reason === undefined
        ? newest("status = 'error'", before, limit)
        : newest(`status = 'error' AND ${REASON} = ?`, reason, before, limit),
    /** The most frequent first. */
    refusalReasons: () =>
      all<{ readonly reason: string; readonly count: number }>(
        `SELECT ${REASON} AS reason, count(*) AS count FROM actions WHERE status = 'error' GROUP BY 1 ORDER BY 2 DESC, 1`,
      ),
    /** Ids of a kind that begin with a text, of refused actions too. */
    idsFrom(kind: "event" | "ticket", start: string, limit: number): readonly string[] {
      const text = `SELECT DISTINCT ${kind}_id AS id FROM actions
        WHERE ${kind}_id >= ? AND ${kind}_id < ? AND ${ids[kind]} ORDER BY 1 LIMIT ?`;
      return all<{ readonly id: string }>(text, start, start + LAST_CHARACTER, limit).map(({ id }) => id);
    },
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

const fieldsIn = (json: string) => parseJson(json) as StoredFields; // as JSON.stringify wrote them

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
        hint: "Name another state directory with TICKETS_STATE_DIR.",
      });
    if (!empty && number("user_version") !== SCHEMA_VERSION)
      throw new Failure("storage", `${path} was written by another version of tickets.`, {
        hint: "Use that version, or start a new sandbox with `tickets sandbox --reset`.",
      });
    if (empty) {
      database.exec(SCHEMA);
      database.prepare("INSERT INTO sandbox VALUES (?, ?)").run(randomUUID(), now());
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
