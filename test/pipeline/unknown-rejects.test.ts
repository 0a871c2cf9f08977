/** Rejects of which the ledger knows nothing: it was lost or put back since, or they are another environment's. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { ActionName } from "../../src/actions/actions.ts";
import { type Done, type Field, makeContext, type Options, openField, verbs } from "../support/context.ts";
import { isLeft, mend } from "../support/rejects.ts";

/** Built by `npm test`. */
const BIN = fileURLToPath(new URL("../../bin/tickets.js", import.meta.url));

const SOLD = `action,eventId,ticketId,userId,price,orderTime,currency
newEvent,E,,,,,EUR
soldTicket,E,T,u1,10.00,100,
soldTicket,E,T2,u1,10.00,100,
`;
const RESALES = "action,ticketId,userId,price,orderTime\n";
const resale = (userId: string, ticketId = "T", orderTime = ""): string =>
  `resoldTicket,${ticketId},${userId},10.00,${orderTime}\n`;
const KEYED = `sources:
  resales:
    match: "resales*.csv"
    key: "{userId}"
    actions: [{resoldTicket: {fields: {ticketId: "{ticketId}", userId: "{userId}", price: "{price}", orderTime: "{orderTime}"}}}]
`;
const OUTPUT = { output: "o.ndjson" } as const;
const BEARING = { ...OUTPUT, maxInvalid: { rows: 9 } } as const;

/** What the service has accepted of a kind, in order. */
const acceptedOf = ({ sandbox }: Field, action: ActionName = "resoldTicket", name = "userId"): string =>
  Array.from(sandbox.engine.processed())
    .filter((each) => each.action === action && each.status === "success")
    .map(({ data }) => String((JSON.parse(data) as Record<string, unknown>)[name])) // as the engine wrote it
    .join(" ");

/** As `field.stream`, with the time of the machine: what came when is compared. */
const streamed = (
  field: Field,
  files: readonly string[],
  options: Partial<Options<"stream">>,
  env: NodeJS.ProcessEnv = {},
): Promise<Done> =>
  field.stream(files, options, { env, asked: ({ context }) => Object.assign(context, { now: () => new Date() }) });

async function openSold(config = "", more = ""): Promise<Field> {
  const field = await openField();
  if (config !== "") await field.write("tickets.config.yaml", config);
  await field.write("sold.csv", SOLD + more);
  expect((await streamed(field, ["sold.csv"], OUTPUT)).exitCode).toBe(0);
  return field;
}

const stateOf = ({ folder }: Field): string => join(folder, "state", "local");
const ledgerFiles = (field: Field) => readdirSync(stateOf(field)).filter((name) => name.startsWith("ledger.db"));

function loseLedger(field: Field): void {
  for (const name of ledgerFiles(field)) rmSync(join(stateOf(field), name));
}

/** What is returned puts the copy back. */
function copyLedger(field: Field): () => void {
  const copy = join(field.folder, "copy");
  mkdirSync(copy);
  const names = ledgerFiles(field);
  for (const name of names) copyFileSync(join(stateOf(field), name), join(copy, name));
  return () => {
    loseLedger(field);
    for (const name of names) copyFileSync(join(copy, name), join(stateOf(field), name));
  };
}

async function importPromises(field: Field, file: string = OUTPUT.output): Promise<void> {
  const { context, said } = makeContext(field.folder, field.env);
  expect(await verbs.importResults({ flags: {}, waitLock: 0, file }, context), said()).toBe(0);
}

async function settleLost(field: Field, run: string, decision?: "sent"): Promise<number> {
  const which = { run, chunk: undefined, first: undefined, decision, reason: "looked", yes: true };
  return verbs.settle({ ...which, flags: {}, json: false, waitLock: 0 }, makeContext(field.folder, field.env).context);
}

const SOURCES = [
  ["without a key", ""],
  ["with a key", KEYED],
] as const;

