/** All deeds of a file as rows in the order of their key, wherever they stand: to be copied and compared. */

import type { DeedBlock } from "./deed-block.ts";
import { blockBefore, type DeedPart, lookIntoParts, readDeedBlock } from "./deed-parts.ts";
import type { Ledger, SqlRow } from "./ledger.ts";

const LOOSE = "SELECT identity, run_no, seq, content, taken, event_no, holder FROM loose_deeds";
const ORDER = "ORDER BY identity, run_no, seq";

/**
 * @param after the key of the row before the first one; undefined for the first row of all.
 * @param most rows.
 */
export function deedRows(ledger: Ledger, after: SqlRow | undefined, most: number): SqlRow[] {
  return lookIntoParts(ledger, (parts) => {
    const loose =
      after === undefined
        ? ledger.all(`${LOOSE} ${ORDER} LIMIT ?`, most)
        : ledger.all(
            `${LOOSE} WHERE (identity, run_no, seq) > (?, ?, ?) ${ORDER} LIMIT ?`,
            ...[after.identity, after.run_no, after.seq].map((part) => part ?? null),
            most,
          );
    return firstOf([loose.values(), ...parts.map((part) => rowsBehind(ledger, part, after))], most);
  });
}

function firstOf(sources: readonly Iterator<SqlRow>[], most: number): SqlRow[] {
  const heads = sources.map((source) => ({ source, next: source.next() }));
  const rows: SqlRow[] = [];
  while (rows.length < most) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads)
      if (head.next.done !== true && (first === undefined || compareKeys(head.next.value, first.next.value) < 0))
        first = head;
    if (first === undefined) break;
    rows.push(first.next.value);
    first.next = first.source.next();
  }
  return rows;
}

function compareKeys(one: SqlRow, other: SqlRow): number {
  const order = Buffer.compare(one.identity as Uint8Array, other.identity as Uint8Array); // BLOB NOT NULL columns
  return order || Number(one.run_no) - Number(other.run_no) || Number(one.seq) - Number(other.seq);
}

function* rowsBehind(ledger: Ledger, part: DeedPart, after: SqlRow | undefined): Generator<SqlRow> {
  const first = after === undefined ? 0 : blockBefore(part, keyOf(after.identity as Uint8Array), 0); // as above
  let isBehind = after === undefined;
  for (let number = first; number < part.fences.length; number += 1) {
    const block = readDeedBlock(ledger, part, number);
    for (let at = 0; at < block.count; at += 1) {
      const row = rowAt(block, at);
      isBehind ||= after !== undefined && compareKeys(row, after) > 0;
      if (isBehind) yield row;
    }
  }
}

/** The first 32 bits; what is shorter comes before what begins with it. */
const keyOf = (identity: Uint8Array): number => Buffer.concat([identity, Buffer.alloc(4)]).readUInt32BE();

const rowAt = (block: DeedBlock, at: number): SqlRow => ({
  identity: block.identity(at),
  run_no: block.runNo(at),
  seq: block.seq(at),
  content: block.content(at),
  taken: block.isTaken(at) ? 1 : 0,
  event_no: block.eventNo(at) || null,
  holder: block.holder(at),
});

/** The key of the last row. */
export function lastDeed(ledger: Ledger): SqlRow | undefined {
  return lookIntoParts(ledger, (parts) => {
    const loose = ledger.get(
      "SELECT identity, run_no, seq FROM loose_deeds ORDER BY identity DESC, run_no DESC, seq DESC LIMIT 1",
    );
    const inParts = parts.map((part) => {
      const block = readDeedBlock(ledger, part, part.fences.length - 1);
      return rowAt(block, block.count - 1);
    });
    const rows = loose === undefined ? inParts : [...inParts, loose];
    const last = rows.toSorted(compareKeys).at(-1);
    return last && { identity: last.identity ?? null, run_no: last.run_no ?? null, seq: last.seq ?? null };
  });
}

/** Part of a transaction. */
export function clearDeeds(ledger: Ledger): void {
  for (const table of ["loose_deeds", "deed_blocks", "deed_parts"]) ledger.run(`DELETE FROM ${table}`);
}
