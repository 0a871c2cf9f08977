/** The command line: flags and help. Every command is loaded when it is called, so that `--help` stays quick. */

import { Argument, Command, CommanderError, Help, InvalidArgumentError, Option } from "commander";
import { ACTION_NAMES, isActionName } from "../actions/actions.ts";
import { PERSONAL_FIELDS } from "../actions/fields.ts";
import { cleanLines } from "../actions/text.ts";
import type { Context } from "../commands/context.ts";
import { EXIT_CODES, type FailureCode } from "../failure.ts";
import type { Allowance, Order } from "../plan/plan.ts";
import type { SettleDecision } from "../run/settle.ts";
import { completionScript, SHELLS, type Shell } from "./completion.ts";
import { helpEnd, helpExamples, WELCOME } from "./help.ts";
import { LOG_FORMATS, logFormatAsked, logLine } from "./log-line.ts";
import type { Flags, Options, Process } from "./run-command.ts";
import { VERSION_FLAGS, version } from "./version.ts";
import { wrapLines } from "./wrap.ts";

/** Runs the command line; resolves with the exit code. */
export async function runProgram(args: readonly string[], process_: Process): Promise<number> {
  let exitCode: number = EXIT_CODES.ok;
  const done = (code: number): void => {
    exitCode = code;
  };
  const said: string[] = [];
  const isJson = logFormatAsked(args, process.env) === "json";
  const program = buildProgram(process_, done, args, isJson ? (text) => said.push(text) : undefined);
  if (args.length === 0 && !isJson) {
    process.stderr.write(welcome(process.stderr));
    return EXIT_CODES.usage;
  }
  try {
    suggestByMeaning(program, args[0]);
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const exitCode = error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
    if (said.length > 0) process.stderr.write(usageLine(said.join(""), exitCode));
    return exitCode;
  }
  return exitCode;
}

/** What is wrong with the command line, as a line of a log. */
function usageLine(said: string, exitCode: number): string {
  const text = said.trim().replace(/^error: /, "");
  return logLine("error", text, { event: "failure", code: "usage" satisfies FailureCode, exitCode });
}

/** What people call a command elsewhere; names that are nearly right commander finds by itself. */
const MEANS: Readonly<Record<string, readonly string[]>> = {
  stream: ["send", "upload", "import", "push", "post", "submit", "sync", "run", "publish"],
  validate: ["check", "lint", "test", "verify"],
  plan: ["preview", "dry-run", "map", "convert", "show"],
  init: ["config", "configure", "new", "setup"],
  status: ["runs", "list", "ls", "history", "log", "info"],
  resume: ["continue", "retry", "restart"],
  work: ["worker", "consume", "daemon"],
  settle: ["abandon", "cancel", "close", "decide", "resolve"],
  results: ["export", "output", "promises", "download", "collect", "fetch"],
  find: ["search", "lookup", "look", "locate", "grep", "where"],
  env: ["environment", "environments", "whoami", "doctor"],
  sandbox: ["serve", "server", "mock", "start"],
};

function suggestByMeaning(program: Command, word: string | undefined): void {
  const [meant] = Object.entries(MEANS).find(([, words]) => words.includes(word ?? "")) ?? [];
  if (meant === undefined || program.commands.some((command) => command.name() === word)) return;
  program.error(`error: unknown command '${word}'\n(Did you mean ${meant}?)`, {
    exitCode: EXIT_CODES.usage,
    code: "commander.unknownCommand",
  });
}

/** By command: flags, and an argument, that have an effect only beside one of these. */
const ONLY_BESIDE: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  stream: { reason: ["adopt"] },
  status: { chunk: ["run"], rate: ["remote"] },
  results: { json: ["follow"], waitLock: ["import"], report: ["run"] },
  settle: { first: ["chunk"] },
};

/** Refuses flags that would have no effect: whoever typed them counts on one. */
function refuseIdle(command: Command): void {
  const nameOf = (name: string): string =>
    command.options.find((each) => each.attributeName() === name)?.long ?? `a ${name}`;
  const isGiven = (name: string): boolean =>
    command.getOptionValue(name) !== undefined ||
    command.processedArgs[command.registeredArguments.findIndex((each) => each.name() === name)] !== undefined;
  for (const [name, beside] of Object.entries(ONLY_BESIDE[command.name()] ?? {}))
    if (isGiven(name) && !beside.some(isGiven))
      command.error(`error: ${nameOf(name)} has no effect without ${beside.map(nameOf).join(" or ")}`, {
        exitCode: EXIT_CODES.usage,
      });
}

