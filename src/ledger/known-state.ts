/** What the ledger knows of deeds, events and tickets. */

import { ACTION_NAMES, type ActionName, actionSpec, actionsThat } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import type { KnownState } from "../checks/cross-action.ts";
import { changeChunk } from "./chunks.ts";
import { keyedDeeds, mergeKeyed } from "./keyed-deeds.ts";
import { knownIds } from "./known-ids.ts";
import { type Ledger, readMeta, type SqlRow } from "./ledger.ts";
import { insertOutcomes, type NewOutcome, TAKEN, TRIED } from "./outcomes.ts";
import type { Pending } from "./pending.ts";
import { mergeMended } from "./rejected-rows.ts";
import { LAST_FORMER_RUN, PRESENT_IDENTITY } from "./renamed-deeds.ts";
import { nextChunkNumber } from "./runs.ts";
import { sqlList } from "./sql-list.ts";
import { DECIDED_STATES } from "./states.ts";
import { formsOf } from "./unicode-ids.ts";
import { mergeZeroLengths, spellingsOf } from "./zero-ids.ts";

/** Key in the ledger's meta table: some of its runs were imported, and know their deeds by ids only. */
export const IMPORTED = "imported";

/** What the manifest of an imported run says in place of the mapping's digest. */
export const IMPORTED_MAPPING = "imported";

/**
 * The events and tickets that the environment has accepted, for the checks across actions.
 *
 * @param pending its ids are known too.
 */
export function ledgerKnownState(ledger: Ledger, pending: Pending): KnownState {
  const ids = knownIds(ledger, pending);
  let areTickets: boolean | undefined;
  const hasTickets = (): boolean => {
    areTickets ??= ledger.get("SELECT 1 AS one FROM tickets LIMIT 1") !== undefined;
    return areTickets;
  };
  return {
    event: (eventId) => {
      const row = ledger.get("SELECT currency FROM events WHERE event_id = ?", eventId);
      return row === undefined ? undefined : { ...(row.currency !== null && { currency: String(row.currency) }) };
    },
    isOnlyChanged: (eventId) =>
      ledger.get("SELECT 1 AS one FROM events WHERE event_id = ?", eventId) !== undefined &&
      actionsThat("register-event").every(
        (action) => acceptedDeeds(ledger, digestOf(identityText({ action, data: { eventId } }))).length === 0,
      ),
    ticket: (ref) => {
      // The sales of a first night ask this for each ticket.
      if (!hasTickets()) return undefined;
      const row = ledger.get("SELECT event_id, holder, state FROM tickets WHERE ticket = ?", ticketKey(ref));
      if (row === undefined) return undefined;
      return {
        state: String(row.state) as TicketState, // the table's CHECK holds it to these
        ...(row.event_id !== null && { eventId: String(row.event_id) }),
        ...(row.holder !== null && { holder: String(row.holder) }),
      };
    },
    hasTickets,
    hasHoldersByNftId: () =>
      ledger.get("SELECT 1 AS one FROM tickets WHERE ticket < ? AND holder IS NOT NULL LIMIT 1", TICKET_PREFIX) !==
      undefined,
    otherSpelling: spellingsOf(ledger, ids),
    otherForm: formsOf(ledger, ids),
    isKnownId: ids.isKnown,
  };
}

type TicketState = "sold" | "checked-in" | "invalidated";

const TICKET_PREFIX = "ticket:";

/** Names a ticket by whichever id an action gives it. */
export function ticketKey(ref: { readonly ticketId?: unknown; readonly nftId?: unknown }): string {
  return ref.ticketId == null ? `nft:${ref.nftId}` : `${TICKET_PREFIX}${ref.ticketId}`;
}

/** One accepted deed of the same identity. */
export interface AcceptedDeed {
  readonly runNo: number;
  readonly seq: number;
  readonly content: Buffer;
}

/** A deed that the service was asked for, taken or rejected. */
export interface TriedDeed extends AcceptedDeed {
  readonly isTaken: boolean;
}

/** The deeds of an identity that the service answered, oldest first. */
export function triedDeeds(ledger: Ledger, identity: Buffer): readonly TriedDeed[] {
  return ledger
    .all("SELECT run_no, seq, content, taken FROM identities WHERE identity = ? ORDER BY run_no, seq", identity)
    .map((row) => ({
      runNo: Number(row.run_no),
      seq: Number(row.seq),
      content: Buffer.from(row.content as Uint8Array), // a BLOB NOT NULL column
      isTaken: Number(row.taken) === 1,
    }));
}

