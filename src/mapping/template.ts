/** `{Order code}-{Position ID}`: text with names of columns in it. */

import { MappingError, type RulePath } from "../map/mapping-error.ts";
import type { Names, Read } from "./names.ts";

type TemplatePart = string | { readonly name: string };

/** Splits a template at its names; `{{` and `}}` are braces. */
function templateParts(template: string, path: RulePath): readonly TemplatePart[] {
  const fault = (what: string, hint?: string) => new MappingError(path, `${JSON.stringify(template)} ${what}`, hint);
  const parts: TemplatePart[] = [];
  let text = "";
  for (let at = 0; at < template.length; at += 1) {
    const character = template[at];
    if (character !== "{" && character !== "}") {
      text += character;
    } else if (template[at + 1] === character) {
      text += character;
      at += 1;
    } else if (character === "}") {
      throw fault("has a } without {", "Write }} for a brace that is text.");
    } else {
      const end = template.indexOf("}", at);
      const name = end === -1 ? "" : template.slice(at + 1, end).trim();
      if (end === -1) throw fault("has a { without }", "Write {{ for a brace that is text.");
      if (name === "") throw fault("has no name between { and }");
      if (text !== "") parts.push(text);
      text = "";
      parts.push({ name });
      at = end;
    }
  }
  if (text !== "") parts.push(text);
  return parts;
}

/** Whether a template is the same for every row. */
export function isConstant(template: string, path: RulePath): boolean {
  return templateParts(template, path).every((part) => typeof part === "string");
}

/** What a template without names says: doubled braces are braces. */
export const constantText = (template: string, path: RulePath): string => templateParts(template, path).join("").trim();

/**
 * A template is empty when its columns are: of an id, when one of them is (`F8VVL-` names no ticket); of other texts,
 * when all are.
 */
export type EmptyWhen = "any column is" | "all columns are";

export function compileTemplate(template: string, names: Names, path: RulePath, emptyWhen: EmptyWhen): Read {
  const parts = templateParts(template, path).map((part) =>
    typeof part === "string" ? part : names.read(part.name, path),
  );
  const [first] = parts;
  if (parts.length === 1 && typeof first === "function") return first;
  if (parts.every((part) => typeof part === "string")) {
    const constant = parts.join("").trim();
    return () => constant;
  }
  const needsAll = emptyWhen === "any column is";
  return (scope) => {
    let text = "";
    let filled = false;
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      const cell = part(scope);
      if (cell !== "") filled = true;
      else if (needsAll) return "";
      text += cell;
    }
    return filled ? text.trim() : "";
  };
}

/** Of several rules, the text of the first that is not empty. */
export function firstFilled<Rule>(rules: readonly Rule[], compile: (rule: Rule, at: number) => Read): Read {
  const readers = rules.map(compile);
  return (scope) => {
    for (const read of readers) {
      const text = read(scope);
      if (text !== "") return text;
    }
    return "";
  };
}
