/**
 * What one environment has been sent, behind one interface: a file of SQLite or a schema of PostgreSQL. The plan and the sandbox
 * have SQL of their own; all other stands in this folder. A method that changes something is one transaction: after it resolves,
 * the change is on disk; when it throws, nothing has changed.
 */

import type { ActionName } from "../actions/actions.ts";
import type { ChunkState } from "./chunks.ts";
import type { Claim, Workers } from "./workers.ts";

/** An action's identity is its subject, its kind and its mark (src/actions/identity.ts). */
export interface Identity {
  /** `t:<ticketId>`, `n:<nftId>` or `e:<eventId>`. */
  readonly subject: string;
  readonly kind: ActionName;
  readonly mark: string;
}

/** A bad row, by its digest, and an action that its corrected version gives. */
export interface Corrected extends Identity {
  readonly digest: string;
}

/** Where an action was read: the number of the run and the place there, from 1. Later runs have higher numbers. */
export interface Position {
  readonly run: number;
  readonly seq: number;
}

/** An action as far as later ones depend on it. */
interface ActionFacts extends Identity {
  /** Canonical content: short text itself, else its digest. */
  readonly content: string;
  /** orderTime; at most `Number.MAX_SAFE_INTEGER`. */
  readonly time?: number | undefined;
  /** The eventId that it names. */
  readonly event?: string | undefined;
  /** Who has the ticket once it is accepted. */
  readonly owner?: string | undefined;
}

export interface NewAction extends ActionFacts {
  /** The chunk that holds it, and its place there, from 0; undefined for one that is adopted. */
  readonly chunk?: number | undefined;
  readonly place?: number | undefined;
  /** Place in the order in which it was judged, from 1: its position in this run. */
  readonly seq: number;
  /** Its subject with the id in normal form, where that differs from the subject (`id-near-another`). */
  readonly normal?: string | undefined;
}

/** An action that was entered, and neither rejected nor abandoned since. */
export interface KnownAction extends ActionFacts {
  readonly position: Position;
  /** The run that holds it. */
  readonly run: number;
  readonly runId: string;
  /** Undefined for one that was adopted. */
  readonly chunk: number | undefined;
  readonly place: number | undefined;
  /** Its chunk's: sent once that is answered, or a person said so; pending before. */
  readonly state: "sent" | "pending";
}

/** Where an action of a chunk comes from, and what a promises line carries so that an import knows it again. */
export interface Origin extends ActionFacts {
  /** Index of its input in the run, from 0. */
  readonly input: number;
  /** As people count: for CSV and NDJSON the line, for an array the index. */
  readonly line: number;
  /** Index of its row among `rows` of the chunk. */
  readonly row: number;
  /** As in `NewAction`. */
  readonly seq: number;
  /** Of a row that corrects a bad one: the digest of the bad one. */
  readonly digest?: string | undefined;
  /** Of a row from rejects: where it was first read, by the run's id. Its rejects keep that; what is accepted stands where it was sent. */
  readonly position?: { readonly run: string; readonly seq: number } | undefined;
}

export interface NewChunk {
  /** From 1, in the order of the run. */
  readonly chunk: number;
  readonly lane: number;
  /** From 0. A stage begins when the one before is answered. */
  readonly stage: number;
  /** The request: a JSON array of actions. */
  readonly body: Uint8Array;
  /** Of each action, in the order of the body. */
  readonly origins: readonly Origin[];
  /** Text of the rows, by `Origin.row`. */
  readonly rows: readonly string[];
}

