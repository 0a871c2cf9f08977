/**
 * What a person says the service does not have is not sent behind a later action of its kind and ticket that was accepted: it
 * would undo that one.
 */

import { overwrites } from "../actions/marks.ts";
import { cutOut, forget } from "./chunk-life.ts";
import type { ChunkState } from "./chunks.ts";
import { DECIDED_STATES } from "./chunks.ts";
import type { Session } from "./database.ts";
import type { Origin } from "./ledger.ts";
import { rowsOf, sql } from "./sql.ts";

interface Found {
  readonly subject: string;
  readonly kind: string;
  readonly chunk: number;
  readonly place: number;
  readonly seq: number;
  readonly state: ChunkState;
}

/** The reason that is kept with them. */
const WHY = "a later one of its ticket or event was accepted.";

/**
 * Closes planned actions of a run that stand before accepted ones.
 *
 * @param origins of what a person has just decided about.
 * @returns how many.
 */
export async function closeLate(
  session: Session,
  run: number,
  origins: readonly Origin[],
  place: string,
): Promise<number> {
  const keys = new Map(
    origins
      .filter(({ kind }) => overwrites(kind))
      .map(({ subject, kind }) => [keyOf({ subject, kind }), [subject, kind]]),
  );
  if (keys.size === 0) return 0;
  const wanted = rowsOf({ subject: "text", kind: "text" }, [...keys.values()]);
  const found = await session.all<Found>(sql`SELECT actions.subject, actions.kind, actions.chunk, actions.place,
      actions.position_seq AS seq, chunks.state FROM ${wanted} AS wanted CROSS JOIN actions
      JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk
    WHERE actions.subject = wanted.subject AND actions.kind = wanted.kind AND actions.run = ${run}`);
  const newest = new Map<string, number>();
  for (const each of found)
    if (DECIDED_STATES.some((state) => state === each.state))
      newest.set(keyOf(each), Math.max(Number(each.seq), newest.get(keyOf(each)) ?? 0));
  const late = found.filter((each) => each.state === "planned" && Number(each.seq) < (newest.get(keyOf(each)) ?? 0));
  for (const [chunk, ofChunk] of Map.groupBy(late, (each) => Number(each.chunk)))
    await close(session, run, chunk, new Set(ofChunk.map((each) => Number(each.place))), place);
  return late.length;
}

const keyOf = ({ subject, kind }: Pick<Found, "subject" | "kind">): string => `${kind} ${subject}`;

/** The others stay planned, in a chunk of their own. */
async function close(
  session: Session,
  run: number,
  chunk: number,
  late: ReadonlySet<number>,
  place: string,
): Promise<void> {
  const closed = await cutOut(session, run, chunk, late, place);
  await forget(session, run, closed, "abandon");
  await session.run(sql`UPDATE chunks SET detail = ${WHY} WHERE run = ${run} AND chunk = ${closed}`);
}
