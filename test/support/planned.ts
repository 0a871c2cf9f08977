/** Plans made of files as commands make them, with all that comes of them. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { severityTable } from "../../src/checks/severity.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { NOTHING_PENDING } from "../../src/ledger/pending.ts";
import { createMapper } from "../../src/mapping/create-mapper.ts";
import type { SourceConfig } from "../../src/mapping/source.ts";
import type { WorkerOptions } from "../../src/plan/compile/parallel.ts";
import { planFiles } from "../../src/plan/files/plan.ts";
import { createProblemLog } from "../../src/plan/findings/problem-log.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { resolveInputs } from "../../src/readers/inputs.ts";
import { ALL_RULES } from "../../src/run/rules.ts";

export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-planned-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A whole plan: its files, and what was said. */
export async function planned(
  folder: string,
  paths: readonly string[],
  workers: WorkerOptions,
  source?: SourceConfig,
  {
    stop = new AbortController(),
    onRows = () => undefined,
    ledger,
    lanes = 1,
  }: {
    readonly stop?: AbortController;
    readonly onRows?: () => void;
    readonly ledger?: Ledger | undefined;
    readonly lanes?: number;
  } = {},
) {
  const directory = mkdtempSync(join(folder, "plan-"));
  rmSync(directory, { recursive: true });
  const problems = createProblemLog(500);
  const understood: unknown[] = [];
  const files = await resolveInputs(paths);
  const { manifest, ...result } = await makePlan({
    files,
    directory,
    run: "run",
    copyInputs: false,
    reading: {},
    sources: new Set(),
    mapperFor: async (file, input) => {
      const settings = {
        fileName: file.name.split("/").at(-1) ?? "",
        ...(input.header !== undefined && { header: input.header }),
        ...(source !== undefined && { source: { name: "s", config: source } }),
      };
      const mapper = createMapper(settings);
      return { mapper, settings, readAs: "", rules: [] };
    },
    readingOf: () => ({}),
    mappingDigest: "",
    environment: undefined,
    ledger,
    pending: NOTHING_PENDING,
    again: false,
    limit: Number.POSITIVE_INFINITY,
    order: "input",
    lanes,
    reportVanished: false,
    maxInvalid: { percent: 100 },
    severities: severityTable({}, ALL_RULES),
    workers,
    problems,
    onUnderstood: (_file, understanding) => understood.push(understanding),
    onRows,
    onOrdered: () => undefined,
    runOptions: { directory: folder, safeCsv: false },
    now: () => new Date(0),
    signal: stop.signal,
  });
  const paths_ = planFiles(directory);
  const bytes =
    manifest === undefined
      ? undefined
      : [paths_.actions, paths_.index, paths_.invalid, paths_.manifest].map((path) => readFileSync(path, "hex"));
  return { result, bytes, understood, kept: problems.kept, tallies: problems.tallies };
}
