import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { completionScript } from "../../../src/cli/commands.ts";
import { buildProgram } from "../../../src/cli/program.ts";

function programOf(columns: number): Command {
  const program = buildProgram(async () => undefined);
  for (const each of [program, ...program.commands]) each.configureOutput({ getOutHelpWidth: () => columns });
  return program;
}

/** When a change is meant: `npx vitest run cli/program -u`. */
describe("help is as it was agreed", () => {
  const GOLDEN = fileURLToPath(new URL("../../e2e/golden/", import.meta.url));
  const program = programOf(80);
  const all = [program, ...program.commands].map((command) => [command.name(), command] as const);

  test.each(all)("of %s", async (name, command) => {
    let shown = "";
    command.configureOutput({
      getOutHelpWidth: () => 80,
      writeOut: (text) => {
        shown += text;
      },
    });
    command.outputHelp();
    await expect(shown).toMatchFileSnapshot(`${GOLDEN}${name}.txt`);
    if (command !== program) expect(program.helpInformation()).toMatch(new RegExp(`^ {2}${name} `, "m"));
  });

  test("of no other command is kept", () => {
    expect(readdirSync(GOLDEN).toSorted()).toEqual(all.map(([name]) => `${name}.txt`).toSorted());
  });
});

test("the script of completion names every command and flag", () => {
  const script = completionScript();
  for (const command of programOf(80).commands)
    for (const word of [command.name(), ...command.options.map(({ long = "" }) => long)])
      expect(script).toContain(word);
});

describe.each([80, 60, 40])("help on %i columns", (columns) => {
  const program = programOf(columns);

  test.each([program, ...program.commands].map((command) => [command.name(), command] as const))(
    "%s has no line for the terminal to fold within a word",
    (_name, command) => {
      const [, ...lines] = command.helpInformation().split("\n");
      const folded = lines.filter((line) => line.length > columns && /\S\s+\S/.test(line));
      // Commands to be copied stay whole.
      expect(folded.filter((line) => !/^ {2}(?:tickets|source) /.test(line))).toEqual([]);
    },
  );
});

test("where a description has no room beside its option it stands below", () => {
  const help = programOf(40)
    .commands.find((command) => command.name() === "stream")
    ?.helpInformation();
  expect(help).toContain("\n  --encoding <name>\n      encoding of the input (utf-8)\n");
});
