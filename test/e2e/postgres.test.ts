/** An environment whose ledger is in PostgreSQL: every command, from one machine and from several. */

import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { selfSigned } from "../support/certificate.ts";
import { openFolder } from "../support/folder.ts";
import { NEEDS_POSTGRES, type PostgresServer, startOwnPostgres, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { type Service, type ServiceOptions, startService } from "../support/service.ts";
import { sharedLedger } from "../support/shared-ledger.ts";
import { salesTable } from "../support/tables.ts";

const ENV = ["--env", "playground"];
const SEND = ["stream", "sales.csv", ...ENV];
/** A part of the password that stands in every URL here. */
const SECRET = "w%3Ard";

const ONLY_WITH = { skip: WITHOUT_POSTGRES };
/** What takes long: the long walk has it. */
const LONG = { ...ONLY_WITH, tags: ["long"] };
const named = (name: string): string => `${name}${NEEDS_POSTGRES}`;

interface Rig {
  readonly place: Workplace;
  readonly server: PostgresServer;
  readonly schema: string;
  readonly service: Service;
  /** What an environment needs, and where its ledger is. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command, whose output has no password in it. */
  readonly tickets: Workplace["tickets"];
}

async function openRig(behaviour?: ServiceOptions): Promise<Rig> {
  const [service, place] = [await startService(behaviour), openWorkplace()];
  const key = "apiKey: {env: TICKETS_SHOP_KEY}";
  const ledger = await sharedLedger(undefined, `baseUrl: ${service.baseUrl}`, key);
  place.write("sales.csv", salesTable(20));
  place.write("tickets.config.yaml", ledger.config);
  const env = { TICKETS_SHOP_KEY: service.key, ...ledger.env };
  return {
    ...{ place, service, env, server: ledger.server, schema: ledger.schema },
    async tickets(args, options = {}) {
      const ended = await place.tickets(args, { ...options, env: { ...env, ...options.env } });
      expect(`${ended.stdout}${ended.stderr}`).not.toContain(SECRET);
      return ended;
    },
  };
}

/** Another machine: nothing of the first one's state is there. */
const elsewhere = (place: Workplace): Readonly<Record<string, string>> => ({
  XDG_STATE_HOME: place.path("elsewhere/state"),
});

test(named("every command works with it"), ONLY_WITH, async () => {
  const { place, tickets, service, schema, env } = await openRig();
  const first = await tickets(SEND);
  expect([first.exitCode, first.stderr]).toEqual([0, expect.stringContaining(`(schema ${schema}) NEW`)]);
  expect(service.sent()).toHaveLength(20);

  const again = await tickets(SEND);
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining("Nothing new")]);
  expect(service.sent()).toHaveLength(20);

  const status = await tickets(["status", ...ENV]);
  expect(status.stdout).toMatch(/last success .*\n[\s\S]*finished +0 .* 20 actions: 20 accepted/);
  const { summary } = await place.summary(["stream", "sales.csv", ...ENV, "--dry-run"], { env });
  expect(summary.actions).toMatchObject({ alreadySent: 20 });
  expect((await tickets(["validate", "sales.csv", ...ENV])).exitCode).toBe(0);
  expect((await tickets(["plan", "sales.csv", ...ENV])).stdout).toBe("");
  const found = await tickets(["find", "T-7", ...ENV, "--json"]);
  expect(JSON.parse(found.stdout)).toMatchObject({ actions: [{ outcome: "accepted", action: "soldTicket" }] });

  const results = await tickets(["results", ...ENV, "-o", "again.ndjson"]);
  expect(results.stderr).toMatch(/^20 lines of run [0-9a-f]{8} written to again\.ndjson\.$/m);
  expect(place.read("again.ndjson")).toBe(place.read("promises.playground.ndjson"));
  const run = String(JSON.parse(place.read("again.ndjson").split("\n")[0] ?? "").run);
  expect((await tickets(["results", run, ...ENV, "--report", "run.html"])).exitCode).toBe(0);
  expect(place.read("run.html")).toContain(`(schema ${schema})`);

  await tickets(["status", ...ENV, "--metrics", "metrics.prom"]);
  const pruned = await tickets(["prune", ...ENV, "--older-than", "1s"]);
  expect(pruned.exitCode).toBe(0);
  // The machine keeps its journal, and no ledger.
  expect(place.files().filter((name) => /ledger\.db|ballast|lock\.db/.test(name))).toEqual([]);
});

