/** When the requests of a run were sent and answered, in figures whose number does not grow with the run. Pure. */

/** A try to send a chunk. Times are milliseconds since 1970. */
export interface TimedAttempt {
  readonly chunk: number;
  /** Its number among those of the chunk, from 1. */
  readonly attempt: number;
  /** How many actions the chunk holds. */
  readonly actions: number;
  readonly from: number;
  /** Undefined where no end is known: it is under way, or its process died. */
  readonly to: number | undefined;
  /** What the answer meant, or that none came. */
  readonly class: string | undefined;
  readonly httpStatus: number | undefined;
}

/** How a request ended: it decided its chunk, it was certainly not taken, or what became of it is not known. */
type RequestEnd = "answered" | "not taken" | "unknown";

/** Requests that follow each other, as one mark of a picture. Times are milliseconds from the beginning, without cuts. */
export interface RequestMark {
  readonly from: number;
  readonly to: number;
  /** The first and the last of their chunks. */
  readonly chunks: readonly [number, number];
  readonly requests: number;
  /** Actions of those that were answered. */
  readonly actions: number;
  readonly slowestMs: number;
  readonly meanMs: number;
  readonly notTaken: number;
  readonly unknown: number;
}

/** A while in which nothing was under way, so long that the picture leaves it out. */
interface Cut {
  /** Where it is, in milliseconds without cuts. */
  readonly at: number;
  readonly ms: number;
}

/** Requests of one kind of end. */
export interface EndCount {
  readonly end: RequestEnd;
  readonly class: string | undefined;
  readonly httpStatus: number | undefined;
  readonly requests: number;
}

export interface SendingTimes {
  /** When the first request began, in milliseconds since 1970. */
  readonly beganAt: number;
  /** Of all requests and waits, without cuts. */
  readonly busyMs: number;
  readonly requests: number;
  /** Actions of requests that decided their chunk. */
  readonly answeredActions: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly slowestChunk: number;
  /** Requests that came after another one of the same chunk, and the waits before them. */
  readonly again: { readonly requests: number; readonly waitedMs: number; readonly longestMs: number };
  readonly marks: readonly RequestMark[];
  readonly cuts: readonly Cut[];
  /** The most frequent first. */
  readonly ends: readonly EndCount[];
}

/** Marks in a picture: more would be thinner than a line. */
const MOST_MARKS = 120;

/** Shorter breaks are shown as they are. */
const LEAST_CUT_MS = 10_000;

/** @param attempts in the order in which they began; read twice. Undefined where there were none. */
export function sendingTimes(attempts: () => Iterable<TimedAttempt>): SendingTimes | undefined {
  const { requests, workMs, beganAt } = measured(attempts());
  if (requests === 0) return undefined;
  const clock = createClock(beganAt, Math.max(LEAST_CUT_MS, workMs / 2));
  const again = createAgain();
  const marks: RequestMark[] = [];
  const ends = new Map<string, EndCount>();
  const lasted = new Float64Array(requests);
  const ofMark = Math.ceil(requests / MOST_MARKS);
  let [at, slowestMs, slowestChunk] = [0, 0, 0];
  for (const attempt of attempts()) {
    if (at === requests) break; // another process has begun more since
    const { chunk, class: kind, httpStatus } = attempt;
    const ms = durationOf(attempt);
    const from = clock.place(attempt.from, ms);
    lasted[at] = ms;
    if (ms > slowestMs || at === 0) [slowestMs, slowestChunk] = [ms, chunk];
    const mark = (at % ofMark === 0 ? undefined : marks.pop()) ?? emptyMark(from, chunk);
    marks.push(withRequest(mark, attempt, from, ms));
    again.add(attempt, from, ms);
    const key = `${kind} ${httpStatus}`;
    ends.set(key, { end: endOf(attempt), class: kind, httpStatus, requests: (ends.get(key)?.requests ?? 0) + 1 });
    at += 1;
  }
  return {
    ...{ beganAt, busyMs: clock.end(), requests, slowestMs, slowestChunk, marks },
    answeredActions: marks.reduce((sum, { actions }) => sum + actions, 0),
    medianMs: lasted.toSorted()[Math.floor((requests - 1) / 2)] ?? 0,
    again: again.total(),
    cuts: clock.cuts,
    ends: [...ends.values()].toSorted((one, other) => other.requests - one.requests),
  };
}

