/** What `tickets init` writes passes `tickets validate` on the same file, for every sample: a user only fills in what it asks for. */

import { copyFileSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { generateTwins } from "../../../scripts/fixtures.ts";
import { type Field, makeContext, openField, verbs } from "../../support/context.ts";
import { openFolder } from "../../support/folder.ts";
import { validateFiles } from "../../support/validating.ts";
import { LONG } from "../../support/walks.ts";

const FIXTURES = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
const SHARED = fileURLToPath(new URL("../../../../shared/exports/", import.meta.url));

const csvIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".csv"))
    .map((name) => join(folder, name));

const SYSTEMS = readdirSync(join(FIXTURES, "exports")).map((system) => join(FIXTURES, "exports", system));
const EXPORTS = [...SYSTEMS.flatMap(csvIn), ...(existsSync(SHARED) ? csvIn(SHARED) : [])];

/** What a user would write for what an export does not say, by the words that ask for it. */
const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/time zone/, "Europe/Berlin"],
  [/price/, '"10.00"'],
  [/id of the event/, "event-1"],
  [/id of the ticket/, '"{COD}"'],
  [/what the event is called/, "An evening"],
  [/the currency of the event/, "EUR"],
  [/are sales/, "[SI]"],
];

const fillIn = (yaml: string): string =>
  yaml.replaceAll(/"<FILL IN: ([^>]*)>"/g, (asked, what: string) => {
    const answer = ANSWERS.find(([words]) => words.test(what));
    if (answer === undefined) throw new Error(`nobody could answer ${asked}`);
    return answer[1];
  });

/** What may be said of a sample though its config is right. */
const EXPECTED: Readonly<Record<string, string>> = {
  "event-not-registered": "the sales come without their event, which may have been registered elsewhere",
  "currency-decimals": "the sales come without their event, whose currency is then not known",
  "order-time-missing": "the export has no time of the check-in or the cancellation",
  "order-time-far": "the samples of this project are of the year after the tests' clock",
  "event-described-differently": "the events report has one row for each date of an event, with a start of its own",
};

/** A folder with copies of the files, which were not written just now. */
function folderWith(files: readonly (readonly [name: string, path: string])[]): string {
  const folder = openFolder();
  for (const [name, path] of files) {
    copyFileSync(path, join(folder, name));
    utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
  }
  return folder;
}

async function initIn(folder: string, files: readonly string[]) {
  const { context, said } = makeContext(folder, {});
  expect(await verbs.init({ files, moveAside: false }, context)).toBe(0);
  const config = join(folder, "tickets.config.yaml");
  const yaml = readFileSync(config, "utf8");
  writeFileSync(config, fillIn(yaml));
  return { yaml, said: said() };
}

async function expectValid(folder: string, files: readonly string[]): Promise<void> {
  const { exitCode, message, problems, rows } = await validateFiles(files, { cwd: folder });
  expect(message).toBe("");
  expect(problems.filter(({ rule }) => EXPECTED[rule] === undefined)).toEqual([]);
  expect(exitCode).toBe(0);
  expect(rows.mapped).toBeGreaterThan(0);
}

describe("the config that tickets init writes is valid for its own file:", () => {
  test.each(EXPORTS.map((path) => path.split("/").slice(-2).join("/")))("%s", async (shown) => {
    const path = EXPORTS.find((each) => each.endsWith(`/${shown}`)) ?? "";
    const folder = folderWith([[basename(path), path]]);
    await initIn(folder, [basename(path)]);
    await expectValid(folder, [basename(path)]);
  });

  test.each(csvIn(FIXTURES).map((path) => basename(path)))(
    "%s, whose columns are named like fields and needs nothing filled in",
    async (name) => {
      const folder = folderWith([[name, join(FIXTURES, name)]]);
      expect((await initIn(folder, [name])).yaml).not.toMatch(/FILL IN:|actions:/);
      await expectValid(folder, [name]);
    },
  );

  test.each([...generateTwins()].filter(([name]) => name !== "actions.ndjson"))(
    "%s, rows of JSON",
    async (name, rows) => {
      const folder = folderWith([]);
      writeFileSync(join(folder, name), rows);
      utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
      await initIn(folder, [name]);
      await expectValid(folder, [name]);
    },
  );
});

