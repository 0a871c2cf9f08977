/** One service has one ledger, whatever names lead to it: with two, one would send again what the other has sent. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/commands/context.ts";
import { forgetLostRuns, showEnvironment } from "../../src/commands/env.ts";
import { status } from "../../src/commands/status.ts";
import { validate } from "../../src/commands/validate.ts";
import { resolveEnvironment } from "../../src/config/environment.ts";
import { readNeighbours, secondLedger } from "../../src/config/neighbours.ts";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import { openLedger } from "../../src/ledger/open-ledger.ts";
import { noteKey, usedKeys, wasUsedWith } from "../../src/ledger/used-keys.ts";
import { expectNothingDoubled, type Field, makeContext, openField, processedBy } from "../support/context.ts";
import { failureOf, openFolders, PROJECT, USER } from "./config/files.ts";

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
        "live (tickets.config.yaml:2) and shop (tickets.config.yaml:3) are one service: both have the base URL https://api.example.com/v1 and the same key (environment variable TICKETS_KEY). With separate ledgers, one would send again what the other has sent. Nothing was sent.",
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

  test("of another account at the same address says so", async () => {
    const field = await openField();
    await field.write("events.csv", eventsTable(1));
    const env = { TICKETS_SHOP_BASE_URL: field.sandbox.url, TICKETS_SHOP_API_KEY: "another" };
    const { exitCode, said } = await field.stream(["events.csv"], {}, { env });
    expect(exitCode).toBe(0);
    expect(said.split("\n")[0]).toContain("a different account from shop at the same address");
  });
});

const KEY = "key-of-the-test";

/** The environment `local` of a field, under another name. */
function renamed(field: Field, variables: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const url = field.env.TICKETS_LOCAL_BASE_URL;
  return { TICKETS_LOCAL_BASE_URL: "", TICKETS_SHOP_BASE_URL: url, TICKETS_SHOP_API_KEY: KEY, ...variables };
}

/** A field whose `local` has sent three events. */
async function openSent(): Promise<Field> {
  const field = await openField();
  await field.write("events.csv", eventsTable(3));
  expect(await field.stream(["events.csv"])).toMatchObject({ exitCode: 0 });
  return field;
}

const asShop = (field: Field, env: NodeJS.ProcessEnv = renamed(field), dryRun = false) =>
  field.stream(["events.csv"], { env: "shop", dryRun }, { env });

async function ask(field: Field, env: NodeJS.ProcessEnv, command: (context: Context) => Promise<number>) {
  const { context, said } = makeContext(field.folder, { ...field.env, ...env });
  try {
    return { exitCode: await command(context), said: said() };
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return { exitCode: EXIT_CODES[cause.code] as number, said: `${said()}\n${cause.message}\n${cause.hint}` };
  }
}

const folderOf = (field: Field, name: string): string => join(field.folder, "state", name);

/** As a ledger is that was last used by an earlier version. */
function forgetKeys(field: Field): void {
  using ledger = openLedger({ path: join(folderOf(field, "local"), "ledger.db"), boundTo: undefined });
  ledger.run("DELETE FROM meta WHERE key = 'key_digests'");
}

const forget = (field: Field, env: NodeJS.ProcessEnv) =>
  ask(field, env, (context) =>
    forgetLostRuns({ name: "shop", reason: "another account", flags: {}, waitLock: 0 }, context),
  );

