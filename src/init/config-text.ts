/** A config as data with notes beside its keys, and as the YAML that is written of it. */

import { isMap, isScalar, isSeq, type Node } from "yaml";
import { isList } from "../map/source.ts";

/** A key of the config with its value, or a comment on lines of its own. */
export type Line = Entry | Comment;

export interface Entry {
  readonly key: string;
  readonly value: Value;
  /** Written behind the value; behind the key where the value has lines of its own. */
  readonly note?: string | undefined;
}

export interface Comment {
  /** With its `#`. A rule that is switched off has no blank behind the `#`. */
  readonly comment: string;
}

/** A text is plain if nothing in it has a meaning in YAML, else in quotes; a list is on one line. */
export type Value =
  | string
  | readonly Value[]
  | { readonly inQuotes: string }
  | Flow
  /** Of a recipe, on one line as it stands there. */
  | { readonly node: Node }
  /** A map with each key on a line of its own. */
  | { readonly block: readonly Line[] }
  /** A list with each item on a line of its own. */
  | { readonly items: readonly (Value | Comment)[] };

/** A map on one line. */
interface Flow {
  readonly flow: readonly (readonly [string, Value])[];
}

/** A map on one line, of what is defined. */
export function flow(map: Readonly<Record<string, Value | undefined>>): Flow {
  return { flow: Object.entries(map).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])) };
}

/** The whole config: comments at its head, then its sources. */
export const configText = (head: readonly string[], sources: readonly Line[]): string =>
  `${[...head, "", ...linesOf({ block: [{ key: "sources", value: { block: sources } }] })].join("\n")}\n`;

/** The lines of a value that stands alone. */
export function linesOf(value: Value): readonly string[] {
  if (typeof value === "object" && "block" in value) return value.block.flatMap(linesOfLine);
  if (typeof value === "object" && "items" in value) return value.items.flatMap(linesOfItem);
  return [onOneLine(value)];
}

function linesOfLine(line: Line): readonly string[] {
  if ("comment" in line) return [line.comment];
  const { key, value, note } = line;
  const behind = note === undefined ? "" : `   # ${note}`;
  if (!standsBelow(value)) return [`${onOneLine(key)}: ${onOneLine(value)}${behind}`];
  return [`${onOneLine(key)}:${behind}`, ...linesOf(value).map((below) => `  ${below}`)];
}

function linesOfItem(item: Value | Comment): readonly string[] {
  if (typeof item === "object" && "comment" in item) return [item.comment];
  return linesOf(item).map((line, at) => `${at === 0 ? "- " : "  "}${line}`);
}

function onOneLine(value: Value): string {
  if (typeof value === "string") return isPlain(value) ? value : JSON.stringify(value);
  if (isList(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if ("inQuotes" in value) return JSON.stringify(value.inQuotes);
  if ("flow" in value)
    return `{${value.flow.map(([key, inner]) => `${onOneLine(key)}: ${onOneLine(inner)}`).join(", ")}}`;
  if ("node" in value) return nodeText(value.node);
  throw new Error("a value of several lines does not stand on one");
}

/** With the quotes that it has in the recipe. */
function nodeText(node: unknown): string {
  if (isSeq(node)) return `[${node.items.map(nodeText).join(", ")}]`;
  if (isMap(node)) return `{${node.items.map(({ key, value }) => `${nodeText(key)}: ${nodeText(value)}`).join(", ")}}`;
  if (!isScalar(node)) return "";
  const text = String(node.value);
  if (node.type === "QUOTE_SINGLE") return `'${text.replaceAll("'", "''")}'`;
  return node.type === "PLAIN" ? text : JSON.stringify(text);
}

const PLAIN_TEXT = /^[\p{L}\p{N}](?:[\p{L}\p{N} _.()/–-]*[\p{L}\p{N})_])?$/u;

/** Words that are no texts to YAML; databases write NULL into cells. */
const WORDS = /^(?:null|true|false|yes|no|on|off)$/i;
const isPlain = (text: string): boolean => PLAIN_TEXT.test(text) && !WORDS.test(text);

const standsBelow = (value: Value): boolean => typeof value === "object" && ("block" in value || "items" in value);