test("quotes behind a backslash, as PHP writes them: the config declares the escape, whichever row has the first", async () => {
  const folder = folderWith([]);
  const path = join(folder, "sales.csv");
  const rows = ["t1,u1,ok", String.raw`t2,u2,"seat \"A1\", or ""B1"""`, "t3,u3,ok"];
  const lines = rows.map((row) => `e1,10.00,2026-05-01T10:00:00Z,${row}\n`);
  writeFileSync(path, `Event ID,Price,Order Time,Ticket ID,User ID,Note\n${lines.join("")}`);
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  await initIn(folder, ["sales.csv"]);
  expect(readFileSync(join(folder, "tickets.config.yaml"), "utf8")).toContain(String.raw`csv: {escape: '\'}`);
  await expectValid(folder, ["sales.csv"]);
});

/** Two tickets were sold. */
async function sold(): Promise<Field> {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\ne1,EUR\n");
  await field.write(
    "sold.ndjson",
    ["t1", "t2"]
      .map((ticketId, at) =>
        JSON.stringify({
          action: "soldTicket",
          data: { eventId: "e1", ticketId, userId: `u${at + 1}`, price: "25.00", orderTime: 1777000000 + at },
        }),
      )
      .join("\n"),
  );
  expect((await field.stream(["events.csv", "sold.ndjson"])).exitCode).toBe(0);
  return field;
}
const CENTS = "Ticket ID,User ID,Event ID,Amount in cents,Event start,Ordered,Cancelled";

test.each([
  [
    "a cancellation, however many fields of the sale stand beside it",
    "cancellations.csv",
    "Event ID,Ticket ID,User ID,Price,Cancelled at\ne1,t1,u1,25.00,2026-05-01T20:00:00Z\n",
    {},
    ['invalidatedTicket {"ticketId":"t1","orderTime":1777665600}'],
  ],
  [
    "scans, though there is a user",
    "scans.csv",
    "Ticket ID,User ID,Scanned at\nt1,u1,2026-05-01T18:00:00Z\nt2,u2,2026-05-01T18:01:00Z\n",
    {},
    [
      'scannedTicket {"ticketId":"t1","orderTime":1777658400}',
      'scannedTicket {"ticketId":"t2","orderTime":1777658460}',
    ],
  ],
  [
    "the check-in of who came",
    "checkins.csv",
    "Ticket ID,User ID,Checked in,Checked in at\nt1,u1,no,\nt2,u2,yes,2026-05-01T18:00:00Z\n",
    { "Checked in": '"yes"' },
    ['checkedInTicket {"ticketId":"t2","orderTime":1777658400}'],
  ],
  [
    "the check-in of who came, by the time alone",
    "checkins.csv",
    "Ticket ID,Checked in at\nt1,\nt2,2026-05-01T18:00:00Z\n",
    { "Checked in at": "{empty: false}" },
    ['checkedInTicket {"ticketId":"t2","orderTime":1777658400}'],
  ],
  [
    "entries that were granted",
    "scans.csv",
    "Ticket Code,Scanned at,Result\nt1,2026-05-01T20:00:00Z,ok\nt2,2026-05-01T20:00:00Z,denied\n",
    { Result: "ok" },
    ['scannedTicket {"ticketId":"t1","orderTime":1777665600}'],
  ],
  [
    "a sale at its price and its time, and its cancellation",
    "sales.csv",
    `${CENTS}\nt3,u3,e1,2505,2026-05-01T20:00:00Z,2026-04-01T10:00:00Z,\nt4,u4,e1,3000,2026-05-01T20:00:00Z,2026-04-02T10:00:00Z,2026-04-03T10:00:00Z\n`,
    { Cancelled: "{empty: false}" },
    [
      'soldTicket {"eventId":"e1","ticketId":"t3","userId":"u3","price":"25.05","orderTime":1775037600}',
      'soldTicket {"eventId":"e1","ticketId":"t4","userId":"u4","price":"30.00","orderTime":1775124000}',
      'invalidatedTicket {"ticketId":"t4","orderTime":1775210400}',
    ],
  ],
  [
    "sales in JSON whose keys are nearly fields",
    "sales.ndjson",
    '{"id":"s1","event_id":"e1","ticket_id":"t5","customer_id":"c1","amount":"25.00","currency":"EUR","created":1777658401,"status":"paid"}\n',
    { status: "paid" },
    ['soldTicket {"eventId":"e1","ticketId":"t5","userId":"c1","price":"25.00","orderTime":1777658401}'],
  ],
])(
  "what the service gets by the config of a file beside sales that it knows: %s (%s)",
  async (_what, name, text, answers: Readonly<Record<string, string>>, expected) => {
    const field = await sold();
    const before = [...field.sandbox.engine.processed()].length;
    await field.write(name, text);
    const made = await field.ask("init", { files: [name] });
    expect(made.exitCode, made.said).toBe(0);
    const asked = Object.entries(answers);
    if (asked.length > 0) expect((await field.stream([name])).exitCode).toBe(2);
    let yaml = await field.read("tickets.config.yaml");
    // The event is registered elsewhere.
    yaml = yaml.replace(/^ {6}- newEvent:.*\n(?: {10}.*\n)+/m, "");
    for (const [key, answer] of asked) yaml = yaml.replace(new RegExp(`(?<=\\{${key}: )"<FILL IN: [^>]*>"`), answer);
    await field.write("tickets.config.yaml", yaml);
    expect(await field.stream([name])).toMatchObject({ exitCode: 0 });
    const processed = [...field.sandbox.engine.processed()].slice(before);
    expect(processed.map(({ action, data }) => `${action} ${data}`)).toEqual(expected);
    expect(processed.every(({ status }) => status === "success")).toBe(true);
  },
);

