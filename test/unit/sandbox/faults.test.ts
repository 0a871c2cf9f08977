import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseFaultText } from "../../../src/sandbox/fault-text.ts";
import { FAULTS, openFaults, parseFaultScript } from "../../../src/sandbox/faults.ts";

const script = (rules: readonly object[], seed?: number) => parseFaultScript({ rules, ...(seed && { seed }) }, "test");

/** Which of the first `count` requests the only rule strikes. */
function struck(rule: object, count = 10, seed = 1): readonly number[] {
  const faults = openFaults(script([{ fault: "shuffle", ...rule }], seed));
  return Array.from({ length: count }, () => faults.countRequest()).filter(
    (request) => faults.choose({ request, bytes: 100 * request, items: Array(request).fill(null) }).fault !== undefined,
  );
}

describe("a rule strikes", () => {
  test.each([
    [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ times: 2 }, [1, 2]],
    [{ on: { request: 3 } }, [3]],
    [{ on: { request: [2, 9] } }, [2, 9]],
    [{ on: { from: 8 } }, [8, 9, 10]],
    [{ on: { to: 2 } }, [1, 2]],
    [{ on: { every: 4 } }, [4, 8]],
    [{ on: { every: 2, from: 5 }, times: 1 }, [6]],
    [{ on: { bytesOver: 800 } }, [9, 10]],
    [{ on: { itemsOver: 9 } }, [10]],
    [{ on: { probability: 1 } }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ on: { probability: 0 } }, []],
  ])("%j", (rule, expected) => {
    expect(struck(rule)).toEqual(expected);
  });

  test("at random, but the same for the same seed", () => {
    const rule = { on: { probability: 0.3 } };
    expect(struck(rule, 200, 7)).toEqual(struck(rule, 200, 7));
    expect(struck(rule, 200, 7)).not.toEqual(struck(rule, 200, 8));
    expect(Math.abs(struck(rule, 1000).length - 300)).toBeLessThan(70);
  });

  test("by what the request is about", () => {
    const faults = openFaults(script([{ fault: "shuffle", on: { action: "soldTicket", ticketId: "T1" } }]));
    const strikes = (...items: readonly unknown[]) =>
      faults.choose({ request: 1, bytes: 1, items }).fault !== undefined;
    expect(strikes({ action: "soldTicket", data: { ticketId: "T1" } })).toBe(true);
    expect(strikes({ action: "soldTicket", data: { ticketId: "T2" } })).toBe(false);
    expect(strikes(null, 7, { action: "soldTicket" })).toBe(false);
  });
});

test("what strikes before the body is chosen apart from what strikes after it", () => {
  const faults = openFaults(script([{ fault: "shuffle" }, { fault: "too-large", on: { bytesOver: 10 } }]));
  expect(faults.choose({ request: 1, bytes: 11 }).fault?.rule).toMatchObject({ fault: "too-large" });
  expect(faults.choose({ request: 1, bytes: 10 }).fault).toBeUndefined();
  expect(faults.choose({ request: 1, bytes: 10, items: [] }).fault?.rule).toMatchObject({ fault: "shuffle" });
});

describe("a fault script", () => {
  test("is YAML or JSON", () => {
    const yaml = "seed: 7\nrules:\n  - {on: {request: 3}, fault: drop, when: after}\n";
    const json = '{"seed":7,"rules":[{"on":{"request":3},"fault":"drop","when":"after"}]}';
    expect(parseFaultText(yaml, "a.yaml")).toEqual(parseFaultText(json, "a.json"));
  });

  test("names every mistake with its place", () => {
    const text = "rules:\n  - fault: explode\n  - fault: drop\n    when: never\n    colour: red\n  - fault: latency\n";
    const read = () => parseFaultText(text, "faults.yaml");
    for (const part of [
      "faults.yaml",
      "2:12 rules[0].fault: is not one of latency, status",
      "4:11 rules[1].when: ",
      /3:5 rules\[1\]: .*colour/,
      /6:5 rules\[2\]\.ms: /,
    ])
      expect(read).toThrow(part);
  });

  test.each(["rules: [", "rules: []\nrules: []", "7", "rule: []"])("%j is refused", (text) => {
    expect(() => parseFaultText(text, "x")).toThrow(expect.objectContaining({ code: "usage" }));
  });

  test("may name what docs/reference.md describes, in its order", () => {
    const [, , faults = ""] = readFileSync(new URL("../../../docs/reference.md", import.meta.url), "utf8").split(
      /^\| fault \||^### Faults/m,
    );
    const [table = ""] = faults.split("\n## ");
    expect([...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)).toEqual(FAULTS);
  });
});
