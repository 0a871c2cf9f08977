/** Decisions that are made while the input is read are those that are made once it is known. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { EarlyPass } from "../../../../src/plan/decide/early-pass.ts";
import { openFolder, planned } from "../../../support/planned.ts";

/** Plans the lines early where that can be, and late. @returns whether it could. */
async function planBothWays(folder: string, files: readonly (readonly string[])[], lanes = 1) {
  const paths = files.map((lines, at) => {
    const path = join(folder, `export-${at}.ndjson`);
    writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
    return path;
  });
  const plan = () => planned(folder, paths, { count: 0 }, undefined, { lanes });
  const selection = vi.spyOn(EarlyPass.prototype, "selection");
  const early = await plan();
  const isEarly = selection.mock.results[0]?.value !== undefined;
  selection.mockReturnValue(undefined);
  const late = await plan();
  selection.mockRestore();
  return { early, late, isEarly };
}

const event = (id: string, currency = "EUR"): string =>
  `{"action":"newEvent","data":{"eventId":"${id}","currency":"${currency}"}}`;
const sale = (id: string, of: { readonly event?: string; readonly user?: string; readonly price?: string } = {}) =>
  `{"action":"soldTicket","data":{"eventId":"${of.event ?? "E"}","ticketId":"${id}","userId":"${of.user ?? "u"}","price":"${of.price ?? "1.50"}"}}`;
const SCAN = '{"action":"scannedTicket","data":{"ticketId":"T1","orderTime":1768600000}}';
/** What happens to a ticket once. */
const once = (action: "checkedInTicket" | "invalidatedTicket", id: string, time?: number): string =>
  `{"action":"${action}","data":{"ticketId":"${id}"${time === undefined ? "" : `,"orderTime":${time}`}}}`;

const aLine = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .tuple(
        fc.nat(400),
        fc.constantFrom("E", "F", "Gü", "00123"),
        fc.constantFrom("u", "v", "ü"),
        fc.constantFrom("1", "2.5", "3.125"),
      )
      .map(([number, of, user, price]) => sale(`T${number}`, { event: of, user, price })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom("checkedInTicket" as const, "invalidatedTicket" as const),
        fc.nat(400),
        fc.constantFrom(undefined, 1_768_600_000, 1_768_700_000),
      )
      .map(([action, number, time]) => once(action, `T${number}`, time)),
  },
  { weight: 2, arbitrary: fc.nat(20).map((number) => sale(`${number < 10 ? "00" : ""}${number % 10}1`)) },
  { weight: 2, arbitrary: fc.constantFrom(sale("T1", { price: "12,5" }), "{}", '{"open', "") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(event("E"), event("F", "JPY"), event("Gü"), event("123"), event("H"), event("")),
  },
);
const lines = fc
  .tuple(fc.array(fc.constantFrom(event("E"), event("F"), event("Gü", "KWD")), { maxLength: 3 }), fc.array(aLine))
  .map(([first, others]) => [...first, ...others]);
/** Now and then one that only the whole input tells something of. */
const file = fc.tuple(lines, fc.constantFrom([], [], [], [], [], [SCAN])).map(([given, last]) => [...given, ...last]);

it("decides the same early and late, whatever the files hold", async () => {
  const folder = openFolder();
  const ways = { early: 0, late: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 2 }), fc.constantFrom(1, 3), async (files, lanes) => {
      const { early, late, isEarly } = await planBothWays(folder, files, lanes);
      ways[isEarly ? "early" : "late"] += 1;
      expect(early).toEqual(late);
    }),
    { numRuns: 60 },
  );
  expect(Math.min(ways.early, ways.late), `${ways.early} early, ${ways.late} late`).toBeGreaterThan(3);
});

it.each<[string, readonly string[], boolean]>([
  ["sales of one event", [event("E"), sale("T1"), sale("T2")], true],
  ["more sales than a chunk holds", Array.from({ length: 11_000 }, (_, at) => sale(`T${at}`)), true],
  ["a ticket that is sold twice", [event("E"), sale("T1"), sale("T1"), sale("T2")], true],
  ["an event that is registered behind its sales", [sale("T1"), event("E"), sale("T2")], false],
  ["what may happen again", [event("E"), sale("T1"), SCAN], false],
  [
    "what happens to tickets once",
    [
      event("E"),
      sale("T1"),
      once("checkedInTicket", "T1"),
      once("invalidatedTicket", "T1"),
      once("checkedInTicket", "X"),
    ],
    true,
  ],
  ["what happens to one twice", [once("checkedInTicket", "T1"), sale("T2"), once("checkedInTicket", "T1", 1)], false],
  ["sales that only wait for an event", [event("E", "EURO"), sale("T1"), event("F"), sale("T2", { event: "F" })], true],
  ["more rows that are rejected than are kept", [sale("T"), ...Array.from({ length: 10_001 }, () => sale("T"))], false],
])("decides about %s as it would late", async (_, given, isEarlyPossible) => {
  const folder = openFolder();
  for (const lanes of [1, 3]) {
    const { early, late, isEarly } = await planBothWays(folder, [given], lanes);
    expect(isEarly).toBe(isEarlyPossible);
    expect(early).toEqual(late);
  }
});
