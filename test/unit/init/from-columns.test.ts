/** An unknown layout: its columns are known by their names and by what their cells look like. */

import { describe, expect, test } from "vitest";
import { bodyOf } from "./configs.ts";

const GERMAN = `Bestellnummer;Platz-Nr;E-Mail;Preis;Bestelldatum;Status;Veranstaltung
A1;1;a@example.com;12,50 €;03.04.2026 18:00;bezahlt;Gala
A1;2;a@example.com;1.250,00 €;03.04.2026 18:00;bezahlt;Gala
B2;1;b@example.com;7,00 €;05.04.2026 09:30;storniert;Gala
C3;1;;7,00 €;05.04.2026 09:30;offen;Gala
`;

describe("an unknown layout", () => {
  test("has its columns guessed by name and cells, what is not sure as comments", () => {
    expect(bodyOf("bestellungen-2026-04.csv", GERMAN, ";")).toEqual([
      'match: "bestellungen-*.csv"',
      'csv: {delimiter: ";"}   # as this file is written',
      'zone: "<FILL IN: the time zone of Bestelldatum and other times that name none, such as Europe/Berlin>"',
      "expect:   # what this file holds; a row with another value is an error if it gives an action",
      "  Status: [bezahlt, storniert, offen]",
      "fields:",
      '  eventId: "<FILL IN: the id of the event>"   # or "{Veranstaltung}", if that is one: 1 different in 4 rows',
      '  ticketId: "<FILL IN: the id of the ticket: no column has such a name>"',
      "actions:",
      "  - newEvent:   # with the first row of each event",
      "      fields:",
      '        eventName: "{Veranstaltung}"   # guess by name; public',
      '        currency: "<FILL IN: the currency of the events, such as EUR; or remove newEvent, if the events are registered elsewhere>"',
      "  - soldTicket:   # guess: the rows look like sales",
      '      when: {Status: "<FILL IN: which values of Status are sales, such as [one, other]? bezahlt (2), storniert (1), offen (1). Tickets that were cancelled later were sold, too>"}',
      "      fields:",
      '        userId: "{E-Mail}"   # guess: filled in 3 of 4 rows',
      '        price: {from: "{Preis}", decimal: ",", thousands: ".", sign: ["€"]}   # guess: "1.250,00 €" is 1250.00',
      '        orderTime: {from: "{Bestelldatum}", format: "d.M.yyyy H:mm"}   # guess: the only way that fits, "03.04.2026 18:00" is 2026-04-03 18:00; fits 2 of 2 texts',
      "  - invalidatedTicket:   # remove it where nothing says that a ticket is no longer valid",
      '      when: {Status: "<FILL IN: which values of Status mean that a ticket is no longer valid, such as [one, other]? bezahlt (2), storniert (1), offen (1)>"}',
    ]);
  });

  test("never has day and month, nor point and comma, decided", () => {
    const csv = `Sale Ref,Show,Customer Email,Paid,Sold on,Sold time
x1,Gala,a@example.com,"$1,150",3/4/26,18:00
x2,Gala,b@example.com,$60,4/4/26,09:15
`;
    const lines = bodyOf("sold.csv", csv).map((line) => line.trim());
    expect(lines.filter((line) => /price|orderTime/.test(line))).toEqual([
      'price: "<FILL IN: one of the next lines, without its #: what one ticket cost>"   # a price is public for good; remove this line',
      '#price: {from: "{Paid}", decimal: ".", thousands: ",", sign: ["$"]}   # "$1,150" is 1150',
      '#price: {from: "{Paid}", decimal: ",", sign: ["$"]}   # "$1,150" is 1.150',
      'orderTime: {from: "{Sold on} {Sold time}", format: "<FILL IN: d/M/yy H:mm or M/d/yy H:mm>"}   # "3/4/26" is 2026-04-03 or 2026-03-04: which one, is never guessed',
    ]);
    expect(lines).toContain('ticketId: "{Sale Ref}"   # guess: different in all 2 rows');
  });

  test.each([
    ["N° billet;Événement;N° client;Prix;Date de vente;État", "payée", "annulée", "en attente", '# or "{Événement}"'],
    ["Codice biglietto;Evento;Cliente;Prezzo;Data di vendita;Stato", "pagato", "annullato", "in attesa", "# or"],
    ["Número do bilhete;Sessão;Cliente;Preço;Data da venda;Situação", "pago", "cancelado", "pendente", "# or"],
    ["Kartennummer;Vorstellung;Kunde;Betrag;Verkaufsdatum;Zahlungsstatus", "bezahlt", "storniert", "offen", "# or"],
    ["ETAT_BILLET;EVENEMENT;CLIENT;PRIX;DATE;etat", "PAYE", "ANNULE", "EN ATTENTE", "# or"],
  ])("has its columns recognised in any language: %s", (header, sold, gone, waiting, event) => {
    const rows = Array.from({ length: 24 }, (_, at) => {
      const status = [sold, sold, gone, waiting][at % 4];
      return `${1000 + at};E${at % 3};C${at % 9};${10 + (at % 4)},50;${13 + (at % 15)}/10/2026 10:00;${status}`;
    });
    const lines = bodyOf("ventes.csv", `${header}\n${rows.join("\n")}\n`, ";");
    const [ticket = "", , client, , time, status = ""] = header.split(";");
    const yamlName = /^[\p{L}\p{N} _]+$/u.test(status) ? status : JSON.stringify(status);
    const values = `${sold} (12), ${gone} (6), ${waiting} (6)`;
    for (const asked of [
      "are sales, such as [one, other]?",
      "mean that a ticket is no longer valid, such as [one, other]?",
    ])
      expect(lines.join("\n")).toContain(
        `      when: {${yamlName}: "<FILL IN: which values of ${status} ${asked} ${values}`,
      );
    expect(lines.join("\n")).toContain(`ticketId: "{${ticket}}"   # guess: different in all 24 rows`);
    expect(lines.join("\n")).toContain(`userId: "{${client}}"   # guess`);
    expect(lines.join("\n")).toMatch(new RegExp(`orderTime: .*"\\{${time}\\}"`));
    expect(lines.find((line) => line.includes("eventId:"))).toContain(event);
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

  test.each(["Event ID,Name,Begins,Ends,City,Currency"])(
    "of events loses neither their names nor their times, however short these are called: %s",
    (header) => {
      const rows =
        "e1,Gala,2026-05-01T20:00Z,2026-05-01T23:00Z,Bonn,EUR\ne2,Ball,2026-05-02T20:00Z,2026-05-02T23:00Z,Bonn,EUR\n";
      const all = bodyOf("events.csv", `${header}\n${rows}`).join("\n");
      const [, name, start, end] = header.split(",");
      expect(all).toContain(`eventName: "{${name}}"   # guess by name`);
      expect(all).toContain(`startTime: {from: "{${start}}"`);
      expect(all).toContain(`endTime: {from: "{${end}}"`);
    },
  );
});
