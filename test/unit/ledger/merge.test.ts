import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { insertOutcomes, type NewOutcome } from "../../../src/ledger/blocks.ts";
import { changeChunk } from "../../../src/ledger/chunks.ts";
import { mergeOutcomes, rememberUnplaced } from "../../../src/ledger/merge.ts";
import { openLedger } from "../../../src/ledger/open-ledger.ts";
import { chunksOf, enterRun } from "../../../src/ledger/runs.ts";
import { describeBothLedgers, type LedgerKind } from "../../support/both-ledgers.ts";

const AT = "2026-11-21T03:00:00.000Z";

const id = fc.oneof(
  fc.constantFrom("E-1", "E-2", "", "0", "007", "Ann", "café", "東京", 'a"b', "a\\b", "tab\t", "x".repeat(300)),
  fc.string({ minLength: 1, maxLength: 60 }),
);
const sent = fc.record({
  action: fc.constantFrom("soldTicket", "soldTicket", "soldTicket", "resoldTicket", "newEvent"),
  data: fc.record({ eventId: id, ticketId: id, userId: fc.option(id, { nil: undefined }) }),
  identity: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  outcome: fc.constantFrom("accepted", "accepted", "accepted", "rejected"),
});
type Sent = NonNullable<ReturnType<typeof sent.generate>["value"]>;

const contentOf = (at: number): Buffer => Buffer.from([at >> 8, at, 0, 1, 2, 3, 254, 255]);

const toOutcome = ({ action, data, identity, outcome }: Sent, at: number): NewOutcome => ({
  seq: at + 1,
  chunk: 1,
  source: "sales.csv",
  line: at + 2,
  action,
  data: JSON.stringify(data),
  outcome: outcome as NewOutcome["outcome"],
  status: outcome === "accepted" ? "success" : "error",
  at: AT,
  identity,
  content: contentOf(at),
});

/** The deed of each, as the table of deeds is to hold it. */
function told({ action, data, identity, outcome }: Sent, at: number) {
  const isSale = outcome === "accepted" && action === "soldTicket";
  return {
    identity: Buffer.from(identity).toString("hex"),
    seq: at + 1,
    content: contentOf(at).toString("hex"),
    taken: outcome === "accepted" ? 1 : 0,
    event_id: isSale ? data.eventId : null,
    holder: isSale ? (data.userId ?? null) : null,
  };
}

async function merged({ newPlace }: LedgerKind, outcomes: readonly NewOutcome[]) {
  using place = await newPlace();
  using ledger = place.open();
  const chunks = [{ lane: 0, first: 1, count: outcomes.length, offset: 0, length: 0 }];
  const { runNo } = enterRun(ledger, { run: "r", manifest: "{}", output: undefined, chunks, at: AT });
  ledger.transaction(() => {
    for (const chunk of chunksOf(ledger, runNo)) {
      insertOutcomes(ledger, runNo, outcomes);
      changeChunk(ledger, "foundSettled", chunk, chunk);
    }
  });
  mergeOutcomes(ledger);
  const hex = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString("hex"); // two columns of bytes
  return ledger
    .all("SELECT identity, seq, content, taken, event_id, holder FROM deeds ORDER BY seq")
    .map((row) => ({ ...row, identity: hex(row.identity), content: hex(row.content) }));
}

describeBothLedgers("a merge", (of) => {
  test("makes each action a deed with what it says of a sale, whatever bytes its ids have", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 130 }), async (rows) => {
        expect(await merged(of, rows.map(toOutcome))).toEqual(rows.map(told));
      }),
      { numRuns: of.kind === "sqlite" ? 40 : 10 },
    );
  });
});

test("as many actions without a place as an import has are remembered at once", { tags: ["long"] }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "tickets-unplaced-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  using ledger = openLedger({ path: join(folder, "ledger.db"), boundTo: undefined });
  const chunks = [{ lane: 0, first: 1, count: 1, offset: 0, length: 0 }];
  const { runNo } = enterRun(ledger, { run: "r", manifest: "{}", output: undefined, chunks, at: AT });
  const rows = Array.from({ length: MANY }, (_, at): NewOutcome => {
    const identity = Buffer.alloc(16);
    identity.writeUInt32BE(at);
    const said = { action: "soldTicket" as const, data: { eventId: "E", ticketId: `T-${at}`, userId: "u" } };
    return { ...toOutcome({ ...said, identity, outcome: "accepted" }, at), data: JSON.stringify(said.data) };
  });
  ledger.transaction(() => rememberUnplaced(ledger, runNo, rows));
  expect(ledger.get("SELECT count(*) AS n FROM deeds")).toEqual({ n: MANY });
});

/** More than a function may be given as arguments. */
const MANY = 140_000;
