/** What a sender notes about its chunks. Whenever the process dies, the ledger knows what may have been sent. */

import { crashPoint } from "../disk/crash-points.ts";
import { storeAnswers } from "./answers.ts";
import { beginAttempt, doubtVanished, endAttempt, holdsLane, selectAttempts } from "./attempts.ts";
import { cut, mustPass, pass, readBody, readRequest, readWhole, selectChunks } from "./chunk-life.ts";
import type { ChunkState } from "./chunks.ts";
import type { Database, Reader, Session } from "./database.ts";
import type { Answered, Chunks, Item, Outcomes, Stepped } from "./ledger.ts";
import { itemsOf } from "./outcomes.ts";
import { HAS_UNWRITTEN } from "./runs.ts";
import { every, sql, words } from "./sql.ts";

export const stepMethods = (database: Database): Chunks => ({
  chunks: (run, { states, unwritten } = {}) => {
    const ofStates = states && sql`state IN ${words(states)}`;
    return selectChunks(database.plain, every(sql`run = ${run}`, ofStates, unwritten && HAS_UNWRITTEN));
  },
  nextChunk(run, lane, stage) {
    const where = every(sql`run = ${run} AND lane = ${lane}`, stage === undefined ? stage : sql`stage = ${stage}`);
    const next = sql`SELECT chunk FROM chunks WHERE ${where} AND state = 'planned' ORDER BY stage, whole, first, chunk LIMIT 1`;
    return readRequest(database.plain, run, next);
  },
  body: (run, chunk) => readBody(database.plain, run, chunk),
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
      else if ((await pass(...passed)) === undefined) return [];
      const numbers = await cut(session, run, chunk, (place) => Math.floor(place / most), "planned");
      await session.run(
        sql`UPDATE runs SET most_actions = ${most} WHERE number = ${run} AND coalesce(most_actions, ${most}) >= ${most}`,
      );
      return await selectChunks(session, sql`run = ${run} AND chunk BETWEEN ${numbers[0]} AND ${numbers.at(-1)}`);
    }),
  doubtVanished: (run, at) => database.write((session) => doubtVanished(session, run, at)),
  attempts: (run) => selectAttempts(database.plain, sql`attempts.run = ${run}`),
  outcomes: (run, chunk) => readOutcomes(database.plain, run, chunk),
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

export async function readOutcomes(session: Reader, run: number, chunk: number): Promise<Outcomes> {
  const { chunk: found, origins, stored, rows } = await readWhole(session, run, chunk);
  return { chunk: found, items: itemsOf(origins, stored, OTHERWISE[found.state]), rows };
}
