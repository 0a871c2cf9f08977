import { describe, expect, it } from "vitest";
import { sendingTimes, type TimedAttempt } from "../../../../src/write/report/sending-times.ts";

const START = Date.parse("2026-03-01T03:00:00Z");

/** A request that began so long after the first one. */
const request = (fromMs: number, ms: number | undefined, more: Partial<TimedAttempt> = {}): TimedAttempt => ({
  actions: 100,
  from: START + fromMs,
  to: ms === undefined ? undefined : START + fromMs + ms,
  class: ms === undefined ? undefined : "answered",
  ...more,
});

const timesOf = (...attempts: readonly TimedAttempt[]) => {
  const times = sendingTimes(attempts);
  if (times === undefined) throw new Error("there were requests");
  return times;
};

describe("the times of requests", () => {
  it("say how many there were, how long they took, and how many actions were answered", () => {
    const times = timesOf(request(0, 1000), request(1000, 3000), request(4000, 2000));
    expect(times).toMatchObject({ busyMs: 6000, answeredActions: 300, medianMs: 2000, slowestMs: 3000 });
    expect(times.requests).toEqual({ answered: 3, "not taken": 0, unknown: 0 });
    expect(times.marks.map(({ from, to }) => [from, to])).toEqual([
      [0, 1000],
      [1000, 4000],
      [4000, 6000],
    ]);
  });

  it.each([
    [{ class: "answered" }, "answered", 100],
    [{ class: "not taken" }, "not taken", 0],
    [{ class: "not sent" }, "not taken", 0],
    [{ class: "in doubt" }, "unknown", 0],
    [{ class: "refused" }, "unknown", 0],
    [{ class: undefined, to: undefined }, "unknown", 0],
  ])("count a request of %j as %s", (given, end, answeredActions) => {
    const times = timesOf(request(0, 5, given));
    expect(times).toMatchObject({ answeredActions, requests: { [end]: 1 } });
    expect(times.marks[0]?.worst).toBe(end);
  });

  it("leave out a long break, and say where it was", () => {
    const night = 8 * 3_600_000;
    const times = timesOf(request(0, 1000), request(night, 1000), request(night + 500, 1000));
    expect(times.breaks).toEqual([1000]);
    expect(times.busyMs).toBe(2500);
    expect(times.marks.map(({ from }) => from)).toEqual([0, 1000, 1500]);
  });

  it("never run backwards where a clock was set back", () => {
    const times = timesOf(request(0, -5000), request(10, 20));
    expect(times.marks.every(({ from, to }) => from >= 0 && to >= from)).toBe(true);
    expect(times.slowestMs).toBe(20);
  });

  it("give marks whose number does not grow, lose no request, and show the worst of each", () => {
    const ends = [{}, { class: "in doubt" }, { class: "not taken" }];
    const attempts = Array.from({ length: 10_007 }, (_, at) => request(at * 10, 10, ends[at]));
    const { marks, requests } = timesOf(...attempts);
    expect(marks.length).toBeLessThanOrEqual(120);
    expect(marks.reduce((sum, each) => sum + each.requests, 0)).toBe(10_007);
    expect(requests).toEqual({ answered: 10_005, "not taken": 1, unknown: 1 });
    expect(marks[0]).toEqual({ from: 0, to: 840, requests: 84, slowestMs: 10, worst: "unknown" });
    expect(marks[1]?.worst).toBe("answered");
  });
});
