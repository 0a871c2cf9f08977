/** What a process leaves that was killed at its very beginning or end, or a person who put something else in its place. */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Workplace } from "../support/bin.ts";
import { openSales, type Service } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];
const LEDGER = "home/state/tickets/playground/ledger.db";

async function newestRun(place: Workplace, service: Service): Promise<string> {
  const { stdout } = await place.tickets(["status", "--json", "--env", "playground"], service);
  return (JSON.parse(stdout) as { readonly runs: readonly { readonly run: string }[] }).runs[0]?.run ?? "";
}

test.each<[string, (path: string) => void]>([
  ["no byte", (path) => new DatabaseSync(path).close()],
  [
    "no table",
    (path) => {
      using database = new DatabaseSync(path);
      database.exec("PRAGMA journal_mode = WAL");
    },
  ],
])("a ledger that has %s yet is none, for who only looks, and the next stream makes it", async (_, begin) => {
  const { place, service } = await openSales(5);
  mkdirSync(dirname(place.path(LEDGER)), { recursive: true });
  begin(place.path(LEDGER));
  for (const args of [["status"], ["find", "T-1"], ["validate", "sales.csv"]]) {
    const { exitCode, stderr } = await place.tickets([...args, "--env", "playground"], service);
    expect(exitCode, args.join(" ")).toBe(args[0] === "find" ? 4 : 0);
    expect(stderr).not.toContain("no such table");
  }
  expect((await place.tickets(SEND, service)).exitCode).toBe(0);
});

test("a stream that ends a run of another night and then finds its own input invalid is no success", async () => {
  const { place, service } = await openSales(5);
  expect((await place.tickets([...SEND, "--max-duration", "1ms"], service)).exitCode).toBe(7);
  place.write("sales.csv", `${salesTable(5)}not a row\n`);
  expect((await place.tickets(SEND, service)).exitCode).toBe(3);
  expect(service.sent()).toHaveLength(5);
  const { exitCode, stderr } = await place.tickets(["status", "--env", "playground", "--max-age", "26h"], service);
  expect(exitCode).toBe(4);
  expect(stderr).toContain("No stream to playground has succeeded yet");
});

test("what the service rejected as there already, after a wrong --not-sent, is known once a person adopts it", async () => {
  const { place, service } = await openSales(5);
  service.behave({ answer: () => ({ status: 500, body: "" }) });
  expect((await place.tickets(SEND, service)).exitCode).toBe(6);
  service.behave({ failureOf: ({ data }) => ({ status: "error", ticketId: data.ticketId, error: "ticket_exists" }) });
  const run = await newestRun(place, service);
  const word = ["settle", run, "--not-sent", "--reason", "wrong", "--env", "playground"];
  expect((await place.tickets(word, service)).exitCode).toBe(0);
  expect((await place.tickets(SEND, service)).exitCode).toBe(4);
  const otherwise = await place.tickets(["settle", run, "--sent", "--env", "playground"], service);
  expect(otherwise.exitCode).toBe(0);
  expect(otherwise.stderr).toContain(`Run ${run} has nothing to settle, so nothing was changed.`);
  const sent = service.sent().length;
  expect((await place.tickets([...SEND, "--adopt", "--reason", "it has them"], service)).exitCode).toBe(0);
  const { exitCode, stderr } = await place.tickets(SEND, service);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("all 5 actions were sent before");
  expect(service.sent()).toHaveLength(sent);
});
