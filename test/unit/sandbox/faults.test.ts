import { describe, expect, test } from "vitest";
import { parseFaultText } from "../../../src/sandbox/fault-text.ts";
import { FAULTS, httpDate, openFaults, parseFaultScript, selectItems, tamper } from "../../../src/sandbox/faults.ts";

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
    const share = struck(rule, 1000).length;
    expect(share).toBeGreaterThan(230);
    expect(share).toBeLessThan(370);
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

test("latency adds up with whatever else strikes first", () => {
  const faults = openFaults(
    script([
      { fault: "latency", ms: 5 },
      { fault: "latency", ms: [10, 20] },
      { fault: "status", status: 503 },
      { fault: "shuffle" },
    ]),
  );
  const { latencyMs, fault } = faults.choose({ request: 1, bytes: 1, items: [] });
  expect(latencyMs).toBeGreaterThanOrEqual(15);
  expect(latencyMs).toBeLessThanOrEqual(25);
  expect(fault).toMatchObject({ fault: "status", status: 503 });
});

test("what strikes before the body is chosen apart from what strikes after it", () => {
  const faults = openFaults(script([{ fault: "shuffle" }, { fault: "too-large", on: { bytesOver: 10 } }]));
  expect(faults.chooseEarly({ request: 1, bytes: 11 })).toMatchObject({ fault: "too-large" });
  expect(faults.chooseEarly({ request: 1, bytes: 10 })).toBeUndefined();
  expect(faults.choose({ request: 1, bytes: 10, items: [] }).fault).toMatchObject({ fault: "shuffle" });
});

test("setting a script starts its counts anew", () => {
  const faults = openFaults(script([{ fault: "shuffle", on: { request: 1 }, times: 1 }]));
  const strikes = () => faults.choose({ request: faults.countRequest(), bytes: 1, items: [] }).fault !== undefined;
  expect([strikes(), strikes()]).toEqual([true, false]);
  faults.set(faults.script);
  expect([strikes(), strikes()]).toEqual([true, false]);
});

describe("tampering", () => {
  const items = Array.from({ length: 6 }, (_, at) => ({
    status: "success",
    action: "scannedTicket",
    ticketId: `T${at}`,
    actionPromise: `p${at}`,
  }));
  const half = () => 0.5;
  const tampered = (rule: object) => {
    const faults = openFaults(script([rule]));
    const { fault, random } = faults.choose({ request: 1, bytes: 1, items });
    if (fault === undefined) throw new Error("no fault");
    return tamper(fault, items, random);
  };

  test.each([
    [{ fault: "count", by: -2 }, items.slice(0, 4)],
    [{ fault: "count", by: 1 }, [...items, items[5]]],
    [{ fault: "failure-items", items: [1] }, items.with(1, { status: "error" } as never)],
    [{ fault: "failure-items", items: [0], body: null }, items.with(0, null as never)],
    [
      { fault: "failure-items", items: [0], body: { status: "no", why: 7 } },
      items.with(0, { status: "no", why: 7 } as never),
    ],
  ])("%j", (rule, expected) => {
    expect(tampered(rule)).toEqual(expected);
  });

  test("shuffles the same items into another order", () => {
    const mixed = tampered({ fault: "shuffle" });
    expect(mixed).not.toEqual(items);
    expect(new Set(mixed)).toEqual(new Set(items));
    expect(tampered({ fault: "shuffle" })).toEqual(mixed);
    expect(tamper({ fault: "shuffle" }, items.slice(0, 2), half)).toEqual([items[1], items[0]]);
  });

  test("takes, empties, doubles and changes what items say", () => {
    expect(tampered({ fault: "missing-promise", items: [2] })[2]).not.toHaveProperty("actionPromise");
    expect(tampered({ fault: "missing-promise", items: [2], empty: true })[2]).toHaveProperty("actionPromise", "");
    expect(tampered({ fault: "duplicate-promise", items: [3] })[3]).toHaveProperty("actionPromise", "p2");
    expect(tampered({ fault: "duplicate-promise", items: [0] })[0]).toHaveProperty("actionPromise", "p1");
    expect(tampered({ fault: "echo-mismatch", items: [4] })[4]).toHaveProperty("ticketId", "T4-other");
    expect(tampered({ fault: "echo-mismatch", items: [4], field: "action" })[4]).toHaveProperty("action", "newEvent");
    expect(tampered({ fault: "denial", items: [1], with: { success: false } })[1]).toEqual({
      ...items[1],
      success: false,
    });
    expect(tampered({ fault: "denial", where: "top" })).toEqual(items);
    expect(tampered({ fault: "extra-keys" })[0]).toMatchObject({ ...items[0], requestId: "4711" });
  });

  test("selects items by place, share and number", () => {
    expect([...selectItems([0, 5, 9], 6, half)]).toEqual([0, 5]);
    expect([...selectItems({ every: 2 }, 6, half)]).toEqual([1, 3, 5]);
    expect(selectItems({ count: 3 }, 6, half).size).toBe(3);
    expect(selectItems({ probability: 0.6 }, 6, half).size).toBe(6);
    expect(selectItems(undefined, 6, half).size).toBe(1);
    expect(selectItems(undefined, 0, half).size).toBe(0);
  });
});

describe("a fault script", () => {
  test("is YAML or JSON", () => {
    const yaml = "seed: 7\nrules:\n  - {on: {request: 3}, fault: drop, when: after}\n";
    const json = '{"seed":7,"rules":[{"on":{"request":3},"fault":"drop","when":"after"}]}';
    expect(parseFaultText(yaml, "a.yaml")).toEqual(parseFaultText(json, "a.json"));
  });

  test("names every mistake with its place", () => {
    const text = "rules:\n  - fault: explode\n  - fault: drop\n    when: never\n    colour: red\n  - fault: latency\n";
    const problem = (() => {
      try {
        return parseFaultText(text, "faults.yaml");
      } catch (error) {
        return error;
      }
    })();
    expect(problem).toMatchObject({ code: "usage" });
    const { message } = problem as Error; // as matched above
    expect(message).toContain("faults.yaml");
    expect(message).toContain("2:12 rules[0].fault: is not one of latency, status");
    expect(message).toContain("4:11 rules[1].when: ");
    expect(message).toMatch(/3:5 rules\[1\]: .*colour/);
    expect(message).toMatch(/6:5 rules\[2\]\.ms: /);
  });

  test.each(["rules: [", "rules: []\nrules: []", "7", "rule: []"])("%j is refused", (text) => {
    expect(() => parseFaultText(text, "x")).toThrow(expect.objectContaining({ code: "usage" }));
  });

  test("knows the faults that a service of this kind can have", () => {
    expect(FAULTS).toEqual([
      ...["latency", "status", "redirect", "drop", "hang", "cut", "count", "shuffle", "failure-items"],
      ...["replaced-items", "contradiction", "denial", "promise-value", "promise-status", "missing-promise"],
      ...["duplicate-promise", "echo-mismatch", "extra-keys"],
      ...["duplicate-key", "answer-status", "interim", "encoding", "framing", "early-answer"],
      ...["endless", "drip", "too-large", "not-json", "close"],
    ]);
  });
});

test("dates are written in the three forms of HTTP", () => {
  const at = new Date("1994-11-06T08:49:37Z");
  expect(httpDate(at)).toBe("Sun, 06 Nov 1994 08:49:37 GMT");
  expect(httpDate(at, "rfc850")).toBe("Sunday, 06-Nov-94 08:49:37 GMT");
  expect(httpDate(at, "asctime")).toBe("Sun Nov  6 08:49:37 1994");
});
