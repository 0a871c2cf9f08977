/** The rows of a rejects file stand in the order of their inputs, whenever they were found open, and are sent in it or not at all. */

import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Field, type Options, openField } from "../../support/context.ts";

async function person(field: Field, says: Partial<Pick<Options<"settle">, "decision" | "chunk">>) {
  const { decision, ...which } = says;
  return (await field.settle(decision, which)).said;
}

/** What the service has taken of T1 beside its sale, in order. */
const taken = ({ sandbox }: Field): string =>
  Array.from(sandbox.engine.processed())
    .filter(({ action, status, ticketId }) => status === "success" && action !== "soldTicket" && ticketId === "T1")
    .map(({ data }) => {
      const { userId, imageUrl } = JSON.parse(data) as Readonly<Record<string, string>>;
      return userId ?? imageUrl?.slice(-1);
    })
    .join(" ");

interface Kind {
  readonly name: string;
  readonly header: string;
  readonly row: (who: string, ticket?: string) => string;
}

const KINDS: readonly Kind[] = [
  {
    name: "resales.csv",
    header: "ticketId,userId,price,orderTime",
    row: (who, ticket = "T1") => `${ticket},${who},1.00,${1_767_225_600 + who.charCodeAt(0)}`,
  },
  {
    name: "updates.csv",
    header: "ticketId,imageUrl",
    row: (who, ticket = "T1") => `${ticket},https://img.example/${who}`,
  },
];

/** @param whos `a b x:T2`: the ticket is T1 where none is named. */
async function write(field: Field, { name, header, row }: Kind, whos: string): Promise<void> {
  const rows = whos.split(" ").map((who) => row(...(who.split(":") as [string, string?]))); // as the tests write them
  await field.write(name, `${[header, ...rows].join("\n")}\n`);
}

