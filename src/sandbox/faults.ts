/** Faults on demand: which requests go wrong, and how. Deterministic from the script's seed. */

import { hash } from "node:crypto";
import { z } from "zod";
import { Failure } from "../failure.ts";
import { PROMISE_STATUSES } from "./view.ts";

const count = z.int().nonnegative();
const milliseconds = count.max(3_600_000);

/** Which items of a request a fault touches: by 0-based place, every n-th, some at random, or a share of them at random. */
const itemsSchema = z.union([
  z.array(count),
  z.strictObject({ every: z.int().positive() }),
  z.strictObject({ count: z.int().positive() }),
  z.strictObject({ probability: z.number().min(0).max(1) }),
]);

/** Which requests a rule is for. All conditions that are given must hold; none means every request. */
const onSchema = z.strictObject({
  /** The n-th request to /stream with a valid key, from 1, counted since the faults were set. */
  request: z.union([z.int().positive(), z.array(z.int().positive()).min(1)]).optional(),
  from: z.int().positive().optional(),
  to: z.int().positive().optional(),
  every: z.int().positive().optional(),
  probability: z.number().min(0).max(1).optional(),
  bytesOver: count.optional(),
  itemsOver: count.optional(),
  /** A request that holds an action of this name / about this event or ticket. */
  action: z.string().optional(),
  eventId: z.string().optional(),
  ticketId: z.string().optional(),
});

/** How many items are processed before the fault, the first N of them for a number. */
const processedSchema = z.union([z.literal("none"), z.literal("all"), count]);

const dateForm = z.enum(["imf", "rfc850", "asctime"]);

/**
 * A byte order mark; trailers behind chunks; HTTP/1.0; a length that is too short or too long; a second answer at once,
 * which may be a 429; or one that is late.
 */
const FRAMINGS = [
  "bom",
  "trailers",
  "http-1.0",
  "length-short",
  "length-long",
  "twice",
  "then-429",
  "late-429",
  "late-twice",
] as const;

/** A rule is for a fault, for some requests, and for so many times; the rest of its keys is the fault's own. */
const ruleOf = <Fault extends string, Shape extends z.ZodRawShape>(fault: Fault, shape: Shape) =>
  z.strictObject({ fault: z.literal(fault), on: onSchema.optional(), times: z.int().positive().optional(), ...shape });

const items = itemsSchema.optional();
const processed = processedSchema.optional();
const LOCATION = z.string().regex(/^[!-~]+$/);
const CODINGS = z.string().regex(/^[\w, -]*$/);
const anything = z.unknown().optional();

