/** Promises files that must not be written into: the ledger does not know what they hold, or they are no promises files. */

import { displayPath, fileInShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { runListPath } from "../ledger/ledger.ts";
import { wasReset } from "../ledger/run-list.ts";
import type { OutputState } from "../outputs/output-file.ts";
import type { RunLabel } from "../outputs/promise-lines.ts";
import type { RunContext } from "./context.ts";
import { environmentFlags } from "./next-command.ts";
/** Whether the file shows that the environment's ledger was lost, or restored from an older backup. */
export const hasLostRuns = (state: OutputState, environment: Environment): boolean =>
  hasUnknownRuns(state, environment) && !isOfResetSandbox(state, environment);

/** Whether the file belongs to a sandbox that was reset since, so that nothing in it is lost. */
export const isOfResetSandbox = (state: OutputState, environment: Environment): boolean =>
  hasUnknownRuns(state, environment) && wasReset(runListPath(environment.ledgerPath), state.lostRun.run);

type WithUnknownRuns = Extract<OutputState, { state: "strange" }> & { readonly lostRun: RunLabel };

const hasUnknownRuns = (state: OutputState, { ledgerNames }: Environment): state is WithUnknownRuns =>
  state.state === "strange" && state.lostRun !== undefined && ledgerNames.includes(state.lostRun.environment);

/**
 * @param ofRun the run that writes into the file already, so that no flag can name another file.
 * @throws Failure `usage` for a file that must not be written into.
 */
export function refuseStrangeOutput(
  path: string,
  state: OutputState,
  { cwd }: Pick<RunContext, "cwd">,
  environment: Environment,
  ofRun?: string,
): void {
  if (state.state !== "strange") return;
  if (hasLostRuns(state, environment)) {
    throw new Failure(
      "usage",
      `${displayPath(path, cwd)} holds runs of this environment that its ledger does not know: the ledger was lost or restored from an older copy, or a copy of its folder is used elsewhere. Nothing was sent.`,
      {
        hint: `Import what it lacks: tickets results --import ${fileInShell(displayPath(path, cwd))} ${environmentFlags(environment)}\n${ofRun === undefined ? "If the file belongs to another ledger, name another file with --output." : `If the end of it belongs to another ledger, move it away: the rest of run ${ofRun} then goes into a file beside it.`}`,
      },
    );
  }
  throw new Failure("usage", `${displayPath(path, cwd)} is not appended to: ${state.why}. Nothing was sent.`, {
    hint: "Name another file with --output, or set this one aside with --force (it is renamed, never deleted).",
  });
}
