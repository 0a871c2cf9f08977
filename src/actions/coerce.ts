/** The text of a cell → the value of a field, by the field's kind. What can't be read is a finding, never a guess. */

import { type ActionName, acceptedFields, actionSpec } from "./actions.ts";
import { type Draft, numberOf, ordinaryText } from "./draft.ts";
import { type FieldName, type FieldValue, fieldSpec, holdsText } from "./fields.ts";
import type { TextRule } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import type { Finding } from "./problem.ts";
import { instantIn } from "./times.ts";
import { zoneOf } from "./zones.ts";

export const DEFAULT_CLEAR_WORD = "\\clear";

/** How texts are read: `zone` is that of local times. */
export interface ReadSettings {
  readonly clearWord: string;
  readonly zone?: string | undefined;
}

/** Reads a trimmed text that is not empty into the draft; what can't be read is a finding. */
export type ReadField = (text: string, draft: Draft, findings: Finding[]) => void;

/**
 * How texts become a field of an action. What is ordinary costs a few tests of its characters; all else is read by its exact
 * rules, and the draft is judged by them.
 */
export function compileField(action: ActionName, field: FieldName, settings: ReadSettings): ReadField {
  const { clearWord, zone } = settings;
  const number = numberOf(field);
  const isTaken = acceptedFields(action).includes(field); // else a rule was relaxed, and has a finding all the same
  const toInstant = instantIn(zone === undefined ? undefined : zoneOf(zone));
  const ordinary = ordinaryText(field);
  const exact = coercerOf(action, field, settings);
  const isText = holdsText(field);
  return (text, draft, findings) => {
    const json = isTaken && text !== clearWord ? ordinary(text, toInstant) : undefined;
    if (json !== undefined) {
      draft.put(number, json, isText ? text : json);
      return;
    }
    const value = exact(text, findings);
    if (value === undefined) return;
    // A field that is cleared has its default.
    if (isTaken && text === clearWord) draft.put(number, JSON.stringify(value), String(value));
    else draft.putOdd(field, value);
  };
}

/** Reads a trimmed text that is not empty. Returns undefined after adding to `findings` why it can't. */
type Coerce = (text: string, findings: Finding[]) => FieldValue | undefined;

/** How texts become values of `field` in `action`. Formats and limits are not checked here (see `validateItem`). */
export function coercerOf(action: ActionName, field: FieldName, { clearWord, zone }: ReadSettings): Coerce {
  const toInstant = instantIn(zone === undefined ? undefined : zoneOf(zone));
  const { read } = KINDS[fieldSpec(field).kind];
  return (text, findings) => {
    if (text === clearWord) return clear(action, field, text, findings);
    const value = read === undefined ? text : read(text, toInstant);
    if (typeof value !== "object" || !("what" in value)) return value;
    const { rule, what, hint } = value;
    findings.push({ rule, field, value: text, message: `${field} ${what}.`, hint });
    return undefined;
  };
}

function clear(action: ActionName, field: FieldName, text: string, findings: Finding[]): "" | 0 | undefined {
  const cleared = fieldSpec(field).default;
  const { updates, optional } = actionSpec(action);
  if (updates && optional.includes(field) && cleared !== undefined) return cleared;
  findings.push({
    rule: "not-clearable" satisfies TextRule,
    field,
    value: text,
    message: updates
      ? `${field} can't be cleared: the service has no default for it.`
      : `${field} can't be cleared by ${action}: only updates clear fields.`,
    hint: "Leave the cell empty.",
  });
  return undefined;
}
