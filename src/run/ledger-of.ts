/** The ledger of an environment, and its lock. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { describeLedgerServer } from "../config/ledger-server.ts";
import { EXIT_CODES } from "../failure.ts";
import { findLedger, type Invocation, type Ledger, type LedgerPlace, openLedger } from "../ledger/ledger.ts";
import type { RunContext } from "./context.ts";

/** The environment's lock among those of its ledger. */
export const LOCK = "environment";

type Placed = Pick<Environment, "ledgerPath">;

/** The runs that were sent from this machine. */
export const JOURNAL = "journal.ndjson";
export const journalPath = ({ ledgerPath }: Placed): string => join(dirname(ledgerPath), JOURNAL);

export const sandboxStatePath = ({ ledgerPath }: Placed): string => join(dirname(ledgerPath), "service.db");

/** How long a database server that can't be reached is waited for: one that fails over is back by then. */
const PATIENCE_MS = { sending: 60_000, reading: 5_000, noting: 2_000 } as const;
type Patience = keyof typeof PATIENCE_MS;

/** Who hears that a database is away, and can stop waiting for it. */
type Hearer = Pick<RunContext, "stop" | "progress">;

function placeOf(
  { ledgerPath: path, ledgerServer: server }: Environment,
  patience: Patience,
  hearer?: Hearer,
): LedgerPlace {
  if (server === undefined) return { kind: "sqlite", path };
  const patienceMs = PATIENCE_MS[patience];
  return {
    ...{ kind: "postgres", schema: server.schema, shown: describeLedgerServer(server), application: "tickets" },
    ...server.address(),
    ...{ patienceMs, connectTimeoutMs: Math.min(10_000, patienceMs), signal: hearer?.stop },
    onAway: (isAway) => hearer?.progress.happened({ kind: "database away", isAway }),
  };
}

/** The environment's ledger, made where there is none. */
export const openLedgerOf = (environment: Environment, boundTo: string, hearer: Hearer): Promise<Ledger> =>
  openLedger({ place: placeOf(environment, "sending", hearer), boundTo });

/** The environment's ledger, read-only; undefined where there is none yet. */
export async function findLedgerOf(
  environment: Environment,
  patience: Patience = "reading",
  hearer?: Hearer,
): Promise<Ledger | undefined> {
  // What a sandbox that is not running belongs to is not known.
  const boundTo = environment.kind === "sandbox" ? undefined : environment.baseUrl;
  return findLedger({ place: placeOf(environment, patience, hearer), boundTo });
}

/**
 * Notes in the ledger how a command ended, if there is one that takes it. Takes no lock, and never throws, since no command
 * fails for its trace.
 *
 * @param shown marks of warnings that the command printed.
 */
export async function noteInvocationOf(
  environment: Environment,
  invocation: Invocation,
  shown: readonly string[],
): Promise<void> {
  const { ledgerPath, ledgerServer } = environment;
  // A command that could not reach the server does not wait for it again; a file that is not there is not made for this.
  if (ledgerServer === undefined ? !existsSync(ledgerPath) : invocation.exitCode === EXIT_CODES.storage) return;
  try {
    await using ledger = await openLedger({ place: placeOf(environment, "noting"), boundTo: undefined });
    await ledger.noteInvocation(invocation, shown);
  } catch {
    // The command itself has reported a ledger that can't be written.
  }
}
