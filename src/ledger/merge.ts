/** What the service has taken becomes part of what the ledger knows: deeds, events, tickets and their ids. */

import { type ActionName, actionSpec, actionsThat } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { areDigits, isNumber } from "../actions/zero-ids.ts";
import { asBuffer, free, wordsOf } from "../disk/buffers.ts";
import { DEED_BYTES, DEED_WORDS, fieldsOf, type GivenFields, IDENTITY_BYTES } from "./block.ts";
import { type Block, insertOutcomes, isTaken, type NewOutcome, unmergedBlocks } from "./blocks.ts";
import { changeChunk } from "./chunks.ts";
import { DeedBatch } from "./deed-batch.ts";
import { NUMBERS_END } from "./deed-block.ts";
import { EventNumbers } from "./event-numbers.ts";
import { DEED_BOUNDS, type DeedBounds, foldDeeds } from "./fold-deeds.ts";
import { keysOfRun, noteKeyedDeed, noteKeySource } from "./keyed-deeds.ts";
import { IMPORTED, latestSale, salesInParts, ticketKey } from "./known-state.ts";
import { type Ledger, readMeta, upsert } from "./ledger.ts";
import { exceptionsOf, SENT_ELSEWHERE } from "./outcomes.ts";
import { PlainSaleReader } from "./plain-sale.ts";
import { mergeMended } from "./rejected-rows.ts";
import { nextChunkNumber } from "./runs.ts";
import { sqlList } from "./sql-list.ts";
import { DECIDED_STATES, type Outcome } from "./states.ts";
import { noteUnicodeId } from "./unicode-ids.ts";
import { noteZeroLength } from "./zero-ids.ts";

/** Chunks whose outcomes are final and not yet merged. For SQL. */
const UNMERGED = `merged = 0 AND state IN ${sqlList(DECIDED_STATES)}`;

/**
 * Merges what became of actions since the last merge. Each run's part is one transaction, so a crash in between loses nothing
 * and repeats nothing.
 */
export function mergeOutcomes(ledger: Ledger, bounds = DEED_BOUNDS): void {
  const runs = `SELECT run_no FROM unmerged UNION SELECT run_no FROM chunks WHERE ${UNMERGED} ORDER BY run_no`;
  for (const { run_no } of ledger.all(runs)) {
    ledger.transaction(() => mergeRun(ledger, Number(run_no), bounds));
    if (ledger.kind === "sqlite") ledger.transaction(() => foldDeeds(ledger, bounds));
  }
}

/** Part of a transaction. */
function mergeRun(ledger: Ledger, runNo: number, bounds: DeedBounds): void {
  // First of all: what other machines settle meanwhile is merged by the next.
  const rows = ledger.all(`SELECT chunk FROM chunks WHERE run_no = ? AND ${UNMERGED}`, runNo);
  const chunks = new Set(rows.map(({ chunk }) => Number(chunk)));
  const unmerged = "SELECT coalesce(sum(length(deeds)), 0) AS bytes FROM unmerged WHERE run_no = ?";
  const merging = new Merging(ledger, runNo, Number(ledger.get(unmerged, runNo)?.bytes) / DEED_BYTES, bounds);
  for (const { first, block, deeds } of unmergedBlocks(ledger, runNo)) {
    // Whoever plans takes what is not merged from the plan: a deed is either here or there.
    if (ledger.kind === "postgres" && block !== undefined && !chunks.has(block.chunk)) continue;
    // Before the deeds are written, which then take its place in the file.
    ledger.run("DELETE FROM unmerged WHERE run_no = ? AND first = ?", runNo, first);
    if (block !== undefined) merging.take(block, deeds);
  }
  merging.end();
  mergeMended(ledger, runNo);
  for (const chunk of chunks) changeChunk(ledger, "merge", { runNo, chunk });
}

/**
 * Part of a transaction: remembers actions of a run that the service has taken and that have no place in its chunks. The run
 * stays as it is and still counts them as open, but nothing planned from now on sends them again.
 */
export function rememberUnplaced(ledger: Ledger, runNo: number, rows: readonly NewOutcome[]): void {
  // They have a chunk of their own while they are merged.
  const chunk = nextChunkNumber(ledger, runNo);
  const seqs = rows.map(({ seq }) => seq).sort((one, other) => one - other);
  const [first = 0, last = first] = [seqs[0], seqs.at(-1)];
  changeChunk(ledger, "remember", { runNo, chunk }, { first, count: last - first + 1 });
  insertOutcomes(
    ledger,
    runNo,
    rows.map((row) => ({ ...row, chunk })),
  );
  mergeRun(ledger, runNo, ALL_LOOSE);
  noteUnplacedTickets(ledger, rows);
  ledger.run(
    "DELETE FROM exceptions WHERE run_no = ? AND seq IN (SELECT CAST(value AS INTEGER) FROM json_each(?))",
    runNo,
    JSON.stringify(seqs),
  );
  for (const table of ["blocks", "tallies"])
    ledger.run(`DELETE FROM ${table} WHERE run_no = ? AND chunk = ?`, runNo, chunk);
  changeChunk(ledger, "forget", { runNo, chunk });
}

