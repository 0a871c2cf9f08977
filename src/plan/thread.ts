/** A large file is looked at in a thread of its own, beside the one that stores and judges. */

import { on } from "node:events";
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import { Failure } from "../failure.ts";
import type { MapperOptions } from "../map/create-mapper.ts";
import type { OpenInputOptions } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import type { Batch, Rules, Understood, Whole } from "./look.ts";

/** What a mapper is made of beside what its input says. */
export type Mapping = Omit<MapperOptions, "header">;

/** What the thread is given. */
export interface Job {
  readonly file: InputFile;
  readonly opening: Pick<OpenInputOptions, "encoding" | "csv" | "maxInputBytes">;
  readonly mapping: Mapping;
  readonly rules: Rules;
  /** How many batches may still be under way, a number that both threads see. */
  readonly room: Int32Array<SharedArrayBuffer>;
}

/** What the thread gives; at its end how the file was understood, unless it could not be opened. */
export type Message =
  | { readonly kind: "batch"; readonly batch: Batch }
  | { readonly kind: "end"; readonly understood: Understood; readonly whole: Whole }
  | { readonly kind: "thrown"; readonly understood: Understood | undefined; readonly thrown: Thrown };

/** An error that crosses the border is no `Failure` any more: what it was stands beside it. */
interface Thrown {
  readonly error: unknown;
  readonly failure: Pick<Failure, "code" | "message" | "hint"> | undefined;
}

/** So many batches keep either thread from waiting, and memory from growing. */
const MOST_UNDER_WAY = 8;

/** From source it is TypeScript, built it is not. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "look-thread.ts" : "look-thread.js", import.meta.url);

export class ThreadLook implements AsyncDisposable {
  understood: Understood;
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  readonly #room = new Int32Array(new SharedArrayBuffer(4)).fill(MOST_UNDER_WAY);
  #whole: Whole | undefined;

  /** @param understood before its first row. */
  constructor(job: Omit<Job, "room">, understood: Understood, signal: AbortSignal) {
    this.understood = understood;
    this.#signal = signal;
    const cache = getCompileCacheDir();
    this.#worker = new Worker(ENTRY, {
      workerData: { ...job, room: this.#room } satisfies Job,
      env: cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache },
      // Node 22 would warn of its own parts. Flags of the whole process are not repeated: a thread refuses some of them.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
  }

  async *batches(): AsyncGenerator<Batch> {
    const signal = this.#signal;
    try {
      // Whatever else ends it must not leave the program waiting.
      const messages = on(this.#worker, "message", { close: ["exit"], signal });
      for await (const [message] of messages as AsyncIterable<[Message]>) {
        if (message.kind !== "batch") return this.#end(message);
        yield message.batch;
        Atomics.add(this.#room, 0, 1);
        Atomics.notify(this.#room, 0);
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw cause;
    }
    throw endedEarly();
  }

  #end(message: Exclude<Message, { kind: "batch" }>): void {
    this.understood = message.understood ?? this.understood;
    if (message.kind === "end") {
      this.#whole = message.whole;
      return;
    }
    const { error, failure } = message.thrown;
    throw failure === undefined ? error : new Failure(failure.code, failure.message, { hint: failure.hint });
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
