/**
 * Large files on all cores: their text is cut between rows, workers read, map and check the ranges, this thread too while all of
 * them have enough to do, and what they come to is joined in order. A row in the wrong place of the input can't happen: a range
 * begins where the one before it ends, with its line ends counted. What can't be cut (see `Input.parts`) is left to this thread,
 * and so is a range in which one gave something else than the rows before it allow, such as an event that was given in another
 * range.
 */

import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { Severity } from "../../actions/problem.ts";
import { asBuffer } from "../../disk/buffers.ts";
import { type MapperOptions, readsRowsAlone } from "../../mapping/create-mapper.ts";
import type { FileFinding } from "../../mapping/file-finding.ts";
import type { IdRule } from "../../mapping/id-rules.ts";
import type { Mapper } from "../../mapping/mapper.ts";
import type { Input } from "../../readers/input.ts";
import type { InputFile } from "../../readers/input-file.ts";
import type { Range } from "../../readers/ranges.ts";
import { SpareMemory } from "../../readers/spare-memory.ts";
import type { CandidateBytes } from "../candidates/facts.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import type { Batch } from "./batch.ts";
import {
  type Answer,
  createRangeCompiler,
  type FileTask,
  type RangeCompiler,
  type RangeTask,
} from "./compile-ranges.ts";
import { compileAll, compileRest, type RowCompiler } from "./compile-rows.ts";
import { createPortion, MOST_GIVEN_BYTES } from "./portion.ts";
import { LEAST_BYTES, takeWorkers } from "./thread-pool.ts";

export interface WorkerOptions {
  /** Threads that compile, this one included; below two, all is done in this one. */
  readonly count: number;
  /** Size from which a file is worth starting them (default 16 MiB as stored). */
  readonly leastBytes?: number;
  /** Size of a range, unless much comes of it (default 512 KiB where rows may be plain, else 128). */
  readonly rangeBytes?: number;
  /** Of what comes of a range before the rest of it waits, in any thread (default 1.5 MiB of lines). */
  readonly mostGiven?: number;
}

/**
 * How a file is cut: the size of a range, and how many that follow each other go to one thread, so that the events that it gave
 * in one are known to it in the next. Each range is a message to a worker and one back, and what both threads do for it. But rows
 * that are not plain live until all of their range is compiled; of larger ranges V8 takes them for long-lived, and copies them.
 */
const RANGES = { plain: { bytes: 512 * 1024, perStretch: 2 }, rows: { bytes: 128 * 1024, perStretch: 8 } } as const;
/** Stretches that a thread has at the most: one in work and one that waits, so that none is idle. */
const STRETCHES_PER_THREAD = 2;

/** A mapper, and how a worker makes the same; without `settings` rows are mapped in this thread only. */
export interface MadeMapper {
  readonly mapper: Mapper;
  readonly settings: MapperOptions | undefined;
  /** What the rows are read as: the source, or the action. */
  readonly readAs: string;
  /** The actions that the source lists (action-rules.ts). */
  readonly rules: readonly string[];
  /** How the source makes its ids. */
  readonly ids?: readonly IdRule[];
  /** The key of the source, as its config says it. */
  readonly key?: string;
  /** What can be said of the file before it is read. */
  readonly findings?: readonly FileFinding[];
  /** What can be said of the source; told of its first file that has rows. */
  readonly findingsOfSource?: readonly FileFinding[];
}

interface Job {
  readonly file: InputFile;
  readonly input: Input;
  readonly inputNumber: number;
  /** Knows the rows that were joined. */
  readonly mapper: Mapper;
  readonly settings: MapperOptions | undefined;
  /** In Unix seconds. */
  readonly now: number;
  readonly readAs: string;
  readonly mended: ReadonlySet<string>;
  readonly notesEvents: boolean;
  readonly compilerOf: (keeps: SpareMemory) => RowCompiler;
  readonly problems: ProblemLog;
}

export interface Workers extends AsyncDisposable {
  /** The batches of a file in order; undefined when workers can't take it or it is not worth it. */
  compile(job: Job): Promise<AsyncIterable<Batch> | undefined>;
}

interface WorkerTask extends RangeTask {
  /** For what comes of it, or of a later one. */
  readonly memory: SharedArrayBuffer | undefined;
}

