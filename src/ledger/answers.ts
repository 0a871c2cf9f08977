/** What becomes of a chunk's actions, each as part of a transaction: the service's answer, a person's word, or none any more. */

import { cleanText } from "../actions/text.ts";
import { deleteActions, noteCorrected } from "./actions.ts";
import { cut, mustPass, pass, readWhole, storeOutcomes } from "./chunk-life.ts";
import type { Session } from "./database.ts";
import type { Answer, Origin } from "./ledger.ts";
import { responsesOf, toStored } from "./outcomes.ts";
import { sql } from "./sql.ts";

interface Answered {
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
  { chunk, answers, httpStatus, at }: Answered,
  event: "answer" | "import",
): Promise<number | undefined> {
  const doubts = answers.filter((answer) => answer.outcome === "in doubt");
  const placesOf = (...outcomes: readonly string[]): readonly number[] =>
    answers.flatMap((answer, index) => (outcomes.includes(answer.outcome) ? [index] : []));
  const [accepted, rejected] = [placesOf("accepted").length, placesOf("rejected").length];
  const decided = { accepted, rejected, count: answers.length - doubts.length };
  const also = { httpStatus, answeredAt: at, detail: undefined, ...decided };
  const { corrects } = await mustPass(session, run, chunk, event, also);
  const kept = answers.map((answer) => (answer.outcome === "in doubt" ? ({ outcome: "moved" } as const) : answer));
  await storeOutcomes(session, run, chunk, toStored(kept));
  if (rejected + doubts.length === 0) await dropRows(session, run, chunk);
  if (rejected + doubts.length + corrects === 0) return undefined;
  const { origins } = await readWhole(session, run, chunk);
  const gone = placesOf("rejected").flatMap((index) => origins[index] ?? []);
  await deleteActions(session, run, chunk, gone);
  await noteAccepted(session, origins, placesOf("accepted", "settled"));
  const [doubt] = doubts;
  if (doubt === undefined) return undefined;
  const isDoubt = (place: number): boolean => answers[place]?.outcome === "in doubt";
  const [part = 0] = await cut(session, run, chunk, (place) => (isDoubt(place) ? 0 : undefined), "in doubt");
  const detail = `${doubt.why}: ${cleanText(doubt.response, 200)}`;
  await session.run(sql`UPDATE chunks SET detail = ${detail} WHERE run = ${run} AND chunk = ${part}`);
  await storeOutcomes(session, run, part, toStored(doubts));
  return part;
}

/** The service has all of a chunk, a person says. @returns false where nobody is asked about it any more. */
export async function storeSettled(session: Session, run: number, chunk: number, at: string): Promise<boolean> {
  if ((await pass(session, run, chunk, "settleSent", { answeredAt: at, isWritten: 0 })) === undefined) return false;
  const { origins, stored } = await readWhole(session, run, chunk);
  const said = responsesOf(stored);
  const settled = origins.map((_, index) => ({ outcome: "settled", response: said.get(index) }) as const);
  await storeOutcomes(session, run, chunk, toStored(settled));
  await noteAccepted(session, origins, [...origins.keys()]);
  await dropRows(session, run, chunk);
  return true;
}

/** The service has none of a chunk, a person says: it is sent again. @returns as `storeSettled` does. */
export async function planAgain(session: Session, run: number, chunk: number): Promise<boolean> {
  if ((await pass(session, run, chunk, "settleNotSent")) === undefined) return false;
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
  if ((await pass(session, run, chunk, event, also)) === undefined) return false;
  await dropOutcomes(session, run, chunk);
  const { origins } = await readWhole(session, run, chunk);
  await deleteActions(session, run, chunk, origins);
  return true;
}

const dropRows = (session: Session, run: number, chunk: number): Promise<number> =>
  session.run(sql`DELETE FROM row_texts WHERE run = ${run} AND chunk = ${chunk}`);

const dropOutcomes = (session: Session, run: number, chunk: number): Promise<number> =>
  session.run(sql`DELETE FROM outcomes WHERE run = ${run} AND chunk = ${chunk}`);

/** A bad row counts as corrected once every action of its corrected version that is here was accepted. */
async function noteAccepted(session: Session, origins: readonly Origin[], places: readonly number[]): Promise<void> {
  const accepted = new Set(places);
  const others = new Set(origins.filter((_, index) => !accepted.has(index)).map(({ digest }) => digest));
  await noteCorrected(
    session,
    origins.filter(({ digest }) => !others.has(digest)),
  );
}
