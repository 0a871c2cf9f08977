/** Values that decide what a row gives, against those that the source names. */

import { describe, expect, test } from "vitest";
import { mapText } from "./samples.ts";

/** What is said of a whole file. */
const saidOf = (yaml: string, csv: string) => mapText(yaml, csv).problems;

const FIELDS = 'fields: {eventId: e, ticketId: "{ID}", userId: u, price: "1"}';
const CHECKIN = `${FIELDS}
actions:
  - soldTicket: {}
  - checkedInTicket: {when: {checkin: "yes"}}`;

describe("a value that no condition names", () => {
  test.each([
    ["gives nothing", 'actions: [{soldTicket: {when: {checkin: "yes"}}}]', "skip"],
    ["gives something else", 'actions: [{soldTicket: {}}, {checkedInTicket: {when: {checkin: "yes"}}}]', "expect"],
  ])("has a remedy that ends the warning as it stands: %s", (_, actions, key) => {
    const csv = "ID,checkin\na,yes\nb,ja\nc,no: 1\nd,\n";
    const yaml = `${FIELDS}\n${actions}`;
    const [remedy = ""] = /\w+: \{.*\]\}/.exec(saidOf(yaml, csv)[0]?.hint ?? "") ?? [];
    expect(remedy).toMatch(new RegExp(`^${key}: `));
    const { mapped, problems } = mapText(`${yaml}\n${remedy}`, csv);
    expect(mapped.map(({ kind }) => kind)).not.toContain("invalid");
    expect(problems).toEqual([]);
  });

  test("is named by a when of any action, by skip and by expect", () => {
    const csv = "ID,checkin\na,yes\nb,ja\nc,no\n";
    const named = (more: string) => saidOf(`${CHECKIN}\n${more}`, csv).map(({ message }) => message);
    expect(named("  - scannedTicket: {when: {checkin: [ja, no]}}")).toEqual([]);
    expect(named("skip: {checkin: [ja, no]}")).toEqual([]);
    expect(named('expect: {checkin: ["yes", ja, "no"]}')).toEqual([]);
    expect(named("skip: {checkin: ja}")).toEqual(['No when, skip or expect names "no" (line 4).']);
    expect(named('expect: {"{checkin}": ["yes", ja, "no"]}')).toEqual([]);
  });

  test.each([
    ["skip", "skip: {Status: [refunded]}\nactions: [{soldTicket: {}}]"],
    ["not", "actions: [{soldTicket: {when: {Status: {not: refunded}}}}]"],
  ])("but one that differs from it in case only is reported, as its rows are taken: %s", (_, yaml) => {
    const csv = "ID,Status\na,paid\nb,Refunded\nc,refunded\n";
    expect(saidOf(`${FIELDS}\n${yaml}`, csv)).toMatchObject([
      {
        rule: "value-not-named",
        field: "Status",
        message: 'No when, skip or expect names "Refunded" (line 3; did you mean "refunded"?).',
        hint: expect.stringMatching(/^Such rows are taken as any other\./),
      },
    ]);
  });

  test("is none beside a number with which amounts are compared", () => {
    const yaml = `${FIELDS}
actions:
  - soldTicket: {when: {Paid: {not: {below: 0}}}}
  - invalidatedTicket: {when: {Paid: {below: 0}}}`;
    expect(saidOf(yaml, "ID,Paid\na,12.50\nb,-12.50\nc,80.00\n")).toEqual([]);
  });

  test("in a list of maps is looked for in each of their columns", () => {
    const yaml = `${FIELDS}
actions:
  - soldTicket: {}
  - invalidatedTicket: {when: [{gone: "1"}, {void: "1"}]}`;
    expect(saidOf(yaml, "ID,gone,void\na,0,1\nb,1,0\nc,0,J\n").map(({ field, message }) => [field, message])).toEqual([
      ["gone", 'No when, skip or expect names "0" (2 times, first in line 2).'],
      ["void", 'No when, skip or expect names "0" (line 3), "J" (line 4).'],
    ]);
  });

  test("of a column with not alone is taken by it; beside another condition it is not named", () => {
    const not = `${FIELDS}\nactions:\n  - soldTicket: {when: {Status: {not: [open, expired]}}}`;
    const csv = "ID,Status\na,paid\nb,open\nc,refunded\n";
    expect(saidOf(not, csv)).toEqual([]);
    expect(saidOf(`${not}\n  - invalidatedTicket: {when: {Status: cancelled}}`, csv)[0]?.message).toBe(
      'No when, skip or expect names "paid" (line 2), "refunded" (line 4).',
    );
  });

  test("of a column of which only matters whether it is empty has no names", () => {
    const yaml = `${FIELDS}\nactions:\n  - soldTicket: {}\n  - scannedTicket: {when: {at: {empty: false}}}`;
    expect(saidOf(yaml, "ID,at\na,1\nb,\n")).toEqual([]);
    expect(saidOf(`${yaml}\n  - invalidatedTicket: {when: {at: x}}`, "ID,at\na,1\nb,\n")[0]?.message).toBe(
      'No when, skip or expect names "1" (line 2).',
    );
  });

  test("in a row that skip takes is not looked at", () => {
    expect(saidOf(`${CHECKIN}\nskip: {ID: addon}`, "ID,checkin\na,yes\naddon,n/a\n")).toEqual([]);
  });

  test("says so of many values in few words", () => {
    const csv = `ID,checkin\n${Array.from({ length: 5000 }, (_, at) => `t${at},v${at % 2500}\n`).join("")}`;
    const [whole, ...others] = saidOf(CHECKIN, csv);
    expect(others.map(({ rule }) => rule)).toEqual([]);
    expect(whole?.message).toMatch(/"v7" \(2 times, first in line 9\) and more than 992 others\.$/);
  });
});
