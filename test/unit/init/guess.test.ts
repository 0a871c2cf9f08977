/** What `tickets init` makes of an export, without files: the known systems, unknown layouts, and hostile ones. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { explainIssues } from "../../../src/config/explain.ts";
import { parseConfigText } from "../../../src/config/parse-document.ts";
import { configSchema } from "../../../src/config/schema.ts";
import { type Guess, guessConfig } from "../../../src/init/guess.ts";
import { createMapper } from "../../../src/mapping/create-mapper.ts";
import { actionsIn, actionsOf, tableOf } from "../mapping/samples.ts";

const fixtures = fileURLToPath(new URL("../../../fixtures/exports/", import.meta.url));
const shared = fileURLToPath(new URL("../../../../shared/exports/", import.meta.url));

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

/** The sources of a config and what is wrong with it. */
function load(yaml: string) {
  const document = parseConfigText("tickets.config.yaml", yaml);
  if (document === undefined) throw new Error("no document");
  const { data, error } = configSchema.safeParse(document.value);
  const issues = error === undefined ? [] : explainIssues(document, configSchema, error.issues);
  return { problems: document.problems, issues, sources: data?.sources ?? {} };
}

function mapWith(yaml: string, name: string, csv: string, delimiter: string) {
  const { sources, issues, problems } = load(yaml);
  expect([...problems, ...issues]).toEqual([]);
  const config = sources[name];
  if (config === undefined) throw new Error(`no source ${name}`);
  const { header, rows } = tableOf(csv, delimiter);
  const mapper = createMapper({ fileName: "x.csv", header, source: { name, config } });
  return rows.map((cells, at) => mapper.map({ kind: "cells", line: at + 2, cells }));
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

describe.runIf(existsSync(shared))("the shared sample of", () => {
  test.each(SYSTEMS.filter(([, , source]) => existsSync(join(shared, `${source}.csv`))))(
    "%s, %s, once filled in gives exactly the expected actions",
    (_system, _stem, source, delimiter) => {
      const { guess, csv } = guessFile(join(shared, `${source}.csv`), delimiter);
      const mapped = mapWith(fillIn(guess), source, csv, delimiter);
      expect(actionsOf(mapped)).toEqual(actionsIn(join(shared, `${source}.expected.ndjson`)));
    },
  );
});

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

  test("with something left to fill in is refused, all of it at once and with its line", () => {
    const { guess } = guessFile(path, delimiter);
    const { problems, issues } = load(guess.yaml);
    expect(issues).toEqual([]);
    expect(problems.map(({ line }) => line)).toEqual(guess.open.map(({ line }) => line));
    for (const { message } of problems) expect(message).toMatch(/^is still to be filled in: /);
    expect(problems).toHaveLength(open.length);
  });
});

/** The lines of the source, without what is said of the file. */
function bodyOf(fileName: string, csv: string, delimiter = ","): readonly string[] {
  const guess = guessConfig({
    fileName,
    isWhole: true,
    delimiter: delimiter === "," ? undefined : delimiter,
    ...tableOf(csv, delimiter),
  });
  expect(load(guess.yaml).problems.filter(({ message }) => !message.startsWith("is still to be"))).toEqual([]);
  return guess.yaml
    .split("\n")
    .slice(12)
    .map((line) => line.slice(4))
    .filter((line) => line !== "");
}

