import { setImmediate as nextLoop } from "node:timers/promises";
import { expect, it } from "vitest";
import { atOnce, inTurns, turn } from "../../../src/disk/turns.ts";

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

it("steps give what they come to, each in a turn of its own or without a pause", async () => {
  const seen: string[] = [];
  function* steps(name: string): Generator<void, string> {
    for (const step of [1, 2, 3]) {
      if (step > 1) yield;
      seen.push(`${name}${step}`);
    }
    return name;
  }
  expect(await Promise.all([inTurns(steps("a")), inTurns(steps("b"))])).toEqual(["a", "b"]);
  expect(seen).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
  expect(atOnce(steps("c"))).toBe("c");
  expect(seen.slice(6)).toEqual(["c1", "c2", "c3"]);
});
