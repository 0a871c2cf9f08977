/**
 * Tickets that several rows of an input sell. The checks across actions find them among what would be sent; here they are found
 * where one of the sales was accepted, or is pending: the other rows are as wrong then as they would be on a first night.
 */

import type { FileHandle } from "node:fs/promises";
import { type ActionName, actionsThat } from "../../actions/actions.ts";
import { identityText } from "../../actions/identity.ts";
import { type Candidate, readCandidates } from "../candidates/candidates.ts";
import { identityAt, identityBitsAt, RECORD_BYTES } from "../files/index-file.ts";
import { deedsBeside, type NewKeys } from "./accepted-under-other-keys.ts";
import { type MatchOptions, triedOf } from "./deed-group.ts";
import { gatherDoubtful } from "./doubtful-candidates.ts";
import { historyOf } from "./history-of-candidate.ts";
import type { FoundVerdicts, Verdict } from "./verdicts.ts";

const SALES: ReadonlySet<ActionName> = new Set(actionsThat("sell-ticket"));

export const sellsTicket = (action: ActionName): boolean => SALES.has(action);

/** Of its slots so many are in use at most. */
const MAX_LOAD = 0.8;
const FEWEST_SLOTS = 1 << 10;

/**
 * Sales as they are read, of which it notices those that have one identity. A million of them is looked at every night, so that the
 * table has its size from the beginning, and the two numbers of a slot stand side by side.
 */
export class SeenSales {
  /** Of each slot the first 32 bits of an identity, 0 where it is free, and the number of the first sale that has them. */
  readonly #slots: Uint32Array;
  /** Sales that an earlier one is like in these bits: by identity (hex), how many they are, and that earlier one. */
  readonly #alike = new Map<string, { times: number; readonly first: number }>();

  /** @param most how many sales there may be. */
  constructor(most: number) {
    let slots = FEWEST_SLOTS;
    while (slots * MAX_LOAD < most) slots *= 2;
    this.#slots = new Uint32Array(slots * 2);
  }

  /** @param at where its record stands in the block. */
  add(seq: number, block: Buffer, at: number): void {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    const bits = identityBitsAt(block, at) || 1;
    let slot = bits & mask;
    for (let known = slots[slot * 2]; known !== 0; known = slots[slot * 2]) {
      if (known === bits) {
        this.#note(identityAt(block, at).toString("hex"), slots[slot * 2 + 1] ?? 0);
        return;
      }
      slot = (slot + 1) & mask;
    }
    slots[slot * 2] = bits;
    slots[slot * 2 + 1] = seq;
  }

  #note(identity: string, first: number): void {
    const known = this.#alike.get(identity);
    if (known === undefined) this.#alike.set(identity, { times: 1, first });
    else known.times += 1;
  }

  /** The identities (hex) that stand there more than once. */
  async repeated(index: FileHandle): Promise<ReadonlySet<string>> {
    const repeated = new Set<string>();
    const record = Buffer.alloc(RECORD_BYTES);
    for (const [identity, { times, first }] of this.#alike) {
      await index.read(record, 0, RECORD_BYTES, first * RECORD_BYTES);
      if (times > 1 || identityAt(record, 0).toString("hex") === identity) repeated.add(identity);
    }
    return repeated;
  }
}

interface Sale extends Omit<Candidate, "identity"> {
  /** Hexadecimal; under a key of its source it is the key's. */
  readonly identity: string;
}

/** Sales of one ticket, in their order. */
interface SalesOfTicket {
  /** What identifies all of them, or would without their keys. */
  readonly identity: string;
  readonly sales: readonly Sale[];
}

/**
 * @param underOtherKeys sales that were looked for without their key, by ticket.
 * @returns the sales that can't be right beside another one of the same ticket, each with that one.
 */
