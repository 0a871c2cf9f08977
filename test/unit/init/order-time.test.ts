/** The time of a deed: which column holds it, and where that is asked. */

import { describe, expect, test } from "vitest";
import { bodyOf, givenIn, ruleOf, SALE } from "./configs.ts";

describe("the time of a sale", () => {
  const sold = (name: string, cells: readonly string[], more = "") =>
    bodyOf(
      "export.csv",
      `Barcode,Email,Price,Show,${name}${more === "" ? "" : `,${more}`}\n${cells.map((cell, at) => `t${at},a@example.com,1.00,S${at % 2},${cell}`).join("\n")}\n`,
    );
  const DAYS = ["2026-05-01T20:00:00Z", "2026-05-02T20:00:00Z", "2026-05-03T20:00:00Z"];

  test.each([
    "Event start",
    "eventDate",
    "Doors open",
    "Date of birth",
    "Valid until",
    "expiry_date",
    "updatedAt",
    "Printed at",
    "Veranstaltungsdatum",
    "Gültig bis",
    "Date de naissance",
    "Fecha del evento",
    "Checked in at",
    "Claimed at",
  ])("is no column called %s", (name) => {
    // biome-ignore format: a table of names
    const lines = sold(name, DAYS);
    expect(ruleOf(lines, "orderTime")).toBeUndefined();
    expect(ruleOf(lines, "#orderTime")).toContain(
      `no column is named like the time of the sale (${JSON.stringify(name)}: of something else)`,
    );
  });

  test.each([
    "Order date",
    "Sold at",
    "Payment date",
    "created_at",
    "Timestamp",
    "Kaufdatum",
    "Date de commande",
    "Fecha de compra",
    "Ticket order date",
  ])("is a column called %s", (name) => {
    // biome-ignore format: a table of names
    expect(ruleOf(sold(name, DAYS), "orderTime")).toMatch(/^orderTime: \{from: .* # guess/);
  });

  test.each([
    ["x_ms", ["1794900000000", "1794900007000"], "no column has such a name"],
    ["Date", ["2026-05-01", "2026-05-01"], "it is the same in all rows"],
    ["Date", ["2026-05-01", "2026-05-02", "2026-05-01", "2026-05-02"], "it is the same in all rows of an event"],
    ["Sold at", Array.from({ length: 12 }, () => "2026-05-01T20:00:00Z"), "it is the same in all rows"],
  ])("is asked for where a column called %s may hold it: %j", (name, cells, why) => {
    const lines = sold(name, cells);
    expect(ruleOf(lines, "orderTime")).toMatch(new RegExp(`^orderTime: "<FILL IN: .*>" {3}# ${why}$`));
    expect(ruleOf(lines, "#orderTime")).toContain(`{from: "{${name}}"`);
  });

  const SECONDS = ["1794900000", "1794900007"];
  test.each([
    ...["ts", "TS", "epoch", "unixtime", "unix_ts", "unixTimestamp", "Unix time", "epoch_ms", "Timestamp (ms)"],
    ...["created_ts", "sold_ts", "purchase_epoch", "order_unixtime"],
  ])("is a column of Unix seconds called %s", (name) => {
    expect(ruleOf(sold(name, SECONDS), "orderTime")).toBe(
      `orderTime: {from: "{${name}}", format: unix}   # guess by name; all are whole numbers of that size`,
    );
  });

  test.each([
    ["start_ts", ": of something else"],
    ["expires_epoch", ": of something else"],
  ])("is no column of Unix seconds called %s", (name, why) => {
    expect(ruleOf(sold(name, SECONDS), "#orderTime")).toContain(why);
  });

  test.each([
    ["x", ["1794900000", "3794900000"]],
    ["x", ["17949000001", "17949000002"]],
    ["Locker no", ["1794900000", "1794900007"]],
  ])("is nothing that %s: %j speaks of", (name, cells) => {
    expect(ruleOf(sold(name, cells), "#orderTime")).toContain("no column looks like a time");
  });

  test("is told from the other times beside it", () => {
    const csv = `${SALE},Event start,Ordered,Cancelled\ne,t1,u,1.00,2026-05-01T20:00Z,2026-04-01T20:00Z,\ne,t2,u,1.00,2026-05-01T20:00Z,2026-04-02T20:00Z,2026-04-03T20:00Z\n`;
    for (const fileName of ["sales.csv", "export.csv"]) {
      const lines = bodyOf(fileName, csv);
      expect(ruleOf(lines, "orderTime")).toContain('{from: "{Ordered}"');
      expect(lines.join("\n")).not.toContain("no column looks like a time");
      expect(givenIn(lines)).toEqual(["newEvent", "soldTicket", "invalidatedTicket"]);
      expect(lines.join("\n")).toContain('when: {Cancelled: "<FILL IN: {empty: false} or what');
    }
  });

  test("a deed that has several, or a field and its own, is asked for it", () => {
    for (const header of ["ticketId,orderTime,Scanned at", "Ticket,First scanned at,Last scanned at"]) {
      const lines = bodyOf("scans.csv", `${header}\nt1,2026-05-01T20:00:00Z,2026-05-01T21:00:00Z\n`);
      expect(ruleOf(lines, "orderTime")).toContain("# more than one column has such a name");
    }
    const resale = bodyOf("resales.csv", "ticketId,userId,price,Order date\nt1,u,1.00,2026-05-01T20:00:00Z\n");
    expect(ruleOf(resale, "orderTime")).toContain("# it may be that of the first sale");
  });
});
