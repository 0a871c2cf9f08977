/** Chunks in the tables: entered, read, led through their life and cut, each as part of a transaction. */

import { Failure } from "../failure.ts";
import { moveActions } from "./actions.ts";
import { type ChunkEvent, type ChunkState, DECIDED_STATES, TRANSITIONS } from "./chunks.ts";
import { first, type Reader, type Session, scalar, select } from "./database.ts";
import type { Chunk, Origins, Request } from "./ledger.ts";
import {
  columnsOf,
  elementsOf,
  pack,
  packJson,
  packOrigins,
  responsesOf,
  type StoredOutcomes,
  sha256,
  toBody,
  toStored,
  unpack,
  unpackJson,
  unpackOrigins,
} from "./outcomes.ts";
import { assigned, type Columns, insertInto, raw, type Sql, sql, words } from "./sql.ts";

const COLUMNS = raw(
  "run, chunk, lane, stage, whole, first, count, state, accepted, rejected, http_status, detail, answered_at",
);
/** Its promises are not in the promises file yet. */
export const HAS_UNWRITTEN = sql`state IN ${words(DECIDED_STATES)} AND is_written = 0`;

const ofChunk = (run: number, chunk: number): Sql => sql`run = ${run} AND chunk = ${chunk}`;

/** In the order in which they are sent. */
export const selectChunks = (reader: Reader, where: Sql): Promise<readonly Chunk[]> =>
  select(reader, sql`SELECT ${COLUMNS} FROM chunks WHERE ${where} ORDER BY stage, whole, first, chunk`);

export async function readChunk(session: Reader, run: number, chunk: number): Promise<Chunk> {
  const [row] = await selectChunks(session, ofChunk(run, chunk));
  if (row === undefined) throw new Error(`run ${run} has no chunk ${chunk}`);
  return row;
}

/** @returns false where the chunk is in no state in which that may happen. */
export async function pass(
  session: Session,
  run: number,
  chunk: number,
  event: ChunkEvent,
  also: Columns = {},
): Promise<boolean> {
  const { from, to } = TRANSITIONS[event];
  const others = Object.keys(also).length === 0 ? sql`` : sql`, ${assigned(also)}`;
  const where = sql`${ofChunk(run, chunk)} AND state IN ${words(from)}`;
  return (await session.run(sql`UPDATE chunks SET state = ${to}${others} WHERE ${where}`)) === 1;
}

/** @throws Error where the chunk is in no state in which that may happen: a fault of the caller. */
export async function mustPass(...step: Parameters<typeof pass>): Promise<void> {
  if (await pass(...step)) return;
  const [session, run, chunk, event] = step;
  const { state } = await readChunk(session, run, chunk);
  throw new Error(`chunk ${chunk} of run ${run} is ${state}, so it can't ${event}`);
}

type ChunkPlace = Pick<Chunk, "run" | "chunk" | "lane" | "stage" | "whole" | "first" | "state">;

interface Content {
  readonly body: Uint8Array | undefined;
  readonly origins: Origins;
  readonly rows: readonly string[] | undefined;
}

/** What each table gets of a chunk. */
export interface PackedChunk {
  readonly chunks: Columns;
  readonly bodies: Columns;
  readonly row_texts: Columns | undefined;
}

export async function packChunk(place: ChunkPlace, { body, origins, rows }: Content): Promise<PackedChunk> {
  const { run, chunk, lane, stage, whole, first: at, state } = place;
  const [packed, packedOrigins, texts] = await Promise.all([
    body && pack(body),
    packOrigins(origins),
    rows && packJson(rows),
  ]);
  const count = origins.seq.length;
  return {
    chunks: { run, chunk, lane, stage, whole, first: at, count, state },
    bodies: { run, chunk, sha256: body && sha256(body), body: packed, origins: packedOrigins },
    row_texts: texts && { run, chunk, texts },
  };
}

/** Part of a transaction: some dozen at a time. */
export async function insertChunks(session: Session, chunks: readonly PackedChunk[]): Promise<void> {
  for (const table of ["chunks", "bodies", "row_texts"] as const) {
    const rows = chunks.map((each) => each[table]).filter((row) => row !== undefined);
    if (rows.length > 0) await session.run(insertInto(table, rows));
  }
}

/** @throws Failure `storage` where it, or where its actions come from, is not what was entered. */
export async function readBody(reader: Reader, run: number, chunk: number): Promise<Uint8Array> {
  const request = await readRequest(reader, run, sql`${chunk}`);
  if (request === undefined) throw new Error(`run ${run} has no chunk ${chunk}`);
  return request.body;
}

