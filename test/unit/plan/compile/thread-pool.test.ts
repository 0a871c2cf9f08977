import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { LEAST_BYTES, startEarly, takeWorkers, workersOf } from "../../../../src/plan/compile/thread-pool.ts";

let folder: string;
const taken: Worker[] = [];
const take = (count: number): readonly Worker[] => {
  const workers = takeWorkers(count);
  taken.push(...workers);
  return workers;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tickets-"));
});
afterEach(async () => {
  for (const worker of taken.splice(0)) await worker.terminate();
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(bytes: number): Promise<string> {
  const path = join(folder, `${bytes}.csv`);
  await writeFile(path, "");
  await truncate(path, bytes);
  return path;
}

/** How many threads were started meanwhile. Node tells of each a turn later. */
const started = async (work: () => void | Promise<void>): Promise<number> => {
  let count = 0;
  const note = (): void => {
    count += 1;
  };
  process.on("worker", note);
  try {
    await work();
    await turn();
  } finally {
    process.off("worker", note);
  }
  return count;
};

it("threads start early for a large file beside this one, and are those that are taken then", async () => {
  const [small, large] = [await fileOf(LEAST_BYTES - 1), await fileOf(LEAST_BYTES)];
  expect(await started(() => startEarly([small, large], { TICKETS_WORKERS: "3" }))).toBe(2);
  expect(await started(() => void take(2))).toBe(0);
  expect(await started(() => void take(1))).toBe(1);
});

it.each([
  ["small files", async () => [await fileOf(LEAST_BYTES - 1)], "2"],
  ["standard input", () => ["-"], "2"],
  ["a missing file", () => [join(folder, "none.csv")], "2"],
  ["one thread", async () => [await fileOf(LEAST_BYTES)], "1"],
  ["a number of threads that is none", async () => [await fileOf(LEAST_BYTES)], "many"],
])("nothing starts early for %s", async (_, paths, count) => {
  const files = await paths();
  expect(await started(() => startEarly(files, { TICKETS_WORKERS: count }))).toBe(0);
});

it("a thread that ended before it was taken is not taken", async () => {
  startEarly([await fileOf(LEAST_BYTES)], { TICKETS_WORKERS: "3" });
  const [first, second] = take(2);
  startEarly([await fileOf(LEAST_BYTES)], { TICKETS_WORKERS: "3" });
  const again = take(1);
  expect(again).not.toContain(first);
  await again[0]?.terminate();
  const left = take(1);
  expect(left[0]).not.toBe(again[0]);
  expect([first, second]).not.toContain(left[0]);
});

it("a number of threads that is none is told where they are needed", () => {
  expect(() => workersOf({ TICKETS_WORKERS: "many" })).toThrow(/TICKETS_WORKERS is "many"/);
});
