import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ACTION_NAMES } from "../../../../src/actions/actions.ts";
import { parseJson, stringifyJson } from "../../../../src/actions/json.ts";
import { sentActions, toChunkActions } from "../../../../src/plan/files/chunk-actions.ts";
import { codePoint } from "../../../support/texts.ts";

type Data = Readonly<Record<string, unknown>>;
interface Line {
  readonly action: string;
  readonly data: Data;
}

const chunkOf = (lines: readonly Line[]) =>
  toChunkActions(Buffer.from(`\n${lines.map((line) => `${stringifyJson(line)}\n`).join("")}`), lines.length);

const ids = ({ eventId, ticketId, nftId }: Data): Data =>
  Object.fromEntries(Object.entries({ eventId, ticketId, nftId }).filter(([, value]) => value != null));

/** Texts that look like JSON, like the keys that are looked for, or like nothing that a terminal shows. */
const text = fc.oneof(
  fc.string({ unit: codePoint, minLength: 1 }),
  fc.constantFrom('","ticketId":"x', '\\"', "\\", "}{][,", "日本", "é", "😀", '{"eventId":"E"}', "\n", "\ud800"),
);
const value = fc.oneof(text, fc.jsonValue(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constant(null));
const data = fc
  .record(
    {
      eventId: fc.option(text),
      ticketId: fc.option(text),
      nftId: fc.option(text),
      metadataAttributes: value,
      name: value,
      eventI: value,
    },
    { requiredKeys: [] },
  )
  .chain((fields) => fc.shuffledSubarray(Object.entries(fields), { minLength: Object.keys(fields).length }))
  .map((entries): Data => Object.fromEntries(entries));
const lines = fc.array(fc.record({ action: fc.constantFrom(...ACTION_NAMES), data }), { minLength: 1, maxLength: 8 });

describe("the actions of a chunk", () => {
  it("are a JSON array of the plan's lines", () => {
    fc.assert(
      fc.property(lines, (given) => {
        expect(parseJson(Buffer.from(chunkOf(given).body).toString("utf8"))).toEqual(
          parseJson(`[${given.map((line) => stringifyJson(line)).join(",")}]`),
        );
      }),
    );
  });

  it("are read out of their bytes as parsing them would, whatever stands in them", () => {
    fc.assert(
      fc.property(lines, (given) => {
        const chunk = chunkOf(given);
        expect(sentActions(chunk)).toEqual(given.map((line) => ({ action: line.action, data: ids(line.data) })));
        for (const [at, line] of given.entries()) {
          const read = chunk.read(at);
          expect(read.action).toBe(line.action);
          expect(Buffer.from(read.data).toString("utf8")).toBe(stringifyJson(line.data));
          expect(read.length).toBe(Buffer.byteLength(stringifyJson(line)));
        }
      }),
    );
  });

  it.each([
    ["fewer", 1],
    ["more", 3],
  ])("of a chunk that has %s actions than its lines are refused", (_what, count) => {
    const line = '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}\n';
    expect(() => toChunkActions(Buffer.from(`\n${line}${line}`), count)).toThrow(/actions/);
  });

  it("that are not as the planner writes them are refused", () => {
    expect(() => toChunkActions(Buffer.from('\n{"data":{},"action":"newEvent"}\n'), 1)).toThrow(/planner/);
  });
});
