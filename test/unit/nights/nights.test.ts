import { describe, expect, test } from "vitest";
import { type Desk, EVENT, imageOf, openDesk, sale } from "../../support/desk.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../../support/postgres.ts";

const FIRST = [EVENT, sale("a"), sale("b"), sale("c"), imageOf("a", "one")];
const TAKEN = ["newEvent E", "soldTicket a", "soldTicket b", "soldTicket c", "updateTicket a"];

/** A desk on which a first night was sent. */
async function afterFirst(): Promise<Desk> {
  const desk = await openDesk();
  desk.write("sales.ndjson", FIRST);
  expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ exitCode: 0, actions: { accepted: 5 } });
  return desk;
}

describe.each(["sqlite", "postgres"] as const)(`nights with a ledger in %s`, (kind) => {
  describe.skipIf(kind === "postgres" && WITHOUT_POSTGRES)(kind === "postgres" ? NEEDS_POSTGRES : "", () => {
    test("the first sends all, in order and once, and writes each promise; the second sends nothing", async () => {
      const desk = await openDesk(kind);
      desk.write("sales.ndjson", FIRST);
      const { summary } = await desk.stream("sales.ndjson");
      expect(summary).toMatchObject({
        ...{ state: "finished", exitCode: 0, next: null, rejects: [], chunks: { total: 3, settled: 3 } },
        actions: { total: 5, accepted: 5, rejected: 0, inDoubt: 0, notSent: 0, alreadySent: 0 },
      });
      expect(desk.taken()).toEqual(TAKEN);
      expect(desk.promises().map(({ action, line, status }) => [action, line, status])).toEqual(
        FIRST.map(({ action }, at) => [action, at + 1, "success"]),
      );

      const again = await desk.stream("sales.ndjson");
      expect(again.summary).toMatchObject({
        state: "nothing new",
        exitCode: 0,
        run: null,
        actions: { alreadySent: 5 },
      });
      expect(desk.taken()).toEqual(TAKEN);
      expect(desk.promises()).toHaveLength(5);
    });
  });
});

describe("a later night", () => {
  test("sends what is new, tells what changed, and leaves the rest", async () => {
    const desk = await afterFirst();
    desk.write("sales.ndjson", [EVENT, sale("a", "20.00"), sale("b", "18"), sale("d"), imageOf("b", "one")]);
    const { summary } = await desk.stream("sales.ndjson");
    expect(summary).toMatchObject({
      exitCode: 4,
      actions: { total: 5, accepted: 2, alreadySent: 2, changed: 1 },
      rejects: [],
    });
    expect(desk.taken()).toEqual([...TAKEN, "soldTicket d", "updateTicket b"]);
  });

  test("that sends nothing names the rejects with what it can't tell, and the command that takes them", async () => {
    const desk = await afterFirst();
    desk.write("updates.ndjson", [imageOf("a", "two")]);
    await desk.stream("updates.ndjson");
    desk.write("updates.ndjson", [imageOf("a", "one")]);
    const { summary } = await desk.stream("updates.ndjson");
    expect(summary).toMatchObject({
      ...{ state: "nothing new", exitCode: 4, actions: { unclear: 1 } },
      rejects: [expect.stringMatching(/updates\.rejects\.ndjson$/)],
      next: expect.stringContaining("tickets stream updates.rejects.ndjson"),
    });
  });

  test("sends once more what a person asks for, and knows it afterwards", async () => {
    const desk = await afterFirst();
    desk.write("again.ndjson", [imageOf("a", "one")]);
    expect((await desk.stream("again.ndjson", { mode: "resend" })).summary).toMatchObject({
      exitCode: 0,
      actions: { accepted: 1 },
    });
    expect(desk.taken()).toEqual([...TAKEN, "updateTicket a"]);
    expect((await desk.stream("again.ndjson")).summary).toMatchObject({ exitCode: 0, actions: { alreadySent: 1 } });
  });

  test("takes over what another tool sent, and sends nothing of it", async () => {
    const desk = await openDesk();
    desk.write("sales.ndjson", FIRST);
    expect((await desk.stream("sales.ndjson", { mode: "adopt", reason: "moved" })).summary).toMatchObject({
      state: "adopted",
      exitCode: 0,
    });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
      state: "nothing new",
      actions: { alreadySent: 5 },
    });
    expect(desk.taken()).toEqual([]);
  });
});

