/** `tickets prune` gives back what nothing needs any more, and nothing else. */

import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";

const SEND = ["stream", "sales.csv", "--env", "playground", "--chunk-size", "2"];
const PRUNE = ["prune", "--env", "playground"];
const STATE = "home/state/tickets/playground";
const MONTH_MS = 30 * 24 * 60 * 60 * 1000;

const plansIn = (place: Workplace): readonly string[] => readdirSync(place.path(`${STATE}/runs`)).toSorted();

const ago = (): string => new Date(Date.now() - MONTH_MS).toISOString();

async function sent() {
  const place = openWorkplace({ isWarm: true });
  const service = await startService();
  place.write("sales.csv", salesTable(4));
  expect(await place.tickets(SEND, service)).toMatchObject({ exitCode: 0 });
  return { place, service };
}

test("removes plans of ended runs and what dead processes left, says how much, and leaves ledger and list", async () => {
  const { place, service } = await sent();
  const [run = ""] = plansIn(place);
  expect((await place.tickets(PRUNE, service)).stderr).toContain(
    "playground has nothing to remove that is older than 14d",
  );
  const left = place.path("tmp/tickets-tmp-999999999-Ab3_x9");
  const others = place.path("tmp/tickets-backup");
  for (const folder of [left, others]) {
    mkdirSync(folder);
    writeFileSync(`${folder}/plan`, "x".repeat(5000));
    utimesSync(folder, new Date(ago()), new Date(ago()));
  }
  const dry = await place.tickets([...PRUNE, "--older-than", "0s", "--dry-run"], service);
  expect(dry.stderr).toContain("would be freed; nothing was removed.");
  expect(plansIn(place)).toEqual([run]);
  const before = await place.tickets(["env", "playground"], service);
  expect(before.stdout).toMatch(/ {2}disk {6}ledger [\d.]+ kB, plans [\d.]+ (bytes|kB), ballast 33\.6 MB/);

  const pruned = await place.tickets([...PRUNE, "--older-than", "0s", "--json"], service);
  expect(pruned.exitCode).toBe(0);
  expect(pruned.stderr).toContain("1 plan of an ended run: ");
  expect(pruned.stderr).toContain("1 temporary folder: 5.0 kB");
  expect(JSON.parse(pruned.stdout)).toMatchObject({ dryRun: false, removed: [{}, {}] });
  expect(plansIn(place)).toEqual([]);
  expect(existsSync(left)).toBe(false);
  expect(existsSync(others)).toBe(true);

  expect((await place.tickets(SEND, service)).stderr).toContain("Nothing new");
  expect(service.sent()).toHaveLength(4);
});

test("what would need a plan that is gone answers from the ledger, or in a sentence", { tags: ["long"] }, async () => {
  const { place, service } = await sent();
  const [run = ""] = plansIn(place);
  await place.tickets([...PRUNE, "--older-than", "0s"], service);
  expect(plansIn(place)).toEqual([]);
  const chunk = await place.tickets(["status", run, "--chunk", "2", "--env", "playground"], service);
  expect(chunk.exitCode).toBe(0);
  expect(chunk.stdout).toContain('"ticketId":"T-3"');
  for (const [command, exitCode] of [
    [["results", run], 0],
    [["settle", run], 0],
    [["settle", run, "--abandon"], 0],
    [["resume", run], 0],
  ] as const) {
    const answered = await place.tickets([...command, "--env", "playground"], service);
    expect(answered.exitCode, command.join(" ")).toBe(exitCode);
    expect(answered.stderr).not.toMatch(/ENOENT|fault/);
  }
});

test("leaves what a doubt needs", { tags: ["long"] }, async () => {
  const { place, service } = await sent();
  service.behave({ answer: () => ({ status: 500, body: "" }) });
  place.write("sales.csv", salesTable(6));
  expect(await place.tickets(SEND, service)).toMatchObject({ exitCode: 6 });
  const { runs } = JSON.parse((await place.tickets(["status", "--env", "playground", "--json"], service)).stdout);
  const doubted = runs[0].run;
  await place.tickets(["settle", doubted, "--abandon", "--reason", "closed", "--env", "playground"], service);
  await place.tickets([...PRUNE, "--older-than", "0s"], service);
  expect(plansIn(place)).toEqual([doubted]);
});

test("removes nothing while another holds the lock, nor where the ledger was lost", { tags: ["long"] }, async () => {
  const { place, service } = await sent();
  const before = plansIn(place);
  {
    using lock = new DatabaseSync(place.path(`${STATE}/lock.db`));
    lock.exec("BEGIN EXCLUSIVE");
    expect(await place.tickets([...PRUNE, "--older-than", "0s"], service)).toMatchObject({ exitCode: 8 });
  }
  rmSync(place.path(`${STATE}/ledger.db`));
  expect(await place.tickets([...PRUNE, "--older-than", "0s"], service)).toMatchObject({ exitCode: 2 });
  expect(plansIn(place)).toEqual(before);
});
