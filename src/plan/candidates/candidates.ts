/** Candidates: the actions of all valid rows, on disk beside their index, before it is decided which of them are sent. */

import { closeSync, openSync, readSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Action, ActionData } from "../../actions/actions.ts";
import { type FieldKind, fieldSpec, isFieldName } from "../../actions/fields.ts";
import { parseJson, stringifyJson } from "../../actions/json.ts";
import type { AskedAt } from "../../ledger/row-places.ts";
import { type AppendFile, createFile } from "../files/append-file.ts";
import { identityAt, RECORD_BYTES, type RecordOrigin, readOrigin } from "../files/index-file.ts";
import type { CandidateBytes } from "./facts.ts";
import { FACTS_BYTES, factsReader, lineBytesAt, textBytesAt } from "./facts.ts";

export const candidateFiles = (directory: string) => ({
  lines: join(directory, "candidates.ndjson"),
  index: join(directory, "candidates.index"),
  /** See facts.ts; both are needed until all is decided, and not part of the plan. */
  facts: join(directory, "candidates.facts"),
  texts: join(directory, "candidates.texts"),
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
  readonly facts: AppendFile;
  readonly texts: AppendFile;
}

const KINDS = ["lines", "index", "facts", "texts"] as const;
/** Those that may become files of the plan. */
const OF_PLAN = ["lines", "index"] as const;

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
  const opened: AppendFile[] = [];
  const close = async (): Promise<void> => {
    for (const file of opened) await file[Symbol.asyncDispose]();
  };
  const create = async (kind: (typeof KINDS)[number]): Promise<AppendFile> => {
    const file = await createFile(paths[kind], areLasting && OF_PLAN.some((each) => each === kind));
    opened.push(file);
    return file;
  };
  try {
    const [lines, index, facts, texts] = [
      await create("lines"),
      await create("index"),
      await create("facts"),
      await create("texts"),
    ];
    return { lines, index, facts, texts, [Symbol.asyncDispose]: close };
  } catch (cause) {
    await close();
    throw cause;
  }
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
  for (const kind of OF_PLAN) await files[kind].sync();
}

export interface Candidate extends RecordOrigin {
  /** Its number among the candidates, from 0, in the order in which they would be sent. */
  readonly seq: number;
  /** Where its line stands in its file, and its length, newline included. */
  readonly start: number;
  readonly length: number;
  readonly facts: ReturnType<ReturnType<typeof factsReader>>;
  /** Its record stands in a block of the index. */
  readonly block: Buffer;
  readonly at: number;
}

export const identityOf = ({ block, at }: Candidate): Buffer => identityAt(block, at);

/** Candidates read at a time. */
const READ = 2048;

/** All candidates in order, in arrays, without their lines. */
export async function* readCandidates(directory: string): AsyncGenerator<readonly Candidate[]> {
  for await (const { first, count, start: begin, records: read, facts, texts } of readBlocks(directory)) {
    const records = Buffer.from(read); // candidates may be kept
    const factsAt = factsReader(texts.toString("utf8"));
    const candidates: Candidate[] = [];
    let start = begin;
    for (let number = 0; number < count; number += 1) {
      const at = number * RECORD_BYTES;
      const origin = readOrigin(records, at);
      const length = lineBytesAt(facts, number * FACTS_BYTES);
      const told = factsAt(facts, number * FACTS_BYTES);
      candidates.push({ ...origin, seq: first + number, start, length, facts: told, block: records, at });
      start += length;
    }
    yield candidates;
  }
}

/** Where a candidate of a block stands: its number in it, where its texts begin there, and where its line begins in its file. */
export interface BlockPlace {
  readonly number: number;
  readonly textAt: number;
  readonly start: number;
}

/** A single candidate of a block, with memory of its own. */
export function candidateAt(
  { first, records, facts, texts }: CandidateBlock,
  { number, textAt, start }: BlockPlace,
): Candidate {
  const at = number * RECORD_BYTES;
  const factsAt = number * FACTS_BYTES;
  const own = texts.toString("utf8", textAt, textAt + textBytesAt(facts, factsAt));
  return {
    ...readOrigin(records, at),
    seq: first + number,
    start,
    length: lineBytesAt(facts, factsAt),
    facts: factsReader(own)(facts, factsAt),
    block: Buffer.from(records.subarray(at, at + RECORD_BYTES)),
    at: 0,
  };
}

/** A block of records, with what is known of each beside it: number for number, `RECORD_BYTES` and `FACTS_BYTES` long. */
export interface CandidateRecords {
  /** Number of the first candidate. */
  readonly first: number;
  readonly count: number;
  readonly records: Buffer;
  readonly facts: Buffer;
}

/** The same with the texts of the facts, one after the other. */
export interface CandidateBlock extends CandidateRecords {
  readonly texts: Buffer;
  /** Where the line of the first candidate stands in its file. */
  readonly start: number;
}

/** All candidates in order as they stand on disk, without their lines. The memory of a block is used again once the next is asked for. */
export async function* readBlocks(directory: string): AsyncGenerator<CandidateBlock> {
  const paths = candidateFiles(directory);
  await using index = await open(paths.index, "r");
  await using facts = await open(paths.facts, "r");
  await using texts = await open(paths.texts, "r");
  let [first, start] = [0, 0];
  yield* readAhead(async (memory) => {
    const read = await readNext(index, facts, READ, memory);
    if (read === undefined) return undefined;
    let [textBytes, lineBytes] = [0, 0];
    for (let at = 0; at < read.facts.length; at += FACTS_BYTES) {
      textBytes += textBytesAt(read.facts, at);
      lineBytes += lineBytesAt(read.facts, at);
    }
    const block = { ...read, first, start, texts: await readAll(texts, memory.of("texts", textBytes)) };
    first += block.count;
    start += lineBytes;
    return block;
  });
}