/** Whether a run was an `--again`. */
export function wasAgain(ledger: Ledger, runNo: number): boolean {
  return Number(ledger.get("SELECT manifest ->> '$.again' AS again FROM runs WHERE run_no = ?", runNo)?.again) === 1;
}

/** The accepted deeds of an identity, oldest first. */
export function acceptedDeeds(ledger: Ledger, identity: Buffer): readonly AcceptedDeed[] {
  return triedDeeds(ledger, identity).filter(({ isTaken }) => isTaken);
}

/** Whether a content occurs more than once among what the service has accepted of a history. */
export function hasRepeats(ledger: Ledger, identity: Buffer): boolean {
  const sql = "SELECT count(*) > count(DISTINCT content) AS repeats FROM identities WHERE identity = ? AND taken = 1";
  return Number(ledger.get(sql, identity)?.repeats) === 1;
}

/** A deed with its content, as the plan's index holds them. */
export interface IndexedDeed {
  readonly identity: Buffer;
  readonly content: Buffer;
}

/** Deeds per statement: a call costs as much as a lookup. */
const ASKED = 64;

interface AskedTogether {
  readonly many: string;
  readonly one: string;
}

/** @param sql asks of `column1`, an identity, and `column2`, a content, after `VALUES`; `column3` is the deed's number. */
function askedTogether(sql: string): AskedTogether {
  const askFor = (deeds: number): string =>
    sql.replace("VALUES", `VALUES ${Array.from({ length: deeds }, (_, at) => `(?, ?, ${at})`).join(", ")}`);
  return { many: askFor(ASKED), one: askFor(1) };
}

function askTogether(
  ledger: Ledger,
  deeds: readonly IndexedDeed[],
  { many, one }: AskedTogether,
  take: (at: number, row: SqlRow) => void,
): void {
  for (let from = 0; from < deeds.length; ) {
    const asked = deeds.length - from < ASKED ? 1 : ASKED;
    const values = deeds.slice(from, from + asked).flatMap(({ identity, content }) => [identity, content]);
    for (const row of ledger.all(asked === 1 ? one : many, ...values)) take(from + Number(row.at), row);
    from += asked;
  }
}

const SAME_DEED = "SELECT 1 FROM identities WHERE identity = column1 AND content = column2 AND taken = 1";
const NOT_ACCEPTED = askedTogether(`SELECT column3 AS at FROM (VALUES) WHERE NOT EXISTS (${SAME_DEED})`);

/** Which of the deeds the service has accepted with just this content: 1 for each that it has. */
export function areAccepted(ledger: Ledger, deeds: readonly IndexedDeed[]): Uint8Array {
  const accepted = new Uint8Array(deeds.length).fill(1);
  askTogether(ledger, deeds, NOT_ACCEPTED, (at) => {
    accepted[at] = 0;
  });
  return accepted;
}

/** 1 for one that is accepted, 2 more for one whose identity has several accepted ones; nothing for one accepted alone. */
const HOW_ACCEPTED = askedTogether(`SELECT column3 AS at, how FROM (
  SELECT column3, (
    SELECT coalesce(max(content = column2), 0) + 2 * (count(*) > 1) FROM identities WHERE identity = column1 AND taken = 1
  ) AS how FROM (VALUES)) WHERE how <> 1`);

/** The same, and 3 for each that has others of its identity beside it. */
export function areAcceptedBesideOthers(ledger: Ledger, deeds: readonly IndexedDeed[]): Uint8Array {
  const accepted = new Uint8Array(deeds.length).fill(1);
  askTogether(ledger, deeds, HOW_ACCEPTED, (at, { how }) => {
    accepted[at] = Number(how) === 3 ? 3 : 0;
  });
  return accepted;
}

/** Whether this ledger has any deed at all; if not, nothing need be looked up. */
export function hasDeeds(ledger: Ledger): boolean {
  return ledger.get("SELECT 1 AS one FROM identities LIMIT 1") !== undefined;
}

/** The data of an accepted action as it was sent, as JSON text. */
export function acceptedData(ledger: Ledger, { runNo, seq }: AcceptedDeed): string | undefined {
  const row = ledger.get("SELECT data FROM actions WHERE run_no = ? AND seq = ?", runNo, seq);
  return row === undefined ? undefined : String(row.data);
}

