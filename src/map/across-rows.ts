/** What the rows of a file show together: what they say of each event, and a rule that makes one ticket of all of them. */

import { type ActionName, actionSpec } from "../actions/actions.ts";
import type { Draft } from "../actions/draft.ts";
import type { FieldName } from "../actions/fields.ts";
import type { FileProblem } from "../actions/problem.ts";
import { lineText } from "../read/file-names.ts";
import type { MappingRule } from "../rules.ts";
import { number, quoted } from "../text.ts";

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
    const [before, event] = [first.value, eventId].map((text) => quoted(text, 60));
    this.#differences.set(key, {
      rule: "event-described-differently" satisfies MappingRule,
      field,
      ...said,
      message: `The event ${event} has ${before} in ${lineText(this.#fileName, first.line)}, and the first row counts.`,
      hint: "If the later one is right, correct the export or leave the first out with when; if they are two events, give each its own eventId.",
    });
  }

  problems(): readonly FileProblem[] {
    return [...this.#differences.values()].sort((one, other) => one.line - other.line).slice(0, MOST_REPORTED);
  }
}

const IDS = ["ticketId", "nftId"] as const satisfies readonly FieldName[];

/** So many rows of one ticket are no chance: fewer of an action that a ticket has once. */
const LEAST_ROWS = 10;
const LEAST_ROWS_OF_ONCE = 3;

/** The rows that give an action for one and the same ticket. */
interface OneTicket {
  readonly field: FieldName;
  readonly id: string;
  /** Of the first row. */
  readonly text: string;
  rows: number;
  /** Some row says something else than the first. */
  differs: boolean;
}

/** Notices an id that is a constant, or a column that is the same in all rows. */
export class OneTicketWatch {
  /** By action; undefined once it has been given for several tickets. */
  readonly #seen = new Map<ActionName, OneTicket | undefined>();

  /** @param text of the row that gives the actions. */
  see(drafts: readonly Draft[], text: string): void {
    for (const draft of drafts) {
      const { action } = draft;
      const known = this.#seen.get(action);
      if (known === undefined && this.#seen.has(action)) continue;
      const field = IDS.find((id) => draft.text(id) !== undefined);
      const id = field && draft.text(field);
      if (field === undefined || id === undefined) continue;
      if (known === undefined) this.#seen.set(action, { field, id, text, rows: 1, differs: false });
      else if (known.id !== id) this.#seen.set(action, undefined);
      else {
        known.rows += 1;
        known.differs ||= known.text !== text;
      }
    }
  }

  problems(): readonly FileProblem[] {
    return [...this.#seen].flatMap(([action, one]) => {
      const least = actionSpec(action).mark === "none" ? LEAST_ROWS_OF_ONCE : LEAST_ROWS;
      if (one === undefined || !one.differs || one.rows < least) return [];
      const { field, id, rows } = one;
      return {
        rule: "value-looks-constant" satisfies MappingRule,
        field,
        value: id,
        message: `All ${number(rows)} rows that give ${action} are of one ticket.`,
        hint: `Name the column that tells tickets apart in the rule of ${field}. If the file is about one ticket, set this rule to warn.`,
      };
    });
  }
}
