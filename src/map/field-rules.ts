/** One field of an action: how its text is found in a row, and put into the draft. */

import type { ActionName } from "../actions/actions.ts";
import { compileField, Draft, type ReadField } from "../actions/draft.ts";
import { type FieldKind, type FieldName, fieldSpec } from "../actions/fields.ts";
import { mangled } from "../actions/mangled.ts";
import type { Problem } from "../actions/problem.ts";
import { ACTION_RULES } from "../actions/rules.ts";
import { cleanText } from "../text.ts";
import { compileAttributes } from "./attributes.ts";
import { looseNumber } from "./exact-numbers.ts";
import { type NamedFile, refuseFixedDate } from "./file-date.ts";
import { MappingError, type RulePath } from "./mapping-error.ts";
import type { Parsing } from "./parse-steps.ts";
import type { Names, Read, Scope } from "./scope.ts";
import type { TraitRules, ValueRule } from "./source.ts";
import { constantOf } from "./template.ts";
import { compileValue, isTraits, type ValueContext } from "./value.ts";

/** Reads a field of the row into the draft. */
type Fill = (scope: Scope, draft: Draft) => void;

export interface FieldRule {
  readonly field: FieldName;
  readonly fill: Fill;
  /** The text of the field; undefined for attributes. */
  readonly read: Read | undefined;
}

/** What holds for all fields of an action. */
export interface FieldContext extends Pick<ValueContext, "names" | "zone" | "zonePath" | "clearWord" | "count"> {
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
    displays: false,
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
  const { fault, text: said } = draft.given.get(field) ?? {};
  if (fault !== undefined && ACTION_RULES[fault.rule].severity === "error" && !relaxedRules.has(fault.rule))
    throw new MappingError(path, `${JSON.stringify(text)} ${fault.what}`, fault.hint);
  if (fault !== undefined || said === undefined) return { field, read, fill: filledBy(read, put) };
  const json = draft.json(field);
  return { field, read, fill: (_scope, given) => given.put(field, json, said) };
}

/** The cells that an id is put together from are watched for the same faults as a whole id. */

/** Compiles with the names, and notes in the scope each cell of the id that does not look like part of one. */
function watchIdCells(field: FieldName, names: Names, compile: (names: Names) => Read): Read {
  /** What each column held when it was last read; the rules of an id need not read all of them. */
  const cells: { readonly column: string; text: string; isLoose: boolean }[] = [];
  const read = compile({
    read(column, path) {
      const cell = { column, text: "", isLoose: false };
      cells.push(cell);
      const readCell = names.read(column, path);
      return (scope) => {
        scope.isLoose = false;
        cell.text = readCell(scope);
        cell.isLoose = scope.isLoose;
        return cell.text;
      };
    },
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
