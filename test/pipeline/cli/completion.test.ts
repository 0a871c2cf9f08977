/** What the scripts of the shells are told to offer, with real configs and ledgers. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programToRead } from "../../../scripts/man.ts";
import { ACTION_NAMES } from "../../../src/actions/actions.ts";
import { complete } from "../../../src/cli/completion.ts";
import { INPUT_FORMATS } from "../../../src/readers/input-file.ts";
import { openField } from "../../support/context.ts";
import { salesTable } from "../../support/tables.ts";
import { openFolders, PROJECT } from "../config/files.ts";

const program = programToRead();

/** What stands before the tab of each line; `typed` is parted at blanks, and ends with the word under the cursor. */
async function offered(
  typed: string,
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv } = { cwd: "/", env: {} },
  shell = "zsh",
): Promise<readonly string[]> {
  const told = await complete(program, [shell, ...typed.split(" ")], place);
  return told.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
}

test("every command and every flag of it is offered", async () => {
  expect(await offered("")).toEqual([...program.commands.map((command) => command.name()), "help"]);
  for (const command of program.commands)
    expect(await offered(`${command.name()} --`)).toEqual([...command.options.map(({ long }) => long), "--help"]);
});

test.each<readonly [typed: string, offers: readonly string[]]>([
  ["st", ["stream", "status"]],
  ["--v", ["--version"]],
  ["help se", ["settle"]],
  ["stream --order ", ["input", "time"]],
  ["stream --order=t", ["--order=time"]],
  ["stream --action ", ACTION_NAMES],
  ["plan a.csv --input-format ", INPUT_FORMATS],
  ["stream a.csv ", [":files"]],
  ["stream -- --limit ", [":files"]],
  ["stream --limit ", []],
  ["stream --config ", [":files"]],
  ["stream --state-dir ", [":directories"]],
  ["schema p", ["payload", "promises"]],
  ["completion ", ["bash", "zsh", "fish"]],
  ["find ", []],
  ["query ", []],
  ["nothing --e", []],
  ["stream --nothing=", []],
  ["env playground --tr", ["--trust"]],
])("tickets %s is followed by %j", async (typed, offers) => {
  expect(await offered(typed)).toEqual(offers);
});

test.each([
  ["stream --order = t", ["time"]],
  ["stream --order =", ["input", "time"]],
  ["stream --order=t", ["--order=time"]],
  ["stream a=b --order t", ["time"]],
])("bash, which parts words at =: tickets %s is followed by %j", async (typed, offers) => {
  expect(await offered(typed, undefined, "bash")).toEqual(offers);
});

const CONFIG = `environments:
  playground: {baseUrl: "https://play.example.com"}
  production: {baseUrl: "https://api.example.com"}
sources:
  orders: {match: "orders*.csv", action: soldTicket}
`;

test("environments and sources are those of the config and the variables", async () => {
  await using folders = await openFolders({ [PROJECT]: CONFIG });
  const env = { HOME: folders.home, TICKETS_PREPROD_BASE_URL: "https://pre.example.com" };
  const place = { cwd: folders.cwd, env };
  expect(await offered("stream --env p", place)).toEqual(["playground", "preprod", "production"]);
  expect(await offered("env p", place)).toEqual(["playground", "preprod", "production"]);
  expect(await offered("stream --source ", place)).toEqual(["orders"]);
});

test("a config that can't be read offers nothing and says nothing", async () => {
  await using folders = await openFolders({ [PROJECT]: "environments: [" });
  const place = { cwd: folders.cwd, env: { HOME: folders.home } };
  expect(await complete(program, ["fish", "stream", "--env", ""], place)).toBe("");
  expect(await complete(program, [], place)).not.toBe("");
});

test("runs are those of the environment's ledger: for resume the open ones, for settle those to decide", async () => {
  const field = await openField();
  const place = { cwd: field.folder, env: field.env };
  await field.write("events.csv", "eventId,currency,eventName\nE-1,EUR,Gala\n");
  expect(await offered("status ", place)).toEqual([]);
  expect(existsSync(join(field.folder, "state", "local", "ledger.db")), "no ledger is made").toBe(false);
  const first = await field.stream(["events.csv"]);
  await field.write("sales.csv", salesTable(2));
  field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
  const second = await field.stream(["sales.csv"]);
  expect([first.exitCode, second.exitCode]).toEqual([0, 6]);
  const runs = [first, second].map(({ summary }) => String(summary?.run));
  expect(await offered("status ", place)).toEqual(runs.toReversed());
  expect(await offered("settle ", place)).toEqual([runs[1]]);
  expect(await offered("resume --rate 5 ", place)).toEqual([runs[1]]);
  expect(await complete(program, ["fish", "status", runs[0] ?? ""], place)).toMatch(
    /^[0-9a-f]{8}\t\d{4}-\d\d-\d\d \d\d:\d\d UTC, finished, events\.csv\n$/,
  );
  // Another folder of ledgers, and an environment that is not there.
  expect(await offered("status --state-dir elsewhere ", place)).toEqual([]);
  expect(await offered("status --env elsewhere ", place)).toEqual([]);
});
