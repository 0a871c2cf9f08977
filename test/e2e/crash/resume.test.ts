/** What is known of a run that was killed, and how `resume` or the same command goes on with it. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { dies, processedCount, salesRig, settleByTruth } from "../../support/interrupted.ts";
import { readRuns } from "../../support/invariant/runs.ts";
import { expectAllShown } from "../../support/invariant/truth.ts";
import { LONG } from "../../support/walks.ts";

test("resume sends nothing where it can't read what earlier answers gave", LONG, async () => {
  const rig = await salesRig(15);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
  await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"));
  using ledger = new DatabaseSync(join(rig.state, "ledger.db"));
  const [whole] = ledger.prepare("SELECT outcomes FROM bodies WHERE chunk = 1").all();
  ledger.exec("UPDATE bodies SET outcomes = '[' WHERE chunk = 1");
  const before = processedCount(rig);

  const stopped = await rig.run(["resume", "--env", "playground"]);
  expect(stopped.exitCode).toBe(10);
  expect(stopped.stderr).toMatch(/What became of chunk 1 in the ledger \S+ is damaged\.\nRestore the ledger/);
  expect(processedCount(rig)).toBe(before);
  expect(ledger.prepare("SELECT state FROM chunks WHERE chunk = 2").all()).toEqual([{ state: "planned" }]);

  ledger.prepare("UPDATE bodies SET outcomes = ? WHERE chunk = 1").run(whole?.outcomes ?? null);
  expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
  await expectAllShown(rig, rig.placed);
});

test("resume goes on behind settled actions of one and the same promise", LONG, async () => {
  const rig = await salesRig(15);
  const changed = { fault: "changed", items: { count: 2 }, with: { actionPromise: "" } } as const;
  rig.sandbox.setFaults({ rules: [{ ...changed, on: { request: 1 } }] });
  expect((await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"))).exitCode).toBe(6);
  await settleByTruth(rig, rig.placed);
  expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
  await expectAllShown(rig, rig.placed);
});

describe("the same command after a kill", () => {
  test("does not send what the service has just rejected once more", LONG, async () => {
    const rig = await salesRig(20);
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [4], on: { request: 1 } }] });
    await dies(rig, rig.stream(), "settled");
    expect((await rig.run(rig.stream())).exitCode).toBe(4);
    expect(processedCount(rig)).toBe(20);
  });

  test("ends well although its scans have no time", LONG, async () => {
    const rig = await salesRig(5);
    rig.place.write("scans.csv", "ticketId\nT-1\nT-2\n");
    const command = ["stream", "events.csv", "sales.csv", "scans.csv", "--env", "playground"];
    await dies(rig, command, "settled");
    expect((await rig.run(command)).exitCode).toBe(0);
  });
});

test("a plan, a dry run and status tell what was accepted from what is still to be sent", async () => {
  const rig = await salesRig(20);
  rig.place.write("scans.csv", "ticketId,orderTime\nT-1,1781280000\nT-1,1781280060\n");
  rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [4], on: { request: 1 } }] });
  const files = ["events.csv", "sales.csv", "scans.csv"];
  const stream = ["stream", ...files, "--env", "playground", "TICKETS_CHUNK_SIZE=5", "TICKETS_RATE=20"];
  await dies(rig, stream, "settled", 3);
  const processed = rig.requests().flat().length;
  expect(processed).toBeGreaterThanOrEqual(15);

  const planned = await rig.run(["plan", ...files, "--env", "playground", "-o", "planned.ndjson", "--json"]);
  expect(planned.exitCode, planned.stderr).toBe(4);
  const { actions } = JSON.parse(planned.stdout);
  // The one that was rejected is not of that run any more.
  expect(actions).toMatchObject({ new: 1 });
  expect(actions.alreadySent).toBeGreaterThanOrEqual(14);
  expect(actions.held).toBe(21 - actions.alreadySent);

  const dry = await rig.run([...stream, "-n"]);
  expect(dry.stderr).toContain("1 of ");
  const status = await rig.run(["status", "--env", "playground"]);
  expect(status.stdout).toMatch(
    /The next stream finishes it first. To finish it now: tickets resume [0-9a-f]{8} --env playground/,
  );
});

test("a run of 200 chunks that is killed at chunk 150 goes on from its plan when the input is gone", LONG, async () => {
  const rig = await salesRig(10_000);
  const command = rig.stream("TICKETS_CHUNK_SIZE=50");
  await dies(rig, command, "answered", 150);
  expect(rig.requests()).toHaveLength(150);
  expect((await rig.run(command)).exitCode).toBe(6);
  await settleByTruth(rig, rig.placed);
  for (const name of ["sales.csv", "events.csv"]) rmSync(rig.place.path(name));
  const resumed = await rig.run(command);
  expect(resumed.exitCode, "the input that this command names is gone").toBe(2);
  expect(resumed.stderr).toContain("events.csv");
  expect(rig.requests().map(({ length }) => length)).toEqual(Array(200).fill(50));
  await expectAllShown(rig, rig.placed);
  expect((await readRuns(rig)).map(({ state }) => state)).toEqual(["finished"]);
});
