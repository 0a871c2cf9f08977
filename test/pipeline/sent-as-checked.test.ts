/** What is sent is what was checked: one changed bit anywhere in a plan is noticed before a request leaves. */

import { existsSync, readdirSync } from "node:fs";
import { open, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import {
  type Done,
  expectNothingDoubled,
  type Field,
  makeContext,
  type Options,
  openField,
  processedBy,
  verbs,
} from "../support/context.ts";

const SALES = Array.from({ length: 7 }, (_, at) => `T${at + 1}`);
const INPUT = [
  { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
  ...SALES.map((ticketId) => ({
    action: "soldTicket",
    data: { eventId: "E", ticketId, userId: `user of ${ticketId}`, price: "10.00", orderTime: 1768600000 },
  })),
];
const ALL = ["E", ...SALES].join(" ");

async function begin(): Promise<Field> {
  const field = await openField();
  await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
  return field;
}

const night = (field: Field, chunkSize = 8): Promise<Done> => field.stream(["night.ndjson"], { flags: { chunkSize } });

const stateOf = (field: Field): string => join(field.folder, "state", "local");
function runOf(field: Field): string {
  const runs = join(stateOf(field), "runs");
  return (existsSync(runs) ? readdirSync(runs)[0] : undefined) ?? "";
}
const fileOf = (field: Field, name: string): string => join(stateOf(field), "runs", runOf(field), name);

const OPTIONS = { flags: {}, json: false, waitLock: 0, reason: undefined } as const;

async function person(
  field: Field,
  says: Pick<Options<"settle">, "decision" | "chunk" | "first"> | "resume",
): Promise<{ readonly exitCode: number; readonly said: string }> {
  const { context, said } = makeContext(field.folder, field.env);
  const run = runOf(field);
  try {
    const exitCode =
      says === "resume"
        ? await verbs.resume({ ...OPTIONS, run, maxDuration: undefined }, context)
        : await verbs.settle({ ...OPTIONS, run, ...says }, context);
    return { exitCode, said: said() };
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return { exitCode: EXIT_CODES[cause.code], said: `${said()}\n${cause.message}` };
  }
}

async function flipBit(path: string, at: number): Promise<void> {
  await using file = await open(path, "r+");
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  await file.write(Buffer.of((byte[0] ?? 0) ^ 0x04), 0, 1, at);
}

/** The digit of the last price: a flipped bit makes `10.00` into `50.00`, which is as valid. */
async function lastPrice(field: Field): Promise<number> {
  return (await readFile(fileOf(field, "actions.ndjson"))).lastIndexOf(`"price":"10.00"`) + `"price":"`.length;
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
      expect(await person(field, { decision: "sent", chunk: 1, first: 2 })).toMatchObject({ exitCode: 6 });
      expect(await person(field, { decision: "not-sent", chunk: 2, first: undefined })).toMatchObject({ exitCode: 0 });
    },
    "E T1",
  ],
  [
    "items of an answer that a person sends again",
    async (field) => {
      field.setFaults({ fault: "missing-promise", items: [3, 7] });
      await night(field);
      await person(field, { decision: "not-sent", chunk: undefined, first: undefined });
    },
    ALL,
  ],
];

const DAMAGES: readonly (readonly [string, (field: Field) => Promise<unknown>, string | RegExp])[] = [
  ["a bit of a price", async (field) => flipBit(fileOf(field, "actions.ndjson"), await lastPrice(field)), "damaged"],
  [
    "a newline",
    async (field) => {
      const path = fileOf(field, "actions.ndjson");
      return flipBit(path, (await readFile(path)).indexOf("\n"));
    },
    "damaged",
  ],
  ["actions that are cut", (field) => truncate(fileOf(field, "actions.ndjson"), 900), "shorter"],
  ["an index that is too short", (field) => truncate(fileOf(field, "actions.index"), 250), "shorter"],
  // Bytes of a record: input, line, row, action, identity, content.
  ...[0, 4, 8, 12, 16, 31, 32, 39].map(
    (at) =>
      [
        `a bit of the index, byte ${at} of a record`,
        (field: Field) => flipBit(fileOf(field, "actions.index"), 7 * 40 + at),
        "the index of actions 1 to 8 is not the one that was checked",
      ] as const,
  ),
  [
    "a bit of the manifest",
    async (field) => {
      const path = fileOf(field, "manifest.json");
      return flipBit(path, (await readFile(path)).indexOf("night.ndjson"));
    },
    "manifest is not the one that the run began with",
  ],
];

