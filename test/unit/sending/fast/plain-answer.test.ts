/** What the fast path says of an answer is what the reference says, or nothing. */

import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { ACTION_NAMES, actionSpec } from "../../../../src/actions/actions.ts";
import { stringifyJson } from "../../../../src/actions/json.ts";
import { atOnce } from "../../../../src/disk/turns.ts";
import { decodePromises } from "../../../../src/ledger/block.ts";
import { openBlockCompressor } from "../../../../src/ledger/block-compressor.ts";
import { openLineMaker } from "../../../../src/outputs/line-maker.ts";
import type { LineStyle } from "../../../../src/outputs/promise-lines.ts";
import { sentActions, toChunkActions } from "../../../../src/plan/files/chunk-actions.ts";
import { RECORD_BYTES, writeOrigin } from "../../../../src/plan/files/index-file.ts";
import { readExchange } from "../../../../src/sending/answer.ts";
import { type DecidedChunk, decideChunk, decidePlain } from "../../../../src/sending/chunk-outcomes.ts";
import { LETTERS, plainAnswers } from "../../../../src/sending/fast/plain-answer.ts";
import { packChunk } from "../../../../src/sending/pack-chunk.ts";
import { createRunPromises } from "../../../../src/sending/run-promises.ts";
import { outputText } from "../../../support/output-text.ts";
import { codePoint } from "../../../support/texts.ts";

const compressor = openBlockCompressor();
afterAll(() => compressor[Symbol.dispose]());

const AT = "2026-11-24T03:00:00.000Z";
const RUNS = Number(process.env.RUNS ?? 200);

const id = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[\w-]{1,12}$/) },
  { weight: 1, arbitrary: fc.string({ unit: codePoint, minLength: 1, maxLength: 6 }) },
);

const action = fc
  .record({ name: fc.constantFrom(...ACTION_NAMES), id, other: id, byNft: fc.boolean() })
  .map(({ name, id: ticket, other, byNft }) => {
    const data =
      actionSpec(name).about === "event"
        ? { eventId: ticket, currency: "EUR" }
        : name === "soldTicket"
          ? { eventId: other, ticketId: ticket, userId: "u", price: "1" }
          : byNft
            ? { nftId: `${ticket}-1-1`, orderTime: 5 }
            : { ticketId: ticket, orderTime: 5 };
    return { action: name, data: data as Readonly<Record<string, unknown>> };
  });
type Sent = NonNullable<ReturnType<typeof action.generate>["value"]>;

/** How a service writes: the same words each time. */
const hand = fc.record({
  spaced: fc.boolean(),
  promiseFirst: fc.boolean(),
  extra: fc.constantFrom({}, { code: 200 }, { message: "fine", nested: { status: "x" } }),
  withStatus: fc.boolean(),
  tail: fc.constantFrom({}, { request: 1 }),
});
type Hand = NonNullable<ReturnType<typeof hand.generate>["value"]>;

function answerTo(actions: readonly Sent[], { spaced, promiseFirst, extra, withStatus, tail }: Hand): string {
  const data = actions.map(({ action: name, data: { eventId, ticketId, nftId } }) => {
    const actionPromise = randomUUID();
    const ids = {
      ...(eventId !== undefined && { eventId }),
      ...(ticketId !== undefined && { ticketId }),
      ...(nftId !== undefined && { nftId }),
    };
    return promiseFirst
      ? { actionPromise, status: "success", action: name, ...ids, ...extra }
      : { status: "success", action: name, ...ids, ...extra, actionPromise };
  });
  const answer = { ...(withStatus && { status: "success" }), data, ...tail };
  return spaced ? JSON.stringify(answer, undefined, 1) : JSON.stringify(answer);
}

const bytesOf = (actions: readonly Sent[]): Buffer =>
  Buffer.from(`[${actions.map((each) => `${stringifyJson(each)}\n`).join("")}`);

function factsOf(actions: readonly Sent[]) {
  const index = Buffer.alloc(actions.length * RECORD_BYTES, 7);
  for (const [at, { action: name }] of actions.entries()) {
    const origin = {
      input: at % 2,
      line: at * 3 + 2,
      row: at + 1,
      action: name,
      untimed: false,
      keyed: false,
      further: false,
      nth: 0,
    };
    writeOrigin(index, at * RECORD_BYTES, origin);
  }
  const chunk = { runNo: 1, chunk: 4, lane: 0, first: 11, count: actions.length, offset: 0, length: 0 } as never; // all that is asked of it
  return {
    chunk,
    actions: toChunkActions(bytesOf(actions), actions.length),
    index,
    inputs: ["sales.csv", 'ü"\u202e.csv'],
  };
}

const exchangeOf = (body: Buffer) =>
  ({ kind: "answer", status: 200, headers: {}, body, whole: true, early: false }) as const;

/** A damaged answer: some bytes are other ones. */
function damage(body: Buffer, places: readonly number[], byte: number): Buffer {
  const damaged = Buffer.from(body);
  for (const place of places) damaged[place % damaged.length] = byte;
  return damaged;
}

/** Too few for a thread. */
const { make } = openLineMaker();

const STYLES: readonly LineStyle[] = [
  { label: { environment: "x", run: "7f3a0c11" }, format: "ndjson", safeCsv: false },
  { label: { environment: "x", run: "7f3a0c11" }, format: "csv", safeCsv: true },
];

const seen = ({ lines: _, release: __, ...decided }: DecidedChunk) => ({
  ...decided,
  tallies: decided.tallies.toSorted((one, other) => (one.action < other.action ? -1 : 1)),
  blocks: decided.blocks.map(({ promises, actions: packed, ...block }) => ({
    ...block,
    actions: packed.length,
    promises: decodePromises(promises, block.count),
  })),
});

