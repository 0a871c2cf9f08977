/** Walks through a page as a reader would: types its commands in a folder like a checkout, and compares what they print. */

import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { BIN, FIXTURES, settingsIn } from "../bin.ts";
import { ROOT } from "../pages.ts";
import { freePort } from "../raw-server.ts";
import { type Block, blocksOf, noteOf, typedIn } from "./blocks.ts";
import { inWordsOf, type Names, withNames } from "./compare.ts";
import { openTerminal, type Printed, type Terminal } from "./terminal.ts";

/** Where the pages show a checkout, and the port on which they serve the sandbox. */
const SHOWN_FOLDER = "/srv/ticket-stream";
const SHOWN_PORT = "4010";

/** What a block shows and what is printed now, equal when they agree. */
interface Compared {
  readonly line: number;
  readonly shown: string;
  readonly now: string;
}

export interface Walk {
  readonly compared: readonly Compared[];
  /** Reasons why blocks are not run. */
  readonly notRun: readonly string[];
}

export async function walk(markdown: string): Promise<Walk> {
  const folder = openFolder();
  const page = openPage(folder, String(await freePort()));
  const notRun: string[] = [];
  for (const block of blocksOf(markdown)) {
    const reason = noteOf(block, "not run");
    if (reason === undefined) await walkBlock(block, page);
    else {
      notRun.push(reason);
      page.last = undefined;
    }
  }
  return { compared: page.compared, notRun };
}

interface Page {
  readonly folder: string;
  readonly compared: Compared[];
  /** The terminal in which is typed now. */
  terminal: string;
  /** What the last `sh` block printed, until a block has compared it. */
  last: string | undefined;
  /** Text of the page as it has to be here. */
  here(text: string): string;
  typeNow(command: string, until?: string): Promise<Printed>;
  /** Ctrl-C in a terminal; the next of that name is a new one. */
  stop(terminal: string): Promise<void>;
  /** `typeNow`, or the end of the same command that goes on. */
  typeOrAwait(command: string, until?: string): Promise<Printed>;
  compare(block: Block, shown: string, output: string): void;
  expectExit(block: Block, command: string, shown: string, now: Printed): void;
}

function openPage(folder: string, port: string): Page {
  const terminals = new Map<string, Terminal>();
  const names: Names = new Map();
  const compared: Compared[] = [];
  const screens = join(folder, "..", "screens");

  function terminalNow(name: string): Terminal {
    const known = terminals.get(name);
    if (known !== undefined) return known;
    const settings = settingsIn(join(folder, ".."));
    const path = `${join(folder, "..", "bin")}:${settings.PATH}`;
    const opened = openTerminal(folder, { ...settings, PATH: path, SCREENS: screens, PORT: port });
    onTestFinished(() => opened.close());
    terminals.set(name, opened);
    return opened;
  }

  const page: Page = {
    folder,
    compared,
    terminal: "main",
    last: undefined,
    here: (text) => withNames(text.replaceAll(SHOWN_FOLDER, folder).replaceAll(SHOWN_PORT, port), names),
    async typeNow(command, until) {
      const printed = await terminalNow(page.terminal).type(page.here(command), until && page.here(until));
      writeFileSync(join(screens, page.terminal), printed.output);
      return printed;
    },
    async stop(terminal) {
      await terminals.get(terminal)?.stop();
      terminals.delete(terminal);
    },
    typeOrAwait: async (command, until) =>
      await (terminalNow(page.terminal).ended(page.here(command)) ?? page.typeNow(command, until)),
    compare({ line }, shown, output) {
      const there = output.replaceAll(folder, SHOWN_FOLDER).replaceAll(port, SHOWN_PORT);
      compared.push({ line, shown, now: inWordsOf(shown, there, names) });
    },
    expectExit({ line }, command, shown, { exitCode, output }) {
      const now = `exit ${exitCode}: ${command}`;
      compared.push({
        line,
        shown: `exit ${shown}: ${command}`,
        now: String(exitCode) === shown ? now : `${now}\n${output}`,
      });
    },
  };
  return page;
}

async function walkBlock(block: Block, page: Page): Promise<void> {
  const until = await follow(block, page);
  const [file, prints] = [noteOf(block, "file"), noteOf(block, "prints")];
  const exit = noteOf(block, "exit") ?? "0";
  const printed = page.last;
  page.last = undefined;
  if (file !== undefined) {
    mkdirSync(dirname(join(page.folder, file)), { recursive: true });
    writeFileSync(join(page.folder, file), block.text);
  } else if (prints !== undefined) {
    const now = await page.typeNow(prints);
    page.compare(block, block.text, now.output);
    page.expectExit(block, prints, exit, now);
  } else if (block.language === "console") await typeEach(block, page, exit, until);
  else if (block.language === "sh") {
    const now = await page.typeOrAwait(block.text, until);
    page.expectExit(block, block.text, exit, now);
    page.last = now.output;
  } else if (block.language === "sql") {
    const now = await page.typeNow(`sqlite3 -readonly -box "$LEDGER" <<'SQL'\n${block.text}SQL`);
    page.expectExit(block, block.text, exit, now);
    page.last = now.output;
  } else if (printed === undefined) throw new Error(`line ${block.line}: nothing says what becomes of this block`);
  else page.compare(block, block.text, printed);
}

/** Does what the notes say is to be done before the block; gives the text up to which the block's own last command is awaited. */
async function follow(block: Block, page: Page): Promise<string | undefined> {
  let until: string | undefined;
  for (const { kind, text } of block.notes) {
    if (kind === "terminal") page.terminal = text;
    else if (kind === "stop") await page.stop(text);
    else if (kind === "until") until = text;
    else if (kind === "begins") {
      await page.typeNow(text, until);
      until = undefined;
    } else if (kind === "first") page.expectExit(block, text, "0", await page.typeNow(text));
  }
  return until;
}

async function typeEach(block: Block, page: Page, exit: string, until: string | undefined): Promise<void> {
  const typed = typedIn(block);
  for (const [at, { command, output }] of typed.entries()) {
    const next = typed[at + 1];
    const printed = await page.typeOrAwait(command, next === undefined ? until : undefined);
    page.compare(block, output, printed.output);
    // Where the exit code is shown it is compared as output.
    const isShown = next?.command === "echo $?";
    if (!isShown) page.expectExit(block, command, next === undefined ? exit : "0", printed);
  }
}

/** A folder like a checkout after `npm ci`: fixtures, and `tickets` and `npx` that find the built bin. */
function openFolder(): string {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "tickets-docs-")));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const folder = join(place, "checkout");
  for (const name of ["home", "tmp", "bin", "screens", "checkout"]) mkdirSync(join(place, name));
  cpSync(FIXTURES, join(folder, "fixtures"), { recursive: true, preserveTimestamps: true });
  // As after `npm install`: a program of the page imports the package by its name.
  mkdirSync(join(place, "node_modules"));
  symlinkSync(ROOT, join(place, "node_modules", "ticket-stream"));
  const commands = {
    node: `exec '${process.execPath}' "$@"`,
    tickets: `exec '${process.execPath}' '${BIN}' "$@"`,
    npx: `case $1 in tickets) shift; exec tickets "$@";; node) shift; exec '${process.execPath}' "$@";; *) exit 127;; esac`,
  };
  for (const [name, script] of Object.entries(commands))
    writeFileSync(join(place, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}
