import { JSON_BYTES, stringEnd } from "../actions/json.ts";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { LF, lineEndsIn } from "./encoding.ts";
import { CUT_OFF, toObjectRow } from "./ndjson.ts";
import { MAX_ROW_BYTES, malformed, type Row, type RowParser, rowTooLong } from "./row.ts";

const [QUOTE, COLON, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = JSON_BYTES;

export interface JsonOptions {
  /** What messages call the file. */
  readonly name?: string;
  /** The path of the list of rows, where the file is an object that holds one. */
  readonly rows?: string | undefined;
}

/** The file is an object, and which of its lists holds the rows was not said. */
export class HoldsLists extends Failure {
  readonly lists: readonly string[];

  constructor(message: string, hint: string, lists: readonly string[]) {
    super("usage", message, { hint });
    this.lists = lists;
  }
}

/**
 * Reads a JSON array item by item in flat memory; the line of a row is its index. Only the commas between items are found here,
 * what stands between two is then parsed by itself. After the first fault nothing is read: a missing quote turns everything
 * behind it inside out.
 *
 * Throws a usage failure for a file that is no array and holds none, or several.
 */
export class JsonArrayParser implements RowParser {
  readonly #name: string;
  readonly #wanted: string | undefined;
  readonly #document: DocumentWalk;
  #items = 0;
  lineEnds = 0;
  hasBegun = false;

  constructor({ name = "The input", rows }: JsonOptions = {}) {
    this.#name = name;
    this.#wanted = rows;
    this.#document = new DocumentWalk(rows);
  }

  read(bytes: Buffer, isEnd: boolean, rows: Row[]): number {
    const document = this.#document;
    let at = this.#passBlanks(bytes, 0);
    while (at < bytes.length && document.place !== "behind") {
      const next = document.place === "list" ? this.#item(bytes, at, isEnd, rows) : this.#walk(bytes, at);
      if (next === undefined) return at;
      at = this.#passBlanks(bytes, next);
    }
    if (at < bytes.length) this.#refuseMore(bytes[at], rows);
    else if (isEnd) this.#refuseEnd(rows);
    return at;
  }

  #passBlanks(bytes: Buffer, from: number): number {
    let at = from;
    for (; isWhite(bytes[at]); at += 1) if (bytes[at] === LF) this.lineEnds += 1;
    return at;
  }

  /** Goes on to the list of rows or to the end of the document; gives the place behind what it read. */
  #walk(bytes: Buffer, from: number): number {
    const document = this.#document;
    if (document.place === "before" && bytes[from] !== OPEN_LIST && bytes[from] !== OPEN_OBJECT)
      throw new Failure("usage", `${this.#name} is not JSON: it begins with neither [ nor {.`, { hint: WHAT_IT_IS });
    const at = document.walk(bytes, from);
    if (document.place === "list" && this.hasBegun)
      throw new Failure("usage", `${this.#name} holds the list ${this.#wanted} twice.`, { hint: "Export it again." });
    this.hasBegun ||= document.place === "list";
    this.lineEnds += lineEndsIn(bytes.subarray(from, at));
    return at;
  }

  /** Takes the item at a place; gives the place behind the comma or bracket that follows, undefined where the reading ends. */
  #item(bytes: Buffer, at: number, isEnd: boolean, rows: Row[]): number | undefined {
    const end = endOfItem(bytes, at);
    const item = withoutBlanks(bytes.subarray(at, end));
    if (item.length > MAX_ROW_BYTES) {
      rows.push(rowTooLong(this.#items, item.toString()));
      return undefined;
    }
    if (end === undefined && !isEnd) return undefined;
    if (item.length > 0) {
      const row = toObjectRow(item, this.#items, { firstLine: this.lineEnds + 1, isCut: end === undefined });
      rows.push(row);
      if (row.kind === "malformed" && !row.bordersKnown) return undefined;
    } else if (this.#items > 0 || bytes[at] === COMMA) {
      this.#fail(rows, `There is no item before this (line ${this.lineEnds + 1}).`, "Remove the comma.");
      return undefined;
    }
    this.#items += 1;
    this.lineEnds += lineEndsIn(bytes.subarray(at, end));
    if (end === undefined) return bytes.length;
    if (bytes[end] === CLOSE_LIST) this.#document.leaveList();
    return end + 1;
  }

  /** @param byte the first behind the document. */
  #refuseMore(byte: number | undefined, rows: Row[]): void {
    if (!this.hasBegun) throw this.#withoutList(byte === OPEN_OBJECT);
    const message = `There is more after the ] that ends the array (line ${this.lineEnds + 1}). Nothing after it was read.`;
    this.#fail(rows, message, "A .json file is one array; for one object per line use .ndjson.");
  }

  #refuseEnd(rows: Row[]): void {
    const { place } = this.#document;
    if (place === "before" || (place === "behind" && this.hasBegun)) return;
    if (!this.hasBegun) throw this.#withoutList(false);
    const missing = place === "list" ? "] that ends the array" : "} that ends its object";
    this.#fail(rows, `The file ends here, without the ${missing}.`, CUT_OFF);
  }

  /** Nothing is read behind that. */
  #fail(rows: Row[], message: string, hint: string): void {
    rows.push(malformed(this.#items, "", false, { rule: "json-invalid", message, hint }));
  }

  /** @param isOfLines another object follows the first. */
  #withoutList(isOfLines: boolean): Failure {
    const { keys, lists, place } = this.#document;
    const [first, ...others] = Array.from(lists, (list) => cleanText(list, 100));
    const fail = (what: string, hint: string) => new Failure("usage", `${this.#name} ${what}.`, { hint });
    if (place !== "behind")
      return fail("ends inside its first object", "It may have been cut off: write or copy it again.");
    if (isOfLines)
      return fail("has one JSON object per line, not one array", "Name it .ndjson, or add --format ndjson.");
    if (keys.has("action") && keys.has("data"))
      return fail("is one {action, data} object, not an array of them", "Put [ ] around it.");
    const is = this.#wanted === undefined ? "is" : `has no list ${this.#wanted}; it is`;
    if (first === undefined) return fail(`${is} an object without a list of rows`, WHAT_IT_IS);
    return new HoldsLists(
      `${this.#name} ${is} an object that holds ${others.length === 0 ? `a list of rows: ${first}` : `several lists: ${[first, ...others].join(", ")}`}.`,
      `Name the list in its source, such as rows: ${first}. tickets init writes one.`,
      [...lists],
    );
  }
}

