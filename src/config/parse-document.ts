/** The text of a config as a document. JSON is read as the part of YAML that it is. */

import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml";
import { cleanText } from "../actions/text.ts";
import { askedIn } from "../mapping/placeholder.ts";
import { type ConfigDocument, type ConfigPath, type ConfigProblem, type Position, pathKey } from "./document.ts";

/** Far above any honest config; an alias of aliases grows past it quickly. */
const MOST_NODES = 100_000;

/**
 * The parser's own messages quote the text, and the text may hold a key that should not be there: only their codes are
 * used.
 */
const SYNTAX: Readonly<Record<string, string>> = {
  BAD_DQ_ESCAPE: "unknown escape in double quotes; single quotes take a backslash as it is",
  BAD_INDENT: "the indentation or a bracket does not fit what stands before",
  BAD_SCALAR_START: "text that starts with this character needs quotes",
  BLOCK_AS_IMPLICIT_KEY: 'text with ": " inside needs quotes',
  MISSING_CHAR: "a closing quote or bracket, a comma or a colon is missing",
  MULTILINE_IMPLICIT_KEY: "a key must stand on one line; a colon may be missing",
  MULTIPLE_DOCS: "a config is one document, here begins a second",
  TAB_AS_INDENT: "tabs do not indent in YAML, blanks do",
  TAG_RESOLVE_FAILED: "tags (!name) are not read; quotes make a text",
  UNEXPECTED_TOKEN: 'unexpected text; a value with "{" or quotes inside needs quotes around it',
};

/**
 * Parses the text of a config. What stands under `sources` becomes text exactly as written (`0123`, `1.10`, `yes`),
 * elsewhere numbers and booleans are such. Every problem is in the result; nothing is thrown.
 *
 * With `inside`, the config is what this key of the file holds (package.json); undefined when it holds no such key.
 */
