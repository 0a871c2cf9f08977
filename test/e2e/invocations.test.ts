/** Every invocation on an environment leaves a trace in its ledger, and `status` tells the last good and the last bad one. */

import { mkdirSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];
const STATUS = ["status", "--env", "playground"];

async function openSales() {
  const place = openWorkplace();
  place.write("sales.csv", salesTable(3));
  return { place, service: await startService() };
}

function invocationsOf(place: Workplace) {
  using database = new DatabaseSync(place.path("home/state/tickets/playground/ledger.db"), { readOnly: true });
  return database.prepare("SELECT * FROM invocations ORDER BY id").all();
}

/** Makes everything in the ledger's past `hours` older than it is. */
function age(place: Workplace, hours: number): void {
  using database = new DatabaseSync(place.path("home/state/tickets/playground/ledger.db"));
  const by = `-${hours} hours`;
  database.prepare("UPDATE invocations SET started_at = strftime('%Y-%m-%dT%H:%M:%fZ', started_at, ?)").run(by);
  database.prepare("UPDATE runs SET ended_at = strftime('%Y-%m-%dT%H:%M:%fZ', ended_at, ?)").run(by);
}

test("every command that sends or checks leaves what it was, how it ended and what it counted; what only looks leaves nothing", {
  tags: ["long"],
}, async () => {
  const { place, service } = await openSales();
  const bad = place.write("bad.csv", salesTable(3).replaceAll("E-1", ""));
  await place.tickets(SEND, service);
  await place.tickets([...SEND, "--dry-run"], service);
  await place.tickets(["validate", "sales.csv", "--env", "playground"], service);
  await place.tickets(["validate", bad, "--action", "soldTicket", "--env", "playground"], service);
  await place.tickets(["validate", "sales.csv"], service);
  await place.tickets(["stream", "missing.csv", "--env", "playground"], service);
  await place.tickets(STATUS, service);
  await place.tickets([...SEND], { env: { ...service.env, TICKETS_PLAYGROUND_API_KEY: "" } });
  await place.tickets(["settle", "12345678", "--sent", "--reason", "looked", "--env", "playground"], service);
  const noted = invocationsOf(place);
  expect(noted.map(({ command, exit_code, files }) => [command, exit_code, files])).toEqual([
    ["stream", 0, '["sales.csv"]'],
    ["validate", 0, '["sales.csv"]'],
    ["validate", 3, JSON.stringify([bad])],
    ["stream", 2, '["missing.csv"]'],
    ["stream", 5, '["sales.csv"]'],
    ["settle", 2, "[]"],
  ]);
  expect(JSON.parse(String(noted[0]?.counts))).toMatchObject({ rows: { read: 3 }, actions: { accepted: 3 } });
  expect(noted[0]?.run).toMatch(/^[0-9a-f]{8}$/);
  expect(noted[0]?.warnings).toBe(1);
  expect(noted[3]?.error).toContain("missing.csv");
  expect(noted[0]).toMatchObject({ host: expect.stringMatching(/./), who: expect.stringMatching(/./) });
});

test("also one that ends because another holds the lock", { tags: ["long"] }, async () => {
  const { place, service } = await openSales();
  await place.tickets(SEND, service);
  const path = place.path("home/state/tickets/playground/lock.db");
  using lock = new DatabaseSync(path);
  lock.exec("BEGIN EXCLUSIVE");
  expect(await place.tickets(SEND, service)).toMatchObject({ exitCode: 8 });
  expect(invocationsOf(place).at(-1)).toMatchObject({ command: "stream", exit_code: 8 });
});

test("no trace holds a secret", { tags: ["long"] }, async () => {
  const { place, service } = await openSales();
  await place.tickets(SEND, service);
  const reason = `key ${service.key} at https://user:geheim@example.org/`;
  await place.tickets(["settle", "12345678", "--sent", "--reason", reason, "--env", "playground"], service);
  const told = JSON.stringify(invocationsOf(place));
  expect(told).toContain("example.org");
  expect(told).not.toContain(service.key);
  expect(told).not.toContain("geheim");
});

