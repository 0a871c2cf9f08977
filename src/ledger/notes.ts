/** What is noted beside the runs: how sources made their actions, which files are written, which commands were run, and what the service says of promises. */

import { EXIT_CODES } from "../failure.ts";
import { noteCorrected } from "./actions.ts";
import { type Database, first, type Reader, select, type Writer } from "./database.ts";
import type { Guard, Invocation, Learnt, Notes, Output } from "./ledger.ts";
import { insertInto, listOf, sql, words } from "./sql.ts";

/** Of a source, the last nights that are kept. */
const NIGHTS = 8;

/** Before anything is entered. */
export async function noteLearnt(writer: Writer, { guard = [], corrected = [] }: Learnt): Promise<void> {
  await noteCorrected(writer, corrected);
  for (const { source, kind, made, night } of guard) {
    const before = (await selectGuards(writer, source)).find((each) => each.kind === kind)?.nights ?? [];
    const nights = JSON.stringify([...(night === undefined ? [] : [night]), ...before].slice(0, NIGHTS));
    await writer.run(insertInto("sources", { source, kind, made: JSON.stringify(made), nights }, ["source", "kind"]));
  }
}

const selectGuards = (reader: Reader, source: string): Promise<readonly Guard[]> =>
  select(reader, sql`SELECT kind, made, nights FROM sources WHERE source = ${source} ORDER BY kind`, [
    "made",
    "nights",
  ]);

/** Older invocations make way, so that a check in a loop does not fill the disk. */
const KEPT = 10_000;

const ENDED = {
  succeeded: sql` AND exit_code = 0`,
  worked: sql` AND (exit_code <> ${EXIT_CODES.usage} OR run IS NOT NULL)`,
};

export const noteMethods = (database: Database): Notes => ({
  guard: (source) => selectGuards(database, source),
  noteLearnt: (learnt) => database.write((writer) => noteLearnt(writer, learnt)),

  output: (path) =>
    first<Output>(
      database,
      sql`SELECT path, kind, length, mtime_ns, digest, run, input FROM outputs
        WHERE path = ${path} AND machine = ${database.machine ?? ""}`,
    ),
  rejectsFilesOf: async (run) => {
    const files = sql`SELECT path FROM outputs WHERE run = ${run} ORDER BY input, path`;
    return (await database.all<{ path: string }>(files)).map(({ path }) => path);
  },
  noteOutput: (output, written) =>
    database.write(async (writer) => {
      const { path, kind, length, mtimeNs, digest, run: of, input } = output;
      const row = { machine: database.machine ?? "", path, kind, length, mtimeNs, digest, run: of, input };
      await writer.run(insertInto("outputs", row, ["machine", "path"]));
      if (written === undefined) return;
      const { run, chunk, isNew } = written;
      await writer.run(sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk = ${chunk}`);
      if (isNew) await writer.run(sql`UPDATE runs SET output = ${path} WHERE number = ${run}`);
    }),

  noteInvocation: (invocation, shown = []) =>
    database.write(async (writer) => {
      const { startedAt, durationMs, files, counts } = invocation;
      await writer.run(
        insertInto("invocations", {
          ...invocation,
          durationMs: Math.round(durationMs),
          files: JSON.stringify(files),
          counts: counts && JSON.stringify(counts),
        }),
      );
      await writer.run(sql`DELETE FROM invocations WHERE id <= (SELECT max(id) FROM invocations) - ${KEPT}`);
      const rows = shown.map((digest) => [digest, startedAt]);
      const warnings = { columns: { digest: "text", reported_at: "text" }, rows } as const;
      await writer.insert("warnings", warnings, "ON CONFLICT DO NOTHING");
    }),
  lastInvocation: async (commands, how) => {
    const ended = how === undefined ? sql`` : ENDED[how];
    const rows = await select<Invocation>(
      database,
      sql`SELECT started_at, duration_ms, command, files, exit_code, error, run, counts, host, who, version
          FROM invocations WHERE command IN ${words(commands)}${ended} ORDER BY id DESC LIMIT 1`,
      ["files", "counts"],
    );
    return rows[0];
  },
  reported: async (digests) => {
    const wanted = sql`SELECT digest FROM ${listOf("digest", "text", digests)} AS wanted`;
    const shown = sql`SELECT digest FROM warnings WHERE digest IN (${wanted})`;
    return new Set((await database.all<{ digest: string }>(shown)).map(({ digest }) => digest));
  },

  statuses: async (run, chunk) => {
    const rows = await database.all<{ place: number; status: string }>(
      sql`SELECT place, status FROM statuses WHERE run = ${run} AND chunk = ${chunk}`,
    );
    return new Map(rows.map(({ place, status }) => [place, status]));
  },
  noteStatuses: (run, statuses, at) =>
    database.write(async (writer) => {
      const rows = statuses.map(({ chunk, place, status }) => [run, chunk, place, status, at]);
      const columns = { run: "int", chunk: "int", place: "int", status: "text", since: "text" } as const;
      const again = "ON CONFLICT (run, chunk, place) DO UPDATE SET status = excluded.status, since = excluded.since";
      await writer.insert("statuses", { columns, rows }, again);
    }),
  countStatuses: async (run) => {
    const rows = await database.all<{ status: string; n: number }>(
      sql`SELECT status, count(*) AS n FROM statuses WHERE run = ${run} GROUP BY status ORDER BY status`,
    );
    return new Map(rows.map(({ status, n }) => [status, n]));
  },
});
