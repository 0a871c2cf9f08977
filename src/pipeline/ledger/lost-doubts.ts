/** What a ledger lacks of a run that was sent from here, and no promises file tells: it becomes a doubt, which a person ends. */

import { readFileSync } from "node:fs";
import { parseManifest } from "../plan/manifest.ts";
import { type Plan, planFiles } from "../plan/plan.ts";
import type { Ledger } from "./ledger.ts";
import { IMPORTED_MAPPING } from "./memory.ts";
import type { LostRun, Stretch } from "./run-list.ts";
import { addChunks, type ChunkRecord, chunksOf, type RunRecord } from "./runs.ts";

/** Of such a run the ledger knows what its promises file told, and no plan. */
export const isImportedRun = ({ manifest }: Pick<RunRecord, "manifest">): boolean =>
  parseManifest(manifest).mapping === IMPORTED_MAPPING;

const WHY = "the ledger does not know whether this was sent: it was lost, or put back from an older copy";

/**
 * Of the run's actions that have no outcome, all but those that were surely never on their way are in doubt after this
 * returns, and the attempts that the list of runs tells of are in the ledger. One transaction.
 *
 * @param plan the run's plan, which may be all that is left of a run that was imported.
 * @returns how many actions are in doubt now that were not before.
 */
export async function doubtWhatIsLost(ledger: Ledger, plan: Plan, run: RunRecord, lost: LostRun): Promise<number> {
  const isImported = isImportedRun(run);
  const parts = isImported ? await missingParts(ledger, plan, run, lost.planned) : [];
  // As it stands in the folder: the two are compared.
  const manifest = readFileSync(planFiles(plan.directory).manifest, "utf8").trimEnd();
  const at = new Date().toISOString();
  return ledger.transaction(() => {
    if (isImported) {
      ledger.run(
        "UPDATE runs SET manifest = ?, state = 'open', ended_at = NULL, output = ? WHERE run_no = ?",
        manifest,
        lost.outputs.at(-1) ?? null,
        run.runNo,
      );
      for (const { lane, ...part } of parts)
        addChunks(ledger, { runNo: run.runNo, chunk: undefined, lane, httpStatus: undefined }, [part], "planned");
    }
    const doubted = chunksOf(ledger, run.runNo, "planned").filter((chunk) => !isWithin(chunk, lost.planned));
    for (const { chunk } of doubted)
      ledger.run(
        "UPDATE chunks SET state = 'in doubt', detail = ? WHERE run_no = ? AND chunk = ?",
        WHY,
        run.runNo,
        chunk,
      );
    addAttempts(ledger, run.runNo, doubted, lost.attempts, at);
    return doubted.reduce((sum, { count }) => sum + count, 0);
  });
}

/** Attempts that the ledger has lost; more than the list knows of, so that a copy from before is told from this ledger. */
function addAttempts(ledger: Ledger, runNo: number, doubted: readonly ChunkRecord[], listed: number, at: string): void {
  const known = Number(ledger.get("SELECT count(*) AS n FROM attempts WHERE run_no = ?", runNo)?.n);
  const chunk = doubted[0]?.chunk ?? chunksOf(ledger, runNo)[0]?.chunk ?? 1;
  for (let missing = Math.max(1, listed - known + 1); missing > 0; missing -= 1)
    ledger.run(
      `INSERT INTO attempts (run_no, chunk, attempt, started_at, ended_at, class, detail)
       SELECT ?, ?, coalesce(max(attempt), 0) + 1, ?, ?, 'in doubt', ? FROM attempts WHERE run_no = ? AND chunk = ?`,
      ...[runNo, chunk, at, at, WHY, runNo, chunk],
    );
}

const isWithin = ({ first, count }: Pick<ChunkRecord, "first" | "count">, stretches: readonly Stretch[]): boolean =>
  stretches.some(([from, actions]) => first >= from && first + count <= from + actions);

/** A part of a plan's chunk. */
type Part = Pick<ChunkRecord, "lane" | "first" | "count" | "offset" | "length">;

/** What of the plan no outcome was imported of; what was never on its way stands apart. */
async function missingParts(
  ledger: Ledger,
  plan: Plan,
  { runNo }: RunRecord,
  planned: readonly Stretch[],
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const initial of plan.manifest.chunks) {
    const end = initial.first + initial.count;
    const outcomes = ledger.all(
      "SELECT seq FROM actions WHERE run_no = ? AND seq >= ? AND seq < ?",
      runNo,
      initial.first,
      end,
    );
    if (outcomes.length === initial.count) continue;
    const known = new Set(outcomes.map(({ seq }) => Number(seq)));
    let open: { -readonly [K in keyof Part]: Part[K] } | undefined;
    let offset = initial.offset;
    for (const [at, line] of (await plan.lines(initial)).entries()) {
      const part = { lane: initial.lane, first: initial.first + at, count: 1, offset, length: line.length + 1 };
      if (known.has(part.first)) open = undefined;
      else if (open !== undefined && isWithin(open, planned) === isWithin(part, planned)) {
        open.count += 1;
        open.length += part.length;
      } else {
        open = part;
        parts.push(open);
      }
      offset += part.length;
    }
  }
  return parts;
}
