/** `tickets sandbox`: the service on this machine, until it is stopped. */

import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanText, count } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { BESIDE_DATABASE, setAside } from "../disk/files.ts";
import { makeFolder } from "../disk/folders.ts";
import { EXIT_CODES } from "../failure.ts";
import { journalPath, sandboxStatePath } from "../run/ledger-of.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { openEngine } from "../sandbox/engine.ts";
import { readFaultFile } from "../sandbox/fault-text.ts";
import { startSandbox } from "../sandbox/server.ts";
import { findKey } from "../sandbox/service-key.ts";
import { closeState } from "../sandbox/state.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";

const DEFAULT_PORT = 4010;

export interface ServeOptions extends EnvironmentOptions, Pick<RunSandboxOptions, "port" | "reset" | "keyEnv"> {
  readonly faults?: string | undefined;
}

export async function serveSandbox(options: ServeOptions, context: Context): Promise<number> {
  const { reporter, env, stop } = context;
  const { environment } = await loadSettings(runContextOf(context), { ...options, env: "sandbox" });
  const statePath = sandboxStatePath(environment);
  makeFolder(dirname(statePath), { mode: 0o700 });
  return runSandbox(
    {
      ...options,
      statePath,
      afterReset: () => {
        const aside = setLedgerAside(environment);
        if (aside !== undefined) reporter.info(`The sandbox's ledger was set aside as ${aside}.`);
      },
      accept: environment.accept,
      env,
      faultsFile: options.faults,
    },
    { out: { write: reporter.out }, err: { write: (text) => reporter.info(text.trimEnd()) } },
    stop,
  );
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
  return existsSync(ledgerPath) ? setAside(ledgerPath, now, BESIDE_DATABASE) : undefined;
}

export interface RunSandboxOptions {
  /** The SQLite file that keeps the service's state; the key file stands beside it. */
  readonly statePath: string;
  /** Default 4010; 0 takes any free one. */
  readonly port?: number | undefined;
  /** Sets the state aside first, so that a new instance starts. Nothing is deleted. */
  readonly reset?: boolean | undefined;
  /** Done after a reset, before anything is served: what else belongs to the old instance is set aside here. */
  readonly afterReset?: () => void;
  /** A fault script, YAML or JSON (docs/reference.md#the-sandbox). */
  readonly faultsFile?: string | undefined;
  /** Name of the environment variable that holds the key; else `TICKETS_SANDBOX_API_KEY`, else a key file. */
  readonly keyEnv?: string | undefined;
  /** Ids of rules that the sandbox does not enforce. */
  readonly accept?: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SandboxIo {
  /** Lines for a shell: how to reach the sandbox. */
  readonly out: { write(text: string): unknown };
  /** Lines for people. */
  readonly err: { write(text: string): unknown };
}

/**
 * Serves until `signal` is aborted; then everything is closed and 0 returned.
 *
 * @throws Failure `usage` for a taken port, a bad fault script or a key that can't be had; `storage` for a state that
 *   can't be opened; `busy` for `reset` while another process uses the state.
 */
export async function runSandbox(options: RunSandboxOptions, io: SandboxIo, signal: AbortSignal): Promise<number> {
  const { statePath, port = DEFAULT_PORT, accept } = options;
  const say = (line: string) => io.err.write(`${line}\n`);
  const faults = options.faultsFile === undefined ? undefined : readFaultFile(options.faultsFile);
  if (options.reset) {
    say(
      closeState(statePath)
        ? `The old state was set aside as ${setAside(statePath, new Date(), BESIDE_DATABASE)}.`
        : `There was no state in ${statePath} to reset.`,
    );
    options.afterReset?.();
  }
  using engine = openEngine({ path: statePath, ...(accept && { accept }) });
  const key = findKey(options.env, options.keyEnv, join(dirname(statePath), "sandbox.key"));
  await using sandbox = await startSandbox({
    engine,
    port,
    apiKey: key.value,
    ...(faults && { faults }),
    signal,
    onError: (error) => say(`Could not answer a request: ${cleanText(String(error), 300)}`),
  });

  const { requests, tickets } = engine.counts();
  say(
    `Sandbox at ${sandbox.url}, state ${statePath}${requests === 0 ? " (NEW)" : `, ${tickets} tickets`}, instance ${sandbox.instanceId}.`,
  );
  if (faults !== undefined) say(`Faults from ${options.faultsFile}, ${count(faults.rules.length, "rule")}.`);
  if (accept !== undefined && accept.length > 0) say(`Not enforced: ${accept.join(", ")}.`);
  say(`To look at it in a browser: ${sandbox.pageUrl}`);
  say("In another shell:");
  io.out.write(`export TICKETS_LOCAL_BASE_URL=${sandbox.url} TICKETS_LOCAL_API_KEY=${key.inShell}\n`);
  say("  tickets stream FILE --env local");
  say("Stop with Ctrl-C.");
  if (!signal.aborted) await once(signal, "abort");
  return EXIT_CODES.ok;
}
