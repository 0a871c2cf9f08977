import { describe, expect, test } from "vitest";
import { pathOf } from "../../../src/send/ask-statuses.ts";
import type { Exchange } from "../../../src/send/exchange.ts";
import { readStatus } from "../../../src/send/status-answer.ts";

const PROMISE = "0196c0de-0000-7000-8000-000000000001";

function answer(status: number, body: string, more: Partial<Extract<Exchange, { kind: "answer" }>> = {}): Exchange {
  return { kind: "answer", status, headers: {}, body: Buffer.from(body), whole: true, early: false, ...more };
}

describe("the answer about a promise", () => {
  test.each<[string, unknown, string]>([
    ["says its status", { status: "pending" }, "pending"],
    ["names the promise", { actionPromise: PROMISE, status: "error" }, "error"],
    [
      "has it in data, beside the status of the request",
      { status: "success", data: { status: "confirmed" } },
      "confirmed",
    ],
    [
      "has it at the top, beside data of another kind",
      { status: "waiting_funds", data: { status: "x" } },
      "waiting_funds",
    ],
    ["says the same in both places", { status: "pending", data: { status: "pending" } }, "pending"],
    ["names the promise in data", { status: "success", data: { actionPromise: PROMISE, status: "error" } }, "error"],
    ["says a word of its own", { status: "success", data: { status: "minting" } }, "minting"],
    ["says a word with control characters", { status: " a\u001b[2Jb " }, "a [2Jb"],
    ["says a word without end", { status: "x".repeat(1000) }, `${"x".repeat(60)}…`],
  ])("%s", (_, body, status) => {
    expect(readStatus(answer(200, JSON.stringify(body)), PROMISE)).toEqual({ kind: "status", status });
  });

  test.each<[string, Exchange, RegExp]>([
    ["is no JSON", answer(200, "<html>"), /is not JSON/],
    ["is a list", answer(200, "[]"), /no JSON object/],
    ["has no status", answer(200, '{"state":"pending"}'), /no status/],
    ["has an empty status", answer(200, '{"status":" "}'), /no status/],
    ["has a status that is no text", answer(200, '{"status":{"a":1}}'), /no status/],
    ["is about another promise", answer(200, '{"actionPromise":"x","status":"confirmed"}'), /another promise/],
    [
      "is about another promise below",
      answer(200, '{"data":{"actionPromise":"x","status":"confirmed"}}'),
      /another promise/,
    ],
    [
      "gives one status at the top and another in data",
      answer(200, '{"status":"error","data":{"status":"confirmed"}}'),
      /two statuses, "error" and "confirmed"/,
    ],
    [
      "may say that the request failed",
      answer(200, '{"status":"error","message":"try again later"}'),
      /"error" and names no promise/,
    ],
    [
      "is cut off",
      answer(200, '{"status":"confirmed"}', { whole: false, error: new Error("reset") }),
      /cut off.*reset/,
    ],
  ])("that %s tells nothing", (_, exchange, detail) => {
    expect(readStatus(exchange, PROMISE)).toEqual({ kind: "unreadable", detail: expect.stringMatching(detail) });
  });

  test.each<[number, string]>([
    [401, "authentication failed"],
    [403, "authentication failed"],
    [302, "refused"],
    [400, "refused"],
    [405, "refused"],
    [408, "later"],
    [429, "later"],
    [500, "later"],
    [501, "refused"],
    [503, "later"],
  ])("HTTP %i is %s", (status, kind) => {
    expect(readStatus(answer(status, "{}"), PROMISE).kind).toBe(kind);
  });

  test.each([404, 410])("HTTP %i is a promise that the service does not know", (status) => {
    expect(readStatus(answer(status, "{}"), PROMISE)).toEqual({ kind: "status", status: "not found" });
  });

  test("a redirect names where it leads, and is not followed", () => {
    const { detail } = readStatus(answer(302, "", { headers: { location: "https://b.example/" } }), PROMISE) as {
      readonly detail: string; // refused, as the table above has it
    };
    expect(detail).toBe("HTTP 302 to https://b.example/; redirects are not followed");
  });

  test.each(["not sent", "lost"] as const)("a request that was %s is worth another", (kind) => {
    expect(readStatus({ kind, error: new Error("gone") }, PROMISE)).toMatchObject({
      ...{ kind: "later", detail: "gone", reached: kind === "lost" },
    });
  });
});

describe("the path of a promise", () => {
  test.each([
    ["/actions/{actionPromise}", PROMISE, `/actions/${PROMISE}`],
    ["/a b/{actionPromise}/status", "p", "/a%20b/p/status"],
    ["/a%20b?of={actionPromise}&x=1", "p", "/a%20b?of=p&x=1"],
    ["/actions/{actionPromise}", "../../keys?a#b", "/actions/%2E%2E%2F%2E%2E%2Fkeys%3Fa%23b"],
    ["/actions/{actionPromise}", "a\r\nHost: b \ud800", "/actions/a%0D%0AHost%3A%20b%20%EF%BF%BD"],
    ["/\u001b[2J{actionPromise}", "p", "/%1B%5B2Jp"],
    ["/100%/{actionPromise}/{actionPromise}", "p", "/100%25/p/p"],
  ])("%j of %j", (statusPath, promise, path) => {
    expect(pathOf(statusPath, promise)).toBe(path);
  });
});
