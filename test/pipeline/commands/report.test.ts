/** What a report says of real runs: the numbers of the summary, and the words of the terminal. */

import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Field, openField } from "../../support/context.ts";
import type { Summary } from "../../support/counts.ts";

/** By which a page of an earlier run is known. */
const MARK = "<!doctype html>\n<!-- a report of tickets";

const EVENTS =
  "eventId,eventName,currency,shopUrl,startTime\nspring,Spring Gala,EUR,https://shop.example/,1777658400\n";
const sale = (at: number, price = "20.00"): string => `spring,T-${at},anna.schmidt@example.org,${price},1777000000\n`;
const sales = (count: number): string =>
  `eventId,ticketId,userId,price,orderTime\n${Array.from({ length: count }, (_, at) => sale(at + 1)).join("")}`;

async function openNight(settings = ""): Promise<Field> {
  const field = await openField(settings);
  await field.write("events.csv", EVENTS);
  await field.write("sales.csv", sales(20));
  return field;
}

const FILES = ["events.csv", "sales.csv"];

/** Text as a reader sees it. */
const textOf = (page: string): string =>
  page
    .replace(/<(?:style|title|desc)[^>]*>[\s\S]*?<\/(?:style|title|desc)>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ");

/** The counts of a page by their names, and that they add up. */
function countsOf(page: string): Readonly<Record<"rows" | "actions", Readonly<Record<string, number>>>> {
  const verdict = /<div class="verdict [a-z]+">[\s\S]*?<\/div>/.exec(page)?.[0] ?? "";
  const of = (unit: string): Readonly<Record<string, number>> => {
    // The last line of that kind: one of an earlier run comes before.
    const lines = [...verdict.matchAll(new RegExp(`<p>([\\d,]+) ${unit}s?(?:: (.*?))?\\.</p>`, "g"))];
    const [, total = "0", list = ""] = lines.at(-1) ?? [];
    const toNumber = (text: string): number => Number(text.replaceAll(",", ""));
    const parts = [...list.matchAll(/([\d,]*\d) ([a-z ]+)/g)].map(
      ([, n = "", name = ""]) => [name, toNumber(n)] as const,
    );
    if (list !== "") expect(parts.reduce((sum, [, n]) => sum + n, 0)).toBe(toNumber(total));
    return { all: toNumber(total), ...Object.fromEntries(parts) };
  };
  return { rows: of("row"), actions: of("action") };
}

/** The figures at the top of a page. */
const tilesOf = (page: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...page.matchAll(/<li class="\w+"><a href="#\w+"><strong>([\d,]+)<\/strong> ([a-z ]+)/g)].map(
      ([, value = "", name = ""]) => [name, Number(value.replaceAll(",", ""))],
    ),
  );

/** Where the figures at the top lead to. */
function linksOf(page: string): Readonly<Record<string, string>> {
  const links = [...page.matchAll(/<a href="#(\w+)"><strong>[\d,]+<\/strong> ([a-z ]+)</g)];
  for (const [, id] of links) expect(page).toContain(`<h2 id="${id}">`);
  return Object.fromEntries(links.map(([, id = "", name = ""]) => [name, id]));
}

const titleOf = (page: string): string => /<h1>([^<]*)<\/h1>/.exec(page)?.[1] ?? "";
const TIME = "\\d{1,2} [A-Z][a-z]{2,3} \\d\\d:\\d\\d";

/** The page says what the summary says. */
function expectSameCounts(page: string, { rows: { read, ...rows }, actions: { total, ...actions } }: Summary): void {
  const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const shown = (of: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(of).flatMap(([name, n]) => (n > 0 ? [[words(name), n]] : [])));
  expect(countsOf(page)).toEqual({ rows: { all: read, ...shown(rows) }, actions: { all: total, ...shown(actions) } });
}

const present = <T>(value: T | null | undefined): T => {
  if (value == null) throw new Error("it is not there");
  return value;
};

