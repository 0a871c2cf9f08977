/** One service has one ledger, whatever names lead to it: with two, one would send again what the other has sent. */

import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveEnvironment } from "../../src/config/environment.ts";
import { twinFailure } from "../../src/config/twins.ts";
import { openLedger } from "../../src/ledger/open-ledger.ts";
import { expectNothingDoubled, type Field, openField, processedBy } from "../support/context.ts";
import { failureOf, openFolders, PROJECT, USER } from "./config/files.ts";

const LIVE = "{baseUrl: https://api.example.com/v1, apiKey: {env: TICKETS_KEY}}";

/** What is said of `live` beside the other environments of some files and variables. */
async function look(files: Readonly<Record<string, string>>, variables: NodeJS.ProcessEnv = {}) {
  await using folders = await openFolders(files);
  const config = await folders.load(variables);
  const env = { HOME: folders.home, ...variables };
  const environment = resolveEnvironment(config, { env, envFlag: "live" });
  const problem = await twinFailure(config, environment, env, new AbortController().signal);
  const shown = (text = ""): string => text.replaceAll(folders.root, "$");
  return problem && { code: problem.code, message: shown(problem.message), hint: problem.hint };
}

describe("two environments with one address and one key", () => {
  test.each([
    "https://API.Example.com/v1",
    "https://api.example.com:443/v1/",
    "https://api.example.com./v1",
    "https://api.example.com/%761",
  ])("are refused, however the address is written: %s", async (baseUrl) => {
    const other = `{baseUrl: "${baseUrl}", apiKey: {env: TICKETS_KEY}}`;
    const problem = await look({ [PROJECT]: `environments:\n  live: ${LIVE}\n  shop: ${other}\n` });
    expect(problem).toMatchObject({
      code: "usage",
      message:
        "live (tickets.config.yaml:2) and shop (tickets.config.yaml:3) are one service: both have the base URL https://api.example.com/v1 and the same key (environment variable TICKETS_KEY). With separate ledgers, one would send again what the other has sent. Nothing was sent.",
      hint: expect.stringContaining("sameServiceAs: shop"),
    });
  });

  test("an international name is one in either form", async () => {
    const at = (host: string): string => `{baseUrl: "https://${host}", apiKey: {env: TICKETS_KEY}}`;
    const text = `environments: {live: ${at("bücher.example")}, shop: ${at("xn--bcher-kva.example")}}`;
    expect((await look({ [PROJECT]: text }))?.message).toContain("are one service");
  });

  const SAME = "the-key";
  test.each<[string, Record<string, string>, NodeJS.ProcessEnv]>([
    [
      "in the user's config",
      { [PROJECT]: `environments: {live: ${LIVE}}`, [USER]: `environments: {shop: ${LIVE}}` },
      {},
    ],
    [
      "from variables",
      { [PROJECT]: `environments: {live: ${LIVE}}` },
      { TICKETS_SHOP_BASE_URL: "https://api.example.com/v1", TICKETS_SHOP_API_KEY: SAME, TICKETS_KEY: SAME },
    ],
    [
      "in a file and in a variable",
      {
        [PROJECT]: `environments: {live: ${LIVE}, shop: {baseUrl: https://api.example.com/v1, apiKey: {file: key}}}`,
        "above/project/key": `${SAME}\n`,
      },
      { TICKETS_KEY: SAME },
    ],
    [
      "by a command of the same words",
      {
        [USER]:
          "environments: {live: {baseUrl: https://api.example.com, apiKey: {command: [pass, show]}}, shop: {baseUrl: https://api.example.com, apiKey: {command: [pass, show]}}}",
      },
      {},
    ],
  ])("are found %s", async (_, files, variables) => {
    const problem = await look(files, variables);
    expect(problem?.message).toContain("are one service");
    expect(JSON.stringify(problem)).not.toContain(SAME);
  });

  test("another key is another account; a key that is not there is not known", async () => {
    const shop = "{baseUrl: https://api.example.com/v1, apiKey: {env: TICKETS_SHOP}}";
    const files = { [PROJECT]: `environments: {live: ${LIVE}, shop: ${shop}}` };
    expect(await look(files, { TICKETS_KEY: "a", TICKETS_SHOP: "b" })).toBeUndefined();
    expect(await look(files, { TICKETS_KEY: "a" })).toBeUndefined();
  });

  test("other addresses are other services", async () => {
    const shop = "{baseUrl: https://api.example.com/v2, apiKey: {env: TICKETS_KEY}}";
    const files = { [PROJECT]: `environments: {live: ${LIVE}, shop: ${shop}, none: {}}` };
    expect(await look(files)).toBeUndefined();
  });
});

