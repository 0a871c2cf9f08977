/** What is noted beside the runs: how sources made their actions, which files are written, which commands were run, and what the service says of promises. */

import { EXIT_CODES } from "../failure.ts";
import { type Corrected, noteCorrected } from "./actions.ts";
import { type Database, first, insertInto, listOf, type Reader, select, sql, type Writer, words } from "./database.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What a night teaches of its input, whether it enters something or not. */
export interface Learnt {
  readonly guard?: readonly GuardNote[] | undefined;
  /** Whole corrected versions of bad rows: of each digest all actions that are given. */
  readonly corrected?: readonly Corrected[] | undefined;
}

/** How a source makes its actions of one kind: ids, times, zone, key, each as text by which two can be compared. */
export interface GuardNote {
  readonly source: string;
  /** An action's name, or `*` for the shares of the whole source. */
  readonly kind: string;
  readonly made: Readonly<Record<string, string>>;
  /** Rows of this night and how many were recognised; undefined leaves the nights as they are. */
  readonly night: { readonly at: string; readonly rows: number; readonly recognised: number } | undefined;
}

export interface Guard {
  readonly kind: string;
  /** As it was when something was last entered. */
  readonly made: Readonly<Record<string, string>>;
  /** The last ones, newest first. */
  readonly nights: readonly NonNullable<GuardNote["night"]>[];
}

/** A file that the ledger's runs write on this machine. */
export interface Output {
  readonly path: string;
  readonly kind: "promises" | "rejects";
  readonly length: number;
  /** Nanoseconds since 1970, as text. */
  readonly mtimeNs: string;
  /** By which the writer knows its content again. */
  readonly digest: string;
  /** Of rejects: the run and the index of its input. */
  readonly run?: number | undefined;
  readonly input?: number | undefined;
}

/** A chunk of a run whose promises were appended to a file. */
export interface Written {
  readonly run: number;
  readonly chunk: number;
  /** The run's promises go to this file from now on. */
  readonly isNew: boolean;
}

export interface Invocation {
  readonly startedAt: string;
  readonly durationMs: number;
  /** `stream`, `validate`, … */
  readonly command: string;
  readonly files: readonly string[];
  readonly exitCode: number;
  readonly error: string | undefined;
  /** Id of the run that it carried out. */
  readonly run: string | undefined;
  /** Rows and actions, as the summary counts them. */
  readonly counts: { readonly [key: string]: Json } | undefined;
  readonly host: string;
  readonly who: string;
  readonly version: string;
}

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

export const noteMethods = (database: Database) => ({
  guard: (source: string) => selectGuards(database, source),
  /** Of a night that entered nothing. */
  noteLearnt: (learnt: Learnt) => database.write((writer) => noteLearnt(writer, learnt)),

  output: (path: string) =>
    first<Output>(
      database,
      sql`SELECT path, kind, length, mtime_ns, digest, run, input FROM outputs
        WHERE path = ${path} AND machine = ${database.machine ?? ""}`,
    ),
  /** Of all machines. */
  rejectsFilesOf: async (run: number) => {
    const files = sql`SELECT path FROM outputs WHERE run = ${run} ORDER BY input, path`;
    return (await database.all<{ path: string }>(files)).map(({ path }) => path);
  },
  /** What a file holds now. */
  noteOutput: (output: Output, written?: Written) =>
    database.write(async (writer) => {
      const { path, kind, length, mtimeNs, digest, run: of, input } = output;
      const row = { machine: database.machine ?? "", path, kind, length, mtimeNs, digest, run: of, input };
      await writer.run(insertInto("outputs", row, ["machine", "path"]));
      if (written === undefined) return;
      const { run, chunk, isNew } = written;
      await writer.run(sql`UPDATE chunks SET is_written = 1 WHERE run = ${run} AND chunk = ${chunk}`);
      if (isNew) await writer.run(sql`UPDATE runs SET output = ${path} WHERE number = ${run}`);
    }),

  /** @param shown digests of warnings that it showed. */
  noteInvocation: (invocation: Invocation, shown: readonly string[] = []) =>
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
  /** `worked`: not of those that ended in a usage error. */
  lastInvocation: async (commands: readonly string[], how?: keyof typeof ENDED): Promise<Invocation | undefined> => {
    const ended = how === undefined ? sql`` : ENDED[how];
    const rows = await select<Invocation>(
      database,
      sql`SELECT started_at, duration_ms, command, files, exit_code, error, run, counts, host, who, version
          FROM invocations WHERE command IN ${words(commands)}${ended} ORDER BY id DESC LIMIT 1`,
      ["files", "counts"],
    );
    return rows[0];
  },
  /** Of these digests, those of warnings that an earlier invocation showed. */
  reported: async (digests: readonly string[]): Promise<ReadonlySet<string>> => {
    const wanted = sql`SELECT digest FROM ${listOf("digest", "text", digests)} AS wanted`;
    const shown = sql`SELECT digest FROM warnings WHERE digest IN (${wanted})`;
    return new Set((await database.all<{ digest: string }>(shown)).map(({ digest }) => digest));
  },

  /** What the service last said of a chunk's promises, by the places of their actions. */
  statuses: async (run: number, chunk: number): Promise<ReadonlyMap<number, string>> => {
    const rows = await database.all<{ place: number; status: string }>(
      sql`SELECT place, status FROM statuses WHERE run = ${run} AND chunk = ${chunk}`,
    );
    return new Map(rows.map(({ place, status }) => [place, status]));
  },
  noteStatuses: (
    run: number,
    statuses: readonly { readonly chunk: number; readonly place: number; readonly status: string }[],
    at: string,
  ) =>
    database.write(async (writer) => {
      const rows = statuses.map(({ chunk, place, status }) => [run, chunk, place, status, at]);
      const columns = { run: "int", chunk: "int", place: "int", status: "text", since: "text" } as const;
      const again = "ON CONFLICT (run, chunk, place) DO UPDATE SET status = excluded.status, since = excluded.since";
      await writer.insert("statuses", { columns, rows }, again);
    }),
  countStatuses: async (run: number): Promise<ReadonlyMap<string, number>> => {
    const rows = await database.all<{ status: string; n: number }>(
      sql`SELECT status, count(*) AS n FROM statuses WHERE run = ${run} GROUP BY status ORDER BY status`,
    );
    return new Map(rows.map(({ status, n }) => [status, n]));
  },
});