test("a command does not fail because its trace can't be written, and makes no ledger for it", {
  tags: ["long"],
}, async () => {
  const { place, service } = await openSales();
  expect(await place.tickets(["validate", "sales.csv", "--env", "playground"], service)).toMatchObject({ exitCode: 0 });
  expect(place.files().filter((name) => name.includes("ledger"))).toEqual([]);
  mkdirSync(place.path("home/state/tickets/playground"), { recursive: true });
  await place.tickets(SEND, service);
  {
    using database = new DatabaseSync(place.path("home/state/tickets/playground/ledger.db"));
    database.exec("DROP TABLE invocations");
  }
  expect(await place.tickets(["validate", "sales.csv", "--env", "playground"], service)).toMatchObject({ exitCode: 0 });
});

test("status begins with the last success and the last failure, and shows files and duration of each run", {
  tags: ["long"],
}, async () => {
  const { place, service } = await openSales();
  await place.tickets(SEND, service);
  {
    // A run's end and its command's are taken from two clocks.
    using database = new DatabaseSync(place.path("home/state/tickets/playground/ledger.db"));
    database.exec("UPDATE runs SET ended_at = strftime('%Y-%m-%dT%H:%M:%fZ', ended_at, '+1 second')");
  }
  await place.tickets(["stream", "missing.csv", "--env", "playground"], service);
  const { stdout } = await place.tickets(STATUS, service);
  const [success, failure, blank, title, , , run] = stdout.split("\n");
  expect([blank, title]).toEqual(["", "Finished:"]);
  expect(success).toMatch(/^last success {2}\d{4}-[^ ]+Z, [\d.]+ s ago: stream sales\.csv, [\d.]+ s, run [0-9a-f]{8}$/);
  expect(failure).toMatch(
    /^last failure {2}\d{4}-[^ ]+Z, [\d.]+ s ago: stream missing\.csv, [\d.]+ s, exit 2: .*missing\.csv/,
  );
  expect(run).toMatch(/ finished {2}0 {5}[\d.]+ s {2,4}sales\.csv {2}3 actions: 3 accepted$/);
  const json = JSON.parse((await place.tickets([...STATUS, "--json"], service)).stdout);
  expect(json).toMatchObject({
    lastSuccess: { command: "stream", exitCode: 0, files: ["sales.csv"] },
    lastFailure: { exitCode: 2 },
    runs: [{ files: ["sales.csv"], durationMs: expect.any(Number) }],
  });
});

test("status --max-age is 4 when the last success is older, or there was none; a check is no success", {
  tags: ["long"],
}, async () => {
  const { place, service } = await openSales();
  const old = [...STATUS, "--max-age", "26h"];
  expect(await place.tickets(old, service)).toMatchObject({ exitCode: 4 });
  await place.tickets(SEND, service);
  expect(await place.tickets(old, service)).toMatchObject({ exitCode: 0 });
  age(place, 27);
  await place.tickets(["validate", "sales.csv", "--env", "playground"], service);
  await place.tickets(["stream", "missing.csv", "--env", "playground"], service);
  await place.tickets(["resume", "--env", "playground"], service);
  const told = await place.tickets(old, service);
  expect(told.exitCode).toBe(4);
  expect(told.stderr).toContain("The last success of playground is 27 h old, more than --max-age 1d2h.");
  const nothingNew = await place.tickets(SEND, service);
  expect(nothingNew.stderr).toContain("Nothing new");
  expect(await place.tickets(old, service)).toMatchObject({ exitCode: 0 });
  rmSync(place.path("home/state/tickets/playground/ledger.db"));
  expect((await place.tickets(old, service)).exitCode, "a lost ledger is told before its age").toBe(2);
});
