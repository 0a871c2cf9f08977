/** Chunks in the tables: entered, read, led through their life and cut. */

import { createHash } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { elementsOf, parseJson } from "../actions/json.ts";
import { Failure } from "../failure.ts";
import { type ActionFacts, deleteActions, moveActions } from "./actions.ts";
import { type ChunkEvent, type ChunkState, DECIDED_STATES, TRANSITIONS } from "./chunks.ts";
import {
  assigned,
  type Columns,
  first,
  insertInto,
  type Reader,
  raw,
  type Sql,
  scalar,
  select,
  sql,
  type Writer,
  words,
} from "./database.ts";

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

const COLUMNS = raw(
  "run, chunk, lane, stage, whole, first, count, state, accepted, rejected, http_status, detail, answered_at",
);
/** Its promises are not in the promises file yet. */
export const HAS_UNWRITTEN = sql`state IN ${words(DECIDED_STATES)} AND is_written = 0`;

const ofChunk = (run: number, chunk: number): Sql => sql`run = ${run} AND chunk = ${chunk}`;

/** In the order in which they are sent. */
export const selectChunks = (reader: Reader, where: Sql, limit = sql``): Promise<readonly Chunk[]> =>
  select(reader, sql`SELECT ${COLUMNS} FROM chunks WHERE ${where} ORDER BY stage, whole, first, chunk ${limit}`);

export async function readChunk(reader: Reader, run: number, chunk: number): Promise<Chunk> {
  const [row] = await selectChunks(reader, ofChunk(run, chunk));
  if (row === undefined) throw new Error(`run ${run} has no chunk ${chunk}`);
  return row;
}

/**
 * What was said of a chunk that leads to `planned` or `abandoned` counts no more; of an abandoned one, another run may send the
 * actions.
 *
 * @returns false where the chunk is in no state in which that may happen.
 */
export async function pass(
  writer: Writer,
  run: number,
  chunk: number,
  event: ChunkEvent,
  also: Columns = {},
): Promise<boolean> {
  const { from, to } = TRANSITIONS[event];
  const where = sql`${ofChunk(run, chunk)} AND state IN ${words(from)}`;
  const passed = await writer.run(sql`UPDATE chunks SET ${assigned({ state: to, ...also })} WHERE ${where}`);
  if (passed !== 1) return false;
  if (to !== "planned" && to !== "abandoned") return true;
  await writer.run(sql`UPDATE bodies SET outcomes = NULL WHERE ${ofChunk(run, chunk)}`);
  if (to === "abandoned") {
    const { items } = await readOutcomes(writer, run, chunk);
    const actions = items.map(({ origin }) => origin);
    await deleteActions(writer, run, chunk, actions);
  }
  return true;
}

/** @throws Error where the chunk is in no state in which that may happen: a fault of the caller. */
export async function mustPass(...step: Parameters<typeof pass>): Promise<void> {
  if (await pass(...step)) return;
  const [writer, run, chunk, event] = step;
  const { state } = await readChunk(writer, run, chunk);
  throw new Error(`chunk ${chunk} of run ${run} is ${state}, so it can't ${event}`);
}

type ChunkPlace = Pick<Chunk, "run" | "chunk" | "lane" | "stage" | "whole" | "first" | "state"> &
  Partial<Pick<Chunk, "detail">>;

interface Content {
  readonly body: Uint8Array | undefined;
  readonly origins: readonly Origin[];
  readonly rows: readonly string[] | undefined;
  readonly outcomes?: readonly Outcome[] | undefined;
}

export async function insertChunk(
  writer: Writer,
  place: ChunkPlace,
  { body, origins, rows, outcomes }: Content,
): Promise<void> {
  const { run, chunk } = place;
  const large = { origins: packJson(origins), texts: rows && packJson(rows), body: body && pack(body) };
  const known = { outcomes: outcomes && toStored(outcomes), sha256: body && sha256(body) };
  await writer.run(insertInto("chunks", { ...place, count: origins.length }));
  await writer.run(insertInto("bodies", { run, chunk, ...known, ...large }));
}

/**
 * The request, as it was entered.
 *
 * @returns undefined where it was pruned or imported. @throws Failure `storage` where its digest does not match.
 */
