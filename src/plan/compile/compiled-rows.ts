/** What all rows come to, in the order of the input, on disk and in memory. */

import { type Action, registersEvent } from "../../actions/actions.ts";
import type { Mend, RejectedRows } from "../../ledger/rejected-rows.ts";
import { openActionText } from "../../mapping/open-actions.ts";
import { appendCandidates, type CandidateFiles } from "../candidates/candidates.ts";
import type { CandidateBytes, OrderKey } from "../candidates/facts.ts";
import type { BlockedRows, InvalidRows, LeftOut } from "../candidates/rows-not-sent.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import type { SalesSeen } from "../findings/vanished-tickets.ts";
import { historiesOf } from "../identity/blocked-deeds.ts";
import type { RowEvents } from "../order/lane-groups.ts";
import type { TimeOrder } from "../order/time-order.ts";

export interface CompiledRowsOptions {
  /** Rows that an earlier run rejected. */
  readonly rejectedRows: RejectedRows;
  readonly problems: ProblemLog;
  readonly invalid: InvalidRows;
  /** Takes the places of invalid rows among the candidates, unless `timeOrder` does. */
  readonly blockedRows: BlockedRows;
  /** Takes the candidates where they are to be put in order afterwards; then no files are written here. */
  readonly timeOrder: TimeOrder | undefined;
  /** Where it is asked for, notes the sales of the input. */
  readonly salesSeen: SalesSeen | undefined;
  /** Where actions are spread over lanes, notes the event that a row names. */
  readonly rowEvents: RowEvents | undefined;
}

/** What they come to. */
export interface RowsCompiled {
  readonly rows: { readonly read: number; readonly skipped: number; readonly mended: number };
  /** By row: which row it was before it was mended. */
  readonly mends: ReadonlyMap<number, Mend>;
  /** By row: the key that it has in the rejects file from which it comes. */
  readonly rejected: ReadonlyMap<number, string>;
  /** By row: the key of a bad row of which a mended one was accepted. */
  readonly mended: ReadonlyMap<number, string>;
  /** By row: what `tickets:actions` leaves out of it. */
  readonly leftOut: ReadonlyMap<number, readonly LeftOut[]>;
  /** Skipped rows by reason. */
  readonly skipReasons: ReadonlyMap<string, number>;
  /** Rows that give their event and nothing else, by reason. */
  readonly eventOnlyReasons: ReadonlyMap<string, number>;
  readonly candidates: number;
  /** Every event that the input registers, wherever its newEvent stands. */
  readonly newEvents: ReadonlySet<string>;
  /** True when part of a file could not be read as rows at all, so that no allowance for invalid rows helps. */
  readonly unreadable: boolean;
}

/** Skipped rows are counted by their reason up to so many reasons, since reasons quote the file. */
const SKIP_REASONS = 1000;

/** Where a row stands. */
interface RowPlace {
  /** Running number over all inputs, from 1. */
  readonly row: number;
  readonly input: number;
  readonly line: number;
}

/** Candidates in memory before they are written. */
const MOST_PENDING = 2000;

export class CompiledRows implements RowsCompiled {
  readonly #options: CompiledRowsOptions;
  readonly #files: CandidateFiles | undefined;
  readonly rows = { read: 0, skipped: 0, mended: 0 };
  readonly mends = new Map<number, Mend>();
  readonly rejected = new Map<number, string>();
  readonly mended = new Map<number, string>();
  readonly leftOut = new Map<number, readonly LeftOut[]>();
  readonly skipReasons = new Map<string, number>();
  readonly eventOnlyReasons = new Map<string, number>();
  readonly newEvents = new Set<string>();
  candidates = 0;
  unreadable = false;
  #pending: CandidateBytes[] = [];

  /** @param files take the candidates, unless the order of times does. */
  constructor(options: CompiledRowsOptions, files: CandidateFiles | undefined) {
    this.#options = options;
    this.#files = files;
  }

  skip(reason: string): void {
    this.rows.skipped += 1;
    countReason(this.skipReasons, reason);
  }

  /** A row that gives its event and nothing else. */
  onlyEvent(reason: string): void {
    countReason(this.eventOnlyReasons, reason);
  }

  /** A candidate of a sound row. */
  take(action: Action, bytes: CandidateBytes): void {
    const { timeOrder, salesSeen } = this.#options;
    if (registersEvent(action.action) && typeof action.data.eventId === "string")
      this.newEvents.add(action.data.eventId);
    this.candidates += 1;
    if (timeOrder === undefined) this.#pending.push(bytes);
    else timeOrder.candidate(action, bytes);
    salesSeen?.note(action);
  }

  /** A row that is not sent; nothing follows of what others may depend on but `attempted`. */
  reject(place: RowPlace, reason: string, attempted: readonly OrderKey[]): void {
    for (const action of attempted) this.#options.salesSeen?.note(action);
    this.#addInvalid(place, reason, attempted, false);
  }

  /**
   * A row of which a mended one was accepted: what was taken of it and of that stands in its place, and what is open of it.
   *
   * @param open why that is not sent; undefined where the row is done with.
   */
  addMended(
    place: RowPlace,
    key: string,
    attempted: readonly OrderKey[],
    open: { readonly reason: string; readonly attempted: readonly OrderKey[] } | undefined,
  ): void {
    const { rejectedRows, timeOrder, blockedRows, salesSeen } = this.#options;
    for (const action of attempted) salesSeen?.note(action);
    this.mended.set(place.row, key);
    for (const { accepted, ...action } of [...rejectedRows.takenBeside(key), ...rejectedRows.deedsOf(key)]) {
      if (timeOrder === undefined)
        blockedRows.add({ ...place, before: this.candidates, attempted: [action], accepted });
      else timeOrder.held(action, { ...place, accepted });
    }
    if (open === undefined) this.rows.mended += 1;
    else this.#addInvalid(place, open.reason, open.attempted, true);
  }

  #addInvalid(place: RowPlace, reason: string, attempted: readonly OrderKey[], isPart: boolean): void {
    const { invalid, timeOrder, blockedRows } = this.#options;
    const before = this.candidates;
    invalid.add(false, () => {
      const gives = namesOf(attempted);
      const histories = historiesOf(attempted);
      return { ...place, reason, before, histories, ...(gives !== undefined && { gives }), ...(isPart && { isPart }) };
    });
    if (timeOrder === undefined) blockedRows.add({ ...place, before, attempted });
    else for (const action of attempted) timeOrder.held(action, place);
  }

  /** There is so much to write that the next rows wait for it. */
  get isFull(): boolean {
    return this.#pending.length >= MOST_PENDING;
  }

  /** Appends the candidates that were taken. */
  async write(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    if (this.#files !== undefined && pending.length > 0) await appendCandidates(this.#files, pending);
  }
}

/** Counted by itself, unless there are too many others. */
function countReason(reasons: Map<string, number>, reason: string): void {
  const shown = reasons.has(reason) || reasons.size < SKIP_REASONS ? reason : "other reasons";
  reasons.set(shown, (reasons.get(shown) ?? 0) + 1);
}

/** As `tickets:actions` names them; undefined where nobody knows what the row gives. */
function namesOf(attempted: readonly OrderKey[]): readonly string[] | undefined {
  const names = attempted.flatMap(({ action, nth }) =>
    action === undefined || nth === undefined ? [] : [openActionText(action, nth)],
  );
  return names.length === 0 ? undefined : names;
}
