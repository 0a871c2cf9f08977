import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectNothingDoubled, type Field, openField, processedBy } from "../../support/context.ts";

const eventsTable = (rows: number): string =>
  ["eventId,currency", ...Array.from({ length: rows }, (_, at) => `E-${at + 1},EUR`), ""].join("\n");

describe("a run", () => {
  const config = (url: string, more = ""): string =>
    `environments:\n  local: {baseUrl: "${url}"}\n  shop: {baseUrl: "${url}", apiKey: {env: TICKETS_LOCAL_API_KEY}${more}}\n`;

  test("to the second name of a service sends nothing", async () => {
    const field = await openField();
    await field.write("events.csv", eventsTable(3));
    expect(await field.stream(["events.csv"])).toMatchObject({ exitCode: 0 });
    const env = { TICKETS_SHOP_BASE_URL: field.sandbox.url, TICKETS_SHOP_API_KEY: "key-of-the-test" };
    for (const name of ["shop", "local"]) {
      const { exitCode, said } = await field.stream(["events.csv"], { env: name }, { env });
      expect(exitCode).toBe(2);
      expect(said).toMatch(/local .*and shop|shop .*and local/);
    }
    expect(processedBy(field.sandbox)).toBe("E-1 E-2 E-3");
  });

  test("knows what was sent under the other name, and writes on in the same file", async () => {
    const field = await openField();
    await field.write("tickets.config.yaml", config(field.sandbox.url, ", sameServiceAs: local"));
    await field.write("events.csv", eventsTable(3));
    const env = { TICKETS_SHOP_API_KEY: "key-of-the-test" };
    await field.stream(["events.csv"], { output: "all.ndjson" });
    await field.write("events.csv", eventsTable(4));
    const second = await field.stream(["events.csv"], { env: "shop", output: "all.ndjson" }, { env });
    expect(second.exitCode).toBe(0);
    expect(second.said).toContain("ledger of local ");
    expect(second.summary?.actions).toMatchObject({ accepted: 1, alreadySent: 3 });
    const lines = (await field.read("all.ndjson")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).environment)).toEqual(["local", "local", "local", "shop"]);
    expectNothingDoubled(field.sandbox);
  });

  test("that shares a ledger now is refused while one of its own holds what was sent", async () => {
    const field = await openField();
    await field.write("events.csv", eventsTable(3));
    const env = { TICKETS_SHOP_BASE_URL: field.sandbox.url, TICKETS_LOCAL_BASE_URL: "" };
    await field.stream(["events.csv"], { env: "shop" }, { env: { ...env, TICKETS_SHOP_API_KEY: "key-of-the-test" } });
    await field.write("tickets.config.yaml", config(field.sandbox.url, ", sameServiceAs: local"));
    const { exitCode, said } = await field.stream(["events.csv"], { env: "shop" });
    expect(exitCode).toBe(2);
    expect(said).toContain("shop shares the ledger of local, but also has its own");
    expect(said).toContain("tickets results --import shop.promises.ndjson --env shop");
    expectNothingDoubled(field.sandbox);
  });
});

const KEY = "key-of-the-test";

/** The environment `local` of a field, under another name. */
function renamed(field: Field): NodeJS.ProcessEnv {
  const url = field.env.TICKETS_LOCAL_BASE_URL;
  return { TICKETS_LOCAL_BASE_URL: "", TICKETS_SHOP_BASE_URL: url, TICKETS_SHOP_API_KEY: KEY };
}

/** A field whose `local` has sent three events. */
async function openSent(): Promise<Field> {
  const field = await openField();
  await field.write("events.csv", eventsTable(3));
  expect(await field.stream(["events.csv"])).toMatchObject({ exitCode: 0 });
  return field;
}

const asShop = (field: Field, options: Parameters<Field["stream"]>[1] = {}) =>
  field.stream(["events.csv"], { env: "shop", ...options }, { env: renamed(field) });

describe("a new ledger beside one that knows the same service", () => {
  test("sends nothing until a person says that it is meant, who is asked once", async () => {
    const field = await openSent();
    for (const _ of [1, 2]) {
      const { exitCode, said } = await asShop(field);
      expect(exitCode).toBe(2);
      expect(said).toContain("The ledger of shop is new, but that of local (");
      expect(said).toContain("knows of 3 actions which");
      expect(said).toContain("If shop was called local before, call it that again.");
      expect(said).toContain("add --yes once, or give the environment a stateDir of its own.");
    }
    expect(processedBy(field.sandbox)).toBe("E-1 E-2 E-3");
    await field.write("events.csv", "eventId,currency\nE-9,EUR\n");
    expect(await asShop(field, { yes: true })).toMatchObject({ exitCode: 0 });
    await field.write("events.csv", "eventId,currency\nE-10,EUR\n");
    expect(await asShop(field)).toMatchObject({ exitCode: 0 });
    expect(processedBy(field.sandbox)).toBe("E-1 E-2 E-3 E-9 E-10");
  });

  test("is reported by a dry run, too", async () => {
    const field = await openSent();
    const { exitCode, said } = await asShop(field, { dryRun: true });
    expect([exitCode, said]).toEqual([2, expect.stringContaining("The ledger of shop is new")]);
    expect(await asShop(field, { dryRun: true, yes: true })).toMatchObject({ exitCode: 0 });
  });

  test.each(["lost", "damaged"])("asks also where that one is %s: its list of runs tells of it", async (what) => {
    const field = await openSent();
    const other = join(String(field.env.TICKETS_STATE_DIR), "local", "ledger.db");
    if (what === "lost") rmSync(other);
    else writeFileSync(other, "no ledger");
    expect(await asShop(field)).toMatchObject({ exitCode: 2, said: expect.stringContaining("knows of 3 actions") });
    rmSync(join(String(field.env.TICKETS_STATE_DIR), "local", "journal.ndjson"));
    expect((await asShop(field)).said).not.toContain("is new, but");
  });
});

test("the built-in sandbox is its own service whatever lies beside it", async () => {
  const field = await openSent();
  const options = { env: "sandbox" };
  expect(await field.stream(["events.csv"], options)).toMatchObject({ exitCode: 0 });
});
