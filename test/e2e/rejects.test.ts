/** Rejects files: the rows that are still open, each with a reason. */

import { isUtf8 } from "node:buffer";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { type Item, openPlayground, openSales, type Service, startService } from "../support/service.ts";
import { type Cells, editTable, readPromises, readTable, salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const ENV = ["--env", "playground"];

const sentOf = (service: Service): readonly Item["data"][] => service.sent().map(({ data }) => data);

test("a reason is a sentence; the service's answer stands in the promises alone", async () => {
  const place = openWorkplace();
  const failure = { status: "error", ticketId: "T-2", error: { code: "event_not_found", message: "No such event" } };
  const service = await startService({ failureOf: ({ data }) => (data.ticketId === "T-2" ? failure : undefined) });
  place.write("sales.csv", salesTable(3));
  const { stderr } = await place.summary(["stream", "sales.csv", ...ENV], service);
  const [row] = readTable(place.read("sales.rejects.csv"));
  const reason = "soldTicket rejected by the service: No such event (event_not_found).";
  expect(row).toMatchObject({ ticketId: "T-2", "tickets:reason": reason });
  expect(stderr).toContain("sales.csv:3 soldTicket T-2 rejected by the service: No such event (event_not_found).");
  expect(stderr).not.toContain('"error"');
  expect(readPromises(place.read("promises.playground.ndjson"))[1]?.response).toEqual(failure);
});

test("of many rejected actions the first are named, and the others counted", LONG, async () => {
  const { place, service } = await openSales(8, {
    failureOf: () => ({ status: "error", error: { message: "No." } }),
  });
  const { stderr, exitCode } = await place.summary(["stream", "sales.csv", ...ENV], service);
  expect(exitCode).toBe(4);
  expect(stderr.match(/rejected by the service: No\./g)).toHaveLength(5);
  expect(stderr).toContain("… and 3 more; all of them are in the rejects.");
  expect(readTable(place.read("sales.rejects.csv"))).toHaveLength(8);
});

/** A nightly full export whose third row is bad, its rejects corrected by `correct`. */
async function correctedNight(correct: (row: Cells) => Cells, text = salesTable(5).replace(",10.50,", ",?,")) {
  const { place, service } = await openPlayground();
  place.write("sales.csv", text);
  const night = ["stream", "sales.csv", ...ENV];
  expect((await place.tickets([...night, "--max-invalid", "1"], service)).exitCode).toBe(4);
  place.write("sales.rejects.csv", editTable(place.read("sales.rejects.csv"), correct));
  return { place, service, night, rejects: ["stream", "sales.rejects.csv", ...ENV] };
}

const withPrice = (row: Cells): Cells => ({ ...row, price: "10.50" });

describe("a bad row whose corrected version was accepted", () => {
  const EXPORTS: readonly (readonly [how: string, edit: (text: string) => string])[] = [
    ["as it was", (text) => text],
    ["on another line, with other blanks", (text) => reordered(text).replace("T-5,", " T-5 ,")],
    ["among other columns", (text) => text.replace(/^(.+)$/gm, "$1,").replace("orderTime,", "orderTime,note")],
    ["of a file with a date in its name", (text) => text],
  ];
  const isKnown = async (how: string, edit: (text: string) => string): Promise<void> => {
    const { place, service, night, rejects } = await correctedNight((row) => ({
      ...row,
      ticketId: "T-55",
      price: "10.50",
    }));
    expect((await place.summary(rejects, service)).summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    place.write("sales.csv", edit(place.read("sales.csv")));
    const name = how.includes("date") ? "sales-2026-03-02.csv" : "sales.csv";
    place.write(name, place.read("sales.csv"));
    const { summary } = await place.summary(night.with(1, name), service);
    expect(summary).toMatchObject({
      exitCode: 0,
      state: "nothing new",
      rows: { read: 5, mapped: 5, invalid: 0, held: 0 },
      actions: { total: 5, alreadySent: 5 },
      problems: { errors: 0 },
    });
    expect(service.sent().map(({ data }) => data.ticketId)).toEqual(["T-1", "T-2", "T-3", "T-4", "T-55"]);
  };
  test.each(EXPORTS)("is known in the next full export, %s", LONG, isKnown);

  test(
    "needs its column: without tickets:row the corrected row is sent, and the bad one stays invalid",
    LONG,
    async () => {
      const { place, service, night, rejects } = await correctedNight(withPrice);
      const without = place.read("sales.rejects.csv").replace(/^(.*),[^,]*$/gm, "$1");
      expect(without).not.toContain("tickets:row");
      place.write("sales.rejects.csv", without);
      expect((await place.summary(rejects, service)).summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
      const { summary } = await place.summary(night, service);
      expect(summary).toMatchObject({ exitCode: 3, rows: { invalid: 1 } });
      // Its rejects bring the column back: what they are corrected to was sent, and that is all that is needed.
      await place.tickets([...night, "--max-invalid", "1"], service);
      const file = "sales.rejects.2.csv";
      place.write(file, editTable(place.read(file), withPrice));
      expect((await place.summary(["stream", file, ...ENV], service)).summary).toMatchObject({
        state: "nothing new",
        exitCode: 0,
      });
      expect((await place.summary(night, service)).summary).toMatchObject({ exitCode: 0, rows: { invalid: 0 } });
    },
  );

  test("is one of several equal ones: each is corrected for itself", LONG, async () => {
    const row = "E-1,#REF!,user-9,?,1700000009\n";
    const { place, service, night, rejects } = await correctedNight(
      (cells) => cells,
      `${salesTable(2)}${row}${salesTable(1, { first: 3 }).replace(/^.*\n/, "")}`,
    );
    place.write("sales.csv", place.read("sales.csv").replace(row, row + row));
    await place.tickets([...night, "--max-invalid", "2"], service);
    const file = "sales.rejects.csv";
    const [header = "", first = "", second = ""] = place.read(file).split("\n");
    expect([first, second].map((line) => /#2@/.test(line))).toEqual([false, true]);
    const corrected = (line: string, ticket: string): string => line.replace("#REF!", ticket).replace("?", "9.50");
    place.write("sales.rejects.csv", `${header}\n${corrected(second, "T-8")}\n`);
    expect((await place.summary(rejects, service)).summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    expect((await place.summary(night, service)).summary).toMatchObject({
      exitCode: 3,
      rows: { invalid: 1 },
    });
    place.write("sales.rejects.csv", `${header}\n${corrected(first, "T-9")}\n${corrected(second, "T-8")}\n`);
    expect((await place.summary(rejects, service)).summary).toMatchObject({
      exitCode: 0,
      actions: { accepted: 1, alreadySent: 1 },
    });
    expect((await place.summary(night, service)).summary).toMatchObject({
      exitCode: 0,
      rows: { invalid: 0 },
    });
  });

  test(
    "is corrected in NDJSON, whatever the order of its keys and the spelling of what is not in it",
    LONG,
    async () => {
      const { place, service } = await openPlayground();
      const row = (price: string): string =>
        `{"eventId":"E-1","ticketId":"T-1","userId":"u","price":${price},"orderTime":1700000000}\n`;
      place.write("sales.ndjson", row('"1,x"'));
      const night = ["stream", "sales.ndjson", ...ENV];
      await place.tickets([...night, "--max-invalid", "1"], service);
      place.write("sales.rejects.ndjson", place.read("sales.rejects.ndjson").replace('"1,x"', '"1.50"'));
      expect((await place.summary(["stream", "sales.rejects.ndjson", ...ENV], service)).summary).toMatchObject({
        actions: { accepted: 1 },
      });
      place.write(
        "sales.ndjson",
        '{"orderTime":1700000000,"price":"1,x","userId":"u","ticketId":"T-1","name":null,"eventId":"E-1"}\n',
      );
      expect((await place.summary(night, service)).summary).toMatchObject({
        exitCode: 0,
        rows: { read: 1, invalid: 0 },
      });
    },
  );

  test("is known again when the process died between the answer and the end", LONG, async () => {
    const { place, service, night, rejects } = await correctedNight(withPrice);
    for (const point of ["settled", "projected", "rejects written"]) {
      const env = { ...service.env, TICKETS_TEST_CRASH_AT: `${point}:1` };
      await place.tickets(rejects, { env });
    }
    await place.tickets(rejects, service);
    expect((await place.summary(night, service)).summary).toMatchObject({ exitCode: 0, rows: { invalid: 0 } });
    expect(service.sent().filter(({ data }) => data.ticketId === "T-5")).toHaveLength(1);
  });
});

test(
  "neither rejects nor the export that they come from may come by standard input beside the other",
  LONG,
  async () => {
    const { place, service } = await openPlayground({ failureOf: () => ({ status: "error" }) });
    place.write("updates.csv", "ticketId,imageUrl\nT-1,https://img.example/a.png\n");
    const command = ["stream", "--action", "updateTicket", ...ENV];
    expect((await place.tickets([...command, "updates.csv"], service)).exitCode).toBe(4);
    for (const [name, stdin, sentence] of [
      [
        "updates.csv",
        "updates.rejects.csv",
        "Standard input is a rejects file that tickets wrote; it can't be read together with updates.csv",
      ],
      [
        "updates.rejects.csv",
        "updates.csv",
        "it can't be read together with Standard input, which may hold the same rows.",
      ],
    ] as const) {
      const refused = await place.tickets([...command, name, "-"], { ...service, stdin: place.read(stdin) });
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(sentence)]);
    }
    expect(service.sent()).toHaveLength(1);
  },
);

/** The table with its rows in another order. */
function reordered(text: string): string {
  const [header = "", ...rows] = text.trimEnd().split("\n");
  return `${[header, ...rows.toReversed()].join("\n")}\n`;
}

describe("guards against formulas", () => {
  /** Ids that begin like a guard, and like a formula. */
  const IDS = ["'=7", "=7", "''-8", "-8", "'x", "@'"];
  const ROWS = IDS.map((id, at) => `E-1,${id},u,${at === 1 ? "?" : "1.00"},1700000000\n`);
  const SALES = `eventId,ticketId,userId,price,orderTime\n${ROWS.join("")}`;

  const SAFE_CSV = "environments: {playground: {safeCsv: true}}\n";
  const GUARDED = ["--config", "guarded.yaml"];

  const areUndone = async (...flags: readonly string[]): Promise<void> => {
    const { place, service } = await openPlayground();
    place.write("sales.csv", SALES);
    place.write("guarded.yaml", SAFE_CSV);
    const command = ["stream", "sales.csv", ...ENV, "-o", "promises.csv", ...flags];
    expect((await place.tickets([...command, "--max-invalid", "1"], service)).exitCode).toBe(4);
    const sold = IDS.filter((id) => id !== "=7");
    expect(service.sent().map(({ data }) => data.ticketId)).toEqual(sold);
    const guarded = flags.length > 0;
    expect(readTable(place.read("promises.csv")).map(({ ticketId }) => ticketId)).toEqual(
      guarded ? ["''=7", "'''-8", "'-8", "'x", "'@'"] : sold,
    );
    await place.tickets(["results", ...ENV, "-o", "again.csv", ...flags], service);
    expect(readTable(place.read("again.csv"))).toEqual(readTable(place.read("promises.csv")));
    const [reject] = readTable(place.read("sales.rejects.csv"));
    expect(reject?.ticketId).toBe(guarded ? "'=7" : "=7");
    expect(reject?.["tickets:guarded"]).toBe(guarded ? "yes" : undefined);

    // The rejects are the row that it was; the promises give a lost ledger its memory back.
    place.write("sales.rejects.csv", place.read("sales.rejects.csv").replace(",?,", ",1.00,"));
    const corrected = await place.summary(
      ["stream", "sales.rejects.csv", ...ENV, "-o", "promises.csv", ...flags],
      service,
    );
    expect(corrected.summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    expect(service.sent().at(-1)?.data.ticketId).toBe("=7");
    expect((await place.summary(command, service)).summary).toMatchObject({ exitCode: 0, rows: { invalid: 0 } });
    const state = ["TICKETS_STATE_DIR=elsewhere"];
    await place.tickets(["results", "--import", "promises.csv", ...ENV, ...state], service);
    place.write("sales.csv", SALES.replace(",?,", ",1.00,"));
    const again = await place.summary(["stream", "sales.csv", ...ENV, ...state, "-o", "more.ndjson"], service);
    expect(again.summary).toMatchObject({ state: "nothing new", actions: { total: 6, alreadySent: 6 } });
  };
  test("are taken off again by what the file says, in promises and in rejects: safeCsv", LONG, () =>
    areUndone(...GUARDED),
  );
  test("are taken off again by what the file says, in promises and in rejects", LONG, () => areUndone());

  test("a file that was begun without them is not continued with them", LONG, async () => {
    const { place, service } = await openSales(2);
    const command = ["stream", "sales.csv", ...ENV, "-o", "promises.csv"];
    await place.tickets(command, service);
    place.write("sales.csv", salesTable(3));
    place.write("guarded.yaml", SAFE_CSV);
    const refused = await place.tickets([...command, ...GUARDED], service);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain("promises.csv is not appended to: it was started without safeCsv");
    expect(service.sent()).toHaveLength(2);
    expect((await place.tickets(command, service)).exitCode).toBe(0);
  });
});

/** A source whose ids are not those of the cells, so that rows which are mapped without it become other tickets. */
const shop = (rest: string): string => `sources:
  shop:
${rest}
    fields: {eventId: E-1, ticketId: "shop-{Ticket}"}
    actions: [soldTicket: {fields: {userId: "{User}", orderTime: "1700000000", price: "{Price}"}}]
`;

interface Night {
  readonly input: string;
  readonly content: string | Buffer;
  readonly config?: string;
  readonly flags?: readonly string[];
}

const SALES = "Ticket,User,Price\nT-1,J\u00fcrgen,1.00\nT-2,\u00c4nne,oops\n";
const LATIN = Buffer.from(SALES, "latin1");
const ITEMS = SALES.trim()
  .split("\n")
  .slice(1)
  .map((line) => {
    const [Ticket, User, Price] = line.split(",");
    return { Ticket, User, Price };
  });
const NDJSON = ITEMS.map((item) => `${JSON.stringify(item)}\n`).join("");

async function correctAsPrinted({ input, content, config, flags = [] }: Night): Promise<void> {
  const { place, service } = await openPlayground();
  if (config !== undefined) place.write("tickets.config.yaml", config);
  if (input !== "-") place.write(input, content);
  const given = { ...service, ...(input === "-" && { stdin: content }) };
  const first = await place.summary(["stream", input, ...flags, ...ENV, "--max-invalid", "1"], given);
  expect(first.summary).toMatchObject({ exitCode: 4, actions: { accepted: 1 } });
  const isOther = !input.endsWith(".gz") && !isUtf8(Buffer.from(content));
  expect(/^Rejects: \S+(.*)$/m.exec(first.stderr)?.[1]).toBe(isOther ? " (UTF-8)" : "");
  for (const path of first.summary.rejects) {
    const name = basename(path);
    place.write(name, place.read(name).replace("oops", "2.00"));
  }
  const corrected = await place.summary(first.summary.next?.split(" ").slice(1) ?? [], service);
  expect(corrected.summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
  expect(sentOf(service)).toMatchObject([
    { ticketId: "shop-T-1", userId: "J\u00fcrgen", price: "1.00" },
    { ticketId: "shop-T-2", userId: "\u00c4nne", price: "2.00" },
  ]);
  const again = await place.summary(["stream", input, ...flags, ...ENV], given);
  expect(again.summary).toMatchObject({ exitCode: 0, rows: { invalid: 0 }, actions: { alreadySent: 2 } });
}

describe("the command that is printed for corrected rejects sends them as their input was sent", () => {
  test("a source that matches one name", () =>
    correctAsPrinted({ input: "sales.csv", content: SALES, config: shop('    match: "sales.csv"') }));

  test.each<[string, Night]>([
    [
      "a compressed input of which the source names the whole name",
      { input: "sales.csv.gz", content: gzipSync(SALES), config: shop('    match: "sales.csv.gz"') },
    ],
    [
      "an encoding, a delimiter and a header line",
      {
        input: "sales.csv",
        content: Buffer.from(`Sales of the week\n${SALES.replaceAll(",", "|")}`, "latin1"),
        config: shop('    match: "sales.csv"\n    csv: {encoding: windows-1252, delimiter: "|", header: 2}'),
      },
    ],
    [
      "an encoding, where the input's byte order mark said otherwise",
      {
        input: "sales.csv",
        content: `\ufeff${SALES}`,
        config: shop('    match: "sales.csv"\n    csv: {encoding: windows-1252}'),
      },
    ],
    [
      "--encoding, where the input's byte order mark said otherwise",
      {
        input: "sales.csv",
        content: `\ufeff${SALES}`,
        config: shop('    match: "sales.csv"'),
        flags: ["--encoding", "windows-1252"],
      },
    ],
    [
      "rows of JSON in another encoding",
      {
        input: "sales.ndjson",
        content: Buffer.from(NDJSON, "latin1"),
        config: shop('    match: "sales.ndjson"\n    csv: {encoding: windows-1252}'),
      },
    ],
    [
      "a format that its name does not show",
      { input: "sales.txt", content: SALES, config: shop('    match: "sales.txt"'), flags: ["--format", "csv"] },
    ],
    [
      "a JSON array that its name does not show",
      {
        input: "sales.data",
        content: JSON.stringify(
          ITEMS.map(({ Ticket, User: userId, Price: price }) => ({
            action: "soldTicket",
            data: { eventId: "E-1", ticketId: `shop-${Ticket}`, userId, price, orderTime: 1700000000 },
          })),
        ),
        flags: ["--format", "json"],
      },
    ],
    [
      "standard input, and a source that is named",
      { input: "-", content: LATIN, config: shop("    csv: {encoding: windows-1252}"), flags: ["--source", "shop"] },
    ],
    [
      "--action, of standard input, beside a source that matches its rejects",
      {
        input: "-",
        content:
          "eventId,ticketId,userId,price,orderTime\nE-1,shop-T-1,J\u00fcrgen,1.00,1700000000\nE-1,shop-T-2,\u00c4nne,oops,1700000000\n",
        config: shop('    match: "*.csv"\n    csv: {delimiter: ";"}'),
        flags: ["--action", "soldTicket"],
      },
    ],
  ])("%s", LONG, (_what, night) => correctAsPrinted(night));
});
