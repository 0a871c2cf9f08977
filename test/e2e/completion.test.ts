/** Completion in the shells themselves. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BIN, openWorkplace, settingsIn, type Workplace } from "../support/bin.ts";
import { LONG } from "../support/walks.ts";

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

test("bash offers commands, flags and files", () => {
  const { place, run } = openPlace();
  place.write(
    "offered.sh",
    `source <(tickets completion)
complete -p tickets
offered() { COMP_WORDS=(tickets "$@"); COMP_CWORD=$#; _tickets tickets; echo "$*: \${COMPREPLY[*]}"; }
offered st
offered stream --or
offered stream ""
`,
  );
  expect(run("bash", "--norc", "offered.sh").split("\n")).toEqual([
    "complete -o default -F _tickets tickets",
    "st: stream status",
    "stream --or: --order",
    "stream : ",
    "",
  ]);
});

test("zsh completes at its prompt", LONG, () => {
  const { place, run } = openPlace();
  // The command is run once it is complete, so that it tells which flag stands there.
  place.write(
    "typed.zsh",
    `zmodload zsh/zpty
zpty -b typed "zsh -f -i"
zpty -w typed "autoload -U compinit; compinit -D -u; autoload -U bashcompinit; bashcompinit; source <(tickets completion); print read''y"
zpty -r typed out $'*ready*'
zpty -w -n typed $'tickets env --js\\t\\n'
zpty -r typed out '*"kind"*'
print -r -- "$out"
zpty -d typed
`,
  );
  expect(run("zsh", "-f", "typed.zsh")).toContain('"name":"sandbox"');
});
