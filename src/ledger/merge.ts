/** What the service has taken becomes part of what the ledger knows: deeds, events, tickets and their ids. */

import { type ActionName, actionSpec, actionsThat } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { isNumber } from "../actions/zero-ids.ts";
import { CONTENT_BYTES, DEED_BYTES, fieldsOf, type GivenFields, IDENTITY_BYTES } from "./block.ts";
import { type Block, blocksWithin, insertOutcomes, isTaken, type NewOutcome } from "./blocks.ts";
import { changeChunk } from "./chunks.ts";
import { keysOfRun, noteKeyedDeed, noteKeySource } from "./keyed-deeds.ts";
import { latestSale, ticketKey } from "./known-state.ts";
import { type Ledger, readMeta } from "./ledger.ts";
import { exceptionsOf, SENT_ELSEWHERE } from "./outcomes.ts";
import { mergeMended } from "./rejected-rows.ts";
import { LAST_FORMER_RUN, presentIdentity } from "./renamed-deeds.ts";
import { nextChunkNumber } from "./runs.ts";
import { sqlList } from "./sql-list.ts";
import { DECIDED_STATES } from "./states.ts";
import { noteUnicodeId } from "./unicode-ids.ts";
import { noteZeroLength } from "./zero-ids.ts";

/** Chunks whose outcomes are final and not yet merged. For SQL. */
const UNMERGED = `merged = 0 AND state IN ${sqlList(DECIDED_STATES)}`;

/**
 * Merges what became of actions since the last merge, in key order (a random insert a row costs six times an append). Each
 * run's part is one transaction, so a crash in between loses nothing and repeats nothing.
 */
export function mergeOutcomes(ledger: Ledger): void {
  const runs = `SELECT run_no FROM unmerged UNION SELECT run_no FROM chunks WHERE ${UNMERGED} ORDER BY run_no`;
  for (const { run_no } of ledger.all(runs)) ledger.transaction(() => mergeRun(ledger, Number(run_no)));
}

/** Part of a transaction. */
function mergeRun(ledger: Ledger, runNo: number): void {
  const merging = new Merging(ledger, runNo);
  for (const block of blocksWithin(ledger, runNo)) {
    const deeds = ledger.get("SELECT deeds FROM unmerged WHERE run_no = ? AND first = ?", runNo, block.first)?.deeds;
    if (deeds === undefined) continue;
    // Before the deeds are written, which then take its place in the file.
    ledger.run("DELETE FROM unmerged WHERE run_no = ? AND first = ?", runNo, block.first);
    merging.take(block, Buffer.from(deeds as Uint8Array)); // a BLOB NOT NULL column
  }
  merging.end();
  mergeMended(ledger, runNo);
  for (const { chunk } of ledger.all(`SELECT chunk FROM chunks WHERE run_no = ? AND ${UNMERGED}`, runNo))
    changeChunk(ledger, "merge", { runNo, chunk: Number(chunk) });
}

/**
 * Part of a transaction: remembers actions of a run that the service has taken and that have no place in its chunks. The run
 * stays as it is and still counts them as open, but nothing planned from now on sends them again.
 */
export function rememberUnplaced(ledger: Ledger, runNo: number, rows: readonly NewOutcome[]): void {
  // They have a chunk of their own while they are merged.
  const chunk = nextChunkNumber(ledger, runNo);
  const seqs = rows.map(({ seq }) => seq);
  const [first, last] = [Math.min(...seqs), Math.max(...seqs)];
  changeChunk(ledger, "remember", { runNo, chunk }, { first, count: last - first + 1 });
  insertOutcomes(
    ledger,
    runNo,
    rows.map((row) => ({ ...row, chunk })),
  );
  mergeRun(ledger, runNo);
  noteUnplacedTickets(ledger, rows);
  ledger.run(
    "DELETE FROM exceptions WHERE run_no = ? AND seq IN (SELECT value FROM json_each(?))",
    runNo,
    JSON.stringify(seqs),
  );
  for (const table of ["blocks", "tallies"])
    ledger.run(`DELETE FROM ${table} WHERE run_no = ? AND chunk = ?`, runNo, chunk);
  changeChunk(ledger, "forget", { runNo, chunk });
}

