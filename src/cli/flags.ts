/** The flags of all commands: how each is typed, what it means, and under which heading `--help` shows it. */

import { InvalidArgumentError, Option } from "commander";
import { ACTION_NAMES, isActionName } from "../actions/actions.ts";
import { PERSONAL_FIELDS } from "../actions/fields.ts";
import type { AllOptions } from "../commands/context.ts";
import { parseAge, parseDuration } from "../config/values.ts";
import { Failure } from "../failure.ts";
import type { Allowance, Order } from "../plan/plan.ts";
import type { SettleDecision } from "../run/settle.ts";

/** The headings, in the order in which a help shows them. */
export const HEADINGS = {
  place: "Environment:",
  input: "Input:",
  safety: "Safety:",
  decision: "Decision:",
  sending: "Sending:",
  look: "What to show:",
  output: "Output:",
  words: "Words:",
} as const;

/** A flag under a heading. `parse` refuses a value with a sentence. */
export function flag(
  heading: keyof typeof HEADINGS,
  flags: string,
  description: string,
  parse?: (value: string) => unknown,
): Option {
  const option = new Option(flags, description).helpGroup(HEADINGS[heading]);
  return parse === undefined ? option : option.argParser(parse);
}

export const ENVIRONMENT = [
  flag("place", "-e, --env <name>", "environment (TICKETS_ENV; sandbox if none is configured)"),
  flag("place", "--config <file>", "config file to use instead of the usual ones (TICKETS_CONFIG)"),
];

export const INPUT = [
  flag("input", "--action <name>", "action for rows that name none", parseAction),
  flag("input", "--source <name>", "mapping of the config to use"),
  flag("input", "--format <format>", "csv, tsv, ndjson or json, whatever the file is called"),
  flag("input", "--encoding <name>", "encoding of the input (utf-8)"),
  flag("input", "--limit <n>", "only the first N rows: a canary", parseLimit),
  flag("input", "--order <order>", "as read, or by orderTime with each event and sale before what depends on it")
    .choices(["input", "time"] satisfies readonly Order[])
    .default("input" satisfies Order),
];

export const YES = flag("safety", "-y, --yes", "don't ask before anything is sent");
export const WAIT_LOCK = flag("sending", "--wait-lock <time>", "wait for another run to end, such as 10m", parseWait);
export const MAX_DURATION = flag(
  "sending",
  "--max-duration <time>",
  "stop cleanly at a chunk border, such as 2h",
  parseWait,
);
export const LANES = flag("sending", "--lanes <n>", "parallel requests, each for its own tickets, 1 to 64 (1)");
export const REPORT = flag("output", "--report <file>", "write a report, one HTML file");
export const METRICS = flag("output", "--metrics <file>", "write metrics for Prometheus to this file");
export const JSON_FLAG = flag("words", "--json", "print only a JSON document on stdout");

export const WORD_FLAGS = [
  flag("words", "-q, --quiet", "print only warnings when all is well"),
  flag("words", "-v, --verbose", `say more; show ${PERSONAL_FIELDS.join(" and ")} as they are`),
  flag("words", "--log <file>", "append a log to this file, as lines of JSON"),
];

/** At most one of them is taken. */
export const DECISIONS = [
  flag("decision", "--sent", "the service has the actions: they count as sent, without a promise"),
  flag(
    "decision",
    "--not-sent",
    "the service does not have them: they are sent again, or go into rejects if the run is closed",
  ),
  flag("decision", "--abandon", "close the run: what was not sent stays unsent").conflicts("chunk"),
  flag("decision", "--pause", "send nothing more of the run until it is resumed").conflicts("chunk"),
].map((option, at, all) => option.conflicts(all.slice(at + 1).map((other) => other.attributeName())));

export function decisionOf({ sent, notSent, abandon, pause }: AllOptions): SettleDecision | undefined {
  if (sent) return "sent";
  if (notSent) return "not-sent";
  if (abandon) return "abandon";
  return pause ? "pause" : undefined;
}

function parseAction(value: string): string {
  if (!isActionName(value)) throw new InvalidArgumentError(`Actions are ${ACTION_NAMES.join(", ")}.`);
  return value;
}

function parseWait(value: string): number {
  return readDuration(value, parseDuration);
}

export function parseAgo(value: string): number {
  return readDuration(value, parseAge);
}

function readDuration(value: string, read: (text: string) => number): number {
  try {
    return read(value);
  } catch (cause) {
    throw cause instanceof Failure ? new InvalidArgumentError(`${cause.message}.`) : cause;
  }
}

export function parseCount(value: string): number {
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(Number(value)))
    throw new InvalidArgumentError("Give a whole number.");
  return Number(value);
}

function parseLimit(value: string): number {
  const limit = parseCount(value);
  if (limit === 0) throw new InvalidArgumentError("Give a whole number above zero.");
  return limit;
}

export function parsePreview(value: string): number {
  if (!/^\d{1,4}$/.test(value))
    throw new InvalidArgumentError("Give a number of rows up to 9999. Files go before --preview.");
  return Number(value);
}

export function parseAllowance(value: string): Allowance {
  const parts = /^(\d+(?:\.\d+)?)(%?)$/.exec(value);
  if (parts === null) throw new InvalidArgumentError("Give a number of rows such as 10, or a share such as 2%.");
  if (parts[2] === "%" && Number(parts[1]) > 100) throw new InvalidArgumentError("More than 100% can't be invalid.");
  if (parts[2] === "%") return { percent: Number(parts[1]) };
  return { rows: parseCount(value) };
}
