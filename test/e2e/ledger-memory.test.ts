/** A ledger that is lost, restored or someone else's: what gives it its memory back. */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";
import type { Summary } from "../support/counts.ts";
import { processedCount, salesRig } from "../support/interrupted.ts";
import type { Rig } from "../support/invariant/rig.ts";
import { summaryIn } from "../support/invariant/sales.ts";
import { salesTable } from "../support/tables.ts";

describe("the ledger", () => {
  const files = (rig: Rig): readonly string[] => readdirSync(rig.state).filter((name) => name.startsWith("ledger.db"));

  async function finished() {
    const rig = await salesRig(20);
    const command = rig.stream("--json");
    expect((await rig.run(command)).exitCode).toBe(0);
    return { rig, command };
  }

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
