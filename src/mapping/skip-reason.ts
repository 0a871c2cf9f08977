/** Why a row of a source gives nothing, in words. */

import { cleanText } from "../actions/text.ts";
import type { Scope } from "./names.ts";
import type { ActionRules } from "./source-rules.ts";
import type { Looked } from "./when.ts";

/** What the conditions of actions look at, each column once. */
export function uniqueLooks(rules: readonly Pick<ActionRules, "when">[]): readonly Looked[] {
  const byLabel = new Map<string, Looked>();
  for (const look of rules.flatMap(({ when }) => when?.looked ?? [])) {
    const known = byLabel.get(look.label);
    if (known === undefined || known.presenceOnly) byLabel.set(look.label, look);
  }
  return [...byLabel.values()];
}

/** The reason of a row whose conditions take no action. */
export function reasonOfLooks(looked: readonly Looked[], scope: Scope): string {
  const told = looked.map(({ label, read, presenceOnly }) => {
    const text = read(scope);
    return text !== "" && presenceOnly ? `${label} is not empty` : labelled(label, text);
  });
  if (told.length > 0) return told.join(", ");
  return "the event was given by an earlier row"; // without conditions nothing else is left out
}

export const labelled = (label: string, text: string): string =>
  text === "" ? `${label} is empty` : `${label} = ${cleanText(text, 40)}`;
