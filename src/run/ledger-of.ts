/** The ledger of an environment, and its lock. */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { describeLedgerServer, ledgerPlace } from "../config/ledger-server.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { findLedger, type LedgerPlace, openLedger } from "../ledger/open.ts";

/** The environment's lock among those of its ledger. */
export const LOCK = "environment";

/** How long a database server that can't be reached is waited for: one that fails over is back by then. */
const PATIENCE_MS = { sending: 60_000, reading: 5_000, noting: 2_000 } as const;
type Patience = keyof typeof PATIENCE_MS;

function placeOf({ ledgerPath: path, ledgerServer: server }: Environment, patience: Patience): LedgerPlace {
  if (server === undefined) return { kind: "sqlite", path };
  const { url, tls } = server.address();
  const { schema, isUnsafe } = server;
  return {
    ...{ kind: "postgres", url, tls, schema, isUnsafe, shown: describeLedgerServer(server), application: "tickets" },
    patienceMs: PATIENCE_MS[patience],
    connectTimeoutMs: Math.min(10_000, PATIENCE_MS[patience]),
  };
}

/** The environment's ledger, made where there is none. */
export const openLedgerOf = (environment: Environment, boundTo: string): Promise<Ledger> =>
  openLedger({ place: placeOf(environment, "sending"), boundTo });

/** The environment's ledger, read-only; undefined where there is none yet. */
export const findLedgerOf = (environment: Environment, patience: Patience = "reading"): Promise<Ledger | undefined> =>
  findLedger({
    place: placeOf(environment, patience),
    // What a sandbox that is not running belongs to is not known.
    boundTo: environment.kind === "sandbox" ? undefined : environment.baseUrl,
  });

/** @param cwd that a path is shown from. */
export const noLedger = (environment: Environment, cwd: string): Failure =>
  new Failure("usage", `There is no ledger of ${environment.name} at ${ledgerPlace(environment, cwd)}.`, {
    hint: "Nothing was sent from here yet, or the ledger is elsewhere: name its folder with --state-dir.",
  });

/** Other ledgers in the same state folder that belong to the same service. */
export async function otherLedgersOf({ ledgerPath, baseUrl, kind }: Environment): Promise<readonly string[]> {
  const folder = dirname(dirname(ledgerPath));
  if (kind === "sandbox" || !existsSync(folder)) return [];
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name, "ledger.db");
    if (path === ledgerPath || !existsSync(path)) continue;
    await using ledger = await findLedger({ place: { kind: "sqlite", path }, boundTo: undefined });
    if (ledger?.boundTo === baseUrl && !ledger.isNew) found.push(path);
  }
  return found;
}
