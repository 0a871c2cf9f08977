/** Deeds as rows and as parts, against a plain list of them: whatever is asked, the answer is the same. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { wordsOf } from "../../../src/disk/buffers.ts";
import { HOW, tellAccepted, tellAcceptedBesideOthers } from "../../../src/ledger/asked-deeds.ts";
import { DeedBatch } from "../../../src/ledger/deed-batch.ts";
import { lookIntoParts, partsOf, readDeedBlock } from "../../../src/ledger/deed-parts.ts";
import { clearDeeds, deedRows, lastDeed } from "../../../src/ledger/deed-rows.ts";
import { acceptedDeeds, hasDeeds, triedDeeds } from "../../../src/ledger/deeds.ts";
import { foldDeeds } from "../../../src/ledger/fold-deeds.ts";
import { inKeyOrder } from "../../../src/ledger/key-order.ts";
import type { Ledger, SqlRow } from "../../../src/ledger/ledger.ts";
import { openLedger } from "../../../src/ledger/open-ledger.ts";
import { randomOf } from "../../support/random.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tickets-parts-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (): Ledger => openLedger({ path: join(folder, "ledger.db"), boundTo: undefined });

interface Deed {
  readonly identity: Buffer;
  readonly run_no: number;
  readonly seq: number;
  readonly content: Buffer;
  readonly taken: number;
  readonly event_no: number | null;
  readonly holder: string | null;
}

/** Few identities, some of them alike but for their last byte, and some that begin and end the order. */
function identityOf(number: number): Buffer {
  const identity = Buffer.alloc(16, Math.imul(number >> 2, 0x9d) + (number >> 5));
  identity[15] = number;
  return number === 0 ? Buffer.alloc(16) : number === 1 ? Buffer.alloc(16, 0xff) : identity;
}
const IDENTITIES = 250;
const contentOf = (number: number): Buffer => Buffer.from([1, 2, 3, 4, 5, 6, 7, number]);
const HOLDERS = [null, null, "", "u", "guest-1234", "Zoë", "東京", "🎟".repeat(60), "x".repeat(3000)];
const LAST = 2 ** 32 - 1;

/** Deeds of one run, each at a place of its own. */
function deedsOfRun(runNo: number, count: number, seed: number): readonly Deed[] {
  const random = randomOf(seed);
  const below = (end: number): number => Math.floor(random() * end);
  // Some of these identities have very many deeds.
  const some = 1 + below(IDENTITIES);
  return Array.from({ length: count }, (_, at) => ({
    identity: identityOf(below(some)),
    run_no: runNo,
    seq: at === 0 && random() < 0.3 ? LAST : at + 1,
    content: contentOf(below(3)),
    taken: random() < 0.8 ? 1 : 0,
    event_no: random() < 0.5 ? null : 1 + below(random() < 0.1 ? LAST : 5),
    holder: HOLDERS[below(random() < 0.9 ? 6 : HOLDERS.length)] ?? null,
  }));
}

/** Of too little room, just enough, and so much that its deeds stand in several buckets. */
const CAPACITIES = [1, 150, 2 ** 15];

const batchOf = (deeds: readonly Deed[]): DeedBatch => {
  const batch = new DeedBatch(CAPACITIES[deeds.length % CAPACITIES.length] ?? 1);
  for (const { seq, taken, event_no, identity, content, holder } of deeds) {
    const bytes = holder === null ? undefined : Buffer.from(holder);
    const digests = wordsOf(Buffer.concat([identity, content]));
    batch.add({ seq, isTaken: taken === 1, eventNo: event_no ?? 0 }, digests, 0, bytes, 0, bytes?.length);
  }
  return batch;
};

type Way = "rows" | "part";

/** Part of a transaction. */
function write(ledger: Ledger, way: Way, deeds: readonly Deed[]): void {
  const [runNo] = deeds.map(({ run_no }) => run_no);
  if (runNo === undefined) return;
  if (way === "rows") batchOf(deeds).write(ledger, runNo);
  else batchOf(deeds).writePart(ledger, runNo);
}

const inOrder = (one: Deed, other: Deed): number =>
  Buffer.compare(one.identity, other.identity) || one.run_no - other.run_no || one.seq - other.seq;

/** On one line, so that a difference is soon told. */
function plain({ identity, run_no, seq, content, taken, event_no, holder }: SqlRow | Deed): string {
  const [which, what] = [identity, content].map((bytes) => Buffer.from(bytes as Uint8Array).toString("hex")); // columns of bytes
  return [which, run_no, seq, what, taken, event_no, holder === null ? "none" : `'${holder}'`].join(" ");
}

const BOUNDS = { leastOfPart: 1, mostLoose: 150, mostOfPart: 2000 };

