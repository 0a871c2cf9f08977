/** How a help looks: examples before the flags, since most people need no more, and as wide as the terminal. */

import { type Command, Help } from "commander";
import { EXIT_CODES } from "../failure.ts";
import { COMMANDS } from "./commands.ts";
import { wrapLines } from "./wrap.ts";

/** What each exit code says, in short (docs/commands.md, Exit codes). */
const EXIT_WORDS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: "done",
  internal: "fault",
  usage: "usage",
  "input-invalid": "invalid input",
  "finished-with-rejects": "some rejected",
  "authentication-failed": "authentication failed",
  "in-doubt": "in doubt",
  "stopped-early": "stopped early",
  busy: "busy",
  refused: "refused",
  storage: "storage",
};
const exitCodes = Object.entries(EXIT_WORDS).map(
  ([name, words]) => `${EXIT_CODES[name as keyof typeof EXIT_CODES]} ${words}`, // its own keys
);

/** What the program itself says in place of a command's entry. */
const PROGRAM = {
  examples: ["tickets init orders.csv", "tickets validate orders.csv", "tickets stream events.csv orders.csv"],
  note: `Exit codes: ${exitCodes.join(", ")}, 128+n signal.`,
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

/** Each command has flags, so that is not said of each. */
export const subcommandTerm = (command: Command): string =>
  [command.name(), command.usage().replace("[options]", "").trim()].filter((part) => part !== "").join(" ");

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
