/** Candidates: the actions of all valid rows, on disk beside their index, before it is decided which of them are sent. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Action, ActionData } from "../../actions/actions.ts";
import { type FieldKind, fieldSpec, isFieldName } from "../../actions/fields.ts";
import { parseJson, stringifyJson } from "../../actions/json.ts";
import { orClosed } from "../../disk/closing.ts";
import type { AskedAt } from "../../ledger/row-places.ts";
import { type AppendFile, createFile } from "../files/append-file.ts";
import { type IndexRecord, RECORD_BYTES, readRecord } from "../files/index-file.ts";
import { readActions } from "../files/read-actions.ts";

export const candidateFiles = (directory: string) => ({
  lines: join(directory, "candidates.ndjson"),
  index: join(directory, "candidates.index"),
});

/** What stands among the candidates and is not sent: of an invalid row, so that what depends on it and stands behind it is held back. */
export interface BlockedRow {
  /** Number of the candidate that it stands before. */
  readonly before: number;
  /** Running number of the row. */
  readonly row: number;
  readonly input: number;
  readonly line: number;
  /** What could be read of its actions. */
  readonly attempted: readonly unknown[];
  /** Of an action that was accepted when its row was mended, which stands here for the row: nothing is held back for it. */
  readonly accepted?: AskedAt | undefined;
}

/** The candidate files while they are written. */
export interface CandidateFiles {
  readonly lines: AppendFile;
  readonly index: AppendFile;
}

const KINDS = ["lines", "index"] as const;

/** Candidates as the bytes of their files. */
export type CandidateBytes = Readonly<Record<(typeof KINDS)[number], Uint8Array>>;

/**
 * New ones, which must not exist yet.
 *
 * @param areLasting - false where none of them becomes a file of the plan.
 */
export async function createCandidates(
  directory: string,
  areLasting: boolean,
): Promise<CandidateFiles & AsyncDisposable> {
  const paths = candidateFiles(directory);
  const lines = await createFile(paths.lines, areLasting);
  const close = async () => await lines[Symbol.asyncDispose]();
  const index = await orClosed({ close }, () => createFile(paths.index, areLasting));
  return {
    lines,
    index,
    async [Symbol.asyncDispose]() {
      await close();
      await index[Symbol.asyncDispose]();
    },
  };
}

export async function appendCandidates(files: CandidateFiles, candidates: readonly CandidateBytes[]): Promise<void> {
  for (const kind of KINDS) await files[kind].bytes(Buffer.concat(candidates.map((each) => each[kind])));
}

/** Hands everything to the system, for who reads it soon. */
export async function endCandidates(files: CandidateFiles): Promise<void> {
  for (const kind of KINDS) await files[kind].flush();
}

/** Resolves when what becomes part of the plan is on disk. */
export async function syncCandidates(files: CandidateFiles): Promise<void> {
  for (const kind of KINDS) await files[kind].sync();
}

export interface Candidate extends IndexRecord {
  /** Its number among the candidates, from 0, in the order in which they would be sent. */
  readonly seq: number;
  /** Where its line stands in its file, and its length, newline included. */
  readonly start: number;
  readonly length: number;
  readonly data: ActionData;
}

/** All candidates in order, in arrays. */
export async function* readCandidates(directory: string): AsyncGenerator<readonly Candidate[]> {
  const paths = candidateFiles(directory);
  let [seq, start] = [0, 0];
  for await (const { lines, records } of readActions(paths.lines, paths.index)) {
    const candidates: Candidate[] = [];
    for (const [number, line] of lines.entries()) {
      const record = readRecord(records, number * RECORD_BYTES);
      candidates.push({ ...record, seq, start, length: line.length, data: dataIn(line) });
      seq += 1;
      start += line.length;
    }
    yield candidates;
  }
}

const dataIn = (line: Buffer): ActionData => (parseJson(line.toString("utf8")) as Action).data; // written by compile

/** Candidates that are sent and stand side by side. */
export interface KeptRange {
  /** Where their lines begin and end in their file. */
  readonly start: number;
  readonly end: number;
  /** Number of the first candidate. */
  readonly first: number;
  readonly count: number;
}

/** What the checks across actions are told of a candidate. */
export const actionOf = ({ action, data }: Candidate): Action => ({
  action,
  data: Object.fromEntries(Object.entries(data).map(asChecked)) as ActionData, // the same fields
});

/** Where a rule was turned off a text may be anything; the checks across actions compare texts. */
function asChecked([name, value]: [string, unknown]): [string, unknown] {
  const isText = isFieldName(name) && IRREGULAR_TEXTS.has(fieldSpec(name).kind);
  return [name, isText && value != null && typeof value !== "string" ? stringifyJson(value) : value];
}

const IRREGULAR_TEXTS: ReadonlySet<FieldKind> = new Set(["id", "nftId", "price", "currency"]);

export async function removeCandidates(directory: string): Promise<void> {
  for (const path of Object.values(candidateFiles(directory))) await rm(path, { force: true });
}
