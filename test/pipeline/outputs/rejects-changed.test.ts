/** A rejects file that somebody changes just while a run writes it anew. */

import { appendFile, readdir } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";

const OUTPUT_FILE = "../../../src/outputs/output-file.ts";

/** A field of a program of its own, in which somebody appends to a rejects file once, just before it is replaced. */
async function openChangedField() {
  vi.resetModules();
  vi.doMock(OUTPUT_FILE, async (importOriginal) => {
    const original = await importOriginal<typeof import("../../../src/outputs/output-file.ts")>();
    let changes = 1;
    return {
      ...original,
      replaceOutput: async (...given: Parameters<typeof original.replaceOutput>) => {
        if (changes-- > 0) await appendFile(given[1], "a note of somebody\n");
        return original.replaceOutput(...given);
      },
    };
  });
  onTestFinished(() => {
    vi.doUnmock(OUTPUT_FILE);
    vi.resetModules();
  });
  const { openField } = await import("../../support/context.ts");
  return openField();
}

test("is left alone, and the rows go to another one", async () => {
  const field = await openChangedField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  await field.stream(["events.csv"]);
  const sales = (...rows: readonly string[]): string =>
    `${["ticketId,eventId,userId,price,orderTime", ...rows].join("\n")}\n`;
  const [one, two] = ["A,E,u,1,soon", "B,E,u,1,soon"];
  await field.write("sales.csv", sales("C,E,u,1,1780000000", two));
  expect((await field.stream(["sales.csv"], { maxInvalid: { rows: 9 } })).exitCode).toBe(4);
  const before = await field.read("sales.rejects.csv");
  // Its row stands in front, so that the file is written anew.
  await field.write("sales.csv", sales(one, "C,E,u,1,1780000000", two));
  const done = await field.stream(["sales.csv"], { maxInvalid: { rows: 9 } });
  expect(done.exitCode, done.said).toBe(4);
  expect(await field.read("sales.rejects.csv")).toBe(`${before}a note of somebody\n`);
  const others = (await readdir(field.folder)).filter((name) => /^sales\.rejects\..+\.csv$/.test(name));
  expect(others).toHaveLength(1);
  const rows = (await field.read(String(others[0]))).split("\n").filter((line) => line.includes(",soon"));
  expect(rows.map((row) => row.slice(0, 1))).toEqual(["A", "B"]);
});
