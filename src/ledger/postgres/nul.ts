/**
 * PostgreSQL holds no text with the character U+0000, and an id may have one. So each U+0000 and U+0001 is written as two
 * characters. Texts keep their order, and those that have neither, which is nearly all, stay as they are.
 */

/** The characters, not their escapes. */
const [NUL, MARK] = [String.fromCharCode(0), String.fromCharCode(1)];
const [NUL_WRITTEN, MARK_WRITTEN] = [`${MARK}${MARK}`, `${MARK}${String.fromCharCode(2)}`];

export function withoutNul(text: string): string {
  if (!text.includes(NUL) && !text.includes(MARK)) return text;
  return text.replaceAll(MARK, MARK_WRITTEN).replaceAll(NUL, NUL_WRITTEN);
}

/** What `withoutNul` was given. */
export function withNul(text: string): string {
  if (!text.includes(MARK)) return text;
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const mark = text.indexOf(MARK, at);
    if (mark === -1) {
      parts.push(text.slice(at));
      break;
    }
    parts.push(text.slice(at, mark), text[mark + 1] === MARK ? NUL : MARK);
    at = mark + 2;
  }
  return parts.join("");
}
