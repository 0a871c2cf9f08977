import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ShowEnvironmentOptions, showEnvironment } from "../../src/commands/env.ts";
import { failureOf, openFolders, PROJECT } from "./config-files.ts";

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
  options: Partial<ShowEnvironmentOptions> & { readonly variables?: NodeJS.ProcessEnv } = {},
) {
  await using folders = await openFolders(files);
  const { variables, ...rest } = options;
  const env = { HOME: folders.home, ...variables };
  const printed = { out: "", err: "" };
  const io = {
    out: (text: string) => {
      printed.out += text;
    },
    err: (text: string) => {
      printed.err += text;
    },
  };
  const code = await showEnvironment({ cwd: folders.cwd, env, ...rest }, io);
  expect(printed.out + printed.err).not.toContain("5EcReT");
  return { code, out: printed.out.replaceAll(folders.root, "$"), err: printed.err.replaceAll(folders.root, "$") };
}

describe("tickets env", () => {
  test("shows every value with where it came from, the key by its source only", async () => {
    const { code, out, err } = await show(
      { [PROJECT]: TEXT },
      {
        name: "playground",
        variables: { TICKETS_STATE_DIR: "/var/tickets", TICKETS_LANES: "4", TICKETS_PLAYGROUND_API_KEY: SECRET },
        flags: { retries: "2" },
      },
    );
    expect([code, err]).toEqual([0, ""]);
    expect(out).toBe(`playground  (named on the command line)
  baseUrl           https://play.example.com                               tickets.config.yaml:3
  apiKey            environment variable TICKETS_PLAYGROUND_API_KEY (set)  TICKETS_PLAYGROUND_API_KEY
  chunkSize         500                                                    tickets.config.yaml:4
  maxChunkBytes     8388608                                                default
  timeout           1m30s                                                  tickets.config.yaml:5
  retries           2                                                      flag --retries
  retryStatuses     none                                                   default
  rate              none                                                   default
  lanes             4                                                      TICKETS_LANES
  maxRejected       100                                                    default
  refusalsAreWhole  false                                                  default
  complete          false                                                  default
  confirm           false                                                  default
  freshConnection   true                                                   default
  accept            none                                                   default
  statusPath        none                                                   default
  sameServiceAs     none                                                   default
  output            none                                                   default
  stateDir          /var/tickets                                           TICKETS_STATE_DIR

  ledger    /var/tickets/playground/ledger.db  NEW
  config    tickets.config.yaml
`);
  });

  test("without a name: what would be used, and all there are", async () => {
    const { code, out } = await show({ [PROJECT]: `${TEXT}env: production\n` });
    expect(code).toBe(0);
    expect(out).toContain("production  (tickets.config.yaml:9)");
    expect(out).toContain("environment variable TICKETS_SHOP_KEY (not set)");
    expect(out).toContain(`environments (* would be used)
    playground  tickets.config.yaml:2
  * production  tickets.config.yaml:6
    sandbox     built in
`);
  });

  test("nothing configured: the sandbox, and that nothing leaves the machine", async () => {
    const { code, out } = await show({});
    expect(code).toBe(0);
    expect(out).toContain("sandbox  (default (no environment is configured))");
    expect(out).toContain("this machine; nothing leaves it");
    expect(out).toContain("ledger    $/above/project/.tickets/sandbox/ledger.db  NEW");
    expect(out).toContain("config    none");
  });

  test("none chosen: the list all the same, and exit 2 as any command would end", async () => {
    const { code, out, err } = await show({ [PROJECT]: TEXT });
    expect(code).toBe(2);
    expect(out).toContain("    playground  tickets.config.yaml:2");
    expect(err).toContain("No environment is chosen. There are: playground, production, sandbox\n");
  });

  test("an unknown name fails", async () => {
    await using folders = await openFolders({ [PROJECT]: TEXT });
    const io = { out: () => {}, err: () => {} };
    const failure = await failureOf(
      showEnvironment({ cwd: folders.cwd, env: { HOME: folders.home }, name: "prod" }, io),
    );
    expect(failure.code).toBe("usage");
  });

  test("text from a config can't steer the terminal", async () => {
    const text =
      'environments: {a: {baseUrl: "https://a.example", apiKey: {file: "k\\e[2Jx"}, statusPath: "/\\e[2J{actionPromise}"}}';
    const { out } = await show({ [PROJECT]: text }, { name: "a" });
    expect(out).toContain("/ [2J{actionPromise}");
    expect(out).not.toContain("\u001b");
  });

  test("an existing ledger is not NEW; its lock and last run are asked for", async () => {
    const files = { [PROJECT]: TEXT, "home/.local/state/tickets/playground/ledger.db": "" };
    const ledgerSummary = async () => ({ lock: "held by process 4711", lastRun: "7f3a finished" });
    const { out } = await show(files, { name: "playground", ledgerSummary });
    expect(out).toContain("  ledger    $/home/.local/state/tickets/playground/ledger.db\n");
    expect(out).toContain("  lock      held by process 4711\n  last run  7f3a finished\n");
    const asked: string[] = [];
    await show(
      { [PROJECT]: TEXT },
      {
        name: "playground",
        ledgerSummary: async ({ name }) => {
          asked.push(name);
          return { lock: null, lastRun: null };
        },
      },
    );
    expect(asked).toEqual([]);
  });

  test("--json is one document with the same", async () => {
    const { code, out } = await show({ [PROJECT]: TEXT }, { envFlag: "playground", json: true });
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

  test("a command that would give the key is neither run nor shown with its arguments", async () => {
    const text = `environments: {a: {baseUrl: "https://a.example", apiKey: {command: [false, "--token=${SECRET}"]}}}`;
    const { out } = await show(
      { [PROJECT]: text.replace("[false", '["false"') },
      { name: "a", configFlag: "tickets.config.yaml" },
    );
    expect(out).toContain("command false ... (not run)");
  });
});
