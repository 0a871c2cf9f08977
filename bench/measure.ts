/** One process, measured from outside: wall time, processor time of all its threads, the most memory it held. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes, or the signal, that count as done; 0 alone unless given. */
  readonly endsWith?: readonly (number | NodeJS.Signals)[];
}

export interface Measured {
  readonly seconds: number;
  /** User and system. Not a number where there is no /proc to read it from, as the next. */
  readonly cpuSeconds: number;
  readonly peakMib: number;
}

/** How often the process is looked at. The system keeps its peak, so only what it grows in its last moments is missed. */
const LOOK_MS = 20;
const TICKS_PER_SECOND = 100;
const UNKNOWN = { cpuSeconds: Number.NaN, peakMib: Number.NaN };

/** Where a measurement ends before the process does. */
export interface Until {
  /** In milliseconds since 1970. */
  readonly moment: Promise<number>;
  /** Sent to the process then. */
  readonly signal: "SIGKILL" | "SIGTERM";
}

export async function measure(command: Command, until?: Until): Promise<Measured> {
  const from = performance.now();
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    env: { PATH: process.env.PATH, ...command.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let used = UNKNOWN;
  let to = 0;
  const lookAgain = (): void => {
    used = look(child) ?? used;
  };
  const looking = setInterval(lookAgain, LOOK_MS);
  const stop = (): boolean => child.kill("SIGKILL");
  process.once("exit", stop);
  child.on("exit", () => {
    to ||= performance.now();
  });
  until?.moment.then((at) => {
    to = at - performance.timeOrigin;
    lookAgain();
    child.kill(until.signal);
  });
  try {
    await ended(child, command);
  } finally {
    clearInterval(looking);
    process.off("exit", stop);
  }
  return { seconds: (to - from) / 1000, ...used };
}

async function ended(child: ChildProcess, { program, args, endsWith = [0] }: Command): Promise<void> {
  let printed = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    printed = (printed + text).slice(-4000);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.on("error", reject);
  child.on("close", () => resolve());
  await promise;
  const end = child.exitCode ?? child.signalCode;
  if (end === null || !endsWith.includes(end))
    throw new Error(`${program} ${args.join(" ")} ended with ${end}\n${printed}`);
}

/** Undefined once it has ended. */
function look({ pid }: ChildProcess): Omit<Measured, "seconds"> | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may hold blanks; utime and stime are the 12th and 13th behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const peakKib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    if (Number.isNaN(peakKib)) return undefined;
    return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, peakMib: peakKib / 1024 };
  } catch {
    return undefined;
  }
}