describe("a lost answer", () => {
  /** The second request, with the sales of b and c, is lost. */
  async function afterLoss(when: "before" | "after"): Promise<Desk> {
    const desk = await openDesk();
    desk.write("sales.ndjson", FIRST);
    desk.setFaults({ fault: "drop", when, on: { request: 2 } });
    const { summary } = await desk.stream("sales.ndjson");
    expect(summary).toMatchObject({ state: "stopped", exitCode: 6, actions: { accepted: 2, inDoubt: 2, notSent: 1 } });
    expect(summary.next).toContain(`tickets settle ${summary.run}`);
    return desk;
  }

  test.each(["before", "after"] as const)(
    "is a doubt (lost %s processing), and the same call sends nothing",
    async (when) => {
      const desk = await afterLoss(when);
      const taken = desk.taken();
      expect(taken).toEqual(when === "before" ? TAKEN.slice(0, 2) : TAKEN.slice(0, 4));
      const { summary } = await desk.stream("sales.ndjson");
      expect(summary.exitCode).toBe(6);
      expect(desk.taken()).toEqual(taken);
    },
  );

  test("asks about its actions, and goes on once a person says that they were taken", async () => {
    const desk = await afterLoss("after");
    const asked = await desk.settle({});
    expect(asked).toMatchObject({
      kind: "settled",
      questions: [{ actions: [{ line: 3, action: { data: { ticketId: "b" } } }, { line: 4 }] }],
    });
    expect(await desk.settle({ decision: "sent" })).toMatchObject({ summary: { exitCode: 0 } });
    expect((await desk.resume())?.summary).toMatchObject({ state: "finished", exitCode: 0, actions: { accepted: 5 } });
    expect(desk.taken()).toEqual(TAKEN);
    expect(desk.promises().map(({ status }) => status)).toEqual([
      ...["success", "success", "settled", "settled", "success"],
    ]);
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ exitCode: 0, actions: { alreadySent: 5 } });
  });

  test("goes on once a person says that they were not", async () => {
    const desk = await afterLoss("before");
    await desk.settle({ decision: "not-sent" });
    const { summary } = await desk.stream("sales.ndjson");
    expect(summary.resumed ?? summary).toMatchObject({ state: "finished", exitCode: 0, actions: { accepted: 5 } });
    expect(desk.taken()).toEqual(TAKEN);
  });

  test("holds what comes behind it on its tickets in other files, and nothing else", async () => {
    const desk = await afterLoss("after");
    desk.setFaults();
    desk.write("later.ndjson", [imageOf("b", "two"), imageOf("a", "two")]);
    const { summary } = await desk.stream("later.ndjson");
    expect(summary).toMatchObject({ exitCode: 6 });
    expect(desk.taken()).toEqual(TAKEN.slice(0, 4));
    await desk.settle({ decision: "abandon" });
    const held = await desk.stream("later.ndjson");
    expect(held.summary).toMatchObject({ exitCode: 6, actions: { accepted: 1, notSent: 1 } });
    expect(desk.taken().slice(4)).toEqual(["updateTicket a"]);
    await desk.settle({ run: String(asRun(desk)), decision: "sent" });
    expect((await desk.stream("later.ndjson")).summary).toMatchObject({ actions: { accepted: 1, alreadySent: 1 } });
    expect(desk.taken().slice(4)).toEqual(["updateTicket a", "updateTicket b"]);
  });
});

/** The run of the first line of the promises. */
const asRun = (desk: Desk): unknown => desk.promises()[0]?.run;

