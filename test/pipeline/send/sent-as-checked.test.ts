/** What is sent is what was checked: one changed bit of a request that the ledger holds is noticed before it leaves. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { newEvent, sale } from "../../support/actions.ts";
import { type Done, expectNothingDoubled, type Field, openField, processedBy } from "../../support/context.ts";

const SALES = Array.from({ length: 7 }, (_, at) => `T${at + 1}`);
const INPUT = [newEvent(), ...SALES.map((ticketId) => sale(ticketId))];
const ALL = ["E", ...SALES].join(" ");

async function begin(): Promise<Field> {
  const field = await openField();
  await field.write("night.ndjson", INPUT);
  return field;
}

const night = (field: Field, chunkSize = 8): Promise<Done> => field.stream(["night.ndjson"], { flags: { chunkSize } });

/** Changes what the ledger holds of the planned chunk that comes last. */
function harmLast(
  { folder }: Field,
  column: "body" | "origins" | "sha256",
  harm: (value: Buffer) => Buffer | string,
): void {
  using ledger = new DatabaseSync(join(folder, "state", "local", "ledger.db"));
  const last = "(run, chunk) = (SELECT run, chunk FROM chunks WHERE state = 'planned' ORDER BY chunk DESC LIMIT 1)";
  const { value } = ledger.prepare(`SELECT ${column} AS value FROM bodies WHERE ${last}`).get() ?? {};
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value));
  expect(ledger.prepare(`UPDATE bodies SET ${column} = ? WHERE ${last}`).run(harm(bytes)).changes).toBe(1);
}

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 0x04;
  return changed;
}

/** What is planned when a test does its damage. */
const SITUATIONS: readonly (readonly [string, (field: Field) => Promise<unknown>, string])[] = [
  [
    "a chunk as it was planned",
    (field) => {
      field.setFaults({ fault: "status", status: 429 });
      return night(field);
    },
    "",
  ],
  [
    "the halves of a chunk that was too large",
    (field) => {
      field.setFaults(
        { fault: "status", status: 413, on: { request: 1 } },
        { fault: "status", status: 429, on: { request: 2 } },
      );
      return night(field);
    },
    "",
  ],
  [
    "a half, after the first one was accepted",
    (field) => {
      field.setFaults(
        { fault: "status", status: 413, on: { request: 1 } },
        { fault: "status", status: 429, on: { request: 3 } },
      );
      return night(field);
    },
    "E T1 T2 T3",
  ],
  [
    "the rest of a chunk that a person settled in part",
    async (field) => {
      field.setFaults({ fault: "status", status: 504, processed: 2 });
      await night(field);
      expect(await field.settle("sent", { chunk: 1, first: 2 })).toMatchObject({ exitCode: 6 });
      const rest = await field.settle("not-sent", { chunk: 3 });
      expect(rest.exitCode, rest.said).toBe(0);
    },
    "E T1",
  ],
  [
    "items of an answer that a person sends again",
    async (field) => {
      field.setFaults({ fault: "changed", items: [3, 7], without: ["actionPromise"] });
      await night(field);
      await field.settle("not-sent");
    },
    ALL,
  ],
];

const DAMAGES: readonly (readonly [string, (field: Field) => void])[] = [
  [
    "a bit of a price, packed as a request is",
    (field) =>
      harmLast(field, "body", (body) => {
        const text = zstdDecompressSync(body);
        // `10.00` becomes `50.00`, which is as valid.
        return zstdCompressSync(flipped(text, text.lastIndexOf('"price":"10.00"') + '"price":"'.length));
      }),
  ],
  ["the end of a request", (field) => harmLast(field, "body", (body) => body.subarray(0, -9))],
  ["the digest of a request", (field) => harmLast(field, "sha256", (digest) => `0${digest.toString().slice(1)}0`)],
  [
    "a bit of where its actions come from",
    (field) => harmLast(field, "origins", (origins) => flipped(origins, origins.length >> 1)),
  ],
];

test.each(
  SITUATIONS.flatMap(([situation, lead, took], at) =>
    DAMAGES.filter(([damage]) => at === 0 || /price|come from/.test(damage)).map(([damage, harm]) => ({
      damage,
      situation,
      lead,
      took,
      harm,
    })),
  ),
)("$damage is noticed before anything of it leaves: $situation", async ({ lead, took, harm }) => {
  const field = await begin();
  await lead(field);
  expect(processedBy(field.sandbox)).toBe(took);
  field.setFaults();
  harm(field);
  const before = new Set(processedBy(field.sandbox).split(" "));
  for (const command of [() => night(field), () => field.ask("resume", {})]) {
    const stopped = await command();
    expect(stopped.exitCode, stopped.said).toBe(10);
    expect(stopped.said).toContain("is damaged");
  }
  // A half before it may go.
  const chunk = (await field.chunks()).findLast(({ state }) => state === "planned");
  expect(chunk, "what is damaged stays planned").toBeDefined();
  if (!before.has("T7")) expect(processedBy(field.sandbox)).not.toContain("T7");
});

test("damage in a later chunk is noticed when it is its turn, and what came before is stored", async () => {
  const field = await begin();
  field.setFaults({ fault: "status", status: 429 });
  await night(field, 2);
  field.setFaults();
  harmLast(field, "body", (body) => flipped(body, 9));
  const stopped = await night(field, 2);
  expect(stopped.exitCode, stopped.said).toBe(10);
  expect(stopped.said).toContain("The body of chunk 4");
  expect(processedBy(field.sandbox)).toBe("E T1 T2 T3 T4 T5");
  harmLast(field, "body", (body) => flipped(body, 9));
  expect((await night(field, 2)).exitCode).toBe(0);
  expect(processedBy(field.sandbox)).toBe(ALL);
  expectNothingDoubled(field.sandbox);
});
