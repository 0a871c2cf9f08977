/** A row whose actions are found open one after the other stands in its rejects file once, and names all of them. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Field, type Options, openField } from "../../support/context.ts";

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

async function openSold(config: string, { name, text }: Pick<(typeof FORMS)[number], "name" | "text">): Promise<Field> {
  const field = await openField();
  const before = [
    { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
    ...["T1", "T2"].map((ticketId) => ({
      action: "soldTicket",
      data: { eventId: "E", ticketId, userId: "z", price: "1", orderTime: TIME - 9000 },
    })),
  ];
  await field.write("before.ndjson", before.map((action) => `${JSON.stringify(action)}\n`).join(""));
  expect((await field.stream(["before.ndjson"])).exitCode).toBe(0);
  await field.write("tickets.config.yaml", config);
  await field.write(name, text);
  return field;
}

/** What the service has taken beside what was there before. */
const taken = ({ sandbox }: Field): string =>
  Array.from(sandbox.engine.processed())
    .filter(({ status }) => status === "success")
    .slice(3)
    .map(({ data }) => {
      const { userId, imageUrl } = JSON.parse(data) as Readonly<Record<string, string>>;
      return userId ?? imageUrl?.slice(-1);
    })
    .join(" ");

const chunkInDoubt = async (field: Field): Promise<number | undefined> =>
  (await field.chunks()).find(({ state }) => state === "in doubt")?.chunk;

async function decide(
  field: Field,
  decision: "abandon" | "not-sent" | "sent",
  which: Partial<Pick<Options<"settle">, "chunk" | "first">> = {},
): Promise<string> {
  return (await field.settle(decision, which)).said;
}

describe.each(FORMS)("of $name", (form) => {
  const { name, rejects } = form;

  test("that lies on both sides of the border of two chunks, of which one is decided about later", async () => {
    const field = await openSold(BOTH, form);
    field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
    expect((await field.stream([name], { flags: { chunkSize: 1 } })).exitCode).toBe(6);
    await decide(field, "abandon");
    expect(await field.read(rejects)).toMatch(/updateTicket was not sent/);
    const said = await decide(field, "not-sent");
    expect(said).toContain(`${rejects} holds 1 row`);
    const line = (await field.read(rejects)).trimEnd().split("\n").at(-1) ?? "";
    expect(line).toContain("updateTicket resoldTicket");
    expect(line).toContain(
      "updateTicket was not sent: the run was closed. | resoldTicket was not sent: the run was closed.",
    );
    const mended = await field.stream([rejects]);
    expect(mended.exitCode, mended.said).toBe(0);
    expect(taken(field)).toBe("anna a");
    expect((await field.stream([name])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2 });
    expect((await field.stream([rejects])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2 });
    expect(taken(field)).toBe("anna a");
  });

  describe.each(["", form.text.replace("anna", "emma")])(
    "is not left out in silence where the plan's copy is %j",
    (text) => {
      const changeCopy = async (field: Field): Promise<string> => {
        const run = (await field.runs()).find(({ state }) => state === "stopped")?.run ?? "";
        writeFileSync(join(field.folder, "state", "local", "runs", run, "inputs", "1"), text);
        return run;
      };

      test("as a person decides", async () => {
        const field = await openSold(BOTH, form);
        field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
        expect((await field.stream([name], { flags: { chunkSize: 1 } })).exitCode).toBe(6);
        const run = await changeCopy(field);
        expect(await decide(field, "abandon")).toContain(
          `The plan of run ${run} is lost, so its rows can't be listed.`,
        );
        expect((await field.stream(["before.ndjson"])).exitCode).toBe(0);
      });

      test("at the end of its run, which the next command finishes once the copy is back", async () => {
        const field = await openSold(BOTH, form);
        field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
        expect((await field.stream([name], { flags: { chunkSize: 1 } })).exitCode).toBe(6);
        await decide(field, "sent");
        field.setFaults({ fault: "failure-items", items: [0], on: { request: 1 } });
        const run = await changeCopy(field);
        const night = await field.stream([name]);
        expect(night.exitCode).toBe(10);
        expect(night.said).toContain(`${run} has another inputs/1 than it was made with`);
        await field.write(join("state", "local", "runs", run, "inputs", "1"), form.text);
        await field.stream([name]);
        expect(await field.read(rejects)).toContain("anna");
      });
    },
  );

  test("of which a part was streamed before the other is found names that one alone", async () => {
    // Of another ticket, so that it waits for nothing.
    const field = await openSold(log(RESALE, UPDATE("Image").replace("{T}", "{Beside}")), form);
    field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
    await field.stream([name], { flags: { chunkSize: 1 } });
    await decide(field, "abandon");
    field.setFaults();
    expect((await field.stream([rejects])).summary?.actions).toMatchObject({ accepted: 1 });
    await decide(field, "not-sent");
    const again = await field.stream([rejects], { again: true });
    expect(again.exitCode, again.said).toBe(0);
    expect(taken(field)).toBe("a anna");
  });

  test("of which one part of a chunk is found not to have been sent after the other", async () => {
    const field = await openSold(log(RESALE, UPDATE("Image"), UPDATE("Next")), form);
    field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
    expect((await field.stream([name])).exitCode).toBe(6);
    await decide(field, "abandon");
    for (const first of [1, 1, undefined]) await decide(field, "not-sent", { chunk: await chunkInDoubt(field), first });
    const mended = await field.stream([rejects]);
    expect(mended.exitCode, mended.said).toBe(0);
    expect(taken(field)).toBe("anna a b");
  });
});