describe("rejects of a night that the ledger has lost", () => {
  describe.each(SOURCES)("%s", (_, config) => {
    /** Of two resales of the second night one named no ticket. */
    async function secondNight(): Promise<{ readonly field: Field; readonly putBack: () => void }> {
      const field = await openSold(config);
      const putBack = copyLedger(field);
      await field.write("resales.csv", `${RESALES}${resale("u2", "")}${resale("u3")}`);
      expect((await streamed(field, ["resales.csv"], BEARING)).exitCode).toBe(4);
      await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
      return { field, putBack };
    }

    test("have their places again from the plan, once the promises are imported", { tags: ["long"] }, async () => {
      const { field, putBack } = await secondNight();
      putBack();
      expect((await streamed(field, ["resales.rejects.csv"], OUTPUT)).exitCode).toBe(2);
      await importPromises(field);
      isLeft(await streamed(field, ["resales.rejects.csv"], OUTPUT), "history-superseded");
      await field.write("resales.csv", `${RESALES}${resale("u2")}${resale("u3")}`);
      isLeft(await streamed(field, ["resales.csv"], OUTPUT), "history-late");
      expect(acceptedOf(field)).toBe("u3");
    });

    test("have their places again where the ledger was removed", async () => {
      const { field } = await secondNight();
      loseLedger(field);
      await importPromises(field);
      isLeft(await streamed(field, ["resales.rejects.csv"], OUTPUT), "history-superseded");
      expect(acceptedOf(field)).toBe("u3");
    });

    test("are not sent where the plans were removed too", { tags: ["long"] }, async () => {
      const { field, putBack } = await secondNight();
      putBack();
      rmSync(join(stateOf(field), "runs"), { recursive: true });
      await importPromises(field);
      isLeft(await streamed(field, ["resales.rejects.csv"], OUTPUT), "imported-history");
      expect(acceptedOf(field)).toBe("u3");
    });
  });

  test("have no places where a later run was imported before theirs", async () => {
    const field = await openSold();
    const putBack = copyLedger(field);
    await field.write("resales.csv", `${RESALES}${resale("u2", "")}${resale("u4", "T2")}`);
    expect((await streamed(field, ["resales.csv"], { ...BEARING, output: "second.ndjson" })).exitCode).toBe(4);
    await field.write("later.csv", `${RESALES}${resale("u3")}`);
    expect((await streamed(field, ["later.csv"], { output: "third.ndjson" })).exitCode).toBe(0);
    putBack();
    await importPromises(field, "third.ndjson");
    await importPromises(field, "second.ndjson");
    await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
    isLeft(await streamed(field, ["resales.rejects.csv"], OUTPUT), "history-unclear");
    expect(acceptedOf(field)).toBe("u4 u3");
  });

  test.each(["imported", "settled"])(
    "are behind nothing that stood behind them in runs which the plan numbers otherwise (%s)",
    async (how) => {
      const field = await openSold();
      const putBack = copyLedger(field);
      // A run that sends nothing is no loss, and is given back by nothing.
      await field.write("none.csv", `${RESALES}${resale("u9", "")}`);
      expect((await streamed(field, ["none.csv"], BEARING)).exitCode).toBe(4);
      await field.write("resales.csv", `${RESALES}${resale("u3")}`);
      const more = { ...BEARING, output: "lost.ndjson" };
      expect((await streamed(field, ["resales.csv"], more)).exitCode).toBe(0);
      const bad = resale("u2").replace("10.00", "ten");
      await field.write("resales.csv", `${RESALES}${bad}${resale("u3")}${resale("u4", "T2")}`);
      expect((await streamed(field, ["resales.csv"], more)).exitCode).toBe(4);
      const lost = (await field.runs()).filter(({ actions }) => actions.accepted > 0).slice(0, -1);
      putBack();
      if (how === "imported") await importPromises(field, more.output);
      else {
        rmSync(join(field.folder, more.output));
        for (const { run } of lost.toReversed()) expect(await settleLost(field, run)).toBe(6);
        for (const { run } of lost.toReversed()) await settleLost(field, run, "sent");
      }
      // What is open is finished first.
      await streamed(field, ["none.csv"], BEARING);
      await mend(field, "resales.rejects.csv", "ten", "10.00");
      isLeft(await streamed(field, ["resales.rejects.csv"], OUTPUT), "history-unclear");
      expect(acceptedOf(field)).toBe("u3 u4");
    },
  );

  describe.each(SOURCES)("and which sent nothing, so that no loss is noticed, %s", (_, config) => {
    async function lostNight(more: (field: Field) => Promise<void> = async () => {}): Promise<Field> {
      const field = await openSold(config);
      await field.write("resales.csv", `${RESALES}${resale("u3")}`);
      expect((await streamed(field, ["resales.csv"], OUTPUT)).exitCode).toBe(0);
      const putBack = copyLedger(field);
      await field.write("resales.csv", `${RESALES}${resale("u2", "")}${resale("u3")}`);
      expect((await streamed(field, ["resales.csv"], BEARING)).exitCode).toBe(4);
      await more(field);
      putBack();
      return field;
    }

    test("are told and not sent, nor are the rejects of those", { tags: ["long"] }, async () => {
      const field = await lostNight();
      await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
      const told = await streamed(field, ["resales.rejects.csv"], OUTPUT);
      isLeft(told, "history-unclear");
      expect(told.said).toContain("does not know");
      expect((await streamed(field, ["resales.rejects.csv"], BEARING)).exitCode).toBe(4);
      isLeft(await streamed(field, ["resales.rejects.rejects.csv"], OUTPUT), "history-unclear");
      expect(acceptedOf(field)).toBe("u3");
      const again = await streamed(field, ["resales.rejects.csv"], { ...OUTPUT, again: true });
      expect(again.summary?.actions, again.said).toMatchObject({ accepted: 1 });
      expect((await streamed(field, ["resales.rejects.csv"], OUTPUT)).summary?.actions).toMatchObject({
        alreadySent: 1,
      });
      expect(acceptedOf(field)).toBe("u3 u2");
    });

    test("are not sent where the service rejected what was sent of them with --again", { tags: ["long"] }, async () => {
      const field = await lostNight();
      await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
      field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
      expect((await streamed(field, ["resales.rejects.csv"], { ...OUTPUT, again: true })).exitCode).toBe(4);
      field.setFaults();
      isLeft(await streamed(field, ["resales.rejects.rejects.csv"], OUTPUT), "history-unclear");
      expect(acceptedOf(field)).toBe("u3");
    });

    test("are a problem where they say what was accepted, which may be that or the same once more", {
      tags: ["long"],
    }, async () => {
      const field = await lostNight();
      await mend(field, "resales.rejects.csv", "resoldTicket,,u2", "resoldTicket,T,u3");
      const told = await streamed(field, ["resales.rejects.csv"], OUTPUT);
      if (config === "") isLeft(told, "history-unclear");
      else expect(told.summary?.actions, told.said).toMatchObject({ accepted: 0, alreadySent: 1 });
      expect(acceptedOf(field)).toBe("u3");
    });

    test("are sent where nothing of their histories was accepted, once", async () => {
      const field = await lostNight();
      await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T2,");
      expect((await streamed(field, ["resales.rejects.csv"], OUTPUT)).summary?.actions).toMatchObject({ accepted: 1 });
      const again = await streamed(field, ["resales.rejects.csv"], OUTPUT);
      expect(again.summary?.actions, again.said).toMatchObject({ accepted: 0, alreadySent: 1 });
      expect(acceptedOf(field)).toBe("u3 u2");
    });

    test("are sent in the end where the service rejected them in between", { tags: ["long"] }, async () => {
      const field = await lostNight();
      await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T2,");
      field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
      expect((await streamed(field, ["resales.rejects.csv"], OUTPUT)).exitCode).toBe(4);
      field.setFaults();
      expect((await streamed(field, ["resales.rejects.rejects.csv"], OUTPUT)).summary?.actions).toMatchObject({
        accepted: 1,
      });
      expect(acceptedOf(field)).toBe("u3 u2");
    });

    test("are plain rows without their digests", { tags: ["long"] }, async () => {
      const field = await lostNight();
      const rejects = await field.read("resales.rejects.csv");
      await field.write(
        "resales.rejects.csv",
        rejects.replace("resoldTicket,,", "resoldTicket,T,").replace(/[^,]*$/, "\n"),
      );
      expect((await streamed(field, ["resales.rejects.csv"], OUTPUT)).summary?.actions).toMatchObject({ accepted: 1 });
    });

    test("are known where the export brings them once more", { tags: ["long"] }, async () => {
      const field = await lostNight();
      rmSync(join(field.folder, "resales.rejects.csv"));
      expect((await streamed(field, ["resales.csv"], BEARING)).exitCode).toBe(4);
      await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
      const told = await streamed(field, ["resales.rejects.csv"], OUTPUT);
      isLeft(told, "history-unclear");
      expect(told.said).toContain("did not name this ticket");
    });
  });

  test.each([
    ["before a later one", "200", "history-late", "u3"],
    ["behind an earlier one", "400", "", "u3 u2"],
  ])("go by their times: %s", async (_, time, rule, accepted) => {
    const field = await openSold();
    await field.write("resales.csv", `${RESALES}${resale("u3", "T", "300")}`);
    await streamed(field, ["resales.csv"], OUTPUT);
    const putBack = copyLedger(field);
    await field.write("resales.csv", `${RESALES}${resale("u2", "", time)}${resale("u3", "T", "300")}`);
    await streamed(field, ["resales.csv"], BEARING);
    putBack();
    await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
    const mended = await streamed(field, ["resales.rejects.csv"], OUTPUT);
    if (rule !== "") isLeft(mended, rule);
    expect(acceptedOf(field), mended.said).toBe(accepted);
  });

  test("are told where only they have a time", async () => {
    const field = await openSold("", "resoldTicket,,T,u3,10.00,,\n");
    const putBack = copyLedger(field);
    await field.write("resales.csv", `${RESALES}${resale("u2", "", "200")}`);
    await streamed(field, ["resales.csv"], BEARING);
    putBack();
    await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
    isLeft(await streamed(field, ["resales.rejects.csv"], OUTPUT), "history-unclear");
  });

  test("of sales and scans are sent by what they are", async () => {
    const field = await openSold("", "scannedTicket,,T,,,150,\n");
    const putBack = copyLedger(field);
    await field.write("more.csv", `${SOLD}soldTicket,,T3,u1,10.00,100,\nscannedTicket,,,,,200,\n`);
    expect((await streamed(field, ["more.csv"], BEARING)).exitCode).toBe(4);
    putBack();
    await mend(field, "more.rejects.csv", "soldTicket,,", "soldTicket,E,");
    await mend(field, "more.rejects.csv", "scannedTicket,,,", "scannedTicket,,T,");
    const mended = await streamed(field, ["more.rejects.csv"], OUTPUT);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 2 });
  });
});

