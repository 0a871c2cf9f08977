/** A ledger that kept a row for each action is read as it is, and brought to this version with all that it knows. */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Action } from "../../src/actions/actions.ts";
import { ledgerKnownState } from "../../src/ledger/known-state.ts";
import { openLedger } from "../../src/ledger/open-ledger.ts";
import { NOTHING_PENDING } from "../../src/ledger/pending.ts";
import { openQuery } from "../../src/ledger/query.ts";
import { LEDGER_VERSION } from "../../src/ledger/schema.ts";
import { type Field, openField } from "../support/context.ts";
import { makeDeedsRows, makeOlder } from "../support/older-ledger.ts";

const line = (action: string, data: object): string => `${JSON.stringify({ action, data })}\n`;
const sold = (ticketId: string, userId = "u1") =>
  line("soldTicket", { eventId: "E", ticketId, userId, price: "1.00", orderTime: 1768600000 });

const CONFIG = `sources:
  orders:
    match: "orders*.csv"
    fields: {eventId: E, ticketId: "{Ticket}"}
    key: "{Order}"
    actions:
      - soldTicket: {fields: {userId: u1, price: "1.00", orderTime: "1768600000"}}
`;

/** Nights of all kinds: sales, what follows them, a key, a rejected action, one that a person settled. */
async function lived(): Promise<Field> {
  const field = await openField();
  await field.write("tickets.config.yaml", CONFIG);
  await field.write("events.ndjson", line("newEvent", { eventId: "E", currency: "EUR" }));
  await field.write("sales.ndjson", sold("A") + sold("B") + sold("007") + sold("é") + sold("C"));
  await field.write("orders.csv", "Order,Ticket\n1,K1\n2,K2\n");
  expect((await field.stream(["events.ndjson", "sales.ndjson", "orders.csv"])).exitCode).toBe(0);
  await field.write(
    "later.ndjson",
    line("resoldTicket", { ticketId: "A", userId: "u2", price: "2", orderTime: 1768600100 }) +
      line("checkedInTicket", { ticketId: "B", orderTime: 1768700000 }) +
      line("invalidatedTicket", { ticketId: "K1", orderTime: 1768700000 }),
  );
  expect((await field.stream(["later.ndjson"])).exitCode).toBe(0);
  field.setFaults({ fault: "failure-items", items: [1], on: { request: 1 } });
  await field.write("more.ndjson", sold("D") + sold("F"));
  expect((await field.stream(["more.ndjson"])).exitCode).toBe(4);
  field.setFaults();
  return field;
}

const TICKETS = ["A", "B", "C", "D", "F", "007", "é", "K1", "K2", "unknown"];

function knownIn(path: string) {
  using query = openQuery({ path, boundTo: undefined }, "SELECT * FROM actions ORDER BY run_no, seq");
  const actions = [...query.rows];
  using ledger = openLedger({ path, boundTo: undefined, readOnly: true });
  const known = ledgerKnownState(ledger, NOTHING_PENDING);
  return {
    columns: query.columns,
    actions,
    tickets: TICKETS.map((ticketId) => known.ticket({ ticketId })),
    event: known.event("E"),
    zeros: known.otherSpelling("soldTicket" as Action["action"], "ticketId", "7"),
    forms: known.otherForm("soldTicket" as Action["action"], "ticketId", "é"),
  };
}

test.each([3, 4] as const)("of version %i", async (version) => {
  const field = await lived();
  const path = join(field.folder, "state", "local", "ledger.db");
  const before = knownIn(path);
  expect(before.actions).toHaveLength(13);
  expect(before.tickets.map((ticket) => ticket?.state)).toEqual([
    ...["sold", "checked-in", "sold", "sold", undefined, "sold", "sold", "invalidated", "sold", undefined],
  ]);
  makeOlder(path, version);
  expect(knownIn(path), "read as it is").toEqual(before);
  const night = await field.stream(["sales.ndjson", "orders.csv", "later.ndjson"]);
  expect(night.summary?.actions).toMatchObject({ total: 10, accepted: 0, alreadySent: 10 });
  expect(night.said).toContain("The ledger of an earlier version is brought up to date: 13 actions.");
  using ledger = openLedger({ path, boundTo: undefined, readOnly: true });
  expect(ledger.get("PRAGMA user_version")).toEqual({ user_version: LEDGER_VERSION });
  expect(knownIn(path), "brought to this version").toEqual(before);
  // Of which more is known than their sale; what a key identifies stays.
  expect(ledger.all("SELECT ticket FROM tickets ORDER BY ticket").map(({ ticket }) => ticket)).toEqual(
    ["A", "B", "K1", "K2"].map((ticketId) => `ticket:${ticketId}`),
  );
});

