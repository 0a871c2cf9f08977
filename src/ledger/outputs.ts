/** The output files that a ledger knows: how much of each is on disk, and what it holds. */

import { changeChunk } from "./chunks.ts";
import { type Ledger, readMeta, type SqlRow, upsert, writeMeta } from "./ledger.ts";
import { fromPlaced, isHere, toPlaced } from "./machine.ts";

export type OutputKind = "promises" | "rejects";

/** A file as the ledger left it. */
interface KnownOutput {
  readonly kind: OutputKind;
  readonly length: number;
  /** Nanoseconds since 1970, as text; empty where nobody looked since. */
  readonly mtimeNs: string;
}

/** Bytes of a file, from `start` on, with their digest (hex). */
interface Segment {
  readonly start: number;
  readonly length: number;
  readonly sha256: string;
}

/** Of the paths that a ledger holds, those of this machine. */
function pathsHere(ledger: Ledger, rows: readonly SqlRow[]): readonly string[] {
  return rows
    .map(({ path }) => fromPlaced(String(path)))
    .filter(({ machine }) => isHere(ledger, machine))
    .map(({ path }) => path);
}

export const isKnownOutput = (ledger: Ledger, path: string): boolean =>
  ledger.get("SELECT 1 AS one FROM outputs WHERE path = ?", toPlaced(ledger, path)) !== undefined;

/**
 * One transaction: the promises file, as it is now, counts as written by this ledger's runs.
 *
 * @param chunks whose lines stand in it, and were not noted as written.
 */
export function adoptOutput(
  ledger: Ledger,
  output: Readonly<Record<"path" | "mtimeNs" | "sha256", string>> & { readonly length: number },
  chunks: readonly { readonly runNo: number; readonly chunk: number }[],
): void {
  const { length, mtimeNs, sha256 } = output;
  const path = toPlaced(ledger, output.path);
  ledger.transaction(() => {
    ledger.run("DELETE FROM output_segments WHERE path = ?", path);
    ledger.run(NOTE_OUTPUT, path, "promises", length, mtimeNs);
    ledger.run("INSERT INTO output_segments (path, start, length, sha256) VALUES (?, 0, ?, ?)", path, length, sha256);
    for (const chunk of chunks) changeChunk(ledger, "project", chunk);
  });
}

export function knownOutput(ledger: Ledger, path: string): KnownOutput | undefined {
  const row = ledger.get("SELECT kind, length, mtime_ns FROM outputs WHERE path = ?", toPlaced(ledger, path));
  // Only functions of this file write the column.
  return row && { kind: row.kind as OutputKind, length: Number(row.length), mtimeNs: String(row.mtime_ns) };
}

/** What was written into a file, in order. */
export const segmentsOf = (ledger: Ledger, path: string): readonly Segment[] =>
  ledger
    .all("SELECT start, length, sha256 FROM output_segments WHERE path = ? ORDER BY start", toPlaced(ledger, path))
    .map(({ start, length, sha256 }) => ({ start: Number(start), length: Number(length), sha256: String(sha256) }));

/** Paths of files of a length of which all bytes are known. */
export const outputsOfLength = (ledger: Ledger, length: number): readonly string[] =>
  pathsHere(ledger, ledger.all(OF_LENGTH, length, length));

const OF_LENGTH = `SELECT path FROM outputs JOIN output_segments AS segments USING (path)
  WHERE outputs.length = ? GROUP BY path HAVING sum(segments.length) = ?`;

/** Part of a transaction: the file begins. */
export function noteFreshOutput(ledger: Ledger, file: string, kind: OutputKind): void {
  const path = toPlaced(ledger, file);
  ledger.run("DELETE FROM output_segments WHERE path = ?", path);
  ledger.run(NOTE_OUTPUT, path, kind, 0, "");
  // Those that stood there were set aside.
  if (kind === "promises") ledger.run("DELETE FROM rejects_files WHERE path = ?", path);
}

/** Part of a transaction: the file ends with this segment now. */
export function noteAppended(
  ledger: Ledger,
  file: string,
  { start, length, sha256, mtimeNs }: Segment & Pick<KnownOutput, "mtimeNs">,
): void {
  const path = toPlaced(ledger, file);
  ledger.run("UPDATE outputs SET length = ?, mtime_ns = ? WHERE path = ?", start + length, mtimeNs, path);
  if (length > 0) ledger.run(NOTE_SEGMENT, path, start, length, sha256);
}

