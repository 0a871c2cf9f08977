/** What a process leaves that was killed at its very beginning or end, or a person who put something else in its place. */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openSales } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];
const LEDGER = "home/state/tickets/playground/ledger.db";

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