async function openSold(): Promise<Field> {
  const field = await openField();
  const sale = { eventId: "E", userId: "z", price: "1", orderTime: 100 };
  const actions = [
    { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
    ...["T1", "T2"].map((ticketId) => ({ action: "soldTicket", data: { ...sale, ticketId } })),
  ];
  await field.write("sales.ndjson", actions.map((action) => `${JSON.stringify(action)}\n`).join(""));
  expect((await field.stream(["sales.ndjson"])).exitCode).toBe(0);
  return field;
}

const rejectsOf = ({ name }: Kind): string => name.replace(".csv", ".rejects.csv");

/** The rows of a rejects file, by who they are about. */
async function listed(field: Field, kind: Kind): Promise<string> {
  const [, ...rows] = (await field.read(rejectsOf(kind))).trimEnd().split("\n");
  return rows.map((row) => /^T1,(?:https:\/\/img.example\/)?(\w+),/.exec(row)?.[1] ?? row).join(" ");
}

/** Rows a and b are in doubt, c and d were never sent; the run is closed, and then a and b are found not to have been sent. */
async function closedWithDoubt(
  kind: Kind,
  more: Pick<Options<"stream">, "order"> = {},
): Promise<{ readonly field: Field; readonly said: string }> {
  const field = await openSold();
  await write(field, kind, "a b c d");
  field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
  expect((await field.stream([kind.name], { ...more, flags: { chunkSize: 2 } })).exitCode).toBe(6);
  await person(field, { decision: "abandon" });
  expect(await listed(field, kind)).toBe("c d");
  return { field, said: await person(field, { decision: "not-sent" }) };
}

describe.each(KINDS)("rejects of $name", (kind) => {
  const rejects = rejectsOf(kind);

  test("that two decisions about a run brought stand in the order of the input, and are sent in it", async () => {
    const { field, said } = await closedWithDoubt(kind);
    expect(await listed(field, kind)).toBe("a b c d");
    expect(said).toContain(`Rejects: ${rejects} holds 4 rows, of which 2 were added.`);
    expect((await field.stream([rejects])).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c d");
    expect((await field.stream([kind.name])).summary?.actions).toMatchObject({ alreadySent: 4, accepted: 0 });
  });

  test("that --order time sorted are sent in its order by the command that is named", { tags: ["long"] }, async () => {
    const { field, said } = await closedWithDoubt(kind, { order: "time" });
    expect(said).toContain(`Next: tickets stream ${rejects} --order time`);
    expect(await listed(field, kind)).toBe("a b c d");
    expect((await field.stream([rejects], { order: "time" })).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c d");
  });

  test("of doubts that were decided the wrong way round stand in the order of the input", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await write(field, kind, "a b x:T2 c");
    // Not taken, and nothing is said of it.
    field.setFaults({ fault: "failure-items", items: [0, 1, 3], body: { message: "?" }, on: { request: 1 } });
    expect((await field.stream([kind.name])).exitCode).toBe(6);
    await person(field, { decision: "abandon" });
    await person(field, { decision: "not-sent", chunk: 3 });
    expect(await listed(field, kind)).toBe("c");
    await person(field, { decision: "not-sent", chunk: 2 });
    expect(await listed(field, kind)).toBe("a b c");
    expect((await field.stream([rejects])).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c");
  });

  test("of a later export stand where that has them: a new row before one that was rejected a night ago", async () => {
    const field = await openSold();
    const down = { fault: "failure-items", items: [0, 1, 2] };
    await write(field, kind, "b d");
    field.setFaults(down);
    expect((await field.stream([kind.name])).exitCode).toBe(4);
    await write(field, kind, "a b c d e");
    field.setFaults({ ...down, items: [0, 1, 2, 3, 4] });
    expect((await field.stream([kind.name])).exitCode).toBe(4);
    field.setFaults();
    expect(await listed(field, kind)).toBe("a b c d e");
    expect((await field.stream([rejects])).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c d e");
  });

  test("that a person has mended in place are left alone, and the new ones go beside them", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await write(field, kind, "a b c d");
    field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
    expect((await field.stream([kind.name], { flags: { chunkSize: 2 } })).exitCode).toBe(6);
    await person(field, { decision: "abandon" });
    await appendFile(join(field.folder, rejects), "\n");
    const said = await person(field, { decision: "not-sent" });
    expect(await listed(field, kind)).toBe("c d");
    const beside = /^Rejects: (\S+\.rejects\.\w+\.csv) holds 2 rows that are still open\.$/m.exec(said)?.[1] ?? "";
    expect(beside).not.toBe("");
    // The wrong way round, which is told and not sent.
    const turned = await field.stream([rejects, beside]);
    expect(turned.exitCode).toBe(3);
    expect(turned.said).toContain(`${beside}:2`);
    expect(taken(field)).toBe("");
    expect((await field.stream([beside, rejects])).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c d");
  });

  test("that a person has put in another order are told with the rows that stood behind them, and not sent", {
    tags: ["long"],
  }, async () => {
    const { field } = await closedWithDoubt(kind);
    const [header = "", a = "", b = "", c = "", d = ""] = (await field.read(rejects)).split("\n");
    await field.write(rejects, `${[header, a, c, b, d].join("\n")}\n`);
    const turned = await field.stream([rejects]);
    expect(turned.exitCode).toBe(3);
    expect(turned.said).toMatch(new RegExp(`${rejects}:4.*stood before ${rejects}:3 `));
    expect(turned.said).toMatch(new RegExp(`${rejects}:3.*stood behind ${rejects}:4 `));
    expect(taken(field)).toBe("");
    // Some are left out: those that stand in order are sent, and nothing behind those that are not.
    expect((await field.stream([rejects], { maxInvalid: { rows: 3 } })).exitCode).toBe(4);
    expect(taken(field)).toBe("a");
    // A person who wants them so says so.
    await field.write(rejects, `${[header, c, b, d].join("\n")}\n`);
    expect((await field.stream([rejects], { again: true })).exitCode).toBe(0);
    expect(taken(field)).toBe("a c b d");
  });
});

test("rows of a run that are found open after those of a later run stand before them", async () => {
  const field = await openSold();
  const kind = KINDS[1] as Kind; // there are two
  await write(field, kind, "a b");
  field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
  expect((await field.stream([kind.name])).exitCode).toBe(6);
  await person(field, { decision: "abandon" });
  await write(field, kind, "x:T2");
  field.setFaults({ fault: "failure-items", items: [0] });
  expect((await field.stream([kind.name])).exitCode).toBe(4);
  expect((await field.read(rejectsOf(kind))).match(/^T\d/gm)).toEqual(["T2"]);
  await person(field, { decision: "not-sent" });
  expect((await field.read(rejectsOf(kind))).match(/^T\d/gm)).toEqual(["T1", "T1", "T2"]);
});

describe("a bad row of another ticket that looks like one of the night before", () => {
  const kind = KINDS[1] as Kind; // updates
  const bad = (ticket: string): string => `${ticket},ftp://img.example/a`;
  const update = (who: string, ticket = "T1"): string => `${ticket},https://img.example/${who}`;
  const night = (field: Field, ...rows: readonly string[]) =>
    field.write(kind.name, `${[kind.header, ...rows].join("\n")}\n`);
  const BEARING = { maxInvalid: { rows: 9 } } as const;

  test("moves no row of this one before what it stood behind", async () => {
    const field = await openSold();
    await night(field, bad("T2"), bad("T1"));
    expect((await field.stream([kind.name], BEARING)).exitCode).toBe(4);
    await night(field, update("a", "T2"), bad("T1"), update("b"), bad("T2"));
    expect((await field.stream([kind.name], BEARING)).exitCode).toBe(4);
    await field.write(rejectsOf(kind), (await field.read(rejectsOf(kind))).replaceAll("ftp://", "https://"));
    await field.stream([rejectsOf(kind)], BEARING);
    expect(taken(field)).toBe("a b");
  });

  test("brings no row of a later night before one of an earlier", async () => {
    const field = await openSold();
    await night(field, bad("T2"), update("b"));
    field.setFaults({ fault: "failure-items", items: [0] });
    expect((await field.stream([kind.name], BEARING)).exitCode).toBe(4);
    await night(field, update("a"), bad("T2"));
    expect((await field.stream([kind.name], BEARING)).exitCode).toBe(4);
    field.setFaults();
    expect((await field.stream([rejectsOf(kind)], BEARING)).exitCode).toBe(4);
    expect(taken(field)).toBe("b a");
  });
});

describe("a row that is right at the source by now, while it still stands in the rejects as it was,", () => {
  const kind = KINDS[1] as Kind; // updates
  const BEARING = { maxInvalid: { rows: 9 } } as const;
  const night = (field: Field, ...whos: readonly string[]) =>
    field.write(kind.name, `${[kind.header, ...whos.map((who) => `T1,${who}`)].join("\n")}\n`);
  const bad = (who: string): string => `ftp://img.example/${who}`;
  const good = (who: string): string => `https://img.example/${who}`;
  /** As an error, it would hold all that stands behind it of the ticket. */
  async function openWarned(): Promise<Field> {
    const field = await openSold();
    await field.write("tickets.config.yaml", "rules: {history-unclear: warn}\n");
    return field;
  }
  async function mendAll(field: Field): Promise<void> {
    await field.write(rejectsOf(kind), (await field.read(rejectsOf(kind))).replaceAll("ftp://", "https://"));
  }

  test.each<[string, readonly string[], readonly string[], string]>([
    ["is sent once", [bad("a"), good("c"), bad("b")], [bad("a"), good("c"), good("b")], "a c b"],
    ["is sent in its place of now", [bad("b")], [bad("a"), good("b")], "a b"],
    ["is told where there are several", [bad("b"), good("a"), bad("b")], [good("b"), good("a"), bad("b")], "a"],
  ])("%s", async (_, first, second, expected) => {
    const field = await openWarned();
    for (const rows of [first, second]) {
      await night(field, ...rows);
      expect((await field.stream([kind.name], BEARING)).exitCode).toBe(4);
    }
    await mendAll(field);
    const streamed = await field.stream([rejectsOf(kind)], BEARING);
    expect(streamed.said).toContain("history-unclear");
    expect(taken(field)).toBe(expected);
  });

  test("and was rejected by the service there, is sent once, whichever copy of the rejects is streamed", {
    tags: ["long"],
  }, async () => {
    const field = await openWarned();
    await night(field, bad("b"));
    expect((await field.stream([kind.name], BEARING)).exitCode).toBe(4);
    await night(field, good("b"));
    field.setFaults({ fault: "failure-items", items: [0] });
    expect((await field.stream([kind.name], BEARING)).exitCode).toBe(4);
    field.setFaults();
    const asTheyWere = await field.read(rejectsOf(kind));
    await mendAll(field);
    await field.stream([rejectsOf(kind)], BEARING);
    expect(taken(field)).toBe("b");
    await field.stream([rejectsOf(kind)], BEARING);
    await field.write(rejectsOf(kind), asTheyWere);
    await field.stream([rejectsOf(kind)], BEARING);
    expect(taken(field)).toBe("b");
  });
});

test("with a key of the source, a row before one that was mended and accepted is late", {
  tags: ["long"],
}, async () => {
  const field = await openSold();
  await field.write(
    "tickets.config.yaml",
    'sources:\n  updates:\n    match: "updates*.csv"\n    key: "{n}"\n    actions: [{updateTicket: {fields: {ticketId: "{ticketId}", imageUrl: "{imageUrl}"}}}]\n',
  );
  const header = "n,ticketId,imageUrl\n";
  const [bad, good] = ["ftp://img.example/", "https://img.example/"];
  await field.write("updates.csv", `${header}1,T1,${good}a\n`);
  expect((await field.stream(["updates.csv"])).exitCode).toBe(0);
  await field.write("updates.csv", `${header}1,T1,${good}a\n2,T1,${bad}b\n`);
  await field.write("updates-2.csv", `${header}3,T1,${bad}c\n`);
  expect((await field.stream(["updates.csv", "updates-2.csv"], { maxInvalid: { rows: 9 } })).exitCode).toBe(4);
  await field.write("updates-2.rejects.csv", (await field.read("updates-2.rejects.csv")).replace("ftp:", "https:"));
  expect((await field.stream(["updates-2.rejects.csv"])).exitCode).toBe(0);
  expect(taken(field)).toBe("a c");
  // Right at the source by now, before the other that is still bad there.
  await field.write("updates.csv", `${header}1,T1,${good}a\n2,T1,${good}b\n`);
  const night = await field.stream(["updates.csv", "updates-2.csv"]);
  expect(night.said).toContain("history-late");
  expect(night.said).toContain("updates-2.csv:2");
  expect(taken(field)).toBe("a c");
});

describe("bad rows that a person has mended and sorted", () => {
  const kind = KINDS[1] as Kind; // updates
  const BEARING = { maxInvalid: { rows: 9 } } as const;
  const bad = (who: string): string => `ftp://img.example/${who}`;
  const good = (who: string): string => `https://img.example/${who}`;
  const night = (field: Field, name: string, ...whos: readonly string[]) =>
    field.write(name, `${[kind.header, ...whos.map((who) => `T1,${who}`)].join("\n")}\n`);
  /** Mends all of them, and turns them round. */
  async function turnRound(field: Field, name: string): Promise<void> {
    const [header, ...rows] = (await field.read(name)).replaceAll("ftp://", "https://").trimEnd().split("\n");
    await field.write(name, `${[header, ...rows.toReversed()].join("\n")}\n`);
  }

  test("are told with the rows that they changed places with, and not sent", async () => {
    const field = await openSold();
    await night(field, "updates.csv", bad("a"), good("b"));
    await field.stream(["updates.csv"], BEARING);
    await turnRound(field, "updates.rejects.csv");
    const turned = await field.stream(["updates.rejects.csv"], BEARING);
    expect(turned.said).toContain("stood before updates.rejects.csv:2");
    expect(turned.said).toContain("stood behind updates.rejects.csv:3");
    expect(taken(field)).toBe("");
  });

  test("are not sent behind what stood behind them and was accepted at its source", async () => {
    const field = await openSold();
    await night(field, "updates-1.csv", bad("a"), bad("b"));
    await field.stream(["updates-1.csv"], BEARING);
    await night(field, "updates-2.csv", good("a"), good("b"));
    field.setFaults({ fault: "failure-items", items: [0] });
    await field.stream(["updates-2.csv"], BEARING);
    expect(taken(field)).toBe("b");
    field.setFaults();
    await turnRound(field, "updates-1.rejects.csv");
    const turned = await field.stream(["updates-1.rejects.csv"], BEARING);
    expect(turned.said).toContain("history-superseded");
    expect(taken(field)).toBe("b");
  });

  test("are not sent behind one that was mended by itself and that no run had among its rejects with them", async () => {
    const field = await openSold();
    await night(field, "updates-1.csv", bad("a"));
    await field.stream(["updates-1.csv"], BEARING);
    await night(field, "updates-2.csv", bad("b"));
    await field.stream(["updates-2.csv"], BEARING);
    const later = (await field.read("updates-2.rejects.csv")).replace("ftp:", "https:");
    await field.write("updates-2.rejects.csv", later);
    await field.stream(["updates-2.rejects.csv"], BEARING);
    const [, row = ""] = later.split("\n");
    const earlier = (await field.read("updates-1.rejects.csv")).replace("ftp:", "https:");
    await field.write("updates-both.csv", earlier.replace("\n", `\n${row}\n`));
    const both = await field.stream(["updates-both.csv"], BEARING);
    expect(both.said).toContain("history-superseded");
    expect(taken(field)).toBe("b");
  });

  test("once more after a service that rejected the first, the last one counts", async () => {
    const field = await openSold();
    await night(field, "updates.csv", bad("a"), bad("b"));
    await field.stream(["updates.csv"], BEARING);
    const rejects = (await field.read("updates.rejects.csv")).replaceAll("ftp:", "https:");
    await field.write("updates-mended.csv", rejects);
    field.setFaults({ fault: "failure-items", items: [0] });
    await field.stream(["updates-mended.csv"], BEARING);
    expect(taken(field)).toBe("b");
    field.setFaults();
    await field.write("updates-mended.csv", rejects);
    await field.stream(["updates-mended.csv"], BEARING);
    expect(taken(field)).toBe("b");
  });
});

test("a row that was accepted as it was rejected one night is not sent as it was bad another night", async () => {
  const field = await openSold();
  const kind = KINDS[1] as Kind; // updates
  const BEARING = { maxInvalid: { rows: 9 } } as const;
  const night = (...whos: readonly string[]) =>
    field.write("updates.csv", `${[kind.header, ...whos.map((who) => `T1,${who}`)].join("\n")}\n`);
  await night("https://img.example/b");
  field.setFaults({ fault: "failure-items", items: [0] });
  await field.stream(["updates.csv"]);
  field.setFaults();
  await field.write("updates-mended.csv", await field.read("updates.rejects.csv"));
  await field.stream(["updates-mended.csv"]);
  expect(taken(field)).toBe("b");
  await night("ftp://img.example/b");
  await field.stream(["updates.csv"], BEARING);
  // Both are given: the one of the first night, and the bad one.
  await field.write("updates-mended.csv", (await field.read("updates.rejects.csv")).replaceAll("ftp:", "https:"));
  const both = await field.stream(["updates-mended.csv"], BEARING);
  expect(both.said).toContain("history-unclear");
  expect(taken(field)).toBe("b");
});
