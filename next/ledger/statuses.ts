/** What the service said about promises when it was asked. Nothing else reads it. */

import { readOrigins, readOutcomes } from "./chunk-life.ts";
import type { Database } from "./database.ts";
import type { Ledger, PromiseStatus } from "./ledger.ts";
import { itemsOf } from "./outcomes.ts";
import { STATUSES } from "./schema.ts";
import { sql } from "./sql.ts";

export const statusMethods = (database: Database): Pick<Ledger, "promises" | "noteStatuses" | "countStatuses"> => ({
  async *promises(run, without) {
    for (let after = 0; ; ) {
      const found = await database.read(async (session) => {
        const [next] = await session.all<{ chunk: number }>(
          sql`SELECT chunk FROM chunks WHERE run = ${run} AND chunk > ${after} AND accepted > 0 ORDER BY chunk LIMIT 1`,
        );
        if (next === undefined) return undefined;
        const { chunk } = next;
        const known = await session.all<{ place: number; status: string; since: string }>(
          sql`SELECT place, status, since FROM statuses WHERE run = ${run} AND chunk = ${chunk}`,
        );
        const items = itemsOf(
          await readOrigins(session, run, chunk),
          await readOutcomes(session, run, chunk),
          "accepted",
        );
        return { chunk, items, known: new Map(known.map((each) => [each.place, each])) };
      });
      if (found === undefined) return;
      const { chunk, items, known } = found;
      after = chunk;
      const open = items.flatMap(({ promise, place, origin }): PromiseStatus[] => {
        const { status, since } = known.get(place) ?? {};
        if (promise === undefined || (status !== undefined && without.includes(status))) return [];
        return [{ chunk, place, seq: origin.seq, promise, status, since }];
      });
      if (open.length > 0) yield open;
    }
  },
  noteStatuses: (run, statuses, at) =>
    database.write(async (session) => {
      const rows = statuses.map(({ chunk, place, status = "" }) => [run, chunk, place, status, at]);
      const again = "ON CONFLICT (run, chunk, place) DO UPDATE SET status = excluded.status, since = excluded.since";
      if (rows.length > 0) await session.insert(STATUSES, rows, again);
    }),
  countStatuses: (run) =>
    database.read(async (session) => {
      const rows = await session.all<{ status: string; n: number }>(
        sql`SELECT status, count(*) AS n FROM statuses WHERE run = ${run} GROUP BY status ORDER BY status`,
      );
      return new Map(rows.map(({ status, n }) => [status, n]));
    }),
});
