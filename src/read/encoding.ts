import { isAscii, isUtf8 } from "node:buffer";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";

export const LF = 10;
export const EMPTY: Buffer = Buffer.alloc(0);

export function lineEndsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** The canonical name of an encoding label such as `latin1`. Throws a usage failure for an unknown one. */
export function resolveEncoding(label: string): string {
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch (cause) {
    throw new Failure("usage", `Files in the encoding "${cleanText(label, 40)}" can't be read.`, {
      hint: "Known are utf-8, windows-1252, latin1, utf-16le and all others that browsers know. Convert the file first, such as by iconv -f CP850 -t UTF-8.",
      cause,
    });
  }
}

/** The encoding that a byte order mark at the start of a file declares. */
export function bomEncoding(head: Buffer): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf-8";
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  return head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : undefined;
}

/** Length of `bytes` without a last character whose bytes are still to come. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80 || byte >= 0xf8) break; // complete, or never the start of a character
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** As much of a text as has so many bytes. */
export function headOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text).subarray(0, mostBytes);
  return bytes.toString("utf8", 0, completeLength(bytes));
}

interface DecodeOptions {
  /** Canonical, as `resolveEncoding` gives it. */
  readonly encoding: string;
  /** The input as messages name it. */
  readonly name: string;
  /** Line ends in all that was yielded so far; asked only when something is wrong. */
  readonly lineEnds: () => number;
  /** Rejects are UTF-8, whatever encoding is named. */
  readonly isRejects?: boolean;
  readonly watch?: Utf8Watch | undefined;
}

/**
 * The blocks as valid UTF-8 without a byte order mark, cut between characters. Throws a usage failure at the first byte
 * that is not valid in the encoding or has no character there, and at a NUL: nothing is ever replaced by U+FFFD.
 */
export async function* toUtf8(blocks: AsyncIterable<Buffer>, options: DecodeOptions): AsyncGenerator<Buffer, void> {
  const decode = options.encoding === "utf-8" ? checkUtf8(options) : transcode(options);
  let offset = 0;
  const checked = (decoded: Buffer): Buffer => {
    const text = offset === 0 && bomEncoding(decoded) === "utf-8" ? decoded.subarray(3) : decoded;
    const nul = text.indexOf(0);
    if (nul !== -1) throw notText(options, text, nul, offset + decoded.length - text.length + nul);
    offset += decoded.length;
    return text;
  };
  for await (const block of blocks) {
    options.watch?.take(block);
    const text = checked(decode(block, false));
    if (text.length > 0) yield text;
  }
  options.watch?.take(undefined);
  const last = checked(decode(EMPTY, true));
  if (last.length > 0) yield last;
}

/** A block, and what the one before did not finish, as far as it is complete. */
type ToUtf8 = (block: Buffer, isLast: boolean) => Buffer;

function checkUtf8(options: DecodeOptions): ToUtf8 {
  let offset = 0;
  let rest: Buffer = EMPTY;
  return (block, isLast) => {
    const bytes = rest.length === 0 ? block : Buffer.concat([rest, block]);
    const complete = bytes.subarray(0, completeLength(bytes));
    if (!isUtf8(complete) || (isLast && bytes.length > 0)) throw notUtf8(options, bytes, offset);
    offset += complete.length;
    rest = Buffer.from(bytes.subarray(complete.length)); // the block's memory may be given back
    return complete;
  };
}

function transcode(options: DecodeOptions): ToUtf8 {
  const decoder = decoderOf(options.encoding);
  // Bytes without a character are decoded to U+FFFD, and those of many older encodings to control characters.
  const wrong = options.encoding.startsWith("utf-") ? /\ufffd/ : /[\u0080-\u009f\ufffd]/;
  return (block, isLast) => {
    const text = decoder.decode(block, { stream: !isLast });
    const at = text.search(wrong);
    if (at !== -1) throw noCharacter(options, block, text.slice(0, at));
    return Buffer.from(text);
  };
}

const decoderOf = (encoding: string): TextDecoder => new TextDecoder(encoding, { ignoreBOM: true });

/** The bytes as text, for a message: invalid ones are replaced. As a stream: otherwise Node 22 decodes windows-1252 wrongly. */
export function decodeForMessage(bytes: Buffer, encoding: string): string {
  const decoder = decoderOf(encoding);
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
}

/** @param before what the block gives before the bytes that have no character. */
function noCharacter({ encoding, name, lineEnds }: DecodeOptions, block: Buffer, before: string): Failure {
  const complete = block.subarray(0, completeLength(block));
  const line = lineEnds() + lineEndsIn(Buffer.from(before)) + 1;
  return new Failure("usage", `${name} is not ${encoding}: line ${line} holds bytes that are no character in it.`, {
    hint:
      !isAscii(complete) && isUtf8(complete)
        ? "It looks like UTF-8: leave the encoding out."
        : 'Another encoding may be right: what Excel calls "CSV (MS-DOS)" is cp850 or cp437. Convert it (iconv -f CP850 -t UTF-8), or export again as UTF-8.',
  });
}

