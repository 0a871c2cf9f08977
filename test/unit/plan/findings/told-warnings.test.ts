import { expect, test } from "vitest";
import { digestOfWarning } from "../../../../src/plan/findings/told-warnings.ts";

const warning = (since: string, more: object = {}) =>
  digestOfWarning({
    severity: "warn",
    source: "scans.csv",
    line: 7,
    rule: "after-final",
    field: "ticketId",
    value: "T-1",
    message: `Ticket "T-1" was checked in ${since}; the service may not accept a scannedTicket after that.`,
    hint: "Check the order; --order time sorts by orderTime.",
    mark: "the row",
    ...more,
  });

test("a warning that names another row is the same wherever that row stands, or where it is only remembered", () => {
  const told = warning("at sales.csv:3");
  expect(warning("at sales 2.csv:1042")).toBe(told);
  expect(warning("before this input")).toBe(told);
});

test("one of another row, rule or value is another", () => {
  const told = warning("at sales.csv:3");
  for (const other of [{ mark: "another row" }, { rule: "resold-to-holder" }, { value: "T-2" }])
    expect(warning("at sales.csv:3", other)).not.toBe(told);
});
