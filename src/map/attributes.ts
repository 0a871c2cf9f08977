/** `metadataAttributes` from a map of trait names to rules; traits that are empty are left out. */

import { type Draft, numberOf } from "../actions/draft.ts";
import { readDecimal } from "../actions/exact-number.ts";
import type { MetadataAttribute } from "../actions/fields.ts";
import { ordinaryWords } from "../actions/kinds.ts";
import { MappingError } from "./mapping-error.ts";
import type { MappingRule } from "./rules.ts";
import type { Read, Scope } from "./scope.ts";
import type { TraitRules } from "./source.ts";
import { compileValue, isSteps, type ValueContext } from "./value.ts";

interface Trait {
  readonly name: string;
  readonly display: string | undefined;
  readonly read: Read;
  /** What the row in hand says. */
  text: string;
  /** The attribute as JSON, around its value; undefined where its names are not ordinary. */
  readonly before: string | undefined;
  readonly after: string;
}

const ATTRIBUTES = numberOf("metadataAttributes");

export function compileAttributes(rules: TraitRules, context: ValueContext): (scope: Scope, draft: Draft) => void {
  const traits = Object.entries(rules).map(([name, rule]) => compileTrait(name, rule, context));
  if (traits.length === 0) throw new MappingError(context.path, "names no trait");
  const { clearWord } = context;
  return (scope, draft) => {
    let json = "";
    let isOrdinary = true;
    for (const trait of traits) {
      trait.text = trait.read(scope);
      if (trait.text === "") continue;
      const fragment = ordinaryAttribute(trait, clearWord);
      if (fragment === undefined) isOrdinary = false;
      else json += json === "" ? fragment : `,${fragment}`;
    }
    if (!isOrdinary) {
      const attributes = traits.flatMap((trait) => exactAttribute(trait, clearWord, scope) ?? []);
      if (attributes.length > 0) draft.putOdd("metadataAttributes", attributes);
    } else if (json !== "") draft.put(ATTRIBUTES, `[${json}]`, `[${json}]`);
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
  const jsonOfName = ordinaryWords(name);
  const jsonOfDisplay = display === undefined ? "" : ordinaryWords(display);
  return {
    name,
    display,
    read: compileValue(rule, traitContext),
    text: "",
    before:
      jsonOfName === undefined || jsonOfDisplay === undefined ? undefined : `{"trait_type":${jsonOfName},"value":`,
    after: display === undefined ? "}" : `,"display_type":${jsonOfDisplay}}`,
  };
}

/** Numbers that JSON and JavaScript write in the same way. */
const NUMBER = /^(?:0|-?[1-9]\d{0,14}|-?(?:0|[1-9]\d{0,8})\.\d{0,5}[1-9])$/;

function ordinaryAttribute({ before, after, display, text }: Trait, clearWord: string): string | undefined {
  if (before === undefined || text === clearWord) return undefined;
  const value = display === undefined ? ordinaryWords(text) : NUMBER.test(text) ? text : undefined;
  return value === undefined ? undefined : before + value + after;
}

/** The attribute as it is, and what is wrong with it. */
function exactAttribute(
  { name, display, text }: Trait,
  clearWord: string,
  scope: Scope,
): MetadataAttribute | undefined {
  if (text === "") return undefined;
  if (text === clearWord) {
    scope.findings.push({
      rule: "not-clearable" satisfies MappingRule,
      field: name,
      value: text,
      message: "A trait can't be cleared: an update replaces all traits.",
      hint: "Leave the cell empty; the trait is then left out.",
    });
    return undefined;
  }
  if (display === undefined) return { trait_type: name, value: text };
  const number = readDecimal(text);
  if (number !== undefined) return { trait_type: name, value: number, display_type: display };
  scope.findings.push({
    rule: "metadata-invalid",
    field: name,
    value: text,
    message: `${name} is not a number, which display: ${display} needs.`,
    hint: "Declare decimal or format, or leave display out.",
  });
  return undefined;
}
