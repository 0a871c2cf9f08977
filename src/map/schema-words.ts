/** Schema pieces that say what they need in the words of this product, and never repeat the value. */

import * as z from "zod";

export const IS_MISSING = "is missing";

/** The message of a value of the wrong type: "needs …", or that there is none. */
export const needs =
  (what: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? IS_MISSING : input === null ? "has no value" : `needs ${what}`;

export const textValue = (what = "text") => z.string({ error: needs(what) }).min(1, { error: "is empty" });

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: needs(`one of ${values.join(", ")}`) });

/** Parsed data that nobody may change. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** `Array.isArray` does not narrow readonly lists. */
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