/** A ticket that was sold and not invalidated. */
export interface SoldTicket {
  readonly eventId: string;
  readonly ticketId: string;
  readonly state: "sold" | "checked-in";
}

/** All such tickets, in byte order of their ticketId. */
export function* soldTickets(ledger: Ledger): Generator<SoldTicket> {
  const rows = ledger.iterate(
    `SELECT substr(ticket, ${TICKET_PREFIX.length + 1}) AS ticket_id, event_id, state FROM tickets
     WHERE ticket >= '${TICKET_PREFIX}' AND ticket < 'ticket;' AND event_id IS NOT NULL AND state <> 'invalidated'
     ORDER BY ticket`,
  );
  for (const { ticket_id, event_id, state } of rows) {
    const isIn = String(state) === "checked-in";
    yield { eventId: String(event_id), ticketId: String(ticket_id), state: isIn ? "checked-in" : "sold" };
  }
}

/** Where the accepted sale of a ticket came from, and when. */
export function acceptedSale(
  ledger: Ledger,
  ticketId: string,
): { readonly source: string; readonly line: number; readonly at: string } | undefined {
  for (const action of actionsThat("sell-ticket")) {
    const identity = digestOf(identityText({ action, data: { ticketId } }));
    const deed =
      acceptedDeeds(ledger, identity).at(-1) ?? keyedDeeds(ledger, identity).findLast(({ isTaken }) => isTaken);
    if (deed !== undefined) return acceptedAt(ledger, deed);
  }
  return undefined;
}

/** Where an accepted action came from, and when. */
export function acceptedAt(
  ledger: Ledger,
  deed: AcceptedDeed,
): { readonly source: string; readonly line: number; readonly at: string } | undefined {
  const row = ledger.get("SELECT source, line, at FROM actions WHERE run_no = ? AND seq = ?", deed.runNo, deed.seq);
  return row && { source: String(row.source), line: Number(row.line), at: String(row.at) };
}

/** How many tickets are folded in memory before they are written; bounds memory, not meaning. */
const FOLD = 50_000;

interface FoldedTicket {
  eventId: string | null;
  holder: string | null;
  state: TicketState;
}

const NEW_TICKET: FoldedTicket = { eventId: null, holder: null, state: "sold" };

/** Chunks whose outcomes are final and not yet merged. For SQL. */
export const UNMERGED = `merged = 0 AND state IN ${sqlList(DECIDED_STATES)}`;

/**
 * Merges what the service has taken since the last merge into the identities, events and tickets, in key order
 * (a random insert a row costs six times an append). Each run's part is one transaction, so a crash in between loses
 * nothing and repeats nothing.
 */
export function mergeOutcomes(ledger: Ledger): void {
  for (const { run_no } of ledger.all(`SELECT DISTINCT run_no FROM chunks WHERE ${UNMERGED} ORDER BY run_no`))
    ledger.transaction(() => mergeRun(ledger, Number(run_no)));
}

/** Part of a transaction. */
function mergeRun(ledger: Ledger, runNo: number): void {
  const lastFormer = Number(readMeta(ledger, LAST_FORMER_RUN) ?? 0);
  const identity = runNo <= lastFormer ? PRESENT_IDENTITY : "identity";
  ledger.run(
    `INSERT OR IGNORE INTO identities (identity, run_no, seq, content, taken)
     SELECT ${identity} AS identity, run_no, seq, content, outcome IN ${TAKEN} FROM actions
     WHERE run_no = ? AND ${TRIED} AND chunk IN (SELECT chunk FROM chunks WHERE run_no = ? AND ${UNMERGED})
     ORDER BY 1, seq`,
    runNo,
    runNo,
  );
  mergeKeyed(ledger, runNo, { unmerged: UNMERGED, isFormer: runNo <= lastFormer });
  mergeZeroLengths(ledger, runNo, UNMERGED);
  foldActions(ledger, runNo);
  mergeMended(ledger, runNo);
  for (const { chunk } of ledger.all(`SELECT chunk FROM chunks WHERE run_no = ? AND ${UNMERGED}`, runNo))
    changeChunk(ledger, "merge", { runNo, chunk: Number(chunk) });
}

/**
 * Part of a transaction: remembers actions of a run that the service has taken and that have no place in its chunks. The run
 * stays as it is and still counts them as open, but nothing planned from now on sends them again.
 */
