/** A config as data, with notes beside its keys and questions for its user, and the YAML that is written of it. */

import { placeholder } from "../map/template.ts";
import { cleanText, quoted } from "../text.ts";
import type { Column } from "./column.ts";

/** What stands on one line. What is undefined in a map is left out. */
export type Data = string | readonly Data[] | Steps;

export interface Steps {
  readonly [key: string]: Data | undefined;
}

/** A key of the config with its value, or a comment on a line of its own. */
export type Line = Entry | Comment;

/** A key, and on the same line its value; or on lines of their own a map, a list, or a list of maps of one key. */
export interface Entry {
  readonly key: string;
  readonly value?: Data;
  readonly lines?: readonly Line[];
  readonly items?: readonly Data[];
  readonly entries?: readonly Entry[];
  /** Written behind the value; behind the key where the value has lines of its own. */
  readonly note?: string | undefined;
  /** What is asked here of this file alone, as it does not hold for the next. */
  readonly ofThisFile?: string | undefined;
}

export interface Comment {
  /** With its `#`. A rule that is switched off has no blank behind the `#`. */
  readonly comment: string;
}

const PLAIN_TEXT = /^[\p{L}\p{N}](?:[\p{L}\p{N} _.()/–-]*[\p{L}\p{N})_])?$/u;
/** Words that are no texts to YAML; databases write NULL into cells. */
const NO_TEXTS = /^(?:null|true|false|yes|no|on|off)$/i;

/** On one line; a text in quotes where something in it has a meaning in YAML. */
function flow(data: Data): string {
  if (typeof data === "string") return textOf(data);
  if (isList(data)) return `[${data.map(flow).join(", ")}]`;
  const entries = Object.entries(data).flatMap(([key, value]) =>
    value === undefined ? [] : `${flow(key)}: ${flow(value)}`,
  );
  return `{${entries.join(", ")}}`;
}

function textOf(text: string): string {
  if (PLAIN_TEXT.test(text) && !NO_TEXTS.test(text)) return text;
  // A pattern is read as it is written in single quotes only.
  return /^[ -~]*\\[ -~]*$/.test(text) ? `'${text.replaceAll("'", "''")}'` : JSON.stringify(text);
}

export const isList = (data: Data): data is readonly Data[] => Array.isArray(data);

/** One text alone, several as a list. */
export const oneOrMore = (texts: readonly string[]): Data => (texts.length > 1 ? texts : (texts[0] ?? ""));

/** One on the line of its key, several below it. */
export const oneOrItems = (data: readonly Data[]): Pick<Entry, "value" | "items"> =>
  data[0] !== undefined && data.length === 1 ? { value: data[0] } : { items: data };

/** What only the user knows. */
export const ask = placeholder;

/** A column in a template; its name must not have braces. */
export const inner = ({ name }: Column): string => `{${name}}`;

/** A rule as a comment, for the user to choose. */
export const choice = ({ note, ...rule }: Entry): Comment => ({
  comment: `#${linesOf([rule]).join("")}${note === undefined ? "" : `   # ${note.replace(/^guess(?:: | by name; )/, "")}`}`,
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

/** The values of a column, the commonest first, with their numbers of rows. */
export function valuesText({ values, filled, rows, hasFewValues }: Column): string {
  const shown = [...values].sort(([, one], [, other]) => other - one).slice(0, hasFewValues ? 12 : 2);
  return [
    ...shown.map(([value, times]) => `${cleanText(value, 30)} (${times})`),
    ...(values.size > shown.length ? [`${values.size - shown.length} more values`] : []),
    ...(filled < rows ? [`empty (${rows - filled})`] : []),
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

/** The first of columns that may be an id, for a note. */
export const perhaps = ([first, ...others]: readonly Column[]): string | undefined =>
  first && `or ${flow(inner(first))}, if that is one: ${differText(first)}${alsoText(others)}`;

/** What is asked in one of the lines of this file alone. */
export const onlyHereIn = (lines: readonly Line[]): string | undefined =>
  lines
    .map((line) =>
      "comment" in line ? undefined : (line.ofThisFile ?? onlyHereIn([...(line.lines ?? []), ...(line.entries ?? [])])),
    )
    .find((asked) => asked !== undefined);

export const linesOf = (lines: readonly Line[]): readonly string[] => lines.flatMap(linesOfLine);

function linesOfLine(line: Line): readonly string[] {
  if ("comment" in line) return [line.comment];
  const { key, value, lines = [], items = [], entries = [], note } = line;
  const behind = note === undefined ? "" : `   # ${note}`;
  if (value !== undefined) return [`${flow(key)}: ${flow(value)}${behind}`];
  const below = [
    ...linesOf(lines),
    ...items.map((item) => `- ${flow(item)}`),
    ...entries.flatMap((entry) => linesOfLine(entry).map((text, at) => `${at === 0 ? "- " : "  "}${text}`)),
  ];
  return [`${flow(key)}:${behind}`, ...below.map((text) => `  ${text}`)];
}
