/** The steps of a chunk's life, each as part of a transaction. */

import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { deleteActions, moveActions, noteCorrected } from "./actions.ts";
import { type ChunkEvent, type ChunkState, TRANSITIONS } from "./chunks.ts";
import { first, type Session } from "./database.ts";
import type { Answer, Answered, Chunk, Origin } from "./ledger.ts";
import {
  elementsOf,
  pack,
  packJson,
  packOrigins,
  type StoredOutcomes,
  sha256,
  toBody,
  toStored,
  unpack,
  unpackJson,
  unpackOrigins,
} from "./outcomes.ts";
import { type Sql, sql, words } from "./sql.ts";

const COLUMNS = sql`run, chunk, lane, stage, whole, first, count, state, accepted, rejected, http_status AS "httpStatus", detail,
  answered_at AS "answeredAt", is_written AS "isWritten"`;

/** A row of the table; `first` orders the parts of one whole. */
export interface ChunkRow extends Chunk {
  readonly first: number;
}

/** In the order in which they are sent. */
export async function selectChunks(session: Pick<Session, "all">, where: Sql): Promise<readonly ChunkRow[]> {
  const rows = await session.all<ChunkRow>(
    sql`SELECT ${COLUMNS} FROM chunks WHERE ${where} ORDER BY stage, whole, first, chunk`,
  );
  return rows.map(toChunk);
}

const toChunk = (row: ChunkRow): ChunkRow => ({
  ...row,
  httpStatus: row.httpStatus ?? undefined,
  detail: row.detail ?? undefined,
  answeredAt: row.answeredAt ?? undefined,
  isWritten: Number(row.isWritten) === 1,
});

export async function readChunk(session: Pick<Session, "all">, run: number, chunk: number): Promise<ChunkRow> {
  const [row] = await selectChunks(session, sql`run = ${run} AND chunk = ${chunk}`);
  if (row === undefined) throw new Error(`run ${run} has no chunk ${chunk}`);
  return row;
}

/** @returns whether the chunk corrects rows; undefined where it is in no state in which that may happen. */
async function passed(session: Session, run: number, chunk: number, event: ChunkEvent, also: Sql = sql``) {
  const { from, to } = TRANSITIONS[event];
  return await first<{ corrects: number }>(
    session,
    sql`UPDATE chunks SET state = ${to}${also} WHERE run = ${run} AND chunk = ${chunk} AND state IN ${words(from)} RETURNING corrects`,
  );
}

/** @returns false where the chunk is in no state in which that may happen. */
export const passes = async (...step: Parameters<typeof passed>): Promise<boolean> =>
  (await passed(...step)) !== undefined;

/** @throws Error where the chunk is in no state in which that may happen: a fault of the caller. */
export async function pass(session: Session, run: number, chunk: number, event: ChunkEvent, also?: Sql) {
  const done = await passed(session, run, chunk, event, also);
  if (done !== undefined) return done;
  const { state } = await readChunk(session, run, chunk);
  throw new Error(`chunk ${chunk} of run ${run} is ${state}, so it can't ${event}`);
}

export interface NewBody {
  readonly body: Uint8Array | undefined;
  readonly origins: readonly Origin[];
  readonly rows: readonly string[] | undefined;
}

export type ChunkPlace = Pick<ChunkRow, "run" | "chunk" | "lane" | "stage" | "whole" | "first"> & {
  readonly state: ChunkState;
};

/** Packs outside of the database, then inserts. */
export async function insertChunk(
  session: Session,
  place: ChunkPlace,
  { body, origins, rows }: NewBody,
): Promise<void> {
  const { run, chunk, lane, stage, whole, first: at, state } = place;
  const [packed, packedOrigins, texts] = await Promise.all([
    body === undefined ? null : pack(body),
    packOrigins(origins),
    rows === undefined ? null : packJson(rows),
  ]);
  const corrects = origins.some(({ digest }) => digest !== undefined) ? 1 : 0;
  await session.run(sql`INSERT INTO chunks (run, chunk, lane, stage, whole, first, count, state, corrects)
    VALUES (${run}, ${chunk}, ${lane}, ${stage}, ${whole}, ${at}, ${origins.length}, ${state}, ${corrects})`);
  await session.run(sql`INSERT INTO bodies (run, chunk, sha256, body, origins)
    VALUES (${run}, ${chunk}, ${body === undefined ? null : sha256(body)}, ${packed}, ${packedOrigins})`);
  if (texts !== null)
    await session.run(sql`INSERT INTO row_texts (run, chunk, texts) VALUES (${run}, ${chunk}, ${texts})`);
}

