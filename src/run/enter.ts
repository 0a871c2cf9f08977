/** A checked plan becomes a run of the ledger, and what of it is not sent goes into rejects. */

import { createHash } from "node:crypto";
import { crashPoint } from "../disk/crash-points.ts";
import type { NewRun, Run } from "../ledger/ledger.ts";
import type { Plan } from "../plan/plan.ts";
import { NO_RUN, rowKeyText } from "../read/rejects-columns.ts";
import { type OpenRow, type RejectsInput, writeRejects } from "../write/rejects.ts";
import type { CheckedInput, RunContext } from "./context.ts";
import { noteInJournal } from "./lost-ledger.ts";
import { byUser, type OpenEnvironment } from "./open.ts";
import { type InputOptions, inputFlags } from "./validate.ts";

/**
 * After it resolves, the run and its chunks are in the ledger, its rejects are written, and the plan's file is gone.
 *
 * @param output the promises file; undefined for standard output.
 */
export async function enterRun(
  context: RunContext,
  opened: OpenEnvironment,
  options: InputOptions,
  checked: CheckedInput,
  output: string | undefined,
): Promise<Run> {
  const { ledger, environment } = opened;
  const { plan } = checked;
  const run = await toRun(context, opened, options, checked);
  const rejects = await writeNotSent(context, opened, plan, output, run.run);
  crashPoint("planned");
  const { chunkSize: size, maxChunkBytes: bytes } = environment;
  const entered = { ...run, output, options: { ...run.options, rejects } };
  const known = await ledger.enterRun(entered, plan.chunks({ size, bytes }), plan.byKey());
  plan[Symbol.dispose]();
  return known;
}

/** After it resolves, the new actions of the plan count as sent. @returns the id of the run that stands for them. */
export async function adoptRun(
  context: RunContext,
  opened: OpenEnvironment,
  options: InputOptions & { readonly reason?: string | undefined },
  checked: CheckedInput,
): Promise<string> {
  const { ledger, environment } = opened;
  const { plan } = checked;
  const run = await toRun(context, opened, options, checked);
  const adopted = await ledger.adopt(run, plan.byKey(), { ...byUser(options.reason), at: run.createdAt });
  await noteInJournal(environment, ledger, adopted, plan.actions.new);
  return run.run;
}

/** What the ledger keeps of a plan. */
async function toRun(
  { cwd, now }: RunContext,
  { ledger, environment }: OpenEnvironment,
  options: InputOptions,
  { plan, problems: { errors, warnings }, isNews }: CheckedInput,
): Promise<NewRun> {
  // The same for a command that is given once more, so that rejects which a killed one wrote are known as this run's.
  const [last] = await ledger.runs({ last: 1 });
  const of = [ledger.instance, last?.run, plan.inputs.map(({ name, sha256 }) => [name, sha256])];
  const { rows, actions, byAction, guard } = plan;
  return {
    run: createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 8),
    createdAt: (now?.() ?? new Date()).toISOString(),
    environment: environment.name,
    output: undefined,
    inputs: plan.inputs.map((input) => {
      const { readAs: source, sha256, rows } = input;
      return { ...toRejectsInput(input), source, sha256, rows };
    }),
    ...{ rows: { ...rows }, actions: { ...actions }, byAction, problems: { errors, warnings } },
    options: {
      directory: cwd,
      machine: ledger.machine,
      safeCsv: environment.safeCsv,
      flags: [...inputFlags(options)],
      reportsChange: isNews,
      heldBy: [...plan.held.heldBy.keys()],
    },
    ...{ guard, corrected: plan.corrected() },
  };
}

/** A place for each row of a thousand seconds. */
const PLACES_PER_MS = 1000;

/**
 * Rows that are reported and not sent go into rejects at once: it can be done again where the process is killed.
 * Those of a night that enters no run stand behind all that the last run sent, one such night behind the other.
 *
 * @param id of the run that is entered next, if one is.
 */
export async function writeNotSent(
  { cwd: directory, now }: RunContext,
  { ledger, environment: { safeCsv } }: OpenEnvironment,
  plan: Plan,
  output: string | undefined,
  id?: string,
): Promise<readonly string[]> {
  const [last] = await ledger.runs({ last: 1 });
  const behindAll = (now?.() ?? new Date()).getTime() * PLACES_PER_MS;
  function* rows(): Generator<OpenRow> {
    for (const { input, line, text, reason, digest, isUnclear, position } of plan.notSent()) {
      const { run = id, seq } = position;
      const place = run === undefined ? { run: last?.run ?? NO_RUN, seq: behindAll + seq } : { run, seq };
      yield { input, line, text, reason, key: rowKeyText({ digest, isUnclear, ...place }) };
    }
  }
  const inputs = plan.inputs.map(toRejectsInput);
  const files = await writeRejects({ ledger, inputs, directory, output, safeCsv, rows });
  crashPoint("rejects placed");
  return files;
}

/** How the rejects of an input are written. */
const toRejectsInput = ({ name, format, header, delimiter, encoding }: Plan["inputs"][number]): RejectsInput => ({
  ...{ name, header, delimiter, encoding },
  format: format !== "cells" ? format : delimiter === "\t" ? "tsv" : "csv",
});
