import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CopyOptions, copyLedger } from "../../../src/ledger/copy.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { ledgerTables } from "../../../src/ledger/ledger-tables.ts";
import { machineOf } from "../../../src/ledger/machine.ts";
import { copiedFrom, copiedTo, reopen } from "../../../src/ledger/moved.ts";
import { openLedger } from "../../../src/ledger/open-ledger.ts";
import { openPostgres } from "../../../src/ledger/postgres/open-postgres.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../../support/postgres.ts";
import { contentOf, fillRandomly } from "../../support/random-ledger.ts";

const SERVICE = "https://service.example.com";

interface Place {
  readonly file: (name: string) => Ledger;
  readonly path: (name: string) => string;
  /** Another schema for each name. */
  readonly database: (name: string, boundTo?: string) => Ledger;
}

async function openPlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "tickets-copy-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const server = await startPostgres();
  const schemas = new Map<string, string>();
  const path = (name: string): string => join(folder, name, "ledger.db");
  const closed = <L extends Ledger>(ledger: L): L => {
    onTestFinished(() => ledger[Symbol.dispose]());
    return ledger;
  };
  return {
    path,
    file: (name) => closed(openLedger({ path: path(name), boundTo: undefined })),
    database(name, boundTo) {
      const schema = schemas.get(name) ?? server.newSchema();
      schemas.set(name, schema);
      const address = { url: server.url, schema, application: "tickets-test", connectTimeoutMs: 10_000 };
      return closed(openPostgres({ address, boundTo }));
    },
  };
}

const options = (more: Partial<CopyOptions> = {}): CopyOptions => ({
  signal: new AbortController().signal,
  at: "2026-11-26T03:00:00.000Z",
  onProgress: () => undefined,
  ...more,
});

/** Changes a row that was copied, when all of them were. */
function changeOnce(copy: Ledger): CopyOptions["onProgress"] {
  let isChanged = false;
  return ({ doing }) => {
    if (doing === "copying" || isChanged) return;
    isChanged = true;
    copy.run("UPDATE loose_deeds SET taken = 1 - taken WHERE run_no = (SELECT max(run_no) FROM loose_deeds)");
  };
}

