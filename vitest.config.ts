import { defineConfig } from "vitest/config";

const project = (name: string, timeoutMs: number) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout: timeoutMs, hookTimeout: timeoutMs },
});

/** Every core gets a worker. Time limits are there to end a hung test, never to assert speed. */
export default defineConfig({
  test: {
    maxWorkers: "100%",
    projects: [project("unit", 60_000), project("pipeline", 120_000), project("e2e", 300_000)],
  },
});