/** A clock that was set back must not make a picture run backwards. */
const durationOf = ({ from, to }: TimedAttempt): number => (to === undefined ? 0 : Math.max(0, to - from));

function endOf({ class: kind }: Pick<TimedAttempt, "class">): RequestEnd {
  if (kind === "answered") return "answered";
  return kind === undefined || kind === "in doubt" || kind === "refused" ? "unknown" : "not taken";
}

/** How many requests there were, when the first began, and for how long at least one was under way. */
function measured(attempts: Iterable<TimedAttempt>) {
  let [requests, workMs, beganAt, until] = [0, 0, 0, 0];
  for (const attempt of attempts) {
    const end = attempt.from + durationOf(attempt);
    if (requests === 0) [beganAt, until] = [attempt.from, attempt.from];
    requests += 1;
    workMs += Math.max(0, end - Math.max(until, attempt.from));
    until = Math.max(until, end);
  }
  return { requests, workMs, beganAt };
}

/** Places times on a line from which long breaks are cut. */
function createClock(beganAt: number, leastCutMs: number) {
  const cuts: Cut[] = [];
  let [cutMs, until] = [0, beganAt];
  return {
    cuts,
    place(from: number, ms: number): number {
      const gap = from - until;
      if (gap > leastCutMs) {
        cuts.push({ at: until - beganAt - cutMs, ms: gap });
        cutMs += gap;
      }
      until = Math.max(until, from + ms);
      return Math.max(0, from - beganAt - cutMs);
    },
    end: (): number => until - beganAt - cutMs,
  };
}

const emptyMark = (from: number, chunk: number): RequestMark => ({
  ...{ from, to: from, chunks: [chunk, chunk] },
  ...{ requests: 0, actions: 0, slowestMs: 0, meanMs: 0, notTaken: 0, unknown: 0 },
});

function withRequest(mark: RequestMark, attempt: TimedAttempt, from: number, ms: number): RequestMark {
  const end = endOf(attempt);
  const { chunk, actions } = attempt;
  const [first, last] = mark.chunks;
  return {
    from: mark.from,
    to: Math.max(mark.to, from + ms),
    chunks: [Math.min(first, chunk), Math.max(last, chunk)],
    requests: mark.requests + 1,
    actions: mark.actions + (end === "answered" ? actions : 0),
    slowestMs: Math.max(mark.slowestMs, ms),
    meanMs: (mark.meanMs * mark.requests + ms) / (mark.requests + 1),
    notTaken: mark.notTaken + (end === "not taken" ? 1 : 0),
    unknown: mark.unknown + (end === "unknown" ? 1 : 0),
  };
}

/** What was tried again, and after which waits. */
function createAgain() {
  const endedAt = new Map<number, number>();
  let [requests, waitedMs, longestMs] = [0, 0, 0];
  return {
    add(attempt: TimedAttempt, from: number, ms: number): void {
      const { chunk } = attempt;
      const before = endedAt.get(chunk);
      if (before !== undefined) {
        requests += 1;
        const wait = Math.max(0, from - before);
        waitedMs += wait;
        longestMs = Math.max(longestMs, wait);
      }
      // Most chunks are asked for once, and need no place here.
      if (endOf(attempt) === "answered") endedAt.delete(chunk);
      else endedAt.set(chunk, from + ms);
    },
    total: () => ({ requests, waitedMs, longestMs }),
  };
}
