import { afterAll, expect, it } from "vitest";
import type { ActionData, ActionName } from "../../../src/actions/actions.ts";
import { digestOf, identityText } from "../../../src/actions/identity.ts";
import { endAnswered, markSending } from "../../../src/ledger/attempts.ts";
import { openBlockCompressor } from "../../../src/ledger/block-compressor.ts";
import { insertOutcomes, type NewOutcome } from "../../../src/ledger/blocks.ts";
import { ledgerKnownState } from "../../../src/ledger/known-state.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { mergeOutcomes } from "../../../src/ledger/merge.ts";
import { outcomesOfChunk } from "../../../src/ledger/outcomes.ts";
import { NOTHING_PENDING } from "../../../src/ledger/pending.ts";
import { addChunks, chunksOf, countRun, enterRun } from "../../../src/ledger/runs.ts";
import type { LineStyle } from "../../../src/outputs/promise-lines.ts";
import { toChunkActions } from "../../../src/plan/files/chunk-actions.ts";
import { RECORD_BYTES } from "../../../src/plan/files/index-file.ts";
import type { ItemOutcome } from "../../../src/sending/answer.ts";
import { type ChunkFacts, decideChunk, storeDecided } from "../../../src/sending/chunk-outcomes.ts";
import { packChunk } from "../../../src/sending/pack-chunk.ts";
import { describeBothLedgers, type LedgerKind, newLedger } from "../../support/both-ledgers.ts";

const compressor = openBlockCompressor();
afterAll(() => compressor[Symbol.dispose]());

const AT = "2026-11-21T03:00:00.000Z";
const STYLE: LineStyle = { label: { environment: "x", run: "7f3a0c11" }, format: "ndjson", safeCsv: false };

/** A ledger with a run of one chunk, of which an answer came. */
async function answered(of: LedgerKind, count: number, length: number): Promise<Ledger> {
  const ledger = await newLedger(of, { boundTo: "https://example.test" });
  const chunks = [{ lane: 0, first: 1, count, offset: 0, length }];
  enterRun(ledger, { run: "7f3a0c11", manifest: "{}", output: undefined, chunks, at: AT });
  answer(ledger);
  return ledger;
}

/** Sends what is planned, and stores an answer. */
function answer(ledger: Ledger): void {
  for (const chunk of chunksOf(ledger, 1, "planned")) {
    markSending(ledger, chunk, AT);
    endAnswered(ledger, chunk, { status: 200, at: AT });
  }
}

/** What the answer says becomes outcomes in one transaction. Returns the lines of the promises. */
async function recordOutcomes(ledger: Ledger, facts: ChunkFacts, items: readonly ItemOutcome[]): Promise<string> {
  const decided = decideChunk(facts, items, AT, await packChunk(facts, compressor));
  ledger.transaction(() => storeDecided(ledger, decided));
  return decided.lines(STYLE);
}

/** What has every tally fail, and what ends that. */
const FAILING = [
  "CREATE TRIGGER full BEFORE INSERT ON tallies BEGIN SELECT RAISE(ABORT, 'no_room'); END",
  "DROP TRIGGER full",
] as const;
const FAILING_IN_POSTGRES = [
  "ALTER TABLE tallies ADD CONSTRAINT no_room CHECK (actions < 0)",
  "ALTER TABLE tallies DROP CONSTRAINT no_room",
] as const;

describeBothLedgers("a chunk with an answer of every kind", (of) => {
  const COUNT = 137;
  const lines = Array.from({ length: COUNT }, (_, at) =>
    at % 9 === 0
      ? `{"action":"newEvent","data":{"eventId":"E-${at}","currency":"EUR"}}\n`
      : `{"action":"soldTicket","data":{"eventId":"E-${at}","ticketId":"Grüße \\"${at}\\"","userId":"ann","price":"1"}}\n`,
  );
  const bytes = Buffer.from(lines.join(""));
  const items = Array.from({ length: COUNT }, (_, at): ItemOutcome => {
    if (at === 60) return { outcome: "rejected", status: "error", response: '{"status":"error","why":"日本"}' };
    if (at === 90 || at === 91 || at === 100)
      return { outcome: "in doubt", why: "no promise", status: "success", response: "{}" };
    return { outcome: "accepted", status: "success", actionPromise: `p-${at}` };
  });
  const factsOf = (ledger: Ledger) => {
    const [chunk] = chunksOf(ledger, 1);
    if (chunk === undefined) throw new Error("the run has a chunk");
    const index = Buffer.alloc(COUNT * RECORD_BYTES);
    for (let at = 0; at < COUNT; at += 1) {
      index.writeUInt32LE(at + 2, at * RECORD_BYTES + 4);
      index.writeUInt32BE(0xffff - at, at * RECORD_BYTES + 16);
    }
    const actions = toChunkActions(bytes.toString(), COUNT);
    return { chunk, actions, index, inputs: ["sales.csv"] };
  };

  it("is recorded action by action, with its doubts in chunks of their own", async () => {
    const ledger = await answered(of, COUNT, bytes.length);
    const lines = (await recordOutcomes(ledger, factsOf(ledger), items)).trimEnd().split("\n");
    expect(lines).toHaveLength(COUNT - 3);
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      outcomesOfChunk(ledger, 1, 1).map(({ seq, chunk, source, line, action, eventId, ticketId, ...row }) => ({
        source,
        line,
        action,
        eventId,
        ...(ticketId !== undefined && { ticketId }),
        status: row.status,
        ...(row.actionPromise !== undefined && { actionPromise: row.actionPromise }),
        environment: "x",
        run: "7f3a0c11",
        seq,
        chunk,
        at: AT,
        ...(row.response !== undefined && { response: JSON.parse(row.response) }),
      })),
    );
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ seq: 2, line: 3, ticketId: 'Grüße "1"', actionPromise: "p-1" });
    expect(JSON.parse(lines[60] ?? "")).toMatchObject({ seq: 61, status: "error", response: { why: "日本" } });
    expect(countRun(ledger, 1)).toMatchObject({ accepted: COUNT - 4, rejected: 1, inDoubt: 3 });
    expect(chunksOf(ledger, 1, "in doubt").map(({ first, count }) => [first, count])).toEqual([
      [91, 2],
      [101, 1],
    ]);
  });

  it("that can't be recorded is not recorded by half", async () => {
    const ledger = await answered(of, COUNT, bytes.length);
    const [fail, work] = of.kind === "sqlite" ? FAILING : FAILING_IN_POSTGRES;
    ledger.run(fail);
    await expect(recordOutcomes(ledger, factsOf(ledger), items)).rejects.toThrow("no_room");
    ledger.run(work);
    expect(ledger.get("SELECT count(*) AS n FROM blocks")).toEqual({ n: 0 });
    await recordOutcomes(ledger, factsOf(ledger), items);
    expect(countRun(ledger, 1).accepted).toBe(COUNT - 4);
  });
});

