import { cleanText } from "../actions/text.ts";

/** A file's name as messages show it. */
export function shownName(file: { readonly name: string }): string {
  return file.name === "-" ? "Standard input" : cleanText(file.name, 300);
}
