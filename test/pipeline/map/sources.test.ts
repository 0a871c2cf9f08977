/** Exports of several systems in one run, joined by the ids they share; the same exports again, with rows that changed. */

import { describe, expect, test } from "vitest";
import { type Field, openField } from "../../support/context.ts";

const SOURCES = `environments:
  local: {complete: true}
sources:
  shows:
    match: "shows*.csv"
    csv: {delimiter: ";"}
    actions:
      - newEvent: {fields: {eventId: "wave-{Nr}", currency: "{Währung}", eventName: "{Titel}"}}
  positions:
    match: "positions*.csv"
    zone: Europe/Berlin
    lookup: {order: {file: orders.csv, where: {Code: "{Order code}"}}}
    fields: {ticketId: "{Order code}-{Position ID}", eventId: "wave-{Show}"}
    actions:
      - soldTicket:
          when: {Status: [paid, canceled]}
          fields:
            userId: ["{order.Customer}", "{order.E-mail}"]
            price: {from: "{Price}", decimal: ","}
            orderTime: {from: "{order.Date} {order.Time}", format: "yyyy-MM-dd HH:mm:ss"}
      - invalidatedTicket:
          when: {Status: canceled}
          fields: {orderTime: {from: "{Canceled}", format: iso, blank: ""}}
  gates:
    match: "gate*.ndjson"
    fields: {ticketId: "{ticket.order}-{ticket.position}"}
    actions:
      - scannedTicket: {when: {kind: in}, fields: {orderTime: "{at}"}}
      - checkedInTicket: {when: {kind: final}, fields: {orderTime: "{at}"}}
`;

const SHOWS = "Nr;Titel;Währung\n26;Wave 26;EUR\n27;Wave 27;CHF\n";
const ORDERS = [
  "Code,Customer,E-mail,Date,Time",
  "AB12,cust-1,,2026-03-01,09:15:22",
  "CD34,,guest2@example.com,2026-03-02,18:00:00",
  "EF56,cust-3,,2026-03-03,12:00:00",
  "",
].join("\n");
const POSITIONS_HEADER = "Order code,Position ID,Show,Status,Price,Canceled\n";
const POSITIONS = `${POSITIONS_HEADER}AB12,1,26,paid,"35,00",\nAB12,2,26,paid,"35,00",\nCD34,1,27,canceled,"60,00",2026-03-05T10:00:00+01:00\nEF56,1,27,pending,"60,00",\n`;
const GATE = [
  { kind: "in", ticket: { order: "AB12", position: 1 }, at: 1772400000 },
  { kind: "out", ticket: { order: "AB12", position: 1 }, at: 1772400100 },
  { kind: "in", ticket: { order: "AB12", position: 1 }, at: 1772400200 },
  { kind: "final", ticket: { order: "AB12", position: 2 }, at: 1772400300 },
]
  .map((row) => `${JSON.stringify(row)}\n`)
  .join("");

async function openSeason(): Promise<Field> {
  const field = await openField();
  await field.write("tickets.config.yaml", SOURCES);
  await field.write("shows-2026.csv", SHOWS);
  await field.write("orders.csv", ORDERS);
  await field.write("positions-de.csv", POSITIONS);
  await field.write("gate-north.ndjson", GATE);
  return field;
}

const FILES = ["shows-2026.csv", "positions-de.csv", "gate-north.ndjson"];

/** `soldTicket AB12-1 success`, in the order in which the service processed them. */
function processed({ sandbox }: Field): readonly string[] {
  return Array.from(sandbox.engine.processed(), ({ action, ticketId, eventId, status }) =>
    [action, ticketId ?? eventId, status].join(" "),
  );
}

