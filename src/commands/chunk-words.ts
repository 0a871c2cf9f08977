import { cleanText, count } from "../actions/text.ts";
import type { Chunk, Settlement } from "../ledger/ledger.ts";
import type { localTimes } from "./local-time.ts";

/** `4 (a part of chunk 2)`: a run is first described in the chunks that were planned. */
export const chunkNumber = ({ chunk, whole }: Pick<Chunk, "chunk" | "whole">): string =>
  whole === chunk ? `${chunk}` : `${chunk} (a part of chunk ${whole})`;

/** `chunk 4 (a part of chunk 2), 12 actions` */
export const chunkText = (chunk: Pick<Chunk, "chunk" | "whole" | "count">): string =>
  `chunk ${chunkNumber(chunk)}, ${count(chunk.count, "action")}`;

/** `as sent by anna, 18 Jan 03:00: found by support` */
export function describeSettlement(
  {
    decision,
    who,
    at,
    reason,
  }: Pick<Settlement, "decision" | "who" | "at"> & { readonly reason?: string | null | undefined },
  time: ReturnType<typeof localTimes>,
): string {
  return `as ${decision} by ${who}, ${time(at)}${reason == null ? "" : `: ${cleanText(reason, 200)}`}`;
}
