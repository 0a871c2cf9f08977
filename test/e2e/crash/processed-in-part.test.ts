// @module-tag long

/** A request that the service processed in part. */

import { expect, test } from "vitest";
import { salesRig, statesOf, summaryIn } from "../../support/interrupted.ts";
import { readOutput, readTruth } from "../../support/invariant/truth.ts";

test("what was processed in part: sent again as a whole, nothing that happens once happens twice", async () => {
  const rig = await salesRig(20);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 500, processed: 3, on: { request: 2 } }] });
  const command = rig.stream("TICKETS_CHUNK_SIZE=5");
  expect((await rig.run(command)).exitCode).toBe(6);
  const [question] = (await readTruth(rig, rig.placed)).questions;
  expect(question).toMatchObject({ answer: "partly", chunk: 2 });
  const shown = await rig.run(["settle", question?.run ?? "", "--env", "playground"]);
  expect(shown.stderr).toContain("The service would probably refuse 5 of them a second time (soldTicket)");
  await rig.run(["settle", question?.run ?? "", "--not-sent", "--env", "playground"]);
  expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(4);
  const taken = rig
    .requests()
    .flat()
    .filter(({ status }) => status === "success");
  expect(taken.map(({ ticketId }) => ticketId)).toEqual(rig.placed.map(({ action }) => action.data.ticketId ?? null));
  const rejected = readOutput(rig.place.path("out.ndjson")).filter(({ status }) => status !== "success");
  expect(rejected.map(({ ticketId }) => ticketId)).toEqual(["T-5", "T-6", "T-7"]);
});

test("what was processed in part is settled action by action, as the service took it", async () => {
  const rig = await salesRig(20);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 500, processed: 3, on: { request: 2 } }] });
  const command = rig.stream("TICKETS_CHUNK_SIZE=5", "--json");
  const { run } = summaryIn(await rig.run(command));
  const settle = ["settle", run ?? "", "--env", "playground", "--chunk", "2", "--first"];
  const beyond = await rig.run([...settle, "6", "--sent"]);
  expect(beyond.exitCode).toBe(2);
  expect(beyond.stderr).toContain("Chunk 2 has 5 actions, so --first 6 is out of range.");
  const head = await rig.run([...settle, "3", "--sent", "--reason", "the first three are there"]);
  expect(head.stderr).toContain(
    "Chunk 2: the first 3 of 5 actions settled as sent.\nThe other 2 still wait, as chunk 6.",
  );
  expect(head.exitCode).toBe(6);
  expect(await statesOf(rig)).toEqual(["answered", "settled", "in doubt", "planned", "planned"]);
  const again = await rig.run([...settle, "3", "--sent"]);
  expect(again.stderr).toContain(`Chunk 2 of run ${run} has nothing to settle, so nothing was changed.`);
  const seen = await rig.run(["status", run ?? "", "--env", "playground"]);
  expect(seen.stdout).toMatch(/chunk 5 settled as sent by .+: the first three are there/);
  expect(await statesOf(rig)).toEqual(["answered", "settled", "in doubt", "planned", "planned"]);
  await rig.run(["settle", run ?? "", "--env", "playground", "--chunk", "6", "--not-sent"]);
  expect(summaryIn(await rig.run(command))).toMatchObject({ exitCode: 0, actions: { accepted: 20 } });
  const taken = rig.requests().flat();
  expect(taken.map(({ status, ticketId }) => [status, ticketId])).toEqual(
    rig.placed.map(({ action }) => ["success", action.data.ticketId ?? null]),
  );
  const lines = readOutput(rig.place.path("out.ndjson"));
  expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(lines.filter(({ status }) => status === "settled").map(({ ticketId }) => ticketId)).toEqual([
    "T-5",
    "T-6",
    "T-7",
  ]);
});
