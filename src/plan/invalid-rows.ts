/** Rows that are not sent, and what they hold back: on disk while a plan is made, so that memory does not grow with a bad file. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseJson, stringifyJson } from "../actions/json.ts";
import type { RowPlace } from "../ledger/row-places.ts";
import type { BlockedRow } from "./candidates.ts";
import { type AppendFile, createFile, readLines } from "./files.ts";
import { createSorter } from "./sorter.ts";

/** A row that is not sent, for the rejects file. */
export interface InvalidRow {
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
  readonly isPart?: true;
  /** Number of the candidate that it stands before. */
  readonly before: number;
  /** Histories (identity without a key, hex) of which it is known to have a deed. */
  readonly histories: readonly string[];
}

/** Of a row, what tells where it stood. */
export type PlacedRow = Pick<InvalidRow, "row" | "before" | "histories">;

export interface InvalidRows extends AsyncDisposable {
  add(row: InvalidRow): Promise<void> | undefined;
  /** Rows that are invalid themselves. */
  readonly invalid: number;
  readonly held: number;
  /**
   * Writes all of them into a new file, in the order of the input, a JSON object a line, durably.
   *
   * @param open what is open of those of which not all is, by row, as `tickets:actions` names it.
   * @param placeOf asked in the order of the input.
   */
  writeTo(
    path: string,
    open: ReadonlyMap<number, readonly string[]>,
    placeOf: (row: PlacedRow) => RowPlace,
  ): Promise<void>;
  /** Of all rows. */
  readonly histories: ReadonlySet<string>;
}

/** @param directory where they are sorted. */
export function createInvalidRows(directory: string): InvalidRows {
  const sorter = createSorter(join(directory, "invalid.rows"));
  const counts = { invalid: 0, held: 0 };
  const ofAll = new Set<string>();
  return {
    histories: ofAll,
    add({ row, input, line, reason, isHeld, gives, isPart, before, histories }) {
      counts[isHeld ? "held" : "invalid"] += 1;
      for (const history of histories) ofAll.add(history);
      const open = isPart === true ? gives : undefined;
      const text = `${stringifyJson({ row, input, line, reason, gives, open, before, histories })}\n`;
      return sorter.add(4 + Buffer.byteLength(text), (buffer, at) => {
        buffer.writeUInt32BE(row, at);
        buffer.write(text, at + 4);
      });
    },
    get invalid() {
      return counts.invalid;
    },
    get held() {
      return counts.held;
    },
    async writeTo(path, open, placeOf) {
      await using file = await createFile(path);
      for await (const batch of sorter.sorted()) {
        for (const each of batch) {
          const { before, histories, ...kept } = parseJson(each.toString("utf8", 4)) as PlacedRow; // written above
          const { row } = kept;
          const ofRow = open.get(row);
          const place = placeOf({ row, before, histories });
          const full = file.text(`${stringifyJson({ ...kept, ...(ofRow !== undefined && { open: ofRow }), place })}\n`);
          if (full !== undefined) await full;
        }
      }
      await file.sync();
    },
    [Symbol.asyncDispose]: () => sorter[Symbol.asyncDispose](),
  };
}

/** The holds of an input, in the order of what they stand before. */
export interface BlockedRows extends AsyncIterable<BlockedRow>, AsyncDisposable {
  /** May not be called any more when they have been read, which may be often. */
  add(blocked: BlockedRow): Promise<void>;
}

export function createBlockedRows(directory: string): BlockedRows {
  const path = join(directory, "candidates.holds");
  let file: AppendFile | undefined;
  return {
    async add(blocked) {
      file ??= await createFile(path);
      await file.text(`${stringifyJson(blocked)}\n`);
    },
    async *[Symbol.asyncIterator]() {
      if (file === undefined) return;
      await file.flush();
      for await (const lines of readLines(path)) {
        for (const line of lines) yield parseJson(line.toString("utf8")) as BlockedRow; // written above
      }
    },
    async [Symbol.asyncDispose]() {
      await file?.[Symbol.asyncDispose]();
      await rm(path, { force: true });
    },
  };
}
