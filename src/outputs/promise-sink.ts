/** Where a run's promises go: a file that grows with the ledger, or standard output. */

import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { errorCode } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { outcomesOfChunk, unprojectedChunks } from "../ledger/outcomes.ts";
import { knownOutput } from "../ledger/outputs.ts";
import { hasProjected } from "../ledger/runs.ts";
import { freeName, OutputChanged, type OutputFile, type OutputState, openOutput } from "./output-file.ts";
import { type LineStyle, promiseFormat, promiseLines, promisesHeader, type RunLabel } from "./promise-lines.ts";

export interface PromiseSink extends AsyncDisposable {
  /** The file's path, undefined for standard output. */
  readonly path: string | undefined;
  /**
   * Writes the lines of a chunk, as `promiseLines` makes them in the style of this sink. After it resolves they are on
   * disk; the returned function is part of the transaction that notes it.
   */
  write(lines: string): Promise<(ledger: Ledger) => void>;
  /** How the lines must be written. */
  readonly style: LineStyle;
}

export async function openPromiseFile(options: {
  readonly ledger: Ledger;
  readonly path: string;
  readonly state: OutputState;
  readonly label: RunLabel;
  readonly safeCsv: boolean;
  /** Told when the file was changed under the run and the rest goes elsewhere. */
  readonly onMoved: (path: string) => void;
}): Promise<PromiseSink> {
  const { ledger, label, safeCsv, onMoved } = options;
  const format = promiseFormat(options.path);
  const start = (path: string, state: OutputState): Promise<OutputFile> =>
    openOutput({ ledger, path, kind: "promises", header: promisesHeader(format, safeCsv), state });
  let file = await start(options.path, options.state);
  return {
    get path() {
      return file.path;
    },
    style: { label, format, safeCsv },
    async write(text) {
      try {
        const appended = await file.append(text);
        return appended.record;
      } catch (cause) {
        if (!(cause instanceof OutputChanged)) throw cause;
        await file[Symbol.asyncDispose]();
        const path = await freeName(ledger, "promises", `${options.path}.${label.run}`, format);
        file = await start(path, { state: "fresh" });
        onMoved(path);
        return (await file.append(text)).record;
      }
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

/** Whether the run's promises of an earlier command should stand in the file at `path`. */
export function hasPromisesIn(ledger: Ledger, runNo: number, path: string): boolean {
  return (knownOutput(ledger, path)?.length ?? 0) > 0 && hasProjected(ledger, runNo);
}

/**
 * What a process that died may have been appending to a promises file of a run: the lines of any chunk that are not recorded
 * yet. Each chunk is an append of its own, and lanes take turns in no fixed order.
 */
export function* unrecordedPromises(
  ledger: Ledger,
  runNo: number,
  path: string,
  label: RunLabel,
  length: number,
  safeCsv: boolean,
): Iterable<string> {
  const format = promiseFormat(path);
  const header = promisesHeader(format, safeCsv);
  if (length === 0 && header !== "") {
    yield header;
    return;
  }
  for (const chunk of unprojectedChunks(ledger, runNo))
    yield promiseLines(outcomesOfChunk(ledger, runNo, chunk), label, format, safeCsv);
}

/**
 * Promises as NDJSON on a stream. What the reader did with them can't be known, so nothing is noted. Should the reader close
 * it, the run goes on and the rest goes to a file that `overflow` opens. A file that takes no more stops the run.
 */
export function openPromiseStream(
  stream: Writable,
  label: RunLabel,
  overflow: () => Promise<PromiseSink>,
): PromiseSink {
  const write = promisify((text: string, done: (error?: Error | null) => void) => stream.write(text, done));
  let file: PromiseSink | undefined;
  let failure: unknown;
  return {
    get path() {
      return file?.path;
    },
    style: { label, format: "ndjson", safeCsv: false },
    async write(lines) {
      if (file === undefined && failure === undefined && !stream.destroyed) {
        try {
          await write(lines);
          return () => undefined;
        } catch (cause) {
          // EIO: a terminal that was closed.
          if (!["EPIPE", "EIO"].includes(errorCode(cause) ?? "")) failure = storageFailure("Standard output", cause);
        }
      }
      if (failure !== undefined) throw failure;
      file ??= await overflow();
      return file.write(lines);
    },
    [Symbol.asyncDispose]: async () => file?.[Symbol.asyncDispose](),
  };
}
