/** `tickets ledger`: a ledger that is moved between its file and a database is one ledger all the time. */

import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CopyOptions, copy as copyLedger, reopen } from "../../../src/commands/ledger.ts";
import { settle } from "../../../src/commands/settle.ts";
import { EXIT_CODES, Failure } from "../../../src/failure.ts";
import {
  expectNothingDoubled,
  type Field,
  makeContext,
  openField,
  processedBy,
  settleOptions,
} from "../../support/context.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../../support/postgres.ts";

const events = "eventId,eventName,currency\ne1,One,EUR\n";
const sale = (ticket: string): string => `e1,${ticket},u1,1.00,2026-01-01T10:00:00Z\n`;
const sales = (...tickets: readonly string[]): string =>
  `eventId,ticketId,userId,price,orderTime\n${tickets.map(sale).join("")}`;

interface Moving {
  readonly field: Field;
  /** With the database in the config, or without it. */
  readonly use: (place: "file" | "database") => Promise<void>;
  readonly stream: (...tickets: readonly string[]) => ReturnType<Field["stream"]>;
  readonly copy: (from: "sqlite" | "postgres", options?: Partial<CopyOptions>) => Promise<Said>;
  readonly call: (command: (context: ReturnType<typeof makeContext>["context"]) => Promise<number>) => Promise<Said>;
}

interface Said {
  readonly exitCode: number;
  readonly said: string;
  readonly out: string;
}

async function openMoving(): Promise<Moving> {
  const field = await openField();
  const server = await startPostgres();
  const schema = server.newSchema();
  const env = { ...field.env, TICKETS_LEDGER_URL: server.url };
  const use: Moving["use"] = async (place) => {
    if (place === "file") return rm(join(field.folder, "tickets.config.yaml"), { force: true });
    const ledger = `{postgres: {url: {env: TICKETS_LEDGER_URL}, schema: ${schema}}}`;
    await field.write("tickets.config.yaml", `environments:\n  local:\n    ledger: ${ledger}\n`);
  };
  const call: Moving["call"] = async (command) => {
    const { context, said, out } = makeContext(field.folder, env);
    try {
      return { exitCode: await command(context), said: said(), out: out() };
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      return { exitCode: EXIT_CODES[cause.code], said: `${cause.message}\n${cause.hint ?? ""}`, out: out() };
    }
  };
  await field.write("events.csv", events);
  return {
    field,
    use,
    call,
    async stream(...tickets) {
      await field.write("sales.csv", sales(...tickets));
      return field.stream(["events.csv", "sales.csv"], {}, { env });
    },
    copy(from, more = {}) {
      const to = from === "sqlite" ? "postgres" : "sqlite";
      return call((context) => copyLedger({ from, to, waitLock: 0, json: true, flags: {}, ...more }, context));
    },
  };
}