/** @throws Failure `storage` where it, or where its actions come from, is not what was entered. */
export async function readBody(
  session: Pick<Session, "all">,
  run: number,
  chunk: number,
  place: string,
): Promise<Uint8Array> {
  const row = await first<{ body: Uint8Array | null; sha256: string | null; origins: Uint8Array }>(
    session,
    sql`SELECT body, sha256, origins FROM bodies WHERE run = ${run} AND chunk = ${chunk}`,
  );
  if (row?.body == null)
    throw new Failure("usage", `The request of chunk ${chunk} is not in the ledger ${place} any more: it was pruned.`, {
      hint: "The ledger still knows what was sent, and the promises: tickets find ID",
    });
  const damage = (cause?: unknown): Failure =>
    new Failure("storage", `The body of chunk ${chunk} in the ledger ${place} is damaged. Nothing of it was sent.`, {
      hint: "Restore the ledger from a backup; what that lacks is noticed before anything is sent.",
      cause,
    });
  let body: Buffer;
  try {
    // Without where its actions come from, the answer could not be stored.
    [body] = await Promise.all([unpack(row.body), unpack(row.origins)]);
  } catch (cause) {
    throw damage(cause);
  }
  if (sha256(body) !== row.sha256) throw damage();
  return body;
}

export async function readOrigins(session: Session, run: number, chunk: number): Promise<readonly Origin[]> {
  const row = await first<{ origins: Uint8Array }>(
    session,
    sql`SELECT origins FROM bodies WHERE run = ${run} AND chunk = ${chunk}`,
  );
  return row === undefined ? [] : await unpackOrigins(row.origins);
}

/** A chunk with all that is known of its actions, by one statement. */
export async function readWhole(session: Pick<Session, "all">, run: number, chunk: number) {
  const row = await first<
    ChunkRow & StoredOutcomes & { origins: Uint8Array; texts: Uint8Array | null; has: number | null }
  >(
    session,
    sql`SELECT ${COLUMNS}, origins, texts, letters, promises, promises_json, responses, outcomes.run AS has
      FROM chunks JOIN bodies USING (run, chunk) LEFT JOIN row_texts USING (run, chunk) LEFT JOIN outcomes USING (run, chunk)
      WHERE chunks.run = ${run} AND chunks.chunk = ${chunk}`,
  );
  if (row === undefined) throw new Error(`run ${run} has no chunk ${chunk}`);
  const { origins, texts, letters, promises, promises_json, responses, has, ...of } = row;
  return {
    chunk: toChunk(of),
    origins: await unpackOrigins(origins),
    stored: has === null ? undefined : { letters, promises, promises_json, responses },
    rows: texts === null ? undefined : ((await unpackJson(texts)) as readonly string[]), // by insertChunk
  };
}

async function readRows(session: Session, run: number, chunk: number): Promise<readonly string[] | undefined> {
  const row = await first<{ texts: Uint8Array }>(
    session,
    sql`SELECT texts FROM row_texts WHERE run = ${run} AND chunk = ${chunk}`,
  );
  return row === undefined ? undefined : ((await unpackJson(row.texts)) as readonly string[]); // by insertChunk
}

export async function readOutcomes(session: Session, run: number, chunk: number): Promise<StoredOutcomes | undefined> {
  return await first<StoredOutcomes>(
    session,
    sql`SELECT letters, promises, promises_json, responses FROM outcomes WHERE run = ${run} AND chunk = ${chunk}`,
  );
}

const dropRows = (session: Session, run: number, chunk: number): Promise<number> =>
  session.run(sql`DELETE FROM row_texts WHERE run = ${run} AND chunk = ${chunk}`);

/**
 * What became of each action of a chunk.
 *
 * @returns the number of the chunk that holds those in doubt.
 */
