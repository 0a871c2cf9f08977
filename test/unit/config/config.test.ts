import { execFileSync } from "node:child_process";
import { symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { failureOf, PROJECT, USER } from "../../support/config-files.ts";
import { openFolders } from "./folders.ts";

const environment = (name: string) => `environments:\n  ${name}:\n    baseUrl: https://api.example.com\n`;

describe("where a config is found", () => {
  test.each([
    ["tickets.config.yaml", "rules: {price-invalid: off}"],
    ["tickets.config.json", '{"$schema": "./tickets.schema.json", "rules": {"price-invalid": "off"}}'],
    [".ticketsrc", "rules: {price-invalid: off}"],
    [".ticketsrc.yaml", "rules: {price-invalid: off}"],
    ["package.json", '{\n\t"name": "x",\n\t"tickets": {"rules": {"price-invalid": "off"}}\n}'],
  ])("%s in the working directory", async (name, text) => {
    await using folders = await openFolders({ [`above/project/${name}`]: text });
    const config = await folders.load();
    expect(config.rules).toEqual({ "price-invalid": "off" });
    expect(config.files).toEqual([join(folders.cwd, name)]);
  });

  test("nothing is looked for above the working directory or in .config", async () => {
    await using folders = await openFolders({
      "above/tickets.config.yaml": "broken: [",
      "above/.ticketsrc": "broken: [",
      "above/package.json": '{"tickets": {"broken": 1}}',
      "above/project/.config/ticketsrc.yaml": "broken: [",
      "above/project/below/tickets.config.yaml": "broken: [",
    });
    expect((await folders.load()).files).toEqual([]);
  });

  test("the user's config directory adds environments, found through XDG_CONFIG_HOME or HOME", async () => {
    await using folders = await openFolders({
      [PROJECT]: environment("playground"),
      [USER]: environment("production"),
      "xdg/tickets/config.json": '{"environments": {"staging": {"baseUrl": "https://s.example.com"}}}',
    });
    expect([...(await folders.load()).environments.keys()]).toEqual(["playground", "production"]);
    const other = await folders.load({ XDG_CONFIG_HOME: join(folders.root, "xdg") });
    expect([...other.environments.keys()]).toEqual(["playground", "staging"]);
    const relative = await folders.load({ XDG_CONFIG_HOME: "xdg" });
    expect([...relative.environments.keys()]).toEqual(["playground", "production"]);
  });

  test("--config and TICKETS_CONFIG replace both, --config first", async () => {
    await using folders = await openFolders({
      [PROJECT]: "broken: [",
      [USER]: "broken: [",
      "above/project/tickets.config.ts": "",
      "above/project/a.yaml": environment("a"),
      "home/b.json": '{"environments": {"b": {}}}',
      "home/c": environment("c"),
    });
    const names = async (...choice: Parameters<typeof folders.load>) => [
      ...(await folders.load(...choice)).environments.keys(),
    ];
    expect(await names({ TICKETS_CONFIG: "~/b.json" }, "a.yaml")).toEqual(["a"]);
    expect(await names({ TICKETS_CONFIG: "~/b.json" })).toEqual(["b"]);
    expect(await names({}, join(folders.home, "c"))).toEqual(["c"]);
  });

  test.each([
    ["missing.yaml", "does not exist"],
    [".", "is a folder"],
    ["config.toml", "neither .yaml, .yml nor .json"],
    ["config.ts", "is a script"],
  ])("--config %s: %s", async (file, why) => {
    await using folders = await openFolders({
      "above/project/config.toml": "",
      "above/project/config.ts": "throw 1",
      "above/project/config.mjs": "throw 1",
    });
    const failure = await failureOf(folders.load({}, file));
    expect(failure).toMatchObject({ code: "usage", message: expect.stringContaining(why) });
    expect(failure.message).toContain(folders.cwd);
  });

  test("a config that may not be read, or a dangling link, is an error and not overlooked", async () => {
    await using folders = await openFolders();
    await symlink(join(folders.root, "gone"), join(folders.cwd, "tickets.config.yaml"));
    expect(await failureOf(folders.load())).toMatchObject({
      code: "usage",
      message: expect.stringContaining("does not exist"),
    });
  });
});

describe("scripts", () => {
  test.each(["tickets.config.js", "tickets.config.ts", ".ticketsrc.cts"])(
    "%s is refused, beside a good config too",
    async (name) => {
      await using folders = await openFolders({ [`above/project/${name}`]: "throw 1", [PROJECT]: "" });
      const failure = await failureOf(folders.load());
      expect(failure).toMatchObject({ code: "usage", hint: expect.stringContaining("A config is data") });
      expect(failure.message).toBe(`${name} is a script and is not run.`);
    },
  );
});

describe("more than one place", () => {
  test("two configs in one folder: exit 2 naming both", async () => {
    await using folders = await openFolders({ [PROJECT]: "", "above/project/package.json": '{"tickets": {}}' });
    const failure = await failureOf(folders.load());
    expect(failure.code).toBe("usage");
    expect(failure.message).toContain(join(folders.cwd, "tickets.config.yaml"));
    expect(failure.message).toContain(`${join(folders.cwd, "package.json")} (its key "tickets")`);
  });

  test("the same environment in two files: exit 2 naming both with their lines", async () => {
    await using folders = await openFolders({
      [PROJECT]: `\n${environment("production")}`,
      [USER]: environment("production"),
    });
    const failure = await failureOf(folders.load());
    expect(failure.code).toBe("usage");
    expect(failure.message).toBe(
      `${join(folders.root, USER)}:2:3  environments.production: is also declared in tickets.config.yaml:3; keep one of the two. Nothing was sent.`,
    );
  });

  test("names that share their variables are reported in one file and in two", async () => {
    await using folders = await openFolders({
      [PROJECT]: "environments:\n  pre-prod: {}\n  pre_prod: {}\n",
      [USER]: "environments: {pre_prod: {}}",
    });
    const { message } = await failureOf(folders.load());
    expect(message).toContain(
      "tickets.config.yaml:3:3  environments.pre_prod: shares its variables (TICKETS_PRE_PROD_...) with pre-prod in tickets.config.yaml:2; rename one.",
    );
    expect(message).toContain(
      "config.yaml:1:16  environments.pre_prod: shares its variables (TICKETS_PRE_PROD_...) with pre-prod in tickets.config.yaml:2; rename one.",
    );
  });
});

/** Every refusal: what stands in tickets.config.yaml, and the one line that is said of it. */
const REFUSALS: readonly (readonly [text: string, line: string])[] = [
  ["a: 1", "1:1  a: is not a known key; known here: $schema, env, environments, sources, rules, stateDir."],
  ["env: Play Ground", "1:6  env: needs a name of lower-case letters, digits, - and _, such as playground."],
  ['stateDir: "x "', "1:11  stateDir: begins or ends with a blank."],
  ["environments: [a]", "1:15  environments: needs a map of environments."],
  [
    "environments: {../x: {}}",
    "1:16  environments.../x: needs a name of lower-case letters, digits, - and _, such as playground.",
  ],
  ["environments: {a: {chunksize: 1}}", "1:20  environments.a.chunksize: is not a known key. Did you mean chunkSize?"],
  ["environments: {a: {chunkSize: 0}}", "1:31  environments.a.chunkSize: needs a whole number from 1 to 5000."],
  [
    "environments: {a: {timeout: 90 s}}",
    '1:29  environments.a.timeout: "90 s" is not a duration such as 500ms, 90s, 2m or 1h30m.',
  ],
  ["environments: {a: {timeout: 0s}}", "1:29  environments.a.timeout: needs a duration above zero."],
  [
    "environments: {a: {retryStatuses: 503}}",
    "1:35  environments.a.retryStatuses: needs a list of statuses, such as [503].",
  ],
  [
    "environments: {a: {retryStatuses: [503, 404]}}",
    "1:41  environments.a.retryStatuses[1]: has no effect: only 408 and 500 to 599 can be retried by the list.",
  ],
  ["environments: {a: {rate: 0}}", "1:26  environments.a.rate: needs a number above zero."],
  ["environments: {a: {refusalsAreWhole: no}}", "1:38  environments.a.refusalsAreWhole: needs true or false."],
  [
    "environments: {a: {statusPath: /actions}}",
    "1:32  environments.a.statusPath: needs a path with {actionPromise} in it, such as /actions/{actionPromise}.",
  ],
  [
    "environments: {a: {accept: [prise-invalid]}}",
    '1:29  environments.a.accept[0]: "prise-invalid" is not the id of a rule. Did you mean price-invalid?',
  ],
  [
    "environments: {sandbox: {baseUrl: 'https://a.example'}}",
    "1:26  environments.sandbox.baseUrl: the sandbox is built in and has neither address nor key; give the environment another name.",
  ],
  [
    "environments: {sandbox: {complete: false}}",
    "1:26  environments.sandbox.complete: the sandbox is always complete: nothing else registers events there.",
  ],
  ["rules: {price-invalid: eror}", "1:24  rules.price-invalid: needs one of off, warn, error. Did you mean error?"],
  ["rules: {prise-invalid: off}", "1:9  rules.prise-invalid: is not the id of a rule. Did you mean price-invalid?"],
  ["env: a\nenv: b", "2:1  env: occurs twice, first in line 1."],
];

/** Keys that stand where they must not. The line is said, the key is not. */
const KEY_REFUSALS: readonly (readonly [apiKey: string, line: string])[] = [
  [
    "sk-5EcReT",
    "is never written into a config, which gets copied and committed. Name where it is: {env: NAME}, {file: PATH} or {command: [...]}.",
  ],
  ["123456789", "is never written into a config"],
  ["{sk-5EcReT}", "apiKey: is not a known key; known here: env, file, command."],
  ["{env: sk-5EcReT}", "apiKey.env: needs the name of an environment variable (A-Z, 0-9, _), not the key itself."],
  ["{env: A, file: b}", "apiKey: needs exactly one of env, file and command."],
  ["{command: pass}", "apiKey.command: needs a list: the program, then its arguments."],
  ["{sk-5EcReT: 1, sk-5EcReT: 2}", "occurs twice, first in line 3."],
  ['"sk-5EcReT', "a closing quote or bracket, a comma or a colon is missing."],
  ["@sk-5EcReT", "text that starts with this character needs quotes."],
];

describe.skipIf(process.platform === "win32")("what is no file", () => {
  test("a pipe in the working directory is read as one is that --config names", async () => {
    await using folders = await openFolders();
    const pipe = join(folders.cwd, "tickets.config.yaml");
    execFileSync("mkfifo", [pipe]);
    const loading = folders.load();
    await writeFile(pipe, environment("playground"));
    expect([...(await loading).environments.keys()]).toEqual(["playground"]);
  });

  test.each(["/dev/zero", "a large file"])("%s is too large for a config, found or named", async (target) => {
    await using folders = await openFolders({ large: "" });
    await truncate(join(folders.root, "large"), 16 * 1024 * 1024 + 1);
    await symlink(
      target === "/dev/zero" ? target : join(folders.root, "large"),
      join(folders.cwd, "tickets.config.yaml"),
    );
    for (const flag of [undefined, "tickets.config.yaml"])
      expect(await failureOf(folders.load({}, flag))).toMatchObject({
        code: "usage",
        message: `The config ${join(folders.cwd, "tickets.config.yaml")} is too large.`,
      });
  });
});

describe("refusals", () => {
  test.each(REFUSALS)("%j", async (text, line) => {
    await using folders = await openFolders({ [PROJECT]: `${text}\n` });
    const failure = await failureOf(folders.load());
    expect(failure).toMatchObject({ code: "usage", hint: undefined });
    expect(failure.message).toBe(`tickets.config.yaml:${line} Nothing was sent.`);
  });

  test.each(KEY_REFUSALS)("apiKey: %s, without repeating a key", async (apiKey, line) => {
    await using folders = await openFolders({ [PROJECT]: `environments:\n  a:\n    apiKey: ${apiKey}\n` });
    const failure = await failureOf(folders.load({}, "tickets.config.yaml"));
    expect(failure.message).toContain("tickets.config.yaml:");
    expect(failure.message).toContain(line);
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain("5EcReT");
    expect(failure.message).not.toContain("123456789");
  });

  test.each(["supersecretkey123", "AKIA5ECRET7EXAMPLE", "A_".repeat(30), "TICKETS_sk-5EcReT_API_KEY"])(
    "a variable's name that may be the key is not repeated: %s",
    async (text) => {
      await using folders = await openFolders({ [PROJECT]: `environments:\n  a:\n    apiKey: {env: ${text}}\n` });
      const failure = await failureOf(folders.load());
      expect(failure.message).toMatch(/tickets\.config\.yaml:3:\d+ {2}environments\.a\.apiKey\.env: names /);
      expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(text);
    },
  );

  test("a command is refused in the working directory's config and taken from the user's and from --config", async () => {
    const text = "environments:\n  a:\n    baseUrl: https://api.example.com\n    apiKey: {command: [./key.sh, a b]}\n";
    await using folders = await openFolders({ [PROJECT]: text, "home/other.yaml": text });
    expect((await failureOf(folders.load())).message).toMatch(
      /^tickets\.config\.yaml:4:14 {2}environments\.a\.apiKey\.command: would run a program; this file is not trusted/,
    );
    const chosen = await folders.load({}, join(folders.home, "other.yaml"));
    expect(chosen.environments.get("a")?.apiKey).toEqual({ command: [join(folders.home, "key.sh"), "a b"] });
    await using others = await openFolders({ [USER]: text });
    expect((await others.load()).environments.get("a")?.apiKey?.command?.[1]).toBe("a b");
  });

  test("all problems of all files are reported at once, in the order of the files and lines", async () => {
    await using folders = await openFolders({
      [PROJECT]: "rules: {x: off}\nenvironments:\n  a: {lanes: 0, retries: x}\nenv: 1\n",
      [USER]: "environments: {B: {}}\nrules: {}\n",
    });
    const { message } = await failureOf(folders.load());
    const lines = message.split("\n");
    expect(lines[0]).toBe("6 problems in the config:");
    expect(lines.slice(1, -1).map((line) => line.trim().split("  ")[0])).toEqual([
      "tickets.config.yaml:1:9",
      "tickets.config.yaml:3:14",
      "tickets.config.yaml:3:26",
      "tickets.config.yaml:4:6",
      `${join(folders.root, USER)}:1:16`,
      `${join(folders.root, USER)}:2:1`,
    ]);
  });
});

describe("what is loaded", () => {
  const TEXT = `
stateDir: ../state
environments:
  a:
    baseUrl: HTTPS://API.Example.com:443/v1/
    apiKey: {file: keys/a}
    output: out/a.ndjson
    stateDir: ~/s
    timeout: 1m30s
  b: {output: "-"}
sources:
  orders:
    lookup: {o: {file: orders.csv, where: {A: "{B}"}}}
    fields: {price: 012.50}
    actions: [soldTicket: {}]
`;

  test("paths are relative to the file that names them, and ~/ is the home directory", async () => {
    await using folders = await openFolders({ "above/conf/c.yaml": TEXT });
    const config = await folders.load({}, "../conf/c.yaml");
    const directory = join(folders.root, "above/conf");
    expect(config.stateDir).toBe(join(folders.root, "above/state"));
    expect(config.environments.get("a")).toEqual({
      baseUrl: "https://api.example.com/v1",
      apiKey: { file: join(directory, "keys/a") },
      output: join(directory, "out/a.ndjson"),
      stateDir: join(folders.home, "s"),
      timeout: 90_000,
      directory,
    });
    expect(config.environments.get("b")?.output).toBe("-");
    expect(config.sources.orders?.lookup?.o?.file).toBe(join(directory, "orders.csv"));
    expect(config.sources.orders?.fields?.price).toBe("012.50");
  });
});