test.each<[string, ActionName, string, string]>([
  ["an update of a ticket", "updateTicket", "ticketId,imageUrl", "T,https://img.example/"],
  ["an update of an event", "updateEvent", "eventId,eventName", "E,name of "],
])(
  "%s in the rejects of another environment is not sent behind what this one accepted",
  async (_, action, columns, text) => {
    const field = await openSold();
    const elsewhere = { TICKETS_STATE_DIR: join(field.folder, "elsewhere") };
    const row = (name: string): string => `${action},${text}${name}\n`;
    await field.write("updates.csv", `action,${columns}\n${row("1").replace(/,[TE],/, ",,")}${row("2")}`);
    expect((await streamed(field, ["updates.csv"], { ...BEARING, output: "else.ndjson" }, elsewhere)).exitCode).toBe(4);
    await field.write("updates.csv", `action,${columns}\n${row("2")}`);
    expect((await streamed(field, ["updates.csv"], OUTPUT)).exitCode).toBe(0);
    await mend(field, "updates.rejects.csv", `${action},,`, `${action},${text.slice(0, 2)}`);
    isLeft(await streamed(field, ["updates.rejects.csv"], OUTPUT), "history-unclear");
  },
);

const SCANS = "action,ticketId,orderTime,note\n";
const scan = (note: string, ticketId = "T", orderTime = ""): string =>
  `scannedTicket,${ticketId},${orderTime},${note}\n`;
