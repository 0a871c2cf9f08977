/** Files that are closed before they were read to their end. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { openBytes } from "../../../src/read/bytes.ts";
import { resolveInputs } from "../../../src/read/inputs.ts";
import { openFile } from "../../../src/read/open-file.ts";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-open-file-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("closing waits for a read in flight, which would be one of the next file's otherwise", async () => {
  const path = join(await temporaryFolder(), "large.csv");
  const size = 256 * 1024 * 1024; // so that reading it takes much longer than closing it
  await writeFile(path, "");
  await truncate(path, size);
  const file = await openFile(path);
  let isRead = false;
  const reading = file.read(size).finally(() => {
    isRead = true;
  });
  await file[Symbol.asyncDispose]();
  expect(isRead).toBe(true);
  expect((await reading)?.length).toBe(size);
});

test.each([
  ["a.csv", (bytes: Buffer) => bytes],
  ["a.csv.gz", gzipSync],
  ["a.csv.zst", zstdCompressSync],
])("what still asks for bytes of a closed file gets none: %s", async (name, stored) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, name), stored(Buffer.from(`a\n${randomBytes(400_000).toString("hex")}`)));
  const [input] = await resolveInputs([name], { cwd: folder });
  if (input === undefined) throw new Error("no input");
  const source = await openBytes(input);
  const blocks = source.blocks();
  await blocks.next();
  const { bytesRead } = source;
  await source[Symbol.asyncDispose]();
  await source.drain();
  expect(source.bytesRead - bytesRead).toBeLessThanOrEqual(64 * 1024); // what was in flight
});
