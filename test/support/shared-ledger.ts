/** Ledgers in PostgreSQL, each in a schema of its own. */

import { isMap, parseDocument, type YAMLMap } from "yaml";
import { startPostgres } from "./postgres.ts";

/** `LEDGER=postgres` has every environment of these tests keep its ledger there. */
export const IS_LEDGER_SHARED = process.env.LEDGER === "postgres";

export interface SharedLedger {
  /** Of an environment, as YAML on one line. */
  readonly settings: string;
  readonly env: { readonly TICKETS_LEDGER_URL: string };
  readonly schema: string;
  /** What a person would type in psql. */
  readonly query: (sql: string, values: readonly unknown[]) => Promise<readonly object[]>;
  /** Where it is for those who name it by this: in a database of its own. */
  readonly elsewhere: (name: string) => Promise<SharedLedger["env"]>;
}

/** A place for a ledger that no other test has. */
export async function sharedLedger(): Promise<SharedLedger> {
  const server = await startPostgres();
  const schema = server.newSchema();
  const others = new Map<string, Promise<string>>();
  return {
    settings: `ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}, schema: ${schema}}}`,
    env: { TICKETS_LEDGER_URL: server.url },
    schema,
    query: (sql, values) => server.query(sql, values, schema),
    async elsewhere(name) {
      const url = others.get(name) ?? server.newDatabase();
      others.set(name, url);
      return { TICKETS_LEDGER_URL: await url };
    },
  };
}

/** The same config, by which the ledger of `local` is there. Its lines keep their numbers where that can be. */
export function withLedger(config: string, { settings }: Pick<SharedLedger, "settings">): string {
  const document = parseDocument(config);
  if (document.errors.length > 0) return config;
  const [environments, local] = [document.get("environments"), document.getIn(["environments", "local"])];
  const insert = (node: YAMLMap, text: string): string => {
    const [at = 0] = node.range ?? [];
    if (node.flow === true) return `${config.slice(0, at + 1)}${text}, ${config.slice(at + 1)}`;
    const indent = config.slice(config.lastIndexOf("\n", at - 1) + 1, at);
    return `${config.slice(0, at)}${text}\n${indent}${config.slice(at)}`;
  };
  if (isMap(local)) return insert(local, settings);
  if (isMap(environments)) return insert(environments, `local: {${settings}}`);
  return `${config}\nenvironments: {local: {${settings}}}\n`;
}

/**
 * The config of an environment whose ledger is there, in a folder that has none.
 *
 * @param more settings of the environment, as YAML on one line each.
 */
export const configOf = (environment: string, { settings }: SharedLedger, ...more: readonly string[]): string =>
  `environments:\n  ${environment}:\n${[settings, ...more].map((each) => `    ${each}\n`).join("")}`;
