import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { Environment } from "../../../src/config/environment.ts";
import { userConfigDirectory, userStateDirectory } from "../../../src/config/files.ts";
import { failureOf, PROJECT, USER } from "../../support/config-files.ts";
import { type Choice, openFolders } from "./folders.ts";

const TWO = `environments:
  playground: {baseUrl: https://play.example.com}
  production:
    baseUrl: https://api.example.com/v1/
    apiKey: {env: TICKETS_SHOP_KEY}
    chunkSize: 100
    timeout: 10s
    retries: 3
    rate: 2.5
    lanes: 4
    maxChunkBytes: 4096
    retryStatuses: [503]
    maxRejected: 0
    refusalsAreWhole: true
    complete: true
    statusPath: /actions/{actionPromise}
    output: promises.ndjson
    stateDir: state
    confirm: false
    freshConnection: false
    accept: [price-invalid]
`;
const PLAY = { TICKETS_PLAYGROUND_BASE_URL: "https://play.example.com" };

/** Resolves in folders of its own; `$` in what is returned is the root of them. */
async function resolved(files: Readonly<Record<string, string>>, choice: Choice = {}): Promise<Environment> {
  await using folders = await openFolders(files);
  return JSON.parse(JSON.stringify(await folders.resolve(choice)).replaceAll(folders.root, "$"));
}

/** The failure that resolving ends in, as plain data. */
async function refused(files: Readonly<Record<string, string>>, choice: Choice = {}) {
  await using folders = await openFolders(files);
  const { code, message, hint } = await failureOf(folders.resolve(choice));
  return { code, message: message.replaceAll(folders.root, "$"), hint };
}

describe("the choice of an environment", () => {
  test.each([
    ["--env before all", { envFlag: "playground", env: { TICKETS_ENV: "production" } }, "playground", "flag --env"],
    ["TICKETS_ENV before the config", { env: { TICKETS_ENV: "playground" } }, "playground", "TICKETS_ENV"],
    ["the config's env", {}, "production", "$/above/project/tickets.config.yaml:23"],
    [
      "an empty TICKETS_ENV is none",
      { env: { TICKETS_ENV: "" } },
      "production",
      "$/above/project/tickets.config.yaml:23",
    ],
    ["the sandbox by name", { envFlag: "sandbox" }, "sandbox", "flag --env"],
  ])("%s", async (_name, choice, name, origin) => {
    expect(await resolved({ [PROJECT]: `${TWO}\nenv: production\n` }, choice)).toMatchObject({
      name,
      origins: { name: origin },
    });
  });

  test("settings of the sandbox do not count as an environment and are used", async () => {
    const text = "environments: {sandbox: {accept: [price-invalid], chunkSize: 7}}";
    expect(await resolved({ [PROJECT]: text })).toMatchObject({
      name: "sandbox",
      accept: ["price-invalid"],
      chunkSize: 7,
    });
  });

  test.each(["../x", "", "a b", "a\u001b[2J"])("%j can't be a name", async (envFlag) => {
    const failure = await refused({}, { envFlag });
    expect(failure).toMatchObject({
      code: "usage",
      message: expect.stringContaining("can't be the name of an environment"),
    });
    expect(JSON.stringify(failure)).not.toContain("\\u001b");
  });
});

describe("environments from variables", () => {
  test("one spelling of a name only, so that one service never has two ledgers", async () => {
    const env = { TICKETS_PRE_PROD_BASE_URL: "https://pre.example.com" };
    expect(await resolved({}, { envFlag: "pre-prod", env })).toMatchObject({
      name: "pre-prod",
      baseUrl: "https://pre.example.com",
    });
    expect(await refused({}, { envFlag: "pre_prod", env })).toMatchObject({
      code: "usage",
      message: expect.stringContaining("Did you mean pre-prod?"),
    });
    const declared = { [PROJECT]: "environments: {pre_prod: {}}" };
    expect(await resolved(declared, { envFlag: "pre_prod", env })).toMatchObject({
      baseUrl: "https://pre.example.com",
    });
    expect(await refused(declared, { envFlag: "pre-prod", env })).toMatchObject({ code: "usage" });
  });

  test.each([
    ["http://play.example.com", "TICKETS_PLAYGROUND_BASE_URL is http: to play.example.com"],
    ["https://u:5EcReT@play.example.com", "TICKETS_PLAYGROUND_BASE_URL has a user name or password"],
  ])("an address %s is refused, not repeated, nothing sent", async (url, message) => {
    const failure = await refused({}, { envFlag: "playground", env: { TICKETS_PLAYGROUND_BASE_URL: url } });
    expect(failure).toMatchObject({
      code: "usage",
      message: expect.stringContaining(message),
      hint: "Set it to the address that came with the key.",
    });
    expect(JSON.stringify(failure)).not.toContain("5EcReT");
  });

  test("an environment without an address: exit 2 that names where it is declared and the variable", async () => {
    expect(await refused({ [PROJECT]: "environments: {a: {}}" }, { envFlag: "a" })).toEqual({
      code: "usage",
      message: "Environment a ($/above/project/tickets.config.yaml:1) has no base URL",
      hint: "Set TICKETS_A_BASE_URL, or baseUrl in the config. The address comes with the key.",
    });
  });

  test("an address for the sandbox is refused, not ignored; its key variable is for serving it", async () => {
    expect(await refused({}, { env: { TICKETS_SANDBOX_BASE_URL: "https://a.example" } })).toMatchObject({
      code: "usage",
      message: "TICKETS_SANDBOX_BASE_URL is set, but the sandbox is built in and has no address",
    });
    expect(await resolved({}, { env: { TICKETS_SANDBOX_API_KEY: "k" } })).toMatchObject({
      keySource: {},
    });
  });
});

