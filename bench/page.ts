/** What was measured, kept as JSON, and the page made of it. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CASES, type Case, type CaseName, type Goal, middle, oddOf, readOf } from "./cases.ts";
import type { Figures } from "./contest.ts";
import { KIND_NAMES, KINDS, type KindName } from "./kinds.ts";

export interface Result {
  readonly at: string;
  readonly commit: string;
  /** The machine and the versions of the programs. */
  readonly on: string;
  readonly rows: number;
  readonly rounds: number;
  readonly figures: Figures;
}

type Results = Partial<Record<CaseName, Result>>;

/** Puts a case into `results.json` of the folder, in place of what it had, and writes `RESULTS.md` beside it anew. */
export function keep(folder: string, name: CaseName, result: Result): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "results.json");
  const results: Results = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {}; // written here
  results[name] = result;
  const digits = (_: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toFixed(3)) : value);
  writeFileSync(path, `${JSON.stringify(results, digits)}\n`);
  writeFileSync(join(folder, "RESULTS.md"), page(results));
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heads.map((_, at) => (at === 0 ? "---" : "---:"));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const shown = (value: number, digits: number, unit = ""): string =>
  Number.isNaN(value) ? "–" : `${value.toFixed(digits)}${unit === "" ? "" : ` ${unit}`}`;

/** A smaller one says nothing about a goal. */
const isWhole = (one: Case, { rows, rounds }: Result): boolean => rows >= one.rows && rounds >= one.rounds;

function goalRow({ what, most, unit, value }: Goal, one: Case, result: Result): readonly string[] {
  const measured = value(result.figures, result.rows);
  const digits = unit === undefined ? 2 : unit === "µs" ? 1 : 0;
  const verdict = !isWhole(one, result) ? "a quick look" : measured <= most ? "met" : "**missed**";
  return [`${one.title}: ${what}`, `≤ ${shown(most, digits, unit)}`, shown(measured, digits, unit), verdict];
}

export function goalsTable(results: Results): string {
  const rows = resultsOf(results).flatMap(([name, result]) => {
    const { [name]: one }: Record<CaseName, Case> = CASES;
    return one.goals.map((goal) => goalRow(goal, one, result));
  });
  return table(["goal", "most", "measured", ""], rows);
}

function kindRow(kind: KindName, { plan, odd }: Results): readonly string[] {
  const { figures = {}, rows = Number.NaN } = plan ?? {};
  const ratio = (all: Figures, one: string, other: string): string => shown(middle(all, one) / middle(all, other), 2);
  const oddly = (how: "unusual" | "invalid"): string =>
    ratio(odd?.figures ?? {}, oddOf(kind, how), oddOf(kind, "plain"));
  return [
    KINDS[kind].title,
    shown(middle(figures, kind), 2, "s"),
    shown(middle(figures, readOf(kind)), 2, "s"),
    ratio(figures, kind, readOf(kind)),
    shown((middle(figures, kind, "cpuSeconds") / rows) * 1e6, 1, "µs"),
    shown(middle(figures, kind, "peakMib"), 0, "MiB"),
    oddly("unusual"),
    oddly("invalid"),
  ];
}

const KIND_HEADS = ["rows", "plan", "only read", "plan / read", "CPU a row", "peak", "5 % unusual", "1 % invalid"];

export const figuresTable = (figures: Figures): string =>
  table(
    ["", "median", "CPU", "peak memory"],
    Object.keys(figures).map((name) => [
      name,
      shown(middle(figures, name), 3, "s"),
      shown(middle(figures, name, "cpuSeconds"), 2, "s"),
      shown(middle(figures, name, "peakMib"), 0, "MiB"),
    ]),
  );

const resultsOf = (results: Results): readonly (readonly [CaseName, Result])[] =>
  (Object.keys(CASES) as CaseName[]) // its own keys
    .flatMap((name) => (results[name] === undefined ? [] : [[name, results[name]] as const]));

/** Plans of kinds have a table of their own. */
const ofKinds: readonly CaseName[] = ["plan", "odd"];

const named = (name: CaseName, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([contender, measured]) => [`${name}: ${contender}`, measured]));

function page(results: Results): string {
  const kept = resultsOf(results);
  const others = kept.filter(([name]) => !ofKinds.includes(name));
  return `${[
    "# Results",
    "Written by `npm run bench`: medians of rounds in which the contenders took turns. What each case is: [README](README.md).",
    goalsTable(results),
    "Plans of every kind of rows, and csv-parse or JSON.parse reading the same file into objects:",
    table(
      KIND_HEADS,
      KIND_NAMES.map((kind) => kindRow(kind, results)),
    ),
    "All others:",
    figuresTable(Object.assign({}, ...others.map(([name, { figures }]) => named(name, figures)))),
    "When, and on what:",
    table(
      ["case", "rows", "rounds", "day", "commit"],
      kept.map(([name, { rows, rounds, at, commit }]) => [
        ...[name, rows.toLocaleString("en"), String(rounds), at.slice(0, 10), commit],
      ]),
    ),
    [...new Set(kept.map(([, { on }]) => on))].map((on) => `- ${on}`).join("\n"),
  ].join("\n\n")}\n`;
}