const ruleSchema = z.discriminatedUnion("fault", [
  // Adds to whatever else happens to the request.
  ruleOf("latency", { ms: z.union([milliseconds, z.tuple([milliseconds, milliseconds])]) }),
  // Another status. Without a body a 2xx gives the ordinary answer, any other a short message.
  ruleOf("status", {
    status: z.int().min(200).max(599),
    processed,
    body: anything,
    headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[ -~]*$/)).optional(),
    /** In seconds, or as a date so many seconds ahead. */
    retryAfter: z.union([count, z.strictObject({ inSeconds: z.int(), form: dateForm.optional() })]).optional(),
    /** Shifts the answer's Date, and a Retry-After date with it. */
    clockSkewSeconds: z.int().optional(),
  }),
  ruleOf("redirect", {
    status: z.literal([301, 302, 303, 307, 308]).optional(),
    location: LOCATION.optional(),
    processed,
  }),
  // The connection ends without an answer: when the headers are in, when the body is in, or after processing.
  ruleOf("drop", { when: z.enum(["at-headers", "before", "after"]), processed, reset: z.boolean().optional() }),
  ruleOf("hang", { processed }),
  // The answer ends early: announced by its length, in chunks without their end, or cleanly.
  ruleOf("cut", {
    share: z.number().min(0).max(0.999).optional(),
    framing: z.enum(["length", "chunked", "clean"]).optional(),
  }),
  ruleOf("count", { by: z.int().refine((by) => by !== 0, "is 0, which changes nothing") }),
  ruleOf("shuffle", {}),
  // These items are not processed; `body` is what stands in their place.
  ruleOf("failure-items", { items, body: anything }),
  // These items are processed, and `body` stands in their place.
  ruleOf("replaced-items", { items, body: z.unknown() }),
  // These items keep their promise, beside another status.
  ruleOf("contradiction", { items, status: anything }),
  // `success` as ever, and `with` beside it, which denies it.
  ruleOf("denial", {
    where: z.enum(["top", "item"]).optional(),
    items,
    with: z.record(z.string(), z.unknown()).optional(),
  }),
  // Another value as the promise; a text may be repeated to so many characters.
  ruleOf("promise-value", { items, value: z.unknown(), length: z.int().positive().max(32_000_000).optional() }),
  // The ordinary answer; what is said of these promises from then on, whatever their age.
  ruleOf("promise-status", { items, status: z.enum(PROMISE_STATUSES).optional() }),
  ruleOf("missing-promise", { items, empty: z.boolean().optional() }),
  ruleOf("duplicate-promise", { items, of: z.enum(["neighbour", "earlier-request"]).optional() }),
  ruleOf("echo-mismatch", { items, field: z.enum(["action", "id"]).optional(), value: anything }),
  ruleOf("extra-keys", {}),
  ruleOf("duplicate-key", { where: z.enum(["top", "item"]).optional() }),
  // The answer's own status; without `status` it has none.
  ruleOf("answer-status", { status: anything }),
  // 1xx before the ordinary answer.
  ruleOf("interim", { statuses: z.array(z.int().min(100).max(199)).optional() }),
  // The ordinary answer under a Content-Encoding, `announce` being what the header says.
  ruleOf("encoding", {
    encoding: z.enum(["identity", "gzip", "deflate", "br", "zstd"]).optional(),
    announce: CODINGS.optional(),
  }),
  // The ordinary answer as other bytes on the connection.
  ruleOf("framing", { as: z.enum(FRAMINGS) }),
  // Another status before the body is read; the connection stays. A 2xx has `items` bare failure items, which only a
  // guess can give. What comes of the body then may be processed all the same.
  ruleOf("early-answer", {
    status: z.int().min(200).max(599).optional(),
    items: z.int().nonnegative().max(5000).optional(),
    processed: z.enum(["none", "all"]).optional(),
  }),
  // A body that does not end before the client goes, or `mebibytes` are written.
  ruleOf("endless", { mebibytes: z.int().positive().max(65_536).optional() }),
  ruleOf("drip", { bytes: z.int().positive().optional(), everyMs: milliseconds.optional() }),
  // 413 before the body is read; then the connection is closed on whatever the client is still writing.
  ruleOf("too-large", {}),
  ruleOf("not-json", { body: z.string().optional() }),
  // The ordinary answer; then the kept-alive connection is closed, announced or not.
  ruleOf("close", { announce: z.boolean().optional(), afterMs: milliseconds.optional() }),
]);

const scriptSchema = z.strictObject({
  seed: z.union([z.int(), z.string()]).optional(),
  rules: z.array(ruleSchema).max(1000),
});

export type FaultRule = z.infer<typeof ruleSchema>;
export type FaultScript = z.infer<typeof scriptSchema>;
export type Fault = Exclude<FaultRule, { fault: "latency" }>;
/** One that strikes when the body is read. */
export type LateFault = Exclude<Fault, { fault: "too-large" | "early-answer" }>;
export type ItemSelector = z.infer<typeof itemsSchema>;
export type Processed = z.infer<typeof processedSchema>;

const NO_FAULTS: FaultScript = { rules: [] };

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
  if (parsed.success) return parsed.data;
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

/** The names of all faults. */
export const FAULTS: readonly string[] = ruleSchema.options.map((option) => option.shape.fault.value);

export function badScript(place: string, lines: readonly string[]): Failure {
  return new Failure("usage", [`The fault script ${place} can't be used:`, ...lines].join("\n  "), {
    hint: "docs/sandbox.md describes every fault.",
  });
}

/** What is known of a request; before its body is read, only the first two. */
export interface RequestFacts {
  /** From 1, counted since the faults were set. */
  readonly request: number;
  readonly bytes: number;
  readonly items?: readonly unknown[];
}

