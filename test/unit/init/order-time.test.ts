/** The time of an action: which column holds it, and where that is asked. */

import { describe, expect, test } from "vitest";
import { bodyOf, ruleOf } from "./configs.ts";

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

  test("an action that has several, or a field and its own, is asked for it", () => {
    for (const header of ["ticketId,orderTime,Scanned at", "Ticket,First scanned at,Last scanned at"]) {
      const lines = bodyOf("scans.csv", `${header}\nt1,2026-05-01T20:00:00Z,2026-05-01T21:00:00Z\n`);
      expect(ruleOf(lines, "orderTime")).toContain("# more than one column has such a name");
    }
    const resale = bodyOf("resales.csv", "ticketId,userId,price,Order date\nt1,u,1.00,2026-05-01T20:00:00Z\n");
    expect(ruleOf(resale, "orderTime")).toContain("# it may be that of the first sale");
  });
});

describe("a time that no format reads is asked for with a sample", () => {
  test.each([
    ["Scanned at", "27/XI/2026 19h15"],
    ["Scan time", "Fri 27th, quarter past 7"],
    ["Eingelassen um", "27.11. um 19:15"],
    ["Date", "Nov. 27th 2026"],
  ])("of a scan: %s", (name, cell) => {
    const rows = [1, 2].map((at) => `T${at},"${cell}",A,AB12${at}`);
    const lines = bodyOf("scans.csv", `${[`Barcode,${name},Entry gate,Check-in code`, ...rows].join("\n")}\n`);
    expect(lines.join("\n")).toContain(
      `orderTime: {from: "{${name}}", format: "<FILL IN: the format of \\"${cell}\\", which is none of the usual ones>"}`,
    );
    expect(lines.join("\n")).not.toContain("no column looks like a time");
  });

  test("by its cells alone, where no column is named like one", () => {
    const lines = bodyOf("scans.csv", "Barcode,Info,Gate\nT1,27.11. um 19:15,A\nT2,27.11. um 19:16,A\n");
    expect(ruleOf(lines, "orderTime")).toContain(
      "<FILL IN: one of the next lines, without its #, where it is the time of the scan;",
    );
    expect(ruleOf(lines, "#orderTime")).toContain(
      'from: "{Info}", format: "<FILL IN: the format of \\"27.11. um 19:15\\"',
    );
  });

  test("not a gate, a code or an amount, however it is called", () => {
    const lines = bodyOf(
      "scans.csv",
      "Barcode,Entry gate,Check-in code,Entry fee\nT1,Gate 12A,AB1234,2.50\nT2,Gate 12B,AB1235,2.50\n",
    );
    expect(ruleOf(lines, "#orderTime")).toContain("no column looks like a time");
  });
});

describe("numbers in a column that is named like a time", () => {
  test.each([
    ["46353.80211", "spreadsheet", "2026-11-27 19:15"],
    ["46353", "spreadsheet", "2026-11-27 00:00"],
    ["20261127", "yyyyMMdd", "2026-11-27 00:00"],
    ["20261127191503", "yyyyMMddHHmmss", "2026-11-27 19:15"],
  ])("are read: %s as %s", (cell, format, time) => {
    for (const [fileName, name] of [
      ["scans.csv", "Scan time"],
      ["sales.csv", "Purchase Date"],
    ] as const) {
      const lines = bodyOf(fileName, `Barcode,Email,Price,Show,${name}\nT1,a@x.example,1.00,S,${cell}\n`);
      expect(ruleOf(lines, "orderTime")).toContain(
        `{from: "{${name}}", format: ${format}}   # guess: the only way that fits, "${cell}" is ${time}`,
      );
      expect(ruleOf(lines, "zone")).toContain("<FILL IN: the time zone of");
    }
  });

  test("and in no other", () => {
    for (const name of ["Locker no", "Order", "Customer"]) {
      const lines = bodyOf("scans.csv", `Barcode,${name}\nT1,46353\nT2,46354\n`);
      expect(ruleOf(lines, "#orderTime")).toContain("no column looks like a time");
    }
  });
});

test("the start of events that no column is named like is asked for", () => {
  const lines = bodyOf(
    "events.csv",
    "Event ID,Name,Currency,Date\ne1,Gala,EUR,2026-11-27 19:30\ne2,Ball,EUR,2026-11-28 19:30\n",
  );
  expect(ruleOf(lines, "startTime")).toContain(
    "<FILL IN: one of the next lines, without its #, where it is the event's start;",
  );
  expect(ruleOf(lines, "#startTime")).toContain('{from: "{Date}", format: iso}');
});

describe("times of day need a date, which is asked", () => {
  const csv = "Ticket,Scan time\nT1,19:15\nT2,19:20\n";

  test.each(["scans-2026-11-27.csv", "scans-20261127.csv", "scans 27.11.2026.csv"])(
    "that of the file's name is offered, and the next file is taken, too: %s",
    (fileName) => {
      const lines = bodyOf(fileName, csv);
      expect(ruleOf(lines, "orderTime")).toContain(
        `{from: "<FILL IN: {file.date}, if the file's name says the date of these times; else the date> {Scan time}"`,
      );
      expect(ruleOf(lines, "match")).toMatch(/^match: "scans.*\*\.csv"$/);
    },
  );

  test.each(["scans.csv", "scans-2026.csv", "scans-2026-11-27-to-2026-11-28.csv"])(
    "for this file alone where its name has no date, or two: %s",
    (fileName) => {
      const lines = bodyOf(fileName, csv);
      expect(ruleOf(lines, "orderTime")).toContain('{from: "<FILL IN: the date, such as 2026-05-09> {Scan time}"');
      expect(ruleOf(lines, "match")).toBe(`match: ${fileName}   # this file only, as the date below is`);
    },
  );
});
