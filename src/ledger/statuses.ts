/** What the service said about promises when it was asked. Nothing else reads it. */

import { readWhole } from "./chunk-life.ts";
import { type Database, scalar } from "./database.ts";
import type { PromiseStatus, Statuses } from "./ledger.ts";
import { itemsOf } from "./outcomes.ts";
import { STATUSES } from "./schema.ts";
import { sql } from "./sql.ts";

export const statusMethods = (database: Database): Statuses => ({
  async *promises(run, without) {
    for (let after: number | undefined = 0; ; ) {
      const next: number | undefined = await scalar<number>(
        database.plain,
        sql`SELECT min(chunk) FROM chunks WHERE run = ${run} AND chunk > ${after} AND accepted > 0`,
      );
      if (next === undefined) return;
      after = next;
      const open = (await readStatuses(database, run, next)).filter(
        ({ status }) => status === undefined || !without.includes(status),
      );
      if (open.length > 0) yield open;
    }
  },
  noteStatuses: (run, statuses, at) =>
    database.write(async (session) => {
      const rows = statuses.map(({ chunk, place, status = "" }) => [run, chunk, place, status, at]);
      const again = "ON CONFLICT (run, chunk, place) DO UPDATE SET status = excluded.status, since = excluded.since";
      if (rows.length > 0) await session.insert(STATUSES, rows, again);
    }),
  countStatuses: async (run) => {
    const rows = await database.plain.all<{ status: string; n: number }>(
      sql`SELECT status, count(*) AS n FROM statuses WHERE run = ${run} GROUP BY status ORDER BY status`,
    );
    return new Map(rows.map(({ status, n }) => [status, n]));
  },
});

/** Of a chunk's promises. */
async function readStatuses(database: Database, run: number, chunk: number): Promise<readonly PromiseStatus[]> {
  const rows = await database.plain.all<{ place: number; status: string; since: string }>(
    sql`SELECT place, status, since FROM statuses WHERE run = ${run} AND chunk = ${chunk}`,
  );
  const known = new Map(rows.map((each) => [each.place, each]));
  const { origins, stored } = await readWhole(database.plain, run, chunk);
  return itemsOf(origins, stored, "accepted").flatMap(({ promise, place, origin: { seq } }) => {
    const { status, since } = known.get(place) ?? {};
    return promise === undefined ? [] : [{ chunk, place, seq, promise, status, since }];
  });
}
