import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeProgress, openTerminal } from "../../../src/cli/terminal.ts";
import type { WorkUnderWay } from "../../../src/run/context.ts";

/** The line that is written of long work where there is no terminal; `before` is the work half a minute earlier. */
async function reported(state: WorkUnderWay, before?: WorkUnderWay): Promise<string> {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const written: string[] = [];
  const stream = () => new PassThrough() as unknown as NodeJS.ReadStream & NodeJS.WriteStream; // no terminal, as a pipe is none
  const stderr = stream().on("data", (text) => written.push(String(text)));
  const terminal = await openTerminal({
    ...{ quiet: false, verbose: false },
    place: () => ({ environment: undefined, run: undefined }),
    ...{ stdin: stream(), stdout: stream(), stderr, env: {} },
  });
  terminal.progress(before);
  vi.advanceTimersByTime(30_000);
  terminal.progress(state);
  return written.join("");
}

test.each([
  [{ doing: "sending", unit: "action", done: 0, total: 1 }, "sending 0 of 1 action"],
  [{ doing: "sending", unit: "action", done: 1, total: 2 }, "sending 1 of 2 actions · 50%"],
  [{ doing: "sending", unit: "action", done: 9_999, total: 10_000 }, "sending 9,999 of 10,000 actions · 99%"],
  [{ doing: "checking", unit: "row", done: 1200, share: 0.5 }, "checking 1,200 rows · 50%"],
] as const)("work under way is counted in words: %j", async (state, line) => {
  expect(await reported(state)).toBe(`${line}\n`);
});

test("a log file that can't be written any more is reported once, and nothing stops", async () => {
  const written: string[] = [];
  const stream = () => new PassThrough() as unknown as NodeJS.ReadStream & NodeJS.WriteStream; // no terminal, as a pipe is none
  const stderr = stream().on("data", (text) => written.push(String(text)));
  const answers = [undefined, "the disk is full"];
  const logFile = { append: () => answers.shift(), [Symbol.dispose]: () => undefined };
  const terminal = await openTerminal({
    ...{ quiet: false, verbose: false },
    ...{ stdin: stream(), stdout: stream(), stderr, env: {}, logFile },
    place: () => ({ environment: undefined, run: undefined }),
  });
  for (const text of ["one", "two", "three"]) terminal.info(text);
  terminal.log("for programs alone", { event: "chunk.sent" });
  expect(written.join("")).toBe(
    "one\nwarning: The log file can't be written any more (the disk is full). What follows is not in it.\ntwo\nthree\n",
  );
});

test.each([
  [
    { doing: "sending", unit: "action", done: 0, total: 12_000 },
    { doing: "sending", unit: "action", done: 3000, total: 12_000 },
    "sending 3,000 of 12,000 actions · 25% · 100/s · 2 min left",
  ],
  [
    { doing: "checking", unit: "row", done: 0 },
    { doing: "checking", unit: "row", done: 6000 },
    "checking 6,000 rows · 200/s",
  ],
] as const)("rate and time left follow from the time it took so far: %j, %j", async (before, state, line) => {
  expect(await reported(state, before)).toBe(`${line}\n`);
});

test.each([
  [80, "sending 3,000 of 12,000 actions · 25% · 100/s · 2 min left · 3 rejected"],
  [60, "sending 3,000 of 12,000 actions · 25% · 100/s · 2 min left"],
  [40, "sending · 25% · 2 min left · 3 rejected"],
  [24, "sending · 25% · 100/s"],
])("on %i columns percent and time left stay longest", (columns, line) => {
  const state = { doing: "sending", unit: "action", done: 3000, total: 12_000, rejected: 3 } as const;
  const pace = { doing: "sending", startedAt: 0, startedWith: 0, startedShare: 0 };
  expect(describeProgress(state, pace, 30_000, columns)).toBe(line);
});
