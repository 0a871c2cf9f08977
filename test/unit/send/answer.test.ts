import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { type Reading, readExchange, type SentAction } from "../../../src/send/answer.ts";
import type { Exchange } from "../../../src/send/exchange.ts";
import { openSeenPromises, type SeenPromises } from "../../../src/send/seen.ts";

const SERVICE = fileURLToPath(new URL("../../../fixtures/service/", import.meta.url));
const fixture = (path: string): Buffer => readFileSync(`${SERVICE}${path}`);
const json = <T>(path: string): T => JSON.parse(fixture(path).toString()) as T; // files of this repository

const BATCH = json<readonly Action[]>("requests/batch.json");
const NEW_EVENT: Action = { action: "newEvent", data: { eventId: "E1", currency: "EUR" } };
const SALE: Action = { action: "soldTicket", data: { eventId: "E1", ticketId: "T1", userId: "ann", price: "1" } };
const UPDATE: Action = { action: "updateTicket", data: { nftId: "X-1-2", imageUrl: "" } };
const CLEARED: Action = { action: "updateTicket", data: { ticketId: "T1", nftId: null, imageUrl: null } };

const answer = (status: number, body: unknown, more: Partial<Exchange & { kind: "answer" }> = {}): Exchange => ({
  kind: "answer",
  status,
  headers: {},
  body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  whole: true,
  early: false,
  ...more,
});

const early = (status: number): Exchange => answer(status, "{}", { early: true });

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

/** The run was given none before. */
const NONE: SeenPromises = { add: () => undefined, note: () => undefined, [Symbol.dispose]: () => undefined };

const read = (
  exchange: Exchange,
  sent: readonly SentAction[],
  retryStatuses: readonly number[],
  promises = NONE,
): Reading => readExchange(exchange, sent, retryStatuses, promises);

/** The class, and the outcomes where there are some. */
function gist(reading: Reading): readonly string[] {
  return [reading.kind, ...(reading.kind === "decided" ? reading.items.map(({ outcome }) => outcome) : [])];
}

describe("the literal answers of fixtures/service", () => {
  const index =
    json<readonly { file: string; status: number; class: string; outcomes?: string[]; what: string }[]>(
      "responses/index.json",
    );

  it.each(index)("$file with $status: $what", ({ file, status, class: kind, outcomes = [] }) => {
    const reading = read(answer(status, fixture(`responses/${file}`)), BATCH, []);
    expect(gist(reading)).toEqual([kind, ...outcomes]);
  });

  const requests = json<readonly { file: string }[]>("requests/index.json");

  it.each(requests)("accepted/$file accepts every action of its request", ({ file }) => {
    const sent = json<readonly Action[]>(`requests/${file}`);
    const reading = read(answer(200, fixture(`responses/accepted/${file}`)), sent, []);
    expect(gist(reading)).toEqual(["decided", ...sent.map(() => "accepted")]);
  });

  it.each(requests)("accepted/$file cut anywhere is in doubt", ({ file }) => {
    const sent = json<readonly Action[]>(`requests/${file}`);
    const body = fixture(`responses/accepted/${file}`);
    const end = body.lastIndexOf("}") + 1;
    for (let length = 0; length < end; length += 1 + Math.floor(end / 50)) {
      expect(read(answer(200, body.subarray(0, length)), sent, []).kind).toBe("in doubt");
    }
  });
});

