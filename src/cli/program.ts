/** The command line: makes commander's program of the table of commands, with its help, and runs it. */

import { Argument, Command, CommanderError, Help, Option } from "commander";
import { columnsOf, wrapLines } from "../commands/layout.ts";
import { EXIT_CODES } from "../failure.ts";
import { cleanLines } from "../text.ts";
import { COMMANDS, type CommandSpec } from "./commands.ts";
import { HEADINGS } from "./flags.ts";
import type { Process } from "./run-command.ts";
import { VERSION_FLAGS, version } from "./version.ts";

/** Runs the command line; resolves with the exit code. */
export async function runProgram(args: readonly string[], process_: Process): Promise<number> {
  let exitCode: number = EXIT_CODES.ok;
  const run: Run = async (command) => {
    const { runCommand } = await import("./run-command.ts");
    exitCode = await runCommand(command, process_);
  };
  const program = buildProgram(run);
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exitCode = error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
  }
  return exitCode;
}

/** Carries out a command, with what was typed for it. */
type Run = (command: Command) => Promise<void>;

export function buildProgram(run: Run): Command {
  const program = new Command("tickets")
    .description("Bulk ticket streaming: checks exports, sends them in order, keeps every promise.")
    .version(version(), VERSION_FLAGS.join(", "))
    .commandsGroup("More:")
    .showSuggestionAfterError()
    .showHelpAfterError("(tickets --help lists all commands)")
    .exitOverride()
    .configureHelp({ minWidthToWrap: 5, formatItem, formatHelp, subcommandTerm })
    // Commander repeats what was typed, and a glob may have put any file's name there.
    .configureOutput({
      writeErr: (text) => process.stderr.write(wrapLines(cleanLines(text), columnsOf(process.stderr))),
    });
  for (const [name, spec] of Object.entries(COMMANDS)) addCommand(program, name, spec, run);
  return program;
}

function addCommand(program: Command, name: string, spec: CommandSpec, run: Run): void {
  const { about, group, argument, flags } = spec;
  const command = program.command(name).description(about).helpGroup(group);
  if (argument !== undefined) {
    const [word, meaning] = argument;
    command.addArgument(new Argument(word, meaning));
  }
  for (const option of flags) command.addOption(option);
  command.addHelpOption(new Option("-h, --help", "show this help").helpGroup(HEADINGS.words));
  command.showHelpAfterError(`Usage: tickets ${name} ${command.usage()}\nAll flags: tickets ${name} --help`);
  command.action(async () => {
    refuseIdle(command, spec);
    await run(command);
  });
}

/** Refuses a flag that would have no effect: the person who typed it expects one. */
function refuseIdle(command: Command, { onlyBeside = {}, ofAllRuns = [] }: CommandSpec): void {
  const refuse = (why: string): never => command.error(`error: ${why}`, { exitCode: EXIT_CODES.usage });
  const nameOf = (name: string): string =>
    command.options.find((each) => each.attributeName() === name)?.long ?? `a ${name}`;
  const isGiven = (name: string): boolean =>
    command.getOptionValue(name) !== undefined ||
    command.processedArgs[command.registeredArguments.findIndex((each) => each.name() === name)] !== undefined;
  for (const [name, beside] of Object.entries(onlyBeside))
    if (isGiven(name) && !beside.some(isGiven))
      refuse(`${nameOf(name)} has no effect without ${beside.map(nameOf).join(" or ")}`);
  for (const name of ofAllRuns)
    if (isGiven("run") && isGiven(name)) refuse(`${nameOf(name)} is about all runs; leave out the run or the flag`);
}

/** The exit codes in short (docs/commands.md, Exit codes). */
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

/** The help of the program itself. */
const PROGRAM = {
  examples: ["tickets init orders.csv", "tickets validate orders.csv", "tickets stream events.csv orders.csv"],
  note: `Exit codes: ${exitCodes.join(", ")}, 128+n signal.`,
} as const;

/** Examples of a command; `tickets` is the program itself. */
export const examplesOf = (name: string): readonly string[] => (COMMANDS[name] ?? PROGRAM).examples;

/** The note at the end of its help. */
export const noteOf = (name: string): string | undefined => (COMMANDS[name] ?? PROGRAM).note;

/** Columns that a description needs beside its term: less would be a word a line. */
const LEAST_BESIDE = 24;

/** A term with its description beside it, or below it where there is no room. */
function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (description === "" || width - termWidth - 4 >= LEAST_BESIDE)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const lines = helper.boxWrap(description, width - 6).split("\n");
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
}

/** Without `[options]`, which every command has. */
const subcommandTerm = (command: Command): string =>
  [command.name(), command.usage().replace("[options]", "").trim()].filter((part) => part !== "").join(" ");

/** A whole help: examples before the arguments and flags, since most people need no more, and a note at its end. */
function formatHelp(command: Command, helper: Help): string {
  const name = command.name();
  const width = helper.helpWidth ?? 80;
  const examples = examplesOf(name);
  const before = [
    examples.length === 1 ? "Example:" : "Examples:",
    ...examples.map((example) => `  ${example}`),
    "",
    "",
  ];
  const note = noteOf(name);
  const after = [
    ...(note === undefined ? [] : ["", note]),
    "",
    `More: docs/commands.md${name === "tickets" ? "" : `#tickets-${name}`} in the package's folder.`,
    "",
  ];
  const text = Help.prototype.formatHelp.call(helper, command, helper);
  return [
    text.replace(/^(?=[A-Z][\w ]+:$)/m, () => wrapLines(before.join("\n"), width)),
    wrapLines(after.join("\n"), width),
  ].join("");
}
