import { describe, expect, test } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import type { Finding } from "../../../src/actions/problem.ts";
import { formatOpenActions, namesAllOf, openNames, selectOpenActions } from "../../../src/mapping/open-actions.ts";

const sold: Action = { action: "soldTicket", data: { ticketId: "t" } };
const scan = (orderTime: number): Action => ({ action: "scannedTicket", data: { ticketId: "t", orderTime } });
const row = [sold, scan(1), scan(2), scan(3)];

test.each([
  ["", "soldTicket", true],
  ["soldTicket", "", false],
  ["1:scannedTicket 2:scannedTicket", "2:scannedTicket", true],
  ["scannedTicket", "2:scannedTicket 3:scannedTicket", true],
  ["1:scannedTicket", "scannedTicket", false],
  ["updateTicket", "updateTicket resoldTicket", false],
])("that %j names all of %j is %s", (names, others, does) => {
  expect(namesAllOf(openNames(names), openNames(others))).toBe(does);
});

describe("tickets:actions", () => {
  test.each<[string, readonly Action[]]>([
    ["", row],
    ["  ", row],
    ["soldTicket", [sold]],
    ["1:soldTicket", [sold]],
    ["scannedTicket", row.slice(1)],
    ["2:scannedTicket", [row[2] as Action]],
    ["3:scannedTicket, soldTicket", [sold, row[3] as Action]],
    ["1:scannedTicket;3:scannedTicket", [row[1] as Action, row[3] as Action]],
  ])("%j selects", (text, expected) => {
    const findings: Finding[] = [];
    expect(selectOpenActions(row, text, findings)).toEqual(expected);
    expect(findings).toEqual([]);
  });

  test.each(["0:scannedTicket", "4:scannedTicket", "resoldTicket", "sold", "2:soldTicket", ":", "1:"])(
    "%j names what the row does not give",
    (text) => {
      const findings: Finding[] = [];
      selectOpenActions(row, text, findings);
      expect(findings).toMatchObject([{ rule: "open-actions", field: "tickets:actions", value: text }]);
    },
  );

  test("is written so that it selects the same again, for every choice of open actions", () => {
    for (let bits = 1; bits < 16; bits += 1) {
      const text = formatOpenActions(row, (_action, index) => (bits & (1 << index)) !== 0);
      const findings: Finding[] = [];
      expect(selectOpenActions(row, text, findings)).toEqual(row.filter((_action, index) => bits & (1 << index)));
      expect(findings).toEqual([]);
    }
  });

  test("names an action that is the only one of its name without a number", () => {
    expect(formatOpenActions(row, () => true)).toBe("soldTicket 1:scannedTicket 2:scannedTicket 3:scannedTicket");
  });
});
