/** The judge of all bad days is no yes-man: it notices whatever the service's record and the program show otherwise. */

import { expect, test } from "vitest";
import type { ProcessedAction } from "../../src/sandbox/state.ts";
import { salesRig } from "../support/interrupted.ts";
import { expectAllShown } from "../support/invariant/truth.ts";

type Requests = readonly (readonly ProcessedAction[])[];

const changed = (requests: Requests, change: (each: ProcessedAction) => ProcessedAction): Requests =>
  requests.map((request, at) => (at === 1 ? request.map((each, nth) => (nth === 2 ? change(each) : each)) : request));

test("a record that differs from what is shown is noticed", async () => {
  const rig = await salesRig(20);
  expect(await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"))).toMatchObject({ exitCode: 0 });
  const requests = rig.requests();
  await expectAllShown(rig, rig.placed);
  const lies: Readonly<Record<string, Requests>> = {
    "a request is missing": requests.slice(0, -1),
    "a request came twice": [...requests, ...requests.slice(-1)],
    "an action came twice": requests.map((request, at) => (at === 2 ? [...request, ...request.slice(-1)] : request)),
    "two requests came the other way round": [0, 2, 1, 3].map((at) => requests[at] ?? []),
    "a promise is another": changed(requests, (each) => ({ ...each, actionPromise: "another" })),
    "an action was refused": changed(requests, (each) => ({ ...each, status: "error", actionPromise: null })),
    "an action was another": changed(requests, (each) => ({ ...each, data: each.data.replace("T-7", "T-70") })),
  };
  for (const [lie, record] of Object.entries(lies))
    await expect(expectAllShown({ ...rig, requests: () => record }, rig.placed), lie).rejects.toThrow();
  const swapped = (...order: readonly number[]) => ({ ...rig, requests: () => order.map((at) => requests[at] ?? []) });
  await expectAllShown(swapped(0, 2, 1, 3), rig.placed, { inLanes: true });
  const early = expectAllShown(swapped(1, 0, 2, 3), rig.placed, { inLanes: true });
  await expect(early, "sales before their event").rejects.toThrow("stands behind it");
  rig.place.write("out.ndjson", rig.place.read("out.ndjson").replace(/.*\n$/, ""));
  await expect(expectAllShown(rig, rig.placed), "a line of the promises is missing").rejects.toThrow("out.ndjson");
});
