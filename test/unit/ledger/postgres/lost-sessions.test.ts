/** What a ledger in PostgreSQL does where its connection or its server is lost, at any moment: each transaction happens once. */

import { describe, expect, it, onTestFinished } from "vitest";
import {
  openPostgres,
  type PostgresLedger,
  type PostgresOptions,
} from "../../../../src/ledger/postgres/open-postgres.ts";
import {
  NEEDS_POSTGRES,
  type PostgresServer,
  startOwnPostgres,
  startPostgres,
  WITHOUT_POSTGRES,
} from "../../../support/postgres.ts";
import { type CuttingProxy, startProxy } from "../../../support/proxy.ts";

interface Place {
  readonly server: PostgresServer;
  readonly schema: string;
}

/** A server's address, or those of several. */
const addressOf = ({ server, schema }: Place, ...ports: readonly number[]): PostgresOptions["address"] => ({
  url: server.url.replace(/127\.0\.0\.1:\d+/, ports.map((port) => `127.0.0.1:${port}`).join(",")),
  application: "tickets",
  schema,
  connectTimeoutMs: 2000,
  silenceMs: 200,
});

function open(options: PostgresOptions): PostgresLedger {
  const ledger = openPostgres(options);
  onTestFinished(() => ledger[Symbol.dispose]());
  return ledger;
}

const placeOn = (server: PostgresServer): Place => ({ server, schema: server.newSchema() });

interface Opened extends Place {
  readonly proxy: CuttingProxy;
  readonly ledger: PostgresLedger;
}

async function openThroughProxy(options: Partial<PostgresOptions> = {}): Promise<Opened> {
  const place = placeOn(await startPostgres());
  const proxy = startProxy(place.server.port);
  const ledger = open({ address: addressOf(place, proxy.port), boundTo: "a service", ...options });
  return { ...place, proxy, ledger };
}

const ENTER = "INSERT INTO settlements (run_no, decision, who, at, reason) VALUES (1, 'sent', 'me', 'now', ?)";

/** A transaction that would be seen if it happened twice. */
function enter({ ledger }: { readonly ledger: PostgresLedger }, name: string): string {
  return ledger.transaction(() => {
    ledger.run(ENTER, name);
    return String(ledger.get("SELECT reason FROM settlements WHERE reason = ?", name)?.reason);
  });
}

/** The names of what was entered, as a server has them. */
const enteredIn = async ({ server, schema }: Place): Promise<readonly string[]> =>
  (await server.query(`SELECT reason FROM ${schema}.settlements ORDER BY id`)).map(({ reason }) => String(reason));

const MOMENTS = ["before", "in the request", "in the reply", "half the reply", "after", "late"] as const;
const STATEMENTS: readonly RegExp[] = [/^BEGIN/, /^INSERT INTO settlements/, /^SELECT reason/, /COMMIT$/];
const COMMIT = /COMMIT$/;
/** What became of a commit. */
const QUESTION = /RETURNING number$/;

