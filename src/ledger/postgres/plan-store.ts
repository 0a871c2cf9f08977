/** Plans in a ledger that several machines share: the bytes of their files, so that any of the machines can send any chunk. */

import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import type { Ledger } from "../ledger.ts";

/** Bytes of a file that one row holds, compressed. */
const PIECE_BYTES = 1024 * 1024;
/** Pieces that are compressed at once and committed together. */
const PIECES_OF_BATCH = 16;

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];

/**
 * Stores a file of a plan, batch by batch. After it resolves all of it is in the ledger.
 *
 * @param run that the plan will become.
 * @param onStored told of the bytes of each batch.
 */
export async function storePlanFile(
  ledger: Ledger,
  { run, name, path }: { readonly run: string; readonly name: string; readonly path: string },
  onStored: (bytes: number) => void,
): Promise<void> {
  await using file = await open(path, "r");
  for (let part = 0; ; part += PIECES_OF_BATCH) {
    const pieces: Buffer[] = [];
    while (pieces.length < PIECES_OF_BATCH) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, (part + pieces.length) * PIECE_BYTES);
      if (bytesRead === 0) break;
      pieces.push(piece.subarray(0, bytesRead));
      if (bytesRead < PIECE_BYTES) break;
    }
    const compressed = await Promise.all(pieces.map((piece) => compress(piece)));
    ledger.transaction(() => {
      for (const [at, bytes] of compressed.entries())
        ledger.run("INSERT INTO plan_files (run, name, part, bytes) VALUES (?, ?, ?, ?)", run, name, part + at, bytes);
    });
    onStored(pieces.reduce((sum, { length }) => sum + length, 0));
    if (pieces.length < PIECES_OF_BATCH) return;
  }
}

/** A file of a plan, piece by piece; none where the ledger does not have it. */
export async function* planFilePieces(ledger: Ledger, run: string, name: string): AsyncGenerator<Buffer> {
  for (let part = 0; ; part += 1) {
    const row = ledger.get("SELECT bytes FROM plan_files WHERE run = ? AND name = ? AND part = ?", run, name, part);
    if (row === undefined) return;
    yield await decompress(row.bytes as Uint8Array); // a bytea NOT NULL column
  }
}

export const hasStoredPlan = (ledger: Ledger, run: string): boolean =>
  ledger.get("SELECT 1 AS one FROM plan_files WHERE run = ? LIMIT 1", run) !== undefined;

interface StoredPlan {
  readonly run: string;
  /** Compressed. */
  readonly bytes: number;
}

/** The plans that the ledger holds. */
export const storedPlans = (ledger: Ledger): readonly StoredPlan[] =>
  ledger
    .all("SELECT run, sum(length(bytes)) AS size FROM plan_files GROUP BY run ORDER BY run")
    .map(({ run, size }) => ({ run: String(run), bytes: Number(size) }));

export function removeStoredPlan(ledger: Ledger, run: string): void {
  ledger.run("DELETE FROM plan_files WHERE run = ?", run);
}

/** Removes what processes that died have left of plans that never became runs. The caller holds the environment's lock. */
export function removeUnenteredPlans(ledger: Ledger): void {
  ledger.run("DELETE FROM plan_files WHERE run NOT IN (SELECT run FROM runs)");
}