export async function readBody(reader: Reader, run: number, chunk: number): Promise<Uint8Array | undefined> {
  const row = await first<{ body?: Uint8Array; sha256?: string; origins: Uint8Array }>(
    reader,
    sql`SELECT body, sha256, origins FROM bodies WHERE ${ofChunk(run, chunk)}`,
  );
  const { body: packed } = row ?? {};
  if (row === undefined || packed === undefined) return undefined;
  return intact(`The body of chunk ${chunk} in the ledger ${reader.place} is damaged. Nothing of it was sent.`, () => {
    // Without where its actions come from, the answer could not be stored.
    unpack(row.origins);
    const body = unpack(packed);
    if (sha256(body) === row.sha256) return body;
    throw new Error("it has another digest than what was entered");
  });
}

/** What `read` makes of something stored. @throws Failure `storage` saying `otherwise` where it can't be read. */
function intact<T>(otherwise: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const hint = "Restore the ledger from a backup; what that lacks is noticed before anything is sent.";
    throw new Failure("storage", otherwise, { hint, cause });
  }
}

const damaged = (reader: Reader, chunk: number): string =>
  `What became of chunk ${chunk} in the ledger ${reader.place} is damaged.`;

/** Of a chunk that is pending: it is never pruned. */
export async function readRequest(reader: Reader, run: number, chunk: number): Promise<Uint8Array> {
  const body = await readBody(reader, run, chunk);
  if (body === undefined) throw new Error(`chunk ${chunk} of run ${run} has no body`);
  return body;
}

/** Of all its actions, where nothing else is stored. */
const OTHERWISE: Readonly<Record<ChunkState, Item["outcome"]>> = {
  planned: "not sent",
  sending: "in doubt",
  answered: "accepted",
  split: "moved",
  refused: "in doubt",
  "in doubt": "in doubt",
  settled: "settled",
  abandoned: "not sent",
};

/** A chunk with all that is known of its actions but the request, by one statement. */
export async function readOutcomes(reader: Reader, run: number, chunk: number): Promise<Outcomes> {
  const row = await first<Chunk & { origins: Uint8Array; texts?: Uint8Array; outcomes?: string }>(
    reader,
    sql`SELECT ${COLUMNS}, origins, texts, outcomes FROM chunks JOIN bodies USING (run, chunk)
      WHERE ${ofChunk(run, chunk)}`,
  );
  if (row === undefined) throw new Error(`run ${run} has no chunk ${chunk}`);
  const { origins, texts, outcomes, ...of } = row;
  return intact(damaged(reader, chunk), () => {
    const stored = outcomes === undefined ? [] : fromStored(outcomes);
    const read = unpackJson(origins) as readonly Origin[]; // by insertChunk
    const items = read.map((origin, place): Item => {
      const { outcome = OTHERWISE[of.state], promise, response } = stored[place] ?? {};
      return { origin, place, outcome, promise, response };
    });
    const rows = texts && (unpackJson(texts) as readonly string[]); // by insertChunk
    return { chunk: of, items, rows };
  });
}

/** The promises that the service gave for a chunk, also in what left a doubt that a person has settled. */
export async function readPromises(reader: Reader, run: number, chunk: number): Promise<readonly string[]> {
  const outcomes = await scalar<string>(reader, sql`SELECT outcomes FROM bodies WHERE ${ofChunk(run, chunk)}`);
  return intact(damaged(reader, chunk), () =>
    fromStored(outcomes ?? "[]").flatMap(({ promise, response }) => promise ?? promiseIn(response) ?? []),
  );
}

/** @param response the service's item; of what was imported, whatever its line has. */
function promiseIn(response: string | undefined): string | undefined {
  if (response?.startsWith("{") !== true) return undefined;
  const { actionPromise } = parseJson(response) as { readonly actionPromise?: unknown }; // an object
  return typeof actionPromise === "string" ? actionPromise : undefined;
}

/** Of all its actions. What was said of a doubt makes way for what a person says; rows that were accepted are not needed any more. */
export async function storeOutcomes(
  writer: Writer,
  run: number,
  chunk: number,
  outcomes: readonly Outcome[],
): Promise<void> {
  const isDone = outcomes.every(({ outcome }) => outcome === "accepted" || outcome === "settled");
  const stored = { outcomes: toStored(outcomes), ...(isDone && { texts: undefined }) };
  await writer.run(sql`UPDATE bodies SET ${assigned(stored)} WHERE ${ofChunk(run, chunk)}`);
}

