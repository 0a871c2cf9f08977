/** The table of commands: names, flags, and what each does. Code is loaded when it is called, so that `--help` stays quick. */

import type { Option } from "commander";
import type { AllOptions, Context } from "../commands/context.ts";
import { EXIT_CODES } from "../failure.ts";
import {
  DECISIONS,
  decisionOf,
  ENVIRONMENT,
  flag,
  INPUT,
  JSON_FLAG,
  LANES,
  MAX_DURATION,
  METRICS,
  parseAgo,
  parseAllowance,
  parseCount,
  parsePreview,
  REPORT,
  WAIT_LOCK,
  WORD_FLAGS,
  YES,
} from "./flags.ts";

export interface CommandSpec {
  readonly about: string;
  readonly group: "Every day:" | "To look:" | "More:";
  readonly argument?: readonly [name: string, about: string];
  readonly flags: readonly Option[];
  /** Flags, or an argument, that have an effect only beside one of these. */
  readonly onlyBeside?: Readonly<Record<string, readonly string[]>>;
  /** Flags about all runs: no run can be named beside them. */
  readonly ofAllRuns?: readonly string[];
  readonly examples: readonly string[];
  /** The last sentence of its help. */
  readonly note?: string;
  /** It sends: a signal lets the request in flight end, and its end is followed by metrics and `onEnd`. */
  readonly sends?: true;
  readonly run: (given: AllOptions, context: Context) => Promise<number>;
}

const FILES = ["<files...>", "paths, globs, - for stdin; .csv .tsv .ndjson .jsonl .json, also .gz .zst"] as const;
const ONLY_OPEN_RUN = ["[run]", "run (the only open one)"] as const;

/** The flags of a command that uses an environment: its own, and those that all such commands have. */
const usual = (...own: readonly Option[]): readonly Option[] => [...ENVIRONMENT, ...own, JSON_FLAG, ...WORD_FLAGS];