describe("sameServiceAs", () => {
  const resolve = async (text: string, envFlag = "live") => {
    await using folders = await openFolders({ [PROJECT]: `environments:\n  ${text}` });
    const config = await folders.load();
    const environment = resolveEnvironment(config, { env: { HOME: folders.home }, envFlag });
    return JSON.parse(JSON.stringify(environment).replaceAll(folders.root, "$"));
  };
  const at = (more: string, url = "https://a.example"): string => `{baseUrl: ${url}${more}}`;

  test("leads to the other's ledger, and nothing is refused then", async () => {
    const text = `environments:\n  shop: {baseUrl: https://api.example.com/v1, apiKey: {env: TICKETS_KEY}, stateDir: kept}\n  live: ${LIVE.replace("}}", "}, sameServiceAs: shop}")}\n`;
    expect(await look({ [PROJECT]: text })).toBeUndefined();
    expect(await resolve(text.replace("environments:\n  ", ""))).toMatchObject({
      name: "live",
      ledgerPath: "$/above/project/kept/shop/ledger.db",
      ledgerOwner: "shop",
      ledgerNames: ["shop", "live"],
    });
  });

  test.each([
    ["itself", `live: ${at(", sameServiceAs: live")}`, "which is itself"],
    ["nobody", `live: ${at(", sameServiceAs: shopp")}\n  shop: ${at("")}`, "but there is no such environment"],
    ["the sandbox", `live: ${at(", sameServiceAs: sandbox")}`, "but the sandbox is a separate service"],
    [
      "a circle",
      `live: ${at(", sameServiceAs: shop")}\n  shop: ${at(", sameServiceAs: live")}`,
      "and shop says the same of live",
    ],
    [
      "a chain",
      `live: ${at(", sameServiceAs: shop")}\n  shop: ${at(", sameServiceAs: old")}\n  old: ${at("")}`,
      "which itself says sameServiceAs: old",
    ],
    [
      "another address",
      `live: ${at(", sameServiceAs: shop")}\n  shop: ${at("", "https://b.example")}`,
      "but they have two addresses: https://a.example and https://b.example",
    ],
  ])("may not name %s", async (_, text, message) => {
    expect(await failureOf(resolve(text))).toMatchObject({
      code: "usage",
      message: expect.stringContaining(message),
    });
  });
});

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

  test("is only looked at by a dry run", async () => {
    const field = await openSent();
    expect(await asShop(field, { dryRun: true })).toMatchObject({ exitCode: 0 });
  });

  test("is of no concern where that is of another address, or has sent nothing", async () => {
    const field = await openField();
    await field.write("events.csv", eventsTable(1));
    openLedger({ path: join(field.folder, "state", "empty", "ledger.db"), boundTo: field.sandbox.url })[
      Symbol.dispose
    ]();
    expect(await field.stream(["events.csv"])).toMatchObject({ exitCode: 0 });
    const path = join(field.folder, "state", "elsewhere", "ledger.db");
    await cp(join(field.folder, "state", "local", "ledger.db"), path);
    using ledger = openLedger({ path, boundTo: undefined });
    ledger.run("UPDATE meta SET value = 'https://elsewhere.example' WHERE key = 'bound_to'");
    await rm(join(field.folder, "state", "local"), { recursive: true });
    await field.write("events.csv", "eventId,currency\nE-9,EUR\n");
    expect(await asShop(field)).toMatchObject({ exitCode: 0 });
  });
});

test("the built-in sandbox is its own service whatever lies beside it", async () => {
  const field = await openSent();
  const options = { env: "sandbox" };
  expect(await field.stream(["events.csv"], options)).toMatchObject({ exitCode: 0 });
});
