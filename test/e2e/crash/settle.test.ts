// @module-tag long

/** What a person says of a chunk in doubt, killed and repeated. */

import { describe, expect, test } from "vitest";
import { dies, processedCount, salesRig, states, summaryIn } from "../../support/interrupted.ts";
import { readRuns } from "../../support/invariant/runs.ts";
import { expectAllShown, readTruth } from "../../support/invariant/truth.ts";
import { readPromises, salesTable } from "../../support/tables.ts";

describe("settle", () => {
  async function inDoubt(point: "intended" | "answered" = "answered") {
    const rig = await salesRig(20);
    const command = rig.stream("TICKETS_CHUNK_SIZE=5");
    await dies(rig, command, point, 2);
    expect((await rig.run(command)).exitCode).toBe(6);
    const [question] = (await readTruth(rig, rig.placed)).questions;
    if (question === undefined) throw new Error("nothing is in doubt");
    return { rig, command, run: question.run, settle: ["settle", question.run, "--env", "playground"] };
  }

  test.each(["settled", "projected"] as const)("--sent that dies at %s is repeated", async (point) => {
    const { rig, command, settle } = await inDoubt();
    await dies(rig, [...settle, "--sent"], point);
    expect((await rig.run([...settle, "--sent"])).exitCode).toBe(0);
    expect((await rig.run(command)).exitCode).toBe(0);
    await expectAllShown(rig, rig.placed);
  });

  test("right after a kill, a word without a chunk decides nothing: nobody has looked yet", async () => {
    const rig = await salesRig(20);
    const command = rig.stream("TICKETS_CHUNK_SIZE=5");
    await dies(rig, command, "answered", 2);
    const settle = ["settle", (await readRuns(rig))[0]?.run ?? "", "--env", "playground"];
    const unseen = await rig.run([...settle, "--not-sent"]);
    expect(unseen.exitCode).toBe(2);
    expect(unseen.stderr).toMatch(/Run \w+ has chunks to decide about that you may not have seen, so name one\./);
    expect(unseen.stderr).toMatch(/tickets settle \w+ --chunk 2 --not-sent --env playground/);
    const looked = await rig.run(settle);
    expect(looked.stderr).toContain("A slow service may still be working on it: wait before you look");
    expect((await rig.run([...settle, "--chunk", "2", "--sent"])).exitCode).toBe(0);
    expect((await rig.run(command)).exitCode).toBe(0);
    await expectAllShown(rig, rig.placed);
  });

  test.each([
    ["closing", 1],
    ["rejects written", 1],
  ] as const)("--abandon that dies at %s, pass %i: nothing is sent, and it is repeated", async (point, time) => {
    const rig = await salesRig(20);
    // Refused by the key, so the run is open and nothing is in doubt.
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
    const stopped = await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5", "--json"));
    expect(stopped.exitCode).toBe(5);
    const run = summaryIn(stopped).run ?? "";
    const abandon = ["settle", run, "--abandon", "--env", "playground", "--reason", "for tonight"];
    await dies(rig, abandon, point, time);
    const shown = await rig.run(["status", "--env", "playground"]);
    expect(shown.stdout).toContain("open, being closed");
    // Tonight's job comes before the person does.
    rig.place.write("tonight.csv", salesTable(5, { first: 101 }));
    for (const command of [["stream", "tonight.csv", "--action", "soldTicket"], ["resume"], ["resume", run]]) {
      const other = await rig.run([...command, "--env", "playground"]);
      expect(other.stderr).toContain(`tickets settle ${run} --abandon --env playground`);
      expect(other.stderr).not.toContain("tickets resume");
      expect(other.exitCode).toBe(8);
    }
    expect(processedCount(rig)).toBe(5);

    for (const _ of [1, 2]) expect((await rig.run(abandon)).exitCode).toBe(0);
    expect(await states(rig)).toBe("answered abandoned abandoned abandoned");
    const ended = await rig.run(["status", run, "--env", "playground"]);
    expect(ended.stdout.match(/run closed by .*: for tonight/g)).toHaveLength(1);
    expect(ended.stdout).toContain(": abandoned\n");
    expect((await rig.run(["status", "--env", "playground"])).stdout).toMatch(/abandoned {2}4 /);
    expect(processedCount(rig)).toBe(5);
    expect(
      (await rig.run(["stream", "sales.rejects.csv", "--action", "soldTicket", "--env", "playground"])).exitCode,
    ).toBe(0);
    expect(
      rig
        .requests()
        .flat()
        .map(({ ticketId }) => ticketId)
        .slice(5),
    ).toEqual(rig.placed.slice(5).map(({ action }) => action.data.ticketId));
  });

  test.each([
    ["--sent", "settled", "out.ndjson"],
    ["--sent", "projected", "out.ndjson"],
    ["--sent", "projected", "tonight.ndjson"],
  ] as const)(
    "of a closed run, %s that dies at %s is put right by the next command, to %s",
    async (_, point, output) => {
      const { rig, command, run, settle } = await inDoubt();
      expect((await rig.run([...settle, "--abandon"])).exitCode).toBe(6);
      await dies(rig, [...settle, "--sent"], point);
      const tonight = await rig.run([...command, "-o", output]);
      expect(tonight).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("not appended to") });
      const written = new Set(["out.ndjson", output]);
      expect(rig.place.files().filter((name) => /^[^/]*\.ndjson/.test(name))).toEqual([...written]);
      expect(rig.place.files().filter((name) => name.includes(".rejects."))).toEqual(["sales.rejects.csv"]);
      const lines = [...written].flatMap((name) => readPromises(rig.place.read(name)));
      expect(new Set(lines.map(({ line, action }) => `${action} ${line}`)).size).toBe(lines.length);
      expect(lines).toHaveLength(20);
      const ofClosed = readPromises(rig.place.read("out.ndjson")).filter((line) => line.run === run);
      expect(ofClosed).toHaveLength(10);
      const rejects = rig.place.read("sales.rejects.csv").trimEnd().split("\n").slice(1);
      expect(new Set(rejects.map((row) => row.split(",")[1])).size).toBe(rejects.length);
      expect(rejects).toHaveLength(10);
      expect((await rig.run(settle)).stderr).not.toContain("had not been written whole");
    },
  );

  test.each(["settled", "rejects written"] as const)(
    "of a closed run, --not-sent that dies at %s is repeated, and fills the rejects",
    async (point) => {
      const { rig, command, settle } = await inDoubt("intended");
      await rig.run([...settle, "--abandon"]);
      await dies(rig, [...settle, "--not-sent"], point);
      const tonight = await rig.run(command);
      expect([tonight.exitCode, tonight.stderr]).toEqual([8, expect.stringContaining("--abandon")]);
      expect((await rig.run([...settle, "--not-sent"])).exitCode).toBe(0);
      const rejects = rig.place.read("sales.rejects.csv").trimEnd().split("\n").slice(1);
      expect(new Set(rejects.map((row) => row.split(",")[1])).size).toBe(15);
      expect(rejects).toHaveLength(15);
      expect((await rig.run(command)).exitCode).toBe(0);
      expect(processedCount(rig)).toBe(20);
    },
  );
});