export async function storeAnswers(
  session: Session,
  run: number,
  {
    chunk,
    answers,
    httpStatus,
    at,
  }: Pick<Answered, "chunk" | "answers" | "at"> & { readonly httpStatus: number | undefined },
  event: "answer" | "import",
  place: string,
): Promise<number | undefined> {
  const rejected = placesOf(answers, "rejected");
  const doubts = placesOf(answers, "in doubt");
  const accepted = answers.length - rejected.length - doubts.length;
  const counts = sql`, accepted = ${accepted}, rejected = ${rejected.length}, count = ${answers.length - doubts.length}`;
  const { corrects } = await pass(
    session,
    run,
    chunk,
    event,
    sql`, http_status = ${httpStatus}, answered_at = ${at}, detail = NULL${counts}`,
  );
  await storeOutcomes(session, run, chunk, toStored(answers.map(toKept)));
  if (rejected.length + doubts.length === 0) await dropRows(session, run, chunk);
  if (rejected.length + doubts.length + corrects === 0) return undefined;
  const origins = await readOrigins(session, run, chunk);
  await deleteActions(
    session,
    run,
    chunk,
    origins.filter((_, place) => answers[place]?.outcome === "rejected"),
  );
  await noteAccepted(session, origins, answers);
  if (doubts.length === 0) return undefined;
  const [part = 0] = await carve(session, run, chunk, [doubts], "in doubt", place);
  await session.run(sql`UPDATE chunks SET detail = ${detailOf(answers)} WHERE run = ${run} AND chunk = ${part}`);
  await storeOutcomes(session, run, part, toStored(answers.filter(({ outcome }) => outcome === "in doubt")));
  return part;
}

/** Of the first that is in doubt. */
function detailOf(answers: readonly Answer[]): string {
  const doubt = answers.find((answer) => answer.outcome === "in doubt");
  return doubt === undefined ? "" : `${doubt.why}: ${cleanText(doubt.response, 200)}`;
}

/** Those in doubt get a chunk of their own. */
const toKept = (answer: Answer): Answer | { readonly outcome: "moved" } =>
  answer.outcome === "in doubt" ? { outcome: "moved" } : answer;

/** What was said of a doubt makes way for what a person says. */
const storeOutcomes = (session: Session, run: number, chunk: number, stored: StoredOutcomes): Promise<number> =>
  session.run(sql`INSERT INTO outcomes (run, chunk, letters, promises, promises_json, responses)
    VALUES (${run}, ${chunk}, ${stored.letters}, ${stored.promises}, ${stored.promises_json}, ${stored.responses})
    ON CONFLICT (run, chunk) DO UPDATE SET letters = excluded.letters, promises = excluded.promises,
      promises_json = excluded.promises_json, responses = excluded.responses`);

const placesOf = (answers: readonly Answer[], outcome: Answer["outcome"]): readonly number[] =>
  answers.flatMap((answer, place) => (answer.outcome === outcome ? [place] : []));

/** A bad row counts as corrected once every action of its corrected version that has an outcome here was accepted. */
async function noteAccepted(
  session: Session,
  origins: readonly Origin[],
  answers: readonly { readonly outcome: string }[],
): Promise<void> {
  const isOther = (place: number): boolean => !["accepted", "settled"].includes(answers[place]?.outcome ?? "");
  const others = new Set(origins.filter((_, place) => isOther(place)).map(({ digest }) => digest));
  await noteCorrected(
    session,
    origins.filter(({ digest }) => digest !== undefined && !others.has(digest)),
  );
}

/** What the service said of the actions of a doubt. */
async function readResponses(session: Session, run: number, chunk: number) {
  const stored = await readOutcomes(session, run, chunk);
  const said = new Map<number, string>(stored?.responses == null ? [] : JSON.parse(stored.responses)); // by toStored
  return (place: number): { readonly response?: string } => {
    const response = said.get(place);
    return response === undefined ? {} : { response };
  };
}

/** Cuts a doubt in two: a person decides about the first of its actions only. */
export async function cutDoubt(
  session: Session,
  run: number,
  { chunk, count, state }: ChunkRow,
  head: number,
  place: string,
) {
  const places = Array.from({ length: count }, (_, at) => at);
  const parts = [places.slice(0, head), places.slice(head)];
  const responses = await readResponses(session, run, chunk);
  const numbers = await carve(session, run, chunk, parts, state, place);
  for (const [at, part] of parts.entries())
    await storeOutcomes(
      session,
      run,
      numbers[at] ?? 0,
      toStored(part.map((of) => ({ outcome: "in doubt", ...responses(of) }))),
    );
  return numbers;
}

