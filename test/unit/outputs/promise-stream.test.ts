import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { free } from "../../../src/disk/buffers.ts";
import { openPromiseStream } from "../../../src/outputs/promise-sink.ts";

const LABEL = { environment: "x", run: "7f3a0c11" };

it("promises that a stream keeps stay what they are when the memory of their lines is given back", async () => {
  const kept: Buffer[] = [];
  const stream = new Writable({
    write(bytes: Buffer, _encoding, done) {
      kept.push(bytes);
      setImmediate(done);
    },
  });
  await using sink = openPromiseStream(stream, LABEL, () => expect.unreachable("the stream takes all of it"));
  const lines = Uint8Array.from(Buffer.from("one\ntwo\n"));
  await sink.write({ bytes: lines });
  free(lines);
  await sink.write("three\n");
  expect(Buffer.concat(kept).toString()).toBe("one\ntwo\nthree\n");
});
