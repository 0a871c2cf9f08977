/** Runs a program that a config names. */

import { spawn } from "node:child_process";
import { errorCode } from "../failure.ts";

export interface Program {
  readonly command: readonly string[];
  readonly directory: string;
}

/** What it printed, or why it failed: a phrase such as `was not found`. */
type Ended = { readonly printed: string } | { readonly failed: string };

/**
 * Runs it without a shell, with `input` on its standard input. What it prints is kept up to `mostBytes`; with 0 it goes
 * nowhere. Never throws: Node's own errors carry the arguments and what was printed.
 */
export function runProgram(
  { command: [program = "", ...args], directory }: Program,
  {
    env,
    input,
    mostBytes,
    limitMs,
    signal,
  }: {
    readonly env: NodeJS.ProcessEnv;
    readonly input: string;
    readonly mostBytes: number;
    readonly limitMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const fail = (failed: string): void => resolve({ failed });
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const isHeard = mostBytes > 0;
  const printed: Buffer[] = [];
  let bytes = 0;
  try {
    const child = spawn(program, args, {
      ...{ cwd: directory, env, windowsHide: true, signal: giveUp, killSignal: "SIGKILL" },
      stdio: ["pipe", isHeard ? "pipe" : "ignore", "ignore"],
    });
    child.on("error", (error) => {
      const code = errorCode(error) ?? "unknown reason";
      if (giveUp.aborted) fail(signal.aborted ? "was ended by a signal" : `did not end within ${limitMs / 1000} s`);
      else fail(WHY[code] ?? `can't be run (${code})`);
    });
    child.stdout?.on("data", (block: Buffer) => {
      bytes += block.length;
      if (bytes <= mostBytes) {
        printed.push(block);
        return;
      }
      fail("printed too much");
      child.kill("SIGKILL");
    });
    // A program that it has started may keep its output open.
    child.on(isHeard ? "close" : "exit", (code: number | null, by: string | null) => {
      if (code === 0) resolve({ printed: Buffer.concat(printed).toString("utf8") });
      else fail(code === null ? `was killed (${by ?? "unknown reason"})` : `ended with exit code ${code}`);
    });
    // The program may end without reading its input.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  } catch {
    fail("can't be run as it is written");
  }
  return promise;
}

const WHY: Readonly<Record<string, string>> = { ENOENT: "was not found", EACCES: "is not executable" };
