/** The beginning of an export, as tickets init looks at it: its header, its rows, and what each of its columns holds. */

import { type ColumnProfile, profileColumn } from "./column-profile.ts";

/** The beginning of an export. */
export interface Sample {
  /** Base name of the file. */
  readonly fileName: string;
  /** Headers of a table; of JSON rows the paths of their values. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the file ends with these rows. */
  readonly isWhole: boolean;
  /** Paths of lists in JSON rows; undefined for a table. */
  readonly lists?: readonly string[] | undefined;
  /** Where it is not the comma. */
  readonly delimiter?: string | undefined;
  /** Where it is not UTF-8. */
  readonly encoding?: string | undefined;
}

export interface Evidence extends Sample {
  readonly columns: readonly ColumnProfile[];
  column(name: string): ColumnProfile | undefined;
}

export function evidenceOf(sample: Sample): Evidence {
  const columns = sample.header.map((header, at) =>
    profileColumn(
      header.trim(),
      at,
      sample.rows.map((cells) => cells[at] ?? ""),
    ),
  );
  return { ...sample, columns, column: (name) => columns.find((column) => column.name === name) };
}

export function hasColumn({ header, lists = [] }: Sample, name: string): boolean {
  return (
    header.some((known) => known.trim() === name || (lists.length > 0 && known.startsWith(`${name}.`))) ||
    lists.some((list) => list === name)
  );
}
