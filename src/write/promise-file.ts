/** Where a run's promises go: a file that grows with the ledger, or standard output. */

import { constants, existsSync } from "node:fs";
import { access, open } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { setAside } from "../disk/files.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { importCommand } from "../next-command.ts";
import { displayPath } from "../text.ts";
import {
  freeName,
  inspectOutput,
  isPlainFile,
  makeOutputFolder,
  notWritten,
  OutputChanged,
  type OutputFile,
  type OutputState,
  openOutput,
} from "./output-file.ts";
import { type LineStyle, promiseFormat, promiseLines, promisesHeader } from "./promises.ts";

/** What is reported of it. */
export type OutputEvent =
  | { readonly kind: "output set aside"; readonly path: string; readonly aside: string }
  | { readonly kind: "promises go elsewhere"; readonly path: string; readonly why: WhyElsewhere };

/** Why promises do not go where they should. */
export type WhyElsewhere =
  /** The caller gave no stream for them. */
  | { readonly because: "output taken" }
  | { readonly because: "reader gone" }
  | { readonly because: "folder gone" | "content gone" | "changed meanwhile"; readonly file: string }
  | { readonly because: "strange"; readonly file: string; readonly strange: string };

interface Context {
  readonly cwd: string;
  /** For those that do not go to a file. */
  readonly promisesTo: Writable | undefined;
  readonly stop: AbortSignal;
  readonly progress: { readonly happened: (event: OutputEvent) => void };
}

/** How the lines of a run are written into a file of this name; NDJSON on standard output. */
export function styleOf(run: Run, path: string | undefined, safeCsv = false): LineStyle {
  const format = path === undefined ? "ndjson" : promiseFormat(path);
  return { environment: run.environment, run: run.run, inputs: run.inputs, format, safeCsv };
}

/** Makes sure, before anything is sent, that the promises have a place to go. @param moveAside a file that is in the way. */
export async function makeWayForOutput(
  { cwd, progress }: Pick<Context, "cwd" | "progress">,
  ledger: Ledger,
  path: string,
  environment: {
    readonly name: string;
    readonly named: readonly string[];
    readonly ledgerPath: string;
    readonly safeCsv: boolean;
  },
  moveAside: boolean,
): Promise<void> {
  const name = displayPath(path, cwd);
  const refuse = (why: string, hint = "Name another file with --output.", cause?: unknown): Failure =>
    new Failure("usage", `${name} ${why}`, { nothingSent: true, hint, cause });
  if (dirname(path) === dirname(environment.ledgerPath))
    throw refuse("would lie in the folder of the ledger, which is kept by tickets alone.");
  makeOutputFolder(path);
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw refuse(`can't be written: the folder ${displayPath(dirname(path), cwd)} is not writable.`, undefined, cause);
  });
  const state = await inspectOutput(ledger, path, "promises");
  const why = state.state === "strange" ? state.why : await otherColumns(path, state, environment.safeCsv);
  if (why === undefined) return;
  if (!moveAside)
    throw refuse(
      `is not appended to: ${why}.`,
      `If it holds what ${environment.name} was sent, import it first: ${importCommand(environment, name)}\nElse name another file with --output, or set this one aside with --move-aside (it is renamed, never deleted).`,
    );
  // Others need a folder, a pipe or a device where it is.
  if (!(await isPlainFile(path))) throw refuse("is not a file, and is not set aside.");
  progress.happened({ kind: "output set aside", path, aside: setAside(path) });
}

/** Why lines as they are written now don't fit into a table that is there. */
async function otherColumns(path: string, { state }: OutputState, safeCsv: boolean): Promise<string | undefined> {
  const header = promisesHeader(promiseFormat(path), safeCsv);
  if (state !== "ours" || header === "") return undefined;
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(header.length));
  if (bytesRead === 0 || buffer.toString() === header) return undefined;
  return safeCsv ? "it was started without safeCsv" : "it was started with safeCsv, or by another version";
}

