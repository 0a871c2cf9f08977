/** Characters that were lost, or misread in another encoding, before the text came here. */

import { isUtf8 } from "node:buffer";
import { markupIn } from "./markup.ts";
import { WINDOWS_1252_HIGH } from "./text.ts";

const BYTE_OF_HIGH: ReadonlyMap<string, number> = new Map(
  [...WINDOWS_1252_HIGH].map((character, at) => [character, 0x80 + at]),
);
/** The bytes that follow the first in a UTF-8 character, read as windows-1252. */
const FOLLOWING = `\\u0080-\\u00bf${WINDOWS_1252_HIGH}`;

/** One of these stands in every damaged text; looking for it alone costs little. */
const SUSPECT = new RegExp(`\\ufffd|[Â-ô][${FOLLOWING}]|Ã(?!\\p{L})`, "u");

/**
 * UTF-8 that was read as windows-1252, recognised even among sound characters: `Ã¼`, `Â°`, `â€™`, and `Ã` for an à whose
 * second half, a no-break space, was trimmed. A real Ã may stand before a quotation mark or a dash, but never behind small
 * letters, nor alone.
 */
const FRAGMENT =
  /\ufffd|Ã(?:[\u0080-\u009f¡-ª¬-º¼-¿€‚ƒ„†‡ˆ‰Š‹ŒŽœžŸ]|[‘’“”•–—˜™š›…](?=\p{L}))|Â[\u0080-\u009f¡-©¬-¹¼-¿]|â(?:€|\u0080)|(?<=\p{Ll})Ã(?!\p{L})|(?<!\p{L})Ã(?=\s)/u;

/** `CAFÉ’S`, `AMANHÃ…`, `Spaß…`: a letter and the mark behind it, which happen to be the bytes of a character. */
const LETTER_AND_MARK = /(?:(?<=\p{Lu})[Â-Þ]|ß)[‘’“”•–—™›…»®]/gu;

const SEQUENCE = new RegExp(`[Â-ô][${FOLLOWING}]+`, "u");

/** The first characters that show the damage (U+FFFD where one was lost); undefined in a sound text. */
export function damageIn(text: string): string | undefined {
  if (!SUSPECT.test(text)) return undefined;
  const fragment = FRAGMENT.exec(text)?.[0];
  if (fragment !== undefined) return fragment;
  const rest = text.replace(LETTER_AND_MARK, "");
  return isMisreadUtf8(rest) ? SEQUENCE.exec(rest)?.[0] : undefined;
}

/** `Kaj?te`, `M?LLER`. After a question that lacks its blank comes a capital: `Who?What`. */
const LOST_LETTER = /\p{L}\?\p{Ll}|\p{Lu}\?\p{Lu}/u;
const AROUND_WORDS = /[\s"'„“”»«(),;:<>[\]{}|]+/u;
/** `example.com/a?b=c`, `index.php?id`, `mailto:a@b.example?subject`: no word. */
const ADDRESS = /[/\\=&@]|\.\p{L}/u;

/** The first word in which a question mark stands for a letter that the file's encoding has not. */
export function wordWithLostLetter(text: string): string | undefined {
  if (!text.includes("?") || !LOST_LETTER.test(text)) return undefined;
  return text.split(AROUND_WORDS).find((word) => LOST_LETTER.test(word) && !ADDRESS.test(word));
}

/**
 * Other alphabets and encodings, read as windows-1252: `Çèìíèé` (Cyrillic), `Ýstanbul` and `Kýþ` (Turkish), `ó³ty` and
 * `£ód` (Polish), `CafŽ` (Mac). No language has four such letters in a row, but for one that is repeated (`jäääär`).
 */
const OTHER_ALPHABET =
  /(?:(?!(\p{L})\1{2})[À-ÖØ-öø-ÿ]){4}|Ý(?=stanbul|zmir)|(?<=\p{L})þ(?!\p{L})|(?<=\p{L})[¡¢¤¥¦§¨©¬¯±³´¶¸¹¼½¾¿](?=\p{Ll})|£(?=\p{Ll})|(?<=\p{Ll})[À-ÖØ-ÞŠŽŸ](?!\p{L})/u;

/** What shows in a text for people that it was written in another alphabet. */
export const misreadIn = (text: string): string | undefined => OTHER_ALPHABET.exec(text)?.[0];

/** Texts are words, in which a question mark between letters has no meaning; in an id it may have one. */
export const textLooksDamaged = (text: string): boolean =>
  damageIn(text) !== undefined ||
  wordWithLostLetter(text) !== undefined ||
  misreadIn(text) !== undefined ||
  markupIn(text) !== undefined;

/** Characters that steer a terminal or can't be seen. In an id none is allowed. */
export const UNSEEN: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** In words, line breaks and tabs have their use, and so have joiners and marks of direction. */
export const CONTROL: RegExp = /[[\p{Cc}\p{Zl}\p{Zp}\ufeff]--[\t\n\r]]/v;

/** Whether the text, as bytes of windows-1252, is valid UTF-8 beyond ASCII. That hardly happens by chance. */
function isMisreadUtf8(text: string): boolean {
  const bytes = new Uint8Array(text.length);
  let isAscii = true;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const byte = code <= 0xff ? code : BYTE_OF_HIGH.get(text.charAt(at));
    if (byte === undefined) return false;
    if (byte >= 0x80) isAscii = false;
    bytes[at] = byte;
  }
  return !isAscii && isUtf8(bytes);
}
