/** Puts the lines of a promises file into the ledger. */

import { existsSync, readFileSync } from "node:fs";
import type { ActionData } from "../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import { stringifyJson } from "../actions/json.ts";
import { errorCode, Failure } from "../failure.ts";
import { endAttempt } from "../ledger/attempts.ts";
import { insertOutcomes, type NewOutcome } from "../ledger/blocks.ts";
import { changeChunk } from "../ledger/chunks.ts";
import { forgetUnplaced, IMPORTED, unplacedActions } from "../ledger/known-state.ts";
import { type Ledger, writeMeta } from "../ledger/ledger.ts";
import { countByAction, hasOutcome } from "../ledger/outcomes.ts";
import {
  type ChunkRecord,
  chunksOf,
  enterImportedRun,
  findRun,
  IMPORTED_MAPPING,
  noteManifest,
  type RunRecord,
  undecidedChunks,
} from "../ledger/runs.ts";
import { dataTextOf } from "../plan/files/chunk-actions.ts";
import { CONTENT_BYTES } from "../plan/files/index-file.ts";
import { manifestOf, NO_ACTIONS } from "../plan/files/manifest.ts";
import { openPlan, type Plan, planFiles } from "../plan/files/plan.ts";
import { cutChunk, replaceChunk } from "../sending/chunk-parts.ts";
import { enterLostRun, isImportedRun } from "../sending/mend-lost-run.ts";
import { planDirectory } from "./places.ts";
import type { PromiseLine } from "./promises-file.ts";
import type { Session } from "./session.ts";

/** Enters a run that the ledger does not know from its plan; undefined where the plan is lost or damaged. */
export async function enterFromPlan(
  { ledger, environment, lost }: Session,
  run: string,
): Promise<RunRecord | undefined> {
  const directory = planDirectory(environment, run);
  const listed = lost().find((each) => each.run === run && each.how === "unknown");
  if (listed === undefined || !existsSync(directory)) return undefined;
  try {
    await using plan = await openPlan(directory, readFileSync(planFiles(directory).manifest, "utf8").trimEnd());
    for (const chunk of plan.manifest.chunks) await plan.lines(chunk); // compares its bytes with their digest
    return enterLostRun(ledger, plan, listed);
  } catch (cause) {
    if (cause instanceof Failure) return undefined; // the ids in the promises are enough to send nothing twice
    throw cause;
  }
}

/**
 * A line that tells of another action than the run's plan has under its number: what it says would be believed of that one.
 * Undefined where there is none, or where the plan is lost or damaged.
 */
