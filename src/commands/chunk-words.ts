import { cleanText, count } from "../actions/text.ts";
import type { Chunk, Settlement } from "../ledger/ledger.ts";

/** `4 (a part of chunk 2)`: a run is first told in the chunks that were planned. */
export const chunkNumber = ({ chunk, whole }: Pick<Chunk, "chunk" | "whole">): string =>
  whole === chunk ? `${chunk}` : `${chunk} (a part of chunk ${whole})`;

/** `chunk 4 (a part of chunk 2), 12 actions` */
export const chunkText = (chunk: Pick<Chunk, "chunk" | "whole" | "count">): string =>
  `chunk ${chunkNumber(chunk)}, ${count(chunk.count, "action")}`;

/** `as sent by anna on 2026-01-18T03:00:00.000Z: found by support`. */
export function describeSettlement({ decision, who, at, reason }: Omit<Settlement, "chunk">): string {
  return `as ${decision} by ${who} on ${at}${reason === undefined ? "" : `: ${cleanText(reason, 200)}`}`;
}
