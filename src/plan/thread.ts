/** A large file is looked at in a thread of its own, beside the one that stores and judges. */

import { statSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { Failure, type FailureCode } from "../failure.ts";
import type { MapperOptions } from "../map/create-mapper.ts";
import type { OpenInputOptions } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import type { Batch, Rules, Understood, Whole } from "./look.ts";
import { type Packed, unpack } from "./packed.ts";

/** What a mapper is made of beside what its input says. */
export type Mapping = Omit<MapperOptions, "header" | "isPayload">;

/** What the thread is given. */
export interface Job {
  readonly file: InputFile;
  readonly opening: Pick<OpenInputOptions, "encoding" | "csv" | "maxInputBytes">;
  readonly mapping: Mapping;
  readonly rules: Rules;
  /** Batches that may be under way. */
  readonly most: number;
}

/** What the thread gives. An error crosses the border as plain data. */
export type Told =
  | { readonly kind: "batch"; readonly rows: Packed; readonly batch: Omit<Batch, "looked"> }
  | { readonly kind: "end"; readonly understood: Understood | undefined; readonly whole: Whole | Thrown };

export interface Thrown {
  readonly code: FailureCode | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  readonly stack: string | undefined;
}

/** Starting a thread costs as much as looking at so many bytes. */
const LEAST_BYTES = 16 * 1024 * 1024;

export function isWorthThread({ path }: InputFile): boolean {
  const found = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size >= LEAST_BYTES;
}

/** Whether the room for what lives briefly grows, in all threads of the process; what it has by then, it keeps. */
const letYoungGrow = (grows: boolean): void => setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);

/** By then the room for what lives briefly in the thread has grown as far as it needs; the program's own stays small. */
const GROWN = 20;

/** So many batches keep either thread from waiting, and memory from growing. */
const MOST_UNDER_WAY = 4;

/** V8 lets what is short-lived take more than 64 MiB before it tidies up; this costs nothing. */
const YOUNG_MB = 16;

/** From source it is TypeScript, built it is not. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "look-thread.ts" : "look-thread.js", import.meta.url);

export class ThreadLook implements AsyncDisposable {
  understood: Understood;
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  #whole: Whole | undefined;

  /** @param understood before its first row. */
  constructor(job: Omit<Job, "most">, understood: Understood, signal: AbortSignal) {
    this.understood = understood;
    this.#signal = signal;
    letYoungGrow(true);
    const cache = getCompileCacheDir();
    this.#worker = new Worker(ENTRY, {
      workerData: { ...job, most: MOST_UNDER_WAY } satisfies Job,
      env: cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache },
      // What the program filters out of warnings, it filters in its own thread.
      execArgv: [...process.execArgv, "--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
  }

  async *batches(): AsyncGenerator<Batch> {
    const told: Told[] = [];
    let batches = 0;
    let wake = (): void => {};
    let fault: unknown;
    this.#worker.on("message", (message: Told) => {
      told.push(message);
      wake();
    });
    this.#worker.on("error", (error) => {
      fault = error;
      wake();
    });
    const onAbort = () => wake();
    this.#signal.addEventListener("abort", onAbort);
    try {
      for (;;) {
        const next = told.shift();
        this.#signal.throwIfAborted();
        if (next?.kind === "batch") {
          batches += 1;
          if (batches === GROWN) letYoungGrow(false);
          yield { ...next.batch, looked: unpack(next.rows) };
          this.#worker.postMessage("next");
        } else if (next !== undefined) {
          this.understood = next.understood ?? this.understood;
          if ("message" in next.whole) throw thrown(next.whole);
          this.#whole = next.whole;
          return;
        } else if (fault !== undefined) throw fault;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      this.#signal.removeEventListener("abort", onAbort);
    }
  }

  /** After the last batch. */
  get whole(): Whole {
    if (this.#whole === undefined) throw new Failure("internal", "A thread ended before its file did.");
    return this.#whole;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

function thrown({ code, message, hint, stack }: Thrown): Error {
  const error = code === undefined ? new Error(message) : new Failure(code, message, { hint });
  if (stack !== undefined) error.stack = stack;
  return error;
}