describe("each line of the table in docs/guarantees.md", () => {
  const whole = {
    status: "success",
    data: [{ status: "success", action: "newEvent", eventId: "E1", actionPromise: "p" }],
  };
  const table: readonly (readonly [string, Exchange, readonly number[], string])[] = [
    ["no byte was written", { kind: "not sent", error: failure("connect", "ECONNREFUSED") }, [], "not sent"],
    ["bytes were written, no answer", { kind: "lost", error: failure("other side closed") }, [], "in doubt"],
    ["429", answer(429, ""), [], "not taken"],
    ["429 cut off", answer(429, "{", { whole: false }), [], "not taken"],
    ["401", answer(401, ""), [], "authentication failed"],
    ["403", answer(403, '{"message":"Forbidden"}'), [], "authentication failed"],
    ["403 cut off", answer(403, "{", { whole: false }), [], "authentication failed"],
    ["413", answer(413, ""), [], "too large"],
    ...[300, 301, 302, 303, 304, 307, 308].map((status) => [`${status}`, answer(status, ""), [], "refused"] as const),
    ...[400, 402, 404, 405, 406, 409, 410, 411, 412, 414, 415, 418, 421, 422, 424, 425, 428, 431, 451, 499].map(
      (status) => [`${status}`, answer(status, "no"), [], "refused"] as const,
    ),
    ["400 cut off", answer(400, "n", { whole: false }), [], "refused"],
    ["408", answer(408, ""), [], "in doubt"],
    ["408 that may be retried", answer(408, ""), [408], "retry"],
    ...[500, 501, 502, 503, 504, 507, 520, 599].map(
      (status) => [`${status}`, answer(status, ""), [], "in doubt"] as const,
    ),
    ["503 that may be retried", answer(503, ""), [503], "retry"],
    ["503 that may be retried, cut off", answer(503, "{", { whole: false }), [503], "retry"],
    ["503 cut off", answer(503, "{", { whole: false }), [], "in doubt"],
    ["504 where 503 may be retried", answer(504, ""), [503], "in doubt"],
    ["a status beyond all", answer(999, ""), [], "in doubt"],
    ["an informational status as the answer", answer(199, ""), [], "in doubt"],
    // Before the whole request was sent: all of it may still come.
    ["200 that came early", answer(200, whole, { early: true }), [], "in doubt"],
    ...[401, 403].map((code) => [`${code} that came early`, early(code), [], "authentication failed"] as const),
    ["429 that came early", early(429), [], "not taken"],
    ...[400, 407, 307].map((code) => [`${code} that came early`, early(code), [], "refused"] as const),
    ...[408, 503].map((code) => [`${code} that came early`, early(code), [], "in doubt"] as const),
    ["200", answer(200, whole), [], "decided"],
    ["299", answer(299, whole), [], "decided"],
    ["200 cut off, although what came is whole JSON", answer(200, whole, { whole: false }), [], "in doubt"],
    [
      "200 in a content encoding that was announced and not used",
      answer(200, whole, { undecoded: "gzip" }),
      [],
      "decided",
    ],
    ["200 in a content encoding that is broken", answer(200, "\u001f", { undecoded: "gzip" }), [], "in doubt"],
    ["200 with a byte order mark", answer(200, `\ufeff${JSON.stringify(whole)}`), [], "decided"],
    ["200 in another encoding", answer(200, Buffer.from(JSON.stringify(whole), "utf16le")), [], "in doubt"],
    ["200 that is not UTF-8", answer(200, Buffer.from([0x7b, 0xff, 0x7d])), [], "in doubt"],
    ["200 with two documents", answer(200, `${JSON.stringify(whole)}\n${JSON.stringify(whole)}`), [], "in doubt"],
    ["200 with a list in place of the object", answer(200, [whole]), [], "in doubt"],
    ["200 with text for data", answer(200, { status: "success", data: "x" }), [], "in doubt"],
    ["200 without a status of its own", answer(200, { data: whole.data }), [], "decided"],
    [
      "200 that calls itself an error, over items that are accepted",
      answer(200, { ...whole, status: "error" }),
      [],
      "in doubt",
    ],
  ];

  it.each(table)("%s", (_name, exchange, retryStatuses, kind) => {
    expect(read(exchange, [NEW_EVENT], retryStatuses).kind).toBe(kind);
  });
});

/** An accepted item of the answer to one sale. */
const SOLD = { status: "success", action: "soldTicket", eventId: "E1", ticketId: "T1", actionPromise: "p" };

type Beside = Readonly<Record<string, unknown>>;
const accepted = (...beside: readonly Beside[]) => beside.map((more) => ({ ...SOLD, ...more }));
const failed = (...beside: readonly Beside[]) => beside.map((more) => ({ status: "error", ...more }));
const called = (...statuses: readonly unknown[]) => statuses.map((status) => ({ status, ticketId: "T1" }));
const promised = (...promises: readonly unknown[]) => accepted(...promises.map((actionPromise) => ({ actionPromise })));

