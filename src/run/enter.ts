/** A checked plan becomes a run of the ledger; what the user says is known already is only recorded. */

import { createHash, randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { makeFolder } from "../disk/folders.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Ledger, NewRun, Run } from "../ledger/ledger.ts";
import type { Plan, PlanOptions } from "../plan/plan.ts";
import { machineOf } from "../write/output-file.ts";
import type { RunContext } from "./context.ts";
import { noteInJournal } from "./lost-ledger.ts";
import type { CheckedInput } from "./progress.ts";
import { toRejectsInput, writeNotSent } from "./rejects.ts";
import { byUser, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";
import { type InputOptions, inputFlags } from "./validate.ts";

const PLANS = "plan-";

/** Where a plan lies while it is made: on the disk of the ledger, which has to take it anyway. */
export const planFolder = ({ ledgerPath }: Environment): string =>
  join(dirname(ledgerPath), `${PLANS}${randomBytes(4).toString("hex")}`);

/** Removes plans that killed processes left. The caller holds the environment's lock. */
export async function removeLeftPlans({ ledgerPath }: Environment): Promise<void> {
  const folder = dirname(ledgerPath);
  makeFolder(folder, { mode: 0o700 });
  for (const name of await readdir(folder))
    if (name.startsWith(PLANS))
      await rm(join(folder, name), { recursive: true, force: true }).catch((cause: unknown) => {
        throw new Failure("storage", `${join(folder, name)} can't be removed (${errorCode(cause)}).`, {
          nothingSent: true,
          hint: "A command that was killed left it. Check the disk and the permissions of the folder.",
          cause,
        });
      });
}

/** What the ledger keeps of a plan. @param of `last`: the run before it. */
export function toRun(
  { cwd, now }: RunContext,
  options: InputOptions & {
    readonly settings: Settings;
    readonly mode: PlanOptions["mode"];
  },
  { plan, problems, isNews }: CheckedInput,
  ledger: Ledger,
  { output, last }: { readonly output: string | undefined; readonly last: Run | undefined },
): NewRun {
  const { errors, warnings } = problems;
  return {
    run: idOfRun(ledger, last, plan),
    createdAt: (now?.() ?? new Date()).toISOString(),
    environment: options.settings.environment.name,
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
      safeCsv: options.settings.environment.safeCsv,
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
function idOfRun({ instance }: Ledger, last: Run | undefined, { inputs }: Plan): string {
  const of = [instance, last?.run, inputs.map(({ name, sha256 }) => [name, sha256])];
  return createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 8);
}

/** After it resolves, the run and its chunks are in the ledger, its rejects are written, and the plan's file is gone. */
export async function enterRun(
  context: RunContext,
  ledger: Ledger,
  run: NewRun,
  plan: Plan,
  last: Run | undefined,
): Promise<Run> {
  const safeCsv = run.options.safeCsv === true;
  const rejects = await writeNotSent(context, ledger, plan, { output: run.output, safeCsv, last, id: run.run });
  crashPoint("planned");
  await ledger.enterRun({ ...run, options: { ...run.options, rejects } }, plan.chunks(), plan.byKey());
  const entered = await ledger.run(run.run);
  if (entered === undefined) throw new Error(`run ${run.run} vanished while it was entered`);
  plan[Symbol.dispose]();
  return entered;
}

/** After it resolves, the new actions of the plan count as sent. */
export async function adoptRun(
  { environment, ledger }: Session,
  run: NewRun,
  plan: Plan,
  reason: string | undefined,
): Promise<void> {
  await ledger.adopt(run, plan.byKey(), { ...byUser(reason), at: run.createdAt });
  const adopted = await ledger.run(run.run);
  if (adopted !== undefined) await noteInJournal(environment, ledger, adopted, plan.actions.new);
}