describe("the report of a stream", () => {
  it("says of a good night what the summary says, with inputs, requests, actions and events", async () => {
    const field = await openNight();
    const { summary, said } = await field.stream(FILES, { report: "report.html" });
    expect(said).toContain("Report: report.html");
    const page = await field.read("report.html");
    expectSameCounts(page, present(summary));
    const text = textOf(page);
    expect(titleOf(page)).toMatch(new RegExp(`^local, ${TIME}: 21 accepted$`));
    expect(tilesOf(page)).toEqual({ accepted: 21, rejected: 0, "not sent": 0 });
    expect(linksOf(page)).toEqual({ accepted: "events", rejected: "about", "not sent": "about" });
    expect(text).toContain("Finished: everything that was new is accepted.");
    expect(text).toContain(`run ${present(summary).run}`);
    expect(text).toMatch(/events\.csv 1 [0-9a-f]{64}/);
    expect(text).toContain("By action: 1 newEvent, 20 soldTicket.");
    expect(text).toContain("spring 21");
    expect(text).toMatch(/1 request in .*actions a second/);
    expect(text).toContain("state/local/ledger.db");
    expect(page).not.toContain("anna.schmidt");
  });

  it("says of a bad day what was invalid, rejected and doubted, and which commands decide", async () => {
    const field = await openNight();
    await field.write("sales.csv", sales(20) + sale(21, '"12,50"') + sale(22, "<b>\u202eodd"));
    field.setFaults(
      {
        on: { request: 1 },
        fault: "failure-items",
        items: [3, 4],
        body: { status: "error", message: "No <i>seat</i> left" },
      },
      { on: { request: 2 }, fault: "drop", when: "after" },
    );
    const { summary, said } = await field.stream(FILES, {
      report: "report.html",
      maxInvalid: { rows: 5 },
      flags: { retries: 0, chunkSize: "10" },
    });
    const page = await field.read("report.html");
    const { run } = present(summary);
    expectSameCounts(page, present(summary));
    expect(present(summary).actions).toMatchObject({ accepted: 8, rejected: 2, inDoubt: 10, notSent: 1 });
    const text = textOf(page);
    expect(titleOf(page)).toMatch(new RegExp(`^local, ${TIME}: 2 rejected, 10 in doubt, 3 not sent$`));
    expect(tilesOf(page)).toEqual({ accepted: 8, rejected: 2, "not sent": 3, "in doubt": 10 });
    expect(linksOf(page)).toEqual({
      ...{ accepted: "events", rejected: "rejected", "in doubt": "doubts", "not sent": "problems" },
    });
    expect(text).toContain("Some actions are in doubt: the service may or may not have them.");
    expect(text.split(/Stopped: chunk 2.*$/m.exec(said)?.[0] ?? "")).toHaveLength(2);
    expect(text).toContain("2 10 in doubt ");
    expect(text).toContain(`Look, then decide: tickets settle ${run} --env local`);
    expect(text).toMatch(/No <i>seat<\/i> left\. 2 sales\.csv:[34] /);
    expect(text).toContain("price is not a decimal number such as 12.50. A decimal comma must be declared");
    expect(page).toContain('<p class="small">price-invalid (2 times)</p>');
    expect(text).toContain('sales.csv:22 price: "12,50" sales.csv:23 price: "<b> odd"');
    expect(page).not.toMatch(/<b>|<i>|\u202e/);
    expect(page).not.toContain("anna.schmidt");
  });

  it("shows what names a person with --verbose only", async () => {
    const field = await openNight();
    await field.write(
      "sales.csv",
      "eventId,ticketId,userId,price,orderTime,to\nspring,T-1,anna,1,1777000000,0xanna-schmidt\n",
    );
    await field.stream(FILES, { report: "masked.html" });
    const masked = await field.read("masked.html");
    expect(masked).toContain("userId and to are masked");
    expect(masked).not.toContain("0xanna-schmidt");
    await field.stream(
      FILES,
      { report: "report.html" },
      { asked: ({ context }) => Object.assign(context, { verbose: true }) },
    );
    const page = await field.read("report.html");
    expect(page).toContain("0xanna-schmidt");
    expect(page).toContain("userId and to are shown as they are");
  });

  it("says of a night with nothing new what the earlier run sent that was finished first", async () => {
    const field = await openNight();
    field.setFaults({ on: { request: 2 }, fault: "status", status: 429, retryAfter: 3600 });
    const flags = { chunkSize: "10", maxDuration: 1 };
    const stopped = await field.stream(FILES, { flags, report: "stopped.html" });
    const page = await field.read("stopped.html");
    expect(present(stopped.summary).actions).toMatchObject({ accepted: 10, notSent: 11 });
    expect(titleOf(page)).toMatch(/: 11 not sent$/);
    field.setFaults();
    const { summary } = await field.stream(["events.csv"], { report: "report.html" });
    expect(present(summary)).toMatchObject({ state: "nothing new", next: null });
    const report = await field.read("report.html");
    const text = textOf(report);
    expect(titleOf(report)).toMatch(/: 21 accepted$/);
    expect(tilesOf(report)).toEqual({ accepted: 21, rejected: 0, "not sent": 0 });
    expect(text).toContain("An earlier run was finished; nothing else was new.");
    expect(text).toContain(`Run ${present(stopped.summary).run} came first: 21 actions: 21 accepted.`);
  });

  it("is written for a dry run and for an invalid input", async () => {
    const field = await openNight();
    const dry = await field.stream(FILES, { report: "dry.html", dryRun: true });
    expectSameCounts(await field.read("dry.html"), present(dry.summary));
    expect(titleOf(await field.read("dry.html"))).toMatch(/: dry run, 21 to send$/);
    await field.write("sales.csv", sales(3) + sale(4, "much"));
    const invalid = await field.stream(FILES, { report: "invalid.html" });
    const page = await field.read("invalid.html");
    expectSameCounts(page, present(invalid.summary));
    expect(textOf(page)).toContain("The input is invalid: nothing of it was sent.");
    expect(textOf(page)).toContain("Fix the rows, then check them: tickets validate events.csv sales.csv");
    expect(textOf(page)).not.toContain("rejects");
  });

  it("says why a command failed, so that no page of an older night stands for it", async () => {
    const field = await openNight();
    await field.stream(FILES, { report: "report.html" });
    await field.write("promises.ndjson", "not ours\n");
    const { exitCode } = await field.stream(FILES, { report: "report.html", output: "promises.ndjson" });
    expect(exitCode).toBe(2);
    const text = textOf(await field.read("report.html"));
    expect(text).toContain("promises.ndjson");
    expect(text).toContain("exit code 2");
  });

  it("changes nothing of the outcome where it can't be written, and says how to have it", async () => {
    const field = await openNight();
    await mkdir(join(field.folder, "reports"));
    const { exitCode, summary, said } = await field.stream(
      FILES,
      { report: "reports/report.html" },
      {
        onProgress: ({ doing }) => {
          // The folder goes away while the run is sent, and a file comes in its place.
          if (doing === "sending")
            moved ??= rename(join(field.folder, "reports"), join(field.folder, "gone")).then(() =>
              writeFile(join(field.folder, "reports"), ""),
            );
        },
      },
    );
    await moved;
    expect([exitCode, present(summary).actions.accepted]).toEqual([0, 21]);
    expect(said).toContain("The report was not written.");
    expect(said).toContain(`To write it: tickets results ${present(summary).run} --report FILE.html --env local`);
  });
  let moved: Promise<void> | undefined;
});