export async function findSoldTwice(
  options: MatchOptions,
  underOtherKeys: readonly NewKeys[],
  found: FoundVerdicts,
): Promise<readonly (readonly [Sale, Sale])[]> {
  const tickets = [...(await withOneIdentity(options, found)), ...(await underSeveralKeys(options, underOtherKeys))];
  return tickets.flatMap((ticket) => judgeSales(ticket, options, found));
}

/** Several tickets may have one key: for that there is another rule. */
async function withOneIdentity(
  { directory }: MatchOptions,
  { repeatedSales }: FoundVerdicts,
): Promise<readonly SalesOfTicket[]> {
  if (repeatedSales.size === 0) return [];
  const ticketOf = (sale: Candidate): string =>
    sale.keyed ? identityText({ action: sale.action, data: sale.data }) : "";
  return [...(await gatherDoubtful(directory, repeatedSales))].flatMap(([identity, sales]) =>
    [...Map.groupBy(sales, ticketOf).values()].map((ofTicket) => ({
      identity,
      sales: ofTicket.map((sale) => ({ ...sale, identity })),
    })),
  );
}

/** What keys tell apart may be one ticket all the same. */
async function underSeveralKeys(
  { directory }: MatchOptions,
  underOtherKeys: readonly NewKeys[],
): Promise<readonly SalesOfTicket[]> {
  if (underOtherKeys.length === 0) return [];
  const tickets = new Map(underOtherKeys.map(({ identity }) => [identity, [] as Sale[]]));
  const known = new Map(
    underOtherKeys.flatMap(({ identity, candidates }) => candidates.map(({ seq }) => [seq, identity] as const)),
  );
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!sellsTicket(candidate.action)) continue;
      const ticket = known.get(candidate.seq) ?? historyOf(candidate).toString("hex");
      tickets.get(ticket)?.push({ ...candidate, identity: candidate.identity.toString("hex") });
    }
  }
  return [...tickets].map(([identity, sales]) => ({ identity, sales }));
}

/** What is wrong with these is told already. */
const TOLD: ReadonlySet<Verdict> = new Set(["unclear", "key shared"]);

function judgeSales(
  { identity, sales }: SalesOfTicket,
  options: MatchOptions,
  found: FoundVerdicts,
): readonly (readonly [Sale, Sale])[] {
  const given = sales.filter(({ seq }) => !TOLD.has(found.of(seq)));
  const right = rightOnes(identity, given, options, found);
  const [first] = right;
  if (first === undefined) return [];
  const isLeft = (sale: Sale): boolean =>
    right.some((each) => each === sale || areOneByKey(each, sale)) ||
    // The checks across actions see what is new.
    (found.isNew(first.seq) && found.isNew(sale.seq));
  return given.filter((sale) => !isLeft(sale)).map((sale) => [sale, first]);
}

/** What says what was accepted, or may yet be; else the first. Several where a person has sold it as often (`--again`). */
function rightOnes(
  identity: string,
  given: readonly Sale[],
  { ledger, inputs, pending }: MatchOptions,
  found: FoundVerdicts,
): readonly Sale[] {
  const standing = given.filter(({ seq }) => found.of(seq) === "sent");
  const accepted = [...Map.groupBy(standing, ({ content }) => content.toString("hex")).values()].flatMap(
    ([first]) => first ?? [],
  );
  if (accepted.length > 1) {
    // An imported deed is each of them, since nobody knows what it says.
    const tried = triedOf(identity, given, inputs, ledger && deedsBeside(ledger));
    return accepted.slice(0, tried.filter(({ isTaken }) => isTaken).length);
  }
  if (accepted.length === 1) return accepted;
  const contents = new Set(pending.deeds.get(identity)?.map(({ content }) => content));
  const first = given.find(({ content }) => contents.has(content.toString("hex"))) ?? given[0];
  return first === undefined ? [] : [first];
}

/** Two rows with one key are one deed, as long as they say the same. */
const areOneByKey = (one: Sale, other: Sale): boolean =>
  one.keyed && other.keyed && one.identity === other.identity && one.content.equals(other.content);
