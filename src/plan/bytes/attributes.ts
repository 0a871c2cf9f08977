/** The leaf of metadataAttributes: lists of words under `trait_type` and `value`, in this order, as most programs write them. */

import type { Piece, RowMemory } from "../candidates/row-memory.ts";
import { DOUBLED } from "./cells.ts";
import { isWords, type Leaf, NOT_PLAIN } from "./leaves.ts";

const [QUOTE, COMMA, COLON, BLANK, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Buffer.from(
  '",: \\[]{}',
) as unknown as readonly [number, number, number, number, number, number, number, number, number];

/** Names of traits that are kept to be known again; more stand in no sound file. */
const MOST_KNOWN = 64;
/** Longer ones are asked for each time. */
const MOST_NAME_BYTES = 64;

/** Attributes that take more in the content are left to the reference. */
export const MOST_CONTENT_BYTES = 128 * 1024;

/** Attributes that were written last as they stand in the content (`textsOf`): `contentBytes` at `contentFrom`. */
export interface AttributesContent {
  readonly contentFrom: number;
  readonly contentBytes: number;
}

export interface AttributesLeaf extends AttributesContent {
  readonly write: Leaf;
}

/** @param isNewTrait whether nobody has seen the trait, so that the reference is to be asked. */
export function createAttributesLeaf(memory: RowMemory, isNewTrait: (trait: string) => boolean): AttributesLeaf {
  const { bytes } = memory;
  const known: Piece[] = [];
  let names = memory.allot(MOST_KNOWN * MOST_NAME_BYTES);
  const contentFrom = memory.allot(MOST_CONTENT_BYTES);
  let contentBytes = 0;
  const read = new ListCursor(memory);
  const trait = memory.keep('{"trait_type":"');
  const value = memory.keep('","value":"');
  const traitContent = memory.keep('[["trait_type","');
  const valueContent = memory.keep('"],["value","');

  function isKnown(from: number, to: number): boolean {
    const length = to - from;
    for (const name of known) if (name.length === length && memory.isSame(from, name.from, length)) return true;
    if (isNewTrait(memory.text(from, to))) return false;
    if (known.length < MOST_KNOWN && length <= MOST_NAME_BYTES) {
      known.push({ from: names, length });
      names = memory.copy(names, from, length);
    }
    return true;
  }

  const write: Leaf = (start, from, to, flags) => {
    // Brackets, names and marks take as much again in the content, and a little more.
    if (4 * (to - from) + 64 > MOST_CONTENT_BYTES) return NOT_PLAIN;
    read.begin(from, to, flags);
    if (!read.takes(OPEN_LIST)) return NOT_PLAIN;
    let at = start;
    let end = contentFrom;
    bytes[at++] = OPEN_LIST;
    bytes[end++] = OPEN_LIST;
    for (;;) {
      if (!(read.takes(OPEN) && read.takesTraitName() && read.takesWords())) return NOT_PLAIN;
      if (!isKnown(read.textFrom, read.textTo)) return NOT_PLAIN;
      at = memory.copy(at, trait.from, trait.length);
      at = memory.copy(at, read.textFrom, read.textTo - read.textFrom);
      end = memory.copy(end, traitContent.from, traitContent.length);
      end = memory.copy(end, read.textFrom, read.textTo - read.textFrom);
      if (!(read.takes(COMMA) && read.takesValueName() && read.takesWords() && read.takes(CLOSE))) return NOT_PLAIN;
      at = memory.copy(at, value.from, value.length);
      at = memory.copy(at, read.textFrom, read.textTo - read.textFrom);
      end = memory.copy(end, valueContent.from, valueContent.length);
      end = memory.copy(end, read.textFrom, read.textTo - read.textFrom);
      bytes[at++] = QUOTE;
      bytes[at++] = CLOSE;
      bytes[end++] = QUOTE;
      bytes[end++] = CLOSE_LIST;
      bytes[end++] = CLOSE_LIST;
      if (!read.takes(COMMA)) break;
      bytes[at++] = COMMA;
      bytes[end++] = COMMA;
    }
    if (!read.takes(CLOSE_LIST) || !read.isAtEnd) return NOT_PLAIN;
    bytes[at++] = CLOSE_LIST;
    bytes[end++] = CLOSE_LIST;
    contentBytes = end - contentFrom;
    return at;
  };
  return {
    write,
    contentFrom,
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
  readonly #memory: RowMemory;
  readonly #bytes: Uint8Array;
  readonly #trait: Piece;
  readonly #value: Piece;
  #at = 0;
  #to = 0;
  #flags = 0;

  constructor(memory: RowMemory) {
    this.#memory = memory;
    this.#bytes = memory.bytes;
    this.#trait = memory.keep("trait_type");
    this.#value = memory.keep("value");
  }

  begin(from: number, to: number, flags: number): void {
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

  takesTraitName(): boolean {
    return this.#takesName(this.#trait);
  }

  takesValueName(): boolean {
    return this.#takesName(this.#value);
  }

  /** A name in quotes and its colon. */
  #takesName({ from, length }: Piece): boolean {
    if (!this.#takesQuote() || !this.#memory.isSame(this.#at, from, length)) return false;
    this.#at += length;
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
    return this.#takesQuote() && isWords(this.#memory, this.textFrom, this.textTo, this.#flags);
  }
}
