/** Promises and rejects never share a file, whatever names they are given. */

import { join } from "node:path";
import { expect, test } from "vitest";
import { newEvent, sale } from "../../support/actions.ts";
import { type Field, openField, processedBy } from "../../support/context.ts";

/** A first night, of which the service rejects the second sale. */
async function rejecting(output?: string) {
  const field = await openField();
  await field.write("s.ndjson", [newEvent(), sale("A"), sale("B")]);
  field.setFaults({ fault: "failure-items", items: [2], on: { request: 1 } });
  const night = await field.stream(["s.ndjson"], output === undefined ? {} : { output });
  expect(night.exitCode).toBe(4);
  return { field, night };
}

const importOf = (field: Field, file: string) => field.ask("importResults", { files: [file] });

test("rejects go beside promises that are called as they would be, which can be imported", async () => {
  const { field, night } = await rejecting("s.rejects.ndjson");
  const rejects = "s.rejects.2.ndjson";
  expect(night.summary).toMatchObject({
    output: join(field.folder, "s.rejects.ndjson"),
    rejects: [join(field.folder, rejects)],
  });
  const reported = (await field.read("s.rejects.ndjson")).trimEnd().split("\n");
  expect(reported.map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3]);
  expect((await field.read(rejects)).trimEnd().split("\n")).toHaveLength(1);
  expect(await importOf(field, "s.rejects.ndjson")).toMatchObject({ exitCode: 0 });
});

test("promises that hold no line yet are no place for rejects", async () => {
  const field = await openField();
  await field.write("s.ndjson", [{ action: "newEvent", data: { eventId: "E", currency: "euros" } }]);
  const night = await field.stream(["s.ndjson"], { output: "s.rejects.ndjson", maxInvalid: { rows: 1 } });
  expect(night.summary?.rejects).toEqual([join(field.folder, "s.rejects.2.ndjson")]);
});

test("promises don't go into rejects of earlier nights: nothing is sent", async () => {
  const { field, night } = await rejecting();
  const rejects = await field.read("s.rejects.ndjson");
  await field.write("next.ndjson", [sale("C")]);
  expect(await field.stream(["next.ndjson"], { output: "s.rejects.ndjson" })).toMatchObject({
    exitCode: 2,
    said: expect.stringContaining("s.rejects.ndjson is not appended to: it is a rejects file. Nothing was sent."),
  });
  expect(processedBy(field.sandbox)).toBe("E A (B)");
  expect(await field.read("s.rejects.ndjson")).toBe(rejects);
  const forced = await field.stream(["next.ndjson"], { output: "s.rejects.ndjson", moveAside: true });
  expect(forced.exitCode).toBe(0);
  const first = (await field.runs()).find(({ run }) => run === night.summary?.run);
  expect(first?.rejects).toEqual([]);
  expect(await importOf(field, "s.rejects.ndjson")).toMatchObject({ exitCode: 0 });
});