const REPORT = "a page about it, as HTML in one file";

/**
 * @param args what was typed, for the trace.
 * @param writeErr takes what is wrong with the command line.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a plain list of commands and their options
export function buildProgram(
  process_: Process,
  done: (exitCode: number) => void,
  args: readonly string[] = [],
  writeErr: (text: string) => unknown = (text) =>
    process.stderr.write(wrapped(text, process.stderr, Number.POSITIVE_INFINITY)),
): Command {
  const program = new Command("tickets")
    .description("Bulk ticket streaming: checks exports, sends them in order, keeps every promise.")
    .version(version(), VERSION_FLAGS.join(", "))
    .showSuggestionAfterError()
    .showHelpAfterError("(tickets --help lists all commands)")
    .exitOverride()
    .configureHelp({ minWidthToWrap: 5, formatItem, formatHelp })
    // Commander repeats what was typed, which may be a file's name that a glob put there.
    .configureOutput({
      writeErr: (text) => writeErr(cleanLines(text)),
    });

  const run = async (flags: Flags, command: (options: Options, context: Context) => Promise<number>): Promise<void> => {
    const { runCommand } = await import("./run-command.ts");
    done(await runCommand({ verb, flags, args }, process_, command));
  };
  let verb = "";
  program.hook("preAction", (_program, command) => {
    verb = command.name();
    refuseIdle(command);
  });

  const speaking = (command: Command): Command =>
    command
      .option("-q, --quiet", "print only warnings when all is well")
      .option("-v, --verbose", `tell more; show ${PERSONAL_FIELDS.join(" and ")} as they are`)
      .option("--no-color", "no colours")
      .addOption(
        new Option("--log-format <format>", "how stderr is written (TICKETS_LOG_FORMAT; pretty)").choices(LOG_FORMATS),
      )
      .option("--log-file <file>", "append what happens to this file, as lines of JSON");
  const answering = (command: Command): Command =>
    speaking(command.option("--json", "one JSON document on stdout, nothing else there"));
  const environment = (command: Command): Command =>
    command
      .option("-e, --env <name>", "environment (TICKETS_ENV; sandbox if none is configured)")
      .option("--config <file>", "config file to use instead of the usual ones (TICKETS_CONFIG)")
      .option("--state-dir <dir>", "folder of the ledgers (TICKETS_STATE_DIR)");
  const input = (command: Command): Command =>
    command
      .argument("<files...>", "paths, globs, - for stdin; .csv .tsv .ndjson .jsonl .json, also .gz .zst")
      .option("--action <name>", "action for rows that name none", parseAction)
      .option("--source <name>", "mapping of the config to use")
      .option("--limit <n>", "only the first N rows", parseLimit)
      .addOption(
        new Option("--order <order>", "as read, or by orderTime with each event and sale before what depends on it")
          .choices(["input", "time"] satisfies readonly Order[])
          .default("input" satisfies Order),
      )
      .option("--max-problems <n>", "how many problems are shown", parseCount)
      .option("--input-format <format>", "csv, tsv, ndjson or json, whatever the name says")
      .option("--encoding <name>", "encoding of the input (utf-8)")
      .option("--max-input-bytes <n>", "maximum size of one input after decompression, in bytes", parseCount)
      .option("--allow-empty", "accept a file of 0 bytes as an input without rows");
  const metricsFile = (): Option => new Option("--metrics-file <file>", "write numbers for Prometheus to this file");
  const pacing = (command: Command): Command =>
    command
      .option("--rate <n>", "maximum actions per second")
      .option("--max-duration <time>", "stop cleanly at a chunk border, such as 2h")
      .option("--wait-lock <time>", "wait for another run to end, such as 10m")
      .option("--timeout <time>", "longest wait for an answer (120s)")
      .option("--retries <n>", "retries of requests that were certainly not taken (8)")
      .addOption(metricsFile().conflicts("dryRun"));

  const stream = answering(environment(input(program.command("stream"))))
    .description("check, plan, send; write promises")
    .option("-o, --output <file>", "promises: .ndjson or .csv by extension, - for stdout")
    .addOption(new Option("--resend", "also send what this environment has already accepted").conflicts("adopt"))
    .option("--adopt", "record these rows as already sent, and send nothing")
    .option("--reason <text>", "with --adopt: why; kept in the ledger")
    .addOption(
      new Option("--publish", "leave the sending to workers (ledger in PostgreSQL)").conflicts(["dryRun", "adopt"]),
    )
    .option("--max-invalid <n>", "send the valid rows even if up to N (or N%) are invalid (0)", parseAllowance)
    .option("--chunk-size <n>", "actions per request, 1 to 5000 (5000)")
    .option("--lanes <n>", "parallel requests, each for its own tickets, 1 to 64 (1)");
  pacing(stream)
    .option("-n, --dry-run", "everything but sending")
    .option("--report <file>", REPORT)
    .option("--move-aside", "set aside an output file that can't be appended to; nothing is deleted")
    .option("--safe-csv", "guard CSV output against spreadsheet formulas")
    .option("-y, --yes", "don't ask before sending to production")
    .action((files: string[], flags: Flags) =>
      run(flags, async (options, context) =>
        (await import("../commands/stream.ts")).stream({ ...options, files }, context),
      ),
    );

  answering(environment(input(program.command("validate"))))
    .description("check only")
    .option("--report <file>", REPORT)
    .action((files: string[], flags: Flags) =>
      run(flags, async (options, context) =>
        (await import("../commands/validate.ts")).validate({ ...options, files }, context),
      ),
    );

  answering(environment(input(program.command("plan"))))
    .description("check, map, order; write the actions")
    .option("-o, --output <file>", "file for the actions (stdout)")
    .option(
      "--preview [n]",
      "instead: the first N rows of each file (5) beside their actions, and counts",
      parsePreview,
    )
    .action((files: string[], flags: Flags) =>
      run(flags, async ({ preview, ...options }, context) => {
        const { plan } = await import("../commands/plan.ts");
        return plan({ ...options, files, preview: preview === true ? 5 : preview }, context);
      }),
    );

  speaking(program.command("init"))
    .argument("[files...]", "exports, CSV or NDJSON; without them, a commented example")
    .description("a starter config from exports")
    .option("-o, --output <file>", "file for the config, - for stdout (tickets.config.yaml)")
    .option("--move-aside", "set an existing config aside; nothing is deleted")
    .option("--encoding <name>", "encoding of the exports (utf-8)")
    .action((files: string[], flags: Flags) =>
      run(flags, async (options, context) =>
        (await import("../commands/init.ts")).init({ ...options, files }, context),
      ),
    );

  answering(environment(program.command("status")))
    .argument("[run]", "run")
    .description("last success and failure, runs; one run; one chunk of it")
    .option("--chunk <n>", "every action of one chunk", parseCount)
    .addOption(
      new Option("--max-age <time>", "exit 4 if the last success is older, such as 26h, or there was none").conflicts(
        "remote",
      ),
    )
    .addOption(
      new Option("--remote", "ask the service what has become of its promises (statusPath)").conflicts("chunk"),
    )
    .option("--rate <n>", "with --remote: maximum requests per second")
    .addOption(metricsFile().conflicts("remote"))
    .action((name: string | undefined, flags: Flags) =>
      run(flags, async (options, context) => {
        if (options.remote)
          return (await import("../commands/remote-status.ts")).remoteStatus({ ...options, run: name }, context);
        return (await import("../commands/status.ts")).status({ ...options, run: name }, context);
      }),
    );

  pacing(
    answering(environment(program.command("resume")))
      .argument("[run]", "run (the only open one)")
      .description("go on with a run"),
  )
    .option("--report <file>", REPORT)
    .action((name: string | undefined, flags: Flags) =>
      run(flags, async (options, context) =>
        (await import("../commands/resume.ts")).resume({ ...options, run: name }, context),
      ),
    );

  answering(environment(program.command("work")))
    .description("send what was published, beside other workers (ledger in PostgreSQL)")
    .option("--lanes <n>", "lanes that it sends at once, 1 to 64 (1)")
    .option("--until-idle", "end once nothing is left to send")
    .option("--rate <n>", "maximum actions per second, of all workers together")
    .option("--max-duration <time>", "stop cleanly at a chunk border, such as 2h")
    .option("--timeout <time>", "longest wait for an answer (120s)")
    .option("--retries <n>", "retries of requests that were certainly not taken (8)")
    .addOption(metricsFile())
    .action((flags: Flags) =>
      run(flags, async (options, context) => (await import("../commands/work.ts")).work(options, context)),
    );

  answering(environment(program.command("settle")))
    .argument("[run]", "run (the only open one)")
    .description("say what became of a chunk; close or pause a run")
    .addOption(
      new Option("--sent", "the service has the actions: they count as sent, without a promise").conflicts([
        "notSent",
        "abandon",
        "pause",
      ]),
    )
    .addOption(
      new Option(
        "--not-sent",
        "the service does not have them: they are sent again, or go into rejects if the run is closed",
      ).conflicts(["sent", "abandon", "pause"]),
    )
    .addOption(
      new Option("--abandon", "close the run: what was not sent stays unsent").conflicts([
        "sent",
        "notSent",
        "pause",
        "chunk",
      ]),
    )
    .addOption(new Option("--pause", "nothing more of the run begins, until it is resumed").conflicts("chunk"))
    .option("--chunk <n>", "this chunk only", parseCount)
    .option("--first <n>", "with --chunk: only its first n actions; the rest still waits, as its own chunk", parseCount)
    .option("--reason <text>", "why; kept in the ledger")
    .option("-y, --yes", "don't ask before a run is closed")
    .option("--wait-lock <time>", "wait for another run to end, such as 10m")
    .action((name: string | undefined, flags: Flags) =>
      run(flags, async (options, context) =>
        (await import("../commands/settle.ts")).settle(
          { ...options, run: name, decision: decisionOf(options) },
          context,
        ),
      ),
    );

  answering(environment(program.command("results")))
    .argument("[run]", "run (all)")
    .description("write the promises again, any format")
    .option("-o, --output <file>", ".ndjson or .csv by extension (stdout, NDJSON)")
    .option("--force", "replace the file")
    .option("--safe-csv", "guard CSV output against spreadsheet formulas")
    .option("--report <file>", `${REPORT}; then promises are written only with --output`)
    .addOption(
      new Option("--import <files...>", "refill a lost or restored ledger from promises files").conflicts([
        ...["output", "force", "safeCsv", "report", "follow"],
      ]),
    )
    .addOption(
      new Option("--follow", "write promises and rejects of what workers send, until nothing is open").conflicts([
        ...["output", "force", "safeCsv", "report"],
      ]),
    )
    .option("--wait-lock <time>", "with --import: wait for a run to end, such as 10m")
    .action((name: string | undefined, flags: Flags) =>
      run(flags, async (options, context) => {
        const { follow, importResults, results } = await import("../commands/results.ts");
        if (options.follow) return follow({ ...options, run: name }, context);
        if (options.import === undefined) return results({ ...options, run: name }, context);
        return importResults({ ...options, run: name, files: options.import }, context);
      }),
    );

  answering(environment(program.command("env")))
    .argument("[name]", "environment")
    .description("what would be used, and why")
    .addOption(
      new Option("--check", "try whether the address can be reached and, with statusPath, the key is let in").conflicts(
        "trust",
      ),
    )
    .addOption(new Option("--trust", "trust the config of the working directory as it is now"))
    .action((name: string | undefined, flags: Flags) =>
      run(flags, async (options, context) => {
        if (options.check)
          return (await import("../commands/check-environment.ts")).checkEnvironment({ ...options, name }, context);
        const { showEnvironment, trustConfig } = await import("../commands/env.ts");
        if (options.trust) return trustConfig(options, context);
        return showEnvironment({ ...options, name }, context);
      }),
    );

  answering(environment(program.command("find")))
    .argument("<id>", "ticketId, eventId, nftId or actionPromise")
    .description("all that was ever sent about a ticket, event, nftId or promise")
    .action((id: string, flags: Flags) =>
      run(flags, async (options, context) => (await import("../commands/find.ts")).find({ ...options, id }, context)),
    );

  answering(environment(program.command("prune")))
    .description("free disk space")
    .option("--older-than <time>", "only of runs that ended at least this long ago", "90d")
    .option("--wait-lock <time>", "wait for a run to end, such as 10m")
    .action((flags: Flags) =>
      run(flags, async (options, context) => (await import("../commands/prune.ts")).prune(options, context)),
    );

  speaking(environment(program.command("sandbox")))
    .description("run the service here")
    .option("--port <n>", "port on 127.0.0.1 (4010)", parseCount)
    .option("--reset", "start a new instance; the old one and its ledger are set aside")
    .option("--faults <file>", "script of faults, YAML or JSON")
    .option("--key-env <name>", "variable that holds the key")
    .action((flags: Flags) =>
      run(flags, async (options, context) => (await import("../commands/sandbox.ts")).serveSandbox(options, context)),
    );

  speaking(program.command("completion"))
    .addArgument(new Argument("<shell>", "shell").choices(SHELLS))
    .description("a script with which a shell completes commands, flags and files")
    .action((shell: Shell, flags: Flags) =>
      run(flags, async (_, { reporter }) => {
        reporter.out(completionScript(shell, program));
        return EXIT_CODES.ok;
      }),
    );

  for (const command of [program, ...program.commands])
    command.addHelpText("after", () => wrapped(helpEnd(command.name()), process.stdout));
  return program;
}

/** Columns that descriptions need beside the terms: less would be a word a line, and the terminal folds longer ones. */
const LEAST_BESIDE = 24;

