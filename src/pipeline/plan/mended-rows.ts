/** Rows of an input that are known: bad ones of which a mended one was accepted, and those of a rejects file that were mended. */

import type { Row } from "../../mapping/row.ts";
import { digestOfKey, keyOf, type RowDigester, sizeOfKey } from "../../mapping/row-digest.ts";

/** What is known of a row. */
type RowMark =
  | { readonly kind: "mended"; readonly key: string }
  /** It may be mended; that depends on the rows before it in the input. */
  | { readonly kind: "unsure" }
  /** It stands in a rejects file of this input already: two nights' rejects hold it, and it is one row. */
  | { readonly kind: "repeated" }
  /** It was mended, and this is the key of what it was. */
  | { readonly kind: "mends"; readonly key: string };

/** Looks at all rows of an input, in order. */
export interface RowMarks {
  of(row: Row, digester: RowDigester): RowMark | undefined;
}

/**
 * @param keys of the rows of which a mended one was accepted.
 * @param sees "all" where every row of the input is shown, in order; "some" in a worker, which can only tell that a row
 *   may be one of them.
 */
export function createRowMarks(keys: ReadonlySet<string>, sees: "all" | "some"): RowMarks {
  const digests = new Set([...keys].map(digestOfKey));
  const sizes = new Set([...keys].map(sizeOfKey));
  const numbers = createRowNumbers();
  const fromRejects = new Set<string>();
  return {
    of(row, digester) {
      // Behind it more may be lost than the row itself.
      if (row.kind === "malformed" && !row.bordersKnown) return undefined;
      const written = digester.written(row);
      const isCandidate = keys.size > 0 && sizes.has(digester.size(row));
      if (!isCandidate && written === undefined) return undefined;
      if (written !== undefined) {
        if (sees === "some") return { kind: "unsure" };
        if (fromRejects.has(written)) return { kind: "repeated" };
        fromRejects.add(written);
      }
      const digest = digester.digest(row);
      if (digests.has(digest)) {
        if (sees === "some") return { kind: "unsure" };
        const key = numbers.key(digest, written);
        if (keys.has(key)) return { kind: "mended", key };
      }
      // One that is as it was is told by what it says itself; nothing needs to be remembered of it.
      return written === undefined || digestOfKey(written) === digest ? undefined : { kind: "mends", key: written };
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
