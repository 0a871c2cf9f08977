import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { invalidJson, toObjectRow } from "./json-row.ts";
import { EMPTY, MAX_ROW_BYTES, malformed, type Row, type RowParser, rawText, rowTooLong } from "./row.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LF = 10;

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
 * Reads a JSON array item by item in flat memory; the line of a row is its index. Only the items' borders are found here, each
 * item is then parsed by itself. After the first fault nothing is read: a missing quote turns everything behind it inside out.
 *
 * Throws a usage failure for a file that is no array and holds none, or several.
 */
export class JsonArrayParser implements RowParser {
  readonly #name: string;
  readonly #wanted: string | undefined;
  readonly #finder: ListFinder;
  #isObject = false;
  #expects: "document" | "list" | "no list" | "first item" | "item" | "comma" | "end of object" | "nothing" =
    "document";
  /** What begins something whose end is still to come. */
  #carry: Buffer = EMPTY;
  /** Line ends before that. */
  #lineEnds = 0;
  #items = 0;
  stopped = false;

  constructor({ name = "The input", rows }: JsonOptions = {}) {
    this.#name = name;
    this.#wanted = rows;
    this.#finder = new ListFinder(rows);
  }

  get hasBegun(): boolean {
    return !["document", "list", "no list"].includes(this.#expects);
  }

  get lineEnds(): number {
    return this.#lineEnds + lineEndsIn(this.#carry);
  }

  take(block: Buffer): Row[] {
    return this.#read(this.#carry.length === 0 ? block : Buffer.concat([this.#carry, block]), false);
  }

  end(): Row[] {
    return this.#read(this.#carry, true);
  }

  #read(bytes: Buffer, isEnd: boolean): Row[] {
    const rows: Row[] = [];
    let at = 0;
    while (!this.stopped) {
      at = this.#behindBlanks(bytes, at);
      const isOver = at === bytes.length;
      if (isOver && isEnd) rows.push(...this.#atEnd());
      const next = isOver ? undefined : this.#step(bytes, at, isEnd, rows);
      if (next === undefined) break;
      at = next;
    }
    for (const row of rows) if (row.kind === "malformed" && !row.bordersKnown) this.stopped = true;
    this.#carry = this.stopped ? EMPTY : Buffer.from(bytes.subarray(at));
    return rows;
  }

  #behindBlanks(bytes: Buffer, from: number): number {
    let at = from;
    for (; isWhite(bytes[at]); at += 1) if (bytes[at] === LF) this.#lineEnds += 1;
    return at;
  }

  #atEnd(): readonly Row[] {
    const expects = this.#expects;
    if (expects === "document" || expects === "nothing") return [];
    if (expects === "list" || expects === "no list") throw this.#withoutList(expects === "list");
    const missing = expects === "end of object" ? "} that ends its object" : "] that ends the array";
    return [this.#invalid(EMPTY, `The file ends here, without the ${missing}.`, CUT_OFF)];
  }

  /** Takes what begins at a place; gives the place behind it, or undefined where nothing more can be taken. */
  #step(bytes: Buffer, at: number, isEnd: boolean, rows: Row[]): number | undefined {
    const byte = bytes[at];
    const fault = (message: string, hint: string): undefined => {
      const end = bytes.indexOf(LF, at);
      if (end === -1 && !isEnd && bytes.length - at <= MAX_ROW_BYTES) return;
      // From there to the line's end is what the report shows of it.
      const rest = bytes.subarray(at, end === -1 ? bytes.length : end);
      rows.push(this.#invalid(rest, `${message} (line ${this.#lineEnds + 1}). Nothing after it was read.`, hint));
    };
    switch (this.#expects) {
      case "document":
        return this.#begin(byte, at);
      case "list":
      case "end of object":
        return this.#walk(bytes, at);
      case "no list":
        throw this.#withoutList(false, byte);
      case "comma":
        if (byte === COMMA) this.#expects = "item";
        else if (byte === CLOSE_LIST) this.#expects = this.#isObject ? "end of object" : "nothing";
        else return fault("A comma or ] is missing before this", "Add it there.");
        return at + 1;
      case "nothing":
        return fault(
          "There is more after the ] that ends the array",
          "A .json file is one array; for one object per line use .ndjson.",
        );
      case "first item":
        if (byte === COMMA) return fault("There is a comma before the first item", "Remove the comma.");
        if (byte !== CLOSE_LIST) return this.#item(bytes, at, isEnd, rows);
        this.#expects = "comma";
        return at;
      case "item":
        if (byte === CLOSE_LIST || byte === COMMA)
          return fault("There is no item after the comma", "Remove the comma.");
        return this.#item(bytes, at, isEnd, rows);
    }
  }

