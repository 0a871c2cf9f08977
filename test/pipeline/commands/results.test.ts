/** What `tickets results` says beside the promises that it writes. */

import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Field, openField } from "../../support/context.ts";

async function resultsOf(field: Field) {
  const { exitCode, said, out } = await field.ask("results", {});
  return { exitCode, said, lines: out.split("\n").length - 1 };
}

async function loseLedger({ folder }: Field): Promise<void> {
  const ledger = join(folder, "state/local/ledger.db");
  for (const end of ["", "-wal", "-shm"]) await rm(`${ledger}${end}`, { force: true });
}

it("names a run of which something has no line, until it is decided and sent", async () => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nspring,EUR\nautumn,EUR\nwinter,EUR\n");
  field.setFaults({ on: { request: 2 }, fault: "drop", when: "after" });
  const { summary } = await field.stream(["events.csv"], { flags: { retries: 0, chunkSize: "1" } });
  const run = summary?.run ?? "";
  const stopped = await resultsOf(field);
  expect(stopped).toMatchObject({ exitCode: 0, lines: 1 });
  expect(stopped.said).toContain(
    `Run ${run} is not finished, so some actions have no line yet: 1 in doubt, 1 not sent. Look: tickets status ${run}`,
  );
  await field.settle("sent");
  expect((await resultsOf(field)).said).toContain("have no line yet: 1 not sent.");
  await field.stream(["events.csv"]);
  expect(await resultsOf(field)).toEqual({ exitCode: 0, said: "", lines: 3 });
});

it("writes what a ledger of an older copy knows, names the run that it lacks, and ends with 2", async () => {
  const field = await openField();
  const ledger = join(field.folder, "state/local/ledger.db");
  await field.write("events.csv", "eventId,currency\nspring,EUR\n");
  await field.stream(["events.csv"]);
  await copyFile(ledger, `${ledger}.old`);
  await field.write("events.csv", "eventId,currency\nspring,EUR\nautumn,EUR\n");
  const { summary } = await field.stream(["events.csv"]);
  await loseLedger(field);
  await copyFile(`${ledger}.old`, ledger);
  const { exitCode, lines, said } = await resultsOf(field);
  expect({ exitCode, lines }).toEqual({ exitCode: 2, lines: 1 });
  expect(said).toContain(`it lacks run ${summary?.run}`);
});

it("takes the only open run where none is named, else the last; all of them with --all", async () => {
  const field = await openField();
  const nights = [];
  for (const event of ["spring", "summer", "autumn"]) {
    await field.write("events.csv", `eventId,currency\n${event},EUR\n`);
    nights.push((await field.stream(["events.csv"])).summary?.run ?? "");
  }
  const runsOf = async (options: object) => {
    const { out } = await field.ask("results", options);
    return out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly run: string }).run); // lines of ours
  };
  expect(await runsOf({})).toEqual([nights[2]]);
  expect(await runsOf({ run: nights[0] })).toEqual([nights[0]]);
  expect(await runsOf({ all: true })).toEqual(nights);
  const written = await field.ask("results", { output: "last.ndjson" });
  expect(written.said).toContain(`1 line of run ${nights[2]} written to last.ndjson.`);
  const all = await field.ask("results", { output: "all.ndjson", all: true });
  expect(all.said).toContain("3 lines of 3 runs written to all.ndjson.");

  await field.write("events.csv", "eventId,currency\nwinter,EUR\nlate,EUR\n");
  field.setFaults({ on: { request: 2 }, fault: "drop", when: "after" });
  const { summary } = await field.stream(["events.csv"], { flags: { retries: 0, chunkSize: "1" } });
  const open = summary?.run ?? "";
  expect(await runsOf({})).toEqual([open]);
  expect((await field.ask("results", { report: "open.html" })).said).toContain(`Report of run ${open}: open.html`);
});

it("says so where nothing was sent yet", async () => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nspring,EUR\n");
  await field.stream(["events.csv"], { adopt: true });
  expect(await field.ask("results", {})).toMatchObject({
    exitCode: 2,
    said: expect.stringContaining("Nothing was sent to local yet, so there are no results."),
  });
});

it("is not there where the ledger was lost: find and the metrics claim nothing that they can't know", async () => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  field.setFaults({ on: { request: 1 }, fault: "status", status: 500 });
  await field.stream(["events.csv"]);
  const look = async (): Promise<string> => {
    await field.ask("status", { metrics: "t.prom" });
    return field.read("t.prom");
  };
  expect(await look()).toContain("tickets_unfinished_runs{");
  await loseLedger(field);
  expect(await look()).not.toContain("tickets_");
  const { said } = await field.ask("find", { id: "E" });
  expect(said).toContain("was lost");
  expect(said).not.toContain("Nothing was ever sent");
});