/** Every damage in the first situation, and in the others one of each file. */
test.each(
  SITUATIONS.flatMap(([situation, lead, took], at) =>
    DAMAGES.filter(([damage]) => at === 0 || /price|byte 16/.test(damage)).map(([damage, harm, said]) => ({
      damage,
      situation,
      lead,
      took,
      harm,
      said,
    })),
  ),
)("$damage is noticed before anything leaves: $situation", async ({ lead, took, harm, said }) => {
  const field = await begin();
  await lead(field);
  expect(processedBy(field.sandbox)).toBe(took);
  field.setFaults();
  await harm(field);
  for (const command of [() => night(field), () => person(field, "resume")]) {
    const stopped = await command();
    expect(stopped.exitCode).toBe(10);
    expect(stopped.said).toMatch(said);
  }
  expect(processedBy(field.sandbox)).toBe(took);
});

test("damage in a later chunk is noticed when it is its turn, and what came before is stored", async () => {
  const field = await begin();
  field.setFaults({ fault: "status", status: 429 });
  await night(field, 2);
  field.setFaults();
  await flipBit(fileOf(field, "actions.index"), 5 * 40 + 20);
  const stopped = await night(field, 2);
  expect(stopped.exitCode).toBe(10);
  expect(stopped.said).toContain("the index of actions 5 to 6 is not the one that was checked");
  expect(processedBy(field.sandbox)).toBe("E T1 T2 T3");
  await flipBit(fileOf(field, "actions.index"), 5 * 40 + 20);
  expect((await night(field, 2)).exitCode).toBe(0);
  expect(processedBy(field.sandbox)).toBe(ALL);
  expectNothingDoubled(field.sandbox);
});

test("borders in the ledger that mean other actions than the plan are noticed", async () => {
  const field = await begin();
  field.setFaults(
    { fault: "status", status: 413, on: { request: 1 } },
    { fault: "status", status: 429, on: { request: 2 } },
  );
  await night(field);
  field.setFaults();
  {
    using ledger = new DatabaseSync(join(stateOf(field), "ledger.db"));
    ledger.exec("UPDATE chunks SET first = first - 1 WHERE state = 'planned' AND first > 1");
  }
  const stopped = await person(field, "resume");
  expect(stopped).toMatchObject({
    exitCode: 10,
    said: expect.stringContaining("are not where the ledger says"),
  });
  expect(processedBy(field.sandbox)).toBe("E T1 T2 T3");
});

/** A plan as earlier versions made it: without a checksum of the index. */
async function makeOlder(field: Field): Promise<void> {
  const path = fileOf(field, "manifest.json");
  const text = (await readFile(path, "utf8")).replaceAll(/,"indexSha256":"\w+"/g, "");
  await writeFile(path, text);
  using ledger = new DatabaseSync(join(stateOf(field), "ledger.db"));
  ledger.prepare("UPDATE runs SET manifest = ?").run(text.trimEnd());
}

test("a plan of an earlier version is gone on with; what can be seen of its index is looked at", async () => {
  const field = await begin();
  field.setFaults({ fault: "status", status: 429 });
  await night(field);
  field.setFaults();
  await makeOlder(field);
  const index = fileOf(field, "actions.index");
  for (const at of [0, 12]) {
    await flipBit(index, 7 * 40 + at);
    expect(await night(field)).toMatchObject({ exitCode: 10, said: expect.stringContaining("does not fit") });
    await flipBit(index, 7 * 40 + at);
  }
  expect(processedBy(field.sandbox)).toBe("");
  expect((await night(field)).exitCode).toBe(0);
  expect(processedBy(field.sandbox)).toBe(ALL);
});

test.each([
  [0, 2, "--first 0 covers no action"],
  [9, 2, "has only 8 actions, not 9"],
  [8, 0, "8 actions settled as not-sent"],
])("settle --first %i of a chunk of eight: exit %i", async (first, exitCode, said) => {
  const field = await begin();
  field.setFaults({ fault: "drop", when: "before" });
  await night(field);
  field.setFaults();
  const decided = await person(field, { decision: "not-sent", chunk: 1, first });
  expect(decided.exitCode).toBe(exitCode);
  expect(decided.said).toContain(said);
  expect((await field.chunks()).map(({ count }) => count)).toEqual([8]);
});

test.each([{ decision: "not-sent" }, { decision: undefined, chunk: 1 }] as const)(
  "settle --first beside %j is refused before a ledger is opened",
  async (says) => {
    const field = await begin();
    const refused = await person(field, { ...says, first: 3 });
    expect(refused.exitCode).toBe(2);
    expect(refused.said).toContain("--first says how many actions of one chunk are decided about.");
    expect(existsSync(join(stateOf(field), "ledger.db"))).toBe(false);
  },
);
