/** Lines of the promises of a chunk whose actions were all accepted, from bytes: the same that `promiseLines` writes as NDJSON. */

import { ACTION_NAMES, type ActionName } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { type ChunkActions, END, ID_PLACES, PLACES, START } from "../plan/files/chunk-actions.ts";
import { actionAt, areAlike, inputAt, lineAt, RECORD_BYTES } from "../plan/files/index-file.ts";
import { quotedText, type RunLabel } from "./promise-lines.ts";

/** A chunk, and the promises that its actions were given. */
export interface AcceptedChunk {
  readonly chunk: { readonly chunk: number; readonly first: number };
  readonly actions: Pick<ChunkActions, "body" | "places" | "count">;
  /** The chunk's part of the plan's index. */
  readonly index: Buffer;
  /** The names of the plan's inputs, by number. */
  readonly inputs: readonly string[];
  /** Bytes in which the promises stand, and where each of them begins and how long it is. */
  readonly promised: { readonly body: Uint8Array; readonly starts: Int32Array; readonly length: number };
  /** When the answer came. */
  readonly at: string;
}

/** Room for the names of an action and of the fields, and for the numbers. */
const MOST_WORDS = 256;
/** Room for the ids of an action of the usual kind. */
const USUAL_IDS = 64;

/** The lines' memory is their own: whoever has written them may give all of it back. */
export function plainPromiseLines(accepted: AcceptedChunk, label: RunLabel): Buffer {
  const writer = new LineWriter(accepted, label);
  for (let number = 0; number < accepted.actions.count; number += 1) writer.write(number);
  return writer.lines;
}

/** Where in a line that part begins which is not the same in the next: the numbers, the promise, and the ids in the order of `IDS`. */
interface Form {
  /** Bytes of the whole line. */
  readonly length: number;
  readonly line: number;
  readonly ids: readonly number[];
  readonly promise: number;
  readonly seq: number;
}

/** Writes line after line. One that has the form of the line before is that line's copy, with other numbers, ids and promise. */
class LineWriter {
  readonly #accepted: AcceptedChunk;
  readonly #sources: readonly Buffer[];
  readonly #label: Buffer;
  readonly #end: Buffer;
  /** Bytes of the longest line, without its ids. */
  readonly #longest: number;
  #lines: Buffer;
  #used = 0;
  /** Of the line before; undefined where an id of it is escaped. */
  #form: Form | undefined;

  constructor(accepted: AcceptedChunk, { environment, run }: RunLabel) {
    const { chunk, inputs, promised, at, actions } = accepted;
    this.#accepted = accepted;
    this.#sources = inputs.map((source) => Buffer.from(`{"source":${quotedText(source)},"line":`));
    this.#label = Buffer.from(`","environment":${quotedText(environment)},"run":"${run}","seq":`);
    this.#end = Buffer.from(`,"chunk":${chunk.chunk},"at":"${at}"}\n`);
    const source = this.#sources.reduce((most, { length }) => Math.max(most, length), 0);
    this.#longest = source + this.#label.length + this.#end.length + promised.length + MOST_WORDS;
    this.#lines = Buffer.allocUnsafeSlow(actions.count * (this.#longest + USUAL_IDS));
  }

  get lines(): Buffer {
    return this.#lines.subarray(0, this.#used);
  }

  write(number: number): void {
    this.#makeRoom(number);
    if (this.#form !== undefined && this.#isLikeBefore(number)) this.#copyBefore(this.#form, number);
    else this.#form = this.#writeWhole(number);
  }

  #makeRoom(number: number): void {
    // Its ids are less than the action; they may be escaped: six bytes for one.
    const most = this.#longest + 6 * lengthOf(this.#accepted.actions, number);
    if (this.#lines.length - this.#used >= most) return;
    const wider = Buffer.allocUnsafeSlow(2 * this.#lines.length + most);
    this.#lines.copy(wider, 0, 0, this.#used);
    this.#lines = wider;
  }

  /** Whether all that differs from the line before are bytes of what has the same length there, and JSON writes as it stands. */
  #isLikeBefore(number: number): boolean {
    const { actions, index, chunk } = this.#accepted;
    const { body, places } = actions;
    const record = number * RECORD_BYTES;
    const before = record - RECORD_BYTES;
    const seq = chunk.first + number;
    if (!areAlike(index, record, before) || digitsOf(seq) !== digitsOf(seq - 1)) return false;
    if (digitsOf(lineAt(index, record)) !== digitsOf(lineAt(index, before))) return false;
    for (let place = number * PLACES + FIRST_ID; place < (number + 1) * PLACES; place += 2) {
      const from = held(places[place]);
      const to = held(places[place + 1]);
      if (to - from !== held(places[place + 1 - PLACES]) - held(places[place - PLACES])) return false;
      if (!isPlain(body, from + 1, to - 1)) return false;
    }
    return true;
  }

  #copyBefore({ length, line, ids, promise, seq }: Form, number: number): void {
    const { actions, index, chunk, promised } = this.#accepted;
    const { body, places } = actions;
    const lines = this.#lines;
    const start = this.#used;
    lines.copy(lines, start, start - length, start);
    const record = number * RECORD_BYTES;
    overwriteNumber(lines, start + line, lineAt(index, record - RECORD_BYTES), lineAt(index, record));
    for (let id = 0, place = number * PLACES + FIRST_ID; id < ids.length; id += 1, place += 2)
      copy(body, held(places[place]), held(places[place + 1]), lines, start + held(ids[id]));
    const from = held(promised.starts[number]);
    copy(promised.body, from, from + promised.length, lines, start + promise);
    overwriteNumber(lines, start + seq, chunk.first + number - 1, chunk.first + number);
    this.#used += length;
  }

