/** When the requests of a run were sent and answered, in figures whose number does not grow with the run. Pure. */

/** A try to send a chunk. Times are milliseconds since 1970. */
export interface TimedAttempt {
  /** How many actions the chunk holds. */
  readonly actions: number;
  readonly from: number;
  /** Undefined where no end is known: it is under way, or its process died. */
  readonly to: number | undefined;
  /** What the answer meant; undefined where none came. */
  readonly class: string | undefined;
}

/** How a request ended: it decided its chunk, it was certainly not taken, or what became of it is not known. The worst last. */
const ENDS = ["answered", "not taken", "unknown"] as const;
export type RequestEnd = (typeof ENDS)[number];

/** Requests that follow each other, as one mark of the chart. Times are milliseconds from the beginning, without breaks. */
interface RequestMark {
  readonly from: number;
  readonly to: number;
  readonly requests: number;
  readonly slowestMs: number;
  readonly worst: RequestEnd;
}

export interface SendingTimes {
  /** From the first request to the last answer, without breaks. */
  readonly busyMs: number;
  readonly requests: Readonly<Record<RequestEnd, number>>;
  /** Actions of requests that decided their chunk. */
  readonly answeredActions: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly marks: readonly RequestMark[];
  /** Where a break was left out, in milliseconds without breaks. */
  readonly breaks: readonly number[];
}

/** Marks in a chart: more would be thinner than a line. */
const MOST_MARKS = 120;
/** A longer while in which nothing was under way, as before a `resume`, is left out. */
const LONGEST_PAUSE_MS = 60_000;

/** @param attempts in the order in which they began. Undefined where there were none. */
export function sendingTimes(attempts: readonly TimedAttempt[]): SendingTimes | undefined {
  if (attempts.length === 0) return undefined;
  const { timed, busyMs, breaks } = withoutBreaks(attempts);
  const lasted = timed.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const ofMark = Math.ceil(timed.length / MOST_MARKS);
  const requests = { answered: 0, "not taken": 0, unknown: 0 };
  for (const { end } of timed) requests[end] += 1;
  return {
    ...{ busyMs, requests, breaks },
    answeredActions: timed.reduce((sum, { end, actions }) => sum + (end === "answered" ? actions : 0), 0),
    medianMs: lasted[Math.floor((lasted.length - 1) / 2)] ?? 0,
    slowestMs: lasted.at(-1) ?? 0,
    marks: Array.from({ length: Math.ceil(timed.length / ofMark) }, (_, at) =>
      toMark(timed.slice(at * ofMark, (at + 1) * ofMark)),
    ),
  };
}

interface Timed {
  readonly from: number;
  readonly ms: number;
  readonly end: RequestEnd;
  readonly actions: number;
}

/** The requests on a line from which long breaks are cut. */
function withoutBreaks(attempts: readonly TimedAttempt[]) {
  const timed: Timed[] = [];
  const breaks: number[] = [];
  let beganAt = attempts[0]?.from ?? 0;
  let until = beganAt;
  for (const { from, to = from, actions, class: kind } of attempts) {
    const pause = from - until;
    if (pause > LONGEST_PAUSE_MS) {
      breaks.push(until - beganAt);
      beganAt += pause;
    }
    // A clock that was set back must not make the chart run backwards.
    const ms = Math.max(0, to - from);
    until = Math.max(until, from + ms);
    timed.push({ from: Math.max(0, from - beganAt), ms, actions, end: endOf(kind) });
  }
  return { timed, breaks, busyMs: until - beganAt };
}

function endOf(kind: string | undefined): RequestEnd {
  if (kind === "answered") return "answered";
  return kind === undefined || kind === "in doubt" || kind === "refused" ? "unknown" : "not taken";
}

const toMark = (timed: readonly Timed[]): RequestMark => ({
  from: timed[0]?.from ?? 0,
  to: Math.max(...timed.map(({ from, ms }) => from + ms)),
  requests: timed.length,
  slowestMs: Math.max(...timed.map(({ ms }) => ms)),
  worst: ENDS.findLast((end) => timed.some((each) => each.end === end)) ?? "answered",
});
