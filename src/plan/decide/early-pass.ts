/**
 * The fast path of the decisions: they are made while the input is still read. That is right as long as nothing that may come
 * later could change them: each candidate is surely new, whatever else the input holds. Where it turns out not to be, all is left
 * to who knows the whole input (decide.ts), and nothing has happened.
 */

import { actionSpec, registers } from "../../actions/actions.ts";
import type { CrossActionChecks } from "../../checks/cross-action.ts";
import type { BlockedRow, CandidateBlock, CandidateLines } from "../candidates/candidates.ts";
import type { FoundInvalid, InvalidRows } from "../candidates/rows-not-sent.ts";
import type { Batch } from "../compile/batch.ts";
import type { Compiled } from "../compile/compile.ts";
import type { EarlyDecisions } from "../compile/joined-batches.ts";
import { identityAt, marksAt, RECORD_BYTES, type RecordOrigin, readOrigin } from "../files/index-file.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import { repeatsMatter } from "../identity/judge-digests.ts";
import { createProbableSet } from "../identity/probable-set.ts";
import type { Verdicts } from "../identity/verdicts.ts";
import { NOTHING_ACCEPTED } from "../rejects/find-row-places.ts";
import { Bits } from "./bits.ts";
import { createHeldRows } from "./held-rows.ts";
import { OnePass, type PassOptions } from "./one-pass.ts";
import { type DecidedOf, isSentOnce, type Selection } from "./selection.ts";

export interface EarlyPassOptions extends Omit<PassOptions, "compiled" | "invalid"> {
  /** Checks that know nothing of this input yet, and ask whether it registers an event anywhere. */
  readonly crossChecks: (laterEvents: Pick<ReadonlySet<string>, "has">) => CrossActionChecks;
  readonly problems: ProblemLog;
  /** The rows that are found invalid go there once all is decided. */
  readonly invalid: Pick<InvalidRows, "fork" | "absorb">;
  /** Told of the candidates as what is sent, as long as all are. */
  readonly onSent: OnSent;
}

/** @param lines of these, which are looked up as well. */
type OnSent = (block: CandidateBlock & { readonly lines: Buffer }, lines: CandidateLines) => void;

/** Rows that turn out to be invalid are kept in memory up to so many, where they are kept. */
const MOST_FOUND = 10_000;

const ALL_NEW: Verdicts = {
  of: () => "new",
  detailOf: () => undefined,
  isRepeated: () => false,
  plainOf: () => "new",
  closed: [],
  missed: new Set(),
  newestFirst: new Set(),
};

export class EarlyPass implements EarlyDecisions {
  readonly #options: EarlyPassOptions;
  readonly #inputs: { -readonly [Key in keyof DecidedOf["inputs"][number]]: DecidedOf["inputs"][number][Key] }[] = [];
  readonly #found: FoundInvalid;
  readonly #blocked: BlockedRow[] = [];
  readonly #log: ProblemLog;
  readonly #lines = new LinesOfBatch();
  readonly #crossChecks: CrossActionChecks;
  readonly #isSentOnce: ReturnType<typeof isSentOnce>;
  /** Identities of those that happen once, and of which another one would say something. */
  readonly #once = createProbableSet();
  /** Events of which it was asked whether they are registered later. */
  readonly #askedFor = new Set<string>();
  /** Undefined once it is given up. */
  #pass: OnePass | undefined;
  /** Whether all candidates so far are sent. */
  #areAllSent = true;
  #candidates = 0;
  #lineBytes = 0;