describe("an environment that was renamed", () => {
  test("sends nothing, however it is asked, until its ledger is moved", async () => {
    const field = await openSent();
    for (const night of [1, 2]) {
      const { exitCode, said } = await asShop(field);
      expect(exitCode, `night ${night}`).toBe(2);
      expect(said).toContain("shop");
      expect(said).toMatch(
        /the ledger of local \(.*state\/local, since \d{4}-\d\d-\d\d, 3 actions accepted or in doubt\)/,
      );
      expect(said).toContain("the same key");
      expect(said).not.toContain(KEY);
      expect(existsSync(folderOf(field, "shop"))).toBe(false);
    }
    expect(await asShop(field, renamed(field), true)).toMatchObject({ exitCode: 2 });
    const checked = await ask(field, renamed(field), (context) =>
      validate({ files: ["events.csv"], env: "shop", json: false, flags: {} }, context),
    );
    expect(checked.exitCode).toBe(2);
    const { said } = await asShop(field);
    const move = said.match(/that ledger: (mv .*)$/m)?.[1] ?? "";
    execFileSync("sh", ["-c", move]);
    const after = await asShop(field);
    expect(after.exitCode).toBe(0);
    expect(after.summary?.actions).toMatchObject({ alreadySent: 3, accepted: 0 });
    expectNothingDoubled(field.sandbox);
  });

  test("is moved to its folder also where that holds a ledger already, which has sent nothing", async () => {
    const field = await openSent();
    forgetKeys(field);
    openLedger({ path: join(folderOf(field, "shop"), "ledger.db"), boundTo: field.env.TICKETS_LOCAL_BASE_URL })[
      Symbol.dispose
    ]();
    const { exitCode, said } = await asShop(field);
    expect(exitCode).toBe(2);
    execFileSync("sh", ["-c", said.match(/that ledger: (mv .*)$/m)?.[1] ?? ""]);
    expect((await asShop(field)).summary?.actions).toMatchObject({ alreadySent: 3 });
  });

  test("is told by commands that only look", async () => {
    const field = await openSent();
    const looked = await ask(field, renamed(field), (context) =>
      status({ env: "shop", run: undefined, chunk: undefined, maxAge: undefined, json: false, flags: {} }, context),
    );
    expect(looked.said).toContain("the ledger of local");
    const shown = await ask(field, renamed(field), (context) =>
      showEnvironment({ name: "shop", json: false, flags: {} }, context),
    );
    expect(shown.exitCode).toBe(2);
    expect(shown.said).toContain("the ledger of local");
  });

  test("of which a person knows better keeps a ledger of its own", async () => {
    const field = await openSent();
    await field.write("events.csv", "eventId,currency\nE-9,EUR\n");
    const forgotten = await forget(field, renamed(field));
    expect(forgotten.exitCode).toBe(0);
    expect(forgotten.said).toContain("beside that of local");
    expect(await asShop(field)).toMatchObject({ exitCode: 0 });
    expect(await asShop(field)).toMatchObject({ exitCode: 0 });
    expect(processedBy(field.sandbox)).toBe("E-1 E-2 E-3 E-9");
  });

  test("by its key that was replaced since", async () => {
    const field = await openSent();
    using ledger = openLedger({ path: join(folderOf(field, "local"), "ledger.db"), boundTo: undefined });
    noteKey(ledger, () => "a later key");
    expect(await asShop(field)).toMatchObject({ exitCode: 2 });
  });

  test("whose key a command gives is known by it; without sending no command is run", async () => {
    const field = await openSent();
    const url = field.env.TICKETS_LOCAL_BASE_URL;
    const ran = join(field.folder, "ran");
    const command = JSON.stringify(["sh", "-c", `echo >> ${ran}; echo ${KEY}`]);
    await field.write("own.yaml", `environments: {shop: {baseUrl: "${url}", apiKey: {command: ${command}}}}`);
    const env = { TICKETS_CONFIG: "own.yaml", TICKETS_LOCAL_BASE_URL: "" };
    const dry = await asShop(field, env, true);
    expect(dry.exitCode).toBe(0);
    expect(dry.said.split("\n")[0]).toContain("the same address as local, whose key is not known here");
    expect(existsSync(ran)).toBe(false);
    expect(await asShop(field, env)).toMatchObject({ exitCode: 2 });
    expectNothingDoubled(field.sandbox);
    rmSync(ran);
    using ledger = openLedger({ path: join(folderOf(field, "local"), "ledger.db"), boundTo: undefined });
    ledger.run("UPDATE meta SET value = 'another' WHERE key = 'key_digests'");
    await field.write("events.csv", "eventId,currency\nE-9,EUR\n");
    expect(await asShop(field, env)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(ran, "utf8"), "it is run once").toBe("\n");
  });

  test("whose key a command gives can be told apart by a person", async () => {
    const field = await openSent();
    forgetKeys(field);
    const url = field.env.TICKETS_LOCAL_BASE_URL;
    await field.write("own.yaml", `environments: {shop: {baseUrl: "${url}", apiKey: {command: [echo, ${KEY}]}}}`);
    await field.write("events.csv", "eventId,currency\nE-9,EUR\n");
    const env = { TICKETS_CONFIG: "own.yaml", TICKETS_LOCAL_BASE_URL: "" };
    expect(await asShop(field, env)).toMatchObject({ exitCode: 2 });
    expect(await forget(field, env)).toMatchObject({ exitCode: 0 });
    expect(await asShop(field, env)).toMatchObject({ exitCode: 0 });
  });

  test("whose key a pipe gives is known by it", async () => {
    const field = await openSent();
    const pipe = join(field.folder, "pipe");
    execFileSync("mkfifo", ["-m", "600", pipe]);
    const url = field.env.TICKETS_LOCAL_BASE_URL;
    await field.write("own.yaml", `environments: {shop: {baseUrl: "${url}", apiKey: {file: ${pipe}}}}`);
    const writing = writeFile(pipe, `${KEY}\n`);
    const { exitCode } = await asShop(field, { TICKETS_CONFIG: "own.yaml", TICKETS_LOCAL_BASE_URL: "" });
    expect(exitCode).toBe(2);
    await writing;
  });
});