test(named("env shows where it is and how safe, and the password nowhere"), LONG, async () => {
  const { tickets, schema, server } = await openRig();
  const before = await tickets(["env", "playground"]);
  expect(before.stdout).toMatch(
    new RegExp(`ledger +postgres://127\\.0\\.0\\.1:${server.port}/ledgers \\(schema ${schema}\\)  NEW`),
  );
  await tickets(SEND);
  const after = await tickets(["env", "playground"]);
  expect(after.stdout).toMatch(/database +PostgreSQL 1\d.*, each commit on its disk/);
  expect(after.stdout).toMatch(
    /ledger +PostgreSQL by environment variable TICKETS_LEDGER_URL, schema \S+ +\(tickets\.config\.yaml:5\)/,
  );
  const document = JSON.parse((await tickets(["env", "playground", "--json"])).stdout);
  expect(document.environment.ledger).toMatchObject({
    database: `postgres://127.0.0.1:${server.port}/ledgers (schema ${schema})`,
    server: { standbys: "" },
    isNew: false,
    lock: null,
  });
  const away = { env: { TICKETS_LEDGER_URL: `postgres://tickets:${SECRET}@127.0.0.1:1/ledgers` } };
  const unreachable = await tickets(["env", "playground"], away);
  expect([unreachable.exitCode, unreachable.stdout, unreachable.stderr]).toEqual([
    ...[10, expect.stringContaining("(schema"), expect.stringContaining("the server can't be reached")],
  ]);
});

test(named("what is wrong with the way to the database is said, and what to do; nothing is sent"), LONG, async () => {
  const { tickets, service, server, schema } = await openRig();
  const at = `127.0.0.1:${server.port}`;
  await server.query("CREATE DATABASE narrow ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const wrong: readonly (readonly [url: string, exitCode: number, what: string, todo: string])[] = [
    [`nonsense ${SECRET}`, 2, "is not the URL of a PostgreSQL database", "postgres://USER:PASSWORD@HOST"],
    [`postgres://tickets:${SECRET}@${at}/ledgers`, 2, "authentication failed", "Check user, password and database"],
    [`postgres://tickets@${at}/ledgers`, 2, "password must be a string", "Check user, password and database"],
    [server.url.replace("/ledgers", "/none"), 2, 'database "none" does not exist', "Check user, password and database"],
    [`${server.url}?sslmode=require`, 2, "The server does not support SSL connections", "sslmode=disable"],
    [server.url.replace("/ledgers", "/narrow"), 2, "a database whose encoding is LATIN1", "ENCODING 'UTF8'"],
    [`postgres://tickets:${SECRET}@127.0.0.1:1/ledgers`, 10, "the server can't be reached", "Check that it runs"],
  ];
  for (const [url, exitCode, what, todo] of wrong) {
    const ended = await tickets(["status", ...ENV], { env: { TICKETS_LEDGER_URL: url } });
    expect([url, ended.exitCode, ended.stderr]).toEqual([url, exitCode, expect.stringContaining(what)]);
    expect(ended.stderr).toContain(todo);
  }
  const ended = await tickets(SEND, { env: { TICKETS_LEDGER_URL: server.url.replace("/ledgers", "/none") } });
  expect([ended.exitCode, service.sent()]).toEqual([2, []]);
  // Whoever may read only, may not send either.
  await server.query(`CREATE SCHEMA ${schema}`);
  const barred = await tickets(SEND);
  expect([barred.exitCode, barred.stderr]).toEqual([
    10,
    expect.stringContaining("its user may not do that: permission denied"),
  ]);
  await server.query(`DROP SCHEMA ${schema}`);
  // Whatever the URL says, a session waits for the disk.
  const careless = { env: { TICKETS_LEDGER_URL: `${server.url}?options=-c%20synchronous_commit%3Doff` } };
  expect((await tickets(SEND, careless)).exitCode).toBe(0);
  expect((await tickets(["env", "playground"], careless)).stdout).toContain("each commit on its disk");
});

