/** Which commands were run on this environment, how each ended, and which warnings were told. */

import type { Database } from "./database.ts";
import type { Invocation, Ledger } from "./ledger.ts";
import { WARNINGS } from "./schema.ts";
import { rowsOf, sql, words } from "./sql.ts";

/** Older ones make way, so that a check in a loop does not fill the disk. */
const KEPT = 10_000;

interface Row {
  readonly started_at: string;
  readonly duration_ms: number;
  readonly command: string;
  readonly arguments: string;
  readonly files: string;
  readonly exit_code: number;
  readonly error: string | null;
  readonly run: string | null;
  readonly counts: string | null;
  readonly warnings: number;
  readonly host: string;
  readonly who: string;
  readonly version: string;
}

export const invocationMethods = (database: Database): Pick<Ledger, "noteInvocation" | "invocations" | "told"> => ({
  noteInvocation: (invocation, told = []) =>
    database.write(async (session) => {
      const { startedAt, durationMs, command, files, exitCode, error, run, counts, warnings } = invocation;
      const { arguments: typed, host, who, version } = invocation;
      await session.run(sql`INSERT INTO invocations
          (started_at, duration_ms, command, arguments, files, exit_code, error, run, counts, warnings, host, who, version)
        VALUES (${startedAt}, ${Math.round(durationMs)}, ${command}, ${JSON.stringify(typed)}, ${JSON.stringify(files)}, ${exitCode},
          ${error}, ${run}, ${counts === undefined ? null : JSON.stringify(counts)}, ${warnings}, ${host}, ${who}, ${version})`);
      await session.run(sql`DELETE FROM invocations WHERE id <= (SELECT max(id) FROM invocations) - ${KEPT}`);
      const rows = told.map((digest) => [digest, startedAt]);
      if (rows.length > 0) await session.insert(WARNINGS, rows, "ON CONFLICT DO NOTHING");
    }),
  invocations: ({ commands, run, succeeded, last } = {}) =>
    database.read(async (session) => {
      const ofCommands = commands === undefined ? sql`` : sql` AND command IN ${words(commands)}`;
      const ofRun = run === undefined ? sql`` : sql` AND run = ${run}`;
      const ofEnd = succeeded === undefined ? sql`` : succeeded ? sql` AND exit_code = 0` : sql` AND exit_code <> 0`;
      const rows = await session.all<Row>(
        sql`SELECT started_at, duration_ms, command, arguments, files, exit_code, error, run, counts, warnings, host, who, version
          FROM invocations WHERE 1 = 1${ofCommands}${ofRun}${ofEnd} ORDER BY id DESC LIMIT ${last ?? KEPT}`,
      );
      return rows.map(toInvocation);
    }),
  told: (digests) =>
    database.read(async (session) => {
      const wanted = rowsOf(
        { digest: "text" },
        digests.map((digest) => [digest]),
      );
      const rows = await session.all<{ digest: string }>(
        sql`SELECT digest FROM warnings WHERE digest IN (SELECT digest FROM ${wanted} AS wanted)`,
      );
      return new Set(rows.map(({ digest }) => digest));
    }),
});

function toInvocation({ started_at, duration_ms, exit_code, ...row }: Row): Invocation {
  return {
    ...row,
    startedAt: started_at,
    durationMs: duration_ms,
    exitCode: exit_code,
    arguments: JSON.parse(row.arguments),
    files: JSON.parse(row.files),
    error: row.error ?? undefined,
    run: row.run ?? undefined,
    counts: row.counts === null ? undefined : JSON.parse(row.counts),
  };
}
