/** A random bad day: an input, a service with faults, and kills. */

import { stringify } from "csv-stringify/sync";
import fc, { type Arbitrary } from "fast-check";
import type { Action } from "../../../src/actions/actions.ts";
import { draftOf } from "../../../src/actions/draft.ts";
import { identityOf } from "../../../src/actions/identity.ts";
import { CRASH_POINTS, type CrashPoint } from "../../../src/disk/crash-points.ts";
import type { FaultRule, FaultScript } from "../../../src/sandbox/faults.ts";
import { historyArbitrary } from "../arbitraries.ts";
import type { Placed } from "./runs.ts";

export interface Trial {
  readonly history: readonly Action[];
  readonly files: readonly TrialFile[];
  readonly chunkSize: number;
  readonly lanes: number;
  readonly faults: FaultScript;
  /** The service rejects single actions. */
  readonly rejects: boolean;
  /** The first command that is killed, and how the next ones are. */
  readonly interruptions: readonly TrialInterruption[];
  readonly output: string | undefined;
  /** After a person has settled: `resume` rather than the same command. */
  readonly resumes: boolean;
  /** The person names the chunk also where only one is in doubt. */
  readonly namesChunk: boolean;
}

interface TrialFile {
  readonly name: string;
  /** How many actions of the history it holds. */
  readonly actions: number;
}

export type TrialInterruption =
  /** A share of the time that the command takes. */
  | { readonly kind: "moment"; readonly share: number }
  | { readonly kind: "request"; readonly request: number; readonly when: "before" | "after" }
  | { readonly kind: "boundary"; readonly point: CrashPoint; readonly time: number }
  | { readonly kind: "none" };

/**
 * The trial that a seed stands for. What a day costs is how often a process starts: after each kill, and to settle. A short
 * day is the same one with the first kill alone, which is one at a boundary, or with the last, which is mostly one from outside.
 */
export function trialOf(seed: number, days: "short" | "whole"): Trial {
  const [trial] = fc.sample(trialArbitrary(seed), { seed, numRuns: 1 });
  if (trial === undefined) throw new Error("no trial");
  if (days === "whole") return trial;
  return {
    ...trial,
    interruptions: seed % 2 === 0 ? trial.interruptions.slice(-1) : trial.interruptions.slice(0, 1),
  };
}

/** Boundaries that lie between chunks, where nothing is in flight. */
const QUIET: readonly CrashPoint[] = ["planned", "entered", "rejects written", "ended"];
/** Those that a run of one chunk also passes without anything in flight. */
const QUIET_ALONE: readonly CrashPoint[] = [...QUIET, "settled", "projected"];

function trialArbitrary(seed: number): Arbitrary<Trial> {
  const rejects = seed % 6 === 0;
  const history = fc
    .record({
      forCells: fc.boolean(),
      byNftId: fc.boolean(),
      timed: fc.nat({ max: 3 }).map((chance) => chance > 0),
      lanes: fc.constantFrom(1, 1, 2, 4, 16),
    })
    .chain(({ forCells, byNftId, timed, lanes }) =>
      fc.record({
        forCells: fc.constant(forCells),
        lanes: fc.constant(lanes),
        // An nftId alone says no lane.
        history: historyArbitrary({ maxLength: 120, forCells, byNftId: byNftId && !rejects && lanes === 1 })
          .filter((actions) => actions.length >= 5)
          .map(withResalesByTicketId)
          .map((actions) => withoutRepeats(withRisingTimes(actions, timed))),
      }),
    );
  return history.chain(({ forCells, history, lanes }) =>
    fc
      .record({
        lanes: fc.constant(lanes),
        files: filesArbitrary(history.length, forCells ? ["ndjson", "csv"] : ["ndjson"]),
        chunkSize: chunkSizeArbitrary(history.length, rejects),
        output: fc.constantFrom(undefined, undefined, "out.ndjson", "out.csv"),
        resumes: fc.boolean(),
        namesChunk: fc.boolean(),
      })
      .chain((rest) => {
        const chunks = Math.ceil(history.length / rest.chunkSize);
        return fc
          .record({
            faults: faultsArbitrary(chunks, rejects),
            interruptions: interruptionsArbitrary(seed, chunks, rejects, lanes),
          })
          .map((more) => ({ ...rest, ...more, history, rejects }));
      }),
  );
}

/** Scans and resales have times that rise, or none. */
function withRisingTimes(actions: readonly Action[], timed: boolean): readonly Action[] {
  return actions.map(({ action, data }, at) => {
    if (action !== "scannedTicket" && action !== "resoldTicket") return { action, data };
    const { orderTime: _, ...rest } = data;
    return { action, data: timed ? { ...rest, orderTime: 1_700_000_000 + 61 * at } : rest };
  });
}

/**
 * Two actions that nothing tells apart are one to the program. Of resales without times each ticket has one, since without
 * the others the next might be to who has it.
 */
