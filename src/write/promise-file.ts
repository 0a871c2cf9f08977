/** Where a run's promises go: a file that grows with the ledger, or standard output. */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { Opened } from "../disk/closing.ts";
import { errorCode } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { freeName, inspectOutput, notWritten, OutputChanged, type OutputState, openOutput } from "./output-file.ts";
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

/** Why promises do not go where they should. */
export type WhyElsewhere =
  /** The caller gave no stream for them. */
  | { readonly because: "output taken" }
  | { readonly because: "reader gone" }
  | { readonly because: "folder gone" | "content gone" | "changed meanwhile"; readonly file: string }
  | { readonly because: "strange"; readonly file: string; readonly strange: string };

interface PromisesOf {
  readonly ledger: Ledger;
  readonly run: Run;
  readonly cwd: string;
  /** Called when they go to another file. */
  readonly elsewhere: (path: string, why: WhyElsewhere) => void;
  /** Given back when the file is closed. */
  readonly lock?: AsyncDisposable | undefined;
}

/** Opens a run's promises file, or another one in its place. What earlier processes answered and did not write is written first. */
export async function openPromiseFile(of: PromisesOf, named: string): Promise<PromiseWriter> {
  const { ledger, run, elsewhere, lock } = of;
  await using opened = new Opened();
  if (lock !== undefined) opened.use(lock);
  const safeCsv = run.options.safeCsv === true;
  const style = styleOf(run, named, safeCsv);
  const header = promisesHeader(style.format, safeCsv);
  const start = (path: string, state: Ours) => openOutput(ledger, path, { kind: "promises", header, state });
  const { path, state } = await placeOf(of, named, style, header);
  let file = await start(path, state);
  let known = run.output;
  opened.defer(() => file[Symbol.asyncDispose]());
  const append = async (chunk: number): Promise<void> => {
    const lines = promiseLines(await ledger.outcomes(run.number, chunk), style);
    const written = { run: run.number, chunk };
    try {
      await file.append(lines, { ...written, isNew: file.path !== known });
    } catch (cause) {
      if (!(cause instanceof OutputChanged)) throw cause;
      await file[Symbol.asyncDispose]();
      const next = await freeName(ledger, "promises", `${path}.${run.run}`, style.format);
      file = await start(next, { state: "fresh" });
      elsewhere(next, { because: "changed meanwhile", file: path });
      await file.append(lines, { ...written, isNew: true });
    }
    known = file.path;
  };
  for (const { chunk } of await ledger.chunks(run.number, { unwritten: true })) await append(chunk);
  const closing = opened.move();
  return {
    get path() {
      return file.path;
    },
    ...inTurn(append, () => closing[Symbol.asyncDispose]()),
  };
}

type Ours = Exclude<OutputState, { readonly state: "strange" }>;

/** The file that can be appended to: the run is under way, so its promises need a place whatever happened to the first one. */
async function placeOf(
  { ledger, run, cwd, elsewhere }: PromisesOf,
  named: string,
  style: LineStyle,
  header: string,
): Promise<{ readonly path: string; readonly state: Ours }> {
  /** What a process that died may have been appending: the header, or the lines of any unwritten chunk. */
  const appends = async function* (): AsyncGenerator<string> {
    yield header;
    for (const { chunk } of await ledger.chunks(run.number, { unwritten: true }))
      yield promiseLines(await ledger.outcomes(run.number, chunk), style);
  };
  for (let path = named; ; ) {
    const state = await inspectOutput(ledger, path, "promises", appends);
    let why: WhyElsewhere | undefined;
    if (state.state === "strange") why = { because: "strange", file: path, strange: state.why };
    else if (!existsSync(dirname(path))) why = { because: "folder gone", file: path };
    else if (state.state === "fresh" && (await hadContent(ledger, run, path)))
      why = { because: "content gone", file: path };
    else return { path, state };
    const stem = why.because === "folder gone" ? join(cwd, basename(path)) : path;
    path = await freeName(ledger, "promises", `${stem}.${run.run}`, style.format);
    elsewhere(path, why);
  }
}

/** Whether promises of the run stood in a file that is not there, or empty. */
async function hadContent(ledger: Ledger, run: Run, path: string): Promise<boolean> {
  const known = await ledger.output(path);
  if (known === undefined || known.length === 0) return false;
  const decided = await ledger.chunks(run.number, { states: ["answered", "settled"] });
  return decided.length > (await ledger.chunks(run.number, { unwritten: true })).length;
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
        const written = { run: run.number, chunk, isNew: false };
        return await ledger.noteOutput(STANDARD_OUTPUT, written);
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
