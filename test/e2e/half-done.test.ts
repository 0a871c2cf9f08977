/** What a process leaves that was killed at its very beginning or end, or a person who put something else in its place. */

import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { startService } from "../support/service.ts";
import { readPromises, salesTable } from "../support/tables.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];
const LEDGER = "home/state/tickets/playground/ledger.db";

async function openSales(rows = 5) {
  const place = openWorkplace({ isWarm: true });
  place.write("sales.csv", salesTable(rows));
  return { place, service: await startService() };
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
  const { place, service } = await openSales();
  mkdirSync(dirname(place.path(LEDGER)), { recursive: true });
  begin(place.path(LEDGER));
  for (const args of [["status"], ["find", "T-1"], ["prune"], ["validate", "sales.csv"]]) {
    const { exitCode, stderr } = await place.tickets([...args, "--env", "playground"], service);
    expect(exitCode, args.join(" ")).toBe(args[0] === "find" ? 4 : 0);
    expect(stderr).not.toContain("no such table");
  }
  expect((await place.tickets(SEND, service)).exitCode).toBe(0);
});

test("a table of promises that has its header alone is begun again by a ledger that does not know it", async () => {
  const { place, service } = await openSales();
  expect((await place.tickets([...SEND, "-o", "p.csv"], service)).exitCode).toBe(0);
  const [header = ""] = place.read("p.csv").split("\n");
  const other = await openSales();
  other.place.write("p.csv", `${header}\n`);
  expect((await other.place.tickets([...SEND, "-o", "p.csv"], other.service)).exitCode).toBe(0);
  expect(other.place.read("p.csv").match(new RegExp(header, "g"))).toHaveLength(1);
  expect(other.place.read("p.csv").trimEnd().split("\n")).toHaveLength(6);
  expect(other.service.sent()).toHaveLength(5);
});

test("a table of promises with another line than its header is not taken for one", async () => {
  const { place, service } = await openSales();
  place.write("p.csv", "source,line\n");
  const { exitCode, stderr } = await place.tickets([...SEND, "-o", "p.csv"], service);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("tickets did not write it for this environment");
  expect(place.read("p.csv")).toBe("source,line\n");
});

test("of a plan that was removed by half, a chunk's actions come from the ledger", async () => {
  const { place, service } = await openSales();
  await place.tickets(SEND, service);
  const runs = place.path("home/state/tickets/playground/runs");
  const [run = ""] = readdirSync(runs);
  rmSync(`${runs}/${run}/manifest.json`);
  const { exitCode, stdout } = await place.tickets(["status", run, "--chunk", "1", "--env", "playground"], service);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('"ticketId":"T-3"');
});

test("the import of a promises file that lacks lines says how many, and how they are had again", async () => {
  const { place, service } = await openSales();
  await place.tickets([...SEND, "-o", "p.ndjson"], service);
  const lines = place.read("p.ndjson").trimEnd().split("\n");
  place.write("p.ndjson", `${lines.slice(2).join("\n")}\n`);
  const { run } = readPromises(place.read("p.ndjson"))[0] as { readonly run?: string };
  const { exitCode, stderr } = await place.tickets(["results", "--import", "p.ndjson", "--env", "playground"], service);
  expect(exitCode).toBe(0);
  expect(stderr).toContain(
    `p.ndjson lacks 2 promises of run ${run} that the ledger has. Unless another file holds them, write all of the run again: tickets results ${run} --env playground`,
  );
});

test("a stream that ends a run of another night and then finds its own input invalid is no success", async () => {
  const { place, service } = await openSales();
  expect((await place.tickets([...SEND, "--max-duration", "1ms"], service)).exitCode).toBe(7);
  place.write("sales.csv", `${salesTable(5)}not a row\n`);
  expect((await place.tickets(SEND, service)).exitCode).toBe(3);
  expect(service.sent()).toHaveLength(5);
  const { exitCode, stderr } = await place.tickets(["status", "--env", "playground", "--max-age", "26h"], service);
  expect(exitCode).toBe(4);
  expect(stderr).toContain("No stream to playground has succeeded yet");
});

test("a word that is said again is answered by what it decided, not by what was decided about another chunk before", {
  tags: ["long"],
}, async () => {
  const { place, service } = await openSales(15);
  const send = [...SEND, "--chunk-size", "5"];
  const doubtAt = (at: number): void =>
    service.behave({
      answer: ({ items }) => (items[0]?.data.ticketId === `T-${at}` ? { status: 500, body: "" } : undefined),
    });
  const settle = async (word: string) => {
    const { exitCode, stderr } = await place.tickets(["settle", run, word, "--env", "playground"], service);
    expect(exitCode).toBe(0);
    return stderr;
  };
  doubtAt(1);
  expect((await place.tickets(send, service)).exitCode).toBe(6);
  const [run = ""] = readdirSync(place.path("home/state/tickets/playground/runs"));
  await settle("--not-sent");
  doubtAt(11);
  expect((await place.tickets(send, service)).exitCode).toBe(6);
  expect(await settle("--sent")).toContain("Chunk 3: 5 actions settled as sent.");
  const again = await settle("--sent");
  expect(again).toContain(`Chunk 3 of run ${run} was settled before, as sent by`);
  expect(again).not.toContain("warning");
});

test("what the service rejected as there already, after a wrong --not-sent, is told as had by importing it", async () => {
  const { place, service } = await openSales();
  service.behave({ answer: () => ({ status: 500, body: "" }) });
  expect((await place.tickets(SEND, service)).exitCode).toBe(6);
  service.behave({ failureOf: ({ data }) => ({ status: "error", ticketId: data.ticketId, error: "ticket_exists" }) });
  const [run = ""] = readdirSync(place.path("home/state/tickets/playground/runs"));
  const word = ["settle", run, "--not-sent", "--reason", "wrong", "--env", "playground"];
  expect((await place.tickets(word, service)).exitCode).toBe(0);
  expect((await place.tickets(SEND, service)).exitCode).toBe(4);
  const otherwise = await place.tickets(["settle", run, "--sent", "--env", "playground"], service);
  expect(otherwise.exitCode).toBe(0);
  expect(otherwise.stderr).toContain(`Chunk 1 of run ${run} was settled before, as not-sent by`);
  expect(otherwise.stderr).toContain("Nothing was changed.");
  const promises = "sales.playground.promises.ndjson";
  const rejected = place
    .read(promises)
    .split("\n")
    .filter((line) => line.includes('"status":"error"')); // as docs/faq.md does
  const told = rejected.map((line) =>
    line.replace('"status":"error"', '"status":"settled-by-hand"').replace(/"run":"[0-9a-f]*"/, '"run":"00000001"'),
  );
  expect(told).toHaveLength(5);
  place.write("had.ndjson", `${told.join("\n")}\n`);
  expect((await place.tickets(["results", "--import", "had.ndjson", "--env", "playground"], service)).exitCode).toBe(0);
  const sent = service.sent().length;
  const { exitCode, stderr } = await place.tickets(SEND, service);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("all 5 actions were sent before");
  expect(service.sent()).toHaveLength(sent);
});
