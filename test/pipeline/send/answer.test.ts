/** What an answer means (docs/guarantees.md), line by line and fault by fault: what the service took, how the command ends, what the ledger knows, and what the next same command does. */

import { describe, expect, test } from "vitest";
import { FAULTS } from "../../../src/sandbox/faults.ts";
import { newEvent, sale } from "../../support/actions.ts";
import {
  type Done,
  expectNothingDoubled,
  type Field,
  type Options,
  openField,
  processedBy,
} from "../../support/context.ts";
import { testEach } from "../../support/walks.ts";

/** Six actions: in chunks of two they are three requests, [E T1] [T2 T3] [T4 T5]. */
const INPUT = [newEvent(), ...["T1", "T2", "T3", "T4", "T5"].map((ticketId) => sale(ticketId))];
const ALL = "E T1 T2 T3 T4 T5";

interface Row {
  readonly name: string;
  /** Strikes the second request unless `on` says otherwise. */
  readonly fault: object | readonly object[];
  readonly config?: string;
  readonly options?: Partial<Options<"stream">>;
  readonly exit: number;
  /** What the service has accepted when the command ends; in brackets what it refused. */
  readonly took: string;
  /** Requests that were made. */
  readonly requests?: number;
  /** States of the chunks that are left, in the order of their actions. */
  readonly chunks: string;
  /** Outcomes as the summary counts them; what is missing is 0. */
  readonly counts: Partial<Record<"accepted" | "rejected" | "inDoubt" | "notSent", number>>;
  /** Ids in the promises file; in brackets what was rejected. */
  readonly promises: string;
  readonly said?: string | RegExp;
  /** The same command again, on a service without faults: its exit code and what the service has accepted after it. */
  readonly again: readonly [number, string];
}

const doubt = (name: string, fault: object, took: string, more: Partial<Row> = {}): Row => ({
  name,
  fault,
  exit: 6,
  took,
  requests: 2,
  chunks: "answered, in doubt, planned",
  counts: { accepted: 2, inDoubt: 2, notSent: 2 },
  promises: "E T1",
  said: "in doubt",
  // Nothing is sent before a person has settled it.
  again: [6, took],
  ...more,
});
const UNTAKEN = "E T1";
const TAKEN = "E T1 T2 T3";

const fine = (name: string, fault: object | readonly object[], more: Partial<Row> = {}): Row => ({
  name,
  fault,
  exit: 0,
  took: ALL,
  requests: 3,
  chunks: "answered, answered, answered",
  counts: { accepted: 6 },
  promises: ALL,
  again: [0, ALL],
  ...more,
});

const untaken = (name: string, fault: object, exit: number, more: Partial<Row> = {}): Row => ({
  name,
  fault,
  exit,
  took: UNTAKEN,
  requests: 2,
  chunks: "answered, planned, planned",
  counts: { accepted: 2, notSent: 4 },
  promises: UNTAKEN,
  again: [0, ALL],
  ...more,
});

const refused = (name: string, fault: object, took: string, more: Partial<Row> = {}): Row => ({
  name,
  fault,
  exit: 9,
  took,
  requests: 2,
  chunks: "answered, refused, planned",
  counts: { accepted: 2, inDoubt: 2, notSent: 2 },
  promises: UNTAKEN,
  said: "refused",
  again: [9, took],
  ...more,
});

const retried = { retries: 2 };
/** Long enough for every answer that does come, on the busiest machine. */
const TIMEOUT = "5s";
const status = (code: number, more: object = {}): object => ({ fault: "status", status: code, ...more });

/** What becomes of a run whose second chunk has an item in doubt: a chunk of its own, beside the one it was cut from. */
const ITEM_IN_DOUBT = {
  exit: 6,
  took: TAKEN,
  requests: 2,
  chunks: "answered, answered, in doubt, planned",
  counts: { accepted: 3, inDoubt: 1, notSent: 2 },
  promises: "E T1 T3",
  again: [6, TAKEN],
} as const satisfies Partial<Row>;

const SAME_PROMISE = { fault: "changed", with: { actionPromise: "the same" } };
const EXTRA = { requestId: "4711", details: { queued: true } };

