/** A plan on disk: the actions of one run as the bytes that will be sent. Immutable. */

import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { closeCommand, decideCommand, settleCommand } from "../../actions/next-command.ts";
import { orClosed } from "../../disk/closing.ts";
import { errorCode, Failure } from "../../failure.ts";
import type { ChunkRecord } from "../../ledger/runs.ts";
import { type ChunkActions, toChunkActions } from "./chunk-actions.ts";
import { findOrigin, type IndexRecord, RECORD_BYTES, readRecord } from "./index-file.ts";
import { type Manifest, parseManifest } from "./manifest.ts";

export const planFiles = (directory: string) => ({
  actions: join(directory, "actions.ndjson"),
  index: join(directory, "actions.index"),
  manifest: join(directory, "manifest.json"),
  invalid: join(directory, "invalid.ndjson"),
  /** Is there where the folder was made from a shared ledger: what rejects are made of is not. */
  fetched: join(directory, "fetched"),
});

export type ChunkBorders = Pick<ChunkRecord, "first" | "count" | "offset" | "length">;

/** A chunk as it is sent, and where each of its actions came from; both as they were checked. */
interface PlanChunk {
  readonly actions: ChunkActions;
  /** Its part of the index: `RECORD_BYTES` an action. */
  readonly index: Buffer;
}

/**
 * Whatever is read of a chunk has been compared with its checksum before it is handed out. A part of a chunk, such as
 * half of it, is verified with the whole chunk of the manifest that it is a part of.
 */
export interface Plan extends AsyncDisposable {
  readonly directory: string;
  readonly manifest: Manifest;
  chunk(chunk: ChunkBorders): Promise<PlanChunk>;
  /** Begins to read a chunk that will be asked for next in its lane. */
  expect(chunk: ChunkBorders & Pick<ChunkRecord, "lane">): void;
  /** The actions of a chunk as lines of the plan, without newlines. */
  lines(chunk: ChunkBorders): Promise<readonly Buffer[]>;
  /** Where the actions of a chunk came from. */
  records(chunk: ChunkBorders): Promise<readonly IndexRecord[]>;
}

/** A file of a plan, wherever its bytes are. */
export interface PlanFile {
  /** Reads from `position` into `bytes`, as far as there is any; returns how many bytes there were. */
  read(bytes: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Where a plan is, in words. */
interface PlanPlace {
  /** Begins a sentence. */
  readonly name: string;
  /** What to do where it is damaged. */
  readonly restoring: string;
}

/** A plan as it is read. */
interface PlanSource {
  readonly actions: PlanFile;
  readonly index: PlanFile;
  readonly place: PlanPlace;
  readonly directory: string;
}

/**
 * @param entered the manifest as the ledger keeps it since the run was entered; the folder's must be the same.
 * @throws Failure `storage` when the plan is gone or damaged; it is never made again in silence, since the input may
 * have changed since.
 */
export async function openPlan(directory: string, entered: string): Promise<Plan> {
  const paths = planFiles(directory);
  const place = { name: `The plan in ${directory}`, restoring: restoring(directory) };
  try {
    const text = await readFile(paths.manifest, "utf8");
    const manifest = parseManifest(text);
    if (text.trimEnd() !== entered) throw damaged(place, "its manifest is not the one that the run began with");
    const actions = fileOf(await open(paths.actions, "r"));
    const index = await orClosed(actions, async () => fileOf(await open(paths.index, "r")));
    return planFrom({ actions, index, place, directory }, manifest);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure(
      "storage",
      `The plan in ${directory} can't be read (${cause instanceof Error ? cause.message.split("\n")[0] : cause}).`,
      { hint: isForbidden(cause) ? FORBIDDEN : restoring(directory), cause },
    );
  }
}

const isForbidden = (cause: unknown): boolean => ["EACCES", "EPERM"].includes(errorCode(cause) ?? "");
const FORBIDDEN =
  "Another user has written it, as where a night was run as root: give the state folder to the user who runs this (chown -R), then run the same command again.";

const fileOf = (file: FileHandle): PlanFile => ({
  read: async (bytes, position) => (await file.read(bytes, 0, bytes.length, position)).bytesRead,
  close: () => file.close(),
});

/** @param manifest as the ledger keeps it since the run was entered. */
export function planFrom(files: PlanSource, manifest: Manifest): Plan {
  const { actions, index, place, directory } = files;
  const initialOf = (chunk: ChunkBorders): InitialChunk => {
    const initial = findInitial(manifest.chunks, chunk);
    if (initial === undefined) throw damaged(place, `it has no chunk that holds ${describe(chunk)}`);
    return initial;
  };
  const readChunk = async (chunk: ChunkBorders): Promise<PlanChunk> => {
    const initial = initialOf(chunk);
    const [bytes, records] = await Promise.all([readActions(files, initial, chunk), readIndex(files, initial, chunk)]);
    const read = { actions: toChunkActions(bytes.toString("utf8"), chunk.count), index: records };
    if (initial.indexSha256 === undefined && !fitTogether(read, manifest))
      throw damaged(place, `the index does not fit ${describe(chunk)}`);
    return read;
  };
  /** By lane. */
  const expected = new Map<
    number,
    { readonly offset: number; readonly length: number; readonly reading: Promise<PlanChunk> }
  >();
  return {
    directory,
    manifest,
    chunk(chunk) {
      const early = [...expected].find(([, { offset, length }]) => offset === chunk.offset && length === chunk.length);
      if (early === undefined) return readChunk(chunk);
      expected.delete(early[0]);
      return early[1].reading;
    },
    expect({ lane, ...chunk }) {
      const reading = readChunk(chunk);
      // Told to whoever asks for the chunk.
      reading.catch(() => undefined);
      expected.set(lane, { offset: chunk.offset, length: chunk.length, reading });
    },
    async lines(chunk) {
      const bytes = await readActions(files, initialOf(chunk), chunk);
      const lines: Buffer[] = [];
      for (let from = 0; from < bytes.length; ) {
        const end = bytes.indexOf(NEWLINE, from);
        lines.push(bytes.subarray(from, end));
        from = end + 1;
      }
      if (lines.length !== chunk.count) throw damaged(place, `${describe(chunk)} are ${lines.length}`);
      return lines;
    },
    async records(chunk) {
      const bytes = await readIndex(files, initialOf(chunk), chunk);
      return Array.from({ length: chunk.count }, (_, at) => readRecord(bytes, at * RECORD_BYTES));
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...expected.values()].map(({ reading }) => reading));
      try {
        await actions.close();
      } finally {
        await index.close();
      }
    },
  };
}

