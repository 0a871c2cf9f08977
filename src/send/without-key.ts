/** Takes the key out of what a service answers: one that echoes it must not bring it into the ledger, a file or a log. Pure. */

import type { Exchange } from "./answer.ts";

/** A shorter key could occur in an answer by chance, even inside an actionPromise. */
const SHORTEST_SECRET = 12;

const SHOWN_INSTEAD = "[key]";

/**
 * Gives what replaces the key in an answer, as it stands there or with characters encoded as JSON, an address or HTML
 * does it, and its Base64. An answer in which nothing is encoded is searched for whole texts only.
 */
export function createKeyRemover(key: string): (result: Exchange) => Exchange {
  if (key.length < SHORTEST_SECRET) return (result) => result;
  const forms = [...new Set([...plainForms(key), ...base64Forms(key)])].map(bytesOf);
  const cleaned = (text: string | undefined): string | undefined => {
    if (text === undefined) return undefined;
    const bytes = bytesOf(text);
    const without = withoutForms(bytes, forms);
    return without === bytes ? text : without.toString("latin1");
  };

  return (result) => {
    if (result.kind !== "answer") return result;
    const { retryAfter, date, location, contentEncoding } = result.headers;
    return {
      ...result,
      headers: {
        retryAfter: cleaned(retryAfter),
        date: cleaned(date),
        location: cleaned(location),
        contentEncoding: cleaned(contentEncoding),
      },
      body: withoutForms(result.body, forms),
    };
  };
}

/** One character a byte. */
const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const inUtf8 = (text: string): string => Buffer.from(text).toString("latin1");

/** The key as it is sent, as text, and as what a service reads that takes a header's Latin-1 for UTF-8. */
const plainForms = (key: string): readonly string[] => [key, inUtf8(key), inUtf8(key.replace(/[^\0-\x7f]/g, "\ufffd"))];

/**
 * The Base64 of the key alone, and its part that no neighbours change where it begins at the second or third byte of a
 * group, as in `user:key`.
 */
function base64Forms(key: string): readonly string[] {
  return [bytesOf(key), Buffer.from(key)].flatMap((bytes) =>
    [0, 1, 2].flatMap((offset) => {
      const text = Buffer.concat([Buffer.alloc(offset), bytes])
        .toString("base64")
        .replace(/=+$/, "");
      const isCut = (offset + bytes.length) % 3 !== 0;
      const form = text.slice(offset === 0 ? 0 : offset + 1, isCut ? -1 : undefined);
      return [form, form.replaceAll("+", "-").replaceAll("/", "_")]; // the second is that for addresses
    }),
  );
}

/** The very same bytes where no form stands in them. */
function withoutForms(bytes: Buffer, forms: readonly Buffer[]): Buffer {
  if (!isThere(bytes, forms)) return bytes;
  const parts: Buffer[] = [];
  let end = 0;
  for (const hit of hitsIn(bytes, forms).sort((one, other) => one.start - other.start)) {
    if (hit.start >= end) parts.push(bytes.subarray(end, hit.start), Buffer.from(SHOWN_INSTEAD));
    end = Math.max(end, hit.end);
  }
  return Buffer.concat([...parts, bytes.subarray(end)]);
}

/** Whether a form is there in any decoding. Most answers hold none, and are not asked where. */
function isThere(bytes: Buffer, forms: readonly Buffer[]): boolean {
  const isIn = (layer: Buffer): boolean => forms.some((form) => layer.includes(form));
  if (isIn(bytes)) return true;
  return WAYS.some((way) => {
    let layer = bytes;
    return way.some((encoding) => {
      if (!layer.includes(encoding.mark)) return false;
      layer = decode(layer, encoding);
      return isIn(layer);
    });
  });
}

interface Hit {
  readonly start: number;
  readonly end: number;
}

