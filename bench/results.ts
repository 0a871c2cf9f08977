/** Results of separate invocations, kept together as JSON, and the page made of them. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AFTER_PLAN } from "./after-plan.ts";
import type { AllFigures } from "./bench.ts";
import { CASES, type Case, type CaseName, type CaseOutcome, lanesName, nightName } from "./cases.ts";
import { median } from "./measure.ts";

/** Fewer rounds than this say nothing about a goal. */
export const FULL_ROUNDS = 5;

export interface CaseResult extends CaseOutcome {
  readonly at: string;
  readonly commit: string;
  readonly machine: string;
  readonly versions: string;
  readonly rows: number;
  readonly rounds: number;
}

export type Results = Partial<Record<CaseName, CaseResult>>;

export function isFull(name: CaseName, { rows, rounds }: Pick<CaseResult, "rows" | "rounds">): boolean {
  const { rows: full, rounds: fixed = FULL_ROUNDS }: Case = CASES[name];
  return rows === full && rounds >= fixed;
}

/** Adds a case to what `results.json` of the folder holds, and writes `RESULTS.md` beside it anew. */
export function keepResult(folder: string, name: CaseName, result: CaseResult): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "results.json");
  const results = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Results) : {}; // written here
  results[name] = result;
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(folder, "RESULTS.md"), page(results));
}

interface Goal {
  readonly case: CaseName;
  readonly what: string;
  readonly most: number;
  readonly unit?: "MiB" | "ms" | "µs";
  readonly measured: (result: CaseResult) => number;
}

const seconds = ({ contenders }: CaseResult, name: string): number => median(contenders[name]?.seconds ?? []);
const peak = ({ contenders }: CaseResult, name: string): number => median(contenders[name]?.peakMib ?? []);
const ratio = (one: string, other: string) => (result: CaseResult) => seconds(result, one) / seconds(result, other);
const figure =
  (name: string) =>
  ({ figures }: CaseResult): number =>
    figures?.[name] ?? Number.NaN;
const above = (one: string, other: string) => (result: CaseResult) =>
  (seconds(result, one) - seconds(result, other)) * 1000;

const GOALS: readonly Goal[] = [
  { case: "send", what: "against naive Node", most: 0.48, measured: ratio("tickets", "naive Node") },
  { case: "send", what: "against naive Python", most: 0.48, measured: ratio("tickets", "naive Python") },
  { case: "send", what: "against curl", most: 5, measured: ratio("tickets", "curl") },
  { case: "plan", what: "against csv-parse", most: 0.3, measured: ratio("tickets plan", "csv-parse, objects") },
  { case: "declared", what: "against csv-parse", most: 0.7, measured: ratio("tickets plan", "csv-parse, objects") },
  { case: "json", what: "against JSON.parse of every line", most: 0.8, measured: ratio("tickets plan", "JSON.parse") },
  { case: "latency", what: "one lane against curl", most: 1.1, measured: ratio(lanesName(1), "curl") },
  { case: "latency", what: "4 lanes against curl in one", most: 0.32, measured: ratio(lanesName(4), "curl") },
  { case: "latency", what: "16 lanes against curl in one", most: 0.16, measured: ratio(lanesName(16), "curl") },
  { case: "after", what: "the sending thread", most: 3, unit: "µs", measured: figure(AFTER_PLAN.thread) },
  { case: "after", what: "all threads", most: 6, unit: "µs", measured: figure(AFTER_PLAN.process) },
  { case: "send", what: "peak of memory", most: 256, unit: "MiB", measured: (result) => peak(result, "tickets") },
  ...([1e6, 1e7] as const).map((known) => ({
    case: "nightly" as const,
    what: `${known.toLocaleString("en")} known, against planning with an empty ledger`,
    most: 2,
    measured: ratio(nightName(known), "plan, empty ledger"),
  })),
  {
    case: "startup",
    what: "the version above an empty script",
    most: 15,
    unit: "ms",
    measured: above("--version", "empty script"),
  },
  {
    case: "resume",
    what: "first request above start-up",
    most: 300,
    unit: "ms",
    measured: above("resume, first request", "--version"),
  },
  { case: "order", what: "peak of memory", most: 400, unit: "MiB", measured: (result) => peak(result, "by time") },
];

