/** Schema pieces that say what they need in the words of this product, and never repeat what stands there. */

import * as z from "zod";
import { Failure } from "../failure.ts";
import { needs } from "../mapping/schema-words.ts";
import { parseDuration } from "./duration.ts";

export const yesOrNo = () => z.boolean({ error: needs("true or false") });

/** A whole number of a range that flags and variables share; see `LIMITS`. */
export function wholeNumber([min, max]: readonly [number, number]) {
  const error = needs(rangeText([min, max]));
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function rangeText([min, max]: readonly [number, number]): string {
  return max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`;
}

/** A duration as written, read as milliseconds. */
export const duration = () =>
  z.string({ error: needs("a duration such as 90s, 2m or 1h30m") }).transform((text, context) => {
    try {
      const ms = parseDuration(text);
      if (ms > 0) return ms;
      context.addIssue({ code: "custom", message: "needs a duration above zero" });
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      context.addIssue({ code: "custom", message: cause.message });
    }
    return z.NEVER;
  });
