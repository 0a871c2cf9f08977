import { endOfElement, JSON_BYTES, stringEnd } from "../actions/json.ts";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { LF, lineEndsIn } from "./encoding.ts";
import { CUT_OFF, toObjectRow } from "./ndjson.ts";
import { MAX_ROW_BYTES, malformed, type Row, type RowParser, rowTooLong } from "./row.ts";

const [QUOTE, COLON, COMMA, , OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = JSON_BYTES;

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
 * behind it inside out. Of an object, what stands around its list of rows is passed over.
 *
 * Throws a usage failure for a file that is no array and holds none, or several.
 */
export class JsonArrayParser implements RowParser {
  readonly #name: string;
  readonly #wanted: string | undefined;
  /** Before the document, in objects around the list of rows, in the list, or behind the document. */
  #place: "before" | "around" | "list" | "behind" = "before";
  /** The keys that lead to where it is: one for each object that is open around the list. */
  readonly #path: string[] = [];
  /** How deep it is in another list, or in an object that is too deep to hold rows. */
  #inside = 0;
  /** The last text around the list; a key, if a colon follows. */
  #text = "";
  /** Paths of the lists that hold objects, such as `data` and `result.items`. */
  readonly #lists = new Set<string>();
  /** Which keys of an action the document itself has. */
  readonly #actionKeys = new Set<string>();
  #items = 0;
  lineEnds = 0;
  hasBegun = false;

  constructor({ name = "The input", rows }: JsonOptions = {}) {
    this.#name = name;
    this.#wanted = rows;
  }

  read(bytes: Buffer, isEnd: boolean, rows: Row[]): number {
    let at = this.#passBlanks(bytes, 0);
    while (at < bytes.length && this.#place !== "behind") {
      const next = this.#place === "list" ? this.#item(bytes, at, isEnd, rows) : this.#pass(bytes, at, isEnd);
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

  /** Passes over what stands at a place outside the list; gives the place behind it, undefined where its end is still to come. */
  #pass(bytes: Buffer, at: number, isEnd: boolean): number | undefined {
    const byte = bytes[at];
    if (this.#place === "before" && byte !== OPEN_LIST && byte !== OPEN_OBJECT)
      throw this.#failure("is not JSON: it begins with neither [ nor {", WHAT_IT_IS);
    this.#place = "around";
    if (byte === QUOTE) return this.#passText(bytes, at, isEnd);
    if (this.#inside > 0) this.#passInside(byte);
    else this.#passAround(byte);
    return at + 1;
  }

  #passText(bytes: Buffer, at: number, isEnd: boolean): number | undefined {
    const end = stringEnd(bytes, at);
    if (end - at > MAX_ROW_BYTES)
      throw this.#failure("holds a text of more than 1 MiB outside its list of rows", "Export it without that.");
    if (end === bytes.length && !isEnd) return undefined;
    this.lineEnds += lineEndsIn(bytes.subarray(at, end));
    if (end === bytes.length) return end;
    if (this.#inside === 0) this.#text = bytes.toString("utf8", at + 1, end);
    return end + 1;
  }

  #passInside(byte: number | undefined): void {
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#inside -= 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      const isRow = byte === OPEN_OBJECT && this.#inside === 1 && this.#path.length < DEEPEST;
      if (isRow && this.#lists.size < MOST_LISTS) this.#lists.add(this.#path.join("."));
      this.#inside += 1;
    }
  }

  #passAround(byte: number | undefined): void {
    if (byte === COLON) {
      this.#path[this.#path.length - 1] = this.#text;
      if (this.#path.length === 1 && ["action", "data"].includes(this.#text)) this.#actionKeys.add(this.#text);
    } else if (byte === OPEN_OBJECT && this.#path.length < DEEPEST) this.#path.push("");
    else if (byte === CLOSE_OBJECT) {
      this.#path.pop();
      if (this.#path.length === 0) this.#place = "behind";
    } else if (byte === OPEN_LIST && (this.#path.length === 0 || this.#path.join(".") === this.#wanted)) {
      if (this.hasBegun) throw this.#failure(`holds the list ${this.#wanted} twice`, "Export it again.");
      this.hasBegun = true;
      this.#place = "list";
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#inside = 1;
  }

  /** Takes the item at a place; gives the place behind the comma or bracket that follows, undefined where the reading ends. */
  #item(bytes: Buffer, at: number, isEnd: boolean, rows: Row[]): number | undefined {
    const end = endOfElement(bytes, at);
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
    if (bytes[end] === CLOSE_LIST) this.#place = this.#path.length === 0 ? "behind" : "around";
    return end + 1;
  }

  /** @param byte the first behind the document. */
  #refuseMore(byte: number | undefined, rows: Row[]): void {
    if (!this.hasBegun) throw this.#withoutList(byte === OPEN_OBJECT);
    const message = `There is more after the ] that ends the array (line ${this.lineEnds + 1}). Nothing after it was read.`;
    this.#fail(rows, message, "A .json file is one array; for one object per line use .ndjson.");
  }

  #refuseEnd(rows: Row[]): void {
    if (this.#place === "before" || (this.#place === "behind" && this.hasBegun)) return;
    if (!this.hasBegun) throw this.#withoutList(false);
    const missing = this.#place === "list" ? "] that ends the array" : "} that ends its object";
    this.#fail(rows, `The file ends here, without the ${missing}.`, CUT_OFF);
  }

  /** Nothing is read behind that. */
  #fail(rows: Row[], message: string, hint: string): void {
    rows.push(malformed(this.#items, "", false, { rule: "json-invalid", message, hint }));
  }

  #failure(what: string, hint: string): Failure {
    return new Failure("usage", `${this.#name} ${what}.`, { hint });
  }

  /** @param isOfLines another object follows the first. */
  #withoutList(isOfLines: boolean): Failure {
    if (this.#place !== "behind")
      return this.#failure("ends inside its first object", "It may have been cut off: write or copy it again.");
    if (isOfLines)
      return this.#failure("has one JSON object per line, not one array", "Name it .ndjson, or add --format ndjson.");
    if (this.#actionKeys.size === 2)
      return this.#failure("is one {action, data} object, not an array of them", "Put [ ] around it.");
    const is = this.#wanted === undefined ? "is" : `has no list ${this.#wanted}; it is`;
    const lists = [...this.#lists];
    const [first, ...others] = lists.map((list) => cleanText(list, 100));
    if (first === undefined) return this.#failure(`${is} an object without a list of rows`, WHAT_IT_IS);
    const which = others.length === 0 ? `a list of rows: ${first}` : `several lists: ${[first, ...others].join(", ")}`;
    return new HoldsLists(
      `${this.#name} ${is} an object that holds ${which}.`,
      `Name the list in its source, such as rows: ${first}. tickets init writes one.`,
      lists,
    );
  }
}

/** As many lists are named. */
const MOST_LISTS = 10;
/** Rows lie in lists that are not deeper than this. */
const DEEPEST = 8;

const WHAT_IT_IS = "A .json file is an array of rows or of {action, data}, or an object that holds one.";

const isWhite = (byte: number | undefined): boolean => byte === 0x20 || byte === LF || byte === 13 || byte === 9;

function withoutBlanks(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (isWhite(bytes[end - 1])) end -= 1;
  return bytes.subarray(0, end);
}
