import type { Finding } from "../actions/problem.ts";

/**
 * One record of an input file; `line` is the 1-based physical line where it starts.
 *
 * - `cells`: a CSV or TSV row, cells as written (untrimmed), quotes resolved; with `findings` where it can be read as it
 *   stands and is hardly meant so.
 * - `object`: an NDJSON line or an item of a JSON array, parsed with exact integers. Its `text` is always JSON, whatever the
 *   format: mapping, digests and rejects read it again, for the numbers as they are spelt.
 * - `malformed`: not readable as a row. `bordersKnown` is false when what follows in the file can't be trusted either,
 *   as after a quote that never closes.
 */
export type Row =
  | {
      readonly kind: "cells";
      readonly line: number;
      readonly cells: readonly string[];
      readonly findings?: readonly Finding[];
    }
  | {
      readonly kind: "object";
      readonly line: number;
      readonly value: Readonly<Record<string, unknown>>;
      /** The JSON object that `value` was parsed from. */
      readonly text: string;
    }
  | {
      readonly kind: "malformed";
      readonly line: number;
      /** As it stands in the file, or as much of it as is kept. */
      readonly text: string;
      readonly findings: readonly Finding[];
      readonly bordersKnown: boolean;
      /** Of a row with fewer cells than the header, those that it has. */
      readonly cells?: readonly string[];
    };
