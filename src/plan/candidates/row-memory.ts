/**
 * The memory in which the rows of a file become candidates: what is read, what is copied, and what comes of it stand beside
 * each other, so that every copy is of one kind and nothing is handed on from one buffer to another.
 */

import { createLanes, FIRST_FREE, type Lanes } from "../../actions/sha256/lanes.ts";
import { createWideCopy, WIDTH, type WideCopy } from "./wide-copy.ts";

/** Some bytes of the memory that stay as they are. */
export interface Piece {
  readonly from: number;
  readonly length: number;
}

export class RowMemory {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Digests of several messages at once, where there may be many and the machine can. */
  readonly lanes: Lanes | undefined;
  /** Where the memory is one of WebAssembly. */
  readonly #wideCopy: WideCopy | undefined;
  #allotted = FIRST_FREE;

  /** @param isMany - so many digests that several at once are worth their preparation. */
  constructor(size: number, isMany: boolean) {
    this.lanes = isMany ? createLanes(FIRST_FREE + size) : undefined;
    this.bytes = this.lanes?.bytes ?? Buffer.from(new ArrayBuffer(FIRST_FREE + size));
    this.#wideCopy = this.lanes === undefined ? undefined : createWideCopy(this.lanes.memory);
    this.view = this.lanes?.view ?? new DataView(this.bytes.buffer);
  }

  /** Memory for one use, for good; on a border of digests' blocks. */
  allot(size: number): number {
    const from = this.#allotted;
    if (from + size > this.bytes.length) throw new NoRoomError();
    this.#allotted = (from + size + BORDER - 1) & -BORDER;
    return from;
  }

  /** Keeps what is copied again and again. */
  keep(text: string | Uint8Array): Piece {
    const kept = Buffer.from(text);
    const from = this.allot(kept.length);
    kept.copy(this.bytes, from);
    return { from, length: kept.length };
  }

  /** Copies so many bytes to a place that they don't overlap, and nothing behind it; gives the end. */
  copy(to: number, from: number, length: number): number {
    const end = to + length;
    const { bytes, view } = this;
    if (length < WORD) {
      for (let at = 0; at < length; at += 1) bytes[to + at] = bytes[from + at] as number; // within the memory
      return end;
    }
    // The last word may be some of the bytes before it once more. Most copies are of up to four words: without a loop they take less.
    const last = from + length - WORD;
    if (length < 2 * WORD) view.setInt32(to, view.getInt32(from, true), true);
    else if (length < WIDTH) {
      view.setInt32(to, view.getInt32(from, true), true);
      view.setInt32(to + WORD, view.getInt32(from + WORD, true), true);
      view.setInt32(end - 2 * WORD, view.getInt32(last - WORD, true), true);
    } else if (this.#wideCopy !== undefined) {
      this.#wideCopy(to, from, length);
      return end;
    } else for (let at = 0; from + at < last; at += WORD) view.setInt32(to + at, view.getInt32(from + at, true), true);
    view.setInt32(end - WORD, view.getInt32(last, true), true);
    return end;
  }

  /** Copies bytes from outside; gives the end. */
  put(to: number, from: Uint8Array): number {
    for (let at = 0; at < from.length; at += 1) this.bytes[to + at] = from[at] as number; // within its length
    return to + from.length;
  }

  /** Whether so many bytes are the same in two places. */
  isSame(one: number, other: number, length: number): boolean {
    const { bytes, view } = this;
    let at = 0;
    for (; at + WORD <= length; at += WORD) if (view.getInt32(one + at) !== view.getInt32(other + at)) return false;
    for (; at < length; at += 1) if (bytes[one + at] !== bytes[other + at]) return false;
    return true;
  }

  /** Text of plain ASCII. */
  ascii(from: number, to: number): string {
    return this.bytes.toString("latin1", from, to);
  }

  text(from: number, to: number): string {
    return this.bytes.toString("utf8", from, to);
  }
}

const WORD = 4;
const BORDER = 64;

/** Something is larger than it is in any sound file: the reference has no such limit. */
class NoRoomError extends Error {
  constructor() {
    super("the memory for plain rows is full");
  }
}

/** What is made, or undefined where the memory does not suffice for it. */
export function unlessFull<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof NoRoomError) return undefined;
    throw cause;
  }
}

/** A part of the memory that fills up: what does not fit any more is moved out, and given with the rest. */
export class Area {
  /** Behind what stands there. */
  end: number;
  readonly from: number;
  readonly to: number;
  readonly #bytes: Buffer;
  #moved: Buffer[] = [];
  #movedBytes = 0;

  constructor(memory: RowMemory, size: number) {
    this.#bytes = memory.bytes;
    this.from = memory.allot(size);
    this.to = this.from + size;
    this.end = this.from;
  }

  moveOut(): void {
    if (this.end === this.from) return;
    this.#keep(Buffer.from(this.#bytes.subarray(this.from, this.end)));
    this.end = this.from;
  }

  #keep(bytes: Buffer): void {
    this.#moved.push(bytes);
    this.#movedBytes += bytes.length;
  }

  /** Takes so many bytes, for which there is room; gives where they begin. */
  reserve(size: number): number {
    const at = this.end;
    this.end = at + size;
    return at;
  }

  /** Adds a text; gives its bytes. */
  add(text: string): number {
    // A UTF-16 code unit takes three bytes of UTF-8 at the most.
    if (text.length * 3 > this.to - this.end) this.moveOut();
    if (text.length * 3 > this.to - this.end) {
      const bytes = Buffer.from(text);
      this.#keep(bytes);
      return bytes.length;
    }
    const size = this.#bytes.write(text, this.end, "utf8");
    this.end += size;
    return size;
  }

  /** Bytes of all, what was moved out included. */
  get size(): number {
    return this.#movedBytes + this.end - this.from;
  }

  /** Copies all to `to` at `at`; gives the end. */
  copyTo(to: Buffer, at: number): number {
    let end = at;
    for (const part of this.#moved) end += part.copy(to, end);
    return end + this.#bytes.copy(to, end, this.from, this.end);
  }

  /** All, which is written over by what follows. */
  view(): Buffer {
    const own = this.#bytes.subarray(this.from, this.end);
    return this.#moved.length === 0 ? own : Buffer.concat([...this.#moved, own]);
  }

  clear(): void {
    this.#moved = [];
    this.#movedBytes = 0;
    this.end = this.from;
  }
}