describe("several files give one config with a source for each,", () => {
  test("valid for all of them at once, and the next command has events before sales", async () => {
    const names = ["scans.csv", "sales.csv", "attendees.csv", "events.csv", "event-updates.csv", "positions.csv"];
    const paths = [...EXPORTS.filter((path) => path.startsWith(FIXTURES)), ...csvIn(FIXTURES)];
    const own = (name: string): string =>
      [...csvIn(FIXTURES), ...paths.filter((path) => !path.includes("hievents"))].find(
        (path) => basename(path) === name,
      ) ?? "";
    const folder = folderWith(names.map((name) => [name, own(name)]));
    const { yaml, said } = await initIn(folder, names);
    const next = /^Next: tickets plan (.*) --preview$/m.exec(said)?.[1]?.split(" ") ?? [];
    expect(next).toEqual([
      "events.csv",
      "event-updates.csv",
      "sales.csv",
      "attendees.csv",
      "positions.csv",
      "scans.csv",
    ]);
    expect([...yaml.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name)).toEqual([
      "events",
      "event-updates",
      "sales",
      expect.stringMatching(/attendees$/),
      "pretix-positions",
      "scans",
    ]);
    await expectValid(folder, next);
  });

  test("also of one system, each under its own name and match", LONG, async () => {
    const path = join(FIXTURES, "exports/eventbrite/attendees.csv");
    const names = ["gala.csv", "ball-1.csv", "ball-2.csv"];
    const folder = folderWith(names.map((name) => [name, path]));
    const { yaml } = await initIn(folder, names);
    expect([...yaml.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name)).toEqual(["gala", "ball", "ball-2"]);
    for (const name of names) await expectValid(folder, [name]);
  });

  test("whose patterns do not overlap", async () => {
    const names = ["orders-2026-04.csv", "orders-2026-05.csv", "orders-old-2026-04.csv", "orders.csv"];
    const folder = folderWith([]);
    for (const name of names) {
      writeFileSync(join(folder, name), `Show ID,Barcode,Mail,Amount\nS,T-${name},u@example.com,1.00\n`);
      utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
    }
    const { yaml } = await initIn(folder, names);
    expect([...yaml.matchAll(/match: "?([^" ]*)"?(.*)$/gm)].map(([, pattern, note]) => [pattern, note])).toEqual([
      ["orders-2026-04.csv", "   # as orders-*.csv it could take a file of another source"],
      ["orders-2026-05.csv", "   # as orders-*.csv it could take a file of another source"],
      ["orders-old-*.csv", ""],
      ["orders.csv", "   # as orders*.csv it could take a file of another source"],
    ]);
    await expectValid(folder, names);
  });

  test("but not of two files with the same name", async () => {
    const folder = folderWith([["sales.csv", join(FIXTURES, "sales.csv")]]);
    writeFileSync(join(folder, "SALES.csv"), "eventId,ticketId,userId,price\ne,t,u,1\n");
    const { context } = makeContext(folder, {});
    await expect(verbs.init({ files: ["sales.csv", "SALES.csv"], moveAside: false }, context)).rejects.toThrow(
      "sales.csv and SALES.csv can't be distinguished by their names",
    );
    expect(existsSync(join(folder, "tickets.config.yaml"))).toBe(false);
  });
});

