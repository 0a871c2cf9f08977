/** What a person says of a chunk in doubt, killed and repeated. */

import { cpSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Summary } from "../../support/counts.ts";
import { processedCount, salesRig, states, statesOf } from "../../support/interrupted.ts";
import { summaryIn } from "../../support/invariant/sales.ts";
import { readRuns } from "../../support/invariant/told-runs.ts";
import { expectAllTold, readTruth } from "../../support/invariant/truth.ts";
import { readPromises, salesTable } from "../../support/tables.ts";

describe("settle", () => {
  async function inDoubt(point: "intended" | "answered" = "answered") {
    const rig = await salesRig(20);
    const command = rig.stream("--chunk-size", "5");
    await rig.run(command, { interruption: { kind: "boundary", point, time: 2 } });
    expect((await rig.run(command)).exitCode).toBe(6);
    const [question] = (await readTruth(rig, rig.placed)).questions;
    if (question === undefined) throw new Error("nothing is in doubt");
    return { rig, command, run: question.run, settle: ["settle", question.run, "--env", "playground"] };
  }

  test.each(["projected", "recorded", "rejects written", "merged"] as const)(
    "--sent that dies at %s is repeated",
    { tags: ["long"] },
    async (point) => {
      const { rig, command, settle } = await inDoubt();
      const died = await rig.run([...settle, "--sent"], { interruption: { kind: "boundary", point, time: 1 } });
      if (point === "projected" || point === "recorded") expect(died.killed).toBe(true);
      expect((await rig.run([...settle, "--sent"])).exitCode).toBe(0);
      expect((await rig.run(command)).exitCode).toBe(0);
      await expectAllTold(rig, rig.placed);
    },
  );

  test.each([
    ["--sent", "answered", ["settled by hand"]],
    ["--not-sent", "intended", ["planned"]],
  ] as const)("%s twice is as good as once", { tags: ["long"] }, async (decision, point, [state]) => {
    const { rig, command, settle } = await inDoubt(point);
    for (const _ of [1, 2, 3]) {
      expect((await rig.run([...settle, decision])).exitCode).toBe(0);
      expect((await statesOf(rig))[1]).toBe(state);
    }
    expect((await rig.run(command)).exitCode).toBe(0);
    await expectAllTold(rig, rig.placed);
  });

  test("for one chunk, twice is as good as once", { tags: ["long"] }, async () => {
    const { rig, settle } = await inDoubt("intended");
    const one = [...settle, "--not-sent", "--chunk", "2"];
    expect((await rig.run(one)).exitCode).toBe(0);
    expect((await rig.run(one)).exitCode).toBe(0);
    expect(await states(rig)).toBe("settled planned planned planned");
  });

  describe.each([
    ["closing", 1],
    ["settled", 1],
    ["settled", 3],
    ["rejects written", 1],
    ["merged", 1],
  ] as const)("--abandon that dies at %s, pass %i", (point, time) => {
    const isKept = async (): Promise<void> => {
      const rig = await salesRig(20);
      // Refused by the key, so the run is open and nothing is in doubt.
      rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
      const stopped = await rig.run(rig.stream("--chunk-size", "5", "--json"));
      expect(stopped.exitCode).toBe(5);
      const run = summaryIn<Summary>(stopped).run ?? "";
      const abandon = ["settle", run, "--abandon", "--env", "playground", "--reason", "for tonight"];
      const died = await rig.run(abandon, { interruption: { kind: "boundary", point, time } });
      expect(died.killed).toBe(true);
      const shown = await rig.run(["status", "--env", "playground"]);
      expect(shown.stdout).toContain("open, being closed");
      // Tonight's job comes before the person does.
      rig.place.write("tonight.csv", salesTable(5, { first: 101 }));
      for (const command of [
        ["stream", "tonight.csv", "--action", "soldTicket"],
        ["resume"],
        ["resume", run],
        ["settle", run, "--not-sent"],
      ]) {
        const other = await rig.run([...command, "--env", "playground"]);
        expect(other.stderr).toContain(`tickets settle ${run} --abandon --env playground`);
        expect(other.stderr).not.toContain("tickets resume");
        if (command[0] !== "settle") expect(other.exitCode).toBe(8);
      }
      expect(processedCount(rig)).toBe(5);

      for (const _ of [1, 2]) expect((await rig.run(abandon)).exitCode).toBe(0);
      expect(await states(rig)).toBe("settled abandoned abandoned abandoned");
      const ended = await rig.run(["status", run, "--env", "playground"]);
      expect(ended.stdout.match(/settled run as abandon by .*: for tonight/g)).toHaveLength(1);
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
    };
    const name = "nothing sends what is left of the run, and the same command finishes";
    test(name, { tags: ["long"] }, isKept);
  });

  test("--abandon leaves the rest unsent, and a later command with the same file sends exactly that, but not the doubt", {
    tags: ["long"],
  }, async () => {
    const { rig, command, settle } = await inDoubt();
    expect((await rig.run([...settle, "--abandon"])).exitCode).toBe(6);
    const later = summaryIn<Summary>(await rig.run([...command, "--json"]));
    expect(later.actions).toMatchObject({ total: 20, alreadySent: 5, inDoubt: 5, accepted: 10 });
    expect(later).toMatchObject({ exitCode: 6, next: `tickets ${settle.join(" ")}` });
    expect((await rig.run([...settle, "--sent"])).exitCode).toBe(0);
    const last = summaryIn<Summary>(await rig.run([...command, "--json"]));
    expect(last.actions).toMatchObject({ total: 20, alreadySent: 20 });
    expect(
      new Set(
        rig
          .requests()
          .flat()
          .map(({ data }) => data),
      ).size,
    ).toBe(processedCount(rig));
  });

  describe.each([
    ["--sent", "projected", "out.ndjson"],
    ["--sent", "projected", "tonight.ndjson"],
    ["--sent", "recorded", "out.ndjson"],
    ["--sent", "merged", "out.ndjson"],
    ["--not-sent", "rejects placed", "out.ndjson"],
    ["--not-sent", "rejects written", "out.ndjson"],
  ] as const)("of a run that is closed, %s that dies at %s", (decision, point, output) => {
    const isWritten = async (): Promise<void> => {
      const { rig, command, run, settle } = await inDoubt(decision === "--sent" ? "answered" : "intended");
      expect((await rig.run([...settle, "--abandon"])).exitCode).toBe(6);
      const died = await rig.run([...settle, decision], { interruption: { kind: "boundary", point, time: 1 } });
      expect(died.killed).toBe(true);
      const tonight = await rig.run([...command, "-o", output]);
      expect(tonight).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("not appended to") });
      const written = new Set(["out.ndjson", output]);
      expect(rig.place.files().filter((name) => /^[^/]*\.ndjson/.test(name))).toEqual([...written]);
      expect(rig.place.files().filter((name) => name.includes(".rejects."))).toEqual(["sales.rejects.csv"]);
      const lines = [...written].flatMap((name) => readPromises(rig.place.read(name)));
      expect(new Set(lines.map(({ line, action }) => `${action} ${line}`)).size).toBe(lines.length);
      expect(lines).toHaveLength(20);
      const ofClosed = readPromises(rig.place.read("out.ndjson")).filter((line) => line.run === run);
      expect(ofClosed).toHaveLength(decision === "--sent" ? 10 : 5);
      const rejects = rig.place.read("sales.rejects.csv").trimEnd().split("\n").slice(1);
      expect(new Set(rejects.map((row) => row.split(",")[1])).size).toBe(rejects.length);
      expect(rejects).toHaveLength(decision === "--sent" ? 10 : 15);
      expect((await rig.run(settle)).stderr).not.toContain("had not been written whole");
    };
    const name = `is put right by the next command, which writes ${output}`;
    test(name, { tags: ["long"] }, isWritten);
  });

  test.each<[string, { exitCode: number; remedy: string; harm: (plan: string) => void }]>([
    [
      "lost",
      {
        exitCode: 10,
        remedy: "--abandon --env playground",
        harm: (plan) => rmSync(plan, { recursive: true }),
      },
    ],
    [
      "damaged",
      {
        exitCode: 6,
        remedy: "--env playground",
        harm: (plan) => truncateSync(join(plan, "actions.index"), 100),
      },
    ],
  ])(
    "of a run whose plan is %s leads out of it: nothing is sent before a person says so",
    { tags: ["long"] },
    async (_, { exitCode, remedy, harm }) => {
      const rig = await salesRig(20);
      const command = rig.stream("--chunk-size", "5");
      await rig.run(command, { interruption: { kind: "boundary", point: "intended", time: 3 } });
      const run = (await readRuns(rig))[0]?.run ?? "";
      expect(await states(rig)).toBe("settled settled in doubt planned");
      const settle = ["settle", run, "--env", "playground"];
      const plan = join(rig.state, "runs", run);
      cpSync(plan, `${plan}.backup`, { recursive: true });
      harm(plan);
      const stopped = await rig.run(command);
      expect(stopped.exitCode).toBe(exitCode);
      expect(stopped.stderr).toContain(`tickets settle ${run} ${remedy}`);

      for (const _ of [1, 2]) {
        const closed = await rig.run([...settle, "--abandon", "--json"]);
        expect(closed.exitCode).toBe(6);
        const { actions, next } = summaryIn<Summary>(closed);
        expect(actions).toMatchObject({ accepted: 10, inDoubt: 5, notSent: 5 });
        expect(next).toBe(`tickets settle ${run} --env playground`);
        expect(closed.stderr).toContain(`Then: tickets settle ${run} --env playground --not-sent`);
        const refused = await rig.run(command);
        expect(refused.exitCode).toBe(10);
        expect(refused.stderr).toContain(`Then: tickets settle ${run} --env playground --not-sent`);
        expect((await rig.run(settle)).exitCode).toBe(6);
        expect((await rig.run([...settle, "--sent"])).exitCode).toBe(2);
      }
      expect(await states(rig)).toBe("settled settled in doubt abandoned");
      const sent = processedCount(rig);

      // With the folder, it can be looked at again.
      rmSync(plan, { recursive: true, force: true });
      cpSync(`${plan}.backup`, plan, { recursive: true });
      expect(await rig.run(settle)).toMatchObject({ exitCode: 6 });

      harm(plan);
      expect((await rig.run([...settle, "--not-sent"])).exitCode).toBe(0);
      expect((await rig.run([...settle, "--not-sent"])).exitCode).toBe(0);
      expect(await states(rig)).toBe("settled settled abandoned abandoned");
      expect((await rig.run(command)).exitCode).toBe(0);
      expect(processedCount(rig)).toBe(sent + 10);
    },
  );

  test("--again does not send what is in doubt either", { tags: ["long"] }, async () => {
    const { rig, command, settle } = await inDoubt();
    await rig.run([...settle, "--abandon"]);
    const sent = processedCount(rig);
    await rig.run([...command, "--again"]);
    const doubtful = rig.requests()[1]?.map(({ ticketId }) => ticketId) ?? [];
    const again = rig
      .requests()
      .flat()
      .slice(sent)
      .map(({ ticketId }) => ticketId);
    expect(again.filter((ticketId) => doubtful.includes(ticketId))).toEqual([]);
  });
});
