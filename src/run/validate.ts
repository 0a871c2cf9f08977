/** From files to a checked plan, for `validate`, `plan` and `stream`. */

import { statSync } from "node:fs";
import type { ActionName } from "../actions/actions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Allowance, makePlan, type PlanOptions } from "../plan/plan.ts";
import { Problems } from "../plan/problems.ts";
import type { InputFile } from "../read/input-file.ts";
import { resolveInputs } from "../read/inputs.ts";
import { severityIn, severityTable } from "../rules.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf } from "./ledger-of.ts";
import { refuseLostRuns } from "./lost-ledger.ts";
import { atItsPlace, formOf, type OnRow, readingOf, sourceOf } from "./mappers.ts";
import type { CheckedInput } from "./progress.ts";
import type { SettingsToCheck } from "./settings.ts";
import { allMarksOf, decidingPlaces, namingPersons, type UnderstoodInput } from "./understood.ts";

/** Flags of every command that reads input. */
export interface InputOptions {
  readonly files: readonly string[];
  readonly format?: string | undefined;
  readonly encoding?: string | undefined;
  readonly action?: ActionName | undefined;
  readonly source?: string | undefined;
  readonly limit?: number | undefined;
  /** Default: input. */
  readonly order?: PlanOptions["order"] | undefined;
  readonly maxInvalid?: Allowance | undefined;
}

export interface PlanSettings extends InputOptions {
  readonly settings: SettingsToCheck;
  /** `judge` by default. */
  readonly mode?: PlanOptions["mode"];
  /** 1 by default. */
  readonly lanes?: number;
  /** Called with each row and what the mapping makes of it. */
  readonly onRow?: OnRow | undefined;
}

/** Problems kept for showing; all are counted. */
const PROBLEMS_KEPT = 10_000;

/** The caller disposes of the plan. */
export async function checkInput(
  context: RunContext,
  options: PlanSettings,
  ledger: Ledger | undefined,
): Promise<CheckedInput> {
  const { settings, mode = "judge", lanes = 1, order = "input" } = options;
  const { limit = Number.POSITIVE_INFINITY, maxInvalid = { rows: 0 }, encoding } = options;
  const { config, environment } = settings;
  const { progress, cwd, now, stdin, stop: signal } = context;
  if (order === "time") progress.happened({ kind: "ordered by time" });
  const files = await resolveInputs(options.files, { cwd, inputFormat: options.format, signal });
  const severities = severityTable(config.rules);
  const problems = new Problems(PROBLEMS_KEPT, severityIn(severities));
  const mapping = { ...options, config, problems, signal };
  const total = bytesOf(files);
  const understood: UnderstoodInput[] = [];
  const planning = makePlan({
    ...{ files, ledger, mode, order, lanes, limit, maxInvalid, severities, problems, signal, environment },
    readingOf: (file, input) => readingOf(file, input, mapping),
    openingOf: (file) => ({
      ...{ signal, stdin, maxInputBytes: environment?.maxInputBytes },
      ...formOf(sourceOf(file, mapping)?.config),
      ...(encoding !== undefined && { encoding }),
    }),
    onUnderstood(file, how, rows) {
      // `--action` sets the rules of a source aside.
      const source = options.action === undefined ? sourceOf(file, mapping)?.name : undefined;
      understood.push({ ...how, file, rows, source });
    },
    onRows: (rows, bytes) => {
      const share = total > 0 ? { share: Math.min(1, bytes / total) } : {};
      progress.advanced({ doing: "checking", unit: "row", done: rows, ...share });
    },
    onJudged: (actions) => progress.advanced({ doing: "comparing", unit: "action", done: actions }),
    now: () => now?.() ?? new Date(),
  });
  const plan = await planning.catch((cause: unknown) => {
    progress.happened({ kind: "inputs understood", inputs: understood, known: new Set() });
    throw atItsPlace(config, cause, cwd);
  });
  progress.advanced(undefined);
  const known = (await ledger?.reported(allMarksOf(understood))) ?? new Set();
  progress.happened({ kind: "inputs understood", inputs: understood, known });
  const { kept } = problems;
  const shown = (await ledger?.reported(kept.flatMap(({ mark }) => mark ?? []))) ?? new Set();
  return {
    ...{ files, plan, problems, understood, shown },
    isNews: kept.some(({ rule, mark }) => rule === "changed" && (mark === undefined || !shown.has(mark))),
    decidedAt: decidingPlaces(config, understood, cwd),
    namesPerson: namingPersons(config, understood),
  };
}

/** As they are stored; 0 where one is a pipe, whose size is not known. */
function bytesOf(files: readonly InputFile[]): number {
  const found = files.map(({ path }) => (path === "-" ? undefined : statSync(path, { throwIfNoEntry: false })));
  return found.every((each) => each?.isFile()) ? found.reduce((sum, each) => sum + (each?.size ?? 0), 0) : 0;
}

/** The flags that say how the same input is read again. */
export function inputFlags({ order, ...options }: InputOptions): readonly string[] {
  const given = { ...options, order: order === "input" ? undefined : order };
  return (["action", "source", "format", "encoding", "order"] as const).flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
}

export interface PlannedInput extends CheckedInput, AsyncDisposable {}

/**
 * The checked input, and its plan until it is disposed. With an environment, it is also checked against what was sent there,
 * and what was accepted is left out. The ledger is only read.
 *
 * @throws Failure when the input can't be read at all, the config can't be carried out, or the ledger was lost.
 */
export async function plan(context: RunContext, options: PlanSettings): Promise<PlannedInput> {
  const { environment } = options.settings;
  await using ledger = environment && (await findLedgerOf(environment));
  if (environment !== undefined) {
    await refuseLostRuns(environment, ledger, context.cwd);
    const runs = ledger === undefined ? 0 : (await ledger.runs()).length;
    context.progress.happened({ kind: "ledger opened", environment, runs, isToSend: false });
  }
  const checked = await checkInput(context, options, ledger);
  return { ...checked, [Symbol.asyncDispose]: async () => checked.plan[Symbol.dispose]() };
}