const OTHER_PROMISE_KEYS = [
  ...["actionpromise", "action_promise", "ActionPromise", "action-promise"],
  ...["promise", "promiseId", "actionPromiseId"],
];
const NO_PROMISES = [
  ...["null", "NULL", "undefined", "None", " null\n", "n\u200bull"],
  ...["\u200b", "\u2060\u00ad", "\u3164", "\u2800 ", "\ufeff"],
];
const ERROR_KEYS = ["Error", "ERRORS", "errorMessage", "error_message", "Error-Message", "errorCode", "ERROR_CODE"];

/** Items of the answer to one sale, by what they mean; of `nothing` the whole answer is in doubt. */
const ITEMS: Readonly<Record<"accepted" | "rejected" | "in doubt" | "nothing", readonly unknown[]>> = {
  accepted: [
    SOLD,
    ...accepted({ nftId: "X-1-1" }, { success: true }, { ok: true }, { ok: 1 }, { ok: "true" }, { failed: false }),
    ...["error", "errors"].flatMap((key) => accepted(...[null, false, "", [], {}].map((no) => ({ [key]: no })))),
    ...ERROR_KEYS.flatMap((key) => accepted(...[null, 0, "0", ""].map((no) => ({ [key]: no })))),
    ...accepted({ failed: "false" }, { failed: 0 }, { rejected: false }, { rejected: 0 }, { state: "invalidated" }),
    ...accepted({ state: "invalid" }, { state: "sold" }, { result: { success: true } }, { result: {} }),
    ...accepted({ accepted: true }, { processed: true }, { exception: null }, { exception: "" }, { failure: false }),
    ...accepted({ result: "success" }, { outcome: "no errors" }, { state: "not scanned" }),
    ...accepted({ result: { status: "success" } }),
    ...promised("-", "nullable", "none-7", "null 1", "\u{1f3ab}", "p".repeat(4096), "prm:7/é Ω"),
  ],
  rejected: [
    ...[{ status: "error" }, { status: "no success" }, { status: "no", success: false, error: "x" }],
    ...failed({ action: "soldTicket", eventId: "E1", ticketId: "T1" }, { action: null, eventId: null, ticketId: null }),
    ...failed({ nftId: "X-9-9" }, { actionPromise: "" }, { actionPromise: null }, { actionPromises: [] }),
    ...OTHER_PROMISE_KEYS.flatMap((key) => failed({ [key]: null }, { [key]: false })),
    ...NO_PROMISES.flatMap((no) => failed({ actionPromise: no }, { promiseId: no })),
    ...failed({ detail: "actionPromise: missing" }, { detail: '{"actionPromise":null}' }),
    ...failed({ detail: "no actionPromise in 7 of 8" }),
    ...called("not accepted", "failed", "no", "false", "not received", "400", "2000", "incomplete", "unsuccessful"),
    ...called("not_found", "notFound", "unconfirmed", "invalid", "does_not_exist", "doesNotExist", "unregistered"),
    ...called("rejected", "unprocessable", "Unprocessable Entity", "not_yet_registered", "event doesn't exist"),
    ...called("event doesn\u2019t exist", "un-confirmed", "notexists", "nonexistent", "unexists"),
    ...called("rejected: duplicate", "no success", "success: false", "200 rejected", "error", "ERROR", "consent"),
    ...called("validation_failed", "unknown_event", "could not be stored", "must be accepted", "unaccepted"),
    ...called("unexpected value received", "denied", "-", "...", "not settled", "not valid", "not on chain"),
    ...called("unsettled", "no sucess", "access", "11", "sold out", "event sold out", "sold_out", "400 Bad Request"),
    ...called("409 Conflict", "500", "inexistent", "nicht angenommen"),
    ...failed({ ok: false }, { ok: 0 }, { ok: null }, { result: { status: "error" } }, { result: { success: false } }),
    ...failed({ accepted: false }, { processed: false }, { processed: 0 }, { result: { ticket: { success: true } } }),
    ...failed({ state: "rejected" }, { Status: "failed" }, { message: "ok" }, { event: { status: "created" } }),
    ...failed({ result: null }, { result: [] }, { outcome: "not stored" }),
    ...[false, "false", null, 0, {}].map((success) => ({ status: "failed", success })),
  ],
  "in doubt": [
    ...promised(undefined, "", null, 7, 4711, " \t", ["p"], "p\ud800", "p\0", ...NO_PROMISES),
    ...accepted({ status: "SUCCESS", actionPromise: undefined }, { status: " success\n", actionPromise: null }),
    ...called(400, null, " ", ["error"], "\u200b", "\u200b \u2060", "\u3164", "\u2800"),
    ...[{ message: "no" }, { Status: "success", action: "soldTicket", ticketId: "T1" }, { result: SOLD }, {}],
    ...accepted({ status: "error" }, { status: "SUCCESS" }),
    ...[{ actionPromise: "p" }, { status: "ok", result: SOLD }, { status: "ok", all: [{ action_promise: "p" }] }],
    ...failed({ actionPromise: 7 }, { actionPromises: ["p"] }, { detail: '{"actionPromise":"0f8f-a1"}' }),
    ...failed({ detail: '{"code":1,"action_promise": "0f8f-a1"}' }, { detail: "actionPromise: 7" }),
    ...OTHER_PROMISE_KEYS.flatMap((key) => failed({ [key]: "p" })),
    ...["error", "errors"].flatMap((key) =>
      accepted(...[{ message: "no" }, ["no"], "no", true, 7].map((said) => ({ [key]: said }))),
    ),
    ...ERROR_KEYS.flatMap((key) => accepted({ [key]: "no" })),
    ...accepted({ success: false }, { Success: false }, { success: true, SUCCESS: false }, { ok: false }, { ok: 0 }),
    ...accepted({ ok: "false" }, { ok: "No" }, { failed: true }, { failed: "true" }, { failed: "Yes" }),
    ...accepted({ rejected: true }, { Rejected: "true" }, { state: "rejected" }, { STATE: "Failed." }),
    ...accepted({ result: "not accepted" }, { result: false }, { accepted: false }, { processed: false }),
    ...accepted({ processed: "no" }, { exception: "x" }, { failure: { code: 1 } }, { result: { success: false } }),
    ...accepted({ result: { status: "error" } }, { outcome: [{ errors: ["no"] }] }, { Status: "declined" }),
    ...accepted({ outcome: "unsuccessful" }),
    ...called("accepted", "pending", "queued", "processing", "ok", "created", "duplicate", "exists", " Accepted\n"),
    ...called("OK", "completed", "complete", "done", "successful", "received", "scheduled", "in progress"),
    ...called("in_progress", "In-Progress", "registered", "already exists", "ALREADY_EXISTS", "alreadyRegistered"),
    ...called("already registered", "true", "200", "201", "202", true, 200, 299, "succeeded", "success.", "success!"),
    ...called("200 OK", "HTTP/1.1 201 Created", "202 - queued for later", "submitted", "enqueued", "confirmed"),
    ...called("waiting_broadcast", "waiting_funds", "waitingForFunds", "ticket_exists", "ticketexists"),
    ...called("event_exists", "EventExists", "Event exists.", "yes", "Yes!", "partial", "partial success", "O.K."),
    ...called("re-queued", "no_broadcast_required", "NoBroadcastRequired", "no broadcast required", "1", " 1\u200b"),
    ...called("inflight", "in_flight", "in flight", "settled", "mined", "onchain", "on_chain", "already on-chain"),
    ...called("replayed", "passed", "valid", "sold", "already sold", "ALREADY_SOLD", "sucess", "succes", "Succcess"),
    ...called("sucessful sucess", "timeout", "timed out", "timed_out", "TimedOut", "time out", "unknown", "UNKNOWN."),
    ...called("failed: gateway timeout", "outcome unknown", "su\u200bccess", "su\u00adccess", "\ufeffsuccess"),
    ...called("success\u2060", "succ\ufeffess", "\uff53\uff55\uff43\uff43\uff45\uff53\uff53", "\uff12\uff10\uff10"),
    ...called("acc\u200depted", "stored", "saved", "issued", "minted", "sent", "updated", "applied", "approved"),
    ...called("successfully queued", "already sent", "processed", "completed without errors", "0 errors"),
    ...called("sent, not rejected", "success (no failures)", "accepted/pending"),
    ...failed({ ok: true }, { OK: "yes" }, { ok: 1 }, { success: 1 }, { success: "1" }, { accepted: true }),
    ...failed({ processed: true }, { Accepted: "true" }, { processed: 1 }, { result: { status: "success" } }),
    ...failed({ result: { success: true } }, { result: [{ success: true }] }, { outcome: { result: { ok: true } } }),
    ...failed({ Status: "success" }, { state: "registered" }, { result: "stored" }, { outcome: "timed out" }),
    ...failed({ result: 201 }),
    ...[true, "true", "True", "ok", 200].flatMap((yes) => [
      { status: "failed", success: yes },
      { status: "failed", Success: yes },
    ]),
  ],
  nothing: [
    ...accepted({ eventId: undefined }, { ticketId: undefined }, { ticketId: null }, { action: undefined }),
    ...accepted(
      { action: "newEvent" },
      { eventId: "E2" },
      { ticketId: "t1" },
      { ticketId: ["T1"] },
      { ticketId: true },
    ),
    ...accepted({ ticketId: "T2", actionPromise: undefined }),
    ...[{ ticketId: "T2" }, null, "error", ["success"], 0],
    ...failed({ action: "scannedTicket" }, { action: "sell" }, { ticketId: "T2" }, { eventId: "E2" }),
  ],
};

