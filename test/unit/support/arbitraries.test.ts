import fc from "fast-check";
import { expect, test } from "vitest";
import { ACTION_NAMES } from "../../../src/actions/actions.ts";
import { FIELD_NAMES } from "../../../src/actions/fields.ts";
import { parseJson, stringifyJson } from "../../../src/actions/json.ts";
import { ACTION_RULES, type ActionRule } from "../../../src/actions/rules.ts";
import { validateItem } from "../../../src/actions/validate.ts";
import { openEngine } from "../../../src/sandbox/engine.ts";
import { actionArbitrary, fieldArbitrary, historyArbitrary, mutate, mutatedRules } from "../../support/arbitraries.ts";

const errorsOf = (item: unknown) =>
  validateItem(item)
    .map(({ rule }) => rule)
    .filter((rule) => ACTION_RULES[rule].severity === "error");

/** What the service reads of what a client writes. */
const overTheWire = (value: unknown) => parseJson(stringifyJson(value));

test("a random action from the tables breaks no rule", () => {
  fc.assert(
    fc.property(actionArbitrary(), (action) => {
      expect(errorsOf(overTheWire(action))).toEqual([]);
    }),
  );
});

test("values for cells are trimmed, not blank and on one line", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FIELD_NAMES).chain((name) => fieldArbitrary(name, { forCells: true })),
      (value) => {
        const cell = typeof value === "string" ? value : stringifyJson(value);
        expect(cell).toMatch(/^\S(.*\S)?$/u);
      },
    ),
  );
});

test("a random self-consistent history is accepted whole", () => {
  fc.assert(
    fc.property(historyArbitrary({ byNftId: true }), (history) => {
      using engine = openEngine({ path: ":memory:" });
      const results = engine.process(overTheWire(history) as unknown[]); // a list before and after
      expect(results.filter(({ status }) => status !== "success")).toEqual([]);
      const accepted = results.flatMap((result) => (result.status === "success" ? [result.actionPromise] : []));
      expect(new Set(accepted).size).toBe(history.length);
      // The record says what was processed, in order, to the last digit.
      const record = Array.from(engine.processed());
      expect(record.map(({ action, data }) => stringifyJson({ action, data: parseJson(data) }))).toEqual(
        history.map((action) => stringifyJson(action)),
      );
      expect(record.map(({ actionPromise }) => actionPromise)).toEqual(accepted);
    }),
    { numRuns: 30 },
  );
});

test("a mutated action is refused by the sandbox for the rule that validateItem names", () => {
  using engine = openEngine({ path: ":memory:" });
  const seen = new Set<ActionRule>();
  fc.assert(
    fc.property(
      actionArbitrary().chain((action) => mutate(action)),
      ({ item, rule }) => {
        const received = overTheWire(item);
        expect(new Set(errorsOf(received))).toEqual(new Set([rule]));
        expect(engine.process([received])).toMatchObject([{ status: "error", error: { code: "invalid", rule } }]);
        seen.add(rule);
      },
    ),
    { numRuns: 800 },
  );
  expect(mutatedRules().filter((rule) => !seen.has(rule))).toEqual([]);
  expect(engine.counts()).toMatchObject({ events: 0, tickets: 0, accepted: 0 });
});

test("every action occurs in random histories", () => {
  const seen = new Set(fc.sample(historyArbitrary(), 30).flatMap((history) => history.map(({ action }) => action)));
  expect(Array.from(seen).sort()).toEqual(Array.from(ACTION_NAMES).sort());
});
