/** Candidates: the actions of all valid rows, on disk beside their index, before it is decided which of them are sent. */

import { open } from "node:fs/promises";
import { join } from "node:path";
import { readLines } from "./files.ts";
import { type IndexRecord, RECORD_BYTES, readRecord } from "./index-file.ts";

export const candidateFiles = (directory: string): { readonly lines: string; readonly index: string } => ({
  lines: join(directory, "candidates.ndjson"),
  index: join(directory, "candidates.index"),
});

export interface Candidate {
  /** Its number among the candidates, from 0, in the order in which they would be sent. */
  readonly seq: number;
  readonly record: IndexRecord;
  /** The action as it will be sent, without the newline. */
  readonly line: Buffer;
  /** Where the line stands in its file. */
  readonly start: number;
}

/** An action that is not sent because its row is invalid: what depends on it and stands behind it is held back. */
export interface Hold {
  /** Number of the candidate that it stands before. */
  readonly before: number;
  readonly input: number;
  readonly line: number;
  /** What could be read of its actions. */
  readonly attempted: readonly unknown[];
}

/** All candidates in order, in arrays. */
export async function* readCandidates(directory: string): AsyncGenerator<readonly Candidate[]> {
  const paths = candidateFiles(directory);
  await using index = await open(paths.index, "r");
  let seq = 0;
  let start = 0;
  for await (const lines of readLines(paths.lines)) {
    const records = Buffer.allocUnsafe(lines.length * RECORD_BYTES);
    const { bytesRead } = await index.read(records, 0, records.length, seq * RECORD_BYTES);
    if (bytesRead < records.length) throw new Error("the candidates' index is shorter than it should be");
    const candidates: Candidate[] = [];
    for (const [at, line] of lines.entries()) {
      candidates.push({ seq, record: readRecord(records, at * RECORD_BYTES), line, start });
      seq += 1;
      start += line.length + 1;
    }
    yield candidates;
  }
}
