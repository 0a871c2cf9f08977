import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appendJournal, type JournalEntry, lackingRuns, readJournal } from "../../../src/ledger/journal.ts";
import { at, enter, inSqlite, newFolder, newRun, planned, SERVICE } from "../../support/ledgers.ts";

const entry = (run: string): JournalEntry => ({
  run,
  at: at(0),
  baseUrl: SERVICE,
  actions: 2,
  sends: 1,
  output: "/out/p.ndjson",
});

test("a journal has a line for each run, and none before the first", async () => {
  const path = join(newFolder(), "state", "journal.ndjson");
  expect(readJournal(path)).toEqual([]);
  await appendJournal(path, entry("00000001"));
  await appendJournal(path, entry("00000002"));
  expect(readJournal(path)).toEqual([entry("00000001"), entry("00000002")]);
});

test("a line that a power cut tore stands for no run, and makes way for the next", async () => {
  const path = join(newFolder(), "journal.ndjson");
  await appendJournal(path, entry("00000001"));
  appendFileSync(path, '{"run":"00000002","at":"2026');
  expect(readJournal(path)).toEqual([entry("00000001")]);
  await appendJournal(path, entry("00000003"));
  expect(readJournal(path)).toEqual([entry("00000001"), entry("00000003")]);
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
});

test("a damaged line stops the run: it may have named one that is lost", async () => {
  const path = join(newFolder(), "journal.ndjson");
  await appendJournal(path, entry("00000001"));
  await appendJournal(path, entry("00000002"));
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace('"run"', '"rum"'));
  expect(() => readJournal(path)).toThrow(
    expect.objectContaining({ code: "storage", message: `Line 1 of ${path} is damaged. Nothing was sent.` }),
  );
});

test("a ledger lacks what the journal tells of and it does not know", async () => {
  const ledger = await (await inSqlite()).open();
  const run = newRun();
  const number = await enter(ledger, run, planned([{ sales: [{ id: "a" }, { id: "b" }] }]));
  const lost = { entry: entry("ffffffff"), known: undefined };
  expect(await lackingRuns(ledger, [entry("ffffffff")])).toEqual([lost]);
  expect(await lackingRuns(ledger, [])).toEqual([]);
  const [first, second] = [entry(run.run), { ...entry(run.run), sends: 2 }];
  const older = [{ entry: second, known: 0 }];
  expect(await lackingRuns(ledger, [first, second]), "a later command went on with the run").toEqual(older);
  expect(await ledger.noteSending(number)).toBe(1);
  expect(await lackingRuns(ledger, [first])).toEqual([]);
  expect(await lackingRuns(ledger, [first, second])).toEqual(older);
});
