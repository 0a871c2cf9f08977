/**
 * A ledger of many nights, filled by the tool's own functions, so that it can't hold anything that the tool would not
 * have written: runs of a million sales each, every one accepted.
 */

import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { contentText, digestOf, identityText } from "../src/actions/identity.ts";
import { bindTo } from "../src/ledger/bound.ts";
import { changeChunk } from "../src/ledger/chunks.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { mergeOutcomes } from "../src/ledger/merge.ts";
import { insertOutcomes, type NewOutcome } from "../src/ledger/new-outcomes.ts";
import { openLedger } from "../src/ledger/open-ledger.ts";
import { chunksOf, endRun, enterRun, listRuns, type PlannedChunk } from "../src/ledger/runs.ts";
import { CONTENT_BYTES } from "../src/plan/files/index-file.ts";
import { manifestOf, NO_ACTIONS } from "../src/plan/files/manifest.ts";
import { eventActions, type Span, saleAction } from "./generate.ts";

const CHUNK = 5000;
const RUN = 1_000_000;
const LOADED = /^loaded-/;

/**
 * Sees to it that the ledger holds the events and the sales of the span, bound to the service. Makes it when it does not.
 *
 * @returns how long each million that was added took to be merged with those before it, in milliseconds.
 */
export function fillLedger(path: string, span: Span, baseUrl: string): readonly number[] {
  using ledger = openLedger({ path, boundTo: undefined });
  // Nothing here is worth an fsync: a ledger that is not filled to the end is filled from the last run on.
  ledger.run("PRAGMA synchronous = OFF");
  const merged = fill(ledger, span);
  bindTo(ledger, baseUrl);
  return merged;
}

/** The same for a ledger that is open and bound to the service. */
export function fill(ledger: Ledger, span: Span): readonly number[] {
  const merged: number[] = [];
  const runs = Math.ceil(span.rows / RUN);
  const loaded = listRuns(ledger).filter(({ run }) => LOADED.test(run));
  if (loaded.length < runs) {
    for (const unfinished of loaded.filter(({ state }) => state !== "finished")) {
      throw new Error(`${unfinished.run} was interrupted; remove ${ledger.path}`);
    }
    for (let run = loaded.length; run < runs; run += 1) {
      const first = span.first + run * RUN;
      merged.push(addRun(ledger, run, { ...span, first, rows: Math.min(RUN, span.first + span.rows - first) }));
      console.error(`  ledger: ${Math.min(span.rows, (run + 1) * RUN).toLocaleString("en")} tickets`);
    }
  }
  return merged;
}

/** How many runs other than the loaded ones it has had. */
export function nightsOf(path: string): number {
  using ledger = openLedger({ path, boundTo: undefined });
  return listRuns(ledger).filter(({ run }) => !LOADED.test(run)).length;
}

export function removeLedger(path: string): void {
  rmSync(dirname(path), { recursive: true, force: true });
}

/** @returns how long the merge took, in milliseconds. */
function addRun(ledger: Ledger, number: number, span: Span): number {
  const at = new Date(1_760_000_000_000 + number * 86_400_000).toISOString();
  const events = number === 0 ? eventActions() : [];
  const total = events.length + span.rows;
  const chunks: PlannedChunk[] = [];
  for (let first = 1; first <= total; first += CHUNK)
    chunks.push({ lane: 0, first, count: Math.min(CHUNK, total - first + 1), offset: 0, length: 0 });
  const manifest = manifestOf({
    run: `loaded-${number}`,
    createdAt: at,
    environment: "bench",
    boundTo: "",
    inputs: [],
    mapping: "",
    rows: { read: total, mapped: total, skipped: 0, invalid: 0, held: 0, mended: 0 },
    actions: { ...NO_ACTIONS, total, planned: total },
    repeated: 0,
    byAction: {},
    problems: { errors: 0, warnings: 0 },
    chunks: chunks.map((chunk) => ({ ...chunk, sha256: "" })),
    again: false,
    options: { directory: "", safeCsv: false },
  });
  const { run } = manifest;
  const { runNo } = enterRun(ledger, { run, manifest: JSON.stringify(manifest), output: undefined, chunks, at });
  for (const chunk of chunksOf(ledger, runNo)) {
    const outcomes: NewOutcome[] = [];
    for (let seq = chunk.first; seq < chunk.first + chunk.count; seq += 1) {
      const action = events[seq - 1] ?? saleAction(span.seed, span.first + seq - 1 - events.length);
      outcomes.push({
        seq,
        chunk: chunk.chunk,
        source: "sales.csv",
        line: seq + 1,
        action: action.action,
        data: JSON.stringify(action.data),
        outcome: "accepted",
        status: "success",
        actionPromise: `${String(runNo).padStart(8, "0")}-0000-4000-8000-${String(seq).padStart(12, "0")}`,
        at,
        identity: digestOf(identityText(action)),
        content: digestOf(contentText(action)).subarray(0, CONTENT_BYTES),
      });
    }
    ledger.transaction(() => {
      insertOutcomes(ledger, runNo, outcomes);
      changeChunk(ledger, "intend", chunk);
      changeChunk(ledger, "answer", chunk, { http_status: 200, answered_at: at });
      changeChunk(ledger, "project", chunk);
    });
  }
  const start = performance.now();
  mergeOutcomes(ledger);
  const merged = performance.now() - start;
  endRun(ledger, runNo, "finished", 0, at);
  return merged;
}
