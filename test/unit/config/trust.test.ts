/** A config that merely lies in a folder names no secret until it is trusted. */

import { appendFile, chmod, mkdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { failureOf, PROJECT, USER } from "../../support/config-files.ts";
import { makeContext, openField, processedBy, verbs } from "../../support/context.ts";
import { openFolders } from "./folders.ts";

const live = (more: string): string => `environments:\n  live: {baseUrl: https://api.example.com, ${more}}\n`;
const LOOKUP = (file: string): string =>
  `sources: {s: {lookup: {o: {file: "${file}", where: {A: "{B}"}}}, actions: [scannedTicket: {}]}}\n`;

/** Everything that a lying config may not name, and what is said of it. */
const HOSTILE: readonly (readonly [string, string, string])[] = [
  [
    "a variable of something else",
    live("apiKey: {env: AWS_SECRET_ACCESS_KEY}"),
    "names the variable AWS_SECRET_ACCESS_KEY",
  ],
  ["another environment's key", live("apiKey: {env: TICKETS_PRODUCTION_API_KEY}"), "the key of another environment"],
  ["a command", live("apiKey: {command: [sh, -c, id]}"), "would run a program"],
  ["a program at the end", live("onEnd: [curl, https://evil.example]"), "onEnd: would run a program"],
  ["a file above", live("apiKey: {file: ../secret}"), "lies outside the config's folder"],
  ["a file of the home", live("apiKey: {file: ~/.ssh/id_ed25519}"), "lies outside the config's folder"],
  ["a file by its whole path", live("apiKey: {file: /etc/passwd}"), "/etc/passwd, which lies outside"],
  ["a file behind a link", live("apiKey: {file: link/secret}"), "lies outside the config's folder"],
  ["a link that leads nowhere yet", live("apiKey: {file: later}"), "lies outside the config's folder"],
  ["a lookup file", LOOKUP("../../home/contacts.csv"), "lies outside the config's folder"],
  ["an output", live("output: ~/.ssh/rc"), "lies outside the config's folder"],
  ["a ledger", live("stateDir: ../state"), "lies outside the config's folder"],
  ["all ledgers", "stateDir: /var/tmp/state\n", "lies outside the config's folder"],
];

async function openHostile(text: string) {
  const folders = await openFolders({ [PROJECT]: text, "above/secret": "s" });
  await symlink("..", join(folders.cwd, "link"));
  await symlink("../not-there", join(folders.cwd, "later"));
  const env = { HOME: folders.home };
  return {
    ...folders,
    trust: async (options: { readonly config?: string } = {}) => {
      const { context, said } = makeContext(folders.cwd, env);
      await verbs.trust({ ...options, flags: {} }, context);
      return said();
    },
  };
}

describe("a config of the working directory", () => {
  test.each(HOSTILE)("names %s only once it is trusted or named", async (_, text, message) => {
    await using folders = await openHostile(text);
    const failure = await failureOf(folders.load());
    expect(failure).toMatchObject({ code: "usage", message: expect.stringContaining(message) });
    expect(failure.message).toMatch(/^tickets\.config\.yaml:\d+:\d+ {2}/);
    expect(failure.hint).toContain("tickets env --trust");
    await folders.load({}, "tickets.config.yaml");
    await folders.load({ TICKETS_CONFIG: "tickets.config.yaml" });
    expect(await folders.trust()).toContain("is trusted as it is now. It may use:\n  line ");
    await folders.load();
    await appendFile(join(folders.cwd, "tickets.config.yaml"), "# more\n");
    expect((await failureOf(folders.load())).message).toContain(message);
  });

  test.each([
    ["its own variables", live("apiKey: {env: TICKETS_SHOP}")],
    ["its own key", live("apiKey: {env: TICKETS_LIVE_API_KEY}")],
    [
      "the key of what is the same service",
      `${live("apiKey: {env: TICKETS_OLD_API_KEY}, sameServiceAs: old")}  old: {baseUrl: https://api.example.com}\n`,
    ],
    ["files and folders below its own", live("apiKey: {file: keys/live}, output: out/p.ndjson, stateDir: state")],
    ["standard output", live("output: '-'")],
    ["lookups below its own", LOOKUP("lookups/orders.csv")],
  ])("may name %s as it lies there", async (_, text) => {
    await using folders = await openHostile(text);
    await folders.load();
  });

  test("that is trusted is trusted there only, and everything else wrong with it is reported", async () => {
    const text = live("apiKey: {env: SECRET}");
    await using folders = await openHostile(text);
    await folders.trust();
    await using other = await openFolders({ [PROJECT]: text });
    await mkdir(join(folders.cwd, "copy"));
    expect((await failureOf(other.load({ HOME: folders.home }))).message).toContain("SECRET");
    await appendFile(join(folders.cwd, "tickets.config.yaml"), "sorces: {}\n");
    await failureOf(folders.trust());
  });

  test("is not trusted by a store that others could have written", async () => {
    await using folders = await openHostile(live("apiKey: {env: SECRET}"));
    await folders.trust();
    const store = join(folders.home, ".local/state/tickets/trusted.json");
    expect((await stat(store)).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(await readFile(store, "utf8")))).toHaveLength(1);
    await chmod(store, 0o666);
    expect((await failureOf(folders.load())).message).toContain("SECRET");
  });

  test("is trusted only where it is looked for", async () => {
    await using folders = await openHostile(live("apiKey: {env: SECRET}"));
    expect((await failureOf(folders.trust({ config: "tickets.config.yaml" }))).message).toContain("counts as trusted");
    await using none = await openFolders({ [USER]: live("apiKey: {env: SECRET}") });
    const { context } = makeContext(none.cwd, { HOME: none.home });
    expect((await failureOf(verbs.trust({ flags: {} }, context))).message).toContain("There is no config in");
  });
});

test("a folder's config can't lead the key of an environment in use to another address, nor hide it behind a ledger of its own", async () => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE-1,EUR\n");
  const env = { TICKETS_STATE_DIR: "" };
  const first = await field.stream(["events.csv"], {}, { env });
  expect(first.exitCode).toBe(0);
  expect(first.said.split("\n")[0]).toContain("address from TICKETS_LOCAL_BASE_URL");
  const hostile = await openField();
  await field.write(
    "tickets.config.yaml",
    `environments: {local: {baseUrl: "${hostile.sandbox.url}", stateDir: mine}}\n`,
  );
  const { exitCode, said } = await field.stream(["events.csv"], {}, { env: { ...env, TICKETS_LOCAL_BASE_URL: "" } });
  expect(exitCode).toBe(2);
  expect(said).toContain(
    `belongs to ${field.sandbox.url}, but the config in this folder sets its baseUrl to ${hostile.sandbox.url}`,
  );
  expect(processedBy(hostile.sandbox)).toBe("");
});
