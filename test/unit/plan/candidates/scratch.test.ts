/** What a plan keeps in a temporary database: there in order, in the plan's folder alone, and gone with the plan. */

import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { storageFailure } from "../../../../src/ledger/open-ledger.ts";
import { createScratch, type Scratch } from "../../../../src/plan/candidates/scratch.ts";
import { mountSmallDisk, type SmallDisk, WITHOUT_SMALL_DISKS } from "../../../support/small-disk.ts";

const TABLES = "CREATE TABLE notes (number INTEGER PRIMARY KEY, name TEXT NOT NULL, filling BLOB NOT NULL) STRICT";
const BY_NAME = "SELECT name, filling FROM notes ORDER BY name";
const FILLING = Buffer.alloc(1000);

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-scratch-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The names of many rows come in no order. */
const nameOf = (number: number): string => String(Math.imul(number, 2654435761) >>> 0).padStart(10, "0");

function note(scratch: Scratch, number: number): void {
  scratch.run("INSERT INTO notes VALUES (?, ?, ?)", number, nameOf(number), FILLING);
}

/** More than a database and its sorting hold in memory. */
const MANY = 40_000;

describe("what was noted", () => {
  it("comes in the order that is asked for, also where memory does not hold it, and leaves nothing behind", async () => {
    const folder = openFolder();
    const names: unknown[] = [];
    let sorted: readonly string[] = [];
    {
      using scratch = createScratch(folder, "many", TABLES);
      for (let number = 0; number < MANY; number += 1) note(scratch, number);
      expect(readdirSync(folder)).toEqual(["many.db"]);
      expect(statSync(join(folder, "many.db")).mode & 0o777).toBe(0o600);
      for await (const batch of scratch.batches(BY_NAME)) {
        if (sorted.length === 0) sorted = openFilesIn(folder).filter((path) => !path.endsWith("many.db"));
        names.push(...batch.map(([name]) => name));
      }
    }
    expect(names).toEqual(Array.from({ length: MANY }, (_, number) => nameOf(number)).sort());
    expect(sorted.length, "what is sorted lies beside it").toBeGreaterThan(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("may be changed once it was given", async () => {
    using scratch = createScratch(openFolder(), "changed", TABLES);
    for (let number = 0; number < 2000; number += 1) note(scratch, number);
    const given: unknown[] = [];
    for await (const batch of scratch.batches<readonly [number]>("SELECT number FROM notes ORDER BY name")) {
      for (const [number] of batch) scratch.run("UPDATE notes SET filling = x'00' WHERE number = ?", number);
      given.push(...batch);
    }
    expect(given).toHaveLength(2000);
    expect(scratch.has("SELECT 1 FROM notes WHERE length(filling) > 1")).toBe(false);
  });
});

it("makes no file before something is noted", async () => {
  const folder = openFolder();
  using scratch = createScratch(folder, "none", TABLES);
  expect(scratch.has("SELECT 1 FROM notes")).toBe(false);
  for await (const batch of scratch.batches(BY_NAME)) expect(batch, "there is none").toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

describe.skipIf(WITHOUT_SMALL_DISKS)("a disk that is full", () => {
  it.each<[string, number, (scratch: Scratch, disk: SmallDisk) => Promise<void>]>([
    [
      "while notes are taken",
      20 * 1024,
      async (scratch) => {
        for (let number = 0; number < MANY; number += 1) note(scratch, number);
      },
    ],
    [
      "while they are sorted",
      64 * 1024,
      async (scratch, disk) => {
        for (let number = 0; number < MANY; number += 1) note(scratch, number);
        disk.fill(1024);
        for await (const batch of scratch.batches(BY_NAME)) expect(batch, "they can't be sorted").toBeUndefined();
      },
    ],
  ])("%s is told as one, and has its room again", async (_, kib, work) => {
    const disk = mountSmallDisk(join(openFolder(), "disk"), kib);
    const notes = async (): Promise<void> => {
      using scratch = createScratch(disk.path, "notes", TABLES);
      await work(scratch, disk);
    };
    const told = await notes().catch((cause: unknown) => storageFailure(disk.path, cause));
    expect(told).toMatchObject({ code: "storage", message: `The disk is full: ${disk.path} can't be written.` });
    expect(readdirSync(disk.path).filter((name) => name !== "filler")).toEqual([]);
  });
});

/** Those that this process holds open, also where they have no name any more. */
function openFilesIn(folder: string): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const path = readlinkSync(join("/proc/self/fd", descriptor));
      return path.startsWith(`${folder}/`) ? [path] : [];
    } catch {
      return []; // closed by now, as the one of the listing itself
    }
  });
}
