import { describe, expect, test } from "vitest";
import { resolveEnvironment } from "../../../src/config/environment.ts";
import { twinFailure } from "../../../src/config/key.ts";
import { failureOf, PROJECT, USER } from "../../support/config-files.ts";
import { openFolders } from "./folders.ts";

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
  test.each(["https://API.Example.com/v1", "https://api.example.com:443/v1/"])(
    "are refused, however the address is written: %s",
    async (baseUrl) => {
      const other = `{baseUrl: "${baseUrl}", apiKey: {env: TICKETS_KEY}}`;
      const problem = await look({ [PROJECT]: `environments:\n  live: ${LIVE}\n  shop: ${other}\n` });
      expect(problem).toMatchObject({
        code: "usage",
        message:
          "live (tickets.config.yaml:2) and shop (tickets.config.yaml:3) are one service: both have the base URL https://api.example.com/v1 and the same key (environment variable TICKETS_KEY). With separate ledgers, one would send again what the other has sent. Nothing was sent.",
        hint: expect.stringContaining("sameServiceAs: shop"),
      });
    },
  );

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
    return JSON.parse(JSON.stringify(await folders.resolve({ envFlag })).replaceAll(folders.root, "$"));
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
    ["itself", `live: ${at(", sameServiceAs: live")}`, "which itself says sameServiceAs: live"],
    ["nobody", `live: ${at(", sameServiceAs: shopp")}\n  shop: ${at("")}`, "but there is no such environment"],
    ["the sandbox", `live: ${at(", sameServiceAs: sandbox")}`, "but the sandbox is a separate service"],
    [
      "a circle",
      `live: ${at(", sameServiceAs: shop")}\n  shop: ${at(", sameServiceAs: live")}`,
      "which itself says sameServiceAs: live",
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