const KEYED_SCANS = `sources:
  scans:
    match: "scans*.csv"
    key: "{note}"
    actions: [{scannedTicket: {fields: {ticketId: "{ticketId}", orderTime: "{orderTime}"}}}]
`;

describe("scans in rejects that the ledger does not know", { tags: ["long"] }, () => {
  /** The first night brings what is accepted; the rejects of the second name no ticket, until they are mended. */
  async function scanned(
    first: readonly string[],
    bad: readonly string[],
    { config = "", isOfAnother = false } = {},
  ): Promise<Field> {
    const field = await openSold(config);
    const put = (rows: readonly string[]): Promise<void> => field.write("scans.csv", SCANS + rows.join(""));
    await put(first);
    expect((await streamed(field, ["scans.csv"], OUTPUT)).exitCode).toBe(0);
    const putBack = copyLedger(field);
    await put([...first, ...bad.map((row) => row.replace(",T,", ",,"))]);
    const elsewhere = isOfAnother ? { TICKETS_STATE_DIR: join(field.folder, "elsewhere") } : {};
    const output = isOfAnother ? "else.ndjson" : OUTPUT.output;
    expect((await streamed(field, ["scans.csv"], { ...BEARING, output }, elsewhere)).exitCode).toBe(4);
    if (!isOfAnother) putBack();
    const rejects = await field.read("scans.rejects.csv");
    await field.write("scans.rejects.csv", rejects.replaceAll("scannedTicket,,", "scannedTicket,T,"));
    return field;
  }
  const B = scan("gate B");
  const C = scan("gate C");

  test.each([
    ["one", [B], {}],
    ["two", [B, C], {}],
    ["one of another environment", [B], { isOfAnother: true }],
  ] as const)("are told and not sent without a time: they may be accepted ones or others (%s)", async (_, bad, how) => {
    const field = await scanned([scan("gate A")], bad, how);
    const told = await streamed(field, ["scans.rejects.csv"], OUTPUT);
    isLeft(told, "history-unclear");
    expect(told.said).toContain("whether it is one of the scannedTicket that were accepted of this ticket");
    expect((await streamed(field, ["scans.rejects.csv"], BEARING)).exitCode).toBe(4);
    isLeft(await streamed(field, ["scans.rejects.rejects.csv"], OUTPUT), "history-unclear");
    const again = await streamed(field, ["scans.rejects.csv"], { ...OUTPUT, again: true });
    expect(again.summary?.actions, again.said).toMatchObject({ accepted: bad.length });
    const once = await streamed(field, ["scans.rejects.csv"], OUTPUT);
    expect(once.summary?.actions, once.said).toMatchObject({ accepted: 0, alreadySent: bad.length });
    await field.write("scans.csv", [SCANS, scan("gate A"), ...bad].join(""));
    const full = await streamed(field, ["scans.csv"], OUTPUT);
    expect(full.summary?.actions, full.said).toMatchObject({ accepted: 0, alreadySent: 1 + bad.length });
  });

  test("are sent by the whole export, which shows how many there are", async () => {
    const field = await scanned([scan("gate A")], [B]);
    await field.write("scans.csv", `${SCANS}${scan("gate A")}${B}`);
    const full = await streamed(field, ["scans.csv"], OUTPUT);
    expect(full.summary?.actions, full.said).toMatchObject({ accepted: 1, alreadySent: 1 });
  });

  test.each<[string, string, string, string]>([
    ["of whose ticket no scan was accepted", scan("gate A", "T2"), B, ""],
    ["whose key tells them", scan("gate A"), B, KEYED_SCANS],
    ["with a time", scan("gate A", "T", "200"), scan("gate B", "T", "100"), ""],
  ])("are sent once %s", async (_, first, bad, config) => {
    const field = await scanned([first], [bad], { config });
    const mended = await streamed(field, ["scans.rejects.csv"], OUTPUT);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 1 });
    const again = await streamed(field, ["scans.rejects.csv"], OUTPUT);
    expect(again.summary?.actions, again.said).toMatchObject({ accepted: 0, alreadySent: 1 });
  });
});

test("a row whose rejects were written by a command that was killed before it noted them is known to the next", {
  tags: ["long"],
}, async () => {
  const field = await openSold();
  await field.write("resales.csv", `${RESALES}${resale("u2", "")}${resale("u3")}`);
  const args = ["stream", "resales.csv", "--output", OUTPUT.output, "--max-invalid", "9"];
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: field.folder,
    env: { ...process.env, ...field.env, TICKETS_TEST_CRASH_AT: "rejects placed" },
    stdio: "ignore",
  });
  expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
  await mend(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
  const mended = await streamed(field, ["resales.rejects.csv"], OUTPUT);
  expect(mended.said).toContain("history-superseded");
  expect(acceptedOf(field)).toBe("u3");
});
