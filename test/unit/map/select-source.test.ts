import { describe, expect, test } from "vitest";
import { type Sources, selectSource } from "../../../src/map/select-source.ts";

const sources: Sources = {
  orders: { match: "orders*.csv" },
  tickets: { match: ["tickets-??.csv", "{seats,places}.tsv"] },
  byName: {},
};

describe("the source of a file", () => {
  test.each([
    ["orders.csv", "orders"],
    ["orders-1.csv.gz", "orders"],
    ["tickets-01.csv", "tickets"],
    ["places.tsv", "tickets"],
    ["myorders.csv", undefined],
    ["orders.csv.bak", undefined],
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

describe("the source of a rejects file", () => {
  const of = (fileName: string, matches: Readonly<Record<string, string>>, isRejects = true): string | undefined =>
    selectSource(
      Object.fromEntries(Object.entries(matches).map(([name, match]) => [name, { match }])),
      fileName,
      undefined,
      isRejects,
    )?.name;

  test.each([
    ["sales.rejects.csv", "sales.csv"],
    ["sales.rejects.csv.gz", "sales.csv"],
    ["sales.rejects.01H5K3.csv", "sales.csv"],
    ["sales.rejects.rejects.csv", "sales.csv"],
    ["sales.2.rejects.csv", "sales.csv"],
    ["sales.2.rejects.csv", "sales.2.csv"],
    ["sales.rejects.csv", "sales.csv.gz"],
    ["sales.rejects.ndjson", "sales.ndjson"],
    ["sales.rejects.ndjson", "sales.json"],
    ["sales.txt.rejects.csv", "sales.txt"],
    ["stdin.rejects.csv", "*"],
  ])("%s is that of an input which matches %s, whether it shows that it is one or not", (fileName, match) => {
    expect(of(fileName, { shop: match })).toBe("shop");
    expect(of(fileName, { shop: match }, false)).toBe("shop");
  });

  test.each([
    ["what its input was called, where that leads to another than its own name", "sales.rejects.csv", "sales.r*.csv"],
    ["what the first input was called, of rejects of rejects", "sales.rejects.rejects.csv", "sales.rejects.csv"],
  ])("is recognised by %s", (_what, fileName, other) => {
    expect(of(fileName, { other, shop: "sales.csv" })).toBe("shop");
  });

  test("is recognised by its own name first where nothing but the name says that it is one", () => {
    expect(of("sales.rejects.csv", { shop: "sales.csv", other: "sales.r*.csv" }, false)).toBe("other");
  });

  test("is recognised by its own name where nothing matches its input", () => {
    expect(of("sales.rejects.csv", { corrected: "*.rejects.csv" })).toBe("corrected");
  });

  test("is none of a file's where it comes from standard input, which matches no name", () => {
    expect(of("stdin.rejects.csv", { all: "*.csv" })).toBeUndefined();
  });

  test("is that of the likelier input", () => {
    expect(of("sales.rejects.csv", { json: "sales.json", shop: "sales.csv" })).toBe("shop");
  });

  test("is not chosen between two inputs that it may come from", () => {
    expect(() => of("sales.rejects.ndjson", { one: "sales.ndjson", two: "sales.json" })).toThrow(/two sources/);
    expect(() => of("sales.2.rejects.csv", { one: "sales.csv", two: "sales.2.csv" })).toThrow(/two sources/);
  });
});
