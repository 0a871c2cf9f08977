/** Rows of an input that are known: bad ones of which a mended one was accepted, and those of a rejects file that were mended. */

import type { Row } from "../../mapping/row.ts";
import { digestOfKey, keyOf, type RowDigester, sizeOfKey } from "../../mapping/row-digest.ts";
import { NO_REJECTED_ROWS, type RejectedRows } from "../ledger/rejected-rows.ts";

/** What is known of a row. */
type RowMark =
  | { readonly kind: "mended"; readonly key: string }
  /** It may be mended; that depends on the rows before it in the input. */
  | { readonly kind: "unsure" }
  /** It stands in a rejects file of this input already: two nights' rejects hold it, and it is one row. */
  | { readonly kind: "repeated" }
  /** It comes from a rejects file. */
  | RejectedMark;

interface RejectedMark {
  readonly kind: "rejected";
  /** Its key there. */
  readonly key: string;
  /** It says something else than it did. */
  readonly isMended: boolean;
  /** What it was read as when it was rejected; undefined where that is not known. */
  readonly readAs: string | undefined;
  /** Line of an earlier row of the input that has the same key and says something else. */
  readonly twin: number | undefined;
}

/** Looks at all rows of an input, in order. */
export interface RowMarks {
  of(row: Row, digester: RowDigester): RowMark | undefined;
}

/**
 * @param keys of the rows of which a mended one was accepted.
 * @param sees "all" where every row of the input is shown, in order; "some" in a worker, which can only tell that a row
 *   may be one of them.
 */
export function createRowMarks(
  keys: ReadonlySet<string>,
  sees: "all" | "some",
  known: Pick<RejectedRows, "firstRejected"> = NO_REJECTED_ROWS,
): RowMarks {
  const digests = new Set([...keys].map(digestOfKey));
  const sizes = new Set([...keys].map(sizeOfKey));
  const numbers = createRowNumbers();
  const fromRejects = new Map<string, { readonly line: number; readonly digest: string }>();
  return {
    of(row, digester) {
      // Behind it more may be lost than the row itself.
      if (row.kind === "malformed" && !row.bordersKnown) return undefined;
      const written = digester.written(row);
      const isCandidate = keys.size > 0 && sizes.has(digester.size(row));
      if (!isCandidate && written === undefined) return undefined;
      if (written !== undefined && sees === "some") return { kind: "unsure" };
      const digest = digester.digest(row);
      const first = written === undefined ? undefined : fromRejects.get(written);
      if (first?.digest === digest) return { kind: "repeated" };
      if (written !== undefined && first === undefined) fromRejects.set(written, { line: row.line, digest });
      if (digests.has(digest)) {
        if (sees === "some") return { kind: "unsure" };
        const key = numbers.key(digest, written);
        if (keys.has(key)) return { kind: "mended", key };
      }
      if (written === undefined) return undefined;
      const readAs = known.firstRejected(written)?.readAs;
      return { kind: "rejected", key: written, isMended: digestOfKey(written) !== digest, readAs, twin: first?.line };
    },
  };
}

/** Numbers equal rows over all files of an input, in the order in which they are read. */
export interface RowNumbers {
  /** @param written what the row itself has in `tickets:row`. */
  key(digest: string, written: string | undefined): string;
}

export function createRowNumbers(): RowNumbers {
  const seen = new Map<string, number>();
  return {
    key(digest, written) {
      const nth = (seen.get(digest) ?? 0) + 1;
      seen.set(digest, nth);
      return written !== undefined && digestOfKey(written) === digest ? written : keyOf(digest, nth);
    },
  };
}
