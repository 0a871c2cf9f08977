/** `ledger` of an environment: what a config may say of it, and what its URL may be. */

import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { describeLedgerSource, type LedgerServer, ledgerPlace } from "../../../src/config/ledger-server.ts";
import type { Failure } from "../../../src/failure.ts";
import { failureOf, PROJECT } from "../../support/config-files.ts";
import { openFolders } from "./folders.ts";

const SECRET = "sk-5EcReT";
const URL_OF_LIVE = { TICKETS_LIVE_LEDGER_URL: `postgres://tickets:${SECRET}@db.example.com:5433/ledgers` };
const LEDGER = "ledger: {postgres: {url: {env: TICKETS_LIVE_LEDGER_URL}}}";

const live = (more = LEDGER): string => `environments:\n  live: {baseUrl: https://api.example.com, ${more}}\n`;

/** What reading it gives or throws. */
function addressOf(server: LedgerServer | undefined): { readonly address?: unknown; readonly refusal?: Failure } {
  try {
    return { address: server?.address() };
  } catch (cause) {
    return { refusal: cause as Failure }; // nothing else is thrown
  }
}

async function resolved(
  text: string,
  {
    name = "live",
    env = URL_OF_LIVE,
    files = {},
  }: { name?: string; env?: NodeJS.ProcessEnv; files?: Record<string, string> } = {},
) {
  await using folders = await openFolders({ [PROJECT]: text, ...files });
  const environment = await folders.resolve({ envFlag: name, env });
  const { ledgerServer } = environment;
  return { environment, ledgerServer, ...addressOf(ledgerServer), cwd: folders.cwd };
}

test("the schema is called after the environment that keeps the ledger, and the URL is read when it is asked for", async () => {
  const { environment, ledgerServer, address, cwd } = await resolved(live().replaceAll("live", "pre-prod"), {
    name: "pre-prod",
  });
  expect(ledgerServer).toMatchObject({ schema: "tickets_pre_prod" });
  expect(address).toEqual({ url: URL_OF_LIVE.TICKETS_LIVE_LEDGER_URL, isTls: true });
  expect(environment.origins.ledger).toMatch(/tickets\.config\.yaml:2$/);
  expect(ledgerPlace(environment, cwd)).toBe("postgres://db.example.com:5433/ledgers (schema tickets_pre_prod)");
});

test("nothing that shows an environment shows the password", async () => {
  const { environment, ledgerServer, cwd } = await resolved(live());
  const shown = [
    JSON.stringify(environment),
    inspect(environment, { depth: 9, showHidden: true }),
    ledgerPlace(environment, cwd),
    ledgerServer && describeLedgerSource(ledgerServer),
  ];
  expect(shown.join("\n")).not.toContain(SECRET);
  expect(ledgerServer && describeLedgerSource(ledgerServer)).toBe(
    "PostgreSQL by environment variable TICKETS_LIVE_LEDGER_URL, schema tickets_live",
  );
});

test("an environment that shares another's ledger has it in the same database", async () => {
  const text = `${live(LEDGER)}  shop: {baseUrl: https://api.example.com, sameServiceAs: live}\n`;
  const { ledgerServer, environment } = await resolved(text, { name: "shop" });
  expect(ledgerServer).toMatchObject({ schema: "tickets_live" });
  expect(environment.origins.ledger).toMatch(/tickets\.config\.yaml:2$/);
});

test("a URL is read from a file beside the config", async () => {
  const text = live("ledger: {postgres: {url: {file: db/url}, schema: own}}");
  const files = {
    "above/project/db/url": "postgresql://tickets@[::1]/ledgers?sslmode=verify-full&application_name=x\n",
  };
  await using folders = await openFolders({ [PROJECT]: text, ...files });
  const { ledgerServer } = await folders.resolve({ envFlag: "live" });
  expect(ledgerServer?.schema).toBe("own");
  expect(ledgerServer?.address()).toEqual({
    url: "postgresql://tickets@[::1]/ledgers?application_name=x",
    isTls: true,
  });
});

/** Whether a connection to a URL is by TLS. */
const URLS: readonly (readonly [url: string, isTls: boolean])[] = [
  ["postgres://u@127.0.0.1/d", false],
  ["postgres:///d?host=/var/run/postgresql", false],
  ["postgres://u@127.0.0.1/d?sslmode=require", true],
  ["postgres://u@db.example.com/d", true],
  ["postgres://u@127.0.0.1,db.example.com/d", true],
  ["postgres://u@db.example.com/d?sslmode=disable", false],
  ["postgres://u@127.0.0.1.example.com/d", true],
];

test.each(URLS)("%s is spoken to by TLS: %s", async (url, isTls) => {
  const { address } = await resolved(live(), { env: { TICKETS_LIVE_LEDGER_URL: url } });
  expect(address).toEqual({ url: expect.not.stringContaining("sslmode"), isTls });
});

