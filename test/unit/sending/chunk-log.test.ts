import { afterAll, expect, it, onTestFinished } from "vitest";
import { openBlockCompressor } from "../../../src/ledger/block-compressor.ts";
import { openCheckpointer } from "../../../src/ledger/checkpointer.ts";
import { chunksOf, enterRun } from "../../../src/ledger/runs.ts";
import type { PromiseSink } from "../../../src/outputs/promise-sink.ts";
import { toChunkActions } from "../../../src/plan/files/chunk-actions.ts";
import { RECORD_BYTES } from "../../../src/plan/files/index-file.ts";
import type { Plan } from "../../../src/plan/files/plan.ts";
import { openChunkLog } from "../../../src/sending/chunk-log.ts";
import { decideChunk } from "../../../src/sending/chunk-outcomes.ts";
import { rejectTooLarge } from "../../../src/sending/chunk-parts.ts";
import { packChunk } from "../../../src/sending/pack-chunk.ts";
import { openPromiseLog } from "../../../src/sending/promise-log.ts";
import { describeBothLedgers, type LedgerKind } from "../../support/both-ledgers.ts";

const compressor = openBlockCompressor();
afterAll(() => compressor[Symbol.dispose]());

const AT = "2026-11-21T03:00:00.000Z";
const LINE = Buffer.from('{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}\n');

