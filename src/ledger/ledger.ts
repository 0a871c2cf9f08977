/**
 * What one environment has been sent, behind one interface: a file of SQLite or a schema of PostgreSQL. The plan and
 * the sandbox have SQL of their own; all other stands in this folder. A method that changes something is one transaction: after it resolves, the change is on disk; when it throws,
 * nothing has changed.
 */

import type { ChunkState } from "./chunks.ts";
import type {
  Attempt,
  By,
  Chunk,
  Corrected,
  FoundAction,
  Guard,
  GuardNote,
  Imported,
  ImportedLine,
  ImportedRun,
  Invocation,
  KnownAction,
  NewAction,
  NewChunk,
  NewRun,
  Outcomes,
  Output,
  PromiseStatus,
  Run,
  RunCounts,
  RunFilter,
  Settlement,
  Written,
} from "./contents.ts";
import type { Claim, Pace, Workers } from "./workers.ts";

export type * from "./contents.ts";

/** What is to leave next. */
export interface Request {
  readonly chunk: Chunk;
  readonly body: Uint8Array;
}

/** What the service made of one action, in the order of the body. */
export type Answer =
  | { readonly outcome: "accepted"; readonly promise: string }
  /** `response`: its item, JSON, as it came. */
  | { readonly outcome: "rejected"; readonly response: string }
  | { readonly outcome: "in doubt"; readonly response: string; readonly why: string };

/** The worker's claim under which an attempt was made; without one, it is the only one under way. */
interface Under {
  readonly claim?: Claim | undefined;
  readonly attempt?: number | undefined;
}

export interface Answered extends Under {
  readonly chunk: number;
  readonly httpStatus: number;
  readonly at: string;
  readonly answers: readonly Answer[];
  /** As it came; kept where the attempt was given up before. */
  readonly raw?: Uint8Array | undefined;
}

export interface Intent {
  readonly chunk: number;
  readonly at: string;
  /** Of a worker: its claim on the lane, and how long its request may take. */
  readonly claim?: { readonly claim: Claim; readonly limitMs: number; readonly pace?: Pace } | undefined;
}

type Step = {
  readonly answered?: Answered | undefined;
  readonly intent?: Intent | undefined;
};

export interface Stepped {
  /** Number of the attempt that may leave now, from 1; undefined where none was asked for, or something is in its way. */
  readonly attempt: number | undefined;
  /**
   * `taken`: another worker has the lane; `waits`: the run waits for a person; `rejected`: the service rejected too many actions; a
   * number: milliseconds before which nobody sends.
   */
  readonly obstacle: "taken" | "waits" | { readonly rejected: number } | number | undefined;
  /** False where the attempt had been given up before its answer came: it was kept for a person and decided nothing. */
  readonly isStored: boolean;
  /** Number of the chunk that holds the actions in doubt, where the answer left some. */
  readonly doubt: number | undefined;
}

/** How an attempt ended. */
export interface Given extends Under {
  readonly at: string;
  /** What the answer meant, or that none came: for people. */
  readonly class: string;
  readonly httpStatus?: number | undefined;
  readonly detail?: string | undefined;
  /** The answer as it came, where it does not say what became of each action: it may hold promises. */
  readonly raw?: Uint8Array | undefined;
}

export interface LockHolder {
  readonly host: string | undefined;
  readonly pid: number;
  readonly since: string;
  readonly command: string;
}