function withoutRepeats(actions: readonly Action[]): readonly Action[] {
  const seen = new Set<string>();
  return actions.filter((action) => {
    const isResale = action.action === "resoldTicket" && action.data.orderTime === undefined;
    const { subject, mark } = identityOf(draftOf(action.action, action.data));
    const identity = JSON.stringify([subject, action.action, isResale ? "" : mark]);
    return !seen.has(identity) && seen.add(identity);
  });
}

/**
 * The program can't know that a ticketId and an nftId are one ticket, so it can't follow a holder through both: resales
 * name the ticket as its sale did.
 */
function withResalesByTicketId(actions: readonly Action[]): readonly Action[] {
  const events: string[] = [];
  const sold = new Map<string, number>();
  const ticketIds = new Map<string, string>();
  return actions.map(({ action, data }) => {
    const { eventId, ticketId, nftId, ...rest } = data;
    if (action === "newEvent" && eventId != null) events.push(eventId);
    if (action === "soldTicket" && eventId != null && ticketId != null) {
      const token = (sold.get(eventId) ?? 0) + 1;
      sold.set(eventId, token);
      ticketIds.set(`SANDBOX-${events.indexOf(eventId) + 1}-${token}`, ticketId);
    }
    if (action !== "resoldTicket" || nftId == null) return { action, data };
    return { action, data: { ticketId: ticketIds.get(nftId) ?? "", ...rest } };
  });
}

function filesArbitrary(length: number, formats: readonly string[]): Arbitrary<readonly TrialFile[]> {
  return fc
    .array(fc.record({ share: fc.integer({ min: 1, max: 5 }), format: fc.constantFrom(...formats) }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((parts) => {
      const shares = parts.reduce((sum, { share }) => sum + share, 0);
      let left = length;
      const files = parts.map(({ share, format }, at) => {
        const actions = at === parts.length - 1 ? left : Math.min(left, Math.floor((length * share) / shares));
        left -= actions;
        return { name: `day-${at + 1}.${format}`, actions };
      });
      return files.filter(({ actions }) => actions > 0);
    });
}

function chunkSizeArbitrary(length: number, rejects: boolean): Arbitrary<number> {
  const small = fc.integer({ min: Math.ceil(length / 12), max: Math.max(1, Math.ceil(length / 2)) });
  const whole = fc.constant(5000);
  return rejects ? fc.oneof(small, whole) : fc.oneof({ weight: 5, arbitrary: small }, { weight: 1, arbitrary: whole });
}

function interruptionsArbitrary(
  seed: number,
  chunks: number,
  rejects: boolean,
  lanes: number,
): Arbitrary<readonly TrialInterruption[]> {
  const points = !rejects ? CRASH_POINTS : chunks === 1 && lanes === 1 ? QUIET_ALONE : QUIET;
  const time = fc.integer({ min: 1, max: Math.min(3, chunks) });
  const boundary = (point: CrashPoint): Arbitrary<TrialInterruption> =>
    (CRASHES_ONCE.has(point) ? fc.constant(1) : time).map((time) => ({ kind: "boundary", point, time }));
  // Each boundary is the first thing to happen in its turn.
  const first = boundary(points[Math.floor(seed / (rejects ? 6 : 1)) % points.length] ?? "planned");
  const request: Arbitrary<TrialInterruption> = fc.record({
    kind: fc.constant("request" as const),
    request: fc.integer({ min: 1, max: Math.min(4, chunks) }),
    when: fc.constantFrom("before", "after"),
  });
  const moment: Arbitrary<TrialInterruption> = fc.record({
    kind: fc.constant("moment" as const),
    share: fc
      .oneof(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 500, max: 1000 }))
      .map((share) => share / 1000),
  });
  const any = fc.oneof(
    ...(rejects
      ? []
      : [
          { weight: 4, arbitrary: moment },
          { weight: 3, arbitrary: request },
        ]),
    { weight: 2, arbitrary: fc.constantFrom(...points).chain(boundary) },
    { weight: 1, arbitrary: fc.constant<TrialInterruption>({ kind: "none" }) },
  );
  return fc.tuple(first, fc.array(any, { maxLength: 4 })).map(([head, tail]) => [head, ...tail]);
}

/** A command passes these once. */
const CRASHES_ONCE: ReadonlySet<CrashPoint> = new Set([...QUIET, "listed"]);

// ---- faults ----

