/** `{Order code}-{Position ID}`: text with names of columns in it. */

import { MappingError, type RulePath } from "./mapping-error.ts";
import type { Names, Read } from "./scope.ts";
import { isList, type TraitRules, type ValueRule } from "./source.ts";

type TemplatePart = string | { readonly name: string };

/** Splits a template at its names; `{{` and `}}` are braces. */
function templateParts(template: string, path: RulePath): readonly TemplatePart[] {
  const fault = (what: string, hint?: string) => new MappingError(path, `${JSON.stringify(template)} ${what}`, hint);
  const parts: TemplatePart[] = [];
  let text = "";
  for (const [piece, name] of template.matchAll(/\{\{|\}\}|\{([^}]*)\}|[{}]|[^{}]+/g)) {
    if (piece === "{") throw fault("has a { without }", "Write {{ for a brace that is text.");
    if (piece === "}") throw fault("has a } without {", "Write }} for a brace that is text.");
    if (name === undefined) {
      text += piece === "{{" || piece === "}}" ? piece.charAt(0) : piece;
      continue;
    }
    if (name.trim() === "") throw fault("has no name between { and }");
    if (text !== "") parts.push(text);
    text = "";
    parts.push({ name: name.trim() });
  }
  if (text !== "") parts.push(text);
  return parts;
}

/** What a template without names says, doubled braces as braces; undefined where it has names. */
export function constantOf(template: string, path: RulePath): string | undefined {
  const parts = templateParts(template, path);
  return parts.every((part) => typeof part === "string") ? parts.join("").trim() : undefined;
}

/** The names in a label, which may be a column's name or a template. */
export function namesIn(label: string, path: RulePath): readonly string[] {
  if (!label.includes("{")) return [label];
  return templateParts(label, path).flatMap((part) => (typeof part === "string" ? [] : [part.name]));
}

/**
 * A template is empty when its columns are: of an id, when one of them is (`F8VVL-` names no ticket); of other texts,
 * when all are.
 */
export type EmptyWhen = "any column is" | "all columns are";

export function compileTemplate(template: string, names: Names, path: RulePath, emptyWhen: EmptyWhen): Read {
  const parts = templateParts(template, path).map((part) => (typeof part === "string" ? part : names(part.name, path)));
  const [first = ""] = parts;
  if (parts.length === 1 && typeof first === "function") return first;
  if (parts.every((part) => typeof part === "string")) {
    const constant = parts.join("").trim();
    return () => constant;
  }
  const needsAll = emptyWhen === "any column is";
  return (scope) => {
    let text = "";
    let isFilled = false;
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      const cell = part(scope);
      if (cell !== "") isFilled = true;
      else if (needsAll) return "";
      text += cell;
    }
    return isFilled ? text.trim() : "";
  };
}

/** A column by its name, or a template. */
export function compileColumn(column: string, names: Names, path: RulePath): Read {
  return column.includes("{") ? compileTemplate(column, names, path, "all columns are") : names(column, path);
}

/** Of several rules, the text of the first that is not empty. */
export function firstFilled<Rule>(rules: readonly Rule[], compile: (rule: Rule, at: number) => Read): Read {
  const readers = rules.map(compile);
  const [only] = readers;
  if (only !== undefined && readers.length === 1) return only;
  return (scope) => {
    for (const read of readers) {
      const text = read(scope);
      if (text !== "") return text;
    }
    return "";
  };
}

/** The templates that a rule may take its value from. */
export function templatesOf(rule: ValueRule | TraitRules): readonly string[] {
  if (typeof rule === "string") return [rule];
  if (isList(rule)) return rule.flatMap(templatesOf);
  return Object.entries(rule).flatMap(([key, value]) => (key === "from" || key === "blank" ? templatesOf(value) : []));
}

/**
 * What `tickets init` writes where only the user knows the value: `<FILL IN: the id of the event>`. The config's reader
 * refuses it, so that no example is ever sent.
 */
export const placeholder = (what: string): string => `<FILL IN: ${what.replace(/[<>]/g, "")}>`;

/** What the text still asks for; undefined where it asks for nothing. */
export const askedIn = (text: string): string | undefined => /<FILL IN: ([^<>]*)>/.exec(text)?.[1];
