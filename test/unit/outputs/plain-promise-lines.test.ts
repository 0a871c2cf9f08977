/** Lines that are made of bytes are those that are made of outcomes. */

import { hash, randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActionName } from "../../../src/actions/actions.ts";
import { stringifyJson } from "../../../src/actions/json.ts";
import { openLineMaker } from "../../../src/outputs/line-maker.ts";
import { plainPromiseLines } from "../../../src/outputs/plain-promise-lines.ts";
import { promiseLines } from "../../../src/outputs/promise-lines.ts";
import { toChunkActions } from "../../../src/plan/files/chunk-actions.ts";
import { RECORD_BYTES, writeOrigin } from "../../../src/plan/files/index-file.ts";
import { outputText } from "../../support/output-text.ts";

const LABEL = { environment: "x", run: "7f3a0c11" };
const INPUTS = ["sales.csv", 'ü"\u202e.csv'];
const AT = "2026-11-24T03:00:00.000Z";

/** Ids mostly have one length, so that most lines have the form of the line before. */
const id = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[\w-]{4}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("é", '"', "\\", "\u007f\u007f", "long".repeat(500), "日本日本", "\u202e\u202e"),
  },
);
const action = fc.oneof(
  {
    weight: 9,
    arbitrary: id.map((ticketId) => ({ action: "soldTicket", data: { eventId: "E-1", ticketId } }) as const),
  },
  { weight: 1, arbitrary: id.map((nftId) => ({ action: "scannedTicket", data: { nftId, orderTime: 5 } }) as const) },
  { weight: 1, arbitrary: id.map((ticketId) => ({ action: "scannedTicket", data: { ticketId } }) as const) },
);
const row = fc.record({
  action,
  input: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constant(1)),
  /** From the line before. */
  distance: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(1, 2, 3) }, fc.nat({ max: 2 ** 24 })),
});
const number = fc.constantFrom(1, 5, 8, 90, 95, 99_990, 123_456, 999_980, 2_147_483_640);

interface Row {
  readonly action: Readonly<{ action: ActionName; data: object }>;
  readonly input: number;
  readonly distance: number;
}

/** A chunk that was accepted, and what is told of each of its actions. */
function acceptedOf(rows: readonly Row[], first: number, firstLine: number) {
  let line = firstLine;
  const index = Buffer.alloc(rows.length * RECORD_BYTES, 7);
  const told = rows.map(({ action: { action: name, data }, input, distance }, at) => {
    line += distance;
    const marks = { untimed: false, keyed: false, further: false, nth: 0 };
    writeOrigin(index, at * RECORD_BYTES, { input, line, row: at, action: name, ...marks });
    const outcome = {
      outcome: "accepted",
      status: "success",
      actionPromise: randomUUID(),
      response: undefined,
    } as const;
    return { seq: first + at, chunk: 4, source: INPUTS[input] ?? "", line, action: name, ...data, ...outcome, at: AT };
  });
  const bytes = Buffer.from(`[${rows.map((each) => `${stringifyJson(each.action)}\n`).join("")}`);
  const body = Buffer.from(told.map(({ actionPromise }) => `"${actionPromise}"`).join());
  const promised = { body, starts: Int32Array.from(rows, (_, at) => at * 39 + 1), length: 36 };
  const actions = toChunkActions(bytes, rows.length);
  return { told, accepted: { chunk: { chunk: 4, first }, actions, index, inputs: INPUTS, promised, at: AT } };
}

it("has the same bytes, whatever stands in the lines before", () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 40 }), number, number, (rows, first, firstLine) => {
      const { told, accepted } = acceptedOf(rows, first, firstLine);
      expect(plainPromiseLines(accepted, LABEL).toString("utf8")).toBe(promiseLines(told, LABEL, "ndjson"));
    }),
    { numRuns: Number(process.env.RUNS ?? 200) },
  );
});

describe("lines made on another thread", () => {
  const SALES = Array.from({ length: 5000 }, (_, at): Row => {
    const data = { eventId: "E-1", ticketId: `T-${at}` };
    return { action: { action: "soldTicket", data }, input: at % 2, distance: 1 };
  });

  it("are the same, chunk after chunk, with their digest", async () => {
    await using maker = openLineMaker(SALES.length);
    for (let chunk = 0; chunk < 4; chunk += 1) {
      const { told, accepted } = acceptedOf(SALES, chunk * SALES.length + 1, 1);
      const lines = await maker.make(accepted, LABEL);
      expect(outputText(lines)).toBe(promiseLines(told, LABEL, "ndjson"));
      expect(lines?.sha256).toBe(chunk === 0 ? undefined : hash("sha256", lines?.bytes ?? ""));
      // The first is too short for a thread; the others are gone with what they were made of.
      expect(accepted.promised.starts.length).toBe(chunk === 0 ? SALES.length : 0);
    }
  });

  it("take nothing along that shares its memory", async () => {
    await using maker = openLineMaker(0);
    const { told, accepted } = acceptedOf(SALES, 1, 1);
    const shared = Buffer.concat([accepted.actions.body, Buffer.from("of another")]);
    const body = shared.subarray(0, accepted.actions.body.length);
    const lines = await maker.make({ ...accepted, actions: { ...accepted.actions, body } }, LABEL);
    expect(outputText(lines)).toBe(promiseLines(told, LABEL, "ndjson"));
    expect(shared.subarray(body.length).toString()).toBe("of another");
  });

  it("are lost with the thread, and the next are made without one", async () => {
    await using maker = openLineMaker(0);
    const damaged = acceptedOf(SALES, 1, 1).accepted;
    damaged.index.fill(0xff);
    expect(await maker.make(damaged, LABEL)).toBeUndefined();
    const { told, accepted } = acceptedOf(SALES, 1, 1);
    expect(outputText(await maker.make(accepted, LABEL))).toBe(promiseLines(told, LABEL, "ndjson"));
  });
});