/** What may be forgotten again is never part of what does not change. */
const ALL_LOOSE: DeedBounds = { ...DEED_BOUNDS, leastOfPart: Number.POSITIVE_INFINITY };

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

/** What a taken action does to tickets or events beyond what its deed says. */
interface Effective {
  readonly seq: number;
  readonly action: ActionName;
  readonly given: GivenFields;
}

/** Deeds that are written at a time, and what is kept of effects: bounds memory, not meaning. */
const [MOST_DEEDS, MOST_EFFECTS] = [2 ** 20, 2 ** 16];
/** A small ledger has at most so many pages, of deeds and of what was sent, beside so many actions that are new: about two million in all. */
const SMALL = { pages: 2 ** 15, actions: 2 ** 20 + 2 ** 16 } as const;

/**
 * How many deeds are written at a time, for 70 bytes of memory each. Each time is a part of its own, which is written once more
 * when four become one, or goes over most pages of a table: that costs little while they are few, and half as many at a time take
 * half the memory.
 */
export function deedsAtATime({ pages, actions }: { readonly pages: number; readonly actions: number }): number {
  const isSmall = pages <= SMALL.pages && actions <= SMALL.actions;
  return Math.min(actions, isSmall ? MOST_DEEDS / 2 : MOST_DEEDS);
}

/** The merge of one run. */
class Merging {
  readonly #ledger: Ledger;
  readonly #runNo: number;
  readonly #keys: ReturnType<typeof keysOfRun>;
  readonly #events: EventNumbers;
  readonly #sale = new PlainSaleReader();
  readonly #deeds: DeedBatch;
  readonly #mostDeeds: number;
  /** So many at a time are written as a part. */
  readonly #leastOfPart: number;
  /** Those that were noted. */
  readonly #zeroLengths = new Set<number>();
  #effects: Effective[] = [];
  /** A ticket that is not among the deeds alone is looked for in the table of tickets only where there is one. */
  #hasTickets: boolean;

  /** @param actions that there are to merge. */
  constructor(ledger: Ledger, runNo: number, actions: number, bounds: DeedBounds) {
    this.#ledger = ledger;
    this.#runNo = runNo;
    this.#events = new EventNumbers(ledger);
    this.#mostDeeds = deedsAtATime({ pages: ledger.pages(), actions });
    this.#leastOfPart = leastOfPart(ledger, runNo, bounds);
    this.#deeds = new DeedBatch(this.#mostDeeds);
    this.#keys = keysOfRun(ledger, runNo);
    this.#hasTickets = ledger.get("SELECT 1 AS one FROM tickets LIMIT 1") !== undefined;
  }