describe("precedence", () => {
  const FILE = "$/above/project/tickets.config.yaml";

  test.each([
    ["chunkSize", "chunkSize", "the caller", "TICKETS_CHUNK_SIZE", ["7", 7], ["8", 8], [100, 6], 5000],
    ["lanes", "lanes", "flag --lanes", "TICKETS_LANES", ["7", 7], ["8", 8], [4, 10], 1],
    ["retries", "retries", "the caller", "TICKETS_RETRIES", ["0", 0], ["9", 9], [3, 8], 8],
    ["rate", "rate", "the caller", "TICKETS_RATE", ["0.5", 0.5], ["9", 9], [2.5, 9], undefined],
    ["timeoutMs", "timeout", "the caller", "TICKETS_TIMEOUT", ["1m", 60_000], ["2s", 2000], [10_000, 7], 120_000],
  ] as const)(
    "%s: caller, variable, config, default",
    async (setting, flag, caller, variable, byFlag, byVariable, byConfig, byDefault) => {
      const files = { [PROJECT]: TWO };
      const env = { [variable]: byVariable[0] };
      const production = { envFlag: "production" };
      const expected = async (choice: Choice, value: unknown, origin: string) => {
        const environment = await resolved(files, choice);
        expect(environment).toMatchObject({ origins: { [flag]: origin } });
        expect(Reflect.get(environment, setting)).toBe(value);
      };
      await expected({ ...production, env, flags: { [flag]: byFlag[0] } }, byFlag[1], caller);
      await expected({ ...production, env }, byVariable[1], variable);
      await expected(production, byConfig[0], `${FILE}:${byConfig[1]}`);
      await expected({ envFlag: "playground" }, byDefault, "default");
    },
  );

  test("stateDir: variable, the environment's, the config's, the user's state directory", async () => {
    const files = { [PROJECT]: `${TWO}stateDir: shared\n` };
    const state = async (from: Readonly<Record<string, string>>, choice: Choice) => {
      const { stateDir, origins } = await resolved(from, choice);
      return [stateDir, origins.stateDir];
    };
    const env = { TICKETS_STATE_DIR: "~/by-variable" };
    expect(await state(files, { envFlag: "production", env })).toEqual(["$/home/by-variable", "TICKETS_STATE_DIR"]);
    expect(await state(files, { envFlag: "production" })).toEqual(["$/above/project/state", `${FILE}:18`]);
    expect(await state(files, { envFlag: "playground" })).toEqual(["$/above/project/shared", `${FILE}:22`]);
    expect(await state(files, { envFlag: "sandbox" })).toEqual(["$/above/project/shared", `${FILE}:22`]);
    expect(await state({}, { envFlag: "playground", env: { ...PLAY, XDG_STATE_HOME: "/var/lib/x" } })).toEqual([
      "/var/lib/x/tickets",
      "default",
    ]);
    expect(await state({}, { env: { TICKETS_STATE_DIR: "s" } })).toEqual(["$/above/project/s", "TICKETS_STATE_DIR"]);
  });

  test.each(["", "home"])("HOME=%j is no home: state is where the user database says", (HOME) => {
    vi.stubEnv("HOME", HOME);
    try {
      expect(userStateDirectory({ HOME })).toBe(join(userInfo().homedir, ".local/state/tickets"));
      expect(userConfigDirectory({ HOME })).toBe(join(userInfo().homedir, ".config/tickets"));
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("the program at the end, below the config's folder", async () => {
    const environment = `{baseUrl: "https://a.example", onEnd: [./notify.sh, now]}`;
    const config = { [USER]: `environments: {live: ${environment}}` };
    expect(await resolved(config, { envFlag: "live" })).toMatchObject({
      onEnd: { command: ["$/home/.config/tickets/notify.sh", "now"], directory: "$/home/.config/tickets" },
    });
  });

  test("production asks before it sends", async () => {
    const env = { TICKETS_PRODUCTION_BASE_URL: "https://api.example.com" };
    expect(await resolved({}, { envFlag: "production", env })).toMatchObject({ confirm: true });
  });
});

describe("flags and variables that can't be read", () => {
  test.each([
    [{ chunkSize: "5001" }, 'chunkSize needs a whole number from 1 to 5000, not "5001"'],
    [{ chunkSize: "1e3" }, 'chunkSize needs a whole number from 1 to 5000, not "1e3"'],
    [{ rate: "0" }, 'rate needs a number above zero, not "0"'],
    [{ timeout: "90" }, 'timeout "90" is not a duration such as 500ms, 90s, 2m or 1h30m'],
  ])("%j", async (flags, message) => {
    expect(await refused({}, { flags })).toMatchObject({ code: "usage", message });
  });

  test("a folder of state with a blank around it", async () => {
    expect(await refused({}, { env: { TICKETS_STATE_DIR: "/srv/state " } })).toMatchObject({
      message: 'TICKETS_STATE_DIR begins or ends with a blank: "/srv/state ".',
    });
  });

  test("all at once, variables by their names", async () => {
    expect(
      await refused({}, { flags: { lanes: "x" }, env: { TICKETS_CHUNK_SIZE: "y", TICKETS_TIMEOUT: "z" } }),
    ).toMatchObject({
      code: "usage",
      message: [
        'TICKETS_CHUNK_SIZE needs a whole number from 1 to 5000, not "y"',
        'TICKETS_TIMEOUT "z" is not a duration such as 500ms, 90s, 2m or 1h30m',
        '--lanes needs a whole number from 1 to 64, not "x"',
      ].join("\n"),
    });
  });
});
