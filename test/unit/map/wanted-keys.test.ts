/** Keys of JSON rows like the columns of a table: one that no row has is a mistake, one that a row lacks is empty. */

import { describe, expect, test } from "vitest";
import { mapJson, mapText } from "./samples.ts";

/** What is said of a file of these rows. */
const missing = (yaml: string, ...rows: readonly string[]): readonly string[] =>
  mapJson(yaml, ...rows).problems.flatMap(({ rule, field = "" }) => (rule === "key-missing" ? [field] : []));

const scan = (fields: string, more = ""): string => `${more}actions:\n  - scannedTicket: {fields: {${fields}}}\n`;

describe("a key that a rule reads", () => {
  test("and no row has is reported, a key that any row has is not, be it null", () => {
    const yaml = scan('ticketId: "{id}", orderTime: "{at}"');
    expect(missing(yaml, '{"id":"1"}', '{"id":"2"}')).toEqual(["at"]);
    expect(missing(yaml, '{"id":"1"}', '{"id":"2","at":null}')).toEqual([]);
    expect(missing(yaml, '{"id":"1","at":5}', '{"id":"2"}')).toEqual([]);
    expect(missing(yaml)).toEqual([]);
  });

  test("is there also where nothing needed to read it", () => {
    const rules = scan('ticketId: ["{id}", "{code}"], orderTime: "{at}"');
    expect(missing(rules, '{"id":"1","code":"c","at":5}')).toEqual([]);
    const when =
      'actions:\n  - scannedTicket: {when: {state: in}, fields: {ticketId: "{id}"}}\n  - checkedInTicket: {when: {state: out}, fields: {ticketId: "{code}"}}';
    expect(missing(when, '{"state":"in","id":"1","code":"c"}')).toEqual([]);
    const skip = scan('ticketId: "{id}", orderTime: "{at}"', "skip: {state: gone}\n");
    expect(missing(skip, '{"state":"gone","id":"1","at":5}')).toEqual([]);
    expect(missing(skip, '{"state":"gone","at":5}')).toEqual(["id"]);
  });

  test("stands in conditions, skip, expect and lists of names too", () => {
    const yaml = `columns: {ticket: [id, code]}
skip: {state: gone}
expect: {currency: EUR}
actions:
  - scannedTicket: {when: {kind: scan}, fields: {ticketId: "{ticket}", orderTime: "{n.at}"}}`;
    expect(missing(yaml, "{}").toSorted()).toEqual(["currency", "kind", "n.at", "state", "ticket"]);
    const row = '{"code":"1","state":"","currency":"EUR","kind":"scan","n":{"at":1}}';
    expect(missing(yaml, row)).toEqual([]);
  });

  test("inside the items of a list is looked for where there are items", () => {
    const yaml =
      'each: {path: codes}\nactions:\n  - scannedTicket: {fields: {ticketId: "{item.id}", orderTime: "{item.at}"}}';
    expect(missing(yaml, '{"codes":[]}', '{"codes":null}')).toEqual([]);
    expect(missing(yaml, '{"codes":[{"id":"1"}]}')).toEqual(["item.at"]);
    expect(missing(yaml, '{"codes":[{"id":"1"}]}', '{"codes":[{},{"at":7}]}')).toEqual([]);
    expect(missing(yaml, '{"code":[]}')).toEqual(["codes"]);
  });

  test("may be missing where the source says so", () => {
    const yaml = scan('ticketId: "{id}", orderTime: "{at}"', "optional: [at]\n");
    expect(missing(yaml, '{"id":"1"}')).toEqual([]);
    expect(() => mapText(yaml, "id\n")).toThrow('no column "at"');
  });
});
