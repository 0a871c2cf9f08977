/** Mappers as a thread has them: made of data that was copied, given the cells they want; their drafts shown as actions. */

import type { Action } from "../../../src/actions/actions.ts";
import { itemOf } from "../../../src/actions/draft.ts";
import { createMapper as createDrafting, type MapperOptions } from "../../../src/map/create-mapper.ts";
import type { Mapped as Drafted } from "../../../src/map/mapper.ts";
import { CellsRow, type Row } from "../../../src/read/row.ts";

type Given = Extract<Drafted, { kind: "actions" }>;
type Invalid = Extract<Drafted, { kind: "invalid" }>;

export type Mapped =
  | Extract<Drafted, { kind: "skipped" }>
  | (Omit<Given, "drafts"> & { readonly actions: readonly Action[] })
  | (Omit<Invalid, "attempted"> & { readonly attempted: readonly Action[] });

export type Mapper = ReturnType<typeof createMapper>;

export function createMapper(options: MapperOptions) {
  const mapper = createDrafting(structuredClone(options));
  return {
    get understanding() {
      return mapper.understanding;
    },
    map: (row: Row): Mapped => shown(mapper.map(withWanted(row, mapper.wanted))),
    retract: () => mapper.retract?.(),
    problemsOfFile: () => mapper.problemsOfFile?.() ?? [],
  };
}

/** The row as a reader gives it that knows which columns are wanted. */
function withWanted(row: Row, wanted: readonly boolean[] | undefined): Row {
  if (row.kind !== "cells" || wanted === undefined) return row;
  const cells = row.cells.map((cell, at) => (wanted[at] === true ? cell : ""));
  const table = { header: cells, delimiter: "," }; // as rows.ts makes them
  return new CellsRow(row.line, cells, row.text, table);
}

function shown(mapped: Drafted): Mapped {
  if (mapped.kind === "skipped") return mapped;
  if (mapped.kind === "invalid") return { ...mapped, attempted: mapped.attempted.map(itemOf) };
  const { drafts, ...others } = mapped;
  return { ...others, actions: drafts.map(itemOf) };
}