export function rememberUnplaced(ledger: Ledger, runNo: number, rows: readonly NewOutcome[]): void {
  const seqs = rows.map(({ seq }) => seq);
  const [first, last] = [Math.min(...seqs), Math.max(...seqs)];
  // They have a chunk of their own while they are merged.
  const chunk = nextChunkNumber(ledger, runNo);
  changeChunk(ledger, "remember", { runNo, chunk }, { first, count: last - first + 1 });
  insertOutcomes(
    ledger,
    runNo,
    rows.map((row) => ({ ...row, chunk })),
  );
  mergeRun(ledger, runNo);
  for (const table of ["actions", "tallies"])
    ledger.run(`DELETE FROM ${table} WHERE run_no = ? AND chunk = ?`, runNo, chunk);
  changeChunk(ledger, "forget", { runNo, chunk });
}

/** Which actions of a run are remembered without a place in its chunks. */
export function unplacedActions(ledger: Ledger, runNo: number): ReadonlySet<number> {
  if (readMeta(ledger, IMPORTED) === undefined) return new Set();
  const sql = `SELECT seq FROM identities WHERE run_no = ? AND NOT EXISTS (
    SELECT 1 FROM actions WHERE actions.run_no = identities.run_no AND actions.seq = identities.seq)`;
  return new Set(ledger.all(sql, runNo).map(({ seq }) => Number(seq)));
}

/** Part of a transaction: such actions have a place now, and will be merged again with all their data. */
export function forgetUnplaced(ledger: Ledger, runNo: number, seqs: readonly number[]): void {
  if (seqs.length === 0) return;
  const sql = "DELETE FROM identities WHERE run_no = ? AND seq IN (SELECT value FROM json_each(?))";
  ledger.run(sql, runNo, JSON.stringify(seqs));
}

/** Tickets per statement: a call costs as much as the work itself. */
const ROWS = 50;
const PUT_ONE = "INSERT OR REPLACE INTO tickets (ticket, event_id, holder, state) VALUES (?, ?, ?, ?)";
const PUT_MANY = `${PUT_ONE}${", (?, ?, ?, ?)".repeat(ROWS - 1)}`;

/** Actions read into memory at a time. */
const READ = 5_000;

/** What the service has taken of a range of the plan, and is not merged. */
const RANGE = `run_no = ? AND seq >= ? AND seq < ? AND outcome IN ${TAKEN}
       AND chunk IN (SELECT chunk FROM chunks WHERE run_no = ? AND ${UNMERGED})`;

const ABOUT_EVENTS = sqlList(ACTION_NAMES.filter((name) => actionSpec(name).about === "event"));
const REGISTERING_EVENTS = sqlList(actionsThat("register-event"));
const SELLING = sqlList(actionsThat("sell-ticket"));
const REGISTERING = sqlList(actionsThat("register-event", "sell-ticket"));

/** Actions that follow each other in the plan, and are merged at once. */
interface MergedRange {
  readonly first: number;
  readonly end: number;
  /** It holds events and sales only: each says all there is to know about its event or ticket. */
  readonly saysAll: boolean;
}

/** What is to be merged, in the order of the plan, also where a part of a chunk became a chunk of its own. */
function rangesToMerge(ledger: Ledger, runNo: number): readonly MergedRange[] {
  const spans: { -readonly [K in keyof MergedRange]: MergedRange[K] }[] = [];
  const chunks = ledger.all(
    `SELECT first, first + count AS end, NOT EXISTS (
       SELECT 1 FROM tallies WHERE tallies.run_no = chunks.run_no AND tallies.chunk = chunks.chunk
       AND outcome IN ${TAKEN} AND action NOT IN ${REGISTERING}) AS says_all
     FROM chunks WHERE run_no = ? AND ${UNMERGED} ORDER BY first, chunk`,
    runNo,
  );
  for (const chunk of chunks) {
    const [first, end, saysAll] = [Number(chunk.first), Number(chunk.end), Number(chunk.says_all) === 1];
    const last = spans.at(-1);
    if (last === undefined || (first >= last.end && saysAll !== last.saysAll)) spans.push({ first, end, saysAll });
    else {
      last.end = Math.max(last.end, end);
      last.saysAll &&= saysAll;
    }
  }
  return spans;
}

