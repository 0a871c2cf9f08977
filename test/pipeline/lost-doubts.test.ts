/** A ledger that was lost, or put back from an older copy, while actions were in doubt: nothing makes that forgotten but a person. */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import { readRunList, runListLine } from "../../src/ledger/run-list.ts";
import {
  type Asked,
  expectNothingDoubled,
  type Field,
  makeContext,
  openField,
  processedBy,
  verbs,
} from "../support/context.ts";

const sale = (ticketId: string): object => ({
  action: "soldTicket",
  data: { eventId: "E", ticketId, userId: `user of ${ticketId}`, price: "10.00", orderTime: 1768600000 },
});
const INPUT = [{ action: "newEvent", data: { eventId: "E", currency: "EUR" } }, ...["A", "B", "C", "D", "F"].map(sale)];
const ALL = "E A B C D F";

const stateOf = (field: Field): string => join(field.folder, "state", "local");
/** The run that stands first in the list of runs. */
const runOf = (field: Field): string =>
  [...(readRunList(join(stateOf(field), "run-list.ndjson"))?.runs.keys() ?? [])][0] ?? "";
const ledgerFiles = (field: Field) => readdirSync(stateOf(field)).filter((name) => name.startsWith("ledger.db"));
const listed = (field: Field) => readRunList(join(stateOf(field), "run-list.ndjson"))?.runs.get(runOf(field));

function loseLedger(field: Field): void {
  for (const name of ledgerFiles(field)) rmSync(join(stateOf(field), name));
}

/** What is returned puts the copy back. @param more what is copied with it. */
function copyLedger(field: Field, ...more: readonly string[]): () => void {
  const copy = join(field.folder, "copy");
  mkdirSync(copy, { recursive: true });
  const names = [...ledgerFiles(field), ...more];
  for (const name of names) copyFileSync(join(stateOf(field), name), join(copy, name));
  return () => {
    loseLedger(field);
    for (const name of names) copyFileSync(join(copy, name), join(stateOf(field), name));
  };
}

/** A backup that holds all but the plans, which are the larger part. */
const copyWithList = (field: Field): (() => void) => copyLedger(field, "run-list.ndjson");

async function ask(field: Field, command: (context: Asked["context"]) => Promise<number>) {
  const { context, said } = makeContext(field.folder, field.env);
  try {
    // Answers come at the time of the machine, and what came when is compared.
    return { exitCode: await command({ ...context, now: () => new Date() }), said: said() };
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return { exitCode: EXIT_CODES[cause.code] as number, said: `${said()}\n${cause.message}\n${cause.hint}` };
  }
}

const OPTIONS = { flags: {}, json: false, waitLock: 0 } as const;

const person = (
  field: Field,
  decision?: "sent" | "not-sent" | "abandon",
  {
    chunk,
    first,
    run = runOf(field),
  }: { readonly chunk?: number; readonly first?: number; readonly run?: string } = {},
) =>
  ask(field, (context) =>
    verbs.settle({ ...OPTIONS, run, decision, reason: "looked", chunk, first, yes: true }, context),
  );
const forget = (field: Field) =>
  ask(field, (context) => verbs.forgetLost({ ...OPTIONS, name: undefined, reason: "it is known" }, context));
const goOn = (field: Field) =>
  ask(field, (context) => verbs.resume({ ...OPTIONS, run: undefined, maxDuration: undefined }, context));
const night = (field: Field, output?: string, file = "night.ndjson", chunkSize = 2) =>
  ask(field, (context) =>
    verbs.stream(
      {
        ...{ files: [file], flags: { chunkSize, retries: 0 }, again: false, dryRun: false, force: false },
        ...{ json: false, yes: false, safeCsv: false, waitLock: 0, output },
      },
      context,
    ),
  );
