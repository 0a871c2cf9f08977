/** Rows that are not sent, and what they hold back: on disk while a plan is made, so that memory does not grow with a bad file. */

import type { Action } from "../../actions/actions.ts";
import { parseJson, stringifyJson } from "../../actions/json.ts";
import type { RowPlace } from "../../ledger/row-places.ts";
import { createFile } from "../files/append-file.ts";
import type { BlockedRow } from "./candidates.ts";
import { createScratch } from "./scratch.ts";

/** A row that is not sent, for the rejects file. */
interface InvalidRow {
  readonly row: number;
  readonly input: number;
  readonly line: number;
  /** Why, in one line. */
  readonly reason: string;
  /** Invalid only because of another row. */
  readonly isHeld: boolean;
  /** What is open of it, as `tickets:actions` names it; left out where that is not known. */
  readonly gives?: readonly string[];
  /** It gives more, with which it is done. */
  readonly isPart?: boolean;
  /** Number of the candidate that it stands before. */
  readonly before: number;
  /** Histories (identity without a key, hex) of which it is known to have a deed. */
  readonly histories: readonly string[];
}

/** An action that `tickets:actions` leaves out of its row: it is done with. */
export interface LeftOut {
  /** Of the source's key, hexadecimal. */
  readonly identity: string;
  readonly action: Action;
}

/** Of a row, what tells where it stood. */
export type PlacedRow = Pick<InvalidRow, "row" | "before" | "histories">;

/** Takes rows that are not sent. */
export interface InvalidRowsTaker {
  /** @param row asked for only where the row is kept. */
  add(isHeld: boolean, row: () => Omit<InvalidRow, "isHeld">): void;
  /** False once more rows are invalid than the plan bears: it is not made then, and nothing but their number is asked for. */
  readonly isKept: boolean;
}

/** Rows in memory, found by what may turn out not to count. */
interface FoundInvalid extends InvalidRowsTaker {
  readonly kept: readonly InvalidRow[];
  readonly counts: Readonly<Record<"invalid" | "held", number>>;
}

export interface InvalidRows extends InvalidRowsTaker, Disposable {
  /** Rows that are invalid themselves. */
  readonly invalid: number;
  readonly held: number;
  /** Takes rows beside those that are here already, to be absorbed later or dropped. */
  fork(): FoundInvalid;
  absorb(found: FoundInvalid): void;
  /**
   * Writes all of them into a new file, in the order of the input, a JSON object a line, durably. They must be kept.
   *
   * @param open what is open of those of which not all is, by row, as `tickets:actions` names it.
   * @param placeOf asked in the order of the input.
   */
  writeTo(
    path: string,
    open: ReadonlyMap<number, readonly string[]>,
    placeOf: (row: PlacedRow) => RowPlace,
  ): Promise<void>;
  /** Of all rows that are kept. */
  readonly histories: ReadonlySet<string>;
}

/**
 * @param directory where they are kept.
 * @param most so many invalid rows the plan bears; held ones don't count.
 */
export function createInvalidRows(directory: string, most = Number.POSITIVE_INFINITY): InvalidRows {
  const rows = createScratch(
    directory,
    "invalid",
    "CREATE TABLE invalid (row INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
  );
  const counts = { invalid: 0, held: 0 };
  const ofAll = new Set<string>();
  const keep = ({ row, input, line, reason, gives, isPart, before, histories }: Omit<InvalidRow, "isHeld">): void => {
    for (const history of histories) ofAll.add(history);
    const open = isPart === true ? gives : undefined;
    const text = stringifyJson({ row, input, line, reason, gives, open, before, histories });
    rows.run("INSERT INTO invalid VALUES (?, ?)", row, text);
  };
  return {
    histories: ofAll,
    add(isHeld, row) {
      counts[isHeld ? "held" : "invalid"] += 1;
      if (this.isKept) keep(row());
    },
    get isKept() {
      return counts.invalid <= most;
    },
    fork: () => createFoundInvalid((invalid) => counts.invalid + invalid <= most),
    absorb(found) {
      for (const row of found.kept) keep(row);
      counts.invalid += found.counts.invalid;
      counts.held += found.counts.held;
    },
    get invalid() {
      return counts.invalid;
    },
    get held() {
      return counts.held;
    },
    async writeTo(path, open, placeOf) {
      await using file = await createFile(path);
      for await (const batch of rows.batches<readonly [text: string]>("SELECT text FROM invalid ORDER BY row")) {
        for (const [text] of batch) {
          const { before, histories, ...kept } = parseJson(text) as PlacedRow; // written above
          const { row } = kept;
          const ofRow = open.get(row);
          const place = placeOf({ row, before, histories });
          const full = file.text(`${stringifyJson({ ...kept, ...(ofRow !== undefined && { open: ofRow }), place })}\n`);
          if (full !== undefined) await full;
        }
      }
      await file.sync();
    },
    [Symbol.dispose]: () => rows[Symbol.dispose](),
  };
}

/** @param isBorne whether the plan bears so many invalid rows beside those that are known. */
function createFoundInvalid(isBorne: (invalid: number) => boolean): FoundInvalid {
  const counts = { invalid: 0, held: 0 };
  const kept: InvalidRow[] = [];
  return {
    kept,
    counts,
    add(isHeld, row) {
      counts[isHeld ? "held" : "invalid"] += 1;
      if (this.isKept) kept.push({ ...row(), isHeld });
      else kept.length = 0;
    },
    get isKept() {
      return isBorne(counts.invalid);
    },
  };
}

/** The holds of an input, in the order of what they stand before. */
export interface BlockedRows extends AsyncIterable<BlockedRow>, Disposable {
  /** May not be called any more when they have been read, which may be often. */
  add(blocked: BlockedRow): void;
}

/** @param directory where they are kept. */
export function createBlockedRows(directory: string): BlockedRows {
  const rows = createScratch(
    directory,
    "blocked",
    "CREATE TABLE blocked (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
  );
  return {
    add(blocked) {
      rows.run("INSERT INTO blocked (text) VALUES (?)", stringifyJson(blocked));
    },
    async *[Symbol.asyncIterator]() {
      for await (const batch of rows.batches<readonly [text: string]>("SELECT text FROM blocked ORDER BY number")) {
        for (const [text] of batch) yield parseJson(text) as BlockedRow; // written above
      }
    },
    [Symbol.dispose]: () => rows[Symbol.dispose](),
  };
}