/** The records of all candidates in order, for who asks of most of them only what stands there; likewise in memory that is used again. */
export async function* readRecords(directory: string): AsyncGenerator<CandidateRecords> {
  const paths = candidateFiles(directory);
  await using index = await open(paths.index, "r");
  await using facts = await open(paths.facts, "r");
  let first = 0;
  yield* readAhead(async (memory) => {
    const read = await readNext(index, facts, READ * 4, memory);
    if (read === undefined) return undefined;
    first += read.count;
    return { ...read, first: first - read.count };
  });
}

/** All candidates in order as they are sent, with their lines; likewise in memory that is used again. */
export async function* readWithLines(directory: string): AsyncGenerator<CandidateRecords & { readonly lines: Buffer }> {
  const paths = candidateFiles(directory);
  await using index = await open(paths.index, "r");
  await using facts = await open(paths.facts, "r");
  await using lines = await open(paths.lines, "r");
  let first = 0;
  yield* readAhead(async (memory) => {
    const read = await readNext(index, facts, READ, memory);
    if (read === undefined) return undefined;
    let lineBytes = 0;
    for (let at = 0; at < read.facts.length; at += FACTS_BYTES) lineBytes += lineBytesAt(read.facts, at);
    first += read.count;
    return { ...read, first: first - read.count, lines: await readAll(lines, memory.of("lines", lineBytes)) };
  });
}

async function readNext(index: FileHandle, facts: FileHandle, most: number, memory: BlockMemory) {
  const records = await readSome(index, memory.of("records", most * RECORD_BYTES));
  const count = records.length / RECORD_BYTES;
  return count === 0
    ? undefined
    : { count, records, facts: await readAll(facts, memory.of("facts", count * FACTS_BYTES)) };
}

/** What blocks are read into, one after the other. */
class BlockMemory {
  readonly #parts = new Map<string, Buffer>();

  of(part: "records" | "facts" | "texts" | "lines", size: number): Buffer {
    let memory = this.#parts.get(part);
    if (memory === undefined || memory.length < size) {
      memory = Buffer.allocUnsafe(size + (size >> 2));
      this.#parts.set(part, memory);
    }
    return memory.subarray(0, size);
  }
}

/**
 * What `read` gives until it gives nothing: each is read while the one before it is looked at, into the memory of the one
 * before that. New memory for each would cost more than what is done with it.
 */
async function* readAhead<T>(read: (memory: BlockMemory) => Promise<T | undefined>): AsyncGenerator<T> {
  let [memory, other] = [new BlockMemory(), new BlockMemory()];
  let next = read(memory);
  for (let each = await next; each !== undefined; each = await next) {
    [memory, other] = [other, memory];
    next = read(memory);
    next.catch(() => undefined); // told when it is awaited
    yield each;
  }
}

/** Candidates that are sent and stand side by side. */
export interface KeptRange {
  /** Where their lines begin and end in their file. */
  readonly start: number;
  readonly end: number;
  /** Number of the first candidate. */
  readonly first: number;
  readonly count: number;
}

/** Looks up single lines, for the few candidates of which more is asked than their facts. */
export interface CandidateLines extends Disposable {
  /** Without the newline. */
  of(candidate: Pick<Candidate, "start" | "length">): Buffer;
}

export const dataOfCandidate = (lines: CandidateLines, candidate: Parameters<CandidateLines["of"]>[0]): ActionData =>
  (parseJson(lines.of(candidate).toString("utf8")) as Action).data; // written by compile

export function openCandidateLines(directory: string): CandidateLines {
  const file = openSync(candidateFiles(directory).lines, "r");
  return {
    of({ start, length }) {
      const line = Buffer.allocUnsafe(length - 1);
      for (let at = 0; at < line.length; ) {
        const bytesRead = readSync(file, line, at, line.length - at, start + at);
        if (bytesRead === 0) throw new Error("the candidates are shorter than their index says");
        at += bytesRead;
      }
      return line;
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

/** What the checks across actions are told of a candidate. */
export function actionOf(candidate: Candidate, lines: CandidateLines): Action {
  const { action, facts } = candidate;
  if (!facts.isIrregular) return { action, data: facts.data };
  const whole = parseJson(lines.of(candidate).toString("utf8")) as Action; // written by compile
  return { action, data: Object.fromEntries(Object.entries(whole.data).map(asChecked)) as Action["data"] }; // the same fields
}

/** Where a rule was turned off a text may be anything; the checks across actions compare texts. */
function asChecked([name, value]: [string, unknown]): [string, unknown] {
  const isText = isFieldName(name) && IRREGULAR_TEXTS.has(fieldSpec(name).kind);
  return [name, isText && value != null && typeof value !== "string" ? stringifyJson(value) : value];
}

const IRREGULAR_TEXTS: ReadonlySet<FieldKind> = new Set(["id", "nftId", "price", "currency"]);

export async function removeCandidates(directory: string): Promise<void> {
  for (const path of Object.values(candidateFiles(directory))) await rm(path, { force: true });
}

/** Fills `bytes`, or as much of it as is left in the file. */
async function readSome(file: FileHandle, bytes: Buffer): Promise<Buffer> {
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

async function readAll(file: FileHandle, bytes: Buffer): Promise<Buffer> {
  const read = await readSome(file, bytes);
  if (read.length < bytes.length) throw new Error("the candidates are shorter than their index says");
  return read;
}