/** Nothing but the table of tickets holds the texts of their ids. */
function noteUnplacedTickets(ledger: Ledger, rows: readonly NewOutcome[]): void {
  for (const { action, data, outcome } of rows) {
    const { eventId, ticketId, userId } = fieldsOf(Buffer.from(data).toString("utf8"));
    if (!isTaken(outcome) || ticketId === undefined || !SELLING.has(action)) continue;
    const sql = "INSERT OR IGNORE INTO tickets (ticket, event_id, holder, state) VALUES (?, ?, ?, 'sold')";
    ledger.run(sql, ticketKey({ ticketId }), eventId ?? null, userId ?? null);
  }
}

const SELLING: ReadonlySet<string> = new Set(actionsThat("sell-ticket"));

type TicketState = "sold" | "checked-in" | "invalidated";

interface FoldedTicket {
  eventId: string | null;
  holder: string | null;
  state: TicketState;
}

/** A deed that is about to be written. */
interface NewDeed {
  readonly identity: Buffer;
  readonly seq: number;
  readonly content: Buffer;
  readonly isTaken: boolean;
  readonly eventNo: number | null;
  readonly holder: string | null;
}

/** What a taken action does to tickets or events beyond what its deed says. */
interface Effective {
  readonly seq: number;
  readonly action: ActionName;
  readonly given: GivenFields;
}

/** Actions that are merged at a time: bounds memory, not meaning. */
const SLICE = 2 ** 17;

/** The merge of one run. */
class Merging {
  readonly #ledger: Ledger;
  readonly #runNo: number;
  readonly #isFormer: boolean;
  readonly #keys: ReturnType<typeof keysOfRun>;
  readonly #eventNumbers = new Map<string, number>();
  #deeds: NewDeed[] = [];
  #effects: Effective[] = [];
  /** A ticket that is not among the deeds alone is looked for in the table of tickets only where there is one. */
  #hasTickets: boolean;

  constructor(ledger: Ledger, runNo: number) {
    this.#ledger = ledger;
    this.#runNo = runNo;
    this.#isFormer = runNo <= Number(readMeta(ledger, LAST_FORMER_RUN) ?? 0);
    this.#keys = keysOfRun(ledger, runNo);
    this.#hasTickets = ledger.get("SELECT 1 AS one FROM tickets LIMIT 1") !== undefined;
  }