describe.each(Object.entries(ITEMS))("an item that means %s", (meaning, items) => {
  it.each(items.map((item) => [JSON.stringify(item), item] as const))("%s", (_text, item) => {
    const reading = read(answer(200, { status: "success", data: [item] }), [SALE], []);
    expect(gist(reading)).toEqual(meaning === "nothing" ? ["in doubt"] : ["decided", meaning]);
  });
});

describe("one item", () => {
  it("has no promise of 10 MB", () => {
    const reading = read(answer(200, { data: promised("p".repeat(10_000_000)) }), [SALE], []);
    expect(gist(reading)).toEqual(["decided", "in doubt"]);
  });

  it("inherits nothing from a key called __proto__", () => {
    const text = `{"data":[{"__proto__":{"status":"success","action":"soldTicket","eventId":"E1","ticketId":"T1","actionPromise":"p"}}]}`;
    expect(gist(read(answer(200, text), [SALE], []))).toEqual(["decided", "in doubt"]);
  });

  it("may echo an id of digits as a number", () => {
    const scan: Action = { action: "scannedTicket", data: { ticketId: "10042" } };
    const item = { status: "success", action: "scannedTicket", ticketId: 10042, actionPromise: "p" };
    expect(gist(read(answer(200, { data: [item] }), [scan], []))).toEqual(["decided", "accepted"]);
    const padded: Action = { action: "scannedTicket", data: { ticketId: "010042" } };
    expect(gist(read(answer(200, { data: [item] }), [padded], []))).toEqual(["in doubt"]);
    // A number with other digits than the id may look the same to JavaScript.
    const long: Action = { action: "scannedTicket", data: { ticketId: "12345678901234567000" } };
    const text = JSON.stringify({ data: [item] }).replace("10042", "12345678901234567123");
    expect(gist(read(answer(200, text), [long], []))).toEqual(["in doubt"]);
  });

  it("need not echo an id that was sent as null", () => {
    const item = { status: "success", action: "updateTicket", ticketId: "T1", actionPromise: "p" };
    expect(gist(read(answer(200, { data: [item] }), [CLEARED], []))).toEqual(["decided", "accepted"]);
  });

  it("names the ticket as it was sent: by nftId", () => {
    const item = { status: "success", action: "updateTicket", nftId: "X-1-2", actionPromise: "p" };
    expect(gist(read(answer(200, { data: [item] }), [UPDATE], []))).toEqual(["decided", "accepted"]);
    const other = { ...item, nftId: "X-1-3" };
    expect(gist(read(answer(200, { data: [other] }), [UPDATE], []))).toEqual(["in doubt"]);
  });

  it("that is not accepted is kept whole, every digit and key of it", () => {
    const item = `{"status":"error","amount":12345678901234567890,"__proto__":{"a":1},"list":[1,2.50,-0,1e400]}`;
    const reading = read(answer(200, `{"data":[${item}]}`), [SALE], []);
    expect(reading).toEqual({
      kind: "decided",
      items: [{ outcome: "rejected", response: item }],
    });
  });

  it("that is accepted keeps its promise as it came", () => {
    const promise = " pro\tmise ";
    const item = { status: "success", action: "soldTicket", eventId: "E1", ticketId: "T1", actionPromise: promise };
    expect(read(answer(200, { data: [item] }), [SALE], [])).toEqual({
      kind: "decided",
      items: [{ outcome: "accepted", promise }],
    });
  });
});

