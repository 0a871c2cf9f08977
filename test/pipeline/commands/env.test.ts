import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openFolders, PROJECT } from "../../support/config-files.ts";
import { makeContext, type Options, openField, verbs } from "../../support/context.ts";

const SECRET = "5EcReT-k3y";
const TEXT = `environments:
  playground:
    baseUrl: https://play.example.com
    chunkSize: 500
    timeout: 90s
  production:
    baseUrl: https://api.example.com
    apiKey: {env: TICKETS_SHOP_KEY}
`;

/** Runs `tickets env` in folders of its own; `$` in what it printed is the root of them. */
async function show(
  files: Readonly<Record<string, string>>,
  options: Partial<Options<"env">> = {},
  variables: NodeJS.ProcessEnv = {},
  prepare: (folders: { readonly home: string }) => void = () => undefined,
) {
  await using folders = await openFolders(files);
  prepare(folders);
  const { context, out, said } = makeContext(folders.cwd, { HOME: folders.home, ...variables });
  const code = await verbs.env({ name: undefined, flags: {}, json: false, ...options }, context);
  expect(out() + said()).not.toContain("5EcReT");
  return { code, out: out().replaceAll(folders.root, "$"), err: said().replaceAll(folders.root, "$") };
}

test("tickets env: shows every value with where it came from, the key by its source only", async () => {
  const { code, out, err } = await show(
    { [PROJECT]: TEXT },
    { name: "playground", flags: { retries: "2" } },
    { TICKETS_STATE_DIR: "/var/tickets", TICKETS_LANES: "4", TICKETS_PLAYGROUND_API_KEY: SECRET },
  );
  expect([code, err]).toEqual([0, ""]);
  expect(out).toBe(`playground  (named on the command line)
  baseUrl           https://play.example.com  (tickets.config.yaml:3)
  apiKey            environment variable TICKETS_PLAYGROUND_API_KEY, set  (TICKETS_PLAYGROUND_API_KEY)
  chunkSize         500  (tickets.config.yaml:4)
  maxChunkBytes     8388608  (default)
  maxInputBytes     none  (default)
  timeout           1m30s  (tickets.config.yaml:5)
  retries           2  (the caller)
  retryStatuses     none  (default)
  rate              none  (default)
  lanes             4  (TICKETS_LANES)
  maxRejected       100  (default)
  refusalsAreWhole  false  (default)
  complete          false  (default)
  confirm           false  (default)
  freshConnection   true  (default)
  onEnd             none  (default)
  accept            none  (default)
  statusPath        none  (default)
  sameServiceAs     none  (default)
  ledger            SQLite  (default)
  output            promises.playground.ndjson  (default)
  safeCsv           false  (default)
  stateDir          /var/tickets  (TICKETS_STATE_DIR)

  ledger  /var/tickets/playground/ledger.db  NEW
  config  tickets.config.yaml
`);
});

test("tickets env: without a name: what would be used, and all there are", async () => {
  const { code, out } = await show({ [PROJECT]: `${TEXT}env: production\n` });
  expect(code).toBe(0);
  expect(out).toContain("production  (tickets.config.yaml:9)");
  expect(out).toContain("environment variable TICKETS_SHOP_KEY, not set");
  expect(out).toContain(`environments (* would be used)
    playground  tickets.config.yaml:2
  * production  tickets.config.yaml:6
    sandbox     built in
`);
});

test("tickets env: nothing configured: the sandbox, and that nothing leaves the machine", async () => {
  const { code, out } = await show({});
  expect(code).toBe(0);
  expect(out).toContain("sandbox  (default (no environment is configured))");
  expect(out).toContain("this machine; nothing leaves it");
  expect(out).toContain("ledger  $/above/project/.tickets/sandbox/ledger.db  NEW");
  expect(out).toContain("config  none");
});

test("tickets env: none chosen: the list all the same, and exit 2 as any command would end", async () => {
  const { code, out, err } = await show({ [PROJECT]: TEXT });
  expect(code).toBe(2);
  expect(out).toContain("    playground  tickets.config.yaml:2");
  expect(err).toContain("No environment is chosen. There are: playground, production, sandbox");
});

test("tickets env: text from a config can't steer the terminal", async () => {
  const text =
    'environments: {a: {baseUrl: "https://a.example", apiKey: {file: "k\\e[2Jx"}, statusPath: "/\\e[2J{actionPromise}"}}';
  const { out } = await show({ [PROJECT]: text }, { name: "a" });
  expect(out).toContain("/ [2J{actionPromise}");
  expect(out).not.toContain("\u001b");
});

test("tickets env: an existing ledger is not NEW; its lock and its last run are reported", async () => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  const { summary } = await field.stream(["events.csv"]);
  using lock = new DatabaseSync(join(field.folder, "state", "local", "environment.lock"));
  lock.exec("BEGIN EXCLUSIVE");
  const { out } = await field.ask("env", { name: "local" });
  expect(out).toMatch(/ {2}ledger {4}\S+ledger\.db\n/);
  expect(out).toMatch(
    new RegExp(`  lock      held[^\\n]*\n  last run  ${summary?.run} finished \\d+ \\w+ \\d+:\\d+\n`),
  );
});

test("tickets env: --json is one document with the same", async () => {
  const { code, out } = await show({ [PROJECT]: TEXT }, { env: "playground", json: true });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    environment: {
      name: "playground",
      from: "flag --env",
      kind: "service",
      baseUrl: { value: "https://play.example.com", from: "$/above/project/tickets.config.yaml:3" },
      apiKey: { source: "environment variable TICKETS_PLAYGROUND_API_KEY", state: "not set", from: "default" },
      settings: {
        chunkSize: { value: 500, from: "$/above/project/tickets.config.yaml:4" },
        timeout: { value: "1m30s", from: "$/above/project/tickets.config.yaml:5" },
        rate: { value: null, from: "default" },
      },
      ledger: { path: "$/home/.local/state/tickets/playground/ledger.db", isNew: true, lock: null, lastRun: null },
    },
    environments: [{ name: "playground" }, { name: "production" }, { name: "sandbox", origin: "built in" }],
    configFiles: [join("$", PROJECT)],
  });
  const undecided = await show({ [PROJECT]: TEXT }, { json: true });
  expect(undecided.code).toBe(2);
  expect(JSON.parse(undecided.out).environment).toBeNull();
});

test("tickets env: a command that would give the key is neither run nor shown with its arguments", async () => {
  const text = `environments: {a: {baseUrl: "https://a.example", apiKey: {command: [false, "--token=${SECRET}"]}}}`;
  const { out } = await show(
    { [PROJECT]: text.replace("[false", '["false"') },
    { name: "a", config: "tickets.config.yaml" },
  );
  expect(out).toContain("command false ..., not run");
});
