/** What a shell offers where a value is typed. It reads what is there, asks for no key and makes nothing. */

import { ACTION_NAMES, ACTIONS } from "../actions/actions.ts";
import { andMore, cleanText } from "../actions/text.ts";
import { loadConfig } from "../config/config.ts";
import { listEnvironments, resolveEnvironment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { listRuns, openRuns, type RunRecord, runsWithDoubts } from "../ledger/runs.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import { INPUT_FORMATS } from "../readers/input-file.ts";
import { openLedgerToRead } from "../run/ledger-to-read.ts";
import { KNOWN_RULES } from "../run/rules.ts";

/** Something to offer, and what it is. */
export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** What a value can be, where the program itself does not list the choices. `open run` and `doubtful run` are parts of `run`. */
export type ValueKind = "action" | "environment" | "source" | "input format" | "run" | "open run" | "doubtful run";

/** What the words before it say of the environment. */
export interface CompletionContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly envFlag?: string | undefined;
  readonly configFlag?: string | undefined;
  readonly stateDir?: string | undefined;
}

/** How long a config that is a pipe is waited for. Whoever pressed the key is waiting. */
const LONGEST_MS = 1000;

/** How many runs are offered, the newest first. */
const RUNS_OFFERED = 50;

/** @throws Failure where the config or the ledger can't be read. */
export async function valuesOf(kind: ValueKind, context: CompletionContext): Promise<readonly Candidate[]> {
  switch (kind) {
    case "action":
      return ACTION_NAMES.map((value) => ({ value, about: ACTIONS[value].meaning }));
    case "input format":
      return INPUT_FORMATS.map((value) => ({ value }));
    case "environment":
      return listEnvironments(await configOf(context), context.env).map(({ name }) => ({ value: name }));
    case "source":
      return Object.keys((await configOf(context)).sources).map((value) => ({ value }));
    default:
      return runsOf(kind, context);
  }
}

const configOf = ({ cwd, env, configFlag }: CompletionContext) =>
  loadConfig({ cwd, env, configFlag, knownRules: KNOWN_RULES, signal: AbortSignal.timeout(LONGEST_MS) });

const RUNS = {
  run: (ledger) => listRuns(ledger, RUNS_OFFERED),
  "open run": openRuns,
  "doubtful run": (ledger) => {
    const runs = [...openRuns(ledger), ...runsWithDoubts(ledger)];
    return [...new Map(runs.map((run) => [run.runNo, run])).values()];
  },
} satisfies Record<Extract<ValueKind, `${string}run`>, (ledger: Ledger) => readonly RunRecord[]>;

async function runsOf(kind: keyof typeof RUNS, context: CompletionContext): Promise<readonly Candidate[]> {
  const { env, envFlag, configFlag, stateDir } = context;
  const config = await configOf(context);
  using ledger = await openLedgerToRead(resolveEnvironment(config, { env, envFlag, configFlag, flags: { stateDir } }));
  if (ledger === undefined) return [];
  return RUNS[kind](ledger).map((run) => ({ value: run.run, about: describe(run) }));
}

/** `2026-03-01 03:00, finished, sales.csv and 2 more` */
function describe({ createdAt, state, manifest }: RunRecord): string {
  const [first, ...others] = parseManifest(manifest).inputs.map(({ name }) => name);
  const files = first === undefined ? [] : [`${cleanText(first, 60)}${andMore(others.length)}`];
  return [`${createdAt.slice(0, 16).replace("T", " ")} UTC`, state, ...files].join(", ");
}
