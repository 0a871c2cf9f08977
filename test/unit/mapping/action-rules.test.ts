import { describe, expect, test } from "vitest";
import { actionRulesOf, findRenumbered } from "../../../src/mapping/action-rules.ts";
import type { ActionConfig, SourceConfig } from "../../../src/mapping/source.ts";

const scan = (orderTime: string, more: ActionConfig = {}) => ({ scannedTicket: { fields: { orderTime }, ...more } });
const PRE = scan("{Pre}");
const IN = scan("{In}");
const OUT = scan("{Out}");
const REFUND = { invalidatedTicket: {} };
type Of = Pick<SourceConfig, "actions" | "each">;

describe("what rejects name may be another action", () => {
  const numbered = "2:scannedTicket";
  test.each<readonly [what: string, open: string, then: Of, now: Of, found: string | undefined]>([
    ["where one stands before it now", numbered, { actions: [IN, OUT] }, { actions: [PRE, IN, OUT] }, numbered],
    ["where one stands behind it now", numbered, { actions: [IN, OUT] }, { actions: [IN, OUT, PRE] }, numbered],
    ["where they changed places", numbered, { actions: [IN, OUT] }, { actions: [OUT, IN] }, numbered],
    ["where one came and one went", numbered, { actions: [IN, OUT] }, { actions: [PRE, IN] }, numbered],
    ["where one went", numbered, { actions: [IN, OUT] }, { actions: [OUT] }, numbered],
    ["where it was the only one", "scannedTicket", { actions: [IN] }, { actions: [PRE, IN] }, "scannedTicket"],
    [
      "where it repeats by something else",
      numbered,
      { actions: [IN] },
      { actions: [{ ...scan("{In}", { each: { count: "{N}" } }) }] },
      numbered,
    ],
    [
      "where the rows repeat by something else",
      numbered,
      { actions: [IN], each: { count: "{N}" } },
      { actions: [IN], each: { count: "{M}" } },
      numbered,
    ],
    ["where the source has no list any more", numbered, { actions: [IN, OUT] }, {}, numbered],
    [
      "but not where it was put right itself",
      numbered,
      { actions: [IN, OUT] },
      { actions: [IN, scan("{Exit}")] },
      undefined,
    ],
    [
      "nor where another kind came",
      `${numbered} soldTicket`,
      { actions: [IN, OUT] },
      { actions: [REFUND, IN, OUT] },
      undefined,
    ],
    ["nor where it was and is the only one", "scannedTicket", { actions: [IN] }, { actions: [OUT, REFUND] }, undefined],
    [
      "nor where nothing changed",
      `1:scannedTicket, ${numbered}`,
      { actions: [IN, OUT] },
      { actions: [IN, OUT] },
      undefined,
    ],
  ])("%s", (_what, open, then, now, found) => {
    expect(findRenumbered(open, actionRulesOf(then), actionRulesOf(now))?.name).toBe(found);
  });
});
