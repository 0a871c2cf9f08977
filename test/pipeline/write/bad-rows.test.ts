/** The rejects of rows that are invalid: each row once, written with the run, sent in its place. */

import { expect, test } from "vitest";
import { type Asked, acceptedBy, openField, openSold } from "../../support/context.ts";

const HEADER = "eventId,ticketId,userId,price,orderTime";

test("many more than are written at a time, and one more the next night: each stands there once", async () => {
  const field = await openField();
  const note = "n".repeat(400);
  const rows = Array.from({ length: 3000 }, (_, at) => `E,${at},u,x,1600000000,${note}\n`);
  for (const more of ["", `E,more,u,x,1600000000,${note}\n`]) {
    await field.write("sales.csv", `${HEADER},note\n${rows.join("")}${more}`);
    await field.stream(["sales.csv"], { maxInvalid: { percent: 100 } });
  }
  const [, ...rejects] = (await field.read("sales.rejects.csv")).trimEnd().split("\n");
  expect(rejects.map((row) => row.split(",")[1])).toEqual([...rows.keys(), "more"].map(String));
});

test("are written only once a person has confirmed that the other rows are sent", async () => {
  const field = await openField("confirm: true");
  const event = { action: "newEvent", data: { eventId: "E", currency: "EUR" } };
  await field.write("night.ndjson", [event, { ...event, data: { eventId: "F", currency: "euros" } }]);
  const answering = (isYes: boolean) => ({
    asked: ({ context }: Asked) => Object.assign(context.reporter, { ask: async () => isYes }),
  });
  const rejects = () => field.read("night.rejects.ndjson").catch(() => "");
  const no = await field.stream(["night.ndjson"], { maxInvalid: { rows: 1 } }, answering(false));
  expect([no.exitCode, await rejects()]).toEqual([2, ""]);
  const yes = await field.stream(["night.ndjson"], { maxInvalid: { rows: 1 } }, answering(true));
  expect([yes.exitCode, await rejects()]).toEqual([4, expect.stringContaining("euros")]);
  expect(acceptedBy(field.sandbox)).toHaveLength(1);
});

test("a row that could not be read is late only behind what stood behind it", async () => {
  const field = await openSold();
  const image = (name: string) => `https://cdn.example/${name}.png`;
  await field.write("images.csv", `ticketId,imageUrl\nT2,${image("one")}\nT2\n`);
  const options = { action: "updateTicket", maxInvalid: { rows: 9 } } as const;
  expect((await field.stream(["images.csv"], options)).summary?.actions).toMatchObject({ accepted: 1 });
  const rejects = await field.read("images.rejects.csv");
  await field.write("images.rejects.csv", rejects.replace("\n,,", `\nT2,${image("two")},`));
  expect((await field.stream(["images.rejects.csv"], options)).summary?.actions).toMatchObject({ accepted: 1 });
});
