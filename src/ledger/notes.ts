/** What is noted beside the runs: how sources made their actions, which files are written, and which commands were run. */

import { type Database, type Reader, type Session, select } from "./database.ts";
import type { Guard, GuardNote, Invocation, Notes, Output } from "./ledger.ts";
import { WARNINGS } from "./schema.ts";
import { every, insertInto, listOf, type Sql, sql, words } from "./sql.ts";

/** Of a source, the last nights that are kept. */
const NIGHTS = 8;

/** Part of a transaction. */
export async function noteGuards(session: Session, notes: readonly GuardNote[]): Promise<void> {
  for (const { source, kind, made, night } of notes) {
    const before = (await selectGuards(session, source)).find((guard) => guard.kind === kind)?.nights ?? [];
    const nights = JSON.stringify([...(night === undefined ? [] : [night]), ...before].slice(0, NIGHTS));
    await session.run(insertInto("sources", { source, kind, made: JSON.stringify(made), nights }, ["source", "kind"]));
  }
}

async function selectGuards(session: Reader, source: string): Promise<readonly Guard[]> {
  const rows = await select<{ kind: string; made: string; nights: string }>(
    session,
    sql`SELECT kind, made, nights FROM sources WHERE source = ${source} ORDER BY kind`,
  );
  return rows.map(({ kind, made, nights }) => ({ kind, made: JSON.parse(made), nights: JSON.parse(nights) }));
}

/** The machine of a file where the ledger is one machine's alone. */
const HERE = "";

async function selectOutputs(session: Reader, where: Sql): Promise<readonly Output[]> {
  const columns = sql`machine, path, kind, length, mtime_ns, digest, run, input`;
  const rows = await select<Output>(
    session,
    sql`SELECT ${columns} FROM outputs WHERE ${where} ORDER BY run, input, path`,
  );
  return rows.map(({ machine, ...row }) => ({ ...row, machine: machine === HERE ? undefined : machine }));
}

/** Older invocations make way, so that a check in a loop does not fill the disk. */
const KEPT = 10_000;

type InvocationRow = Omit<Invocation, "arguments" | "files" | "counts"> & {
  readonly arguments: string;
  readonly files: string;
  readonly counts: string | undefined;
};

export const noteMethods = (database: Database): Notes => ({
  guard: (source) => database.read((session) => selectGuards(session, source)),
  noteGuard: (notes) => database.write((session) => noteGuards(session, notes)),

  output: async (path, machine = HERE) =>
    (await database.read((session) => selectOutputs(session, sql`path = ${path} AND machine = ${machine}`)))[0],
  outputs: ({ run, length } = {}) =>
    database.read((session) => {
      const ofRun = run === undefined ? run : sql`run = ${run}`;
      return selectOutputs(session, every(ofRun, length === undefined ? length : sql`length = ${length}`));
    }),
  noteOutput: (output, { run, chunks = [], replaces } = {}) =>
    database.write(async (session) => {
      const { path, kind, length, mtimeNs, digest, input, machine = HERE } = output;
      if (replaces !== undefined)
        await session.run(sql`DELETE FROM outputs WHERE path = ${replaces} AND machine = ${machine}`);
      const row = { machine, path, kind, length, mtimeNs, digest, run: output.run, input };
      await session.run(insertInto("outputs", row, ["machine", "path"]));
      if (run === undefined) {
        if (replaces !== undefined) await session.run(sql`UPDATE runs SET output = ${path} WHERE output = ${replaces}`);
        return;
      }
      const written = sql`SELECT chunk FROM ${listOf("chunk", "int", chunks)} AS written`;
      await session.run(sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk IN (${written})`);
      if (kind === "promises") await session.run(sql`UPDATE runs SET output = ${path} WHERE number = ${run}`);
    }),

  noteInvocation: (invocation, shown = []) =>
    database.write(async (session) => {
      const { startedAt, durationMs, files, counts } = invocation;
      await session.run(
        insertInto("invocations", {
          ...invocation,
          durationMs: Math.round(durationMs),
          arguments: JSON.stringify(invocation.arguments),
          files: JSON.stringify(files),
          counts: counts && JSON.stringify(counts),
        }),
      );
      await session.run(sql`DELETE FROM invocations WHERE id <= (SELECT max(id) FROM invocations) - ${KEPT}`);
      const rows = shown.map((digest) => [digest, startedAt]);
      if (rows.length > 0) await session.insert(WARNINGS, rows, "ON CONFLICT DO NOTHING");
    }),
  invocations: async ({ commands, run, succeeded, last = KEPT } = {}) => {
    const where = every(
      commands && sql`command IN ${words(commands)}`,
      run === undefined ? run : sql`run = ${run}`,
      succeeded === undefined ? succeeded : sql`(exit_code = 0) = (${succeeded ? 1 : 0} = 1)`,
    );
    const rows = await select<InvocationRow>(
      database.plain,
      sql`SELECT started_at, duration_ms, command, arguments, files, exit_code, error, run, counts, warnings, host, who, version
          FROM invocations WHERE ${where} ORDER BY id DESC LIMIT ${last}`,
    );
    return rows.map(({ files, counts, ...row }) => ({
      ...row,
      arguments: JSON.parse(row.arguments),
      files: JSON.parse(files),
      counts: counts && JSON.parse(counts),
    }));
  },
  told: async (digests) => {
    const wanted = sql`SELECT digest FROM ${listOf("digest", "text", digests)} AS wanted`;
    const shown = sql`SELECT digest FROM warnings WHERE digest IN (${wanted})`;
    return new Set((await database.plain.all<{ digest: string }>(shown)).map(({ digest }) => digest));
  },
});