const WHAT_IT_IS = "A .json file is an array of rows or of {action, data}, or an object that holds one.";

const isWhite = (byte: number | undefined): boolean => byte === 0x20 || byte === LF || byte === 13 || byte === 9;

function withoutBlanks(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (isWhite(bytes[end - 1])) end -= 1;
  return bytes.subarray(0, end);
}

/** The comma or bracket behind the item at a place; undefined when that is still to come. */
function endOfItem(bytes: Buffer, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (depth <= 0 && (byte === COMMA || byte === CLOSE_LIST)) return at;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
  }
  return undefined;
}

/** As many lists are named, and as long may their keys be. */
const MOST_LISTS = 10;
const LONGEST_KEY = 100;
/** Rows lie in lists that are not deeper than this. */
const DEEPEST = 8;

/** Walks through a JSON document, but for the items of its list of rows. Nothing of the document is kept. */
class DocumentWalk {
  /** Before the document, in objects around the list, in the list, or behind the document. */
  place: "before" | "around" | "list" | "behind" = "before";
  /** Paths of the lists that hold objects, such as `data` and `result.items`. */
  readonly lists = new Set<string>();
  /** Keys of the document itself. */
  readonly keys = new Set<string>();
  readonly #wanted: string | undefined;
  /** The keys that lead to where it is: one for each object that is open. */
  readonly #path: string[] = [];
  /** How deep it is in a list, or in an object that is too deep. */
  #inside = 0;
  #isInString = false;
  #isEscaped = false;
  #text: number[] = [];

  /** @param wanted the path of the list to find, where the document is none itself. */
  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  /** Gives the place behind the `[` of the list or behind the document; the end of the bytes where neither is in them. */
  walk(bytes: Buffer, from: number): number {
    this.place = "around";
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#isInString) this.#takeOfString(byte);
      else if (byte === QUOTE) {
        this.#isInString = true;
        this.#text = [];
      } else if (this.#inside > 0) this.#takeInside(byte);
      else this.#take(byte);
      if (this.place !== "around") return at + 1;
    }
    return bytes.length;
  }

  /** The list has ended. */
  leaveList(): void {
    this.place = this.#path.length === 0 ? "behind" : "around";
  }

  #takeOfString(byte: number): void {
    if (byte === QUOTE && !this.#isEscaped) this.#isInString = false;
    else if (this.#inside === 0 && this.#text.length < LONGEST_KEY) this.#text.push(byte);
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
  }

  #takeInside(byte: number): void {
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#inside -= 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      const isRow = byte === OPEN_OBJECT && this.#inside === 1 && this.#path.length < DEEPEST;
      if (isRow && this.lists.size < MOST_LISTS) this.lists.add(this.#path.join("."));
      this.#inside += 1;
    }
  }

  #take(byte: number): void {
    if (byte === COLON) this.#takeKey();
    else if (byte === OPEN_OBJECT && this.#path.length < DEEPEST) this.#path.push("");
    else if (byte === CLOSE_OBJECT) {
      this.#path.pop();
      if (this.#path.length === 0) this.place = "behind";
    } else if (byte === OPEN_LIST && (this.#path.length === 0 || this.#path.join(".") === this.#wanted))
      this.place = "list";
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#inside = 1;
  }

  #takeKey(): void {
    const key = Buffer.from(this.#text).toString();
    this.#path[this.#path.length - 1] = key;
    if (this.#path.length === 1) this.keys.add(key);
  }
}
