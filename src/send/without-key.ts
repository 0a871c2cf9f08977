/** Takes the key out of what a service answers: one that echoes it must not bring it into the ledger, a file or a log. Pure. */

import type { Exchange } from "./exchange.ts";

/** A shorter key could occur in an answer by chance, even inside an actionPromise. */
const SHORTEST_SECRET = 12;

const SHOWN_INSTEAD = "[key]";
/** Of a text in which the key is encoded in a way that nobody needs to repeat. */
const WITHHELD = "[a text with the key in it]";

/**
 * Gives what replaces the key in an answer, as it stands there, in an address, or in Base64. A text that holds it in another
 * encoding is withheld whole.
 */
export function createKeyRemover(key: string): (result: Exchange) => Exchange {
  if (key.length < SHORTEST_SECRET) return (result) => result;
  const forms = [...new Set([...plainForms(key), encodeURIComponent(key), ...base64Forms(key)])];
  const cleaned = (text: string | undefined): string | undefined => text && withoutForms(text, forms);

  return (result) => {
    if (result.kind !== "answer") return result;
    const { retryAfter, date, location, contentEncoding } = result.headers;
    const body = result.body.toString("latin1");
    const without = withoutForms(body, forms);
    return {
      ...result,
      headers: {
        retryAfter: cleaned(retryAfter),
        date: cleaned(date),
        location: cleaned(location),
        contentEncoding: cleaned(contentEncoding),
      },
      body: without === body ? result.body : Buffer.from(without, "latin1"),
    };
  };
}

// One character a byte, from here on.
const inUtf8 = (text: string): string => Buffer.from(text).toString("latin1");

/** The key as it is sent, as text, and as what a service reads that takes a header's Latin-1 for UTF-8. */
const plainForms = (key: string): readonly string[] => [key, inUtf8(key), inUtf8(key.replace(/[^\0-\x7f]/g, "\ufffd"))];

/**
 * The Base64 of the key alone, and its part that no neighbours change where it begins at the second or third byte of a
 * group, as in `user:key`.
 */
function base64Forms(key: string): readonly string[] {
  return [Buffer.from(key, "latin1"), Buffer.from(key)].flatMap((bytes) =>
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

function withoutForms(text: string, forms: readonly string[]): string {
  const without = forms.reduce((left, form) => left.replaceAll(form, SHOWN_INSTEAD), text);
  if (!/[\\%&]/.test(without)) return without;
  const isThere = NESTINGS.some((decoders) => {
    let layer = without;
    return decoders.some((decode) => {
      layer = decode(layer);
      return forms.some((form) => layer.includes(form));
    });
  });
  return isThere ? WITHHELD : without;
}

const character = (code: number): string => (code > 0x10ffff ? "" : inUtf8(String.fromCodePoint(code)));

const ofJson = (text: string): string =>
  text.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_all, hex?: string, plain = "") =>
    hex === undefined ? plain : character(Number.parseInt(hex, 16)),
  );

const ofAddress = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const HTML_NAMES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const ofHtml = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (_all, decimal?: string, hex?: string, name = "") =>
      HTML_NAMES[name.toLowerCase()] ?? character(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
  );

/**
 * In which order encodings are taken off, from the outside in; the key is looked for after each. JSON may stand as text in
 * JSON, and an address in another. In a page a backslash is one.
 */
const NESTINGS: readonly (readonly ((text: string) => string)[])[] = [
  [ofJson, ofJson, ofJson, ofAddress, ofAddress, ofHtml],
  [ofHtml],
];