  constructor(options: EarlyPassOptions) {
    this.#options = options;
    this.#isSentOnce = isSentOnce(options.severityOf);
    this.#log = options.problems.fork();
    this.#found = options.invalid.fork();
    const laterEvents = {
      has: (event: string): boolean => {
        this.#askedFor.add(event);
        return false;
      },
    };
    this.#crossChecks = options.crossChecks(laterEvents);
    this.#pass = new OnePass(
      {
        ...options,
        compiled: { inputs: this.#inputs, mends: new Map() },
        invalid: this.#found,
      },
      { comparedWith: undefined, verdicts: ALL_NEW, lines: this.#lines, crossChecks: this.#crossChecks },
      { bits: new Bits(), problems: options.problems.fork(), held: createHeldRows() },
      this.#log,
      async () => this.#blocked.shift(),
    );
  }

  begin(input: Parameters<EarlyDecisions["begin"]>[0]): void {
    this.#inputs.push({ ...input, rows: 0 });
  }

  block(row: BlockedRow): void {
    if (this.#pass !== undefined) this.#blocked.push(row);
  }

  async take(batch: Batch): Promise<void> {
    if (this.#pass === undefined) return;
    const { candidates: count, bytes } = batch;
    const input = this.#inputs.at(-1);
    if (input === undefined || !isOfNewRows(batch) || !this.#areNew(bytes.index)) return this.#giveUp();
    input.rows += batch.rows;
    const { index: records, facts, texts } = bytes;
    const block = { first: this.#candidates, count, records, facts, texts, start: this.#lineBytes };
    this.#lines.take(block.start, bytes.lines);
    await this.#pass.take(block);
    await this.#pass.endRow();
    this.#candidates += count;
    this.#lineBytes += bytes.lines.length;
    if (this.#found.kept.length > MOST_FOUND) this.#giveUp();
    const { invalid, held } = this.#found.counts;
    if (invalid + held > 0) this.#areAllSent = false;
    if (this.#areAllSent) this.#options.onSent({ ...block, lines: bytes.lines }, this.#lines);
  }

  /** What was decided, once all is read; undefined where nothing could be. */
  selection({ compiled }: { readonly compiled: Compiled }) {
    const passed = this.#askedFor.isDisjointFrom(compiled.newEvents) ? this.#pass?.selection : undefined;
    this.#crossChecks[Symbol.dispose]();
    if (passed === undefined) return undefined;
    this.#options.invalid.absorb(this.#found);
    this.#options.problems.absorb(this.#log);
    const selection: Selection = {
      ...passed,
      lastAccepted: NOTHING_ACCEPTED,
      openOfInvalid: new Map(),
      newestFirst: ALL_NEW.newestFirst,
      wasToldWhole: this.#areAllSent,
    };
    return selection;
  }

  /** Whether no other deed can have to do with those of the records, but for what the checks across actions say. */
  #areNew(records: Buffer): boolean {
    const { sources } = this.#options;
    let [known, isOnce] = [-1, false];
    for (let at = 0; at < records.length; at += RECORD_BYTES) {
      const marks = marksAt(records, at);
      if (marks !== known) {
        known = marks; // of one input
        const origin = readOrigin(records, at);
        const asked = { isSentOnce: this.#isSentOnce, inputs: this.#inputs, sources };
        isOnce = repeatsMatter(origin, asked);
        if (isOnce && !happensOnce(origin)) return false;
      }
      if (isOnce && this.#once.addAndTell(identityAt(records, at))) return false;
    }
    return true;
  }

  #giveUp(): void {
    this.#pass = undefined;
    this.#areAllSent = false;
    this.#blocked.length = 0;
  }
}

/** Whether it is told by its identity alone what it has to do with others: not by keys, and not by what stands around it. */
const happensOnce = ({ action, keyed }: Pick<RecordOrigin, "action" | "keyed">): boolean =>
  !keyed && !registers(action) && actionSpec(action).identity === "once";

/** Whether none of its rows was rejected or mended before, and nothing of one is left out. */
const isOfNewRows = ({ rejected, mended, leftOut }: Batch): boolean =>
  rejected.length === 0 && mended.length === 0 && leftOut.length === 0;

/** The lines of the batch in hand; no others are asked for. */
class LinesOfBatch implements CandidateLines {
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  take(start: number, bytes: Buffer): void {
    this.#start = start;
    this.#bytes = bytes;
  }

  of({ start, length }: Parameters<CandidateLines["of"]>[0]): Buffer {
    const from = start - this.#start;
    if (from < 0 || from + length > this.#bytes.length) throw new Error("the line is of another batch");
    return Buffer.from(this.#bytes.subarray(from, from + length - 1));
  }

  [Symbol.dispose](): void {}
}
