/**
 * A run of which the ledger lacks a part, since it was lost or restored from an older copy, is brought up to what the list of
 * runs says. What neither the list nor a promises file tells is in doubt until a person settles it.
 */

import { readFileSync } from "node:fs";
import { EXIT_CODES } from "../failure.ts";
import { endAttempt } from "../ledger/attempts.ts";
import { changeChunk } from "../ledger/chunks.ts";
import { IMPORTED_MAPPING } from "../ledger/known-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { decidedWithin, SENT_ELSEWHERE } from "../ledger/outcomes.ts";
import { notePromisedElsewhere } from "../ledger/promised-elsewhere.ts";
import { isWithin, keepEntryNumber, type LostRun, type Span } from "../ledger/run-list.ts";
import {
  addChunks,
  type ChunkRecord,
  chunksOf,
  countRun,
  endRun,
  enterRun,
  noteEnteredAgain,
  type RunRecord,
  reopenRun,
} from "../ledger/runs.ts";
import type { ChunkState } from "../ledger/states.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import { type Plan, planFiles } from "../plan/files/plan.ts";
import { type Fate, type ItemFacts, type Stretch, stretchesOf } from "./chunk-outcomes.ts";
import { cutChunk, divideChunk, lengthsOf } from "./chunk-parts.ts";
import { findPromisedElsewhere, type PromisedElsewhere } from "./sent-elsewhere.ts";

/** Of such a run the ledger knows only what its promises file said; it has no plan. */
export const isImportedRun = ({ manifest }: Pick<RunRecord, "manifest">): boolean =>
  parseManifest(manifest).mapping === IMPORTED_MAPPING;

/** Don't change these words: `countDoubted` finds the doubts by them, also those that earlier versions wrote. */
const WHY = "the ledger does not know whether this was sent: it was lost, or put back from an older copy";

/** The detail of a doubt where another run has a promise. */
const whyElsewhere = (promised: PromisedElsewhere | undefined): string | undefined =>
  promised &&
  `${WHY}; run ${promised.run} has since received a promise for the same action, or for one that can't be told from it`;

/** How many actions of a run are in doubt because the ledger was lost, and how many were found not to have been taken. */
interface Mended {
  readonly doubted: number;
  readonly closed: number;
}

/** Enters a run that the ledger does not know once more from its plan, all of it in doubt. */
export function enterLostRun(ledger: Ledger, plan: Plan, lost: LostRun): RunRecord {
  return enterRun(ledger, {
    run: lost.run,
    manifest: manifestIn(plan),
    output: lost.outputs.at(-1),
    chunks: plan.manifest.chunks,
    at: lost.createdAt,
    doubt: WHY,
  });
}

/** As it stands in the folder, with which it is compared later. */
const manifestIn = ({ directory }: Plan): string => readFileSync(planFiles(directory).manifest, "utf8").trimEnd();

/**
 * After this resolves, the run sends only actions that the list calls never sent. The others are closed where the list says
 * what became of all, or that they were closed unsent, and where another run has a promise for them: it would not have sent
 * them while they were taken or in doubt here. The rest is in doubt. A run that was abandoned is abandoned again. Doing it
 * again, also after the process died in between, changes nothing.
 *
 * @param plan the run's plan, which may be all that is left of a run that was imported.
 */
