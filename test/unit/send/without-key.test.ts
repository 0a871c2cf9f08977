import { describe, expect, test } from "vitest";
import type { Exchange } from "../../../src/send/exchange.ts";
import { createKeyRemover } from "../../../src/send/without-key.ts";

const KEY = "sk/live+8Zq=\"'<&>\\\\é~Wt4";

type Answer = Extract<Exchange, { kind: "answer" }>;

function answered(key: string, body: string | Buffer, headers: Answer["headers"] = {}): Answer {
  const answer: Answer = { kind: "answer", status: 400, headers, body: Buffer.from(body), whole: true, early: false };
  const result = createKeyRemover(key)(answer);
  if (result.kind !== "answer") throw new Error("an answer stays one");
  return result;
}

const inHex = (text: string, write: (code: string) => string): string =>
  [...text].map((character) => write(character.charCodeAt(0).toString(16))).join("");
const escaped = (text: string): string => inHex(text, (code) => `\\u${code.padStart(4, "0")}`);
const percents = (bytes: Buffer): string => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const latin1 = Buffer.from(KEY, "latin1");

/** The key as a service may echo it, each inside a text. */
const ECHOES: readonly (readonly [string, string | Buffer])[] = [
  ["in UTF-8", KEY],
  ["in Latin-1", latin1],
  ["in Latin-1 that was taken for UTF-8", latin1.toString("utf8")],
  ["as a part of an address", encodeURIComponent(KEY)],
];

/** Likewise, in an encoding that withholds the text. */
const ENCODED: readonly (readonly [string, string | Buffer])[] = [
  ["as JSON writes it", json(KEY)],
  ["with an escaped slash", json(KEY).replaceAll("/", "\\/")],
  ["as JSON within JSON", json(json(KEY).replaceAll("/", "\\/"))],
  ["in escapes", escaped(KEY)],
  ["in escapes with capitals", escaped(KEY).toUpperCase().replaceAll("\\U", "\\u")],
  ["in escapes of one character", json(KEY).replace("+", "\\u002B")],
  ["in escapes within JSON", json(escaped(KEY))],
  ["as a part of an address, in small letters", percents(Buffer.from(KEY))],
  ["as a part of an address, from Latin-1", percents(latin1)],
  ["as a part of an address in an address", encodeURIComponent(encodeURIComponent(KEY))],
  ["in HTML by numbers", inHex(KEY, (code) => `&#x${code.toUpperCase()};`)],
  ["in HTML by decimal numbers", [...KEY].map((character) => `&#${character.charCodeAt(0)};`).join("")],
  [
    "in HTML by names",
    KEY.replace(/[&<>"']/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one] ?? "&#39;"),
  ],
];

describe("the key in a body is taken out", () => {
  test.each(ECHOES)("%s", (_how, echo) => {
    const body = Buffer.concat([Buffer.from('{"message":"no key '), Buffer.from(echo), Buffer.from(' here"}')]);
    expect(answered(KEY, body).body.toString()).toBe('{"message":"no key [key] here"}');
  });

  test.each(ENCODED)("with the text around it: %s", (_how, echo) => {
    expect(answered(KEY, `{"message":"no key ${echo} here"}`).body.toString()).toBe("[a text with the key in it]");
  });

  test.each(["base64", "base64url"] as const)("in %s, whatever stands before and behind it", (encoding) => {
    for (const bytes of [latin1, Buffer.from(KEY)]) {
      expect(answered(KEY, `{"key":"${bytes.toString(encoding)}"}`).body.toString()).toMatch(
        /^\{"key":"\[key\].?={0,2}"\}$/,
      );
      for (const before of ["", "a", "ab", "abc", "user:", "Basic"])
        for (const behind of ["", ":", "::", ":::"]) {
          const echo = Buffer.concat([Buffer.from(before), bytes, Buffer.from(behind)]).toString(encoding);
          const { body } = answered(KEY, `{"key":"${echo}"}`);
          expect(body.toString()).toContain("[key]");
          expect(body.length).toBeLessThan(before.length + behind.length + 35);
        }
    }
  });

  test("in Base64 with escaped slashes", () => {
    const key = "???>>>???>>>???";
    const echo = Buffer.from(key).toString("base64").replaceAll("/", "\\/").replaceAll("+", "\\u002b");
    expect(answered(key, `{"key":"${echo}"}`).body.toString()).toBe("[a text with the key in it]");
  });

  test("everywhere, beside text that stays as it is", () => {
    const key = "abcdef/123456";
    const body = answered(key, `["é\\n\\"${key}\\"", "${key}", "\\\\abcdef\\/12345", "100 %"]`).body.toString();
    expect(body).toBe('["é\\n\\"[key]\\"", "[key]", "\\\\abcdef\\/12345", "100 %"]');
  });

  test("of any length", () => {
    const key = "aB3/".repeat(4000);
    expect(answered(key, `{"key":"${key}"}`).body.toString()).toBe('{"key":"[key]"}');
  });
});

test("the key in the texts of headers is taken out", () => {
  const key = "abcdef/123456+é";
  const headers = {
    location: `/in?key=${encodeURIComponent(key)}&a=1`,
    retryAfter: key,
    date: key,
    contentEncoding: key,
  };
  expect(answered(key, "", headers).headers).toEqual({
    location: "/in?key=[key]&a=1",
    retryAfter: "[key]",
    date: "[key]",
    contentEncoding: "[key]",
  });
});

test("an answer without the key stays the very same bytes", () => {
  const body = Buffer.from([0x7b, 0xff, 0x5c, 0x2f, 0x25, 0x7d]);
  const answer = { kind: "answer", status: 200, headers: {}, body, whole: true, early: false } as const;
  const result = createKeyRemover(KEY)(answer);
  expect(result.kind === "answer" && result.body).toBe(body);
});

test("a short key could be text of the answer by chance, and is left", () => {
  expect(answered("abcdefghijk", "abcdefghijk").body.toString()).toBe("abcdefghijk");
});

test("what is no answer is left", () => {
  const lost = { kind: "lost", error: new Error("gone") } as const;
  expect(createKeyRemover(KEY)(lost)).toBe(lost);
});
