/** Puts rows and actions into the plan's file as they are read. */

import { type Action, type ActionName, actionSpec } from "../actions/actions.ts";
import { baseOf, formOf } from "../actions/marks.ts";
import { withoutNul } from "../actions/nul.ts";
import type { Corrected, Position } from "../ledger/ledger.ts";
import type { LookedAction, StoredAction } from "./look.ts";
import type { RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";

/** The row that something comes from. */
export interface At {
  readonly row: number;
  readonly input: number;
  /** Where it was first read, of a row from rejects. */
  readonly position: Position | undefined;
  /** It was unclear when it was put into its rejects, and stands there as it was. */
  readonly isLeft: boolean;
}

/** What is known of a row beside its text. */
interface OfRow {
  readonly state?: "corrected" | "invalid";
  readonly reason?: string;
  readonly digest: string | undefined;
}

export class Writer {
  readonly #store: Store;
  readonly #read: RowsRead;
  readonly #isByTime: boolean;
  readonly #row: ReturnType<Store["prepare"]>;
  readonly #action: ReturnType<Store["prepare"]>;
  readonly #body: ReturnType<Store["prepare"]>;
  /** The last time that the input gave. */
  #clock = 0;
  #seq = 0;

  constructor(store: Store, read: RowsRead, isByTime: boolean) {
    this.#store = store;
    this.#read = read;
    this.#isByTime = isByTime;
    // Each value that is bound takes time: what is the same in almost all rows is left to defaults.
    this.#row = store.prepare("INSERT INTO row (row, input, line, text) VALUES (?, ?, ?, ?)");
    this.#action = store.prepare(
      `INSERT INTO action (seq, place, row, input, kind, subject, mark, content, time, event, owner, decimals, clock)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#body = store.prepare("INSERT INTO body VALUES (?, ?)");
  }

  row({ row, input, position }: At, line: number, text: string, { state, reason, digest }: OfRow): void {
    this.#row.run(row, input, line, text);
    if (state === undefined && digest === undefined && position === undefined) return;
    // A row that can't be read has no time: sorted by that, it may have stood before all.
    const at = position?.seq ?? (this.#isByTime ? 0 : this.#seq + 1);
    const sql = "UPDATE row SET state = ?, reason = ?, digest = ?, run = ?, at = ? WHERE row = ?";
    this.#store.run(sql, state ?? null, reason ?? null, digest ?? null, position?.run ?? null, at, row);
  }

  action(at: At, [json, ...action]: LookedAction): void {
    const [kind, subject, , , time] = action;
    this.#insert(at, action);
    if (at.position !== undefined || at.isLeft) this.#mark(at, "new", at.isLeft ? "left" : null);
    this.#body.run(this.#seq, json);
    if (time !== null) this.#noteTime(kind, time);
    if (kind === "resoldTicket") this.#read.resoldBy.add(subject.charAt(0));
    const form = formOf(subject);
    if (form === subject) return;
    this.#read.hasOdd = true;
    this.#store.run("INSERT OR IGNORE INTO odd VALUES (?, ?, ?)", form, subject, at.row);
  }

  /** What the corrected version of a bad row was accepted as. */
  corrected(at: At, { kind, subject, mark }: Corrected): void {
    this.#insert(at, [kind, subject, baseOf(mark), null, null, null, null, null]);
    this.#mark(at, "sent", "corrected");
  }

  /** What a bad row would have given, as far as that can be read: others wait for it. Which action it is is not known, so it has no mark. */
  bad(at: At, { action: kind, data: { eventId, ticketId, nftId, orderTime } }: Action): void {
    const time = Number.isSafeInteger(orderTime) ? Number(orderTime) : null;
    const isOfEvent = actionSpec(kind).about === "event";
    const event = isOfEvent || typeof eventId !== "string" ? null : withoutNul(eventId);
    for (const [letter, id] of isOfEvent ? [["e", eventId]] : [["t", ticketId] as const, ["n", nftId] as const]) {
      if (typeof id !== "string") continue;
      this.#insert(at, [kind, withoutNul(`${letter}:${id}`), null, null, time, event, null, null]);
      this.#mark(at, "bad", null);
    }
  }

  #insert({ row, input }: At, action: StoredAction): void {
    const [, , , , time] = action;
    this.#seq += 1;
    if (time !== null) this.#clock = time;
    this.#action.run(this.#seq, this.#seq, row, input, ...action, this.#isByTime ? this.#clock : null);
  }

  /** Says of the last one that its row is bad, or from rejects. */
  #mark({ position }: At, verdict: string, why: string | null): void {
    const sql = "UPDATE action SET verdict = ?, why = ?, run = ?, at = ? WHERE seq = ?";
    this.#store.run(sql, verdict, why, position?.run ?? null, position?.seq ?? null, this.#seq);
  }

  #noteTime(kind: ActionName, time: number): void {
    const span = this.#read.spans.get(kind);
    if (span === undefined) this.#read.spans.set(kind, { first: time, last: time });
    else if (time < span.first || time > span.last)
      this.#read.spans.set(kind, { first: Math.min(span.first, time), last: Math.max(span.last, time) });
  }

  /** Of bad rows that are equal each has its number, so that a row more of the same content is another one. */
  numberedDigest(digest: string): string {
    if (digest.includes("#")) return digest;
    const sql = "INSERT INTO bad VALUES (?, 1) ON CONFLICT (digest) DO UPDATE SET times = times + 1 RETURNING times";
    const { times = 1 } = this.#store.get<{ times: number }>(sql, digest) ?? {};
    return times === 1 ? digest : `${digest}#${times}`;
  }
}
