import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDigests, DIGESTS_BYTES, MOST_MESSAGE_BYTES } from "../../../../src/plan/candidates/digests.ts";
import { RowMemory } from "../../../../src/plan/candidates/row-memory.ts";

const ROWS = 60;
const RESULT = 24;

test.each([true, false])("messages of all lengths come to their digests, each in its place (many: %s)", (isMany) => {
  const short = fc.uint8Array({ maxLength: 400, size: "max" });
  const long = fc.nat(MOST_MESSAGE_BYTES - 1024).map((length) => Buffer.alloc(length, 7));
  const row = fc.tuple(short, fc.oneof({ weight: 60, arbitrary: short }, long));
  const memory = new RowMemory(DIGESTS_BYTES + 64 + RESULT * (ROWS + 1), isMany);
  expect(memory.lanes !== undefined).toBe(isMany);
  const digests = createDigests(memory);
  const results = memory.allot(RESULT * (ROWS + 1));
  fc.assert(
    fc.property(fc.array(row, { maxLength: ROWS }), (rows) => {
      memory.bytes.fill(0xee, results, results + RESULT * (ROWS + 1));
      for (const [number, [identity, content]] of rows.entries()) {
        const from = digests.room(identity.length + content.length + 200);
        memory.bytes.set(identity, from);
        const next = from + Math.ceil((identity.length + 9) / 64) * 64;
        memory.bytes.set(content, next);
        digests.add(from, from + identity.length, results + number * RESULT, 16);
        digests.add(next, next + content.length, results + number * RESULT + 16, 8);
      }
      digests.flush();
      const digestOf = (bytes: Uint8Array, size: number): string => hash("sha256", bytes).slice(0, 2 * size);
      const expected = rows.map(([identity, content]) => digestOf(identity, 16) + digestOf(content, 8)).join("");
      const end = results + rows.length * RESULT;
      expect(memory.bytes.toString("hex", results, end)).toBe(expected);
      expect(memory.bytes.subarray(end, results + RESULT * (ROWS + 1)).every((byte) => byte === 0xee)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
