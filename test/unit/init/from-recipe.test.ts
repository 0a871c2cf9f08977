/** The exports of known systems: their recipes, with what the file shows. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Guess, guessConfig } from "../../../src/init/guess.ts";
import { actionsIn, actionsOf, tableOf } from "../map/samples.ts";
import { bodyOf, mapWith } from "./configs.ts";

const fixtures = fileURLToPath(new URL("../../../fixtures/exports/", import.meta.url));
/** What the exports do not say, by the key of the line that asks for it. */
const ANSWERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "pretix-positions": { zone: "Europe/Berlin" },
  "eventbrite-attendees": {
    zone: "America/Los_Angeles",
    eventId: "eb-900100200",
    eventName: "Café Ünïcode Live",
  },
  "openevent-orders": { eventId: "oe-summit-26" },
  "openevent-attendees": { eventId: "oe-summit-26" },
};
/** The prices that Hi.Events does not export. */
const PRICES: Readonly<Record<string, string>> = {
  "General Admission": "35.00",
  "VIP - Early Bird": "79.50",
  "Student – ½ price": "17.50",
  "Crew & Press": "0.00",
};

/** What a user does: puts an answer in each place that asks for one. */
function fillIn({ yaml, sources: [guessed] }: Guess): string {
  return yaml.replace(/^(\s*)(.*?): "<FILL IN: .*>"$/gm, (_line, indent: string, key: string) => {
    const name = key.replace(/^"(.*)"$/, "$1");
    return `${indent}${key}: ${JSON.stringify(ANSWERS[guessed?.name ?? ""]?.[name] ?? PRICES[name])}`;
  });
}

function guessFile(path: string, delimiter: string): { readonly guess: Guess; readonly csv: string } {
  const csv = readFileSync(path, "utf8");
  const fileName = path.replace(/^.*\//, "");
  return {
    csv,
    guess: guessConfig({
      fileName,
      isWhole: true,
      delimiter: delimiter === "," ? undefined : delimiter,
      ...tableOf(csv, delimiter),
    }),
  };
}

/** Folder, file, shared sample, source, delimiter, and what is left to fill in. */
const SYSTEMS = [
  ["pretix", "positions", "pretix-positions", ",", ["zone"]],
  ["alfio", "tickets", "alfio-tickets", ",", []],
  ["hievents", "attendees", "hievents-attendees", ";", Object.keys(PRICES)],
  ["hievents", "events", "hievents-events", ",", []],
  ["eventbrite", "attendees", "eventbrite-attendees", ",", ["zone", "eventId", "eventName"]],
  ["openevent", "orders", "openevent-orders", ",", ["eventId"]],
  ["openevent", "attendees", "openevent-attendees", ",", ["eventId"]],
] as const;

describe.each(SYSTEMS)("the export of %s, %s,", (system, stem, source, delimiter, open) => {
  const path = join(fixtures, system, `${stem}.csv`);

  test("is recognised, and once filled in gives exactly the expected actions", () => {
    const { guess, csv } = guessFile(path, delimiter);
    expect(guess.sources.map(({ name }) => name)).toEqual([source]);
    expect(guess.open.map(({ what }) => /^"?(.*?)"?:/.exec(what)?.[1]).sort()).toEqual([...open].sort());
    const mapped = mapWith(fillIn(guess), source, csv, delimiter);
    expect(mapped.filter(({ kind }) => kind === "invalid")).toEqual([]);
    expect(actionsOf(mapped)).toEqual(actionsIn(path.replace(".csv", ".expected.ndjson")));
  });
});

describe("an export of a known system", () => {
  test("of a known system is asked about, too, where its dates or amounts can be read in two ways", () => {
    const csv = `Order #,Order Date,Email,Ticket Type,Attendee #,Currency,Total Paid,Attendee Status
1,3/4/27 1:59,g@example.com,Student,7,GBP,"1,150",Attending
`;
    const lines = bodyOf("attendees.csv", csv).map((line) => line.trim());
    expect(lines.filter((line) => /price|orderTime/.test(line))).toHaveLength(4);
    for (const line of lines.filter((each) => /^(?:price|orderTime)/.test(each))) expect(line).toContain("<FILL IN: ");
    expect(lines).toContain("Currency: GBP   # as in the only row: the event's currency; another one is a problem");
  });

  test("of a known system with statuses that its recipe does not know asks about each", () => {
    const csv = `Order #,Order Date,Email,Ticket Type,Attendee #,Currency,Total Paid,Attendee Status
1,3/14/27 1:59,g@example.com,Student,7,USD,1.00,Attending
2,3/14/27 1:59,g@example.com,Student,8,USD,1.00,Partially Refunded
`;
    const guess = guessConfig({ fileName: "x.csv", isWhole: true, ...tableOf(csv) });
    expect(guess.open.map(({ what }) => what)).toContainEqual(
      expect.stringContaining("no action takes Partially Refunded (1 row)"),
    );
    expect(guess.yaml).not.toContain("Quantity: 1");
  });

  test("of a known system has the values of its conditions as they stand in the file, and no others", () => {
    const csv = `Event slug,Order code,Position ID,Status,Email,Order date,Order time,Product,Price
e,A,1,Paid,g@example.com,2026-05-01,10:00:00,Pit,1.00
e,A,2,pending,g@example.com,2026-05-01,10:00:00,Pit,1.00
`;
    const lines = bodyOf("positions.csv", csv);
    expect(lines).toContain("  Status: [Paid, pending]");
    expect(lines).toContain("      when: {Status: Paid}");
    expect(lines.join("\n")).toContain("skip:   # rows with these give nothing\n  Status:\n    - pending\nactions:");
    expect(lines.slice(lines.indexOf("  - invalidatedTicket:"))).toEqual([
      "  - invalidatedTicket:",
      "      when: {Status: canceled}",
    ]);
  });

  test("has the date of its name, which is no column that it lacks", () => {
    const csv = "Time,Event,Gate,Barcode,Section,Row,Seat,Entry Mode\n18:03,Gala,A,B1,P,1,2,Scan\n";
    expect(bodyOf("scans-2026-05-09.csv", csv).map((line) => line.trim())).toContain(
      'orderTime: {from: "{file.date} {Time}", format: "yyyy-MM-dd H:mm", rollover: "06:00"}   # the date in the file\'s name',
    );
  });

  test("that lacks the column of a rule with steps leaves all of the rule out, with what stands above it", () => {
    const csv =
      "Public ID,Short ID,Check Ins,Product Name,Event ID,Status,Created Date,Email\np1,s,,Pit,9,CANCELLED,2026-05-01 10:00:00,a@example.com\n";
    const lines = bodyOf("attendees.csv", csv);
    const at = lines.indexOf("  - invalidatedTicket:");
    expect(lines.slice(at)).toEqual([
      "  - invalidatedTicket:",
      "      when: {Status: CANCELLED}",
      "      #fields:",
      '      #  orderTime: {from: "{Last Updated Date}", format: "yyyy-MM-dd HH:mm:ss"}   # this file has no column Last Updated Date',
    ]);
  });
});
