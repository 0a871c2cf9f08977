/** From files to a checked plan, for `validate`, `plan` and `stream`. */

import { statSync } from "node:fs";
import { ACTION_NAMES, type ActionName, acceptedFields } from "../actions/actions.ts";
import { isFieldName, isPersonal } from "../actions/fields.ts";
import type { PlacedProblem } from "../actions/problem.ts";
import { type Config, originOf } from "../config/config.ts";
import { displayOrigin } from "../config/declared.ts";
import { atItsPlace } from "../config/document.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { personalColumns } from "../map/personal-columns.ts";
import { type Allowance, makePlan, type PlanOptions } from "../plan/plan.ts";
import { Problems } from "../plan/problems.ts";
import { allMarksOf } from "../plan/public-values.ts";
import type { OnRow } from "../plan/reading.ts";
import type { UnderstoodInput } from "../plan/rows.ts";
import type { InputFile } from "../read/input-file.ts";
import { resolveInputs } from "../read/inputs.ts";
import { severityIn, severityTable } from "../rules.ts";
import type { CheckedInput, RunContext } from "./context.ts";
import { refuseLostRuns } from "./lost-ledger.ts";
import { findLedgerOf } from "./open.ts";
import type { SettingsToCheck } from "./settings.ts";

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
  readonly mode?: PlanOptions["mode"] | undefined;
  /** 1 by default. */
  readonly lanes?: number;
  /** Called with each row and what the mapping makes of it. */
  readonly onRow?: OnRow | undefined;
}

/** Problems kept for showing; all are counted. */
const PROBLEMS_KEPT = 10_000;

export async function checkInput(
  context: RunContext,
  options: PlanSettings,
  ledger: Ledger | undefined,
): Promise<CheckedInput> {
  const { settings, mode = "judge", lanes = 1, order = "input" } = options;
  const { limit = Number.POSITIVE_INFINITY, maxInvalid = { rows: 0 } } = options;
  const { config, environment } = settings;
  const { progress, cwd, now, stdin, stop: signal } = context;
  if (order === "time") progress.happened({ kind: "ordered by time" });
  const files = await resolveInputs(options.files, { cwd, inputFormat: options.format, signal });
  const problems = new Problems(PROBLEMS_KEPT, severityIn(severityTable(config.rules)));
  const total = bytesOf(files);
  const understood: UnderstoodInput[] = [];
  const planning = makePlan({
    ...{ ...options, files, ledger, mode, order, lanes, limit, maxInvalid, problems, environment },
    ...{ sources: config.sources, rules: config.rules, maxInputBytes: environment?.maxInputBytes, stdin, signal },
    onUnderstood: (input) => understood.push(input),
    onRows: (rows, bytes) => {
      const share = total > 0 ? { share: Math.min(1, bytes / total) } : {};
      progress.advanced({ doing: "checking", unit: "row", done: rows, ...share });
    },
    onJudged: (actions) => progress.advanced({ doing: "comparing", unit: "action", done: actions }),
    now: () => now?.() ?? new Date(),
  });
  const plan = await planning.catch((cause: unknown) => {
    progress.happened({ kind: "inputs understood", inputs: understood, known: new Set() });
    throw atItsPlace(config.documents, cause, cwd);
  });
  progress.advanced(undefined);
  const known = (await ledger?.reported(allMarksOf(understood))) ?? new Set();
  progress.happened({ kind: "inputs understood", inputs: understood, known });
  const { kept } = problems;
  const shown = (await ledger?.reported(kept.flatMap(({ mark }) => mark ?? []))) ?? new Set();
  return {
    ...{ plan, problems, understood, shown },
    isNews: kept.some(({ rule, mark }) => rule === "changed" && (mark === undefined || !shown.has(mark))),
    decidedAt: decidingPlaces(config, understood, cwd),
    namesPerson: namingPersons(config, understood),
    [Symbol.dispose]: () => plan[Symbol.dispose](),
  };
}

/** As they are stored; 0 where one is a pipe, whose size is not known. */
function bytesOf(files: readonly InputFile[]): number {
  const found = files.map(({ path }) => (path === "-" ? undefined : statSync(path, { throwIfNoEntry: false })));
  return found.every((each) => each?.isFile()) ? found.reduce((sum, each) => sum + (each?.size ?? 0), 0) : 0;
}

/** Whether a field names a person, or a column of a file of which its source makes such a field. */
function namingPersons(config: Config, inputs: readonly UnderstoodInput[]) {
  const columns = new Map(
    inputs.flatMap(({ file, source, input }) => {
      const rules = source === undefined ? undefined : config.sources[source];
      return rules === undefined ? [] : [[file.name, personalColumns(rules, input.header)] as const];
    }),
  );
  return ({ source: file, field }: Pick<PlacedProblem, "source" | "field">): boolean =>
    field !== undefined && (isPersonal(field) || columns.get(file)?.has(field) === true);
}

/**
 * Where the config decides about the field of a problem, as `tickets.config.yaml:14`; of one that names no action, in each
 * action that takes the field. A constant is checked with the config, so it is named only where there is nothing else.
 */
function decidingPlaces(config: Config, inputs: readonly UnderstoodInput[], cwd: string) {
  const sources = new Map(inputs.map(({ file, source }) => [file.name, source]));
  return ({ source: file, field, action }: Pick<PlacedProblem, "source" | "field" | "action">): readonly string[] => {
    const source = sources.get(file);
    if (source === undefined || field === undefined || !isFieldName(field)) return [];
    const { actions = [], fields } = config.sources[source] ?? {};
    const found = actions.flatMap((entry, at) =>
      ACTION_NAMES.flatMap((name) => {
        const isMeant = action === undefined ? acceptedFields(name).includes(field) : name === action;
        if (!isMeant || !Object.hasOwn(entry, name)) return [];
        const own = entry[name]?.fields?.[field];
        const rule = own ?? fields?.[field];
        const path = own === undefined ? ["fields", field] : ["actions", at, name, "fields", field];
        const origin = originOf(config, ["sources", source, ...path]);
        return origin === undefined ? [] : [{ origin, isConstant: typeof rule === "string" && !rule.includes("{") }];
      }),
    );
    const varying = found.filter(({ isConstant }) => !isConstant);
    const origins = (varying.length > 0 ? varying : found).map(({ origin }) => displayOrigin(origin, cwd));
    return [...new Set(origins)];
  };
}

/** The flags that say how the same input is read again. */
export function inputFlags({ order, ...options }: InputOptions): readonly string[] {
  const given = { ...options, order: order === "input" ? undefined : order };
  return (["action", "source", "format", "encoding", "order"] as const).flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
}

/**
 * Checks the input; with an environment, also against what was sent there, and what was accepted is left out. The ledger is
 * only read.
 *
 * @throws Failure when the input can't be read at all, the config can't be carried out, or the ledger was lost.
 */
export async function plan(context: RunContext, options: PlanSettings): Promise<CheckedInput> {
  const { environment } = options.settings;
  await using ledger = environment && (await findLedgerOf(environment));
  if (environment !== undefined) {
    await refuseLostRuns(environment, ledger, context.cwd);
    const runs = ledger === undefined ? 0 : (await ledger.runs()).length;
    context.progress.happened({ kind: "ledger opened", environment, runs, isToSend: false });
  }
  return await checkInput(context, options, ledger);
}
