/** The process boundary: arguments in, signals, one try and catch, the exit code. */

import { fstatSync, writeSync } from "node:fs";
import { Writable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import type { Explained } from "./cli/run-command.ts";
import { isVersionAsked, version } from "./cli/version.ts";
import { EXIT_CODES, errorCode, exitCodeOfError, Failure, isStop, type StopSignal } from "./failure.ts";
import { cleanLines, cleanText } from "./text.ts";

// By itself V8 lets a small heap grow fourfold before it collects garbage, and most of rows, requests and answers is garbage.
setFlagsFromString("--heap-growing-percent=60");
// The space for young objects grows once, from 1 to 16 MiB, while the program is read: each batch of rows would fill a smaller one.
setFlagsFromString("--semi-space-growth-factor=16");

const stop = new AbortController();
const abort = new AbortController();

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const satisfies readonly StopSignal[];
/** How often each came to this process, and how often to the older Node that started it; both may get the same one. */
const heard = { SIGINT: { here: 0, above: 0 }, SIGTERM: { here: 0, above: 0 }, SIGHUP: { here: 0, above: 0 } };

/**
 * The first signal asks to stop, and another gives the request in flight up. A hangup never does: one terminal that goes
 * away sends several of them, from the kernel, the shell and the end of the session.
 */
function hear(signal: StopSignal, where: "here" | "above"): void {
  const times = heard[signal];
  const before = Math.max(times.here, times.above);
  times[where] += 1;
  if (times[where] <= before) return;
  if (!stop.signal.aborted) {
    stop.abort(signal);
    onFirstSignal?.(signal);
  } else if (signal !== "SIGHUP") abort.abort(new Error(`interrupted by a second signal, ${signal}`));
}
for (const signal of SIGNALS) process.on(signal, () => hear(signal, "here"));
process.on("message", (message) => {
  const signal = SIGNALS.find((name) => name === message);
  if (signal !== undefined) hear(signal, "above");
});
// The channel over which they come must not keep the process.
process.channel?.unref();
let onFirstSignal: ((signal: NodeJS.Signals) => void) | undefined;

// After a short write, as on a full disk, Node's own stream to a file drops the rest.
if (fstatSync(1).isFile()) Object.defineProperty(process, "stdout", { value: openWholly(1) });

function openWholly(file: number): Writable {
  return new Writable({
    write(bytes: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        done();
      } catch (cause) {
        done(cause instanceof Error ? cause : new Error(String(cause)));
      }
    },
  });
}

// A run must not end because nobody reads its messages, or because the disk of its log is full.
process.stderr.on("error", () => undefined);
let outputError: Error | undefined;
process.stdout.on("error", (error) => {
  outputError ??= error;
});

/** The reader of our output has closed it, as `head` does, or the terminal is gone. */
function isReaderGone(error: Error): boolean {
  return ["EPIPE", "EIO", "EBADF"].includes(errorCode(error) ?? "");
}

try {
  process.exitCode = await run(process.argv.slice(2));
  await written();
  if (outputError !== undefined && !isReaderGone(outputError) && process.exitCode === EXIT_CODES.ok)
    process.exitCode = await say(lostOutput(outputError));
} catch (error) {
  process.exitCode = await say(await explain(error));
}

async function run(args: readonly string[]): Promise<number> {
  if (isVersionAsked(args)) {
    process.stdout.write(`${version()}\n`);
    return EXIT_CODES.ok;
  }
  const { runProgram } = await import("./cli/program.ts");
  return runProgram(args, {
    stop: stop.signal,
    abort: abort.signal,
    onFirstSignal: (listener) => {
      onFirstSignal = listener;
    },
    explain,
  });
}

/** Waits until all of stdout is written, or can't be. */
function written(): Promise<void> {
  return new Promise((resolve) => process.stdout.write("", () => setImmediate(resolve)));
}

/** The failed write, or a later one to the stream that it ended. */
function isOfStream(error: unknown): boolean {
  return error === outputError || /^ERR_STREAM_/.test(errorCode(error) ?? "");
}

/** All else went well, but stdout did not take the data. */
function lostOutput({ message }: Error): Explained {
  const text = `Standard output can't be written (${cleanText(message, 200)}).`;
  return { code: "storage", message: text, hint: undefined, exitCode: EXIT_CODES.storage };
}

/** Prints an error where no command has a terminal open. Resolves with the exit code. */
async function say(explained: Explained | undefined): Promise<number> {
  if (explained === undefined) return EXIT_CODES.ok;
  const { message, hint, exitCode } = explained;
  const text = hint === undefined ? message : `${message}\n${hint}`;
  process.stderr.write(`error: ${cleanLines(text)}\n`);
  return exitCode;
}

/** Modules are loaded when they are needed, and an update of the package replaces them. */
function isOwnFileGone(error: unknown): boolean {
  if (errorCode(error) !== "ERR_MODULE_NOT_FOUND") return false;
  const { url } = error as { readonly url?: string }; // of Node, for a file
  return url?.startsWith(new URL(".", import.meta.url).href) === true;
}

async function explain(error: unknown): Promise<Explained | undefined> {
  await written();
  if (error instanceof Failure) {
    const { code, message, hint } = error;
    return { code, message, hint, exitCode: EXIT_CODES[code] };
  }
  if (isStop(error, stop.signal)) {
    const message = `Stopped by ${stop.signal.reason}. Nothing that this command sent is in doubt.`;
    return { code: "stopped", message, hint: undefined, exitCode: exitCodeOfError(error, stop.signal) };
  }
  if (outputError !== undefined && isOfStream(error))
    return isReaderGone(outputError) ? undefined : lostOutput(outputError);
  if (isOwnFileGone(error))
    return {
      code: "storage",
      message: "Files of tickets itself are gone: it was updated or removed while this command ran.",
      hint: "Install it again, then run the same command: the ledger knows what was sent.",
      exitCode: EXIT_CODES.storage,
    };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return {
    code: "internal",
    message: `a fault in tickets itself: ${cleanText(message, 500)}`,
    hint: `Please report it with these lines:\n${stack ?? ""}`,
    exitCode: EXIT_CODES.internal,
  };
}
