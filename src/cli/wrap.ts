/** Lines that break between words. */

import { textWidth } from "../text.ts";
import { COMMANDS } from "./commands.ts";

/** A command to be copied, which a line break would cut in two: it goes on to the end of its line, for the terminal to fold. */
const COMMAND = new RegExp(`(?:^|(?<=\\s))(?:npx )?tickets (?:${Object.keys(COMMANDS).join("|")})(?: .*)?$`);

const CARETS = /^\s*\^+\s*$/;

/**
 * Breaks lines that are longer than `columns` between words. A line goes on under its own indent. Commands to be copied
 * stay whole, as do words that are longer than a line and a text with carets under it.
 */
export function wrapLines(text: string, columns: number): string {
  const lines = text.split("\n");
  return lines
    .map((line, at) => (CARETS.test(line) || CARETS.test(lines[at + 1] ?? "") ? line : wrapLine(line, columns)))
    .join("\n");
}

function wrapLine(line: string, columns: number): string {
  if (textWidth(line) <= columns) return line;
  const indent = (/^ */.exec(line)?.[0] ?? "").slice(0, Math.floor(columns / 2));
  const command = COMMAND.exec(line);
  const words = [...line.slice(0, command?.index ?? line.length).matchAll(/\S+ */g)].map(([word]) => word);
  if (command !== null) words.push(command[0]);
  const broken: string[] = [];
  let current = indent;
  for (const word of words) {
    if (current.trim() !== "" && textWidth(current + word.trimEnd()) > columns) {
      broken.push(current.trimEnd());
      current = indent;
    }
    current += word;
  }
  return [...broken, current.trimEnd()].join("\n");
}
