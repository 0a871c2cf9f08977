/** The command line: makes commander's program of the table of commands, and runs it. */

import { Argument, Command, CommanderError, Option } from "commander";
import { EXIT_CODES } from "../failure.ts";
import { cleanLines } from "../text.ts";
import { COMMANDS, type CommandSpec } from "./commands.ts";
import { HEADINGS } from "./flags.ts";
import { formatHelp, formatItem, helpEnd, subcommandTerm, wrapped } from "./help.ts";
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

/** Carries a command out, which knows what was typed for it. */
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
    // Commander repeats what was typed, which may be a file's name that a glob put there.
    .configureOutput({
      writeErr: (text) => process.stderr.write(wrapped(cleanLines(text), process.stderr, Number.POSITIVE_INFINITY)),
    });
  for (const [name, spec] of Object.entries(COMMANDS)) addCommand(program, name, spec, run);
  for (const command of [program, ...program.commands])
    command.addHelpText("after", () => wrapped(helpEnd(command.name()), process.stdout));
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

/** Refuses what would have no effect: whoever typed it counts on one. */
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
