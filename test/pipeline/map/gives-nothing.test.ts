/** Rows that an action should take and that give nothing: what a person reads about them, as a newcomer's exports had them. */

import { describe, expect, test } from "vitest";
import { openField } from "../../support/context.ts";

async function validate(name: string, content: string, source: string) {
  const field = await openField();
  await field.write("tickets.config.yaml", `sources:\n  s:\n    match: "${name}"\n${source.replace(/^/gm, "    ")}\n`);
  await field.write(name, content);
  const { exitCode, said, out } = await field.ask("validate", { files: [name] });
  return { exitCode, text: `${said}\n${out}` };
}

describe("orders whose event an earlier row gave", () => {
  const order = (status: string, quantity: number, codes: readonly string[]) => ({
    ...{ status, buyer: "c1", at: 1772356522 },
    items: [{ event: { id: "E1" }, quantity, tickets: codes.map((code) => ({ code })) }],
  });
  const orders = (...rows: readonly object[]) => JSON.stringify([order("COMPLETED", 1, ["T1"]), ...rows]);
  const source = (
    more: string,
    sold = "when: {status: COMPLETED}",
    eventId = "{outer.event.id}",
  ): string => `each: {path: items}
${more}
actions:
  - newEvent: {when: {item.event.id: {empty: false}}, fields: {eventId: "{item.event.id}", currency: EUR}}
  - soldTicket:
      ${sold}
      each: {path: item.tickets}
      fields: {eventId: "${eventId}", ticketId: "{item.code}", userId: "{buyer}", price: "1.00", orderTime: "{at}"}`;
  const STATUSES = "expect: {status: [COMPLETED, PENDING]}";

  test("are counted under why they give no ticket", async () => {
    const rows = orders(order("PENDING", 1, ["T2"]), order("COMPLETED", 3, []));
    const { exitCode, text } = await validate("orders.json", rows, source(STATUSES));
    expect(exitCode).toBe(0);
    expect(text).toContain("2 rows skipped: status = PENDING (1), nothing in item.tickets (1).");
    expect(text).toContain(
      'each-empty: orders.json[2] item.tickets: The row meets the when of soldTicket, but its each finds nothing in item.tickets, so it gives none. Is the row complete? If such rows give none, add {"outer.tickets.length": {above: 0}} to that when.',
    );
    const added = "when: {status: COMPLETED, outer.tickets.length: {above: 0}}";
    expect((await validate("orders.json", rows, source(STATUSES, added))).text).not.toContain("each-empty");
  });

  test("are told too where the one without tickets is the first of its event", async () => {
    const { text } = await validate("orders.json", JSON.stringify([order("COMPLETED", 3, [])]), source(STATUSES));
    expect(text).toContain("each-empty: orders.json[0] item.tickets:");
  });

  test.each(["when: {status: COMPLETED}", "when: {status: COMPLETED, outer.event.id: E1}", ""])(
    "are invalid where a list is shorter than expected, or empty",
    async (sold) => {
      const rows = orders(order("COMPLETED", 3, ["T2"]), order("COMPLETED", 3, []), order("COMPLETED", 0, []));
      const counted = 'expect: {item.quantity: "{item.tickets.length}"}';
      const { exitCode, text } = await validate("orders.json", rows, source(counted, sold));
      expect(exitCode).toBe(3);
      expect(text).toMatch(/orders\.json\[1\] item\.quantity: "3" The source expects 1 in item\.quantity\./);
      expect(text).toMatch(/orders\.json\[2\] item\.quantity: "3" The source expects 0 in item\.quantity\./);
      expect(text).toContain("4 rows: 1 mapped, 1 skipped, 2 invalid");
    },
  );

  test("are invalid where the list of the source's own each is empty and should not be", async () => {
    const yaml = `each: {path: tickets}
expect: {quantity: "{tickets.length}", item.kind: seat}
actions: [checkedInTicket: {when: {status: in}, fields: {ticketId: "{item.code}"}}]`;
    const rows = [
      '{"status":"in","quantity":1,"tickets":[{"code":"a","kind":"seat"}]}',
      '{"status":"in","quantity":3,"tickets":[]}',
      '{"status":"in","quantity":0,"tickets":[]}',
      '{"status":"out","quantity":3,"tickets":[]}',
      '{"status":"in","quantity":3,"tickets":null}',
    ];
    const { text } = await validate("orders.ndjson", `${rows.join("\n")}\n`, yaml);
    expect(text).toContain("5 rows: 1 mapped, 2 skipped, 2 invalid");
    expect(text).toMatch(/orders\.ndjson:5 quantity: "3" The source expects \{tickets\.length\} in quantity\./);
  });

  test("that name what the outer item has are shown its name", async () => {
    const { text } = await validate("orders.json", orders(), source("", "", "{item.event.id}"));
    expect(text).toContain(
      'key-missing: orders.json[0] item.event.id: No row has "item.event.id", which the source reads. Here item is one of item.tickets. For a value in items, write {outer.event.id}.',
    );
  });

  test("that are left out by what their items have are told that skip reads the whole row", async () => {
    const { text } = await validate("orders.json", orders(), source("skip: {item.sku: TOTEBAG}"));
    expect(text).toMatch(
      /No row has "item\.sku".* skip reads the whole row, and so does expect where the source itself has no each\./,
    );
  });
});

describe("a refund that does not name what it refunds", () => {
  const yaml = (when: string) => `skip: {Date: Total}
fields: {orderTime: "1772356522"}
actions:
  - soldTicket:
      when: {Count: {above: 0}}
      each: {count: "{Count}"}
      fields: {eventId: e, ticketId: "{No}-{n}", userId: "{No}", price: "1.00"}
  - invalidatedTicket:
      when: ${when}
      each: {in: "{Remark}", match: 'Refund of (?<no>\\d+)'}
      fields: {ticketId: "{item.no}-1"}`;
  const TILL = "Date,No,Count,Remark\n15.08.2026,7,2,\n16.08.2026,8,-1,Refund of 7\n16.08.2026,9,-1,\nTotal,,3,\n";

  test("is a warning with its line, and nothing else is", async () => {
    const { exitCode, text } = await validate("till.csv", TILL, yaml("{Count: {below: 0}}"));
    expect(exitCode).toBe(0);
    expect(text.match(/^\S+: till\.csv:.*/gm)?.filter((line) => !line.includes("event-not-registered"))).toEqual([
      'each-empty: till.csv:4 {Remark}: The row meets the when of invalidatedTicket, but its each finds nothing in {Remark}, so it gives none. Is the row complete? If such rows give none, add {"Remark": {empty: false}} to that when.',
    ]);
    expect(text).toContain("2 rows skipped: nothing in {Remark} (1), Date = Total (1).");
  });

  test("is none where its when says so", async () => {
    const { text } = await validate("till.csv", TILL, yaml("{Count: {below: 0}, Remark: {empty: false}}"));
    expect(text).not.toContain("each-empty");
    expect(text).toContain("2 rows skipped: Count = not above 0, Remark is empty (1), Date = Total (1).");
  });
});
