/** An answer that was read becomes outcomes, and lines of the promises. */

import { cleanText } from "../actions/text.ts";
import { keepDoubtedItems } from "../ledger/attempts.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { insertOutcomes, type NewOutcome } from "../ledger/new-outcomes.ts";
import type { OutcomeRow } from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord } from "../ledger/runs.ts";
import type { ChunkState, Outcome } from "../ledger/states.ts";
import { type LineStyle, promiseLines } from "../outputs/promise-lines.ts";
import type { ChunkActions } from "../plan/files/chunk-actions.ts";
import { RECORD_BYTES, readRecord } from "../plan/files/index-file.ts";
import type { ChunkBorders } from "../plan/files/plan.ts";
import { ITEM_DOUBTS, type ItemOutcome } from "./answer.ts";

/** A chunk's actions, and where they came from. */
export interface ChunkFacts {
  readonly chunk: ChunkRecord;
  readonly actions: ChunkActions;
  /** The chunk's part of the plan's index. */
  readonly index: Buffer;
  /** The names of the plan's inputs, by number. */
  readonly inputs: readonly string[];
}

/** An outcome as the ledger takes it, with the ids that its line in the promises shows. */
export type ToldOutcome = NewOutcome & Pick<OutcomeRow, "eventId" | "ticketId" | "nftId">;

/** What became of an action, by the service or by a person. */
export interface ItemFacts {
  readonly outcome: Outcome;
  readonly status: string;
  readonly actionPromise?: string | undefined;
  readonly response?: string | undefined;
}

/** What an answer made of a chunk, ready to be stored. */
export interface DecidedChunk {
  readonly chunk: ChunkRecord;
  readonly outcomes: readonly NewOutcome[];
  /** Parts that are in doubt, with what the service said of their actions. */
  readonly doubts: readonly Stretch[];
  readonly doubted: readonly { readonly seq: number; readonly response: string }[];
  /** The lines of the promises. */
  readonly lines: (style: LineStyle) => string;
}

export function decideChunk(facts: ChunkFacts, items: readonly ItemOutcome[], at: string): DecidedChunk {
  const { chunk } = facts;
  const outcomes = toOutcomes(facts, (seq) => decided(items[seq - chunk.first]), at);
  const doubted = items.flatMap(({ outcome, ...item }, place) =>
    outcome === "in doubt" && "response" in item ? [{ seq: chunk.first + place, response: item.response }] : [],
  );
  return {
    chunk,
    outcomes,
    doubts: doubtfulParts(facts, items),
    doubted,
    lines: ({ label, format, safeCsv }) => promiseLines(outcomes, label, format, safeCsv),
  };
}

/** Part of a transaction. */
export function storeDecided(ledger: Ledger, { chunk, outcomes, doubts, doubted }: DecidedChunk): void {
  insertOutcomes(ledger, chunk.runNo, outcomes);
  addChunks(ledger, chunk, doubts, "in doubt");
  keepDoubtedItems(ledger, chunk.runNo, doubted);
}

function decided(item: ItemOutcome | undefined): ItemFacts | undefined {
  return item === undefined || item.outcome === "in doubt" ? undefined : item;
}

/**
 * One row for every action of a chunk whose outcome is known.
 *
 * @param itemOf what became of an action, by its number in the plan.
 */
export function toOutcomes(
  { chunk, actions, index, inputs }: ChunkFacts,
  itemOf: (seq: number) => ItemFacts | undefined,
  at: string,
): readonly ToldOutcome[] {
  if (actions.count * RECORD_BYTES !== index.length)
    throw new Error(`chunk ${chunk.chunk} has a different number of actions than index records`);
  const rows: ToldOutcome[] = [];
  for (let number = 0; number < actions.count; number += 1) {
    const seq = chunk.first + number;
    const item = itemOf(seq);
    if (item === undefined) continue;
    const { action, data, eventId, ticketId, nftId } = actions.read(number);
    const { input, line, identity, content } = readRecord(index, number * RECORD_BYTES);
    rows.push({
      seq,
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
function doubtfulParts({ chunk, actions }: ChunkFacts, items: readonly ItemOutcome[]): readonly Stretch[] {
  if (items.every(({ outcome }) => outcome !== "in doubt")) return [];
  const lengths = items.map((_, at) => actions.read(at).length + 1);
  const stretches = stretchesOf(chunk, lengths, (seq) => {
    const item = items[seq - chunk.first];
    return item?.outcome === "in doubt" ? { state: "in doubt", detail: ITEM_DOUBTS[item.why] } : { state: "settled" };
  });
  return stretches.flatMap((stretch) => {
    const item = items[stretch.first - chunk.first];
    if (item?.outcome !== "in doubt") return [];
    return [{ ...stretch, detail: `${stretch.detail}: ${cleanText(item.response, MOST_SHOWN)}` }];
  });
}

/** Characters of an item that are kept beside the reason; the whole of it is kept too. */
const MOST_SHOWN = 300;

/** Actions of a chunk that follow each other and share one fate. */
export interface Stretch extends ChunkBorders, Fate {}

/** What state the chunk of an action is to be in, and what is said of it. */
export interface Fate {
  readonly state: ChunkState;
  readonly detail?: string | undefined;
}

/**
 * A chunk as stretches of actions with one fate each, in order.
 *
 * @param lengths of its actions in bytes, newlines included.
 * @param fateOf by the action's number in the plan.
 */
export function stretchesOf(
  chunk: Pick<ChunkBorders, "first" | "offset">,
  lengths: readonly number[],
  fateOf: (seq: number) => Fate,
): readonly Stretch[] {
  const stretches: { -readonly [K in keyof Stretch]: Stretch[K] }[] = [];
  let { offset } = chunk;
  for (const [at, length] of lengths.entries()) {
    const first = chunk.first + at;
    const { state, detail } = fateOf(first);
    const last = stretches.at(-1);
    if (last?.state === state && last.detail === detail) {
      last.count += 1;
      last.length += length;
    } else stretches.push({ first, count: 1, offset, length, state, detail });
    offset += length;
  }
  return stretches;
}

export function countDecided({ outcomes }: DecidedChunk): { readonly accepted: number; readonly rejected: number } {
  const count = (wanted: Outcome): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  return { accepted: count("accepted"), rejected: count("rejected") };
}
