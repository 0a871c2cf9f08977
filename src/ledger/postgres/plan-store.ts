/** Plans in a ledger that several machines share: the bytes of their files, so that any of the machines can send any chunk. */

import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import type { Ledger } from "../ledger.ts";

/** Bytes of a file that one row holds, compressed: a part of a chunk's actions, and some chunks of the index. */
const PIECE_BYTES = 256 * 1024;
/** Pieces that are compressed at once and committed together. */
const PIECES_OF_BATCH = 64;

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

/** A piece of a plan's file; undefined behind its last, and where the ledger does not have it. */
async function pieceOf(ledger: Ledger, run: string, name: string, part: number): Promise<Buffer | undefined> {
  const row = ledger.get("SELECT bytes FROM plan_files WHERE run = ? AND name = ? AND part = ?", run, name, part);
  return row && (await decompress(row.bytes as Uint8Array)); // a bytea NOT NULL column
}

/** A file of a plan, piece by piece; none where the ledger does not have it. */
export async function* planFilePieces(ledger: Ledger, run: string, name: string): AsyncGenerator<Buffer> {
  for (let part = 0; ; part += 1) {
    const piece = await pieceOf(ledger, run, name, part);
    if (piece === undefined) return;
    yield piece;
  }
}

/** Pieces that are kept: chunks of one lane seldom follow each other, but small ones share a piece. */
const MOST_PIECES = 8;

/** Reads a plan's file where it is stored, from any place in it. */
export function storedPlanFile(
  ledger: Ledger,
  run: string,
  name: string,
): { readonly read: (bytes: Buffer, position: number) => Promise<number>; readonly close: () => Promise<void> } {
  const pieces = new Map<number, Promise<Buffer | undefined>>();
  const pieceAt = (part: number): Promise<Buffer | undefined> => {
    const known = pieces.get(part);
    // Put behind the others: the first one goes first.
    pieces.delete(part);
    const piece = known ?? pieceOf(ledger, run, name, part);
    pieces.set(part, piece);
    for (const other of pieces.keys()) if (pieces.size > MOST_PIECES) pieces.delete(other);
    return piece;
  };
  return {
    async read(bytes, position) {
      const [part, within] = [Math.floor(position / PIECE_BYTES), position % PIECE_BYTES];
      try {
        return (await pieceAt(part))?.copy(bytes, 0, within) ?? 0;
      } catch (cause) {
        pieces.delete(part);
        throw cause;
      }
    },
    close: async () => pieces.clear(),
  };
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
