/** What a sender notes about its chunks, and what becomes of their actions. Whenever the process dies, the ledger knows what may have been sent. */

import { crashPoint } from "../disk/crash-points.ts";
import { cleanText } from "../text.ts";
import { deleteActions } from "./actions.ts";
import { beginAttempt, doubtVanished, endAttempt, holdsLane, selectAttempts } from "./attempts.ts";
import {
  cut,
  dropOutcomes,
  HAS_UNWRITTEN,
  mustPass,
  pass,
  readBody,
  readRequest,
  readWhole,
  selectChunks,
  storeOutcomes,
} from "./chunk-life.ts";
import type { ChunkState } from "./chunks.ts";
import type { Database, Reader, Session } from "./database.ts";
import type { Answer, Answered, Chunks, Item, Outcomes, Stepped } from "./ledger.ts";
import { every, sql, words } from "./sql.ts";

export const stepMethods = (database: Database): Chunks => ({
  chunks: (run, { states, unwritten } = {}) => {
    const ofStates = states && sql`state IN ${words(states)}`;
    return selectChunks(database, every(sql`run = ${run}`, ofStates, unwritten && HAS_UNWRITTEN));
  },
  async nextChunk(run, lane, stage) {
    const ofStage = stage === undefined ? undefined : sql`stage = ${stage}`;
    const planned = every(sql`run = ${run} AND lane = ${lane} AND state = 'planned'`, ofStage);
    const [chunk] = await selectChunks(database, planned, sql`LIMIT 1`);
    return chunk && { chunk, body: await readRequest(database, run, chunk.chunk) };
  },
  body: (run, chunk) => readBody(database, run, chunk),
  async advance(run, { answered, intent }) {
    const stepped = await database.write(async (session): Promise<Stepped> => {
      const stored = answered && (await store(session, run, answered));
      const begun = intent && (await beginAttempt(session, run, intent));
      return { attempt: undefined, obstacle: undefined, isStored: true, doubt: undefined, ...begun, ...stored };
    });
    if (answered !== undefined) crashPoint("settled");
    if (stepped.attempt !== undefined) crashPoint("intended");
    return stepped;
  },
  change: (run, chunk, event, given) =>
    database.write(async (session) => {
      const { httpStatus, detail } = given;
      if (!(await endAttempt(session, run, chunk, given))) return false;
      await mustPass(session, run, chunk, event, { httpStatus, detail });
      return true;
    }),
  split: (run, chunk, most, given) =>
    database.write(async (session) => {
      const { httpStatus, detail, claim, attempt } = given;
      const isPlanned = claim !== undefined && attempt === undefined;
      const isOurs = isPlanned ? await holdsLane(session, claim) : await endAttempt(session, run, chunk, given);
      if (!isOurs) return [];
      const passed = [session, run, chunk, "split", { httpStatus, detail }] as const;
      // What is planned may have been closed just now.
      if (!isPlanned) await mustPass(...passed);
      else if (!(await pass(...passed))) return [];
      const numbers = await cut(session, run, chunk, (place) => Math.floor(place / most), "planned");
      await session.run(
        sql`UPDATE runs SET most_actions = ${most} WHERE number = ${run} AND coalesce(most_actions, ${most}) >= ${most}`,
      );
      return await selectChunks(session, sql`run = ${run} AND chunk BETWEEN ${numbers[0]} AND ${numbers.at(-1)}`);
    }),
  doubtVanished: (run, at) => database.write((session) => doubtVanished(session, run, at)),
  attempts: (run) => selectAttempts(database, sql`attempts.run = ${run}`),
  outcomes: (run, chunk) => readOutcomes(database, run, chunk),
});

