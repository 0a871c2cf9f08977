/** A line of totals under the rows is reported as one; real rows never are. */

import { describe, expect, test } from "vitest";
import { cellsRow } from "./rows.ts";
import { sourceOf, tableOf } from "./samples.ts";
import type { Mapped } from "./shown.ts";
import { createMapper } from "./shown.ts";

const SOLD = `actions:
  - soldTicket:
      fields: {eventId: e, ticketId: "{ID}", userId: ["{User}", guest], price: "{Price}"}`;

function read(csv: string, yaml = SOLD): { mapped: readonly Mapped[] } {
  const { header, rows } = tableOf(csv);
  const mapper = createMapper({ fileName: "x.csv", header, source: { name: "s", config: sourceOf(yaml) } });
  const mapped = rows.map((cells, at) => mapper.map(cellsRow(at + 2, cells)));
  return { mapped };
}

const rulesOf = (mapped: Mapped | undefined) =>
  mapped?.kind === "invalid" ? mapped.problems.map(({ rule }) => rule) : mapped?.kind;

const ROWS = "ID,User,Price,Seat\nt1,u1,10.00,A\nt2,u2,20.50,B\nt3,u3,5,C\n";

describe("a row whose ticket is called", () => {
  test.each(["TOTAL:", "Gesamt-Summe", "合計", " sub total "])("%s is no ticket", (word) => {
    expect(rulesOf(read(`${ROWS}${word},u4,36.00,D\n`).mapped.at(-1))).toEqual(["totals-line"]);
  });

  test.each(["Anzahl: 2", "Summe: 1.250,00 EUR", "Total = 36.00", "Total:€ 36"])(
    "%s, with its number, is no ticket",
    (text) => {
      expect(rulesOf(read(`${ROWS}"${text}",u4,0.00,D\n`).mapped.at(-1))).toEqual(["totals-line"]);
      expect(rulesOf(read(`${ROWS}"${text}",,,\n`, SOLD.replace("{ID}", "x-{Seat}")).mapped.at(-1))).toContain(
        "totals-line",
      );
    },
  );

  test("Total and little else is reported also where its ticket has no id", () => {
    const yaml = SOLD.replace("{ID}", "{ID}-{Seat}");
    expect(rulesOf(read(`${ROWS}Total,,35.5,\n`, yaml).mapped.at(-1))).toContain("totals-line");
  });

  test.each([
    ["names another field's part", SOLD.replace('["{User}", guest]', '"u-{User}"'), "t4,Total,1.00,D"],
    [
      "is replaced by a value table",
      SOLD.replace('"{ID}"', '{from: "{ID}-{Seat}", map: {Total-D: x}, else: "{ID}-{Seat}"}'),
      "Total,u,1,D",
    ],
  ])("Total is none where it %s", (_what, yaml, row) => {
    expect(rulesOf(read(`${ROWS}${row}\n`, yaml).mapped.at(-1))).toBe("actions");
  });

  test.each([
    ...["total-1", "TOTAL2026", "totally", "sum41", "Total 2", "Anzahl", "Anzahl 2", "Ticket: 2", "A1:Total: 2"],
    ...["Total: 2 of 3", "Summe: A1", "12:30"],
  ])("%s is one", (id) => {
    expect(rulesOf(read(`${ROWS}${id},u4,36.00,D\n`).mapped.at(-1))).toBe("actions");
  });

  test("gives its event with the next row", () => {
    const yaml = `fields: {eventId: e, ticketId: "{ID}"}\nactions:\n  - newEvent: {fields: {currency: EUR}}\n  - scannedTicket: {}`;
    const { mapped } = read("ID\nTotal\nt1\n", yaml);
    expect(mapped[1]).toMatchObject({
      kind: "actions",
      actions: [{ action: "newEvent" }, { action: "scannedTicket" }],
    });
  });
});
