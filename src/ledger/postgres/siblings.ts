/** The other ledgers of a database: one of the same address may be what an environment was called before. */

import { type SiblingLedger, siblingIn } from "../siblings.ts";
import { askServer, type PostgresOptions } from "./open-postgres.ts";

/**
 * Ledgers in other schemas that know of actions sent to `boundTo`, the one that knows most first.
 *
 * @param compared schemas of environments that were compared otherwise.
 * @throws Failure `storage` when the server can't be reached or one of them can't be read.
 */
export const serverSiblings = (
  options: PostgresOptions,
  boundTo: string,
  compared: ReadonlySet<string>,
): readonly SiblingLedger[] =>
  askServer(options, (ledger) =>
    ledger
      .all(SCHEMAS, options.address.schema)
      .map(({ schema }) => String(schema))
      .filter((schema) => !compared.has(schema))
      .flatMap((schema) => {
        ledger.get("SELECT set_config('search_path', quote_ident(?) || ', pg_catalog', false)", schema);
        return siblingIn(ledger, boundTo, { name: schema, folder: undefined }) ?? [];
      })
      .sort((one, other) => other.actions - one.actions),
  );

/** Those that this user may read: what belongs to others is theirs. */
const SCHEMAS = `SELECT nspname AS schema FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE relname = 'ledger_version' AND relkind = 'r' AND nspname <> ? AND has_schema_privilege(pg_namespace.oid, 'USAGE')
    AND has_table_privilege(pg_class.oid, 'SELECT') ORDER BY nspname`;
