/** An input whose name leaves no room for the names of its promises and rejects. */

import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { openField } from "../../support/context.ts";

test.each([
  ["of plain letters", "n".repeat(245)],
  ["of letters of several bytes", "ä".repeat(120)],
])("gets them cut: %s", async (_, stem) => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  await field.stream(["events.csv"]);
  const name = `${stem}.csv`;
  await field.write(name, "ticketId,eventId,userId,price,orderTime\nA,E,u,1,soon\nB,E,u,1,1780000000\n");
  const done = await field.stream([name], { action: "soldTicket", maxInvalid: { rows: 1 } });
  expect(done.exitCode, done.said).toBe(4);
  const rejects = (await readdir(field.folder)).filter((each) => each.endsWith(".rejects.csv"));
  expect(rejects).toHaveLength(1);
  expect(name.startsWith(String(rejects[0]).replace(".rejects.csv", ""))).toBe(true);
  await field.write("more.csv", "eventId,currency\nF,EUR\n");
  expect((await field.stream(["more.csv"], { action: "newEvent" })).exitCode).toBe(0);
});
