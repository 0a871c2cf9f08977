/** The first rows of an input that can be read beside the actions they give, and what each value of a deciding column gives. */

import { type Action, actionsThat, registersEvent } from "../actions/actions.ts";
import { itemOf } from "../actions/draft.ts";
import { stringifyJson } from "../actions/json.ts";
import type { Problem } from "../actions/problem.ts";
import { withExactNumbers } from "../map/exact-numbers.ts";
import { leafAt } from "../map/json-keys.ts";
import type { DecidingColumn, Mapped } from "../map/mapper.ts";
import type { Row } from "../read/row.ts";
import type { MappedFile, OnRow } from "./mappers.ts";

/** Watches the rows on their way through the mapping. Its memory does not grow with the input. */
export interface Preview {
  readonly see: OnRow;
  readonly result: (problems: readonly Problem[]) => PreviewDocument;
}

interface PreviewCell {
  readonly column: string;
  readonly value: string;
}

export interface PreviewRow {
  readonly source: string;
  readonly line: number;
  /** The columns that are used and not empty. */
  readonly cells: readonly PreviewCell[];
  readonly actions: readonly Action[];
  /** Why the row gives no action. */
  readonly skipped?: string;
  readonly problems: readonly Problem[];
}

interface PreviewValue {
  readonly value: string;
  readonly rows: number;
  /** Kinds of actions that rows of this value give; empty for a value that no rule takes. */
  readonly actions: readonly string[];
}

export interface PreviewDocument {
  readonly rows: readonly PreviewRow[];
  /** For each column that `when` compares, what its values lead to. */
  readonly values: readonly {
    readonly source: string;
    readonly column: string;
    readonly values: readonly PreviewValue[];
  }[];
}

/** Values beyond this many are counted together: a column with so many different values is not a status. */
const MOST_KEPT = 10_000;
const OTHERS = "(others)";

interface Values {
  readonly source: string;
  readonly column: DecidingColumn;
  readonly counts: Map<string, { rows: number; readonly actions: Set<string> }>;
}

interface Seen {
  seen: number;
  readonly isOfRow: (action: string) => boolean;
  readonly values: readonly Values[];
}

export function createPreview(rowsPerFile: number): Preview {
  const rows: { readonly file: MappedFile; readonly row: Row; readonly mapped: Mapped }[] = [];
  const files = new Map<MappedFile, Seen>();

  return {
    see(file, row, mapped) {
      let state = files.get(file);
      if (state === undefined) {
        const conditional = (file.source?.actions ?? []).some((entry) =>
          actionsThat("register-event").some((name) => entry[name]?.when !== undefined),
        );
        // An event without conditions comes with whichever row is first, so it says nothing about the row's value.
        const isOfRow = (action: string): boolean => conditional || !registersEvent(action);
        state = {
          seen: 0,
          isOfRow,
          values: (file.mapper.deciding ?? []).map((column) => ({ source: file.file.name, column, counts: new Map() })),
        };
        files.set(file, state);
      }
      state.seen += 1;
      if (state.seen <= rowsPerFile) rows.push({ file, row, mapped });
      const drafts = mapped.kind === "actions" ? mapped.drafts : [];
      const own = mapped.kind === "invalid" ? ["(invalid)"] : drafts.map(({ action }) => action).filter(state.isOfRow);
      for (const { column, counts } of state.values) {
        const value = column.text();
        const key = counts.has(value) || counts.size < MOST_KEPT ? value : OTHERS;
        const known = counts.get(key) ?? { rows: 0, actions: new Set<string>() };
        known.rows += 1;
        for (const action of own) known.actions.add(action);
        counts.set(key, known);
      }
    },
    result: (problems) => ({
      rows: rows.map(({ file, row, mapped }) => previewRow(file, row, mapped, problems)),
      values: [...files.values()].flatMap(({ values }) =>
        values.map(({ source, column, counts }) => ({
          source,
          column: column.label,
          values: [...counts]
            .map(([value, { rows, actions }]) => ({ value, rows, actions: [...actions] }))
            .sort((one, other) => other.rows - one.rows),
        })),
      ),
    }),
  };
}

function previewRow(
  { file, header, mapper }: MappedFile,
  row: Row,
  mapped: Mapped,
  problems: readonly Problem[],
): PreviewRow {
  const source = file.name;
  return {
    source,
    line: row.line,
    cells: cellsOf(row, header, new Set(mapper.understanding.used)),
    actions: mapped.kind === "actions" ? mapped.drafts.map(itemOf) : [],
    ...(mapped.kind === "skipped" && { skipped: mapped.reason }),
    problems: problems.filter((problem) => problem.source === source && problem.line === row.line),
  };
}

function cellsOf(row: Row, header: readonly string[] | undefined, used: ReadonlySet<string>): readonly PreviewCell[] {
  if (row.kind === "object") {
    const exact = withExactNumbers(row);
    return [...used].flatMap((column) => {
      const value = leafAt(exact, column);
      if (value === undefined || value === null) return [];
      return [{ column, value: typeof value === "string" ? value : stringifyJson(value) }];
    });
  }
  if (row.kind !== "cells" || header === undefined) return [];
  const { cells } = row;
  return header.flatMap((name, at) => {
    const value = cells[at]?.trim() ?? "";
    if (!used.has(name) || value === "") return [];
    const nth = header.slice(0, at).filter((other) => other === name).length + 1;
    const isTwice = header.indexOf(name) !== header.lastIndexOf(name);
    return [{ column: isTwice ? `${name}#${nth}` : name, value }];
  });
}