  /** @param deeds identity and content of each action of the block. */
  take(block: Block, deeds: Buffer): void {
    const exceptions = exceptionsOf(this.#ledger, block);
    for (let at = 0; at < block.count; at += 1) {
      const seq = block.first + at;
      const exception = exceptions.get(seq);
      if (exception?.status === SENT_ELSEWHERE) continue;
      const start = at * DEED_BYTES;
      const identity = deeds.subarray(start, start + IDENTITY_BYTES);
      const content = deeds.subarray(start + IDENTITY_BYTES, start + IDENTITY_BYTES + CONTENT_BYTES);
      const isIt = isTaken(exception?.outcome ?? block.outcome);
      const sale = isIt && this.#keys.size === 0 && !this.#isFormer ? plainSale(block.lineAt(at)) : undefined;
      if (sale === undefined) this.#takeAny(block, at, { identity, seq, content, isTaken: isIt }, exception?.outcome);
      else this.#takeSale({ identity, seq, content, isTaken: true }, sale);
    }
    if (this.#deeds.length >= SLICE) this.end();
  }

  /** A sale whose ids are plain text: most actions are. */
  #takeSale(deed: Omit<NewDeed, "eventNo" | "holder">, given: PlainSale): void {
    const { eventId, ticketId, userId } = given;
    this.#deeds.push({ ...deed, eventNo: this.#eventNumber(eventId), holder: userId });
    if (ticketId.charCodeAt(0) === ZERO && isNumber(ticketId)) noteZeroLength(this.#ledger, ticketId.length);
    if (!this.#hasTickets) return;
    const fields = { eventId, ticketId, userId, nftId: undefined, currency: undefined };
    this.#effects.push({ seq: deed.seq, action: "soldTicket", given: fields });
  }

  #takeAny(block: Block, at: number, deed: Omit<NewDeed, "eventNo" | "holder">, outcome: string | undefined): void {
    const { action, data } = block.sentAt(at);
    const given = fieldsOf(data);
    const identity = this.#isFormer
      ? Buffer.from(presentIdentity({ action, data: parseJson(data) as object }, deed.identity.toString("hex")), "hex")
      : deed.identity;
    const isSale = deed.isTaken && actionSpec(action).effect === "sell-ticket";
    const eventNo = isSale && given.eventId !== undefined ? this.#eventNumber(given.eventId) : null;
    const full = { ...deed, identity, eventNo, holder: (isSale ? given.userId : undefined) ?? null };
    this.#deeds.push(full);
    const by = this.#keys.get(block.originAt(at).source);
    if (by !== undefined || this.#isFormer)
      noteKeyedDeed(this.#ledger, { ...full, runNo: this.#runNo }, { action, data: parseJson(data) as object }, by);
    if (by !== undefined && outcome !== "not sent") noteKeySource(this.#ledger, action, by);
    if (!deed.isTaken) return;
    if (given.ticketId !== undefined) {
      if (given.ticketId.startsWith("0") && isNumber(given.ticketId))
        noteZeroLength(this.#ledger, given.ticketId.length);
      noteUnicodeId(this.#ledger, given.ticketId);
    }
    if (!isSale) this.#hasTickets ||= actionSpec(action).about === "ticket";
    if (!isSale || this.#hasTickets) this.#effects.push({ seq: deed.seq, action, given });
  }

  #eventNumber(eventId: string): number {
    const known = this.#eventNumbers.get(eventId);
    if (known !== undefined) return known;
    this.#ledger.run("INSERT OR IGNORE INTO event_numbers (event_id) VALUES (?)", eventId);
    const number = Number(this.#ledger.get("SELECT event_no FROM event_numbers WHERE event_id = ?", eventId)?.event_no);
    this.#eventNumbers.set(eventId, number);
    return number;
  }

  /** Writes what was taken so far. */
  end(): void {
    insertDeeds(this.#ledger, this.#runNo, this.#deeds);
    this.#deeds = [];
    const tickets = new TicketTable(this.#ledger, this.#runNo);
    for (const effect of this.#effects) apply(this.#ledger, tickets, effect);
    tickets.write();
    this.#effects = [];
  }
}

const ZERO = 0x30;

interface PlainSale {
  readonly eventId: string;
  readonly ticketId: string;
  readonly userId: string;
}

const PLAIN = "[ !#-\\[\\]-~]*";
/** As the planner writes it; ids without an escape, of ASCII. */
const PLAIN_SALE = new RegExp(
  `^\\{"action":"soldTicket","data":\\{"eventId":"(${PLAIN})","ticketId":"(${PLAIN})","userId":"(${PLAIN})"[,}]`,
);

function plainSale(line: string): PlainSale | undefined {
  const [, eventId, ticketId, userId] = PLAIN_SALE.exec(line) ?? [];
  return eventId === undefined || ticketId === undefined || userId === undefined
    ? undefined
    : { eventId, ticketId, userId };
}

/** Deeds per statement: a call costs as much as the work itself. */
const ROWS = 40;
const PUT_DEED = "INSERT OR IGNORE INTO deeds (identity, run_no, seq, content, taken, event_no, holder) VALUES ";
const PUT_ONE_DEED = `${PUT_DEED}(?, ?, ?, ?, ?, ?, ?)`;
const PUT_DEEDS = `${PUT_ONE_DEED}${", (?, ?, ?, ?, ?, ?, ?)".repeat(ROWS - 1)}`;

function insertDeeds(ledger: Ledger, runNo: number, deeds: readonly NewDeed[]): void {
  const values = inKeyOrder(deeds).map(
    ({ identity, seq, content, isTaken: taken, eventNo, holder }) =>
      [identity, runNo, seq, content, taken ? 1 : 0, eventNo, holder] as const,
  );
  const many = values.length - (values.length % ROWS);
  for (let at = 0; at < many; at += ROWS) ledger.run(PUT_DEEDS, ...values.slice(at, at + ROWS).flat());
  for (const each of values.slice(many)) ledger.run(PUT_ONE_DEED, ...each);
}

/** By the first bits of their identities, which is as good for the table's pages as by all of them. */
function inKeyOrder(deeds: readonly NewDeed[]): readonly NewDeed[] {
  const keys = Float64Array.from(deeds, ({ identity }, at) => identity.readUInt32BE(0) * PLACES + at).sort();
  return Array.from(keys, (key) => deeds[key % PLACES]).filter((deed) => deed !== undefined);
}

/** More than deeds can be at a time; with 32 bits of an identity a number holds it exactly. */
const PLACES = 2 ** 20;

/** Tickets of which more is known than their sale. */
class TicketTable {
  readonly #ledger: Ledger;
  readonly #runNo: number;
  readonly #tickets = new Map<string, FoldedTicket>();

  constructor(ledger: Ledger, runNo: number) {
    this.#ledger = ledger;
    this.#runNo = runNo;
  }

  /** The ticket before an action. */
  of(given: GivenFields, seq: number): FoldedTicket {
    const key = ticketKey(given);
    const ticket = this.#listed(key) ?? this.#sold(given, seq) ?? { eventId: null, holder: null, state: "sold" };
    this.#tickets.set(key, ticket);
    return ticket;
  }

  /** A sale: all that is known of a ticket begins with it. Where nothing else is known, its deed says it. */
  sell(given: GivenFields): void {
    const ticket = this.#listed(ticketKey(given));
    if (ticket === undefined) return;
    this.#tickets.set(ticketKey(given), {
      eventId: given.eventId ?? null,
      holder: given.userId ?? null,
      state: "sold",
    });
  }

  #listed(key: string): FoldedTicket | undefined {
    const row =
      this.#tickets.get(key) ??
      this.#ledger.get("SELECT event_id AS eventId, holder, state FROM tickets WHERE ticket = ?", key);
    // The columns hold texts or NULL, and the table's CHECK holds the state to those there are.
    return row && { ...(row as unknown as FoldedTicket) };
  }

  #sold({ ticketId }: GivenFields, seq: number): FoldedTicket | undefined {
    const sale = ticketId === undefined ? undefined : latestSale(this.#ledger, ticketId, { runNo: this.#runNo, seq });
    return sale && { eventId: sale.eventId ?? null, holder: sale.holder ?? null, state: "sold" };
  }

  write(): void {
    for (const ticket of [...this.#tickets.keys()].sort()) {
      const known = this.#tickets.get(ticket);
      if (known !== undefined) this.#ledger.run(PUT_TICKET, ticket, known.eventId, known.holder, known.state);
    }
  }
}

const PUT_TICKET = "INSERT OR REPLACE INTO tickets (ticket, event_id, holder, state) VALUES (?, ?, ?, ?)";

function apply(ledger: Ledger, tickets: TicketTable, { seq, action, given }: Effective): void {
  const { effect } = actionSpec(action);
  switch (effect) {
    case "register-event":
      ledger.run(
        "INSERT OR IGNORE INTO events (event_id, currency) VALUES (?, ?)",
        given.eventId ?? null,
        given.currency ?? null,
      );
      return;
    case "change-event":
      ledger.run(CHANGE_EVENT, given.eventId ?? null, given.currency ?? null);
      return;
    case "sell-ticket":
      tickets.sell(given);
      return;
    case "resell-ticket":
      tickets.of(given, seq).holder = given.userId ?? null;
      return;
    case "check-in-ticket": {
      const checkedIn = tickets.of(given, seq);
      if (checkedIn.state === "sold") checkedIn.state = "checked-in";
      return;
    }
    case "invalidate-ticket":
      tickets.of(given, seq).state = "invalidated";
      return;
    case "change-ticket":
    case "scan-ticket":
    case "claim-ticket":
      tickets.of(given, seq);
      return;
    default:
      effect satisfies never;
  }
}

const CHANGE_EVENT = `INSERT INTO events (event_id, currency) VALUES (?, ?)
  ON CONFLICT (event_id) DO UPDATE SET currency = coalesce(excluded.currency, currency)`;
