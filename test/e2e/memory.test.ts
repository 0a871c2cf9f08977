/** What a command holds of memory, as far as it does not depend on how busy the machine is. */

import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";

test("a command lets V8's memory for short-lived values grow no more, however much lives in it", async () => {
  const place = openWorkplace();
  // Much of what is made here is alive at each scavenge: V8 doubles that memory again and again, up to 64 MB.
  place.write(
    "young.mjs",
    `import { getHeapSpaceStatistics } from "node:v8";
     process.on("exit", () => {
       const kept = [];
       for (let at = 0; at < 3_000_000; at += 1) kept[(at * 7) % 20_000] = { at, list: [at], text: "x" + at };
       const { space_size: size } = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
       console.error(\`young generation \${size}\`);
     });`,
  );
  const { exitCode, stderr } = await place.tickets(["schema", "payload"], {
    nodeArgs: ["--import", place.path("young.mjs")],
  });
  expect(exitCode).toBe(0);
  expect(Number(/young generation (\d+)/.exec(stderr)?.[1])).toBeLessThan(24 * 2 ** 20);
});
