/** Completion in the shells themselves. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BIN, openWorkplace, settingsIn, type Workplace } from "../support/bin.ts";

/** A folder with exports and a `tickets` on its PATH. */
function openPlace(): { readonly place: Workplace; readonly run: (shell: string, ...args: string[]) => string } {
  const place = openWorkplace();
  mkdirSync(place.path("bin"));
  writeFileSync(place.path("bin/tickets"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(place.path("bin/tickets"), 0o755);
  for (const name of ["sales of May.csv", "scans.csv"]) place.write(name, "ticketId\n");
  const settings = settingsIn(place.folder);
  const env = { ...settings, PATH: `${place.path("bin")}:${settings.PATH}`, TERM: "dumb" };
  const run = (shell: string, ...args: string[]): string =>
    execFileSync(shell, args, { cwd: place.folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  return { place, run };
}

test("bash offers commands, flags, choices and files", () => {
  const { place, run } = openPlace();
  place.write(
    "offered.sh",
    `source <(tickets completion bash)
complete -p tickets
offered() { COMP_WORDS=(tickets "$@"); COMP_CWORD=$#; _tickets tickets; echo "$*: \${COMPREPLY[*]}"; }
offered st
offered stream --or
offered completion z
offered stream ""
`,
  );
  expect(run("bash", "--norc", "offered.sh").split("\n")).toEqual([
    "complete -o default -F _tickets tickets",
    "st: stream status",
    "stream --or: --order",
    "completion z: zsh",
    "stream : ",
    "",
  ]);
});

test("zsh completes at its prompt", { tags: ["long"] }, () => {
  const { place, run } = openPlace();
  // The command is run once it is complete, so that it tells which flag stands there.
  place.write(
    "typed.zsh",
    `zmodload zsh/zpty
zpty -b typed "zsh -f -i"
zpty -w typed "autoload -U compinit; compinit -D -u; source <(tickets completion zsh); print read''y"
zpty -r typed out $'*ready*'
zpty -w -n typed $'tickets env --js\\t\\n'
zpty -r typed out '*"kind"*'
print -r -- "$out"
zpty -d typed
`,
  );
  expect(run("zsh", "-f", "typed.zsh")).toContain('"name": "sandbox"');
});

test("fish offers words with what they are, and files", { tags: ["long"] }, () => {
  const { run } = openPlace();
  const lines = [
    "source (tickets completion fish | psub)",
    'complete -C "tickets stream --order "',
    'complete -C "tickets settl"',
    'complete -C "tickets validate sales"',
  ];
  expect(run("fish", "--no-config", "-c", lines.join("; ")).trimEnd().split("\n")).toEqual([
    "input\tas read, or by orderTime with each event and sale before what depends on it",
    "time\tas read, or by orderTime with each event and sale before what depends on it",
    "settle\tsay what became of a chunk; close or pause a run",
    "sales of May.csv",
  ]);
});
