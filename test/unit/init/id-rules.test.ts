/** The ids of tickets, events and users. */

import { describe, expect, test } from "vitest";
import { guessConfig } from "../../../src/init/guess.ts";
import { tableOfObjects } from "../../../src/init/samples.ts";
import { tableOf } from "../map/samples.ts";
import { bodyOf, ruleOf } from "./configs.ts";

test("the id of an event or of a user is never taken for that of a ticket, though no two rows have the same", () => {
  for (const csv of ["eventId,price\ne1,1.00\ne2,2.00\n", "customer_id,Amount\nc1,1.00\nc2,2.00\n"])
    for (const fileName of ["sales.csv", "scans.csv", "export.csv"])
      expect(ruleOf(bodyOf(fileName, csv), "ticketId")).toContain("<FILL IN: the id of the ticket");
});

test.each(["Karten-ID", "Karte", "N° de billet", "Serial", "Ticket code", "Numero biglietto"])(
  "%s is the id of a ticket",
  (name) => {
    const csv = `Vorgang,${name},Kundennr,Preis,Buchungszeit\nV1,K1,7,2.50,2026-05-01T10:00:00Z\nV1,K2,7,2.50,2026-05-01T10:00:00Z\n`;
    const lines = bodyOf("sales.csv", csv);
    expect(ruleOf(lines, "ticketId")).toContain(`"{${name}}"`);
    expect(ruleOf(lines, "orderTime")).toContain('"{Buchungszeit}"');
    // Ids of sales are no kinds of rows.
    expect(ruleOf(lines, "when")).toBeUndefined();
  },
);

test("the ticket of a log is the one that is called so, though it stands there twice", () => {
  const csv =
    "Scan ID,Barcode,Scanned at\n1,b1,2026-05-01T20:00:00Z\n2,b1,2026-05-01T21:00:00Z\n3,b2,2026-05-01T22:00:00Z\n";
  expect(ruleOf(bodyOf("scans.csv", csv), "ticketId")).toBe(
    'ticketId: "{Barcode}"   # guess by name: 2 different in 3 rows',
  );
  expect(ruleOf(bodyOf("scans.csv", csv.replace("Barcode", "Wristband")), "ticketId")).toContain("<FILL IN: ");
});

describe("what is merely different in every row does not beat what is named like a ticket's id", () => {
  const till = (id: string, ...amounts: readonly string[]): string => {
    const rows = amounts.map((amount, at) => `${900 + at},${at === 3 ? "T0" : `T${at}`},g1,u1,${amount}`);
    return `${[`Receipt No,${id},Event ID,Customer ID,Price`, ...rows].join("\n")}\n`;
  };

  test("where the rows that were paid differ, as the refund of a free ticket is no negative amount", () => {
    const lines = bodyOf("till.csv", till("Barcode", "0.00", "12.00", "-12.00", "0.00"));
    expect(ruleOf(lines, "ticketId")).toBe(
      'ticketId: "{Barcode}"   # guess: different in 3 of 4 rows; also "Receipt No"',
    );
  });

  test("both are named where nothing shows why it comes again", () => {
    const asked = (id: string): string =>
      `ticketId: "<FILL IN: the id of the ticket: {${id}} repeats (3 values in 4 rows): use it if the repeats are refunds or scans>"   # or "{Receipt No}", if that is one: 4 different in 4 rows`;
    const amounts = ["10.00", "12.00", "12.00", "10.00"];
    expect(ruleOf(bodyOf("till.csv", till("Barcode", ...amounts)), "ticketId")).toBe(asked("Barcode"));
    // A code may be anything, but not where the log of the doors has it too.
    const sample = { fileName: "till.csv", isWhole: true, ...tableOf(till("Code", ...amounts)) };
    const log = { fileName: "scans.csv", isWhole: true, ...tableOf("Code,Scanned at\nT1,2026-05-01T20:00:00Z\n") };
    expect(guessConfig(sample, log).yaml).toContain(asked("Code"));
  });
});

test("whether each performance of a title is an event is asked", () => {
  const lines = bodyOf(
    "x.csv",
    "Veranstaltung,Vorstellung,Barcode,Price\nFaust,1.5.2026 19:30,T1,9.00\nFaust,2.5.2026 19:30,T2,9.00\n",
  );
  expect(ruleOf(lines, "eventId")).toContain("Vorstellung differs within one Veranstaltung, is each an event?");
});

describe("an unknown layout", () => {
  test("never has an amount or an answer taken for an id, nor part of a word for the word", () => {
    const csv = `Booking,Event Fees,Which event did you like?,Price
b1,2.50,Gala,10.00
b2,2.60,Ball,12.00
`;
    const guess = guessConfig({ fileName: "x.csv", isWhole: true, ...tableOf(csv) });
    expect(guess.yaml).not.toMatch(/(?:eventId|ticketId|userId): "\{(?:Event Fees|Which)/);
    expect(guess.open.map(({ what }) => what)).toContain("eventId: the id of the event: no column has such a name");
    const lines = guess.yaml.split("\n");
    expect(guess.guesses.length).toBeGreaterThan(0);
    for (const line of guess.guesses) expect(lines[line - 1]).toContain("# guess");
  });

  test("asks about a column that is different in every row though it is not named like an id", () => {
    const lines = bodyOf("x.csv", "Zutritt,Preis\nabc,1.00\ndef,2.00\n");
    expect(lines.find((line) => line.includes("ticketId:"))).toBe(
      '  ticketId: "<FILL IN: the id of the ticket: no column has such a name>"   # or "{Zutritt}", if that is one: 2 different in 2 rows',
    );
  });
});

test.each(["VA-Nr", "Veranstaltungsnummer", "Veranstaltungsnr", "N° évènement", "Número de evento"])(
  "%s is the id of an event",
  (name) => {
    const lines = bodyOf("sales.csv", `${name},Barcode,Preis\nV1,B1,12.50\nV1,B2,12.50\n`);
    expect(ruleOf(lines, "eventId")).toContain(`"{${name}}"   # guess by name`);
  },
);

describe("that ids differ in every row is said only of what was seen", () => {
  const rows = ["007,e,a@x.example,1.00", "7,e,b@x.example,2.00"];
  const ticketOf = (yaml: string): string | undefined => yaml.split("\n").find((line) => line.includes("ticketId: "));

  test("not of ids that look the same", () => {
    const yaml = guessConfig({
      fileName: "sales.csv",
      isWhole: true,
      ...tableOf(`${["Barcode,Event ID,Email,Price", ...rows].join("\n")}\n`),
    }).yaml;
    expect(yaml).not.toContain("different in all 2 rows");
    expect(ticketOf(yaml)).toContain("<FILL IN: the id of the ticket");
  });

  test("of the first rows, where the file goes on, and of items, where those are the tickets", () => {
    const csv = `Barcode,Event ID,Email,Price\nT1,e,a@x.example,1.00\nT2,e,b@x.example,2.00\n`;
    const begun = guessConfig({ fileName: "sales.csv", isWhole: false, ...tableOf(csv) }).yaml;
    expect(ticketOf(begun)).toContain("# guess: different in the first 2 rows");
    const value = { order: 1, email: "a@x.example", tickets: [{ barcode: "T1" }, { barcode: "T2" }] };
    const table = tableOfObjects([{ kind: "object", line: 1, value, text: JSON.stringify(value) }]);
    const { yaml } = guessConfig({ fileName: "sales.json", isWhole: true, ...table });
    expect(ticketOf(yaml)).toContain("# guess: different in all 2 items of tickets");
    expect(yaml).toContain("Looked at: all 2 items of tickets.");
  });
});