  #begin(byte: number | undefined, at: number): number {
    if (byte !== OPEN_LIST && byte !== OPEN_OBJECT)
      throw new Failure("usage", `${this.#name} is not JSON: it begins with neither [ nor {.`, { hint: WHAT_IT_IS });
    this.#isObject = byte === OPEN_OBJECT;
    this.#expects = this.#isObject ? "list" : "first item";
    return this.#isObject ? at : at + 1;
  }

  /** Goes on to the list of rows and, behind that, to the end of the object. */
  #walk(bytes: Buffer, from: number): number {
    const isBehindList = this.#expects === "end of object";
    const found = this.#finder.find(bytes, from);
    const { isClosed } = this.#finder;
    if (found !== undefined && isBehindList && !isClosed)
      throw new Failure("usage", `${this.#name} holds the list ${this.#wanted} twice.`, { hint: "Export it again." });
    if (found !== undefined) this.#expects = isBehindList ? "nothing" : isClosed ? "no list" : "first item";
    const at = found ?? bytes.length;
    this.#lineEnds += lineEndsIn(bytes.subarray(from, at));
    return at;
  }

  #item(bytes: Buffer, at: number, isEnd: boolean, rows: Row[]): number | undefined {
    const end = endOfItem(bytes, at, isEnd);
    const item = bytes.subarray(at, end);
    const firstLine = this.#lineEnds + 1;
    const options = { bordersKnown: false, note: "Nothing after this item was read.", firstLine };
    if (item.length > MAX_ROW_BYTES) rows.push(rowTooLong(this.#items, item, false));
    else if (end !== undefined) rows.push(toObjectRow(item, this.#items, options));
    else if (isEnd) {
      const { message } = invalidJson(item.toString(), firstLine);
      rows.push(this.#invalid(item, `The file ends inside this item. ${message}`, CUT_OFF));
    }
    const row = rows.at(-1);
    if (end === undefined || (row?.kind === "malformed" && !row.bordersKnown)) return undefined;
    this.#items += 1;
    this.#lineEnds += lineEndsIn(item);
    this.#expects = "comma";
    return end;
  }

  #invalid(bytes: Buffer, message: string, hint: string): Row {
    return malformed(this.#items, rawText(bytes), false, { rule: "json-invalid", message, hint });
  }

  /** @param next what follows the object. */
  #withoutList(isCut: boolean, next?: number): Failure {
    const { keys, lists } = this.#finder;
    const [first, ...others] = Array.from(lists, (list) => cleanText(list, 100));
    const fail = (what: string, hint: string) => new Failure("usage", `${this.#name} ${what}.`, { hint });
    if (isCut) return fail("ends inside its first object", "It may have been cut off: write or copy it again.");
    if (next === OPEN_OBJECT)
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

const CUT_OFF = "The file may have been cut off: write or copy it again.";
const WHAT_IT_IS = "A .json file is an array of rows or of {action, data}, or an object that holds one.";

const isWhite = (byte: number | undefined): boolean => byte === 0x20 || byte === LF || byte === 13 || byte === 9;

/** Where the item at a place ends; undefined when that is still to come. */
function endOfItem(bytes: Buffer, from: number, isEnd: boolean): number | undefined {
  const first = bytes[from];
  if (first === QUOTE) {
    const end = endOfString(bytes, from);
    return end > bytes.length ? undefined : end;
  }
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    for (let at = from; at < bytes.length; at += 1)
      if (isWhite(bytes[at]) || bytes[at] === COMMA || bytes[at] === CLOSE_LIST) return at;
    return isEnd ? bytes.length : undefined;
  }
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Behind the quote that ends the string which begins at a place; beyond the bytes where it does not. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function lineEndsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** Walks down the objects of a JSON document to a list of rows. Nothing of the document is kept. */

/** As many are named, and as long may their keys be. */
const MOST_LISTS = 10;
const LONGEST_KEY = 100;
/** Rows lie in lists that are not deeper than this. */
const DEEPEST = 8;

export class ListFinder {
  /** Paths of the lists that hold objects, such as `data` and `result.items`. */
  readonly lists = new Set<string>();
  /** Keys of the document itself. */
  readonly keys = new Set<string>();
  /** Behind the brace that ends the document. */
  isClosed = false;
  readonly #wanted: string | undefined;
  /** The keys that lead to where it is: one for each object that is open. */
  readonly #path: string[] = [];
  /** How deep it is in a list, or in an object that is too deep. */
  #inside = 0;
  #isInString = false;
  #isEscaped = false;
  #text: number[] = [];

  /** @param wanted the path of the list to find. */
  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  /** The place behind the `[` of the wanted list or behind the document; undefined where neither is in the bytes. */
  find(bytes: Buffer, from: number): number | undefined {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#isInString) this.#takeOfString(byte);
      else if (byte === QUOTE) {
        this.#isInString = true;
        this.#text = [];
      } else if (this.#inside > 0) this.#takeInside(byte);
      else if (this.#take(byte)) return at + 1;
    }
    return undefined;
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

  /** Whether that is what was looked for, or the end. */
  #take(byte: number): boolean {
    if (byte === COLON) this.#takeKey();
    else if (byte === OPEN_OBJECT && this.#path.length < DEEPEST) this.#path.push("");
    else if (byte === CLOSE_OBJECT) {
      this.#path.pop();
      this.isClosed = this.#path.length === 0;
    } else if (byte === OPEN_LIST && this.#path.join(".") === this.#wanted) return true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#inside = 1;
    return this.isClosed;
  }

  #takeKey(): void {
    const key = Buffer.from(this.#text).toString();
    this.#path[this.#path.length - 1] = key;
    if (this.#path.length === 1) this.keys.add(key);
  }
}
