/** The text of a config as a document. JSON is read as the part of YAML that it is. */

import {
  type Alias,
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
import { askedIn } from "../map/template.ts";
import { cleanText } from "../text.ts";
import { type ConfigDocument, type ConfigPath, type ConfigProblem, type Position, pathKey } from "./document.ts";

/** Far above any honest config; nested aliases quickly grow past it. */
const MOST_NODES = 100_000;

/** Messages by the parser's codes. Its own messages quote the text, which may hold a key that should not be there. */
const SYNTAX: Readonly<Record<string, string>> = {
  BAD_DQ_ESCAPE: "unknown escape in double quotes; single quotes take a backslash as it is",
  BAD_INDENT: "the indentation or a bracket does not fit what comes before",
  BAD_SCALAR_START: "text that starts with this character needs quotes",
  BLOCK_AS_IMPLICIT_KEY: 'text with ": " inside needs quotes',
  MISSING_CHAR: "a closing quote or bracket, a comma or a colon is missing",
  MULTILINE_IMPLICIT_KEY: "a key must be on one line; a colon may be missing",
  MULTIPLE_DOCS: "a config is one document; a second one begins here",
  TAB_AS_INDENT: "YAML is indented with blanks, not tabs",
  TAG_RESOLVE_FAILED: "tags (!name) are not supported; put text in quotes",
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
    uniqueKeys: false, // reported here, by the text of the keys and with both places
    prettyErrors: false,
    lineCounter: lines,
    logLevel: "error",
  });
  const reader = new NodeReader(file, parsed, lines);
  reader.complainOfSyntax(body);

  let root = toNode(parsed.contents);
  let start: Position = { file, line: 1, column: 1 };
  if (inside !== undefined) {
    const pair = isMap(root) ? root.items.find(({ key }) => isScalar(key) && key.value === inside) : undefined;
    if (pair === undefined) return undefined;
    const key = toNode(pair.key);
    if (key?.range) start = reader.at(key.range[0]);
    root = toNode(pair.value);
  }
  // After a syntax error the rest is guesswork: only the error is reported.
  const value = reader.problems.length > 0 ? {} : (reader.read(root, [], start, []) ?? {});
  const { positions, keyPositions, problems } = reader;
  return { file, value, positions, keyPositions, problems };
}

/** Reads the nodes of a document, notes where each stands, and what is wrong with it. */
class NodeReader {
  readonly positions = new Map<string, Position>();
  readonly keyPositions = new Map<string, Position>();
  readonly problems: ConfigProblem[] = [];
  readonly #file: string;
  readonly #parsed: ReturnType<typeof parseDocument>;
  readonly #lines: LineCounter;
  readonly #targets = new Map<Alias, Node | undefined>();
  #nodes = 0;

  constructor(file: string, parsed: ReturnType<typeof parseDocument>, lines: LineCounter) {
    this.#file = file;
    this.#parsed = parsed;
    this.#lines = lines;
  }