describe("an answer as a whole", () => {
  const success = (ticketId: string, actionPromise: string) => ({
    status: "success",
    action: "soldTicket",
    eventId: "E1",
    ticketId,
    actionPromise,
  });
  const sales = ["T1", "T2"].map((ticketId): Action => ({ action: "soldTicket", data: { ...SALE.data, ticketId } }));

  it("is in doubt when a promise stands twice, once beside another status than success", () => {
    const data = [{ ...success("T1", "p"), status: "error" }, success("T2", "p")];
    expect(gist(read(answer(200, { data }), sales, []))).toEqual(["in doubt"]);
  });

  it("is in doubt when it has the promise of an earlier chunk of the run, and then gives none to it", () => {
    using promises = openSeenPromises();
    const of = (...data: readonly object[]) => read(answer(200, { data }), sales, [], promises);
    expect(gist(of(success("T1", "p1"), success("T2", "p2")))).toEqual(["decided", "accepted", "accepted"]);
    expect(of(success("T1", "p3"), success("T2", "p1"))).toMatchObject({
      kind: "in doubt",
      detail: 'HTTP 200, but the answer repeats the actionPromise "p1" of an earlier action of this run',
    });
    expect(gist(of(success("T1", "p3"), success("T2", "p4")))).toEqual(["decided", "accepted", "accepted"]);
  });

  it.each([
    ["partial", "in doubt"],
    ["error", "in doubt"],
    ["Success", "in doubt"],
    ["", "in doubt"],
    [null, "in doubt"],
    [200, "in doubt"],
    [true, "in doubt"],
    [{ code: "success" }, "in doubt"],
    ["success", "decided"],
    [undefined, "decided"],
  ])("whose status is %j is %s, whatever its items say", (status, kind) => {
    const reading = read(answer(200, { status, data: [success("T1", "p1"), success("T2", "p2")] }), sales, []);
    expect(reading.kind).toBe(kind);
    if (reading.kind === "in doubt")
      expect(reading).toMatchObject({ detail: expect.stringContaining("the answer's status is ") });
  });

  it.each([
    [{ success: false }, "success: false"],
    [{ success: null }, "success: null"],
    [{ success: "true" }, 'success: "true"'],
    [{ error: "half of it failed" }, 'error: "half of it failed"'],
    [{ error: { message: "no" } }, 'error: {"message":"no"}'],
    [{ errors: [{ index: 0 }] }, 'errors: [{"index":0}]'],
    [{ success: true, errors: [0] }, "errors: [0]"],
    [{ Success: false }, "Success: false"],
    [{ ok: false }, "ok: false"],
    [{ error_message: "no" }, 'error_message: "no"'],
  ])("that says %j is in doubt, whatever its items say, also under the status success", (denial, said) => {
    for (const status of [{}, { status: "success" }])
      expect(
        read(answer(200, { ...status, ...denial, data: [success("T1", "p1"), success("T2", "p2")] }), sales, []),
      ).toMatchObject({ kind: "in doubt", detail: `HTTP 200, but the answer as a whole says ${said}` });
  });

  it("that holds an error which nests too deeply to be shown is in doubt all the same", () => {
    const text = `{"errors":${"[".repeat(20_000)}${"]".repeat(20_000)},"data":[]}`;
    expect(read(answer(200, text), sales, [])).toMatchObject({ kind: "in doubt" });
  });

  it.each([
    { success: true },
    { error: null },
    { errors: [] },
    { error: "" },
    { error: {} },
    { errors: false },
    { error: 0 },
    { ok: true },
    { failed: 2 },
    { errorCode: "0", errorMessage: "" },
  ])("that says %j is decided", (more) => {
    const data = [success("T1", "p1"), success("T2", "p2")];
    expect(read(answer(200, { ...more, data }), sales, []).kind).toBe("decided");
  });

  it.each([
    ["at the top", `{"status":"success","data":[],"data":[ITEMS]}`, "/data"],
    ["its status, at the top", `{"status":"error","status":"success","data":[ITEMS]}`, "/status"],
    ["in an item", `{"data":[{"status":"error",ITEM1},ITEM2]}`, "/data/0/status"],
    ["a promise", `{"data":[{"actionPromise":"p0",ITEM1},ITEM2]}`, "/data/0/actionPromise"],
    ["written with an escape", `{"data":[{"\\u0073tatus":"error",ITEM1},ITEM2]}`, "/data/0/status"],
    ["deep inside", `{"data":[{"details":{"a":1,"a":2},ITEM1},ITEM2]}`, "/data/0/details/a"],
  ])("is in doubt when a key stands twice: %s", (_name, text, pointer) => {
    const [first = "", second = ""] = [success("T1", "p1"), success("T2", "p2")].map((item) => JSON.stringify(item));
    const body = text
      .replace("ITEMS", `${first},${second}`)
      .replace("ITEM1", first.slice(1, -1))
      .replace("ITEM2", second);
    expect(read(answer(200, body), sales, [])).toMatchObject({
      kind: "in doubt",
      detail: `HTTP 200, but the answer has the key "${pointer}" twice`,
    });
    // With blanks it is the same answer.
    expect(read(answer(200, body.replaceAll('":', '" : ')), sales, [])).toMatchObject({ kind: "in doubt" });
  });

  it.each([
    ["blanks around everything", (text: string) => text.replaceAll(/([{},:])/g, " $1\n")],
    ["a byte order mark", (text: string) => `\ufeff${text}`],
    ["escapes", (text: string) => text.replaceAll("success", "\\u0073uccess")],
  ])("with %s says the same", (_name, write) => {
    const text = JSON.stringify({ status: "success", data: [success("T1", "p1"), success("T2", "p2")] });
    expect(gist(read(answer(200, write(text)), sales, []))).toEqual(["decided", "accepted", "accepted"]);
  });

  it.each(["[", '{"a":'])("that nests without end (%s) is no fault of ours", (open) => {
    const depth = 20_000;
    const nested = open.repeat(depth) + (open === "[" ? "" : "1") + (open === "[" ? "]" : "}").repeat(depth);
    for (const number of ["1", "12345678901234567890"]) {
      const text = `{"data":[{"status":"error","n":${number},"x":${nested}}]}`;
      // Newer engines write what older ones can't.
      expect(read(answer(200, text), [SALE], []).kind).toMatch(/^(in doubt|decided)$/);
    }
  });
});

