/** What all batches come to, joined in the order of the input, on disk and in memory. */

import type { Mend, RejectedRows } from "../../ledger/rejected-rows.ts";
import { openActionText } from "../../mapping/open-actions.ts";
import { appendCandidates, type CandidateFiles, toWhole } from "../candidates/candidates.ts";
import { orderKeysOf } from "../candidates/facts.ts";
import type { BlockedRows, InvalidRows, LeftOut } from "../candidates/rows-not-sent.ts";
import { addRows } from "../files/index-file.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import type { SalesSeen } from "../findings/vanished-tickets.ts";
import { historiesOf } from "../identity/blocked-deeds.ts";
import type { RowEvents } from "../order/lane-groups.ts";
import type { TimeOrder } from "../order/time-order.ts";
import type { Batch, BatchInvalid, BatchMended } from "./batch.ts";

export interface JoinOptions {
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

export interface Joined {
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

export class JoinedBatches implements Joined {
  readonly #options: JoinOptions;
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

  /** @param files take the candidates, unless the order of times does. */
  constructor(options: JoinOptions, files: CandidateFiles | undefined) {
    this.#options = options;
    this.#files = files;
  }

  /** Appends what the next rows of an input came to. */
  async add(input: number, batch: Batch): Promise<void> {
    const { problems, rowEvents } = this.#options;
    const { read } = this.rows;
    addRows(batch.bytes.index, read);
    if (this.#files !== undefined) await appendCandidates(this.#files, batch.bytes);
    for (const eventId of batch.newEvents) this.newEvents.add(eventId);
    for (const { row, eventId } of batch.rowEvents) rowEvents?.note(read + row, eventId);
    problems.absorb(batch.problems);
    countReasons(this.skipReasons, batch.skipReasons);
    countReasons(this.eventOnlyReasons, batch.eventOnlyReasons);
    this.#place(input, batch);
    for (const { row, key, isMended, actions, isWhole } of batch.rejected) {
      this.rejected.set(read + row, key);
      if (isMended) this.mends.set(read + row, { row: key, actions, isWhole, known: [] });
    }
    for (const { row, deeds } of batch.leftOut) this.leftOut.set(read + row, deeds);
    this.rows.read += batch.rows;
    this.rows.skipped += batch.skipped;
    this.candidates += batch.candidates;
    if (batch.isUnreadable) this.unreadable = true;
  }

  /** Notes candidates, and rows that are not sent at their places among them. */
  #place(input: number, batch: Batch): void {
    const { timeOrder, salesSeen } = this.#options;
    const placed = timeOrder === undefined && salesSeen === undefined ? undefined : orderKeysOf(batch.bytes);
    const whole = timeOrder === undefined ? undefined : toWhole(batch.bytes);
    let behind = 0;
    const noteUntil = (before: number): void => {
      for (; placed !== undefined && behind < before; behind += 1) {
        const action = placed[behind];
        if (action === undefined) throw new Error("the batch has fewer facts than candidates");
        const candidate = whole?.[behind];
        if (candidate !== undefined) timeOrder?.candidate(action, candidate);
        salesSeen?.note(action);
      }
    };
    for (const each of inPlace(batch)) {
      noteUntil(each.before);
      for (const action of each.attempted) salesSeen?.note(action);
      if ("key" in each) this.#addMended(each, input);
      else this.#addInvalid(each, each, input);
    }
    noteUntil(batch.candidates);
  }

  /** A row of which a mended one was accepted: what was taken of it and of that stands in its place, and what is open of it. */
  #addMended(mended: BatchMended, input: number): void {
    const { rejectedRows, timeOrder, blockedRows } = this.#options;
    const place = this.#placeOf(mended, input);
    this.mended.set(place.row, mended.key);
    for (const { accepted, ...action } of [
      ...rejectedRows.takenBeside(mended.key),
      ...rejectedRows.deedsOf(mended.key),
    ]) {
      if (timeOrder === undefined)
        blockedRows.add({ ...place, before: this.candidates + mended.before, attempted: [action], accepted });
      else timeOrder.held(action, { ...place, accepted });
    }
    if (mended.open === undefined) this.rows.mended += 1;
    else this.#addInvalid(mended, mended.open, input);
  }

  /** @param open why, and of which of its actions. */
  #addInvalid(
    row: BatchInvalid | BatchMended,
    { reason, attempted }: Pick<BatchInvalid, "reason" | "attempted">,
    input: number,
  ): void {
    const { invalid, timeOrder, blockedRows } = this.#options;
    const place = this.#placeOf(row, input);
    const before = this.candidates + row.before;
    invalid.add(false, () => {
      const gives = namesOf(attempted);
      return {
        ...place,
        reason,
        before,
        histories: historiesOf(attempted),
        ...(gives !== undefined && { gives }),
        ...("key" in row && { isPart: true }),
      };
    });
    if (timeOrder === undefined) blockedRows.add({ ...place, before, attempted });
    else for (const action of attempted) timeOrder.held(action, place);
  }

  #placeOf({ row, line }: Pick<BatchInvalid, "row" | "line">, input: number) {
    return { row: this.rows.read + row, input, line };
  }

  get all(): Joined {
    const { rows, mends, rejected, mended, leftOut, skipReasons, eventOnlyReasons, newEvents, candidates, unreadable } =
      this;
    return { rows, mends, rejected, mended, leftOut, skipReasons, eventOnlyReasons, newEvents, candidates, unreadable };
  }
}

function countReasons(reasons: Map<string, number>, counted: ReadonlyMap<string, number>): void {
  for (const [reason, count] of counted) {
    const shown = reasons.has(reason) || reasons.size < SKIP_REASONS ? reason : "other reasons";
    reasons.set(shown, (reasons.get(shown) ?? 0) + count);
  }
}

/** The rows that are not sent by themselves, in the order in which they stand. */
function inPlace({ invalid, mended }: Batch): readonly (BatchInvalid | BatchMended)[] {
  return mended.length === 0 ? invalid : [...invalid, ...mended].sort((one, other) => one.row - other.row);
}

/** As `tickets:actions` names them; undefined where nobody knows what the row gives. */
function namesOf(attempted: BatchInvalid["attempted"]): readonly string[] | undefined {
  const names = attempted.flatMap(({ action, nth }) =>
    action === undefined || nth === undefined ? [] : [openActionText(action, nth)],
  );
  return names.length === 0 ? undefined : names;
}
