/** A row whose actions are found open one after the other stands in its rejects file once, and gives what is left of it. */

import { describe, expect, test } from "vitest";
import { acceptedBy, type Field, openSold } from "../../support/context.ts";

const TIME = 1_767_225_600;
const log = (...actions: readonly string[]): string => `sources:
  log:
    match: "log*"
    actions: [${actions.join(", ")}]
`;
const UPDATE = (column: string): string =>
  `{updateTicket: {when: {${column}: {empty: false}}, fields: {ticketId: "{T}", imageUrl: "{${column}}"}}}`;
const RESALE = '{resoldTicket: {fields: {ticketId: "{T}", userId: "{User}", price: "5", orderTime: "{Time}"}}}';
const BOTH = log(RESALE, UPDATE("Image"));

const ROW = {
  T: "T1",
  Beside: "T2",
  User: "anna",
  Time: String(TIME),
  Image: "https://img.example/a",
  Next: "https://img.example/b",
};
const TABLE = `${Object.keys(ROW).join(",")}\n${Object.values(ROW).join(",")}\n`;

const FORMS = [
  { name: "log.csv", rejects: "log.rejects.csv", text: TABLE },
  { name: "log.ndjson", rejects: "log.rejects.ndjson", text: `${JSON.stringify(ROW)}\n` },
] as const;

async function openLog(config: string, { name, text }: Pick<(typeof FORMS)[number], "name" | "text">): Promise<Field> {
  const field = await openSold();
  await field.write("tickets.config.yaml", config);
  await field.write(name, text);
  return field;
}

/** What the service has taken beside what was there before. */
const taken = ({ sandbox }: Field): string =>
  acceptedBy(sandbox)
    .slice(5)
    .map(({ data: { userId, imageUrl } }) => userId ?? String(imageUrl).slice(-1))
    .join(" ");

const chunkInDoubt = async (field: Field): Promise<number | undefined> =>
  (await field.chunks()).find(({ state }) => state === "in doubt")?.chunk;

describe.each(FORMS)("of $name", (form) => {
  const { name, rejects } = form;

  test("that lies on both sides of the border of two chunks, of which one is decided about later", async () => {
    const field = await openLog(BOTH, form);
    field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
    expect((await field.stream([name], { flags: { chunkSize: 1 } })).exitCode).toBe(6);
    await field.settle("abandon");
    const once = await field.read(rejects);
    expect(once).toContain("updateTicket was not sent: the run was closed.");
    await field.settle("not-sent");
    expect(await field.read(rejects)).toBe(once);
    const sent = await field.stream([rejects]);
    expect(sent.exitCode, sent.said).toBe(0);
    expect(taken(field)).toBe("anna a");
    expect((await field.stream([name])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2 });
    expect((await field.stream([rejects])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2 });
    expect(taken(field)).toBe("anna a");
  });

  test("of which a part was streamed before the other is found gives what is left of it", async () => {
    // Of another ticket, so that it waits for nothing.
    const field = await openLog(log(RESALE, UPDATE("Image").replace("{T}", "{Beside}")), form);
    field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
    await field.stream([name], { flags: { chunkSize: 1 } });
    await field.settle("abandon");
    field.setFaults();
    expect((await field.stream([rejects])).summary?.actions).toMatchObject({ accepted: 0, notSent: 2 });
    await field.settle("not-sent");
    const again = await field.stream([rejects]);
    expect(again.exitCode, again.said).toBe(0);
    expect(taken(field)).toBe("anna a");
  });

  test("of which one part of a chunk is found not to have been sent after the other", async () => {
    const field = await openLog(log(RESALE, UPDATE("Image"), UPDATE("Next")), form);
    field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
    expect((await field.stream([name])).exitCode).toBe(6);
    await field.settle("abandon");
    for (const first of [1, 1, undefined]) await field.settle("not-sent", { chunk: await chunkInDoubt(field), first });
    const sent = await field.stream([rejects]);
    expect(sent.exitCode, sent.said).toBe(0);
    expect(taken(field)).toBe("anna a b");
  });

  test("of which the service rejects one action gives that one alone", async () => {
    const field = await openLog(log(RESALE, UPDATE("Image"), UPDATE("Next")), form);
    field.setFaults({ fault: "failure-items", items: [1], on: { request: 1 } });
    expect((await field.stream([name])).exitCode).toBe(4);
    expect(taken(field)).toBe("anna b");
    const late = await field.stream([rejects]);
    expect(late.summary?.actions, late.said).toMatchObject({ accepted: 0, alreadySent: 2, late: 1 });
    expect(taken(field)).toBe("anna b");
  });
});

test("whose file a person has begun to correct gets another file, and both together send it once", async () => {
  const form = FORMS[0];
  const field = await openLog(BOTH, form);
  field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
  await field.stream([form.name], { flags: { chunkSize: 1 } });
  await field.settle("abandon");
  await field.edit(form.rejects, "was not sent", "is mine");
  await field.settle("not-sent");
  const both = await field.stream([form.rejects, "log.rejects.2.csv"]);
  expect(both.exitCode, both.said).toBe(0);
  expect(taken(field)).toBe("anna a");
});