export interface ChosenFault {
  /** Wait this long before anything else, in milliseconds. */
  readonly latencyMs: number;
  readonly fault: LateFault | undefined;
  /** Numbers from 0 to below 1, the same ones for the same seed, request and rule. */
  readonly random: () => number;
}

export type Faults = ReturnType<typeof openFaults>;

/** Faults of one running sandbox: a script, and how often each of its rules has been used. */
export function openFaults(initial: FaultScript = NO_FAULTS) {
  let script = initial;
  let requests = 0;
  let used: number[] = [];

  function applies(at: number, rule: FaultRule, facts: RequestFacts): boolean {
    if (rule.times !== undefined && (used[at] ?? 0) >= rule.times) return false;
    return matches(rule.on ?? {}, facts, () => randomsOf(script.seed, facts.request, at, "on")());
  }
  const use = (at: number): void => {
    used[at] = (used[at] ?? 0) + 1;
  };

  return {
    get script(): FaultScript {
      return script;
    },
    get requests(): number {
      return requests;
    },
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
    /** The fault that strikes before the body is read, if any. */
    chooseEarly(facts: RequestFacts): Fault | undefined {
      for (const [at, rule] of script.rules.entries()) {
        if (!isEarly(rule) || !applies(at, rule, facts)) continue;
        use(at);
        return rule;
      }
      return undefined;
    },
    /** The latency of all rules that apply, and the first other fault that does. */
    choose(facts: RequestFacts): ChosenFault {
      let latencyMs = 0;
      for (const [at, rule] of script.rules.entries()) {
        if (isEarly(rule) || !applies(at, rule, facts)) continue;
        use(at);
        const random = randomsOf(script.seed, facts.request, at, "do");
        if (rule.fault !== "latency") return { latencyMs, fault: rule, random };
        latencyMs += typeof rule.ms === "number" ? rule.ms : rule.ms[0] + random() * (rule.ms[1] - rule.ms[0]);
      }
      return { latencyMs, fault: undefined, random: randomsOf(script.seed, facts.request, -1, "do") };
    },
  };
}

function isEarly(rule: FaultRule): rule is Extract<Fault, { fault: "drop" | "too-large" | "early-answer" }> {
  return (
    rule.fault === "too-large" || rule.fault === "early-answer" || (rule.fault === "drop" && rule.when === "at-headers")
  );
}

function matches(on: z.infer<typeof onSchema>, facts: RequestFacts, random: () => number): boolean {
  const { request, bytes, items } = facts;
  if (on.request !== undefined && ![on.request].flat().includes(request)) return false;
  if (on.from !== undefined && request < on.from) return false;
  if (on.to !== undefined && request > on.to) return false;
  if (on.every !== undefined && request % on.every !== 0) return false;
  if (on.bytesOver !== undefined && bytes <= on.bytesOver) return false;
  if (on.itemsOver !== undefined && (items === undefined || items.length <= on.itemsOver)) return false;
  for (const name of ["action", "eventId", "ticketId"] as const) {
    const wanted = on[name];
    if (wanted !== undefined && items?.some((item) => partOf(item, name) === wanted) !== true) return false;
  }
  return on.probability === undefined || random() < on.probability;
}

function partOf(item: unknown, name: "action" | "eventId" | "ticketId"): unknown {
  if (typeof item !== "object" || item === null) return undefined;
  const { action, data } = item as { readonly action?: unknown; readonly data?: unknown }; // read only
  if (name === "action") return action;
  return typeof data === "object" && data !== null ? (data as Record<string, unknown>)[name] : undefined; // read only
}

/** The 0-based places that a selector means in a request of `length` items; one at random without a selector. */
export function selectItems(selector: ItemSelector | undefined, length: number, random: () => number): Set<number> {
  if (Array.isArray(selector)) return new Set(selector.filter((place) => place < length));
  const places = Array.from({ length }, (_, place) => place);
  if (selector !== undefined && "every" in selector)
    return new Set(places.filter((place) => (place + 1) % selector.every === 0));
  if (selector !== undefined && "probability" in selector)
    return new Set(places.filter(() => random() < selector.probability));
  return new Set(shuffled(places, random).slice(0, selector?.count ?? 1));
}

