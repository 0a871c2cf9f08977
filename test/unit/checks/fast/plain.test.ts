/** The fast path against the reference: what it calls plain has no finding, and every finding is the reference's. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ACTION_NAMES, type ActionName } from "../../../../src/actions/actions.ts";
import { FIELD_NAMES } from "../../../../src/actions/fields.ts";
import { parseJson } from "../../../../src/actions/json.ts";
import { isPlain } from "../../../../src/checks/fast/plain.ts";
import { checkAction, judgeItem } from "../../../../src/checks/shape.ts";
import { actionArbitrary, mutate } from "../../../support/arbitraries.ts";
import { SOUND_ITEMS, UNSOUND_ITEMS } from "../../actions/items.ts";

const FIXTURES = join(import.meta.dirname, "../../../../fixtures");
const NOW = 1781280000;

/** Values that some rule is about, beside such as are plain. */
const NOTABLE: readonly unknown[] = [
  ...[
    "",
    " ",
    "x\u0001y",
    "a\u200bb",
    "a\u00adb",
    "\ud800",
    "CafÃ©",
    "20Â°",
    "Kaj?te",
    "M?LLER",
    "J\ufffdrgen",
    "SÃ\u00a0O",
    "a\u0085b",
    "a\u2028b",
    "a\ufeffb",
    "夏祭り",
    "Loge – Süd",
    "two\nlines",
  ],
  ...[
    "NULL",
    "#REF!",
    "1.84E+10",
    "TRUE",
    "-",
    "n/a",
    "Err:502",
    "{{id}}-1",
    "%ID%",
    "3-Nov",
    "'007",
    "12345678901234500",
  ],
  ...[
    "12,50",
    "1.250",
    "-1",
    "DEM",
    "EURO",
    "EUR",
    "SANDBOX-1-2",
    "-1-2",
    "jan-1-22",
    "JAN-12",
    "0X12",
    "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb",
  ],
  ...["0x52908400098527886E0F7030069857D2E4169Ee7", "0x52908400098527886e0f7030069857d2e4169ee7"],
  ...[
    "https://a..b/x",
    "https://a-.example.com/",
    "https://xn--.com/",
    `https://${"a".repeat(64)}.com/`,
    "https://example.com/#REF!",
    "https://example.com/a.png",
  ],
  ...["https://u:p@example.com/", "see https://u:p@example.com/", "http://localhost:8080/hook", "http://shop.local/a"],
  ...["https://example.com/100%zz", "https://example.com/{{seat}}", "https://example.com/a b", "ftp://example.com/a"],
  ...["x".repeat(256), "🎫".repeat(200), "Zoë", "Süd", "A, B & C", "Ã", "ÃŸ"],
  ...[null, undefined, true, 0, -1, 1.5, 90, 181, 20_260_501, 46_143, 1_767_225, 1_000_000_000, 1_767_225_600],
  ...[
    NOW,
    NOW + 86_400 * 3,
    NOW - 1,
    NOW + 0.5,
    4_102_444_800,
    1_767_225_600_000,
    9_007_199_254_740_993n,
    -1n,
    Number.NaN,
  ],
  ...[
    [],
    {},
    "[]",
    [{ trait_type: "Row", value: "CafÃ©" }],
    [{ trait_type: "Row", value: "NULL" }],
    [{ trait_type: "Row" }],
  ],
  ...[
    [{ trait_type: "Row", value: 7 }],
    [{ trait_type: "Row", value: "A", display_type: "date" }],
    [{ trait_type: "Row", value: "A", max_value: 7 }],
    [null],
  ],
];

const TICKET = { ticketId: "t", orderTime: NOW };
/** A plain action of each kind. */
const BASES: Readonly<Record<ActionName, object>> = {
  newEvent: { eventId: "e", currency: "EUR", startTime: NOW, endTime: NOW },
  updateEvent: { eventId: "e", eventName: "Wave" },
  soldTicket: { ...TICKET, eventId: "e", userId: "u", price: "1" },
  updateTicket: { ticketId: "t", imageUrl: "https://example.com/a.png" },
  resoldTicket: { ...TICKET, userId: "u", price: "1" },
  scannedTicket: { nftId: "SANDBOX-1-2", orderTime: NOW },
  checkedInTicket: TICKET,
  claimedTicket: { ...TICKET, userId: "u" },
  invalidatedTicket: TICKET,
};

