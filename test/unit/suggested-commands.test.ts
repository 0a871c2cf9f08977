/** A command that a message suggests ends its line, after a colon, so that it can be copied. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));
const files = globSync("**/*.ts", { cwd: SRC });

const MADE = "next-command.ts";
const others = files.filter((path) => path !== MADE);

/** A command that ends in the flags of its environment, with what follows: more of it, or the end of the line or the text. */
const FLAGS =
  /\$\{(?:(?:settle|close|resume|status|results|import|validate)Command|streamOfRejects)\((?:[^()]|\([^()]*\))*\)\}(?! --?\w|`|\\n)/;
/** A command in words alone, with a sentence's end. */
const WORDS = /: tickets [^`"\n]*[\w}]\.(?=["`])/;

test.each(others)("%s says no command with a sentence's end", (path) => {
  const lines = readFileSync(join(SRC, path), "utf8").split("\n");
  const found = lines.flatMap((line, at) =>
    FLAGS.test(line) || WORDS.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [],
  );
  expect(found).toEqual([]);
});

const BY_HAND = /: tickets (?:settle|resume|status|results|stream|validate|env)\b[^`\n]*\$\{/;

test.each(others)(`%s takes the commands that it suggests from ${MADE}`, (path) => {
  const lines = readFileSync(join(SRC, path), "utf8").split("\n");
  expect(lines.filter((line) => BY_HAND.test(line))).toEqual([]);
});