/** How long another process may write what is left of a file. */
const OUTPUT_WAIT_MS = 60_000;

/**
 * Opens what the run's promises go to. What earlier commands left unwritten of a file is written first.
 *
 * @param waitMs where another process writes the same file.
 */
export async function openPromises(
  context: Context,
  ledger: Ledger,
  run: Run,
  waitMs = OUTPUT_WAIT_MS,
): Promise<PromiseWriter> {
  const { output } = run;
  // Where workers send, a command may follow a run that another one writes.
  const lock =
    output === undefined || ledger.workers === undefined
      ? undefined
      : await ledger.lock({
          ...{ name: `output ${hostname()} ${output}`, what: displayPath(output, context.cwd) },
          ...{ command: `promises of run ${run.run}`, waitMs, signal: context.stop },
        });
  const promises = new PromiseWriter(context, ledger, run, lock);
  try {
    if (output !== undefined) await promises.openFile(output);
    else if (context.promisesTo === undefined) await promises.leaveOutput("output taken");
    return promises;
  } catch (cause) {
    await promises[Symbol.asyncDispose]();
    throw cause;
  }
}

/** What a reader of standard output did with the promises can't be known, so all that was handed over counts as written. */
const STANDARD_OUTPUT = { path: "-", kind: "promises", length: 0, mtimeNs: "0", digest: "" } as const;

export class PromiseWriter implements AsyncDisposable {
  readonly #context: Context;
  readonly #ledger: Ledger;
  readonly #run: Run;
  /** Given back when the file is closed. */
  readonly #lock: AsyncDisposable | undefined;
  #file: OutputFile | undefined;
  /** With what the name of the next file begins, should this one be changed meanwhile. */
  #stem = "";
  /** The file that the ledger knows them to be in. */
  #known: string | undefined;
  /** Chunks that were written: what is unwritten may be listed while one of them waits for its turn. */
  readonly #written = new Set<number>();
  #last = Promise.resolve();

  constructor(context: Context, ledger: Ledger, run: Run, lock: AsyncDisposable | undefined) {
    this.#context = context;
    this.#ledger = ledger;
    this.#run = run;
    this.#lock = lock;
    this.#known = run.output;
  }

  /** The file's path; undefined for standard output. */
  get path(): string | undefined {
    return this.#file?.path;
  }

