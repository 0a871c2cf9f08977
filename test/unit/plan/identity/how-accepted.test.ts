import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HOW } from "../../../../src/ledger/asked-deeds.ts";
import { acceptedDeeds } from "../../../../src/ledger/deeds.ts";
import type { Ledger } from "../../../../src/ledger/ledger.ts";
import { RECORD_BYTES, recordOf } from "../../../../src/plan/files/index-file.ts";
import { readAndAsk } from "../../../../src/plan/identity/how-accepted.ts";
import { describeBothLedgers, newLedger } from "../../../support/both-ledgers.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tickets-asked-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Few, so that most are known or stand several times; some differ only in their last byte. */
const known = fc.array(fc.record({ identity: fc.nat(40), content: fc.nat(2), taken: fc.nat(1) }), { maxLength: 120 });
const asked = fc.array(
  fc.record({
    identity: fc.nat(60),
    content: fc.nat(2),
    action: fc.constantFrom("soldTicket", "scannedTicket", "updateEvent"),
    untimed: fc.boolean(),
    keyed: fc.boolean(),
  }),
  { maxLength: 400 },
);

const identityOf = (number: number): Buffer => {
  const identity = Buffer.alloc(16, Math.imul(number >> 2, 0x9d));
  identity[15] = number;
  return identity;
};
const contentOf = (number: number): Buffer => Buffer.from([1, 2, 3, 4, 5, 6, 7, number]);

type Known = ReturnType<typeof known.generate>["value"];
type Asked = ReturnType<typeof asked.generate>["value"];

function fill(ledger: Ledger, deeds: Known): void {
  ledger.run("DELETE FROM deeds");
  const sql = "INSERT INTO deeds (identity, run_no, seq, content, taken) VALUES (?, 1, ?, ?, ?)";
  for (const [at, { identity, content, taken }] of deeds.entries())
    ledger.run(sql, identityOf(identity), at + 1, contentOf(content), taken);
}

function indexOf(candidates: Asked): Buffer {
  const records = candidates.map(({ identity, content, action, untimed, keyed }, at) => {
    const origin = { input: 0, line: at + 2, row: at + 1, action, untimed, keyed, further: false, nth: 0 } as const;
    return recordOf(origin, identityOf(identity).toString("hex"), contentOf(content).toString("hex"));
  });
  return Buffer.concat(records);
}

/** The same, asked one by one. */
function told(ledger: Ledger, { identity, content, action, untimed, keyed }: Asked[number]): number {
  const accepted = acceptedDeeds(ledger, identityOf(identity));
  const hasOthers = action !== "soldTicket" && untimed && !keyed;
  if (accepted.length === 0) return hasOthers ? HOW.UNKNOWN : HOW.NOT;
  if (!accepted.some((each) => each.content.equals(contentOf(content)))) return HOW.NOT;
  return hasOthers && accepted.length > 1 ? HOW.BESIDE_OTHERS : HOW.ACCEPTED;
}

describeBothLedgers("a ledger", (of) => {
  test("tells candidates asked together what each would be told alone, in their order", async () => {
    const ledger = await newLedger(of);
    await fc.assert(
      fc.asyncProperty(known, asked, async (deeds, candidates) => {
        fill(ledger, deeds);
        const path = join(folder, "index");
        writeFileSync(path, indexOf(candidates));
        await using index = await open(path, "r");
        const how: number[] = [];
        for await (const part of readAndAsk(ledger, index, candidates.length)) {
          expect(part.first).toBe(how.length);
          how.push(...(part.how ?? []));
        }
        expect(how).toEqual(candidates.map((each) => told(ledger, each)));
      }),
      { numRuns: of.kind === "sqlite" ? 40 : 10 },
    );
  }, 120_000);
});

test("an index that is shorter than its candidates is no index", async () => {
  const path = join(folder, "index");
  writeFileSync(path, Buffer.alloc(RECORD_BYTES - 1));
  await using index = await open(path, "r");
  await expect(readAndAsk(undefined, index, 1).next()).rejects.toThrow("shorter than it should be");
});
