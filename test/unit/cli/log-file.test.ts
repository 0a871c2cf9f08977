import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLogFile } from "../../../src/cli/log-file.ts";
import { logLine } from "../../../src/cli/log-line.ts";
import { openFolder } from "../../support/folder.ts";

const LINE = logLine("info", "something", { event: "note" });

test("begins a new line behind one that a power cut left partial", () => {
  const folder = openFolder();
  const path = join(folder, "tickets.log");
  writeFileSync(path, LINE.slice(0, 30));
  using log = openLogFile(path, folder);
  log.append(LINE);
  expect(readFileSync(path, "utf8")).toBe(`${LINE.slice(0, 30)}\n${LINE}`);
});

test.each([
  [
    "a file of something else",
    (path: string) => writeFileSync(path, "eventId,ticketId\n"),
    "holds something else than a log of tickets",
  ],
])("%s is refused, and left as it is", (_, make, why) => {
  const folder = openFolder();
  const path = join(folder, "sales.csv");
  make(path);
  expect(() => openLogFile("sales.csv", folder)).toThrow(`--log sales.csv ${why}. Nothing was sent.`);
  expect(existsSync(path)).toBe(true);
});

test("lines that others append meanwhile stand between its own", () => {
  const folder = openFolder();
  const path = join(folder, "tickets.log");
  using log = openLogFile(path, folder);
  log.append(LINE);
  appendFileSync(path, "{}\n");
  log.append(LINE);
  expect(readFileSync(path, "utf8")).toBe(`${LINE}{}\n${LINE}`);
});