/** Where forms stand in `bytes`, in any decoding. */
function hitsIn(bytes: Buffer, forms: readonly Buffer[]): Hit[] {
  const hits: Hit[] = [];
  /** @param places where each byte of the layer, and its end, stands in `bytes`. */
  const look = (layer: Buffer, places?: Uint32Array): void => {
    for (const form of forms)
      for (let at = layer.indexOf(form); at !== -1; at = layer.indexOf(form, at + form.length)) {
        const end = at + form.length;
        hits.push({ start: places?.[at] ?? at, end: places?.[end] ?? end });
      }
  };
  look(bytes);
  for (const way of WAYS) {
    let layer = bytes;
    let places: Uint32Array | undefined;
    for (const encoding of way) {
      if (!layer.includes(encoding.mark)) continue;
      const before = places;
      const after = new Uint32Array(layer.length + 1);
      layer = decode(layer, encoding, after);
      places = before === undefined ? after : after.map((at) => before[at] ?? at);
      look(layer, places);
    }
  }
  return hits;
}

interface Encoding {
  /** The byte by which an encoded character begins. */
  readonly mark: number;
  /** The character that is encoded at `at`; undefined where none is. */
  read(bytes: Buffer, at: number): Decoded | undefined;
}

interface Decoded {
  readonly code: number;
  /** How many bytes its code has. */
  readonly length: number;
  /** The code is that of a byte, rather than of a character. */
  readonly isByte?: boolean;
}

const HEX = /^[0-9a-f]+$/i;

function hexAt(bytes: Buffer, at: number, length: number): number | undefined {
  const digits = bytes.toString("latin1", at, at + length);
  return digits.length === length && HEX.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

const JSON_ESCAPES: Encoding = {
  mark: 0x5c, // \
  read(bytes, at) {
    const next = bytes[at + 1];
    const code = next === 0x75 ? hexAt(bytes, at + 2, 4) : undefined; // u
    if (code !== undefined) return { code, length: 6 };
    // No key holds a control character.
    return next === undefined ? undefined : { code: CONTROLS.has(next) ? 0 : next, length: 2, isByte: true };
  },
};
const CONTROLS: ReadonlySet<number> = new Set(Buffer.from("bfnrt"));

const PERCENTS: Encoding = {
  mark: 0x25, // %
  read(bytes, at) {
    const code = hexAt(bytes, at + 1, 2);
    return code === undefined ? undefined : { code, length: 3, isByte: true };
  },
};

const HTML_ENTITY = /^&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/i;
const HTML_NAMES: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };

const HTML_ENTITIES: Encoding = {
  mark: 0x26, // &
  read(bytes, at) {
    const [text, decimal, hex, name] = HTML_ENTITY.exec(bytes.toString("latin1", at, at + 12)) ?? [];
    if (text === undefined) return undefined;
    const named = HTML_NAMES[name?.toLowerCase() ?? ""] ?? 0;
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : named;
    return { code, length: text.length };
  },
};

/**
 * In which order encodings are taken off, from the outside in; a form is looked for after each. JSON may stand as text in
 * JSON, and an address in another. In a page a backslash is one.
 */
const WAYS: readonly (readonly Encoding[])[] = [
  [JSON_ESCAPES, JSON_ESCAPES, JSON_ESCAPES, PERCENTS, PERCENTS, HTML_ENTITIES],
  [HTML_ENTITIES],
];

/** @param places receives where each byte of the result, and its end, stands in `bytes`. */
function decode(bytes: Buffer, { mark, read }: Encoding, places?: Uint32Array): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length); // no code is shorter than the UTF-8 of its character
  let length = 0;
  const copy = (from: number, to: number): void => {
    bytes.copy(decoded, length, from, to);
    if (places !== undefined) for (let at = from; at < to; at += 1) places[length + at - from] = at;
    length += to - from;
  };
  const put = (byte: number, at: number): void => {
    if (places !== undefined) places[length] = at;
    decoded[length] = byte;
    length += 1;
  };
  let from = 0;
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, Math.max(from, at + 1))) {
    const found = read(bytes, at);
    if (found === undefined) continue;
    copy(from, at);
    const { code, isByte = false } = found;
    if (isByte || code < 0x80) put(code, at);
    else if (code <= 0x10ffff) for (const byte of Buffer.from(String.fromCodePoint(code))) put(byte, at);
    from = at + found.length;
  }
  copy(from, bytes.length);
  if (places !== undefined) places[length] = bytes.length;
  return decoded.subarray(0, length);
}