/** A term of a help with its description beside it, or where that has no room, below. */
function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (description === "" || width - termWidth - 4 >= LEAST_BESIDE)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const lines = helper.boxWrap(description, width - 6).split("\n");
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
}

/** A whole help, its examples before its arguments and options. */
function formatHelp(command: Command, helper: Help): string {
  const text = Help.prototype.formatHelp.call(helper, command, helper);
  const examples = wrapLines(helpExamples(command.name()), helper.helpWidth ?? 80);
  return text.replace(/^(?=Arguments:$|Options:$)/m, () => `${examples}\n`);
}

/** For somebody who typed `tickets` and nothing else. */
export function welcome({ isTTY, columns }: Pick<NodeJS.WriteStream, "isTTY" | "columns">): string {
  const { what, steps, more } = WELCOME;
  const helper = Object.assign(new Help(), { minWidthToWrap: 5, helpWidth: isTTY && columns > 0 ? columns : 80 });
  const width = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, about]) => formatItem(command, width, about, helper));
  return `${wrapLines(what, helper.helpWidth)}\n\nTry next:\n${lines.join("\n")}\n\n${more}\n`;
}

/** As wide as the terminal; elsewhere `otherwise`, by default what commander makes its own part of a help. */
const wrapped = (text: string, { isTTY, columns }: NodeJS.WriteStream, otherwise = 80): string =>
  wrapLines(text, isTTY && columns > 0 ? columns : otherwise);

