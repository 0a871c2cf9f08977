/** A ledger that was lost, or put back from an older copy, while actions were in doubt: nothing makes that forgotten but a person. */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { forgetLostRuns } from "../../src/commands/environment.ts";
import { importResults } from "../../src/commands/import.ts";
import { resume, settle } from "../../src/commands/settle.ts";
import { stream } from "../../src/commands/stream.ts";
import type { Context } from "../../src/commands/talk.ts";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import { readRunList } from "../../src/pipeline/ledger/run-list.ts";
import { expectNothingDoubled, type Field, makeContext, openField, processedBy } from "../support/context.ts";

const sale = (ticketId: string): object => ({
  action: "soldTicket",
  data: { eventId: "E", ticketId, userId: `user of ${ticketId}`, price: "10.00", orderTime: 1768600000 },
});
const INPUT = [{ action: "newEvent", data: { eventId: "E", currency: "EUR" } }, ...["A", "B", "C", "D", "F"].map(sale)];
const ALL = "E A B C D F";

const stateOf = (field: Field): string => join(field.folder, "state", "local");
const runOf = (field: Field): string => readdirSync(join(stateOf(field), "runs"))[0] ?? "";
const ledgerFiles = (field: Field) => readdirSync(stateOf(field)).filter((name) => name.startsWith("ledger.db"));
const listed = (field: Field) => readRunList(join(stateOf(field), "run-list.ndjson"))?.runs.get(runOf(field));

function loseLedger(field: Field): void {
  for (const name of ledgerFiles(field)) rmSync(join(stateOf(field), name));
}

/** What is returned puts the copy back. */
function copyLedger(field: Field): () => void {
  const copy = join(field.folder, "copy");
  mkdirSync(copy, { recursive: true });
  const names = ledgerFiles(field);
  for (const name of names) copyFileSync(join(stateOf(field), name), join(copy, name));
  return () => {
    loseLedger(field);
    for (const name of names) copyFileSync(join(copy, name), join(stateOf(field), name));
  };
}

async function ask(field: Field, command: (context: Context) => Promise<number>) {
  const { context, said } = makeContext(field.folder, field.env);
  try {
    return { exitCode: await command(context), said: said() };
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return { exitCode: EXIT_CODES[cause.code] as number, said: `${said()}\n${cause.message}\n${cause.hint}` };
  }
}

const OPTIONS = { flags: {}, json: false, waitLock: 0 } as const;

const person = (field: Field, decision?: "sent" | "not-sent" | "abandon") =>
  ask(field, (context) =>
    settle(
      { ...OPTIONS, run: runOf(field), decision, reason: "looked", chunk: undefined, first: undefined, yes: true },
      context,
    ),
  );
const goOn = (field: Field) =>
  ask(field, (context) => resume({ ...OPTIONS, run: undefined, maxDuration: undefined }, context));
const night = (field: Field, output?: string) =>
  ask(field, (context) =>
    stream(
      {
        ...{ files: ["night.ndjson"], flags: { chunkSize: 2, retries: 0 }, again: false, dryRun: false, force: false },
        ...{ json: false, yes: false, safeCsv: false, waitLock: 0, output },
      },
      context,
    ),
  );
const importPromises = (field: Field) =>
  ask(field, (context) => importResults({ ...OPTIONS, file: "night.local.promises.ndjson" }, context));

/** One chunk was accepted and a copy of the ledger made; then the second got lost on its way. The third was never sent. */
async function doubtAfterCopy(output?: string): Promise<{ readonly field: Field; readonly putBack: () => void }> {
  const field = await openField();
  await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
  field.setFaults({ fault: "status", status: 429, on: { request: 2 } });
  expect((await night(field, output)).exitCode).toBe(7);
  const putBack = copyLedger(field);
  field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
  expect((await goOn(field)).exitCode).toBe(6);
  expect(processedBy(field.sandbox)).toBe("E A B C");
  field.setFaults();
  return { field, putBack };
}

