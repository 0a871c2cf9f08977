/** What deploy/scale-out does in containers, done without them: a database with its roles, a publisher, two workers. */

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { openWorkplace } from "../support/bin.ts";
import { ROOT, readPage } from "../support/pages.ts";
import { NEEDS_POSTGRES, startOwnPostgres, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { LONG } from "../support/walks.ts";

const DENIED = "42501"; // insufficient_privilege (PostgreSQL, Appendix A)

test.skipIf(WITHOUT_POSTGRES)(
  `scale-out/compose.yaml: the publisher publishes, two workers send, and no role may do more than it needs${NEEDS_POSTGRES}`,
  LONG,
  async () => {
    const { services, configs } = parse(readPage("deploy/scale-out/compose.yaml"), { merge: true });
    const server = await startOwnPostgres();
    await server.query(readPage("deploy/scale-out/roles.sql"));
    await server.query(configs.passwords.content);
    const urlOf = (role: string): string => `postgres://${role}:not-a-secret@127.0.0.1:${server.port}/ledgers`;
    const place = openWorkplace();
    mkdirSync(place.path("etc"));
    cpSync(join(ROOT, "deploy/scale-out/config.yaml"), place.path("etc/config.yaml"));
    const address = await startSandbox(place, services.sandbox.command);
    place.write("etc/config.yaml", place.read("etc/config.yaml").replace("127.0.0.1:4010", address));
    /** As in the containers, with their folders and their ports in the places of this test. */
    const settings = (service: string, machine = service): Record<string, string> => {
      const { environment } = services[service];
      const role = /\/\/(\w+):/.exec(environment.TICKETS_LEDGER_URL)?.[1] ?? "";
      return {
        ...environment,
        TICKETS_CONFIG: place.path("etc/config.yaml"),
        TICKETS_LEDGER_URL: urlOf(role),
        TICKETS_STATE_DIR: place.path(`state-${machine}`),
      };
    };
    const command = (service: string): readonly string[] =>
      services[service].command.map((word: string) => word.replace(/^\/exports/, join(ROOT, "fixtures")));
    const published = await place.tickets([...command("publish"), "--quiet"], { env: settings("publish") });
    expect(published.exitCode, published.stderr).toBe(0);
    const worked = await Promise.all(
      ["one", "two"].map((machine) =>
        place.tickets([...command("worker"), "--until-idle"], { env: settings("worker", machine) }),
      ),
    );
    expect(worked.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const followed = await place.tickets(command("follow"), { env: settings("publish") });
    expect(followed.exitCode, followed.stderr).toBe(0);
    const promises = place.read("promises.rehearsal.ndjson").trim().split("\n");
    const reading = { ...settings("worker", "three"), TICKETS_LEDGER_URL: urlOf("tickets_reader") };
    const { stdout } = await place.tickets(["results", "--all"], { env: reading });
    expect(stdout.trim().split("\n")).toHaveLength(promises.length);
    for (const args of [
      ["status", "--max-age", "26h", "--quiet"],
      ["find", "PDLLYA-1"],
    ])
      expect((await place.tickets(args, { env: reading })).exitCode).toBe(0);
    expect(
      await mayNot(urlOf("tickets_reader"), ["UPDATE runs SET state = 'open'", "DELETE FROM actions", ...CHANGES]),
    ).toEqual([]);
    expect(await mayNot(urlOf("tickets_worker"), CHANGES)).toEqual([]);
    expect(
      await mayNot(urlOf("tickets_publisher"), [
        "CREATE SCHEMA another",
        "CREATE ROLE another",
        "CREATE TABLE public.another ()",
      ]),
    ).toEqual([]);
  },
);

const CHANGES = [
  "TRUNCATE actions",
  "DROP TABLE actions",
  "ALTER TABLE actions ADD COLUMN more text",
  "CREATE TABLE tickets.another ()",
  "CREATE SCHEMA another",
];

/** Those of the statements that are not refused for want of a right. */
async function mayNot(url: string, statements: readonly string[]): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const done: string[] = [];
  try {
    await client.query("SET search_path TO tickets");
    for (const sql of statements)
      await client.query(sql).then(
        () => done.push(sql),
        ({ code, message }) => {
          if (code !== DENIED) done.push(`${sql}: ${message}`);
        },
      );
  } finally {
    await client.end();
  }
  return done;
}

/** The sandbox on any free port. */
async function startSandbox(place: ReturnType<typeof openWorkplace>, command: readonly string[]): Promise<string> {
  let said = "";
  void place.tickets(
    command.map((word) => word.replace("4010", "0")),
    {
      env: { TICKETS_SANDBOX_API_KEY: "not-a-secret", TICKETS_STATE_DIR: place.path("state-sandbox") },
      onSpawn(child) {
        onTestFinished(() => void child.kill("SIGTERM"));
        child.stderr?.on("data", (text) => {
          said += text;
        });
      },
    },
  );
  await until(() => /127\.0\.0\.1:\d+/.test(said));
  return /127\.0\.0\.1:\d+/.exec(said)?.[0] ?? "";
}
