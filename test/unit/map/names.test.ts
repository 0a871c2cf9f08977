import { describe, expect, test } from "vitest";
import { json } from "./rows.ts";
import { actionsOf, mapperOf, mapText } from "./samples.ts";

const scans = (orderTime: string, match = "") =>
  `${match === "" ? "" : `match: ${match}\n`}zone: UTC\nactions:\n  - scannedTicket: {fields: {ticketId: "{T}", orderTime: ${orderTime}}}`;
const BY_NAME = scans('{from: "{file.date} {At}", format: "yyyy-MM-dd H:mm"}', '"*.csv"');

function times(yaml: string, fileName: string): unknown[] {
  const { mapped } = mapText(yaml, "T,At\n1,21:30\n", { fileName });
  return actionsOf(mapped).map((action) => Reflect.get(Object(action).data, "orderTime"));
}

describe("{file.date}", () => {
  test.each([
    "scans-2026-05-09.csv",
    "20260509_scans.csv",
    "Scans 09.05.2026 (1).csv",
    "scans-2026-05-09.rejects.2.csv",
    "scans-2026-05-09-20260509.csv.gz",
    "gate12345678-20260509.csv",
  ])("is the date in %s", (fileName) => {
    expect(times(BY_NAME, fileName)).toEqual([1778362200]);
  });

  test.each([
    ["scans.csv", "{file.date} finds no date in"],
    ["scans-20260230.csv", "{file.date} finds no date in"],
    ["scans-202605091.csv", "{file.date} finds no date in"],
    ["scans-05.09.26.csv", "{file.date} finds no date in"],
    ["scans-2026-05-08-2026-05-09.csv", "{file.date} finds several dates in"],
    ["", "{file.date} needs a file: standard input has no name"],
  ])("is refused of %j", (fileName, message) => {
    expect(() => times(BY_NAME, fileName)).toThrow(message);
  });

  test("is the file's in rows of JSON too; a key of the row is read by a name of one's own", () => {
    const yaml = `columns: {own: file.name}\n${scans("{from: '{file.date} 21:30', format: 'yyyy-MM-dd H:mm'}")}`;
    const mapper = mapperOf(yaml.replace("{T}", "{own}-{file.name}"), { fileName: "scans-2026-05-09.ndjson" });
    expect(actionsOf([mapper.map(json('{"file":{"name":"x"}}'))])).toEqual([
      { action: "scannedTicket", data: { ticketId: "x-scans-2026-05-09.ndjson", orderTime: 1778362200 } },
    ]);
  });

  test("a column of that name comes first", () => {
    const { mapped } = mapText(scans('"{file.date}"'), "T,At,file.date\n1,x,2026-05-09T21:30:00Z\n");
    expect(actionsOf(mapped)).toEqual([{ action: "scannedTicket", data: { ticketId: "1", orderTime: 1778362200 } }]);
  });
});

describe("a date in the config", () => {
  const FIXED = '{from: "2026-05-09 {At}", format: "yyyy-MM-dd H:mm"}';

  test.each([
    [FIXED, '"*.csv"', "scans-2026-05-09.csv"],
    ['{from: ["{Late}", "9.5.2026 {At}"], format: "d.M.yyyy H:mm"}', '"scans-?.csv"', "scans-1.csv"],
    ['{from: "{At}", blank: "9 May 2026 21:00", format: "d MMM yyyy H:mm"}', '[a.csv, "b*.csv"]', "a.csv"],
    ['"2026-05-09T21:30:00Z"', '"scans-2026-05-*.csv"', "scans-2026-05-09.csv"],
    ['{from: "260509", format: yyMMdd}', '"*.csv"', "scans.csv"],
    ['{from: "46151", format: spreadsheet}', '"*.csv"', "scans.csv"],
    ['{from: "9.5.26 {At}", format: "d.M.yy H:mm"}', '"*.csv"', "scans-1.csv"],
    ['"1778362200"', '"*.csv"', "scans-1.csv"],
    ['{from: "{At}", blank: "27 Nov 26", format: "d MMM yy"}', '"*.csv"', "scans-1.csv"],
    [FIXED, "", "scans-2026-05-10.csv"],
    [FIXED, "scans-20260510.csv", "scans-20260510.csv"],
  ])("%s is refused for match %s and %s", (orderTime, match, fileName) => {
    const yaml = `columns: {Late: [T]}\n${scans(orderTime, match)}`;
    expect(() => times(yaml, fileName)).toThrow(/^sources\.s\.actions\[0\]\.scannedTicket\.fields\.orderTime: says /);
  });

  test.each([
    [FIXED, "", "export.csv"],
    [FIXED, "scans.csv", "scans.csv"],
    [FIXED, "scans-2026-05-09.csv", "scans-2026-05-09.csv"],
    [FIXED, '"scans-20260509-*.csv"', "scans-20260509-a.csv"],
    ['{from: "{At}", map: {"21:30": "2026-05-09T21:30:00Z"}}', '"*.csv"', "scans.csv"],
  ])("%s is taken for match %s and %s", (orderTime, match, fileName) => {
    expect(times(scans(orderTime, match), fileName)).toEqual([1778362200]);
  });

  test.each([
    ['{from: "{T}.5.2026 {At}", format: "d.M.yyyy H:mm"}', 1777671000],
    ['{from: "{T}. Mai 2026 {At}:00", format: "d. MMMM yyyy H:mm:ss"}', 1777671000],
  ])("is none where the day is in the row: %s", (orderTime, time) => {
    expect(times(scans(orderTime, '"*.csv"'), "scans.csv")).toEqual([time]);
  });

  test("is taken for the time of an event", () => {
    const yaml = `match: "*.csv"\nactions:\n  - newEvent: {fields: {eventId: "{T}", currency: EUR, startTime: "2026-05-09T21:30:00Z"}}`;
    expect(actionsOf(mapText(yaml, "T,At\n1,x\n").mapped)).toMatchObject([{ data: { startTime: 1778362200 } }]);
  });

  test("names the way on", () => {
    const hintOf = (work: () => unknown): unknown => {
      try {
        return work();
      } catch (cause) {
        return Reflect.get(Object(cause), "hint");
      }
    };
    expect(hintOf(() => times(scans(FIXED, '"*.csv"'), "a.csv"))).toContain("Write {file.date} in its place");
  });
});