it("no two actions are alike by the letters that tell a form", () => {
  const told = ACTION_NAMES.map((name) => LETTERS.map((at) => name[at]).join(""));
  expect(new Set(told).size).toBe(ACTION_NAMES.length);
});

describe("an answer in the words of one before", () => {
  it("is read as the reference reads it, with the same rows and lines", async () => {
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 1, maxLength: 30 }),
        fc.array(action, { minLength: 1, maxLength: 30 }),
        hand,
        async (first, second, written) => {
          const answers = plainAnswers();
          const [taught, facts] = [factsOf(first), factsOf(second)];
          atOnce(answers.read(Buffer.from(answerTo(first, written)), taught.actions));
          const body = Buffer.from(answerTo(second, written));
          const reference = readExchange(exchangeOf(body), sentActions(facts.actions), [], createRunPromises());
          const answer = atOnce(answers.read(body, facts.actions));
          if (answer === undefined) return;
          plain += 1;
          expect(reference.kind).toBe("decided");
          if (reference.kind !== "decided") return;
          expect(atOnce(createRunPromises().addNew(answer.promises))).toBe(true);
          const packed = await packChunk(facts, compressor);
          const [fast, slow] = [
            decidePlain(facts, answer, AT, packed),
            decideChunk(facts, reference.items, AT, packed),
          ];
          expect(seen(fast)).toEqual(seen(slow));
          for (const style of STYLES)
            expect(outputText(await fast.lines(style, make))).toBe(outputText(await slow.lines(style, make)));
        },
      ),
      { numRuns: RUNS },
    );
    expect(plain, "answers that were plain").toBeGreaterThan(RUNS / 20);
  });

  it("is left to the reference where a byte differs that the reference minds", () => {
    let asked = 0;
    fc.assert(
      fc.property(
        fc.array(action, { minLength: 2, maxLength: 12 }),
        hand,
        fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(0x20, 0x22, 0x2c, 0x30, 0x41, 0x5c, 0x61, 0x7d, 0xc3),
        fc.boolean(),
        (actions, written, places, byte, isTaught) => {
          const answers = plainAnswers();
          const { actions: sent } = factsOf(actions);
          const body = Buffer.from(answerTo(actions, written));
          if (isTaught) atOnce(answers.read(body, sent));
          const damaged = damage(body, places, byte);
          const answer = atOnce(answers.read(damaged, sent));
          if (answer === undefined) return;
          asked += 1;
          const reference = readExchange(exchangeOf(damaged), sentActions(sent), [], createRunPromises());
          if (!atOnce(createRunPromises().addNew(answer.promises))) return;
          expect(reference.kind === "decided" && reference.items.every(({ outcome }) => outcome === "accepted")).toBe(
            true,
          );
          if (reference.kind !== "decided") return;
          expect(decodePromises(answer.promises, actions.length)).toEqual(
            reference.items.map((item) => "actionPromise" in item && item.actionPromise),
          );
        },
      ),
      { numRuns: RUNS * 5 },
    );
    expect(asked, "damaged answers that were plain all the same").toBeGreaterThan(0);
  });

  it("is plain from the first on: of thousands of items the reference reads a few", () => {
    const sales = Array.from({ length: 3000 }, (_, at): Sent => {
      const name = at % 1000 === 7 ? "newEvent" : "soldTicket";
      return { action: name, data: { eventId: `E-${at}`, ...(name === "soldTicket" && { ticketId: `T-${at}` }) } };
    });
    const written = { spaced: false, promiseFirst: true, extra: {}, withStatus: true, tail: { request: 1 } } as const;
    const body = Buffer.from(answerTo(sales, written));
    const answer = atOnce(plainAnswers().read(body, factsOf(sales).actions));
    expect(answer?.starts).toHaveLength(sales.length);
  });

  it.each([
    ["ends within a text", '{"status":"success","data":[{"status":"suc'],
    ["ends within an item", '{"status":"success","data":[{"status":"success"'],
    ["ends within a backslash", '{"status":"success","data":[{"status":"\\'],
    ["is empty", ""],
    ["is no object", "[]"],
    ["has no list", '{"status":"success","data":"[{}]"}'],
    ["closes what is not open", '{"status":"success","data":[}]]}'],
  ])("is left to the reference where it %s", (_, text) => {
    const { actions } = factsOf([{ action: "newEvent", data: { eventId: "E-1" } }]);
    expect(atOnce(plainAnswers().read(Buffer.from(text), actions))).toBeUndefined();
  });

  it("is left to the reference where one of the items is of another kind, about something else or not accepted", () => {
    const sales = Array.from({ length: 50 }, (_, at): Sent => {
      return { action: "soldTicket", data: { eventId: "E", ticketId: `T-${at}` } };
    });
    const written = { spaced: false, promiseFirst: false, extra: {}, withStatus: true, tail: {} };
    const body = answerTo(sales, written);
    const { actions } = factsOf(sales);
    for (const at of [0, 3, 30, 49]) {
      const others = [
        body.replace(new RegExp(`"ticketId":"T-${at}"`), '"ticketId":"T-x"'),
        body.replace(
          new RegExp(`(.*)"status":"success"(,"action":"soldTicket","eventId":"E","ticketId":"T-${at}")`),
          '$1"status":"failed"$2',
        ),
        body.replace(new RegExp(`"ticketId":"T-${at}",`), `"ticketId":"T-${at}","error":"no",`),
      ];
      for (const other of others) {
        expect(other).not.toBe(body);
        expect(atOnce(plainAnswers().read(Buffer.from(other), actions))).toBeUndefined();
      }
    }
    expect(atOnce(plainAnswers().read(Buffer.from(body), actions))).toBeDefined();
  });
});