export interface LockOptions {
  readonly name: string;
  /** What is locked, for messages. */
  readonly what: string;
  readonly command: string;
  /** How long to wait for another to let go. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly onWait?: ((holder: LockHolder | undefined) => void) | undefined;
}

/** The runs. */
export interface Runs {
  /**
   * Puts a run, its chunks and its actions into the ledger, or nothing. After this resolves, the input may vanish: what is
   * sent is what the ledger holds. The iterables must not call this ledger: its transaction is open while they run.
   *
   * @param actions each once, in the order of (subject, kind, mark) compared by code points.
   * @returns the run's number.
   * @throws Failure `busy` where another run has entered one of the actions since they were judged.
   */
  enterRun(run: NewRun, chunks: AsyncIterable<NewChunk>, actions: AsyncIterable<readonly NewAction[]>): Promise<number>;
  /**
   * Enters actions as known, without a chunk: nothing is sent. One that is known with other content gets this one.
   *
   * @param actions in the order of `enterRun`; chunk and place say nothing. Of one that comes several times, the last counts.
   * @returns the number of the run that stands for it.
   */
  adopt(run: NewRun, actions: AsyncIterable<readonly NewAction[]>, by: By): Promise<number>;
  run(id: string): Promise<Run | undefined>;
  /** The oldest first. */
  runs(filter?: RunFilter): Promise<readonly Run[]>;
  counts(run: number): Promise<RunCounts>;
  /** A command begins to send the run, or has sent some of it. @returns how often that was noted, with this time. */
  noteSending(run: number): Promise<number>;
  /**
   * The command on a run ended before the run did. `paused` says that a person stopped it, or (null) that one lets it go on.
   */
  noteStop(run: number, stop: { readonly exitCode: number; readonly paused?: By | null | undefined }): Promise<void>;
  /**
   * Nothing of it is left to send: it is finished, or abandoned once its rejects are written. Takes no lock.
   *
   * @returns false where something is left, or another command has ended it.
   */
  endRun(run: number, end: { readonly exitCode: number; readonly at: string }): Promise<boolean>;
  /** Drops bodies and row texts of runs that ended before `before`. @returns the number of chunks. */
  prune(before: string): Promise<number>;
}

/** The life of chunks: what their sender notes. */
export interface Chunks {
  /** In the order in which they are sent. */
  chunks(
    run: number,
    filter?: { readonly states?: readonly ChunkState[]; readonly unwritten?: true },
  ): Promise<readonly Chunk[]>;
  /**
   * The lane's next planned chunk with its request; of this stage only, where one is given.
   *
   * @throws Failure as `body` does.
   */
  nextChunk(run: number, lane: number, stage?: number): Promise<Request | undefined>;
  /**
   * The request, as it was entered.
   *
   * @throws Failure `storage` where its digest does not match, `usage` where it was pruned.
   */
  body(run: number, chunk: number): Promise<Uint8Array>;
  /**
   * What became of a chunk and that the next is about to leave: one commit. After this resolves both are on disk. Rejected
   * actions are forgotten, row texts dropped where all was accepted. Actions that an answer
   * leaves in doubt become a chunk of their own, in doubt.
   */
  advance(run: number, step: Step): Promise<Stepped>;
  /** Any other step of a chunk's life. @returns false where the attempt had been given up, and nothing changed. */
  change(run: number, chunk: number, event: "giveBack" | "refuse" | "doubt", given: Given): Promise<boolean>;
  /**
   * Cuts a chunk that is planned, or was found too large, into planned ones of at most so many actions; the whole run keeps to
   * that from now on. @returns none where the attempt had been given up, or the claim on the lane of what is planned counts no
   * more. @throws Failure `storage` where its body is damaged.
   */
  split(run: number, chunk: number, most: number, given: Given): Promise<readonly Chunk[]>;
  /** What was being sent when its process died is in doubt from now on; where workers send, only once its time is over. @returns the chunks. */
  doubtVanished(run: number, at: string): Promise<readonly Chunk[]>;
  attempts(run: number): Promise<readonly Attempt[]>;
  /** Of one chunk, whatever its state. */
  outcomes(run: number, chunk: number): Promise<Outcomes>;
}

/** What a person says. */
export interface Settling {
  /**
   * A person's word about a chunk that is in doubt or refused; of a run that is closed, what was not sent never will be.
   *
   * @param first only so many of its actions, from its beginning: the rest becomes a chunk of its own.
   * @returns the chunk that was settled, that of the rest, and how many actions are closed, since a later one of their ticket was
   * accepted; undefined where nothing is to be decided about it any more.
   */
  settle(
    run: number,
    chunk: number,
    decision: "sent" | "not-sent",
    by: By,
    first?: number,
  ): Promise<{ readonly settled: number; readonly rest: number | undefined; readonly late: number } | undefined>;
  /**
   * Closes a run: what is planned or refused is not sent, and forgotten. Its doubts stay pending.
   *
   * @returns how many chunks are still being sent: asked again once they are answered, it closes what became of them.
   */
  abandon(run: number, by: By): Promise<number>;
  settlements(run: number): Promise<readonly Settlement[]>;
}

/** What was entered. */
export interface Actions {
  /** All that is known of these subjects, in the order of (subject, position). Ask some thousand at a time, in code point order. */
  actionsOf(subjects: readonly string[]): Promise<readonly KnownAction[]>;
  /** Subjects that are known and whose normal form is one of these: `id-near-another`. */
  near(normals: readonly string[]): Promise<readonly { readonly normal: string; readonly subject: string }[]>;
  /** Of these digests of bad rows, those whose corrected version was accepted whole, with the actions that it gave. */
  corrected(digests: readonly string[]): Promise<readonly Corrected[]>;
  /** Whole corrected versions: of each digest all actions that are given, before any of them is entered. */
  noteCorrected(rows: readonly Corrected[]): Promise<void>;
}

/** What is noted beside the runs. */
export interface Notes {
  guard(source: string): Promise<readonly Guard[]>;
  /** For a night that entered nothing. */
  noteGuard(notes: readonly GuardNote[]): Promise<void>;
  output(path: string, machine?: string): Promise<Output | undefined>;
  outputs(filter: { readonly run: number } | { readonly length: number }): Promise<readonly Output[]>;
  /**
   * What a file holds now. `written`: promises of these chunks are in it, and with `isNew` it is the run's file from now on.
   * `replaces` names a path under which it was known: it was moved.
   */
  noteOutput(output: Output, of?: { readonly written?: Written; readonly replaces?: string }): Promise<void>;
  /** Notes how a command ended, and digests of warnings that it showed. */
  noteInvocation(invocation: Invocation, shown?: readonly string[]): Promise<void>;
  /** Of these commands; `succeeded`: of those that ended with 0; `worked`: not of those that ended in a usage error. */
  lastInvocation(commands: readonly string[], how?: "succeeded" | "worked"): Promise<Invocation | undefined>;
  /** Of these digests, those of warnings that an earlier invocation showed. */
  reported(digests: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What the service says of promises when it is asked. */
export interface Statuses {
  /** The promises of a run that have none of these statuses yet, some thousand at a time, in the order of its chunks. */
  promises(run: number, without: readonly string[]): AsyncIterable<readonly PromiseStatus[]>;
  noteStatuses(
    run: number,
    statuses: readonly Pick<PromiseStatus, "chunk" | "place" | "status">[],
    at: string,
  ): Promise<void>;
  countStatuses(run: number): Promise<ReadonlyMap<string, number>>;
}

export interface Ledger extends AsyncDisposable, Runs, Chunks, Settling, Actions, Notes, Statuses {
  /** For people; without user and password. */
  readonly place: string;
  /** Of this database, from its making on. */
  readonly instance: string;
  /** What it belongs to: a base URL, or the sandbox's instance. */
  readonly boundTo: string | undefined;
  /** A commit succeeded only by the room that the ballast gave: store what is known, and stop. */
  readonly exhausted: "a full disk" | "a failed write" | undefined;
  /** Several machines may send; undefined where the ledger is one machine's alone. */
  readonly workers: Workers | undefined;
  /**
   * Takes the environment's lock. It ends with the process, however that ends.
   *
   * @throws Failure `busy` naming who holds it.
   */
  lock(options: LockOptions): Promise<AsyncDisposable>;
  /** Who holds the lock right now; takes nothing. `undefined`: nobody. */
  holder(name: string): Promise<LockHolder | undefined>;
  /**
   * All that was ever sent about a ticketId, nftId, eventId or actionPromise, in the order in which it was read. An eventId or a
   * promise reads the whole ledger.
   */
  about(id: string): Promise<readonly FoundAction[]>;
  /**
   * Enters runs that promises files name, the oldest first, before their lines: by its number it is known what came later. Those
   * that the ledger knows stay as they are.
   *
   * @throws Failure `usage` where it knows a later run than one that it lacks; so does `importActions`.
   */
  importRuns(runs: readonly ImportedRun[]): Promise<void>;
  /** Enters what promises files say. What the ledger knows stays as it is, so that it can be done again. */
  importActions(lines: AsyncIterable<readonly ImportedLine[]>): Promise<Imported>;
  /** On disk. */
  bytes(): Promise<number>;
  /** How many actions are known. Counts them one by one: some seconds for ten million. */
  countKnown(): Promise<number>;
}
