/** Completion in the shells themselves: what they offer is what the bin tells their scripts. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BIN, openWorkplace, settingsIn, type Workplace } from "../support/bin.ts";

/** A folder with exports, a config, and a `tickets` on its PATH. */
function openPlace(): { readonly place: Workplace; readonly run: (shell: string, ...args: string[]) => string } {
  const place = openWorkplace();
  mkdirSync(place.path("bin"));
  writeFileSync(place.path("bin/tickets"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(place.path("bin/tickets"), 0o755);
  for (const name of ["sales of May.csv", "scans.csv"]) place.write(name, "ticketId\n");
  place.write(
    "tickets.config.json",
    JSON.stringify({ environments: { playground: { baseUrl: "https://x.example" } } }),
  );
  const settings = settingsIn(place.folder);
  const env = { ...settings, PATH: `${place.path("bin")}:${settings.PATH}`, TERM: "dumb" };
  const run = (shell: string, ...args: string[]): string =>
    execFileSync(shell, args, { cwd: place.folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  return { place, run };
}

test("bash offers values and files", () => {
  const { place, run } = openPlace();
  place.write(
    "offered.sh",
    `source <(tickets completion bash)
complete -p tickets
offered() { COMP_WORDS=(tickets "$@"); COMP_CWORD=$#; _tickets tickets; echo "$*: \${COMPREPLY[*]}"; }
offered stream --env = pl
offered stream sales
offered stream --config ti
`,
  );
  expect(run("bash", "--norc", "offered.sh").split("\n")).toEqual([
    "complete -F _tickets tickets",
    "stream --env = pl: playground",
    "stream sales: sales of May.csv",
    "stream --config ti: tickets.config.json",
    "",
  ]);
});

test("zsh completes at its prompt", { tags: ["long"] }, () => {
  const { place, run } = openPlace();
  // The command is run once it is complete, so that it tells which environment stands there.
  place.write(
    "typed.zsh",
    `zmodload zsh/zpty
zpty -b typed "zsh -f -i"
zpty -w typed "autoload -U compinit; compinit -D -u; source <(tickets completion zsh); print read''y"
zpty -r typed out $'*ready*'
zpty -w -n typed $'tickets env pl\\t--json\\n'
zpty -r typed out '*"kind"*'
print -r -- "$out"
zpty -d typed
`,
  );
  expect(run("zsh", "-f", "typed.zsh")).toContain('"name": "playground"');
});

test("fish offers values with what they are", { tags: ["long"] }, () => {
  const { run } = openPlace();
  const lines = [
    "source (tickets completion fish | psub)",
    'complete -C "tickets stream --env=pl"',
    'complete -C "tickets settl"',
    'complete -C "tickets validate sales"',
  ];
  expect(run("fish", "--no-config", "-c", lines.join("; ")).trimEnd().split("\n")).toEqual([
    "--env=playground",
    "settle\tsay what became of a chunk; abandon a run",
    "sales of May.csv",
  ]);
});
