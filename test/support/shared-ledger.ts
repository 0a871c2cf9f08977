/** Ledgers in PostgreSQL, each in a schema of its own. */

import { startPostgres } from "./postgres.ts";

/** `LEDGER=postgres` has every environment of these tests keep its ledger there. */
export const IS_LEDGER_SHARED = process.env.LEDGER === "postgres";

export interface SharedLedger {
  /** Of an environment, as YAML on one line. */
  readonly settings: string;
  readonly env: { readonly TICKETS_LEDGER_URL: string };
  readonly schema: string;
}

/** A place for a ledger that no other test has. */
export async function sharedLedger(): Promise<SharedLedger> {
  const server = await startPostgres();
  const schema = server.newSchema();
  return {
    settings: `ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}, schema: ${schema}}}`,
    env: { TICKETS_LEDGER_URL: server.url },
    schema,
  };
}

/**
 * The config of an environment whose ledger is there, in a folder that has none.
 *
 * @param more settings of the environment, as YAML on one line each.
 */
export const configOf = (environment: string, { settings }: SharedLedger, ...more: readonly string[]): string =>
  `environments:\n  ${environment}:\n${[settings, ...more].map((each) => `    ${each}\n`).join("")}`;
