/**
 * Recognises a row by what it says, in tonight's export as in last night's, wherever it stands. A rejects file carries the
 * digest of each row as it was (`tickets:row`), so that a bad row is recognised once its mended version was accepted.
 *
 * The digest covers the names and the trimmed values of the cells that are not empty, in the order of the names, and what the
 * rows are read as (the source, or the action), since the same cells may mean another deed elsewhere. So neither the row's
 * line nor the file's name matters, nor the order of columns, nor a new column that the row leaves empty.
 */

import { digestHex } from "../actions/identity.ts";
import { parseVerbatim, stringifyJson } from "../actions/json.ts";
import { OPEN_ACTIONS_COLUMN, OWN_COLUMNS, ROW_COLUMN } from "./open-actions.ts";
import type { Row } from "./row.ts";

export type RowDigester = ReturnType<typeof createRowDigester>;

/** A digest; for a row that occurs several times in an input, its number among the equal ones follows. */
const KEY = /^\d+\.[0-9a-f]{32}(?:#[1-9]\d*)?$/;

export const sizeOfKey = (key: string): number => Number.parseInt(key, 10);

/** The first 64 bits of a digest. */
export const bitsOfDigest = (digest: string): bigint => BigInt(`0x${digest.replace(/^\d+\./, "").slice(0, 16)}`);

/** The digest without the number of the row among equal ones. */
export const digestOfKey = (key: string): string => key.replace(/#.*/, "");

export const keyOf = (digest: string, nth: number): string => (nth === 1 ? digest : `${digest}#${nth}`);

/** @param readAs what the rows of the file are read as, whatever the file is called. */
export function createRowDigester(header: readonly string[] | undefined, readAs: string) {
  const columns = (header ?? [])
    .map((name, index) => ({ name: name.trim(), index }))
    .filter(({ name }) => !OWN_COLUMNS.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.index - b.index));
  const placeOf = (column: string): number => header?.findIndex((name) => name.trim() === column) ?? -1;
  const own = placeOf(ROW_COLUMN);
  const open = placeOf(OPEN_ACTIONS_COLUMN);
  const size = (row: Row): number => {
    if (row.kind === "malformed") return row.text.length;
    if (row.kind === "object") return 0;
    let sum = 0;
    for (const { index } of columns) sum += row.cells[index]?.trim().length ?? 0;
    return sum;
  };
  const said = (row: Row): unknown => {
    if (row.kind === "malformed") return row.text;
    if (row.kind === "object") return sorted(withoutOwn(parseVerbatim(row.text) as typeof row.value)); // what the value was parsed from
    return columns.flatMap(({ name, index }) => {
      const value = row.cells[index]?.trim() ?? "";
      return value === "" ? [] : [name, value];
    });
  };
  return {
    /** The number of characters in the row's values where that is cheap to count, else 0. Equal rows have equal sizes. */
    size,
    /** Begins with the row's size. */
    digest: (row: Row): string => `${size(row)}.${digestHex(stringifyJson([readAs, row.kind, said(row)]))}`,
    /** What `tickets` wrote into the row's `tickets:row`; undefined where it wrote nothing there. */
    written(row: Row): string | undefined {
      if (row.kind === "malformed" || (row.kind === "cells" && own === -1)) return undefined;
      const value = row.kind === "cells" ? row.cells[own]?.trim() : row.value[ROW_COLUMN];
      return typeof value === "string" && KEY.test(value) ? value : undefined;
    },
    /** What the row has in `tickets:actions`; undefined where all of its actions are open. */
    open(row: Row): string | undefined {
      if (row.kind === "malformed") return undefined;
      const value = row.kind === "cells" ? row.cells[open] : row.value[OPEN_ACTIONS_COLUMN];
      return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
    },
  };
}

function withoutOwn(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).filter(([key, each]) => !OWN_COLUMNS.has(key) && each !== null && each !== ""),
  );
}

/** The value with the keys of its objects in order. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, each]) => [key, sorted(each)]);
}