export async function contradictionOf(
  { ledger, environment }: Session,
  run: string,
  lines: readonly PromiseLine[],
): Promise<PromiseLine | undefined> {
  const directory = planDirectory(environment, run);
  if (!existsSync(directory)) return undefined;
  const known = findRun(ledger, run);
  try {
    const manifest =
      known === undefined || isImportedRun(known)
        ? readFileSync(planFiles(directory).manifest, "utf8").trimEnd()
        : known.manifest;
    await using plan = await openPlan(directory, manifest);
    const left = new Map(lines.map((line) => [line.seq, line]));
    for (const chunk of plan.manifest.chunks) {
      const told = numbersOf(chunk).flatMap((seq) => left.get(seq) ?? []);
      if (told.length === 0) continue;
      const actions = await plan.chunk(chunk);
      const wrong = told.find((line) => idsOf(line) !== idsOf(actions.actions.read(line.seq - chunk.first)));
      if (wrong !== undefined) return wrong;
      for (const { seq } of told) left.delete(seq);
    }
    return left.values().next().value;
  } catch (cause) {
    if (cause instanceof Failure || errorCode(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

/** A cell of a table can't tell an empty id from none. */
const idsOf = ({ action, eventId, ticketId, nftId }: Pick<PromiseLine, "action" | "eventId" | "ticketId" | "nftId">) =>
  JSON.stringify([action, eventId ?? "", ticketId ?? "", nftId ?? ""]);

/** Imports a run that the ledger lost, or more lines of one that was imported before. */
export function importRun({ ledger, environment, boundTo }: Session, run: string, lines: readonly PromiseLine[]): void {
  const rows = lines.toSorted((a, b) => a.seq - b.seq);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return;
  ledger.transaction(() => {
    const { runNo, createdAt } = enterImportedRun(ledger, run, first.at, last.at);
    const known = new Map(chunksOf(ledger, runNo).map((each) => [each.chunk, each]));
    for (const [chunk, ofChunk] of Map.groupBy(rows, (row) => row.chunk)) {
      const before = known.get(chunk);
      const seqs = [...ofChunk.map(({ seq }) => seq), ...(before === undefined ? [] : endsOf(before))];
      const from = Math.min(...seqs);
      const borders = { first: from, count: Math.max(...seqs) - from + 1 };
      changeChunk(ledger, before === undefined ? "remember" : "rememberMore", { runNo, chunk }, borders);
      insertOutcomes(ledger, runNo, ofChunk.map(toOutcome));
    }
    const byAction = countByAction(ledger, runNo);
    const total = Object.values(byAction).reduce((sum, actions) => sum + actions, 0);
    const manifest = manifestOf({
      run,
      createdAt,
      environment: lines[0]?.environment ?? environment.name,
      boundTo,
      inputs: [],
      mapping: IMPORTED_MAPPING,
      rows: { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0, mended: 0 },
      actions: { ...NO_ACTIONS, total, planned: total },
      repeated: 0,
      byAction,
      problems: { errors: 0, warnings: 0 },
      chunks: [],
      again: false,
      options: { directory: "", safeCsv: false },
    });
    noteManifest(ledger, runNo, JSON.stringify(manifest));
    writeMeta(ledger, IMPORTED, "yes");
  });
}

/** The first and the last action of a chunk. */
const endsOf = ({ first, count: actions }: ChunkRecord): readonly number[] => [first, first + actions - 1];

type Lines = readonly PromiseLine[];

export const missingFrom = (ledger: Ledger, { runNo }: RunRecord, lines: Lines): Lines =>
  lines.filter(({ seq }) => !hasOutcome(ledger, runNo, seq));

/**
 * Completes a run of which an older copy of the ledger does not know everything. Lines are placed by the numbers of their
 * actions, since this copy does not know how chunks were cut later.
 *
 * @returns how many lines the ledger has now. Without the run's plan a chunk can't be cut.
 */
export async function completeRun(
  { ledger, environment }: Session,
  run: RunRecord,
  missing: readonly PromiseLine[],
): Promise<number> {
  const directory = planDirectory(environment, run.run);
  await using plan = existsSync(directory) ? await openPlan(directory, run.manifest) : undefined;
  const lines = new Map(missing.map((line) => [line.seq, line]));
  const unplaced = unplacedActions(ledger, run.runNo);
  let placed = 0;
  for (const chunk of undecidedChunks(ledger, run.runNo)) {
    const told = numbersOf(chunk).flatMap((seq) => lines.get(seq) ?? []);
    if (told.length === 0 || (plan === undefined && told.length < chunk.count)) continue;
    const { parts, rows } = await placeLines(ledger, plan, chunk, lines);
    ledger.transaction(() => {
      if (chunk.state === "sending") endAttempt(ledger, chunk, { ...UNHEARD, at: new Date().toISOString() });
      replaceChunk(ledger, chunk, parts);
      const found = rows.flatMap(({ seq }) => (unplaced.has(seq) ? [seq] : []));
      forgetUnplaced(ledger, run.runNo, found);
      insertOutcomes(ledger, run.runNo, rows);
      for (const { chunk: number, state } of parts)
        if (state === "settled") changeChunk(ledger, "project", { runNo: run.runNo, chunk: number });
      if (plan === undefined) writeMeta(ledger, IMPORTED, "yes");
    });
    placed += told.length;
  }
  return placed;
}

const UNHEARD = {
  event: "doubt",
  class: "in doubt",
  httpStatus: undefined,
  detail: "the answer is not in the ledger, which was restored from an older copy",
} as const;

const numbersOf = ({ first, count: actions }: Pick<ChunkRecord, "first" | "count">): readonly number[] =>
  Array.from({ length: actions }, (_, at) => first + at);

/**
 * The chunk in parts, those that lines tell about and the others, and what the lines say. Without a plan, the lines must
 * cover it whole.
 */
async function placeLines(
  ledger: Ledger,
  plan: Plan | undefined,
  chunk: ChunkRecord,
  lines: ReadonlyMap<number, PromiseLine>,
): Promise<{ readonly parts: readonly ChunkRecord[]; readonly rows: readonly NewOutcome[] }> {
  if (plan === undefined) {
    const rows = numbersOf(chunk).flatMap((seq) => lines.get(seq) ?? []);
    const whole = { ...chunk, state: "settled", detail: undefined } as const;
    return { parts: [whole], rows: rows.map((line) => ({ ...toOutcome(line), chunk: chunk.chunk })) };
  }
  const [actions, records] = await Promise.all([plan.lines(chunk), plan.records(chunk)]);
  // The answer to a request under way is lost.
  const rest = chunk.state === "sending" ? "in doubt" : chunk.state;
  const cut = cutChunk(ledger, chunk, actions, (seq) => (lines.has(seq) ? "settled" : rest));
  const parts = cut.map((part) =>
    part.state === "in doubt" && part.detail === undefined ? { ...part, detail: UNHEARD.detail } : part,
  );
  const rows = parts.flatMap((part) =>
    numbersOf(part).flatMap((seq): NewOutcome[] => {
      const [line, action, record] = [lines.get(seq), actions[seq - chunk.first], records[seq - chunk.first]];
      if (line === undefined || action === undefined || record === undefined) return [];
      const { identity, content } = record;
      return [
        {
          ...toOutcome(line),
          chunk: part.chunk,
          data: dataTextOf(action.toString("utf8"), record.action),
          identity,
          content,
        },
      ];
    }),
  );
  return { parts, rows };
}

export function toOutcome(line: PromiseLine): NewOutcome {
  const { source, action, eventId, ticketId, nftId, status, actionPromise, seq, chunk, at, response } = line;
  const data: ActionData = {
    ...(eventId !== undefined && { eventId }),
    ...(ticketId !== undefined && { ticketId }),
    ...(nftId !== undefined && { nftId }),
  };
  const identity = importedIdentityText({ action, data }) ?? identityText({ action, data });
  return {
    seq,
    chunk,
    source,
    line: line.line,
    action,
    data: stringifyJson(data),
    outcome: status === "success" ? "accepted" : status === "settled-by-hand" ? "settled by hand" : "rejected",
    status,
    actionPromise,
    response: response === undefined || typeof response === "string" ? response : stringifyJson(response),
    at,
    identity: digestOf(identity),
    // Only the ids are known, so no later action is ever called changed against it.
    content: Buffer.alloc(CONTENT_BYTES),
  };
}
