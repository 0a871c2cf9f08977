/** `tickets sandbox`: the service on this machine, until it is stopped. */

import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { setAside } from "../disk/files.ts";
import { makeFolder } from "../disk/folders.ts";
import { EXIT_CODES } from "../failure.ts";
import { journalPath } from "../run/lost-ledger.ts";
import { sandboxStatePath } from "../run/open.ts";
import { openEngine } from "../sandbox/engine.ts";
import { readFaultFile } from "../sandbox/fault-text.ts";
import { startSandbox } from "../sandbox/server.ts";
import { findKey } from "../sandbox/service-key.ts";
import { closeState } from "../sandbox/state.ts";
import { cleanText, count } from "../text.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";

const DEFAULT_PORT = 4010;

/**
 * Serves until it is stopped; then everything is closed and 0 returned.
 *
 * @throws Failure `usage` for a taken port, a bad fault script or a key that can't be had; `storage` for a state that
 *   can't be opened; `busy` for `reset` while another process uses the state.
 */
export async function serveSandbox(options: Options<"port" | "reset" | "faults">, context: Context): Promise<number> {
  const { port = DEFAULT_PORT, reset } = options;
  const { env, stop } = context;
  const { info, out } = context.reporter;
  const { environment } = await openSettings(context, { ...options, env: "sandbox" });
  const { accept } = environment;
  const statePath = sandboxStatePath(environment);
  const folder = dirname(statePath);
  makeFolder(folder, { mode: 0o700 });
  const faults = options.faults === undefined ? undefined : readFaultFile(options.faults);
  if (reset) {
    info(
      closeState(statePath)
        ? `The old state was set aside as ${setAside(statePath)}.`
        : `There was no state in ${statePath} to reset.`,
    );
    const aside = setLedgerAside(environment);
    if (aside !== undefined) info(`The sandbox's ledger was set aside as ${aside}.`);
  }
  using engine = openEngine({ path: statePath, accept });
  const key = findKey(env, join(folder, "sandbox.key"));
  await using sandbox = await startSandbox({
    ...{ engine, port, apiKey: key.value, signal: stop },
    ...(faults && { faults }),
    onError: (error) => info(`Could not answer a request: ${cleanText(String(error), 300)}`),
  });

  const { requests, tickets } = engine.counts();
  info(
    `Sandbox at ${sandbox.url}, state ${statePath}${requests === 0 ? " (NEW)" : `, ${tickets} tickets`}, instance ${sandbox.instanceId}.`,
  );
  if (faults !== undefined) info(`Faults from ${options.faults}, ${count(faults.rules.length, "rule")}.`);
  if (accept.length > 0) info(`Not enforced: ${accept.join(", ")}.`);
  info(`To look at it in a browser: ${sandbox.pageUrl}`);
  info("In another shell:");
  out(`export TICKETS_LOCAL_BASE_URL=${sandbox.url} TICKETS_LOCAL_API_KEY=${key.inShell}\n`);
  info("  tickets stream FILE --env local");
  info("Stop with Ctrl-C.");
  if (!stop.aborted) await once(stop, "abort");
  return EXIT_CODES.ok;
}

/**
 * Sets aside the ledger and the journal of the old instance. The new one has accepted nothing, so they would be wrong
 * about it.
 *
 * @returns the ledger's new name; undefined where there was none.
 */
function setLedgerAside(environment: Environment): string | undefined {
  const now = new Date();
  const journal = journalPath(environment);
  if (existsSync(journal)) setAside(journal, now);
  const { ledgerPath } = environment;
  return existsSync(ledgerPath) ? setAside(ledgerPath, now) : undefined;
}
