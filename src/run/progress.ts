/** What the core tells while it works. It has no words: whoever calls it finds them, or stays silent. */

import type { Environment } from "../config/environment.ts";
import type { Neighbour } from "../config/neighbours.ts";
import type { Failure } from "../failure.ts";
import type { LockHolder } from "../ledger/lock.ts";
import type { ListHead } from "../ledger/run-list.ts";
import type { Understanding } from "../mapping/mapper.ts";
import type { PublicValues } from "../plan/public-values.ts";
import type { Input } from "../readers/input.ts";
import type { InputFile } from "../readers/input-file.ts";

/** Every function returns at once. */
export interface Progress {
  /** Something happened. What is told in one order happened in that order. */
  readonly happened: (event: RunEvent) => void;
  /** Replaces what was told of the work under way; undefined ends it. */
  readonly advanced: (work: WorkUnderWay | undefined) => void;
}

interface WorkUnderWay {
  readonly doing: "checking" | "ordering";
  readonly done: number;
  readonly unit: "rows" | "actions";
}

/** Of each kind, what there is to say of it. */
export type RunEvent =
  | { readonly kind: "environment chosen"; readonly environment: Environment }
  /** What would be refused by a command that sends. */
  | { readonly kind: "ledgers in conflict"; readonly problem: Failure }
  | { readonly kind: "key doubtful"; readonly warning: string }
  | { readonly kind: "waiting for the lock"; readonly holder: LockHolder | undefined }
  /** It was missing, and is made again from the ledger. */
  | { readonly kind: "list of runs made again"; readonly path: string; readonly runs: number }
  | { readonly kind: "state came from another machine"; readonly environment: Environment; readonly from: ListHead }
  | ({ readonly kind: "ledger opened" } & OpenedLedger)
  | { readonly kind: "ordered by time" }
  | { readonly kind: "files passed over"; readonly message: string }
  | ({ readonly kind: "input understood" } & UnderstoodInput);

/** What a command works with. */
export interface OpenedLedger {
  readonly environment: Environment;
  readonly neighbours: readonly Pick<Neighbour, "name" | "key">[];
  /** How many runs the ledger knows; 0 where it is new or there is none. */
  readonly runs: number;
  /** Nothing is sent without it, and it is kept. */
  readonly isToSend: boolean;
}

/** How an input file is read. */
export interface UnderstoodInput {
  readonly file: InputFile;
  readonly understanding: Understanding;
  readonly input: Input;
  /** Examples of what will be public. */
  readonly values: PublicValues;
}
