import { describe, expect, test } from "vitest";
import { type Sources, selectSource } from "../../../src/mapping/select-source.ts";

const sources: Sources = {
  orders: { match: "orders*.csv" },
  tickets: { match: ["tickets-??.csv", "{seats,places}.tsv"] },
  byName: {},
};

describe("the source of a file", () => {
  test.each([
    ["orders.csv", "orders"],
    ["Orders-2026.CSV", "orders"],
    ["orders-1.csv.gz", "orders"],
    ["orders-1.csv.zst", "orders"],
    ["orders(1).csv", "orders"],
    ["tickets-01.csv", "tickets"],
    ["places.tsv", "tickets"],
    ["tickets-1.csv", undefined],
    ["myorders.csv", undefined],
    ["orders.csv.bak", undefined],
    ["ordersXcsv", undefined],
    ["places.tsvx", undefined],
  ])("%s is %s", (fileName, expected) => {
    expect(selectSource(sources, fileName, undefined)?.name).toBe(expected);
  });

  test("is the one that --source names, whatever the file is called", () => {
    expect(selectSource(sources, "x.ndjson", "byName")?.name).toBe("byName");
    expect(() => selectSource(sources, "x", "order")).toThrow(/no source order/);
    expect(() => selectSource(sources, "x", "__proto__")).toThrow(/no source/);
  });

  test("is not chosen between two that match", () => {
    const two = { ...sources, more: { match: "*.csv" } };
    expect(() => selectSource(two, "orders.csv", undefined)).toThrow(
      "orders.csv matches two sources, orders and more.",
    );
    expect(selectSource(two, "orders.csv", "more")?.name).toBe("more");
  });

  test("takes the marks of a pattern literally that it does not know", () => {
    expect(selectSource({ a: { match: "[x]+(1).c$v" } }, "[x]+(1).c$v", undefined)?.name).toBe("a");
    expect(selectSource({ a: { match: "a{b.csv" } }, "a{b.csv", undefined)?.name).toBe("a");
  });
});
