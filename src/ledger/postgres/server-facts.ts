/** What a person wants to know of the server that holds a ledger. */

import type { Ledger } from "../ledger.ts";

export interface ServerFacts {
  /** Such as `15.18`. */
  readonly version: string;
  /** Of the tables. */
  readonly tables: number;
  /** Such as `TLSv1.3`; null for a connection without. */
  readonly tls: string | null;
  /** Settings by which it may forget what it has confirmed, such as `synchronous_commit = off`. */
  readonly forgetful: readonly string[];
  /** Standbys that have each commit before it is confirmed, as the server names them; empty for none. */
  readonly standbys: string;
}

export function readServerFacts(ledger: Ledger): ServerFacts {
  const row = ledger.get(`SELECT current_setting('server_version') AS version,
      (SELECT max(version) FROM ledger_version) AS tables,
      (SELECT CASE WHEN ssl THEN version END FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS tls,
      current_setting('synchronous_standby_names') AS standbys`);
  return {
    version: String(row?.version),
    tables: Number(row?.tables),
    tls: row?.tls == null ? null : String(row.tls),
    forgetful: forgetfulSettings(ledger),
    standbys: String(row?.standbys ?? ""),
  };
}

/** Settings without which a commit that was confirmed may be lost; each as it has to be, or as it must not be. */
const FORGETFUL = `SELECT name, setting FROM pg_settings
  WHERE (name IN ('fsync', 'full_page_writes') AND setting <> 'on') OR (name = 'synchronous_commit' AND setting = 'off')
  ORDER BY name`;

/** Settings by which the server may forget what it has confirmed. */
export const forgetfulSettings = (ledger: Pick<Ledger, "all">): readonly string[] =>
  ledger.all(FORGETFUL).map(({ name, setting }) => `${name} = ${setting}`);
