/** A rejects file is streamed by itself or beside others of its kind: a row that stands in two files is two actions. */

import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Field, openField, processedBy } from "../../support/context.ts";

const url = (name: string): string => `https://img.example.com/${name}.png`;
const COLUMNS = "ticketId,imageUrl,tickets:reason,tickets:row\n";
const REJECTS = `${COLUMNS}T,${url("a")},rejected,\n`;
const UPDATES = `ticketId,imageUrl\nT,${url("a")}\nT,${url("b")}\n`;
const row = (name: string, more: object = {}): object => ({ ticketId: "T", imageUrl: url(name), ...more });
const ndjson = (...rows: readonly object[]): string => rows.map((each) => `${JSON.stringify(each)}\n`).join("");
const OF_REJECTS = { "tickets:reason": "rejected", "tickets:row": "" };
const UPDATES_NDJSON = ndjson(row("a"), row("b"));

const APART = "Fix the rejects and stream them first, by themselves; then the export.";

async function withFiles(files: Readonly<Record<string, string | Buffer>>): Promise<Field> {
  const field = await openField();
  for (const [name, content] of Object.entries(files)) await field.write(name, content);
  return field;
}

const updating = { action: "updateTicket" } as const;

describe("refused beside an export, with nothing sent", () => {
  test.each<[what: string, files: Readonly<Record<string, string | Buffer>>, order?: readonly string[]]>([
    ["an export and its own rejects", { "updates.csv": UPDATES, "updates.rejects.csv": REJECTS }],
    ["rejects of another name", { "updates.csv": UPDATES, "updates-corrected.csv": REJECTS }],
    ["rejects without rows", { "updates.csv": UPDATES, "updates.rejects.csv": COLUMNS }],
    ["packed rejects", { "updates.csv": UPDATES, "updates.rejects.csv.gz": gzipSync(REJECTS) }],
    ["both packed", { "updates.csv.gz": gzipSync(UPDATES), "updates.rejects.csv.zst": zstdCompressSync(REJECTS) }],
    [
      "rejects saved as UTF-16",
      { "updates.csv": UPDATES, "updates.rejects.csv": Buffer.from(`\ufeff${REJECTS}`, "utf16le") },
    ],
    [
      "with one of their columns",
      { "updates.csv": UPDATES, "updates-1.csv": `ticketId,imageUrl,tickets:reason\nT,${url("a")},\n` },
    ],
    ["NDJSON", { "updates.ndjson": UPDATES_NDJSON, "updates.rejects.ndjson": ndjson(row("a", OF_REJECTS)) }],
    [
      "JSON whose keys stand in further lines",
      {
        "updates.ndjson": UPDATES_NDJSON,
        "updates-corrected.json": JSON.stringify([row("a", OF_REJECTS)], undefined, 2),
      },
    ],
  ])("%s", async (_, files) => {
    const names = Object.keys(files);
    const field = await withFiles(files);
    const done = await field.stream(names, updating);
    const rejects = names.find((name) => /rejects|corrected|-1/.test(name)) ?? "";
    const other = names.find((name) => name !== rejects) ?? "";
    expect(done.said).toContain(
      `${rejects} is a rejects file that tickets wrote; it can't be read together with ${other}, which may hold the same rows.`,
    );
    expect(done.said).toContain(`${APART} If a pattern such as *.csv matched them, narrow it.`);
    expect(done.exitCode).toBe(2);
    expect(processedBy(field.sandbox)).toBe("");
  });

  test("by every command that reads exports, also with --resend", async () => {
    const field = await withFiles({ "updates.csv": UPDATES, "updates.rejects.csv": REJECTS });
    const files = ["updates.csv", "updates.rejects.csv"];
    for (const options of [{ resend: true }, { dryRun: true }, { limit: 1 }, { maxInvalid: { percent: 100 } }])
      expect((await field.stream(files, { ...updating, ...options })).exitCode).toBe(2);
    for (const verb of ["validate", "plan"] as const) {
      const { exitCode, said } = await field.ask(verb, { files, ...updating });
      expect([exitCode, said], verb).toEqual([2, expect.stringContaining(NAMED)]);
    }
    expect(processedBy(field.sandbox)).toBe("");
  });

  test("where rows of both stand in one file, as cat leaves them", async () => {
    const rejects = row("a", OF_REJECTS);
    const field = await withFiles({
      "updates-1.ndjson": UPDATES_NDJSON + ndjson(rejects),
      "updates-2.ndjson": ndjson(rejects) + UPDATES_NDJSON,
      "updates-3.csv": UPDATES + REJECTS,
      "updates-4.csv": REJECTS + UPDATES,
    });
    for (const [name, ofRejects, other] of [
      ["updates-1.ndjson", 3, 1],
      ["updates-2.ndjson", 1, 2],
    ] as const) {
      const done = await field.stream([name], { ...updating, maxInvalid: { percent: 100 } });
      expect(done.exitCode).toBe(2);
      expect(done.said).toContain(
        `${name} holds a row of a rejects file in line ${ofRejects} and another row in line ${other}; the two can't be read together.`,
      );
      expect(done.said).toContain(`${APART} A row that was added by hand needs "tickets:row": "".`);
    }
    // Of tables the second header says it.
    for (const name of ["updates-3.csv", "updates-4.csv"])
      expect((await field.stream([name], updating)).exitCode).toBe(3);
    expect(processedBy(field.sandbox)).toBe("");
  });
});

const NAMED =
  "updates.rejects.csv is a rejects file that tickets wrote; it can't be read together with updates.csv, which may hold the same rows.";

describe("not refused", () => {
  test.each<[what: string, files: Readonly<Record<string, string>>, accepted: number]>([
    [
      "rejects beside rejects",
      { "updates.rejects.csv": REJECTS, "scans.rejects.ndjson": ndjson(row("b", OF_REJECTS)) },
      2,
    ],
    ["rejects beside a file without anything in it", { "updates.rejects.csv": REJECTS, "updates.ndjson": "" }, 1],
    [
      "rows of rejects with one that a person added",
      { "updates.rejects.ndjson": ndjson(row("a", OF_REJECTS), row("b", { "tickets:row": "" })) },
      2,
    ],
  ])("%s", async (_, files, accepted) => {
    const field = await withFiles({ "base.ndjson": BASE, ...files });
    await field.stream(["base.ndjson"]);
    const done = await field.stream(Object.keys(files), updating);
    expect(done.summary).toMatchObject({ exitCode: 0, actions: { accepted } });
  });

  test("an export in which a value reads like a column of rejects", async () => {
    const named = `[${JSON.stringify(row("a", { mediaUrl: "tickets:row" }))},${JSON.stringify(row("b"))}]`;
    const field = await withFiles({ "base.ndjson": BASE, "updates.csv": UPDATES, "more.json": named });
    const done = await field.stream(["updates.csv", "more.json"], updating);
    expect(done.said).toContain("mediaUrl");
    expect(done.exitCode, "for what is no URL").toBe(3);
  });
});

const BASE = ndjson(
  { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
  {
    action: "soldTicket",
    data: { eventId: "E", ticketId: "T", userId: "u1", price: "10.00", orderTime: 1768600000 },
  },
);
