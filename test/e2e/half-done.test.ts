/** What a process leaves that was killed at its very beginning or end, or a person who put something else in its place. */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { type Service, startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];
const LEDGER = "home/state/tickets/playground/ledger.db";

async function openSales(rows = 5) {
  const place = openWorkplace({ isWarm: true });
  place.write("sales.csv", salesTable(rows));
  return { place, service: await startService() };
}

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
  const { place, service } = await openSales();
  mkdirSync(dirname(place.path(LEDGER)), { recursive: true });
  begin(place.path(LEDGER));
  for (const args of [["status"], ["find", "T-1"], ["validate", "sales.csv"]]) {
    const { exitCode, stderr } = await place.tickets([...args, "--env", "playground"], service);
    expect(exitCode, args.join(" ")).toBe(args[0] === "find" ? 4 : 0);
    expect(stderr).not.toContain("no such table");
  }
  expect((await place.tickets(SEND, service)).exitCode).toBe(0);
});

test("a table of promises with another line than its header is not taken for one", async () => {
  const { place, service } = await openSales();
  place.write("p.csv", "source,line\n");
  const { exitCode, stderr } = await place.tickets([...SEND, "-o", "p.csv"], service);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("tickets did not write it for this environment");
  expect(place.read("p.csv")).toBe("source,line\n");
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
  const send = [...SEND, "TICKETS_CHUNK_SIZE=5"];
  const doubtAt = (at: number): void =>
    service.behave({
      answer: ({ items }) => (items[0]?.data.ticketId === `T-${at}` ? { status: 500, body: "" } : undefined),
    });
  doubtAt(1);
  expect((await place.tickets(send, service)).exitCode).toBe(6);
  const run = await newestRun(place, service);
  const settle = async (word: string) => {
    const { exitCode, stderr } = await place.tickets(["settle", run, word, "--env", "playground"], service);
    expect(exitCode).toBe(0);
    return stderr;
  };
  await settle("--not-sent");
  doubtAt(11);
  expect((await place.tickets(send, service)).exitCode).toBe(6);
  expect(await settle("--sent")).toContain("Chunk 3: 5 actions settled as sent.");
  const again = await place.tickets(["settle", run, "--sent", "--chunk", "3", "--env", "playground"], service);
  expect(again.stderr).toContain(`Chunk 3 of run ${run} was settled before, as sent by`);
  expect(again.stderr).not.toContain("warning");
});

test("what the service rejected as there already, after a wrong --not-sent, is known once a person adopts it", async () => {
  const { place, service } = await openSales();
  service.behave({ answer: () => ({ status: 500, body: "" }) });
  expect((await place.tickets(SEND, service)).exitCode).toBe(6);
  service.behave({ failureOf: ({ data }) => ({ status: "error", ticketId: data.ticketId, error: "ticket_exists" }) });
  const run = await newestRun(place, service);
  const word = ["settle", run, "--not-sent", "--reason", "wrong", "--env", "playground"];
  expect((await place.tickets(word, service)).exitCode).toBe(0);
  expect((await place.tickets(SEND, service)).exitCode).toBe(4);
  const otherwise = await place.tickets(["settle", run, "--sent", "--env", "playground"], service);
  expect(otherwise.exitCode).toBe(0);
  expect(otherwise.stderr).toContain(`Chunk 1 of run ${run} was settled before, as not-sent by`);
  expect(otherwise.stderr).toContain("Nothing was changed.");
  const sent = service.sent().length;
  expect((await place.tickets([...SEND, "--adopt", "--reason", "it has them"], service)).exitCode).toBe(0);
  const { exitCode, stderr } = await place.tickets(SEND, service);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("all 5 actions were sent before");
  expect(service.sent()).toHaveLength(sent);
});