describe("events, sales and scans of three systems in one run", () => {
  const EXPECTED = [
    "newEvent wave-26 success",
    "newEvent wave-27 success",
    "soldTicket AB12-1 success",
    "soldTicket AB12-2 success",
    "soldTicket CD34-1 success",
    "invalidatedTicket CD34-1 success",
    "scannedTicket AB12-1 success",
    "scannedTicket AB12-1 success",
    "checkedInTicket AB12-2 success",
  ];

  test("meet by the ids that their templates make, and rows find their order in its own file", async () => {
    const field = await openSeason();
    const { exitCode, said, summary } = await field.stream(FILES);
    expect(exitCode, said).toBe(0);
    expect(processed(field)).toEqual(EXPECTED);
    expect(summary).toMatchObject({ rows: { read: 10, mapped: 8, skipped: 2 }, problems: { errors: 0 } });
    expect(said).toContain("2 rows skipped");
    expect(said).toMatch(/Status = pending/);
    const sales = Array.from(field.sandbox.engine.processed()).filter(({ action }) => action === "soldTicket");
    expect(sales.map(({ data }) => JSON.parse(data))).toMatchObject([
      { eventId: "wave-26", userId: "cust-1", price: "35.00", orderTime: 1772352922 },
      { eventId: "wave-26", userId: "cust-1", price: "35.00", orderTime: 1772352922 },
      { eventId: "wave-27", userId: "guest2@example.com", price: "60.00", orderTime: 1772470800 },
    ]);
  });

  test("in any order of the files, with --order time", async () => {
    const field = await openSeason();
    const { exitCode, said } = await field.stream(FILES.toReversed(), { order: "time" });
    expect(exitCode, said).toBe(0);
    expect(said).toContain("Order: by orderTime");
    expect(processed(field)).toEqual([
      "newEvent wave-26 success",
      "soldTicket AB12-1 success",
      "soldTicket AB12-2 success",
      "scannedTicket AB12-1 success",
      "scannedTicket AB12-1 success",
      "checkedInTicket AB12-2 success",
      "newEvent wave-27 success",
      "soldTicket CD34-1 success",
      "invalidatedTicket CD34-1 success",
    ]);
    const again = await field.stream(FILES);
    expect(again.summary).toMatchObject({ state: "nothing new", actions: { total: 9, alreadySent: 9, changed: 0 } });
  });

  test("as read, a scan before its sale is a problem, and --order time is named where the service would refuse it", async () => {
    const field = await openSeason();
    const { exitCode, said } = await field.stream(FILES.toReversed());
    expect(exitCode).toBe(3);
    expect(said).toContain("--order time");
    expect(processed(field)).toEqual([]);
  });

  test("hold back the scans of a sale whose order is not in the other file", async () => {
    const field = await openSeason();
    await field.write("orders.csv", ORDERS.replace("AB12,cust-1,,2026-03-01,09:15:22\n", ""));
    const { exitCode, said, summary } = await field.stream(FILES, { maxInvalid: { rows: 5 } });
    expect(exitCode).toBe(4);
    expect(said).toContain("lookup-missing");
    expect(said).toContain("gate-north.ndjson:1, gate-north.ndjson:3 wait for positions-de.csv:2, which is invalid.");
    expect(summary?.rows).toMatchObject({ invalid: 2, held: 3 });
    expect(processed(field)).toEqual([
      "newEvent wave-26 success",
      "newEvent wave-27 success",
      "soldTicket CD34-1 success",
      "invalidatedTicket CD34-1 success",
    ]);
  });
});

const REORDERED = "Code,E-mail,Customer,Date,Time\nGH78,,cust-4,2026-03-04,12:00:00\n";

test.each<[name: string, orders: string, said: string]>([
  ["with the header of the second", `${ORDERS}${ORDERS}`, "orders.csv:5 The row is the header again."],
  ["with its columns in another order", `${ORDERS}${REORDERED}`, "orders.csv:5 The row is a header again, with"],
  ["with a carriage return between two rows", ORDERS.replace("22\n", "22\r"), 'orders.csv:2 Column 5 ("Time") holds'],
])("a lookup file in which two were put together %s stops before anything is sent", async (_name, orders, said) => {
  const field = await openSeason();
  await field.write("orders.csv", orders);
  const night = await field.stream(FILES);
  expect(night.exitCode, night.said).toBe(2);
  expect(night.said).toContain(said);
  expect(processed(field)).toEqual([]);
});