/** @param number of the chunk, or what selects it: undefined where that finds none. @throws as `readBody` does. */
export async function readRequest(reader: Reader, run: number, number: Sql): Promise<Request | undefined> {
  const found = await first<Chunk & { body?: Uint8Array; sha256?: string; origins: Uint8Array }>(
    reader,
    sql`SELECT ${COLUMNS}, body, sha256, origins FROM chunks JOIN bodies USING (run, chunk)
      WHERE chunks.run = ${run} AND chunks.chunk = (${number})`,
  );
  if (found === undefined) return undefined;
  const { body: packed, sha256: digest, origins, ...chunk } = found;
  const { place } = reader.dialect;
  if (packed === undefined)
    throw new Failure(
      "usage",
      `The request of chunk ${chunk.chunk} is not in the ledger ${place} any more: it was pruned.`,
      {
        hint: "The ledger still knows what was sent, and the promises: tickets find ID",
      },
    );
  try {
    // Without where its actions come from, the answer could not be stored.
    const [body] = await Promise.all([unpack(packed), unpack(origins)]);
    if (sha256(body) === digest) return { chunk, body };
    throw new Error("it has another digest than what was entered");
  } catch (cause) {
    throw new Failure(
      "storage",
      `The body of chunk ${chunk.chunk} in the ledger ${place} is damaged. Nothing of it was sent.`,
      {
        hint: "Restore the ledger from a backup; what that lacks is noticed before anything is sent.",
        cause,
      },
    );
  }
}

/** False once it was pruned, and where it was imported. */
export const hasBody = async (reader: Reader, run: number, chunk: number): Promise<boolean> =>
  (await first(reader, sql`SELECT 1 AS one FROM bodies WHERE ${ofChunk(run, chunk)} AND body IS NOT NULL`)) !==
  undefined;

/** A chunk with all that is known of its actions but the request, by one statement. */
export async function readWhole(session: Reader, run: number, chunk: number) {
  const row = await first<Chunk & StoredOutcomes & { origins: Uint8Array; texts?: Uint8Array; decided?: number }>(
    session,
    sql`SELECT ${COLUMNS}, origins, texts, letters, promises, promises_json, responses, outcomes.run AS decided
      FROM chunks JOIN bodies USING (run, chunk) LEFT JOIN row_texts USING (run, chunk) LEFT JOIN outcomes USING (run, chunk)
      WHERE chunks.run = ${run} AND chunks.chunk = ${chunk}`,
  );
  if (row === undefined) throw new Error(`run ${run} has no chunk ${chunk}`);
  const { origins, texts, letters, promises, promisesJson, responses, decided, ...of } = row;
  return {
    chunk: of,
    origins: await unpackOrigins(origins),
    stored: decided === undefined ? undefined : { letters, promises, promisesJson, responses },
    rows: texts && ((await unpackJson(texts)) as readonly string[]), // by insertChunk
  };
}

/** What was said of a doubt makes way for what a person says. */
export const storeOutcomes = (session: Session, run: number, chunk: number, stored: StoredOutcomes): Promise<number> =>
  session.run(insertInto("outcomes", { run, chunk, ...stored }, ["run", "chunk"]));

/**
 * Cuts parts out of a chunk. What the service said of a doubt goes with its actions.
 *
 * @param partOf the part, from 0, that the action at this place goes to; undefined for one that stays.
 * @param state of the parts. @returns their numbers.
 */
export async function cut(
  session: Session,
  run: number,
  chunk: number,
  partOf: (place: number) => number | undefined,
  state: ChunkState,
): Promise<readonly number[]> {
  const { chunk: parent, origins, stored, rows } = await readWhole(session, run, chunk);
  const parts: number[][] = [];
  for (const place of origins.keys()) {
    const part = partOf(place);
    if (part === undefined) continue;
    parts[part] ??= [];
    parts[part].push(place);
  }
  const elements = elementsOf(await readBody(session, run, chunk));
  if (elements.length !== origins.length) throw new Error(`chunk ${chunk} of run ${run} has another number of actions`);
  const said = responsesOf(stored);
  const last = await scalar<number>(session, sql`SELECT max(chunk) FROM chunks WHERE run = ${run}`);
  const made: number[] = [];
  for (const places of parts) {
    const number = (last ?? 0) + made.length + 1;
    const kept = [...new Set(places.map((at) => origins[at]?.row ?? 0))];
    const rowAt = new Map(kept.map((row, at) => [row, at]));
    const chosen = places.flatMap((at) => origins[at] ?? []);
    const part = await packChunk(
      { ...parent, chunk: number, first: parent.first + (places[0] ?? 0), state },
      {
        body: toBody(places.flatMap((at) => elements[at] ?? [])),
        origins: columnsOf(chosen.map((origin) => ({ ...origin, row: rowAt.get(origin.row) ?? 0 }))),
        rows: rows && kept.map((row) => rows[row] ?? ""),
      },
    );
    await insertChunks(session, [part]);
    await moveActions(session, run, chunk, number, chosen);
    if (places.some((at) => said.has(at)))
      await storeOutcomes(
        session,
        run,
        number,
        toStored(places.map((at) => ({ outcome: "in doubt", response: said.get(at) }))),
      );
    made.push(number);
  }
  return made;
}

/**
 * Cuts some actions out of a chunk that is pending, by their places.
 *
 * @returns the chunk that holds them now: it may be all of it.
 */
export async function cutOut(
  session: Session,
  run: number,
  chunk: number,
  chosen: ReadonlySet<number>,
): Promise<number> {
  const { count, state } = await readChunk(session, run, chunk);
  if (chosen.size === count) return chunk;
  // Nobody waits for the answer to what is left of a request.
  const kept = state === "sending" ? "in doubt" : state;
  const [part = chunk] = await cut(session, run, chunk, (place) => (chosen.has(place) ? 0 : 1), kept);
  await mustPass(session, run, chunk, state === "in doubt" || state === "refused" ? "cut" : "split");
  return part;
}
