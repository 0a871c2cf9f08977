/** Rejects files: the rows that are still open, each with a reason. */

import { isUtf8 } from "node:buffer";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { expectSpokenAsSpecified, type Item, openPlayground, openSales, type Service } from "../support/service.ts";
import { readPromises, readTable, salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const ENV = ["--env", "playground"];

const sentOf = (service: Service): readonly Item["data"][] => service.sent().map(({ data }) => data);

test("a rejected action: a reason as a sentence in the rejects, the service's answer in the promises alone, and the rest is sent", async () => {
  const failure = { status: "error", ticketId: "T-2", error: { code: "event_not_found", message: "No such event" } };
  const { place, service } = await openSales(3, {
    failureOf: ({ data }) => (data.ticketId === "T-2" ? failure : undefined),
  });
  const { stderr, summary } = await place.summary(["stream", "sales.csv", ...ENV, "TICKETS_CHUNK_SIZE=2"], service);
  expectSpokenAsSpecified(service);
  expect(summary).toMatchObject({
    ...{ exitCode: 4, state: "finished", actions: { total: 3, accepted: 2, rejected: 1 } },
    ...{ rejects: [place.path("sales.rejects.csv")], next: "tickets stream sales.rejects.csv --env playground" },
  });
  expect(place.read("sales.rejects.csv")).toMatch(
    /^eventId,ticketId,userId,price,orderTime,tickets:reason,tickets:row\n.*,row@[0-9a-f]{8}:2\n$/,
  );
  const [row] = readTable(place.read("sales.rejects.csv"));
  const reason = "soldTicket rejected by the service: No such event (event_not_found).";
  expect(row).toMatchObject({ ticketId: "T-2", "tickets:reason": reason });
  expect(stderr).toContain("sales.csv:3 soldTicket T-2 rejected by the service: No such event (event_not_found).");
  expect(stderr).not.toContain('"error"');
  const promises = readPromises(place.read("promises.playground.ndjson"));
  expect(promises.map(({ ticketId, response }) => [ticketId, response])).toEqual([
    ...[
      ["T-1", undefined],
      ["T-2", failure],
      ["T-3", undefined],
    ],
  ]);
  expect(promises[1]).not.toHaveProperty("actionPromise");
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

test("rejects and their export are not read together, by standard input either", LONG, async () => {
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
});

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
      "a format that its name does not show",
      { input: "sales.txt", content: SALES, config: shop('    match: "sales.txt"'), flags: ["--format", "csv"] },
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
