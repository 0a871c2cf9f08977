/** What a stretch of rows comes to: plain data that a worker can hand over, numbered from its own beginning. */

import type { Action, ActionName } from "../../actions/actions.ts";
import { DIGEST_BYTES, digestHex, identityText, ownKeyText, textsOf } from "../../actions/identity.ts";
import type { Seen } from "../../mapping/mapper.ts";
import type { OrderKey } from "../candidates/facts.ts";
import { type CandidateBytes, FACTS_BYTES, writeFacts, writeSizes } from "../candidates/facts.ts";
import { CONTENT_BYTES, RECORD_BYTES, writeOrigin } from "../files/index-file.ts";
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

/** An action that `tickets:actions` leaves out of its row: it is done with. */
export interface LeftOut {
  /** Of the source's key, hexadecimal. */
  readonly identity: string;
  readonly action: Action;
}

/** Where an action comes from. */
interface Origin {
  readonly input: number;
  readonly line: number;
  readonly row: number;
  /** See `IndexRecord`. */
  readonly nth: number;
}

/** Collects candidates as the bytes of their files, in buffers that are used again. */
export interface CandidateWriter {
  /** @param key of the source itself, which says which deed it is. */
  add(action: Action, origin: Origin, key: string | undefined): void;
  readonly count: number;
  /** Gives everything and begins anew. */
  take(): CandidateBytes;
}

/**
 * @param keeps - `take` gives memory of its own, which can be handed to another thread; else it gives what is written
 *   over by the next candidates.
 */
export function createCandidateWriter(keeps: boolean): CandidateWriter {
  const lines = growing(256 * 1024, keeps);
  const index = growing(64 * 1024, keeps);
  const facts = growing(64 * 1024, keeps);
  const texts = growing(64 * 1024, keeps);
  let count = 0;
  /** Identities of the row's actions that have a key. */
  const ofRow = { row: 0, identities: new Set<string>() };
  const isFurther = (row: number, identity: string): boolean => {
    if (ofRow.row !== row) {
      ofRow.row = row;
      ofRow.identities.clear();
    }
    const isKnown = ofRow.identities.has(identity);
    ofRow.identities.add(identity);
    return isKnown;
  };
  return {
    add(action, { input, line, row, nth }, key) {
      const recordAt = index.reserve(RECORD_BYTES);
      const buffer = index.buffer();
      const keyed = key !== undefined;
      const identity = digestHex(keyed ? ownKeyText(action, key) : identityText(action));
      writeOrigin(buffer, recordAt, {
        input,
        line,
        row,
        nth,
        action: action.action,
        untimed: action.data.orderTime == null,
        keyed,
        further: keyed && nth > 0 && isFurther(row, identity),
      });
      buffer.write(identity, recordAt + RECORD_BYTES - CONTENT_BYTES - DIGEST_BYTES, DIGEST_BYTES, "hex");
      const { json, content } = textsOf(action);
      buffer.write(digestHex(content), recordAt + RECORD_BYTES - CONTENT_BYTES, CONTENT_BYTES, "hex");
      const factsAt = facts.reserve(FACTS_BYTES);
      const textBytes = texts.text(writeFacts(facts.buffer(), factsAt, action));
      writeSizes(facts.buffer(), factsAt, lines.text(`${json}\n`), textBytes);
      count += 1;
    },
    get count() {
      return count;
    },
    take() {
      count = 0;
      ofRow.row = 0;
      return { lines: lines.take(), index: index.take(), facts: facts.take(), texts: texts.take() };
    },
  };
}

/** Where `data` stands in a line of the plan. */
export function dataOfLine(line: Buffer, action: ActionName): string {
  return line.toString("utf8", `{"action":"${action}","data":`.length, line.length - 1);
}

function growing(first: number, keeps: boolean) {
  let bytes = Buffer.allocUnsafe(first);
  let used = 0;
  const need = (size: number): void => {
    if (used + size <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, used + size));
    bytes.copy(larger, 0, 0, used);
    bytes = larger;
  };
  return {
    buffer: () => bytes,
    /** Makes room for so many bytes; where they begin. */
    reserve(size: number): number {
      need(size);
      used += size;
      return used - size;
    },
    text(text: string): number {
      // A UTF-16 code unit takes three bytes of UTF-8 at the most.
      need(text.length * 3);
      const size = bytes.write(text, used, "utf8");
      used += size;
      return size;
    },
    take(): Buffer {
      const taken = keeps ? Buffer.allocUnsafeSlow(used) : bytes.subarray(0, used);
      if (keeps) bytes.copy(taken, 0, 0, used);
      used = 0;
      return taken;
    },
  };
}
