/** What is known of one kind of field: the columns of the table in kinds.ts. */

import type { FieldValue } from "./fields.ts";
import type { ActionRule } from "./rules.ts";
import type { ToInstant } from "./times.ts";

/** Rules of texts that no value of JSON breaks. */
type TextRule = "not-clearable" | "time-unreadable" | "time-without-zone" | "time-skipped";

/** Why a text or a value is none of the field. */
export interface Fault<Rule extends string = ActionRule> {
  readonly rule: Rule;
  /** JSON pointer inside the value; absent for the value itself. */
  readonly inside?: string;
  /** The end of a sentence that begins with the field. */
  readonly what: string;
  readonly hint: string;
}

/** Why a text says no value of the field. */
export type TextFault = Fault<ActionRule | TextRule>;

export type JsonSchema = { readonly [keyword: string]: unknown };

export interface Kind {
  /** What a text says, or why it says nothing. Without it, the text is the value. */
  readonly read?: (text: string, toInstant: ToInstant) => FieldValue | TextFault;
  /** What is wrong with a value of JSON. Null is not its business. */
  readonly judge: (value: unknown, maxLength: number) => Fault | undefined;
  /** What JSON Schema can say of it. */
  readonly keywords: JsonSchema;
  /** Its JSON in one spelling, where it has several. */
  readonly canonical?: (json: string) => string;
}