function faultsArbitrary(chunks: number, rejects: boolean): Arbitrary<FaultScript> {
  const request = fc.integer({ min: 1, max: chunks + 2 });
  const times = fc.constantFrom(1, 1, 2);
  const on = (extra: object = {}) => request.map((from) => ({ from, ...extra }));
  const rule = (fault: Arbitrary<object>, extra: object = {}): Arbitrary<FaultRule> =>
    fc.tuple(fault, on(extra), times).map(([some, on, times]) => ({ ...some, on, times }) as FaultRule); // parsed by the sandbox's types
  const processed = fc.constantFrom("none", "all");
  const harmless: readonly Arbitrary<FaultRule>[] = [
    rule(fc.integer({ min: 1, max: 30 }).map((ms) => ({ fault: "latency", ms }))),
    rule(fc.constant({ fault: "status", status: 429, retryAfter: 0 })),
    rule(fc.constant({ fault: "status", status: 403, body: { message: "Forbidden" } })),
    ...(rejects ? [] : [rule(fc.constant({ fault: "status", status: 413 }), { itemsOver: 1 })]),
    rule(
      fc.constant({
        fault: "changed",
        items: { every: 1 },
        with: { requestId: "4711" },
        top: { with: { version: 2 } },
      }),
    ),
    rule(fc.record({ fault: fc.constant("close"), announce: fc.boolean() })),
  ];
  // Halves of what was one chunk would have something in flight between them.
  const tooLarge = { fault: "status", status: 413 } as const;
  const rejecting: readonly Arbitrary<FaultRule>[] = [
    fc.record({
      fault: fc.constant("failure-items"),
      items: fc.constantFrom({ count: 1 }, { count: 3 }, { every: 4 }),
      on: fc.record({ request: fc.integer({ min: 1, max: chunks }) }),
    }),
    ...(chunks > 1 ? [fc.integer({ min: 1, max: chunks }).map((request) => ({ ...tooLarge, on: { request } }))] : []),
  ];
  const doubtful: readonly Arbitrary<FaultRule>[] = [
    rule(fc.record({ fault: fc.constant("status"), status: fc.constantFrom(500, 502, 503, 504, 408), processed })),
    rule(fc.record({ fault: fc.constant("status"), status: fc.constantFrom(400, 404, 409, 422), processed })),
    rule(fc.record({ fault: fc.constant("status"), status: fc.constantFrom(302, 307), processed })),
    rule(
      fc.record({
        fault: fc.constant("drop"),
        when: fc.constantFrom("at-headers", "before", "after"),
        reset: fc.boolean(),
      }),
    ),
    rule(
      fc.record({
        fault: fc.constant("cut"),
        framing: fc.constantFrom("length", "chunked", "clean"),
        share: fc.constantFrom(0, 0.3, 0.9),
      }),
    ),
    rule(fc.record({ fault: fc.constant("count"), by: fc.constantFrom(-1, 1) })),
    rule(fc.constant({ fault: "shuffle" })),
    rule(
      fc.record({
        fault: fc.constant("changed"),
        items: fc.constantFrom({ count: 1 }, { every: 2 }),
        with: fc.constantFrom(
          { actionPromise: "" },
          { action: "another" },
          { eventId: "another", ticketId: "another" },
        ),
      }),
    ),
    rule(fc.constant({ fault: "changed", items: { count: 1 }, without: ["actionPromise"] })),
    rule(fc.constant({ fault: "status", status: 200, body: "<html>" })),
    rule(fc.record({ fault: fc.constant("drip"), bytes: fc.constantFrom(40, 400), everyMs: fc.constant(1) })),
  ];
  const rules = rejects ? [...harmless, ...rejecting, ...rejecting, ...rejecting] : [...harmless, ...doubtful];
  const first = fc.oneof(...rejecting);
  const some = fc.array(fc.oneof(...rules), { maxLength: 2 });
  return fc.record({
    seed: fc.nat(),
    rules: rejects ? fc.tuple(first, some).map(([one, more]) => [one, ...more]) : some,
  });
}

// ---- input ----

/** The input's files with their text, and where each action stands. */
export function writeTrial({ history, files }: Trial): {
  readonly texts: ReadonlyMap<string, string>;
  readonly placed: readonly Placed[];
} {
  const texts = new Map<string, string>();
  const placed: Placed[] = [];
  let from = 0;
  for (const { name, actions } of files) {
    const part = history.slice(from, from + actions);
    from += actions;
    const isTable = name.endsWith(".csv");
    texts.set(name, isTable ? toTable(part) : part.map((action) => `${JSON.stringify(action)}\n`).join(""));
    for (const [at, action] of part.entries()) placed.push({ source: name, line: at + (isTable ? 2 : 1), action });
  }
  return { texts, placed };
}

/** One row an action, on one line each: no cell of such a history holds a line break. */
function toTable(actions: readonly Action[]): string {
  const rows = actions.map(({ action, data }) => ({ action, ...data }));
  const columns = [...new Set(["action", ...rows.flatMap((row) => Object.keys(row))])];
  return stringify(
    rows.map((row) => columns.map((column) => toCell((row as Readonly<Record<string, unknown>>)[column]))), // an own key
    { header: true, columns },
  );
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
