/** Where a run's promises go: a file that grows with the ledger, or standard output. */

import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { errorCode, notWritten } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { freeName, OutputChanged, type OutputFile, type OutputState, openOutput } from "./output-file.ts";
import { type LineStyle, promiseFormat, promiseLines, promisesHeader } from "./promises.ts";

export interface PromiseWriter extends AsyncDisposable {
  /** The file's path; undefined for standard output. */
  readonly path: string | undefined;
  /** Writes the promises of an answered chunk. After it resolves they are on disk, and the ledger knows. */
  write(chunk: number): Promise<void>;
}

/** How the lines of a run are written into a file of this name; NDJSON on standard output. */
export function styleOf(run: Run, path: string | undefined, safeCsv: boolean): LineStyle {
  const format = path === undefined ? "ndjson" : promiseFormat(path);
  return { environment: run.environment, run: run.run, inputs: run.inputs, format, safeCsv };
}

/** What a process that died may have been appending to a run's file: the header, or the lines of any unwritten chunk. */
export async function* unwrittenPromises(ledger: Ledger, run: Run, path: string, safeCsv: boolean) {
  const style = styleOf(run, path, safeCsv);
  yield promisesHeader(style.format, safeCsv);
  for (const { chunk } of await ledger.chunks(run.number, { unwritten: true }))
    yield promiseLines(await ledger.outcomes(run.number, chunk), style);
}

/**
 * Opens the file, whose state was looked at. What earlier processes answered and did not write is written first.
 *
 * @param onMoved told when the file was changed under the run and the rest goes elsewhere.
 */
export async function openPromiseFile(options: {
  readonly ledger: Ledger;
  readonly run: Run;
  readonly path: string;
  readonly state: Exclude<OutputState, { readonly state: "strange" }>;
  readonly safeCsv: boolean;
  readonly onMoved: (path: string) => void;
}): Promise<PromiseWriter> {
  const { ledger, run, safeCsv, onMoved } = options;
  const style = styleOf(run, options.path, safeCsv);
  const header = promisesHeader(style.format, safeCsv);
  const start = (path: string, state: Exclude<OutputState, { readonly state: "strange" }>): Promise<OutputFile> =>
    openOutput(ledger, path, { kind: "promises", header, state });
  let file = await start(options.path, options.state);
  const append = async (chunk: number): Promise<void> => {
    const lines = promiseLines(await ledger.outcomes(run.number, chunk), style);
    const of = { run: run.number, chunks: [chunk] };
    try {
      await file.append(lines, of);
    } catch (cause) {
      if (!(cause instanceof OutputChanged)) throw cause;
      await file[Symbol.asyncDispose]();
      const path = await freeName(ledger, "promises", `${options.path}.${run.run}`, style.format);
      file = await start(path, { state: "fresh" });
      onMoved(path);
      await file.append(lines, of);
    }
  };
  const writer = inTurn(append, () => file[Symbol.asyncDispose]());
  for (const { chunk } of await ledger.chunks(run.number, { unwritten: true })) await writer.write(chunk);
  return {
    get path() {
      return file.path;
    },
    ...writer,
  };
}

/**
 * Promises as NDJSON on a stream. What its reader did with them can't be known, so all that was handed over counts as written.
 * Should the reader close it, the rest goes to a file that `overflow` opens.
 */
export function openPromiseStream(options: {
  readonly ledger: Ledger;
  readonly run: Run;
  readonly stream: Writable;
  readonly overflow: () => Promise<PromiseWriter>;
}): PromiseWriter {
  const { ledger, run, stream, overflow } = options;
  const handOver = promisify((text: string, done: (error?: Error | null) => void) => stream.write(text, done));
  let file: PromiseWriter | undefined;
  const write = async (chunk: number): Promise<void> => {
    if (file === undefined && !stream.destroyed) {
      try {
        await handOver(promiseLines(await ledger.outcomes(run.number, chunk), styleOf(run, undefined, false)));
        return await ledger.noteOutput(STANDARD_OUTPUT, { run: run.number, chunks: [chunk] });
      } catch (cause) {
        if (!["EPIPE", "EIO"].includes(errorCode(cause) ?? ""))
          throw notWritten("Standard output", cause, "Every answer received is stored in the ledger. ");
      }
    }
    // Opening it writes what is not written yet, this chunk too.
    if (file === undefined) file = await overflow();
    else await file.write(chunk);
  };
  return {
    get path() {
      return file?.path;
    },
    ...inTurn(write, async () => file?.[Symbol.asyncDispose]()),
  };
}

const STANDARD_OUTPUT = { path: "-", kind: "promises", length: 0, mtimeNs: "0", digest: "" } as const;

/** Lanes take turns. */
function inTurn(
  write: (chunk: number) => Promise<void>,
  close: () => Promise<void>,
): Pick<PromiseWriter, "write" | typeof Symbol.asyncDispose> {
  let last = Promise.resolve();
  return {
    write(chunk) {
      const turn = last.then(() => write(chunk));
      last = turn.catch(() => undefined);
      return turn;
    },
    [Symbol.asyncDispose]: () => last.then(close),
  };
}