export interface RunInput {
  readonly name: string;
  readonly source: string;
  readonly format: string;
  readonly sha256: string;
  readonly rows: number;
  /** Of a table: what its rejects are written with. */
  readonly header?: readonly string[] | undefined;
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What the plan knows of a run. All but the first four fields is kept as it is given. */
interface RunFacts {
  /** 8 hex digits. */
  readonly run: string;
  /** UTC in ISO 8601, as all times here. */
  readonly createdAt: string;
  readonly environment: string;
  /** The promises file; undefined for standard output. */
  readonly output: string | undefined;
  readonly inputs: readonly RunInput[];
  /** Counts, as the summary shows them. */
  readonly rows: Readonly<Record<string, number>>;
  readonly actions: Readonly<Record<string, number>>;
  readonly byAction: Readonly<Record<string, number>>;
  readonly problems: Readonly<Record<string, number>>;
  readonly options: { readonly [key: string]: Json };
}

/** What a night teaches of its input, whether it enters something or not. */
export interface Learnt {
  readonly guard?: readonly GuardNote[] | undefined;
  /** Whole corrected versions of bad rows: of each digest all actions that are given. */
  readonly corrected?: readonly Corrected[] | undefined;
}

export interface NewRun extends RunFacts, Learnt {}

/** `closing`: a person abandoned it, and its rejects are not written yet. */
export type RunState = "open" | "closing" | "finished" | "abandoned";

/** A person's word, or a command's. */
export interface By {
  readonly who: string;
  readonly at: string;
  readonly reason: string | undefined;
}

export interface Run extends RunFacts {
  readonly number: number;
  readonly kind: "sent" | "adopted" | "imported";
  readonly state: RunState;
  readonly endedAt: string | undefined;
  /** What the last command on it ended with; undefined where that was killed, or is still at it. */
  readonly exitCode: number | undefined;
  /** A person stopped it: it is sent again only when one says so. */
  readonly paused: By | undefined;
  /** Actions a request may hold, where the service found more too large (413). */
  readonly mostActions: number | undefined;
  /** How many commands have begun to send it. */
  readonly sends: number;
}

export interface RunFilter {
  readonly ids?: readonly string[];
  readonly states?: readonly RunState[];
  /** Those that have chunks in one of these states. */
  readonly chunks?: readonly ChunkState[];
  /** Those whose promises are not all in the promises file. */
  readonly unwritten?: true;
  /** So many of the newest. */
  readonly last?: number;
}

/** Actions of a run by outcome. */
export interface RunCounts {
  readonly accepted: number;
  readonly rejected: number;
  /** In doubt, without what is in flight. */
  readonly inDoubt: number;
  /** A request is on its way, or its process died meanwhile and nobody has looked since. */
  readonly inFlight: number;
  /** The service refused their chunk. */
  readonly refused: number;
  /** Planned, or abandoned. */
  readonly notSent: number;
  /** A person said that the service has them: no promise. */
  readonly settled: number;
  readonly total: number;
  /** Chunks, and those of which every outcome is known. */
  readonly chunks: number;
  readonly decidedChunks: number;
}

export interface Chunk {
  readonly run: number;
  readonly chunk: number;
  readonly lane: number;
  readonly stage: number;
  readonly state: ChunkState;
  readonly count: number;
  /** Number of the chunk that was entered with the run and holds these actions; itself, unless it was cut. */
  readonly whole: number;
  /** Place there of its first action. */
  readonly first: number;
  readonly httpStatus: number | undefined;
  readonly detail: string | undefined;
  readonly answeredAt: string | undefined;
  readonly accepted: number;
  readonly rejected: number;
}

/** An action of a chunk and what became of it. */
export interface Item {
  readonly origin: Origin;
  readonly place: number;
  /** `settled`: a person said that the service has it. `moved`: another chunk holds it since. */
  readonly outcome: "accepted" | "rejected" | "in doubt" | "not sent" | "settled" | "moved";
  readonly promise: string | undefined;
  /** The service's item, JSON, of one that was rejected or is in doubt. */
  readonly response: string | undefined;
}

export interface Outcomes {
  readonly chunk: Chunk;
  readonly items: readonly Item[];
  /** By `Origin.row`; undefined once all of the chunk was accepted, or it was pruned. */
  readonly rows: readonly string[] | undefined;
}

/** What else is known of one is for people: in the table, an answer that did not decide stands as it came. */
export interface Attempt {
  readonly chunk: number;
  readonly count: number;
  readonly startedAt: string;
  /** Undefined where no end is known. */
  readonly endedAt: string | undefined;
  readonly class: string | undefined;
}

export interface Settlement extends By {
  /** Undefined: the whole run. */
  readonly chunk: number | undefined;
  readonly decision: "sent" | "not-sent" | "abandon" | "pause";
}

/** An action that was entered, with what became of it and of its chunk. */
export interface FoundAction
  extends Pick<KnownAction, keyof Identity | "run" | "runId" | "chunk" | "place" | "position"> {
  /** That its run was entered for. */
  readonly environment: string;
  readonly outcome: Item["outcome"] | "adopted";
  /** What follows is not there for one that was adopted. */
  readonly chunkState?: ChunkState | undefined;
  readonly source?: string | undefined;
  readonly line?: number | undefined;
  readonly promise?: string | undefined;
  readonly response?: string | undefined;
  /** `{action, data}` as it was sent; undefined once pruned, and where it was adopted or imported. */
  readonly json?: string | undefined;
  readonly answeredAt?: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly settlements: readonly Settlement[];
}

/** A line of a promises file as an import takes it. */
export interface ImportedLine extends ActionFacts {
  readonly runId: string;
  readonly environment: string;
  readonly chunk: number;
  readonly seq: number;
  readonly source: string;
  readonly line: number;
  readonly at: string;
  readonly outcome: "accepted" | "rejected" | "settled";
  readonly promise: string | undefined;
  readonly response: string | undefined;
  readonly normal?: string | undefined;
}

/** A run as promises files name it. */
export interface ImportedRun {
  readonly run: string;
  readonly environment: string;
  /** When it was entered, or answered first. */
  readonly at: string;
}

export interface Imported {
  readonly entered: number;
  /** The ledger knew them. */
  readonly known: number;
  readonly runs: readonly string[];
}

/** How a source makes its actions of one kind: ids, times, zone, key, each as text by which two can be compared. */
export interface GuardNote {
  readonly source: string;
  /** An action's name, or `*` for the shares of the whole source. */
  readonly kind: string;
  readonly made: Readonly<Record<string, string>>;
  /** Rows of this night and how many were recognised; undefined leaves the nights as they are. */
  readonly night: { readonly at: string; readonly rows: number; readonly recognised: number } | undefined;
}

export interface Guard {
  readonly kind: string;
  /** As it was when something was last entered. */
  readonly made: Readonly<Record<string, string>>;
  /** The last ones, newest first. */
  readonly nights: readonly NonNullable<GuardNote["night"]>[];
}

/** A file that the ledger's runs write on this machine. */
export interface Output {
  readonly path: string;
  readonly kind: "promises" | "rejects";
  readonly length: number;
  /** Nanoseconds since 1970, as text. */
  readonly mtimeNs: string;
  /** By which the writer knows its content again. */
  readonly digest: string;
  /** Of rejects: the run and the index of its input. */
  readonly run?: number | undefined;
  readonly input?: number | undefined;
}

/** A chunk of a run whose promises were appended to a file. */
export interface Written {
  readonly run: number;
  readonly chunk: number;
  /** The run's promises go to this file from now on. */
  readonly isNew: boolean;
}

export interface Invocation {
  readonly startedAt: string;
  readonly durationMs: number;
  /** `stream`, `validate`, … */
  readonly command: string;
  readonly files: readonly string[];
  readonly exitCode: number;
  readonly error: string | undefined;
  /** Id of the run that it carried out. */
  readonly run: string | undefined;
  /** Rows and actions, as the summary counts them. */
  readonly counts: { readonly [key: string]: Json } | undefined;
  readonly host: string;
  readonly who: string;
  readonly version: string;
}

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

/** How an attempt ended. */
export interface Ended {
  readonly chunk: number;
  /** The worker's claim under which it was made, and its number; without them, it is the only one under way. */
  readonly claim?: Claim | undefined;
  readonly attempt?: number | undefined;
  readonly at: string;
  /** What becomes of its chunk. */
  readonly event: "answer" | "giveBack" | "refuse" | "doubt";
  /** Of each action, in the order of the body: of event `answer` alone. */
  readonly answers?: readonly Answer[] | undefined;
  /** What the answer meant, or that none came: for people. */
  readonly class: string;
  readonly httpStatus?: number | undefined;
  readonly detail?: string | undefined;
  /** The answer as it came: it may hold promises. Kept where it leaves a doubt, or the attempt was given up before. */
  readonly raw?: Uint8Array | undefined;
}

export interface Intent {
  readonly chunk: number;
  readonly at: string;
  /** Of a worker. */
  readonly claim?: Claimed | undefined;
}

interface Claimed {
  readonly claim: Claim;
  /** How long the request may take. */
  readonly limitMs: number;
  /** How many actions may be rejected before nobody sends. */
  readonly mostRejected: number;
  /** How long nobody sends after it, so that all keep to the rate: whole milliseconds, 0 without a rate. */
  readonly shareMs: number;
}

export interface Stepped {
  /** Number of the attempt that may leave now, from 1; undefined where none was asked for, or something is in its way. */
  readonly attempt: number | undefined;
  /**
   * `taken`: another worker has the lane; `waits`: the run waits for a person; `rejected`: the service rejected too many actions;
   * `waitMs`: nobody sends before that.
   */
  readonly obstacle: "taken" | "waits" | { readonly rejected: number } | { readonly waitMs: number } | undefined;
  /** False where the attempt had been given up before it ended: its answer was kept for a person and decided nothing. */
  readonly isStored: boolean;
  /** The chunk that holds the actions in doubt, where the answer left some. */
  readonly doubt: Chunk | undefined;
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
   * @param actions in the order of `enterRun`. Of one that comes several times, the last counts.
   * @returns the number of the run that stands for it.
   */
  adopt(run: NewRun, actions: AsyncIterable<readonly NewAction[]>, by: By): Promise<number>;
  run(id: string): Promise<Run | undefined>;
  /** The oldest first. */
  runs(filter?: RunFilter): Promise<readonly Run[]>;
  counts(run: number): Promise<RunCounts>;
  /** A command begins to send the run, or has sent some of it. @returns how often that was noted, with this time. */
  noteSending(run: number): Promise<number>;
  /** The command on a run ended before the run did. `paused` says that a person stopped it, or (null) that one lets it go on. */
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

/** What a sender notes of its chunks. */
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
   * @returns undefined where it was pruned or imported. @throws Failure `storage` where its digest does not match.
   */
  body(run: number, chunk: number): Promise<Uint8Array | undefined>;
  /**
   * How the request of a chunk ended, and that the next is about to leave: one commit. Rejected actions are forgotten, row texts
   * dropped where all was accepted. Actions that an answer leaves in doubt become a chunk of their own, in doubt.
   */
  advance(
    run: number,
    step: { readonly ended?: Ended | undefined; readonly intent?: Intent | undefined },
  ): Promise<Stepped>;
  /**
   * Cuts a planned chunk into planned ones of at most so many actions; the whole run keeps to that from now on.
   *
   * @returns false where it is not planned any more, or the claim on its lane counts no more.
   * @throws Failure `storage` where its body is damaged.
   */
  split(run: number, chunk: number, most: number, claim?: Claim): Promise<boolean>;
  /**
   * What was being sent when its process died is in doubt from now on; where workers send, only once its time is over.
   *
   * @returns how many chunks.
   */
  doubtVanished(run: number, at: string): Promise<number>;
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

export interface Actions {
  /** All that is known of these subjects, in the order of (subject, position). Ask some thousand at a time, in code point order. */
  actionsOf(subjects: readonly string[]): Promise<readonly KnownAction[]>;
  /** Subjects that are known and whose normal form is one of these: `id-near-another`. */
  near(normals: readonly string[]): Promise<readonly { readonly normal: string; readonly subject: string }[]>;
  /** Of these digests of bad rows, those whose corrected version was accepted whole, with the actions that it gave. */
  corrected(digests: readonly string[]): Promise<readonly Corrected[]>;
}

export interface Notes {
  guard(source: string): Promise<readonly Guard[]>;
  /** Of a night that entered nothing. */
  noteLearnt(learnt: Learnt): Promise<void>;
  output(path: string): Promise<Output | undefined>;
  /** Paths of a run's rejects files, of all machines. */
  rejectsFilesOf(run: number): Promise<readonly string[]>;
  /** What a file holds now. */
  noteOutput(output: Output, written?: Written): Promise<void>;
  /** Notes how a command ended, and digests of warnings that it showed. */
  noteInvocation(invocation: Invocation, shown?: readonly string[]): Promise<void>;
  /** Of these commands; `succeeded`: of those that ended with 0; `worked`: not of those that ended in a usage error. */
  lastInvocation(commands: readonly string[], how?: "succeeded" | "worked"): Promise<Invocation | undefined>;
  /** Of these digests, those of warnings that an earlier invocation showed. */
  reported(digests: readonly string[]): Promise<ReadonlySet<string>>;
  /** What the service last said of a chunk's promises, by the places of their actions. */
  statuses(run: number, chunk: number): Promise<ReadonlyMap<number, string>>;
  noteStatuses(
    run: number,
    statuses: readonly { readonly chunk: number; readonly place: number; readonly status: string }[],
    at: string,
  ): Promise<void>;
  countStatuses(run: number): Promise<ReadonlyMap<string, number>>;
}

export interface Ledger extends AsyncDisposable, Runs, Chunks, Settling, Actions, Notes {
  /** For people; without user and password. */
  readonly place: string;
  /** Of this database, from its making on. */
  readonly instance: string;
  /** What it belongs to: a base URL, or the sandbox's instance. */
  readonly boundTo: string | undefined;
  /** A commit succeeded only by the room that the ballast gave: store what is known, and stop. */
  readonly exhausted: "a full disk" | "a failed write" | undefined;
  /** This machine's name, where others share the ledger: the same path is another file on each. */
  readonly machine: string | undefined;
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
}