const changed = fc
  .tuple(
    fc.oneof(
      actionArbitrary(),
      fc.constantFrom(...ACTION_NAMES).map((action) => ({ action, data: BASES[action] })),
    ),
    fc.array(fc.tuple(fc.constantFrom(...FIELD_NAMES, "seat"), fc.constantFrom(...NOTABLE)), { maxLength: 2 }),
    fc.option(fc.constantFrom(...FIELD_NAMES), { freq: 2 }),
    fc.option(fc.constantFrom(...ACTION_NAMES), { freq: 3 }),
  )
  .map(([{ action, data }, values, left, other]) => {
    const kept = Object.entries({ ...data, ...Object.fromEntries(values) }).filter(([name]) => name !== left);
    return { action: other ?? action, data: Object.fromEntries(kept) };
  });
const mutated = actionArbitrary().chain((action) => mutate(action).map(({ item }) => item));

describe("what the fast path calls plain", () => {
  it.each(ACTION_NAMES)("has no finding, whatever one value of a plain %s is", (action) => {
    const base = BASES[action];
    expect(isPlain({ action, data: base }, NOW)).toBe(true);
    const items = FIELD_NAMES.flatMap((name) => NOTABLE.map((value) => ({ action, data: { ...base, [name]: value } })));
    const others = [
      { action, data: base, id: 1 },
      { action, data: {} },
      { action, data: { ...base, seat: "1" } },
    ];
    const found = [...items, ...others].filter((item) => isPlain(item, NOW) && judgeItem(item, NOW).length > 0);
    expect(found).toEqual([]);
  });

  it("has no finding, whatever the action and however it was changed", () => {
    let plain = 0;
    fc.assert(
      fc.property(fc.oneof(changed, mutated, fc.jsonValue()), (item) => {
        if (!isPlain(item, NOW)) return;
        plain += 1;
        expect(judgeItem(item, NOW)).toEqual([]);
      }),
      { numRuns: 4000 },
    );
    expect(plain).toBeGreaterThan(100);
  });

  it("has no finding in any body of the fixtures, and is most of what has none in a season", () => {
    const bodies = [...filesOf("service/requests"), ...filesOf("service/invalid")].flatMap(itemsOf);
    const season = itemsOf("payload.json");
    const all = [...season, ...bodies, ...SOUND_ITEMS, ...UNSOUND_ITEMS.map(([item]) => item)];
    expect(all.filter((item) => isPlain(item, NOW) && judgeItem(item, NOW).length > 0)).toEqual([]);
    const sound = season.filter((item) => judgeItem(item, NOW).length === 0);
    expect(sound.filter((item) => isPlain(item, NOW)).length).toBeGreaterThan(sound.length * 0.8);
  });
});

const itemsOf = (file: string) => parseJson(readFileSync(join(FIXTURES, file), "utf8")) as readonly unknown[]; // of this repository

const filesOf = (folder: string): readonly string[] =>
  readdirSync(join(FIXTURES, folder))
    .filter((name) => name !== "index.json" && name.endsWith(".json"))
    .map((name) => join(folder, name));

describe("every finding", () => {
  it.each(ACTION_NAMES)("is the reference's, whatever one value of a plain %s is", (action) => {
    for (const name of FIELD_NAMES)
      for (const value of NOTABLE) {
        const item = { action, data: { ...BASES[action], [name]: value } };
        expect(checkAction(item, NOW)).toEqual(judgeItem(item, NOW));
      }
  });

  it.each(ACTION_NAMES)("is the reference's, whichever two fields a %s lacks", (action) => {
    const base = { ...BASES[action], nftId: "SANDBOX-1-2", to: "0x12", metadataAttributes: [] };
    for (const one of Object.keys(base))
      for (const other of Object.keys(base)) {
        const data = Object.fromEntries(Object.entries(base).filter(([name]) => name !== one && name !== other));
        const item = { action, data };
        expect(checkAction(item, NOW)).toEqual(judgeItem(item, NOW));
      }
  });

  it("is the reference's", () => {
    fc.assert(
      fc.property(fc.oneof(changed, mutated), (item) => {
        expect(checkAction(item, NOW)).toEqual(judgeItem(item, NOW));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["off", true],
    ["on", false],
    ["", false],
  ])("with TICKETS_FAST_PATH=%j the fast path is off: %s", async (set, isOff) => {
    vi.stubEnv("TICKETS_FAST_PATH", set);
    vi.resetModules();
    const { IS_FAST_PATH_ON } = await import("../../../../src/actions/fast-path.ts");
    expect(IS_FAST_PATH_ON).toBe(!isOff);
    vi.unstubAllEnvs();
  });
});
