/** Sorting on disk: whatever is put in comes out in the order of its bytes. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSorter, type SorterLimits } from "../../src/plan/sorter.ts";

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-sorter-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function sorted(path: string, records: readonly Uint8Array[], limits?: SorterLimits): Promise<readonly Buffer[]> {
  await using sorter = createSorter(path, limits);
  for (const record of records) await sorter.add(record.length, (buffer, at) => buffer.set(record, at));
  const found: Buffer[] = [];
  for await (const batch of sorter.sorted()) found.push(...batch.map((record) => Buffer.from(record)));
  return found;
}

describe("records come out in the order of their bytes", () => {
  const record = fc.uint8Array({ maxLength: 40 });
  const limits = fc.record({ runBytes: fc.integer({ min: 8, max: 400 }), runRecords: fc.integer({ min: 1, max: 20 }) });

  it("whether they fit into memory or not, also the one that no run can hold", async () => {
    const folder = openFolder();
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 200 }), limits, async (records, small) => {
        const expected = [...records].map((each) => Buffer.from(each)).sort(Buffer.compare);
        expect(await sorted(join(folder, "runs"), records)).toEqual(expected);
        expect(await sorted(join(folder, "runs"), records, small)).toEqual(expected);
      }),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each<[string, readonly string[]]>([
    ["a beginning before the whole", ["ab", "a", "abc", ""]],
    ["by the ninth byte, where the first eight are equal", ["12345678b", "12345678a", "12345678"]],
    ["zeros at the end", ["a\0\0", "a", "a\0"]],
    ["high bytes last", ["\u{10ffff}", "z", "\u00e9"]],
    ["equal ones as often as they came", ["x", "x", "x"]],
  ])("%s", async (_name, texts) => {
    const records = texts.map((text) => Buffer.from(text));
    const expected = [...records].sort(Buffer.compare);
    const path = join(openFolder(), "runs");
    expect(await sorted(path, records)).toEqual(expected);
    expect(await sorted(path, records, { runBytes: 16, runRecords: 1 })).toEqual(expected);
  });
});