test("a lookup that matches several files stops before anything is sent", async () => {
  const field = await openSeason();
  await field.write("tickets.config.yaml", SOURCES.replace("file: orders.csv", 'file: "orders*.csv"'));
  await field.write("orders-2.csv", ORDERS);
  const night = await field.stream(FILES);
  expect(night.exitCode, night.said).toBe(2);
  expect(night.said).toMatch(/The lookup order takes one file, but .*orders\*\.csv matches several\./);
});

/** What is reported as changed, with both values. */
async function changesIn(field: Field, files: readonly string[]): Promise<readonly string[]> {
  const { out } = await field.ask("validate", { files, json: true });
  const { problems } = JSON.parse(out) as {
    problems: { rule: string; source: string; line: number; message: string }[];
  };
  return problems
    .filter(({ rule }) => rule === "changed")
    .map(({ source, line, message }) => `${source}:${line} ${/not sent again: (.*)\.$/.exec(message)?.[1]}`);
}

describe("the same exports another night", () => {
  test("show rows that changed with both values, and send none of them", async () => {
    const field = await openSeason();
    await field.stream(FILES);
    await field.write(
      "positions-de.csv",
      POSITIONS.replace('AB12,2,26,paid,"35,00"', 'AB12,2,26,paid,"29,50"').replace("T10:00:00", "T11:30:00"),
    );
    await field.write("orders.csv", ORDERS.replace("guest2@", "guest9@"));
    const { exitCode, said, summary } = await field.stream(FILES);
    expect(exitCode, said).toBe(4);
    expect(summary).toMatchObject({ state: "nothing new", actions: { total: 9, alreadySent: 6, changed: 3 } });
    const changes = await changesIn(field, FILES);
    expect(changes).toEqual([
      "positions-de.csv:3 price 35.00 → 29.50",
      "positions-de.csv:4 userId gu…om → gu…om",
      "positions-de.csv:4 orderTime 1772701200 → 1772706600",
    ]);
  });

  test("show changed numbers by all their digits", async () => {
    const field = await openSeason();
    const night = (price: string, big: string) =>
      field.write(
        "sales.ndjson",
        Array.from({ length: 12 }, (_, at) => {
          const attributes = `"metadataAttributes":[{"trait_type":"No","value":${big}}],"orderTime":${big}`;
          return `{"action":"soldTicket","data":{"eventId":"wave-26","ticketId":"T-${at}","userId":"u","price":"${price}",${attributes}}}\n`;
        }).join(""),
      );
    await night("1", "18446744073709551615");
    expect((await field.stream(["shows-2026.csv", "sales.ndjson"])).exitCode).toBe(0);
    await night("1", "18446744073709551614");
    expect((await changesIn(field, ["sales.ndjson"]))[11]).toBe(
      'sales.ndjson:12 metadataAttributes [{"trait_type":"No","value":18446744073709551615}] → [{"trait_type":"No","value":18446744073709551614}], orderTime 18446744073709551615 → 18446744073709551614',
    );
  });

  test("a row that is canceled later gives its invalidation alone", async () => {
    const field = await openSeason();
    await field.stream(FILES);
    await field.write("positions-de.csv", POSITIONS.replace("AB12,1,26,paid", "AB12,1,26,canceled"));
    const { summary } = await field.stream(FILES);
    expect(summary).toMatchObject({ actions: { total: 10, accepted: 1, alreadySent: 9 } });
    expect(processed(field).at(-1)).toBe("invalidatedTicket AB12-1 success");
  });
});

const BOXES = `environments:
  local: {complete: true}
sources:
  boxes:
    match: "boxes*.csv"
    fields: {ticketId: "{Barcode}"}
    actions:
      - newEvent: {fields: {eventId: E, currency: EUR}}
      - soldTicket: {fields: {eventId: E, userId: "{Holder}", price: "{Price}", orderTime: "{Sold}"}}
      - invalidatedTicket: {when: {Status: [SWAPPED, transferred]}, fields: {orderTime: "{Swapped}"}}
`;
const HEADER = "Barcode,Holder,Price,Sold,Status,Swapped\n";

