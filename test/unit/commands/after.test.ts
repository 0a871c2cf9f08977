import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runOnEnd, withoutKeys } from "../../../src/commands/after.ts";
import { openFolder } from "../../support/folder.ts";

const NEVER = new AbortController().signal;
const ENOUGH_MS = 600_000;
const keySource = { env: "SHOP_KEY" };

/** Runs a program of JavaScript. */
function run(directory: string, text: string, limitMs = ENOUGH_MS, signal = NEVER): Promise<string | undefined> {
  const onEnd = { command: [process.execPath, "-e", text, "an-argument"], directory };
  const ended = { document: { exitCode: 6 }, exitCode: 6, env: { SHOP_KEY: "s3cret-key", PATH: process.env.PATH } };
  return runOnEnd({ keySource, onEnd }, ended, signal, limitMs);
}

test("gets the summary, the exit code and its arguments, in the folder of the config, and never the key", async () => {
  const folder = openFolder();
  const program = `
    const { SHOP_KEY, TICKETS_EXIT_CODE } = process.env;
    const heard = { SHOP_KEY, TICKETS_EXIT_CODE, argument: process.argv[1], input: require("fs").readFileSync(0, "utf8") };
    require("fs").writeFileSync("heard", JSON.stringify(heard));`;
  expect(await run(folder, program)).toBeUndefined();
  expect(JSON.parse(readFileSync(join(folder, "heard"), "utf8"))).toEqual({
    ...{ TICKETS_EXIT_CODE: "6", argument: "an-argument", input: '{"exitCode":6}\n' },
  });
});

test.each([
  ["fails", "process.exit(3)", "ended with exit code 3"],
  ["is killed", "process.kill(process.pid, 'SIGTERM')", "was killed (SIGTERM)"],
])("one that %s is reported in a line, without its arguments", async (_, program, why) => {
  const reported = await run(openFolder(), program);
  expect(reported).toBe(`onEnd: command ${process.execPath} ... ${why}. The run's result is not affected.`);
});

test("one that does not end is ended: after its time, or by a signal", async () => {
  const forever = "setInterval(() => {}, 1000)";
  expect(await run(openFolder(), forever, 1)).toContain("did not end within 0.001 s");
  expect(await run(openFolder(), forever, ENOUGH_MS, AbortSignal.abort())).toContain("was ended by a signal");
});

test("keys of every environment are left out, by name and by value", () => {
  const env = { SHOP_KEY: "k1", TICKETS_LIVE_API_KEY: "k2", COPY: "k1", SLACK_TOKEN: "t", EMPTY: "" };
  expect(withoutKeys(env, { keySource })).toEqual({ SLACK_TOKEN: "t", EMPTY: "" });
});
