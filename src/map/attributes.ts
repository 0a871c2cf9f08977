/** `metadataAttributes` from a map of trait names to rules; traits that are empty are left out. */

import type { Draft } from "../actions/draft.ts";
import { readDecimal } from "../actions/exact-number.ts";
import { parseJson, quote } from "../actions/json.ts";
import type { Problem } from "../actions/problem.ts";
import { MappingError } from "./mapping-error.ts";
import type { MappingRule } from "./rules.ts";
import type { Read, Scope } from "./scope.ts";
import type { TraitRules } from "./source.ts";
import { compileValue, isSteps, type ValueContext } from "./value.ts";

interface Trait {
  readonly name: string;
  readonly display: string | undefined;
  readonly read: Read;
  /** The attribute as JSON, around its value. */
  readonly before: string;
  readonly after: string;
}

export function compileAttributes(rules: TraitRules, context: ValueContext): (scope: Scope, draft: Draft) => void {
  const traits = Object.entries(rules).map(([name, rule]) => compileTrait(name, rule, context));
  if (traits.length === 0) throw new MappingError(context.path, "names no trait");
  const { clearWord } = context;
  const areSoundNames = traits.every(({ name, display = "" }) => name.isWellFormed() && display.isWellFormed());
  return (scope, draft) => {
    let members = "";
    let isSound = true;
    for (const trait of traits) {
      const text = trait.read(scope);
      if (text === "") continue;
      const value = text === clearWord ? notClearable(trait.name, text) : valueJson(trait, text);
      if (typeof value !== "string") scope.problems.push(value);
      else members += (members === "" ? "" : ",") + trait.before + value + trait.after;
      isSound &&= trait.display === undefined ? text.isWellFormed() : NUMBER.test(text);
    }
    if (members === "") return;
    const json = `[${members}]`;
    if (isSound && areSoundNames) draft.put("metadataAttributes", json, json);
    else draft.putValue("metadataAttributes", parseJson(json));
  };
}

function compileTrait(name: string, rule: TraitRules[string], context: ValueContext): Trait {
  const path = [...context.path, name];
  const display = isSteps(rule) ? rule.display : undefined;
  if (display === "") throw new MappingError([...path, "display"], "is empty");
  const traitContext = {
    ...context,
    label: name,
    parsing: "either",
    emptyWhen: "all columns are",
    displays: true,
    path,
  } as const;
  const after = display === undefined ? "}" : `,"display_type":${quote(display)}}`;
  return {
    name,
    display,
    read: compileValue(rule, traitContext),
    before: `{"trait_type":${quote(name)},"value":`,
    after,
  };
}

/** Numbers that JSON and JavaScript write in the same way. */
const NUMBER = /^(?:0|-?[1-9]\d{0,14}|-?(?:0|[1-9]\d{0,8})\.\d{0,5}[1-9])$/;

/** The JSON of a trait's value, or why it has none. */
function valueJson({ name, display }: Trait, text: string): string | Problem {
  if (display === undefined) return quote(text);
  if (NUMBER.test(text)) return text;
  const number = readDecimal(text);
  if (number !== undefined) return JSON.stringify(number);
  return {
    rule: "metadata-invalid",
    field: name,
    value: text,
    message: `${name} is not a number, which display: ${display} needs.`,
    hint: "Declare decimal or format, or leave display out.",
  };
}

const notClearable = (name: string, text: string): Problem => ({
  rule: "not-clearable" satisfies MappingRule,
  field: name,
  value: text,
  message: "A trait can't be cleared: an update replaces all traits.",
  hint: "Leave the cell empty; the trait is then left out.",
});
