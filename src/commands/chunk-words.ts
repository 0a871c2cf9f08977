import { cleanText, number } from "../actions/text.ts";
import type { ChunkRecord } from "../ledger/runs.ts";
import type { NotedSettlement } from "../ledger/settlements.ts";

/**
 * `4 (a part of chunk 2, actions 5 to 8)`: a run is first told in the chunks that were planned.
 *
 * @param whole the planned chunk of which this one is a part.
 */
export function chunkNumber(
  { chunk }: Pick<ChunkRecord, "chunk">,
  whole: number | undefined,
  more: readonly string[] = [],
): string {
  const told = [...(whole === undefined ? [] : [`a part of chunk ${whole}`]), ...more];
  return told.length === 0 ? `${chunk}` : `${chunk} (${told.join(", ")})`;
}

/** `action 5`, `actions 5 to 8` */
export function actionRange({ first, count }: Pick<ChunkRecord, "first" | "count">): string {
  return count === 1 ? `action ${number(first)}` : `actions ${number(first)} to ${number(first + count - 1)}`;
}

/** `as sent by anna on 2026-01-18T03:00:00.000Z: found by support`. */
export function describeSettlement({ decision, who, at, reason }: Omit<NotedSettlement, "chunk">): string {
  return `as ${decision} by ${who} on ${at}${reason === undefined ? "" : `: ${cleanText(reason, 200)}`}`;
}
