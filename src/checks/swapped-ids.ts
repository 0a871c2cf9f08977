/** Columns that stand in each other's place: a sale whose two ids are those of an accepted one, the other way round. */

import { about } from "../actions/problem.ts";
import type { RowFindings } from "./row-findings.ts";

/** What it asks of the environment (`KnownState`). */
interface KnownHolders {
  hasTickets(): boolean;
  ticket(ref: { readonly ticketId: string }): { readonly holder?: string } | undefined;
}

/** Columns are swapped in all rows of a file or in none: so many new sales tell, and a large night pays for no more. */
const MOST_LOOKED_AT = 1000;

export class SwappedIds {
  readonly #knownState: KnownHolders;
  readonly #row: RowFindings;
  /** How many more sales are looked at; once one was found, all. */
  #left = MOST_LOOKED_AT;

  constructor(knownState: KnownHolders, row: RowFindings) {
    this.#knownState = knownState;
    this.#row = row;
  }

  /** Whether the next sale is looked at. */
  isLooking(): boolean {
    return this.#left > 0 && this.#knownState.hasTickets();
  }

  /** Whether a new sale is an accepted one, the other way round. */
  areSwapped(ticketId: string, userId: string): boolean {
    if (!this.isLooking()) return false;
    this.#left -= 1;
    if (ticketId === userId || this.#knownState.ticket({ ticketId: userId })?.holder !== ticketId) return false;
    this.#left = Number.POSITIVE_INFINITY;
    return true;
  }

  check(ticketId: string, userId: string): void {
    if (!this.areSwapped(ticketId, userId)) return;
    this.#row.report("ids-swapped", () => ({
      ...about("userId", userId),
      message:
        "The userId of this sale is the ticketId of an accepted one, and its ticketId is the userId of that one: the two columns look swapped.",
      hint: "Check what each column holds: as they are, sales that were accepted would be sent again as new tickets. If ticketId and userId are different ids that may look alike, say rules: {ids-swapped: off} in the config.",
    }));
  }
}
