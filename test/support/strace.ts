/** Ends a process at a system call of one's choice, or lets that call fail, with Debian's strace. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Whether there is a strace that may trace. */
export const HAS_STRACE = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;

/** What changes a disk, or makes a change last. */
const CALLS = [
  ...["write", "writev", "pwrite64", "pwritev", "fsync", "fdatasync", "ftruncate", "truncate"],
  ...["rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat", "symlink"],
  ...["mkdir", "mkdirat", "rmdir"],
];

/** `killed`: the call is not made. */
export type CallFault = "killed" | "EIO" | "ENOSPC";

/** One call of a process, as it was traced. */
export interface TracedCall {
  readonly call: string;
  /** Which one of its thread, from 1. */
  readonly nth: number;
  /** Which one of its thread on this file, from 1. */
  readonly nthOfFile: number;
  /** The file; undefined for a pipe, a socket or what else is on no disk. */
  readonly path: string | undefined;
}

export interface FailingCall {
  readonly call: string;
  readonly nth: number;
  /** Only calls on this file are counted. */
  readonly path?: string | undefined;
  readonly fault: CallFault;
}

/** With one thread for files the calls come in the same order each time, as far as they can. */
export const ONE_THREAD = { UV_THREADPOOL_SIZE: "1" };

const STRACE = "exec strace -f -y -qq --signal=none";
/** Stops the process at the calls in question only. A signal that is sent at such a stop does not arrive. */
const SELDOM = "--seccomp-bpf";

/** For `RunOptions.shell`: every call goes to a file. */
export const traced = (log: string): string => `${STRACE} ${SELDOM} -o ${quoted(log)} -e trace=${CALLS.join(",")} "$@"`;

/** For `RunOptions.shell`: the call fails, or ends the process before it is made. It goes to a file, unless it ended it. */
export function failing({ call, nth, path, fault }: FailingCall, log: string): string {
  const [how, when] = fault === "killed" ? ["signal=SIGKILL", ""] : [`error=${fault}`, ` ${SELDOM}`];
  const where = path === undefined ? "" : ` -P ${quoted(path)}`;
  return `${STRACE}${when} -o ${quoted(log)}${where} -e trace=${call} -e inject=${call}:${how}:when=${nth} "$@"`;
}

const quoted = (text: string): string => `'${text}'`;

/** The calls that a log has, in order. */
export function readCalls(log: string): readonly TracedCall[] {
  const times = new Map<string, number>();
  const next = (key: string): number => {
    const time = (times.get(key) ?? 0) + 1;
    times.set(key, time);
    return time;
  };
  return linesOf(log).flatMap((line) => {
    const [, thread, call, rest = ""] = line.match(/^(\d+) +(\w+)\((.*)$/) ?? [];
    if (thread === undefined || call === undefined) return [];
    const path = fileOf(rest);
    return [{ call, nth: next(`${thread} ${call}`), nthOfFile: next(`${thread} ${call} ${path}`), path }];
  });
}

/** The file whose call failed; undefined where none did, or on no file. */
export function failedFile(log: string): string | undefined {
  const line = linesOf(log).find((each) => each.includes("(INJECTED)"));
  const [, rest] = line?.match(/^\d+ +\w+\((.*)$/) ?? [];
  return rest === undefined ? undefined : fileOf(rest);
}

/** `18</a/b>, …`, `"/a/b", …` or `AT_FDCWD</a>, "b", …`. */
function fileOf(rest: string): string | undefined {
  const [, open, named] = rest.match(/^(?:\d+<(\/[^>]*)>|(?:AT_FDCWD<[^>]*>, )?"([^"]*)")/) ?? [];
  const path = open ?? named;
  return path?.startsWith("/dev/null") || path?.startsWith("/proc/") ? undefined : path;
}

const linesOf = (log: string): readonly string[] => (existsSync(log) ? readFileSync(log, "utf8").split("\n") : []);