function expectSame(ledger: Ledger, deeds: readonly Deed[]): void {
  const sorted = deeds.toSorted(inOrder);
  expect(hasDeeds(ledger)).toBe(deeds.length > 0);
  const asked = Array.from({ length: IDENTITIES }, (_, number) => number);
  for (const number of asked) {
    const identity = identityOf(number);
    const mine = sorted.filter((deed) => deed.identity.equals(identity));
    expect(
      triedDeeds(ledger, identity).map(({ runNo, seq, content, isTaken }) => [runNo, seq, content[7], isTaken]),
    ).toEqual(mine.map(({ run_no, seq, content, taken }) => [run_no, seq, content[7], taken === 1]));
    const accepted = mine.filter(({ taken }) => taken === 1).map(({ content }) => content[7]);
    expect(acceptedDeeds(ledger, identity).map(({ content }) => content[7])).toEqual(accepted);
  }
  expectSameTold(ledger, sorted, asked);
  expectSameRows(ledger, sorted);
}

function expectSameTold(ledger: Ledger, sorted: readonly Deed[], asked: readonly number[]): void {
  const given = [
    ...asked.flatMap((number) => [0, 1, 2, 3].map((content) => [identityOf(number), contentOf(content)] as const)),
    // So often that their deeds are read together.
    ...asked
      .slice(0, 3)
      .flatMap((number) => Array.from({ length: 80 }, (_, at) => [identityOf(number), contentOf(at % 5)] as const)),
  ];
  const bytes = Buffer.concat(given.flat());
  const digests = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const places = inKeyOrder(Uint32Array.from(given, ([identity]) => identity.readUInt32BE()));
  const [alone, beside] = [new Uint8Array(given.length), new Uint8Array(given.length)];
  tellAccepted(ledger, { digests, places }, alone);
  tellAcceptedBesideOthers(ledger, { digests, places }, beside);
  const expected = given.map(([identity, content]) => {
    const accepted = sorted.filter((deed) => deed.taken === 1 && deed.identity.equals(identity));
    if (accepted.length === 0) return HOW.UNKNOWN;
    if (!accepted.some((deed) => deed.content.equals(content))) return HOW.NOT;
    return accepted.length > 1 ? HOW.BESIDE_OTHERS : HOW.ACCEPTED;
  });
  const hasParts = partsOf(ledger).length > 0;
  const toldAlone = (how: number): number => {
    if (how === HOW.BESIDE_OTHERS) return HOW.ACCEPTED;
    return how === HOW.UNKNOWN && !hasParts ? HOW.NOT : how;
  };
  expect([...alone]).toEqual(expected.map(toldAlone));
  expect([...beside]).toEqual(expected);
}

function expectSameRows(ledger: Ledger, sorted: readonly Deed[]): void {
  const viewed = ledger.all("SELECT * FROM deeds ORDER BY identity, run_no, seq");
  expect(viewed.map(plain)).toEqual(sorted.map(plain));
  const paged: SqlRow[] = [];
  for (let page = deedRows(ledger, undefined, 7); page.length > 0; page = deedRows(ledger, page.at(-1), 97))
    paged.push(...page);
  expect(paged.map(plain)).toEqual(sorted.map(plain));
  const [wanted, last] = [sorted.at(-1), lastDeed(ledger)];
  expect(last && plain({ ...wanted, ...last } as SqlRow)).toEqual(wanted && plain(wanted)); // with all columns
}

const step = fc.record({
  way: fc.constantFrom<Way>("rows", "part"),
  count: fc.oneof(fc.nat(20), fc.nat(400)),
  seed: fc.nat(),
  ends: fc.constantFrom("as it is", "as it is", "folded", "undone"),
});

class Undone extends Error {}

describe("deeds that are rows and parts", () => {
  test("are what they would be in one list, seen from two connections, whatever became of transactions", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 7 }), (steps) => {
        using ledger = open();
        using other = open();
        ledger.transaction(() => clearDeeds(ledger));
        const deeds: Deed[] = [];
        for (const [at, { way, count, seed, ends }] of steps.entries()) {
          const more = deedsOfRun(at === 6 ? LAST : at + 1, count, seed);
          const change = (): void => {
            write(ledger, way, more);
            if (ends === "folded") foldDeeds(ledger, BOUNDS);
            if (ends !== "undone") return;
            // What stands in a cache must not outlive this.
            expect(triedDeeds(ledger, identityOf(0)).length).toBeGreaterThanOrEqual(0);
            throw new Undone();
          };
          if (ends === "undone") expect(() => ledger.transaction(change)).toThrow(Undone);
          else {
            ledger.transaction(change);
            deeds.push(...more);
          }
          expect(triedDeeds(other, identityOf(3)).length).toBe(
            deeds.filter(({ identity }) => identity.equals(identityOf(3))).length,
          );
        }
        expectSame(ledger, deeds);
        expectSame(other, deeds);
        ledger.transaction(() => foldDeeds(ledger, { ...BOUNDS, mostLoose: 0 }));
        expect(ledger.get("SELECT count(*) AS rows FROM loose_deeds")).toEqual({ rows: 0 });
        expectSame(other, deeds);
      }),
      { numRuns: 25 },
    );
  }, 300_000);

  test("stay few parts, each of which is not too large", () => {
    using ledger = open();
    const deeds: Deed[] = [];
    for (let run = 1; run <= 40; run += 1) {
      const more = deedsOfRun(run, 60 + run, run);
      deeds.push(...more);
      ledger.transaction(() => {
        write(ledger, "part", more);
        foldDeeds(ledger, BOUNDS);
      });
    }
    const sizes = partsOf(ledger).map((part) => part.deeds);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BOUNDS.mostOfPart);
    expect(sizes.length).toBeLessThan(10);
    expectSame(ledger, deeds);
  });

  test("count a deed once that came to stand in two parts", () => {
    using ledger = open();
    const deeds = deedsOfRun(1, 300, 1);
    for (const way of ["part", "part", "part", "part"] as const) ledger.transaction(() => write(ledger, way, deeds));
    ledger.transaction(() => foldDeeds(ledger, BOUNDS));
    expectSame(ledger, deeds);
  });
});

