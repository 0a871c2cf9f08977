import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Metrics, metricsText, writeMetrics } from "../../../src/commands/metrics-file.ts";
import { Failure } from "../../../src/failure.ts";
import { openFolder } from "../../support/folder.ts";

const NIGHT: Metrics = {
  environment: "production",
  last: {
    ...{ endedAt: "2026-03-01T03:00:12.500Z", exitCode: 6 },
    counts: {
      actions: { accepted: 5, rejected: 1, inDoubt: 2, notSent: 4, alreadySent: 7, changed: 1, late: 3, unclear: 2 },
    },
  },
  ledger: {
    succeeded: { startedAt: "2026-02-28T02:59:48.000Z", durationMs: 12_000 },
    runs: [{ run: { state: "open" }, counts: { inDoubt: 2, refused: 0 } }],
  } as unknown as Metrics["ledger"], // what is counted of it
};

const samplesIn = (text: string): readonly string[] => text.split("\n").filter((line) => /^[^#]/.test(line));

test("each metric has its help, its type and its environment", () => {
  const text = metricsText(NIGHT);
  expect(text).toMatch(/^# HELP \w+ [^\n]+\n# TYPE \w+ gauge\ntickets_/);
  expect(samplesIn(text)).toEqual([
    'tickets_last_success_timestamp_seconds{environment="production"} 1772247600',
    'tickets_last_run_timestamp_seconds{environment="production"} 1772334012.5',
    'tickets_last_run_exit_code{environment="production"} 6',
    'tickets_last_run_actions{environment="production",outcome="accepted"} 5',
    'tickets_last_run_actions{environment="production",outcome="rejected"} 1',
    'tickets_last_run_actions{environment="production",outcome="in_doubt"} 2',
    'tickets_last_run_actions{environment="production",outcome="not_sent"} 4',
    'tickets_last_run_actions{environment="production",outcome="already_sent"} 7',
    'tickets_last_run_actions{environment="production",outcome="changed"} 1',
    'tickets_last_run_actions{environment="production",outcome="late"} 3',
    'tickets_last_run_actions{environment="production",outcome="unclear"} 2',
    'tickets_doubts{environment="production"} 2',
    'tickets_unfinished_runs{environment="production"} 1',
  ]);
  const names = samplesIn(text).map((line) => line.split("{")[0]);
  const typed = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  expect(typed).toEqual([...new Set(names)]);
});

test("what is not known is left out, and no success yet is 0", () => {
  const last = { endedAt: "2026-03-01T03:00:00Z", exitCode: 5, counts: undefined };
  expect(samplesIn(metricsText({ environment: "a", last, ledger: undefined }))).toEqual([
    'tickets_last_run_timestamp_seconds{environment="a"} 1772334000',
    'tickets_last_run_exit_code{environment="a"} 5',
  ]);
  const ledger = { succeeded: undefined, runs: [] };
  expect(samplesIn(metricsText({ environment: "a", last: undefined, ledger }))[0]).toBe(
    'tickets_last_success_timestamp_seconds{environment="a"} 0',
  );
});

test("the file is replaced as a whole, and anybody may read it", async () => {
  const folder = openFolder();
  writeFileSync(join(folder, "t.prom"), "old", { mode: 0o600 });
  const before = statSync(join(folder, "t.prom")).ino;
  await writeMetrics("t.prom", folder, NIGHT);
  expect(readFileSync(join(folder, "t.prom"), "utf8")).toBe(metricsText(NIGHT));
  const { ino, mode } = statSync(join(folder, "t.prom"));
  expect([ino === before, mode & 0o777]).toEqual([false, 0o644]);
  expect(readdirSync(folder)).toEqual(["t.prom"]);
});

test("where it can't be written any more, nothing half is left", async () => {
  const folder = openFolder();
  mkdirSync(join(folder, "t.prom"));
  const failure = await writeMetrics("t.prom", folder, NIGHT).catch((cause: unknown) => cause);
  expect(failure).toBeInstanceOf(Failure);
  expect(readdirSync(folder)).toEqual(["t.prom"]);
});
