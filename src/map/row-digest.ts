/**
 * Recognises a row by what it says, in tonight's export as in last night's, wherever it stands. A rejects file carries the
 * digest of each bad row as it was (`tickets:row`), so that the bad row is recognised once its corrected version was accepted.
 *
 * The digest covers the names and the trimmed values of the cells that are not empty, in the order of the names, and what the
 * rows are read as (the source, or the action), since the same cells may mean another action elsewhere. So neither the row's
 * line nor the file's name matters, nor the order of columns, nor a new column that the row leaves empty. What a source takes
 * from elsewhere (`Mapper.beside`) is covered too: under another date or order, the same cells are another row.
 */

import { hash } from "node:crypto";
import { parseVerbatim } from "../actions/json.ts";
import { OWN_COLUMNS } from "../read/rejects-columns.ts";
import type { Row } from "../read/row.ts";

export type RowDigester = ReturnType<typeof createRowDigester>;

/** 128 bits of SHA-256: among ten thousand million texts a chance meeting stays below 10^-18, so a hit needs no confirmation. */
export const digestHex = (text: string): string => hash("sha256", text).slice(0, 32);

/** @param readAs what the rows of the file are read as, whatever the file is called. */
export function createRowDigester(header: readonly string[] | undefined, readAs: string) {
  const columns = (header ?? [])
    .map((name, index) => ({ name: name.trim(), index }))
    .filter(({ name }) => !OWN_COLUMNS.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.index - b.index));
  const said = (row: Row): unknown => {
    if (row.kind === "malformed") return row.text;
    if (row.kind === "object") return sorted(withoutOwn(parseVerbatim(row.text) as typeof row.value)); // what the value was parsed from
    const cells = row.whole();
    return columns.flatMap(({ name, index }) => {
      const value = cells[index]?.trim() ?? "";
      return value === "" ? [] : [name, value];
    });
  };
  return (row: Row, beside: readonly string[] = []): string =>
    digestHex(JSON.stringify([readAs, row.kind, said(row), ...beside]));
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
