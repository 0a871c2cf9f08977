import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDigests, MOST_MESSAGE_BYTES } from "../../../../src/plan/candidates/digests.ts";

test.each([true, false])("messages of all lengths come to their digests, each in its place (many: %s)", (isMany) => {
  const digests = createDigests(isMany);
  const short = fc.uint8Array({ maxLength: 400, size: "max" });
  const long = fc.nat(MOST_MESSAGE_BYTES - 64).map((length) => Buffer.alloc(length, 7));
  const row = fc.tuple(short, fc.oneof({ weight: 60, arbitrary: short }, long));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), fc.nat(60), (rows, larger) => {
      let into = Buffer.alloc(24 * 30, 0xee);
      for (const [number, [identity, content]] of rows.entries()) {
        // As the index grows: what is there is copied.
        if (number === larger || number === 30) into = Buffer.concat([into, Buffer.alloc(into.length, 0xee)]);
        const from = digests.room(identity.length + content.length + 200, into);
        digests.memory.set(identity, from);
        const next = from + Math.ceil((identity.length + 9) / 64) * 64;
        digests.memory.set(content, next);
        digests.add(from, from + identity.length, number * 24, 16, into);
        digests.add(next, next + content.length, number * 24 + 16, 8, into);
      }
      digests.flush(into);
      const digestOf = (bytes: Uint8Array, size: number): string => hash("sha256", bytes).slice(0, 2 * size);
      const expected = rows.map(([identity, content]) => digestOf(identity, 16) + digestOf(content, 8)).join("");
      expect(into.toString("hex", 0, rows.length * 24)).toBe(expected);
      expect(into.subarray(rows.length * 24).every((byte) => byte === 0xee)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
