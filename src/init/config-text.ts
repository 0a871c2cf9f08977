/** A config as data with notes beside its keys, and as the YAML that is written of it. */

import { Document, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
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
  | { readonly plain: string }
  /** A regular expression: in single quotes a backslash is one. */
  | { readonly pattern: string }
  | Flow
  /** From another document. */
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

/** The keys of the maps in a list. */
export const keysOfItems = (value: Value): readonly string[] =>
  typeof value === "object" && "items" in value
    ? value.items.flatMap((item) =>
        typeof item === "object" && "block" in item
          ? item.block.flatMap((line) => ("key" in line ? [line.key] : []))
          : [],
      )
    : [];

/** The whole config: comments at its head, then its sources. */
export function configText(head: readonly string[], sources: readonly Line[]): string {
  const document = documentOf({ block: [{ key: "sources", value: { block: sources } }] }, -2 * INDENT);
  document.commentBefore = head.join("\n");
  return document.toString(OPTIONS);
}

/** The lines of a value that stands alone. */
export function linesOf(value: Value): readonly string[] {
  return documentOf(value, 0).toString(OPTIONS).trimEnd().split("\n");
}

/** As a comment, which is a rule again once its `#` is taken away. */
export const switchedOff = (value: Value): readonly Comment[] =>
  linesOf(value).map((line) => ({ comment: `#${line}` }));

const INDENT = 2;
/** Comments have their `#` already. A long text stays on its line. */
const OPTIONS = {
  commentString: (text: string) => text,
  doubleQuotedAsJSON: true,
  flowCollectionPadding: false,
  indent: INDENT,
  lineWidth: 0,
};

/** The config is read as text only, so no number and no word but `null` needs quotes to stay what it is. */
const documentOf = (value: Value, indent: number): Document =>
  new Document(nodeOf(value, indent), { schema: "failsafe" });

/** @param indent - the column in which its lines begin. */
function nodeOf(value: Value, indent: number): Node {
  if (typeof value === "string") return scalarOf(value, isPlain(value) ? "PLAIN" : "QUOTE_DOUBLE");
  if (isList(value))
    return onOneLine(
      new YAMLSeq(),
      value.map((item) => nodeOf(item, indent)),
    );
  if ("plain" in value) return scalarOf(value.plain, "PLAIN");
  if ("inQuotes" in value) return scalarOf(value.inQuotes, "QUOTE_DOUBLE");
  if ("pattern" in value) return scalarOf(value.pattern, "QUOTE_SINGLE");
  if ("flow" in value)
    return onOneLine(
      new YAMLMap(),
      value.flow.map(([key, inner]) => new Pair(nodeOf(key, indent), nodeOf(inner, indent))),
    );
  if ("node" in value) return withoutComment(value.node);
  return "items" in value ? listOf(value.items, indent) : mapOf(value.block, indent);
}

/** The line that it stands on has a note of its own. */
function withoutComment<N extends Node>(node: N): N {
  // A node's copy is of its class.
  const bare = node.clone() as N;
  bare.comment = null;
  return bare;
}

const PLAIN_TEXT = /^[\p{L}\p{N}](?:[\p{L}\p{N} _.()/–-]*[\p{L}\p{N})_])?$/u;

/** Databases write NULL into cells, which is no value to YAML. */
const isPlain = (text: string): boolean => PLAIN_TEXT.test(text) && !/^null$/i.test(text);

const isComment = (line: Value | Line): line is Comment => typeof line === "object" && "comment" in line;

function scalarOf(text: string, type: "PLAIN" | "QUOTE_SINGLE" | "QUOTE_DOUBLE"): Scalar<string> {
  const scalar = new Scalar(text);
  scalar.type = type;
  return scalar;
}

function onOneLine<C extends YAMLMap | YAMLSeq>(collection: C, items: C["items"]): C {
  collection.flow = true;
  collection.items = items;
  return collection;
}

function mapOf(lines: readonly Line[], indent: number): Node {
  const map = new YAMLMap();
  const comments: string[] = [];
  for (const line of lines) {
    if (isComment(line)) {
      comments.push(line.comment);
      continue;
    }
    const key = nodeOf(line.key, indent);
    const value = nodeOf(line.value, indent + INDENT);
    key.commentBefore = comments.splice(0).join("\n");
    const isBelow = standsBelow(line.value);
    // The library puts one more blank before it.
    if (line.note !== undefined) (isBelow ? key : value).comment = `  # ${line.note}`;
    map.items.push(new Pair(key, value));
  }
  return withComments(map, comments);
}

function listOf(items: readonly (Value | Comment)[], indent: number): Node {
  const list = new YAMLSeq();
  const comments: string[] = [];
  for (const item of items) {
    if (isComment(item)) {
      comments.push(item.comment);
      continue;
    }
    const node = nodeOf(item, indent + INDENT);
    node.commentBefore = comments.splice(0).join("\n");
    list.items.push(node);
  }
  return withComments(list, comments);
}

/** Adds comments below the last item. Where there are only comments, the value is left out rather than written as empty. */
function withComments(collection: YAMLMap | YAMLSeq, comments: readonly string[]): Node {
  const node = collection.items.length > 0 ? collection : scalarOf("", "PLAIN");
  if (collection.items.length > 0) node.comment = comments.join("\n");
  else node.commentBefore = comments.join("\n");
  return node;
}

const standsBelow = (value: Value): boolean => typeof value === "object" && ("block" in value || "items" in value);
