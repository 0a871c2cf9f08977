/** A checked plan becomes a run of the ledger; what the user says is known already is only recorded. */

import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Ledger, NewRun, Run } from "../ledger/ledger.ts";
import type { Plan, PlanOptions } from "../plan/plan.ts";
import { machineOf } from "../write/output-file.ts";
import type { RunContext } from "./context.ts";
import { noteInJournal } from "./lost-ledger.ts";
import type { CheckedInput } from "./progress.ts";
import { toRejectsInput, writeNotSent } from "./rejects.ts";
import { namedRun } from "./runs.ts";
import { byUser, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";
import { type InputOptions, inputFlags } from "./validate.ts";

/**
 * Where a plan lies while it is made: on the disk of the ledger, which has to take it anyway. The caller holds the
 * environment's lock, so what lies there was left by a command that was killed, and is removed.
 */
export async function emptyPlanFolder({ ledgerPath }: Environment): Promise<string> {
  const folder = join(dirname(ledgerPath), "plan-input");
  await rm(folder, { recursive: true, force: true }).catch((cause: unknown) => {
    throw new Failure("storage", `${folder} can't be removed (${errorCode(cause)}).`, {
      nothingSent: true,
      hint: "A command that was killed left it. Check the disk and the permissions of the folder.",
      cause,
    });
  });
  return folder;
}

/** What the ledger keeps of a plan. */
export async function toRun(
  { cwd, now }: RunContext,
  options: InputOptions & { readonly settings: Settings; readonly mode: PlanOptions["mode"] },
  { plan, problems, isNews }: CheckedInput,
  ledger: Ledger,
  output: string | undefined,
): Promise<NewRun> {
  const { errors, warnings } = problems;
  const { name: environment, safeCsv } = options.settings.environment;
  return {
    run: await idOfRun(ledger, plan),
    createdAt: (now?.() ?? new Date()).toISOString(),
    environment,
    output: options.mode === "adopt" ? undefined : output,
    inputs: plan.inputs.map((input) => {
      const { readAs: source, sha256, rows } = input;
      return { ...toRejectsInput(input), source, sha256, rows };
    }),
    rows: { ...plan.rows },
    actions: { ...plan.actions },
    byAction: plan.byAction,
    problems: { errors, warnings },
    options: {
      directory: cwd,
      machine: machineOf(ledger) ?? null,
      safeCsv,
      flags: [...inputFlags(options)],
      order: options.order ?? "input",
      reportsChange: isNews,
      heldBy: [...plan.held.heldBy.keys()],
    },
    guard: plan.guard,
    corrected: plan.corrected(),
  };
}

/** The same for a command that is given once more, so that rejects which a killed one wrote are known as this run's. */
async function idOfRun(ledger: Ledger, { inputs }: Plan): Promise<string> {
  const [last] = await ledger.runs({ last: 1 });
  const of = [ledger.instance, last?.run, inputs.map(({ name, sha256 }) => [name, sha256])];
  return createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 8);
}

/** After it resolves, the run and its chunks are in the ledger, its rejects are written, and the plan's file is gone. */
export async function enterRun(
  context: RunContext,
  { ledger, environment }: Session,
  run: NewRun,
  plan: Plan,
): Promise<Run> {
  const { safeCsv } = environment;
  const rejects = await writeNotSent(context, ledger, plan, { output: run.output, safeCsv, id: run.run });
  crashPoint("planned");
  const chunks = plan.chunks({ size: environment.chunkSize, bytes: environment.maxChunkBytes });
  await ledger.enterRun({ ...run, options: { ...run.options, rejects } }, chunks, plan.byKey());
  plan[Symbol.dispose]();
  return namedRun(ledger, run.run, environment);
}

/** After it resolves, the new actions of the plan count as sent. */
export async function adoptRun(
  { environment, ledger }: Session,
  run: NewRun,
  plan: Plan,
  reason: string | undefined,
): Promise<void> {
  await ledger.adopt(run, plan.byKey(), { ...byUser(reason), at: run.createdAt });
  await noteInJournal(environment, ledger, await namedRun(ledger, run.run, environment), plan.actions.new);
}
