/** A line of totals under the rows is reported as one; real rows never are. */

import { describe, expect, test } from "vitest";
import { mapText } from "./samples.ts";

const SOLD = `actions:
  - soldTicket:
      fields: {eventId: e, ticketId: "{ID}", userId: ["{User}", guest], price: "{Price}"}`;

/** The rules that a last line breaks, or what it gives. */
function rulesOf(line: string, yaml = SOLD) {
  const last = mapText(yaml, `ID,User,Price,Seat\nt1,u1,10.00,A\nt2,u2,20.50,B\nt3,u3,5,C\n${line}\n`).mapped.at(-1);
  return last?.kind === "invalid" ? last.problems.map(({ rule }) => rule) : last?.kind;
}

describe("a row whose ticket is called", () => {
  test.each(["TOTAL:", "Gesamt-Summe", "合計", " sub total ", "Net total"])("%s is no ticket", (word) => {
    expect(rulesOf(`${word},u4,36.00,D`)).toEqual(["totals-line"]);
  });

  test.each(["Anzahl: 2", "Summe: 1.250,00 EUR", "Total = 36.00", "Total:€ 36", "TOTAL (22)", "Total tickets: 3"])(
    "%s, with its number, is no ticket",
    (text) => {
      expect(rulesOf(`"${text}",u4,0.00,D`)).toEqual(["totals-line"]);
      expect(rulesOf(`"${text}",,,`, SOLD.replace("{ID}", "x-{Seat}"))).toContain("totals-line");
    },
  );

  test("the hint names its column", () => {
    const { mapped } = mapText(SOLD, "ID,User,Price,Seat\nt1,u1,10.00,A\nTOTAL,,10.00,\n");
    expect(mapped.at(-1)).toMatchObject({
      problems: [{ hint: expect.stringContaining('skip: {"ID": "TOTAL"}.') }],
    });
  });

  test("Total and little else is reported also where its ticket has no id", () => {
    expect(rulesOf("Total,,35.5,", SOLD.replace("{ID}", "{ID}-{Seat}"))).toContain("totals-line");
  });

  test.each([
    ["names another field's part", SOLD.replace('["{User}", guest]', '"u-{User}"'), "t4,Total,1.00,D"],
    [
      "is replaced by a value table",
      SOLD.replace('"{ID}"', '{from: "{ID}-{Seat}", map: {Total-D: x}, else: "{ID}-{Seat}"}'),
      "Total,u,1,D",
    ],
  ])("Total is none where it %s", (_what, yaml, row) => {
    expect(rulesOf(row, yaml)).toBe("actions");
  });

  test.each([
    ...["total-1", "TOTAL2026", "totally", "sum41", "Total 2", "Anzahl", "Anzahl 2", "Ticket: 2", "A1:Total: 2"],
    ...["Total: 2 of 3", "Summe: A1", "12:30"],
  ])("%s is one", (id) => {
    expect(rulesOf(`${id},u4,36.00,D`)).toBe("actions");
  });
});
