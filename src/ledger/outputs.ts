/** The files that runs write: how much of each is on disk, and by what it is known again. */

import type { Database, Session } from "./database.ts";
import type { Ledger, Output } from "./ledger.ts";
import { rowsOf, type Sql, sql } from "./sql.ts";

const HERE = "";

/** Part of a transaction. */
async function insertOutput(session: Session, output: Output): Promise<void> {
  const { path, kind, length, mtimeNs, digest, run, input, machine = HERE } = output;
  await session.run(sql`INSERT INTO outputs (machine, path, kind, length, mtime_ns, digest, run, input)
    VALUES (${machine}, ${path}, ${kind}, ${length}, ${mtimeNs}, ${digest}, ${run}, ${input})
    ON CONFLICT (machine, path) DO UPDATE SET kind = excluded.kind, length = excluded.length, mtime_ns = excluded.mtime_ns,
      digest = excluded.digest, run = excluded.run, input = excluded.input`);
}

/** Part of a transaction: the lines of these chunks are in the promises file. */
async function noteWritten(session: Session, run: number, chunks: readonly number[]): Promise<void> {
  const wanted = rowsOf(
    { chunk: "int" },
    chunks.map((chunk) => [chunk]),
  );
  await session.run(
    sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk IN (SELECT chunk FROM ${wanted} AS written)`,
  );
}

async function selectOutputs(session: Session, where: Sql): Promise<readonly Output[]> {
  const rows = await session.all<Record<keyof Output, never>>(
    sql`SELECT machine, path, kind, length, mtime_ns AS "mtimeNs", digest, run, input FROM outputs WHERE ${where} ORDER BY run, input, path`,
  );
  return rows.map(({ machine, run, input, ...row }) => ({
    ...row,
    machine: machine === HERE ? undefined : machine,
    run: run ?? undefined,
    input: input ?? undefined,
  }));
}

export const outputMethods = (database: Database): Pick<Ledger, "output" | "outputs" | "noteOutput"> => ({
  output: (path, machine = HERE) =>
    database.read(async (session) => (await selectOutputs(session, sql`path = ${path} AND machine = ${machine}`))[0]),
  outputs: ({ run, length } = {}) =>
    database.read((session) =>
      selectOutputs(
        session,
        sql`1 = 1${run === undefined ? sql`` : sql` AND run = ${run}`}${length === undefined ? sql`` : sql` AND length = ${length}`}`,
      ),
    ),
  noteOutput: (output, { run, chunks = [], replaces } = {}) =>
    database.write(async (session) => {
      const machine = output.machine ?? HERE;
      if (replaces !== undefined)
        await session.run(sql`DELETE FROM outputs WHERE path = ${replaces} AND machine = ${machine}`);
      await insertOutput(session, output);
      if (run === undefined) {
        if (replaces !== undefined)
          await session.run(sql`UPDATE runs SET output = ${output.path} WHERE output = ${replaces}`);
        return;
      }
      await noteWritten(session, run, chunks);
      if (output.kind === "promises")
        await session.run(sql`UPDATE runs SET output = ${output.path} WHERE number = ${run}`);
    }),
});