describe("a rejected action", () => {
  test("lands in rejects with the service's words, and mended it is sent", async () => {
    const desk = await openDesk();
    desk.write("sales.csv", SALES);
    desk.write("event.ndjson", [EVENT]);
    await desk.stream("event.ndjson");
    desk.setFaults({
      fault: "failure-items",
      on: { ticketId: "b" },
      items: [1],
      body: { status: "error", message: "no seat" },
    });
    const { summary } = await desk.stream("sales.csv", { action: "soldTicket" });
    expect(summary).toMatchObject({ state: "finished", exitCode: 4, actions: { accepted: 2, rejected: 1 } });
    expect(summary.rejects).toEqual([expect.stringMatching(/sales\.rejects\.csv$/)]);
    const rejects = desk.read("sales.rejects.csv");
    expect(rejects).toMatch(/^eventId,ticketId,userId,price,orderTime,tickets:reason,tickets:row\n/);
    expect(rejects).toContain(
      `\nE,b,u,18.00,1600000000,soldTicket rejected by the service: no seat.,row@${summary.run}:2\n`,
    );
    desk.setFaults();
    expect((await desk.stream("sales.rejects.csv", { action: "soldTicket" })).summary).toMatchObject({
      ...{ exitCode: 0, actions: { accepted: 1 } },
    });
    expect(desk.taken()).toEqual(["newEvent E", "soldTicket a", "soldTicket c", "soldTicket b"]);
    expect((await desk.stream("sales.csv", { action: "soldTicket" })).summary).toMatchObject({
      actions: { alreadySent: 3 },
    });
  });

  test("is tried again by the next full export", async () => {
    const desk = await openDesk();
    desk.write("sales.ndjson", FIRST);
    desk.setFaults({ fault: "failure-items", on: { request: 2 }, items: [1] });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ actions: { accepted: 4, rejected: 1 } });
    desk.setFaults();
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ actions: { accepted: 1, alreadySent: 4 } });
  });
});

const HEAD = "eventId,ticketId,userId,price,orderTime\n";
const SALES = `${HEAD}E,a,u,18.00,1600000000\nE,b,u,18.00,1600000000\nE,c,u,18.00,1600000000\n`;