  at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.#file, line: Math.max(1, line), column: Math.max(1, col) };
  }

  #complain(where: Position, path: ConfigPath, message: string): void {
    this.problems.push({ ...where, path, message });
  }

  /** Reports what is not YAML, or not text at all. */
  complainOfSyntax(body: string): void {
    // A comment that swallowed a bracket causes errors further down; only the comment is reported.
    const cuts = this.#parsed.errors.length === 0 ? [] : cutScalars(this.#parsed);
    for (const cut of cuts) this.#complain(this.at(cutAt(cut)), [], CUT);
    const reported = new Set<string>();
    for (const { code, pos } of cuts.length > 0 ? [] : [...this.#parsed.errors, ...this.#parsed.warnings]) {
      const place = `${code} ${pos[0]}`;
      if (!reported.has(place)) this.#complain(this.at(pos[0]), [], SYNTAX[code] ?? "this is not valid YAML");
      reported.add(place);
    }
    const damaged = body.indexOf("\ufffd");
    if (damaged !== -1) this.#complain(this.at(damaged), [], "this is not UTF-8");
  }

  read(node: Node | null | undefined, path: ConfigPath, around: Position, aliases: readonly Node[]): unknown {
    const here = node?.range ? this.at(node.range[0]) : around;
    this.positions.set(pathKey(path), here);
    this.#nodes += 1;
    if (this.#nodes > MOST_NODES) {
      if (this.#nodes === MOST_NODES + 1) this.#complain(here, path, "the config expands too far; are aliases nested?");
      return null;
    }
    if (node === null || node === undefined) return null;
    if (isAlias(node)) {
      const target = this.#targetOf(node);
      if (target === undefined) this.#complain(here, path, "there is no anchor of this name before it");
      else if (aliases.includes(target)) this.#complain(here, path, "an alias can't contain itself");
      else return this.read(target, path, here, [...aliases, target]);
      return null;
    }
    if (isMap(node)) return this.#readMap(node, path, here, aliases);
    if (isSeq(node)) {
      return node.items.map((item, index) => this.read(toNode(item), [...path, index], here, aliases));
    }
    if (!isScalar(node)) return null;
    if (path[0] !== "sources" || node.value === null) return node.value;
    const written = node.source ?? String(node.value);
    const asked = askedIn(written);
    if (asked !== undefined) this.#complain(here, path, `is still to be filled in: ${cleanText(asked, 200)}`);
    else if (isCut(node)) this.#complain(this.at(cutAt(node)), path, CUT);
    return written;
  }

  /** Each alias is looked up once: the look walks through the whole document. */
  #targetOf(alias: Alias): Node | undefined {
    if (!this.#targets.has(alias)) this.#targets.set(alias, alias.resolve(this.#parsed));
    return this.#targets.get(alias);
  }

  #readMap(map: YAMLMap, path: ConfigPath, here: Position, aliases: readonly Node[]): object {
    const value: Record<string, unknown> = {};
    if (path[0] === "sources") {
      const column = bareTemplate(map);
      if (column !== undefined)
        this.#complain(here, path, `is a map as written; a template needs quotes: "{${column}}"`);
    }
    for (const { key, value: item } of map.items) {
      const keyNode = toNode(key);
      const where = keyNode?.range ? this.at(keyNode.range[0]) : here;
      if (!isScalar(keyNode)) {
        this.#complain(where, path, "a key must be text");
        continue;
      }
      const name = keyNode.source ?? String(keyNode.value);
      const inner = [...path, name];
      if (path[0] === "sources" && isCut(keyNode)) this.#complain(this.at(cutAt(keyNode)), inner, CUT);
      const first = this.keyPositions.get(pathKey(inner));
      if (name === "<<" || name === "__proto__") this.#complain(where, inner, "can't be used as a key");
      else if (Object.hasOwn(value, name)) {
        this.#complain(where, inner, `occurs twice, first in line ${first?.line ?? where.line}`);
      } else {
        this.keyPositions.set(pathKey(inner), where);
        value[name] = this.read(toNode(item), inner, where, aliases);
      }
    }
    return value;
  }
}

const CUT = "a # after a blank begins a comment here and cuts the text; quote all of it, or put a blank after the #";

/** Whether `Gala #7` was written without quotes: YAML takes it for `Gala` and a comment. */
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

/** The name in `{Name}` written without quotes: YAML takes it for a map. */
function bareTemplate(map: YAMLMap): string | undefined {
  const [pair, ...others] = map.items;
  if (map.flow !== true || pair === undefined || others.length > 0 || !isScalar(pair.key)) return undefined;
  return pair.value === null ? (pair.key.source ?? String(pair.key.value)) : undefined;
}

/** Items of parsed collections are typed as unknown but are nodes. */
const toNode = (item: unknown): Node | null => (isScalar(item) || isCollection(item) || isAlias(item) ? item : null);
