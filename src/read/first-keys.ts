/** The keys that the first line of a file shows. */

import { REJECTS_COLUMNS } from "../actions/rejects-columns.ts";

export const keysOfCells = (line: string, delimiter: string): readonly string[] =>
  line.split(delimiter).map((cell) => cell.replace(/^\s*"?|"?\s*$/g, ""));

/** In a line that is not a whole object, such as a cut one, only keys of rejects are found. */
export function keysOfJson(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line.replace(/[\s,\]]+$/, ""));
    return typeof value === "object" && value !== null ? Object.keys(value) : [];
  } catch {
    return REJECTS_COLUMNS.filter((key) => new RegExp(`"${key}"\\s*:`).test(line));
  }
}