const ticketOf = (ledger: Ledger, ticketId: string) => ledgerKnownState(ledger, NOTHING_PENDING).ticket({ ticketId });

describeBothLedgers("merging", (of) => {
  const outcome = (seq: number, chunk: number, action: ActionName, data: ActionData): NewOutcome => ({
    seq,
    chunk,
    source: "a.ndjson",
    line: seq,
    action,
    data: JSON.stringify(data),
    outcome: "accepted",
    status: "success",
    actionPromise: `p-${seq}`,
    at: AT,
    identity: digestOf(identityText({ action, data })),
    content: Buffer.alloc(8),
  });

  it("follows the order of the plan where a part of a chunk became a chunk of its own", async () => {
    const ledger = await answered(of, 3, 30);
    const [chunk] = chunksOf(ledger, 1);
    if (chunk === undefined) throw new Error("the run has a chunk");
    addChunks(ledger, chunk, [{ first: 2, count: 1, offset: 10, length: 10 }], "planned");
    answer(ledger);
    insertOutcomes(ledger, 1, [
      outcome(1, 1, "newEvent", { eventId: "E", currency: "EUR" }),
      outcome(2, 2, "soldTicket", { eventId: "E", ticketId: "T", userId: "ann", price: "1" }),
      outcome(3, 1, "resoldTicket", { ticketId: "T", userId: "bob", price: "2" }),
    ]);
    mergeOutcomes(ledger);
    expect(ticketOf(ledger, "T")).toEqual({ eventId: "E", holder: "bob", state: "sold" });
    expect(ledger.all("SELECT event_id, currency FROM events")).toEqual([{ event_id: "E", currency: "EUR" }]);
  });

  it("knows the same of tickets that were only sold as of those among other actions", async () => {
    const merged = async (more: readonly NewOutcome[]) => {
      const ledger = await answered(of, 6, 60);
      const [chunk] = chunksOf(ledger, 1);
      if (chunk === undefined) throw new Error("the run has a chunk");
      ledger.run(
        "INSERT INTO tickets (ticket, event_id, holder, state) VALUES ('ticket:T2', 'E', 'eve', 'checked-in')",
      );
      insertOutcomes(ledger, 1, [
        outcome(1, 1, "newEvent", { eventId: "E", currency: "EUR" }),
        outcome(2, 1, "soldTicket", { eventId: "E", ticketId: "T2", userId: "ann", price: "1" }),
        outcome(3, 1, "soldTicket", { eventId: "E", ticketId: 'é"', to: "0x0", price: "1" }),
        { ...outcome(4, 1, "soldTicket", { eventId: "E", ticketId: "T9", price: "1" }), outcome: "rejected" },
        outcome(5, 1, "updateEvent", { eventId: "E", currency: "USD" }),
        ...more,
      ]);
      mergeOutcomes(ledger);
      expect(ledger.all("SELECT event_id, currency FROM events")).toEqual([{ event_id: "E", currency: "USD" }]);
      return ["T2", 'é"', "T9"].map((ticketId) => ticketOf(ledger, ticketId));
    };
    const alone = await merged([]);
    expect(alone).toEqual([{ eventId: "E", holder: "ann", state: "sold" }, { eventId: "E", state: "sold" }, undefined]);
    expect(await merged([outcome(6, 1, "scannedTicket", { ticketId: "other", orderTime: 1 })])).toEqual(alone);
  });
});
