import { distance } from "fastest-levenshtein";

/** Longest text that may be a mistyped name; what is longer is some other text, and comparing it takes long. */
const MAX_NAME = 64;

/** Letters that may differ: more make another word, and proposing `resoldTicket` for `refundTicket` would do harm. */
const MOST_SLIPS = 2;

/** The one of `known` that `written` is most likely a slip of, or undefined when none is near. */
export function nearest(written: string, known: Iterable<string>, mostSlips = MOST_SLIPS): string | undefined {
  if (written.length > MAX_NAME) return undefined;
  const folded = fold(written);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.min(mostSlips, Math.floor(folded.length / 3))) + 1;
  for (const name of known) {
    const far = distance(folded, fold(name));
    if (far < bestDistance) {
      best = name;
      bestDistance = far;
    }
  }
  return best;
}

/** A text without what nobody sees or types the same way each time: accents, controls, characters without width. */
export function foldSpelling(text: string): string {
  return fold(text.normalize("NFKD").replace(/[\p{Mn}\p{Cc}\p{Cf}]/gu, ""));
}

/** Names are compared ignoring case, blanks, `_` and `-`. */
export const fold = (name: string): string => name.toLowerCase().replace(/[\s_-]+/g, "");
