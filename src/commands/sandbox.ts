/** `tickets sandbox`: the service on this machine, until it is stopped. */

import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanText, count, quotedInShell } from "../actions/text.ts";
import { BESIDE_DATABASE, setAside } from "../disk/aside.ts";
import { EXIT_CODES, errorCode, Failure } from "../failure.ts";
import { openEngine } from "../sandbox/engine.ts";
import { parseFaultText } from "../sandbox/fault-text.ts";
import type { FaultScript } from "../sandbox/faults.ts";
import { startSandbox } from "../sandbox/server.ts";
import { closeState } from "../sandbox/state.ts";

const DEFAULT_PORT = 4010;
const KEY_VARIABLE = "TICKETS_SANDBOX_API_KEY";

export interface RunSandboxOptions {
  /** The SQLite file that keeps the service's state; the key file stands beside it. */
  readonly statePath: string;
  /** Default 4010; 0 takes any free one. */
  readonly port?: number;
  /** Sets the state aside first, so that a new instance starts. Nothing is deleted. */
  readonly reset?: boolean;
  /** Done after a reset, before anything is served: what else belongs to the old instance is set aside here. */
  readonly afterReset?: () => Promise<void>;
  /** A fault script, YAML or JSON (docs/sandbox.md). */
  readonly faultsFile?: string;
  /** Name of the environment variable that holds the key; else `TICKETS_SANDBOX_API_KEY`, else a key file. */
  readonly keyEnv?: string;
  /** Ids of rules that the sandbox shall not enforce. */
  readonly accept?: readonly string[];
  readonly integratorName?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
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
  const { statePath, port = DEFAULT_PORT, accept, integratorName } = options;
  const say = (line: string) => io.err.write(`${line}\n`);
  const faults = options.faultsFile === undefined ? undefined : readFaults(options.faultsFile);
  if (options.reset) {
    say(
      closeState(statePath)
        ? `The old state was set aside as ${setAside(statePath, new Date(), BESIDE_DATABASE)}.`
        : `There was no state in ${statePath} to reset.`,
    );
    await options.afterReset?.();
  }
  using engine = openEngine({ path: statePath, ...(accept && { accept }), ...(integratorName && { integratorName }) });
  const key = findKey(options, join(dirname(statePath), "sandbox.key"));
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
  say("In another shell:");
  io.out.write(`export TICKETS_LOCAL_BASE_URL=${sandbox.url} TICKETS_LOCAL_API_KEY=${key.inShell}\n`);
  say("  tickets stream FILE --env local");
  say("Stop with Ctrl-C.");
  await aborted(signal);
  return EXIT_CODES.ok;
}

function readFaults(file: string): FaultScript {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new Failure("usage", `Could not read the fault script ${file}.`, { cause });
  }
  return parseFaultText(text, file);
}

interface Key {
  readonly value: string;
  /** What stands for it in a shell command, without showing it. */
  readonly inShell: string;
}

function findKey({ keyEnv, env = process.env }: RunSandboxOptions, keyFile: string): Key {
  const name = keyEnv ?? KEY_VARIABLE;
  const value = env[name];
  if (value !== undefined && value !== "") {
    assertSendable(value, `The variable ${name}`);
    return { value, inShell: `"$${name}"` };
  }
  if (keyEnv !== undefined)
    throw new Failure("usage", `The variable ${keyEnv} named by --key-env is not set.`, {
      hint: "Set it, or leave --key-env out: then a key is made.",
    });
  return { value: keptKey(keyFile), inShell: `$(cat ${quotedInShell(keyFile)})` };
}

/** The key in the file, made at the first start. A key of a sandbox opens nothing of value, but is kept like any other. */
function keptKey(keyFile: string): string {
  try {
    const made = randomBytes(24).toString("base64url");
    const file = openSync(keyFile, "wx", 0o600);
    writeFileSync(file, `${made}\n`);
    closeSync(file);
    return made;
  } catch (cause) {
    if (errorCode(cause) !== "EEXIST")
      throw new Failure("storage", `Could not write the key file ${keyFile}.`, { cause });
  }
  const kept = readFileSync(keyFile, "utf8").trim();
  assertSendable(kept, `The key file ${keyFile}`);
  return kept;
}

/** A header can hold it, so that a client can send it. */
function assertSendable(key: string, what: string): void {
  if (!/^[!-~]+$/.test(key))
    throw new Failure("usage", `${what} holds no usable key.`, {
      hint: "A key is visible ASCII characters without blanks.",
    });
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
