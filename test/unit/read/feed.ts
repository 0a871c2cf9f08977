import { expect } from "vitest";
import { type Row, type RowParser, RowReader } from "../../../src/read/row.ts";

/** Feeds a text to a parser in blocks of `size` bytes (all at once by default) and gives all its rows. */
export function feed(
  parser: RowParser,
  text: string | Buffer,
  size = Number.POSITIVE_INFINITY,
  reader = new RowReader(parser),
): Row[] {
  const bytes = Buffer.from(text);
  const rows: Row[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    // A copy that is wiped afterwards: a parser may keep nothing of a block.
    const block = Buffer.from(bytes.subarray(at, at + size));
    rows.push(...reader.take(block));
    block.fill(0x7a);
  }
  rows.push(...reader.take());
  for (const row of rows) if (row.kind === "cells") expect(row.cells).toEqual(row.whole().map((cell) => cell.trim()));
  return rows;
}

/** A row in few words: `2 a|b`, `7 {"a":1}`, `3 ! cell-count`, `4 !! csv-quotes` (borders not known). */
export function brief(row: Row): string {
  switch (row.kind) {
    case "cells":
      return `${row.line} ${row.whole().join("|")}`;
    case "object":
      return `${row.line} ${row.text}`;
    case "malformed":
      return `${row.line} ${row.bordersKnown ? "!" : "!!"} ${row.problems.map((problem) => problem.rule).join(" ")}`;
  }
}

export function messageOf(row: Row | undefined): string {
  return row?.kind === "malformed" ? row.problems.map((problem) => problem.message).join(" ") : "";
}
