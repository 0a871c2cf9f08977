import { setImmediate as nextLoop } from "node:timers/promises";
import { expect, it } from "vitest";
import { turn } from "../../../src/disk/turns.ts";

it("one goes on in each turn of the event loop, in the order in which they asked", async () => {
  const seen: (string | number)[] = [];
  const steps = [1, 2, 3].map(async (lane) => {
    await turn();
    seen.push(lane);
    await turn();
    seen.push(lane);
  });
  let isDone = false;
  const looking = (async () => {
    while (!isDone) {
      await nextLoop();
      seen.push("look");
    }
  })();
  await Promise.all(steps);
  isDone = true;
  await looking;
  expect(seen.filter((each) => each !== "look")).toEqual([1, 2, 3, 1, 2, 3]);
  const together = seen.filter((each, at) => each !== "look" && at > 0 && seen[at - 1] !== "look");
  expect(together).toEqual([]);
});