/** URLs that are refused; nothing of them is shown. */
const REFUSED: readonly (readonly [url: string | undefined, why: string])[] = [
  [undefined, "the variable TICKETS_LIVE_LEDGER_URL is not set"],
  [SECRET, "is not the URL of a PostgreSQL database"],
  [`postgres://u:${SECRET}@x@h/d`, "is not the URL of a PostgreSQL database"],
  [`postgres://u:${SECRET}?x@h/d`, "is not the URL of a PostgreSQL database"],
  [`postgres://u:12/${SECRET}@h/d`, "is not the URL of a PostgreSQL database"],
  [`postgres://u:${SECRET}@h:port/d`, "is not the URL of a PostgreSQL database"],
  [`postgres://u:${SECRET}@h`, "names no database"],
  [`postgres://u:${SECRET}%@h/d`, "has a %-escape that can't be decoded"],
  [`postgres://u:${SECRET}@h/d?sslmode=prefer`, "has an sslmode that leaves TLS optional"],
  [`postgres://u:${SECRET}@h/d?sslrootcert=x`, "says sslrootcert; NODE_EXTRA_CA_CERTS adds certificate authorities"],
];

test.each(REFUSED)("the URL %s is refused", async (url, why) => {
  const { refusal } = await resolved(live(), { env: { TICKETS_LIVE_LEDGER_URL: url } });
  expect(refusal).toMatchObject({
    code: "usage",
    message: expect.stringMatching(/^The ledger of live \(tickets\.config\.yaml:2\): .*\. Nothing was sent\.$/),
  });
  expect(refusal?.message).toContain(why);
  expect(inspect(refusal)).not.toContain(SECRET);
});

/** What a config may not say, each with its place. */
const CONFIGS: readonly (readonly [text: string, problem: string])[] = [
  [live("ledger: sqlite"), "2:52  environments.live.ledger: needs {postgres: {url: {env: NAME}}}."],
  [
    live(`ledger: {postgres: {url: "postgres://u:${SECRET}@h/d"}}`),
    "environments.live.ledger.postgres.url: holds a password and is never written into a config",
  ],
  [
    live(`ledger: {postgres: {url: {env: ${SECRET}}}}`),
    "ledger.postgres.url.env: needs the name of an environment variable (A-Z, 0-9, _), not the URL itself",
  ],
  [live("ledger: {postgres: {url: {env: TICKETS_A}, schema: pg_own}}"), "schema: needs a name of at most 63"],
  [
    "environments: {sandbox: {ledger: {postgres: {url: {env: TICKETS_A}}}}}",
    "the sandbox always keeps its ledger in a file",
  ],
  [
    live("ledger: {postgres: {url: {env: HOME_SECRET}}}"),
    "names the variable HOME_SECRET, which does not begin with TICKETS_",
  ],
  [
    live("ledger: {postgres: {url: {env: TICKETS_SHOP_API_KEY}}}"),
    "names TICKETS_SHOP_API_KEY, the key of another environment",
  ],
  [live("ledger: {postgres: {url: {file: ../url}}}"), "lies outside the config's folder"],
];

describe("a config", () => {
  test.each(CONFIGS)("%s", async (text, problem) => {
    await using folders = await openFolders({ [PROJECT]: text });
    const failure = await failureOf(folders.load());
    expect(failure).toMatchObject({ code: "usage", message: expect.stringContaining(problem) });
    expect(inspect(failure)).not.toContain(SECRET);
  });

  /** What only shows when an environment is chosen. */
  const TOGETHER: readonly (readonly [what: string, text: string, why: string])[] = [
    [
      "two environments in one schema",
      `${live(LEDGER.replace("}}}", "}, schema: one}}"))}  shop: {baseUrl: https://shop.example.com, ${LEDGER.replace("}}}", "}, schema: one}}")}}\n`,
      "live (tickets.config.yaml:2) and shop keep their ledgers in one schema of one database",
    ],
    [
      "a ledger beside sameServiceAs",
      `${live(`${LEDGER}, sameServiceAs: shop`)}  shop: {baseUrl: https://api.example.com}\n`,
      "live says sameServiceAs: shop (tickets.config.yaml:2) and names a ledger of its own",
    ],
    [
      "a name that is too long for a schema",
      live().replace("live:", `${"l".repeat(60)}:`),
      "would have more than 63 characters",
    ],
  ];
  test.each(TOGETHER)("can't have %s", async (_, text, why) => {
    await using folders = await openFolders({ [PROJECT]: text });
    const [name = ""] = (await folders.load()).environments.keys();
    const failure = await failureOf(folders.resolve({ envFlag: name, env: URL_OF_LIVE }));
    expect(failure).toMatchObject({ code: "usage", message: expect.stringContaining(why) });
  });
});
