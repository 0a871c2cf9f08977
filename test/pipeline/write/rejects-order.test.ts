import { describe, expect, test } from "vitest";
import { acceptedBy, type Field, type Options, openSold } from "../../support/context.ts";
import { LONG } from "../../support/walks.ts";

/** What the service has taken of T1 beside its sale, in order. */
const taken = ({ sandbox }: Field): string =>
  acceptedBy(sandbox)
    .filter(({ action, ticketId }) => action !== "soldTicket" && ticketId === "T1")
    .map(({ data: { userId, imageUrl } }) => userId ?? String(imageUrl).slice(-1))
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
  await field.settle("abandon");
  expect(await listed(field, kind)).toBe("c d");
  return { field, said: (await field.settle("not-sent")).said };
}

/** The rows of a rejects file the other way round. */
async function turn(field: Field, name: string): Promise<void> {
  const [header, ...rows] = (await field.read(name)).trimEnd().split("\n");
  await field.write(name, `${[header, ...rows.toReversed()].join("\n")}\n`);
}

describe.each(KINDS)("rejects of $name", (kind) => {
  const rejects = rejectsOf(kind);

  test("that two decisions about a run brought are sent in the order of the input", async () => {
    const { field } = await closedWithDoubt(kind);
    expect(await listed(field, kind)).toBe("c d a b");
    expect((await field.stream([rejects])).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c d");
    expect((await field.stream([kind.name])).summary?.actions).toMatchObject({ alreadySent: 4, accepted: 0 });
  });

  test("that --order time sorted are sent in its order by the command that is named", LONG, async () => {
    const { field, said } = await closedWithDoubt(kind, { order: "time" });
    expect(said).toContain(`tickets stream ${rejects} --order time`);
    expect((await field.stream([rejects], { order: "time" })).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c d");
  });

  test("of doubts that were decided the wrong way round are sent in the order of the input", LONG, async () => {
    const field = await openSold();
    await write(field, kind, "a b x:T2 c");
    // Not taken, and nothing is said of it.
    field.setFaults({ fault: "failure-items", items: [0, 1, 3], body: { message: "?" }, on: { request: 1 } });
    expect((await field.stream([kind.name])).exitCode).toBe(6);
    await field.settle("abandon");
    const doubts = (await field.chunks()).filter(({ state }) => state === "in doubt");
    for (const { chunk } of doubts.toReversed()) await field.settle("not-sent", { chunk });
    expect((await field.stream([rejects])).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c");
  });

  test("of two nights are sent in the order of the nights, which a person can't turn round", async () => {
    const field = await openSold();
    const down = { fault: "failure-items", items: [0, 1, 2] };
    await write(field, kind, "a b");
    field.setFaults(down);
    expect((await field.stream([kind.name])).exitCode).toBe(4);
    await write(field, kind, "a b c d");
    field.setFaults({ ...down, items: [0, 1, 2, 3, 4] });
    expect((await field.stream([kind.name])).exitCode).toBe(4);
    field.setFaults();
    expect(await listed(field, kind)).toBe("a b c d");
    await turn(field, rejects);
    expect((await field.stream([rejects])).exitCode).toBe(0);
    expect(taken(field)).toBe("a b c d");
  });
});

describe("corrected rows", () => {
  const kind = KINDS[1] as Kind; // updates
  const BEARING = { maxInvalid: { rows: 9 } } as const;
  const bad = (who: string): string => `ftp://img.example/${who}`;
  const good = (who: string): string => `https://img.example/${who}`;
  const night = (field: Field, name: string, ...whos: readonly string[]) =>
    field.write(name, `${[kind.header, ...whos.map((who) => `T1,${who}`)].join("\n")}\n`);
  /** Corrects all of them, and turns them round. */
  async function turnRound(field: Field, name: string): Promise<void> {
    await field.write(name, (await field.read(name)).replaceAll("ftp://", "https://"));
    await turn(field, name);
  }

  test("that a person sorted are sent in the order of the input", async () => {
    const field = await openSold();
    await night(field, "updates.csv", bad("a"), good("b"));
    await field.stream(["updates.csv"], BEARING);
    await turnRound(field, "updates.rejects.csv");
    expect((await field.stream(["updates.rejects.csv"], BEARING)).exitCode).toBe(0);
    expect(taken(field)).toBe("a b");
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
    expect(turned.summary?.actions, turned.said).toMatchObject({ accepted: 0, late: 1, alreadySent: 1 });
    expect(taken(field)).toBe("b");
  });

  test("are not sent behind one of a later night that was corrected by itself", async () => {
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
    expect(both.summary?.actions, both.said).toMatchObject({ accepted: 0, late: 1, alreadySent: 1 });
    expect(taken(field)).toBe("b");
  });
});
