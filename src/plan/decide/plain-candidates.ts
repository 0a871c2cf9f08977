/** The fast path of a pass: candidates of which there is nothing to say, told from their records and counted. */

import { type ActionName, actionsThat } from "../../actions/actions.ts";
import type { CrossActionChecks } from "../../checks/cross-action.ts";
import type { PlainSale, PlainVerdict } from "../../checks/fast/plain-sales.ts";
import type { IsOnlyCounted } from "../../checks/row-findings.ts";
import type { CandidateBlock } from "../candidates/candidates.ts";
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
  readonly isOnlyCounted: IsOnlyCounted;
  /** Takes the rows of which it is only counted what is wrong with them. */
  readonly refuse: (row: number, rule: string) => void;
}

export class PlainCandidates {
  readonly #options: PlainCandidatesOptions;
  readonly #from = new Int32Array(FACT_FIELDS.length);
  readonly #to = new Int32Array(FACT_FIELDS.length);
  /** Each sale in turn: an object for each of a million would have to be collected. */
  readonly #sale: { -readonly [Key in keyof PlainSale]: PlainSale[Key] };

  constructor(options: PlainCandidatesOptions) {
    this.#options = options;
    this.#sale = {
      ...{ action: "soldTicket", source: "", line: 0, bytes: Buffer.alloc(0) },
      ...{ eventFrom: -1, eventTo: 0, ticketFrom: -1, ticketTo: 0, userFrom: -1, userTo: 0, priceFrom: -1, priceTo: 0 },
    };
  }

  /** Decides about a candidate, beside which no other one of its row stands. False where there may be more to say; then nothing has happened. */
  take(block: CandidateBlock, number: number, textAt: number, start: number): boolean {
    const { compiled, fates, tally, found, countedOn, refuse } = this.#options;
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
      const isUnsold = fate === "unsold";
      const verdict =
        source === undefined ? undefined : this.#sell(action, block, number, { textAt, source, isUnsold });
      if (verdict === undefined) return false;
      if (verdict !== "sound") {
        refuse(row, verdict);
        return true;
      }
      tally.keep(start, lineBytesAt(facts, factsAt), seq, action, input);
    }
    countedOn.set(row);
    return true;
  }

  #sell(
    action: ActionName,
    { records, facts, texts }: CandidateBlock,
    number: number,
    { textAt, source, isUnsold }: { readonly textAt: number; readonly source: string; readonly isUnsold: boolean },
  ): PlainVerdict | undefined {
    const [from, to] = [this.#from, this.#to];
    if (!findAsciiTexts(facts, number * FACTS_BYTES, textAt, from, to)) return undefined;
    const sale = this.#sale;
    sale.action = action;
    sale.source = source;
    sale.line = lineAt(records, number * RECORD_BYTES);
    sale.bytes = texts;
    sale.eventFrom = from[EVENT] as number; // as many as there are fields, as all below
    sale.eventTo = to[EVENT] as number;
    sale.ticketFrom = from[TICKET] as number;
    sale.ticketTo = to[TICKET] as number;
    sale.userFrom = from[USER] as number;
    sale.userTo = to[USER] as number;
    sale.priceFrom = from[PRICE] as number;
    sale.priceTo = to[PRICE] as number;
    return this.#options.crossChecks.plainSale(sale, this.#options.isOnlyCounted, isUnsold);
  }
}

const EVENT = FACT_FIELDS.indexOf("eventId");
const TICKET = FACT_FIELDS.indexOf("ticketId");
const USER = FACT_FIELDS.indexOf("userId");
const PRICE = FACT_FIELDS.indexOf("price");

const SALES: ReadonlySet<ActionName> = new Set(actionsThat("sell-ticket"));
