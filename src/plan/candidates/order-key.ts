/** What of an action decides where it stands. */

import type { ActionName } from "../../actions/actions.ts";
import { U64_MAX } from "../../actions/formats.ts";

export interface OrderKey {
  readonly action?: ActionName | undefined;
  readonly data: {
    readonly eventId?: unknown;
    readonly ticketId?: unknown;
    readonly nftId?: unknown;
    readonly orderTime?: unknown;
  };
  /** Of one that is not sent: which of the actions of its kind in the row it is, from 1; 0 for the only one. */
  readonly nth?: number;
}

export function isTime(value: unknown): value is number | bigint {
  return typeof value === "bigint"
    ? value >= 0n && value <= U64_MAX
    : typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
