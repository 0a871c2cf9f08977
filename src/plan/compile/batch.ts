/** What a stretch of rows comes to: plain data that a worker can hand over, numbered from its own beginning. */

import type { Seen } from "../../mapping/mapper.ts";
import type { CandidateBytes, OrderKey } from "../candidates/facts.ts";
import type { LeftOut } from "../candidates/rows-not-sent.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import type { PublicValues } from "./public-values.ts";

export interface Batch {
  readonly rows: number;
  readonly skipped: number;
  /** Skipped rows by reason, in order of first appearance. */
  readonly skipReasons: ReadonlyMap<string, number>;
  /** Rows that give their event and nothing else, by reason. */
  readonly eventOnlyReasons: ReadonlyMap<string, number>;
  readonly invalid: readonly BatchInvalid[];
  /** Bad rows of which a mended one was accepted: neither invalid nor sent. */
  readonly mended: readonly BatchMended[];
  /** Of rows of JSON: the lines of the first that has keys of rejects, and of the first that has none. */
  readonly firstLines: { readonly rejects: number | undefined; readonly other: number | undefined };
  /** Rows from rejects files (from 1, within the batch), and what they are there. */
  readonly rejected: readonly BatchRejected[];
  /** Of rows of which `tickets:actions` leaves a part out, where a key of their source tells them. */
  readonly leftOut: readonly { readonly row: number; readonly deeds: readonly LeftOut[] }[];
  /** Which rows are mended depends on the rows before, which a worker does not know. */
  readonly isUnsure: boolean;
  /** Events that its valid rows register. */
  readonly newEvents: readonly string[];
  /** Where they are asked for: the events that valid rows name for actions that carry none. */
  readonly rowEvents: readonly { readonly row: number; readonly eventId: string }[];
  readonly candidates: number;
  /** What is appended to the candidate files; rows are counted from 1 with the batch's first. */
  readonly bytes: CandidateBytes;
  readonly problems: Pick<ProblemLog, "kept" | "tallies">;
  /** What its rows show of the file. */
  readonly seen: Seen | undefined;
  /** What of its rows becomes public and was not told of an earlier batch. */
  readonly publicValues: PublicValues;
  /** What follows its last row could not be read as rows. */
  readonly isUnreadable: boolean;
}

/** A row of the batch that is not sent. */
export interface BatchInvalid {
  /** From 1, within the batch. */
  readonly row: number;
  readonly line: number;
  readonly reason: string;
  /** Number of candidates of the batch that it stands behind. */
  readonly before: number;
  /** What others may depend on. */
  readonly attempted: readonly OrderKey[];
}

/** A row of the batch of which a mended one was accepted. It is done with, unless something of it is open. */
export interface BatchMended extends Omit<BatchInvalid, "reason"> {
  /** Its key (`tickets:row`). */
  readonly key: string;
  /** What it gives now beside what was accepted, and why it is not sent. */
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