/** What became of a chunk whose answer says it. */
async function store(session: Session, run: number, answered: Answered): Promise<Pick<Stepped, "isStored" | "doubt">> {
  const { chunk, attempt, claim, answers, httpStatus, at, raw } = answered;
  const count = (wanted: string): number => answers.filter(({ outcome }) => outcome === wanted).length;
  const [accepted, doubts] = [count("accepted"), count("in doubt")];
  const kept = doubts > 0 ? raw : undefined;
  const given = { at, class: "answered", httpStatus, raw: kept, claim, attempt };
  const said = `its answer came late, at ${at} (HTTP ${httpStatus}): ${accepted} of ${answers.length} accepted`;
  const late = { answer: raw, said, mayBeTaken: accepted + doubts > 0 };
  if (!(await endAttempt(session, run, chunk, given, late))) return { isStored: false, doubt: undefined };
  return { isStored: true, doubt: await storeAnswers(session, run, answered, "answer") };
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

export async function readOutcomes(reader: Reader, run: number, chunk: number): Promise<Outcomes> {
  const { chunk: found, origins, outcomes, rows } = await readWhole(reader, run, chunk);
  const items = origins.map((origin, place): Item => {
    const { outcome = OTHERWISE[found.state], promise, response } = outcomes?.[place] ?? {};
    return { origin, place, outcome, promise, response };
  });
  return { chunk: found, items, rows };
}

interface Said {
  readonly chunk: number;
  /** Of an import, `settled` too: a person said so elsewhere. */
  readonly answers: readonly (Answer | { readonly outcome: "settled"; readonly response?: string | undefined })[];
  readonly httpStatus: number | undefined;
  readonly at: string;
}

/**
 * The service's answer. Rejected actions are forgotten; those in doubt get a chunk of their own.
 *
 * @returns the number of that chunk.
 */
export async function storeAnswers(
  session: Session,
  run: number,
  { chunk, answers, httpStatus, at }: Said,
  event: "answer" | "import",
): Promise<number | undefined> {
  const doubts = answers.filter((answer) => answer.outcome === "in doubt");
  const placesOf = (...outcomes: readonly string[]): readonly number[] =>
    answers.flatMap((answer, index) => (outcomes.includes(answer.outcome) ? [index] : []));
  const [accepted, rejected] = [placesOf("accepted").length, placesOf("rejected").length];
  const decided = { accepted, rejected, count: answers.length - doubts.length };
  const also = { httpStatus, answeredAt: at, detail: undefined, ...decided };
  await mustPass(session, run, chunk, event, also);
  const kept = answers.map((answer) => (answer.outcome === "in doubt" ? ({ outcome: "moved" } as const) : answer));
  await storeOutcomes(session, run, chunk, kept);
  if (rejected + doubts.length === 0) return undefined;
  const { origins } = await readWhole(session, run, chunk);
  const gone = placesOf("rejected").flatMap((index) => origins[index] ?? []);
  await deleteActions(session, run, chunk, gone);
  const [doubt] = doubts;
  if (doubt === undefined) return undefined;
  const isDoubt = (place: number): boolean => answers[place]?.outcome === "in doubt";
  const [part = 0] = await cut(session, run, chunk, (place) => (isDoubt(place) ? 0 : undefined), "in doubt");
  const detail = `${doubt.why}: ${cleanText(doubt.response, 200)}`;
  await session.run(sql`UPDATE chunks SET detail = ${detail} WHERE run = ${run} AND chunk = ${part}`);
  await storeOutcomes(session, run, part, doubts);
  return part;
}

/** A person says that the service has all of a chunk. @returns false if it waits for no decision any more. */
export async function storeSettled(session: Session, run: number, chunk: number, at: string): Promise<boolean> {
  if (!(await pass(session, run, chunk, "settleSent", { answeredAt: at, isWritten: 0 }))) return false;
  const { origins, outcomes } = await readWhole(session, run, chunk);
  const settled = origins.map((_, index) => ({ outcome: "settled", response: outcomes?.[index]?.response }) as const);
  await storeOutcomes(session, run, chunk, settled);
  return true;
}

/** The service has none of a chunk, a person says: it is sent again. @returns as `storeSettled` does. */
export async function planAgain(session: Session, run: number, chunk: number): Promise<boolean> {
  if (!(await pass(session, run, chunk, "settleNotSent"))) return false;
  await dropOutcomes(session, run, chunk);
  return true;
}

/** Its actions will not be sent, and may be sent by another run. @returns false where it is in no state for that. */
export async function forget(
  session: Session,
  run: number,
  chunk: number,
  event: "abandon" | "dropDoubt",
  why?: string,
): Promise<boolean> {
  const also = why === undefined ? {} : { detail: why };
  if (!(await pass(session, run, chunk, event, also))) return false;
  await dropOutcomes(session, run, chunk);
  const { origins } = await readWhole(session, run, chunk);
  await deleteActions(session, run, chunk, origins);
  return true;
}