/** Writes new events, and tickets as their last sale has them. SQLite alone does it, in a third of the time. */
function takeOver(ledger: Ledger, runNo: number, { first, end }: MergedRange): void {
  ledger.run(
    `INSERT OR IGNORE INTO events (event_id, currency) SELECT event_id, data ->> 'currency' FROM actions
     WHERE ${RANGE} AND action IN ${REGISTERING_EVENTS} ORDER BY seq`,
    ...[runNo, first, end, runNo],
  );
  ledger.run(
    `INSERT OR REPLACE INTO tickets (ticket, event_id, holder, state)
     SELECT '${TICKET_PREFIX}' || ticket_id AS ticket, event_id, user_id, 'sold' FROM actions
     WHERE ${RANGE} AND action IN ${SELLING} AND ticket_id IS NOT NULL ORDER BY ticket, seq`,
    ...[runNo, first, end, runNo],
  );
}

function foldActions(ledger: Ledger, runNo: number): void {
  let tickets = new Map<string, FoldedTicket>();
  const write = (): void => {
    const values = [...tickets.keys()].sort().map((ticket) => {
      const { eventId, holder, state } = tickets.get(ticket) ?? NEW_TICKET;
      return [ticket, eventId, holder, state] as const;
    });
    const many = values.length - (values.length % ROWS);
    for (let at = 0; at < many; at += ROWS) ledger.run(PUT_MANY, ...values.slice(at, at + ROWS).flat());
    for (const each of values.slice(many)) ledger.run(PUT_ONE, ...each);
    tickets = new Map();
  };
  const known = (key: string): FoldedTicket => {
    const folded = tickets.get(key);
    if (folded !== undefined) return folded;
    const row = ledger.get("SELECT event_id AS eventId, holder, state FROM tickets WHERE ticket = ?", key);
    // The columns hold texts or NULL, and the table's CHECK holds the state to those there are.
    const ticket = { ...NEW_TICKET, ...(row as FoldedTicket | undefined) };
    tickets.set(key, ticket);
    return ticket;
  };
  for (const span of rangesToMerge(ledger, runNo)) {
    if (span.saysAll) {
      write();
      takeOver(ledger, runNo, span);
      continue;
    }
    for (let from = span.first; from < span.end; from += READ) {
      const rows = ledger.all(
        `SELECT action, event_id, ticket_id, nft_id, user_id, CASE WHEN action IN ${ABOUT_EVENTS} THEN data ->> 'currency' END AS currency
         FROM actions WHERE ${RANGE} ORDER BY seq`,
        ...[runNo, from, Math.min(from + READ, span.end), runNo],
      );
      for (const row of rows) fold(ledger, row, known, (key, ticket) => tickets.set(key, ticket));
      if (tickets.size >= FOLD) write();
    }
  }
  write();
}

function fold(
  ledger: Ledger,
  row: SqlRow,
  known: (key: string) => FoldedTicket,
  sell: (key: string, ticket: FoldedTicket) => unknown,
): void {
  const text = (column: string): string | null => (row[column] === null ? null : String(row[column]));
  const ticket = (): string => ticketKey({ ticketId: row.ticket_id, nftId: row.nft_id });
  const { effect } = actionSpec(String(row.action) as ActionName); // written by the planner
  switch (effect) {
    case "register-event":
      ledger.run("INSERT OR IGNORE INTO events (event_id, currency) VALUES (?, ?)", text("event_id"), text("currency"));
      return;
    case "change-event":
      ledger.run(
        "INSERT INTO events (event_id, currency) VALUES (?, ?) ON CONFLICT (event_id) DO UPDATE SET currency = coalesce(excluded.currency, currency)",
        text("event_id"),
        text("currency"),
      );
      return;
    case "sell-ticket":
      // All that is known of a ticket begins with its sale.
      sell(ticket(), { eventId: text("event_id"), holder: text("user_id"), state: "sold" });
      return;
    case "resell-ticket":
      known(ticket()).holder = text("user_id");
      return;
    case "check-in-ticket": {
      const checkedIn = known(ticket());
      if (checkedIn.state === "sold") checkedIn.state = "checked-in";
      return;
    }
    case "invalidate-ticket":
      known(ticket()).state = "invalidated";
      return;
    case "change-ticket":
    case "scan-ticket":
    case "claim-ticket":
      known(ticket());
      return;
    default:
      effect satisfies never;
  }
}
