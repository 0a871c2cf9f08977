/** A ticket that two rows of an input sell is a problem on every night, also where one of the sales was accepted. */

import { describe, expect, test } from "vitest";
import { type Field, openField, processedBy } from "../../support/context.ts";
import { randomOf } from "../../support/random.ts";
import { testEach } from "../../support/walks.ts";

const KEYS = { none: "", "of the order": 'key: "{Order}"', "of the row": 'key: "{Row}"' } as const;
type Key = keyof typeof KEYS;
const KEY_NAMES = Object.keys(KEYS) as Key[]; // of a constant object literal

const HEADER = "Row,Order,Buyer,Status,Scanned";
const ANN = "1,A1,ann,paid,";
const BOB = "2,A1,bob,cancelled,";
const CAT = "3,A2,cat,paid,";

async function openOrders(key: Key = "none", rules = ""): Promise<Field> {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `sources:
  orders:
    match: [orders.csv, orders-2.csv]
    ${KEYS[key]}
    fields: {eventId: gala, ticketId: "{Order}"}
    actions:
      - newEvent: {fields: {currency: EUR}}
      - soldTicket: {fields: {userId: "{Buyer}", price: "10.00", orderTime: "1768600000"}}
      - scannedTicket: {when: {Scanned: "yes"}}
      - invalidatedTicket: {when: {Status: cancelled}, fields: {orderTime: "1768600000"}}
    expect: {Status: [paid, cancelled]}
rules: {order-time-missing: "off"${rules}}
`,
  );
  return field;
}

const night = async (field: Field, rows: readonly string[], options: Parameters<Field["stream"]>[1] = {}) => {
  await field.write("orders.csv", [HEADER, ...rows, ""].join("\n"));
  return field.stream(["orders.csv"], options);
};

const soldTwice = (line: number, other: number): string =>
  `orders.csv:${line} ticketId: "A1" Ticket "A1" is already sold at orders.csv:${other}.`;

describe("a ticket that two rows sell", () => {
  test.each(KEY_NAMES)("is a problem once one of the sales was accepted, with key %s", async (key) => {
    const field = await openOrders(key);
    await night(field, [ANN, CAT]);
    const behind = await night(field, [ANN, BOB, CAT]);
    expect(behind.exitCode, behind.said).toBe(3);
    expect(behind.said).toContain(soldTwice(3, 2));
    // The first one counts, whatever the others say.
    const before = await night(field, [BOB, ANN, CAT]);
    expect(before.exitCode, before.said).toBe(3);
    expect(before.said).toContain(soldTwice(3, 2));
    expect(processedBy(field.sandbox)).toBe("gala A1 A2");
  });

  test("has none of its scans sent again where every row stands twice, in one file or in two", async () => {
    const rows = ["1,A1,ann,paid,yes", "2,A2,cat,paid,yes"];
    const fresh = await night(await openOrders(), [...rows, ...rows]);
    const field = await openOrders();
    await night(field, rows);
    const twice = await night(field, [...rows, ...rows]);
    await field.write("orders.csv", [HEADER, ...rows, ""].join("\n"));
    await field.write("orders-2.csv", [HEADER, ...rows, ""].join("\n"));
    const files = await field.stream(["orders.csv", "orders-2.csv"]);
    for (const { exitCode, said } of [fresh, twice, files]) {
      expect(exitCode, said).toBe(3);
      expect(said).toContain("ticket-sold-twice (2 times)");
    }
    expect(processedBy(field.sandbox)).toBe("gala A1 A1 A2 A2");
  });

  test("is a problem where the sale of one is in doubt", async () => {
    const field = await openOrders();
    field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
    expect((await night(field, [ANN, CAT])).exitCode).toBe(6);
    field.setFaults();
    // The doubt stays.
    await field.settle("abandon");
    const ended = await night(field, [BOB, ANN, CAT], { maxInvalid: { rows: 1 } });
    expect(ended.exitCode, ended.said).toBe(6);
    expect(ended.said).toContain(soldTwice(3, 2));
  });
});

const TABLES = [...Array(60).keys()];

/** Rows of a few tickets, of which many stand there more than once. */
function randomRows(random: () => number): readonly string[] {
  const oneOf = <T>(...items: readonly T[]): T => items[Math.floor(random() * items.length)] as T; // none is empty
  return Array.from({ length: 2 + Math.floor(random() * 8) }, (_, row) =>
    [
      row,
      oneOf("A1", "A1", "A2", "A3"),
      oneOf("ann", "ann", "bob"),
      oneOf("paid", "paid", "cancelled"),
      oneOf("", "yes"),
    ].join(),
  );
}

async function expectNothingNew(seed: number): Promise<void> {
  const random = randomOf(seed);
  const key = KEY_NAMES[seed % KEY_NAMES.length] ?? "none";
  const field = await openOrders(key);
  const rows = randomRows(random);
  await night(field, rows, { maxInvalid: { percent: 100 } });
  const known = processedBy(field.sandbox);
  const again = await night(field, rows, { maxInvalid: { percent: 100 } });
  expect(processedBy(field.sandbox), `${seed}, key ${key}:\n${rows.join("\n")}\n${again.said}`).toBe(known);
}

testEach("the same input sends nothing the second time: table %i", TABLES, 10, expectNothingNew);
