/** The events of a file: a newEvent is given once, by the first row of its event; rows that describe it differently are told. */

import type { FieldName } from "../actions/fields.ts";
import { quoted } from "../actions/text.ts";
import type { FileFinding } from "./file-finding.ts";
import type { MappingRule } from "./rules.ts";
import type { Read, Scope } from "./scope.ts";

/** What a row says about its event: the columns that its newEvent is made of, and what they mean, field by field. */
export interface EventRules {
  readonly cells: readonly Read[];
  readonly fields: (scope: Scope) => readonly (readonly [FieldName, string])[];
}

interface Event {
  /** What the latest row's columns say. */
  readonly cells: string[];
  /** For each field the first row that fills it. */
  readonly fields: Map<FieldName, { readonly value: string; readonly line: number }>;
}

/** The most differences that are reported; each is about one field of one event. */
const MOST_TOLD = 100;

export class ToldEvents {
  /** Those whose newEvent was given. */
  readonly given = new Set<string>();
  readonly #events = new Map<string, Event>();
  readonly #differences = new Map<string, FileFinding & { readonly line: number; readonly field: FieldName }>();

  /** Notes what a row says about its event, whichever row gives the newEvent. */
  see(eventId: string, rules: EventRules, scope: Scope): void {
    if (rules.cells.length === 0) return;
    const { findings } = scope;
    scope.findings = [];
    let event = this.#events.get(eventId);
    if (event === undefined) {
      event = { cells: [], fields: new Map() };
      this.#events.set(eventId, event);
    }
    if (noteCells(event.cells, rules.cells, scope)) this.#compare(eventId, event, rules.fields(scope), scope.line);
    scope.findings = findings;
  }

  #compare(eventId: string, event: Event, said: readonly (readonly [FieldName, string])[], line: number): void {
    for (const [field, value] of said) {
      const first = event.fields.get(field);
      if (first === undefined) event.fields.set(field, { value, line });
      const key = JSON.stringify([eventId, field]);
      if (first === undefined || first.value === value || this.#differences.has(key)) continue;
      this.#differences.set(key, {
        rule: "event-told-differently" satisfies MappingRule,
        line,
        field,
        value,
        message: `Line ${first.line} says ${quoted(first.value, 60)} about the event ${quoted(eventId, 60)}, but this row says ${quoted(value, 60)}. The first row counts.`,
        hint: "If the later one is right, correct the export or leave the first out with when; if they are two events, give each its own eventId.",
      });
    }
  }

  findings(): readonly FileFinding[] {
    return [...this.#differences.values()]
      .sort((one, other) => one.line - other.line || (one.field < other.field ? -1 : 1))
      .slice(0, MOST_TOLD);
  }
}

/** Whether the columns say something else than before, which is noted. */
function noteCells(before: string[], cells: readonly Read[], scope: Scope): boolean {
  let isNew = false;
  for (let at = 0; at < cells.length; at += 1) {
    const text = cells[at]?.(scope) ?? "";
    if (before[at] === text) continue;
    before[at] = text;
    isNew = true;
  }
  return isNew;
}
