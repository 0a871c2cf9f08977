/**
 * PostgreSQL holds no text with the character U+0000, SQLite's of Node 22 reads a text only up to it, and an id may have one. So
 * each U+0000 and U+0001 is written as two characters. Texts keep their order, and those that have neither, which is nearly all, stay as they are.
 */

/** The characters, not their escapes. */
const [NUL, MARK, STX] = [String.fromCharCode(0), String.fromCharCode(1), String.fromCharCode(2)];

export const withoutNul = (text: string): string =>
  text.includes(NUL) || text.includes(MARK)
    ? text.replaceAll(MARK, `${MARK}${STX}`).replaceAll(NUL, `${MARK}${MARK}`)
    : text;

const WRITTEN = new RegExp(`${MARK}([${MARK}${STX}])`, "g");

/** What `withoutNul` was given. */
export const withNul = (text: string): string =>
  text.replace(WRITTEN, (_pair, second) => (second === STX ? MARK : NUL));
