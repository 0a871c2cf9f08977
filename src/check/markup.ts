/** What was meant for a web page or a program, and stands in a text: entities, tags, escapes. */

import { CODINGS, type Coding, decodeMarkup } from "../actions/markup.ts";

/** In a text, not in an address. */
const PERCENT = /^(?!.*:\/\/).*(?:%20|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f]%[89ab][\da-f]%[89ab][\da-f])/is;

export interface Markup {
  /** The characters that show it. */
  readonly found: string;
  readonly decoded: string;
  /** All that decode it; none for percents, which no step decodes. */
  readonly codings: readonly Coding[];
}

/** The first trace of markup in a text for people; undefined in most. */
export function markupIn(text: string): Markup | undefined {
  if (!/[&<\\%]/.test(text)) return undefined;
  let decoded = text;
  const codings = CODINGS.filter((coding) => {
    const before = decoded;
    decoded = decodeMarkup(before, coding);
    return decoded !== before;
  });
  const [first] = codings;
  if (first !== undefined) {
    const [found = ""] = (first === "html" ? /&(?:#\w+;?|\w+;)|<[^>]*>/ : /\\(?:u\w{4}|.)/).exec(text) ?? [];
    return { found, decoded, codings };
  }
  // An address is written with percents.
  const [, found] = PERCENT.test(text) ? (/(%[\da-f]{2})/i.exec(text) ?? []) : [];
  return found === undefined ? undefined : { found, decoded: decodedPercents(text), codings: [] };
}

function decodedPercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
