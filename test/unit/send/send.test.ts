import { expect, test } from "vitest";
import type { Chunk, Ledger, Stepped } from "../../../src/ledger/ledger.ts";
import type { ServiceClient } from "../../../src/send/client.ts";
import { type Sending, sendLane } from "../../../src/send/send.ts";

const NEVER = new AbortController().signal;
const CHUNK: Chunk = {
  ...{ run: 1, chunk: 1, lane: 0, stage: 0, state: "planned", count: 1, whole: 1, first: 0, accepted: 0, rejected: 0 },
  ...{ httpStatus: undefined, detail: undefined, answeredAt: undefined },
};
const BODY = Buffer.from('[{"action":"newEvent","data":{"eventId":"E-1","currency":"EUR"}}]');
const ANSWER = Buffer.from(
  '{"status":"success","data":[{"status":"success","action":"newEvent","eventId":"E-1","actionPromise":"p"}]}',
);

test("an answer that can't be compared with earlier ones is kept and in doubt, with the reason", async () => {
  const ends: unknown[] = [];
  let next: Chunk | undefined = CHUNK;
  const ledger = {
    nextChunk: async () => next && { chunk: next, body: BODY },
    advance: async (_run: number, { ended }: Parameters<Ledger["advance"]>[1]): Promise<Stepped> => {
      if (ended !== undefined) ends.push([ended.event, ended.detail, Buffer.from(ended.raw ?? []).toString()]);
      next = undefined;
      return { attempt: 1, obstacle: undefined, isStored: true, doubt: undefined };
    },
  };
  const client: ServiceClient = {
    post: async () => ({ kind: "answer", status: 200, early: false, headers: {}, body: ANSWER, whole: true }),
    get: () => Promise.reject(new Error("not asked")),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const full = (): never => {
    throw new Error("the disk is full");
  };
  const sending: Sending = {
    ...{ ledger: ledger as unknown as Ledger, run: 1, rejectedBefore: 0, deadline: Number.POSITIVE_INFINITY }, // what a lane asks of it
    environment: { retries: 0, retryStatuses: [], maxRejected: 0, refusalsAreWhole: false, timeoutMs: 1000 },
    promises: { add: full, note: full, [Symbol.dispose]: () => undefined },
    ...{ writePromises: async () => undefined, happened: () => undefined, stop: NEVER, abort: NEVER },
    ...{ halt: NEVER, wake: NEVER },
    common: { rejected: 0, answers: 0, notBefore: 0, mostActions: 5000 },
  };
  const detail = "HTTP 200, but it can't be compared with earlier answers (the disk is full)";
  expect(await sendLane(sending, { number: 0, stage: 0, client, claim: undefined })).toMatchObject({
    kind: "in doubt",
    detail,
  });
  expect(ends).toEqual([["doubt", expect.stringContaining(detail), ANSWER.toString()]]);
});
