/** `npm run bench`: see README.md beside this file. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, release, tmpdir, totalmem, type } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import checkout from "../package.json" with { type: "json" };
import { CASES, type Case, type CaseName } from "./cases.ts";
import { race } from "./contest.ts";
import { figuresTable, goalsTable, keep, type Result } from "./page.ts";
import { startService } from "./service.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rows: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    out: { type: "string" },
  },
});

const QUICK = { rows: 20_000, rounds: 1 } as const;

const isCaseName = (name: string): name is CaseName => Object.hasOwn(CASES, name);

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${text} is not a whole number above zero`);
  return Number(text);
}

/** The version that a program says first. */
const versionOf = (program: string): string =>
  /\d+(\.\d+)+/.exec(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout ?? "")?.[0] ?? "missing";

function surroundings(): string {
  const { dependencies } = checkout;
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`;
  const programs = `Node ${process.versions.node}, csv-parse ${dependencies["csv-parse"]}, undici ${dependencies.undici}, curl ${versionOf("curl")}, Python ${versionOf("python3")}`;
  return `${machine}; ${programs}`;
}

function chosen(): readonly CaseName[] {
  const names = Object.keys(CASES).filter(isCaseName);
  if (values.only === undefined) return names.filter((name) => !("isLarge" in CASES[name]));
  return values.only.split(",").map((name) => {
    if (!isCaseName(name)) throw new Error(`no case ${name}; there are ${names.join(", ")}`);
    return name;
  });
}

/** Figures of another size than a case's own are only shown, unless a folder is named. */
const isWhole = !values.quick && values.rows === undefined && values.rounds === undefined;
const out = values.out ?? (isWhole ? fileURLToPath(new URL(".", import.meta.url)) : undefined);

const folder = mkdtempSync(join(tmpdir(), "tickets-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

await using service = await startService();
const bench = { folder, service, seed: wholeNumber(values.seed) };
const quick: Partial<typeof QUICK> = values.quick ? QUICK : {};
const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout?.trim() || "unknown";
const on = surroundings();
for (const name of chosen()) {
  const one: Case = CASES[name];
  const rows = values.rows === undefined ? (quick.rows ?? one.rows) : wholeNumber(values.rows);
  const rounds = values.rounds === undefined ? (quick.rounds ?? one.rounds) : wholeNumber(values.rounds);
  console.error(`${name}: ${one.title}; ${rows.toLocaleString("en")} rows, ${rounds} rounds`);
  const figures = await race(bench, one.contenders(bench, rows), rounds);
  const result: Result = { at: new Date().toISOString(), commit, on, rows, rounds, figures };
  console.log([figuresTable(figures), goalsTable({ [name]: result }), ""].join("\n\n"));
  if (out !== undefined) keep(out, name, result);
}
console.error(`All took ${Math.round(process.uptime())} s.`);
