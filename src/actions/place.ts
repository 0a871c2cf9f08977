/** Where a row stands, as people read it. */

import { cleanText } from "./text.ts";

export interface Place {
  /** The file, as it was named. */
  readonly source: string;
  /** The physical line, from 1; of a JSON array the index, from 0. */
  readonly line: number | undefined;
}

const isArray = (source: string): boolean => /\.json(?:\.gz|\.zst)?$/i.test(source);

/** `sales.csv:12`; of a JSON array `sales.json[12]`. */
export function placeText({ source, line }: Place, longest = 200): string {
  const place = line === undefined ? "" : isArray(source) ? `[${line}]` : `:${line}`;
  return `${cleanText(source, longest)}${place}`;
}

/** `line 12`; of a JSON array `item 12`. */
export const lineText = (source: string, line: number): string => `${isArray(source) ? "item" : "line"} ${line}`;
