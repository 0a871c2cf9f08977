import { describe, expect, it } from "vitest";
import { checkAction } from "../../../src/check/shape.ts";

const NOW = 1_780_000_000;
const rulesOf = (field: string, value: unknown): readonly string[] =>
  checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR", [field]: value } }, NOW).map(
    ({ rule }) => rule,
  );

describe("a URL", () => {
  it.each([
    "https://anna:secret@example.com/a.png",
    "https://anna@example.com/",
    "http://:secret@example.com:8080/?a=b",
    "https://anna%40x:s@example.com/",
  ])("with a login would be published with it: %s", (url) => {
    expect(rulesOf("coverImageUrl", url)).toEqual(["url-with-login"]);
    expect(rulesOf("callbackUrl", url)).toEqual(["url-with-login"]);
  });

  it.each([
    ["coverImageUrl", "https://anna:secret@example.com/a.png", "https://…@example.com/a.png"],
    ["coverImageUrl", "https://anna:se@cret@a..b/", "https://…@a..b/"],
    ["callbackUrl", "http://:secret@10.0.0.1/", "http://…@10.0.0.1/"],
    [
      "eventName",
      "Live at https://anna:secret@a.example/ or https://b.example/",
      "Live at https://…@a.example/ or https://b.example/",
    ],
  ])("%s %s: its login is in no message", (field, value, shown) => {
    const found = checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR", [field]: value } }, NOW);
    expect(new Set(found.map((each) => each.value))).toEqual(new Set([shown]));
    expect(JSON.stringify(found)).not.toMatch(/anna|secret/);
  });

  it.each([
    "https://./",
    "https://a..b/x",
    "https://-/x",
    "https://a-.example.com/",
    "https://example.com/100%zz",
    "https://example.com/<a>",
    "https://example.com/{id}",
    "https://example.com\\a.png",
    "https://example.com/{{seat}}.png",
    "https://example.com/#REF!",
  ])("that can't be meant so is reported: %s", (url) => expect(rulesOf("shopUrl", url)).toEqual(["url-unusual"]));

  it.each([
    "",
    "https://example.com/a@b.png",
    "https://example.com./",
    "https://shop_1.example.com/a%20b",
    "https://[2001:db8::1]/a",
    "https://example.com/日本?q=ü",
    "https://example.com/#!a",
    "https://example.com/#NV",
  ])("that may be meant so is taken: %s", (url) => expect(rulesOf("shopUrl", url)).toEqual([]));

  it.each([
    [
      "https://example.com/{{seat}}",
      "shopUrl holds {{seat}}, which a script should have replaced",
      "left the placeholder",
    ],
    [
      "https://example.com/{seat}/100%zz",
      "shopUrl holds {seat}, which a script should have replaced",
      "left the placeholder",
    ],
    ["https://example.com/a|b", "shopUrl has a |, which no URL may hold.", "write it %7C"],
    ["https://example.com/a{b", "shopUrl has a {, which no URL may hold.", "write it %7B"],
    ["https://example.com/#REF!", "shopUrl ends in #REF!, which a spreadsheet writes", "Fix the formula"],
  ])("tells what is wrong with %s", (shopUrl, message, hint) => {
    const [finding] = checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR", shopUrl } }, NOW);
    expect(finding?.message).toContain(message);
    expect(finding?.hint).toContain(hint);
  });

  it.each(["#REF!", "#NV", "#NAME?"])("is not what a spreadsheet writes for a failed formula: %s", (url) =>
    expect(rulesOf("shopUrl", url)).toEqual(["url-invalid"]),
  );

  it.each([
    "http://localhost:8080/hook",
    "http://hooks.localhost/",
    "http://0x7f.1/hook",
    "http://10.1.2.3/",
    "http://172.31.255.255/",
    "http://100.64.0.1/",
    "http://[fd00::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://intranet/hook",
    "https://hooks.corp.internal/a",
    "http://nas.home.arpa/hook",
    "http://255.255.255.255/",
  ])("that only this network knows can't be called back: %s", (url) => {
    expect(rulesOf("callbackUrl", url)).toEqual(["callback-not-public"]);
  });

  it.each([
    "https://hooks.example.com/tickets",
    "http://172.32.0.1/",
    "http://[2001:db8::1]/",
    "https://a.example/x.local",
    "https://test.example.com/",
    "http://223.255.255.1/",
  ])("that is public can: %s", (url) => expect(rulesOf("callbackUrl", url)).toEqual([]));
});

describe("a public text", () => {
  it.each([
    ["eventName", "Live at https://anna:secret@live.example.com/room", ["url-with-login"]],
    ["eventName", "Questions: anna@example.com, https://example.com", []],
    ["eventName", "https://example.com/a:b@c", []],
  ])("%s %j: %j", (field, text, rules) => expect(rulesOf(field, text)).toEqual(rules));

  it("that is a trait holds no login either", () => {
    const list = [
      { trait_type: "Row", value: 1 },
      { trait_type: "Stream", value: "https://u:p@x.example/" },
    ];
    for (const metadataAttributes of [list, JSON.stringify(list)]) {
      const found = checkAction({ action: "updateTicket", data: { ticketId: "t", metadataAttributes } }, NOW);
      expect(found.map(({ rule }) => rule)).toEqual(["url-with-login"]);
    }
  });
});

describe("a time", () => {
  const DAY = 86_400;
  const sale = { eventId: "e", ticketId: "t", userId: "u", price: "1" };
  it.each([
    [1_230_767_999, ["order-time-far"]],
    [1_230_768_000, []],
    [0, ["order-time-far"]],
    [NOW, []],
    [NOW + 2 * DAY, []],
    [NOW + 2 * DAY + 1, ["order-time-far"]],
    [18446744073709551615n, ["order-time-far"]],
    // What it looks like is reported instead.
    [1_767_225_600_000, ["looks-like-milliseconds"]],
  ])("of a sale, %s: %j", (orderTime, rules) => {
    const found = checkAction({ action: "soldTicket", data: { ...sale, orderTime } }, NOW);
    expect(found.map(({ rule }) => rule)).toEqual(rules);
  });

  it.each([
    [NOW + 9 * 365 * DAY, []],
    [NOW + 11 * 366 * DAY, ["event-time-far"]],
    [NOW - 11 * 366 * DAY, ["event-time-far"]],
    // Nothing is known of it.
    [0, []],
  ])("of an event, %s: %j", (time, rules) => {
    expect(rulesOf("startTime", time)).toEqual(rules);
    expect(rulesOf("endTime", time)).toEqual(rules);
  });

  it("is compared with no day where none is given", () => {
    expect(checkAction({ action: "soldTicket", data: { ...sale, orderTime: 7 } })).toEqual([]);
  });
});