describe("another account at one address, in another project", () => {
  test("is told by its key, and goes on", async () => {
    const field = await openSent();
    const { exitCode, said } = await asShop(field, renamed(field, { TICKETS_SHOP_API_KEY: "another" }), true);
    expect(exitCode).toBe(0);
    expect(said.split("\n")[0]).toContain("a different account from local at the same address");
  });

  test("can't be told where an earlier version used the ledger; the next use of that one tells it, or a person does", async () => {
    const field = await openSent();
    forgetKeys(field);
    const env = renamed(field, { TICKETS_SHOP_API_KEY: "another" });
    const refused = await asShop(field, env, true);
    expect(refused.exitCode).toBe(2);
    expect(refused.said).toContain("(its key is not recorded)");
    expect(refused.said).toMatch(/another account's: tickets env --forget-lost --env shop --reason "…"$/m);
    // Nothing is new for it.
    expect(await field.stream(["events.csv"])).toMatchObject({ exitCode: 0 });
    expect(await asShop(field, env, true)).toMatchObject({ exitCode: 0 });
    forgetKeys(field);
    expect(await forget(field, env)).toMatchObject({ exitCode: 0 });
    expect(await asShop(field, env, true)).toMatchObject({ exitCode: 0 });
  });
});

test("a ledger of another address, or that has sent nothing, is of no concern", async () => {
  const field = await openField();
  await field.write("events.csv", eventsTable(1));
  openLedger({ path: join(folderOf(field, "empty"), "ledger.db"), boundTo: field.sandbox.url })[Symbol.dispose]();
  expect(await field.stream(["events.csv"])).toMatchObject({ exitCode: 0 });
  const elsewhere = renamed(field, { TICKETS_SHOP_BASE_URL: "http://127.0.0.1:9" });
  expect((await asShop(field, elsewhere, true)).said).not.toContain("same address");
});

test("the built-in sandbox is its own service whatever lies beside it", async () => {
  const field = await openSent();
  const options = { env: "sandbox" };
  expect(await field.stream(["events.csv"], options)).toMatchObject({ exitCode: 0 });
});

test("a ledger keeps digests of its last five keys, and no key", async () => {
  const field = await openSent();
  using ledger = openLedger({ path: join(folderOf(field, "local"), "ledger.db"), boundTo: undefined });
  const by = (key: string) => (salt: string) => `${key}@${salt.length}`;
  for (const key of ["a", "b", "c", "d", "e", "a", "f"]) noteKey(ledger, by(key));
  const used = usedKeys(ledger);
  expect(used.digests).toEqual(["c", "d", "e", "a", "f"].map((key) => `${key}@36`));
  expect([by("a"), by("b")].map((key) => wasUsedWith(used, key))).toEqual([true, false]);
  expect(wasUsedWith({ ...used, digests: [] }, by("a"))).toBeUndefined();
});
