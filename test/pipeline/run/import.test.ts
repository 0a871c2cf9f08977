import { readdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Field, makeContext, openField, processedBy, verbs } from "../../support/context.ts";

const sale = (ticketId: string): object => ({
  action: "soldTicket",
  data: { eventId: "E", ticketId, userId: `user of ${ticketId}`, price: "10.00", orderTime: 1768600000 },
});
const INPUT = [{ action: "newEvent", data: { eventId: "E", currency: "EUR" } }, ...["A", "B"].map(sale)];
const ALL = "E A B";

type Line = Record<string, unknown>;

/** One night, after which the ledger is lost, and the lines of its promises. */
async function afterLoss() {
  const field = await openField();
  await field.write("night.ndjson", INPUT);
  expect(await night(field)).toBe(0);
  const state = join(field.folder, "state", "local");
  for (const name of readdirSync(state)) if (name.startsWith("ledger.db")) rmSync(join(state, name));
  const text = await readFile(join(field.folder, "promises.local.ndjson"), "utf8");
  return {
    field,
    lines: text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line),
  };
}

function night(field: Field): Promise<number> {
  const { context } = makeContext(field.folder, field.env);
  return verbs.stream(
    {
      ...{
        files: ["night.ndjson"],
        flags: { retries: 0 },
        resend: false,
        adopt: false,
        publish: false,
        dryRun: false,
        moveAside: false,
      },
      ...{ json: false, yes: false, safeCsv: false, waitLock: 0 },
    },
    { ...context, now: () => new Date() },
  );
}

async function importOf(field: Field, lines: readonly Line[], file = "promises.local.ndjson"): Promise<number> {
  await field.write(file, lines);
  const { context } = makeContext(field.folder, field.env);
  return verbs.importResults({ flags: {}, waitLock: 0, files: [file] }, context);
}

const change = (lines: readonly Line[], at: number, more: Line): readonly Line[] =>
  lines.map((line, index) => (index === at ? { ...line, ...more } : line));

describe("an import refuses, and nothing is imported of", () => {
  test.each([undefined, ""])("a success whose actionPromise is %j", async (actionPromise) => {
    const { field, lines } = await afterLoss();
    await expect(importOf(field, change(lines, 1, { actionPromise }))).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(
        /^promises\.local\.ndjson:2 is not a line of a promises file: success without an actionPromise\./,
      ),
    });
    expect(await importOf(field, lines)).toBe(0);
    expect(await night(field)).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });
});

test("a line that was settled needs no promise", async () => {
  const { field, lines } = await afterLoss();
  const settled = change(lines, 2, { status: "settled", actionPromise: undefined });
  expect(await importOf(field, settled)).toBe(0);
  expect(await night(field)).toBe(0);
  expect(processedBy(field.sandbox)).toBe(ALL);
});
