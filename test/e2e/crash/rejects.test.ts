/** Rejects of a run that was interrupted. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CrashPoint } from "../../../src/disk/crash-points.ts";
import type { Summary } from "../../support/counts.ts";
import { processedCount, salesRig } from "../../support/interrupted.ts";
import { summaryIn } from "../../support/invariant/sales.ts";
import { readRuns } from "../../support/invariant/told-runs.ts";

describe("a process that dies while it adds to a rejects file of an earlier night", () => {
  const REJECTED = ["T-3", "T-5", "T-7"];

  /** The first night has one sale alone, which the service rejects; the second night has all. */
  const isWhole = async (
    first: string,
    point: CrashPoint,
    tear: (text: string, before: string) => string = (text) => text,
  ): Promise<void> => {
    const rig = await salesRig(20);
    const all = rig.place.read("sales.csv");
    const [header = "", ...rows] = all.trimEnd().split("\n");
    const one = rows.find((row) => row.split(",").includes(first)) ?? "";
    rig.place.write("sales.csv", `${header}\n${one}\n`);
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [1], on: { request: 1 } }] });
    expect((await rig.run(rig.stream())).exitCode).toBe(4);
    const before = rig.place.read("sales.rejects.csv");

    rig.place.write("sales.csv", all);
    // The event was sent.
    const items = REJECTED.map((ticketId) => rows.findIndex((row) => row.split(",").includes(ticketId)));
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items, on: { request: 1 } }] });
    const died = await rig.run(rig.stream(), { interruption: { kind: "boundary", point, time: 1 } });
    expect(died.killed).toBe(true);
    rig.place.write("sales.rejects.csv", tear(rig.place.read("sales.rejects.csv"), before));
    expect((await rig.run(rig.stream())).exitCode).toBe(4);

    const standing = rig.place.read("sales.rejects.csv").trimEnd().split("\n").slice(1);
    expect(standing.map((row) => REJECTED.find((ticketId) => row.split(",").includes(ticketId)))).toEqual(REJECTED);
    expect(rig.place.files().filter((name) => name.includes(".rejects."))).toEqual(["sales.rejects.csv"]);
    const mended = ["stream", "sales.rejects.csv", "--action", "soldTicket", "--env", "playground"];
    expect((await rig.run(mended)).exitCode).toBe(0);
    expect(processedCount(rig)).toBe(20 + 1 + REJECTED.length);
  };

  test.each([
    ["rejects placed", "between those that stand there", "T-5"],
    ["replacing", "between those that stand there", "T-5"],
    ["rejects placed", "behind those that stand there", "T-3"],
    ["rejects written", "between those that stand there", "T-5"],
  ] as const)("at %s, %s: each row stands there once, in order", { tags: ["long"] }, (point, _, first) =>
    isWhole(first, point),
  );

  test("behind those that stand there, of which half is on disk: the same", { tags: ["long"] }, () =>
    isWhole("T-3", "rejects placed", (text, before) => text.slice(0, before.length + 30)),
  );
});

test("a run that is gone on with names the rejects of before, too", { tags: ["long"] }, async () => {
  const rig = await salesRig(20);
  rig.sandbox.setFaults({
    rules: [
      { fault: "failure-items", items: [2], on: { request: 1 } },
      { fault: "status", status: 403, on: { request: 2 } },
    ],
  });
  expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode).toBe(5);
  const resumed = await rig.run(["resume", "--env", "playground", "--json"]);
  expect(resumed.exitCode).toBe(4);
  expect(summaryIn<Summary>(resumed)).toMatchObject({ rejects: [rig.place.path("sales.rejects.csv")] });
  expect(summaryIn<Summary>(resumed).next).toContain("sales.rejects.csv");
});

test("a run whose rejects can't be written, since its plan lacks the inputs, says so", { tags: ["long"] }, async () => {
  const rig = await salesRig(20);
  rig.sandbox.setFaults({
    rules: [
      { fault: "status", status: 403, on: { request: 1 } },
      { fault: "failure-items", items: [2], on: { request: 2 } },
    ],
  });
  expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode).toBe(5);
  const run = (await readRuns(rig))[0]?.run ?? "";
  rmSync(join(rig.state, "runs", run, "inputs"), { recursive: true });
  const resume = ["resume", "--env", "playground"];
  for (const _ of [1, 2]) {
    const { exitCode, stderr } = await rig.run(resume);
    expect(exitCode).toBe(10);
    expect(stderr).toContain("lacks inputs/1.");
    expect(stderr).toContain(`tickets settle ${run} --abandon --env playground`);
  }
  expect(processedCount(rig)).toBe(20);
  const closed = await rig.run(["settle", run, "--abandon", "--env", "playground"]);
  expect(closed).toMatchObject({ exitCode: 0 });
  expect(closed.stderr).toContain("its rows can't be listed");
  expect((await rig.run(["status", "--env", "playground"])).exitCode).toBe(0);
});
