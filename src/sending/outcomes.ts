/** An answer that was read becomes outcomes, and lines of the promises. */

import { cleanText } from "../actions/text.ts";
import { keepDoubtedItems } from "../ledger/attempts.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { insertOutcomes, type NewOutcome } from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord } from "../ledger/runs.ts";
import type { Outcome } from "../ledger/states.ts";
import { type LineStyle, promiseLines } from "../outputs/promise-lines.ts";
import type { ChunkActions } from "../plan/files/chunk-actions.ts";
import { RECORD_BYTES, readRecord } from "../plan/files/index-file.ts";
import { ITEM_DOUBTS, type ItemDoubt, type ItemOutcome } from "./answer.ts";

/** What the outcomes of all chunks of a run share. */
export interface RunFacts {
  readonly runNo: number;
  /** The names of its inputs, by number. */
  readonly inputs: readonly string[];
}

/** A chunk's actions, and where they came from. */
export interface ChunkFacts {
  readonly chunk: ChunkRecord;
  readonly actions: ChunkActions;
  /** The chunk's part of the plan's index. */
  readonly index: Buffer;
}

/** What became of an action, by the service or by a person. */
export interface ItemFacts {
  readonly outcome: Outcome;
  readonly status: string;
  readonly actionPromise?: string;
  readonly response?: string;
}

/**
 * An answered chunk becomes outcomes, in one transaction. After it returns they are on disk. Returns the chunk's lines of
 * the promises file.
 */
export function recordOutcomes(
  ledger: Ledger,
  run: RunFacts,
  facts: ChunkFacts,
  items: readonly ItemOutcome[],
  at: string,
  style: LineStyle,
): string {
  const known = toOutcomes(run, facts, (index) => decided(items[index]), at);
  const doubts = doubtfulParts(facts, items);
  ledger.transaction(() => {
    insertOutcomes(ledger, run.runNo, known);
    addChunks(ledger, facts.chunk, doubts, "in doubt");
    keepDoubtedItems(
      ledger,
      run.runNo,
      items.flatMap((item, at) =>
        item.outcome === "in doubt" ? [{ seq: facts.chunk.first + at, response: item.response }] : [],
      ),
    );
    changeChunk(ledger, "record", facts.chunk);
  });
  return promiseLines(known, style.label, style.format, style.safeCsv);
}

function decided(item: ItemOutcome | undefined): ItemFacts | undefined {
  return item === undefined || item.outcome === "in doubt" ? undefined : item;
}

/** One row for every action of a chunk whose outcome is known. */
export function toOutcomes(
  { inputs }: RunFacts,
  { chunk, actions, index }: ChunkFacts,
  itemOf: (at: number) => ItemFacts | undefined,
  at: string,
): readonly NewOutcome[] {
  if (actions.count * RECORD_BYTES !== index.length)
    throw new Error(`chunk ${chunk.chunk} has a different number of actions than index records`);
  const rows: NewOutcome[] = [];
  for (let number = 0; number < actions.count; number += 1) {
    const item = itemOf(number);
    if (item === undefined) continue;
    const { action, data, eventId, ticketId, nftId } = actions.read(number);
    const { input, line, identity, content } = readRecord(index, number * RECORD_BYTES);
    rows.push({
      seq: chunk.first + number,
      chunk: chunk.chunk,
      source: inputs[input] ?? "",
      line,
      action,
      data,
      eventId,
      ticketId,
      nftId,
      outcome: item.outcome,
      status: item.status,
      actionPromise: item.actionPromise,
      response: item.response,
      at,
      identity,
      content,
    });
  }
  return rows;
}

/**
 * Items in doubt become chunks of their own, so that a chunk is in doubt as a whole or not at all; neighbours with the same
 * reason share one.
 */
function doubtfulParts({ chunk, actions }: ChunkFacts, items: readonly ItemOutcome[]): readonly DoubtfulPart[] {
  if (items.every(({ outcome }) => outcome !== "in doubt")) return [];
  const parts: (Omit<DoubtfulPart, "detail"> & { readonly why: ItemDoubt; readonly response: string })[] = [];
  let offset = chunk.offset;
  for (const [at, item] of items.entries()) {
    const length = actions.read(at).length + 1;
    if (item.outcome === "in doubt") {
      const last = parts.at(-1);
      if (last?.why === item.why && last.offset + last.length === offset) {
        last.count += 1;
        last.length += length;
      } else {
        const { why, response } = item;
        parts.push({ first: chunk.first + at, count: 1, offset, length, why, response });
      }
    }
    offset += length;
  }
  return parts.map(({ why, response, ...part }) => ({
    ...part,
    detail: `${ITEM_DOUBTS[why]}: ${cleanText(response, MOST_SHOWN)}`,
  }));
}

interface DoubtfulPart {
  readonly first: number;
  count: number;
  readonly offset: number;
  length: number;
  readonly detail: string;
}

/** Characters of an item that are kept beside the reason; the whole of it is kept too. */
const MOST_SHOWN = 300;