test("what another process puts into another part meanwhile is looked for there", () => {
  using ledger = open();
  using other = open();
  for (const run of [1, 2, 3, 4]) ledger.transaction(() => write(ledger, "part", deedsOfRun(run, 50, run)));
  let looks = 0;
  const counts = lookIntoParts(ledger, (parts) => {
    looks += 1;
    if (looks === 1) other.transaction(() => foldDeeds(other, BOUNDS));
    return parts.map((part) => [part.deeds, readDeedBlock(ledger, part, 0).keyAt(0) === part.fences[0]]);
  });
  expect({ looks, counts }).toEqual({ looks: 2, counts: [[200, true]] });
});

test.each([
  ["first", 1, 2],
  ["last", 2, 1],
])("what stands in a small part is not looked for in a large one, be that written %s", (_when, large, small) => {
  using ledger = open();
  const some = deedsOfRun(small, 20, 5).map((deed) => ({ ...deed, taken: 1 }));
  const many = deedsOfRun(large, 2000, 6).map((deed) => ({ ...deed, taken: 1 }));
  for (const deeds of large === 1 ? [many, some] : [some, many]) ledger.transaction(() => write(ledger, "part", deeds));
  const part = ledger.get("SELECT part FROM deed_parts ORDER BY deeds DESC LIMIT 1")?.part;
  ledger.run("UPDATE deed_blocks SET crc = crc + 1 WHERE block / 16777216 = ?", part ?? null);
  const told = (deeds: readonly Deed[]): readonly number[] => {
    const how = new Uint8Array(deeds.length);
    const digests = wordsOf(Buffer.concat(deeds.flatMap(({ identity, content }) => [identity, content])));
    const keys = Uint32Array.from(deeds, ({ identity }) => identity.readUInt32BE());
    tellAccepted(ledger, { digests, places: inKeyOrder(keys) }, how);
    return [...how];
  };
  expect(told(some)).toEqual(some.map(() => HOW.ACCEPTED));
  expect(() => told(many)).toThrow(/checksum/);
});

describe("a damaged part", () => {
  const cases: readonly [what: string, sql: string, told: RegExp][] = [
    [
      "other bytes",
      "UPDATE deed_blocks SET bytes = CAST(substr(bytes, 1, 99) || x'5a' || substr(bytes, 101) AS BLOB)",
      /checksum/,
    ],
    ["fewer bytes", "UPDATE deed_blocks SET bytes = substr(bytes, 1, 100)", /100 bytes for/],
    ["no block", "DELETE FROM deed_blocks", /block 0 of part 1 of its deeds is missing/],
    [
      "blocks in another order",
      "UPDATE deed_blocks SET block = -block; UPDATE deed_blocks SET block = 2 * 16777216 + 1 + block",
      /another place/,
    ],
    ["other fences", "UPDATE deed_parts SET token = 1, fences = x'0102030401020303'", /in no order/],
  ];
  test.each(cases)("with %s is told, and never read as one that knows nothing", (_what, sql, told) => {
    {
      using ledger = open();
      ledger.transaction(() => write(ledger, "part", deedsOfRun(1, 200, 3)));
      for (const each of sql.split(";")) ledger.run(each);
    }
    using ledger = open();
    expect(() => triedDeeds(ledger, identityOf(0))).toThrow(told);
    const asked = { digests: new Uint32Array(6), places: new Uint32Array(1) };
    expect(() => tellAccepted(ledger, asked, new Uint8Array(1))).toThrow(/is damaged: .* Nothing more was sent\./);
    expect(() => deedRows(ledger, undefined, 10)).toThrow(told);
  });
});