function decisionOf({ sent, notSent, abandon, pause }: Options): SettleDecision | undefined {
  if (sent) return "sent";
  if (notSent) return "not-sent";
  if (abandon) return "abandon";
  return pause ? "pause" : undefined;
}

function parseAction(value: string): string {
  if (!isActionName(value)) throw new InvalidArgumentError(`Actions are ${ACTION_NAMES.join(", ")}.`);
  return value;
}

function parseCount(value: string): number {
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(Number(value)))
    throw new InvalidArgumentError("Give a whole number.");
  return Number(value);
}

function parseLimit(value: string): number {
  const limit = parseCount(value);
  if (limit === 0) throw new InvalidArgumentError("Give a whole number above zero.");
  return limit;
}

function parsePreview(value: string): number {
  if (!/^\d{1,4}$/.test(value))
    throw new InvalidArgumentError("Give a number of rows up to 9999. Files go before --preview.");
  return Number(value);
}

function parseAllowance(value: string): Allowance {
  const parts = /^(\d+(?:\.\d+)?)(%?)$/.exec(value);
  if (parts === null) throw new InvalidArgumentError("Give a number of rows such as 10, or a share such as 2%.");
  if (parts[2] === "%" && Number(parts[1]) > 100) throw new InvalidArgumentError("More than 100% can't be invalid.");
  if (parts[2] === "%") return { percent: Number(parts[1]) };
  return { rows: parseCount(value) };
}
