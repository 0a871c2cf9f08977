/** The rejects of rows that are invalid: each row once, written with the run, sent in its place. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Asked, acceptedBy, openField, openSold } from "../../support/context.ts";

const HEADER = "eventId,ticketId,userId,price,orderTime";

test("rejects of many more bad rows than are written at a time, and one more the next night: each stands there once", async () => {
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

test("rejects of bad rows are written only once a person has confirmed that the other rows are sent", async () => {
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

test("a rejects file that is removed before its run is done is not named any more, and the next night writes it again", async () => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  await field.stream(["events.csv"]);
  await field.write("sales.csv", "ticketId,eventId,userId,price,orderTime\nA,E,u,1,soon\nB,E,u,1,1780000000\n");
  field.setFaults({ on: { request: 1 }, fault: "status", status: 401 });
  const stopped = await field.stream(["sales.csv"], { maxInvalid: { rows: 1 } });
  expect(stopped.exitCode, stopped.said).toBe(5);
  field.setFaults();
  await rm(join(field.folder, "sales.rejects.csv"));
  const { exitCode, said, out } = await field.ask("resume", { json: true });
  expect(exitCode, said).toBe(4);
  expect(JSON.parse(out)).toMatchObject({ rows: { invalid: 1 }, rejects: [], next: null });
  // The input brings the row again.
  const again = await field.stream(["sales.csv"], { maxInvalid: { rows: 1 } });
  expect(again.exitCode, again.said).toBe(4);
  expect(await field.read("sales.rejects.csv")).toContain("A,E,u,1,soon");
});
