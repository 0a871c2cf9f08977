/** What the core gets from its caller, and what it reports while a command works. It has no words: commands find them. */

import type { Readable, Writable } from "node:stream";
import type { PlacedProblem } from "../actions/problem.ts";
import type { Environment } from "../config/environment.ts";
import type { Failure } from "../failure.ts";
import type { LockHolder, RunCounts } from "../ledger/ledger.ts";
import type { Plan } from "../plan/plan.ts";
import type { Problems } from "../plan/problems.ts";
import type { UnderstoodInput } from "../plan/rows.ts";
import type { SendEvent, Wait } from "../send/send.ts";
import type { OutputEvent } from "../write/promise-file.ts";
import type { RunEnd } from "./summary.ts";

/** What the core gets from its caller. */
export interface RunContext {
  /** The folder that paths are relative to. */
  readonly cwd: string;
  /** Environment variables, such as those for keys and proxies. */
  readonly env: NodeJS.ProcessEnv;
  /** Where the input `-` is read from. */
  readonly stdin: Readable;
  /** Where promises go that are not written to a file; without it, to a file in `cwd`. */
  readonly promisesTo: Writable | undefined;
  /** The time against which the times in an input are checked; by default the machine's clock. */
  readonly now?: () => Date;
  /** Aborted, with a `StopRequest` as its reason, when no further request should start. */
  readonly stop: AbortSignal;
  /** Aborted when even the request in flight should be given up. */
  readonly abort: AbortSignal;
  readonly progress: Progress;
}

/** Every function returns at once. */
export interface Progress {
  /** Something happened. Events are reported in the order in which they happened. */
  readonly happened: (event: RunEvent) => void;
  /** Replaces the last report about the work under way; undefined ends it. */
  readonly advanced: (work: WorkUnderWay | undefined) => void;
}

export interface WorkUnderWay {
  readonly doing: "checking" | "comparing" | "sending" | "looking at" | "asking about" | "collecting" | "storing";
  readonly done: number;
  readonly total?: number;
  /** How much of the work is done, 0 to 1, where no total is known. */
  readonly share?: number;
  /** Of `total`, or of `done` where that is not known. */
  readonly unit: "row" | "action" | "promise";
  readonly rejected?: number;
  /** A request failed, and is tried again after a wait. */
  readonly waiting?: Wait;
}

/** Disposing of it removes the plan's file. */
export interface CheckedInput extends Disposable {
  readonly plan: Plan;
  readonly problems: Problems;
  readonly understood: readonly UnderstoodInput[];
  /** Marks of those of its warnings that an earlier command has shown. */
  readonly shown: ReadonlySet<string>;
  /** Something changed that no earlier command has shown. */
  readonly isNews: boolean;
  /** Where the config decides about the field of a problem, as `tickets.config.yaml:14`. */
  readonly decidedAt: (problem: PlacedProblem) => readonly string[];
  /** Whether the field or column of a problem names a person. */
  readonly namesPerson: (problem: Pick<PlacedProblem, "source" | "field">) => boolean;
}

/** What can happen, and what there is to say about it. */
export type RunEvent =
  | { readonly kind: "environment chosen"; readonly environment: Environment }
  /** A file that is not read, a key that others may read, or a second ledger, for which a command that sends would be refused. */
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "waiting for the lock"; readonly holder: LockHolder | undefined }
  /** `runs`: how many it knows; 0 where it is new or there is none. `isToSend`: then a ledger is made. */
  | {
      readonly kind: "ledger opened";
      readonly environment: Environment;
      readonly runs: number;
      readonly isToSend: boolean;
    }
  | { readonly kind: "ordered by time" }
  | {
      readonly kind: "inputs understood";
      readonly inputs: readonly UnderstoodInput[];
      /** Marks of what earlier runs of this environment have shown. */
      readonly known: ReadonlySet<string>;
    }
  | ({ readonly kind: "input checked" } & CheckedInput)
  /** What is new of the input is about to be sent. */
  | ({ readonly kind: "sending planned" } & CheckedInput)
  | { readonly kind: "earlier run comes first"; readonly run: string }
  /** What was answered of a closed run and had not been fully written. */
  | { readonly kind: "left written"; readonly run: string; readonly files: readonly string[] }
  | OutputEvent
  /** What is left of it is about to be sent. `isResumed`: an earlier command began it. */
  | {
      readonly kind: "run started";
      readonly run: string;
      readonly actions: number;
      readonly chunks: number;
      readonly isResumed: boolean;
    }
  | SendEvent
  | { readonly kind: "run ended"; readonly end: RunEnd }
  /** No run is open; a worker waits for one. `isFirst`: nothing was ever published; `holder`: who may be publishing one. */
  | { readonly kind: "nothing to work on"; readonly isFirst: boolean; readonly holder: LockHolder | undefined }
  /** The server that holds the ledger can't be reached and is waited for, or is back. */
  | { readonly kind: "database away"; readonly isAway: boolean }
  /** A worker can't go on with the oldest run. */
  | { readonly kind: "run waits for a person"; readonly waits: Failure }
  /** Why a worker sends no more of a run for now. */
  | ({ readonly kind: "worker stopped" } & Pick<RunEnd, "environment" | "lanes" | "stops">)
  /** A worker found the last chunk of a run answered. */
  | {
      readonly kind: "run done";
      readonly run: string;
      readonly environment: Environment;
      readonly exitCode: number;
      readonly counts: RunCounts;
    };
