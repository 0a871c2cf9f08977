/** One service has one ledger, whatever names lead to it: with two, one would send again what the other has sent. */

import { describe, expect, test } from "vitest";
import { resolveEnvironment } from "../../src/pipeline/config/environment.ts";
import { readNeighbours, secondLedger } from "../../src/pipeline/config/neighbours.ts";
import { expectNothingDoubled, openField, processedBy } from "../support/context.ts";
import { failureOf, openFolders, PROJECT, USER } from "./config-files.ts";

const LIVE = "{baseUrl: https://api.example.com/v1, apiKey: {env: TICKETS_KEY}}";

/** What is said of `live` beside the other environments of some files and variables. */
async function look(files: Readonly<Record<string, string>>, variables: NodeJS.ProcessEnv = {}) {
  await using folders = await openFolders(files);
  const config = await folders.load(variables);
  const env = { HOME: folders.home, ...variables };
  const environment = resolveEnvironment(config, { env, envFlag: "live" });
  const neighbours = await readNeighbours(config, environment, env, new AbortController().signal);
  const problem = secondLedger(config, environment, neighbours);
  const shown = (text = ""): string => text.replaceAll(folders.root, "$");
  return {
    neighbours: neighbours.map(({ name, key }) => `${name}: ${key}`),
    problem: problem && { code: problem.code, message: shown(problem.message), hint: problem.hint },
  };
}

describe("two environments with one address and one key", () => {
  test.each([
    "https://API.Example.com/v1",
    "https://api.example.com:443/v1/",
    "https://api.example.com./v1",
    "https://api.example.com/%761",
  ])("are refused, however the address is written: %s", async (baseUrl) => {
    const other = `{baseUrl: "${baseUrl}", apiKey: {env: TICKETS_KEY}}`;
    const { problem } = await look({ [PROJECT]: `environments:\n  live: ${LIVE}\n  shop: ${other}\n` });
    expect(problem).toMatchObject({
      code: "usage",
      message:
        "live (tickets.config.yaml:2) and shop (tickets.config.yaml:3) are one service: both have the base URL https://api.example.com/v1 and the same key (environment variable TICKETS_KEY). With a ledger each, one sends again what the other has sent. Nothing was sent.",
      hint: expect.stringContaining("sameServiceAs: shop"),
    });
  });

  test("an international name is one in either form", async () => {
    const at = (host: string): string => `{baseUrl: "https://${host}", apiKey: {env: TICKETS_KEY}}`;
    const text = `environments: {live: ${at("bücher.example")}, shop: ${at("xn--bcher-kva.example")}}`;
    expect((await look({ [PROJECT]: text })).neighbours).toEqual(["shop: same"]);
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
    const { neighbours, problem } = await look(files, variables);
    expect(neighbours).toEqual(["shop: same"]);
    expect(problem?.message).toContain("are one service");
    expect(JSON.stringify(problem)).not.toContain(SAME);
  });

  test("another key is another account; a key that is not there is not known", async () => {
    const shop = "{baseUrl: https://api.example.com/v1, apiKey: {env: TICKETS_SHOP}}";
    const files = { [PROJECT]: `environments: {live: ${LIVE}, shop: ${shop}}` };
    expect(await look(files, { TICKETS_KEY: "a", TICKETS_SHOP: "b" })).toEqual({
      neighbours: ["shop: different"],
      problem: undefined,
    });
    expect((await look(files, { TICKETS_KEY: "a" })).neighbours).toEqual(["shop: unknown"]);
  });

  test("other addresses are other services", async () => {
    const shop = "{baseUrl: https://api.example.com/v2, apiKey: {env: TICKETS_KEY}}";
    const files = { [PROJECT]: `environments: {live: ${LIVE}, shop: ${shop}, none: {}}` };
    expect((await look(files)).neighbours).toEqual([]);
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
    expect(await look({ [PROJECT]: text })).toEqual({ neighbours: [], problem: undefined });
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
    ["the sandbox", `live: ${at(", sameServiceAs: sandbox")}`, "but the sandbox is a service of its own"],
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
      "but they are at two addresses: https://a.example and https://b.example",
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
    expect(said).toContain("shop shares the ledger of local, but has kept one of its own");
    expect(said).toContain("tickets results --import shop.promises.ndjson --env shop");
    expectNothingDoubled(field.sandbox);
  });

  test("of another account at the same address says so", async () => {
    const field = await openField();
    await field.write("events.csv", eventsTable(1));
    const env = { TICKETS_SHOP_BASE_URL: field.sandbox.url, TICKETS_SHOP_API_KEY: "another" };
    const { exitCode, said } = await field.stream(["events.csv"], {}, { env });
    expect(exitCode).toBe(0);
    expect(said.split("\n")[0]).toContain("another account than shop at the same address");
  });
});