describe("an older copy of the ledger, put back after a doubt", () => {
  test.each(["sent", "not-sent", "abandon"] as const)(
    "lets nobody settle it as %s unseen, and the list of runs remembers",
    async (decision) => {
      const { field, putBack } = await doubtAfterCopy();
      putBack();
      expect((await night(field)).exitCode).toBe(2);
      const before = listed(field);
      const settled = await person(field, decision);
      expect(settled.exitCode).toBe(2);
      expect(settled.said).toContain("Nothing was settled");
      expect(listed(field)).toEqual(before);
      expect((await night(field)).exitCode).toBe(2);
      expect(processedBy(field.sandbox)).toBe("E A B C");
    },
  );

  test("is put right by a person: what was on its way is in doubt, what never was is still to be sent", async () => {
    const { field, putBack } = await doubtAfterCopy();
    putBack();
    const refused = await night(field);
    expect(refused.said).toContain(`be decided about: tickets settle ${runOf(field)}`);
    expect(refused.said).not.toContain("results --import");
    const shown = await person(field);
    expect(shown.exitCode).toBe(6);
    expect(shown.said).toContain("2 of its actions are in doubt");
    expect(shown.said).toContain("2 in doubt, 2 not sent");
    expect((await night(field)).exitCode).toBe(6);
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
    expectNothingDoubled(field.sandbox);
  });

  test("that is put back a second time is noticed again", async () => {
    const { field, putBack } = await doubtAfterCopy();
    putBack();
    expect((await person(field)).exitCode).toBe(6);
    expect((await person(field, "sent")).exitCode).toBe(0);
    putBack();
    expect((await night(field)).exitCode).toBe(2);
    // What the person said stands among the promises, so that it is not asked again.
    expect((await person(field)).said).toContain("results --import night.local.promises.ndjson");
    expect((await importPromises(field)).exitCode).toBe(0);
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("in which a doubt is open that a person has ended since is not believed either", async () => {
    const { field } = await doubtAfterCopy("-");
    const putBack = copyLedger(field);
    expect((await person(field, "sent")).exitCode).toBe(0);
    putBack();
    expect((await person(field, "not-sent")).exitCode).toBe(2);
    expect((await night(field)).exitCode).toBe(2);
    expect((await person(field)).exitCode).toBe(6);
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("with promises on standard output: closing the run leaves what is not known in doubt", async () => {
    const field = await openField();
    await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
    field.setFaults({ fault: "status", status: 429, on: { request: 2 } });
    expect((await night(field, "-")).exitCode).toBe(7);
    const putBack = copyLedger(field);
    field.setFaults();
    expect((await goOn(field)).exitCode).toBe(0);
    putBack();
    expect((await person(field, "abandon")).exitCode).toBe(2);
    expect((await person(field)).said).toContain("4 of its actions are in doubt");
    await person(field, "abandon");
    expect((await night(field, "-")).exitCode).toBe(6);
    expect(processedBy(field.sandbox)).toBe(ALL);
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await night(field, "-")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("is given up with a word about what the next command sends", async () => {
    const { field, putBack } = await doubtAfterCopy();
    putBack();
    const forgotten = await ask(field, (context) =>
      forgetLostRuns({ ...OPTIONS, name: undefined, reason: "it has none of them" }, context),
    );
    expect(forgotten.said).toContain(`The next command goes on with ${runOf(field)}`);
    expect((await night(field)).exitCode).toBe(4);
    expect(processedBy(field.sandbox)).toBe("E A B C (B) (C) D F");
  });
});

describe("a ledger that was lost while actions were in doubt", () => {
  test("is given its promises, and what they don't tell is decided by a person", async () => {
    const { field } = await doubtAfterCopy();
    loseLedger(field);
    const imported = await importPromises(field);
    expect(imported.said).toContain("2 were in doubt or refused");
    const before = listed(field);
    for (const decision of ["sent", "not-sent", "abandon"] as const)
      expect((await person(field, decision)).exitCode).toBe(2);
    expect(listed(field)).toEqual(before);
    expect((await night(field)).exitCode).toBe(2);

    const shown = await person(field);
    expect(shown.said).toContain("2 accepted, 2 in doubt, 2 not sent");
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
    const promises = readFileSync(join(field.folder, "night.local.promises.ndjson"), "utf8").trimEnd().split("\n");
    expect(promises).toHaveLength(6);
  });

  test("and of which nobody has the plan any more can only be given up, after a look at the service", async () => {
    const { field } = await doubtAfterCopy();
    const run = runOf(field);
    loseLedger(field);
    await importPromises(field);
    rmSync(join(stateOf(field), "runs", run), { recursive: true });
    const shown = await ask(field, (context) =>
      settle({ ...OPTIONS, run, decision: undefined, reason: undefined, chunk: undefined, first: undefined }, context),
    );
    expect(shown.exitCode).toBe(2);
    expect(shown.said).toContain("--forget-lost");
    expect((await night(field)).exitCode).toBe(2);
  });

  test("by a command that was killed: importing the same promises twice does not end that", async () => {
    const { field } = await doubtAfterCopy();
    loseLedger(field);
    // A command that is killed has no last word.
    const list = join(stateOf(field), "run-list.ndjson");
    writeFileSync(list, readFileSync(list, "utf8").replace(/[^\n]*\n$/, ""));
    await importPromises(field);
    const before = listed(field);
    expect((await importPromises(field)).said).toContain("2 actions were known already");
    expect(listed(field)).toEqual(before);
    expect((await night(field)).exitCode).toBe(2);
    expect(processedBy(field.sandbox)).toBe("E A B C");
    expect((await person(field)).said).toContain("2 accepted, 4 in doubt");
  });
});
