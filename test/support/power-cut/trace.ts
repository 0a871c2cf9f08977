/** What a command did to files and sockets, call by call, as Debian's strace tells it. */

import { readFileSync } from "node:fs";

/** Calls that change files or their names, make a change last, or send. Where files are written by one that is missing here, what is rebuilt differs from what is there. */
const CALLS = [
  ...["open", "openat", "creat", "write", "writev", "pwrite64", "pwritev", "pwritev2", "ftruncate", "truncate"],
  ...["fallocate", "copy_file_range", "sendfile", "splice", "ioctl", "lseek", "fsync", "fdatasync", "sync_file_range"],
  ...["rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat"],
  ...["mkdir", "mkdirat", "rmdir", "sendto", "sendmsg", "sendmmsg"],
];

/** More than anything that is written at once, but for the reserve beside the ledger, which is zeros. */
const LONGEST = 20_000;
/** The reserve: only its size is of interest. */
export const isHollow = (path: string): boolean => path.endsWith("/ballast");

/** For `RunOptions.shell`: every call goes to a file, with all bytes that it writes. */
export const tracedWithBytes = (log: string): string =>
  `exec strace -f -yy -xx -qq -s ${LONGEST} --signal=none --seccomp-bpf -o '${log}' -e trace=${CALLS.join(",")} "$@"`;

export type Operation =
  | { readonly kind: "open"; readonly path: string; readonly creates: boolean; readonly empties: boolean }
  | {
      readonly kind: "write";
      readonly path: string;
      /** `end`: behind all that is there. */
      readonly offset: number | "end";
      readonly length: number;
      /** Empty for a hollow file. */
      readonly bytes: Buffer;
    }
  | { readonly kind: "truncate"; readonly path: string; readonly size: number }
  | { readonly kind: "clone"; readonly path: string; readonly from: string }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "mkdir"; readonly path: string; readonly mode: number }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  /** Bytes that left through a connection. */
  | { readonly kind: "send"; readonly port: number; readonly begins: boolean };

/** What was done between two places of the log. */
export interface Traced {
  readonly start: number;
  readonly end: number;
  readonly operation: Operation;
}

/**
 * Reads a log.
 *
 * @param root only files below this folder are reported.
 * @param from the place of the log's beginning.
 * @throws where a call changes a file below the folder in a way that is not read here.
 */
export function readTrace(log: string, root: string, from = 0): readonly Traced[] {
  const descriptors = new Map<number, Descriptor>();
  return callsOf(readFileSync(log, "latin1")).flatMap(({ call, start, end }) => {
    const operation = operationOf(call, root, descriptors);
    return operation === undefined ? [] : [{ start: from + start, end: from + end, operation }];
  });
}

/** What is known of an open file. */
interface Descriptor {
  readonly path: string;
  readonly appends: boolean;
  /** Where the next byte goes that is written without a place. */
  position: number;
}

interface Call {
  readonly name: string;
  readonly text: string;
  readonly result: number;
  /** Of a file that was opened. */
  readonly opened: string | undefined;
}

/**
 * The calls that did not fail, in the order in which they began; a file is opened when that has ended, since only then is its
 * number taken. A thread's line is in two where another's came between.
 */
function callsOf(log: string): readonly { readonly call: Call; readonly start: number; readonly end: number }[] {
  const calls: { readonly call: Call; readonly start: number; readonly end: number }[] = [];
  const begun = new Map<string, { readonly start: number; readonly text: string }>();
  let start = 0;
  for (const line of log.split("\n")) {
    const end = start + line.length + 1;
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, beginning] = /^(.*) <unfinished \.\.\.>$/.exec(rest) ?? [];
    const [, ending] = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest) ?? [];
    if (beginning !== undefined) begun.set(thread, { start, text: beginning });
    else {
      const whole = ending === undefined ? { start, text: rest } : begun.get(thread);
      const call = whole && parseCall(whole.text + (ending ?? ""));
      if (whole !== undefined && call !== undefined) calls.push({ call, start: whole.start, end });
    }
    start = end;
  }
  const at = ({ call, start, end }: (typeof calls)[number]): number => (call.opened === undefined ? start : end);
  return calls.toSorted((one, other) => at(one) - at(other));
}

function parseCall(line: string): Call | undefined {
  const [, name, text, result, opened] = /^(\w+)\((.*)\) += (\d+)(?:<([^>]*)>)?[^=]*$/.exec(line) ?? [];
  if (name === undefined || text === undefined) return undefined;
  return { name, text, result: Number(result), opened: opened === undefined ? undefined : textOf(opened) };
}

const textOf = (text: string): string => bytesOf(text).toString("utf8");

