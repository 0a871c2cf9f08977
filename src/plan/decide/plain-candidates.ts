/** The fast path of a pass: candidates of which there is nothing to say, told from their records and counted. */

import { type ActionName, actionsThat } from "../../actions/actions.ts";
import type { CrossActionChecks } from "../../checks/cross-action.ts";
import type { PlainSale } from "../../checks/fast/plain-sales.ts";
import type { BlockPlace, CandidateBlock } from "../candidates/candidates.ts";
import { FACT_FIELDS, FACTS_BYTES, findAsciiTexts, lineBytesAt } from "../candidates/facts.ts";
import { inputAt, lineAt, plainActionAt, RECORD_BYTES, rowAt } from "../files/index-file.ts";
import type { Bits } from "./bits.ts";
import type { Fates } from "./fates.ts";
import type { DecidedOf, SelectionTally } from "./selection.ts";

interface PlainCandidatesOptions {
  readonly compiled: DecidedOf;
  readonly fates: Fates;
  readonly crossChecks: CrossActionChecks;
  readonly tally: SelectionTally;
  /** The rows that were found invalid. */
  readonly found: Bits;
  /** Takes the rows that are counted on. */
  readonly countedOn: Bits;
}

export class PlainCandidates {
  readonly #options: PlainCandidatesOptions;
  readonly #from = new Int32Array(FACT_FIELDS.length);
  readonly #to = new Int32Array(FACT_FIELDS.length);

  constructor(options: PlainCandidatesOptions) {
    this.#options = options;
  }

  /** Decides about a candidate, beside which no other one of its row stands. False where there may be more to say; then nothing has happened. */
  take(block: CandidateBlock, { number, textAt, start }: BlockPlace): boolean {
    const { compiled, fates, tally, found, countedOn } = this.#options;
    const { records, facts } = block;
    const at = number * RECORD_BYTES;
    const factsAt = number * FACTS_BYTES;
    const action = plainActionAt(records, at);
    if (action === undefined || !SALES.has(action)) return false;
    const row = rowAt(records, at);
    if (compiled.mends.size > 0 || found.has(row)) return false;
    const seq = block.first + number;
    const fate = fates.plainOf(seq);
    if (fate === undefined) return false;
    const input = inputAt(records, at);
    if (fate === "sent") tally.leave({ action, input }, fate, fate);
    else {
      const source = compiled.inputs[input]?.name;
      if (source === undefined || !this.#sell(action, block, { number, textAt, start }, source)) return false;
      tally.keep({ start, length: lineBytesAt(facts, factsAt), seq, action, input });
    }
    countedOn.set(row);
    return true;
  }

  #sell(
    action: ActionName,
    { records, facts, texts }: CandidateBlock,
    { number, textAt }: BlockPlace,
    source: string,
  ): boolean {
    const [from, to] = [this.#from, this.#to];
    if (!findAsciiTexts(facts, number * FACTS_BYTES, textAt, from, to)) return false;
    const sale: PlainSale = {
      action,
      source,
      line: lineAt(records, number * RECORD_BYTES),
      bytes: texts,
      eventFrom: from[EVENT] as number, // as many as there are fields, as all below
      eventTo: to[EVENT] as number,
      ticketFrom: from[TICKET] as number,
      ticketTo: to[TICKET] as number,
      userFrom: from[USER] as number,
      userTo: to[USER] as number,
      priceFrom: from[PRICE] as number,
      priceTo: to[PRICE] as number,
    };
    return this.#options.crossChecks.plainSale(sale);
  }
}

const EVENT = FACT_FIELDS.indexOf("eventId");
const TICKET = FACT_FIELDS.indexOf("ticketId");
const USER = FACT_FIELDS.indexOf("userId");
const PRICE = FACT_FIELDS.indexOf("price");

const SALES: ReadonlySet<ActionName> = new Set(actionsThat("sell-ticket"));
