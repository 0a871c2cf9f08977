// @module-tag long

/** `status` tells the last good and the last bad invocation on an environment. */

import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { fastClock } from "../support/clock.ts";
import { openSales } from "../support/service.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];
const STATUS = ["status", "--env", "playground"];

test("status begins with the last success, the last failure and what did not start, and shows files and duration of each run", async () => {
  const { place, service } = await openSales(3);
  await place.tickets(SEND, service);
  place.write("events.csv", "eventId,currency\nE,X\n");
  await place.tickets(["stream", "events.csv", "--env", "playground"], service);
  await place.tickets(["stream", "missing.csv", "--env", "playground"], service);
  const { stdout } = await place.tickets(STATUS, service);
  const [success, failure, unstarted, blank, , , run] = stdout.split("\n");
  expect(blank).toBe("");
  // The zone is named once.
  expect(success).toMatch(
    /^last success {2}\d+ \w+ \d\d:\d\d \(\S+\), [\d.]+ m?s ago: stream sales\.csv, [\d.]+ m?s, run [0-9a-f]{8}$/,
  );
  expect(failure).toMatch(/^last failure {2}\d+ \w+ \d\d:\d\d, [\d.]+ m?s ago: stream events\.csv, [\d.]+ m?s, exit 3/);
  expect(unstarted).toMatch(
    /^not started {3}\d+ \w+ \d\d:\d\d, [\d.]+ m?s ago: stream missing\.csv, [\d.]+ m?s, exit 2: .*missing\.csv/,
  );
  expect(run).toMatch(/ finished {2}0 {5}[\d.]+ m?s {1,4}sales\.csv {2}3 actions: 3 accepted$/);
  const json = JSON.parse((await place.tickets([...STATUS, "--json"], service)).stdout);
  expect(json).toMatchObject({
    lastSuccess: { command: "stream", exitCode: 0, files: ["sales.csv"] },
    lastFailure: { exitCode: 3 },
    notStarted: { exitCode: 2 },
    runs: [{ files: ["sales.csv"], durationMs: expect.any(Number) }],
  });
});

test("status --max-age is 4 when the last success is older, or there was none; a check is no success, nor a resume of nothing", async () => {
  const { place, service } = await openSales(3);
  const old = [...STATUS, "--max-age", "26h"];
  expect(await place.tickets(old, service)).toMatchObject({ exitCode: 4 });
  await place.tickets(SEND, service);
  expect(await place.tickets(old, service)).toMatchObject({ exitCode: 0 });
  await place.tickets(["validate", "sales.csv", "--env", "playground"], service);
  await place.tickets(["stream", "missing.csv", "--env", "playground"], service);
  const nothingLeft = await place.tickets(["resume", "--env", "playground", "--json"], {
    ...service,
    nodeArgs: fastClock(26),
  });
  expect(nothingLeft).toMatchObject({ exitCode: 0, stdout: "null\n" });
  const reported = await place.tickets(old, { ...service, nodeArgs: fastClock(27) });
  expect(reported.exitCode).toBe(4);
  expect(reported.stderr).toContain("The last success of playground is 27 h old, more than --max-age 1d2h.");
  const nothingNew = await place.tickets(SEND, { ...service, nodeArgs: fastClock(27) });
  expect(nothingNew.stderr).toContain("Nothing new");
  expect(await place.tickets(old, { ...service, nodeArgs: fastClock(28) })).toMatchObject({ exitCode: 0 });
  rmSync(place.path("home/state/tickets/playground/ledger.db"));
  expect((await place.tickets(old, service)).exitCode, "a lost ledger is reported before its age").toBe(2);
});
