/** What was meant for a web page or a program, and stands in a text: entities, tags, escapes. */

import { CODINGS, type Coding, decodeMarkup } from "../actions/markup.ts";

/** In a text, not in an address. */
const PERCENT = /^(?!.*:\/\/).*(?:%20|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f]%[89ab][\da-f]%[89ab][\da-f])/is;

export interface Markup {
  /** The characters that show it. */
  readonly found: string;
  readonly decoded: string;
  /** Undefined for percents, which no step decodes. */
  readonly coding: Coding | undefined;
}

/** The first trace of markup in a text for people; undefined in most. */
export function markupIn(text: string): Markup | undefined {
  if (!/[&<\\%]/.test(text)) return undefined;
  for (const coding of CODINGS) {
    const decoded = decodeMarkup(text, coding);
    const [found = ""] = (coding === "html" ? /&[#\w]+;|<[^>]*>/ : /\\\w*./).exec(text) ?? [];
    if (decoded !== text) return { found, decoded, coding };
  }
  // An address is written with percents.
  const [, found] = PERCENT.test(text) ? (/(%[\da-f]{2})/i.exec(text) ?? []) : [];
  return found === undefined ? undefined : { found, decoded: decodedPercents(text), coding: undefined };
}

function decodedPercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
