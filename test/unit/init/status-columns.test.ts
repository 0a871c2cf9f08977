/** Columns by which rows differ. */

import { describe, expect, test } from "vitest";
import { guessConfig } from "../../../src/init/guess.ts";
import { tableOf } from "../map/samples.ts";
import { bodyOf, load } from "./configs.ts";

describe("a log's column by which rows differ is asked about:", () => {
  test.each([
    ["Outcome", ["granted", "already used"]],
    ["OK", ["true", "false"]],
    ["Granted", ["1", "0"]],
    ["Ergebnis", ["grün", "rot"]],
    ["Message", ["ok", "Already scanned"]],
    ["Result", ["denied", "denied"]],
    ["Void", ["no", "yes"]],
  ])("%s: %j", (name, [one, other]) => {
    for (const fileName of ["scans.csv", "checkins.csv", "gate-3.csv"])
      for (const header of ["Ticket Code,Scanned at", "ticketId,orderTime"]) {
        const time = header.startsWith("ticketId") ? "1777000000" : "2026-05-01T20:00:00Z";
        const lines = bodyOf(fileName, `${header},${name}\nt1,${time},${one}\nt2,${time},${other}\n`);
        const all = lines.join("\n");
        expect(all).not.toContain("need no rules");
        expect(all).toContain(`when: {${name}: "<FILL IN: which values of ${name} give this action`);
        expect(all).toContain("expect:   # what this file holds");
      }
  });

  test.each(["Voided at", "refunded_at", "Cancelled", "Storniert am"])("%s, where some hold a time", (name) => {
    for (const header of ["Ticket Code,Scanned at", "ticketId,orderTime"]) {
      const time = header.startsWith("ticketId") ? "1777000000" : "2026-05-01T20:00:00Z";
      const some = bodyOf("scans.csv", `${header},${name}\nt1,${time},2026-05-02T20:00:00Z\nt2,${time},\n`);
      expect(some.join("\n")).toContain(
        `when: {${name}: "<FILL IN: which values of ${name} give this action, such as [one, other], {empty: true} or {empty: false}`,
      );
      const none = bodyOf("scans.csv", `${header},${name}\nt1,${time},\nt2,${time},\n`);
      expect(none).toContain(`  ${name}: ""`);
      expect([...some, ...none].join("\n")).not.toContain("need no rules");
    }
  });

  test("two of them are asked about on one line, and both are shown", () => {
    const csv =
      "Barcode,Scanned at,Direction,Result\nt1,2026-05-01T20:00:00Z,in,ok\nt2,2026-05-01T20:01:00Z,out,error\n";
    const { open } = guessConfig({ fileName: "scans.csv", isWhole: true, ...tableOf(csv) });
    expect(open.map(({ what }) => what.split(":")[0])).toEqual(["Direction", "Result"]);
    expect(new Set(open.map(({ line }) => line)).size).toBe(1);
  });

  test("a time that not every row has", () => {
    for (const [header, name] of [
      ["Ticket ID,Checked in at", "Checked in at"],
      ["ticketId,orderTime", "orderTime"],
      ["ticketId,nftId,orderTime", "orderTime"],
    ]) {
      const cells =
        header
          ?.split(",")
          .slice(2)
          .map(() => ",") ?? [];
      const csv = `${header}\nt1,${cells.join("")}\nt2,${cells.join("")}2026-05-01T20:00:00Z\n`;
      const lines = bodyOf("checkins.csv", csv);
      expect(lines.join("\n")).toContain(
        `when: {${name}: "<FILL IN: which values of ${name} give this action, such as [one, other], {empty: true} or {empty: false}? 2026-05-01T20:00:00Z (1), empty (1)`,
      );
      expect(lines.join("\n")).not.toContain("need no rules");
    }
  });
});

describe("an unknown layout", () => {
  test("with NULL for a status, as databases write it, is a config that can be read and means that text", () => {
    const csv = "Barcode,Event ID,Email,Price,Status\nb1,e,a@example.com,1.00,paid\nb2,e,b@example.com,1.00,NULL\n";
    const { yaml } = guessConfig({ fileName: "sold.csv", isWhole: true, ...tableOf(csv) });
    const { issues } = load(yaml);
    expect(issues).toEqual([]);
    expect(yaml).toContain('Status: [paid, "NULL"]');
  });
});

test("of a log and of sales, a column of few values that no rule uses is shown as a condition that is not set", () => {
  const scans = Array.from(
    { length: 20 },
    (_, at) => `HH-2,18:45:${10 + at},T${at},${["EIN", "WDR", "EIN", "UNG"][at % 4]}`,
  );
  const lines = bodyOf("einlass.csv", `Gerät,Uhrzeit,Code,Erg.\n${scans.join("\n")}\n`);
  expect(lines.map((line) => line.trim())).toContain(
    '#when: {"Erg.": EIN}   # Erg. is EIN (10), WDR (5), UNG (5): if it decides, say which rows count',
  );
  expect(lines.join("\n")).not.toContain("#when: {Gerät");
});
