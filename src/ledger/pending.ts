import type { ActionData } from "../actions/actions.ts";
import type { AskedAt } from "./row-places.ts";

/**
 * What an earlier run may still send, or may have sent without an answer, or what it was told was accepted and has not merged yet,
 * since it was killed or is still at it. No other run sends it.
 */
export interface Pending {
  /** By identity (hex), in the order of the plan. */
  readonly deeds: ReadonlyMap<string, readonly PendingDeed[]>;
  /** Tickets (as `ticketKey` names them) and events of which an action is pending, with the run that holds it. */
  readonly tickets: ReadonlyMap<string, string>;
  readonly newEvents: ReadonlyMap<string, string>;
  /** Events of which an update is pending. */
  readonly updatedEvents: ReadonlySet<string>;
  /**
   * Of these, what nothing may be planned behind: nobody knows what became of it, or when it is sent; or what it did is not among
   * events and tickets yet. What an open run of a shared ledger holds is sent before anything that is planned now.
   */
  readonly held: Readonly<Record<"tickets" | "newEvents" | "updatedEvents", ReadonlySet<string>>>;
  /** By run that holds some of these: how it stands. */
  readonly standings: ReadonlyMap<string, Standing>;
}

/**
 * How a run stands beside what is planned now. `ahead`: it is sent before, or has been. `waits`: a person has to decide before
 * more of it is sent. `closed`: it sends nothing more, and only a person's word decides about what it has in doubt.
 */
export const STANDINGS = ["ahead", "waits", "closed"] as const;
export type Standing = (typeof STANDINGS)[number];

export interface PendingDeed extends AskedAt {
  readonly run: string;
  /** Digest (hex) of what it says. */
  readonly content: string;
  /** Kept where the identity alone does not say which deed it is. */
  readonly data: ActionData | undefined;
  /** The service has accepted it, and only the tables of deeds do not have that yet. */
  readonly isTaken: boolean;
}

export const NOTHING_PENDING: Pending = {
  deeds: new Map(),
  tickets: new Map(),
  newEvents: new Map(),
  updatedEvents: new Set(),
  held: { tickets: new Set(), newEvents: new Set(), updatedEvents: new Set() },
  standings: new Map(),
};
