import { describe, expect, it } from "vitest";
import { checkAction } from "../../../src/checks/shape.ts";

const sale = { eventId: "e", ticketId: "t", userId: "u", price: "1", orderTime: 1767225600 };
const rulesOf = (action: string, data: object): readonly string[] =>
  checkAction({ action, data }).map(({ rule, field }) => `${rule} ${field}`);

describe("an action by itself", () => {
  it("shares one empty list when it is sound", () => {
    const first = checkAction({ action: "soldTicket", data: sale });
    expect(first).toEqual([]);
    expect(checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR" } })).toBe(first);
  });

  it("shares one list per action when only its time is missing", () => {
    const scan = (ticketId: string) => checkAction({ action: "scannedTicket", data: { ticketId } });
    expect(scan("a").map(({ rule }) => rule)).toEqual(["order-time-missing"]);
    expect(scan("a")).toBe(scan("b"));
  });

  it.each([
    ["soldTicket", { ...sale, orderTime: undefined }, ["order-time-missing orderTime"]],
    ["newEvent", { eventId: "e", currency: "EUR" }, []],
    ["updateTicket", { ticketId: "t" }, []],
    [
      "soldTicket",
      { ...sale, price: "1,5", orderTime: undefined },
      ["price-invalid price", "order-time-missing orderTime"],
    ],
    ["soldTicket", { ...sale, orderTime: null }, ["field-null orderTime", "order-time-missing orderTime"]],
    ["newEvent", { eventId: "e", currency: "EUR", startTime: 20, endTime: 10 }, ["end-before-start endTime"]],
    ["newEvent", { eventId: "e", currency: "EUR", startTime: 20n, endTime: 10 }, ["end-before-start endTime"]],
    ["newEvent", { eventId: "e", currency: "EUR", startTime: 20, endTime: 0 }, []],
    ["newEvent", { eventId: "e", currency: "EUR", startTime: 20, endTime: 20 }, []],
    ["updateEvent", { eventId: "e", startTime: null, endTime: 10 }, []],
    ["updateEvent", { eventId: "e", startTime: "20", endTime: 10 }, ["field-type startTime"]],
  ])("%s of %o breaks %j", (action, data, rules) => expect(rulesOf(action, data)).toEqual(rules));

  it.each([
    [1767225600000, "looks like milliseconds", "Give 1767225600, which is 2026-01-01 00:00:00 UTC."],
    [1767225600000000, "looks like microseconds", "Give 1767225600, which is 2026-01-01 00:00:00 UTC."],
    [1767225600123456789n, "looks like nanoseconds", "Give 1767225600, which is 2026-01-01 00:00:00 UTC."],
  ])("takes %s for a time in another unit", (orderTime, message, hint) => {
    const [finding, ...more] = checkAction({ action: "soldTicket", data: { ...sale, orderTime } });
    expect(more).toEqual([]);
    expect(finding).toMatchObject({
      rule: "looks-like-milliseconds",
      field: "orderTime",
      value: String(orderTime),
      hint,
    });
    expect(finding?.message).toContain(message);
  });

  it.each([0, 1767225600, 99_999_999_999, 18446744073709551615n])("takes %s for seconds", (orderTime) => {
    expect(checkAction({ action: "soldTicket", data: { ...sale, orderTime } })).toEqual([]);
  });

  it.each([1767225600000.5, Number.POSITIVE_INFINITY, Number.NaN, -1767225600000])(
    "has no opinion on %s",
    (orderTime) => {
      expect(rulesOf("soldTicket", { ...sale, orderTime })).toEqual(["u64-invalid orderTime"]);
    },
  );

  it("looks at every time of an event", () => {
    const data = { eventId: "e", currency: "EUR", startTime: 1767225600000, endTime: 1767225700000 };
    expect(rulesOf("newEvent", data)).toEqual(["looks-like-milliseconds startTime", "looks-like-milliseconds endTime"]);
  });

  it.each([
    "1.84E+10",
    "1,84E+10",
    "1E+05",
    "2.5e+12",
    "12345.0",
    "#N/A",
    "#REF!",
    "#VALUE!",
    "#NAME?",
    "#DIV/0!",
    "NaN",
    "nan",
    "null",
    "None",
    "undefined",
    "[object Object]",
  ])("finds that %s is no id", (id) => {
    expect(rulesOf("soldTicket", { ...sale, ticketId: id })).toEqual(["id-looks-mangled ticketId"]);
    expect(rulesOf("resoldTicket", { ticketId: "t", userId: id, price: "1", orderTime: 1 })).toEqual([
      "id-looks-mangled userId",
    ]);
    expect(rulesOf("newEvent", { eventId: id, currency: "EUR" })).toEqual(["id-looks-mangled eventId"]);
  });

  it.each([
    "18400000000",
    "1E5",
    "A1.84E+10",
    "1.5",
    "E+10",
    "7",
    "user+1",
    "a.0",
    "Nan",
    "Null",
    "none-1",
    "12.50",
    "#1",
    "1+1",
  ])("takes %s for an id", (id) => expect(rulesOf("soldTicket", { ...sale, ticketId: id })).toEqual([]));

  it.each([null, 7, [], {}, { action: "soldTicket" }, { action: "x", data: sale }, { action: "soldTicket", data: [] }])(
    "says of %j only what is wrong with its form",
    (item) => expect(checkAction(item).length).toBeGreaterThan(0),
  );
});
