/** What a session with PostgreSQL holds, refuses and gives back. */

import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Failure } from "../../../../src/failure.ts";
import {
  openPostgres,
  type PostgresLedger,
  type PostgresOptions,
  refuseNarrow,
  refuseOld,
  shownAddress,
} from "../../../../src/ledger/postgres/open-postgres.ts";
import {
  NEEDS_POSTGRES,
  type PostgresServer,
  startOwnPostgres,
  startPostgres,
  WITHOUT_POSTGRES,
} from "../../../support/postgres.ts";
import { startProxy } from "../../../support/proxy.ts";

interface Place {
  readonly url: string;
  readonly schema: string;
}

const through = ({ url }: Pick<Place, "url">, ...ports: readonly number[]): string =>
  url.replace(/127\.0\.0\.1:\d+/, ports.map((port) => `127.0.0.1:${port}`).join(","));

function open(
  { url, schema }: Place,
  { connectTimeoutMs = 10_000, ...options }: Partial<PostgresOptions> & { readonly connectTimeoutMs?: number } = {},
): PostgresLedger {
  const address = { url, schema, application: "tickets", connectTimeoutMs, silenceMs: 100 };
  const ledger = openPostgres({ address, boundTo: "a service", ...options });
  onTestFinished(() => ledger[Symbol.dispose]());
  return ledger;
}

const placeOn = (server: PostgresServer): Place => ({ url: server.url, schema: server.newSchema() });

const metaOf = (ledger: PostgresLedger, key: string): unknown =>
  ledger.get("SELECT value FROM meta WHERE key = ?", key)?.value;

function thrownBy(work: () => unknown): Failure {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}

/** All that a person or a library may come to see of it. */
function textsOf(failure: unknown): string {
  const texts: string[] = [];
  for (let at = failure; at instanceof Error; at = at.cause)
    texts.push(String(at.stack), JSON.stringify(at, Object.getOwnPropertyNames(at)));
  return texts.join("\n");
}

/**
 * It returns once the statement has ended that waited: a session that gets no processor meanwhile would find that nobody is to be
 * waited for any more before it finds that it was cancelled, and warn of nothing.
 */
const CANCEL_WAIT = `DO $$ DECLARE waiting record; BEGIN
  LOOP
    PERFORM pg_stat_clear_snapshot();
    SELECT pid, query_start INTO waiting FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend';
    EXIT WHEN FOUND;
    PERFORM pg_sleep(0.01);
  END LOOP;
  PERFORM pg_cancel_backend(waiting.pid);
  LOOP
    PERFORM pg_stat_clear_snapshot();
    PERFORM FROM pg_stat_activity WHERE pid = waiting.pid AND query_start = waiting.query_start AND state = 'active';
    EXIT WHEN NOT FOUND;
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$`;

it.each(["9.6.24", "14.12 (Debian 14.12-1)", "?"])("a server of version %s is refused: none was tried", (version) => {
  expect(thrownBy(() => refuseOld(version, "postgres://db/tickets"))).toMatchObject({
    code: "usage",
    message: `postgres://db/tickets is on PostgreSQL ${version}. Nothing was sent.`,
  });
});

it.each(["15.0", "18.1", "15.18 (Debian 15.18-0+deb12u1)", "19devel"])("a server of version %s is taken", (version) => {
  expect(() => refuseOld(version, "postgres://db/tickets")).not.toThrow();
});

it("a database that can't hold every character is refused", () => {
  expect(thrownBy(() => refuseNarrow("LATIN1", "postgres://db/tickets"))).toMatchObject({
    code: "usage",
    message: "postgres://db/tickets is in a database whose encoding is LATIN1. Nothing was sent.",
  });
  expect(() => refuseNarrow("UTF8", "postgres://db/tickets")).not.toThrow();
});