describe.skipIf(WITHOUT_POSTGRES)(`a ledger that is moved${NEEDS_POSTGRES}`, () => {
  test("knows what was sent before, there and back again", async () => {
    const { field, use, stream, copy } = await openMoving();
    await stream("t1");
    await use("database");
    const there = await copy("sqlite");
    expect(there).toMatchObject({ exitCode: 0, said: expect.stringContaining("the same in both by their digests") });
    expect(JSON.parse(there.out)).toMatchObject({
      to: expect.stringMatching(/^postgres:/),
      isResumed: false,
      aside: null,
    });
    expect((await stream("t1", "t2")).summary).toMatchObject({ exitCode: 0, actions: { accepted: 1, alreadySent: 2 } });
    // Once more, and nothing is left to do.
    expect(await copy("sqlite")).toMatchObject({
      exitCode: 0,
      said: expect.stringContaining("nothing was left to do"),
    });
    const back = await copy("postgres");
    expect(back).toMatchObject({
      exitCode: 0,
      said: expect.stringContaining("take the line ledger: out of the config"),
    });
    expect(readdirSync(join(field.folder, "state", "local"))).toContainEqual(
      expect.stringMatching(/^ledger\.db\..*\.aside$/),
    );
    expect(await stream("t1", "t2", "t3")).toMatchObject({
      exitCode: EXIT_CODES.usage,
      said: expect.stringMatching(
        /The ledger of local was copied from postgres:.* into a file .*Nothing was sent\.\nTake the line ledger: out of the config/,
      ),
    });
    // As another machine finds it, which has no file.
    await rename(join(field.folder, "state"), join(field.folder, "state-here"));
    expect(await stream("t1", "t2", "t3")).toMatchObject({
      exitCode: EXIT_CODES.usage,
      said: expect.stringMatching(/\(schema .*\) was moved to .*ledger\.db at .*Nothing was sent\./),
    });
    await rm(join(field.folder, "state"), { recursive: true });
    await rename(join(field.folder, "state-here"), join(field.folder, "state"));
    await use("file");
    expect((await stream("t1", "t2", "t3")).summary).toMatchObject({
      exitCode: 0,
      actions: { accepted: 1, alreadySent: 3 },
    });
    expect(processedBy(field.sandbox)).toBe("e1 t1 t2 t3");
    expectNothingDoubled(field.sandbox);
    expect((await field.read("events.local.promises.ndjson")).trim().split("\n")).toHaveLength(4);
  });

  test("is used at one place only: neither a new database nor the old file is sent from", async () => {
    const { field, use, stream, copy, call } = await openMoving();
    await stream("t1");
    await use("database");
    expect(await stream("t1")).toMatchObject({
      exitCode: EXIT_CODES.usage,
      said: expect.stringMatching(
        /The ledger of local is in PostgreSQL now, but there is also the file that it was in .*Nothing was sent\.\nMove it into the database: tickets ledger copy --from sqlite --to postgres/,
      ),
    });
    await copy("sqlite");
    await use("file");
    expect(await stream("t1")).toMatchObject({
      exitCode: EXIT_CODES.usage,
      said: expect.stringMatching(
        /The ledger .*ledger\.db was moved to postgres:.*; what is sent is kept there\. Nothing was sent\./,
      ),
    });
    expect(processedBy(field.sandbox)).toBe("e1 t1");
    expect(await call((context) => reopen({ waitLock: 0, flags: {} }, context))).toMatchObject({
      exitCode: EXIT_CODES.usage,
      said: expect.stringContaining("needs a reason"),
    });
    const reopening = { waitLock: 0, flags: {}, reason: "the server is gone" };
    expect((await call((context) => reopen(reopening, context))).said).toMatch(
      /is used again\. What was sent by the one at postgres:/,
    );
    expect((await stream("t1", "t2")).summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    field.withLedger((ledger) => {
      const kept = JSON.parse(String(ledger.get("SELECT value FROM meta WHERE key = 'reopened'")?.value));
      expect(kept).toMatchObject({ reason: "the server is gone", copiedTo: { isWhole: true } });
    });
    expect(await call((context) => reopen(reopening, context))).toMatchObject({
      said: expect.stringContaining("was not moved"),
    });
  });

  test("stays where it is while a run is not done", async () => {
    const { field, use, stream, copy, call } = await openMoving();
    field.setFaults({ on: { request: 1 }, fault: "status", status: 500 });
    const { summary } = await stream("t1");
    expect(summary?.exitCode).toBe(EXIT_CODES["in-doubt"]);
    await use("database");
    expect(await copy("sqlite")).toMatchObject({
      exitCode: EXIT_CODES.busy,
      said: expect.stringMatching(
        new RegExp(
          `local has 1 run that is not done: ${summary?.run}\\. Nothing was copied\\.\nSay what became of it: tickets settle ${summary?.run}`,
        ),
      ),
    });
    await use("file");
    await call((context) => settle(settleOptions(String(summary?.run), "not-sent"), context));
    expect((await stream("t1")).exitCode).toBe(0);
    await use("database");
    expect(await copy("sqlite")).toMatchObject({ exitCode: 0 });
  });

  test("needs a source, and a place for it", async () => {
    const { field, use, copy, call } = await openMoving();
    expect(await copy("sqlite")).toMatchObject({
      exitCode: EXIT_CODES.usage,
      said: expect.stringContaining("names no database"),
    });
    await use("database");
    expect(await copy("sqlite")).toMatchObject({
      said: expect.stringMatching(/There is no ledger of local at .*ledger\.db/),
    });
    expect(await copy("postgres")).toMatchObject({
      said: expect.stringContaining("There is no ledger of local in the database"),
    });
    expect(existsSync(join(field.folder, "state", "local", "ledger.db"))).toBe(false);
    expect(await copy("postgres", { to: "postgres" })).toMatchObject({
      said: expect.stringContaining("are both postgres"),
    });
    const without = { waitLock: 0, json: false, flags: {} };
    expect(await call((context) => copyLedger(without, context))).toMatchObject({
      said: expect.stringContaining("needs --from and --to"),
    });
  });
});
