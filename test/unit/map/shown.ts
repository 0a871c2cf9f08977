/** Mappers whose drafts are shown as actions. */

import type { Action } from "../../../src/actions/actions.ts";
import { itemOf } from "../../../src/actions/draft.ts";
import { createMapper as createDrafting, type MapperOptions } from "../../../src/map/create-mapper.ts";
import type { Mapped as Drafted } from "../../../src/map/mapper.ts";
import type { Row } from "../../../src/read/row.ts";

type Given = Extract<Drafted, { kind: "actions" }>;
type Invalid = Extract<Drafted, { kind: "invalid" }>;

export type Mapped =
  | Extract<Drafted, { kind: "skipped" }>
  | (Omit<Given, "drafts"> & { readonly actions: readonly Action[] })
  | (Omit<Invalid, "attempted"> & { readonly attempted: readonly Action[] });

export type Mapper = ReturnType<typeof createMapper>;

export function createMapper(options: MapperOptions) {
  const mapper = createDrafting(options);
  return {
    get understanding() {
      return mapper.understanding;
    },
    map: (row: Row): Mapped => shown(mapper.map(row)),
    retract: () => mapper.retract?.(),
    problemsOfFile: () => mapper.problemsOfFile?.() ?? [],
  };
}

function shown(mapped: Drafted): Mapped {
  if (mapped.kind === "skipped") return mapped;
  if (mapped.kind === "invalid") return { ...mapped, attempted: mapped.attempted.map(itemOf) };
  const { drafts, ...others } = mapped;
  return { ...others, actions: drafts.map(itemOf) };
}