/** The service has all of a chunk, a person says. */
export async function storeSettled(session: Session, run: number, chunk: number, at: string): Promise<boolean> {
  if (!(await passes(session, run, chunk, "settleSent", sql`, answered_at = ${at}, is_written = 0`))) return false;
  const origins = await readOrigins(session, run, chunk);
  const responses = await readResponses(session, run, chunk);
  const answers = origins.map((_, place) => ({ outcome: "settled" as const, ...responses(place) }));
  await storeOutcomes(session, run, chunk, toStored(answers));
  await noteAccepted(session, origins, answers);
  await dropRows(session, run, chunk);
  return true;
}

/** The service has none of a chunk, a person says: it is sent again. */
export async function planAgain(session: Session, run: number, chunk: number): Promise<boolean> {
  if (!(await passes(session, run, chunk, "settleNotSent"))) return false;
  await session.run(sql`DELETE FROM outcomes WHERE run = ${run} AND chunk = ${chunk}`);
  return true;
}

/** Its actions will not be sent, and may be sent by another run. */
export async function forget(
  session: Session,
  run: number,
  chunk: number,
  event: "abandon" | "dropDoubt",
): Promise<boolean> {
  if (!(await passes(session, run, chunk, event))) return false;
  await session.run(sql`DELETE FROM outcomes WHERE run = ${run} AND chunk = ${chunk}`);
  await deleteActions(session, run, chunk, await readOrigins(session, run, chunk));
  return true;
}

/** Cuts some actions out of a chunk, by their places. @returns the chunk that holds them now: it may be all of it. */
export async function cutOut(
  session: Session,
  run: number,
  chunk: number,
  chosen: ReadonlySet<number>,
  place: string,
): Promise<number> {
  const { count, state } = await readChunk(session, run, chunk);
  if (chosen.size === count) return chunk;
  const places = Array.from({ length: count }, (_, at) => at);
  const parts = [places.filter((at) => chosen.has(at)), places.filter((at) => !chosen.has(at))];
  // Nobody waits for the answer to what is left of a request.
  const left = state === "sending" ? "in doubt" : state;
  const [cut = chunk] = await carve(session, run, chunk, parts, left, place);
  await pass(session, run, chunk, TRANSITIONS.cut.from.some((from) => from === state) ? "cut" : "split");
  return cut;
}

/** Cuts parts out of a chunk, by the places of their actions. @returns their numbers. */
export async function carve(
  session: Session,
  run: number,
  chunk: number,
  parts: readonly (readonly number[])[],
  state: ChunkState,
  place: string,
): Promise<readonly number[]> {
  const parent = await readChunk(session, run, chunk);
  const [body, origins, rows] = [
    await readBody(session, run, chunk, place),
    await readOrigins(session, run, chunk),
    await readRows(session, run, chunk),
  ];
  const elements = elementsOf(body);
  if (elements.length !== origins.length) throw new Error(`chunk ${chunk} of run ${run} has another number of actions`);
  const numbers = await first<{ last: number }>(session, sql`SELECT max(chunk) AS last FROM chunks WHERE run = ${run}`);
  const made: number[] = [];
  for (const places of parts) {
    const number = Number(numbers?.last) + made.length + 1;
    const kept = [...new Set(places.map((at) => origins[at]?.row ?? 0))];
    const rowAt = new Map(kept.map((row, at) => [row, at]));
    const chosen = places.flatMap((at) => origins[at] ?? []);
    const at = { ...parent, chunk: number, first: parent.first + (places[0] ?? 0), state };
    await insertChunk(session, at, {
      body: toBody(places.flatMap((index) => elements[index] ?? [])),
      origins: chosen.map((origin) => ({ ...origin, row: rowAt.get(origin.row) ?? 0 })),
      rows: rows && kept.map((row) => rows[row] ?? ""),
    });
    await moveActions(session, run, chunk, number, chosen);
    made.push(number);
  }
  return made;
}
