/** One process, measured from outside: wall time, processor time of all its threads, the most memory it held. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Exit codes, or the signal, that count as done. */
  readonly endsWith?: readonly (number | NodeJS.Signals)[];
  readonly onSpawn?: (child: ChildProcess, spawnedAt: number) => void;
}

export interface Measured {
  readonly seconds: number;
  /** User and system; undefined where there is no /proc to read it from, as the next. */
  readonly cpuSeconds: number | undefined;
  readonly peakMib: number | undefined;
}

/** How often the process is looked at. Its peak is kept by the system, so only what it grows in its last moments is missed. */
const LOOK_MS = 20;
const TICKS_PER_SECOND = 100;

export async function measure(command: Command): Promise<Measured> {
  const from = performance.now();
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    env: { PATH: process.env.PATH, ...command.env },
    stdio: [command.stdin === undefined ? "ignore" : "pipe", "ignore", "pipe"],
  });
  command.onSpawn?.(child, performance.timeOrigin + from);
  child.stdin?.on("error", () => undefined); // it need not read to the end
  child.stdin?.end(command.stdin);
  let told = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    told = (told + text).slice(-4000);
  });
  let used: ReturnType<typeof look>;
  const looking = setInterval(() => {
    used = look(child.pid) ?? used;
  }, LOOK_MS);
  let to = 0;
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  child.on("error", reject);
  child.on("exit", () => {
    to = performance.now();
  });
  child.on("close", () => resolve());
  try {
    await closed;
  } finally {
    clearInterval(looking);
  }
  const end = child.exitCode ?? child.signalCode;
  if (end === null || !(command.endsWith ?? [0]).includes(end))
    throw new Error(`${command.program} ${command.args.join(" ")} ended with ${end}\n${told}`);
  return { seconds: (to - from) / 1000, cpuSeconds: used?.cpuSeconds, peakMib: used?.peakMib };
}

function look(pid: number | undefined): { readonly cpuSeconds: number; readonly peakMib: number } | undefined {
  try {
    const cpuSeconds = cpuSecondsOf(pid);
    const peakKib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    if (Number.isNaN(peakKib)) return undefined; // it has ended, and waits to be noticed
    return { cpuSeconds, peakMib: peakKib / 1024 };
  } catch {
    return undefined;
  }
}

/** User and system, of all its threads. */
export function cpuSecondsOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name, in parentheses, may hold blanks; utime and stime are the 12th and 13th behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = Number.NaN, high = low] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};