describe("what a person reads", () => {
  it.each<[string, Exchange, string]>([
    ["a code once", { kind: "not sent", error: failure("ECONNREFUSED", "ECONNREFUSED") }, "ECONNREFUSED"],
    [
      "a code and what it says",
      { kind: "not sent", error: failure("no route", "EHOSTUNREACH") },
      "EHOSTUNREACH: no route",
    ],
    ["the class of an error without code", { kind: "lost", error: new TypeError("odd") }, "TypeError: odd"],
    [
      "our own words",
      { kind: "lost", error: new Error("interrupted by a second SIGINT") },
      "interrupted by a second SIGINT",
    ],
    ["an error without words", { kind: "lost", error: new AggregateError([]) }, "AggregateError"],
    [
      "why an answer was cut",
      answer(200, "", { whole: false, error: failure("closed", "UND_ERR_SOCKET") }),
      "HTTP 200, but the answer was cut off (UND_ERR_SOCKET: closed)",
    ],
  ])("%s", (_name, exchange, detail) => {
    expect(read(exchange, [SALE], [])).toMatchObject({ detail });
  });

  it("is bounded, whatever the service says", () => {
    const long = "x".repeat(10_000_000);
    const readings = [
      read(answer(500, long), [SALE], []),
      read(answer(400, long), [SALE], []),
      read(answer(403, long), [SALE], []),
      read(answer(200, long), [SALE], []),
      read(answer(200, { data: [{ status: "error", ticketId: long }] }), [SALE], []),
    ];
    for (const reading of readings) expect(JSON.stringify(reading).length).toBeLessThan(100_000);
  });
});
