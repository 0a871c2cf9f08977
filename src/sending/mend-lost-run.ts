/**
 * A run of which the ledger lacks a part, since it was lost or restored from an older copy, is brought up to what the list of
 * runs says. What neither the list nor a promises file tells is in doubt until a person settles it.
 */

import { readFileSync } from "node:fs";
import { EXIT_CODES } from "../failure.ts";
import { endAttempt } from "../ledger/attempts.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { decidedWithin } from "../ledger/outcomes.ts";
import { notePromisedElsewhere } from "../ledger/promised-elsewhere.ts";
import { isWithin, keepEntryNumber, type LostRun, type Span } from "../ledger/run-list.ts";
import {
  addChunks,
  type ChunkRecord,
  chunksOf,
  countRun,
  endRun,
  enterRun,
  IMPORTED_MAPPING,
  noteEnteredAgain,
  type RunRecord,
  reopenRun,
} from "../ledger/runs.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import { type Plan, planFiles } from "../plan/files/plan.ts";
import { type Fate, type ItemFacts, type Stretch, stretchesOf } from "./chunk-outcomes.ts";
import { cutChunk, divideChunk, lengthsOf } from "./chunk-parts.ts";
import { fateOfLost, type LostFate, type LostRunFacts, MENDED_STATES, WHY_LOST } from "./lost-fates.ts";
import { findPromisedElsewhere, type PromisedElsewhere } from "./sent-elsewhere.ts";

/** Of such a run the ledger knows only what its promises file said; it has no plan. */
export const isImportedRun = ({ manifest }: Pick<RunRecord, "manifest">): boolean =>
  parseManifest(manifest).mapping === IMPORTED_MAPPING;

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
    doubt: WHY_LOST,
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
    endAttempt(ledger, chunk, { event: "doubt", class: "in doubt", httpStatus: undefined, detail: WHY_LOST, at });
  const chunks = MENDED_STATES.flatMap((state) =>
    chunksOf(ledger, run.runNo, state).map((chunk) => ({ ...chunk, state })),
  );
  const elsewhere = lost.isDecided
    ? new Map<number, PromisedElsewhere>()
    : await findPromisedElsewhere(ledger, plan, run.runNo, chunks);
  const facts = factsOf(ledger, run, lost, chunks);
  const closed = lost.isDecided ? countOutside(chunks, lost.planned) : 0;
  const doubtedElsewhere: number[] = [];
  for (const chunk of chunks) {
    const fates = new Map<number, LostFate>();
    for (let seq = chunk.first; seq < chunk.first + chunk.count; seq += 1) {
      const promised = elsewhere.get(seq);
      const [isPlanned, isUnsent] = [isIn(seq, lost.planned), isIn(seq, lost.unsent)];
      const fate = fateOfLost({ chunk, isPlanned, isUnsent, promised }, facts);
      fates.set(seq, fate);
      if (fate.state === "in doubt" && promised !== undefined) doubtedElsewhere.push(seq);
    }
    await applyFates(ledger, plan, chunk, fates, at);
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
    (sum, { count, detail = "" }) => sum + (detail.startsWith(WHY_LOST) ? count : 0),
    0,
  );

/** What the list and the ledger say of the whole run. */
function factsOf(ledger: Ledger, run: RunRecord, lost: LostRun, chunks: readonly ChunkRecord[]): LostRunFacts {
  const { isDecided, outputs, unread, planned, unsent, rejected } = lost;
  // Unless all of these were rejected, the list can't tell which were; then none is called rejected.
  const untold = countOutside(chunks, [...planned, ...unsent]);
  const wereRejected =
    isDecided && rejected !== undefined && countRun(ledger, run.runNo).rejected + untold === rejected;
  return { isDecided, isWholeRead: outputs.length > 0 && unread.length === 0, wereRejected };
}

/** Divides a chunk by what becomes of its actions, unless that changes nothing. */
async function applyFates(
  ledger: Ledger,
  plan: Plan,
  chunk: ChunkRecord,
  fates: ReadonlyMap<number, LostFate>,
  at: string,
): Promise<void> {
  const fateOf = (seq: number): LostFate => {
    const fate = fates.get(seq);
    if (fate === undefined) throw new Error(`action ${seq} is not of chunk ${chunk.chunk}`);
    return fate;
  };
  const detailOf = (fate: LostFate): string | undefined => (fate.state === "abandoned" ? undefined : fate.detail);
  const itemOf = (seq: number): ItemFacts => {
    const fate = fateOf(seq);
    if (fate.state !== "abandoned") throw new Error(`action ${seq} has no outcome`);
    return fate.item;
  };
  const lines = await plan.lines(chunk);
  const parts = cutChunk(
    ledger,
    chunk,
    lines,
    (seq) => fateOf(seq).state,
    (seq) => detailOf(fateOf(seq)),
  );
  if (parts.every(({ state, detail }) => state === chunk.state && detail === chunk.detail)) return;
  if (!(await divideChunk(ledger, plan, chunk, parts, itemOf, at)))
    throw new Error(`chunk ${chunk.chunk} was changed while its run was mended`);
}

const isIn = (seq: number, spans: readonly Span[]): boolean => isWithin({ first: seq, count: 1 }, spans);

function countOutside(chunks: readonly ChunkRecord[], spans: readonly Span[]): number {
  let outside = 0;
  for (const { first, count } of chunks)
    for (let seq = first; seq < first + count; seq += 1) if (!isIn(seq, spans)) outside += 1;
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
      addChunks(ledger, parent, [state === "planned" ? part : { ...part, detail: WHY_LOST }], state);
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
      return { state: isIn(seq, planned) ? "planned" : "in doubt" };
    };
    for (const stretch of stretchesOf(initial, lengthsOf(await plan.lines(initial)), fateOf))
      if (stretch.state !== "settled") parts.push({ ...stretch, lane });
  }
  return parts;
}