export async function mendLostRun(ledger: Ledger, plan: Plan, run: RunRecord, lost: LostRun): Promise<Mended> {
  const at = new Date().toISOString();
  if (isImportedRun(run)) await becomePlanned(ledger, plan, run, lost);
  for (const chunk of chunksOf(ledger, run.runNo, "sending"))
    endAttempt(ledger, chunk, { event: "doubt", class: "in doubt", httpStatus: undefined, detail: WHY, at });
  const chunks = MENDED_STATES.flatMap((state) => chunksOf(ledger, run.runNo, state));
  const elsewhere = lost.isDecided
    ? new Map<number, PromisedElsewhere>()
    : await findPromisedElsewhere(ledger, plan, run.runNo, chunks);
  // For a deed that may be done repeatedly, a later promise may be for another one, unless all promises of this run are
  // known.
  const isWholeRead = lost.outputs.length > 0 && lost.unread.length === 0;
  const isElsewhere = (seq: number): boolean => {
    const promised = elsewhere.get(seq);
    return promised !== undefined && (promised.isOnce || (promised.isSame && isWholeRead));
  };
  const isUnsent = (seq: number): boolean => isWithin({ first: seq, count: 1 }, lost.unsent);
  const fateIn =
    ({ state }: ChunkRecord) =>
    (seq: number): ChunkState => {
      if (isWithin({ first: seq, count: 1 }, lost.planned)) return "planned";
      if (lost.isDecided || isUnsent(seq) || isElsewhere(seq)) return "abandoned";
      return state === "planned" ? "in doubt" : state;
    };
  const closed = lost.isDecided ? countOutside(chunks, lost.planned) : 0;
  // Unless all of these were rejected, the list can't tell which were; then none is called rejected.
  const untold = countOutside(chunks, [...lost.planned, ...lost.unsent]);
  const wereRejected =
    lost.isDecided && lost.rejected !== undefined && countRun(ledger, run.runNo).rejected + untold === lost.rejected;
  const itemOf = (seq: number): ItemFacts => {
    if (isUnsent(seq)) return NOT_SENT;
    if (wereRejected) return { outcome: "rejected", status: "rejected" };
    return isElsewhere(seq) ? { ...NOT_SENT, status: SENT_ELSEWHERE } : NOT_SENT;
  };
  const doubtedElsewhere: number[] = [];
  for (const chunk of chunks) {
    const fateOf = fateIn(chunk);
    const whyOf = (seq: number): string | undefined =>
      fateOf(seq) === "in doubt" ? whyElsewhere(elsewhere.get(seq)) : undefined;
    const parts = cutChunk(ledger, chunk, await plan.lines(chunk), fateOf, whyOf);
    for (let seq = chunk.first; seq < chunk.first + chunk.count; seq += 1)
      if (whyOf(seq) !== undefined) doubtedElsewhere.push(seq);
    if (parts.every(({ state, detail }) => state === chunk.state && detail === chunk.detail)) continue;
    const told = parts.map((part) =>
      part.state === "in doubt" && part.detail === undefined ? { ...part, detail: WHY } : part,
    );
    await divideChunk(ledger, plan, chunk, told, itemOf, at);
  }
  ledger.transaction(() => {
    notePromisedElsewhere(ledger, run, doubtedElsewhere);
    if (lost.state === "abandoned") {
      endRun(ledger, run.runNo, "abandoned", EXIT_CODES["finished-with-rejects"], at);
      // The rejects were written before the list said so.
      for (const chunk of chunksOf(ledger, run.runNo, "abandoned")) changeChunk(ledger, "writeRejects", chunk);
    }
    keepEntryNumber(ledger, run.runNo, lost.number + 1);
  });
  return { doubted: countDoubted(ledger, run), closed };
}

/** Counts what an import has put into doubt before as well: part of that may only now be known to be promised elsewhere. */
const countDoubted = (ledger: Ledger, { runNo }: RunRecord): number =>
  chunksOf(ledger, runNo, "in doubt").reduce(
    (sum, { count, detail = "" }) => sum + (detail.startsWith(WHY) ? count : 0),
    0,
  );

const NOT_SENT: ItemFacts = { outcome: "not sent", status: "not-sent" };

/** Chunks without outcomes. A stored answer is recorded as usual: it says more than the list. */
const MENDED_STATES = ["planned", "in doubt", "refused"] as const satisfies readonly ChunkState[];

function countOutside(chunks: readonly ChunkRecord[], spans: readonly Span[]): number {
  let outside = 0;
  for (const { first, count } of chunks)
    for (let seq = first; seq < first + count; seq += 1) if (!isWithin({ first: seq, count: 1 }, spans)) outside += 1;
  return outside;
}

/** A run of which only promises were imported gets its plan back, and can be resumed. */
async function becomePlanned(ledger: Ledger, plan: Plan, run: RunRecord, lost: LostRun): Promise<void> {
  const parts = await missingParts(ledger, plan, run, lost.planned);
  ledger.transaction(() => {
    reopenRun(ledger, run.runNo, manifestIn(plan), lost.outputs.at(-1));
    noteEnteredAgain(ledger, run.run);
    for (const { lane, state, ...part } of parts) {
      const parent = { runNo: run.runNo, chunk: undefined, lane, httpStatus: undefined };
      addChunks(ledger, parent, [state === "planned" ? part : { ...part, detail: WHY }], state);
    }
  });
}

/** A part of a plan's chunk. */
type Part = Stretch & Pick<ChunkRecord, "lane">;

/** The parts of the plan without an imported outcome; those that were never sent are parts of their own. */
async function missingParts(
  ledger: Ledger,
  plan: Plan,
  { runNo }: RunRecord,
  planned: readonly Span[],
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const { lane, ...initial } of plan.manifest.chunks) {
    const known = decidedWithin(ledger, runNo, initial.first, initial.first + initial.count);
    if (known.size === initial.count) continue;
    const fateOf = (seq: number): Fate => {
      if (known.has(seq)) return { state: "settled" };
      return { state: isWithin({ first: seq, count: 1 }, planned) ? "planned" : "in doubt" };
    };
    for (const stretch of stretchesOf(initial, lengthsOf(await plan.lines(initial)), fateOf))
      if (stretch.state !== "settled") parts.push({ ...stretch, lane });
  }
  return parts;
}
