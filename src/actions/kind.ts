/** What is known of one kind of field: the columns of the table in kinds.ts. */

import type { FieldSpec, FieldValue } from "./fields.ts";
import type { ActionRule } from "./rules.ts";
import type { ToInstant } from "./times.ts";

/** Rules of texts that no value of JSON breaks. */
export type TextRule = "not-clearable" | "time-unreadable" | "time-without-zone" | "time-skipped";

/** Why a text or a value is none of the field. */
export interface Fault<Rule extends string = ActionRule> {
  readonly rule: Rule;
  /** JSON pointer inside the value; absent for the value itself. */
  readonly inside?: string;
  /** The end of a sentence that begins with the field. */
  readonly what: string;
  readonly hint: string;
}

export type JsonSchema = { readonly [keyword: string]: unknown };

export interface Kind {
  /**
   * The hot path: an ordinary text, trimmed and not empty, as JSON. It breaks no rule and has no likely mistake. All else is
   * undefined, and is judged by the other columns; so this one may refuse too much.
   */
  readonly ordinary: (text: string, toInstant: ToInstant) => string | undefined;
  /** The same of a value of an `{action, data}` row, where values are no texts. */
  readonly ordinaryValue?: (value: unknown) => string | undefined;
  /** What a text says, or why it says nothing. Without it, the text is the value. */
  readonly read?: (text: string, toInstant: ToInstant) => FieldValue | Fault<ActionRule | TextRule>;
  /** What is wrong with a value of JSON. Null is not its business. */
  readonly judge: (value: unknown, spec: FieldSpec) => Fault | undefined;
  /** What JSON Schema can say of it. */
  readonly keywords: JsonSchema;
  /** Its JSON in one spelling, where it has several. */
  readonly canonical?: (json: string) => string;
}

/** ASCII that needs no escapes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON. */
export const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
