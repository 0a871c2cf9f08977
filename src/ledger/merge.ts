/** What the service has taken becomes part of what the ledger knows: deeds, events, tickets and their ids. */

import { type ActionName, actionSpec } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { normalId } from "../checks/ids.ts";
import { changeChunk } from "./chunks.ts";
import { type Columns, insertRows, type Value } from "./insert-rows.ts";
import { keysOfRun, noteKeyedDeed, noteKeySource } from "./keyed-deeds.ts";
import { latestSale, ticketKey } from "./known-state.ts";
import { type Ledger, upsert } from "./ledger.ts";
import { chunksToMerge, isTaken, UNMERGED, type UnmergedAction, unmergedActions } from "./outcomes.ts";
import { mergeMended } from "./rejected-rows.ts";
import { fieldsOf, type GivenFields } from "./sent-action.ts";

/**
 * Merges what became of actions since the last merge. Each run is one transaction, so a crash in between loses nothing and
 * repeats nothing.
 */
export function mergeOutcomes(ledger: Ledger): void {
  const runs = `SELECT DISTINCT run_no FROM chunks WHERE ${UNMERGED} ORDER BY run_no`;
  for (const { run_no } of ledger.all(runs)) ledger.transaction(() => mergeRun(ledger, Number(run_no)));
}

/** Part of a transaction. */
function mergeRun(ledger: Ledger, runNo: number): void {
  // First of all: what other machines settle meanwhile is merged by the next.
  const chunks = chunksToMerge(ledger, runNo);
  const merging = new Merging(ledger, runNo);
  for (const actions of unmergedActions(ledger, runNo, chunks)) merging.take(actions);
  merging.end();
  mergeMended(ledger, runNo);
  for (const { chunk } of chunks) changeChunk(ledger, "merge", { runNo, chunk: Number(chunk) });
}

type TicketState = "sold" | "checked-in" | "invalidated";

interface TicketRow {
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

/** Deeds that are written at a time: bounds memory, not meaning. */
const AT_ONCE = 2 ** 16;

const DEED_COLUMNS: Columns = {
  ...{ identity: "BLOB", run_no: "INTEGER", seq: "INTEGER", content: "BLOB", taken: "INTEGER" },
  ...{ event_id: "TEXT", holder: "TEXT" },
};

const ID_COLUMNS: Columns = { field: "TEXT", normal: "TEXT", id: "TEXT" };

const BUT_THOSE_THERE = "ON CONFLICT DO NOTHING";

type DeedRow = readonly [identity: Uint8Array, ...Value[]];

/** The merge of one run. */
class Merging {
  readonly #ledger: Ledger;
  readonly #runNo: number;
  readonly #keys: ReturnType<typeof keysOfRun>;
  #deeds: DeedRow[] = [];
  /** Accepted ids that are not in their normal form. */
  #ids: (readonly [field: string, normal: string, id: string])[] = [];
  #effects: Effective[] = [];
  /** A ticket that is not among the deeds alone is looked for in the table of tickets only where there is one. */
  #hasTickets: boolean;

  constructor(ledger: Ledger, runNo: number) {
    this.#ledger = ledger;
    this.#runNo = runNo;
    this.#keys = keysOfRun(ledger, runNo);
    this.#hasTickets = ledger.get("SELECT 1 AS one FROM tickets LIMIT 1") !== undefined;
  }

  take(actions: readonly UnmergedAction[]): void {
    if (this.#deeds.length >= AT_ONCE) this.end();
    for (const action of actions) this.#take(action);
  }

  #take({ seq, source, outcome, sent: { action, data }, identity, content }: UnmergedAction): void {
    const isIt = isTaken(outcome);
    const given = fieldsOf(data);
    const isSale = isIt && actionSpec(action).effect === "sell-ticket";
    const { eventId, userId: holder } = isSale ? given : { eventId: undefined, userId: undefined };
    this.#deeds.push([identity, this.#runNo, seq, content, isIt ? 1 : 0, eventId ?? null, holder ?? null]);
    const by = this.#keys.get(source);
    if (by !== undefined) {
      const deed = { runNo: this.#runNo, seq, identity, content, isTaken: isIt, eventId, holder };
      noteKeyedDeed(this.#ledger, deed, { action, data: parseJson(data) as object }, by); // written by the planner
      if (outcome !== "not sent") noteKeySource(this.#ledger, action, by);
    }
    if (!isIt) return;
    const field = actionSpec(action).about === "event" ? "eventId" : "ticketId";
    const id = given[field];
    if (id !== undefined && normalId(id) !== id) this.#ids.push([field, normalId(id), id]);
    if (!isSale) this.#hasTickets ||= actionSpec(action).about === "ticket";
    if (!isSale || this.#hasTickets) this.#effects.push({ seq, action, given });
  }

  /** Writes what was taken so far. */
  end(): void {
    // In the order of the table, each of its pages is written once.
    this.#deeds.sort(([one], [other]) => Buffer.compare(one, other));
    const entered = insertRows(this.#ledger, "deeds", DEED_COLUMNS, this.#deeds, `${BUT_THOSE_THERE} RETURNING seq`);
    this.#deeds = [];
    this.#ids.sort(([, one], [, other]) => (one < other ? -1 : 1));
    insertRows(this.#ledger, "ids_by_normal", ID_COLUMNS, this.#ids, BUT_THOSE_THERE);
    this.#ids = [];
    // Of a chunk of which a second file has told more, the others were merged before.
    const isNew = new Set(entered.map(({ seq }) => Number(seq)));
    const tickets = new TicketTable(this.#ledger, this.#runNo);
    for (const effect of this.#effects) if (isNew.has(effect.seq)) apply(this.#ledger, tickets, effect);
    tickets.write();
    this.#effects = [];
  }
}

/** Tickets of which more is known than their sale. */
class TicketTable {
  readonly #ledger: Ledger;
  readonly #runNo: number;
  readonly #tickets = new Map<string, TicketRow>();

  constructor(ledger: Ledger, runNo: number) {
    this.#ledger = ledger;
    this.#runNo = runNo;
  }

  /** The ticket before an action. */
  of(given: GivenFields, seq: number): TicketRow {
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

  #listed(key: string): TicketRow | undefined {
    const row =
      this.#tickets.get(key) ??
      this.#ledger.get("SELECT event_id AS eventId, holder, state FROM tickets WHERE ticket = ?", key);
    // The columns hold texts or NULL, and the table's CHECK holds the state to those there are.
    return row && { ...(row as unknown as TicketRow) };
  }

  #sold({ ticketId }: GivenFields, seq: number): TicketRow | undefined {
    const before = { runNo: this.#runNo, seq };
    const sale = ticketId === undefined ? undefined : latestSale(this.#ledger, ticketId, before);
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
