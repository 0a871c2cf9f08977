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
export type RequestEnd = "answered" | "not taken" | "unknown";

/** Requests that follow each other, as one mark of a picture. Times are milliseconds from the beginning, without cuts. */
export interface RequestMark {
  readonly from: number;
  readonly to: number;
  /** The first and the last of their chunks. */
  readonly chunks: readonly [number, number];
  readonly requests: number;
  readonly actions: number;
  readonly slowestMs: number;
  readonly meanMs: number;
  /** The worst among them. */
  readonly end: RequestEnd;
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
interface EndCount {
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
  /** Answered actions a second, over equal parts of `busyMs`. */
  readonly rates: readonly number[];
  readonly ends: readonly EndCount[];
}

/** Marks and parts in a picture: more would be thinner than a line. */
const MOST_MARKS = 120;
const PARTS = 60;

/** Shorter breaks are shown as they are. */
const LEAST_CUT_MS = 10_000;

/** @param attempts in the order in which they began; read twice. Undefined where there were none. */
export function sendingTimes(attempts: () => Iterable<TimedAttempt>): SendingTimes | undefined {
  const { requests, workMs, beganAt } = measured(attempts());
  if (requests === 0) return undefined;
  const clock = createClock(beganAt, Math.max(LEAST_CUT_MS, workMs / 2));
  const marks = createMarks(Math.ceil(requests / MOST_MARKS));
  const again = createAgain();
  const ends = new Map<string, EndCount>();
  const answered: { readonly from: number; readonly to: number; readonly actions: number }[] = [];
  const lasted = new Float64Array(requests);
  let [at, slowestMs, slowestChunk] = [0, 0, 0];
  for (const attempt of attempts()) {
    if (at === requests) break; // another process has begun more since
    const ms = durationOf(attempt);
    const from = clock.place(attempt.from, ms);
    lasted[at] = ms;
    at += 1;
    if (ms > slowestMs || slowestChunk === 0) [slowestMs, slowestChunk] = [ms, attempt.chunk];
    marks.add(attempt, from, ms);
    again.add(attempt, from, ms);
    const key = `${attempt.class} ${attempt.httpStatus}`;
    const { class: kind, httpStatus } = attempt;
    ends.set(key, { class: kind, httpStatus, requests: (ends.get(key)?.requests ?? 0) + 1 });
    if (endOf(attempt) === "answered") answered.push({ from, to: from + ms, actions: attempt.actions });
  }
  const busyMs = clock.end();
  return {
    beganAt,
    busyMs,
    requests,
    answeredActions: answered.reduce((sum, { actions }) => sum + actions, 0),
    medianMs: lasted.toSorted()[Math.floor((requests - 1) / 2)] ?? 0,
    ...{ slowestMs, slowestChunk },
    again: again.total(),
    marks: marks.all(),
    cuts: clock.cuts,
    rates: ratesOf(answered, busyMs),
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

function createMarks(requestsOfMark: number) {
  const marks: (RequestMark & { totalMs: number })[] = [];
  return {
    add({ chunk, actions, ...attempt }: TimedAttempt, from: number, ms: number): void {
      const end = endOf(attempt);
      const last = marks.at(-1);
      const isNew = last === undefined || last.requests >= requestsOfMark;
      const before = isNew
        ? { from, to: from, chunks: [chunk, chunk] as const, requests: 0, actions: 0, slowestMs: 0, totalMs: 0 }
        : last;
      const [known, notTaken, unknown] = isNew
        ? (["answered", 0, 0] as const)
        : [last.end, last.notTaken, last.unknown];
      if (!isNew) marks.pop();
      const [requests, totalMs] = [before.requests + 1, before.totalMs + ms];
      marks.push({
        from: before.from,
        to: Math.max(before.to, from + ms),
        chunks: [Math.min(before.chunks[0], chunk), Math.max(before.chunks[1], chunk)],
        requests,
        actions: before.actions + (end === "answered" ? actions : 0),
        slowestMs: Math.max(before.slowestMs, ms),
        totalMs,
        meanMs: totalMs / requests,
        end: known === "unknown" || end === "answered" ? known : end,
        notTaken: notTaken + (end === "not taken" ? 1 : 0),
        unknown: unknown + (end === "unknown" ? 1 : 0),
      });
    },
    all: (): readonly RequestMark[] => marks.map(({ totalMs: _, ...mark }) => mark),
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

/** The actions of each request are spread over the time that it took. */
function ratesOf(
  answered: readonly { readonly from: number; readonly to: number; readonly actions: number }[],
  busyMs: number,
): readonly number[] {
  const partMs = Math.max(1, busyMs) / PARTS;
  const actions = new Float64Array(PARTS);
  for (const each of answered) {
    const to = Math.max(each.to, each.from + 1);
    for (let part = Math.floor(each.from / partMs); part < PARTS && part * partMs < to; part += 1) {
      const overlap = Math.min(to, (part + 1) * partMs) - Math.max(each.from, part * partMs);
      actions[part] = (actions[part] ?? 0) + (each.actions * overlap) / (to - each.from);
    }
  }
  return [...actions].map((sum) => (1000 * sum) / partMs);
}
