// @module-tag long

/** A kill between the halves of a chunk that was too large. */

import { expect, test } from "vitest";
import { dies, salesRig, settleByTruth } from "../../support/interrupted.ts";
import { expectAllShown } from "../../support/invariant/truth.ts";

test.each([2, 3, 4, 5])("a kill between the halves of a chunk that was too large, at attempt %i", async (time) => {
  const rig = await salesRig(40);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 413, on: { itemsOver: 5, from: 2 } }] });
  const command = rig.stream("TICKETS_CHUNK_SIZE=20");
  await dies(rig, command, "answered", time);
  for (let starts = 0; starts < 4 && (await rig.run(command)).exitCode === 6; starts += 1) {
    await settleByTruth(rig, rig.placed);
  }
  await expectAllShown(rig, rig.placed);
  expect(
    rig
      .requests()
      .slice(1)
      .every(({ length }) => length <= 5),
  ).toBe(true);
});
