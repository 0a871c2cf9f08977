import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFile } from "../../../../src/plan/files/append-file.ts";

let folder: string;
let handles: FileHandle;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tickets-"));
  await using file = await open(join(folder, "any"), "w");
  handles = Object.getPrototypeOf(file) as FileHandle; // of all files
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const MEGABYTE = Buffer.alloc(1024 * 1024, "x");

async function write(megabytes: number, end: (file: Awaited<ReturnType<typeof createFile>>) => Promise<void>) {
  await using file = await createFile(join(folder, "file"));
  for (let at = 0; at < megabytes; at += 1) await file.bytes(MEGABYTE);
  await end(file);
}

it("the disk begins with a large file before its end, and has it whole then", async () => {
  const begun = vi.spyOn(handles, "datasync");
  const ended = vi.spyOn(handles, "sync");
  await write(40, async (file) => {
    expect(begun).toHaveBeenCalled();
    expect(ended).not.toHaveBeenCalled();
    await file.sync();
    expect(ended).toHaveBeenCalledTimes(1);
  });
  expect(readFileSync(join(folder, "file")).length).toBe(40 * MEGABYTE.length);
});

it("a small file is synced at its end alone", async () => {
  const begun = vi.spyOn(handles, "datasync");
  await write(2, (file) => file.sync());
  expect(begun).not.toHaveBeenCalled();
});

it("what the disk could not take is told at the end, although the system tells it once", async () => {
  vi.spyOn(handles, "datasync").mockRejectedValueOnce(new Error("EIO: i/o error, fdatasync"));
  await write(40, (file) => expect(file.sync()).rejects.toThrow("EIO"));
});