describe("bad rows", () => {
  const badly = { action: "soldTicket", maxInvalid: { rows: 9 } } as const;

  test("go into rejects with their digest and place in the run; mended they are sent, and the bad ones are known", async () => {
    const desk = await openDesk();
    desk.write("event.ndjson", [EVENT]);
    await desk.stream("event.ndjson");
    desk.write("sales.csv", SALES.replace("E,b,u,18.00", "E,b,u,x"));
    const { summary } = await desk.stream("sales.csv", badly);
    expect(summary).toMatchObject({ exitCode: 4, rows: { read: 3, invalid: 1 }, actions: { accepted: 2 } });
    expect(summary.rejects).toEqual([expect.stringMatching(/sales\.rejects\.csv$/)]);
    expect(summary.next).toContain("tickets stream sales.rejects.csv");
    expect(desk.read("sales.rejects.csv")).toMatch(new RegExp(`,[\\da-f]{32}@${summary.run}:2\n$`));
    desk.write("sales.rejects.csv", desk.read("sales.rejects.csv").replace("E,b,u,x", "E,b,u,20.00"));
    expect((await desk.stream("sales.rejects.csv", badly)).summary).toMatchObject({ actions: { accepted: 1 } });
    expect((await desk.stream("sales.csv", badly)).summary).toMatchObject({ exitCode: 0, actions: { alreadySent: 3 } });
    expect(desk.taken()).toEqual(["newEvent E", "soldTicket a", "soldTicket c", "soldTicket b"]);
  });

  test("of a night that sends nothing stand behind the last run, not in the next one", async () => {
    const desk = await openDesk();
    desk.write("event.ndjson", [EVENT]);
    const { summary: before } = await desk.stream("event.ndjson");
    desk.write("sales.csv", `${HEAD}E,b,u,x,1600000000\n`);
    expect((await desk.stream("sales.csv", badly)).summary).toMatchObject({ run: null, rows: { invalid: 1 } });
    expect(desk.read("sales.rejects.csv")).toMatch(new RegExp(`@${before.run}:\\d{16}\n$`));
    await desk.stream("sales.csv", badly);
    expect(desk.read("sales.rejects.csv").trimEnd().split("\n")).toHaveLength(2);
  });

  test("that stand in rejects already are named again, and stand there once", async () => {
    const desk = await openDesk();
    const maxInvalid = { rows: 1 };
    for (const more of [[sale("a")], [sale("a"), sale("c")]]) {
      desk.write("sales.ndjson", [EVENT, sale("b", "x"), ...more]);
      const { summary } = await desk.stream("sales.ndjson", { maxInvalid });
      expect(summary).toMatchObject({ exitCode: 4, rejects: [expect.stringMatching(/sales\.rejects\.ndjson$/)] });
    }
    expect(desk.read("sales.rejects.ndjson").trimEnd().split("\n")).toHaveLength(1);
  });

  test("are many more than are written at a time, and each stands there once", async () => {
    const desk = await openDesk();
    const note = "n".repeat(400);
    const rows = Array.from({ length: 3000 }, (_, at) => `E,${at},u,x,1600000000,${note}\n`);
    for (const more of ["", `E,more,u,x,1600000000,${note}\n`]) {
      desk.write("sales.csv", `${HEAD.trim()},note\n${rows.join("")}${more}`);
      await desk.stream("sales.csv", { action: "soldTicket", maxInvalid: { percent: 100 } });
    }
    const ids = desk
      .read("sales.rejects.csv")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => row.split(",")[1]);
    expect(ids).toEqual([...rows.keys(), "more"].map(String));
  });

  test("are written only once a person has confirmed that the others are sent", async () => {
    const desk = await openDesk();
    desk.write("tickets.config.yaml", "environments:\n  playground:\n    confirm: true\n");
    desk.write("sales.ndjson", [EVENT, sale("a"), sale("b", "x")]);
    const maxInvalid = { rows: 1 };
    const { ending } = await desk.stream("sales.ndjson", { maxInvalid, confirm: async () => false });
    expect(ending.kind).toBe("not confirmed");
    expect(desk.exists("sales.rejects.ndjson")).toBe(false);
    const { summary } = await desk.stream("sales.ndjson", { maxInvalid, confirm: async () => true });
    expect(desk.read("sales.rejects.ndjson")).toContain(`@${summary.run}:3"`);
    expect(desk.taken()).toEqual(["newEvent E", "soldTicket a"]);
  });

  test("of such a night, mended, are late only behind what was sent since", async () => {
    const desk = await afterFirst();
    const bad = imageOf("a", "two");
    desk.write("images.ndjson", [{ ...bad, data: { ...bad.data, imageUrl: "ftp://bad" } }]);
    const mended = async (name: string) => {
      desk.write(
        "mended.ndjson",
        desk.read("images.rejects.ndjson").replace("ftp://bad", `https://cdn.example/${name}.png`),
      );
      return (await desk.stream("mended.ndjson")).summary;
    };
    await desk.stream("images.ndjson", badly);
    expect(await mended("two")).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    const [line] = desk.read("images.rejects.ndjson").split("\n");
    expect(JSON.parse(line ?? "")["tickets:row"]).toMatch(/@[0-9a-f]{8}:\d{16}$/);
    desk.write("newer.ndjson", [imageOf("a", "three")]);
    await desk.stream("newer.ndjson");
    expect(await mended("four")).toMatchObject({ exitCode: 4, actions: { accepted: 0, late: 1 } });
    expect(desk.taken().slice(5)).toEqual(["updateTicket a", "updateTicket a"]);
  });

  test("that come late are told, and are in no rejects", async () => {
    const desk = await afterFirst();
    desk.write("images.ndjson", [imageOf("a", "zero"), imageOf("a", "one")]);
    expect((await desk.stream("images.ndjson")).summary).toMatchObject({
      exitCode: 4,
      rejects: [],
      actions: { late: 1 },
    });
    expect(desk.exists("images.rejects.ndjson")).toBe(false);
  });
});

