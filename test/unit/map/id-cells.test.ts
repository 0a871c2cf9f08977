/** A template must not hide what would be reported of its cell, were it the whole id. */

import { describe, expect, test } from "vitest";
import { mapJson, mapText } from "./samples.ts";
import type { Mapped } from "./shown.ts";

const sold = (fields: string) => `actions:
  - soldTicket: {fields: {eventId: e, price: "1", userId: u, ${fields}}}`;

const likely = (row: Mapped | undefined): readonly string[] =>
  row === undefined || row.kind === "skipped"
    ? []
    : (row.likely ?? []).map(({ rule, field, value }) => `${rule} ${field} ${value}`);

describe("a mangled cell that an id is put together from is reported", () => {
  test.each(["1.23457E+11", "null", "{{id}}"])("in a template: %s", (text) => {
    const [row] = mapText(sold('ticketId: "{Order #}-{No}"'), `Order #,No\n"${text}",7\n`).mapped;
    expect(row?.kind).toBe("actions");
    expect(likely(row)).toEqual([`id-looks-mangled ticketId ${text}`]);
    expect(row?.kind === "actions" ? row.likely?.[0]?.message : "").toContain(
      "Order #, a part of ticketId, looks like",
    );
  });

  test.each([
    [
      "eventId",
      'fields: {eventId: "wave-{A}", ticketId: "{B}"}\nactions: [soldTicket: {fields: {userId: u, price: "1"}}]',
    ],
    ["ticketId", sold('ticketId: ["{C}", "{A}-{B}"]')],
    ["ticketId", sold('ticketId: {from: "{A}-{B}", map: {x: y}, else: "{A}/{B}"}')],
    ["nftId", 'actions: [scannedTicket: {fields: {nftId: "{A}-1-{B}"}}]'],
  ])("of %s in %s", (field, yaml) => {
    expect(likely(mapText(yaml, "A,B,C\nnull,7,\n").mapped[0])).toEqual([`id-looks-mangled ${field} null`]);
  });

  test("in the items of a JSON row", () => {
    const yaml = 'each: {path: codes}\nactions: [scannedTicket: {fields: {ticketId: "{order}-{item.id}"}}]';
    const { mapped } = mapJson(yaml, '{"order":"o-1","codes":[{"id":"a"},{"id":"null"}]}');
    expect(mapped.map(likely)).toEqual([["id-looks-mangled ticketId null"]]);
  });

  test("once for all actions of a row, and beside what else is wrong with it", () => {
    const yaml = `fields: {ticketId: "{A}-{B}"}
actions: [scannedTicket: {fields: {orderTime: {from: "{At}", format: unix}}}, checkedInTicket: {}]`;
    const [row] = mapText(yaml, "A,B,At\nnull,7,never\n").mapped;
    expect(row?.kind).toBe("invalid");
    expect(likely(row)).toEqual(["id-looks-mangled ticketId null"]);
  });
});

describe("nothing is reported of a cell", () => {
  test.each([
    ["that is the whole id, of which the action tells", sold('ticketId: "{A}"'), "null,7"],
    ["that a value table replaced", sold('ticketId: {from: "{A}", map: {"null": "guest"}}'), "null,7"],
    ["that only its field's other choice reads", sold('ticketId: ["{B}-x", "{A}-{B}"]'), "null,7"],
    ["that is like any other", sold('ticketId: "{A}-{B}"'), "nullable,1.5"],
  ])("%s", (_what, yaml, row) => {
    const [first] = mapText(yaml, `A,B\n${row}\n`).mapped;
    expect(first?.kind).toBe("actions");
    expect(likely(first)).toEqual([]);
  });

  test("of the row before", () => {
    const rows = mapText(sold('ticketId: "{A}-{B}"'), "A,B\nnull,7\n1,8\n").mapped;
    expect(rows.map(likely)).toEqual([["id-looks-mangled ticketId null"], []]);
  });
});

describe("a number of JSON that may be written otherwise", () => {
  const scan = (ticketId: string) => `actions: [scannedTicket: {fields: {ticketId: ${ticketId}, orderTime: "{at}"}}]`;

  test.each(["1.5e3", "1.0", "-0"])("is reported as an id: %s", (number) => {
    const [row] = mapJson(scan('"{id}"'), `{"id":${number},"at":1781280000,"price":1.5}`).mapped;
    expect(row?.kind === "actions" && row.actions[0]?.data.ticketId).toBe(number);
    expect(likely(row)).toEqual([`id-number-spelling ticketId ${number}`]);
    expect(row?.kind === "actions" ? row.likely?.[0]?.message : "").toBe(
      "id gives ticketId a number that the next export may write differently, which would make it another id.",
    );
  });

  test.each([
    ["a part of an id", scan('"{order}-{id}"'), '{"order":"o","id":1.5,"at":1}'],
    ["an item of each", `each: {path: codes}\n${scan('"{item.id}"')}`, '{"codes":[{"id":1.5},{"id":"1.5"}],"at":1}'],
    ["an item that is a number", `each: {path: codes}\n${scan('"{item}"')}`, '{"codes":[1.5,2],"at":1}'],
    ["an alias", `columns: {code: [a, b]}\n${scan('"{code}"')}`, '{"b":1.5,"at":1}'],
    ["a choice", scan('["{a}", "{b}-x"]'), '{"b":1.5,"at":1}'],
  ])("is reported of %s, once", (_what, yaml, text) => {
    expect(mapJson(yaml, text).mapped.flatMap(likely)).toEqual(["id-number-spelling ticketId 1.5"]);
  });

  test.each([
    ["text", '"{id}"', '{"id":"1.5e3","price":1.5e3,"at":1}'],
    ["whole", '"{id}"', '{"id":1500,"price":12.50,"at":1}'],
    ["replaced by a value table", '{from: "{id}", map: {"1.5": a}}', '{"id":1.5,"at":1}'],
    ["no part of the id", '["{a}", "{id}"]', '{"a":"x","id":1.5,"at":1}'],
  ])("is not reported of an id that is %s", (_what, ticketId, text) => {
    expect(mapJson(scan(ticketId), text).mapped.flatMap(likely)).toEqual([]);
  });
});