  /** Writes the promises of an answered chunk; lanes take turns. After it resolves they are on disk, and the ledger knows. */
  write(chunk: number): Promise<void> {
    const turn = this.#last.then(() => this.#write(chunk));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #write(chunk: number): Promise<void> {
    if (this.#written.has(chunk)) return;
    if (this.#file !== undefined) await this.#append(this.#file, chunk);
    // Opening a file writes what is not written yet, this chunk too.
    else if (!(await this.#handOver(chunk))) await this.leaveOutput("reader gone");
  }

  /** To standard output. @returns false once nobody reads it. */
  async #handOver(chunk: number): Promise<boolean> {
    const { promisesTo: stream } = this.#context;
    if (stream === undefined || stream.destroyed) return false;
    const lines = await this.#linesOf(chunk, styleOf(this.#run, undefined));
    try {
      await promisify((done: (error?: Error | null) => void) => stream.write(lines, done))();
    } catch (cause) {
      if (["EPIPE", "EIO"].includes(errorCode(cause) ?? "")) return false;
      throw notWritten("Standard output", cause, "Every answer received is stored in the ledger. ");
    }
    await this.#ledger.noteOutput(STANDARD_OUTPUT, { run: this.#run.number, chunk, isNew: false });
    this.#written.add(chunk);
    return true;
  }

  /** The promises for standard output go to a file from now on. */
  async leaveOutput(because: "output taken" | "reader gone"): Promise<void> {
    const { environment, run } = this.#run;
    const path = join(this.#context.cwd, `stdout.${environment}.${run}.ndjson`);
    this.#elsewhere(path, { because });
    await this.openFile(path);
  }

  /** Opens this file, or another one in its place, and writes into it what is not written yet. */
  async openFile(named: string): Promise<void> {
    const { path, state } = await this.#placeFor(named);
    this.#stem = `${path}.${this.#run.run}`;
    this.#file = await this.#open(path, state);
    for (const chunk of await this.#unwritten()) await this.#append(this.#file, chunk);
  }

  async #append(file: OutputFile, chunk: number): Promise<void> {
    const { path } = file;
    const lines = await this.#linesOf(chunk, this.#styleOf(path));
    const written = { run: this.#run.number, chunk };
    try {
      await file.append(lines, { ...written, isNew: path !== this.#known });
    } catch (cause) {
      if (!(cause instanceof OutputChanged)) throw cause;
      await file[Symbol.asyncDispose]();
      const next = await freeName(this.#ledger, "promises", this.#stem, this.#styleOf(path).format);
      this.#file = await this.#open(next, { state: "fresh" });
      this.#elsewhere(next, { because: "changed meanwhile", file: path });
      await this.#file.append(lines, { ...written, isNew: true });
    }
    this.#written.add(chunk);
    this.#known = this.#file?.path;
  }

  #open(path: string, state: Ours): Promise<OutputFile> {
    return openOutput(this.#ledger, path, { kind: "promises", header: this.#headerOf(path), state });
  }

  /** The file that can be appended to: the run is under way, so its promises need a place whatever happened to the first one. */
  async #placeFor(named: string): Promise<{ readonly path: string; readonly state: Ours }> {
    const { format } = this.#styleOf(named);
    for (let path = named; ; ) {
      const state = await inspectOutput(this.#ledger, path, "promises", () => this.#appends(named));
      let why: WhyElsewhere | undefined;
      if (state.state === "strange") why = { because: "strange", file: path, strange: state.why };
      else if (!existsSync(dirname(path))) why = { because: "folder gone", file: path };
      else if (state.state === "fresh" && (await this.#hadContent(path))) why = { because: "content gone", file: path };
      else return { path, state };
      const stem = why.because === "folder gone" ? join(this.#context.cwd, basename(path)) : path;
      path = await freeName(this.#ledger, "promises", `${stem}.${this.#run.run}`, format);
      this.#elsewhere(path, why);
    }
  }

  /** What a process that died may have been appending: the header, or the lines of any unwritten chunk. */
  async *#appends(path: string): AsyncGenerator<string> {
    yield this.#headerOf(path);
    for (const chunk of await this.#unwritten()) yield await this.#linesOf(chunk, this.#styleOf(path));
  }

  /** Whether promises of the run stood in a file that is not there, or empty. */
  async #hadContent(path: string): Promise<boolean> {
    const known = await this.#ledger.output(path);
    if (known === undefined || known.length === 0) return false;
    const decided = await this.#ledger.chunks(this.#run.number, { states: ["answered", "settled"] });
    return decided.length > (await this.#unwritten()).length;
  }

  async #unwritten(): Promise<readonly number[]> {
    return (await this.#ledger.chunks(this.#run.number, { unwritten: true })).map(({ chunk }) => chunk);
  }

  #styleOf(path: string): LineStyle {
    return styleOf(this.#run, path, this.#run.options.safeCsv);
  }

  #headerOf(path: string): string {
    const { format, safeCsv } = this.#styleOf(path);
    return promisesHeader(format, safeCsv);
  }

  async #linesOf(chunk: number, style: LineStyle): Promise<string> {
    return promiseLines(await this.#ledger.outcomes(this.#run.number, chunk), style);
  }

  #elsewhere(path: string, why: WhyElsewhere): void {
    this.#context.progress.happened({ kind: "promises go elsewhere", path, why });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await this.#file?.[Symbol.asyncDispose]();
    await this.#lock?.[Symbol.asyncDispose]();
  }
}

type Ours = Exclude<OutputState, { readonly state: "strange" }>;
