/** `tickets prune` gives back what nothing needs any more, and nothing else. */

import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openSales } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const SEND = ["stream", "sales.csv", "--env", "playground", "TICKETS_CHUNK_SIZE=2"];
const PRUNE = ["prune", "--env", "playground", "--older-than", "0s"];
const STATE = "home/state/tickets/playground";

async function sent() {
  const { place, service } = await openSales(4);
  const { summary } = await place.summary(SEND, service);
  expect(summary.exitCode).toBe(0);
  return { place, service, run: summary.run ?? "" };
}

test("removes what was sent of ended runs, says how much, and nothing is sent again", async () => {
  const { place, service } = await sent();
  expect((await place.tickets(["prune", "--env", "playground"], service)).stderr).toContain(
    "Nothing to remove: playground has no requests older than 90d",
  );
  const pruned = await place.tickets([...PRUNE, "--json"], service);
  expect(pruned.exitCode).toBe(0);
  expect(pruned.stderr).toContain("The requests of 2 chunks were removed; identities and promises stay.");
  const { chunks, bytesBefore, bytesAfter } = JSON.parse(pruned.stdout);
  // So little may leave no page of the file free.
  expect([chunks, bytesAfter <= bytesBefore]).toEqual([2, true]);

  expect((await place.tickets(SEND, service)).stderr).toContain("Nothing new");
  expect(service.sent()).toHaveLength(4);
});

test("what would need it answers from the ledger, or in a sentence", LONG, async () => {
  const { place, service, run } = await sent();
  await place.tickets(PRUNE, service);
  const find = await place.tickets(["find", "T-3", "--env", "playground"], service);
  expect(find.stdout).toContain("accepted");
  for (const [command, exitCode] of [
    [["status", run, "--chunk", "2"], 2],
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

test("leaves what a doubt needs", LONG, async () => {
  const { place, service, run } = await sent();
  service.behave({ answer: () => ({ status: 500, body: "" }) });
  place.write("sales.csv", salesTable(6));
  const { summary } = await place.summary(SEND, service);
  expect(summary.exitCode).toBe(6);
  const doubted = summary.run ?? "";
  await place.tickets(["settle", doubted, "--abandon", "--reason", "closed", "--env", "playground"], service);
  await place.tickets(PRUNE, service);
  const chunkOf = (of: string, chunk: string) =>
    place.tickets(["status", of, "--chunk", chunk, "--env", "playground"], service);
  expect((await chunkOf(run, "1")).stderr).toContain("it was pruned");
  expect((await chunkOf(doubted, "1")).stdout).toContain('"ticketId":"T-5"');
});

test("removes nothing while another holds the lock, nor where the ledger was lost", LONG, async () => {
  const { place, service, run } = await sent();
  {
    using lock = new DatabaseSync(place.path(`${STATE}/environment.lock`));
    lock.exec("BEGIN EXCLUSIVE");
    expect(await place.tickets(PRUNE, service)).toMatchObject({ exitCode: 8 });
  }
  const chunk = await place.tickets(["status", run, "--chunk", "1", "--env", "playground"], service);
  expect(chunk).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"ticketId":"T-1"') });
  rmSync(place.path(`${STATE}/ledger.db`));
  expect(await place.tickets(PRUNE, service)).toMatchObject({ exitCode: 2 });
});
