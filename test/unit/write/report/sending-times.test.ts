import { describe, expect, it } from "vitest";
import { sendingTimes, type TimedAttempt } from "../../../../src/write/report/sending-times.ts";

const START = Date.parse("2026-03-01T03:00:00Z");

/** A request that began so long after the first one. */
const request = (
  chunk: number,
  fromMs: number,
  ms: number | undefined,
  more: Partial<TimedAttempt> = {},
): TimedAttempt => ({
  chunk,
  attempt: 1,
  actions: 100,
  from: START + fromMs,
  to: ms === undefined ? undefined : START + fromMs + ms,
  class: ms === undefined ? undefined : "answered",
  httpStatus: ms === undefined ? undefined : 200,
  ...more,
});

const timesOf = (...attempts: readonly TimedAttempt[]) => {
  const times = sendingTimes(() => attempts);
  if (times === undefined) throw new Error("there were requests");
  return times;
};

describe("the times of requests", () => {
  it("are none where nothing was sent", () => {
    expect(sendingTimes(() => [])).toBeUndefined();
  });

  it("tell how many there were, how long they took, and how many actions were answered", () => {
    const times = timesOf(request(1, 0, 1000), request(2, 1000, 3000), request(3, 4000, 2000));
    expect(times).toMatchObject({ beganAt: START, busyMs: 6000, requests: 3, answeredActions: 300 });
    expect(times).toMatchObject({ medianMs: 2000, slowestMs: 3000, slowestChunk: 2 });
    expect(times.marks.map(({ from, to, chunks }) => [from, to, chunks])).toEqual([
      [0, 1000, [1, 1]],
      [1000, 4000, [2, 2]],
      [4000, 6000, [3, 3]],
    ]);
  });

  it("tell what was tried again, and how long it waited", () => {
    const busy = { class: "not taken", httpStatus: 429 };
    const times = timesOf(
      request(1, 0, 100, busy),
      request(1, 2100, 100, { ...busy, attempt: 2 }),
      request(1, 7200, 100, { attempt: 3 }),
      request(2, 7300, 100),
    );
    expect(times.again).toEqual({ requests: 2, waitedMs: 7000, longestMs: 5000 });
    expect(times.answeredActions).toBe(200);
    expect(times.ends).toMatchObject([
      { end: "not taken", httpStatus: 429, requests: 2 },
      { end: "answered", httpStatus: 200, requests: 2 },
    ]);
  });

  it.each([
    [{ class: "answered" }, "answered", [0, 0]],
    [{ class: "not taken" }, "not taken", [1, 0]],
    [{ class: "not sent" }, "not taken", [1, 0]],
    [{ class: "in doubt" }, "unknown", [0, 1]],
    [{ class: "refused" }, "unknown", [0, 1]],
    [{ class: undefined, to: undefined }, "unknown", [0, 1]],
  ])("count a request of %j as %s", (given, end, [notTaken, unknown]) => {
    const { ends, marks } = timesOf(request(1, 0, 5, given));
    expect([ends[0]?.end, marks[0]]).toMatchObject([end, { notTaken, unknown }]);
  });

  it("leave out a long break, and say where it was", () => {
    const night = 8 * 3_600_000;
    const times = timesOf(request(1, 0, 1000), request(2, night, 1000));
    expect(times.cuts).toEqual([{ at: 1000, ms: night - 1000 }]);
    expect(times.busyMs).toBe(2000);
  });

  it("keep a break that is short beside the rest", () => {
    expect(timesOf(request(1, 0, 600_000), request(2, 660_000, 600_000)).cuts).toEqual([]);
  });

  it("never run backwards where a clock was set back", () => {
    const times = timesOf(request(1, 0, -5000), request(2, 10, 20));
    expect(times.marks.every(({ from, to }) => from >= 0 && to >= from)).toBe(true);
    expect(times.slowestMs).toBe(20);
  });

  it("give marks whose number does not grow, and lose no request and no action", () => {
    const { marks } = timesOf(...Array.from({ length: 10_007 }, (_, at) => request(at + 1, at * 10, 10)));
    expect(marks.length).toBeLessThanOrEqual(120);
    expect(marks.reduce((sum, { requests }) => sum + requests, 0)).toBe(10_007);
    expect(marks.reduce((sum, { actions }) => sum + actions, 0)).toBe(1_000_700);
    expect(marks[0]).toMatchObject({ from: 0, to: 840, chunks: [1, 84], slowestMs: 10, meanMs: 10 });
  });

  it("count in a group what was not answered", () => {
    const ends = [{}, { class: "in doubt" }, { class: "not taken" }];
    const attempts = Array.from({ length: 240 }, (_, at) => request(at + 1, at * 10, 10, ends[at]));
    const counted = timesOf(...attempts).marks.map(({ notTaken, unknown }) => [notTaken, unknown]);
    expect(counted.slice(0, 3)).toEqual([
      [0, 1],
      [1, 0],
      [0, 0],
    ]);
  });
});
