/** Rows of one event that describe it differently: its newEvent is given once, by the first of them. */

import type { FieldName } from "../actions/fields.ts";
import { quoted } from "../actions/text.ts";
import type { FileFinding } from "./file-finding.ts";
import type { MappingRule } from "./rules.ts";

/** What the rows since the last look say of an event. Plain data. */
export interface ToldEvent {
  readonly eventId: string;
  /** For each field the first row that fills it, and the first that fills it otherwise. */
  readonly fields: readonly ToldField[];
}

interface ToldField {
  readonly field: FieldName;
  readonly first: Telling;
  readonly other: Telling | undefined;
}

interface Telling {
  readonly value: string;
  readonly line: number;
}

type EventFields = readonly (readonly [FieldName, string])[];

/** The most differences that are reported; each is about one field of one event. */
const MOST_TOLD = 100;

export function watchEvents() {
  const fresh = new Map<string, { cells: string; readonly fields: Map<FieldName, ToldField> }>();
  const known = new Map<string, Map<FieldName, Telling>>();
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
      hint: "If the later one is right, mend the export or leave the first out with when; if they are two events, give each its own eventId.",
    });
  };
  return {
    /** `cells` is what the row's columns say; `read` gives what they mean, and is called only where the cells are new. */
    see(eventId: string, line: number, cells: string, read: () => EventFields): void {
      let entry = fresh.get(eventId);
      if (entry?.cells === cells) return;
      if (entry === undefined) {
        entry = { cells, fields: new Map() };
        fresh.set(eventId, entry);
      }
      entry.cells = cells;
      for (const [field, value] of read()) {
        const told = entry.fields.get(field);
        if (told === undefined) entry.fields.set(field, { field, first: { value, line }, other: undefined });
        else if (told.other === undefined && told.first.value !== value)
          entry.fields.set(field, { ...told, other: { value, line } });
      }
    },
    take(): readonly ToldEvent[] {
      const told = [...fresh].map(([eventId, { fields }]) => ({ eventId, fields: [...fields.values()] }));
      fresh.clear();
      return told;
    },
    join(told: readonly ToldEvent[]): void {
      for (const { eventId, fields } of told) {
        const before = known.get(eventId) ?? new Map<FieldName, Telling>();
        known.set(eventId, before);
        for (const { field, first, other } of fields) {
          const one = before.get(field) ?? first;
          before.set(field, one);
          compare(eventId, field, one, first);
          if (other !== undefined) compare(eventId, field, one, other);
        }
      }
    },
    // Sorted by row: which were joined first depends on where the file was cut.
    findings: (): readonly FileFinding[] =>
      [...differences.values()]
        .sort((one, other) => one.line - other.line || (one.field < other.field ? -1 : 1))
        .slice(0, MOST_TOLD),
  };
}