describe("the file of a report", () => {
  it.each<[string, string, (field: Field) => Promise<unknown>]>([
    ["another ending", "report.txt", async () => undefined],
    ["no ending", "-", async () => undefined],
    ["a missing folder", "missing/report.html", async () => undefined],
    ["a file in place of the folder", "file/report.html", (field) => field.write("file", "")],
    ["a folder", "folder.html", (field) => mkdir(join(field.folder, "folder.html"))],
    ["a page of somebody else", "page.html", (field) => field.write("page.html", "<!doctype html>\n<html>mine</html>")],
    ["an input", "sales.html", (field) => rename(join(field.folder, "sales.csv"), join(field.folder, "sales.html"))],
  ])("is refused before anything is sent: %s", async (_, report, prepare) => {
    const field = await openNight();
    await prepare(field);
    const { exitCode, said } = await field.stream(["events.csv", "sales.html"], { report, format: "csv" });
    expect(exitCode).toBe(2);
    expect(said).toMatch(/--report .*Nothing was sent\./);
    expect(said).toContain(report);
    expect(existsSync(join(field.folder, "state/local/ledger.db"))).toBe(false);
  });

  it("replaces an earlier report and an empty file, and leaves nothing beside it", async () => {
    const field = await openNight();
    await field.write("report.html", "");
    await field.stream(FILES, { report: "report.html" });
    const first = await field.read("report.html");
    await field.stream(FILES, { report: "report.html" });
    const second = await field.read("report.html");
    expect([first, second].every((page) => page.startsWith(MARK))).toBe(true);
    expect(second).not.toBe(first);
  });

  it("is what a link leads to, and the link stays", async () => {
    const field = await openNight();
    await mkdir(join(field.folder, "reports"));
    await field.write("reports/of-today.html", "");
    await symlink("reports/of-today.html", join(field.folder, "report.html"));
    await field.stream(FILES, { report: "report.html" });
    expect((await lstat(join(field.folder, "report.html"))).isSymbolicLink()).toBe(true);
    expect((await field.read("reports/of-today.html")).startsWith(MARK)).toBe(true);
    expect(await readdir(join(field.folder, "reports"))).toEqual(["of-today.html"]);
  });
});

it("the report of results says of a run in doubt what its own report said, and after it was settled and pruned what became of it", async () => {
  const field = await openNight();
  field.setFaults({ on: { request: 2 }, fault: "drop", when: "after" });
  const flags = { retries: 0, chunkSize: "10" };
  const { summary } = await field.stream(FILES, { report: "own.html", flags });
  const run = present(present(summary).run);
  const { said, out } = await field.ask("results", { run, report: "later.html" });
  expect([said, out]).toEqual([`Report of run ${run}: later.html`, ""]);
  const [own, later] = [await field.read("own.html"), await field.read("later.html")];
  expect(countsOf(later)).toEqual(countsOf(own));
  expect(textOf(later)).toContain("2 10 in doubt ");

  await field.settle("sent");
  await field.stream(FILES, { flags });
  await field.ask("prune", { olderThan: 0, waitLock: 0 });
  await field.ask("results", { run, report: "last.html" });
  const last = await field.read("last.html");
  expect(countsOf(last).actions).toEqual({ all: 21, accepted: 21 });
});
