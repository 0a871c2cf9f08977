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
const LATE = { options: { flags: { timeout: "5s" } }, said: "ETIMEDOUT" } as const;
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
  ...["trailers", "http-1.0", "twice", "then-429", "late-twice", "late-429"].map((as) =>
    fine(`each answer framed as ${as}`, { fault: "framing", as, on: {} }),
  ),
  ...["twice", "then-429"].map((as) =>
    fine(
      `each answer ${as} on a connection that is used again`,
      { fault: "framing", as, on: {} },
      { config: "freshConnection: false" },
    ),
  ),
  ...[[100], [102, 103, 100, 100]].map((statuses) =>
    fine(`${statuses.join(", ")} before every answer`, { fault: "interim", statuses, on: {} }),
  ),
  ...["gzip", "deflate", "br", "zstd"].flatMap((encoding) => [
    fine(`an answer in ${encoding}, which nobody asked for`, { fault: "encoding", encoding }),
    fine(`an answer that says ${encoding} and is plain`, {
      ...{ fault: "encoding", encoding: "identity", announce: encoding },
    }),
  ]),
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
  // An item that contradicts itself, or does not say what became of its action, is not sent again before a person has looked.
  ...[
    [{ with: { status: "error" } }, "an actionPromise beside a status other than success"],
    [{ with: { error: { message: "No" } } }, "success beside an error, or something else that contradicts it"],
    [{ body: { message: "queued" } }, "an item whose status is missing or not text"],
    [{ body: { status: "SUCCESS" } }, "a status that is success in another spelling"],
    [{ body: { status: "Queued" } }, "a status that may mean that the service has it"],
    [{ body: { status: "ok", action_promise: "p" } }, "a promise under another key than actionPromise"],
  ].map(
    ([change, said]): Row => ({
      name: `an item: ${said as string}`, // as above
      fault: { ...{ fault: "changed", items: [0] }, ...(change as object) },
      ...ITEM_IN_DOUBT,
      said: `chunk 4 (a part of chunk 2) (1 action) is in doubt: ${said as string}: {`,
    }),
  ),

  // ---- in doubt: an answer that contradicts itself, or does not match ----
  doubt("a status of the whole that is another", { fault: "changed", top: { with: { status: "partial" } } }, TAKEN, {
    said: "the answer's status is",
  }),
  doubt("a key that stands twice", { fault: "duplicate-key", where: "top" }, TAKEN, {
    said: 'the answer has the key "/status" twice',
  }),
  doubt("an item that is no object", { fault: "changed", items: [1], body: null }, TAKEN, {
    said: /item 2 is .*, not an object/,
  }),
  doubt("the promise of an earlier chunk", { ...SAME_PROMISE, items: [1], on: { to: 2 } }, TAKEN, {
    said: "of an earlier action of this run",
  }),
  doubt("one promise for two items", { ...SAME_PROMISE, items: [0, 1] }, TAKEN, { said: "repeats the actionPromise" }),
  doubt("one item too few", { fault: "count", by: -1 }, TAKEN, { said: "1 items for 2 actions" }),
  doubt("items in another order", { fault: "shuffle" }, TAKEN, { said: "is not about" }),
  doubt("no JSON", status(200, { body: "<html>" }), TAKEN, { said: "not JSON" }),
  doubt("2xx without having processed", status(202, { processed: "none" }), UNTAKEN, { said: "0 items for 2 actions" }),
  ...["length-long", "length-short"].map((as) => doubt(`a ${as} header`, { fault: "framing", as }, TAKEN)),
  ...["", "br"].map((announce) =>
    doubt(`gzip that says "${announce}"`, { fault: "encoding", encoding: "gzip", announce }, TAKEN),
  ),
  doubt("a switch of protocols", { fault: "interim", statuses: [101] }, TAKEN),

  // ---- in doubt: an answer that is not whole, or none ----
  doubt("a body cut short of its length", { fault: "cut", framing: "length" }, TAKEN, { said: "cut off" }),
  doubt("chunks without their end", { fault: "cut", framing: "chunked" }, TAKEN),
  doubt("a body cut that looks whole", { fault: "cut", framing: "clean", share: 0.9 }, TAKEN),
  doubt("a body without end", { fault: "endless" }, TAKEN),
  doubt("a drip that takes too long", { fault: "drip", everyMs: 3_600_000 }, TAKEN, LATE),
  doubt("dropped at the headers", { fault: "drop", when: "at-headers" }, UNTAKEN),
  doubt("reset before processing", { fault: "drop", when: "before", reset: true }, UNTAKEN),
  doubt("dropped after processing", { fault: "drop", when: "after" }, TAKEN),
  doubt("dropped after half of it", { fault: "drop", when: "after", processed: 1 }, "E T1 T2"),
  doubt("no answer in time, nothing processed", { fault: "hang" }, UNTAKEN, LATE),
  doubt("no answer in time, all processed", { fault: "hang", processed: "all" }, TAKEN, LATE),
  ...[500, 503, 408].map((code) => doubt(`${code}`, status(code), UNTAKEN, { said: `HTTP ${code}` })),
  doubt("504 after half of it", status(504, { processed: 1 }), "E T1 T2"),
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
  fine(
    "429 until a date that has come, by a clock that is a day off",
    status(429, { retryAfter: { inSeconds: 0, form: "rfc850" }, clockSkewSeconds: 86_400, times: 1 }),
    { options: { flags: retried }, requests: 4 },
  ),
  untaken("429 too often", status(429, { retryAfter: 0, on: { from: 2 } }), 7, {
    options: { flags: retried },
    requests: 4,
    said: /HTTP 429/,
  }),
  untaken("429 that asks for a wait beyond --max-duration", status(429, { retryAfter: 300 }), 7, {
    options: { flags: retried, maxDuration: 120_000 },
    said: "--max-duration",
  }),

  // ---- authentication failed ----
  untaken("401", status(401), 5),
  untaken("403 as specified", status(403), 5, { said: "TICKETS_LOCAL_API_KEY" }),
  untaken("403 before the request was read", { fault: "early-answer" }, 5),
  untaken("403 that is not about the key", status(403, { body: { message: "Your address is not on the list" } }), 5, {
    said: "Your address is not on the list",
  }),
  untaken("403 is not retried", status(403, { retryAfter: 0 }), 5, { options: { flags: retried } }),

  // ---- refused ----
  refused("404", status(404), UNTAKEN, { said: "HTTP 404" }),
  refused("400 after half of it", status(400, { processed: 1 }), "E T1 T2"),
  refused("400 with a body that would paint a terminal", status(400, { body: "\u001b[31mred\u202e" }), UNTAKEN, {
    said: /The service said: {2}\[31mred $/m,
  }),
  refused("400 is not retried", status(400, { retryAfter: 0 }), UNTAKEN, { options: { flags: retried } }),
  ...[301, 307].map((code) =>
    refused(`a ${code}, which is not followed`, status(code, { headers: { Location: "/else/stream" } }), UNTAKEN, {
      said: "/else/stream",
    }),
  ),
  refused("400 before the request was read", { fault: "early-answer", status: 400 }, UNTAKEN),
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

const run = (field: Field, options: Partial<Options<"stream">> = {}): Promise<Done> =>
  field.stream(["night.ndjson"], { ...options, flags: { chunkSize: 2, ...options.flags } });

const statesOf = async (field: Field): Promise<readonly string[]> => (await field.chunks()).map(({ state }) => state);

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
  ...{ accepted: 0, rejected: 0, inDoubt: 0, notSent: 0 },
  ...{ alreadySent: 0, changed: 0, late: 0, unclear: 0 },
};

describe("every answer and every fault", () => {
  const isAnswered = async ({ fault, config, options = {}, ...row }: Row): Promise<void> => {
    const field = await openField(config);
    await field.write("night.ndjson", INPUT);
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

/** Of which outcome: test/unit/send/answer.test.ts. */
test.each(["all", "none"])("an answer before the end of its request is a doubt; processed: %s", async (processed) => {
  const field = await openField("maxChunkBytes: 67108864");
  // In one request more than a connection takes at once.
  const metadataAttributes = [{ trait_type: "a", value: "x".repeat(80_000) }];
  const sales = Array.from({ length: 159 }, (_, at) => sale(`T${at}`));
  const large = [newEvent(), ...sales.map(({ action, data }) => ({ action, data: { ...data, metadataAttributes } }))];
  await field.write("night.ndjson", large);
  field.setFaults({ fault: "early-answer", status: 200, items: large.length, processed, on: { request: 1 } });
  const first = await field.stream(["night.ndjson"], { flags: { chunkSize: 5000, retries: 0 } });
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
});