const NOTE_OUTPUT = upsert("outputs", ["path"], ["kind", "length", "mtime_ns"]);
const NOTE_SEGMENT = upsert("output_segments", ["path", "start"], ["length", "sha256"]);
const NOTE_REPLACING = upsert("replaced_outputs", ["path"], ["length", "sha256"]);

/** A file that was moved is the ledger's where it stands now. */
export function adoptMoved(ledger: Ledger, file: string, former: string): void {
  const [path, movedFrom] = [toPlaced(ledger, file), toPlaced(ledger, former)];
  ledger.transaction(() => {
    ledger.run(
      "INSERT INTO outputs (path, kind, length, mtime_ns) SELECT CAST(? AS TEXT), kind, length, '' FROM outputs WHERE path = ?",
      path,
      movedFrom,
    );
    ledger.run("UPDATE output_segments SET path = ? WHERE path = ?", path, movedFrom);
    ledger.run("DELETE FROM outputs WHERE path = ?", movedFrom);
    ledger.run("UPDATE runs SET output = ? WHERE output = ?", path, movedFrom);
    ledger.run(MOVE_REJECTS, path, movedFrom);
    ledger.run("DELETE FROM rejects_files WHERE path = ?", movedFrom);
  });
}

const MOVE_REJECTS = `INSERT OR IGNORE INTO rejects_files (run_no, input, path)
  SELECT run_no, input, CAST(? AS TEXT) FROM rejects_files WHERE path = ?`;

/** What a file is about to be replaced by. */
export function replacementOf(ledger: Ledger, path: string): Omit<Segment, "start"> | undefined {
  const row = ledger.get("SELECT length, sha256 FROM replaced_outputs WHERE path = ?", toPlaced(ledger, path));
  return row && { length: Number(row.length), sha256: String(row.sha256) };
}

/** Part of a transaction: the file is about to be replaced. */
export function noteReplacing(ledger: Ledger, path: string, { length, sha256 }: Omit<Segment, "start">): void {
  ledger.run(NOTE_REPLACING, toPlaced(ledger, path), length, sha256);
}

/** Part of a transaction: the file is what it was to be replaced by. */
export function noteReplaced(ledger: Ledger, file: string, mtimeNs: string): void {
  const path = toPlaced(ledger, file);
  ledger.run("DELETE FROM output_segments WHERE path = ?", path);
  ledger.run(
    "UPDATE outputs SET length = (SELECT length FROM replaced_outputs WHERE path = outputs.path), mtime_ns = ? WHERE path = ?",
    mtimeNs,
    path,
  );
  ledger.run(
    "INSERT INTO output_segments (path, start, length, sha256) SELECT path, 0, length, sha256 FROM replaced_outputs WHERE path = ?",
    path,
  );
  ledger.run("DELETE FROM replaced_outputs WHERE path = ?", path);
}

/** Part of a transaction: a file holds what the run leaves to do of an input, by its number. */
export function noteRejectsFile(ledger: Ledger, runNo: number, input: number, path: string): void {
  const sql = "INSERT OR IGNORE INTO rejects_files (run_no, input, path) VALUES (?, ?, ?)";
  ledger.run(sql, runNo, input, toPlaced(ledger, path));
}

/** Paths of a run's rejects files on this machine, in the order of its inputs. */
export const rejectsFilesOf = (ledger: Ledger, runNo: number): readonly string[] =>
  pathsHere(ledger, ledger.all("SELECT path FROM rejects_files WHERE run_no = ? ORDER BY input, path", runNo));

/** Part of a transaction: the invalid rows of a run are in its rejects files. */
export function noteInvalidRowsWritten(ledger: Ledger, run: string): void {
  writeMeta(ledger, invalidRowsOf(run), "written");
}

export const areInvalidRowsWritten = (ledger: Ledger, run: string): boolean =>
  readMeta(ledger, invalidRowsOf(run)) !== undefined;

const invalidRowsOf = (run: string): string => `invalid rows of ${run}`;