/**
 * The answer's items as a fault makes them; those faults that leave the items alone change nothing.
 *
 * @param earlierPromise one that an earlier request was given.
 */
export function tamper(
  fault: Fault,
  items: readonly object[],
  random: () => number,
  earlierPromise?: string,
): readonly unknown[] {
  const touched = (
    selector: ItemSelector | undefined,
    change: (item: Record<string, unknown>, at: number) => unknown,
  ) => {
    const places = selectItems(selector, items.length, random);
    return items.map((item, at) => (places.has(at) ? change({ ...item }, at) : item));
  };
  switch (fault.fault) {
    case "count":
      return fault.by < 0 ? items.slice(0, fault.by) : [...items, ...Array(fault.by).fill(items.at(-1) ?? {})];
    case "shuffle":
      return shuffledAnew(items, random);
    case "failure-items":
      return touched(fault.items, () => ("body" in fault ? fault.body : { status: "error" }));
    case "replaced-items":
      return touched(fault.items, () => fault.body);
    case "contradiction":
      return touched(fault.items, (item) => ({ ...item, status: "status" in fault ? fault.status : "error" }));
    case "denial":
      return fault.where === "top" ? items : touched(fault.items, (item) => ({ ...item, ...denialBy(fault) }));
    case "promise-value":
      return touched(fault.items, (item) => ({ ...item, actionPromise: repeated(fault.value, fault.length) }));
    case "missing-promise":
      return touched(fault.items, ({ actionPromise: _, ...item }) =>
        fault.empty ? { ...item, actionPromise: "" } : item,
      );
    case "duplicate-promise":
      return touched(fault.items, (item, at) => {
        if (fault.of === "earlier-request")
          return earlierPromise === undefined ? item : { ...item, actionPromise: earlierPromise };
        const other = items[at === 0 ? 1 : at - 1];
        return other !== undefined && "actionPromise" in other ? { ...item, actionPromise: other.actionPromise } : item;
      });
    case "echo-mismatch":
      return touched(fault.items, (item) => withOtherEcho(item, fault.field ?? "id", fault));
    case "extra-keys":
      return items.map((item) => ({ ...item, requestId: "4711", details: { queued: true } }));
    default:
      return items;
  }
}

/** What stands beside a `success` that it denies. */
export const denialBy = ({ with: keys }: Extract<Fault, { fault: "denial" }>): Readonly<Record<string, unknown>> =>
  keys ?? { error: { message: "Not processed" } };

/** A text as often as it fills so many characters. */
function repeated(value: unknown, length: number | undefined): unknown {
  return typeof value === "string" && length !== undefined ? "".padEnd(length, value) : value;
}

function withOtherEcho(
  item: Record<string, unknown>,
  field: "action" | "id",
  { value }: { readonly value?: unknown },
): Record<string, unknown> {
  const name = field === "action" ? "action" : ["ticketId", "nftId", "eventId"].find((id) => id in item);
  if (name === undefined) return item;
  if (value !== undefined) return { ...item, [name]: value };
  return { ...item, [name]: name === "action" && item.action !== "newEvent" ? "newEvent" : `${item[name]}-other` };
}

/** Shuffles until something stands elsewhere, where that can be. */
function shuffledAnew<T>(items: readonly T[], random: () => number): readonly T[] {
  const mixed = shuffled(items, random);
  const first = mixed[0];
  if (items.length > 1 && first !== undefined && mixed.every((item, at) => item === items[at]))
    return [...mixed.slice(1), first];
  return mixed;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, by: random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ item }) => item);
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

/** The three date forms of HTTP, all of which a receiver must understand. */
export function httpDate(at: Date, form: z.infer<typeof dateForm> = "imf"): string {
  const imf = at.toUTCString();
  const [, day = "", month = "", year = "", time = ""] = imf.split(" ");
  if (form === "imf") return imf;
  const weekday = at.toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" });
  if (form === "rfc850") return `${weekday}, ${day}-${month}-${year.slice(-2)} ${time} GMT`;
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}
