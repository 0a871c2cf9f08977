/** The leaf of metadataAttributes: lists of words under `trait_type` and `value`, in this order, as most programs write them. */

import { DOUBLED } from "./cells.ts";
import { copyBytes, isWords, type Leaf, NOT_PLAIN } from "./leaves.ts";

const [QUOTE, COMMA, COLON, BLANK, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Buffer.from(
  '",: \\[]{}',
) as unknown as readonly [number, number, number, number, number, number, number, number, number];

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const TRAIT_NAME = bytesOf("trait_type");
const VALUE_NAME = bytesOf("value");
const TRAIT = bytesOf('{"trait_type":"');
const VALUE = bytesOf('","value":"');
const TRAIT_CONTENT = bytesOf('[["trait_type","');
const VALUE_CONTENT = bytesOf('"],["value","');

/** Names of traits that are kept to be known again; more stand in no sound file. */
const MOST_KNOWN = 64;

/** Attributes that were written last as they stand in the content (`textsOf`): `content` up to `contentBytes`. */
export interface AttributesContent {
  readonly content: Uint8Array;
  readonly contentBytes: number;
}

export interface AttributesLeaf extends AttributesContent {
  readonly write: Leaf;
}

/** @param isNewTrait whether nobody has seen the trait, so that the reference is to be asked. */
export function createAttributesLeaf(isNewTrait: (trait: string) => boolean): AttributesLeaf {
  const known: Uint8Array[] = [];
  let content = Buffer.allocUnsafe(4096);
  let contentBytes = 0;
  const read = new ListCursor();

  function isKnown(bytes: Uint8Array, from: number, to: number): boolean {
    for (const trait of known) if (isEqual(bytes, from, to, trait)) return true;
    if (isNewTrait((bytes as Buffer).toString("utf8", from, to))) return false;
    // A copy: the memory of a range is given back, and a slice of a Buffer is none.
    if (known.length < MOST_KNOWN) known.push(Buffer.from(bytes.subarray(from, to)));
    return true;
  }

  const write: Leaf = (out, start, bytes, from, to, flags) => {
    // Brackets, names and marks take as much again in the content, and a little more.
    if (content.length < 4 * (to - from) + 64) content = Buffer.allocUnsafe(8 * (to - from) + 64);
    read.begin(bytes, from, to, flags);
    if (!read.takes(OPEN_LIST)) return NOT_PLAIN;
    let at = start;
    let end = 0;
    out[at++] = OPEN_LIST;
    content[end++] = OPEN_LIST;
    for (;;) {
      if (!(read.takes(OPEN) && read.takesName(TRAIT_NAME) && read.takesWords())) return NOT_PLAIN;
      if (!isKnown(bytes, read.textFrom, read.textTo)) return NOT_PLAIN;
      at = copyBytes(out, at, TRAIT, 0, TRAIT.length);
      at = copyBytes(out, at, bytes, read.textFrom, read.textTo);
      end = copyBytes(content, end, TRAIT_CONTENT, 0, TRAIT_CONTENT.length);
      end = copyBytes(content, end, bytes, read.textFrom, read.textTo);
      if (!(read.takes(COMMA) && read.takesName(VALUE_NAME) && read.takesWords() && read.takes(CLOSE)))
        return NOT_PLAIN;
      at = copyBytes(out, at, VALUE, 0, VALUE.length);
      at = copyBytes(out, at, bytes, read.textFrom, read.textTo);
      end = copyBytes(content, end, VALUE_CONTENT, 0, VALUE_CONTENT.length);
      end = copyBytes(content, end, bytes, read.textFrom, read.textTo);
      out[at++] = QUOTE;
      out[at++] = CLOSE;
      content[end++] = QUOTE;
      content[end++] = CLOSE_LIST;
      content[end++] = CLOSE_LIST;
      if (!read.takes(COMMA)) break;
      out[at++] = COMMA;
      content[end++] = COMMA;
    }
    if (!read.takes(CLOSE_LIST) || !read.isAtEnd) return NOT_PLAIN;
    out[at++] = CLOSE_LIST;
    content[end++] = CLOSE_LIST;
    contentBytes = end;
    return at;
  };
  return {
    write,
    get content() {
      return content;
    },
    get contentBytes() {
      return contentBytes;
    },
  };
}

/** Reads the JSON of a list token by token, whose quotes a table may have doubled. */
class ListCursor {
  /** Where the words stand that `takesWords` took. */
  textFrom = 0;
  textTo = 0;
  #bytes: Uint8Array = TRAIT;
  #at = 0;
  #to = 0;
  #flags = 0;

  begin(bytes: Uint8Array, from: number, to: number, flags: number): void {
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
    this.#flags = flags;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#to;
  }

  /** A mark, and the blank that many programs write behind it. */
  takes(mark: number): boolean {
    if (this.#at >= this.#to || this.#bytes[this.#at] !== mark) return false;
    this.#at += 1;
    if ((mark === COMMA || mark === COLON) && this.#bytes[this.#at] === BLANK) this.#at += 1;
    return true;
  }

  #takesQuote(): boolean {
    if (this.#bytes[this.#at] !== QUOTE) return false;
    this.#at += 1;
    if ((this.#flags & DOUBLED) === 0) return true;
    if (this.#bytes[this.#at] !== QUOTE) return false;
    this.#at += 1;
    return true;
  }

  /** A name in quotes and its colon. */
  takesName(name: Uint8Array): boolean {
    if (!this.#takesQuote() || !isEqual(this.#bytes, this.#at, this.#at + name.length, name)) return false;
    this.#at += name.length;
    return this.#takesQuote() && this.takes(COLON);
  }

  /** Words in quotes, without anything that JSON writes in another way. */
  takesWords(): boolean {
    if (!this.#takesQuote()) return false;
    this.textFrom = this.#at;
    while (this.#at < this.#to) {
      const byte = this.#bytes[this.#at] as number; // within its length
      if (byte === QUOTE) break;
      if (byte === BACKSLASH || byte < BLANK) return false;
      this.#at += 1;
    }
    this.textTo = this.#at;
    return this.#takesQuote() && isWords(this.#bytes, this.textFrom, this.textTo, this.#flags);
  }
}

function isEqual(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length) return false;
  for (let at = 0; at < other.length; at += 1) if (bytes[from + at] !== other[at]) return false;
  return true;
}
