/** Faults on demand: which requests go wrong, and how. Deterministic from the script's seed. */

import { hash } from "node:crypto";
import { z } from "zod";
import { Failure } from "../failure.ts";
import { readItem } from "./item.ts";
import { type Exchange, FAULT_KINDS } from "./misbehave.ts";

/** Which requests a rule is for. All conditions that are given must hold; none means every request. */
const onSchema = z.strictObject({
  /** The n-th request to /stream with a valid key, from 1, counted since the faults were set. */
  request: z.union([z.int().positive(), z.array(z.int().positive()).min(1)]).optional(),
  from: z.int().positive().optional(),
  to: z.int().positive().optional(),
  every: z.int().positive().optional(),
  probability: z.number().min(0).max(1).optional(),
  bytesOver: z.int().nonnegative().optional(),
  itemsOver: z.int().nonnegative().optional(),
  /** A request that holds an action of this name / about this event or ticket. */
  action: z.string().optional(),
  eventId: z.string().optional(),
  ticketId: z.string().optional(),
});

type FaultKinds = typeof FAULT_KINDS;

/** A rule is for a fault, for some requests, and for so many times; the rest of its keys is the fault's own. */
export type FaultRule = {
  [Name in keyof FaultKinds]: {
    readonly fault: Name;
    readonly on?: z.infer<typeof onSchema> | undefined;
    readonly times?: number | undefined;
  } & z.infer<z.ZodObject<FaultKinds[Name]["shape"]>>;
}[keyof FaultKinds];

export interface FaultScript {
  readonly seed?: number | string | undefined;
  readonly rules: readonly FaultRule[];
}

/** The names of all faults. */
export const FAULTS = Object.keys(FAULT_KINDS) as readonly (keyof FaultKinds)[]; // the keys of a constant object literal

const ruleOf = (fault: keyof FaultKinds) =>
  z.strictObject({
    fault: z.literal(fault),
    on: onSchema.optional(),
    times: z.int().positive().optional(),
    ...FAULT_KINDS[fault].shape,
  });
type Rule = ReturnType<typeof ruleOf>;

const scriptSchema = z.strictObject({
  seed: z.union([z.int(), z.string()]).optional(),
  rules: z.array(z.discriminatedUnion("fault", FAULTS.map(ruleOf) as [Rule, ...Rule[]])).max(1000), // there are faults
});

/**
 * Checks a fault script.
 *
 * @param place Named in the error.
 * @param whereOf where something of the script stands, for the error.
 * @throws Failure `usage` with every fault of the script.
 */
export function parseFaultScript(
  value: unknown,
  place: string,
  whereOf: (path: readonly PropertyKey[]) => string = () => "",
): FaultScript {
  const parsed = scriptSchema.safeParse(value);
  if (parsed.success) return parsed.data as FaultScript; // each rule has the shape of its kind
  throw badScript(place, toLines(parsed.error, whereOf));
}

function toLines(error: z.ZodError, whereOf: (path: readonly PropertyKey[]) => string): readonly string[] {
  return error.issues.map((issue) => {
    const path = issue.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
    const message =
      issue.code === "invalid_union" && issue.path.at(-1) === "fault"
        ? `is not one of ${FAULTS.join(", ")}`
        : issue.message;
    return `${whereOf(issue.path)}${path.replace(/^\./, "") || "the script"}: ${message}`;
  });
}

export function badScript(place: string, lines: readonly string[]): Failure {
  return new Failure("usage", [`The fault script ${place} can't be used:`, ...lines].join("\n  "), {
    hint: "docs/reference.md#the-sandbox describes every fault.",
  });
}

/** What is known of a request; before its body is read, only the first two. */
export interface RequestFacts {
  /** From 1, counted since the faults were set. */
  readonly request: number;
  readonly bytes: number;
  readonly items?: readonly unknown[];
}

export type Faults = ReturnType<typeof openFaults>;

/** Faults of one running sandbox: a script, and how often each of its rules has been used. */
export function openFaults(initial: FaultScript = { rules: [] }) {
  let script = initial;
  let requests = 0;
  let used: number[] = [];

  function strikes(at: number, rule: FaultRule, facts: RequestFacts): boolean {
    if (isEarly(rule) !== (facts.items === undefined) || (used[at] ?? 0) >= (rule.times ?? Infinity)) return false;
    if (!matches(rule.on ?? {}, facts, randomsOf(script.seed, facts.request, at, "on"))) return false;
    used[at] = (used[at] ?? 0) + 1;
    return true;
  }

  return {
    current: () => ({ requests, script }),
    /** Puts another script in place; requests are counted from 1 again. */
    set(next: FaultScript): void {
      script = next;
      requests = 0;
      used = [];
    },
    /** Counts a request; returns its number. */
    countRequest(): number {
      requests += 1;
      return requests;
    },
    /**
     * The latency of all rules that strike the request, and the first other rule that does. Before the body is read, when no
     * items are known, these are other rules than after it.
     */
    choose(facts: RequestFacts) {
      let latencyMs = 0;
      const names: string[] = [];
      for (const [at, rule] of script.rules.entries()) {
        if (!strikes(at, rule, facts)) continue;
        names.push(rule.fault);
        const random = randomsOf(script.seed, facts.request, at, "do");
        if (rule.fault !== "latency") return { latencyMs, names, fault: { rule, random } };
        latencyMs += typeof rule.ms === "number" ? rule.ms : rule.ms[0] + random() * (rule.ms[1] - rule.ms[0]);
      }
      return { latencyMs, names };
    },
  };
}

/** Answers as the rule's fault does. */
export function misbehave(rule: FaultRule, exchange: Exchange): void | Promise<void> {
  return FAULT_KINDS[rule.fault].answer(rule as never, exchange); // a rule has the shape of its kind
}

function isEarly(rule: FaultRule): boolean {
  return (
    rule.fault === "too-large" || rule.fault === "early-answer" || (rule.fault === "drop" && rule.when === "at-headers")
  );
}

function matches(on: z.infer<typeof onSchema>, facts: RequestFacts, random: () => number): boolean {
  const { request, bytes, items = [] } = facts;
  const holds = (wanted: string | undefined, part: (item: ReturnType<typeof readItem>) => string | null | undefined) =>
    wanted === undefined || items.some((item) => part(readItem(item)) === wanted);
  return (
    (on.request === undefined || [on.request].flat().includes(request)) &&
    request >= (on.from ?? 1) &&
    request <= (on.to ?? Number.POSITIVE_INFINITY) &&
    request % (on.every ?? 1) === 0 &&
    bytes > (on.bytesOver ?? -1) &&
    items.length > (on.itemsOver ?? -1) &&
    holds(on.action, ({ action }) => action) &&
    holds(on.eventId, ({ ids }) => ids.eventId) &&
    holds(on.ticketId, ({ ids }) => ids.ticketId) &&
    (on.probability === undefined || random() < on.probability)
  );
}

/** Mulberry32, started from a hash, so that neighbouring requests get unrelated numbers. */
function randomsOf(seed: number | string = 1, ...parts: readonly (number | string)[]): () => number {
  let state = hash("sha256", JSON.stringify([String(seed), ...parts]), "buffer").readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
