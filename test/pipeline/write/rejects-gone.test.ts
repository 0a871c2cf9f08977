/** A rejects file that is removed before its run is done. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openField } from "../../support/context.ts";

test("is not named any more, and the next night writes it again", async () => {
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