describe.skipIf(WITHOUT_POSTGRES)(`a copy of a ledger${NEEDS_POSTGRES}`, () => {
  test.each([1, 2, 3])("into PostgreSQL and back is equal row by row, whatever it holds (seed %i)", async (seed) => {
    const place = await openPlace();
    fillRandomly(place.path("first"), seed);
    const [first, middle, last] = [place.file("first"), place.database("middle"), place.file("last")];
    const before = contentOf(first);
    for (const { name } of ledgerTables()) expect(before[name]?.length, name).toBeGreaterThan(1);
    const there = await copyLedger(first, middle, options());
    const back = await copyLedger(middle, last, options());
    expect(contentOf(last)).toEqual(before);
    expect(contentOf(first)).toEqual(before);
    expect(back.tables).toEqual(there.tables);
    expect(there.tables.map(({ table, rows }) => [table, rows])).toEqual(
      ledgerTables().map(({ name }) => [name, before[name]?.length]),
    );
  });

  test("that was interrupted at any time goes on, and until its end neither ledger can be used", async () => {
    const place = await openPlace();
    fillRandomly(place.path("first"), 4);
    const [first, middle] = [place.file("first"), place.database("middle")];
    const before = contentOf(first);
    let isDone = false;
    for (let pages = 7; !isDone; pages += 60) {
      const giveUp = new AbortController();
      let left = pages;
      const copying = copyLedger(
        first,
        middle,
        options({
          signal: giveUp.signal,
          onProgress() {
            left -= 1;
            if (left === 0) giveUp.abort();
          },
        }),
      );
      isDone = await copying.then(
        () => true,
        () => false,
      );
      if (isDone) break;
      expect(() => openLedger({ path: place.path("first"), boundTo: SERVICE })).toThrow(
        /is being moved to postgres:.* Nothing was sent\./,
      );
      expect(() => place.database("middle", SERVICE)).toThrow(/is an unfinished copy of .*first.ledger\.db/);
    }
    expect(contentOf(middle)).toEqual(before);
    expect(() => openLedger({ path: place.path("first"), boundTo: SERVICE })).toThrow(/was moved to postgres:/);
    expect(place.database("middle", SERVICE).kind).toBe("postgres");
    expect(await copyLedger(first, middle, options())).toMatchObject({ isResumed: true });
  });

  test("says which machine a file is on where several share the ledger, and no more in a file of one", async () => {
    const place = await openPlace();
    const [first, middle, last] = [place.file("first"), place.database("middle"), place.file("last")];
    const noteFile = (path: string): number =>
      first.run("INSERT INTO outputs (path, kind, length, mtime_ns) VALUES (?, 'promises', 3, '1')", path);
    noteFile("/srv/sales.ndjson");
    noteFile("elsewhere#4f2a9c01:/srv/sales.ndjson");
    const paths = (ledger: Ledger) => ledger.all("SELECT path FROM outputs").map(({ path }) => String(path));
    await copyLedger(first, middle, options());
    expect(paths(middle).toSorted()).toEqual(
      [`${machineOf({ kind: "postgres" })}:/srv/sales.ndjson`, "elsewhere#4f2a9c01:/srv/sales.ndjson"].toSorted(),
    );
    await copyLedger(middle, last, options());
    expect(contentOf(last)).toEqual(contentOf(first));
  });

  test("gives what is entered later the numbers behind its own", async () => {
    const place = await openPlace();
    fillRandomly(place.path("first"), 5);
    const [first, middle] = [place.file("first"), place.database("middle")];
    const last = (ledger: Ledger): number => Number(ledger.get("SELECT max(id) AS id FROM settlements")?.id);
    first.run("DELETE FROM settlements WHERE id > 5000");
    const highest = last(first);
    await copyLedger(first, middle, options());
    middle.run("INSERT INTO settlements (run_no, decision, who, at) VALUES (1, 'sent', 'test', '2026')");
    expect(last(middle)).toBe(highest + 1);
  });

  test("is refused where it would come among other rows, or where the ledger was moved elsewhere", async () => {
    const place = await openPlace();
    fillRandomly(place.path("first"), 6, 3);
    fillRandomly(place.path("other"), 7, 3);
    const [first, other, middle] = [place.file("first"), place.file("other"), place.database("middle")];
    await copyLedger(first, middle, options());
    await expect(copyLedger(other, middle, options())).rejects.toThrow(/holds a ledger already\. Nothing was copied\./);
    expect(copiedTo(other)).toBeUndefined();
    await expect(copyLedger(first, place.database("another"), options())).rejects.toThrow(
      /first.ledger\.db was moved to postgres:/,
    );
    await expect(copyLedger(middle, other, options())).rejects.toThrow(/holds a ledger already/);
  });

  test("that differs from the ledger in the end is not used", async () => {
    const place = await openPlace();
    fillRandomly(place.path("first"), 8);
    const [first, middle] = [place.file("first"), place.database("middle")];
    const onProgress = changeOnce(middle);
    await expect(copyLedger(first, middle, options({ onProgress }))).rejects.toThrow(
      /differs from .* in the table deeds \(\d+ of \d+ rows, of other content\)\. It is not used\./,
    );
    expect([copiedTo(first)?.isWhole, copiedFrom(middle)?.isWhole]).toEqual([false, false]);
  });

  test("begins anew where its ledger was used again meanwhile", async () => {
    const place = await openPlace();
    fillRandomly(place.path("first"), 9);
    const [first, middle] = [place.file("first"), place.database("middle")];
    const onProgress: CopyOptions["onProgress"] = ({ doing }) => {
      if (doing === "comparing") throw new Error("interrupted");
    };
    await expect(copyLedger(first, middle, options({ onProgress }))).rejects.toThrow("interrupted");
    expect(reopen(first, { who: "test", reason: "the server is gone" })).toMatchObject({ isWhole: false });
    expect(openLedger({ path: place.path("first"), boundTo: SERVICE })[Symbol.dispose]()).toBeUndefined();
    first.run("DELETE FROM loose_deeds WHERE run_no = (SELECT max(run_no) FROM loose_deeds)");
    const before = contentOf(first);
    expect(await copyLedger(first, middle, options())).toMatchObject({ isResumed: false });
    expect(contentOf(middle)).toEqual(before);
  });

  test("has all tables and columns of both kinds", async () => {
    const place = await openPlace();
    const database = place.database("empty");
    const sql =
      "SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position";
    const types = { number: "bigint", text: "text", bytes: "bytea", promises: "bytea", path: "text" } as const;
    for (const { name, columns } of ledgerTables()) {
      const there = database.all(sql, name).map((column) => [column.name, column.type]);
      expect(there, name).toEqual(expect.arrayContaining(columns.map((column) => [column.name, types[column.kind]])));
    }
  });
});
