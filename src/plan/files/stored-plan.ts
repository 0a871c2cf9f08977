/** Plans that go through a ledger which several machines share: stored by whoever made one, fetched by whoever sends it. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "../../disk/sync.ts";
import { Failure } from "../../failure.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { acquireLock } from "../../ledger/lock.ts";
import {
  hasStoredPlan,
  planFilePieces,
  removeUnenteredPlans,
  storedPlanFile,
  storePlanFile,
} from "../../ledger/postgres/plan-store.ts";
import type { RunRecord } from "../../ledger/runs.ts";
import { createFile } from "./append-file.ts";
import { RECORD_BYTES } from "./index-file.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { type Plan, type PlanFile, planFiles, planFrom } from "./plan.ts";

/** What of a plan is stored. The run's manifest is in the ledger anyway; inputs and invalid rows stay where the run was planned. */
const STORED = ["actions", "index"] as const;
type StoredFile = (typeof STORED)[number];

/** @param share of the work that is done, 0 to 1. */
type OnShare = (share: number) => void;

/**
 * Stores a plan before its run is entered. After it resolves, any machine can make its folder. The caller holds the
 * environment's lock.
 */
export async function storePlan(ledger: Ledger, run: string, folder: string, onShare: OnShare): Promise<void> {
  removeUnenteredPlans(ledger);
  const paths = planFiles(folder);
  const sizes = await Promise.all(STORED.map(async (file) => (await stat(paths[file])).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let done = 0;
  for (const file of STORED)
    await storePlanFile(ledger, { run, name: basename(paths[file]), path: paths[file] }, (bytes) => {
      done += bytes;
      onShare(done / Math.max(1, total));
    });
}

/**
 * Reads a plan where it is stored, chunk by chunk. Each is compared with its checksum, as those of a folder are.
 *
 * @param folder where the plan would be on this machine.
 * @throws Failure `storage` when the ledger does not have the plan either.
 */
export function openStoredPlan(ledger: Ledger, { run, manifest }: RunOfPlan, folder: string): Plan {
  const planned = parseManifest(manifest);
  // A plan without actions has no bytes.
  if (planned.chunks.length > 0 && !hasStoredPlan(ledger, run)) throw missing(ledger, run, folder);
  const paths = planFiles(folder);
  const [actions, index] = STORED.map((file) => storedPlanFile(ledger, run, basename(paths[file]))) as [
    PlanFile,
    PlanFile,
  ]; // two of two
  const place = { name: `The plan of run ${run} in ${ledger.path}`, restoring: RESTORING };
  return planFrom({ actions, index, place, directory: folder }, planned);
}

/**
 * Makes the folder of a plan that is missing here. Several processes may do so at once: one does it, the others wait for it.
 * The folder's bytes have been compared with the checksums of the manifest by then.
 *
 * @throws Failure `storage` when the ledger does not have the plan either, or it is damaged there.
 */
export function fetchPlan(ledger: Ledger, run: RunOfPlan, folder: string, asking: Asking): Promise<void> {
  const before = underWay.get(folder);
  if (before !== undefined) return before;
  const fetched = fetchLocked(ledger, run, folder, asking).finally(() => underWay.delete(folder));
  underWay.set(folder, fetched);
  return fetched;
}

type RunOfPlan = Pick<RunRecord, "run" | "manifest">;

interface Asking {
  readonly onShare: OnShare;
  readonly signal: AbortSignal;
}

/** By folder. Waiting for a lock of one's own process would hold that up. */
const underWay = new Map<string, Promise<void>>();

async function fetchLocked(
  ledger: Ledger,
  { run, manifest }: RunOfPlan,
  folder: string,
  { onShare, signal }: Asking,
): Promise<void> {
  const around = dirname(dirname(folder));
  using _lock = await acquireLock({
    what: `the folder ${around}`,
    path: join(around, "fetching.db"),
    command: `fetching the plan of run ${run}`,
    waitMs: Number.POSITIVE_INFINITY,
    signal,
  });
  if (existsSync(planFiles(folder).manifest)) return;
  const planned = parseManifest(manifest);
  // A plan without actions has no bytes.
  if (planned.chunks.length > 0 && !hasStoredPlan(ledger, run)) throw missing(ledger, run, folder);
  const beside = join(around, "fetching");
  await rm(beside, { recursive: true, force: true });
  await mkdir(beside, { recursive: true, mode: 0o700 });
  const [from, to] = [planFiles(beside), planFiles(folder)];
  try {
    const expected = spansOf(planned);
    const total = STORED.reduce((sum, file) => sum + lengthOf(expected[file]), 0);
    let done = 0;
    for (const file of STORED) {
      const pieces = planFilePieces(ledger, run, basename(from[file]));
      for await (const bytes of writeChecked(pieces, from[file], expected[file], () => damaged(ledger, run, file))) {
        done += bytes;
        onShare(done / Math.max(1, total));
        signal.throwIfAborted();
      }
    }
    await using file = await createFile(from.manifest);
    await file.text(`${manifest}\n`);
    await file.sync();
    await using mark = await createFile(from.fetched);
    await mark.sync();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // The manifest last: from then on the folder is a plan.
    for (const each of [...STORED, "fetched", "manifest"] as const) await rename(from[each], to[each]);
    await syncDirectory(folder);
    await syncDirectory(dirname(folder));
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

/** Bytes of a file that follow each other, with their digest (hex). */
interface Span {
  readonly length: number;
  readonly sha256: string | undefined;
}

const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, { length }) => sum + length, 0);

const spansOf = ({ chunks }: Manifest): Readonly<Record<StoredFile, readonly Span[]>> => ({
  actions: chunks.map(({ length, sha256 }) => ({ length, sha256 })),
  index: chunks.map(({ count, indexSha256 }) => ({ length: count * RECORD_BYTES, sha256: indexSha256 })),
});

/** Writes a file and compares it, span by span. Gives how many bytes were written each time. */
async function* writeChecked(
  pieces: AsyncIterable<Buffer>,
  path: string,
  spans: readonly Span[],
  damage: () => Failure,
): AsyncGenerator<number> {
  await using file = await createFile(path);
  let [span, within, digest] = [0, 0, createHash("sha256")];
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const current = spans[span];
      if (current === undefined) throw damage();
      const end = Math.min(piece.length, at + current.length - within);
      digest.update(piece.subarray(at, end));
      within += end - at;
      at = end;
      if (within < current.length) continue;
      if (digest.digest("hex") !== current.sha256) throw damage();
      [span, within, digest] = [span + 1, 0, createHash("sha256")];
    }
    await file.bytes(piece);
    yield piece.length;
  }
  if (span < spans.length) throw damage();
  await file.sync();
}

const RESTORING = "Send it from the machine where it was planned, or restore the database from a backup.";

function damaged({ path }: Ledger, run: string, file: StoredFile): Failure {
  return new Failure(
    "storage",
    `The plan of run ${run} in ${path} is damaged: its ${file} are not the ones that were checked. Nothing of it was sent from here.`,
    { hint: RESTORING },
  );
}

function missing({ path }: Ledger, run: string, folder: string): Failure {
  return new Failure("storage", `The plan of run ${run} is neither in ${folder} nor in ${path} any more.`, {
    hint: "Plans are removed once their run has ended and nothing of it is in doubt. What was sent is in the ledger.",
  });
}