test.each([
  ["a1.csv", '{delimiter: ";", header: 2}', "{PRECIO}"],
  ["a2.csv", "{header: 2}", "{Price}"],
  ["a3.csv", "{header: 4}", "{Price}"],
])("titles above the header are passed over: %s", async (name, csv, price) => {
  const folder = folderWith([[name, join(FIXTURES, "reports/12-titles-above-the-header", name)]]);
  const { yaml } = await initIn(folder, [name]);
  expect(yaml).toContain(`csv: ${csv}`);
  expect(yaml).toContain(price);
});

test("of titles of different widths the header is the line that is twice as wide", async () => {
  const folder = folderWith([]);
  const titles = ["Evening till report", "Harbour Hall,Till 2", "Printed 01/11/2026"];
  const rows = [
    "5001,Ghost Ship,18:40,Adult,2,15.00,30.00",
    ",,,Child,1,7.50,7.50",
    "5002,Ghost Ship,19:05,Adult,1,15.00,15.00",
  ];
  const text = [...titles, "Receipt,Show,Time,Item,Qty,Each,Sum", ...rows, "Total,,,,4,,52.50", ""].join("\n");
  writeFileSync(join(folder, "till-2026-10-31.csv"), text);
  const { context } = makeContext(folder, {});
  expect(await verbs.init({ files: ["till-2026-10-31.csv"], moveAside: false }, context)).toBe(0);
  const yaml = readFileSync(join(folder, "tickets.config.yaml"), "utf8");
  expect(yaml).toContain("csv: {header: 4}");
  expect(yaml).toContain("those of Receipt, Show, Time in which a blank cell means the one above");
  expect(yaml).toContain("skip: {Receipt: Total}");
  expect(yaml).toContain('price: "{Each}"');
});

test("--encoding is declared for the files that are not UTF-8, and for no others", async () => {
  const folder = folderWith([]);
  const write = (name: string, text: string, encoding: BufferEncoding): void => {
    writeFileSync(join(folder, name), Buffer.from(text, encoding));
    utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
  };
  write("events.csv", "Event ID,Event Name,Currency\nE1,Città di Nuit,CHF\n", "utf8");
  write("ventes.csv", "Event ID;Ticket ID;User ID;Price;Catégorie\nE1;B-1;c1;10.50;Étudiant\n", "latin1");
  write("plain.ndjson", '{"eventId":"E1","ticketId":"S-1","userId":"u","price":"1"}\n', "utf8");
  const { context, said } = makeContext(folder, {});
  const files = ["events.csv", "ventes.csv", "plain.ndjson"];
  expect(await verbs.init({ files, moveAside: false, encoding: "windows-1252" }, context)).toBe(0);
  const yaml = readFileSync(join(folder, "tickets.config.yaml"), "utf8");
  expect(yaml.match(/encoding: .*/g)).toEqual(["encoding: windows-1252}   # as this file is written"]);
  expect(yaml).toContain('csv: {delimiter: ";", encoding: windows-1252}');
  expect(yaml).not.toContain("Ã");
  expect(said()).toContain("events.csv is UTF-8, so --encoding windows-1252 is not declared for it.");
  const { context: other } = makeContext(folder, {});
  const stdin = Readable.from([Buffer.from("Event ID,Event Name,Currency\nE1,Città di Nuit,CHF\n")]);
  await expect(
    verbs.init({ files: ["-"], moveAside: true, encoding: "windows-1252" }, { ...other, stdin }),
  ).rejects.toMatchObject({
    message: expect.stringContaining('"Città di Nuit" would become'),
    hint: expect.anything(),
  });
});

test("standard input is named by its source in the next command, and stands alone", async () => {
  const folder = folderWith([["sales.csv", join(FIXTURES, "sales.csv")]]);
  const { context, said } = makeContext(folder, {});
  const given = { ...context, stdin: Readable.from([Buffer.from("eventId,ticketId,userId,price\ne,t,u,1\n")]) };
  expect(await verbs.init({ files: ["-"], moveAside: false, output: "-" }, given)).toBe(0);
  expect(said()).toContain("Next: tickets plan - --preview --source export");
  await expect(verbs.init({ files: ["-", "sales.csv"], moveAside: false }, given)).rejects.toThrow(
    "Standard input has no name",
  );
});