describe.skipIf(WITHOUT_POSTGRES)(`a session with PostgreSQL that is lost${NEEDS_POSTGRES}`, () => {
  it.each(STATEMENTS)("leaves a transaction done once, wherever it is cut in %s", async (statement) => {
    const opened = await openThroughProxy();
    const names: string[] = [];
    for (const moment of MOMENTS) {
      opened.proxy.cut({ statement, moment });
      for (const name of [moment, `after ${moment}`]) {
        expect(enter(opened, name)).toBe(name);
        names.push(name);
        opened.proxy.deliver();
      }
    }
    expect(await enteredIn(opened)).toEqual(names);
    expect(opened.ledger.sessions()).toBe(1 + MOMENTS.length);
  });

  it.each(MOMENTS)(
    "does once what is cut %s in the commit, and at any moment of the question for it",
    async (commit) => {
      const opened = await openThroughProxy();
      const names = MOMENTS.map((question) => {
        opened.proxy.cut({ statement: COMMIT, moment: commit });
        opened.proxy.cut({ statement: QUESTION, moment: question });
        const name = enter(opened, question);
        opened.proxy.deliver();
        return name;
      });
      expect(await enteredIn(opened)).toEqual(names);
    },
  );

  it.each(MOMENTS)(
    "makes its tables once, and does its first transaction once, when a commit is cut %s",
    async (moment) => {
      const place = placeOn(await startPostgres());
      const proxy = startProxy(place.server.port);
      proxy.cut({ statement: COMMIT, moment });
      const first = open({ address: addressOf(place, proxy.port), boundTo: "a service" });
      proxy.deliver();
      enter({ ledger: first }, "one");
      const second = open({ address: addressOf(place, proxy.port), boundTo: "a service" });
      proxy.cut({ statement: COMMIT, moment });
      enter({ ledger: second }, "two");
      proxy.deliver();
      enter({ ledger: second }, "three");
      expect(await enteredIn(place)).toEqual(["one", "two", "three"]);
    },
  );

  it("reads again what was lost, and takes nothing of a list that it has begun for all of it", async () => {
    const { ledger, proxy } = await openThroughProxy();
    ledger.run("CREATE TABLE many_rows (run_no bigint PRIMARY KEY, entry bigint NOT NULL)");
    for (let at = 0; at < 3; at += 1)
      ledger.run(
        "INSERT INTO many_rows SELECT 1000 * CAST(? AS INTEGER) + n, 1 FROM generate_series(1, 1000) AS n",
        at,
      );
    for (const moment of MOMENTS) {
      proxy.cut({ statement: /many_rows/, moment });
      expect(ledger.get("SELECT count(*) AS n FROM many_rows")).toEqual({ n: 3000 });
      proxy.cut({ statement: /^DECLARE/, moment });
      expect([...ledger.iterate("SELECT run_no FROM many_rows ORDER BY run_no")]).toHaveLength(3000);
      proxy.cut({ statement: /^FETCH/, nth: 2, moment });
      const read = (): unknown => [...ledger.iterate("SELECT run_no FROM many_rows")];
      expect(read).toThrow(expect.objectContaining({ code: "storage" }));
    }
  });

  it.each(["at once", "killed"] as const)(
    "goes on when the server stops %s in a transaction, and is started again",
    async (how) => {
      const server = await startOwnPostgres();
      const place = placeOn(server);
      const ledger = open({ address: addressOf(place, server.port), boundTo: "a service" });
      enter({ ledger }, "one");
      let times = 0;
      ledger.transaction(() => {
        ledger.run(ENTER, "two");
        times += 1;
        if (times > 1) return;
        server.stop(how);
        server.start();
      });
      expect(await enteredIn(place)).toEqual(["one", "two"]);
      expect(times).toBe(2);
    },
  );

  it("trusts no number of the server's, which a crash gives to another transaction", async () => {
    const server = await startOwnPostgres();
    const place = placeOn(server);
    const [ledger, other] = [0, 1].map(() => open({ address: addressOf(place, server.port), boundTo: "a service" }));
    if (ledger === undefined || other === undefined) throw new Error("both were opened");
    enter({ ledger }, "one");
    let times = 0;
    const numbers: unknown[] = [];
    ledger.transaction(() => {
      ledger.run(ENTER, "two");
      times += 1;
      if (times > 1) return;
      numbers.push(ledger.get("SELECT pg_current_xact_id()::text AS id")?.id);
      server.stop("at once");
      server.start();
      // The number of the transaction that was lost is that of one that is committed.
      other.transaction(() => {
        other.run(ENTER, "between");
        numbers.push(other.get("SELECT pg_current_xact_id()::text AS id")?.id);
      });
    });
    expect(numbers[1]).toBe(numbers[0]);
    expect(await enteredIn(place)).toEqual(["one", "between", "two"]);
  });

  it("goes on with the standby that took the server's place, and asks that what became of a commit", async () => {
    const primary = await startOwnPostgres();
    const standby = await primary.addStandby();
    const place = placeOn(primary);
    const proxy = startProxy(primary.port);
    const ledger = open({ address: addressOf(place, proxy.port, standby.port), boundTo: "a service" });
    enter({ ledger }, "one");
    proxy.cut({ statement: COMMIT, moment: "in the reply" });
    enter({ ledger }, "two");
    let times = 0;
    ledger.transaction(() => {
      ledger.run(ENTER, "three");
      times += 1;
      if (times > 1) return;
      primary.stop("killed");
      standby.promote();
    });
    enter({ ledger }, "four");
    expect(await enteredIn({ ...place, server: standby })).toEqual(["one", "two", "three", "four"]);
  });
});
