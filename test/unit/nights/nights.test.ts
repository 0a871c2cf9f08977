import { describe, expect, test } from "vitest";
import { type Desk, EVENT, imageOf, openDesk, sale } from "../../support/desk.ts";

const FIRST = [EVENT, sale("a"), sale("b"), sale("c"), imageOf("a", "one")];

/** A desk on which a first night was sent. */
async function afterFirst(): Promise<Desk> {
  const desk = await openDesk();
  desk.write("sales.ndjson", FIRST);
  expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ exitCode: 0, actions: { accepted: 5 } });
  return desk;
}

const HEAD = "eventId,ticketId,userId,price,orderTime\n";

describe("bad rows", () => {
  const badly = { action: "soldTicket", maxInvalid: { rows: 9 } } as const;

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
});

describe("rows of rejects", () => {
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
