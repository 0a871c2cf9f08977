/** What stands in a ledger, as it is entered and found: actions, runs, chunks, outcomes, and what is noted beside them. */

import type { ActionName } from "../actions/actions.ts";
import type { ChunkState } from "./chunks.ts";

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
export interface ActionFacts extends Identity {
  /** Canonical content: short text itself, else its digest. */
  readonly content: string;
  /** orderTime. */
  readonly time?: number | bigint | undefined;
  /** The eventId that it names. */
  readonly event?: string | undefined;
  /** Who has the ticket once it is accepted. */
  readonly owner?: string | undefined;
}

export interface NewAction extends ActionFacts {
  /** The chunk that holds it, and its place there, from 0. */
  readonly chunk: number;
  readonly place: number;
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

/** Column by column: thousands of objects of a chunk would only be taken apart again. */
export type Origins = {
  readonly [Name in keyof Origin]-?: readonly (undefined extends Origin[Name] ? Origin[Name] | null : Origin[Name])[];
};

export interface NewChunk {
  /** From 1, in the order of the run. */
  readonly chunk: number;
  readonly lane: number;
  /** From 0. A stage begins when the one before is answered. */
  readonly stage: number;
  /** The request: a JSON array of actions. */
  readonly body: Uint8Array;
  /** Of each action, in the order of the body. */
  readonly origins: Origins;
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

export interface NewRun extends RunFacts {
  readonly guard?: readonly GuardNote[] | undefined;
}

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

export interface Attempt {
  readonly chunk: number;
  readonly attempt: number;
  readonly count: number;
  readonly startedAt: string;
  /** Undefined where no end is known. */
  readonly endedAt: string | undefined;
  readonly class: string | undefined;
  readonly httpStatus: number | undefined;
  readonly detail: string | undefined;
  /** An answer that did not decide, as it came. */
  readonly raw: Uint8Array | undefined;
}

type Decision = "sent" | "not-sent" | "abandon" | "pause" | "resume";

export interface Settlement extends By {
  /** Undefined: the whole run. */
  readonly chunk: number | undefined;
  readonly decision: Decision;
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

/** A file that the ledger's runs write. */
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
  /** Host, where it may be another machine's. */
  readonly machine?: string | undefined;
}

/** Chunks of a run whose promises were appended to a file. */
export interface Written {
  readonly run: number;
  readonly chunks: readonly number[];
  readonly isNew: boolean;
}

export interface Invocation {
  readonly startedAt: string;
  readonly durationMs: number;
  /** `stream`, `validate`, … */
  readonly command: string;
  /** As typed, without what could be a secret. */
  readonly arguments: readonly string[];
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

/** A promise and what the service last said of it. */
export interface PromiseStatus {
  readonly chunk: number;
  readonly place: number;
  readonly seq: number;
  readonly promise: string;
  readonly status: string | undefined;
  readonly since: string | undefined;
}
