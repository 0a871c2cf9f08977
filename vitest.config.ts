import { readFileSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** `TESTS` is read here and nowhere else: `all` walks everything, `rest` what `npm test` leaves out, without it the short walk. */
const WALKS = {
  short: {
    INVARIANT_TRIALS: "10",
    // Left out of it, and named all the same.
    ...{ SHARED_TRIALS: "1", PUBLISH_ROUNDS: "1" },
    ...{ WORKER_ACTIONS: "600", WORKER_LANES: "8", WORKERS: "3", WORKER_SEED: "1", WORKER_SEEDS: "1" },
    INVARIANT_SEED: "1",
    INVARIANT_DAYS: "short",
    CALLS: "2",
    CUTS: "1",
    FIRST_CUT: "1",
    RACE_ROUNDS: "1",
    IDENTITY_WORLDS: "1",
    FIRST_IDENTITY_WORLD: "1",
    PROPERTY_SEED: "1",
  },
  rest: {
    INVARIANT_TRIALS: "20",
    ...{ SHARED_TRIALS: "2", PUBLISH_ROUNDS: "12" },
    INVARIANT_SEED: "1",
    INVARIANT_DAYS: "whole",
    CALLS: "150",
    CUTS: "199",
    FIRST_CUT: "2",
    RACE_ROUNDS: "12",
    IDENTITY_WORLDS: "5",
    FIRST_IDENTITY_WORLD: "2",
    PROPERTY_SEED: "2",
    ...{ WORKER_ACTIONS: "200000", WORKER_LANES: "64", WORKERS: "8", WORKER_SEED: "1", WORKER_SEEDS: "3" },
  },
  all: {
    INVARIANT_TRIALS: "40",
    ...{ SHARED_TRIALS: "10", PUBLISH_ROUNDS: "50" },
    INVARIANT_SEED: "1",
    INVARIANT_DAYS: "whole",
    CALLS: "150",
    CUTS: "201",
    FIRST_CUT: "1",
    RACE_ROUNDS: "12",
    IDENTITY_WORLDS: "6",
    FIRST_IDENTITY_WORLD: "1",
    PROPERTY_SEED: "1",
    ...{ WORKER_ACTIONS: "200000", WORKER_LANES: "64", WORKERS: "8", WORKER_SEED: "1", WORKER_SEEDS: "5" },
  },
};
const asked = process.env.TESTS ?? "short";
const walk = asked === "all" || asked === "rest" ? asked : "short";

/** What is not tagged runs in the short walk; `both` marks what the long one continues with other seeds. */
const LEFT_OUT = { short: ["!long"], rest: ["long || both"], all: undefined };

const project = (
  name: string,
  timeoutMs: number,
  { others = [], ...own }: { isolate: boolean; setupFiles?: string[]; others?: string[] },
) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`, ...others],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    ...own,
  },
});
const setupFiles = ["test/support/property-seed.ts"];

const MINUTE_MS = 60_000;

/** Files whose one test takes longest: begun last, they would have the machine for themselves. */
const LONGEST = [
  "invariant",
  "e2e/workers",
  "e2e/published",
  "e2e/postgres",
  "ledger/postgres",
  "crash/every-call",
  "crash/power-cut",
  "crash/boundaries",
  "crash/settle",
  "e2e/security",
  "run/identity-worlds",
  "e2e/golden-plans",
  "e2e/rejects",
  "docs",
];

const MEMORY_FOLDER = "/dev/shm";
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Where tests put their files: in memory where there is plenty of it, since they wait for a disk as long as for the product. What a full or broken disk does is tried on disks of the tests' own. */
function temporaryFolder(): string {
  try {
    const mount = readFileSync("/proc/mounts", "utf8").match(new RegExp(`^\\S+ ${MEMORY_FOLDER} tmpfs (\\S+) `, "m"));
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    if (mount && !/\b(?:noexec|ro)\b/.test(mount[1] ?? "") && bavail * bsize >= ENOUGH_BYTES) return MEMORY_FOLDER;
  } catch {} // no such folder, as outside Linux
  return tmpdir();
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** More workers than there are cores: most wait for a process that they started, and that for a disk. Time limits are there to end a hung test, on the busiest machine; nothing is ever asserted by them. */
export default defineConfig({
  test: {
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: LongestFirst },
    // What somebody sets for a run of their own counts more.
    env: Object.fromEntries(
      Object.entries({ ...WALKS[walk], TMPDIR: temporaryFolder() }).map(([name, own]) => [
        name,
        process.env[name] ?? own,
      ]),
    ),
    tags: [
      { name: "long", description: "left out by the short walk: npm run test:all has it" },
      { name: "both", description: "the short walk begins it, the long one goes on with other seeds" },
    ],
    ...(LEFT_OUT[walk] && { tagsFilter: LEFT_OUT[walk] }),
    projects: [
      // Tests share no state but their modules, so that these are loaded once a worker.
      project("unit", 10 * MINUTE_MS, { isolate: false, setupFiles }),
      project("pipeline", 20 * MINUTE_MS, { isolate: false, setupFiles }),
      project("e2e", 30 * MINUTE_MS, { isolate: false }),
    ],
  },
});
