import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec } from "../../../../src/actions/actions.ts";
import { parseJson, stringifyJson } from "../../../../src/actions/json.ts";
import { sentActions, toChunkActions } from "../../../../src/plan/files/chunk-actions.ts";
import { codePoint } from "../../../support/texts.ts";

type Data = Readonly<Record<string, unknown>>;
interface Line {
  readonly action: string;
  readonly data: Data;
}

const chunkOf = (lines: readonly Line[]) =>
  toChunkActions(lines.map((line) => `${stringifyJson(line)}\n`).join(""), lines.length);

const ids = ({ eventId, ticketId, nftId }: Data): Data =>
  Object.fromEntries(Object.entries({ eventId, ticketId, nftId }).filter(([, value]) => value != null));

/** Texts that look like JSON, like the keys that are looked for, or like nothing that a terminal shows. */
const text = fc.oneof(
  fc.string({ unit: codePoint, minLength: 1 }),
  fc.constantFrom('","ticketId":"x', '\\"', "\\", "}{][,", "日本", "é", "😀", '{"eventId":"E"}', "\n", "\ud800"),
);
const value = fc.oneof(text, fc.jsonValue(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constant(null));
const ID_FIELDS = ["eventId", "ticketId", "nftId"];
/** Which ids the action gives, of those that it takes: one of each that exclude each other. */
const idsFor = (name: ActionName) => {
  const exclusive: readonly string[] = actionSpec(name).exclusive;
  const taken = acceptedFields(name).filter((field) => ID_FIELDS.includes(field));
  const alone = taken.filter((field) => !exclusive.includes(field));
  const rivals = taken.filter((field) => exclusive.includes(field));
  const rival = rivals.length === 0 ? fc.constant([]) : fc.subarray(rivals, { maxLength: 1 });
  return fc.tuple(fc.subarray(alone), rival).map((fields) => fields.flat());
};
const data = (name: ActionName) =>
  fc
    .tuple(
      idsFor(name),
      fc.record({ eventId: fc.option(text), ticketId: fc.option(text), nftId: fc.option(text) }),
      fc.record({ metadataAttributes: value, name: value, eventI: value }, { requiredKeys: [] }),
    )
    .map(([ids, values, others]) => ({
      ...others,
      ...Object.fromEntries(ids.map((id) => [id, values[id as "eventId"]])),
    }))
    .chain((fields) => fc.shuffledSubarray(Object.entries(fields), { minLength: Object.keys(fields).length }))
    .map((entries): Data => Object.fromEntries(entries));
const line = fc
  .constantFrom(...ACTION_NAMES)
  .chain((action) => fc.record({ action: fc.constant(action), data: data(action) }));
const lines = fc.array(line, { minLength: 1, maxLength: 8 });

describe("the actions of a chunk", () => {
  it("are a JSON array of the plan's lines", () => {
    fc.assert(
      fc.property(lines, (given) => {
        expect(parseJson(chunkOf(given).body.toString("utf8"))).toEqual(
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
          expect(read.data).toBe(stringifyJson(line.data));
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
    expect(() => toChunkActions(`${line}${line}`, count)).toThrow(/actions/);
  });
});
