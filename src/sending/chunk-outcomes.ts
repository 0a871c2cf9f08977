/** An answer that was read becomes outcomes, and lines of the promises. */

import { cleanText } from "../actions/text.ts";
import { keepDoubtedItems } from "../ledger/attempts.ts";
import { encodePromises } from "../ledger/block.ts";
import {
  type Exception,
  insertBlock,
  insertTallies,
  type NewBlock,
  type NewOutcome,
  type Tally,
  talliesOf,
  toBlocks,
} from "../ledger/blocks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OutcomeRow } from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord } from "../ledger/runs.ts";
import type { ChunkState, Outcome } from "../ledger/states.ts";
import { type LineStyle, promiseLines } from "../outputs/promise-lines.ts";
import type { ChunkActions } from "../plan/files/chunk-actions.ts";
import { RECORD_BYTES, readRecord } from "../plan/files/index-file.ts";
import type { ChunkBorders } from "../plan/files/plan.ts";
import { ITEM_DOUBTS, type ItemOutcome } from "./answer.ts";
import type { PackedPart } from "./pack-chunk.ts";

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
  readonly blocks: readonly NewBlock[];
  readonly tallies: readonly Tally[];
  /** Parts that are in doubt, with what the service said of their actions. */
  readonly doubts: readonly Stretch[];
  readonly doubted: readonly { readonly seq: number; readonly response: string }[];
  /** The lines of the promises. */
  readonly lines: (style: LineStyle) => string;
}

/** @param packed of the same chunk. */
export function decideChunk(
  facts: ChunkFacts,
  items: readonly ItemOutcome[],
  at: string,
  packed: readonly PackedPart[],
): DecidedChunk {
  const { chunk } = facts;
  const known = toOutcomes(facts, (seq) => decided(items[seq - chunk.first]), at);
  const doubted = items.flatMap(({ outcome, ...item }, place) =>
    outcome === "in doubt" && "response" in item ? [{ seq: chunk.first + place, response: item.response }] : [],
  );
  const isWhole = doubted.length === 0;
  return {
    chunk,
    blocks: isWhole ? packed.map((part) => toBlock(part, facts, items, at)) : [...toBlocks(known)],
    tallies: talliesOf(known),
    doubts: isWhole ? [] : doubtfulParts(facts, items),
    doubted,
    lines: ({ label, format, safeCsv }) => promiseLines(known, label, format, safeCsv),
  };
}

/** What was packed while the request flew, with what the answer says. */
function toBlock(
  { first, count, ...part }: PackedPart,
  facts: ChunkFacts,
  items: readonly ItemOutcome[],
  at: string,
): NewBlock {
  const from = first - facts.chunk.first;
  const ofPart = items.slice(from, from + count);
  const exceptions = ofPart.flatMap((item, place): Exception[] => {
    if (item.outcome === "accepted") return [];
    const { identity, content } = readRecord(facts.index, (from + place) * RECORD_BYTES);
    const { outcome, status, response } = item;
    if (outcome !== "rejected") throw new Error("an action in doubt among outcomes");
    return [{ seq: first + place, outcome, status, response, identity, content }];
  });
  const promises = encodePromises(ofPart.map((item) => ("actionPromise" in item ? item.actionPromise : undefined)));
  return { first, count, chunk: facts.chunk.chunk, outcome: "accepted", at, promises, ...part, exceptions };
}

/** Part of a transaction. */
export function storeDecided(ledger: Ledger, { chunk, blocks, tallies, doubts, doubted }: DecidedChunk): void {
  for (const block of blocks) insertBlock(ledger, chunk.runNo, block);
  insertTallies(ledger, chunk.runNo, tallies);
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

export function countTallies(tallies: readonly Tally[]): { readonly accepted: number; readonly rejected: number } {
  const sumOf = (wanted: Tally["outcome"]): number =>
    tallies.reduce((sum, { outcome, actions }) => sum + (outcome === wanted ? actions : 0), 0);
  return { accepted: sumOf("accepted"), rejected: sumOf("rejected") };
}
