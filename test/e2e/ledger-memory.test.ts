/** A ledger that is lost, restored or someone else's: what gives it its memory back. */

import { copyFileSync, cpSync, readdirSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";
import type { Summary } from "../support/counts.ts";
import { processedCount, salesRig } from "../support/interrupted.ts";
import type { Rig } from "../support/invariant/rig.ts";
import { type SalesRig, summaryIn } from "../support/invariant/sales.ts";
import { salesTable } from "../support/tables.ts";

describe("the ledger", () => {
  const files = (rig: Rig): readonly string[] => readdirSync(rig.state).filter((name) => name.startsWith("ledger.db"));

  async function finished() {
    const rig = await salesRig(20);
    const command = rig.stream("--json");
    expect((await rig.run(command)).exitCode).toBe(0);
    return { rig, command };
  }

  async function expectImported(rig: SalesRig, command: readonly string[], state = "nothing new"): Promise<void> {
    const sent = processedCount(rig);
    const before = rig.place.read("out.ndjson");
    const refused = await rig.run(command);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import out.ndjson");
    expect(processedCount(rig)).toBe(sent);
    const give = ["results", "--import", "out.ndjson", "--env", "playground"];
    expect((await rig.run(give)).exitCode).toBe(0);
    expect((await rig.run(give)).exitCode, "twice is as good as once").toBe(0);
    const again = await rig.run(command);
    expect(again.exitCode).toBe(0);
    expect(summaryIn<Summary>(again).state).toBe(state);
    expect(processedCount(rig)).toBe(sent);
    expect(rig.place.read("out.ndjson")).toBe(before);
  }

  test("that was deleted gets its memory back from the promises, and nothing is sent twice", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    await expectImported(rig, command);
  });

  test("that was restored from an older backup gets its memory back, and nothing is sent twice", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    const backup = rig.place.path("backup");
    cpSync(rig.state, backup, { recursive: true });
    rig.place.write("sales.csv", salesTable(29));
    expect(summaryIn<Summary>(await rig.run(command)).actions).toMatchObject({ accepted: 10, alreadySent: 20 });
    for (const name of files(rig)) rmSync(join(rig.state, name));
    for (const name of readdirSync(backup).filter((each) => each.startsWith("ledger.db")))
      copyFileSync(join(backup, name), join(rig.state, name));
    await expectImported(rig, command);
  });

  async function restoredFromTheMiddle() {
    const rig = await salesRig(20);
    const command = rig.stream("--chunk-size", "5", "--json");
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 3 } }] });
    expect((await rig.run(command)).exitCode).toBe(5);
    const backup = rig.place.path("backup");
    cpSync(rig.state, backup, { recursive: true });
    expect((await rig.run(command)).exitCode).toBe(0);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    for (const name of readdirSync(backup).filter((each) => each.startsWith("ledger.db")))
      copyFileSync(join(backup, name), join(rig.state, name));
    return { rig, command };
  }

  test("that was restored from a backup of the middle of a run does not send the rest a second time", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await restoredFromTheMiddle();
    for (const args of [command, ["resume", "--env", "playground"]]) {
      const refused = await rig.run(args);
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain("Import what it lacks: tickets results --import out.ndjson --env playground");
    }
    expect(processedCount(rig)).toBe(20);
  });

  test("that was restored from a backup of the middle of a run gets its memory back from the promises", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await restoredFromTheMiddle();
    // Its run is open, and nothing of it is left to send.
    await expectImported(rig, command, "finished");
  });

  test("that was restored from a backup of the middle of a run gets its memory back once it is moved away, too", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await restoredFromTheMiddle();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    await expectImported(rig, command);
  });

  test("belongs to its base URL also when its memory was imported", { tags: ["long"] }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    await rig.run(["results", "--import", "out.ndjson", "--env", "playground"]);
    const refused = await rig.run(command, { env: { TICKETS_PLAYGROUND_BASE_URL: "http://127.0.0.1:9" } });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import");
  });

  test("that lost its memory is noticed with promises as CSV too", { tags: ["long"] }, async () => {
    const rig = await salesRig(20);
    const command = ["stream", "events.csv", "sales.csv", "--env", "playground", "-o", "out.csv"];
    expect((await rig.run(command)).exitCode).toBe(0);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const refused = await rig.run(command);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import out.csv");
    const imported = await rig.run(["results", "--import", "out.csv", "--env", "playground"]);
    expect(imported.exitCode, imported.stderr).toBe(0);
    const again = await rig.run(command);
    expect(again.exitCode, again.stderr).toBe(0);
    expect(processedCount(rig)).toBe(20);
  });

  test("that was deleted is no matter of --move-aside, which would have everything sent again", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const refused = await rig.run([...command, "--move-aside"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import out.ndjson");
    expect(processedCount(rig)).toBe(20);
  });

  test.each([
    ["lacks the end of its first line", (promises: string) => promises.replace(/^(.*\n.{40}).*\n/, "$1\n")],
    ["is no promises file", () => salesTable(3)],
  ])("gets nothing back from a table that %s, said in a sentence", { tags: ["long"] }, async (_what, made) => {
    const { rig } = await finished();
    await rig.run(["results", "--env", "playground", "-o", "whole.csv"]);
    rig.place.write("given.csv", made(rig.place.read("whole.csv")));
    const refused = await rig.run(["results", "--import", "given.csv", "--env", "playground"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("given.csv");
    expect(refused.stderr).not.toContain("    at ");
  });

  test("gets its memory back of ids with any character", { tags: ["long"] }, async () => {
    const rig = await salesRig(1);
    const ids = ["\u2028", "\u2029", "\r", "\u0085", "\ufeff", "'=", '"', "\\", "😀"].map(
      (text, at) => `T${text}${at}`,
    );
    const data = (ticketId: string) => ({ eventId: "E-1", ticketId, userId: "u", price: "1", orderTime: 1 });
    const lines = ids.map((ticketId) => `${JSON.stringify({ action: "soldTicket", data: data(ticketId) })}\n`);
    rig.place.write("odd.ndjson", lines.join(""));
    const command = ["stream", "events.csv", "odd.ndjson", "--env", "playground", "-o", "out.ndjson"];
    expect((await rig.run(command)).exitCode).toBe(0);
    const sent = processedCount(rig);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    expect((await rig.run(["results", "--import", "out.ndjson", "--env", "playground"])).exitCode).toBe(0);
    expect((await rig.run(command)).stderr).toContain("Nothing new");
    expect(processedCount(rig)).toBe(sent);
  });

  test("does not get back the keys of a source, and what was sent with one is known by its ticket", {
    tags: ["long"],
  }, async () => {
    const rig = await salesRig(20);
    rig.place.write(
      "tickets.config.yaml",
      `sources:
  sales:
    match: sales.csv
    key: "{ticketId} {orderTime}"
    actions:
      - soldTicket:
          fields: {eventId: "{eventId}", ticketId: "{ticketId}", userId: "{userId}", price: "{price}", orderTime: "{orderTime}"}
`,
    );
    const command = rig.stream("--json");
    expect((await rig.run(command)).exitCode).toBe(0);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    expect((await rig.run(["results", "--import", "out.ndjson", "--env", "playground"])).exitCode).toBe(0);
    const asked = await rig.run(command);
    // A sale is known by its ticket, whatever key its source has.
    expect(asked.exitCode).toBe(0);
    expect(asked.stderr).toContain("Nothing new");
    expect(processedCount(rig)).toBe(20);
  });

  test("gets its memory back also where the promises of a run stand in several files", { tags: ["long"] }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const lines = rig.place.read("out.ndjson").split(/(?<=\n)/);
    // The second file goes on amid a chunk; the third holds all of it once more.
    rig.place.write("part1.ndjson", lines.slice(10, 14).join(""));
    rig.place.write("part2.ndjson", [...lines.slice(0, 10), ...lines.slice(14)].join(""));
    for (const [name, said] of [
      ["part1.ndjson", "4 actions of 1 run imported"],
      ["part2.ndjson", `${lines.length - 4} actions of 1 run imported`],
      ["out.ndjson", `${lines.length} actions were known already`],
    ] as const) {
      const imported = await rig.run(["results", "--import", name, "--env", "playground"]);
      expect(imported.exitCode).toBe(0);
      expect(imported.stderr).toContain(said);
    }
    const again = await rig.run(command);
    expect(summaryIn<Summary>(again)).toMatchObject({ exitCode: 0, state: "nothing new" });
    expect(processedCount(rig)).toBe(20);
    const written = await rig.run(["results", "--env", "playground"]);
    // A chunk of which a file tells only a part is cut there, and its parts stand in the order in which they came.
    const sorted = (text: string): readonly string[] =>
      text
        .replaceAll(/"chunk":\d+/g, '"chunk":0')
        .split("\n")
        .sort();
    expect(sorted(written.stdout)).toEqual(sorted(lines.join("")));
    const status = await rig.run(["status", "--env", "playground", "--json"]);
    expect(status.stdout).toContain(`"accepted":${lines.length}`);
  });

  test("gets its memory back from lines that stand twice, as standard output may have them", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const lines = rig.place.read("out.ndjson");
    rig.place.write("twice.ndjson", lines + lines);
    expect((await rig.run(["results", "--import", "twice.ndjson", "--env", "playground"])).exitCode).toBe(0);
    rmSync(rig.place.path("out.ndjson"));
    expect(summaryIn<Summary>(await rig.run(command)).state).toBe("nothing new");
    expect(processedCount(rig)).toBe(20);
  });

  test("that is damaged stops the run before anything is sent, and is not made anew", { tags: ["long"] }, async () => {
    const { rig, command } = await finished();
    const path = join(rig.state, "ledger.db");
    truncateSync(path, 5000);
    const refused = await rig.run(command);
    expect(refused.exitCode).toBe(10);
    expect(refused.stderr).toContain("tickets results --import");
    expect(processedCount(rig)).toBe(20);
    renameSync(path, `${path}.damaged`);
    for (const name of files(rig).filter((each) => !each.endsWith(".damaged"))) rmSync(join(rig.state, name));
    await expectImported(rig, command);
  });

  test("belongs to its base URL; with another one nothing is sent", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    const other = await startSandbox({ engine: rig.sandbox.engine, apiKey: rig.sandbox.apiKey });
    onTestFinished(() => other[Symbol.asyncDispose]());
    const env = { TICKETS_PLAYGROUND_BASE_URL: other.url };
    const refused = await rig.run(command, { env });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(rig.sandbox.url);
    expect(refused.stderr).toContain(other.url);
    expect(refused.stderr).toContain("tickets results --import");
    expect(processedCount(rig)).toBe(20);

    // The same service under a new address.
    expect((await rig.run(["results", "--env", "playground", "-o", "all.ndjson"])).exitCode).toBe(0);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const moved = await rig.run(["results", "--import", "all.ndjson", "--env", "playground"], { env });
    expect(moved.exitCode).toBe(0);
    rig.place.write("sales.csv", salesTable(29));
    const sent = await rig.run([...command, "-o", "new.ndjson"], { env });
    expect(summaryIn<Summary>(sent).actions).toMatchObject({ accepted: 10, alreadySent: 20 });
    expect((await rig.run(command)).exitCode, "and not back again").toBe(2);
  });
});
