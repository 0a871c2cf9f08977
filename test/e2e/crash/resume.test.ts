// @module-tag long

/** `resume`, killed and repeated, and the same command after a kill. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { dies, processedCount, salesRig, settleByTruth } from "../../support/interrupted.ts";
import { expectAllShown } from "../../support/invariant/truth.ts";
import { LONG } from "../../support/walks.ts";

test.each(["answered", "settled", "projected", "ended"] as const)(
  "resume that dies at %s is repeated",
  async (point) => {
    const rig = await salesRig(20);
    await dies(rig, rig.stream("TICKETS_CHUNK_SIZE=5"), "entered");
    const resume = ["resume", "--env", "playground"];
    await dies(rig, resume, point, point === "ended" ? 1 : 2);
    const again = await rig.run(resume);
    expect(again.exitCode).toBe(point === "ended" ? 0 : 6);
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(resume)).exitCode).toBe(0);
    await expectAllShown(rig, rig.placed);
  },
);

test("sends nothing where it can't read what earlier answers gave", async () => {
  const rig = await salesRig(15);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
  await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"));
  using ledger = new DatabaseSync(join(rig.state, "ledger.db"));
  const [whole] = ledger.prepare("SELECT origins FROM bodies WHERE chunk = 1").all();
  ledger.exec("UPDATE bodies SET origins = x'00' WHERE chunk = 1");
  const before = processedCount(rig);

  expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(1);
  expect(processedCount(rig)).toBe(before);
  expect(ledger.prepare("SELECT state FROM chunks WHERE chunk = 2").all()).toEqual([{ state: "planned" }]);

  ledger.prepare("UPDATE bodies SET origins = ? WHERE chunk = 1").run(whole?.origins ?? null);
  expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
  await expectAllShown(rig, rig.placed);
});

test(
  "goes on behind actions that were settled although the service gave them one and the same promise",
  LONG,
  async () => {
    const rig = await salesRig(15);
    const changed = { fault: "changed", items: { count: 2 }, with: { actionPromise: "" } } as const;
    rig.sandbox.setFaults({ rules: [{ ...changed, on: { request: 1 } }] });
    expect((await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"))).exitCode).toBe(6);
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
    await expectAllShown(rig, rig.placed);
  },
);

describe("the same command after a kill", () => {
  test.each([
    ["settled", 4],
    ["rejects written", 1],
  ] as const)("at %s with --resend repeats what was asked for once, not twice", async (point, time) => {
    const rig = await salesRig(20);
    await rig.run(rig.stream());
    const again = rig.stream("TICKETS_CHUNK_SIZE=5", "--resend");
    await dies(rig, again, point, time);
    await rig.run(again);
    expect(processedCount(rig)).toBe(40);
  });

  test("does not send what the service has just rejected once more", async () => {
    const rig = await salesRig(20);
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [4], on: { request: 1 } }] });
    await dies(rig, rig.stream(), "settled");
    expect((await rig.run(rig.stream())).exitCode).toBe(4);
    expect(processedCount(rig)).toBe(20);
  });

  test("ends well although its scans have no time", async () => {
    const rig = await salesRig(5);
    rig.place.write("scans.csv", "ticketId\nT-1\nT-2\n");
    const command = ["stream", "events.csv", "sales.csv", "scans.csv", "--env", "playground"];
    await dies(rig, command, "settled");
    expect((await rig.run(command)).exitCode).toBe(0);
  });
});