test("tickets that change hands by a new barcode: the old one is invalidated, the new one sold, and nothing of it twice", async () => {
  const field = await openField();
  await field.write("tickets.config.yaml", BOXES);
  await field.write("boxes.csv", `${HEADER}B1,ann,20,100,SOLD,\n`);
  expect((await field.stream(["boxes.csv"])).summary).toMatchObject({ actions: { accepted: 2 } });
  const swapped = `${HEADER}B1,ann,20,100,SWAPPED,200\nB2,ben,20,200,SOLD,\n`;
  await field.write("boxes.csv", swapped);
  for (const order of ["input", "time"] as const) {
    await field.stream(["boxes.csv"], { order });
    expect(processed(field)).toEqual([
      "newEvent E success",
      "soldTicket B1 success",
      "invalidatedTicket B1 success",
      "soldTicket B2 success",
    ]);
  }
});

const reportWith = (header: number) => `environments:
  local: {complete: true}
sources:
  report:
    match: "report*.csv"
    csv: {delimiter: ";", header: ${header}}
    fillDown: Order
    skip: {Order: Summe}
    fields: {eventId: E, ticketId: "{Order}-{No}"}
    actions:
      - newEvent: {fields: {currency: EUR}}
      - soldTicket: {fields: {userId: "{Order}", price: "{Paid}"}}
`;
const REPORT = 'Box office "Gala"\nfrom 1.5.\n\nOrder;No;Paid\nA7;1;10\n;2;20\nB1;1;30\nSumme;;60\n';

test("a report with titles above its header and totals below its rows sends nothing where skip does not name its short totals, or the header is not there", async () => {
  const field = await openField();
  await field.write("tickets.config.yaml", reportWith(4).replace("    skip: {Order: Summe}\n", ""));
  await field.write("report.csv", REPORT.replace("Summe;;60", "Summe;60"));
  const short = await field.stream(["report.csv"]);
  expect([short.exitCode, processed(field)]).toEqual([3, []]);
  expect(short.said).toContain("totals-line");
  await field.write("tickets.config.yaml", reportWith(40));
  const without = await field.stream(["report.csv"]);
  expect(without.exitCode).toBe(2);
  expect(without.said).toContain("report.csv has no header in line 40: it ends before that.");
});

test("a lookup file that is UTF-8 and read as something else stops before anything is sent", async () => {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `sources:
  scans:
    match: "scans*.csv"
    lookup: {o: {file: gates.csv, where: {Gate: "{Gate}"}, csv: {encoding: windows-1252}}}
    actions:
      - scannedTicket: {fields: {ticketId: "{T}-{o.Name}", orderTime: "{At}"}}
`,
  );
  await field.write("gates.csv", "Gate,Name\n1,Südtor\n");
  await field.write("scans.csv", "T,At,Gate\nA,1781280000,1\n");
  const { exitCode, said } = await field.stream(["scans.csv"]);
  expect(exitCode).toBe(3);
  expect(said).toMatch(/gates\.csv:2 .*"Südtor" would become "SÃ¼dtor"/);
  expect(field.sandbox.engine.counts().accepted).toBe(0);
});

