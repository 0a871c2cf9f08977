/** Walks down the objects of a JSON document to a list of rows. Nothing of the document is kept. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

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
