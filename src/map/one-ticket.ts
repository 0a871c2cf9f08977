/** A rule that makes one ticket of all rows of a file: a constant for an id, or a column that is the same throughout. */

import { type ActionName, actionSpec } from "../actions/actions.ts";
import type { Draft } from "../actions/draft.ts";
import type { FieldName } from "../actions/fields.ts";
import { number } from "../text.ts";
import type { FileProblem, MappingRule } from "./rules.ts";

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
