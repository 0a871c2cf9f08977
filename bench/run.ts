/** `npm run bench`: see README.md beside this file. */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { cpus, release, tmpdir, totalmem, type } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import checkout from "../package.json" with { type: "json" };
import { ask, type Bench, startService } from "./bench.ts";
import { CASES, type Case, type CaseName } from "./cases.ts";
import { type CaseResult, caseText, FULL_ROUNDS, isFull, keepResult } from "./results.ts";

const NAMES = Object.keys(CASES) as CaseName[];

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: NAMES.join(",") },
    rows: { type: "string" },
    rounds: { type: "string", default: String(FULL_ROUNDS) },
    seed: { type: "string", default: "1" },
    folder: { type: "string", default: join(tmpdir(), "tickets-bench") },
    out: { type: "string" },
    clean: { type: "boolean", default: false },
  },
});

function wholeNumber(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${flag} takes a whole number above zero, not ${text}`);
  return Number(text);
}

/** The version that a program says first, or undefined when it is not there. */
function versionOf(program: string): string | undefined {
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 ? /\d+(\.\d+)+/.exec(stdout)?.[0] : undefined;
}

function isCaseName(name: string): name is CaseName {
  return Object.hasOwn(CASES, name);
}

async function main(): Promise<void> {
  const folder = resolve(values.folder);
  if (values.clean) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  const names = values.cases.split(",");
  const unknown = names.filter((name) => !isCaseName(name));
  if (unknown.length > 0) throw new Error(`no case ${unknown.join(", ")}; there are ${NAMES.join(", ")}`);
  const rounds = wholeNumber("rounds", values.rounds);
  const rows = values.rows === undefined ? undefined : wholeNumber("rows", values.rows);
  mkdirSync(join(folder, "home"), { recursive: true, mode: 0o700 });

  const python = versionOf("python3");
  const curl = versionOf("curl");
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout?.trim();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`;
  const { dependencies: pinned } = checkout;
  const versions = `Node ${process.versions.node}, csv-parse ${pinned["csv-parse"]}, undici ${pinned.undici}, curl ${curl ?? "missing"}, Python ${python ?? "missing"}`;
  console.error(`${machine}\n${versions}`);
  if (ask(["--version"]) === undefined) throw new Error("the built bin does not start; npm run build");

  await using service = await startService();
  const bench: Bench = {
    folder,
    seed: wholeNumber("seed", values.seed),
    rounds,
    service,
    python,
    curl,
  };
  for (const name of names.filter(isCaseName)) {
    const { title, rows: full, rounds: fixed, run }: Case = CASES[name];
    console.error(`${name}: ${title}`);
    const size = full === 0 ? 0 : (rows ?? full);
    const result: CaseResult = {
      ...(await run(bench, size)),
      at: new Date().toISOString(),
      commit: commit || "unknown",
      machine,
      versions,
      rows: size,
      rounds: fixed ?? rounds,
    };
    console.log(`${caseText(name, result)}\n`);
    // A quick look must not stand among the results that the goals are judged by.
    const place = values.out ?? (isFull(name, result) ? fileURLToPath(new URL(".", import.meta.url)) : folder);
    keepResult(place, name, result);
  }
}

await main();
