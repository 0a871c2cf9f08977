/** Rows of a table whose columns are named like fields. */

import { type ActionName, actionSpec } from "../../actions/actions.ts";
import { fieldSpec } from "../../actions/fields.ts";
import type { PlainColumns } from "../../mapping/create-mapper.ts";
import { ISO_CLOCK, secondsBy } from "../../mapping/plain-source.ts";
import type { AttributesLeaf } from "./attributes.ts";
import { askingLeafOf } from "./leaves.ts";
import { type ActionParts, compileAction, type PlainAction, type RowOutcome, type RowProgram } from "./program.ts";
import type { Table } from "./table.ts";
import { type ValueWriter, writeCell, writeTime } from "./values.ts";

export interface NamedRowsOptions extends Pick<ActionParts, "severityOf"> {
  readonly columns: PlainColumns;
  readonly table: Table;
  readonly attributes: AttributesLeaf;
  /** The events that rows name for actions which carry none are noted, by the reference. */
  readonly notesEvents: boolean;
}

/** Undefined where no row can be plain. */
export function createNamedRows(options: NamedRowsOptions): RowProgram | undefined {
  const { columns, notesEvents } = options;
  const outcomes = new Map<string, RowOutcome>();
  for (const action of columns.byAction.keys()) {
    const isNoted = notesEvents && columns.columns.fields.has("eventId") && !takesEvent(action);
    const compiled = isNoted ? undefined : compileNamed(action, options);
    if (compiled !== undefined) outcomes.set(action, { skipped: undefined, actions: [compiled], nths: ONLY });
  }
  return outcomes.size === 0 ? undefined : new NamedRows(options, outcomes);
}

const ONLY = [0];

const takesEvent = (action: ActionName): boolean => {
  const { required, optional } = actionSpec(action);
  return required.includes("eventId") || optional.includes("eventId");
};

function compileNamed(action: ActionName, options: NamedRowsOptions): PlainAction | undefined {
  const { columns, table, attributes, severityOf } = options;
  const read = columns.byAction.get(action);
  if (read === undefined) return undefined;
  const fields = read.used.map(({ field, index, coerce }) => {
    const { kind } = fieldSpec(field);
    const leaf = kind === "metadata" ? attributes.write : askingLeafOf(field, table.leafOptions);
    const time = { templates: [[index]], takesDigits: true, clock: ISO_CLOCK, secondsOf: secondsBy(coerce) };
    const write: ValueWriter = kind === "u64" ? writeTime(field, time, leaf, table) : writeCell(index, leaf, table);
    return { name: field, write };
  });
  const refused = columns.fixed === undefined ? read.refused.map(({ index }) => index) : [];
  return compileAction({
    ...{ memory: table.memory, action, fields, refused },
    ...{ attributesContent: attributes, severityOf },
  });
}

class NamedRows implements RowProgram {
  readonly #options: NamedRowsOptions;
  readonly #outcomes: ReadonlyMap<string, RowOutcome>;
  readonly #columnOfAction: number;
  /** That of the row before, or of all rows. */
  #outcome: RowOutcome | undefined;
  #actionName: Uint8Array = new Uint8Array(0);

  constructor(options: NamedRowsOptions, outcomes: ReadonlyMap<string, RowOutcome>) {
    const { columns, fixed } = options.columns;
    this.#options = options;
    this.#outcomes = outcomes;
    this.#columnOfAction = columns.action ?? -1;
    this.#outcome = fixed === undefined ? undefined : outcomes.get(fixed.action);
  }

  /** The action of the row, if its cell names the one that all rows have, or one of those that may be plain. */
  outcomeOf(): RowOutcome | undefined {
    const column = this.#columnOfAction;
    if (column === -1) return this.#outcome;
    const { memory, cells } = this.#options.table;
    const start = cells.from[column] ?? 0;
    const end = cells.to[column] ?? 0;
    const isFixed = this.#options.columns.fixed !== undefined;
    if (isFixed && start === end) return this.#outcome;
    if (isSame(memory.bytes, start, end, this.#actionName)) return this.#outcome;
    const named = this.#outcomes.get(memory.ascii(start, end));
    if (isFixed && named !== this.#outcome) return undefined;
    if (named === undefined) return undefined;
    this.#outcome = named;
    this.#actionName = Uint8Array.prototype.slice.call(memory.bytes, start, end);
    return named;
  }
}

function isSame(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length || to === from) return false;
  for (let at = 0; at < other.length; at += 1) if (bytes[from + at] !== other[at]) return false;
  return true;
}
