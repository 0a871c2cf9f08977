/**
 * Large files on all cores: their text is cut between rows, workers read, map and check the ranges, and what they come to
 * is joined in order. A row in the wrong place of the input can't happen: a range begins where the one before it ends,
 * with its line ends counted. What can't be cut (see `Input.parts`) and what remembers rows is left to this thread.
 */

import { Worker } from "node:worker_threads";
import type { Severity } from "../../actions/problem.ts";
import type { Mapper, MapperOptions } from "../../mapping/mapper.ts";
import type { ProblemLog, Room } from "../problems.ts";
import type { Input, RangeFormat } from "../readers/input.ts";
import type { InputFile } from "../readers/inputs.ts";
import type { Range } from "../readers/ranges.ts";
import type { Batch, CandidateBytes } from "./batch.ts";
import type { RowCompiler } from "./compile-rows.ts";

export interface WorkerOptions {
  /** How many; below two, all is done in this thread. */
  readonly count: number;
  /** Size from which a file is worth starting them (default 16 MiB as stored). */
  readonly leastBytes?: number;
  /** Size of a range (default 128 KiB). */
  readonly rangeBytes?: number;
}

const LEAST_BYTES = 16 * 1024 * 1024;
/** The rows of a range live until all of it is compiled; of larger ones V8 takes them for long-lived, and copies them. */
const RANGE_BYTES = 128 * 1024;
/** What V8 takes for short-lived values; with a third of it, collecting them costs a fifth of the time. */
const YOUNG_GENERATION_MB = 32;
/** Ranges handed out and not joined, per worker: one in work and those that wait, so that none is idle. */
const RANGES_PER_WORKER = 3;

/** A mapper, and how a worker makes the same; without `settings` rows are mapped in this thread only. */
export interface MadeMapper {
  readonly mapper: Mapper;
  readonly settings: MapperOptions | undefined;
}

interface Job {
  readonly file: InputFile;
  readonly input: Input;
  readonly inputNumber: number;
  readonly settings: MapperOptions | undefined;
  readonly notesEvents: boolean;
  readonly compilerOf: (keepsBatches: boolean) => RowCompiler;
  readonly problems: ProblemLog;
}

export interface Workers extends AsyncDisposable {
  /** The batches of a file in order; undefined when workers can't take it or it is not worth it. */
  compile(job: Job): Promise<AsyncIterable<Batch> | undefined>;
}

/** What a worker has to know of a file; plain data. */
export interface FileTask {
  readonly kind: "file";
  readonly file: { readonly name: string; readonly format: InputFile["format"] };
  readonly input: number;
  readonly ranged: RangeFormat;
  readonly mapper: MapperOptions;
  readonly severities: ReadonlyMap<string, Severity>;
  readonly notesEvents: boolean;
}

interface RangeTask extends Range {
  readonly kind: "range";
  readonly input: number;
  readonly range: number;
  readonly room: Room;
}

export type Task = FileTask | RangeTask;

export interface Answer {
  readonly range: number;
  readonly batch: Batch;
}

/** @param severities of all rules. */
export function createWorkers(options: WorkerOptions, severities: ReadonlyMap<string, Severity>): Workers {
  const { count, leastBytes = LEAST_BYTES, rangeBytes = RANGE_BYTES } = options;
  let started: readonly Hand[] | undefined;

  async function* compileInRanges(job: Job, task: FileTask): AsyncGenerator<Batch> {
    const { input, compilerOf, problems } = job;
    const compiler = compilerOf(true);
    started ??= Array.from({ length: count }, startHand);
    const hands = started;
    for (const hand of hands) hand.tell(task);
    const waiting: Promise<Batch>[] = [];
    const most = hands.length * RANGES_PER_WORKER;
    let failure: { readonly cause: unknown } | undefined;
    let ranges = 0;
    const parts = input.parts(rangeBytes);
    for (;;) {
      const part = await parts.next().catch((cause: unknown) => {
        failure = { cause };
      });
      if (part === undefined || part.done) break;
      if (part.value.kind === "rows") waiting.push(Promise.resolve(compiler.compile(part.value.rows, problems.fork())));
      else {
        const { bytes, lineEnds, isLast } = part.value;
        const hand = hands.reduce((a, b) => (b.busy < a.busy ? b : a));
        const range = { kind: "range", input: task.input, range: ranges, room: problems.room } as const;
        waiting.push(hand.compile({ ...range, bytes, lineEnds, isLast }));
        ranges += 1;
      }
      while (waiting.length >= most) {
        const batch = await waiting.shift();
        if (batch === undefined) break;
        yield batch;
        if (batch.isUnreadable) return await parts.return().then(() => input.drain());
      }
    }
    // What stands before the fault comes first: it may be a row behind which nothing is read.
    for (const next of waiting) {
      const batch = await next;
      yield batch;
      if (batch.isUnreadable) return await input.drain();
    }
    if (failure !== undefined) throw failure.cause;
  }

  return {
    async compile(job) {
      const { file, input, inputNumber, settings, notesEvents } = job;
      const { ranged } = input;
      if (count < 2 || settings === undefined || ranged === undefined || input.storedBytes < leastBytes)
        return undefined;
      const { name, format } = file;
      const task: FileTask = {
        kind: "file",
        file: { name, format },
        input: inputNumber,
        ranged,
        mapper: settings,
        severities,
        notesEvents,
      };
      return compileInRanges(job, task);
    },
    async [Symbol.asyncDispose]() {
      for (const hand of started ?? []) await hand.end();
    },
  };
}

/** A worker from this side. */
interface Hand {
  /** Ranges that it has not answered. */
  readonly busy: number;
  tell(task: FileTask): void;
  compile(task: RangeTask): Promise<Batch>;
  end(): Promise<void>;
}

function startHand(): Hand {
  // The build makes .js of .ts.
  const path = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";
  const worker = new Worker(new URL(path, import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  const open = new Map<number, PromiseWithResolvers<Batch>>();
  let broken: { readonly cause: unknown } | undefined;
  const breakAll = (cause: unknown): void => {
    broken ??= { cause };
    for (const { reject } of open.values()) reject(cause);
    open.clear();
  };
  worker.on("message", ({ range, batch }: Answer) => {
    open.get(range)?.resolve({ ...batch, bytes: asBuffers(batch.bytes) });
    open.delete(range);
  });
  worker.on("error", breakAll);
  worker.on("messageerror", breakAll);
  worker.on("exit", () => breakAll(new Error("a worker ended before its work was done")));
  return {
    get busy() {
      return open.size;
    },
    tell(task) {
      worker.postMessage(task);
    },
    compile(task) {
      const answer = Promise.withResolvers<Batch>();
      // It is awaited in its turn, which may be later than it fails.
      answer.promise.catch(() => undefined);
      if (broken !== undefined) answer.reject(broken.cause);
      else {
        open.set(task.range, answer);
        worker.postMessage(task, [task.bytes.buffer as ArrayBuffer]); // made for this by the cutter
      }
      return answer.promise;
    },
    async end() {
      await worker.terminate();
    },
  };
}

function asBuffers({ lines, index, facts, texts }: CandidateBytes): CandidateBytes {
  return { lines: asBuffer(lines), index: asBuffer(index), facts: asBuffer(facts), texts: asBuffer(texts) };
}

/** Views of memory come over as plain bytes. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Buffer): Buffer => Buffer.from(buffer, byteOffset, byteLength);
