/**
 * A lane that its sender holds where other machines may take it. What the sender begins is committed together with a look at
 * whether the lane is still its own, and with the time by which the request is over: by the database's clock for others, by
 * its own clock for itself.
 */

import { markSending } from "../ledger/attempts.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type Claim,
  isHeld,
  isUnderWay,
  keepLateAnswer,
  type LateAnswer,
  limitAttempt,
  maySend,
  putOff,
  takeTurn,
} from "../ledger/postgres/lane-claims.ts";
import type { ChunkRecord } from "../ledger/runs.ts";
import { type Instant, instant, msSince } from "./instant.ts";
import { MAX_RETRY_AFTER_MS } from "./retry.ts";

/** What came of the wish to send a chunk. */
export type Intent =
  | {
      readonly kind: "begun";
      /** Counts the attempts at the chunk, from 1. */
      readonly attempt: number;
      /** How long the request may still take. Undefined where nobody else waits for its end. */
      readonly leftMs?: () => number;
      /** So much time has gone since the intent that not one byte may leave any more. */
      readonly isTooLate?: () => boolean;
    }
  /** All machines together have sent enough for now. */
  | { readonly kind: "early"; readonly waitMs: number }
  /** The run waits for a person, or was ended, as another machine found. */
  | { readonly kind: "halted" }
  /** Another worker has claimed the lane. */
  | { readonly kind: "taken over" };

export interface LaneHold {
  /** Part of a transaction: nobody has taken the lane over. */
  readonly isHeld: () => boolean;
  /** Part of a transaction: begins an attempt, unless something is in its way. */
  readonly begin: (chunk: ChunkRecord, at: string) => Intent;
  /** Part of a transaction: nobody has given the attempt up, so that what its answer says counts. */
  readonly isUnderWay: (chunk: ChunkRecord, attempt: number) => boolean;
  /** Part of a transaction: the attempt was given up before. What its answer says is kept for the person who decides. */
  readonly keepLate: (chunk: ChunkRecord, attempt: number, late: LateAnswer) => void;
  /** No machine sends before so many milliseconds have gone. */
  readonly putOff: (ms: number) => void;
}

/** How long after the end of its request a vanished worker's chunk is left alone: half of it is for commits that take long. */
export const marginOf = (timeoutMs: number): number => Math.min(10_000, Math.max(2000, timeoutMs / 2));

export function holdLane(
  ledger: Ledger,
  claim: Claim,
  { timeoutMs, rate }: { readonly timeoutMs: number; readonly rate?: number | undefined },
): LaneHold {
  const marginMs = marginOf(timeoutMs);
  const leftSince = (asked: Instant): number => timeoutMs + marginMs / 2 - msSince(asked);
  return {
    isHeld: () => isHeld(ledger, claim),
    begin: (chunk, at) => {
      // Before the database looks at its clock, so the request is over here before it is over there.
      const asked = instant();
      if (!isHeld(ledger, claim)) return { kind: "taken over" };
      if (!maySend(ledger, claim.runNo)) return { kind: "halted" };
      const waitMs = takeTurn(ledger, chunk.count, rate, MAX_RETRY_AFTER_MS);
      if (waitMs > 0) return { kind: "early", waitMs };
      const attempt = markSending(ledger, chunk, at);
      limitAttempt(ledger, chunk, attempt, claim, timeoutMs + marginMs);
      const leftMs = (): number => leftSince(asked);
      return { kind: "begun", attempt, leftMs, isTooLate: () => leftMs() < timeoutMs };
    },
    isUnderWay: (chunk, attempt) => isUnderWay(ledger, chunk, attempt, claim),
    keepLate: (chunk, attempt, late) => keepLateAnswer(ledger, claim, chunk, attempt, late),
    putOff: (ms) => putOff(ledger, ms),
  };
}
