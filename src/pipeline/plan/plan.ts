/** A plan on disk: the actions of one run as the bytes that will be sent. Immutable. */

import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { Failure } from "../../failure.ts";
import type { ChunkRecord } from "../ledger/runs.ts";
import { type ChunkActions, toChunkActions } from "./chunk-actions.ts";
import { type IndexRecord, RECORD_BYTES, readRecord } from "./index-file.ts";
import { type Manifest, parseManifest } from "./manifest.ts";

export const planFiles = (directory: string) => ({
  actions: join(directory, "actions.ndjson"),
  index: join(directory, "actions.index"),
  manifest: join(directory, "manifest.json"),
  invalid: join(directory, "invalid.ndjson"),
});

export type ChunkBorders = Pick<ChunkRecord, "first" | "count" | "offset" | "length">;

export interface Plan extends AsyncDisposable {
  readonly directory: string;
  readonly manifest: Manifest;
  /** The actions of a chunk as they are sent. */
  actions(chunk: ChunkBorders): Promise<ChunkActions>;
  /** Begins to read the actions of a chunk that will be asked for next in its lane. */
  expect(chunk: ChunkBorders & Pick<ChunkRecord, "lane">): void;
  /** The index of a chunk: `RECORD_BYTES` an action. */
  index(chunk: ChunkBorders): Promise<Buffer>;
  /** The actions of a chunk as lines of the plan, without newlines. */
  lines(chunk: ChunkBorders): Promise<readonly Buffer[]>;
  /** Where the actions of a chunk came from. */
  records(chunk: ChunkBorders): Promise<readonly IndexRecord[]>;
}

/**
 * @throws Failure `storage` when the plan is gone or damaged; it is never made again in silence, since the input may
 * have changed since.
 */
export async function openPlan(directory: string): Promise<Plan> {
  const paths = planFiles(directory);
  let manifest: Manifest;
  let actions: FileHandle;
  let index: FileHandle;
  try {
    manifest = parseManifest(await readFile(paths.manifest, "utf8"));
    actions = await open(paths.actions, "r");
    index = await open(paths.index, "r");
  } catch (cause) {
    throw new Failure(
      "storage",
      `The plan in ${directory} can't be read (${cause instanceof Error ? cause.message.split("\n")[0] : cause}).`,
      { hint: restoring(directory), cause },
    );
  }
  const checksums = new Map(manifest.chunks.map((each) => [each.offset, each]));
  const bytesOf = async (chunk: ChunkBorders, before: number): Promise<Buffer> => {
    const bytes = Buffer.allocUnsafe(before + chunk.length);
    await readFully(actions, bytes, before, chunk.offset, directory);
    // Only initial borders have a checksum; the halves of a split chunk are covered by the one of their parent's bytes on disk.
    const known = checksums.get(chunk.offset);
    if (known?.length === chunk.length && sha256(bytes.subarray(before)) !== known.sha256) {
      throw new Failure(
        "storage",
        `The plan in ${directory} is damaged: its actions are not the ones that were checked. Nothing of this chunk was sent.`,
        { hint: restoring(directory) },
      );
    }
    return bytes;
  };
  const actionsOf = async (chunk: ChunkBorders): Promise<ChunkActions> =>
    toChunkActions(await bytesOf(chunk, 1), chunk.count);
  const indexOf = async ({ first, count }: ChunkBorders): Promise<Buffer> => {
    const bytes = Buffer.allocUnsafe(count * RECORD_BYTES);
    await readFully(index, bytes, 0, (first - 1) * RECORD_BYTES, directory);
    return bytes;
  };
  /** By lane. */
  const expected = new Map<
    number,
    { readonly offset: number; readonly length: number; readonly reading: Promise<ChunkActions> }
  >();
  return {
    directory,
    manifest,
    actions(chunk) {
      const early = [...expected].find(([, { offset, length }]) => offset === chunk.offset && length === chunk.length);
      if (early === undefined) return actionsOf(chunk);
      expected.delete(early[0]);
      return early[1].reading;
    },
    expect({ lane, ...chunk }) {
      const reading = actionsOf(chunk);
      // Told to whoever asks for the chunk.
      reading.catch(() => undefined);
      expected.set(lane, { offset: chunk.offset, length: chunk.length, reading });
    },
    index: indexOf,
    async lines(chunk) {
      const bytes = await bytesOf(chunk, 0);
      const lines: Buffer[] = [];
      for (let from = 0; from < bytes.length; ) {
        const end = bytes.indexOf(NEWLINE, from);
        lines.push(bytes.subarray(from, end));
        from = end + 1;
      }
      return lines;
    },
    async records(chunk) {
      const bytes = await indexOf(chunk);
      return Array.from({ length: chunk.count }, (_, at) => readRecord(bytes, at * RECORD_BYTES));
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...expected.values()].map(({ reading }) => reading));
      await actions.close();
      await index.close();
    },
  };
}

/** For a file of a plan that is not there any more. */
export function lostFile(directory: string, path: string): Failure {
  return new Failure("storage", `The plan in ${directory} lacks ${relative(directory, path)}.`, {
    hint: restoring(directory),
  });
}

/** @param directory `<state>/<environment>/runs/<run>` */
function restoring(directory: string): string {
  const environment = basename(dirname(dirname(directory)));
  return `Restore the folder from a backup. If it is lost, close the run with: tickets settle ${basename(directory)} --abandon --env ${environment}`;
}

const NEWLINE = 0x0a;

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function readFully(
  file: FileHandle,
  bytes: Buffer,
  into: number,
  position: number,
  directory: string,
): Promise<void> {
  for (let at = into; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, position + at - into);
    if (bytesRead === 0)
      throw new Failure("storage", `The plan in ${directory} is shorter than its manifest says.`, {
        hint: restoring(directory),
      });
    at += bytesRead;
  }
}
