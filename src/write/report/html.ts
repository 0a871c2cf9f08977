/** HTML that is safe whatever text it holds: a template whose values are escaped unless they are HTML themselves. */

import { cleanText } from "../../text.ts";

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | readonly (Html | string)[];

/** Escapes every value, in elements and in quoted attributes; control, bidirectional and invisible characters become blanks. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(strings.map((string, at) => (at === 0 ? string : textOf(values[at - 1] ?? "") + string)).join(""));
}

function textOf(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(textOf).join("");
  return escaped(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string =>
  cleanText(text, Number.POSITIVE_INFINITY).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

export const NOTHING = new Html("");
