/** Ledgers in PostgreSQL, each in a schema of its own. */

import { type PostgresServer, startPostgres } from "./postgres.ts";

export interface SharedLedger {
  readonly server: PostgresServer;
  readonly schema: string;
  /** Of an environment called playground whose ledger it is. */
  readonly config: string;
  /** Where that finds it. */
  readonly env: { readonly TICKETS_LEDGER_URL: string };
}

/**
 * A place for a ledger that no other test has.
 *
 * @param server which one; that of this worker.
 * @param settings of the environment, as YAML on one line each.
 */
export async function sharedLedger(server?: PostgresServer, ...settings: readonly string[]): Promise<SharedLedger> {
  const on = server ?? (await startPostgres());
  const schema = on.newSchema();
  const ledger = `ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}, schema: ${schema}}}`;
  const config = ["environments:", "  playground:", ...[...settings, ledger].map((each) => `    ${each}`), ""].join(
    "\n",
  );
  return { server: on, schema, config, env: { TICKETS_LEDGER_URL: on.url } };
}
