// @module-tag long

/** A run that was killed goes on from its plan, whatever became of its input. */

import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { dies, salesRig, settleByTruth } from "../../support/interrupted.ts";
import { readRuns } from "../../support/invariant/runs.ts";
import { expectAllShown } from "../../support/invariant/truth.ts";

describe("a run of 200 chunks that is killed at chunk 150", () => {
  async function killedAt150() {
    const rig = await salesRig(10_000);
    const command = rig.stream("TICKETS_CHUNK_SIZE=50");
    await dies(rig, command, "answered", 150);
    expect(rig.requests()).toHaveLength(150);
    expect((await rig.run(command)).exitCode).toBe(6);
    await settleByTruth(rig, rig.placed);
    return { rig, command };
  }

  test("goes on from its plan when the input is gone", async () => {
    const { rig, command } = await killedAt150();
    rmSync(rig.place.path("sales.csv"));
    rmSync(rig.place.path("events.csv"));
    const resumed = await rig.run(command);
    expect(resumed.exitCode, "the input that this command names is gone").toBe(2);
    expect(resumed.stderr).toContain("events.csv");
    expect(rig.requests().map(({ length }) => length)).toEqual(Array(200).fill(50));
    await expectAllShown(rig, rig.placed);
    expect((await readRuns(rig)).map(({ state }) => state)).toEqual(["finished"]);
  });
});
