/** By what a warning is known again when a later run would tell it once more: its row and what it says, not where it stands. */

import { createHash } from "node:crypto";
import type { Problem } from "../actions/problem.ts";
import type { Row } from "../mapping/row.ts";

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

/** Warnings of which one stands for all rows of an event, or of a value. How many rows there are may differ. */
const FOR_ALL_ROWS: ReadonlySet<string> = new Set(["event-not-registered", "value-not-named", "value-near"]);

/** The digest of a warning about a row; undefined for what is wrong with the file of this night, or with the config. */
export function digestOfWarning({ rule, field, value, message, mark }: Problem): string | undefined {
  if (FOR_ALL_ROWS.has(rule))
    return digestOfTold([rule, field ?? null, value ?? null, message.replaceAll(/"[^"]*"|\d[\d,.]*/g, withoutCount)]);
  // The row that it contradicts may stand elsewhere tonight, or be known by the environment alone.
  const told = message.replace(ELSEWHERE, "");
  return mark === undefined ? undefined : digestOfTold([rule, field ?? null, value ?? null, told, mark]);
}

const ELSEWHERE = / before this input|,? (?:at|since) [^;]*?:\d+(?=[;.,]|$)/g;

const withoutCount = (part: string): string => (part.startsWith('"') ? part : "#");
