import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, it, test, vi } from "vitest";
import {
  createLanes,
  FIRST_FREE,
  GIVEN_BYTES,
  LANES,
  type Lanes,
  pad,
  paddedBytes,
} from "../../../../src/actions/sha256/lanes.ts";

const BYTES = 256 * 1024;

function made(): Lanes {
  const lanes = createLanes(BYTES);
  if (lanes === undefined) throw new Error("this machine has no lanes");
  return lanes;
}

/** Halves of the digests of messages of as many blocks. */
function digestsOf(lanes: Lanes, messages: readonly Uint8Array[]): readonly string[] {
  const { bytes, digest } = lanes;
  const [{ length } = []] = messages;
  let next = FIRST_FREE + LANES * GIVEN_BYTES;
  const places = messages.map((message) => {
    const at = next;
    bytes.set(message, at);
    pad(lanes, at, message.length);
    next += paddedBytes(message.length);
    return at;
  });
  bytes.fill(0xff, next, next + 64);
  digest(places, paddedBytes(length ?? 0) / 64, FIRST_FREE);
  return messages.map((_, lane) =>
    bytes.toString("hex", FIRST_FREE + lane * GIVEN_BYTES, FIRST_FREE + (lane + 1) * GIVEN_BYTES),
  );
}

/** FIPS 180-4 and the vectors that NIST publishes beside it (SHA256ShortMsg, SHA256LongMsg). */
it.each([
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  [Buffer.from("abc").toString("hex"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    Buffer.from("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").toString("hex"),
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
  ["d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"],
  ["11af", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"],
  [
    Buffer.from(
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
    ).toString("hex"),
    "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
  ],
])("gives what the standard gives: %s", (message, digest) => {
  const bytes = Buffer.from(message, "hex");
  expect(digestsOf(made(), [bytes, bytes, bytes, bytes])).toEqual(Array(LANES).fill(digest.slice(0, 2 * GIVEN_BYTES)));
});

test("each lane gives what Node gives, whatever stands in the others", () => {
  const lanes = made();
  const messages = fc.integer({ min: 1, max: 40 }).chain((blocks) =>
    fc.array(
      fc.uint8Array({ minLength: Math.max(0, 64 * (blocks - 1) - 8), maxLength: 64 * blocks - 9, size: "max" }),
      {
        minLength: LANES,
        maxLength: LANES,
      },
    ),
  );
  fc.assert(
    fc.property(messages, (four) => {
      expect(digestsOf(lanes, four)).toEqual(four.map((each) => hash("sha256", each).slice(0, 2 * GIVEN_BYTES)));
    }),
  );
});

it("is not there where there is no WebAssembly, or one that gives something else", () => {
  vi.stubGlobal("WebAssembly", undefined);
  expect(createLanes(BYTES)).toBeUndefined();
  vi.unstubAllGlobals();
  const { WebAssembly: real } = globalThis as unknown as { WebAssembly: Record<string, unknown> };
  vi.stubGlobal("WebAssembly", {
    ...{ Memory: real.Memory, Module: real.Module },
    Instance: class {
      readonly exports = { digest: (): void => undefined };
    },
  });
  expect(createLanes(BYTES)).toBeUndefined();
  vi.unstubAllGlobals();
  expect(createLanes(BYTES)).toBeDefined();
});
