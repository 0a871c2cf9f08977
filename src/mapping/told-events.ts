/** Rows of one event that describe it differently: its newEvent is given once, by the first of them. */

import type { FieldName } from "../actions/fields.ts";
import { quoted } from "../actions/text.ts";
import type { FileFinding } from "../map/file-finding.ts";
import type { MappingRule } from "../map/rules.ts";

interface Telling {
  readonly value: string;
  readonly line: number;
}

type EventFields = readonly (readonly [FieldName, string])[];

/** The most differences that are reported; each is about one field of one event. */
const MOST_TOLD = 100;

export function watchEvents() {
  /** Of each event what the latest row's columns say, and for each field the first row that fills it. */
  const events = new Map<string, { cells: string | undefined; readonly fields: Map<FieldName, Telling> }>();
  const differences = new Map<string, FileFinding & { readonly line: number; readonly field: FieldName }>();
  const compare = (eventId: string, field: FieldName, first: Telling, { value, line }: Telling): void => {
    const key = JSON.stringify([eventId, field]);
    if (first.value === value || differences.has(key)) return;
    differences.set(key, {
      rule: "event-told-differently" satisfies MappingRule,
      line,
      field,
      value,
      message: `Line ${first.line} says ${quoted(first.value, 60)} about the event ${quoted(eventId, 60)}, but this row says ${quoted(value, 60)}. The first row counts.`,
      hint: "If the later one is right, correct the export or leave the first out with when; if they are two events, give each its own eventId.",
    });
  };
  return {
    /** `cells` is what the row's columns say; `read` gives what they mean, and is called only where the cells are new. */
    see(eventId: string, line: number, cells: string, read: () => EventFields): void {
      let event = events.get(eventId);
      if (event === undefined) {
        event = { cells: undefined, fields: new Map() };
        events.set(eventId, event);
      }
      if (event.cells === cells) return;
      event.cells = cells;
      for (const [field, value] of read()) {
        const first = event.fields.get(field);
        if (first === undefined) event.fields.set(field, { value, line });
        else compare(eventId, field, first, { value, line });
      }
    },
    findings: (): readonly FileFinding[] =>
      [...differences.values()]
        .sort((one, other) => one.line - other.line || (one.field < other.field ? -1 : 1))
        .slice(0, MOST_TOLD),
  };
}