test("one that can't be brought to this version stays as it was", async () => {
  const field = await lived();
  const path = join(field.folder, "state", "local", "ledger.db");
  // Nothing that a version wrote: a digest of one byte.
  makeOlder(path, 4, (older) => older.exec("UPDATE actions SET identity = x'00' WHERE seq = 2 AND run_no = 1"));
  await expect(field.stream(["sales.ndjson"])).rejects.toThrow("a digest of 1 bytes in place of 16");
  const found = new DatabaseSync(path, { readOnly: true });
  expect(found.prepare("PRAGMA user_version").get()).toEqual({ user_version: 4 });
  expect(found.prepare("SELECT count(*) AS n FROM actions").get()).toEqual({ n: 13 });
  found.close();
});

test.each([5, 6] as const)("one of version %i is read as it is, and brought to this version", async (version) => {
  const field = await lived();
  const path = join(field.folder, "state", "local", "ledger.db");
  const before = knownIn(path);
  makeDeedsRows(path, version);
  expect(knownIn(path), "read as it is").toEqual(before);
  const night = await field.stream(["sales.ndjson", "orders.csv", "later.ndjson"]);
  expect(night.summary?.actions).toMatchObject({ total: 10, accepted: 0, alreadySent: 10 });
  using ledger = openLedger({ path, boundTo: undefined, readOnly: true });
  expect(ledger.get("PRAGMA user_version")).toEqual({ user_version: LEDGER_VERSION });
  expect(LEDGER_VERSION).toBeGreaterThan(6);
  expect(knownIn(path)).toEqual(before);
});

test("one of version 6 with many deeds has them in parts, but for those that may be forgotten again", async () => {
  const field = await lived();
  const path = join(field.folder, "state", "local", "ledger.db");
  makeDeedsRows(path, 6);
  const older = new DatabaseSync(path);
  // Of a run that has no blocks: they have no place. The others are numbered as what was sent.
  older.exec(`INSERT INTO meta (key, value) VALUES ('imported', 'yes');
    INSERT INTO blocks (run_no, first, count, chunk, outcome, at, origins, actions) VALUES (77, 1, ${MANY}, 1, 'accepted', '', '[]', x'');
    WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < ${MANY})
    INSERT INTO deeds SELECT randomblob(16), 77, seq, randomblob(8), seq % 2, NULL, 'u' || seq FROM numbers;
    INSERT INTO deeds VALUES (zeroblob(16), 78, 1, zeroblob(8), 1, NULL, NULL)`);
  const before = digestOfDeeds(older);
  older.close();
  openLedger({ path, boundTo: undefined })[Symbol.dispose]();
  const now = new DatabaseSync(path);
  expect(digestOfDeeds(now)).toEqual(before);
  expect(now.prepare("SELECT run_no, seq FROM loose_deeds").all()).toEqual([{ run_no: 78, seq: 1 }]);
  expect(now.prepare("SELECT deeds FROM deed_parts").all()).toEqual([{ deeds: MANY + 13 }]);
  now.close();
});

const MANY = 100_500;

function digestOfDeeds(database: DatabaseSync): string {
  const hash = createHash("sha256");
  const sql =
    "SELECT hex(identity), run_no, seq, hex(content), taken, event_no, holder FROM deeds ORDER BY identity, run_no, seq";
  for (const row of database.prepare(sql).iterate()) hash.update(JSON.stringify(Object.values(row)));
  return hash.digest("hex");
}