/** Where the bytes stop being UTF-8. */
function firstInvalid(bytes: Buffer): number {
  const replaced = Buffer.from(bytes.toString());
  const different = bytes.findIndex((byte, at) => byte !== replaced[at]);
  return completeLength(bytes.subarray(0, different));
}

function notUtf8(options: DecodeOptions, bytes: Buffer, offset: number): Failure {
  const { name, lineEnds, isRejects } = options;
  // No encoding that could be named reads it.
  const nul = bytes.indexOf(0);
  if (nul !== -1) return notText(options, bytes, nul, offset + nul);
  const at = firstInvalid(bytes);
  const what =
    at === completeLength(bytes)
      ? "a character is cut off"
      : `byte 0x${(bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, "0")}`;
  const line = lineEnds() + lineEndsIn(bytes.subarray(0, at)) + 1;
  const wrong = `not valid UTF-8: ${what} at byte offset ${offset + at}, line ${line}.`;
  if (isRejects === true)
    return new Failure("usage", `${name} is a rejects file and ${wrong}`, {
      hint: "Rejects are UTF-8, whatever the encoding of their source. Save the file as UTF-8.",
    });
  return new Failure("usage", `${name} is ${wrong}`, {
    hint: `Save it as UTF-8, or use --encoding to name the one that reads right:${readings(bytes, at)}`,
  });
}

/** The usual encodings of old, those of many languages first. */
const LIKELY =
  "windows-1252 windows-1250 windows-1251 windows-1254 windows-1253 macintosh koi8-r shift_jis gbk euc-kr".split(" ");
const SAMPLE_BYTES = 40;

/** The cell around a place as each likely encoding reads it, a line for each that has characters for all of it. */
function readings(bytes: Buffer, at: number): string {
  const from = Math.max(0, at - SAMPLE_BYTES);
  const sample = Buffer.from(cellAround(bytes.toString("latin1", from, at + SAMPLE_BYTES), at - from), "latin1");
  const texts = new Map<string, string>();
  for (const encoding of LIKELY) {
    const text = decodeForMessage(sample, encoding);
    if (!/[\u0080-\u009f\ufffd]/.test(text) && !texts.has(text)) texts.set(text, encoding);
  }
  return [...texts].map(([text, encoding]) => `\n  ${encoding}: ${cleanText(text.trim(), 2 * SAMPLE_BYTES)}`).join("");
}

function cellAround(text: string, at: number): string {
  const [before = ""] = /[^,;\t|"\n]*$/.exec(text.slice(0, at)) ?? [];
  const [after = ""] = /^[^,;\t|"\n]*/.exec(text.slice(at)) ?? [];
  return before + after;
}

function notText({ name, encoding, lineEnds }: DecodeOptions, text: Buffer, nul: number, offset: number): Failure {
  const line = lineEnds() + lineEndsIn(text.subarray(0, nul)) + 1;
  const place = encoding === "utf-8" ? `at byte offset ${offset}, line ${line}` : `in line ${line}`;
  // Text of western languages in UTF-16 has a NUL in every other byte.
  const isUtf16 = encoding === "utf-8" && offset < 2 && text[nul + 2] === 0;
  return new Failure("usage", `${name} is not a text file: there is a NUL byte ${place}.`, {
    hint: isUtf16
      ? `It looks like UTF-16: add --encoding ${nul % 2 === 1 ? "utf-16le" : "utf-16be"}.`
      : "Save it as CSV or JSON in UTF-8.",
  });
}

/**
 * Whether a text that is read in another encoding is valid UTF-8: of a legacy encoding that is next to impossible by chance.
 * Looks at the bytes as they are stored, up to the first one that is not UTF-8.
 */
export class Utf8Watch {
  /** All bytes so far are valid UTF-8 text. */
  isValid = true;
  /** Characters beyond ASCII. */
  characters = 0;
  /** The first cell with such a character. */
  first: { readonly line: number; readonly cell: string } | undefined;
  readonly #line: () => number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });

  /** @param line asked for once: the line in which the block begins that is looked at. */
  constructor(line: () => number) {
    this.#line = line;
  }

  /** @param block undefined where the text has ended. */
  take(block: Buffer | undefined): void {
    const text = this.#decode(block);
    const at = text.search(/[^\0-\x7f]/);
    this.isValid &&= !text.includes("\0");
    if (at === -1) return;
    const from = Math.max(0, at - SAMPLE_BYTES);
    this.first ??= {
      line: this.#line() + text.slice(0, at).split("\n").length - 1,
      cell: cellAround(text.slice(from, at + SAMPLE_BYTES), at - from),
    };
    this.characters += text.replace(/[\0-\x7f]+/g, "").length;
  }

  /** Nothing behind the first byte that is not UTF-8. */
  #decode(block: Buffer | undefined): string {
    if (!this.isValid) return "";
    try {
      return this.#decoder.decode(block, { stream: block !== undefined });
    } catch {
      this.isValid = false;
      return "";
    }
  }
}
