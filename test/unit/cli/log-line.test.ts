import { expect, test } from "vitest";
import { logLine } from "../../../src/cli/log-line.ts";

test("a line is one JSON object, with nothing in it that steers a terminal", () => {
  const line = logLine(
    "warn",
    "one\ntwo\u001b[2J",
    { event: "input.read", file: "sales\u202e.csv" },
    { run: "7f3a0c11" },
  );
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

test("what to do stands in its own field, and not in the words too", () => {
  const line = logLine("error", "No file.\nName one.", { event: "failure", code: "usage", hint: "Name one." });
  expect(JSON.parse(line)).toMatchObject({ message: "No file.", hint: "Name one." });
});
