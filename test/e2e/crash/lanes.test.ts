// @module-tag long

/** A kill while several lanes send. */

import { expect, test } from "vitest";
import { placedRows, statesOf, summaryIn } from "../../support/interrupted.ts";
import { openRig } from "../../support/invariant/rig.ts";
import { readRuns } from "../../support/invariant/runs.ts";
import { expectAllShown, readTruth } from "../../support/invariant/truth.ts";
import { salesTable } from "../../support/tables.ts";

const IN_LANES = { inLanes: true };
const EVENT_IDS = ["E-1", "E-2", "E-3", "E-4"];

test("a kill with a request on its way in each of four lanes: four doubts, each named, and nothing is sent before all are settled", async () => {
  // Four events and ten sales of each, in chunks of three: four a lane.
  const rig = await openRig();
  const events = `eventId,currency\n${EVENT_IDS.map((eventId) => `${eventId},EUR\n`).join("")}`;
  const tables = EVENT_IDS.map((eventId, at) => salesTable(10, { first: 1 + 10 * at, eventId }));
  const sales = tables.map((table, at) => (at === 0 ? table : table.slice(table.indexOf("\n") + 1))).join("");
  rig.place.write("events.csv", events);
  rig.place.write("sales.csv", sales);
  const placed = [...placedRows("events.csv", "newEvent", events), ...placedRows("sales.csv", "soldTicket", sales)];
  const sizes = ["--lanes", "4", "TICKETS_CHUNK_SIZE=3"];
  const command = ["stream", "events.csv", "sales.csv", "--env", "playground", "-o", "out.ndjson", ...sizes];
  rig.sandbox.setFaults({
    rules: [
      { fault: "hang", processed: "none", on: { from: 1 }, times: 2 },
      { fault: "hang", processed: "all", on: { from: 3 }, times: 2 },
    ],
  });
  const died = await rig.run(command, { interruption: { kind: "request", request: 2, when: "after" } });
  expect(died.killed).toBe(true);
  rig.sandbox.setFaults({ rules: [] });
  // Each event goes first in the lane of its own; sales begin once all four are answered.
  const begun = await statesOf(rig);
  expect(begun.slice(0, 5)).toEqual([...Array(4).fill("in doubt"), "planned"]);
  const [run] = await readRuns(rig);
  const shown = await rig.run(["status", run?.run ?? "", "--env", "playground"]);
  expect(shown.stdout).toContain("in doubt");

  const again = await rig.run(command);
  expect(again.exitCode).toBe(6);
  for (const chunk of [1, 2, 3, 4]) expect(again.stderr).toContain(`chunk ${chunk} (1 action) is in doubt`);
  const { questions } = await readTruth(rig, placed, IN_LANES);
  expect(questions.map(({ chunk }) => chunk)).toEqual([1, 2, 3, 4]);
  expect(questions.map(({ answer }) => answer).toSorted()).toEqual(["not-sent", "not-sent", "sent", "sent"]);
  for (const { run, chunk, answer } of questions) {
    expect((await rig.run(command)).exitCode, "one that is left is enough").toBe(6);
    await rig.run(["settle", run, `--${answer}`, "--chunk", String(chunk), "--env", "playground"]);
  }
  expect(rig.requests()).toHaveLength(2);
  expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
  expect(rig.requests()).toHaveLength(begun.length);
  await expectAllShown(rig, placed, IN_LANES);
  expect(summaryIn(await rig.run([...command, "--json"])).state).toBe("nothing new");
});