/** `\x41\x42`; what the program names by itself, as in `pipe:[7]`, stands as it is. */
function bytesOf(text: string): Buffer {
  return text.startsWith("\\x") ? Buffer.from(text.replaceAll("\\x", ""), "hex") : Buffer.from(text, "latin1");
}

const KEEPS_FILES = new Set(["lseek", "ioctl", "sync_file_range"]);

function operationOf(call: Call, root: string, descriptors: Map<number, Descriptor>): Operation | undefined {
  const { name, text, result } = call;
  const isOwn = (path: string | undefined): path is string =>
    path !== undefined && (path === root || path.startsWith(`${root}/`));
  if (name === "open" || name === "openat" || name === "creat") return open(call, isOwn, descriptors);
  const [file = "", target] = pathsOf(text);
  const [, port] = /^\d+<TCP:\[[^>]*?:(\d+)->/.exec(text) ?? [];
  if (port !== undefined) {
    const [, bytes = ""] = /"([^"]*)"/.exec(text) ?? [];
    return { kind: "send", port: Number(port), begins: textOf(bytes.slice(0, 4 * "POST ".length)) === "POST " };
  }
  if (!isOwn(file) && !isOwn(target)) return undefined;
  const unknown = (): never => {
    throw new Error(`a call that nobody rebuilds: ${name}(${text.slice(0, 300)}`);
  };
  // Its name is gone, and with it all that could be found of it.
  if (/^\d+<[^>]*>\(deleted\)/.test(text)) return undefined;
  const numbers = text.split(", ").map(Number);
  const path = file;
  switch (name) {
    case "write":
    case "writev": {
      const descriptor = descriptors.get(Number.parseInt(text, 10));
      if (descriptor === undefined || descriptor.path !== path) return unknown();
      const offset = descriptor.appends ? "end" : descriptor.position;
      descriptor.position += result;
      return { kind: "write", path, offset, length: result, bytes: written(text, path, result) };
    }
    case "pwrite64":
    case "pwritev":
      return {
        kind: "write",
        path,
        offset: numbers.at(-1) ?? 0,
        length: result,
        bytes: written(text, path, result),
      };
    case "truncate":
    case "ftruncate":
      return { kind: "truncate", path, size: numbers.at(-1) ?? 0 };
    case "fsync":
    case "fdatasync":
      return { kind: "sync", path };
    case "mkdir":
    case "mkdirat":
      return { kind: "mkdir", path, mode: Number.parseInt(text.slice(text.lastIndexOf(" ") + 1), 8) };
    case "unlink":
    case "unlinkat":
    case "rmdir":
      return { kind: "remove", path };
    case "rename":
    case "renameat":
    case "renameat2":
      return isOwn(target) ? { kind: "rename", path, to: target } : unknown();
    case "ioctl": {
      if (!text.includes("FICLONE")) return undefined;
      const source = descriptors.get(numbers.at(-1) ?? -1);
      return source === undefined ? unknown() : { kind: "clone", path, from: source.path };
    }
    default:
      return KEEPS_FILES.has(name) ? undefined : unknown();
  }
}

function open(
  { text, result, opened }: Call,
  isOwn: (path: string | undefined) => path is string,
  descriptors: Map<number, Descriptor>,
): Operation | undefined {
  if (opened === undefined) return undefined;
  descriptors.set(result, { path: opened, appends: text.includes("O_APPEND"), position: 0 });
  const [creates, empties] = [text.includes("O_CREAT"), text.includes("O_TRUNC")];
  if (!isOwn(opened) || !(creates || empties)) return undefined;
  return { kind: "open", path: opened, creates, empties };
}

/** The files that a call names: by a descriptor, or by paths. */
function pathsOf(text: string): readonly string[] {
  const [, open] = /^\d+<((?:\\x[0-9a-f]{2})*)/.exec(text) ?? [];
  if (open !== undefined) return [textOf(open)];
  const names = [...text.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"/g)];
  return names.map(([, folder, name = ""]) => {
    const path = textOf(name);
    return path.startsWith("/") || folder === undefined ? path : `${textOf(folder)}/${path}`;
  });
}

/** The bytes of all strings of a call. */
function written(text: string, path: string, length: number): Buffer {
  if (isHollow(path)) return Buffer.alloc(0);
  if (/"\.\.\./.test(text)) throw new Error(`more than ${LONGEST} bytes were written to ${path} at once`);
  const bytes = Buffer.concat([...text.matchAll(/"([^"]*)"/g)].map(([, each = ""]) => bytesOf(each)));
  if (bytes.length < length) throw new Error(`the trace holds ${bytes.length} of ${length} bytes of ${path}`);
  return bytes.subarray(0, length);
}
