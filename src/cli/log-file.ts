/** The file of `--log`: lines of JSON, appended. */

import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { LogEvent } from "../commands/reporter.ts";
import { makeFolder } from "../disk/folders.ts";
import { errorCode, Failure } from "../failure.ts";
import { cleanLines, cleanText, escapeUnseen } from "../text.ts";

export type LogLevel = "info" | "warn" | "error";

/** Where a command is by now. */
export interface Place {
  readonly environment: string | undefined;
  readonly run: string | undefined;
}

export interface LogFile extends Disposable {
  /** Appends a line. Returns why that failed, the first time that it did; from then on nothing is written. */
  readonly append: (level: LogLevel, message: string, event: LogEvent, place: Place) => string | undefined;
}

/** How each line of a log begins, so that no other file is appended to. */
const BEGINNING = '{"time":"';

/** One JSON object, without what would steer a terminal. */
function lineOf(level: LogLevel, text: string, { event, ...fields }: LogEvent, place: Place): string {
  const line = { time: new Date().toISOString(), event, level, ...place, ...fields, message: cleanLines(text) };
  return `${escapeUnseen(JSON.stringify(line))}\n`;
}

/**
 * Opens a log to append to; one that is new is readable by its owner alone.
 *
 * @throws Failure `usage` where it can't be written, or is a file of something else.
 */
export function openLogFile(name: string, cwd: string): LogFile {
  const refuse = (why: string, cause?: unknown): Failure =>
    new Failure("usage", `--log ${cleanText(name, 300)} ${why}.`, {
      ...{ nothingSent: true, cause },
      hint: "Name a file that does not exist yet, or a log of earlier commands.",
    });
  const path = resolve(cwd, name);
  let file: number | undefined;
  try {
    makeFolder(dirname(path), { hint: "--log names it." });
    // A pipe that nobody reads would have it wait.
    const { O_RDWR, O_CREAT, O_APPEND, O_NONBLOCK } = constants;
    file = openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK, 0o600);
    const found = fstatSync(file);
    if (!found.isFile()) throw refuse("is not a plain file");
    const begins = read(file, Math.min(BEGINNING.length, found.size), 0);
    if (!BEGINNING.startsWith(begins)) throw refuse("is not a log of tickets");
    // After a power cut the last line may be partial. What follows it must not be read as one with it.
    if (found.size > 0 && read(file, 1, found.size - 1) !== "\n") writeSync(file, "\n");
  } catch (cause) {
    if (file !== undefined) closeSync(file);
    if (cause instanceof Failure) throw cause.with({ code: "usage", nothingSent: true });
    const code = errorCode(cause);
    throw refuse(code === "EISDIR" ? "is a folder" : `can't be written (${code})`, cause);
  }
  return appending(file);
}

function read(file: number, length: number, position: number): string {
  const bytes = Buffer.alloc(length);
  return bytes.toString("latin1", 0, readSync(file, bytes, 0, length, position));
}

function appending(file: number): LogFile {
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    append(level, message, event, place) {
      if (!isOpen) return undefined;
      const bytes = Buffer.from(lineOf(level, message, event, place));
      try {
        const { size } = fstatSync(file);
        const written = writeSync(file, bytes);
        if (written === bytes.length) return undefined;
        // The disk is full. Others may append to it as well, and their lines are left alone.
        if (fstatSync(file).size === size + written) ftruncateSync(file, size);
        close();
        return "the disk is full";
      } catch (cause) {
        close();
        return errorCode(cause) === "ENOSPC" ? "the disk is full" : String(errorCode(cause));
      }
    },
    [Symbol.dispose]: close,
  };
}
