// @module-tag long

/** A promises file that a power cut left torn. */

import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { dies, type SalesRig, salesRig, settleByTruth } from "../../support/interrupted.ts";
import { expectAllShown } from "../../support/invariant/truth.ts";
import { readPromises } from "../../support/tables.ts";

describe("a promises file that a power cut left torn", () => {
  /** The lines of the second chunk are on disk, but the ledger does not know it; the third chunk flies. */
  async function cutOff(): Promise<{ rig: SalesRig; command: readonly string[]; text: string; recorded: number }> {
    const rig = await salesRig(20);
    const command = rig.stream("TICKETS_CHUNK_SIZE=5");
    await dies(rig, command, "projected", 2);
    const text = rig.place.read("out.ndjson");
    expect(text.split("\n")).toHaveLength(11);
    return { rig, command, text, recorded: Buffer.byteLength(text.split("\n").slice(0, 5).join("\n")) + 1 };
  }

  test.each<[string, (tail: Buffer) => Buffer]>([
    ["it ends in the middle of a line", (tail) => tail.subarray(0, tail.indexOf("\n") + 20)],
    ["nothing of it is there", () => Buffer.alloc(0)],
    ["one byte of it is there", (tail) => tail.subarray(0, 1)],
    ["all but its last byte is there", (tail) => tail.subarray(0, -1)],
    ["all of it is there", (tail) => tail],
    ["the file system made room for what it then did not write", (tail) => Buffer.from(tail).fill(0, 40)],
  ])("is cut back and completed: %s", async (_, tear) => {
    const { rig, command, text, recorded } = await cutOff();
    const bytes = Buffer.from(text);
    const torn = Buffer.concat([bytes.subarray(0, recorded), tear(bytes.subarray(recorded))]);
    writeFileSync(rig.place.path("out.ndjson"), torn);
    expect((await rig.run(command)).exitCode).toBe(6);
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(command)).exitCode).toBe(0);
    await expectAllShown(rig, rig.placed);
  });

  test("is left alone when what stands at its end is not what was being written; the rest goes elsewhere", async () => {
    const { rig, command, text, recorded } = await cutOff();
    rig.place.write("out.ndjson", `${text}{"mine":1}\n`);
    const moved = await rig.run(command);
    expect(moved.exitCode).toBe(6);
    expect(moved.stderr).toContain("The rest goes to out.ndjson.");
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
    expect(rig.place.read("out.ndjson")).toBe(`${text}{"mine":1}\n`);
    const elsewhere = rig.place.files().find((name) => name.startsWith("out.ndjson.")) ?? "";
    const lines = text.slice(0, recorded) + rig.place.read(elsewhere);
    expect(readPromises(lines).map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });
});
