/** How a help looks: examples before the flags, since most people need no more, and as wide as the terminal. */

import { type Command, Help } from "commander";
import { allExitCodes } from "../commands/exit-words.ts";
import { COMMANDS } from "./commands.ts";
import { wrapLines } from "./wrap.ts";

/** What the program itself says in place of a command's entry. */
const PROGRAM = {
  examples: ["tickets validate sales.csv", "tickets stream events.csv sales.csv"],
  note: `Exit codes: ${allExitCodes()}.`,
} as const;

/** What to try of a command; `tickets` is the program itself. */
export const examplesOf = (name: string): readonly string[] => (COMMANDS[name] ?? PROGRAM).examples;

/** What else there is to know of it. */
export const noteOf = (name: string): string | undefined => (COMMANDS[name] ?? PROGRAM).note;

/** The end of a command's help. */
export function helpEnd(name: string): string {
  const note = noteOf(name);
  return [
    ...(note === undefined ? [] : ["", note]),
    "",
    `More: docs/commands.md${name === "tickets" ? "" : `#tickets-${name}`} in the package's folder.`,
  ].join("\n");
}

/** Columns that descriptions need beside the terms: less would be a word a line, and the terminal folds longer ones. */
const LEAST_BESIDE = 24;

/** A term of a help with its description beside it, or where that has no room, below. */
export function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (description === "" || width - termWidth - 4 >= LEAST_BESIDE)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const lines = helper.boxWrap(description, width - 6).split("\n");
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
}

/** A whole help, its examples before its arguments and flags. */
export function formatHelp(command: Command, helper: Help): string {
  const text = Help.prototype.formatHelp.call(helper, command, helper);
  const examples = examplesOf(command.name());
  const lines = [
    examples.length === 1 ? "Example:" : "Examples:",
    ...examples.map((example) => `  ${example}`),
    "",
    "",
  ];
  return text.replace(/^(?=[A-Z][\w ]+:$)/m, () => wrapLines(lines.join("\n"), helper.helpWidth ?? 80));
}

/** As wide as the terminal; elsewhere `otherwise`, by default what commander makes its own part of a help. */
export const wrapped = (text: string, { isTTY, columns }: NodeJS.WriteStream, otherwise = 80): string =>
  wrapLines(text, isTTY && columns > 0 ? columns : otherwise);

/** What somebody sees who types `tickets` alone: what it is, and what to try next. */
const WELCOME = {
  what: "tickets: checks a ticketing company's exports (CSV, JSON) and sends them to the service, in order and nothing twice, and keeps every promise.",
  steps: [
    ["tickets init orders.csv", "a starter config, from an export of yours"],
    ["tickets validate orders.csv", "check it; nothing is sent"],
    ["tickets stream orders.csv", "send it: to the sandbox on this machine, until you configure a service"],
  ],
  more: "All commands: tickets --help",
} as const;

export function welcome({ isTTY, columns }: Pick<NodeJS.WriteStream, "isTTY" | "columns">): string {
  const { what, steps, more } = WELCOME;
  const helper = Object.assign(new Help(), { minWidthToWrap: 5, helpWidth: isTTY && columns > 0 ? columns : 80 });
  const width = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, about]) => formatItem(command, width, about, helper));
  return `${wrapLines(what, helper.helpWidth)}\n\nTry next:\n${lines.join("\n")}\n\n${more}\n`;
}
