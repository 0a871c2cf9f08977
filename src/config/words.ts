/** Schema pieces that say what they need in the words of this product, and never repeat what stands there. */

import * as z from "zod";
import { Failure } from "../failure.ts";
import { parseDuration } from "./duration.ts";

export const IS_MISSING = "is missing";

/** The message of a value of the wrong type: "needs …", or that there is none. */
export const needs =
  (what: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? IS_MISSING : input === null ? "has no value" : `needs ${what}`;

export const textValue = (what = "text") => z.string({ error: needs(what) }).min(1, { error: "is empty" });

export const yesOrNo = () => z.boolean({ error: needs("true or false") });

/** A whole number of a range that flags and variables share; see `LIMITS`. */
export function wholeNumber([min, max]: readonly [number, number]) {
  const error = needs(rangeText([min, max]));
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function rangeText([min, max]: readonly [number, number]): string {
  return max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`;
}

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: needs(`one of ${values.join(", ")}`) });

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

/** Parsed data that nobody may change. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
