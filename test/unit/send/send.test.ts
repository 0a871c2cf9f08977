import { expect, test } from "vitest";
import type { Chunk, Ledger, Stepped } from "../../../src/ledger/ledger.ts";
import type { ServiceClient } from "../../../src/send/client.ts";
import { openSeenPromises } from "../../../src/send/seen.ts";
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

test("a claimed lane reads earlier promises before its request leaves: an answer is stored as soon as it is there", async () => {
  const steps: string[] = [];
  using seen = openSeenPromises();
  let next: Chunk | undefined = CHUNK;
  const ledger = {
    nextChunk: async () => next && { chunk: next, body: BODY },
    advance: async (_run: number, { ended, intent }: Parameters<Ledger["advance"]>[1]): Promise<Stepped> => {
      steps.push([ended && "stored", intent && "intent"].filter((step) => step !== undefined).join());
      if (intent !== undefined) next = undefined;
      return { attempt: 1, obstacle: undefined, isStored: true, doubt: undefined };
    },
  };
  const client: ServiceClient = {
    async post() {
      steps.push("request");
      return { kind: "answer", status: 200, early: false, headers: {}, body: ANSWER, whole: true };
    },
    get: () => Promise.reject(new Error("not asked")),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const sending: Sending = {
    ...{ ledger: ledger as unknown as Ledger, run: 1, rejectedBefore: 0, deadline: Number.POSITIVE_INFINITY }, // what a lane asks of it
    environment: { retries: 0, retryStatuses: [], maxRejected: 0, refusalsAreWhole: false, timeoutMs: 1000 },
    async promises() {
      if (!steps.includes("promises")) steps.push("promises");
      return seen;
    },
    ...{ writePromises: async () => undefined, happened: () => undefined, stop: NEVER, abort: NEVER, halt: NEVER },
    common: { rejected: 0, answers: 0, notBefore: 0, mostActions: 5000 },
  };
  const claim = { run: 1, lane: 0, worker: 1, fence: 1 };
  expect(await sendLane(sending, { number: 0, stage: 0, client, claim })).toEqual({ kind: "finished" });
  expect(steps).toEqual(["promises", "intent", "request", "stored"]);
});
