import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openCheckpointer } from "../../../src/ledger/checkpointer.ts";
import { type Ledger, readMeta, writeMeta } from "../../../src/ledger/ledger.ts";
import { openLedger } from "../../../src/ledger/open-ledger.ts";

const BYTES = 1024 * 1024;

function opened(): Ledger {
  const folder = mkdtempSync(join(tmpdir(), "tickets-checkpoints-"));
  const ledger = openLedger({ path: join(folder, "ledger.db"), boundTo: "https://playground.example/api" });
  onTestFinished(() => {
    ledger[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });
  return ledger;
}

const commit = (ledger: Ledger, key: string): void =>
  ledger.transaction(() => writeMeta(ledger, key, "x".repeat(BYTES)));

/** What the file itself holds, without its log. */
function isInFile({ path }: Ledger, key: string): boolean {
  copyFileSync(path, `${path}.alone`);
  using database = new DatabaseSync(`${path}.alone`);
  const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").all();
  return tables.length > 0 && database.prepare("SELECT 1 FROM meta WHERE key = ?").get(key) !== undefined;
}

/** Commits, and asks for a checkpoint, which is done once this resolves. */
async function checkpointed(ledger: Ledger, key: string): Promise<void> {
  await using checkpointer = openCheckpointer(ledger, BYTES);
  commit(ledger, key);
  checkpointer.grew(BYTES);
}

test("what was committed goes into the file on another thread, and the log begins anew", async () => {
  const ledger = opened();
  await checkpointed(ledger, "first");
  expect(isInFile(ledger, "first")).toBe(true);
  const { size } = statSync(`${ledger.path}-wal`);
  for (const key of ["second", "third", "fourth"]) await checkpointed(ledger, key);
  expect(isInFile(ledger, "fourth")).toBe(true);
  expect(statSync(`${ledger.path}-wal`).size).toBeLessThan(size + BYTES);
});

test("no thread is started for little", async () => {
  const ledger = opened();
  {
    await using checkpointer = openCheckpointer(ledger, BYTES);
    commit(ledger, "one");
    checkpointer.grew(BYTES - 1);
  }
  expect(isInFile(ledger, "one")).toBe(false);
  expect(readMeta(ledger, "one")).toHaveLength(BYTES);
});

test("what somebody reads keeps neither the checkpoint waiting, nor a commit", async () => {
  const ledger = opened();
  await checkpointed(ledger, "first");
  using reader = new DatabaseSync(ledger.path, { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM meta").get();
  await checkpointed(ledger, "second");
  commit(ledger, "third");
  expect(reader.prepare("SELECT 1 FROM meta WHERE key = 'second'").get()).toBeUndefined();
  reader.exec("COMMIT");
  await checkpointed(ledger, "fourth");
  expect(["second", "third", "fourth"].filter((key) => !isInFile(ledger, key))).toEqual([]);
});

test("a full disk is left to the answers: no checkpoint takes what the reserve made room for", async () => {
  const ledger = opened();
  await checkpointed({ ...ledger, transaction: ledger.transaction, exhaustedBy: "a full disk" }, "one");
  expect(isInFile(ledger, "one")).toBe(false);
});

test("where no checkpoint can be done, sending goes on without", async () => {
  const ledger = opened();
  await using checkpointer = openCheckpointer({ ...ledger, path: join(ledger.path, "nothing", "ledger.db") }, BYTES);
  for (const key of ["one", "two"]) {
    commit(ledger, key);
    checkpointer.grew(BYTES);
  }
  expect(readMeta(ledger, "two")).toHaveLength(BYTES);
});

/** Commits number after number, each told once it is on disk, with checkpoints all the while. */
const COMMITTING = `
const [path, source] = process.argv.slice(-2);
const { openLedger } = await import(source + "open-ledger.ts");
const { openCheckpointer } = await import(source + "checkpointer.ts");
const { writeMeta } = await import(source + "ledger.ts");
const ledger = openLedger({ path, boundTo: undefined });
const checkpointer = openCheckpointer(ledger, 1);
for (let number = 1; ; number += 1) {
  ledger.transaction(() => writeMeta(ledger, "n " + number, "x".repeat(20_000)));
  checkpointer.grew(1);
  await new Promise((told) => process.stdout.write(number + "\\n", told));
}`;

test.each([1, 20, 90, 250])("a kill after %i commits loses none, whatever is being moved", async (most) => {
  const { path } = opened();
  const source = pathToFileURL(join(import.meta.dirname, "../../../src/ledger/")).href;
  const child = spawn(process.execPath, ["--input-type=module", "-e", COMMITTING, path, source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = 0;
  let rest = "";
  for await (const part of child.stdout.setEncoding("utf8")) {
    const lines = `${rest}${part}`.split("\n");
    rest = lines.pop() ?? "";
    told = Number(lines.at(-1) ?? told);
    if (told >= most) child.kill("SIGKILL");
  }
  expect(child.signalCode ?? (await new Promise((resolve) => child.on("exit", (_, signal) => resolve(signal))))).toBe(
    "SIGKILL",
  );
  using after = openLedger({ path, boundTo: undefined });
  expect(after.get("PRAGMA integrity_check")?.integrity_check).toBe("ok");
  const kept = Number(after.get("SELECT count(*) AS n FROM meta WHERE key GLOB 'n *'")?.n);
  expect(kept).toBeGreaterThanOrEqual(told);
  expect(kept).toBeLessThanOrEqual(told + 1);
});
