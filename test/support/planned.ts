/** Plans by the one loop, of files as commands read them. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ActionName } from "../../src/actions/actions.ts";
import type { Severity } from "../../src/actions/problem.ts";
import { allRules } from "../../src/checks/rules.ts";
import { severityTable } from "../../src/checks/severity.ts";
import type { Answer, Ledger, NewChunk, NewRun, Origin } from "../../src/ledger/ledger.ts";
import { actionOfFileName } from "../../src/mapping/columns.ts";
import { createMapper } from "../../src/mapping/create-mapper.ts";
import { MAPPING_RULES } from "../../src/mapping/rules.ts";
import type { SourceConfig } from "../../src/mapping/source.ts";
import { madeBy } from "../../src/plan/guard.ts";
import { makePlan, type Plan, type PlanOptions } from "../../src/plan/plan.ts";
import { Problems } from "../../src/plan/problems.ts";
import { PLAN_RULES } from "../../src/plan/rules.ts";
import { openInput } from "../../src/readers/input.ts";
import { resolveInputs } from "../../src/readers/inputs.ts";
import { INPUT_RULES, READER_RULES } from "../../src/readers/rules.ts";

export interface Asked {
  readonly ledger?: PlanOptions["ledger"];
  readonly environment?: PlanOptions["environment"];
  readonly source?: SourceConfig;
  readonly action?: ActionName;
  readonly rules?: Readonly<Record<string, Severity>>;
  readonly mode?: PlanOptions["mode"];
  readonly order?: PlanOptions["order"];
  readonly lanes?: number;
  readonly limit?: number;
  readonly maxInvalid?: PlanOptions["maxInvalid"];
}

export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-plan-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Writes files and gives their paths. */
export function write(folder: string, files: Readonly<Record<string, string>>): readonly string[] {
  mkdirSync(folder, { recursive: true });
  return Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
}

export interface Planned {
  readonly plan: Plan;
  readonly problems: Problems;
}

export async function planFiles(folder: string, paths: readonly string[], asked: Asked = {}): Promise<Planned> {
  const directory = join(folder, "plan");
  const { source, action, rules = {} } = asked;
  const severities = severityTable(rules, allRules(READER_RULES, INPUT_RULES, MAPPING_RULES, PLAN_RULES));
  const problems = new Problems(500);
  const files = await resolveInputs(paths);
  const plan = await makePlan({
    files: files.map((file) => ({ ...file, name: file.name.split("/").at(-1) ?? "" })),
    directory,
    open: (file) => openInput(file),
    readingOf: async ({ name }, { header, format }) => ({
      mapper: createMapper({
        fileName: name,
        ...(header !== undefined && { header }),
        ...(action !== undefined && { action }),
        ...(source !== undefined && { source: { name: "s", config: source } }),
        isPayload: format === "json",
      }),
      readAs: action ?? (source === undefined ? (actionOfFileName(name) ?? "") : "source s"),
      isSource: source !== undefined,
      made: source === undefined ? [] : madeBy(source),
      findings: [],
    }),
    allowEmpty: false,
    limit: asked.limit ?? Number.POSITIVE_INFINITY,
    problems,
    ledger: asked.ledger,
    environment: asked.environment,
    mode: asked.mode ?? "judge",
    order: asked.order ?? "input",
    lanes: asked.lanes ?? 1,
    maxInvalid: asked.maxInvalid ?? { rows: 0 },
    severities,
    now: () => new Date("2026-05-01T00:00:00Z"),
    onUnderstood: () => undefined,
    onRows: () => undefined,
    onJudged: () => undefined,
    signal: new AbortController().signal,
  });
  return { plan, problems };
}

let runs = 0;

export const runOf = (plan: Plan): NewRun => {
  runs += 1;
  return {
    run: runs.toString(16).padStart(8, "0"),
    createdAt: "2026-05-01T00:00:00.000Z",
    environment: "test",
    output: undefined,
    inputs: [],
    ...{ rows: {}, actions: {}, byAction: {}, problems: {}, options: {} },
    guard: plan.guard,
  };
};

/** Enters a plan, and has the service take all but what is rejected; left where nothing was answered, it is pending. */
export async function enter(
  ledger: Ledger,
  { plan }: Planned,
  { rejects = () => false, isAnswered = true }: { rejects?: (origin: Origin) => boolean; isAnswered?: boolean } = {},
): Promise<number> {
  const chunks: NewChunk[] = [];
  async function* kept(): AsyncGenerator<NewChunk> {
    for await (const chunk of plan.chunks()) {
      chunks.push(chunk);
      yield chunk;
    }
  }
  const run = await ledger.enterRun(runOf(plan), kept(), plan.byKey());
  const at = "2026-05-01T00:00:01.000Z";
  for (const { chunk, origins } of isAnswered ? chunks : []) {
    const { attempt } = await ledger.advance(run, { intent: { chunk, at } });
    const answers = origins.map((origin): Answer => {
      if (rejects(origin)) return { outcome: "rejected", response: "{}" };
      return { outcome: "accepted", promise: `p-${run}-${origin.seq}` };
    });
    await ledger.advance(run, { answered: { chunk, attempt: attempt ?? 1, httpStatus: 200, at, answers } });
  }
  return run;
}

/** Verdicts by subject and kind, as the plan has them. */
export const told = ({ problems }: Planned): readonly string[] =>
  problems.kept.map(({ source, line, rule }) => `${source}:${line} ${rule}`);