describe("an array of rows on one line", () => {
  const rows = Array.from({ length: 300 }, (_, at) => ({
    ...{ eventId: "e1", ticketId: `t${at}`, userId: "u1", orderTime: "2026-11-01T10:00:00Z" },
    price: at === 7 || at === 200 ? "free" : "10.00",
  }));

  async function openWith(name: string, document: unknown, source = ""): Promise<Field> {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\ne1,EUR\n");
    await field.write(name, JSON.stringify(document));
    await field.write("tickets.config.yaml", source);
    return field;
  }

  test("names each row by its index: in problems, promises and previews, and each bad one is in the rejects", async () => {
    const field = await openWith("sales.json", rows);
    const checked = await field.ask("validate", { files: ["events.csv", "sales.json"] });
    expect(checked.out).toContain('sales.json[7] price: "free"');
    expect(checked.out).toContain('sales.json[200] price: "free"');
    const preview = await field.ask("plan", { files: ["sales.json"], preview: 9 });
    expect(preview.out.match(/^sales\.json\[\d+\]$/gm)).toContain("sales.json[7]");
    expect(preview.out.match(/error: "free"/g)).toHaveLength(1);
    const night = await field.stream(["events.csv", "sales.json"], { maxInvalid: { rows: 2 } });
    expect(night.summary?.actions, night.said).toMatchObject({ total: 299, accepted: 299 });
    const promises = (await field.read("promises.local.ndjson"))
      .split("\n")
      .flatMap((line) => (line.includes('"soldTicket"') ? [JSON.parse(line).line] : []));
    expect(promises).toEqual(rows.flatMap((_, at) => (at === 7 || at === 200 ? [] : [at])));
    expect((await field.read("sales.rejects.ndjson")).match(/"ticketId":"t\d+"/g)).toEqual([
      '"ticketId":"t7"',
      '"ticketId":"t200"',
    ]);
  });

  test("a preview shows what stands in the items of lists", async () => {
    const config = `sources:
  orders:
    match: "orders.json"
    each: {path: lines}
    actions:
      - scannedTicket: {each: {path: item.tickets}, fields: {ticketId: "{item.code}-{outer.gate}", orderTime: "{at}"}}
`;
    const lines = [
      { gate: "N", tickets: [{ code: "x1" }, { code: "x2" }] },
      { gate: "S", tickets: [] },
    ];
    const field = await openWith("orders.json", [{ at: "2026-11-01T10:00:00Z", lines }], config);
    const { out } = await field.ask("plan", { files: ["orders.json"], preview: 9 });
    for (const shown of [/^ +at +2026/m, /^ +item\.code +x1, x2/m, /^ +outer\.gate +N, S/m]) expect(out).toMatch(shown);
  });

  test("may be a list in an object, which the source names", async () => {
    const page = { meta: { next: null }, data: rows.slice(0, 3) };
    const config = "sources: {page: {match: page.json, rows: data, action: soldTicket}}\n";
    const field = await openWith("page.json", page, config);
    const night = await field.stream(["events.csv", "page.json"]);
    expect(night.summary?.actions, night.said).toMatchObject({ total: 4, accepted: 4 });
    const unnamed = await openWith("sales.json", page);
    const refused = await unnamed.stream(["events.csv", "sales.json"]);
    expect([refused.exitCode, refused.said]).toEqual([2, expect.stringContaining("rows: data")]);
  });
});

describe("files of a source", () => {
  const EVENT = `sources:
  gala:
    match: "gala*"
    actions:
      - newEvent: {fields: {eventId: "{E}", currency: EUR, eventName: "{N}"}}
      - soldTicket: {when: {N: {empty: false}}, fields: {eventId: "{E}", ticketId: "{T}", userId: u, price: "1.00"}}
`;

  async function openGala(): Promise<Field> {
    const field = await openField();
    await field.write("tickets.config.yaml", EVENT);
    return field;
  }

  test("give an event once, and stop where they describe it differently", async () => {
    const field = await openGala();
    await field.write("gala-1.csv", "E,N,T\ne,Gala,t1\n");
    await field.write("gala-2.csv", "E,N,T\ne,Gala,t2\n");
    await field.write("gala-3.csv", "E,N,T\ne,Ball,t3\n");
    const night = await field.stream(["gala-1.csv", "gala-2.csv"]);
    expect(night.summary?.actions, night.said).toMatchObject({ total: 4, accepted: 3, alreadySent: 1 });
    const other = await openGala();
    for (const name of ["gala-1.csv", "gala-3.csv"]) await other.write(name, await field.read(name));
    expect((await other.stream(["gala-1.csv", "gala-3.csv"])).exitCode).toBe(3);
  });

  test("may hold {action, data} items, which are taken as they are", async () => {
    const field = await openGala();
    const data = { eventId: "e", ticketId: "t2", userId: "u2", price: "2.00", orderTime: 1772356523 };
    const lines = [
      { E: "e", N: "Gala", T: "t1" },
      { action: "soldTicket", data },
    ];
    await field.write("gala.ndjson", lines);
    const night = await field.stream(["gala.ndjson"]);
    expect(night.summary?.actions, night.said).toMatchObject({ total: 3, accepted: 3 });
  });
});
