/** Columns that are named like fields. */

import { describe, expect, test } from "vitest";
import { asksIn, bodyOf, ruleOf } from "./configs.ts";

describe("that columns named like fields need no rules is said", () => {
  const plain = (fileName: string, csv: string) => bodyOf(fileName, csv)[0];

  test.each([
    ["scans.csv", "ticketId,orderTime,gate,device\nt1,1777000000,N,d1\n"],
    ["cancellations.csv", "ticketId,orderTime,reason,Order date\nt1,1777000000,refunded,2026-05-01\n"],
    ["log.csv", "action,ticketId,orderTime,gate\nscannedTicket,t1,1777000000,N\n"],
  ])("of %s, and nothing is asked: %j", (fileName, csv) => {
    expect(plain(fileName, csv)).toMatch(/^# The columns are named like fields.* need no rules\.$/);
    expect(asksIn(bodyOf(fileName, csv))).toEqual([]);
  });

  test.each([
    ["scans.csv", "ticketId,orderTime,Outcome\nt1,1777000000,ok\n"],
    ["sales.csv", "eventId,ticketId,userId,price,Refund amount\ne,t1,u,1.00,1.00\ne,t2,u,1.00,\n"],
    ["sales.csv", "eventId,ticketId,userId,price,Booked at\ne,t1,u,1.00,2026-05-01T20:00Z\n"],
    ["events.csv", "eventId,currency,Event start\ne,EUR,2026-05-01T20:00Z\n"],
  ])("but not of %s: %j", (fileName, csv) => {
    expect(bodyOf(fileName, csv).join("\n")).not.toContain("need no rules.");
  });

  test("the amount of a refund is no price, and is asked about", () => {
    const lines = bodyOf("export.csv", "Barcode,Refund amount,Event ID\nb1,1.00,e\nb2,,e\n");
    expect(ruleOf(lines, "price")).toContain("<FILL IN: no column looks like a price>");
    expect(lines.join("\n")).toContain(
      'when: {Refund amount: "<FILL IN: which values of Refund amount mean that a ticket is no longer valid',
    );
  });
});

describe("columns named like fields", () => {
  test("named like fields has a condition by the status beside them", () => {
    const csv = `eventId,ticketId,userId,price,État
${["payée", "annulée", "en attente"].map((status, at) => `e,t${at},u,1.00,${status}`).join("\n")}
`;
    const lines = bodyOf("sales.csv", csv);
    for (const asked of [
      "are sales, such as [one, other]?",
      "mean that a ticket is no longer valid, such as [one, other]?",
    ])
      expect(lines.join("\n")).toContain(`      when: {État: "<FILL IN: which values of État ${asked} `);
    expect(lines).toContain('  ticketId: "{ticketId}"');
  });
});
