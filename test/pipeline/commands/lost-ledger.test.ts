/** What the commands that only look say once the ledger is gone and the list of runs tells of what was sent. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openField } from "../../support/context.ts";

test("claims nothing of what it can't know", async () => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  field.setFaults({ on: { request: 1 }, fault: "status", status: 500 });
  await field.stream(["events.csv"]);
  const look = async (): Promise<string> => {
    await field.ask("status", { metrics: "t.prom" });
    return field.read("t.prom");
  };
  expect(await look()).toContain("tickets_unfinished_runs{");
  const state = String(field.env.TICKETS_STATE_DIR);
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(state, "local", `ledger.db${ending}`), { force: true });
  expect(await look()).not.toContain("tickets_");
  const { said } = await field.ask("find", { id: "E" });
  expect(said).toContain("was lost");
  expect(said).not.toContain("Nothing was ever sent");
});
