/** What the rows of a file say of each event. */

import type { Draft } from "../actions/draft.ts";
import type { FileProblem } from "../actions/problem.ts";
import { placeText } from "../read/file-names.ts";
import type { MappingRule } from "../rules.ts";
import { quoted } from "../text.ts";

interface Said {
  readonly value: string;
  readonly line: number;
}

/** The most differences that are reported; each is about one field of one event. */
const MOST_REPORTED = 100;

/** A newEvent is given once, by the first row of its event. Rows that describe it differently are reported. */
export class Events {
  /** Those whose newEvent was given. */
  readonly given = new Set<string>();
  /** By event, for each field the first row that fills it. */
  readonly #described = new Map<string, Map<string, Said>>();
  readonly #differences = new Map<string, FileProblem & { readonly line: number }>();
  readonly #fileName: string;

  constructor(fileName: string) {
    this.#fileName = fileName;
  }

  /** Notes what a row says about its event, whichever row gives the newEvent. */
  see(eventId: string, draft: Draft, line: number): void {
    const described = this.#described.get(eventId) ?? new Map<string, Said>();
    this.#described.set(eventId, described);
    for (const { name: field, text } of draft.given) {
      const said = { value: text ?? draft.json(field), line };
      const first = described.get(field);
      if (first === undefined) described.set(field, said);
      else if (first.value !== said.value) this.#differ(eventId, field, first, said);
    }
  }

  #differ(eventId: string, field: string, first: Said, said: Said): void {
    const key = JSON.stringify([eventId, field]);
    if (this.#differences.has(key)) return;
    const [before, now, event] = [first.value, said.value, eventId].map((text) => quoted(text, 60));
    this.#differences.set(key, {
      rule: "event-described-differently" satisfies MappingRule,
      field,
      ...said,
      message: `${placeText({ source: this.#fileName, line: first.line })} says ${before} about the event ${event}, but this row says ${now}. The first row counts.`,
      hint: "If the later one is right, correct the export or leave the first out with when; if they are two events, give each its own eventId.",
    });
  }

  problems(): readonly FileProblem[] {
    return [...this.#differences.values()].sort((one, other) => one.line - other.line).slice(0, MOST_REPORTED);
  }
}