test(named("one run at a time, whichever machine: the second hears who holds it, or waits"), ONLY_WITH, async () => {
  const [arrived, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { tickets, place, service } = await openRig({
    answer: async () => {
      arrived.resolve();
      await answer.promise;
      return undefined;
    },
  });
  const first = tickets(SEND);
  await arrived.promise;
  const there = { env: elsewhere(place) };
  const second = await tickets(SEND, there);
  expect([second.exitCode, second.stderr]).toEqual([
    8,
    expect.stringMatching(
      /Another run holds the ledger of playground \(process \d+ on \S+, since 20\S+Z: tickets stream sales\.csv.*\)\. Nothing was sent\./,
    ),
  ]);
  const shown = await tickets(["env", "playground"], there);
  expect(shown.stdout).toMatch(/lock +held by process \d+ on \S+ since \d+ \w{3,4} \d\d:\d\d \(\S+\): tickets stream/);
  expect((await tickets(["status", ...ENV], there)).stdout).toContain("20 in flight");
  const waiting = tickets([...SEND, "--wait-lock", "5m"], there);
  answer.resolve();
  expect((await first).exitCode).toBe(0);
  const last = await waiting;
  expect([last.exitCode, last.stderr]).toEqual([0, expect.stringContaining("Nothing new")]);
  expect(service.sent()).toHaveLength(20);
});

test(named("a lost or older database is noticed, and filled again from promises"), LONG, async () => {
  const { tickets, place, service, server, schema } = await openRig();
  place.write("sales-more.csv", salesTable(30));
  await tickets(SEND);
  await tickets(["stream", "sales-more.csv", ...ENV, "-o", "promises.playground.ndjson"]);
  expect(service.sent()).toHaveLength(30);
  // As it was before the second run.
  for (const table of ["actions", "attempts", "bodies", "chunks"])
    await server.query(`DELETE FROM ${schema}.${table} WHERE run = 2`);
  await server.query(`DELETE FROM ${schema}.runs WHERE number = 2`);
  const older = await tickets(["stream", "sales-more.csv", ...ENV]);
  expect([older.exitCode, older.stderr]).toEqual([
    2,
    expect.stringContaining("was lost, or restored from an older copy"),
  ]);
  await server.query(`DROP SCHEMA ${schema} CASCADE`);
  const lost = await tickets(SEND);
  expect([lost.exitCode, lost.stderr]).toEqual([
    2,
    expect.stringContaining("was lost, or restored from an older copy"),
  ]);
  const imported = await tickets(["results", "--import", "promises.playground.ndjson", ...ENV]);
  expect([imported.exitCode, imported.stderr]).toEqual([0, expect.stringContaining("30 actions")]);
  const again = await tickets(["stream", "sales-more.csv", ...ENV]);
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining("Nothing new")]);
  expect(service.sent()).toHaveLength(30);
});

test(named("a ledger that was a file is not forgotten; its promises move it"), LONG, async () => {
  const { tickets, place, service, env } = await openRig();
  const config = place.read("tickets.config.yaml");
  place.write("tickets.config.yaml", config.replace(/^ +ledger:.*\n/m, ""));
  expect((await tickets(SEND)).exitCode).toBe(0);
  place.write("tickets.config.yaml", config);
  const refused = await tickets(SEND);
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining("tickets results --import promises.playground.ndjson"),
  ]);
  expect((await tickets(["results", "--import", "promises.playground.ndjson", ...ENV])).exitCode).toBe(0);
  const { summary } = await place.summary(SEND, { env });
  expect(summary).toMatchObject({ exitCode: 0, actions: { accepted: 0, alreadySent: 20 } });
  expect(service.sent()).toHaveLength(20);
});

/** A server with a certificate that only `ca` vouches for: itself. */
async function startWithTls() {
  const { cert, key } = selfSigned("db.example.com");
  const folder = openFolder();
  chmodSync(folder, 0o755);
  const [certFile, keyFile] = [join(folder, "server.crt"), join(folder, "server.key")];
  writeFileSync(certFile, cert);
  // The server takes no key that others can read, and does not run as root.
  writeFileSync(keyFile, key, { mode: 0o600 });
  if (process.getuid?.() === 0) chownSync(keyFile, Number(execFileSync("id", ["-u", "postgres"])), 0);
  const server = await startOwnPostgres({ ssl: "on", ssl_cert_file: certFile, ssl_key_file: keyFile });
  return { server, ca: cert };
}

test(named("by TLS, with the authority that NODE_EXTRA_CA_CERTS names"), LONG, async () => {
  const [{ server, ca }, { place, tickets }] = [await startWithTls(), await openRig()];
  const env = { TICKETS_LEDGER_URL: `${server.url}?sslmode=verify-full` };
  const refused = await tickets(SEND, { env });
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringMatching(/The ledger \S+ .*SELF_SIGNED/)]);
  expect(refused.stderr).toContain("NODE_EXTRA_CA_CERTS names a file with the authority");
  place.write("ca.pem", ca);
  const trusting = { ...env, NODE_EXTRA_CA_CERTS: place.path("ca.pem") };
  expect((await tickets(SEND, { env: trusting })).exitCode).toBe(0);
  const other = {
    ...trusting,
    TICKETS_LEDGER_URL: `${server.url.replace("127.0.0.1", "localhost")}?sslmode=verify-full`,
  };
  const elsewhereNamed = await tickets(["status", ...ENV], { env: other });
  expect([elsewhereNamed.exitCode, elsewhereNamed.stderr]).toEqual([
    2,
    expect.stringMatching(/The ledger \S+ .*ERR_TLS_CERT_ALTNAME_INVALID/),
  ]);
});
