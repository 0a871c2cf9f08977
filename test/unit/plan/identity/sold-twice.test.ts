import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { identityAt, RECORD_BYTES } from "../../../../src/plan/files/index-file.ts";
import { SeenSales } from "../../../../src/plan/identity/sold-twice.ts";

/** A record of a sale with an identity of four first bytes and other ones. */
function recordOf(bits: number, rest: number): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  identityAt(record, 0).writeUInt32LE(bits, 0);
  identityAt(record, 0).writeUInt32LE(rest, 4);
  return record;
}

async function repeatedOf(...records: readonly Buffer[]): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-sales-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const index = Buffer.concat(records);
  await writeFile(join(folder, "index"), index);
  await using file = await open(join(folder, "index"), "r");
  const seen = new SeenSales(records.length);
  for (const seq of records.keys()) seen.add(seq, index, seq * RECORD_BYTES);
  return [...(await seen.repeated(file))];
}

const nameOf = (record: Buffer): string => identityAt(record, 0).toString("hex");

test("a sale is told as repeated where its whole identity is, whichever others are like it", async () => {
  const [one, alike, third] = [recordOf(7, 1), recordOf(7, 2), recordOf(7, 3)];
  const zero = recordOf(0, 1);
  expect(await repeatedOf(one, alike, third, zero, recordOf(8, 1))).toEqual([]);
  expect(await repeatedOf(one, alike, one)).toEqual([nameOf(one)]);
  expect(await repeatedOf(one, alike, third, alike)).toEqual([nameOf(alike)]);
  expect(await repeatedOf(zero, one, zero)).toEqual([nameOf(zero)]);
});

test("of many sales those are told that are repeated", async () => {
  const records = Array.from({ length: 5000 }, (_, at) => recordOf(at % 3000, at % 4000));
  const repeated = new Set(records.map(nameOf).filter((name, at, names) => names.indexOf(name) !== at));
  expect(new Set(await repeatedOf(...records))).toEqual(repeated);
});