describe("rows of rejects", () => {
  test("that were unclear and are as they were are told again, until a person says what they are", async () => {
    const desk = await afterFirst();
    desk.write("images.ndjson", [imageOf("b", "one"), imageOf("b", "two"), imageOf("b", "one")]);
    expect((await desk.stream("images.ndjson")).summary).toMatchObject({
      ...{ exitCode: 4, actions: { accepted: 2, unclear: 1 } },
      rejects: [expect.stringMatching(/images\.rejects\.ndjson$/)],
    });
    const left = await desk.stream("images.rejects.ndjson");
    expect(left.summary).toMatchObject({ exitCode: 4, actions: { total: 1, accepted: 0, unclear: 1 } });
    expect(desk.read("images.rejects.ndjson").trimEnd().split("\n")).toHaveLength(1);
    const sent = await desk.stream("images.rejects.ndjson", { mode: "resend" });
    expect(sent.summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    const known = await desk.stream("images.rejects.ndjson");
    expect(known.summary).toMatchObject({ exitCode: 0, actions: { accepted: 0, alreadySent: 1 } });
    expect(desk.taken().slice(5)).toEqual(["updateTicket b", "updateTicket b", "updateTicket b"]);
  });

  test("of a run that this ledger does not know are not sent behind what it has accepted", async () => {
    const desk = await afterFirst();
    const bad = [imageOf("a", "two"), imageOf("b", "two")].map(({ action, data }) => ({
      ...{ action, data: { ...data, imageUrl: "ftp://bad" } },
    }));
    desk.write("images.ndjson", [...bad, sale("d")]);
    await desk.stream("images.ndjson", { maxInvalid: { rows: 9 } });
    const corrected = desk.read("images.rejects.ndjson").replaceAll("ftp://bad", "https://cdn.example/two.png");
    desk.write("images.rejects.ndjson", corrected.replaceAll(/@[0-9a-f]{8}:/g, "@ffffffff:"));
    const { summary } = await desk.stream("images.rejects.ndjson");
    expect(summary).toMatchObject({ exitCode: 4, actions: { accepted: 1, late: 0, unclear: 1 } });
    expect(desk.taken().slice(5)).toEqual(["soldTicket d", "updateTicket b"]);
    expect(desk.read("images.rejects.rejects.ndjson")).toContain("@ffffffff:1");
  });

  test("that could not be read are late only behind what stood behind them", async () => {
    const desk = await afterFirst();
    desk.write("images.csv", "ticketId,imageUrl\nb,https://cdn.example/one.png\nb\n");
    const options = { action: "updateTicket", maxInvalid: { rows: 9 } } as const;
    expect((await desk.stream("images.csv", options)).summary).toMatchObject({ actions: { accepted: 1 } });
    const corrected = desk.read("images.rejects.csv").replace("\n,,", "\nb,https://cdn.example/two.png,");
    desk.write("images.rejects.csv", corrected);
    expect((await desk.stream("images.rejects.csv", options)).summary).toMatchObject({ actions: { accepted: 1 } });
    expect(desk.taken().slice(5)).toEqual(["updateTicket b", "updateTicket b"]);
  });
});

describe("a lost ledger", () => {
  test("is noticed by the journal; refilled from the promises, it sends nothing", async () => {
    const desk = await afterFirst();
    desk.loseLedger();
    await expect(desk.stream("sales.ndjson")).rejects.toMatchObject({
      code: "usage",
      hint: expect.stringContaining("tickets results --import"),
    });
    expect(await desk.importPromises("promises.ndjson")).toMatchObject([{ file: "promises.ndjson" }]);
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
      state: "nothing new",
      actions: { alreadySent: 5 },
    });
    expect(desk.taken()).toEqual(TAKEN);
  });

  test("without a journal is an empty one, which promises fill as well", async () => {
    const desk = await afterFirst();
    desk.loseLedger("journal");
    await desk.importPromises("promises.ndjson");
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
      state: "nothing new",
      actions: { alreadySent: 5 },
    });
  });
});
