/** A copy of a ledger that is killed goes on with the same command. */

import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { DEED_BOUNDS, foldDeeds } from "../../src/ledger/fold-deeds.ts";
import { openLedger } from "../../src/ledger/open-ledger.ts";
import { openPostgres } from "../../src/ledger/postgres/open-postgres.ts";
import { openWorkplace } from "../support/bin.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { contentOf } from "../support/random-ledger.ts";

const SERVICE = "https://service.example.com";
const DEEDS = 120_000;

const FILL = `
INSERT INTO loose_deeds (identity, run_no, seq, content, taken, holder)
WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${DEEDS / 2})
SELECT randomblob(16), CAST(? AS INTEGER), at, randomblob(8), 1, 'user ' || at FROM n`;

test.skipIf(WITHOUT_POSTGRES)(
  `tickets ledger copy: killed in the middle, it sends from neither ledger, and goes on${NEEDS_POSTGRES}`,
  { tags: ["long"] },
  async () => {
    const place = openWorkplace();
    const server = await startPostgres();
    const schema = server.newSchema();
    const path = place.path("state/shop/ledger.db");
    const file = openLedger({ path, boundTo: SERVICE });
    // Half of them are a part.
    file.run(FILL, 1);
    file.transaction(() => foldDeeds(file, { ...DEED_BOUNDS, mostLoose: 0 }));
    file.run(FILL, 2);
    const before = contentOf(file);
    file[Symbol.dispose]();
    const ledger = `{postgres: {url: {env: TICKETS_LEDGER_URL}, schema: ${schema}}}`;
    place.write("tickets.config.yaml", `environments:\n  shop:\n    ledger: ${ledger}\n`);
    const env = {
      TICKETS_ENV: "shop",
      TICKETS_SHOP_BASE_URL: SERVICE,
      TICKETS_SHOP_API_KEY: "key-of-the-test",
      TICKETS_STATE_DIR: place.path("state"),
      TICKETS_LEDGER_URL: server.url,
    };
    const copy = ["ledger", "copy", "--from", "sqlite", "--to", "postgres", "--json"];
    let child: ChildProcess | undefined;
    const killed = place.tickets(copy, {
      env,
      onSpawn: (spawned) => {
        child = spawned;
      },
    });
    const copied = async (): Promise<number> => {
      const [there] = await server.query("SELECT to_regclass($1) AS name", [`${schema}.deeds`]);
      if (there?.name == null) return 0;
      return Number((await server.query(`SELECT count(*) AS n FROM ${schema}.deeds`))[0]?.n);
    };
    while ((await copied()) === 0);
    child?.kill("SIGKILL");
    expect((await killed).exitCode).toBeNull();
    const held = await copied();
    expect(held).toBeLessThan(DEEDS);
    place.write("sales.csv", "eventId,ticketId,userId,price\ne1,t1,u1,1\n");
    expect(await place.tickets(["stream", "sales.csv"], { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("is an unfinished copy of"),
    });
    const resumed = await place.tickets(copy, { env });
    expect(resumed.exitCode, resumed.stderr).toBe(0);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ isResumed: true, wasDone: false });
    const address = { url: server.url, schema, application: "test", connectTimeoutMs: 10_000 };
    using database = openPostgres({ address, boundTo: SERVICE });
    expect(contentOf(database)).toEqual(before);
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
    const back = await place.tickets(["ledger", "copy", "--from", "postgres", "--to", "sqlite", "--json"], { env });
    expect(back.exitCode, back.stderr).toBe(0);
    using again = openLedger({ path, boundTo: undefined, readOnly: true });
    expect(contentOf(again)).toEqual(before);
    expect(Number(again.get("SELECT sum(deeds) AS deeds FROM deed_parts")?.deeds)).toBeGreaterThan(DEEDS / 2);
  },
);