  /** @param digests identity and content of each action of the block. */
  take(block: Block, digests: Uint8Array): void {
    if (this.#deeds.size + block.count > this.#mostDeeds || this.#effects.length + block.count > MOST_EFFECTS)
      this.end();
    const exceptions = exceptionsOf(this.#ledger, block);
    const words = wordsOf(digests);
    const mayBePlain = this.#keys.size === 0;
    this.#sale.begin(block.lines);
    for (let at = 0; at < block.count; at += 1) {
      const exception = exceptions.get(block.first + at);
      if (exception?.status === SENT_ELSEWHERE) continue;
      const outcome = exception?.outcome ?? block.outcome;
      if (mayBePlain && isTaken(outcome) && this.#sale.read(block.startOf(at))) this.#takeSale(block, at, words);
      else this.#takeAny(block, at, digests.subarray(at * DEED_BYTES, (at + 1) * DEED_BYTES), outcome);
    }
    free(block.lines);
  }

  /** A sale whose ids are plain text: most actions are. */
  #takeSale({ first, lines }: Block, at: number, digests: Uint32Array): void {
    const { view, eventFrom, eventTo, ticketFrom, ticketTo, userFrom, userTo } = this.#sale;
    const seq = first + at;
    const eventNo = this.#events.at(view, eventFrom, eventTo);
    this.#deeds.add({ seq, isTaken: true, eventNo }, digests, at * DEED_WORDS, lines, userFrom, userTo);
    const mayHaveZeros = lines[ticketFrom] === ZERO && areDigits(lines, ticketFrom, ticketTo);
    if (!this.#hasTickets && !mayHaveZeros) return;
    const ticketId = lines.toString("latin1", ticketFrom, ticketTo);
    if (mayHaveZeros) this.#noteZeros(ticketId);
    if (!this.#hasTickets) return;
    const [eventId, userId] = [
      lines.toString("latin1", eventFrom, eventTo),
      lines.toString("latin1", userFrom, userTo),
    ];
    const given = { eventId, ticketId, userId, nftId: undefined, currency: undefined };
    this.#effects.push({ seq, action: "soldTicket", given });
  }

  #takeAny(block: Block, at: number, planned: Uint8Array, outcome: Outcome): void {
    const [seq, isIt] = [block.first + at, isTaken(outcome)];
    const { action, data } = block.sentAt(at);
    const given = fieldsOf(data);
    const isSale = isIt && actionSpec(action).effect === "sell-ticket";
    const eventNo = isSale && given.eventId !== undefined ? this.#events.of(given.eventId) : undefined;
    const holder = isSale ? given.userId : undefined;
    const digest = asBuffer(planned);
    const holderBytes = holder === undefined ? undefined : Buffer.from(holder);
    this.#deeds.add(
      { seq, isTaken: isIt, eventNo: eventNo ?? 0 },
      wordsOf(digest),
      0,
      holderBytes,
      0,
      holderBytes?.length,
    );
    const by = this.#keys.get(block.originAt(at).source);
    if (by !== undefined) {
      const deed = { runNo: this.#runNo, seq, ...partsOf(digest), isTaken: isIt, eventNo, holder };
      noteKeyedDeed(this.#ledger, deed, { action, data: parseJson(data) as object }, by); // written by the planner
    }
    if (by !== undefined && outcome !== "not sent") noteKeySource(this.#ledger, action, by);
    if (!isIt) return;
    if (given.ticketId !== undefined) {
      this.#noteZeros(given.ticketId);
      noteUnicodeId(this.#ledger, given.ticketId);
    }
    if (!isSale) this.#hasTickets ||= actionSpec(action).about === "ticket";
    if (!isSale || this.#hasTickets) this.#effects.push({ seq, action, given });
  }

  #noteZeros(ticketId: string): void {
    if (!ticketId.startsWith("0") || this.#zeroLengths.has(ticketId.length) || !isNumber(ticketId)) return;
    noteZeroLength(this.#ledger, ticketId.length);
    this.#zeroLengths.add(ticketId.length);
  }

  /** Writes what was taken so far. */
  end(): void {
    if (this.#deeds.size < this.#leastOfPart) this.#deeds.write(this.#ledger, this.#runNo);
    else this.#deeds.writePart(this.#ledger, this.#runNo);
    const changed = this.#effects.flatMap(({ action, given }) =>
      actionSpec(action).effect === "sell-ticket" || given.ticketId === undefined ? [] : [given.ticketId],
    );
    const tickets = new TicketTable(this.#ledger, this.#runNo, salesInParts(this.#ledger, changed));
    for (const effect of this.#effects) apply(this.#ledger, tickets, effect);
    tickets.write();
    this.#effects = [];
  }
}

/** How many deeds of a run at a time are a part. Some of it may be rows that had no place once: only among rows they stand once. */
function leastOfPart(ledger: Ledger, runNo: number, { leastOfPart: least }: DeedBounds): number {
  if (ledger.kind === "postgres" || runNo >= NUMBERS_END) return Number.POSITIVE_INFINITY;
  const hasUnplaced =
    readMeta(ledger, IMPORTED) !== undefined &&
    ledger.get("SELECT 1 AS one FROM loose_deeds WHERE run_no = ? LIMIT 1", runNo) !== undefined;
  return hasUnplaced ? Number.POSITIVE_INFINITY : least;
}

const partsOf = (digest: Buffer) => ({
  identity: digest.subarray(0, IDENTITY_BYTES),
  content: digest.subarray(IDENTITY_BYTES),
});

const ZERO = 0x30;

/** Tickets of which more is known than their sale. */
class TicketTable {
  readonly #ledger: Ledger;
  readonly #runNo: number;
  readonly #sales: ReturnType<typeof salesInParts>;
  readonly #tickets = new Map<string, FoldedTicket>();

  /** @param sales of the tickets that are not only sold. */
  constructor(ledger: Ledger, runNo: number, sales: ReturnType<typeof salesInParts>) {
    this.#ledger = ledger;
    this.#runNo = runNo;
    this.#sales = sales;
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
    const before = { runNo: this.#runNo, seq };
    const sale = ticketId === undefined ? undefined : latestSale(this.#ledger, ticketId, before, this.#sales);
    return sale && { eventId: sale.eventId ?? null, holder: sale.holder ?? null, state: "sold" };
  }

  write(): void {
    for (const ticket of [...this.#tickets.keys()].sort()) {
      const known = this.#tickets.get(ticket);
      if (known !== undefined) this.#ledger.run(PUT_TICKET, ticket, known.eventId, known.holder, known.state);
    }
  }
}

const PUT_TICKET = upsert("tickets", ["ticket"], ["event_id", "holder", "state"]);

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
  ON CONFLICT (event_id) DO UPDATE SET currency = coalesce(excluded.currency, events.currency)`;
