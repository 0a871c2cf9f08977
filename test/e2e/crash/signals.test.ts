/** Signals while a request is in flight. */

import type { ChildProcess } from "node:child_process";
import { expect, test } from "vitest";
import { dies, placedRows, processedCount, salesRig, states, summaryIn } from "../../support/interrupted.ts";
import type { Ran, Rig } from "../../support/invariant/rig.ts";
import { readRuns } from "../../support/invariant/runs.ts";
import { expectAllShown } from "../../support/invariant/truth.ts";
import { salesTable } from "../../support/tables.ts";
import { LONG } from "../../support/walks.ts";

/** Runs the command and sends signals while the service holds the n-th request; it answers a little later. */
async function signalled(
  rig: Rig,
  command: readonly string[],
  request: number,
  ...signals: readonly NodeJS.Signals[]
): Promise<Ran> {
  // Given time, so that the program has heard the signals before the answer comes.
  rig.sandbox.setFaults({ rules: [{ fault: "drip", bytes: 10, everyMs: 10, on: { request } }] });
  let child: ChildProcess | undefined;
  rig.onRequest(request, "after", () => {
    for (const signal of signals) child?.kill(signal);
  });
  const ran = await rig.run(command, {
    onSpawn: (spawned) => {
      child = spawned;
    },
  });
  rig.sandbox.setFaults({ rules: [] });
  return ran;
}

test("Ctrl-C finishes the request in flight; another file then exits 8 with the two commands", async () => {
  const rig = await salesRig(20);
  const stopped = await signalled(rig, rig.stream("TICKETS_CHUNK_SIZE=5", "--json"), 2, "SIGINT");
  expect(stopped.exitCode).toBe(130);
  const summary = summaryIn(stopped);
  expect(summary).toMatchObject({ state: "stopped", actions: { accepted: 10, inDoubt: 0, notSent: 10 } });
  expect(await states(rig)).toBe("answered answered planned planned");

  rig.place.write("corrected.csv", salesTable(30));
  const corrected = ["stream", "corrected.csv", "--action", "soldTicket", "--env", "playground", "-o", "out.ndjson"];
  const refused = await rig.run(corrected);
  expect(refused.exitCode).toBe(8);
  expect(refused.stderr).toContain(`tickets resume ${summary.run}`);
  expect(refused.stderr).toContain(`tickets settle ${summary.run} --abandon`);
  expect((await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"))).exitCode, "the same command too").toBe(8);
  expect(processedCount(rig)).toBe(10);

  expect((await rig.run(["settle", summary.run ?? "", "--abandon", "--env", "playground"])).exitCode).toBe(0);
  const sent = summaryIn(await rig.run([...corrected, "--json"]));
  expect(sent.actions).toMatchObject({ total: 30, alreadySent: 9, accepted: 21 });
});

test("Ctrl-C, then a resume that is killed: the next command finishes the run", LONG, async () => {
  const rig = await salesRig(20);
  expect((await signalled(rig, rig.stream("TICKETS_CHUNK_SIZE=5"), 2, "SIGINT")).exitCode).toBe(130);
  const resume = ["resume", "--env", "playground"];
  await dies(rig, resume, "settled", 2);
  expect((await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"))).exitCode).toBe(0);
  await expectAllShown(rig, rig.placed);
});

test("SIGTERM, then tonight's file: the old run is finished first, and its summary is shown", LONG, async () => {
  const rig = await salesRig(20);
  expect((await signalled(rig, rig.stream("TICKETS_CHUNK_SIZE=5"), 2, "SIGTERM")).exitCode).toBe(143);
  const run = (await readRuns(rig))[0]?.run;
  const tonight = salesTable(5, { first: 101 });
  rig.place.write("tonight.csv", tonight);
  const next = await rig.run(["stream", "tonight.csv", "--action", "soldTicket", "--env", "playground", "--json"]);
  expect(next.exitCode).toBe(0);
  expect(next.stderr).toContain(`Finishing interrupted run ${run} first.`);
  expect(summaryIn(next)).toMatchObject({
    state: "finished",
    actions: { total: 5, accepted: 5 },
    resumed: { run, state: "finished", actions: { total: 20, accepted: 20 } },
  });
  await expectAllShown(rig, [...rig.placed, ...placedRows("tonight.csv", "soldTicket", tonight)]);
  expect(rig.requests().map(({ length }) => length)).toEqual([5, 5, 5, 5, 5]);
});

test("a process that was frozen for longer than an answer may take reads the answer that came meanwhile", async () => {
  const rig = await salesRig(20);
  let child: ChildProcess | undefined;
  rig.onRequest(2, "after", () => {
    child?.kill("SIGSTOP");
    setTimeout(() => child?.kill("SIGCONT"), 4000);
  });
  const ran = await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5", "TICKETS_TIMEOUT=2s"), {
    onSpawn: (spawned) => {
      child = spawned;
    },
  });
  expect(ran.exitCode, ran.stderr).toBe(0);
  await expectAllShown(rig, rig.placed);
});

test("a signal during the last request leaves nothing to do: the run is finished", LONG, async () => {
  const rig = await salesRig(20);
  const ended = await signalled(rig, rig.stream("TICKETS_CHUNK_SIZE=5", "--json"), 4, "SIGINT");
  expect(summaryIn(ended)).toMatchObject({ state: "finished", actions: { accepted: 20 } });
  expect((await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"))).exitCode).toBe(0);
});
