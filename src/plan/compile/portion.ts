/** How much is compiled at once: less where more comes of it, such as of rows of a hundred tickets. */

import type { CandidateBytes } from "../candidates/facts.ts";

/** About so much is to come of a portion. It is in memory once or more for each that is in work. */
const GIVEN_BYTES = 1024 * 1024;
/** Bytes of lines after which the rest of a portion waits: much more comes of it than was expected. */
export const MOST_GIVEN_BYTES = 1.5 * GIVEN_BYTES;
/** Until it is known what comes of the first. */
const FIRST_SHARE = 8;
/** Of what came of a portion, so much is expected of the next even where less came of those between. */
const KEPT = 0.9;

export interface Portion {
  /** How much to take next, in whatever the input is counted. */
  readonly size: number;
  /** Notes what came of so much of the input. */
  note(taken: number, given: CandidateBytes): void;
}

/** @param most size where little comes of it. */
export function createPortion(most: number): Portion {
  let size = Math.max(1, Math.floor(most / FIRST_SHARE));
  let ratio = 0;
  return {
    get size() {
      return size;
    },
    note(taken, { lines, index, facts, texts }) {
      if (taken === 0) return;
      ratio = Math.max((lines.length + index.length + facts.length + texts.length) / taken, ratio * KEPT);
      size = Math.max(1, Math.floor(Math.min(most, GIVEN_BYTES / ratio)));
    },
  };
}