export const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  init: {
    about: "a starter config from exports",
    group: "Every day:",
    argument: ["[files...]", "exports: CSV, TSV, NDJSON or JSON; without them, a commented example"],
    flags: [
      flag("input", "--encoding <name>", "encoding of the exports (utf-8)"),
      flag("output", "-o, --output <file>", "file for the config, - for stdout (tickets.config.yaml)"),
      flag("output", "--move-aside", "set an existing config aside; nothing is deleted"),
      ...WORD_FLAGS,
    ],
    examples: ["tickets init attendees.csv", "tickets init events.csv orders.csv scans.csv"],
    note: "It asks nothing and sends nothing; every guess is marked as one.",
    run: async (given, context) => (await import("../commands/init.ts")).init(given, context),
  },
  validate: {
    about: "check only",
    group: "Every day:",
    argument: FILES,
    flags: usual(...INPUT),
    examples: ["tickets validate payload.json", "tickets validate sales.csv --env playground"],
    run: async (given, context) => (await import("../commands/validate.ts")).validate(given, context),
  },
  plan: {
    about: "check, map, order; write the actions",
    group: "Every day:",
    argument: FILES,
    flags: usual(
      ...INPUT,
      flag("output", "-o, --output <file>", "file for the actions (stdout)"),
      flag(
        "output",
        "--preview [n]",
        "show instead the first N rows of each file (5) with their actions, and counts",
        parsePreview,
      ),
    ),
    examples: ["tickets plan sales.csv | head -n 3", "tickets plan export.csv --preview"],
    run: async (given, context) => (await import("../commands/plan.ts")).plan(given, context),
  },
  stream: {
    about: "check, plan, send; write promises",
    group: "Every day:",
    argument: FILES,
    flags: usual(
      ...INPUT,
      flag("safety", "-n, --dry-run", "everything but sending"),
      flag(
        "safety",
        "--max-invalid <n>",
        "send the valid rows even if up to N (or N%) are invalid (0)",
        parseAllowance,
      ),
      flag("safety", "--resend", "also send what this environment has already accepted").conflicts("adopt"),
      flag("safety", "--adopt", "record these rows as already sent, and send nothing"),
      flag("safety", "--reason <text>", "with --adopt: why; kept in the ledger"),
      YES,
      LANES,
      MAX_DURATION,
      WAIT_LOCK,
      flag("sending", "--publish", "leave the sending to workers (ledger in PostgreSQL)").conflicts([
        "dryRun",
        "adopt",
      ]),
      flag("output", "-o, --output <file>", "promises: .ndjson or .csv by extension, - for stdout"),
      flag("output", "--move-aside", "set aside an output file that can't be appended to; nothing is deleted"),
      REPORT,
      METRICS,
    ),
    onlyBeside: { reason: ["adopt"] },
    examples: [
      "tickets stream events.csv sales.csv",
      "tickets stream sales.csv --env playground --limit 10",
      'tickets stream old.csv --env production --adopt --reason "the old tool"',
    ],
    sends: true,
    run: async (given, context) => (await import("../commands/stream.ts")).stream(given, context),
  },
  resume: {
    about: "go on with a run",
    group: "Every day:",
    argument: ONLY_OPEN_RUN,
    flags: usual(MAX_DURATION, WAIT_LOCK, METRICS),
    examples: ["tickets resume --env playground", "tickets resume 4ba62e61 --env playground --max-duration 2h"],
    sends: true,
    run: async (given, context) => (await import("../commands/resume.ts")).resume(given, context),
  },
  settle: {
    about: "say what became of a chunk; close or pause a run",
    group: "Every day:",
    argument: ONLY_OPEN_RUN,
    flags: usual(
      ...DECISIONS,
      flag("decision", "--chunk <n>", "this chunk only", parseCount),
      flag(
        "decision",
        "--first <n>",
        "with --chunk: only its first n actions; the rest becomes a chunk of its own",
        parseCount,
      ),
      flag("decision", "--reason <text>", "why; kept in the ledger"),
      flag("decision", "-y, --yes", "don't ask before a run is closed"),
      WAIT_LOCK,
    ),
    onlyBeside: { first: ["chunk"] },
    examples: [
      "tickets settle 4ba62e61 --env playground",
      'tickets settle 4ba62e61 --env playground --not-sent --chunk 2 --reason "lost"',
    ],
    note: "Without --sent, --not-sent, --abandon or --pause it only shows what needs a decision.",
    run: async (given, context) =>
      (await import("../commands/settle.ts")).settle({ ...given, decision: decisionOf(given) }, context),
  },
  status: {
    about: "last success and failure, runs; one run; one chunk of it",
    group: "To look:",
    argument: ["[run]", "run"],
    flags: usual(
      flag("look", "--chunk <n>", "every action of one chunk", parseCount),
      flag(
        "look",
        "--max-age <time>",
        "exit 4 unless a run succeeded within this time, such as 26h",
        parseAgo,
      ).conflicts("remote"),
      flag("look", "--remote", "ask the service what has become of its promises (statusPath)").conflicts("chunk"),
      flag("output", "--metrics <file>", METRICS.description).conflicts("remote"),
    ),
    onlyBeside: { chunk: ["run"] },
    ofAllRuns: ["maxAge", "metrics"],
    examples: [
      "tickets status --env playground",
      "tickets status 4ba62e61 --chunk 2 --env playground",
      "tickets status --max-age 26h --env production",
      "tickets status --remote --env production",
    ],
    run: async (given, context) =>
      given.remote
        ? (await import("../commands/remote-status.ts")).remoteStatus(given, context)
        : (await import("../commands/status.ts")).status(given, context),
  },
  find: {
    about: "all that was ever sent about a ticket, event, nftId or promise",
    group: "To look:",
    argument: ["<id>", "ticketId, eventId, nftId or actionPromise"],
    flags: usual(),
    examples: ["tickets find PDLLYA-1 --env production", "tickets find PDLLYA-1 --env production --json"],
    note: "Exit code 4: nothing was found.",
    run: async (given, context) => (await import("../commands/find.ts")).find(given, context),
  },
  results: {
    about: "write the promises again, any format",
    group: "To look:",
    argument: ["[run]", "run (the only open one, else the last)"],
    flags: usual(
      flag("output", "--all", "the promises of all runs, the oldest first").conflicts(["report", "import", "follow"]),
      flag("output", "-o, --output <file>", ".ndjson or .csv by extension (stdout, NDJSON)"),
      flag("output", "--report <file>", `${REPORT.description}; then promises are written only with --output`),
      flag("input", "--import <files...>", "refill a lost or restored ledger from promises files").conflicts([
        "output",
        "report",
        "follow",
      ]),
      flag(
        "sending",
        "--follow",
        "keep writing promises and rejects of what workers send, until no run is open",
      ).conflicts(["output", "report"]),
      WAIT_LOCK,
    ),
    onlyBeside: { json: ["follow"], waitLock: ["import"] },
    ofAllRuns: ["all", "import"],
    examples: [
      "tickets results -o last.csv --env playground",
      "tickets results 4ba62e61 --env playground --report night.html",
      "tickets results --import promises.ndjson --env playground",
    ],
    run: async (given, context) => {
      const { follow, importResults, results } = await import("../commands/results.ts");
      if (given.follow) return follow(given, context);
      if (given.import === undefined) return results(given, context);
      return importResults({ ...given, files: given.import }, context);
    },
  },
  env: {
    about: "what would be used, and why",
    group: "To look:",
    argument: ["[name]", "environment"],
    flags: usual(
      flag(
        "look",
        "--check",
        "check that the service can be reached and, with statusPath, that it accepts the key",
      ).conflicts("trust"),
      flag("look", "--trust", "trust the config of the working directory as it is now"),
    ),
    examples: ["tickets env", "tickets env production --check"],
    run: async (given, context) => {
      const { checkEnvironment, showEnvironment, trustConfig } = await import("../commands/env.ts");
      if (given.check) return checkEnvironment(given, context);
      return given.trust ? trustConfig(given, context) : showEnvironment(given, context);
    },
  },
  sandbox: {
    about: "run the service here",
    group: "More:",
    flags: [
      ...ENVIRONMENT,
      flag("look", "--port <n>", "port on 127.0.0.1 (4010)", parseCount),
      flag("look", "--reset", "start a new instance; the old one and its ledger are set aside"),
      flag("look", "--faults <file>", "script of faults, YAML or JSON"),
      ...WORD_FLAGS,
    ],
    examples: ["tickets sandbox", "tickets sandbox --port 4020 --faults fixtures/faults/gateway.yaml"],
    run: async (given, context) => (await import("../commands/sandbox.ts")).serveSandbox(given, context),
  },
  work: {
    about: "send what was published, beside other workers (ledger in PostgreSQL)",
    group: "More:",
    flags: usual(
      flag("sending", "--lanes <n>", "lanes to send at once, 1 to 64 (1)"),
      flag("sending", "--until-idle", "end once nothing is left to send"),
      MAX_DURATION,
      METRICS,
    ),
    examples: ["tickets work --env production --lanes 8", "tickets work --env production --until-idle"],
    note: "It reads no input and writes no promises file.",
    sends: true,
    run: async (given, context) => (await import("../commands/work.ts")).work(given, context),
  },
  prune: {
    about: "free disk space",
    group: "More:",
    flags: usual(
      flag("input", "--older-than <time>", "only of runs that ended at least this long ago", parseAgo).default(
        parseAgo("90d"),
        "90d",
      ),
      WAIT_LOCK,
    ),
    examples: ["tickets prune --env production", "tickets prune --env production --older-than 3d"],
    note: "It removes the requests of old runs, and never what an unfinished run or a doubt needs. Identities and promises stay.",
    run: async (given, context) => (await import("../commands/prune.ts")).prune(given, context),
  },
  completion: {
    about: "a script that lets bash and zsh complete commands, flags and files",
    group: "More:",
    flags: WORD_FLAGS,
    examples: ["tickets completion > ~/.local/share/bash-completion/completions/tickets"],
    run: async (_given, { reporter }) => {
      reporter.out(completionScript());
      return EXIT_CODES.ok;
    },
  },
};

/** Completes commands and flags as the table has them, and files elsewhere. zsh takes it too. */
export function completionScript(): string {
  const cases = Object.entries(COMMANDS).map(([name, { flags }]) => {
    const words = [...flags.map(({ long }) => long), "--help"].join(" ");
    return `      ${name}) words="${words}" ;;`;
  });
  return `# Completion of tickets. In ~/.bashrc: source <(tickets completion)
_tickets() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words="${Object.keys(COMMANDS).join(" ")} --help --version"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
      *) words="" ;;
    esac
  fi
  COMPREPLY=()
  [ "$COMP_CWORD" -gt 1 ] && [ -z "$cur" ] || COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _tickets tickets
`;
}
