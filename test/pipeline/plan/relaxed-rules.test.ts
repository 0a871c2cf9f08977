/** What rules would stop, where a config turns them all off: whatever it is, it is planned, and known again. */

import { expect, test } from "vitest";
import { ACTION_NAMES, acceptedFields } from "../../../src/actions/actions.ts";
import { KNOWN_RULES } from "../../../src/rules.ts";
import { openField } from "../../support/context.ts";

const VALUES = [7, -1, 1.5, 1e300, true, "x", "", null, [], {}, ["0x1"], { a: 1 }];
const ITEMS = ACTION_NAMES.flatMap((action) =>
  acceptedFields(action).flatMap((field) => VALUES.map((value) => ({ action, data: { [field]: value } }))),
);

test.each(["input", "time"] as const)("by %s", async (order) => {
  const field = await openField();
  await field.write("tickets.config.yaml", `rules: {${KNOWN_RULES.map((rule) => `${rule}: off`).join(", ")}}\n`);
  await field.write("x.ndjson", ITEMS);
  const first = await field.stream(["x.ndjson"], { order, dryRun: true });
  expect(first.summary?.actions.notSent, first.said).toBeGreaterThan(100);
  const adopted = await field.stream(["x.ndjson"], { order, adopt: true });
  expect(adopted.summary, adopted.said).toMatchObject({ state: "adopted", actions: { total: ITEMS.length } });
  const again = await field.stream(["x.ndjson"], { order });
  expect(again.summary, again.said).toMatchObject({
    ...{ state: "nothing new", problems: { errors: 0, warnings: 0 } },
    actions: { total: ITEMS.length, accepted: 0, rejected: 0, notSent: 0 },
  });
});
