/** A large file is looked at in a thread of its own, beside the one that stores and judges. */

import { statSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import { Failure, type FailureCode } from "../failure.ts";
import type { MapperOptions } from "../map/create-mapper.ts";
import type { OpenInputOptions } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import type { Batch, Rules, Understood, Whole } from "./look.ts";
import { type Packed, unpack } from "./packed.ts";

/** What a mapper is made of beside what its input says. */
export type Mapping = Omit<MapperOptions, "header">;

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

/** So many batches keep either thread from waiting, and memory from growing. */
const MOST_UNDER_WAY = 4;

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
    const cache = getCompileCacheDir();
    this.#worker = new Worker(ENTRY, {
      workerData: { ...job, most: MOST_UNDER_WAY } satisfies Job,
      env: cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache },
      // Node 22 would warn of its own parts. Flags of the whole process are not repeated: a thread refuses some of them.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
  }

  async *batches(): AsyncGenerator<Batch> {
    const told: Told[] = [];
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
    // Whatever else ends it must not leave the program waiting.
    this.#worker.on("exit", () => {
      fault ??= endedEarly();
      wake();
    });
    const onAbort = () => wake();
    this.#signal.addEventListener("abort", onAbort);
    try {
      for (;;) {
        const next = told.shift();
        this.#signal.throwIfAborted();
        if (next?.kind === "batch") {
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
    if (this.#whole === undefined) throw endedEarly();
    return this.#whole;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

const endedEarly = (): Failure => new Failure("internal", "A thread ended before its file did.");

function thrown({ code, message, hint, stack }: Thrown): Error {
  const error = code === undefined ? new Error(message) : new Failure(code, message, { hint });
  if (stack !== undefined) error.stack = stack;
  return error;
}
