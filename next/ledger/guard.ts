/** How each source made its actions, and which share of its rows was recognised. */

import { type Database, first, type Session } from "./database.ts";
import type { Guard, GuardNote, Ledger } from "./ledger.ts";
import { sql } from "./sql.ts";

/** Of a source, the last nights that are kept. */
const NIGHTS = 8;

type Nights = Guard["nights"];

/** Part of a transaction. */
export async function noteGuards(session: Session, notes: readonly GuardNote[]): Promise<void> {
  for (const { source, kind, made, night } of notes) {
    const row = await first<{ nights: string }>(
      session,
      sql`SELECT nights FROM sources WHERE source = ${source} AND kind = ${kind}`,
    );
    const before: Nights = row === undefined ? [] : JSON.parse(row.nights);
    const nights = JSON.stringify([...(night === undefined ? [] : [night]), ...before].slice(0, NIGHTS));
    await session.run(sql`INSERT INTO sources (source, kind, made, nights) VALUES (${source}, ${kind}, ${JSON.stringify(made)}, ${nights})
      ON CONFLICT (source, kind) DO UPDATE SET made = excluded.made, nights = excluded.nights`);
  }
}

export const guardMethods = (database: Database): Pick<Ledger, "guard" | "noteGuard"> => ({
  guard: (source) =>
    database.read(async (session) =>
      (
        await session.all<{ kind: string; made: string; nights: string }>(
          sql`SELECT kind, made, nights FROM sources WHERE source = ${source} ORDER BY kind`,
        )
      ).map(({ kind, made, nights }) => ({ kind, made: JSON.parse(made), nights: JSON.parse(nights) as Nights })),
    ),
  noteGuard: (notes) => database.write((session) => noteGuards(session, notes)),
});
