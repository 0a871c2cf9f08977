import type { Finding } from "../actions/problem.ts";
import { completeLength } from "./encoding.ts";
import type { Row } from "./row.ts";
import type { ReaderRule } from "./rules.ts";

/**
 * Turns the bytes of one input into rows, fed block by block. The blocks are valid UTF-8 without a byte order mark, cut
 * anywhere between characters. Nothing of a block is kept by reference, and at most `MAX_ROW_BYTES` and one block are
 * held in memory.
 */
export interface RowParser {
  /** The rows that end in this block. */
  take(block: Buffer): Row[];
  /** The rows that end with the input. */
  end(): Row[];
  /** Line ends in all bytes taken so far. */
  readonly lineEnds: number;
  /** After a malformed row whose borders are not known: nothing more will come. */
  readonly stopped: boolean;
}

/** A row or line longer than this (1 MiB, in UTF-8) is a problem instead of a row. */
export const MAX_ROW_BYTES = 1024 * 1024;

/** As much of a malformed row is kept, for reports and the rejects file. */
export const MAX_RAW_BYTES = 64 * 1024;

export const EMPTY = Buffer.alloc(0);

/** The bytes as text, at most the first 64 KiB of them. */
export function rawText(bytes: Buffer): string {
  if (bytes.length <= MAX_RAW_BYTES) return bytes.toString();
  const head = bytes.subarray(0, MAX_RAW_BYTES);
  return head.toString("utf8", 0, completeLength(head));
}

export interface ReaderFinding extends Finding {
  readonly rule: ReaderRule;
}

/** `cells` are those of a row that has fewer than the header. */
export function malformed(
  line: number,
  text: string,
  bordersKnown: boolean,
  finding: ReaderFinding,
  cells?: readonly string[],
): Row {
  return { kind: "malformed", line, text, findings: [finding], bordersKnown, ...(cells !== undefined && { cells }) };
}

export function rowTooLong(line: number, head: Buffer, bordersKnown: boolean): Row {
  return malformed(line, rawText(head), bordersKnown, {
    rule: "row-too-long",
    message: `The row is longer than 1 MiB${bordersKnown ? "" : "; nothing after its beginning was read"}.`,
    hint: "Look for a quote that never closes, or check that it is the right file.",
  });
}