describe.skipIf(WITHOUT_POSTGRES)(`a session with PostgreSQL${NEEDS_POSTGRES}`, () => {
  it("keeps its locks over a connection that was lost", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const proxy = startProxy(server.port);
    const [one, other] = [open({ ...place, url: through(place, proxy.port) }), open(place)];
    expect(one.tryLock("environment")).toBe(true);
    expect(other.tryLock("environment")).toBe(false);
    proxy.cutAll();
    expect(metaOf(one, "bound_to")).toBe("a service");
    expect(other.tryLock("environment")).toBe(false);
    one.unlock("environment");
    expect(other.tryLock("environment")).toBe(true);
  });

  it("takes a lock again though the server still holds it for the connection that was lost", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const proxy = startProxy(server.port);
    const ledger = open({ ...place, url: through(place, proxy.port) });
    ledger.tryLock("environment");
    // The server does not hear that its connection has gone.
    proxy.cut({ statement: /pg_try/, moment: "late" });
    expect(ledger.tryLock("another")).toBe(true);
    expect(ledger.sessions()).toBe(2);
    expect(open(place).tryLock("environment")).toBe(false);
  });

  it("is busy when somebody else took its lock meanwhile", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const proxy = startProxy(server.port);
    // As long as it waits for the lock, and long enough for a busy machine to connect again.
    const one = open({ ...place, url: through(place, proxy.port) }, { patienceMs: 5000 });
    const other = open(place);
    one.tryLock("environment");
    proxy.cutAll();
    while (!other.tryLock("environment"));
    expect(thrownBy(() => metaOf(one, "bound_to"))).toMatchObject({ code: "busy" });
  });

  it("tells whoever asks that a lock was taken again", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const proxy = startProxy(server.port);
    const ledger = open({ ...place, url: through(place, proxy.port) });
    ledger.tryLock("environment", () => {
      throw new Failure("busy", "others were here");
    });
    proxy.cutAll();
    expect(thrownBy(() => metaOf(ledger, "bound_to")).message).toBe("others were here");
  });

  it("does not wait for ever where the server can't be reached, or says nothing", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const proxy = startProxy(server.port);
    const held = { ...place, url: through(place, proxy.port) };
    const soon = { patienceMs: 300, connectTimeoutMs: 1000 };
    const ledger = open(held, soon);
    proxy.holdBack(true);
    expect(thrownBy(() => metaOf(ledger, "bound_to"))).toMatchObject({ code: "storage" });
    expect(thrownBy(() => ledger.run("DELETE FROM meta"))).toMatchObject({ code: "storage" });
    expect(thrownBy(() => open(held, soon))).toMatchObject({ code: "storage" });
    proxy.holdBack(false);
    proxy.refuse(true);
    proxy.cutAll();
    expect(thrownBy(() => metaOf(ledger, "bound_to"))).toMatchObject({ code: "storage" });
    proxy.refuse(false);
    // On a busy machine one try takes longer than it waits.
    await expect.poll(() => metaOf(ledger, "bound_to"), { timeout: 60_000 }).toBe("a service");
  });

  it("is tried further after the process was stopped for longer than it tries", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const proxy = startProxy(server.port);
    const ledger = open({ ...place, url: through(place, proxy.port) });
    proxy.refuse(true);
    proxy.cutAll();
    const now = performance.now.bind(performance);
    let asked = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      asked += 1;
      // Refused at least once by then.
      if (asked === 4) proxy.refuse(false);
      return now() + (asked < 4 ? 0 : 3_600_000);
    });
    onTestFinished(() => clock.mockRestore());
    expect(metaOf(ledger, "bound_to")).toBe("a service");
    expect(asked).toBeGreaterThanOrEqual(4);
  });

  it("waits for a statement that takes long, and does it again where its reply was lost on the way", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const proxy = startProxy(server.port);
    const ledger = open({ ...place, url: through(place, proxy.port) });
    expect(ledger.get("SELECT 1 AS one FROM (SELECT pg_sleep(0.7)) AS slept")).toEqual({ one: 1 });
    expect(ledger.sessions()).toBe(1);
    proxy.cut({ statement: /^SELECT value/, moment: "held back" });
    expect(metaOf(ledger, "bound_to")).toBe("a service");
    expect(ledger.sessions()).toBe(2);
  });

  it("undoes a transaction in which a statement or the program failed", async () => {
    const ledger = open(placeOn(await startPostgres()));
    const enter = (): number => ledger.run("INSERT INTO meta (key, value) VALUES ('half', '')");
    for (const fail of [
      () => ledger.run("INSERT INTO meta (key, value) VALUES ('half', '')"),
      () => ledger.run("INSERT INTO meta (key, value) VALUES ('other', NULL)"),
      () => {
        throw new Failure("usage", "the program's own");
      },
    ]) {
      const failed = thrownBy(() => ledger.transaction(() => [enter(), fail()]));
      expect(["storage", "usage"]).toContain(failed.code);
      expect(metaOf(ledger, "half")).toBeUndefined();
    }
  });

  it("commits nothing of a transaction in which the program passed over an error", async () => {
    const ledger = open(placeOn(await startPostgres()));
    const change = (): void => {
      ledger.run("INSERT INTO meta (key, value) VALUES ('half', '')");
      try {
        ledger.run("INSERT INTO meta (key, value) VALUES ('half', '')");
      } catch {}
    };
    expect(thrownBy(() => ledger.transaction(change))).toMatchObject({ code: "storage" });
    expect(metaOf(ledger, "half")).toBeUndefined();
    expect(ledger.transaction(() => "goes on")).toBe("goes on");
  });

  it("does again what the server undid since two transactions waited for each other", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const ledger = open(place);
    ledger.run("INSERT INTO meta (key, value) VALUES ('one', ''), ('other', '')");
    const theirs = (key: string): string =>
      `UPDATE ${place.schema}.meta SET value = value || 'theirs ' WHERE key = '${key}'`;
    let meanwhile: Promise<void> | undefined;
    let times = 0;
    const add = (key: string): unknown => ledger.run("UPDATE meta SET value = value || 'ours ' WHERE key = ?", key);
    ledger.transaction(() => {
      times += 1;
      add("one");
      // The one that waits longer is let through.
      meanwhile ??= server.meanwhile("SET deadlock_timeout TO '1h'", "BEGIN", theirs("other"), theirs("one"), "COMMIT");
      while (times === 1 && ledger.get("SELECT 1 AS one FROM pg_locks WHERE NOT granted LIMIT 1") === undefined);
      add("other");
    });
    await meanwhile;
    // Begun anew, it may take its first row before the other has it, and be undone once more.
    expect(times).toBeGreaterThan(1);
    for (const key of ["one", "other"]) expect(metaOf(ledger, key)).toBe("theirs ours ");
  });

  it("lets nobody wait for rows of a transaction that does not go on", async () => {
    const place = placeOn(await startPostgres());
    const [frozen, other] = [open(place), open(place)];
    frozen.run("INSERT INTO meta (key, value) VALUES ('row', 'before')");
    let times = 0;
    frozen.transaction(() => {
      times += 1;
      frozen.run("UPDATE meta SET value = value || ', frozen' WHERE key = 'row'");
      if (times > 1) return;
      frozen.get("SELECT set_config('idle_in_transaction_session_timeout', '50ms', true)");
      other.run("UPDATE meta SET value = 'other' WHERE key = 'row'");
    });
    expect(metaOf(other, "row")).toBe("other, frozen");
    expect(times).toBe(2);
  });

  it("sets limits of its own, whatever the server's are", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const strange = {
      bytea_output: "escape",
      DateStyle: "German",
      TimeZone: "Asia/Kathmandu",
      default_transaction_read_only: "on",
      default_transaction_isolation: "serializable",
      statement_timeout: "1s",
      idle_session_timeout: "1s",
      standard_conforming_strings: "off",
      synchronous_commit: "local",
    };
    const options = Object.entries(strange).map(([name, value]) => `-c ${name}=${value}`);
    const ledger = open({ ...place, url: `${place.url}?options=${encodeURIComponent(options.join(" "))}` });
    const setting = (name: string): unknown => ledger.get("SELECT current_setting(?) AS value", name)?.value;
    for (const [name, value] of Object.entries(strange)) expect([name, setting(name)]).not.toEqual([name, value]);
    expect(setting("synchronous_commit")).toBe("on");
    expect(setting("idle_in_transaction_session_timeout")).toBe("1min");
    ledger.run("INSERT INTO told_warnings (digest, told_at) VALUES (?, ?)", Buffer.from([0, 92, 255]), "\\'");
    expect(ledger.get("SELECT digest, told_at FROM told_warnings")).toEqual({
      digest: Uint8Array.from([0, 92, 255]),
      told_at: "\\'",
    });
  });

  it("gives texts, bytes and whole numbers back as they were, and refuses numbers that it would round", async () => {
    const ledger = open(placeOn(await startPostgres()));
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.constantFrom("\0", "\u0001", "\u0002", "\\", "'", "$1", "?", "a", "\ufffd", "\u{10ffff}"))
        .map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, fc.uint8Array(), fc.maxSafeInteger(), (words, bytes, number) => {
        ledger.run("DELETE FROM actions");
        const sql = `INSERT INTO actions (run_no, seq, chunk, source, line, action, data, outcome, status, at, identity, content)
          VALUES (1, ?, 1, '', 1, '', '{}', 'rejected', ?, '', ?, ?)`;
        ledger.run(sql, number, words, bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
        const row = ledger.get("SELECT seq, status, response, identity, content FROM actions WHERE status = ?", words);
        expect(row).toEqual({ seq: number, status: words, response: null, identity: bytes, content: bytes });
      }),
    );
    ledger.run("CREATE TABLE large_numbers (run_no bigint PRIMARY KEY)");
    ledger.run("INSERT INTO large_numbers (run_no) VALUES (?)", 2n ** 53n);
    expect(thrownBy(() => ledger.get("SELECT run_no FROM large_numbers")).message).toContain("9007199254740992");
    expect(thrownBy(() => ledger.get("SELECT sum(run_no) AS n FROM large_numbers")).message).toContain(
      "9007199254740992",
    );
    expect(ledger.get("SELECT 1 AS one FROM large_numbers WHERE run_no = ?", 2n ** 53n)).toEqual({ one: 1 });
    expect(ledger.sessions()).toBe(1);
  });

  it.each(["fsync", "full_page_writes", "synchronous_commit"])(
    "refuses a server with %s off, unless told that it may forget",
    async (setting) => {
      const server = await startOwnPostgres({ [setting]: "off" });
      const place = placeOn(server);
      expect(thrownBy(() => open(place))).toMatchObject({
        code: "usage",
        message: expect.stringContaining(`${setting} = off`),
      });
      expect(metaOf(open(place, { unsafe: true }), "bound_to")).toBe("a service");
    },
  );

  it("refuses a server that took another's place and lacks what that had confirmed", async () => {
    const primary = await startOwnPostgres();
    const standby = await primary.addStandby();
    const place = placeOn(primary);
    const ledger = open({ ...place, url: through(place, primary.port, standby.port) });
    ledger.run("INSERT INTO meta (key, value) VALUES ('one', '')");
    // From now on the standby is not waited for, and gets nothing.
    standby.stop("at once");
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await primary.query("SELECT pg_reload_conf()");
    ledger.run("INSERT INTO meta (key, value) VALUES ('two', '')");
    primary.stop("killed");
    standby.start();
    standby.promote();
    const failure = thrownBy(() => metaOf(ledger, "one"));
    const refused = { code: "storage", message: expect.stringContaining("lacks what it had confirmed") };
    expect(failure).toMatchObject(refused);
    // Whoever asks next, though the connection is there.
    for (const ask of [() => metaOf(ledger, "one"), () => ledger.run("DELETE FROM meta")])
      expect(thrownBy(ask)).toMatchObject(refused);
  });

  it("refuses a server that nobody waited for and that took another's place, though it has all of this session's own", {
    tags: ["long"],
  }, async () => {
    const primary = await startOwnPostgres();
    const standby = await primary.addStandby();
    const place = placeOn(primary);
    const address = { ...place, url: through(place, primary.port, standby.port) };
    const waited = open(address);
    waited.run("INSERT INTO meta (key, value) VALUES ('one', '')");
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await primary.query("SELECT pg_reload_conf()");
    const ledger = open(address);
    expect(metaOf(ledger, "one")).toBe("");
    primary.stop("killed");
    standby.promote();
    expect(metaOf(waited, "one")).toBe("");
    const refused = { code: "storage", message: expect.stringContaining("commits had not waited for it") };
    for (let time = 1; time <= 2; time += 1) expect(thrownBy(() => metaOf(ledger, "one"))).toMatchObject(refused);
  });

  it("asks nothing more of a session whose lock counts no more, whoever was told of that", async () => {
    const server = await startPostgres();
    const place = placeOn(server);
    const ledger = open(place);
    const lost = new Failure("busy", "others may have decided meanwhile");
    ledger.tryLock("the environment", () => {
      throw lost;
    });
    const { pid } = ledger.get("SELECT pg_backend_pid() AS pid") ?? {};
    await server.query(`SELECT pg_terminate_backend(${pid})`);
    for (const ask of [() => metaOf(ledger, "bound_to"), () => ledger.run("DELETE FROM meta")])
      expect(thrownBy(ask)).toBe(lost);
    expect(metaOf(open(place), "bound_to")).toBe("a service");
    ledger.unlock("the environment");
  });

  it("refuses a session that a pooler has given to another client meanwhile", async () => {
    const place = placeOn(await startPostgres());
    const ledgers = Array.from({ length: 2 }, () => open(place));
    for (const ledger of ledgers) ledger.get("SELECT set_config('tickets.session', 'another', false)");
    const [writes, locks] = ledgers;
    const refused = {
      code: "usage",
      message: expect.stringContaining("a pooler that gives each transaction another session"),
    };
    for (let time = 1; time <= 2; time += 1) {
      expect(thrownBy(() => writes?.run("DELETE FROM meta"))).toMatchObject(refused);
      expect(thrownBy(() => locks?.tryLock("the environment"))).toMatchObject(refused);
    }
    expect(metaOf(open(place), "bound_to")).toBe("a service");
  });

  it("takes the one of several servers that takes writes, and waits for none to be made that", async () => {
    const primary = await startOwnPostgres();
    const standby = await primary.addStandby();
    const place = placeOn(primary);
    const several = { ...place, url: through(place, 1, standby.port, primary.port) };
    expect(metaOf(open(several), "bound_to")).toBe("a service");
    const failure = thrownBy(() => open({ ...place, url: through(place, standby.port) }, { patienceMs: 300 }));
    expect(failure).toMatchObject({ code: "storage", message: expect.stringContaining("takes no writes") });
  });

  it("does not take for confirmed what the server warns of in a commit", async () => {
    const primary = await startOwnPostgres();
    const standby = await primary.addStandby();
    const place = placeOn(primary);
    const proxy = startProxy(primary.port);
    const ledger = open({ ...place, url: through(place, proxy.port) });
    standby.stop("at once");
    proxy.statements();
    // Somebody ends the wait for the standby: the commit is in one server alone, and whoever made it is only warned.
    const meanwhile = primary.meanwhile(
      CANCEL_WAIT,
      CANCEL_WAIT,
      "ALTER SYSTEM SET synchronous_standby_names TO ''",
      "SELECT pg_reload_conf()",
    );
    ledger.run("INSERT INTO meta (key, value) VALUES ('one', '')");
    await meanwhile;
    expect(proxy.statements()).toContainEqual(expect.stringMatching(/RETURNING number$/));
    expect(metaOf(ledger, "one")).toBe("");
  });

  it("shows hosts, database and schema, and never a password", async () => {
    const server = await startPostgres();
    const { password } = new URL(server.url);
    expect(password).not.toBe("");
    const url = through(server, 1, 2);
    expect(shownAddress({ url, schema: "s" })).toBe("postgres://127.0.0.1:1,127.0.0.1:2/ledgers (schema s)");
    const odd = ["a/b", "a?b", "a#b", "a@b", "a/1"].map((each) => url.replace(password, each));
    for (const each of [...odd, "postgres://u:pw/db", "postgres://u:1,pw@h/db@x", url.replace(":", ""), password, ""])
      expect(shownAddress({ url: each, schema: "s" })).toBe("postgres://… (schema s)");
    expect(shownAddress({ url: `${url}?password=x`, schema: "s" })).not.toContain("x");
    const wrong = server.url.replace(password, "wrong-password");
    for (const each of [
      url,
      wrong,
      url.replace("127.0.0.1:1", "no-such-host.invalid"),
      "postgres://u:wrong-password@[/x",
    ]) {
      const failure = thrownBy(() => open({ url: each, schema: "s" }, { patienceMs: 100 }));
      expect(textsOf(failure)).not.toMatch(/wrong-password|p%40|p@ss/);
    }
  });
});
