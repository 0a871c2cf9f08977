/** How commands reach people: colour and a live line on a terminal, plain lines elsewhere; and lines of a log. */

import { createInterface } from "node:readline/promises";
import type { ChalkInstance } from "chalk";
import type { Ora } from "ora";
import { columnsOf, wrapLines } from "../commands/layout.ts";
import type { LogEvent, Messages, Reporter } from "../commands/reporter.ts";
import type { WorkUnderWay } from "../run/context.ts";
import { cleanLines, cleanText, count, durationText, escapeUnseen, number } from "../text.ts";
import type { LogFile, LogLevel, Place } from "./log-file.ts";

export interface TerminalOptions {
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Where lines of JSON go, whatever stderr shows. */
  readonly logFile?: LogFile | undefined;
  readonly place: () => Place;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

export interface Terminal extends Reporter {
  /**
   * Ends the live line. With `--quiet`, prints what was kept back: all of it, in order, where the command failed; else
   * notices and warnings alone.
   */
  readonly end: (exitCode: number) => void;
}

/** Without a terminal, one line in half a minute shows that the run lives. */
const PLAIN_EVERY_MS = 30_000;

/** How a line of each level begins, in which colour, and what a log calls it that names no event. */
const LEVELS = {
  info: { mark: "", colour: undefined, event: "note" },
  warn: { mark: "warning: ", colour: "yellow", event: "warning" },
  error: { mark: "error: ", colour: "red", event: "error" },
} as const satisfies Record<LogLevel, object>;

/** `isDue`: `--quiet` prints it even if all is well. */
interface Manner {
  readonly level: LogLevel;
  readonly isDue: boolean;
}

const MANNERS = {
  info: { level: "info", isDue: false },
  notice: { level: "info", isDue: true },
  warn: { level: "warn", isDue: true },
  warnAgain: { level: "warn", isDue: false },
  error: { level: "error", isDue: true },
} as const satisfies Record<string, Manner>;

export async function openTerminal(options: TerminalOptions): Promise<Terminal> {
  const { quiet, verbose, stdin, stdout, stderr, env } = options;
  // A terminal that says it has no columns (a bare pty) would have ora clear infinitely many lines.
  const live = !quiet && stderr.isTTY === true && stderr.columns !== 0 && env.TERM !== "dumb" && !env.CI;
  const colours = await loadColours(options);
  const spinner = live ? await loadSpinner(stderr, colours(stderr) !== undefined) : undefined;
  const { say, record, printKept } = openSpeech(options, colours, spinner);
  const speak =
    (manner: Manner, stream = stderr) =>
    (text: string, about?: LogEvent) =>
      say(manner, text, about, stream);
  const messages = (stream: NodeJS.WriteStream): Messages => ({
    info: speak(MANNERS.info, stream),
    warn: speak(MANNERS.warn, stream),
    warnAgain: speak(MANNERS.warnAgain, stream),
    error: speak(MANNERS.error, stream),
  });
  const log: Reporter["log"] = (text, about) => record("info", text, about);
  const info = speak(MANNERS.info);

  let lastPlain = performance.now();
  let pace: Pace | undefined;
  return {
    ...messages(stderr),
    found: messages(stdout),
    notice: speak(MANNERS.notice),
    detail: verbose ? info : log,
    log,
    show: (text) => {
      stdout.write(cleanLines(text));
    },
    document: (result) => {
      stdout.write(`${escapeUnseen(JSON.stringify(result))}\n`);
    },
    out: (text) => {
      stdout.write(stdout.isTTY === true ? escapeUnseen(text) : text);
    },
    progress: (state) => {
      if (state === undefined) {
        pace = undefined;
        spinner?.stop();
        return;
      }
      const now = performance.now();
      if (pace?.doing !== state.doing) pace = paceFrom(state, now);
      if (spinner !== undefined) {
        spinner.text = cleanLines(describeProgress(state, pace, now, stderr.columns - SPINNER_COLUMNS));
        if (!spinner.isSpinning) spinner.start();
      }
      if (now - lastPlain < PLAIN_EVERY_MS) return;
      lastPlain = now;
      const { doing, done, total } = state;
      // Where the spinner shows it, or with `--quiet`, it is for the log alone.
      const report = spinner === undefined && !quiet ? info : log;
      report(describeProgress(state, pace, now), { event: "progress", doing, done, total });
    },
    ask:
      stdin.isTTY && stderr.isTTY
        ? (question, signal) => {
            record("info", question, { event: "question" });
            return askYesNo(`${cleanLines(fitted(question, stderr))} [y/N] `, stdin, stderr, signal);
          }
        : undefined,
    end: (exitCode) => {
      spinner?.stop();
      printKept(exitCode);
    },
  };
}

/** Prints lines and writes them into the log; with `--quiet`, keeps them back. */
function openSpeech({ quiet, logFile, place, stderr }: TerminalOptions, colours: Colours, spinner: Ora | undefined) {
  const kept: { readonly line: string; readonly isDue: boolean; readonly stream: NodeJS.WriteStream }[] = [];

  const format = (level: LogLevel, text: string, stream: NodeJS.WriteStream): string => {
    const { mark, colour } = LEVELS[level];
    const lines = fitted(`${mark}${cleanLines(text)}`, stream);
    const paint = colour && colours(stream)?.[colour];
    return paint === undefined ? `${lines}\n` : `${paint(mark)}${lines.slice(mark.length)}\n`;
  };
  const show = (line: string, stream: NodeJS.WriteStream): void => {
    const spinning = spinner?.isSpinning === true;
    if (spinning) spinner.clear();
    stream.write(line);
    if (spinning) spinner.render();
  };
  const say = ({ level, isDue }: Manner, text: string, about: LogEvent | undefined, stream: NodeJS.WriteStream) => {
    record(level, text, about ?? { event: LEVELS[level].event });
    const line = format(level, text, stream);
    if (quiet) kept.push({ line, isDue, stream });
    else show(line, stream);
  };
  const record = (level: LogLevel, text: string, about: LogEvent): void => {
    const failed = logFile?.append(level, text, about, place());
    if (failed === undefined) return;
    const lost = `The log file can't be written any more (${failed}). What follows is not in it.`;
    say(MANNERS.warn, lost, undefined, stderr);
  };
  const printKept = (exitCode: number): void => {
    for (const { line, isDue, stream } of kept) if (isDue || exitCode !== 0) stream.write(line);
    kept.length = 0;
  };
  return { say, record, printKept };
}

/** Where a piece of work began, in milliseconds of a monotonic clock. The rate and the time left follow from it. */
interface Pace {
  readonly doing: string;
  readonly startedAt: number;
  readonly startedWith: number;
  readonly startedShare: number;
}

const paceFrom = (state: WorkUnderWay, now: number): Pace => ({
  ...{ doing: state.doing, startedAt: now, startedWith: state.done, startedShare: shareOf(state) },
});

/** How much of the work is done, 0 to 1. */
const shareOf = ({ done, total, share = 0 }: WorkUnderWay): number =>
  total === undefined ? share : done / Math.max(1, total);

/** What a narrow line keeps beside what is under way, the most needed first. */
const MOST_NEEDED = ["share", "left", "amount", "note", "rejected", "rate"] as const;

/** `sending 5,000 of 12,000 actions · 41% · 4,800/s · 2 s left · 3 rejected`, as much of it as has room. */
export function describeProgress(
  state: WorkUnderWay,
  pace: Pace,
  now: number,
  room = Number.POSITIVE_INFINITY,
): string {
  const { doing, done, total, unit, rejected = 0, waiting } = state;
  const elapsed = (now - pace.startedAt) / 1000;
  const perSecond = elapsed >= 0.5 ? (done - pace.startedWith) / elapsed : 0;
  const share = shareOf(state);
  const gained = elapsed >= 0.5 ? share - pace.startedShare : 0;
  // In their order in the line.
  const parts: Readonly<Record<(typeof MOST_NEEDED)[number], string | false | undefined>> = {
    amount: ` ${total === undefined ? count(done, unit) : `${number(done)} of ${count(total, unit)}`}`,
    // Rounded down: what is not done is never called 100%.
    share: share > 0 && ` · ${Math.floor(100 * share)}%`,
    rate: perSecond > 0 && ` · ${number(Math.round(perSecond))}/s`,
    left: gained > 0 && share < 1 && ` · ${durationText((1000 * elapsed * (1 - share)) / gained)} left`,
    rejected: rejected > 0 && ` · ${number(rejected)} rejected`,
    note: waiting && ` · ${cleanText(waiting.detail, 60)}; trying again in ${durationText(waiting.waitMs)}`,
  };
  const shown: Partial<Record<string, string>> = {};
  let free = room - doing.length;
  for (const name of MOST_NEEDED) {
    const text = parts[name] || "";
    if (text.length > free) continue;
    free -= text.length;
    shown[name] = text;
  }
  const inOrder = Object.keys(parts).map((name) => shown[name] ?? "");
  return `${doing}${inOrder.join("")}`;
}

/** The spinner and the blank behind it, and one column that stays free. */
const SPINNER_COLUMNS = 3;

/** Text as wide as the terminal that it goes to. Files and pipes get lines as they are. */
const fitted = (text: string, stream: NodeJS.WriteStream): string => wrapLines(text, columnsOf(stream));

/** What paints a stream; undefined for one without colours. */
type Colours = (stream: NodeJS.WriteStream) => ChalkInstance | undefined;

async function loadColours({ stdout, stderr, env }: TerminalOptions): Promise<Colours> {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  const isPainted = (stream: NodeJS.WriteStream): boolean =>
    !env.NO_COLOR && (forced || (stream.isTTY === true && env.TERM !== "dumb"));
  if (![stdout, stderr].some(isPainted)) return () => undefined;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return (stream) => (isPainted(stream) ? chalk : undefined);
}

async function loadSpinner(stream: NodeJS.WriteStream, isColoured: boolean): Promise<Ora> {
  const { default: ora } = await import("ora");
  // Ctrl-C must reach the program, and an input that is a pipe must stay one.
  return ora({ stream, discardStdin: false, hideCursor: true, color: isColoured ? "cyan" : false });
}

async function askYesNo(
  question: string,
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  signal: AbortSignal,
): Promise<boolean> {
  // As a plain terminal, in which Ctrl-C is a signal to the process like any other.
  const lines = createInterface({ input, output, terminal: false });
  // The end of the input, such as Ctrl-D, is not consent.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    const answer = lines.question(question, { signal });
    return /^y(es)?$/i.test((await Promise.race([answer, ended])).trim());
  } finally {
    lines.close();
  }
}