/** A lane of three planned chunks of an action each, and what a process that came after a crash would find on disk. */
async function beginIn({ newPlace }: LedgerKind) {
  const place = await newPlace();
  const ledger = place.open();
  onTestFinished(() => {
    ledger[Symbol.dispose]();
    place[Symbol.dispose]();
  });
  const chunks = [0, 1, 2].map((at) => ({
    lane: 0,
    first: at + 1,
    count: 1,
    offset: at * LINE.length,
    length: LINE.length,
  }));
  const { runNo } = enterRun(ledger, { run: "7f3a0c11", manifest: "{}", output: undefined, chunks, at: AT });
  const onDisk = (): readonly string[] => {
    using found = place.open({ readOnly: true });
    return found
      .all("SELECT state, projected FROM chunks ORDER BY chunk")
      .map(({ state, projected }) => `${state}${projected ? ", projected" : ""}`);
  };
  const written: { readonly lines: string; readonly found: readonly string[] }[] = [];
  let isFull = false;
  let others: Promise<void> = Promise.resolve();
  const promises: PromiseSink = {
    path: undefined,
    style: { label: { environment: "x", run: "7f3a0c11" }, format: "ndjson", safeCsv: false },
    write: async (lines) => {
      await others;
      if (isFull) throw new Error("no room");
      written.push({ lines: String(lines), found: onDisk() });
      return () => undefined;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  const facts = () => ({
    actions: toChunkActions(LINE.toString(), 1),
    index: Buffer.alloc(RECORD_BYTES, 1),
  });
  // All that is asked of a plan.
  const plan = { manifest: { inputs: [{ name: "events.csv" }] }, chunk: async () => facts() } as unknown as Plan;
  const told: number[] = [];
  const context = { ledger, plan, runNo, promises };
  const log = openChunkLog(context, { number: 0 }, openPromiseLog(context, openCheckpointer(ledger)), {
    onRecorded: ({ chunk }) => {
      told.push(chunk.chunk);
    },
    onLate: () => undefined,
  });
  /** Sends the lane's next chunk; the service accepts it. */
  const send = async (): Promise<void> => {
    const chunk = log.next();
    if (chunk === undefined) throw new Error("nothing is planned");
    expect(log.intend(chunk)).toEqual({ kind: "begun", attempt: 1 });
    const ofChunk = { chunk, ...facts(), inputs: [] };
    const items = [{ outcome: "accepted", status: "success", actionPromise: `p-${chunk.chunk}` }] as const;
    const decided = decideChunk(ofChunk, items, AT, await packChunk(ofChunk, compressor));
    log.conclude(chunk, { event: "answer", decided, status: 200, at: AT, body: Buffer.alloc(0) });
  };
  const fill = (): void => {
    isFull = true;
  };
  /** What is to be written waits until what this returns is called. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    others = promise;
    return resolve;
  };
  return { ledger, runNo, context, log, onDisk, written, told, send, fill, hold };
}

describeBothLedgers("a lane's log", (of) => {
  const begin = () => beginIn(of);

  it("what became of a chunk is on disk with the next intent, before its promises, and both before it is told", async () => {
    const { log, onDisk, written, told, send } = await begin();
    await send();
    expect(onDisk(), "the answer only waits").toEqual(["sending", "planned", "planned"]);
    await send();
    expect(onDisk()).toEqual(["settled", "sending", "planned"]);
    expect(told).toEqual([]);
    await log.record();
    expect(written.map(({ found }) => found)).toEqual([
      ["settled", "settled", "planned"],
      ["settled, projected", "settled", "planned"],
    ]);
    expect(told).toEqual([1, 2]);
  });

  it("what was written is noted with the next intent, and before anything else is written", async () => {
    const { log, onDisk, written, send } = await begin();
    await send();
    log.store();
    await log.write();
    expect(onDisk()).toEqual(["settled", "planned", "planned"]);
    await send();
    expect(onDisk()).toEqual(["settled, projected", "sending", "planned"]);
    log.store();
    await log.write();
    await send();
    log.store();
    await log.write();
    expect(written.map(({ found }) => found)).toEqual([
      ["settled", "planned", "planned"],
      ["settled, projected", "settled", "planned"],
      ["settled, projected", "settled, projected", "settled"],
    ]);
    await log.record();
    expect(onDisk()).toEqual(["settled, projected", "settled, projected", "settled, projected"]);
  });

  it("what is the last of a lane is stored before it is recorded", async () => {
    const { log, onDisk, written, told, send } = await begin();
    for (let at = 0; at < 3; at += 1) {
      await send();
      await log.record();
    }
    expect(written.map(({ found }) => found)).toEqual([
      ["settled", "planned", "planned"],
      ["settled, projected", "settled", "planned"],
      ["settled, projected", "settled, projected", "settled"],
    ]);
    expect(written.map(({ lines }) => JSON.parse(lines).actionPromise)).toEqual(["p-1", "p-2", "p-3"]);
    expect(onDisk()).toEqual(["settled, projected", "settled, projected", "settled, projected"]);
    expect(told).toEqual([1, 2, 3]);
    await log.record();
    expect(written).toHaveLength(3);
  });

  it("an answer that comes while others write is stored at once, and written behind the one before it", async () => {
    const { log, onDisk, written, told, send, hold } = await begin();
    await send();
    const release = hold();
    const first = log.record();
    await send();
    log.store();
    expect(onDisk()).toEqual(["settled", "settled", "planned"]);
    const second = log.record();
    expect(written).toEqual([]);
    release();
    await first;
    expect(told).toEqual([1]);
    await second;
    expect(written.map(({ lines }) => JSON.parse(lines).actionPromise)).toEqual(["p-1", "p-2"]);
    expect(told).toEqual([1, 2]);
  });

  it.each([
    ["giveBack", "planned"],
    ["refuse", "refused"],
    ["doubt", "in doubt"],
  ] as const)("of a chunk without an answer that decides, %s is on disk at once", async (event, state) => {
    const { ledger, runNo, log, onDisk, written } = await begin();
    const chunk = log.next();
    if (chunk === undefined) throw new Error("nothing is planned");
    log.intend(chunk);
    const doubted = Buffer.from("half an answer");
    log.conclude(chunk, { event, class: event, httpStatus: 500, detail: "why", at: AT, doubted });
    expect(onDisk()).toEqual([state, "planned", "planned"]);
    expect(chunksOf(ledger, runNo, state)[0]).toMatchObject({ chunk: 1, httpStatus: 500, detail: "why" });
    expect(
      ledger.all("SELECT answer FROM doubted_answers").map(({ answer }) => String(Buffer.from(answer as Uint8Array))),
    ).toEqual(["half an answer"]);
    await log.record();
    expect(written).toEqual([]);
  });

  it("an action that is too large writes its own line only, while those of other chunks wait for their turn", async () => {
    const { context, log, written, send } = await begin();
    await send();
    const tooLarge = log.next();
    if (tooLarge === undefined) throw new Error("nothing is planned");
    log.intend(tooLarge);
    await rejectTooLarge(context, tooLarge, AT);
    await log.record();
    expect(written.map(({ lines }) => JSON.parse(lines)).map(({ chunk, status }) => [chunk, status])).toEqual([
      [2, "too-large"],
      [1, "success"],
    ]);
  });

  it("promises that can't be written leave the outcomes in the ledger, for the next command to write", async () => {
    const { log, onDisk, told, send, fill } = await begin();
    await send();
    fill();
    await expect(log.record()).rejects.toThrow("no room");
    expect(onDisk()).toEqual(["settled", "planned", "planned"]);
    expect(told).toEqual([]);
  });

  it("only what is planned can be intended, and what can't changes nothing", async () => {
    const { log, onDisk, send } = await begin();
    const chunk = log.next();
    if (chunk === undefined) throw new Error("nothing is planned");
    await send();
    expect(() => log.intend(chunk)).toThrow('chunk 1 of run 1 is settled, so "intend" can\'t happen to it');
    expect(onDisk(), "the answer that came with it is not stored by half").toEqual(["sending", "planned", "planned"]);
  });
});
