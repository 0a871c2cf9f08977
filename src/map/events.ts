/** The events of a file: a newEvent is given once, by the first row of its event. Rows that describe it differently are reported. */

import type { FieldName } from "../actions/fields.ts";
import { placeText } from "../actions/problem.ts";
import { quoted } from "../text.ts";
import type { FileFinding, MappingRule } from "./rules.ts";
import type { Read, Scope } from "./scope.ts";

/** What a row says about its event: the columns that its newEvent is made of, and what they mean, field by field. */
export interface EventRules {
  readonly cells: readonly Read[];
  readonly fields: (scope: Scope) => readonly (readonly [FieldName, string])[];
}

interface Described {
  /** The columns of the latest row. */
  cells: string;
  /** For each field the first row that fills it. */
  readonly fields: Map<FieldName, { readonly value: string; readonly line: number }>;
}

/** The most differences that are reported; each is about one field of one event. */
const MOST_REPORTED = 100;

export class Events {
  /** Those whose newEvent was given. */
  readonly given = new Set<string>();
  readonly #described = new Map<string, Described>();
  readonly #differences = new Map<string, FileFinding & { readonly line: number }>();
  readonly #fileName: string;

  constructor(fileName: string) {
    this.#fileName = fileName;
  }

  /** Notes what a row says about its event, whichever row gives the newEvent. */
  see(eventId: string, rules: EventRules, scope: Scope): void {
    if (rules.cells.length === 0) return;
    const { findings, line } = scope;
    scope.findings = []; // what can't be read is reported by the row that gives the newEvent
    const cells = rules.cells.map((read) => read(scope)).join("\0");
    const event = this.#described.get(eventId) ?? { cells: "", fields: new Map() };
    if (event.cells !== cells) {
      this.#described.set(eventId, event);
      event.cells = cells;
      for (const [field, value] of rules.fields(scope)) this.#compare(eventId, event, field, { value, line });
    }
    scope.findings = findings;
  }

  #compare(eventId: string, { fields }: Described, field: FieldName, said: { value: string; line: number }): void {
    const first = fields.get(field);
    const key = JSON.stringify([eventId, field]);
    if (first === undefined) fields.set(field, said);
    if (first === undefined || first.value === said.value || this.#differences.has(key)) return;
    const [before, now, event] = [first.value, said.value, eventId].map((text) => quoted(text, 60));
    this.#differences.set(key, {
      rule: "event-described-differently" satisfies MappingRule,
      field,
      ...said,
      message: `${placeText({ source: this.#fileName, line: first.line })} says ${before} about the event ${event}, but this row says ${now}. The first row counts.`,
      hint: "If the later one is right, correct the export or leave the first out with when; if they are two events, give each its own eventId.",
    });
  }

  findings(): readonly FileFinding[] {
    return [...this.#differences.values()].sort((one, other) => one.line - other.line).slice(0, MOST_REPORTED);
  }
}