const ROWS: readonly Row[] = [
  // ---- answered ----
  fine("no fault", []),
  fine("latency", { fault: "latency", ms: 20 }),
  fine("another 2xx", status(201)),
  fine("202", status(202)),
  fine("keys that nobody specified", { fault: "changed", items: { every: 1 }, with: EXTRA, top: { with: EXTRA } }),
  fine("a drip that ends in time", { fault: "drip", bytes: 50, everyMs: 1 }),
  fine("a connection closed after the answer, announced", { fault: "close", announce: true, on: {} }),
  fine("a connection closed after the answer, in silence", { fault: "close", on: {} }),
  {
    name: "a bare failure item",
    fault: { fault: "failure-items", items: [0] },
    exit: 4,
    took: "E T1 (T2) T3 T4 T5",
    requests: 3,
    chunks: "answered, answered, answered",
    counts: { accepted: 5, rejected: 1 },
    promises: "E T1 (T2) T3 T4 T5",
    said: "T2 rejected",
    // What was rejected was not taken, so it is new.
    again: [0, "E T1 (T2) T3 T4 T5 T2"],
  },
  fine("205 with the whole answer", status(205)),
  fine("206 with the whole answer", status(206)),
  fine("a byte order mark", { fault: "framing", as: "bom" }),
  fine("chunks with extensions and trailers", { fault: "framing", as: "trailers" }),
  fine("HTTP/1.0", { fault: "framing", as: "http-1.0" }),
  fine("each answer twice on the connection", { fault: "framing", as: "twice", on: {} }),
  fine("each answer with a 429 behind it", { fault: "framing", as: "then-429", on: {} }),
  ...(["twice", "then-429"] as const).map((as) =>
    fine(
      `each answer ${as} on a connection that is used again`,
      { fault: "framing", as, on: {} },
      { config: "freshConnection: false" },
    ),
  ),
  ...(["late-twice", "late-429"] as const).map((as) =>
    fine(`each answer ${as} on the connection, when the next request may be on its way`, {
      fault: "framing",
      as,
      on: {},
    }),
  ),
  ...[[100], [103], [102, 103, 100, 100], [150]].map((statuses) =>
    fine(`${statuses.join(", ")} before every answer`, { fault: "interim", statuses, on: {} }),
  ),
  ...(["gzip", "deflate", "br", "zstd"] as const).flatMap((encoding) => [
    fine(`an answer in ${encoding}, which nobody asked for`, { fault: "encoding", encoding }),
    fine(`an answer that says ${encoding} and is plain`, {
      fault: "encoding",
      encoding: "identity",
      announce: encoding,
    }),
  ]),
  fine("identity, said", { fault: "encoding", encoding: "identity" }),
  {
    name: "more rejections than maxRejected",
    fault: { fault: "failure-items", items: [0, 1] },
    config: "maxRejected: 1",
    exit: 9,
    took: "E T1 (T2) (T3)",
    requests: 2,
    chunks: "answered, answered, planned",
    counts: { accepted: 2, rejected: 2, notSent: 2 },
    promises: "E T1 (T2) (T3)",
    said: "maxRejected",
    // Someone is to look first, and to say so with resume.
    again: [9, "E T1 (T2) (T3)"],
  },

  // ---- an item in doubt ----
  // An item that contradicts itself is not sent again before a person has looked.
  {
    name: "a promise beside another status",
    fault: { fault: "changed", items: [0], with: { status: "error" } },
    ...ITEM_IN_DOUBT,
    said: /chunk 4 \(a part of chunk 2\) \(1 action\) is in doubt: an actionPromise beside a status other than success: \{.*"ticketId":"T2"/,
  },
  {
    name: "success beside an error",
    fault: { fault: "changed", items: [0], with: { error: { message: "Not processed" } } },
    ...ITEM_IN_DOUBT,
    said: "(a part of chunk 2) (1 action) is in doubt: success beside an error, or something else that contradicts it: {",
  },
  // An item that does not say what became of its action is no "no".
  ...[
    ["without a status", { message: "queued" }, "an item whose status is missing or not text"],
    ["whose status is in capitals", { status: "SUCCESS" }, "a status that is success in another spelling"],
    ["whose status may say that it was taken", { status: "Queued" }, "a status that may mean that the service has it"],
    [
      "with a promise under another key",
      { status: "ok", action_promise: "p" },
      "a promise under another key than actionPromise",
    ],
  ].map(
    ([name, body, said]): Row => ({
      name: `an item ${name}`,
      fault: { fault: "changed", items: [0], body },
      ...ITEM_IN_DOUBT,
      said: `(a part of chunk 2) (1 action) is in doubt: ${said as string}: {`, // as above
    }),
  ),

  // ---- in doubt: an answer that contradicts itself ----
  doubt("a status of the whole that is another", { fault: "changed", top: { with: { status: "partial" } } }, TAKEN, {
    said: "the answer's status is",
  }),
  doubt("a whole that says that it failed", { fault: "changed", top: { with: { success: false } } }, TAKEN, {
    said: "the answer as a whole says",
  }),
  doubt("a key that stands twice in an item", { fault: "duplicate-key" }, TAKEN, {
    said: 'the answer has the key "/data/0/status" twice',
  }),
  doubt("a key that stands twice at the top", { fault: "duplicate-key", where: "top" }, TAKEN, {
    said: 'the answer has the key "/status" twice',
  }),
  doubt("an item that is no object", { fault: "changed", items: [1], body: null }, TAKEN, {
    said: /item 2 is .*, not an object/,
  }),
  doubt("a failure item that is no object", { fault: "failure-items", items: [1], body: "error" }, "E T1 T2 (T3)"),
  doubt("the promise of an earlier chunk", { ...SAME_PROMISE, items: [1], on: { to: 2 } }, TAKEN, {
    said: "of an earlier action of this run",
  }),
  doubt("fewer bytes than its length says", { fault: "framing", as: "length-long" }, TAKEN),
  doubt("a length that cuts the answer", { fault: "framing", as: "length-short" }, TAKEN),
  doubt("gzip that does not say so", { fault: "encoding", encoding: "gzip", announce: "" }, TAKEN),
  doubt("gzip that says br", { fault: "encoding", encoding: "gzip", announce: "br" }, TAKEN),
  doubt("a switch of protocols", { fault: "interim", statuses: [101] }, TAKEN),

  // ---- in doubt: an answer that does not match ----
  doubt("one promise for two items", { ...SAME_PROMISE, items: [0, 1] }, TAKEN, {
    said: "repeats the actionPromise",
  }),
  doubt("one item too few", { fault: "count", by: -1 }, TAKEN, { said: "1 items for 2 actions" }),
  doubt("one item too many", { fault: "count", by: 1 }, TAKEN, { said: "3 items for 2 actions" }),
  doubt("items in another order", { fault: "shuffle" }, TAKEN, { said: "is not about" }),
  doubt("an item about another ticket", { fault: "changed", items: [1], with: { ticketId: "T9" } }, TAKEN, {
    said: '"T3"',
  }),
  doubt("no JSON", status(200, { body: "<html>" }), TAKEN, { said: "not JSON" }),
  doubt("nothing at all", status(200, { body: "" }), TAKEN),
  doubt("204", status(204), TAKEN),
  doubt("2xx without having processed", status(202, { processed: "none" }), UNTAKEN, { said: "0 items for 2 actions" }),
  doubt("2xx with some of it processed", status(200, { processed: 1 }), "E T1 T2"),

  // ---- in doubt: an answer that is not whole ----
  doubt("a body cut short of its length", { fault: "cut", framing: "length" }, TAKEN, { said: "cut off" }),
  doubt("a body cut before its first byte", { fault: "cut", framing: "length", share: 0 }, TAKEN),
  doubt("chunks without their end", { fault: "cut", framing: "chunked" }, TAKEN),
  doubt("a body cut that looks whole", { fault: "cut", framing: "clean", share: 0.9 }, TAKEN),
  doubt("a body without end", { fault: "endless" }, TAKEN),
  doubt("a drip that takes too long", { fault: "drip", everyMs: 3_600_000 }, TAKEN, {
    options: { flags: { timeout: TIMEOUT } },
    said: "ETIMEDOUT",
  }),

  // ---- in doubt: no answer ----
  doubt("dropped at the headers", { fault: "drop", when: "at-headers" }, UNTAKEN),
  doubt("dropped before processing", { fault: "drop", when: "before" }, UNTAKEN),
  doubt("reset before processing", { fault: "drop", when: "before", reset: true }, UNTAKEN),
  doubt("dropped after processing", { fault: "drop", when: "after" }, TAKEN),
  doubt("reset after processing", { fault: "drop", when: "after", reset: true }, TAKEN),
  doubt("dropped after half of it", { fault: "drop", when: "after", processed: 1 }, "E T1 T2"),
  doubt("no answer in time, nothing processed", { fault: "hang" }, UNTAKEN, {
    options: { flags: { timeout: TIMEOUT } },
    said: "ETIMEDOUT",
  }),
  doubt("no answer in time, all processed", { fault: "hang", processed: "all" }, TAKEN, {
    options: { flags: { timeout: TIMEOUT } },
  }),
  doubt("an answer that comes too late", { fault: "latency", ms: 3_600_000 }, UNTAKEN, {
    options: { flags: { timeout: TIMEOUT } },
  }),

  // ---- in doubt: 5xx and 408 ----
  ...[500, 501, 502, 503, 504, 599, 408].map((code) =>
    doubt(`${code}`, status(code), UNTAKEN, { said: `HTTP ${code}` }),
  ),
  doubt("503 after processing", status(503, { processed: "all" }), TAKEN),
  doubt("504 after half of it", status(504, { processed: 1 }), "E T1 T2"),
  doubt("504 where only 503 may be retried", status(504), UNTAKEN, {
    config: "retryStatuses: [503]",
    options: { flags: retried },
  }),
  doubt("a lost answer where 503 may be retried", { fault: "drop", when: "after" }, TAKEN, {
    config: "retryStatuses: [503]",
    options: { flags: retried },
  }),
  doubt("on the first request: nothing was accepted", { fault: "drop", when: "after", on: { request: 1 } }, "E T1", {
    requests: 1,
    chunks: "in doubt, planned, planned",
    counts: { inDoubt: 2, notSent: 4 },
    promises: "",
  }),
  doubt("on the last request: nothing is left", status(500, { on: { request: 3 }, processed: "all" }), ALL, {
    requests: 3,
    chunks: "answered, answered, in doubt",
    counts: { accepted: 4, inDoubt: 2 },
    promises: TAKEN,
  }),

  // ---- retried because the environment vouches for it ----
  fine("503 that may be retried", status(503, { retryAfter: 0, times: 2 }), {
    config: "retryStatuses: [503]",
    options: { flags: retried },
    requests: 5,
  }),
  fine("408 that may be retried", status(408, { retryAfter: 0, times: 1 }), {
    config: "retryStatuses: [408]",
    options: { flags: retried },
    requests: 4,
  }),
  untaken("503 that may be retried, too often", status(503, { retryAfter: 0, on: { from: 2 } }), 7, {
    config: "retryStatuses: [503]",
    options: { flags: retried },
    requests: 4,
  }),

  // ---- not taken ----
  fine("429 that comes twice", status(429, { retryAfter: 0, times: 2 }), { options: { flags: retried }, requests: 5 }),
  fine("429, and a --max-duration of 34 years", status(429, { retryAfter: 0, times: 1 }), {
    options: { flags: retried, maxDuration: 2 ** 40 },
    requests: 4,
  }),
  ...(["imf", "rfc850", "asctime"] as const).map((form) =>
    fine(
      `429 until a date that has come, in form ${form}, by a clock that is a day off`,
      status(429, { retryAfter: { inSeconds: 0, form }, clockSkewSeconds: 86_400, times: 1 }),
      { options: { flags: retried }, requests: 4 },
    ),
  ),
  untaken("429 too often", status(429, { retryAfter: 0, on: { from: 2 } }), 7, {
    options: { flags: retried },
    requests: 4,
    said: /HTTP 429/,
  }),
  untaken("429 without retries", status(429), 7),
  untaken("429 that asks for a wait beyond --max-duration", status(429, { retryAfter: 300 }), 7, {
    options: { flags: retried, maxDuration: 120_000 },
    said: "--max-duration",
  }),
  untaken(
    "429 until a date beyond --max-duration",
    status(429, { retryAfter: { inSeconds: 300, form: "rfc850" }, clockSkewSeconds: -86_400 }),
    7,
    { options: { flags: retried, maxDuration: 120_000 } },
  ),

  // ---- authentication failed ----
  untaken("401", status(401), 5),
  untaken("403 as specified", status(403), 5, { said: "TICKETS_LOCAL_API_KEY" }),
  untaken("403 before the request was read", { fault: "early-answer" }, 5),
  untaken("403 that is not about the key", status(403, { body: { message: "Your address is not on the list" } }), 5, {
    said: "Your address is not on the list",
  }),
  untaken("403 is not retried", status(403, { retryAfter: 0 }), 5, { options: { flags: retried } }),

  // ---- refused ----
  ...[400, 402, 404, 405, 409, 410, 415, 422, 425, 431, 451].map((code) =>
    refused(`${code}`, status(code), UNTAKEN, { said: `HTTP ${code}` }),
  ),
  refused("400 after half of it", status(400, { processed: 1 }), "E T1 T2"),
  refused("400 with a body that would paint a terminal", status(400, { body: "\u001b[31mred\u202e" }), UNTAKEN, {
    said: /The service said: {2}\[31mred $/m,
  }),
  refused("400 is not retried", status(400, { retryAfter: 0 }), UNTAKEN, { options: { flags: retried } }),
  ...([301, 302, 303, 307, 308] as const).map((code) =>
    refused(
      `a redirect with ${code}, which is not followed`,
      status(code, { headers: { Location: "/elsewhere/stream" } }),
      UNTAKEN,
      {
        said: "/elsewhere/stream",
      },
    ),
  ),
  refused("300", status(300), UNTAKEN),
  refused("304", status(304, { body: "" }), UNTAKEN),
  refused("400 before the request was read", { fault: "early-answer", status: 400 }, UNTAKEN),
  refused("a redirect after processing", status(307, { processed: "all" }), TAKEN),
  untaken("400 where refusals are whole", status(400), 9, { config: "refusalsAreWhole: true", said: "refused" }),

  // ---- too large ----
  fine("413 for more than one item: split, and small for the rest of the run", status(413, { on: { itemsOver: 1 } }), {
    requests: 7, // 2 refused, 1 1, then as large as that was
    chunks: "answered, answered, answered, answered, answered, answered",
  }),
  fine(
    "413 early, while the body is being written",
    { fault: "too-large", on: { bytesOver: 200 } },
    { requests: 6, chunks: "answered, answered, answered, answered, answered" }, // [E T1] [T2 T3]413 T2 T3 T4 T5
  ),
  {
    name: "413 for one action alone",
    fault: status(413, { on: { ticketId: "T2" } }),
    exit: 4,
    took: "E T1 T3 T4 T5",
    requests: 6, // [E T1] [T2 T3]413 [T2]413 [T3] [T4] [T5]
    chunks: "answered, answered, answered, answered, answered",
    counts: { accepted: 5, rejected: 1 },
    promises: "E T1 (T2) T3 T4 T5",
    again: [0, "E T1 T3 T4 T5 T2"],
  },
];

async function writeInput(field: Field): Promise<void> {
  await field.write("night.ndjson", INPUT);
}

const run = (field: Field, options: Partial<Options<"stream">> = {}): Promise<Done> =>
  field.stream(["night.ndjson"], { ...options, flags: { chunkSize: 2, ...options.flags } });

const statesOf = async (field: Field, env?: NodeJS.ProcessEnv): Promise<readonly string[]> =>
  (await field.chunks(env)).map(({ state }) => state);

/** No chunk may be left as if a request were under way. */
async function expectNoLooseEnds(field: Field): Promise<void> {
  expect(await statesOf(field)).not.toContain("sending");
}

async function promisedIds(field: Field): Promise<string> {
  const text = await field.read("promises.local.ndjson").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { ticketId?: string; eventId: string; status: string; actionPromise?: string }) // lines of ours
    .map(({ ticketId, eventId, actionPromise }) =>
      actionPromise === undefined ? `(${ticketId ?? eventId})` : (ticketId ?? eventId),
    )
    .join(" ");
}

const NONE = {
  accepted: 0,
  rejected: 0,
  inDoubt: 0,
  notSent: 0,
  alreadySent: 0,
  changed: 0,
  late: 0,
  unclear: 0,
};

describe("every answer and every fault", () => {
  const isAnswered = async ({ fault, config, options = {}, ...row }: Row): Promise<void> => {
    const field = await openField(config);
    await writeInput(field);
    // A rule that may strike again strikes the repetitions of the second request too.
    const second = (rule: object): object => ({ on: { request: "times" in rule ? [2, 3, 4] : 2 }, ...rule });
    const rules = [fault].flat().map(second);
    field.setFaults(...rules);

    const first = await run(field, options);
    const seen = {
      exit: first.exitCode,
      took: processedBy(field.sandbox),
      chunks: (await statesOf(field)).join(", "),
      counts: first.summary?.actions,
      promises: await promisedIds(field),
      requests: row.requests === undefined ? undefined : first.requests,
    };
    expect(seen).toEqual({
      exit: row.exit,
      took: row.took,
      chunks: row.chunks,
      counts: { ...NONE, total: 6, ...row.counts },
      promises: row.promises,
      requests: row.requests,
    });
    await expectNoLooseEnds(field);
    if (row.said !== undefined) expect(first.said).toMatch(row.said);

    field.setFaults();
    const next = await run(field, options);
    expect([next.exitCode, processedBy(field.sandbox)]).toEqual(row.again);
    await expectNoLooseEnds(field);
    expectNothingDoubled(field.sandbox);
    if (row.again[0] === 0) {
      // All is well: each accepted action is in the promises file, once.
      const promised = (await promisedIds(field)).split(" ").filter((id) => !id.startsWith("("));
      expect(promised.toSorted()).toEqual(ALL.split(" ").toSorted());
      expect((await run(field, options)).exitCode).toBe(0);
      expect(processedBy(field.sandbox)).toBe(row.again[1]);
    }
  };
  // The short walk has the first row of each fault, but for those in which a time limit has to pass.
  const isShort = (row: Row): boolean =>
    row.options?.flags?.timeout === undefined &&
    ROWS.filter(({ fault }) => faultsOf(fault) === faultsOf(row.fault)).indexOf(row) === 0;
  testEach("$name", ROWS, isShort, isAnswered);

  test("leave out no fault of the sandbox", () => {
    const tried = new Set(
      ROWS.flatMap(({ fault }) => [fault].flat()).map((rule) => ("fault" in rule ? rule.fault : "")),
    );
    expect(FAULTS.filter((name) => !tried.has(name))).toEqual([]);
  });
});

/** The names of a row's faults. */
function faultsOf(fault: Row["fault"]): string {
  return [fault]
    .flat()
    .map((rule) => ("fault" in rule ? rule.fault : ""))
    .join();
}

describe("an answer that comes while the request is still being written", () => {
  /** In one request more than a connection takes at once. */
  const LARGE = [
    { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
    ...Array.from({ length: 159 }, (_, at) => ({
      action: "soldTicket",
      data: {
        eventId: "E",
        ticketId: `T${at}`,
        userId: "u",
        price: "1",
        orderTime: 1768600000,
        metadataAttributes: [{ trait_type: "a", value: "x".repeat(80_000) }],
      },
    })),
  ];
  const early = async (fault: object): Promise<{ readonly field: Field; readonly first: Done }> => {
    const field = await openField("maxChunkBytes: 67108864");
    await field.write("night.ndjson", LARGE);
    field.setFaults({ fault: "early-answer", on: { request: 1 }, ...fault });
    return { field, first: await field.stream(["night.ndjson"], { flags: { chunkSize: 5000, retries: 0 } }) };
  };

  const isDoubt = async (processed: string): Promise<void> => {
    const { field, first } = await early({ status: 200, items: LARGE.length, processed });
    expect(first).toMatchObject({
      exitCode: 6,
      said: expect.stringContaining(
        "HTTP 200, but the answer came before the whole request was sent. Nothing after its request",
      ),
      summary: { actions: { inDoubt: 160, rejected: 0, accepted: 0 } },
    });
    // The request is given up with its connection, so its rest never comes.
    expect(processedBy(field.sandbox)).toBe("");
    expect((await field.stream(["night.ndjson"])).exitCode).toBe(6);
    expectNothingDoubled(field.sandbox);
  };
  testEach("is a doubt when it says that all is well or rejected; processed: %s", ["all", "none"], 2, isDoubt);

  const EARLY = [
    [401, 5, "planned"],
    [403, 5, "planned"],
    [429, 7, "planned"],
    [400, 9, "refused"],
    [407, 9, "refused"],
    [307, 9, "refused"],
    [408, 6, "in doubt"],
    [503, 6, "in doubt"],
  ] as const;
  testEach("with %i is what it always is: exit %i, %s", EARLY, 8, async ([code, exit, state]) => {
    const { field, first } = await early({ status: code, processed: "all" });
    expect([first.exitCode, (await statesOf(field)).join(", "), processedBy(field.sandbox)]).toEqual([exit, state, ""]);
  });
});
