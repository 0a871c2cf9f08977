/** The result of compiling some rows of a file, numbered from their own beginning. */

import type { CandidateBytes, OrderKey } from "../candidates/facts.ts";
import type { LeftOut } from "../candidates/rows-not-sent.ts";
import type { ProblemLog } from "../findings/problem-log.ts";

export interface Batch {
  readonly rows: number;
  readonly skipped: number;
  /** Skipped rows by reason, in order of first appearance. */
  readonly skipReasons: ReadonlyMap<string, number>;
  /** Rows that give their event and nothing else, by reason. */
  readonly eventOnlyReasons: ReadonlyMap<string, number>;
  readonly invalid: readonly BatchInvalid[];
  /** Bad rows whose mended version was accepted: neither invalid nor sent. */
  readonly mended: readonly BatchMended[];
  /** For JSON rows: the line of the first one with keys of rejects, and of the first one without. */
  readonly firstLines: { readonly rejects: number | undefined; readonly other: number | undefined };
  /** Rows from rejects files (from 1, within the batch), and which rejected rows they are. */
  readonly rejected: readonly BatchRejected[];
  /** What `tickets:actions` leaves out of rows, where a key of their source tells their deeds. */
  readonly leftOut: readonly { readonly row: number; readonly deeds: readonly LeftOut[] }[];
  /** Events that its valid rows register. */
  readonly newEvents: readonly string[];
  /** If asked for: the events that valid rows name for actions that carry none. */
  readonly rowEvents: readonly { readonly row: number; readonly eventId: string }[];
  readonly candidates: number;
  /** What is appended to the candidate files; rows are counted from 1 with the batch's first. */
  readonly bytes: CandidateBytes;
  readonly problems: Pick<ProblemLog, "kept" | "tallies">;
  /** What follows its last row could not be read as rows. */
  readonly isUnreadable: boolean;
}

/** A row of the batch that is not sent. */
export interface BatchInvalid {
  /** From 1, within the batch. */
  readonly row: number;
  readonly line: number;
  readonly reason: string;
  /** How many candidates of the batch stand before it. */
  readonly before: number;
  /** What others may depend on. */
  readonly attempted: readonly OrderKey[];
}

/** A row of the batch whose mended version was accepted. It is done with, unless something of it is open. */
export interface BatchMended extends Omit<BatchInvalid, "reason"> {
  /** Its key (`tickets:row`). */
  readonly key: string;
  /** What it gives now in addition to what was accepted, and why that is not sent. */
  readonly open: Pick<BatchInvalid, "reason" | "attempted"> | undefined;
}

/** A row from a rejects file of which something may be sent. */
interface BatchRejected {
  readonly row: number;
  /** Its key (`tickets:row`). */
  readonly key: string;
  readonly isMended: boolean;
  /** What it gives, as `tickets:actions` names it. */
  readonly actions: readonly string[];
  /** It names none of them. */
  readonly isWhole: boolean;
}
