import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type LogFile, openLogFile } from "../../../src/cli/log-file.ts";
import { openFolder } from "../../support/folder.ts";

function openPlace() {
  const folder = openFolder();
  const path = join(folder, "tickets.log");
  return { folder, path, lines: () => readFileSync(path, "utf8").split("\n") };
}

const NOWHERE = { environment: undefined, run: undefined };
const note = (log: LogFile, text: string) => log.append("info", text, { event: "note" }, NOWHERE);

test("a line is one JSON object, with nothing in it that steers a terminal", () => {
  const { folder, path } = openPlace();
  using log = openLogFile(path, folder);
  const place = { environment: undefined, run: "7f3a0c11" };
  log.append("warn", "one\ntwo\u001b[2J", { event: "input.read", file: "sales\u202e.csv" }, place);
  const line = readFileSync(path, "utf8");
  expect(line.match(/[\p{Cc}\p{Cf}]/gu)).toEqual(["\n"]);
  expect(JSON.parse(line)).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    event: "input.read",
    level: "warn",
    run: "7f3a0c11",
    file: "sales\u202e.csv",
    message: "one\ntwo [2J",
  });
});

test("begins a new line behind one that a power cut left partial", () => {
  const { folder, path, lines } = openPlace();
  const partial = '{"time":"2026-11-28T03:00';
  writeFileSync(path, partial);
  using log = openLogFile(path, folder);
  note(log, "something");
  expect(lines()).toEqual([partial, expect.stringContaining("something"), ""]);
});

test("a file of something else is refused, and left as it is", () => {
  const { folder, path } = openPlace();
  writeFileSync(path, "eventId,ticketId\n");
  expect(() => openLogFile("tickets.log", folder)).toThrow(
    "--log tickets.log is not a log of tickets. Nothing was sent.",
  );
  expect(existsSync(path)).toBe(true);
});

test("lines that others append meanwhile stand between its own", () => {
  const { folder, path, lines } = openPlace();
  using log = openLogFile(path, folder);
  note(log, "one");
  appendFileSync(path, "{}\n");
  note(log, "two");
  expect(lines()).toEqual([expect.stringContaining("one"), "{}", expect.stringContaining("two"), ""]);
});