/**
 * Cuts parts out of a chunk. What the service said of a doubt goes with its actions.
 *
 * @param partOf the part, from 0, that the action at this place goes to; undefined for one that stays.
 * @param state of the parts. @param said of all its actions, and of the parts, where that is not what is stored.
 * @returns the numbers of the parts.
 */
export async function cut(
  writer: Writer,
  run: number,
  chunk: number,
  partOf: (place: number) => number | undefined,
  state: ChunkState,
  said: { readonly outcomes?: readonly Outcome[]; readonly detail?: string } = {},
): Promise<readonly number[]> {
  const { chunk: parent, items, rows } = await readOutcomes(writer, run, chunk);
  const stored = items.some(({ response }) => response !== undefined) ? items : undefined;
  const { outcomes = stored, detail = parent.detail } = said;
  const parts: number[][] = [];
  for (const place of items.keys()) {
    const part = partOf(place);
    if (part === undefined) continue;
    parts[part] ??= [];
    parts[part].push(place);
  }
  const elements = elementsOf(await readRequest(writer, run, chunk));
  if (elements.length !== items.length) throw new Error(`chunk ${chunk} of run ${run} has another number of actions`);
  const last = await scalar<number>(writer, sql`SELECT max(chunk) FROM chunks WHERE run = ${run}`);
  const made: number[] = [];
  for (const places of parts) {
    const number = (last ?? 0) + made.length + 1;
    const chosen = places.flatMap((at) => items[at]?.origin ?? []);
    const kept = [...new Set(chosen.map(({ row }) => row))];
    const rowAt = new Map(kept.map((row, at) => [row, at]));
    const { lane, stage, whole, first: at } = parent;
    await insertChunk(
      writer,
      { run, chunk: number, lane, stage, whole, first: at + (places[0] ?? 0), state, detail },
      {
        body: Buffer.from(`[${places.map((at) => elements[at]).join(",")}]`),
        origins: chosen.map((origin) => ({ ...origin, row: rowAt.get(origin.row) ?? 0 })),
        rows: rows && kept.map((row) => rows[row] ?? ""),
        outcomes: outcomes && places.flatMap((at) => outcomes[at] ?? []),
      },
    );
    await moveActions(writer, run, chunk, number, chosen);
    made.push(number);
  }
  return made;
}

/**
 * Cuts some actions out of a chunk that is pending, by their places.
 *
 * @returns the chunk that holds them now, which may be all of it, and that of the others.
 */
export async function cutOut(
  writer: Writer,
  run: number,
  chunk: number,
  chosen: ReadonlySet<number>,
): Promise<readonly [number, number | undefined]> {
  const { count, state } = await readChunk(writer, run, chunk);
  if (chosen.size === count) return [chunk, undefined];
  // Nobody waits for the answer to what is left of a request.
  if (state === "sending") await mustPass(writer, run, chunk, "doubt");
  const kept = state === "sending" ? "in doubt" : state;
  const [part = chunk, others] = await cut(writer, run, chunk, (place) => (chosen.has(place) ? 0 : 1), kept);
  await mustPass(writer, run, chunk, kept === "planned" ? "split" : "cut");
  return [part, others];
}

/** Fast: what is alike in a chunk is near. The checksum notices a changed bit. */
const PACKING = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 } };

const pack = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes, PACKING);
const unpack = (bytes: Uint8Array): Buffer => zstdDecompressSync(bytes);
const packJson = (value: unknown): Uint8Array => pack(Buffer.from(JSON.stringify(value)));
const unpackJson = (bytes: Uint8Array): unknown => JSON.parse(unpack(bytes).toString());

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** What became of an action, as it is stored. */
export type Outcome = Pick<Item, "outcome"> & Partial<Pick<Item, "promise" | "response">>;

/** Of an action that was accepted, which most are, only the promise. */
const toStored = (outcomes: readonly Outcome[]): string =>
  JSON.stringify(
    outcomes.map(({ outcome, promise, response }) => (outcome === "accepted" ? { promise } : { outcome, response })),
  );
const fromStored = (text: string): readonly Outcome[] =>
  (JSON.parse(text) as readonly Partial<Outcome>[]).map((each) => ({ outcome: "accepted", ...each })); // by toStored
