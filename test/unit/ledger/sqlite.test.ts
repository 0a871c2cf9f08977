import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { BALLAST_BYTES, refuseNetworkFileSystem } from "../../../src/ledger/sqlite-file.ts";
import { openFolder } from "../../support/folder.ts";
import { at, ending, enter, newRun, planned, promise, toPlace } from "../../support/ledgers.ts";

const placeAt = (path: string) => toPlace({ kind: "sqlite", path });
const inFolder = (): string => join(openFolder(), "ledger.db");
const close = (ledger: Ledger): PromiseLike<void> => ledger[Symbol.asyncDispose]();

describe("a ledger in a file", () => {
  test("is its owner's alone, with a ballast beside it", async () => {
    const path = join(openFolder(), "state", "ledger.db");
    await placeAt(path).open();
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dirname(path))) expect(statSync(join(dirname(path), name)).mode & 0o077).toBe(0);
    expect(statSync(join(dirname(path), "ballast")).size).toBe(BALLAST_BYTES);
  });

  test("is not opened with the log of another file: a copy that was put back beside it would take pages of both", async () => {
    const path = inFolder();
    const grow = async (id: string): Promise<Ledger> => {
      const ledger = await placeAt(path).open();
      await enter(ledger, newRun(), planned([{ sales: [{ id }] }]));
      return ledger;
    };
    await close(await grow("a"));
    const older = readFileSync(path);
    await close(await grow("b"));
    // As a process that is killed leaves it.
    await using _ = await grow("c");
    const [killed, put] = [inFolder(), inFolder()];
    for (const [to, file] of [
      [killed, readFileSync(path)],
      [put, older],
    ] as const) {
      writeFileSync(to, file);
      writeFileSync(`${to}-wal`, readFileSync(`${path}-wal`));
    }
    const found = await placeAt(killed).open();
    expect(await found.runs()).toHaveLength(3);
    await close(found);
    const message = expect.stringContaining("don't belong together");
    await expect(placeAt(put).open()).rejects.toMatchObject({ code: "storage", message });
    await expect(placeAt(put).find()).rejects.toMatchObject({ code: "storage", message });
  });

  test("that is reached by a link has the lock of the file itself", async () => {
    const [path, link] = [inFolder(), join(openFolder(), "other", "ledger.db")];
    const locked = { name: "environment", what: "the ledger", waitMs: 0, signal: new AbortController().signal };
    const ledger = await placeAt(path).open();
    mkdirSync(dirname(link));
    symlinkSync(path, link);
    await using _ = await ledger.lock({ ...locked, command: "one" });
    const linked = await placeAt(link).open();
    expect(await linked.holder("environment")).toMatchObject({ command: "one" });
    await expect(linked.lock({ ...locked, command: "other" })).rejects.toMatchObject({ code: "busy" });
    expect(readdirSync(dirname(link))).toEqual(["ledger.db"]);
  });

  test("keeps an answer that left a doubt as it came", async () => {
    const path = inFolder();
    const ledger = await placeAt(path).open();
    const run = await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }] }]));
    await ledger.advance(run, { intent: { chunk: 1, at: at(1) } });
    const raw = Buffer.from('{"message":"perhaps"}');
    await ledger.advance(run, { ended: ending("doubt", { raw }) });
    const row = new DatabaseSync(path, { readOnly: true }).prepare("SELECT answer FROM attempts").get();
    expect(Buffer.from(row?.answer as Uint8Array)).toEqual(raw); // a BLOB
  });

  test.each([
    ["of another version", "UPDATE meta SET value = '1' WHERE name = 'schema'", "has version 1"],
    [
      "of the form before",
      "DROP TABLE meta; CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
      "has the form of an earlier version",
    ],
    ["of another program", "DROP TABLE meta", "has the form of an earlier version"],
  ])("%s is refused, and left as it is", async (_, change, words) => {
    const path = inFolder();
    await close(await placeAt(path).open());
    const database = new DatabaseSync(path);
    database.exec(`DROP VIEW known; ${change}; PRAGMA wal_checkpoint(TRUNCATE)`);
    database.close();
    const before = readFileSync(path);
    for (const open of [placeAt(path).open, placeAt(path).find])
      await expect(open()).rejects.toMatchObject({
        code: "usage",
        message: `The ledger ${path} ${words}, and this version of tickets takes only version 2. Nothing was sent.`,
      });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("is read where nothing can be written", async () => {
    const path = inFolder();
    const ledger = await placeAt(path).open();
    await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }] }]));
    await close(ledger);
    chmodSync(path, 0o400);
    chmodSync(dirname(path), 0o500);
    const found = await placeAt(path).find();
    expect(await found?.actionsOf(["t:a"])).toHaveLength(1);
    chmodSync(dirname(path), 0o700);
  });

  test.each([
    ["NFS", 0x6969],
    ["CIFS", 0xff534d42],
    ["9P", 0x01021997],
  ])("on a network file system is refused: %s", (name, type) => {
    const path = join(tmpdir(), "playground", "ledger.db");
    expect(() => refuseNetworkFileSystem(path, type)).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining(`network file system (${name})`) }),
    );
    expect(() => refuseNetworkFileSystem(path, 0xef53)).not.toThrow();
  });
});

describe("a process that is killed", () => {
  test("in the middle of entering a run leaves nothing of it", async () => {
    const path = inFolder();
    const ledger = await placeAt(path).open();
    const script = `
import { openLedger } from "${join(import.meta.dirname, "../../../src/ledger/ledger.ts")}";
const ledger = await openLedger({ place: { kind: "sqlite", path: process.argv[1] }, boundTo: "https://api.example.com/v1" });
const run = { run: "0000abcd", createdAt: "", environment: "", output: undefined, inputs: [], rows: {}, actions: {}, byAction: {}, problems: {}, options: {} };
await ledger.enterRun(run, (async function* () {
  yield { chunk: 1, lane: 1, stage: 0, body: Buffer.alloc(100000, "[1]"), origins: [], rows: [] };
  process.kill(process.pid, "SIGKILL");
})(), (async function* () {})());`;
    const { signal } = spawnSync(process.execPath, ["--input-type=module", "--eval", script, "--", path]);
    expect(signal).toBe("SIGKILL");
    expect(await ledger.runs()).toEqual([]);
    expect(await ledger.nextChunk(1, 1)).toBeUndefined();
  });
});

test("what is pruned is given back to the disk", async () => {
  const place = placeAt(inFolder());
  const filled = await place.open();
  const sales = Array.from({ length: 5000 }, () => ({ id: randomUUID() }));
  const number = await enter(filled, newRun(), planned([{ sales }]));
  await filled.advance(number, { intent: { chunk: 1, at: at(1) } });
  const answers = sales.map((_, n) => ({ outcome: "accepted", promise: promise(n) }) as const);
  await filled.advance(number, { ended: ending("answer", { attempt: 1, httpStatus: 200, answers }) });
  await filled.endRun(number, { exitCode: 0, at: at(3) });
  await close(filled);
  const ledger = await place.open();
  const { chunks, bytesBefore, bytesAfter } = await ledger.prune(at(4));
  expect(chunks).toBe(1);
  expect(bytesAfter).toBeLessThan(bytesBefore - 50_000);
  expect(await ledger.actionsOf(sales.map(({ id }) => `t:${id}`).sort())).toHaveLength(sales.length);
});
