/** What `query -o FILE` leaves when it is stopped. As a process: test/e2e/find.test.ts. */

import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { query } from "../../../src/commands/query.ts";
import { type Field, makeContext, openField } from "../../support/context.ts";

async function openSent(): Promise<Field> {
  const field = await openField();
  await field.write("events.ndjson", '{"action":"newEvent","data":{"eventId":"E-1","currency":"EUR"}}\n');
  await field.stream(["events.ndjson"]);
  return field;
}

const SELECT = { sql: "SELECT event_id FROM actions", output: "rows.csv", json: false, force: false, safeCsv: false };

test("a signal behind the last row leaves neither the file nor a part of it", async () => {
  const field = await openSent();
  const { context, stop } = makeContext(field.folder, field.env);
  const before = readdirSync(field.folder);
  const hearSignals = (): void => stop("SIGINT");
  await expect(query({ ...SELECT, flags: {} }, { ...context, hearSignals })).rejects.toBe("SIGINT");
  expect(readdirSync(field.folder)).toEqual(before);
});

test("while rows are looked for, what is written of them has no name", async () => {
  const field = await openSent();
  const { context } = makeContext(field.folder, field.env);
  const before = readdirSync(field.folder);
  let amid: readonly string[] = [];
  const hearSignals = (): void => {
    amid = readdirSync(field.folder);
  };
  expect(await query({ ...SELECT, flags: {} }, { ...context, hearSignals })).toBe(0);
  expect(amid).toEqual(before);
  expect(await field.read("rows.csv")).toBe("event_id\nE-1\n");
});
