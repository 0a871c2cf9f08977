import { isAscii, isUtf8 } from "node:buffer";
import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { cleanText, WINDOWS_1252_HIGH } from "../text.ts";
import { EMPTY, lineEndsIn } from "./row-bytes.ts";

/** Labels for suggestions only; any other that `TextDecoder` knows is taken too. */
const COMMON_LABELS =
  "utf-8 utf8 utf-16le utf-16be utf-16 latin1 latin2 ascii iso-8859-1 iso-8859-2 iso-8859-5 iso-8859-7 iso-8859-9 iso-8859-15 " +
  "windows-1250 windows-1251 windows-1252 cp1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 " +
  "macintosh koi8-r koi8-u shift_jis sjis euc-jp iso-2022-jp gbk gb2312 gb18030 big5 euc-kr";

const C1_CONTROL = /[\u0080-\u009f]/;
const C1_CONTROLS = /[\u0080-\u009f]/g;

/** The canonical name of an encoding label such as `latin1`. Throws a usage failure for an unknown one. */
export function resolveEncoding(label: string): string {
  try {
    return new TextDecoder(label.trim(), { fatal: true }).encoding;
  } catch (cause) {
    if (/^(?:cp|ibm|dos-?)?-?(?:437|850|852|858)$/i.test(label.trim()))
      throw new Failure(
        "usage",
        `${cleanText(label.trim(), 40)} can't be read; only encodings that browsers know can.`,
        { hint: `Convert the file first: iconv -f CP${label.replace(/\D/g, "")} -t UTF-8.`, cause },
      );
    const near = nearest(label, COMMON_LABELS.split(" "));
    throw new Failure("usage", `There is no encoding called "${cleanText(label, 40)}".`, {
      hint:
        near === undefined
          ? "Known encodings are utf-8, windows-1252, latin1, utf-16le and all others that browsers know."
          : `Did you mean ${near}?`,
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
export function completeLength(bytes: Buffer): number {
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

interface DecodeOptions {
  /** Canonical, as `resolveEncoding` gives it. */
  readonly encoding: string;
  /** The input as messages name it. */
  readonly name: string;
  /** Line ends in all that was yielded so far; asked only when something is wrong. */
  readonly lineEnds: () => number;
  /** Rejects are UTF-8, whatever encoding is named. */
  readonly isRejects?: boolean;
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
    const text = checked(decode(block, false));
    if (text.length > 0) yield text;
  }
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
  const { encoding, name, lineEnds } = options;
  const decode = decoderOf(encoding);
  const isLegacy = !encoding.startsWith("utf-");
  let offset = 0;
  return (block, isLast) => {
    let text: string;
    try {
      text = decode(block, !isLast);
    } catch (cause) {
      if (isSingleByte(encoding)) throw noCharacter(options, block, offset, undefined, cause);
      const place = isLast
        ? `at its end, byte offset ${offset}`
        : `after byte offset ${offset}, line ${lineEnds() + 1}`;
      throw new Failure("usage", `${name} is not valid ${encoding} (${place}).`, {
        hint: "Name the encoding it was saved in with --encoding, or save it as UTF-8.",
        cause,
      });
    }
    // No text of an older encoding has these: they are bytes for which it has no character.
    if (isLegacy && !isAscii(block) && C1_CONTROL.test(text)) throw noCharacter(options, block, offset, text);
    offset += block.length;
    return Buffer.from(text);
  };
}

const isSingleByte = (encoding: string): boolean =>
  /^(?:windows-(?:125\d|874)|iso-8859-.*|koi8-.|macintosh|x-mac-cyrillic|ibm866)$/.test(encoding);

type Decode = (block: Buffer, more: boolean) => string;

function decoderOf(encoding: string): Decode {
  if (encoding === "windows-1252") return windows1252;
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (block, more) => decoder.decode(block, { stream: more });
}

/** By hand: Node 22 decodes the bytes 0x80 to 0x9F as control characters. */
function windows1252(block: Buffer): string {
  const text = block.toString("latin1");
  return isAscii(block)
    ? text
    : text.replace(C1_CONTROLS, (byte) => WINDOWS_1252_HIGH[byte.charCodeAt(0) - 0x80] ?? byte);
}

/** The bytes as text, for a message: invalid ones are replaced. */
export function decodeForMessage(bytes: Buffer, encoding: string): string {
  return encoding === "windows-1252" ? windows1252(bytes) : new TextDecoder(encoding).decode(bytes);
}

/**
 * The failure for a block that holds bytes without a character in its encoding.
 *
 * @param text that the block gives, with a control character in place of one; undefined where it gives none.
 */
function noCharacter(options: DecodeOptions, block: Buffer, offset: number, text = "", cause?: unknown): Failure {
  const { encoding, name, lineEnds } = options;
  const complete = block.subarray(0, completeLength(block));
  const hint =
    !isAscii(complete) && isUtf8(complete)
      ? "It looks like UTF-8: leave the encoding out."
      : 'Another encoding may be right: what Excel calls "CSV (MS-DOS)" is cp850 or cp437. Convert it (iconv -f CP850 -t UTF-8), or export again as UTF-8.';
  const ofByte = isSingleByte(encoding);
  const decode = decoderOf(encoding);
  const at = ofByte ? block.findIndex((byte) => byte >= 0x80 && !isCharacter(decode, byte)) : text.search(C1_CONTROL);
  const before = ofByte ? block.subarray(0, at) : Buffer.from(text.slice(0, at));
  const line = lineEnds() + lineEndsIn(before) + 1;
  const sentence = ofByte
    ? `${name} is not ${encoding}, which has no character for byte ${codeOf(block[at], 2)} at byte offset ${offset + at}, line ${line}.`
    : `${name} is probably not ${encoding}: it gives the control character ${codeOf(text.charCodeAt(at), 4, "U+")} in line ${line}.`;
  return new Failure("usage", sentence, { hint, cause });
}

const codeOf = (code: number | undefined, digits: number, sign = "0x"): string =>
  `${sign}${(code ?? 0).toString(16).toUpperCase().padStart(digits, "0")}`;

function isCharacter(decode: Decode, byte: number): boolean {
  try {
    return !C1_CONTROL.test(decode(Buffer.of(byte), false));
  } catch {
    return false;
  }
}

function notUtf8({ name, lineEnds, isRejects }: DecodeOptions, bytes: Buffer, offset: number): Failure {
  // The longest beginning that is valid; an invalid beginning stays invalid whatever follows, so halving finds it.
  let valid = 0;
  let invalid = bytes.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >>> 1;
    const beginning = bytes.subarray(0, middle);
    if (isUtf8(beginning.subarray(0, completeLength(beginning)))) valid = middle;
    else invalid = middle;
  }
  const at = completeLength(bytes.subarray(0, valid));
  const what = invalid > bytes.length ? "a character is cut off" : `byte ${codeOf(bytes[at], 2)}`;
  const line = lineEnds() + lineEndsIn(bytes.subarray(0, at)) + 1;
  const wrong = `not valid UTF-8: ${what} at byte offset ${offset + at}, line ${line}.`;
  if (isRejects === true)
    return new Failure("input-invalid", `${name} is a rejects file and ${wrong}`, {
      hint: "Rejects are UTF-8, whatever the encoding of their source. Save the file as UTF-8.",
    });
  const utf16 = offset === 0 ? bomEncoding(bytes) : undefined;
  return new Failure("usage", `${name} is ${wrong}`, {
    hint:
      utf16 === undefined || utf16 === "utf-8"
        ? `Save it as UTF-8, or use --encoding to name the one that reads right:${readings(bytes, at)}`
        : `It is UTF-16: add --encoding ${utf16}, or save it as UTF-8.`,
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
  const utf16 = encoding === "utf-8" ? likelyUtf16(text) : undefined;
  return new Failure("usage", `${name} is not a text file: there is a NUL byte ${place}.`, {
    hint: utf16 === undefined ? "Save it as CSV or JSON in UTF-8." : `It looks like UTF-16: add --encoding ${utf16}.`,
  });
}

/** Text of western languages in UTF-16 has a NUL in every other byte. */
function likelyUtf16(text: Buffer): string | undefined {
  const sample = text.subarray(0, 64);
  const nulsAt = (parity: number) => sample.filter((byte, at) => byte === 0 && at % 2 === parity).length;
  const even = nulsAt(0);
  const odd = nulsAt(1);
  if (Math.max(even, odd) < sample.length / 4) return undefined;
  return odd > even ? "utf-16le" : "utf-16be";
}

/** More are not counted. */
const MOST_COUNTED = 100;

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

  take(block: Buffer): void {
    const text = this.#decode(block);
    const at = text.search(/[^\0-\x7f]/);
    this.isValid &&= !text.includes("\0");
    if (at === -1) return;
    const from = Math.max(0, at - SAMPLE_BYTES);
    const sample = text.slice(from, at + SAMPLE_BYTES);
    this.first ??= {
      line: this.#line() + text.slice(0, at).split("\n").length - 1,
      cell: cellAround(sample, at - from),
    };
    if (this.characters < MOST_COUNTED) this.characters += text.replace(/[\0-\x7f]+/g, "").length;
  }

  /** The text has ended. */
  end(): void {
    this.#decode();
  }

  /** Nothing behind the first byte that is not UTF-8. */
  #decode(block?: Buffer): string {
    if (!this.isValid) return "";
    try {
      return this.#decoder.decode(block, { stream: block !== undefined });
    } catch {
      this.isValid = false;
      return "";
    }
  }
}
