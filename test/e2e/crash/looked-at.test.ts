/** What reads the ledger after a kill, before the next run has merged what the killed one had heard. */

import { expect, test } from "vitest";
import { dies, salesRig } from "../../support/interrupted.ts";

const SALES = 20;
const IN_A_CHUNK = 5;

test("a plan, a dry run and status tell what was accepted from what is still to be sent", async () => {
  const rig = await salesRig(SALES);
  rig.place.write("scans.csv", "ticketId,orderTime\nT-1,1781280000\nT-1,1781280060\n");
  rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [4], on: { request: 1 } }] });
  const files = ["events.csv", "sales.csv", "scans.csv"];
  const stream = ["stream", ...files, "--env", "playground", `TICKETS_CHUNK_SIZE=${IN_A_CHUNK}`, "TICKETS_RATE=20"];
  await dies(rig, stream, "settled", 3);
  const processed = rig.requests().flat().length;
  expect(processed).toBeGreaterThanOrEqual(3 * IN_A_CHUNK);

  const planned = await rig.run(["plan", ...files, "--env", "playground", "-o", "planned.ndjson", "--json"]);
  expect(planned.exitCode, planned.stderr).toBe(4);
  const { actions } = JSON.parse(planned.stdout);
  // The one that was rejected is not of that run any more.
  expect(actions).toMatchObject({ new: 1 });
  expect(actions.alreadySent).toBeGreaterThanOrEqual(3 * IN_A_CHUNK - 1);
  expect(actions.held).toBe(SALES + 2 - 1 - actions.alreadySent);

  const dry = await rig.run([...stream, "-n"]);
  expect(dry.stderr).toContain("1 of ");
  const status = await rig.run(["status", "--env", "playground"]);
  expect(status.stdout).toMatch(
    /The next stream finishes it first. To finish it now: tickets resume [0-9a-f]{8} --env playground/,
  );
});
