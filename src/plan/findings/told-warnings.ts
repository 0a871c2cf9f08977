/** By what a warning is known again when a later run would tell it once more: its row and what it says, not where it stands. */

import { createHash } from "node:crypto";
import type { Problem } from "../../actions/problem.ts";
import type { Row } from "../../mapping/row.ts";

/** The memory of warnings, by their digests (hex). */
export interface ToldWarnings {
  /** Whether an earlier run told it. */
  was(digest: string): boolean;
  /** This run tells it. */
  note(digest: string): void;
}

export const digestOfTold = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);

/** What the row holds, for the `mark` of its problems; undefined where a problem is about the whole file. */
export function markOfRow(row: Row): string | undefined {
  switch (row.kind) {
    case "cells":
      return digestOfTold(["cells", ...row.cells]);
    case "object":
      return row.text === "" ? undefined : digestOfTold(["object", row.text]);
    case "malformed":
      return row.text === "" ? undefined : digestOfTold(["text", row.text]);
  }
}

/** One stands for all sales of an event. They are sent, so how many there are may differ. */
const OF_AN_EVENT = "event-not-registered";

/** One stands for all rows with some values, which may be lost for it: it is the same where the rows are the same. */
const OF_MARKED_ROWS: ReadonlySet<string> = new Set(["value-not-named", "value-near"]);

/** The digest of a warning about rows; undefined for what is wrong with the file of this night, or with the config. */
export function digestOfWarning({ rule, field, value, message, mark }: Problem): string | undefined {
  if (rule === OF_AN_EVENT)
    return digestOfTold([rule, field ?? null, value ?? null, message.replaceAll(/"[^"]*"|\d[\d,.]*/g, withoutCount)]);
  if (mark === undefined) return undefined;
  // The row that it contradicts may stand elsewhere tonight, or be known by the environment alone.
  const told = OF_MARKED_ROWS.has(rule) ? null : message.replace(ELSEWHERE, "");
  return digestOfTold([rule, field ?? null, value ?? null, told, mark]);
}

const ELSEWHERE = / before this input|,? (?:at|since) [^;]*?:\d+(?=[;.,]|$)/g;

const withoutCount = (part: string): string => (part.startsWith('"') ? part : "#");

/** Of equal digests each has its number, so that a row more of the same content is news. */
export function numbered<Digest extends string | undefined>(digests: readonly Digest[]): readonly (Digest | string)[] {
  const times = new Map<string, number>();
  return digests.map((digest) => {
    if (digest === undefined) return digest;
    const nth = (times.get(digest) ?? 0) + 1;
    times.set(digest, nth);
    return nth === 1 ? digest : digestOfTold([digest, nth]);
  });
}
