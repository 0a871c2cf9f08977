/** A config as data, with notes beside its keys and questions for its user, and the YAML that is written of it. */

import { placeholder } from "../map/template.ts";
import { cleanText, quoted } from "../text.ts";
import type { Column } from "./evidence.ts";

/** A key of the config with its value, or a comment on a line of its own. */
export type Line = Entry | Comment;

export interface Entry {
  readonly key: string;
  readonly value: Value;
  /** Written behind the value; behind the key where the value has lines of its own. */
  readonly note?: string | undefined;
  /** What is asked here of this file alone, as it does not hold for the next. */
  readonly ofThisFile?: string | undefined;
}

export interface Comment {
  /** With its `#`. A rule that is switched off has no blank behind the `#`. */
  readonly comment: string;
}

/** The YAML of one line; or a map or a list with each key or item on lines of its own. */
export type Value = string | { readonly block: readonly Line[] } | { readonly items: readonly (Value | Comment)[] };

const PLAIN_TEXT = /^[\p{L}\p{N}](?:[\p{L}\p{N} _.()/–-]*[\p{L}\p{N})_])?$/u;
/** Words that are no texts to YAML; databases write NULL into cells. */
const WORDS = /^(?:null|true|false|yes|no|on|off)$/i;

/** A text, in quotes where something in it has a meaning in YAML. */
export const text = (of: string): string => (PLAIN_TEXT.test(of) && !WORDS.test(of) ? of : inQuotes(of));

export const inQuotes = (of: string): string => JSON.stringify(of);

export const listOf = (values: readonly string[]): string => `[${values.join(", ")}]`;

/** A map on one line, of what is defined. */
export function flow(map: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(map).flatMap(([key, value]) => (value === undefined ? [] : `${text(key)}: ${value}`));
  return `{${entries.join(", ")}}`;
}

/** What only the user knows. */
export const ask = (what: string): string => inQuotes(placeholder(what));

/** A column in a template; its name must not have braces. */
export const inner = ({ name }: Column): string => `{${name}}`;

export const template = (column: Column): string => inQuotes(inner(column));

/** A rule as a comment, for the user to choose. */
export const choice = ({ key, value, note }: Entry): Comment => ({
  comment: `#${linesOf({ block: [{ key, value }] }).join("")}${note === undefined ? "" : `   # ${note.replace(/^guess(?:: | by name; )/, "")}`}`,
});

/** A question, and below it the rules that may answer it. */
export const oneOf = (key: string, question: string, note: string, ways: readonly Entry[]): readonly Line[] => [
  { key, value: ask(question), note },
  ...ways.map(choice),
];

export const comments = (of: string): readonly Comment[] => wrapped(of).map((line) => ({ comment: `# ${line}` }));

const WIDTH = 110;
const wrapped = (of: string): readonly string[] =>
  of.match(new RegExp(`.{1,${WIDTH}}(?:\\s|$)`, "g"))?.map((line) => line.trimEnd()) ?? [];

/** How many values a comment shows. */
export const MOST_VALUES = 40;

export function valuesText({ values, filled, rows }: Column, most = 12): string {
  const shown = [...values].sort(([, one], [, other]) => other - one).slice(0, most);
  return [
    ...shown.map(([value, times]) => `${cleanText(value, 30)} ${times}`),
    ...(values.size > shown.length ? [`${values.size - shown.length} more values`] : []),
    ...(filled < rows ? [`empty ${rows - filled}`] : []),
  ].join(", ");
}

export const rowsText = (rows: number): string => `${rows} ${rows === 1 ? "row" : "rows"}`;

export const differText = ({ distinct, rows }: Column): string => `${distinct} different in ${rowsText(rows)}`;

export const namesText = (columns: readonly Column[]): string =>
  columns
    .slice(0, 4)
    .map(({ name }) => quoted(name))
    .join(", ");

/** `; also "A", "B"`, or nothing. */
export const alsoText = (others: readonly Column[]): string =>
  others.length === 0 ? "" : `; also ${namesText(others)}`;

/** What is asked somewhere in it of this file alone. */
export function onlyHereIn(value: Value | Comment): string | undefined {
  if (typeof value === "string" || "comment" in value) return undefined;
  if ("items" in value) return value.items.map(onlyHereIn).find((asked) => asked !== undefined);
  return value.block
    .map((line) => ("comment" in line ? undefined : (line.ofThisFile ?? onlyHereIn(line.value))))
    .find((asked) => asked !== undefined);
}

/** The lines of a value that stands alone. */
export function linesOf(value: Value): readonly string[] {
  if (typeof value === "string") return [value];
  if ("block" in value) return value.block.flatMap(linesOfLine);
  return value.items.flatMap((item) => {
    if (typeof item === "object" && "comment" in item) return [item.comment];
    return linesOf(item).map((line, at) => `${at === 0 ? "- " : "  "}${line}`);
  });
}

function linesOfLine(line: Line): readonly string[] {
  if ("comment" in line) return [line.comment];
  const { key, value, note } = line;
  const behind = note === undefined ? "" : `   # ${note}`;
  if (typeof value === "string") return [`${text(key)}: ${value}${behind}`];
  return [`${text(key)}:${behind}`, ...linesOf(value).map((below) => `  ${below}`)];
}
