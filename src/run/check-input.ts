/** What `validate`, `plan` and `stream` share: from files to a checked plan. */

import { createHash } from "node:crypto";
import type { ActionName } from "../actions/actions.ts";
import { severityTable } from "../checks/severity.ts";
import type { Config } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { machineOf } from "../ledger/machine.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import type { Pending } from "../ledger/pending.ts";
import type { Order } from "../plan/files/manifest.ts";
import { createProblemLog } from "../plan/findings/problem-log.ts";
import { type Allowance, makePlan, type PlanOptions } from "../plan/make-plan.ts";
import { resolveInputs } from "../readers/inputs.ts";
import type { CheckedInput } from "./checked-input.ts";
import type { RunContext } from "./context.ts";
import { readingOf } from "./lookups.ts";
import { createMappers, type OnRow, readAsSource } from "./mappers.ts";
import { ALL_RULES } from "./rules.ts";

/** Flags of every command that reads input. */
export interface InputOptions {
  readonly files: readonly string[];
  readonly inputFormat?: string | undefined;
  readonly encoding?: string | undefined;
  readonly maxInputBytes?: number | undefined;
  /** Accept a file of 0 bytes as an input without rows. */
  readonly allowEmpty?: boolean | undefined;
  readonly action?: ActionName | undefined;
  readonly source?: string | undefined;
  readonly limit?: number | undefined;
  /** Default: input. */
  readonly order?: Order | undefined;
  /** Name tickets that the environment knows as sold and that the full export no longer holds. */
  readonly reportVanished?: boolean | undefined;
  readonly maxInvalid?: Allowance | undefined;
  readonly maxProblems?: number | undefined;
}

export interface CheckOptions extends InputOptions {
  readonly config: Config;
  /** Folder for the plan. */
  readonly directory: string;
  /** What the plan calls itself. */
  readonly run: string;
  readonly environment: { readonly environment: Environment; readonly boundTo: string } | undefined;
  readonly ledger: Ledger | undefined;
  readonly pending: Pending;
  readonly again: boolean;
  /** The most lanes that the actions are spread over. */
  readonly lanes: number;
  readonly copyInputs: boolean;
  readonly safeCsv: boolean;
  /** See `inputFlags`. */
  readonly rereadFlags: readonly string[];
  readonly onRow?: OnRow | undefined;
}

/** Problems kept for showing; all are counted. */
const PROBLEMS_KEPT = 10_000;

export async function checkInput(context: RunContext, options: CheckOptions): Promise<CheckedInput> {
  const { config, environment, order = "input" } = options;
  const { progress, cwd, stop: signal } = context;
  if (options.reportVanished) refuseHalfInput(options, environment !== undefined);
  if (order === "time") progress.happened({ kind: "ordered by time" });
  const files = await resolveInputs(options.files, {
    cwd,
    inputFormat: options.inputFormat,
    onPassedOver: (message) => progress.happened({ kind: "files passed over", message }),
    signal,
  });
  const problems = createProblemLog(Math.max(PROBLEMS_KEPT, options.maxProblems ?? 0));
  const severities = severityTable(config.rules, ALL_RULES);
  const { sourceOf, mapperFor } = createMappers({ ...options, cwd, severities, problems, signal });
  const planned = makePlan({
    ...planOptions(context, options),
    files,
    sources: new Set(Object.keys(config.sources).map(readAsSource)),
    readingOf: (file) => readingOf(sourceOf(file)?.config),
    mapperFor,
    severities,
    problems,
  });
  const plan = await asStorage(options.directory, planned);
  progress.advanced(undefined);
  return { files, plan, problems };
}

/** What a plan is made with, whatever the files and the config's sources are. */
function planOptions(
  { progress, cwd, stdin, now, stop }: RunContext,
  options: CheckOptions,
): Omit<PlanOptions, "files" | "sources" | "readingOf" | "mapperFor" | "severities" | "problems"> {
  const { directory, run, copyInputs, encoding, maxInputBytes, allowEmpty, order = "input" } = options;
  const { ledger, pending, again, lanes, limit, reportVanished = false, maxInvalid = { rows: 0 } } = options;
  const machine = ledger && machineOf(ledger);
  return {
    ...{ directory, run, copyInputs, ledger, pending, again, lanes, order, reportVanished, maxInvalid },
    reading: { encoding, maxInputBytes, stdin, allowEmpty },
    mappingDigest: mappingDigest(options),
    environment: options.environment && planEnvironment(options.environment),
    limit: limit ?? Number.POSITIVE_INFINITY,
    onUnderstood: (file, understanding, input, values) =>
      progress.happened({ kind: "input understood", file, understanding, input, values }),
    onRows: (rows, share) =>
      progress.advanced({ doing: "checking", unit: "row", done: rows, ...(share !== undefined && { share }) }),
    onOrdered: (actions) => progress.advanced({ doing: "ordering", unit: "action", done: actions }),
    runOptions: {
      directory: cwd,
      ...(machine !== undefined && { machine }),
      safeCsv: options.safeCsv,
      flags: [...options.rereadFlags],
      order,
      ...(encoding !== undefined && { encoding }),
    },
    now: () => now?.() ?? new Date(),
    signal: stop,
  };
}

/** Digest of everything but the files that decides how they are read: equal digests, equal readings. */
function mappingDigest({ action, source, encoding, inputFormat, order = "input", config }: CheckOptions): string {
  const told = [action ?? null, source ?? null, encoding ?? null, inputFormat ?? null, order];
  return createHash("sha256")
    .update(JSON.stringify([...told, config.sources, config.rules]))
    .digest("hex");
}

function planEnvironment({
  environment: { name, complete, chunkSize, maxChunkBytes },
  boundTo,
}: NonNullable<CheckOptions["environment"]>): NonNullable<PlanOptions["environment"]> {
  return { name, boundTo, complete, chunkSize, maxChunkBytes };
}

/** Which tickets vanished can only be said with an environment's memory, and of an input that is read whole. */
function refuseHalfInput({ limit }: InputOptions, isEnvironmentNamed: boolean): void {
  if (!isEnvironmentNamed)
    throw new Failure("usage", "--report-vanished compares the input with what an environment has accepted.", {
      hint: "Name the environment with --env.",
    });
  if (limit !== undefined)
    throw new Failure("usage", "--report-vanished needs the whole export, but --limit reads only part of it.", {
      hint: "Leave one of them out.",
    });
}

/** Reports errors of the disk that the plan is written to as storage failures. */
async function asStorage<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

/** The flags that say how the same input is read again. */
export function inputFlags(options: InputOptions): readonly string[] {
  const { action, source, inputFormat, encoding, order } = options;
  const given: readonly (readonly [string, string | undefined])[] = [
    ["--action", action],
    ["--source", source],
    ["--input-format", inputFormat],
    ["--encoding", encoding],
    ["--order", order === "input" ? undefined : order],
  ];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}