  /** Undefined where the next line can't be made of this one. */
  #writeWhole(number: number): Form | undefined {
    const { actions, index, chunk, promised } = this.#accepted;
    const { body, places } = actions;
    const record = number * RECORD_BYTES;
    const start = this.#used;
    let isPlainLine = true;
    this.#put(this.#sources[inputAt(index, record)] ?? NO_SOURCE);
    const line = this.#used;
    this.#putNumber(lineAt(index, record));
    this.#put(NAMES.get(actionAt(index, record)) ?? COMMA);
    const ids = IDS.map(({ key, place }) => {
      const from = held(places[number * PLACES + place]);
      const to = held(places[number * PLACES + place + 1]);
      const at = this.#used + key.length - start;
      if (from === 0) return at;
      this.#put(key);
      const id = body.subarray(from, to);
      const isOwn = isPlain(body, from + 1, to - 1);
      if (isOwn) this.#put(id);
      else this.#put(Buffer.from(quotedText(parseJson(Buffer.from(id).toString("utf8")) as string))); // a field of text, checked by the planner
      isPlainLine = isPlainLine && isOwn;
      this.#put(COMMA);
      return at;
    });
    this.#put(STATUS);
    const promise = this.#used;
    const from = held(promised.starts[number]);
    this.#put(promised.body.subarray(from, from + promised.length));
    this.#put(this.#label);
    const seq = this.#used;
    this.#putNumber(chunk.first + number);
    this.#put(this.#end);
    if (!isPlainLine) return undefined;
    return { length: this.#used - start, line: line - start, ids, promise: promise - start, seq: seq - start };
  }

  #put(bytes: Uint8Array): void {
    this.#lines.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #putNumber(number: number): void {
    this.#used += this.#lines.write(String(number), this.#used, "latin1");
  }
}

/** Bytes of an action. */
const lengthOf = ({ places }: Pick<ChunkActions, "places">, number: number): number =>
  held(places[number * PLACES + END]) - held(places[number * PLACES + START]);

/** Of what stands within its list. */
const held = (number: number | undefined): number => number as number;

const COMMA = Buffer.from(",");
const NO_SOURCE = Buffer.from(`{"source":"","line":`);
const STATUS = Buffer.from(`"status":"success","actionPromise":"`);
const FIRST_ID = 2;
const IDS = (["eventId", "ticketId", "nftId"] as const).map((field) => ({
  key: Buffer.from(`"${field}":`),
  place: ID_PLACES[field],
}));
const NAMES: ReadonlyMap<ActionName, Buffer> = new Map(
  ACTION_NAMES.map((name) => [name, Buffer.from(`,"action":"${name}",`)]),
);

/** How many digits a whole number has. */
function digitsOf(number: number): number {
  let digits = 1;
  for (let limit = 10; number >= limit; limit *= 10) digits += 1;
  return digits;
}

/** Writes a number over another one that has as many digits; most numbers differ from the one before in their last digit. */
function overwriteNumber(to: Uint8Array, at: number, before: number, number: number): void {
  let old = before;
  let rest = number;
  for (let place = at + digitsOf(number) - 1; rest !== old; place -= 1) {
    const next = (rest / 10) >>> 0;
    to[place] = 0x30 + rest - 10 * next;
    rest = next;
    old = (old / 10) >>> 0;
  }
}

/** An id or a promise: too short for a call. */
function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  for (let byte = start, place = at; byte < end; byte += 1, place += 1) to[place] = from[byte] as number; // within its length
}

/** Whether JSON writes the text as it stands: ASCII without quotes, backslashes and control characters. */
function isPlain(body: Uint8Array, from: number, to: number): boolean {
  let all = 1;
  for (let at = from; at < to; at += 1) all &= PLAIN[body[at] as number] as number; // within its length
  return all === 1;
}

const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c ? 1 : 0,
);