export function parseConfigText(file: string, text: string, inside?: string): ConfigDocument | undefined {
  const lines = new LineCounter();
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  const parsed = parseDocument(body, {
    schema: "core",
    resolveKnownTags: false,
    uniqueKeys: false, // told here, by the text of the keys and with both places
    prettyErrors: false,
    lineCounter: lines,
    logLevel: "error",
  });
  const positions = new Map<string, Position>();
  const keyPositions = new Map<string, Position>();
  const problems: ConfigProblem[] = [];
  let nodes = 0;

  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const complain = (where: Position, path: ConfigPath, message: string) => problems.push({ ...where, path, message });

  const read = (
    node: Node | null | undefined,
    path: ConfigPath,
    around: Position,
    aliases: readonly Node[],
  ): unknown => {
    const here = node?.range ? at(node.range[0]) : around;
    positions.set(pathKey(path), here);
    nodes += 1;
    if (nodes > MOST_NODES) {
      if (nodes === MOST_NODES + 1) complain(here, path, "the config grows beyond measure; are aliases nested?");
      return null;
    }
    if (node === null || node === undefined) return null;
    if (isAlias(node)) {
      const target = node.resolve(parsed);
      if (target === undefined) complain(here, path, "no anchor of this name stands before it");
      else if (aliases.includes(target)) complain(here, path, "an alias can't hold itself");
      else return read(target, path, here, [...aliases, target]);
      return null;
    }
    if (isMap(node)) return readMap(node, path, here, aliases);
    if (isSeq(node)) {
      return node.items.map((item, index) => read(toNode(item), [...path, index], here, aliases));
    }
    if (!isScalar(node)) return null;
    if (path[0] !== "sources" || node.value === null) return node.value;
    const written = node.source ?? String(node.value);
    const asked = askedIn(written);
    if (asked !== undefined) complain(here, path, `is still to be filled in: ${cleanText(asked, 200)}`);
    else if (isCut(node)) complain(at(cutAt(node)), path, CUT);
    return written;
  };

  const readMap = (map: YAMLMap, path: ConfigPath, here: Position, aliases: readonly Node[]): object => {
    const value: Record<string, unknown> = {};
    if (path[0] === "sources") {
      const column = bareTemplate(map);
      if (column !== undefined) complain(here, path, `is a map as it stands; a template needs quotes: "{${column}}"`);
    }
    for (const { key, value: item } of map.items) {
      const keyNode = toNode(key);
      const where = keyNode?.range ? at(keyNode.range[0]) : here;
      if (!isScalar(keyNode)) {
        complain(where, path, "a key must be text");
        continue;
      }
      const name = keyNode.source ?? String(keyNode.value);
      const inner = [...path, name];
      if (path[0] === "sources" && isCut(keyNode)) complain(at(cutAt(keyNode)), inner, CUT);
      const first = keyPositions.get(pathKey(inner));
      if (name === "<<" || name === "__proto__") complain(where, inner, "can't be used as a key");
      else if (Object.hasOwn(value, name)) {
        complain(where, inner, `stands twice, first in line ${first?.line ?? where.line}`);
      } else {
        keyPositions.set(pathKey(inner), where);
        value[name] = read(toNode(item), inner, where, aliases);
      }
    }
    return value;
  };

  // A comment that swallowed a bracket leaves errors further down, none of which names it.
  const cuts = parsed.errors.length === 0 ? [] : cutScalars(parsed);
  for (const cut of cuts) complain(at(cutAt(cut)), [], CUT);
  const told = new Set<string>();
  for (const { code, pos } of cuts.length > 0 ? [] : [...parsed.errors, ...parsed.warnings]) {
    const place = `${code} ${pos[0]}`;
    if (!told.has(place)) complain(at(pos[0]), [], SYNTAX[code] ?? "this is not valid YAML");
    told.add(place);
  }
  const damaged = body.indexOf("\ufffd");
  if (damaged !== -1) complain(at(damaged), [], "this is not UTF-8");

  let root = toNode(parsed.contents);
  let start: Position = { file, line: 1, column: 1 };
  if (inside !== undefined) {
    const pair = isMap(root) ? root.items.find(({ key }) => isScalar(key) && key.value === inside) : undefined;
    if (pair === undefined) return undefined;
    const key = toNode(pair.key);
    if (key?.range) start = at(key.range[0]);
    root = toNode(pair.value);
  }
  // After a syntax error the rest is guesswork: only the error is reported.
  const value = problems.length > 0 ? {} : (read(root, [], start, []) ?? {});
  const commentedKeys = body.split("\n").flatMap((text, index) => {
    const key = /^\s*#\s?([\w-]+):(?:\s|$)/.exec(text)?.[1];
    return key === undefined ? [] : [{ key, line: index + 1 }];
  });
  return { file, value, positions, keyPositions, problems, commentedKeys };
}

const CUT = "a # after a blank begins a comment here and cuts the text; quote all of it, or put a blank after the #";

/** Whether `Gala #7` was written without quotes: YAML takes it for `Gala` and a comment, whoever wrote it did not. */
function isCut({ type, comment }: Scalar): boolean {
  return type === "PLAIN" && typeof comment === "string" && /^#*[^\s#]/.test(comment);
}

const cutAt = ({ range }: Scalar): number => (range?.[1] ?? 0) + 1;

function cutScalars(parsed: ReturnType<typeof parseDocument>): readonly Scalar[] {
  const cuts: Scalar[] = [];
  visit(parsed, {
    Scalar: (_key, node) => {
      if (isCut(node)) cuts.push(node);
    },
  });
  return cuts;
}

/** The name in `{Name}` written without quotes, which YAML takes for a map with a key and no value. */
function bareTemplate(map: YAMLMap): string | undefined {
  const [pair, ...others] = map.items;
  if (map.flow !== true || pair === undefined || others.length > 0 || !isScalar(pair.key)) return undefined;
  return pair.value === null ? (pair.key.source ?? String(pair.key.value)) : undefined;
}

/** Items of parsed collections are typed as unknown but are nodes. */
function toNode(item: unknown): Node | null {
  return isScalar(item) || isCollection(item) || isAlias(item) ? item : null;
}
