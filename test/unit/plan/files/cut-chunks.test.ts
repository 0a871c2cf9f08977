/** Chunks are cut as someone would who has all lines in memory. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { ChunkCuts, cutChunks } from "../../../../src/plan/files/cut-chunks.ts";
import { RECORD_BYTES } from "../../../../src/plan/files/index-file.ts";
import { planFiles, sha256 } from "../../../../src/plan/files/plan.ts";

interface Asked {
  readonly lines: readonly string[];
  readonly chunkSize: number;
  readonly maxBytes?: number;
  readonly perLane?: readonly number[];
}

const recordsOf = (from: number, to: number): Buffer =>
  Buffer.concat(Array.from({ length: to - from }, (_, at) => Buffer.alloc(RECORD_BYTES, (from + at) % 251)));

function write({ lines }: Asked): ReturnType<typeof planFiles> {
  const folder = mkdtempSync(join(tmpdir(), "tickets-cut-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const paths = planFiles(folder);
  writeFileSync(paths.actions, lines.map((line) => `${line}\n`).join(""));
  writeFileSync(paths.index, recordsOf(0, lines.length));
  return paths;
}

const limitsOf = ({ chunkSize, maxBytes = Number.POSITIVE_INFINITY }: Asked) => ({ size: chunkSize, bytes: maxBytes });

const cut = async (asked: Asked) =>
  asked.perLane === undefined ? cutChunks(write(asked), limitsOf(asked)) : cutLanes(asked, asked.perLane);

/** Lane by lane. */
function cutLanes({ lines, ...asked }: Asked, perLane: readonly number[]) {
  let [first, offset] = [1, 0];
  return perLane.flatMap((count, lane) => {
    const cuts = new ChunkCuts(limitsOf({ lines, ...asked }), { lane, first, offset });
    for (let at = first - 1; at < first - 1 + count; at += 1) {
      const line = Buffer.from(`${lines[at]}\n`);
      cuts.take(line, recordsOf(at, at + 1));
      offset += line.length;
    }
    first += count;
    return cuts.end();
  });
}

/** With all lines in memory, one after the other. */
function expected({ lines, chunkSize, maxBytes = Number.POSITIVE_INFINITY, perLane = [] }: Asked) {
  const chunks: { lane: number; lines: string[] }[] = [];
  const laneOf = lines.map((_, at) => {
    let lane = 0;
    for (
      let last = perLane[0] ?? Number.POSITIVE_INFINITY;
      at >= last;
      last += perLane[lane] ?? Number.POSITIVE_INFINITY
    )
      lane += 1;
    return lane;
  });
  const bodyOf = (some: readonly string[]): string => `[${some.join(",")}]`;
  for (const [at, line] of lines.entries()) {
    const chunk = chunks.at(-1);
    const fits =
      chunk !== undefined &&
      chunk.lane === laneOf[at] &&
      chunk.lines.length < chunkSize &&
      Buffer.byteLength(bodyOf([...chunk.lines, line])) <= maxBytes;
    if (fits) chunk.lines.push(line);
    else chunks.push({ lane: laneOf[at] ?? 0, lines: [line] });
  }
  let first = 1;
  let offset = 0;
  return chunks.map(({ lane, lines: own }) => {
    const text = own.map((line) => `${line}\n`).join("");
    const length = Buffer.byteLength(text);
    const count = own.length;
    const indexSha256 = sha256(recordsOf(first - 1, first - 1 + count));
    const chunk = { lane, first, count, offset, length, sha256: sha256(Buffer.from(text)), indexSha256 };
    first += count;
    offset += length;
    return chunk;
  });
}

describe("chunks of a plan", () => {
  it("of any lines, sizes and lanes", async () => {
    const asked = fc
      .record({
        lengths: fc.array(fc.oneof({ weight: 40, arbitrary: fc.nat({ max: 40 }) }, fc.nat({ max: 300 })), {
          minLength: 1,
          maxLength: 60,
        }),
        chunkSize: fc.integer({ min: 1, max: 12 }),
        maxBytes: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
        borders: fc.array(fc.nat({ max: 60 }), { maxLength: 4 }),
      })
      .map(({ lengths, chunkSize, maxBytes, borders }): Asked => {
        const lines = lengths.map((length, at) => `${at}${"é".repeat(length)}`);
        const ends = [...new Set([...borders.filter((end) => end > 0 && end < lines.length), lines.length])].sort(
          (one, other) => one - other,
        );
        const perLane = ends.map((end, at) => end - (ends[at - 1] ?? 0));
        return { lines, chunkSize, ...(ends.length > 1 && { perLane }), ...(maxBytes !== undefined && { maxBytes }) };
      });
    await fc.assert(
      fc.asyncProperty(asked, async (each) => {
        expect(await cut(each)).toEqual(expected(each));
      }),
    );
  });

  it("of lines that are longer than what is read at once, and stand across its borders", async () => {
    const lines = [3, 700_000, 400_000, 5, 2_500_000, 1_048_575, 1_048_576, 10].map((length) => "x".repeat(length));
    for (const maxBytes of [undefined, 1_500_000]) {
      const asked = { lines, chunkSize: 3, ...(maxBytes !== undefined && { maxBytes }) };
      expect(await cut(asked)).toEqual(expected(asked));
    }
  });

  it("none of an empty plan; a last line without its end is refused", async () => {
    expect(await cut({ lines: [], chunkSize: 5 })).toEqual([]);
    const paths = write({ lines: ["a"], chunkSize: 5 });
    writeFileSync(paths.actions, "a\nb");
    await expect(cutChunks(paths, { size: 5, bytes: Number.POSITIVE_INFINITY })).rejects.toThrow(
      "does not end with a newline",
    );
  });
});