export type Task = FileTask | WorkerTask;

/**
 * @param severities of all rules.
 * @param signal ends every wait for a worker, whatever it is busy with.
 */
export function createWorkers(
  options: WorkerOptions,
  severities: ReadonlyMap<string, Severity>,
  signal: AbortSignal,
): Workers {
  const { count, leastBytes = LEAST_BYTES, mostGiven = MOST_GIVEN_BYTES } = options;
  let started: readonly WorkerHandle[] | undefined;
  /** Numbered over all files: a worker may still be at ranges of one that was given up. */
  let ranges = 0;
  const giveUp = (): void => {
    for (const handle of started ?? []) handle.giveUp(signal.reason);
  };
  signal.addEventListener("abort", giveUp, { once: true });

  async function* compileInRanges(job: Job, task: FileTask, handles: readonly WorkerHandle[]): AsyncGenerator<Batch> {
    const { input, problems } = job;
    const ofBatches = new SpareMemory();
    const compiler = job.compilerOf(ofBatches);
    for (const handle of handles) handle.tell(task);
    /** What comes next, each to be called when all before it was joined. */
    const waiting: (() => Iterable<Batch> | AsyncIterable<Batch>)[] = [];
    const { bytes: rangeBytes, perStretch } = RANGES[compiler.hasFastPath ? "plain" : "rows"];
    const portion = createPortion(options.rangeBytes ?? rangeBytes);
    const { most, compile } = threadsFor(task, handles, perStretch, ofBatches);
    const ofRanges = new SpareMemory();
    let failure: { readonly cause: unknown } | undefined;
    const parts = input.parts(() => portion.size, ofRanges);
    for (;;) {
      const part = await parts.next().catch((cause: unknown) => {
        failure = { cause };
      });
      if (part === undefined || part.done) break;
      if (part.value.kind === "rows") {
        const { rows } = part.value;
        waiting.push(() => compileAll(compiler, rows, problems));
      } else {
        const { lineEnds, isLast } = part.value;
        const answer = compile({ ...part.value, input: task.input, range: ranges, capacity: problems.capacity });
        waiting.push(async function* () {
          const { text, ...given } = await answer;
          const batch = agreed({ ...given, text }, { lineEnds, isLast }, job, compiler, ofBatches);
          portion.note(batch.rest?.at ?? text.length, batch.bytes);
          yield batch;
          // Here all rows before it are known. What follows is cut into smaller ranges.
          yield* compileRest(compiler, { bytes: asBuffer(text), isLast }, batch.rest, problems);
          ofRanges.giveBack(text.buffer);
        });
        ranges += 1;
        // The workers may have answered meanwhile.
        if (!(answer instanceof Promise)) await setImmediate();
      }
      while (waiting.length >= most)
        for await (const batch of waiting.shift()?.() ?? []) {
          yield batch;
          giveBack(batch, ofBatches);
          if (batch.isUnreadable) return await parts.return().then(() => input.drain());
        }
    }
    // What stands before the fault comes first: it may be a row behind which nothing is read.
    for (const next of waiting)
      for await (const batch of next()) {
        yield batch;
        giveBack(batch, ofBatches);
        if (batch.isUnreadable) return await input.drain();
      }
    if (failure !== undefined) throw failure.cause;
  }

  return {
    async compile(job) {
      const { file, input, inputNumber, settings, readAs, mended, now, notesEvents } = job;
      const { ranged } = input;
      if (count < 2 || settings === undefined || ranged === undefined || input.storedBytes < leastBytes)
        return undefined;
      if (!readsRowsAlone(settings)) return undefined;
      started ??= takeWorkers(count - 1).map(handleOf);
      if (started.length === 0) return undefined;
      const { name, format } = file;
      const task: FileTask = {
        kind: "file",
        file: { name, format },
        input: inputNumber,
        ranged,
        mapper: settings,
        readAs,
        mended,
        severities,
        now,
        notesEvents,
        mostGiven,
      };
      return compileInRanges(job, task, started);
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener("abort", giveUp);
      for (const handle of started ?? []) await handle.end();
    },
  };
}