test("whose file a person has begun to mend gets another file, and both together are refused until they are one", async () => {
  const form = FORMS[0];
  const field = await openSold(BOTH, form);
  field.setFaults({ fault: "drop", when: "before", on: { request: 1 } });
  await field.stream([form.name], { flags: { chunkSize: 1 } });
  await decide(field, "abandon");
  await field.write(form.rejects, `${(await field.read(form.rejects)).trimEnd()}\n`.replace("was not sent", "is mine"));
  const other = /Rejects: (\S+)/.exec(await decide(field, "not-sent"))?.[1] ?? "";
  expect(other).not.toBe(form.rejects);
  const both = await field.stream([form.rejects, other]);
  expect([both.exitCode, taken(field)]).toEqual([3, ""]);
  expect(both.said).toContain("rejects-row-twice");
  expect(both.said).toContain('write "updateTicket resoldTicket" into that of line 2, and remove this line');
  await field.write(
    form.rejects,
    (await field.read(form.rejects)).replace(",updateTicket,", ",updateTicket resoldTicket,"),
  );
  expect((await field.stream([form.rejects])).exitCode).toBe(0);
  expect(taken(field)).toBe("anna a");
});

test("which names its actions by a mapping that lists others now stands beside what is found open by this one", async () => {
  const form = FORMS[0];
  const field = await openSold(log(UPDATE("Image"), UPDATE("Next")), form);
  field.setFaults({ fault: "failure-items", items: [1], on: { request: 1 } });
  expect((await field.stream([form.name])).exitCode).toBe(4);
  const MEDIA = '{updateTicket: {fields: {ticketId: "{T}", mediaUrl: "https://m.example/{User}"}}}';
  await field.write("tickets.config.yaml", log(MEDIA, UPDATE("Image"), UPDATE("Next")));
  field.setFaults({ fault: "failure-items", items: [0, 1, 2], on: { request: 1 } });
  expect((await field.stream([form.name])).exitCode).toBe(4);
  field.setFaults();
  const rows = (await field.read(form.rejects)).trimEnd().split("\n").slice(1);
  expect(rows.map((row) => /,([^,]*),[^,]*$/.exec(row)?.[1])).toEqual(["2:updateTicket", "3:updateTicket"]);
  const before = taken(field);
  const refused = await field.stream([form.rejects]);
  expect([refused.exitCode, taken(field)]).toEqual([3, before]);
  expect(refused.said).toContain("rejects-misread");
  expect(refused.said).toContain("rejects-row-twice");
});
