/** The built program in processes that have run it before, for a tenth of the time: of a small command the rest is starting. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { WarmCommand, WarmEnded } from "./warm-process.ts";

const PROCESS = fileURLToPath(new URL("warm-process.ts", import.meta.url));
/** What a command may leave in its process does not add up for long. */
const MOST_COMMANDS = 100;

/** What Node or a module reads once, as it starts. */
const READ_ONCE = ["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "UV_THREADPOOL_SIZE"] as const;
const keyOf = ({ env }: WarmCommand): string => JSON.stringify(READ_ONCE.map((name) => env[name]));

interface WarmProcess {
  /** Of the commands that it can run. */
  readonly key: string;
  readonly child: ChildProcess;
  commands: number;
}

function start({ env }: WarmCommand, key: string): WarmProcess {
  const child = fork(PROCESS, [], {
    env: { ...env },
    // Node 22 calls its SQLite experimental, once a process.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.removeListener("exit", end));
  return { key, child, commands: 0 };
}

/** While it runs, the process keeps that of the tests. */
async function run(child: ChildProcess, command: WarmCommand, limitMs: number): Promise<WarmEnded> {
  child.ref();
  child.channel?.ref();
  const limit = setTimeout(() => child.kill("SIGKILL"), limitMs);
  const done = new AbortController();
  try {
    const ended = once(child, "message", { signal: done.signal });
    const died = once(child, "exit", { signal: done.signal }).then(([code, signal]) => {
      throw new Error(`the process of tickets ${command.args.join(" ")} ended (${signal ?? code})`);
    });
    for (const each of [ended, died]) each.catch(() => {}); // one of them is left over
    child.send(command);
    const [answer] = await Promise.race([ended, died]);
    return answer as WarmEnded; // what the process sends
  } finally {
    clearTimeout(limit);
    done.abort();
    child.unref();
    child.channel?.unref();
  }
}

/** The one used last at the end. */
const idle: WarmProcess[] = [];
/** More would only be those of tests that have ended. */
const MOST_IDLE = 4;

/** @param limitMs ends a hung command. */
export async function runWarm(command: WarmCommand, limitMs: number): Promise<WarmEnded> {
  const key = keyOf(command);
  const at = idle.findLastIndex((each) => each.key === key);
  const [warm = start(command, key)] = at === -1 ? [] : idle.splice(at, 1);
  const ended = await run(warm.child, command, limitMs);
  warm.commands += 1;
  if (warm.commands < MOST_COMMANDS) idle.push(warm);
  else warm.child.kill("SIGKILL");
  if (idle.length > MOST_IDLE) idle.shift()?.child.kill("SIGKILL");
  return ended;
}
