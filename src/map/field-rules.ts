/** One field of an action: how its text is found in a row, and put into the draft; attributes from a map of traits. */

import type { ActionName } from "../actions/actions.ts";
import { compileField, Draft, type ReadField } from "../actions/draft.ts";
import { readDecimal } from "../actions/exact-number.ts";
import { type FieldKind, type FieldName, fieldSpec } from "../actions/fields.ts";
import { parseJson, quote } from "../actions/json.ts";
import { mangled } from "../actions/mangled.ts";
import type { Problem } from "../actions/problem.ts";
import { ACTION_RULES, type MappingRule } from "../rules.ts";
import { cleanText } from "../text.ts";
import { type NamedFile, refuseFixedDate } from "./file-name.ts";
import { looseNumber } from "./json-rows.ts";
import { MappingError, type RulePath } from "./mapping-error.ts";
import type { Names, Read, Scope } from "./scope.ts";
import type { TraitRules, ValueRule } from "./source.ts";
import { constantOf } from "./template.ts";
import { compileValue, isSteps, isTraits, type Parsing, type ValueContext } from "./value.ts";

/** Reads a field of the row into the draft. */
type Fill = (scope: Scope, draft: Draft) => void;

export interface FieldRule {
  readonly field: FieldName;
  readonly fill: Fill;
  /** The text of the field; undefined for attributes. */
  readonly read: Read | undefined;
}

/** What holds for all fields of an action. */
export interface FieldContext extends Pick<ValueContext, "names" | "zone" | "clearWord" | "count"> {
  readonly action: ActionName;
  readonly file: NamedFile;
  readonly relaxedRules: ReadonlySet<string>;
}

const PARSED_AS: Partial<Record<FieldKind, Parsing>> = {
  price: "amount",
  latitude: "amount",
  longitude: "amount",
  u64: "time",
};

export function compileFieldRule(
  field: FieldName,
  rule: ValueRule | TraitRules,
  context: FieldContext,
  path: RulePath,
): FieldRule {
  const { kind } = fieldSpec(field);
  const isId = kind === "id" || kind === "nftId";
  const emptyWhen = isId ? "any column is" : "all columns are";
  const ofValue = {
    ...context,
    label: field,
    parsing: PARSED_AS[kind] ?? "none",
    emptyWhen,
    path,
  } as const;
  if (isTraits(rule)) {
    if (field !== "metadataAttributes")
      throw new MappingError(path, "has no from", "Write {from: ...}, or a template.");
    return { field, fill: compileAttributes(rule, ofValue), read: undefined };
  }
  if (field === "orderTime") refuseFixedDate(rule, context.file, path);
  const put = compileField(context.action, field, context);
  const constant = typeof rule === "string" ? constantOf(rule, path) : undefined;
  if (constant !== undefined) return constantField(field, constant, put, context, path);
  const compile = (names: Names): Read => compileValue(rule, { ...ofValue, names });
  const read = isId ? watchIdCells(field, context.names, compile) : compile(context.names);
  return { field, read, fill: filledBy(read, put) };
}

const filledBy =
  (read: Read, put: ReadField): Fill =>
  (scope, draft) => {
    const text = read(scope);
    if (text !== "") put(text, draft, scope.problems);
  };

/** A field that is the same in every row is read and checked once, in the config. */
function constantField(
  field: FieldName,
  text: string,
  put: ReadField,
  { action, relaxedRules }: FieldContext,
  path: RulePath,
): FieldRule {
  const read = () => text;
  const draft = new Draft(action);
  const problems: Problem[] = [];
  if (text !== "") put(text, draft, problems);
  const [problem] = problems;
  if (problem !== undefined) throw new MappingError(path, problem.message.replace(/\.$/, ""), problem.hint);
  const { fault, text: said } = draft.get(field) ?? {};
  if (fault !== undefined && ACTION_RULES[fault.rule].severity === "error" && !relaxedRules.has(fault.rule))
    throw new MappingError(path, `${JSON.stringify(text)} ${fault.what}`, fault.hint);
  if (fault !== undefined || said === undefined) return { field, read, fill: filledBy(read, put) };
  const json = draft.json(field);
  return { field, read, fill: (_scope, given) => given.put(field, json, said) };
}

/** Compiles with the names, and notes in the scope each cell of the id that has a fault of a whole id. */
function watchIdCells(field: FieldName, names: Names, compile: (names: Names) => Read): Read {
  /** What each column held when it was last read; the rules of an id need not read all of them. */
  const cells: { readonly column: string; text: string; isLoose: boolean }[] = [];
  const read = compile((column, path) => {
    const cell = { column, text: "", isLoose: false };
    cells.push(cell);
    const readCell = names(column, path);
    return (scope) => {
      scope.isLoose = false;
      cell.text = readCell(scope);
      cell.isLoose = scope.isLoose;
      return cell.text;
    };
  });
  return (scope) => {
    for (const cell of cells) cell.text = "";
    const id = read(scope);
    if (id === "") return id;
    for (const { column, text, isLoose } of cells) {
      // What a value table replaced is not part of the id.
      if (text === "" || !id.includes(text)) continue;
      if (isLoose) scope.likely.push(looseNumber(field, text, column));
      // A cell that is the whole id is checked with the action.
      if (text === id) continue;
      const flaw = mangled(text);
      if (flaw !== undefined) {
        const message = `${cleanText(column, 60)}, a part of ${field}, ${flaw.what}.`;
        scope.likely.push({ rule: "id-looks-mangled", field, value: text, message, hint: flaw.hint });
      }
    }
    return id;
  };
}

// ---- metadataAttributes from a map of trait names to rules; traits that are empty are left out ----

interface Trait {
  readonly name: string;
  readonly display: string | undefined;
  readonly read: Read;
  /** The attribute as JSON, around its value. */
  readonly before: string;
  readonly after: string;
}

function compileAttributes(rules: TraitRules, context: ValueContext): (scope: Scope, draft: Draft) => void {
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
  const ofTrait = { ...context, label: name, parsing: "either", emptyWhen: "all columns are", path } as const;
  return {
    name,
    display,
    read: compileValue(isSteps(rule) ? { ...rule, display: undefined } : rule, ofTrait),
    before: `{"trait_type":${quote(name)},"value":`,
    after: display === undefined ? "}" : `,"display_type":${quote(display)}}`,
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
