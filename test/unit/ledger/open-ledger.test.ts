import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { Failure } from "../../../src/failure.ts";
import { refuseNetworkFileSystem, wrap } from "../../../src/ledger/open-ledger.ts";

const PATH = join(tmpdir(), "playground", "ledger.db");

/** `statfs(2)` and linux/magic.h, written down here again. */
const REFUSED: readonly (readonly [string, number])[] = [
  ["NFS", 0x6969],
  ["SMB", 0x517b],
  ["CIFS", 0xff534d42],
  ["SMB2", 0xfe534d42],
  ["Ceph", 0x00c36400],
  ["9P", 0x01021997],
  ["AFS", 0x5346414f],
  ["Lustre", 0x0bd00bd0],
];

const TAKEN: readonly (readonly [string, number])[] = [
  ["ext4", 0xef53],
  ["XFS", 0x58465342],
  ["Btrfs", 0x9123683e],
  ["ZFS", 0x2fc12fc1],
  ["tmpfs", 0x01021994],
  ["overlay", 0x794c7630],
  ["APFS on macOS", 0x1a],
];

describe("a ledger on a network file system", () => {
  test.each(REFUSED)("is refused: %s", (name, type) => {
    let refused: unknown;
    try {
      refuseNetworkFileSystem(PATH, type);
    } catch (cause) {
      refused = cause;
    }
    expect(refused).toBeInstanceOf(Failure);
    expect(refused).toMatchObject({ code: "usage", hint: expect.stringContaining("--state-dir") });
    expect(String(refused)).toContain(`${join(tmpdir(), "playground")} is on a network file system (${name})`);
  });

  test.each(TAKEN)("is not seen in %s", (_, type) => {
    expect(() => refuseNetworkFileSystem(PATH, type)).not.toThrow();
  });

  test("is looked for where the ledger's folder is", () => {
    expect(() => refuseNetworkFileSystem(join(tmpdir(), "ledger.db"))).not.toThrow();
  });
});

test.each([
  [13, "a full disk"],
  [778, "a failed write"],
  [266, undefined],
] as const)(
  "a commit that fails with SQLite's %i is tried again where room may help, and begins nothing more: %s",
  (errcode, exhaustedBy) => {
    using database = new DatabaseSync(":memory:");
    using ledger = wrap(database, join(tmpdir(), "tickets-no-such-folder", "ledger.db"));
    ledger.run("CREATE TABLE noted (what TEXT)");
    const exec = database.exec.bind(database);
    let fails = 1;
    database.exec = (sql) => {
      if (sql === "COMMIT" && fails-- > 0)
        throw Object.assign(new Error("it failed"), { code: "ERR_SQLITE_ERROR", errcode });
      exec(sql);
    };
    const note = (): number => ledger.transaction(() => ledger.run("INSERT INTO noted VALUES ('one')"));
    if (exhaustedBy === undefined) expect(note).toThrow(Failure);
    else note();
    expect(ledger.exhaustedBy).toBe(exhaustedBy);
    expect(ledger.all("SELECT what FROM noted")).toHaveLength(exhaustedBy === undefined ? 0 : 1);
  },
);

test("what is damaged is told as such by the step that meets it, too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tickets-damaged-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "ledger.db");
  const fill = new DatabaseSync(path);
  fill.exec("CREATE TABLE noted (what TEXT)");
  for (let number = 0; number < 500; number += 1) fill.exec(`INSERT INTO noted VALUES ('${"x".repeat(100)}')`);
  const page = Number(fill.prepare("PRAGMA page_size").get()?.page_size);
  fill.close();
  const bytes = await readFile(path);
  await writeFile(path, Buffer.concat([bytes.subarray(0, 3 * page), Buffer.alloc(bytes.length - 3 * page, 0x5a)]));
  using database = new DatabaseSync(path);
  const ledger = wrap(database, path);
  const damaged = expect.objectContaining({ code: "storage", message: expect.stringContaining("is damaged") });
  expect(() => ledger.all("SELECT what FROM noted")).toThrow(damaged);
  expect(() => [...ledger.iterate("SELECT what FROM noted")]).toThrow(damaged);
});