/**
 * The threads that compile ranges of a file: the workers, and this one while each of them has enough to do.
 *
 * @param ofBatches memory for what comes of the ranges.
 */
function threadsFor(task: FileTask, handles: readonly WorkerHandle[], perStretch: number, ofBatches: SpareMemory) {
  const mostOfOne = STRETCHES_PER_THREAD * perStretch;
  const nextWorker = inStretches(perStretch, () => leastBusy(handles, mostOfOne));
  let inThisThread: RangeCompiler | undefined;
  return {
    /** Ranges that may be handed out and not joined. */
    most: (handles.length + 1) * mostOfOne,
    compile(range: RangeTask): Promise<Answer> | Answer {
      const worker = nextWorker();
      if (worker !== undefined) return worker.compile({ ...range, memory: ofBatches.give() });
      inThisThread ??= createRangeCompiler(task, ofBatches);
      return inThisThread(range);
    },
  };
}

/** What is chosen, for so many in turn. */
function inStretches<T>(size: number, choose: () => T): () => T {
  let left = 0;
  let chosen: T;
  return () => {
    if (left === 0) chosen = choose();
    left = left === 0 ? size - 1 : left - 1;
    return chosen;
  };
}

/** The worker with the fewest ranges, unless each has as many as it may; there are some. */
function leastBusy(handles: readonly WorkerHandle[], most: number): WorkerHandle | undefined {
  const least = handles.reduce((one, other) => (other.open < one.open ? other : one));
  return least.open < most ? least : undefined;
}

/** The batch of a range; made once more in this thread where a worker gave what the rows before the range don't allow. */
function agreed(
  { batch, text, mayDiffer }: Answer,
  range: Omit<Range, "bytes">,
  { mapper, problems }: Job,
  compiler: RowCompiler,
  ofBatches: SpareMemory,
): Batch {
  const isAgreed = !batch.isUnsure && (batch.seen === undefined || mapper.agrees?.(batch.seen) !== false);
  if (!mayDiffer || isAgreed) return batch;
  giveBack(batch, ofBatches);
  return compiler.compileRange({ ...range, bytes: asBuffer(text) }, problems.fork());
}

/** A worker from this side. */
interface WorkerHandle {
  /** Ranges that it has not answered. */
  readonly open: number;
  tell(task: FileTask): void;
  compile(task: WorkerTask): Promise<Answer>;
  /** Ends all waiting for its answers, of now and later. */
  giveUp(cause: unknown): void;
  end(): Promise<void>;
}

function handleOf(worker: Worker): WorkerHandle {
  const open = new Map<number, PromiseWithResolvers<Answer>>();
  let broken: { readonly cause: unknown } | undefined;
  const breakAll = (cause: unknown): void => {
    broken ??= { cause };
    for (const { reject } of open.values()) reject(cause);
    open.clear();
  };
  worker.on("message", (answer: Answer) => {
    const { range, batch } = answer;
    open.get(range)?.resolve({ ...answer, batch: { ...batch, bytes: asBuffers(batch.bytes) } });
    open.delete(range);
  });
  worker.on("error", breakAll);
  worker.on("messageerror", breakAll);
  worker.on("exit", () => breakAll(new Error("a worker ended before its work was done")));
  return {
    get open() {
      return open.size;
    },
    tell(task) {
      worker.postMessage(task);
    },
    compile(task) {
      const answer = Promise.withResolvers<Answer>();
      // It is awaited in its turn, which may be later than it fails.
      answer.promise.catch(() => undefined);
      if (broken !== undefined) answer.reject(broken.cause);
      else {
        open.set(task.range, answer);
        worker.postMessage(task);
      }
      return answer.promise;
    },
    giveUp: breakAll,
    async end() {
      await worker.terminate();
    },
  };
}

/** Views of memory come over as plain bytes. */
function asBuffers({ lines, index, facts, texts }: CandidateBytes): CandidateBytes {
  return { lines: asBuffer(lines), index: asBuffer(index), facts: asBuffer(facts), texts: asBuffer(texts) };
}

/** Gives back the memory of a batch, which was its alone. */
function giveBack({ bytes }: Batch, spare: SpareMemory): void {
  spare.giveBack(bytes.lines.buffer); // all of it, as `CandidateWriter` takes it
}