const shown = (value: number, unit?: Goal["unit"]): string =>
  unit === undefined ? value.toFixed(2) : `${value.toFixed(unit === "µs" ? 1 : 0)} ${unit}`;

function goalRow(goal: Goal, results: Results): string {
  const { case: name, what, most, unit } = goal;
  const result = results[name];
  const value = result === undefined ? Number.NaN : goal.measured(result);
  const verdict = Number.isNaN(value)
    ? "not measured"
    : result !== undefined && !isFull(name, result)
      ? "a quick look: says nothing about the goal"
      : value <= most
        ? "met"
        : `**missed** by ${shown(value - most, unit)}`;
  return `| ${CASES[name].title}: ${what} | ≤ ${shown(most, unit)} | ${Number.isNaN(value) ? "–" : shown(value, unit)} | ${verdict} |`;
}

const HEADINGS = ["median", "min", "max", "× first", "CPU", "peak memory", "peak, max"];

/** Medians, smallest and largest, and each median against the first contender's. */
export function figuresTable(contenders: AllFigures): string {
  const rows = Object.entries(contenders);
  if (rows.length === 0) return "";
  const first = median(rows[0]?.[1].seconds ?? []);
  const s = (value: number): string => `${value.toFixed(value < 1 ? 3 : 2)} s`;
  const lines = rows.map(([name, figures]) => {
    const middle = median(figures.seconds);
    const mib = (values: readonly number[], pick: (values: readonly number[]) => number): string =>
      values.length === 0 ? "–" : `${Math.round(pick(values))} MiB`;
    return [
      name,
      s(middle),
      s(Math.min(...figures.seconds)),
      s(Math.max(...figures.seconds)),
      (middle / first).toFixed(2),
      figures.cpuSeconds.length === 0 ? "–" : s(median(figures.cpuSeconds)),
      mib(figures.peakMib, median),
      mib(figures.peakMib, (values) => Math.max(...values)),
    ];
  });
  return [["", ...HEADINGS], ["---", ...HEADINGS.map(() => "---:")], ...lines]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** What a case has to show, as Markdown. */
export function caseText(name: CaseName, result: CaseResult): string {
  const { title, what } = CASES[name];
  const figures = Object.entries(result.figures ?? {}).map(
    ([label, value]) => `- ${label}: ${Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1)}`,
  );
  const size = `${result.rows === 0 ? "" : `${result.rows.toLocaleString("en")} rows, `}${result.rounds} ${result.rounds === 1 ? "round" : "rounds"}${isFull(name, result) ? "" : " (a quick look, not the full size)"}`;
  return [
    `## ${title}`,
    what,
    `\`npm run bench -- --cases ${name}\`: ${size}, ${result.at.slice(0, 10)}, commit ${result.commit}. ${result.machine}. ${result.versions}.`,
    figuresTable(result.contenders),
    figures.join("\n"),
    result.notes.map((note) => `> ${note}`).join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function page(results: Results): string {
  const names = (Object.keys(CASES) as CaseName[]).filter((name) => results[name] !== undefined);
  return `${[
    "# Results",
    "Written by `npm run bench` from `results.json`. Medians of rounds in which the contenders took turns; what each case is: [README](README.md).",
    ["| goal | most | measured | |", "|---|---:|---:|---|", ...GOALS.map((goal) => goalRow(goal, results))].join("\n"),
    ...names.map((name) => caseText(name, results[name] as CaseResult)), // filtered
  ]
    .filter((part) => part !== "")
    .join("\n\n")}\n`;
}
