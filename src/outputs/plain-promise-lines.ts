/** Lines of the promises of a chunk whose actions were all accepted, from bytes: the same that `promiseLines` writes as NDJSON. */

import { ACTION_NAMES, type ActionName } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { type ChunkActions, ID_PLACES, PLACES } from "../plan/files/chunk-actions.ts";
import { inputAt, lineAt, RECORD_BYTES } from "../plan/files/index-file.ts";
import { quotedText, type RunLabel } from "./promise-lines.ts";

/** A chunk, and the promises that its actions were given. */
interface AcceptedChunk {
  readonly chunk: { readonly chunk: number; readonly first: number };
  readonly actions: ChunkActions;
  /** The chunk's part of the plan's index. */
  readonly index: Buffer;
  /** The names of the plan's inputs, by number. */
  readonly inputs: readonly string[];
  /** Bytes in which the promises stand, and where each of them begins and how long it is. */
  readonly promised: { readonly body: Uint8Array; readonly starts: Int32Array; readonly length: number };
  /** When the answer came. */
  readonly at: string;
}

/** Room for what is the same in each line, and for the numbers. */
const MOST_NUMBERS = 64;

/** The lines' memory is their own: whoever has written them may give all of it back. */
export function plainPromiseLines(accepted: AcceptedChunk, { environment, run }: RunLabel): Buffer {
  const { chunk, actions, index, inputs, promised, at } = accepted;
  const { body, count, places } = actions;
  const sources = inputs.map((source) => Buffer.from(`{"source":${quotedText(source)},"line":`));
  const label = Buffer.from(`","environment":${quotedText(environment)},"run":"${run}","seq":`);
  const end = Buffer.from(`,"chunk":${chunk.chunk},"at":"${at}"}\n`);
  const longest = sources.reduce((most, { length }) => Math.max(most, length), 0);
  const fixed = longest + label.length + end.length + promised.length + MOST_NUMBERS + MOST_WORDS;
  // An id may be escaped: six bytes for one.
  let lines = Buffer.allocUnsafeSlow(count * (fixed + 64));
  let used = 0;
  const put = (bytes: Uint8Array): void => {
    lines.set(bytes, used);
    used += bytes.length;
  };
  /** An id or a promise: too short for a call. */
  const putPart = (bytes: Uint8Array, from: number, to: number): void => {
    for (let byte = from; byte < to; byte += 1, used += 1) lines[used] = bytes[byte] as number; // within its length
  };
  const putNumber = (number: number): void => {
    used += lines.write(String(number), used, "latin1");
  };
  for (let number = 0; number < count; number += 1) {
    const base = number * PLACES;
    const record = number * RECORD_BYTES;
    const ids = IDS.reduce((sum, { place }) => sum + (places[base + place + 1] ?? 0) - (places[base + place] ?? 0), 0);
    if (lines.length - used < fixed + 6 * ids) {
      const wider = Buffer.allocUnsafeSlow(2 * lines.length + fixed + 6 * ids);
      lines.copy(wider, 0, 0, used);
      lines = wider;
    }
    put(sources[inputAt(index, record)] ?? NO_SOURCE);
    putNumber(lineAt(index, record));
    put(nameAt(body, places[base] ?? 0));
    for (const { key, place } of IDS) {
      const [from, to] = [places[base + place] ?? 0, places[base + place + 1] ?? 0];
      if (from === 0) continue;
      put(key);
      if (isPlain(body, from + 1, to - 1)) putPart(body, from, to);
      else put(Buffer.from(quotedText(parseJson(Buffer.from(body.subarray(from, to)).toString("utf8")) as string))); // a field of text, checked by the planner
      lines[used] = COMMA;
      used += 1;
    }
    put(STATUS);
    const start = promised.starts[number] ?? 0;
    putPart(promised.body, start, start + promised.length);
    put(label);
    putNumber(chunk.first + number);
    put(end);
  }
  return lines.subarray(0, used);
}

const COMMA = 0x2c;
const NO_SOURCE = Buffer.from(`{"source":"","line":`);
const STATUS = Buffer.from(`"status":"success","actionPromise":"`);
const IDS = (["eventId", "ticketId", "nftId"] as const).map((field) => ({
  key: Buffer.from(`"${field}":`),
  place: ID_PLACES[field],
}));
const NAMES: ReadonlyMap<ActionName, Buffer> = new Map(
  ACTION_NAMES.map((name) => [name, Buffer.from(`,"action":"${name}",`)]),
);
/** The names of an action and of the fields. */
const MOST_WORDS = 160;

const HEAD = '{"action":"'.length;

/** The part of the line that names the action which begins at a place. */
function nameAt(body: Uint8Array, start: number): Buffer {
  for (const [name, words] of NAMES) {
    let same = 0;
    while (same < name.length && body[start + HEAD + same] === name.charCodeAt(same)) same += 1;
    if (same === name.length) return words;
  }
  throw new Error("the plan holds an action of an unknown kind");
}

/** Whether JSON writes the text as it stands: ASCII without quotes, backslashes and control characters. */
function isPlain(body: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = body[at] as number; // within its length
    if (byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c) return false;
  }
  return true;
}
