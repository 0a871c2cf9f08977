/** The nightly job: an export of everything, or of the last week, every night. Only what is new is sent. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Action } from "../../src/actions/actions.ts";
import { stringifyJson } from "../../src/actions/json.ts";
import { type Done, type Field, openField } from "../support/context.ts";
import { createWorld, JOB_FILES, type JobNight } from "../support/nights/deeds.ts";
import { randomOf } from "../support/random.ts";

const COMPLETE = "complete: true";
/** Built by `npm test`: not every Node that is supported reads the sources as they are. */
const BIN = fileURLToPath(new URL("../../bin/tickets.js", import.meta.url));

const textOf = ({ action, data }: Action): string => `${action} ${stringifyJson(data)}`;

/** What the service has accepted, in order; a rejection would be one action too few. */
function acceptedBy({ sandbox: { engine } }: Field): readonly string[] {
  return Array.from(engine.processed())
    .filter(({ status }) => status === "success")
    .map(({ action, data }) => `${action} ${data}`);
}

/** Thousands of equal lines say nothing; the first that differs does. */
function expectSame(found: readonly string[], expected: readonly string[]): void {
  const at = expected.findIndex((text, index) => text !== found[index]);
  expect({ length: found.length, text: found[at] }).toEqual({ length: expected.length, text: expected[at] });
}

async function writeNight(field: Field, { files }: JobNight): Promise<void> {
  for (const [name, text] of Object.entries(files)) await field.write(name, text);
}

/** The command of the nightly job in a process of its own, which dies at a crash point. */
async function killedNight(field: Field, crashAt: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [BIN, "stream", ...JOB_FILES, ...args], {
    cwd: field.folder,
    env: { ...process.env, ...field.env, TICKETS_TEST_CRASH_AT: crashAt },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 900_000,
  });
  const said: string[] = [];
  child.stderr.on("data", (text: Buffer) => said.push(text.toString()));
  const [exitCode, signal] = await once(child, "close");
  expect({ exitCode, signal }, said.join("")).toEqual({ exitCode: null, signal: "SIGKILL" });
}

/** Where a night's process dies, and what the service then has of the chunk in doubt, if one is. */
interface Crash {
  readonly at: string;
  readonly truth?: "sent" | "not-sent";
}

/** Runs a night that dies half-way and all that it takes to put things right; afterwards the night has been sent. */
async function surviveNight(
  field: Field,
  { at, truth }: Crash,
  chunkSize: string,
  args: readonly string[],
): Promise<void> {
  await killedNight(field, at, ["--chunk-size", chunkSize, ...args]);
  if (truth === undefined) return;
  const stopped = await field.stream(JOB_FILES);
  expect(stopped.exitCode, stopped.said).toBe(6);
  await field.settle(truth);
}

function expectSummary({ exitCode, said, summary }: Done, night: JobNight, sent: number): void {
  expect(exitCode, said).toBe(0);
  expect(summary).toMatchObject({
    rows: { read: night.rows, mapped: night.rows },
    actions: {
      total: night.rows,
      accepted: sent,
      alreadySent: night.rows - sent,
      changed: night.changed,
      notSent: 0,
      rejected: 0,
    },
    problems: { errors: 0 },
  });
}

/** By the day of the full exports. */
const CRASHES: Readonly<Record<number, Crash>> = {
  2: { at: "entered" },
  3: { at: "intended:3", truth: "not-sent" },
  4: { at: "answered:2", truth: "sent" },
  5: { at: "ended" },
};

describe("seven nights of full exports, 30,000 tickets in the end", () => {
  test("each sends exactly what is new, in order; a killed night and repeated ones change nothing", {
    tags: ["long"],
  }, async () => {
    const season = createWorld(randomOf(4), { job: { tickets: 30_000, days: 7, returns: true } });
    const field = await openField(COMPLETE);
    const history: string[] = [];
    for (let day = 0; day < 7; day += 1) {
      const night = season.jobNight(day);
      await writeNight(field, night);
      history.push(...night.fresh.map(textOf));
      const crash = CRASHES[day];
      if (crash === undefined) expectSummary(await field.stream(JOB_FILES), night, night.fresh.length);
      else {
        await surviveNight(field, crash, "1500", []);
        expectSummary(await field.stream(JOB_FILES), night, 0);
      }
      expectSame(acceptedBy(field), history);
      if (day === 1) expectSummary(await field.stream(JOB_FILES), night, 0);
    }

    const last = season.jobNight(6);
    expect(last.changed).toBeGreaterThan(500);
    expect(last.vanished.length).toBeGreaterThan(200);
    const report = await field.stream(JOB_FILES, { reportVanished: true });
    expectSummary(report, last, 0);
    expect(report.summary?.vanished).toMatchObject({ count: last.vanished.length });
    expect(report.summary?.vanished?.first.map(({ ticketId }) => ticketId)).toEqual(last.vanished.slice(0, 1000));
    expect(report.said).toContain("Nothing was invalidated");
    expectSame(acceptedBy(field), history);
  });
});

describe("ten nights of exports of the last seven days", () => {
  test("by --order input send the same", { tags: ["long"] }, () => sendTheSame("input"));
  test("by --order time send the same", { tags: ["long"] }, () => sendTheSame("time"));

  async function sendTheSame(order: "input" | "time"): Promise<void> {
    // A window shows a part of a history: of what returns it does not tell which it shows, and nothing is guessed.
    const season = createWorld(randomOf(7), { job: { tickets: 4_000, days: 10, returns: false } });
    const field = await openField(COMPLETE);
    const history: string[] = [];
    for (let day = 0; day < 10; day += 1) {
      const night = season.jobNight(day, 7);
      await writeNight(field, night);
      if (day === 8) {
        await surviveNight(field, { at: "answered:2", truth: "sent" }, "200", ["--order", order]);
        expectSummary(await field.stream(JOB_FILES, { order }), night, 0);
      } else expectSummary(await field.stream(JOB_FILES, { order }), night, night.fresh.length);

      const accepted = acceptedBy(field).slice(history.length);
      const fresh = night.fresh.map(textOf);
      if (order === "input") expectSame(accepted, fresh);
      else {
        expectSame(accepted.toSorted(), fresh.toSorted());
        const times = accepted
          .map((text) => Number(/"orderTime":(\d+)/.exec(text)?.[1] ?? 0))
          .filter((time) => time > 0);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }
      history.push(...accepted);
    }
  }
});