const importPromises = (field: Field, file = "night.local.promises.ndjson") =>
  ask(field, (context) => verbs.importResults({ ...OPTIONS, file }, context));

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
    expect(refused.said).toContain(`to decide about it: tickets settle ${runOf(field)}`);
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

  test("that is put back a second time is noticed again", { tags: ["long"] }, async () => {
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

  test("in which a doubt is open that a person has ended since is not believed either", {
    tags: ["long"],
  }, async () => {
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

  test("with promises on standard output: closing the run leaves what is not known in doubt", {
    tags: ["long"],
  }, async () => {
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

  test("is given up with a word about the promises that no run appends to as they are", async () => {
    const field = await openField();
    await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
    const putBack = copyLedger(field);
    expect((await night(field)).exitCode).toBe(0);
    putBack();
    expect((await forget(field)).said).toContain("no run appends to that file until they are imported");
    expect(await night(field)).toMatchObject({ exitCode: 2, said: expect.stringContaining("results --import") });
    expect((await importPromises(field)).exitCode).toBe(0);
    expect(await night(field)).toMatchObject({ exitCode: 0, said: expect.stringContaining("Nothing new") });
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("is given up with a word about what the next command sends", async () => {
    const { field, putBack } = await doubtAfterCopy();
    putBack();
    const forgotten = await ask(field, (context) =>
      verbs.forgetLost({ ...OPTIONS, name: undefined, reason: "it has none of them" }, context),
    );
    expect(forgotten.said).toContain(`The next command resumes ${runOf(field)}`);
    expect(forgotten.said).toContain("stops where it has something in doubt");
    expect((await night(field)).exitCode).toBe(4);
    expect(processedBy(field.sandbox)).toBe("E A B C (B) (C) D F");
  });
});

/** As a command that is killed leaves it: without its last word. */
function forgetLastWord(field: Field): void {
  for (const list of ["run-list.ndjson", join("runs", runOf(field), "listed.ndjson")]) {
    const path = join(stateOf(field), list);
    writeFileSync(path, readFileSync(path, "utf8").replace(/[^\n]*\n$/, ""));
  }
}

/** One chunk of three was accepted when the key was refused, and a copy of the ledger made then. */
async function stoppedAtCopy(actions: readonly object[] = INPUT, output?: string, chunkSize = 2) {
  const field = await openField();
  await field.write("night.ndjson", actions.map((action) => `${JSON.stringify(action)}\n`).join(""));
  field.setFaults({ fault: "status", status: 403, on: { request: 2 } });
  expect((await night(field, output, "night.ndjson", chunkSize)).exitCode).toBe(5);
  field.setFaults();
  return { field, run: runOf(field), putBack: copyLedger(field) };
}

describe("an older copy of the ledger in which a run is open", { tags: ["long"] }, () => {
  test.each([undefined, "-"])(
    "that was killed since (promises to %s) sends nothing that may have been sent",
    async (output) => {
      const { field, putBack } = await stoppedAtCopy(INPUT, output);
      field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
      expect((await goOn(field)).exitCode).toBe(6);
      forgetLastWord(field);
      putBack();
      field.setFaults();
      const refused = await night(field, output);
      expect(refused.exitCode).toBe(2);
      expect(refused.said).toContain("what became of the others is not known, since it was killed");
      expect(refused.said).toContain(`tickets settle ${runOf(field)}`);
      expect((await goOn(field)).exitCode).toBe(2);
      expect((await person(field)).said).toContain("4 of its actions are in doubt");
      expect((await night(field, output)).exitCode).toBe(6);
      expect(processedBy(field.sandbox)).toBe("E A B C");
      // The copy is as old as ever.
      putBack();
      expect((await night(field, output)).exitCode).toBe(2);
      expect(processedBy(field.sandbox)).toBe("E A B C");
    },
  );

  test("that was closed since is closed again, and sends nothing that another run has sent", {
    tags: ["long"],
  }, async () => {
    const { field, run, putBack } = await stoppedAtCopy();
    expect((await person(field, "abandon")).exitCode).toBe(0);
    expect((await night(field, "second.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
    putBack();
    const refused = await night(field, "third.ndjson");
    expect(refused.exitCode).toBe(2);
    expect(refused.said).toContain("it has been closed since");
    const imported = await importPromises(field, "second.ndjson");
    expect(imported.exitCode).toBe(0);
    expect(imported.said).toContain(`Run ${run} went on after the copy that was restored as the ledger of local`);
    expect((await field.runs()).find((each) => each.run === run)?.state).toBe("abandoned");
    const last = await night(field, "third.ndjson");
    expect(last.exitCode).toBe(0);
    expect(last.said).toContain("Nothing new");
    expectNothingDoubled(field.sandbox);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("and which a person goes on with sends nothing that another run has sent since, as its promises tell", {
    tags: ["long"],
  }, async () => {
    const update = { action: "updateTicket", data: { ticketId: "A", imageUrl: "https://x.example/1" } };
    const later = { action: "updateTicket", data: { ticketId: "A", imageUrl: "https://x.example/2" } };
    const { field, run, putBack } = await stoppedAtCopy([...INPUT.slice(0, 4), update, sale("X")]);
    expect((await person(field, "abandon")).exitCode).toBe(0);
    await field.write(
      "later.ndjson",
      [...INPUT.slice(0, 4), later].map((each) => `${JSON.stringify(each)}\n`).join(""),
    );
    expect((await night(field, "second.ndjson", "later.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe("E A B C A");
    putBack();
    const forgotten = await forget(field);
    expect(forgotten.exitCode).toBe(0);
    expect((await importPromises(field, "second.ndjson")).exitCode).toBe(0);
    const finished = await goOn(field);
    expect(finished.exitCode).toBe(4);
    expect(finished.said).toContain("3 actions of run");
    expect(finished.said).toContain("another run has sent them");
    expect(processedBy(field.sandbox), "only what nobody has sent").toBe("E A B C A X");
    const rejects = await field.read(`night.rejects.${run}.ndjson`);
    expect(rejects.trimEnd().split("\n"), "the update, of which nobody knows").toHaveLength(1);
    expectNothingDoubled(field.sandbox);
  });

  test("and is forgotten all the same is told to take its promises first; what is advised has an effect", {
    tags: ["long"],
  }, async () => {
    const { field, run, putBack } = await stoppedAtCopy();
    expect((await goOn(field)).exitCode).toBe(0);
    putBack();
    const forgotten = await forget(field);
    expect(forgotten.said).toContain("tickets results --import night.local.promises.ndjson --env local");
    const refused = await night(field);
    expect(refused.exitCode).toBe(2);
    expect(refused.said).toContain(`move it away: the rest of run ${run} then goes into a file beside it`);
    expect(refused.said).not.toContain("--output");
    expect((await importPromises(field)).exitCode).toBe(0);
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
    expectNothingDoubled(field.sandbox);
  });

  test("that was closed since is closed again by a look at it, which says so", { tags: ["long"] }, async () => {
    const { field, run, putBack } = await stoppedAtCopy();
    expect((await person(field, "abandon")).exitCode).toBe(0);
    putBack();
    const refused = await night(field);
    expect(refused.said).toContain(`Bring run ${run} up to date with the list of runs: tickets settle ${run}`);
    expect(refused.said).not.toContain("results --import");
    const looked = await person(field);
    expect(looked.exitCode).toBe(0);
    expect(looked.said).toContain("and was closed; it is closed again");
    expect(looked.said).toContain("did not take 4 actions");
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("that was closed with a doubt since is closed again, and only what may have been sent is in doubt", async () => {
    const { field, run, putBack } = await stoppedAtCopy();
    field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
    expect((await goOn(field)).exitCode).toBe(6);
    field.setFaults();
    await person(field, "abandon");
    putBack();
    expect((await person(field)).said).toContain("2 of its actions are in doubt");
    expect((await field.runs()).find((each) => each.run === run)?.state).toBe("abandoned");
    expect((await night(field)).exitCode).toBe(6);
    expect(processedBy(field.sandbox), "what was closed unsent is not in doubt").toBe(ALL);
  });

  test("whose older update was closed unsent since does not undo the newer one", { tags: ["long"] }, async () => {
    const update = (url: string): object => ({
      action: "updateTicket",
      data: { ticketId: "A", imageUrl: `https://x.example/${url}` },
    });
    const { field, putBack } = await stoppedAtCopy([...INPUT.slice(0, 2), update("1")]);
    expect((await person(field, "abandon")).exitCode).toBe(0);
    await field.write("later.ndjson", `${JSON.stringify(update("2"))}\n`);
    expect((await night(field, "later.out.ndjson", "later.ndjson")).exitCode).toBe(0);
    const before = processedBy(field.sandbox);
    putBack();
    expect((await importPromises(field, "later.out.ndjson")).exitCode).toBe(0);
    await night(field);
    expect((await goOn(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(before);
  });

  test("whose rejected actions another run has sent since tells that they were rejected, and sends none", {
    tags: ["long"],
  }, async () => {
    const early = (ticketId: string): object => ({
      action: "soldTicket",
      data: { eventId: "E2", ticketId, userId: "u", price: "10.00", orderTime: 1768600000 },
    });
    const { field, run, putBack } = await stoppedAtCopy([...INPUT.slice(0, 2), early("X"), early("Y")], "-");
    expect((await goOn(field)).exitCode).toBe(4);
    await field.write("event.ndjson", '{"action":"newEvent","data":{"eventId":"E2","currency":"EUR"}}\n');
    expect((await night(field, "second.ndjson", "event.ndjson")).exitCode).toBe(0);
    expect((await night(field, "second.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe("E A (X) (Y) E2 X Y");
    putBack();
    expect((await night(field, "-")).exitCode).toBe(2);
    const imported = await importPromises(field, "second.ndjson");
    expect(imported.said).toContain("did not take 2 actions that this copy has as open");
    const finished = await night(field, "-");
    expect(finished.said).toContain(`Run ${run} of`);
    expect(finished.said).toContain("4 actions: 2 accepted, 2 rejected");
    expect((await night(field, "-")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe("E A (X) (Y) E2 X Y");
  });

  test("whose chunks were halved since (413) takes its promises by their place in the run, and goes on", async () => {
    const { field, putBack } = await stoppedAtCopy(INPUT, undefined, 3);
    field.setFaults(
      { fault: "status", status: 413, on: { request: 1 } },
      { fault: "status", status: 403, on: { request: 3 } },
    );
    expect((await goOn(field)).exitCode).toBe(5);
    field.setFaults();
    putBack();
    expect((await night(field)).said).toContain("results --import night.local.promises.ndjson");
    const imported = await importPromises(field);
    expect(imported.exitCode).toBe(0);
    expect(imported.said).not.toContain("still lacks");
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
    expectNothingDoubled(field.sandbox);
  });

  test("of which a person has settled a part since takes that from the promises too, and the rest is in doubt", async () => {
    const field = await openField();
    await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
    field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
    expect((await night(field, undefined, "night.ndjson", 3)).exitCode).toBe(6);
    field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
    const putBack = copyLedger(field);
    expect((await person(field, "sent", { chunk: 1, first: 2 })).exitCode).toBe(6);
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await goOn(field)).exitCode).toBe(6);
    field.setFaults();
    putBack();
    expect((await night(field)).exitCode).toBe(2);
    const imported = await importPromises(field);
    expect(imported.exitCode).toBe(0);
    expect(imported.said).toContain("3 actions of 1 run imported");
    const looked = await person(field);
    expect(looked.said).toContain("3 of its actions are in doubt");
    expect(looked.said).toContain("3 in doubt, 3 settled by hand");
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await night(field)).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  describe("of which a person has settled a part since, and whose plan is lost", () => {
    const SENT_SINCE = "E3 E4 E5 E6";

    /** The copy has the first chunk in doubt: two of its four actions were settled as sent, and another run sent the rest. */
    async function importedWithoutPlan() {
      const field = await openField();
      const events = ["E1", "E2", "E3", "E4", "E5", "E6"].map((eventId) => ({
        action: "newEvent",
        data: { eventId, currency: "EUR" },
      }));
      await field.write("night.ndjson", events.map((action) => `${JSON.stringify(action)}\n`).join(""));
      field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
      expect((await night(field, undefined, "night.ndjson", 4)).exitCode).toBe(6);
      field.setFaults();
      const putBack = copyLedger(field);
      const run = runOf(field);
      await person(field, "sent", { chunk: 1, first: 2 });
      await person(field, "not-sent");
      await person(field, "abandon");
      expect((await night(field)).exitCode).toBe(0);
      expect(processedBy(field.sandbox)).toBe(SENT_SINCE);
      const plan = join(stateOf(field), "runs", run);
      const kept = join(field.folder, "kept");
      renameSync(plan, kept);
      putBack();
      expect((await night(field)).exitCode).toBe(2);
      const imported = await importPromises(field);
      expect(imported.said).toContain(`2 promises of run ${run} can't be placed`);
      expect(imported.said).toContain("Their ids are remembered and not sent again.");
      return { field, run, restore: () => renameSync(kept, plan) };
    }

    test("sends nothing again that its promises tell, though they can't be placed", { tags: ["long"] }, async () => {
      const { field, run } = await importedWithoutPlan();
      await forget(field);
      await person(field, "abandon");
      await person(field, "not-sent");
      const next = await night(field);
      expect(next).toMatchObject({ exitCode: 0, said: expect.stringContaining("Nothing new") });
      expect(processedBy(field.sandbox)).toBe(SENT_SINCE);
      expect((await importPromises(field)).said, "once more changes nothing").toContain(`2 promises of run ${run}`);
      expect(await night(field)).toMatchObject({ exitCode: 0, said: expect.stringContaining("Nothing new") });
    });

    test("has them placed by another import once the plan is back", { tags: ["long"] }, async () => {
      const { field, run, restore } = await importedWithoutPlan();
      restore();
      const imported = await importPromises(field);
      expect(imported.said).toContain("2 actions of 1 run imported");
      expect(imported.said).not.toContain("can't be placed");
      expect((await person(field, undefined, { run })).said).toContain("2 settled by hand, 4 not sent");
      expect(await night(field)).toMatchObject({ exitCode: 0, said: expect.stringContaining("Nothing new") });
      expect(processedBy(field.sandbox)).toBe(SENT_SINCE);
    });

    test("and which goes on from its plan without another import does not send them either", {
      tags: ["long"],
    }, async () => {
      const { field, restore } = await importedWithoutPlan();
      await forget(field);
      restore();
      await person(field, "not-sent");
      const finished = await goOn(field);
      expect(finished.said).toContain("6 actions of run");
      expect(processedBy(field.sandbox)).toBe(SENT_SINCE);
    });
  });

  test("can be looked at where its promises can't be imported any more", { tags: ["long"] }, async () => {
    const { field, putBack } = await stoppedAtCopy();
    expect((await goOn(field)).exitCode).toBe(0);
    putBack();
    await field.write("night.local.promises.ndjson", "no promises any more\n");
    expect((await night(field)).exitCode).toBe(2);
    expect((await importPromises(field)).exitCode).toBe(2);
    const looked = await person(field);
    expect(looked.said).toContain("night.local.promises.ndjson:1 is not a line of a promises file");
    expect(looked.said).toContain("4 of its actions are in doubt");
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await night(field, "again.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });
});

describe("a run that the ledger lacks, and whose promises file is damaged", { tags: ["long"] }, () => {
  /** All was sent; the ledger is lost, or as it was before. */
  async function lost(name: string, isPutBack: boolean): Promise<Field> {
    const field = await openField();
    await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
    await field.write("event.ndjson", `${JSON.stringify(INPUT[0])}\n`);
    if (isPutBack) expect((await night(field, "event.promises.ndjson", "event.ndjson")).exitCode).toBe(0);
    const putBack = copyLedger(field);
    expect((await night(field, name)).exitCode).toBe(0);
    if (isPutBack) putBack();
    else loseLedger(field);
    return field;
  }

  test.each<[string, string, boolean, (text: string) => string]>([
    ["a line before its first", "all.ndjson", false, (text) => `{}\n${text}`],
    ["a line before its first, beside an older ledger", "all.ndjson", true, (text) => `{}\n${text}`],
    ["a first line that is cut", "all.ndjson", false, (text) => text.slice(30)],
    ["a garbled line", "all.ndjson", false, (text) => text.replace('"seq":2', '"s\0q":2')],
    ["two lines that contradict each other", "all.ndjson", false, (text) => text + text.replaceAll('se":"', 'se":"x')],
    ["nothing but half a line", "all.ndjson", false, (text) => text.slice(0, 30)],
    ["a quote that is not closed", "all.csv", false, (text) => text.replace(/\n/, '\n"')],
  ])("by %s: every command and the import name the way without it", async (_, name, isPutBack, damage) => {
    const field = await lost(name, isPutBack);
    const runs = [...readRunList(join(stateOf(field), "run-list.ndjson")).runs.keys()];
    const run = runs.at(-1) ?? "";
    const whole = await field.read(name);
    await field.write(name, damage(whole));
    expect(await field.read(name)).not.toBe(whole);
    const ways = `Restore ${name} first: as it is, it can't be read as promises.`;
    const dry = ask(field, (context) =>
      verbs.stream(
        {
          ...{ files: ["night.ndjson"], flags: {}, again: false, dryRun: true, force: false, json: false, yes: false },
          ...{ safeCsv: false, waitLock: 0, output: undefined },
        },
        context,
      ),
    );
    const told = [await night(field, "more.ndjson"), await dry, await importPromises(field, name)];
    for (const { exitCode, said } of told) {
      expect(exitCode).toBe(2);
      expect(said).toContain(ways);
      expect(said).not.toContain(`tickets results --import ${name}`);
      expect(said).toContain(`to decide about it: tickets settle ${run}`);
    }
    expect(told[2]?.said).toContain("Nothing was imported.");

    expect((await person(field, undefined, { run })).exitCode).toBe(6);
    renameSync(join(field.folder, name), join(field.folder, "damaged"));
    expect((await person(field, "sent", { run })).exitCode).toBe(0);
    expect((await night(field, "more.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
    expectNothingDoubled(field.sandbox);
  });

  test("has that moved out of the way before more is written, since it still shows promises that nobody imported", async () => {
    const field = await lost("all.ndjson", false);
    await field.write("all.ndjson", `{}\n${await field.read("all.ndjson")}`);
    expect((await person(field)).exitCode).toBe(6);
    for (const { exitCode, said } of [await person(field, "sent"), await night(field, "more.ndjson")]) {
      expect(exitCode).toBe(2);
      expect(said).toContain("Restore it first: as it is, it can't be read as promises.");
      expect(said).toContain(`move it away: the rest of run ${runOf(field)} then goes into a new file`);
    }
    renameSync(join(field.folder, "all.ndjson"), join(field.folder, "damaged.ndjson"));
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await field.read("all.ndjson")).trimEnd().split("\n")).toHaveLength(6);
  });

  test("names the import again once it is restored", async () => {
    const field = await lost("all.ndjson", false);
    const whole = await field.read("all.ndjson");
    await field.write("all.ndjson", `{}\n${whole}`);
    expect((await night(field, "more.ndjson")).said).not.toContain("--import all.ndjson");
    await field.write("all.ndjson", whole);
    const refused = await night(field, "more.ndjson");
    expect(refused.said).toContain("Import what it lacks: tickets results --import all.ndjson");
    expect(refused.said).not.toContain("tickets settle");
    expect((await importPromises(field, "all.ndjson")).exitCode).toBe(0);
    expect((await night(field, "more.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("of another file that no run has its promises in, the import says what it wants", async () => {
    const field = await lost("all.ndjson", false);
    await field.write("other.ndjson", "{}\n");
    const { said } = await importPromises(field, "other.ndjson");
    expect(said).toContain("other.ndjson:1 is not a line of a promises file. Nothing was imported.");
    expect(said).toContain("Name a promises file exactly as tickets wrote it.");
  });
});

describe("a promises file whose last line does not end", { tags: ["long"] }, () => {
  /** All was sent, and the ledger is lost. */
  async function lost(name: string): Promise<{ readonly field: Field; readonly text: string }> {
    const field = await openField();
    await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
    expect((await night(field, name)).exitCode).toBe(0);
    loseLedger(field);
    return { field, text: await field.read(name) };
  }
  const AMID =
    "ends in the middle of a line, as after a power cut. Its action was sent: where neither a plan nor another file tells of it, look whether the service has it, since it would be sent again. The partial line is cut off: ";

  test.each([
    ["all.ndjson", 40],
    ["all.ndjson", 2],
    ["all.csv", 40],
    ["all.csv", 3],
  ])(
    "%s, of which %i bytes are missing: the other lines are imported, and it is appended to",
    async (name, missing) => {
      const { field, text } = await lost(name);
      await field.write(name, text.slice(0, -missing));
      const imported = await importPromises(field, name);
      expect(imported.exitCode).toBe(0);
      expect(imported.said).toContain(`${name} ${AMID}`);
      expect(imported.said).toContain("5 actions of 1 run imported");
      expect(await field.read(name)).toBe(text.slice(0, text.trimEnd().lastIndexOf("\n") + 1));
      // What the line told is a doubt, as is all that nothing is known of.
      expect((await person(field)).said).toContain("is in doubt: action 6 of the run");
      expect((await person(field, "sent")).exitCode).toBe(0);
      expect((await night(field, name)).exitCode).toBe(0);
      expect((await field.read(name)).trimEnd().split("\n")).toHaveLength(text.trimEnd().split("\n").length);
      expect(processedBy(field.sandbox)).toBe(ALL);
    },
  );

  test.each(["all.ndjson", "all.csv"])("%s, which lacks nothing but its end: all of it is", async (name) => {
    const { field, text } = await lost(name);
    await field.write(name, text.trimEnd());
    const imported = await importPromises(field, name);
    expect(imported).toMatchObject({ exitCode: 0, said: expect.not.stringContaining(AMID) });
    expect(imported.said).toContain("6 actions of 1 run imported");
    expect(await field.read(name)).toBe(text);
  });

  test("and one that is damaged elsewhere is not imported", async () => {
    const { field, text } = await lost("all.ndjson");
    const [first = "", ...rest] = text.slice(0, -40).split("\n");
    await field.write("all.ndjson", [first.slice(0, 30), ...rest].join("\n"));
    const refused = await importPromises(field, "all.ndjson");
    expect(refused).toMatchObject({ exitCode: 2, said: expect.stringContaining("all.ndjson:1 is not a line") });
  });
});

describe("a ledger that was lost while actions were in doubt", () => {
  test("is given its promises, and what they don't tell is decided by a person", { tags: ["long"] }, async () => {
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

  test("says of a run that was closed that it was lost, and of no copy", async () => {
    const { field, run } = await stoppedAtCopy();
    expect((await person(field, "abandon")).exitCode).toBe(0);
    loseLedger(field);
    const { said } = await importPromises(field);
    expect(said).toContain(
      `The ledger of local had lost run ${run}, which was entered again from its plan, and was closed; it is closed again. By the list of runs, none of it is in doubt. The service did not take 4 actions of it; the run no longer sends them.`,
    );
    expect(said).not.toContain("copy");
  });

  test("and of which nobody has the plan any more can only be given up, after a look at the service", async () => {
    const { field } = await doubtAfterCopy();
    const run = runOf(field);
    loseLedger(field);
    await importPromises(field);
    rmSync(join(stateOf(field), "runs", run), { recursive: true });
    const shown = await ask(field, (context) =>
      verbs.settle(
        { ...OPTIONS, run, decision: undefined, reason: undefined, chunk: undefined, first: undefined },
        context,
      ),
    );
    expect(shown.exitCode).toBe(2);
    expect(shown.said).toContain("--forget-lost");
    const refused = await night(field);
    expect(refused.exitCode).toBe(2);
    expect(refused.said).toContain(`The plan of run ${run} is lost`);
    expect(refused.said).toContain("leave that out of what you stream");
    expect(refused.said, "which could only say the same").not.toContain("tickets settle");
  });

  test.each([undefined, "-"])(
    "by the first command, killed before any promise was kept (promises to %s), is in doubt as far as its plan goes",
    async (output) => {
      const field = await openField();
      await field.write("night.ndjson", INPUT.map((action) => `${JSON.stringify(action)}\n`).join(""));
      field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
      expect((await night(field, output)).exitCode).toBe(6);
      field.setFaults();
      forgetLastWord(field);
      loseLedger(field);
      const refused = await night(field, output);
      expect(refused.exitCode).toBe(2);
      expect(refused.said).toContain(`to decide about it: tickets settle ${runOf(field)}`);
      const looked = await person(field);
      expect(looked.exitCode).toBe(6);
      expect(looked.said).toContain("6 of its actions are in doubt");
      expect((await night(field, output)).exitCode).toBe(6);
      expect(processedBy(field.sandbox)).toBe("E A");
      expect((await person(field, "sent", { chunk: 1, first: 2 })).exitCode).toBe(6);
      expect((await person(field, "not-sent")).exitCode).toBe(0);
      expect((await night(field, output)).exitCode).toBe(0);
      expect(processedBy(field.sandbox)).toBe(ALL);
      expectNothingDoubled(field.sandbox);
    },
  );

  test.each([
    ["and with it the list of runs and their folders", stateOf, true],
    ["and with it the folders of runs", (field: Field) => join(stateOf(field), "runs"), false],
  ])("%s: an import says where nothing else tells of the doubt", async (_, lostFolder, isTold) => {
    const { field } = await doubtAfterCopy();
    loseLedger(field);
    rmSync(lostFolder(field), { recursive: true });
    const { exitCode, said } = await importPromises(field);
    expect(exitCode).toBe(0);
    const words = `Only these promises of run ${/"run":"([0-9a-f]{8})"/.exec(readFileSync(join(field.folder, "night.local.promises.ndjson"), "utf8"))?.[1]} are known.`;
    expect(said.includes(words), said).toBe(isTold);
  });

  describe("in a run that was closed, and another run has sent since what that closed unsent", () => {
    const update = { action: "updateTicket", data: { ticketId: "A", imageUrl: "https://x.example/1" } };
    const lastFile = "later.ndjson";

    /** The sale of B is in doubt; the update was closed unsent, and sent by the next run, which has a promise of it. */
    async function closedThenSent(output?: string) {
      const field = await openField();
      const write = (...actions: readonly object[]): Promise<void> =>
        field.write(
          "night.ndjson",
          [...INPUT.slice(0, 2), ...actions].map((each) => `${JSON.stringify(each)}\n`).join(""),
        );
      await write();
      expect((await night(field, "first.ndjson")).exitCode).toBe(0);
      await write(sale("B"), update);
      field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
      expect((await night(field, output ?? lastFile, "night.ndjson", 1)).exitCode).toBe(6);
      field.setFaults();
      const [, run = ""] = readRunList(join(stateOf(field), "run-list.ndjson")).runs.keys();
      await person(field, "abandon", { run });
      await night(field, lastFile);
      expect(processedBy(field.sandbox)).toBe("E A B A");
      return { field, run, write };
    }

    /** As earlier versions wrote the list, which did not say what was closed unsent. */
    function forgetUnsent(field: Field, run: string): void {
      for (const list of ["run-list.ndjson", join("runs", run, "listed.ndjson")]) {
        const path = join(stateOf(field), list);
        const lines = readFileSync(path, "utf8").trimEnd().split("\n");
        const entries = lines.map((line) => {
          const { sum: _sum, unsent: _unsent, ...entry } = JSON.parse(line);
          return runListLine(entry);
        });
        writeFileSync(path, entries.join(""));
      }
    }

    test.each([
      ["the list tells of", () => undefined],
      ["the list, of an earlier version, does not tell of", forgetUnsent],
    ])("what %s is no doubt, and counts once", async (_, spoil) => {
      const { field, run, write } = await closedThenSent();
      spoil(field, run);
      loseLedger(field);
      for (const file of ["first.ndjson", lastFile]) await importPromises(field, file);
      const looked = await person(field, undefined, { run });
      expect(looked.said).toContain("4 actions: 1 in doubt, 1 not sent, 2 already sent");
      expect((await person(field, "sent", { run })).said).toContain("1 action settled as sent");
      const promises = await field.read(lastFile);
      expect(promises.trimEnd().split("\n"), "the update and the sale, each once").toHaveLength(2);
      expect(await night(field, lastFile)).toMatchObject({ said: expect.stringContaining("Nothing new") });
      await write(sale("B"), update, update);
      expect((await night(field, lastFile)).exitCode).toBe(0);
      expect(processedBy(field.sandbox), "the second update is another deed").toBe("E A B A A");
    });

    test("is asked for one by one where the first run's own promises are not known", { tags: ["long"] }, async () => {
      const { field, run } = await closedThenSent("-");
      forgetUnsent(field, run);
      loseLedger(field);
      for (const file of ["first.ndjson", lastFile]) await importPromises(field, file);
      const looked = await person(field, undefined, { run });
      expect(looked.said).toContain("2 in doubt");
      expect(looked.said).toMatch(/run [0-9a-f]{8} has since received a promise for the same action/);
      const settled = await person(field, "sent", { run });
      expect(settled.exitCode).toBe(6);
      expect(settled.said).toContain("1 in doubt, 1 settled by hand");
      expect(settled.said).toContain("--chunk 2 --sent");
      expect((await person(field, "not-sent", { run, chunk: 2 })).said).toContain("1 settled by hand, 1 not sent");
      expect(await night(field, lastFile)).toMatchObject({ said: expect.stringContaining("Nothing new") });
      expect(processedBy(field.sandbox)).toBe("E A B A");
    });

    test("is not asked for before the later run's promises were imported", { tags: ["long"] }, async () => {
      const { field, run } = await closedThenSent("-");
      loseLedger(field);
      await importPromises(field, "first.ndjson");
      const refused = await person(field, undefined, { run });
      expect(refused.exitCode).toBe(2);
      expect(refused.said).toContain(`results --import ${lastFile}`);
    });
  });

  test("by a command that was killed: importing the same promises twice does not end that", async () => {
    const { field } = await doubtAfterCopy();
    loseLedger(field);
    forgetLastWord(field);
    await importPromises(field);
    const before = listed(field);
    expect((await importPromises(field)).said).toContain("2 actions were known already");
    expect(listed(field)).toEqual(before);
    expect((await night(field)).exitCode).toBe(2);
    expect(processedBy(field.sandbox)).toBe("E A B C");
    expect((await person(field)).said).toContain("2 accepted, 4 in doubt");
  });
});

describe("a ledger that was lost, of which a copy of the promises file was imported", () => {
  async function imported(change: (text: string) => string) {
    const field = await openField();
    const write = (actions: readonly object[]): Promise<void> =>
      field.write("night.ndjson", actions.map((action) => `${JSON.stringify(action)}\n`).join(""));
    await write(INPUT.slice(0, 5));
    expect((await night(field, "p.ndjson")).exitCode).toBe(0);
    await field.write("backup.ndjson", change(await field.read("p.ndjson")));
    loseLedger(field);
    expect((await importPromises(field, "backup.ndjson")).exitCode).toBe(0);
    await write(INPUT);
    return field;
  }

  test("appends to the file that it is a copy of", async () => {
    const field = await imported((text) => text);
    expect((await night(field, "p.ndjson")).exitCode).toBe(0);
    expect((await field.read("p.ndjson")).trimEnd().split("\n")).toHaveLength(6);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("names the way to append to a file that it is no copy of to the byte", { tags: ["long"] }, async () => {
    const field = await imported((text) => `${text}\n`);
    const refused = await night(field, "p.ndjson");
    expect(refused.exitCode).toBe(2);
    expect(refused.said).toContain("a run wrote it, but the ledger no longer knows it");
    expect(refused.said).toContain("tickets results --import p.ndjson --env local");
    expect((await importPromises(field, "p.ndjson")).exitCode).toBe(0);
    expect((await night(field, "p.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("leaves no file behind when a run of it is only looked at", async () => {
    const field = await imported((text) => `${text}\n`);
    const looked = await person(field);
    expect(looked).toMatchObject({ exitCode: 0, said: expect.stringContaining("has nothing to settle") });
    expect(looked.said).not.toContain("The rest goes to");
    expect(readdirSync(field.folder).filter((name) => name.startsWith("p."))).toEqual(["p.ndjson"]);
  });
});

describe("a ledger put back from the night before", { tags: ["long"] }, () => {
  const scan = (ticketId: string, orderTime: number): object => ({
    action: "scannedTicket",
    data: { ticketId, orderTime },
  });
  const write = (field: Field, ...scans: readonly object[]): Promise<void> =>
    field.write("night.ndjson", [...INPUT, ...scans].map((action) => `${JSON.stringify(action)}\n`).join(""));

  /** The scans of the second night are in no copy of the ledger. */
  async function twoNights(): Promise<{ readonly field: Field; readonly nights: readonly object[] }> {
    const field = await openField();
    await write(field);
    expect((await night(field)).exitCode).toBe(0);
    const putBack = copyLedger(field);
    const nights = [scan("A", 1768700000), scan("B", 1768700100), scan("A", 1768700200)];
    await write(field, ...nights);
    expect((await night(field)).exitCode).toBe(0);
    putBack();
    expect((await night(field, "third.ndjson")).exitCode).toBe(2);
    return { field, nights };
  }

  test("knows again what was sent, scan by scan, where the plans are still there", { tags: ["long"] }, async () => {
    const { field, nights } = await twoNights();
    expect(await importPromises(field)).toMatchObject({
      exitCode: 0,
      said: expect.stringContaining("3 actions of 1 run imported"),
    });
    await write(field, ...nights);
    const same = await night(field, "third.ndjson");
    expect(same).toMatchObject({ exitCode: 0, said: expect.stringContaining("Nothing new") });
    await write(field, ...nights, scan("A", 1768786400));
    expect((await night(field, "third.ndjson")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(`${ALL} A B A A`);
    const changed = { action: "soldTicket", data: { ...(sale("A") as { data: object }).data, price: "11.00" } };
    await field.write("night.ndjson", `${JSON.stringify(changed)}\n`);
    expect((await night(field, "third.ndjson")).said).toContain("changed");
  });

  test("says how many actions are in doubt also where the import has put more into doubt before", {
    tags: ["long"],
  }, async () => {
    const field = await openField();
    await write(field);
    expect((await night(field)).exitCode).toBe(0);
    const putBack = copyLedger(field);
    await write(field, ...[1, 2, 3, 4, 5, 6, 7].map((at) => scan("A", 1768700000 + at)));
    field.setFaults({ fault: "drop", when: "after", on: { request: 2 } });
    expect((await night(field)).exitCode).toBe(6);
    field.setFaults();
    putBack();
    expect((await importPromises(field)).exitCode).toBe(0);
    const [, run = ""] = readRunList(join(stateOf(field), "run-list.ndjson")).runs.keys();
    const looked = await person(field, undefined, { run });
    expect(looked.said).toContain("2 of its actions are in doubt");
    expect(looked.said).toContain("2 accepted, 2 in doubt, 3 not sent");
  });

  test.each([
    ["lost", (folder: string) => rmSync(folder, { recursive: true })],
    ["damaged", (folder: string) => writeFileSync(join(folder, "actions.ndjson"), "{}\n")],
  ])("asks a person about each scan where the plan is %s", async (_, spoil) => {
    const { field } = await twoNights();
    const runs = [...(readRunList(join(stateOf(field), "run-list.ndjson"))?.runs.keys() ?? [])];
    spoil(join(stateOf(field), "runs", runs[1] ?? ""));
    expect((await importPromises(field)).exitCode).toBe(0);
    const next = await night(field, "third.ndjson");
    expect(next).toMatchObject({ exitCode: 3, said: expect.stringContaining("imported-history") });
    const borne = await field.stream(["night.ndjson"], { maxInvalid: { rows: 9 } });
    expect(borne).toMatchObject({ exitCode: 4, said: expect.stringContaining("No value in these rejects is wrong") });
    expect(borne.said).not.toContain("Mend the rejects");
    expect(processedBy(field.sandbox)).toBe(`${ALL} A B A`);
  });
});

describe("a ledger and its list of runs, both put back from the night before", { tags: ["long"] }, () => {
  const SALES = ["G", "H", "I", "J"].map(sale);
  const write = (field: Field, actions: readonly object[]): Promise<void> =>
    field.write("night.ndjson", actions.map((action) => `${JSON.stringify(action)}\n`).join(""));
  const runsOf = (field: Field) => [...readRunList(join(stateOf(field), "run-list.ndjson")).runs.keys()];

  /** One night is in the copies. The next one is about to begin. */
  async function oneNight(output?: string): Promise<{ readonly field: Field; readonly putBack: () => void }> {
    const field = await openField();
    await write(field, INPUT);
    expect((await night(field, output)).exitCode).toBe(0);
    await write(field, [...INPUT, ...SALES]);
    return { field, putBack: copyWithList(field) };
  }

  test("lack a run of which a part was in doubt: the rest of it is in doubt after the import", async () => {
    const { field, putBack } = await oneNight();
    field.setFaults({ fault: "drop", when: "after", on: { request: 2 } });
    expect((await night(field)).exitCode).toBe(6);
    field.setFaults();
    putBack();
    const [, run = ""] = runsOf(field);
    const refused = await night(field);
    expect(refused.exitCode).toBe(2);
    expect(refused.said).toContain(run);
    expect((await importPromises(field)).said).toContain("knows 2 of 4 actions; 2 were in doubt or refused");
    expect((await night(field)).exitCode).toBe(2);
    const looked = await person(field, undefined, { run });
    expect(looked.exitCode).toBe(6);
    expect(looked.said).toContain("2 of its actions are in doubt");
    expect((await night(field)).exitCode).toBe(6);
    expect((await person(field, "sent", { run })).exitCode).toBe(0);
    expect(await night(field)).toMatchObject({ exitCode: 0 });
    expect(processedBy(field.sandbox)).toBe(`${ALL} G H I J`);
    // The list has learnt of the run again: the database alone, put back once more, lacks it too.
    putBack();
    expect((await night(field)).exitCode).toBe(2);
    expect(processedBy(field.sandbox)).toBe(`${ALL} G H I J`);
  });

  test.each([undefined, "-"])(
    "lack a run of which no promise was kept (promises to %s): it is noticed by its folder",
    async (output) => {
      const { field, putBack } = await oneNight(output);
      field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
      expect((await night(field, output, "night.ndjson", 10)).exitCode).toBe(6);
      field.setFaults();
      putBack();
      const [, run = ""] = runsOf(field);
      const refused = await night(field, output);
      expect(refused.exitCode).toBe(2);
      expect(refused.said).toContain(`tickets settle ${run}`);
      expect((await person(field, undefined, { run })).said).toContain("4 of its actions are in doubt");
      expect((await night(field, output)).exitCode).toBe(6);
      expect((await person(field, "sent", { run })).exitCode).toBe(0);
      expect((await night(field, output)).exitCode).toBe(0);
      expect(processedBy(field.sandbox)).toBe(`${ALL} G H I J`);
    },
  );

  test("lack two nights whose promises have files of their own: both are named, and missed until they are imported", {
    tags: ["long"],
  }, async () => {
    const { field, putBack } = await oneNight();
    await write(field, [...INPUT, ...SALES.slice(0, 2)]);
    expect((await night(field, "second.ndjson")).exitCode).toBe(0);
    await write(field, [...INPUT, ...SALES]);
    expect((await night(field, "third.ndjson")).exitCode).toBe(0);
    putBack();
    const refused = await night(field, "third.ndjson");
    expect(refused.exitCode).toBe(2);
    for (const file of ["second.ndjson", "third.ndjson"]) expect(refused.said).toContain(`results --import ${file}`);
    expect((await importPromises(field, "third.ndjson")).said).toContain("results --import second.ndjson");
    expect((await night(field, "third.ndjson")).exitCode).toBe(2);
    const imported = await importPromises(field, "second.ndjson");
    expect(imported.said).not.toContain("was lost");
    expect(await night(field, "third.ndjson")).toMatchObject({
      exitCode: 0,
      said: expect.stringContaining("Nothing new"),
    });
    expect(processedBy(field.sandbox)).toBe(`${ALL} G H I J`);
  });

  test("have a run as it was before it went on, with promises on standard output", { tags: ["long"] }, async () => {
    const field = await openField();
    await write(field, INPUT);
    field.setFaults({ fault: "status", status: 403, on: { request: 2 } });
    expect((await night(field, "-")).exitCode).toBe(5);
    field.setFaults();
    const putBack = copyWithList(field);
    expect((await goOn(field)).exitCode).toBe(0);
    putBack();
    expect((await night(field, "-")).exitCode).toBe(2);
    expect((await goOn(field)).exitCode).toBe(2);
    expect((await person(field)).said).toContain("4 of its actions are in doubt");
    expect((await person(field, "sent")).exitCode).toBe(0);
    expect((await night(field, "-")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });

  test("are done with as they are where a person says so, also when the list is lost after that", async () => {
    const { field, putBack } = await oneNight("-");
    expect((await night(field, "-")).exitCode).toBe(0);
    putBack();
    expect((await night(field, "-")).exitCode).toBe(2);
    expect((await forget(field)).exitCode).toBe(0);
    rmSync(join(stateOf(field), "run-list.ndjson"));
    await write(field, [...INPUT, sale("K")]);
    expect((await night(field, "-")).exitCode).toBe(0);
    expect((await night(field, "-")).exitCode).toBe(0);
    expect(processedBy(field.sandbox)).toBe(`${ALL} G H I J K`);
  });

  test("lack nothing by a plan that never became a run", async () => {
    const { field, putBack } = await oneNight("-");
    expect((await night(field, "-")).exitCode).toBe(0);
    putBack();
    const [, run = ""] = runsOf(field);
    rmSync(join(stateOf(field), "runs", run, "listed.ndjson"));
    await write(field, INPUT);
    expect((await night(field, "-")).exitCode).toBe(0);
  });
});