type InitialChunk = Manifest["chunks"][number];

/** The chunk of the manifest that a chunk of the run is, or is a part of; the manifest's stand in the plan's order. */
function findInitial(initial: readonly InitialChunk[], { first, count, offset, length }: ChunkBorders) {
  let [low, high] = [0, initial.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((initial[middle]?.first ?? 0) <= first) low = middle;
    else high = middle - 1;
  }
  const found = initial[low];
  const isPart =
    found !== undefined &&
    count > 0 &&
    first >= found.first &&
    first + count <= found.first + found.count &&
    offset >= found.offset &&
    offset + length <= found.offset + found.length;
  return isPart ? found : undefined;
}

/** The verified lines of a chunk. */
async function readActions(
  { actions, place }: PlanSource,
  initial: InitialChunk,
  chunk: ChunkBorders,
): Promise<Buffer> {
  const lines = Buffer.allocUnsafe(initial.length);
  await readFully(actions, lines, initial.offset, place);
  if (sha256(lines) !== initial.sha256) throw damaged(place, `${describe(initial)} are not the ones that were checked`);
  const from = chunk.offset - initial.offset;
  // The borders of a chunk that was cut come from the ledger: they must mean the same action.
  if (countLines(lines.subarray(0, from)) !== chunk.first - initial.first)
    throw damaged(place, `${describe(chunk)} are not where the ledger says`);
  return lines.subarray(from, from + chunk.length);
}

/** The verified records of a chunk. Plans that version 1 of the index made have no checksum of it. */
async function readIndex(
  { index, place }: PlanSource,
  initial: InitialChunk,
  { first, count }: ChunkBorders,
): Promise<Buffer> {
  const records = Buffer.allocUnsafe(initial.count * RECORD_BYTES);
  await readFully(index, records, (initial.first - 1) * RECORD_BYTES, place);
  if (initial.indexSha256 !== undefined && sha256(records) !== initial.indexSha256)
    throw damaged(place, `the index of ${describe(initial)} is not the one that was checked`);
  const from = (first - initial.first) * RECORD_BYTES;
  return records.subarray(from, from + count * RECORD_BYTES);
}

/** Whether an index without a checksum tells of these actions, as far as it can be seen. */
function fitTogether({ actions, index }: PlanChunk, { inputs }: Manifest): boolean {
  for (let at = 0; at < actions.count; at += 1) {
    const origin = findOrigin(index, at * RECORD_BYTES);
    if (origin?.action !== actions.read(at).action || origin.input >= inputs.length || origin.line === 0) return false;
  }
  return true;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

const describe = ({ first, count }: Pick<ChunkBorders, "first" | "count">): string =>
  count === 1 ? `action ${first}` : `actions ${first} to ${first + count - 1}`;

function damaged({ name, restoring }: PlanPlace, why: string): Failure {
  return new Failure("storage", `${name} is damaged: ${why}. Nothing of this chunk was sent.`, { hint: restoring });
}

/** For a file of a plan that is not there any more. */
export function lostFile(directory: string, path: string): Failure {
  return new Failure("storage", `The plan in ${directory} lacks ${relative(directory, path)}.`, {
    hint: restoring(directory),
  });
}

/** For a file of a plan that is not as it was made. */
export function changedFile(directory: string, path: string): Failure {
  return new Failure(
    "storage",
    `The plan in ${directory} has another ${relative(directory, path)} than it was made with.`,
    {
      hint: restoring(directory),
    },
  );
}

/** @param directory `<state>/<environment>/runs/<run>` */
function restoring(directory: string): string {
  return `Restore the folder from a backup. If it is lost, close the run with: ${closeCommand({ run: basename(directory) }, environmentOf(directory))}`;
}

const environmentOf = (directory: string) => ({ named: ["--env", basename(dirname(dirname(directory)))] });

/** What a plan can't tell of a run that is closed already: what of it is in doubt. */
export function unreadableDoubt(directory: string, cause: Failure): Failure {
  const [run, environment] = [basename(directory), environmentOf(directory)];
  return new Failure(
    cause.code,
    `${cause.message} The run is closed with a part of it in doubt; only its plan tells which.`,
    {
      hint: `Restore the folder from a backup, then: ${settleCommand(run, environment)}\nIf it is lost: find out what the service has and leave that out of what you stream from now on; nothing else holds it back. Then: ${decideCommand(run, environment, "--not-sent")}`,
      cause,
    },
  );
}

const NEWLINE = 0x0a;

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function readFully(file: PlanFile, bytes: Buffer, position: number, place: PlanPlace): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const bytesRead = await file.read(bytes.subarray(at), position + at);
    if (bytesRead === 0)
      throw new Failure("storage", `${place.name} is shorter than its manifest says.`, { hint: place.restoring });
    at += bytesRead;
  }
}
