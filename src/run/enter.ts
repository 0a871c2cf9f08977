/** A checked plan becomes a run of the ledger; what the user says is known already is only recorded. */

import { createHash } from "node:crypto";
import { crashPoint } from "../disk/crash-points.ts";
import type { Ledger, NewRun, Run } from "../ledger/ledger.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunContext } from "./context.ts";
import { noteInJournal } from "./lost-ledger.ts";
import type { CheckedInput } from "./progress.ts";
import { toRejectsInput, writeNotSent } from "./rejects.ts";
import { namedRun } from "./runs.ts";
import { byUser, type Session } from "./session.ts";
import { type InputOptions, inputFlags } from "./validate.ts";

/**
 * After it resolves, the run and its chunks are in the ledger, its rejects are written, and the plan's file is gone.
 *
 * @param output the promises file; undefined for standard output.
 */
export async function enterRun(
  context: RunContext,
  session: Session,
  options: InputOptions,
  checked: CheckedInput,
  output: string | undefined,
): Promise<Run> {
  const { ledger, environment } = session;
  const { plan } = checked;
  const run = await toRun(context, session, options, checked);
  const { safeCsv, chunkSize: size, maxChunkBytes: bytes } = environment;
  const rejects = await writeNotSent(context, ledger, plan, { output, safeCsv, id: run.run });
  crashPoint("planned");
  const entered = { ...run, output, options: { ...run.options, rejects } };
  await ledger.enterRun(entered, plan.chunks({ size, bytes }), plan.byKey());
  plan[Symbol.dispose]();
  return namedRun(ledger, run.run, environment);
}

/** After it resolves, the new actions of the plan count as sent. @returns the id of the run that stands for them. */
export async function adoptRun(
  context: RunContext,
  session: Session,
  options: InputOptions & { readonly reason?: string | undefined },
  checked: CheckedInput,
): Promise<string> {
  const { ledger, environment } = session;
  const { plan } = checked;
  const run = await toRun(context, session, options, checked);
  await ledger.adopt(run, plan.byKey(), { ...byUser(options.reason), at: run.createdAt });
  await noteInJournal(environment, ledger, await namedRun(ledger, run.run, environment), plan.actions.new);
  return run.run;
}

/** What the ledger keeps of a plan. */
async function toRun(
  { cwd, now }: RunContext,
  { ledger, environment }: Session,
  options: InputOptions,
  { plan, problems, isNews }: CheckedInput,
): Promise<NewRun> {
  const { errors, warnings } = problems;
  return {
    run: await idOfRun(ledger, plan),
    createdAt: (now?.() ?? new Date()).toISOString(),
    environment: environment.name,
    output: undefined,
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
      machine: ledger.machine ?? null,
      safeCsv: environment.safeCsv,
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