describe("of several amounts", () => {
  const priceLinesOf = (fileName: string, csv: string, delimiter = ","): readonly string[] =>
    bodyOf(fileName, csv, delimiter)
      .map((line) => line.trim())
      .filter((line) => /^#?price: /.test(line));
  const asked = (...names: readonly string[]): string =>
    `price: "<FILL IN: one of the next lines, without its #: what one ticket cost, by ${names.join(" or ")}>"   # a price is public for good; remove this line`;

  test("that are all of one ticket, that of the ticket is taken and told beside the others", () => {
    const csv = "barcode,email,price,ticket price\n111,a@example.com,50,0\n222,b@example.com,60,6.50\n";
    expect(priceLinesOf("sold.csv", csv)).toEqual([
      'price: "{ticket price}"   # guess: all 2 rows have digits with a decimal point or none, such as 6.50; also "price"',
    ]);
  });

  test.each([
    ["Unit price", "Total"],
    ["Unit price", "Net price"],
    ["Ticket price", "Order total"],
    ["Face value", "Amount paid"],
    ["Price", "Gross price"],
    ["Price incl. VAT", "Price excl. VAT"],
    ["Gross", "Net"],
    ["Brutto", "Netto"],
    ["Einzelpreis", "Gesamtbetrag"],
    ["Prix unitaire", "Montant total"],
  ])("of which one may be an order's or before a fee, it is asked: %s, %s", (one, other) => {
    for (const header of [`${one},${other}`, `${other},${one}`]) {
      const csv = `Order No,Ticket Reference,Event ID,E-Mail,${header}\n1,T-1,e,a@example.com,25.00,50.00\n1,T-2,e,a@example.com,25.00,50.00\n`;
      const [first = "", ...choices] = priceLinesOf("sales.csv", csv);
      expect([asked(one, other), asked(other, one)]).toContain(first);
      expect(choices.map((line) => /^#price: "\{(.*)\}"/.exec(line)?.[1]).sort()).toEqual([one, other].sort());
    }
  });

  test("beside a column called like the field it is asked, too", () => {
    const csv = "eventId,ticketId,userId,price,Total\ne,t1,u,25.00,50.00\ne,t2,u,25.00,50.00\n";
    expect(priceLinesOf("sales.csv", csv)[0]).toBe(asked("price", "Total"));
  });

  test("a fee, a tax and a number of tickets are none of them", () => {
    const csv =
      "Barcode,Event ID,E-Mail,Price,Total fees,VAT amount,Total tickets\n1,e,a@example.com,25.00,2.00,1.00,1\n2,e,a@example.com,25.00,2.00,1.00,1\n";
    expect(priceLinesOf("sales.csv", csv)).toEqual([
      'price: "{Price}"   # guess: all 2 rows have digits with a decimal point or none, such as 25.00',
    ]);
  });

  test("of an order only what may be its total is divided by its tickets", () => {
    const of = (...names: readonly string[]) =>
      priceLinesOf(
        "orders.csv",
        `Booking Ref,Qty,Event ID,E-Mail,${names.join(",")}\nB1,2,e,a@example.com${",20.00".repeat(names.length)}\nB2,1,e,b@example.com${",10.00".repeat(names.length)}\n`,
      ).map((line) => line.replace(/ {3}# .*/, ""));
    const divided = (name: string) => `price: {from: "{${name}}", divide: "{Qty}", places: 2}`;
    expect(of("Total")).toEqual([divided("Total")]);
    expect(of("Unit price")).toEqual(['price: "{Unit price}"']);
    const question = (...names: readonly string[]) => asked(...names).replace(/ {3}# .*/, "");
    expect(of("Price")).toEqual([question("Price"), '#price: "{Price}"', `#${divided("Price")}`]);
    expect(of("Unit price", "Total")).toEqual([
      question("Unit price", "Total"),
      '#price: "{Unit price}"',
      `#${divided("Total")}`,
    ]);
  });
});

const GERMAN = `Bestellnummer;Platz-Nr;E-Mail;Preis;Bestelldatum;Status;Veranstaltung
A1;1;a@example.com;12,50 €;03.04.2026 18:00;bezahlt;Gala
A1;2;a@example.com;1.250,00 €;03.04.2026 18:00;bezahlt;Gala
B2;1;b@example.com;7,00 €;05.04.2026 09:30;storniert;Gala
C3;1;;7,00 €;05.04.2026 09:30;offen;Gala
`;

describe("an unknown layout", () => {
  test("has its columns guessed by name and cells, what is not sure as comments", () => {
    expect(bodyOf("bestellungen-2026-04.csv", GERMAN, ";")).toEqual([
      'match: "bestellungen-2026-04.csv"   # this file only: eventId below is that of one event',
      'csv: {delimiter: ";"}   # as this file is written',
      'zone: "<FILL IN: the time zone of Bestelldatum and other times that name none, such as Europe/Berlin>"',
      "expect:",
      "  Status: [bezahlt, storniert, offen]   # all that stand in this file; a row with another is an error if it gives an action, and skipped with a warning if no when takes that value",
      "fields:",
      '  eventId: "<FILL IN: the id of the event>"   # or "{Veranstaltung}", if that is one: 1 different in 4 rows',
      '  ticketId: "{Bestellnummer}-{Platz-Nr}"   # guess: only together are they different in all 4 rows',
      "skip:   # rows with these give nothing",
      "  Status:",
      '    - "<FILL IN: no action takes offen (1 row): write it here if it gives nothing, else in the when of its actions>"',
      "actions:",
      "  - soldTicket:                  # guess: nothing says that the file holds anything but sales",
      "      # Status in this file: bezahlt 2, storniert 1, offen 1",
      "      when: {Status: [bezahlt, storniert]}   # guess",
      "      fields:",
      '        userId: "{E-Mail}"   # guess: filled in 3 of 4 rows',
      '        price: {from: "{Preis}", decimal: ",", thousands: ".", sign: ["€"]}   # guess: the only way that fits, 3 of 3 texts; "1.250,00 €" is 1250.00',
      '        orderTime: {from: "{Bestelldatum}", format: "d.M.yyyy H:mm"}   # guess: the only way that fits, "03.04.2026 18:00" is 2026-04-03 18:00; fits 2 of 2 texts',
      '        #metadataAttributes: {Seat: "{Platz-Nr}"}   # optional, and public on the blockchain',
      "  - invalidatedTicket:             # guess: what these values mean",
      "      when: {Status: [storniert]}",
    ]);
  });

  test("never has day and month, nor point and comma, decided", () => {
    const csv = `Sale Ref,Show,Customer Email,Paid,Sold on,Sold time
x1,Gala,a@example.com,"$1,150",3/4/26,18:00
x2,Gala,b@example.com,$60,4/4/26,09:15
`;
    const lines = bodyOf("sold.csv", csv).map((line) => line.trim());
    expect(lines.filter((line) => /price|orderTime/.test(line))).toEqual([
      'price: "<FILL IN: one of the next lines, without its #>"   # how amounts are written is never guessed; remove this line',
      '#price: {from: "{Paid}", decimal: ".", thousands: ",", sign: ["$"]}   # reads 2 of 2 texts; "$1,150" is 1150',
      '#price: {from: "{Paid}", decimal: ",", sign: ["$"]}   # reads 2 of 2 texts; "$1,150" is 1.150',
      'orderTime: {from: "{Sold on} {Sold time}", format: "<FILL IN: d/M/yy H:mm or M/d/yy H:mm>"}   # "3/4/26" is 2026-04-03 or 2026-03-04: which, is never guessed',
    ]);
    expect(lines).toContain('ticketId: "{Sale Ref}"   # guess: different in all 2 rows');
  });

  test("of a known system is asked about, too, where its dates or amounts can be read in two ways", () => {
    const csv = `Order #,Order Date,Email,Ticket Type,Attendee #,Currency,Total Paid,Attendee Status
1,3/4/27 1:59,g@example.com,Student,7,GBP,"1,150",Attending
`;
    const lines = bodyOf("attendees.csv", csv).map((line) => line.trim());
    expect(lines.filter((line) => /price|orderTime/.test(line))).toHaveLength(4);
    for (const line of lines.filter((each) => /^(?:price|orderTime)/.test(each))) expect(line).toContain("<FILL IN: ");
    expect(lines).toContain("Currency: GBP   # as in all 1 rows: the event's currency; another one is a problem");
  });

  test("without a value that means a sale must be told", () => {
    const { problems } = load(
      guessConfig({ fileName: "x.csv", isWhole: true, ...tableOf("ID,Status,Price\nt1,A,1\nt2,A,2\nt3,B,3\n") }).yaml,
    );
    expect(problems).toContainEqual(
      expect.objectContaining({ path: ["sources", "x", "actions", 0, "soldTicket", "when", "Status"] }),
    );
  });

  test.each([
    ["gate-3.csv", "Time,Barcode,Gate\n10:03,123,N\n23:01,124,S\n", "  - scannedTicket:"],
    [
      "shows.csv",
      "Show ID,Title,Currency,Begin\n1,A,EUR,2026-01-01 10:00\n2,B,EUR,2026-02-01 10:00\n",
      "  - newEvent:",
    ],
    ["log.csv", "Gerät,Code,Zeit\ng1,A1,2026-05-01 20:00:00\ng1,A2,2026-05-01 20:00:10\n", "  - scannedTicket:"],
    ["log.csv", "code,ts,result\nA1,1794900000,ok\nA2,1794900007,denied\n", "  - scannedTicket:"],
    ["log.csv", "Code,Zeit,Ergebnis\nA1,10:03,ok\nA2,10:04,nein\n", '      when: {Ergebnis: "<FILL IN:'],
    ["export.csv", "Code,Device,E-Mail\nA1,mobile,a@example.com\n", "  - soldTicket:"],
    ["export.csv", "Code,Device,Sold at\nA1,mobile,2026-05-01\n", "  - soldTicket:"],
    ["export.csv", "Code,Device,Price\nA1,mobile,1.00\n", "  - soldTicket:"],
    ["orders.csv", "Booking Ref,Qty,Total\nB1,2,20.00\nB2,1,10.00\n", 'each: {count: "{Qty}"}'],
    ["sales.csv", "event_id,ticket id,userId,price\ne,t,u,1.00\n", "action: soldTicket"],
  ])("%s is taken for what it looks like", (fileName, csv, line) => {
    expect(bodyOf(fileName, csv).some((each) => each.startsWith(line))).toBe(true);
  });

  test.each([
    [
      "orders.csv",
      "Order #,Order Date,Email,Quantity,Currency,Total Paid,Event Name,Event ID\n1,2026-03-05T10:15:00Z,a@example.com,1,EUR,25.00,Gala,9\n2,2026-03-05T10:16:00Z,b@example.com,2,EUR,50.00,Gala,9\n",
    ],
    [
      "tickets.csv",
      "Ticket No,Event ID,Event Name,Currency,Price,Buyer Email,Sold At\nT1,e1,Gala,EUR,25.00,a@example.com,2026-03-05T10:15:00Z\n",
    ],
    [
      "report.csv",
      "Event ID,Event Name,Start Time,Currency,Barcode,Ticket price,Customer\n7,Gala,2026-09-05T20:00:00Z,EUR,0001,12.00,K1\n",
    ],
    ["x.csv", "Event ID,Event Name,Order No,Email,Total\n7,Gala,1,a@example.com,12.00\n"],
    ["x.csv", "Event ID,Currency,Bestellnummer\n7,EUR,1\n"],
    ["x.csv", "Event ID,Currency,Numéro de commande\n7,EUR,1\n"],
    ["x.csv", "Event ID,Currency,Acheteur\n7,EUR,K1\n"],
    ["x.csv", "Event,Currency,Order date\nGala,EUR,2026-03-05T10:15:00Z\n"],
  ])(
    "that names an order, a ticket or a buyer is of sales, though it has what an event has: %s %j",
    (fileName, csv) => {
      const lines = bodyOf(fileName, csv);
      expect(givenIn(lines)).toEqual(["soldTicket"]);
    },
  );

  test.each([
    "Event ID,Currency,Price\n7,EUR,12.00\n",
    "Event ID,Currency,Total\n7,EUR,12.00\n",
    "Event ID,Event Name,Start Time,Seat\n7,Gala,2026-09-05T20:00:00Z,A1\n",
    "Event ID,Currency,Title,Organizer email\n7,EUR,Gala,a@example.com\n",
    "Title,Currency,First Name\nGala,EUR,Ada\n",
  ])("that may be of sales or of events asks which: %j", (csv) => {
    const lines = bodyOf("x.csv", csv);
    expect(lines.join("\n")).not.toContain("newEvent:");
    expect(asksIn(lines).join("\n")).toContain("the rows may be sales, as below, or events");
  });

  test.each([
    "eventId,eventName,currency,shopUrl,startTime,endTime,city,timezone\ne1,Gala,EUR,https://a.example/,2026-09-05T20:00:00Z,,B,Z\n",
    "Event ID,Event Name,Currency,Start Date,Status,Products Sold,Gross Revenue,Total Refunded,Total Fee,Total Orders,Unique Customers,Tickets\n7,Gala,EUR,2026-09-05T20:00:00Z,LIVE,5,1.00,0.00,2.00,7,8,9\n",
    "Code,Title,Start date,Venue,Capacity,Doors\ne1,Gala,2026-05-01T20:00Z,Hall,500,19:00\n",
  ])("with sums of sales at most is still of events: %j", (csv) => {
    const lines = bodyOf("program.csv", csv);
    expect(givenIn(lines)).toEqual(["newEvent"]);
  });

  test("never has an amount or an answer taken for an id, nor part of a word for the word", () => {
    const csv = `Booking,Event Fees,Which event did you like?,Price
b1,2.50,Gala,10.00
b2,2.60,Ball,12.00
`;
    const guess = guessConfig({ fileName: "x.csv", isWhole: true, ...tableOf(csv) });
    expect(guess.yaml).not.toMatch(/(?:eventId|ticketId|userId): "\{(?:Event Fees|Which)/);
    expect(guess.open.map(({ what }) => what)).toContain("eventId: the id of the event: no column is called so");
    const lines = guess.yaml.split("\n");
    expect(guess.guesses.length).toBeGreaterThan(0);
    for (const line of guess.guesses) expect(lines[line - 1]).toContain("# guess");
  });

  test.each([
    ["N° billet;Événement;N° client;Prix;Date de vente;État", "payée", "annulée", "en attente", '# or "{Événement}"'],
    ["Numéro de billet;Spectacle;Client;Montant;Date d’achat;Statut", "Payé", "Remboursé", "Réservé", "# or"],
    ["Codice biglietto;Evento;Cliente;Prezzo;Data di vendita;Stato", "pagato", "annullato", "in attesa", "# or"],
    ["Código de barras;Espectáculo;Comprador;Importe;Fecha de compra;Estado", "Pagada", "Anulada", "Pendiente", "# or"],
    ["Kaartnummer;Voorstelling;Klant;Prijs;Aankoopdatum;Toestand", "betaald", "geannuleerd", "openstaand", "# or"],
    ["Número do bilhete;Sessão;Cliente;Preço;Data da venda;Situação", "pago", "cancelado", "pendente", "# or"],
    ["Kartennummer;Vorstellung;Kunde;Betrag;Verkaufsdatum;Zahlungsstatus", "bezahlt", "storniert", "offen", "# or"],
    ["Strichcode;Veranstaltung;Kundennummer;Preis;Kaufdatum;Bemerkung", "bezahlt", "storniert", "offen", "# or"],
    ["ETAT_BILLET;EVENEMENT;CLIENT;PRIX;DATE;etat", "PAYE", "ANNULE", "EN ATTENTE", "# or"],
  ])("has its columns told in any language: %s", (header, sold, gone, waiting, event) => {
    const rows = Array.from({ length: 24 }, (_, at) => {
      const status = [sold, sold, gone, waiting][at % 4];
      return `${1000 + at};E${at % 3};C${at % 9};${10 + (at % 4)},50;${13 + (at % 15)}/10/2026 10:00;${status}`;
    });
    const lines = bodyOf("ventes.csv", `${header}\n${rows.join("\n")}\n`, ";");
    const [ticket = "", , client, , time, status = ""] = header.split(";");
    const yamlName = /^[\p{L}\p{N} _]+$/u.test(status) ? status : JSON.stringify(status);
    expect(lines).toContain(`      when: {${yamlName}: [${sold}, ${gone}]}   # guess`);
    expect(lines).toContain(`      when: {${yamlName}: [${gone}]}`);
    expect(lines.join("\n")).toContain(`no action takes ${waiting} (6 rows)`);
    expect(lines.join("\n")).toContain(`ticketId: "{${ticket}}"   # guess: different in all 24 rows`);
    expect(lines.join("\n")).toContain(`userId: "{${client}}"   # guess`);
    expect(lines.join("\n")).toMatch(new RegExp(`orderTime: .*"\\{${time}\\}"`));
    expect(lines.find((line) => line.includes("eventId:"))).toContain(event);
  });

  test("of which one says yes or no to a cancellation asks what it means", () => {
    const csv = "Barcode,Event ID,Email,Price,Cancelled\n1,e,a@example.com,1.00,no\n2,e,b@example.com,1.00,yes\n";
    const lines = bodyOf("sold.csv", csv);
    expect(lines).toContain("      # Cancelled in this file: no 1, yes 1");
    expect(lines.join("\n")).toContain('when: {Cancelled: "<FILL IN: the value that gives this action');
  });

  test("asks about a column that is different in every row though it is not called like an id", () => {
    const lines = bodyOf("x.csv", "Zutritt,Preis\nabc,1.00\ndef,2.00\n");
    expect(lines.find((line) => line.includes("ticketId:"))).toBe(
      '  ticketId: "<FILL IN: the id of the ticket: no column is called so>"   # or "{Zutritt}", if that is one: different in all 2 rows',
    );
  });

  test("called like fields has a condition by the status beside them", () => {
    const csv = `eventId,ticketId,userId,price,État
${["payée", "annulée", "en attente"].map((status, at) => `e,t${at},u,1.00,${status}`).join("\n")}
`;
    const lines = bodyOf("sales.csv", csv);
    expect(lines).toContain("      when: {État: [payée, annulée]}   # guess");
    expect(lines).toContain("      when: {État: [annulée]}");
    expect(lines.join("\n")).toContain("no action takes en attente (1 row)");
    expect(lines).toContain('        ticketId: "{ticketId}"');
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
    expect(lines).toContain(
      "  Status: [Paid, pending]   # all that stand in this file; a row with another is an error if it gives an action, and skipped with a warning if no when takes that value",
    );
    expect(lines).toContain("      when: {Status: Paid}");
    expect(lines.join("\n")).toContain("skip:   # rows with these give nothing\n  Status:\n    - pending\nactions:");
    expect(lines).toContain(
      "  # No row of this file has Status canceled; when one does, take the # away and write its value as it stands.",
    );
    expect(lines).toContain("  #- invalidatedTicket:");
    expect(lines).not.toContain("  - invalidatedTicket:");
  });

  test("keeps a column though a few of its many cells are wrong, and takes no list for an id", () => {
    const rows = Array.from(
      { length: 200 },
      (_, at) =>
        `"a${at}; b${at}",T-${at},${at === 7 ? "n/a" : "EUR"},${at === 9 ? "free" : "10.50"},${at === 11 ? "?" : 1772356522 + at},u${at}@example.com,1\n`,
    );
    const lines = bodyOf("x.csv", `Codes,Barcode,Currency,Amount,Created,Mail,Show\n${rows.join("")}`);
    const all = lines.join("\n");
    expect(all).toContain('ticketId: "{Barcode}"');
    expect(all).toContain('orderTime: {from: "{Created}", format: unix}');
    expect(all).toContain("{Amount}");
    expect(
      bodyOf("x.csv", 'Code,Price,Email\n"a,b",1.00,a@example.com\n"c,d",2.00,b@example.com\n').join("\n"),
    ).toContain('ticketId: "<FILL IN: ');
  });

  test("of events becomes newEvent, and asks for a currency that it does not hold", () => {
    const all = bodyOf(
      "program.csv",
      "Code,Title,Start date\ne1,Gala,2026-05-01T20:00Z\ne2,Ball,2026-05-02T20:00Z\n",
    ).join("\n");
    expect(all).toContain("- newEvent:");
    expect(all).toContain('currency: "<FILL IN: the currency of the events');
    expect(all).not.toContain("soldTicket");
  });

  test("whose columns are called like fields has rules where they are written otherwise", () => {
    const csv =
      "eventId;ticketId;userId;price;orderTime\ne;t;u;12,50;31.12.2026 20:00\ne;t2;u;13,50;30.12.2026 20:00\n";
    const all = bodyOf("sales.csv", csv, ";").join("\n");
    expect(all).toContain('price: {from: "{price}", decimal: ","}');
    expect(all).toContain('orderTime: {from: "{orderTime}", format: "d.M.yyyy H:mm"}');
    expect(all).toContain('userId: "{userId}"');
  });

  test("that lacks columns of its recipe leaves them out and says so", () => {
    const csv =
      "ID,Category,Event,Status,PaidPrice,ReservationID,E-Mail,Confirmation\n1,A,e,ACQUIRED,1.00,r,a@example.com,2027-03-01T12:00Z\n";
    const lines = bodyOf("tickets.csv", csv).map((line) => line.trim());
    expect(lines).toContain('#Seat: "{Seat}"   # this file has no column Seat');
    expect(lines).toContain('Ticket type: "{Category}"');
  });
});

/** The names of the actions that the config gives; what is a comment does not count. */
const givenIn = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => /^(?: {2}- |action: )(\w+)/.exec(line)?.[1] ?? []);
const asksIn = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => !line.trim().startsWith("#") && line.includes("<FILL IN: "));
const ruleOf = (lines: readonly string[], field: string): string | undefined =>
  lines.map((line) => line.trim()).find((line) => line.startsWith(`${field}: `));
const SALE = "Event ID,Ticket ID,User ID,Price";

/** What a user makes of the places that ask, as they say: removes, chooses, writes a value. */
const ANSWERED: readonly (readonly [RegExp, string])[] = [
  [/^ *orderTime: "<FILL IN: one of .*\n/gm, ""],
  [/^( *price: )"<FILL IN: one of .*$/gm, '$1"1"'],
  [/^( *price: )"<FILL IN: .*$/gm, '$1"1"'],
  [/"<FILL IN: (\{empty: (?:true|false)\}) [^>]*>"/g, "$1"],
  [/"<FILL IN: what says, such as (\{empty: false\}) [^>]*>"/g, "$1"],
  [/metadataAttributes: "<FILL IN: .*$/gm, "imageUrl: https://example.com/new"],
  [/currency: "<FILL IN: .*$/gm, "currency: EUR"],
  [/zone: "<FILL IN: .*$/gm, "zone: Europe/Berlin"],
  [/"<FILL IN: [^>]*>"/g, "something"],
];
const answered = (yaml: string): string =>
  ANSWERED.reduce((text, [asked, answer]) => text.replace(asked, answer), yaml);

describe("where the file's name says the action, no other is written:", () => {
  test.each([
    [
      "cancellations.csv",
      `${SALE},Cancelled at`,
      "e,t1,u,25.00,2026-05-01T20:00:00Z",
      "invalidatedTicket",
      "Cancelled at",
    ],
    [
      "refunds.csv",
      `${SALE},Order Date,Refunded at`,
      "e,t1,u,25.00,2026-01-01,2026-05-01T20:00:00Z",
      "invalidatedTicket",
      "Refunded at",
    ],
    ["invalidations.csv", "Ticket ID,User ID,Voided at", "t1,u,2026-05-01T20:00:00Z", "invalidatedTicket", "Voided at"],
    ["scans.csv", "Ticket ID,User ID,Scanned at", "t1,u,2026-05-01T20:00:00Z", "scannedTicket", "Scanned at"],
    ["scans.csv", `${SALE},Scanned at`, "e,t1,u,25.00,2026-05-01T20:00:00Z", "scannedTicket", "Scanned at"],
    [
      "checkins.csv",
      "Ticket ID,User ID,Checked in at",
      "t1,u,2026-05-01T20:00:00Z",
      "checkedInTicket",
      "Checked in at",
    ],
    ["checkins.csv", "Barcode,Arrived,Price", "t1,2026-05-01T20:00:00Z,1.00", "checkedInTicket", "Arrived"],
    ["claims.csv", `${SALE},Claimed at`, "e,t1,u,25.00,2026-05-01T20:00:00Z", "claimedTicket", "Claimed at"],
    ["resales.csv", `${SALE},Resold at`, "e,t1,u,25.00,2026-05-01T20:00:00Z", "resoldTicket", "Resold at"],
    [
      "sales.csv",
      "Event ID,Ticket ID,User ID,Amount,Order Time",
      "e,t1,u,25.00,1777000000",
      "soldTicket",
      "Order Time",
    ],
    ["sales.csv", `${SALE},Sold at`, "e,t1,u,25.00,2026-05-01T20:00:00Z", "soldTicket", "Sold at"],
  ])("%s with %s", (fileName, header, row, action, time) => {
    const lines = bodyOf(fileName, `${header}\n${row}\n`);
    expect(givenIn(lines)).toEqual([action]);
    expect(asksIn(lines)).toEqual([]);
    expect(ruleOf(lines, "orderTime")).toContain(`{${time}}`);
    expect(ruleOf(lines, "ticketId")).toMatch(/"\{(?:Ticket ID|Barcode)\}"/);
  });

  test("what it needs and no column gives is asked for", () => {
    const asked = (fileName: string, csv: string) =>
      asksIn(bodyOf(fileName, csv)).map((line) => /^ *(\w+)/.exec(line)?.[1]);
    expect(asked("sales.csv", "ticketId,userId,orderTime\nt1,u,1777000000\n")).toEqual(["eventId", "price"]);
    expect(asked("claims.csv", "ticketId,orderTime\nt1,1777000000\n")).toEqual(["userId"]);
    expect(asked("resales.csv", "ticketId,eventId\nt1,e\n")).toEqual(["userId", "price"]);
    expect(asked("events.csv", "eventId,eventName\ne,Gala\n")).toEqual(["currency"]);
    expect(asked("updates.csv", "ticketId,userId\nt1,u\n")).toEqual(["metadataAttributes"]);
    expect(asked("scans.csv", "Wristband,Gate\n77,N\n")).toEqual(["ticketId"]);
  });

  test("whatever its columns are", () => {
    const CELLS: Readonly<Record<string, readonly string[]>> = {
      "eventId": ["e1", "e2"], "Event ID": ["e1"], "event_id": ["e1"], "Event": ["Gala", "Ball"], "eventName": ["Gala"],
      "ticketId": ["t1", "t2"], "Ticket ID": ["t1", "t2", "t3"], "Barcode": ["77", "78"], "id": ["1", "2", "3"],
      "userId": ["u1"], "Email": ["a@example.com"], "customer_id": ["c1", ""], "to": ["0xbc4BDdE5098fb8b52337023aD112de5285baF061"],
      "price": ["1.00", "2"], "Amount": ["25.00"], "price_cents": ["2500"], "currency": ["EUR"], "Qty": ["1", "2"],
      "orderTime": ["1777000000"], "Scanned at": ["2026-05-01T20:00:00Z", ""], "Cancelled at": ["", "2026-05-01 20:00"],
      "Event start": ["2026-05-01T20:00:00Z"], "Date": ["2026-05-01", "2026-05-02"], "Claimed at": ["1.2.2026 10:00"],
      "Status": ["paid", "cancelled", "pending"], "Result": ["ok", "denied"], "Checked in": ["yes", "no"], "imageUrl": ["https://example.com/a"],
    }; // biome-ignore format: a table of cells
    const NAMES: Readonly<Record<string, string>> = {
      sales: "soldTicket",
      scans: "scannedTicket",
      checkins: "checkedInTicket",
      claims: "claimedTicket",
      resales: "resoldTicket",
      updates: "updateTicket",
      events: "newEvent",
      cancellations: "invalidatedTicket",
      refunds: "invalidatedTicket",
    };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(NAMES)),
        fc.uniqueArray(fc.constantFrom(...Object.keys(CELLS)), { minLength: 1, maxLength: 9 }).chain((header) =>
          fc.record({
            header: fc.constant(header),
            rows: fc.array(fc.tuple(...header.map((name) => fc.constantFrom(...(CELLS[name] ?? [""])))), {
              minLength: 1,
              maxLength: 12,
            }),
          }),
        ),
        (name, { header, rows }) => {
          const { yaml } = guessConfig({ fileName: `${name}-07.csv`, isWhole: true, header, rows });
          const lines = yaml.split("\n").map((line) => line.slice(4));
          const [first, ...more] = givenIn(lines);
          expect(first).toBe(NAMES[name]);
          // A sale that says of itself that it is void was a sale before.
          expect(more.filter((each) => name !== "sales" || each !== "invalidatedTicket")).toEqual([]);
          const { problems, issues } = load(yaml);
          for (const { message } of problems) expect(message).toMatch(/^is still to be filled in: /);
          expect(issues).toEqual([]);
          // As the places that ask say, it can then be used.
          const { sources, ...wrong } = load(answered(yaml));
          expect(wrong).toEqual({ problems: [], issues: [] });
          const [[source, config] = ["", {}]] = Object.entries(sources);
          const mapper = createMapper({ fileName: `${name}-07.csv`, header, source: { name: source, config } });
          for (const [at, cells] of rows.entries()) mapper.map({ kind: "cells", line: at + 2, cells });
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe("where no name says the action, it is asked for,", () => {
  test.each([
    ["ticketId,userId\nt1,u\n", "claimedTicket, scannedTicket, checkedInTicket, invalidatedTicket"],
    ["ticketId,orderTime\nt1,1777000000\n", "scannedTicket, checkedInTicket, invalidatedTicket"],
  ])("columns called like fields: %j", (csv, among) => {
    const lines = bodyOf("export.csv", csv);
    expect(lines).toContain(`action: "<FILL IN: what the rows are: ${among}>"`);
    expect(lines.join("\n")).not.toContain("need no rules");
  });

  test("and the columns that names alone leave out are told", () => {
    const all = bodyOf("export.csv", "ticketId,userId,Scanned at,Result\nt1,u,2026-05-01T20:00:00Z,ok\n").join("\n");
    expect(all).toContain(
      '# Their names alone leave out "Result", "Scanned at": call the file after its action (events*',
    );
  });

  test.each([
    ["april-cancellations.csv", "invalidatedTicket"],
    ["Stornos 2026.csv", "invalidatedTicket"],
    ["cancelled-orders.csv", "invalidatedTicket"],
    ["transfers.csv", "resoldTicket"],
  ])("a word of the file's name is a guess: %s", (fileName, action) => {
    const lines = bodyOf(fileName, `${SALE}\ne,t1,u,25.00\n`);
    expect(givenIn(lines.filter((line) => !line.includes("<FILL IN")))).toEqual([action]);
    expect(lines.find((line) => line.startsWith("action: "))).toContain(`means ${action}, as below`);
  });

  test("but a table of tickets is never one of events", () => {
    const csv = "event_id,ticket_id,customer_id,currency,status\ne,t1,c,EUR,paid\ne,t2,c,EUR,paid\n";
    expect(givenIn(bodyOf("export.csv", csv))).toEqual(["soldTicket"]);
  });
});

describe("the time of a sale", () => {
  const sold = (name: string, cells: readonly string[], more = "") =>
    bodyOf(
      "export.csv",
      `Barcode,Email,Price,Show,${name}${more === "" ? "" : `,${more}`}\n${cells.map((cell, at) => `t${at},a@example.com,1.00,S${at % 2},${cell}`).join("\n")}\n`,
    );
  const DAYS = ["2026-05-01T20:00:00Z", "2026-05-02T20:00:00Z", "2026-05-03T20:00:00Z"];

  test.each([
    "Event start",
    "Event date",
    "event_date",
    "eventDate",
    "eventstart",
    "Show starts",
    "Starts at",
    "Start",
    "Doors",
    "Doors open",
    "Begins",
    "Event end",
    "End date",
    "Ends",
    "Date of birth",
    "Birthday",
    "birthdate",
    "DOB",
    "Valid from",
    "Valid until",
    "validUntil",
    "Expires",
    "expiry_date",
    "Last updated",
    "updated_at",
    "updatedAt",
    "Modified",
    "Last modified",
    "Changed on",
    "Printed at",
    "Print date",
    "Exported at",
    "Export date",
    "Report date",
    "Veranstaltungsbeginn",
    "Veranstaltungsdatum",
    "Vorstellung am",
    "Einlass",
    "Geburtsdatum",
    "Gültig bis",
    "Geändert am",
    "Gedruckt am",
    "Exportiert am",
    "Date de l'événement",
    "Date de naissance",
    "Date de début",
    "Date de fin",
    "Imprimé le",
    "Mis à jour / modifié le",
    "Data evento",
    "Data di nascita",
    "Fecha del evento",
    "Fecha de nacimiento",
    "Fecha fin",
    "Data de nascimento",
    "Geboortedatum",
    "Aanvang",
    "Gewijzigd op",
    "Checked in at",
    "Scanned",
    "Claimed at",
  ])("is no column called %s", (name) => {
    // biome-ignore format: a table of names
    const lines = sold(name, DAYS);
    expect(ruleOf(lines, "orderTime")).toBeUndefined();
    expect(ruleOf(lines, "#orderTime")).toContain(
      `no column is called like the time of the sale (${JSON.stringify(name)}: of something else)`,
    );
  });

  test.each([
    "Ordered",
    "Order date",
    "order_date",
    "Purchased on",
    "Sold",
    "Sold at",
    "Booked at",
    "Paid on",
    "Payment date",
    "Transaction time",
    "Created",
    "created_at",
    "Created at (UTC)",
    "Date",
    "Timestamp",
    "Bestellt am",
    "Bezahlt am",
    "Kaufdatum",
    "Verkauft am",
    "Date de commande",
    "Acheté le",
    "Data ordine",
    "Fecha de compra",
    "Data da compra",
    "Besteldatum",
    "Ticket order date",
  ])("is a column called %s", (name) => {
    // biome-ignore format: a table of names
    expect(ruleOf(sold(name, DAYS), "orderTime")).toMatch(/^orderTime: \{from: .* # guess/);
  });

  test.each([
    ["Interview", DAYS, "no column is called so"],
    ["x", ["1794900000", "1794900007"], "no column is called so"],
    ["x_ms", ["1794900000000", "1794900007000"], "no column is called so"],
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
    ["x", ["1794900000", ""]],
    ["x", ["1794900000", "3794900000"]],
    ["x", ["17949000001", "17949000002"]],
    ["Locker no", ["1794900000", "1794900007"]],
    ["ms", ["12", "17"]],
  ])("is nothing that %s: %j speaks of", (name, cells) => {
    expect(ruleOf(sold(name, cells), "#orderTime")).toContain("no column looks like a time");
  });

  test("is told from the other times beside it", () => {
    const csv = `${SALE},Event start,Ordered,Cancelled\ne,t1,u,1.00,2026-05-01T20:00Z,2026-04-01T20:00Z,\ne,t2,u,1.00,2026-05-01T20:00Z,2026-04-02T20:00Z,2026-04-03T20:00Z\n`;
    for (const fileName of ["sales.csv", "export.csv"]) {
      const lines = bodyOf(fileName, csv);
      expect(ruleOf(lines, "orderTime")).toContain('{from: "{Ordered}"');
      expect(lines.join("\n")).not.toContain("no column looks like a time");
      expect(givenIn(lines)).toEqual(["soldTicket", "invalidatedTicket"]);
      expect(lines.join("\n")).toContain('when: {Cancelled: "<FILL IN: {empty: false} where');
    }
  });

  test("a deed that has several, or a field and its own, is asked for it", () => {
    for (const header of ["ticketId,orderTime,Scanned at", "Ticket,First scanned at,Last scanned at"]) {
      const lines = bodyOf("scans.csv", `${header}\nt1,2026-05-01T20:00:00Z,2026-05-01T21:00:00Z\n`);
      expect(ruleOf(lines, "orderTime")).toContain("# more than one column is called so");
    }
    const resale = bodyOf("resales.csv", "ticketId,userId,price,Order date\nt1,u,1.00,2026-05-01T20:00:00Z\n");
    expect(ruleOf(resale, "orderTime")).toContain("# it may be that of the first sale");
  });
});

describe("an amount in hundredths", () => {
  test.each([
    "Amount in cents",
    "Price (cents)",
    "price_cents",
    "priceCents",
    "pricecents",
    "Total cents",
    "Betrag in Cent",
    "Preis ct",
    "Prix en centimes",
    "Montant (centimes)",
    "Importe en céntimos",
    "Preço em centavos",
    "Prezzo in centesimi",
    "Price in pence",
    "Pris i øre",
    "Pris öre",
    "Cena w groszach / grosze",
    "Preis in Rappen",
  ])("is divided: %s", (name) => {
    // biome-ignore format: a table of names
    for (const fileName of ["sales.csv", "export.csv"]) {
      const lines = bodyOf(fileName, `Event ID,Ticket ID,User ID,${name}\ne,t1,u,2500\ne,t2,u,3050\n`);
      expect(ruleOf(lines, "price")).toBe(
        `price: {from: "{${name}}", divide: "100", places: 2}   # guess: by its name it counts hundredths; 2500 is 25.00`,
      );
    }
  });

  test.each([
    ["EUR", 'price: {from: "{amount_minor}", divide: "100", places: 2}'],
    ["eur", 'price: {from: "{amount_minor}", divide: "100", places: 2}'],
    ["KWD", 'price: {from: "{amount_minor}", divide: "1000", places: 3}'],
    ["JPY", 'price: "{amount_minor}"'],
    ["", 'price: {from: "{amount_minor}", divide: "<FILL IN: 100 for'],
  ])("or in what the currency has: %s", (currency, rule) => {
    const csv = `eventId,ticketId,userId,amount_minor,currency\ne,t1,u,2500,${currency}\ne,t2,u,3050,${currency}\n`;
    expect(ruleOf(bodyOf("sales.csv", csv), "price")?.startsWith(rule)).toBe(true);
  });

  test("of an order is divided by its tickets, too, and exactly", () => {
    const csv = "Booking Ref,Qty,Total cents,Show ID,Mail\nB1,2,2001,S,u@example.com\nB2,1,1000,S,v@example.com\n";
    const { yaml } = guessConfig({ fileName: "orders.csv", isWhole: true, ...tableOf(csv) });
    expect(yaml).toContain('price: {from: "{Total cents}", divide: "{Qty}00", places: 2}');
    const mapped = mapWith(yaml, "orders", csv.replace("2001", "2500"), ",");
    expect(actionsOf(mapped)).toMatchObject([
      { data: { price: "12.50" } },
      { data: { price: "12.50" } },
      { data: { price: "10.00" } },
    ]);
    expect(mapWith(yaml, "orders", csv, ",")[0]).toMatchObject({ kind: "invalid" });
  });

  test("with decimals is asked about", () => {
    const lines = bodyOf("export.csv", "Barcode,Price (cents)\nt1,25.00\nt2,30.50\n");
    expect(ruleOf(lines, "price")).toContain("<FILL IN: one of the next lines");
    expect(lines.filter((line) => line.trim().startsWith("#price: "))).toHaveLength(2);
  });

  test("is no per cent", () => {
    expect(ruleOf(bodyOf("x.csv", "Barcode,Price,Discount percent\nt1,25,5\nt2,30,5\n"), "price")).toContain(
      '"{Price}"',
    );
  });
});

describe("a log's column by which rows differ is asked about:", () => {
  test.each([
    ["Result", ["ok", "denied"]],
    ["Outcome", ["granted", "already used"]],
    ["Direction", ["in", "out"]],
    ["OK", ["true", "false"]],
    ["Granted", ["1", "0"]],
    ["Checked in", ["yes", "no"]],
    ["Has arrived", ["YES", "NO"]],
    ["Admitted", ["Y", "N"]],
    ["Ergebnis", ["grün", "rot"]],
    ["Richtung", ["rein", "raus"]],
    ["Esito", ["valido", "rifiutato"]],
    ["Message", ["ok", "Already scanned"]],
    ["Type", ["entry", "exit"]],
    ["Result", ["denied", "denied"]],
    ["Valid", ["no", "no"]],
    ["Void", ["no", "yes"]],
  ])("%s: %j", (name, [one, other]) => {
    for (const fileName of ["scans.csv", "checkins.csv", "gate-3.csv"])
      for (const header of ["Ticket Code,Scanned at", "ticketId,orderTime"]) {
        const time = header.startsWith("ticketId") ? "1777000000" : "2026-05-01T20:00:00Z";
        const lines = bodyOf(fileName, `${header},${name}\nt1,${time},${one}\nt2,${time},${other}\n`);
        const all = lines.join("\n");
        expect(all).not.toContain("need no rules");
        if (fileName === "gate-3.csv" && header.startsWith("ticketId")) expect(all).toContain(`leave out "${name}"`);
        else {
          expect(all).toContain(`when: {${name}: "<FILL IN: the value that gives this action`);
          expect(all).toContain("expect:\n");
        }
      }
  });

  test.each(["Voided at", "refunded_at", "Cancelled", "Storniert am"])("%s, where some hold a time", (name) => {
    for (const header of ["Ticket Code,Scanned at", "ticketId,orderTime"]) {
      const time = header.startsWith("ticketId") ? "1777000000" : "2026-05-01T20:00:00Z";
      const some = bodyOf("scans.csv", `${header},${name}\nt1,${time},2026-05-02T20:00:00Z\nt2,${time},\n`);
      expect(some.join("\n")).toContain(`when: {${name}: "<FILL IN: {empty: true} where`);
      const none = bodyOf("scans.csv", `${header},${name}\nt1,${time},\nt2,${time},\n`);
      expect(none).toContain(
        `  ${name}: ""   # as in all rows of this file; a row with something there that gives an action is an error`,
      );
      expect([...some, ...none].join("\n")).not.toContain("need no rules");
    }
  });

  test("each of several, but not who scanned, nor what let all of them in", () => {
    const lines = bodyOf(
      "scans.csv",
      "Ticket Code,Scanned at,Direction,OK,Scanned by,Access\nt1,2026-05-01T20:00:00Z,in,yes,Ada,granted\nt2,2026-05-01T20:01:00Z,out,no,Ben,granted\n",
    );
    expect(asksIn(lines).map((line) => /^ *([\w ]+):/.exec(line)?.[1])).toEqual(["Direction", "OK"]);
    expect(lines.find((line) => line.startsWith("  Access: [granted]"))).toBeDefined();
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
      expect(lines).toContain(`      # ${name} is filled in 1 of 2 rows`);
      expect(lines.join("\n")).toContain(`when: {${name}: "<FILL IN: {empty: false} where a row without`);
      expect(lines.join("\n")).not.toContain("need no rules");
    }
  });

  test("in a file of sales an entry is offered as a comment, whatever its columns are called", () => {
    for (const header of [SALE, "Show ID,Barcode,Mail,Amount"]) {
      const csv = `${header},Checked in\ne,t1,u@example.com,1.00,no\ne,t2,u@example.com,1.00,yes\n`;
      const lines = bodyOf("sales.csv", csv).map((line) => line.trim());
      expect(lines).toContain("#- checkedInTicket:");
      expect(lines).toContain("# Checked in in this file: no 1, yes 1");
    }
  });
});

test("the id of an event or of a user is never taken for that of a ticket, though no two rows have the same", () => {
  for (const csv of ["eventId,price\ne1,1.00\ne2,2.00\n", "customer_id,Amount\nc1,1.00\nc2,2.00\n"])
    for (const fileName of ["sales.csv", "scans.csv", "export.csv"])
      expect(ruleOf(bodyOf(fileName, csv), "ticketId")).toContain("<FILL IN: the id of the ticket");
});

describe("that columns called like fields need no rules is said", () => {
  const plain = (fileName: string, csv: string) => bodyOf(fileName, csv)[0];

  test.each([
    ["scans.csv", "ticketId,orderTime,gate,device\nt1,1777000000,N,d1\n"],
    ["cancellations.csv", "ticketId,orderTime,reason,Order date\nt1,1777000000,refunded,2026-05-01\n"],
    ["log.csv", "action,ticketId,orderTime,gate\nscannedTicket,t1,1777000000,N\n"],
  ])("of %s, and nothing is asked: %j", (fileName, csv) => {
    expect(plain(fileName, csv)).toMatch(/^# The columns are called like fields.* need no rules\.$/);
    expect(asksIn(bodyOf(fileName, csv))).toEqual([]);
  });

  test.each([
    ["scans.csv", "ticketId,orderTime,Outcome\nt1,1777000000,ok\n"],
    ["sales.csv", "eventId,ticketId,userId,price,Refund amount\ne,t1,u,1.00,1.00\ne,t2,u,1.00,\n"],
    ["sales.csv", "eventId,ticketId,userId,price,Void\ne,t1,u,1.00,\ne,t2,u,1.00,x\n"],
    ["sales.csv", "eventId,ticketId,userId,price,Booked at\ne,t1,u,1.00,2026-05-01T20:00Z\n"],
    ["events.csv", "eventId,currency,Event start\ne,EUR,2026-05-01T20:00Z\n"],
    ["log.csv", "action,ticketId,orderTime,Result\nscannedTicket,t1,1,ok\nscannedTicket,t2,2,denied\n"],
  ])("but not of %s: %j", (fileName, csv) => {
    expect(bodyOf(fileName, csv).join("\n")).not.toContain("need no rules.");
  });

  test("the amount of a refund is no price, and is asked about", () => {
    const lines = bodyOf("export.csv", "Barcode,Refund amount,Event ID\nb1,1.00,e\nb2,,e\n");
    expect(ruleOf(lines, "price")).toContain("<FILL IN: no column looks like a price>");
    expect(lines.join("\n")).toContain('when: {Refund amount: "<FILL IN: what says');
  });
});

test("the ticket of a log is the one that is called so, though it stands there twice", () => {
  const csv =
    "Scan ID,Barcode,Scanned at\n1,b1,2026-05-01T20:00:00Z\n2,b1,2026-05-01T21:00:00Z\n3,b2,2026-05-01T22:00:00Z\n";
  expect(ruleOf(bodyOf("scans.csv", csv), "ticketId")).toBe(
    'ticketId: "{Barcode}"   # guess by name: 2 different in 3 rows',
  );
  expect(ruleOf(bodyOf("scans.csv", csv.replace("Barcode", "Wristband")), "ticketId")).toContain("<FILL IN: ");
});

test("a log with nothing but tickets is a config that can be used as it is", () => {
  const csv = "Barcode,Gate\nb1,N\nb2,S\n";
  const { yaml } = guessConfig({ fileName: "scans.csv", isWhole: true, ...tableOf(csv) });
  expect(actionsOf(mapWith(yaml, "scans", csv, ","))).toEqual([
    { action: "scannedTicket", data: { ticketId: "b1" } },
    { action: "scannedTicket", data: { ticketId: "b2" } },
  ]);
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    "ID",
    "Price",
    "Status",
    "Date",
    "12,50",
    "1.250",
    "3/4/26",
    "2026-01-01",
    "a: b",
    "{x}",
    '"',
    "#",
    "- x",
    "\n",
    "paid",
    "10:00",
  ),
);

test("whatever an export holds, the config can be read, and asks only for what is missing", () => {
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 8 }).chain((header) =>
        fc.record({
          header: fc.constant(header),
          rows: fc.array(fc.array(text, { minLength: header.length, maxLength: header.length }), { maxLength: 6 }),
          fileName: fc.oneof(
            text.map((name) => name.replaceAll("/", "_")), // a base name
            fc.constantFrom("sales.csv", "scans-1.csv"),
          ),
          isWhole: fc.boolean(),
        }),
      ),
      (sample) => {
        const { problems, issues } = load(guessConfig(sample).yaml);
        for (const { message } of problems) expect(message).toMatch(/^is still to be filled in: /);
        for (const { message } of issues) expect(["has no value", "is empty"]).toContain(message);
      },
    ),
    {
      numRuns: 500,
      examples: [
        [{ header: ["ID", "\ufffd#"], rows: [["1", "\ufffd"]], fileName: "\ufffd.csv", isWhole: true }],
        [{ header: ["", "", "ID", "\ufffd#", ""], rows: [["", "", "ID", "!", "ID"]], fileName: "", isWhole: false }],
      ],
    },
  );
});
