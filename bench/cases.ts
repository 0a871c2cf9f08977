/** What is run against what, and how much of it is allowed. */

import {
  type Bench,
  type Contender,
  countOf,
  curl,
  dataOf,
  type Figures,
  flagsOf,
  naive,
  type Part,
  salesOf,
  script,
  seasonFile,
  streamed,
  tool,
} from "./contest.ts";
import { EVENTS, KIND_NAMES, KINDS, type KindName } from "./kinds.ts";
import { type Measured, measure } from "./measure.ts";

export interface Case {
  readonly title: string;
  /** What a whole `npm run bench` takes of it, within a quarter of an hour. */
  readonly rounds: number;
  readonly rows: number;
  /** Only run where its name is given: it takes long. */
  readonly isLarge?: true;
  readonly contenders: (bench: Bench, rows: number) => readonly Contender[];
  readonly goals: readonly Goal[];
}

export interface Goal {
  readonly what: string;
  readonly most: number;
  readonly unit?: "ms" | "µs" | "MiB";
  readonly value: (figures: Figures, rows: number) => number;
}

const MILLION = 1_000_000;

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = low] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};

/** The median of what a contender took, of the rounds in which that is known; not a number where it is not. */
export const middle = (figures: Figures, name: string, what: keyof Measured = "seconds"): number =>
  median((figures[name] ?? []).map((measured) => measured[what]).filter(Number.isFinite));

/** How much one takes of what another does. */
const over =
  (one: string, other: string, what?: keyof Measured) =>
  (figures: Figures): number =>
    middle(figures, one, what) / middle(figures, other, what);

const worst =
  (kinds: readonly KindName[], value: (kind: KindName) => Goal["value"]): Goal["value"] =>
  (figures, rows) =>
    Math.max(...kinds.map((kind) => value(kind)(figures, rows)));

const isTable = (kind: KindName): boolean => KINDS[kind].file.endsWith(".csv");
const TABLES = KIND_NAMES.filter((kind) => isTable(kind) && kind !== "shop");
const LINES = KIND_NAMES.filter((kind) => !isTable(kind));

export const readOf = (kind: KindName): string => `${kind}, only read`;
export const oddOf = (kind: KindName, odd: Part["odd"] | "plain"): string => `${kind}, ${odd}`;

const toPlan = (bench: Bench, part: Part): Contender => ({
  name: part.kind,
  command: (work) =>
    tool(bench, work, ["plan", dataOf(bench, part), "-o", "actions.ndjson", "-q", ...flagsOf(bench, part)]),
});

/** All but sending, with the invalid rows left out. */
const toJudge = (bench: Bench, part: Part): Contender => ({
  name: oddOf(part.kind, part.odd ?? "plain"),
  command: (work) => {
    const flags = ["--dry-run", "--max-invalid", "2%", ...flagsOf(bench, part)];
    return { ...streamed(bench, work, [dataOf(bench, part)], flags), endsWith: [part.odd === "invalid" ? 4 : 0] };
  },
});

const toRead = (bench: Bench, part: Part): Contender => ({
  name: readOf(part.kind),
  command: (work) => script(work, "read.mjs", [dataOf(bench, part), part.kind === "shop" ? ";" : ","]),
});

const againstReader = (kind: KindName) => over(kind, readOf(kind));
const against = (odd: "unusual" | "invalid") => (kind: KindName) => over(oddOf(kind, odd), oddOf(kind, "plain"));

function dearest(figures: Figures): number {
  const cpu = KIND_NAMES.map((kind) => middle(figures, kind, "cpuSeconds"));
  return Math.max(...cpu) / Math.min(...cpu);
}

interface Streaming extends Partial<Contender> {
  readonly files?: readonly string[];
  readonly flags?: readonly string[];
}

const toStream = (bench: Bench, rows: number, { files, flags, ...more }: Streaming = {}): Contender => ({
  name: "tickets",
  actions: countOf(rows),
  command: (work) => streamed(bench, work, files ?? salesOf(bench, { rows }), flags),
  ...more,
});

const LATENCY_MS = 200;
const lanesName = (lanes: number, what = "many events"): string => `${lanes} lane${lanes === 1 ? "" : "s"}, ${what}`;

const inLanes = (bench: Bench, rows: number, lanes: number, more: Streaming = {}): Contender =>
  toStream(bench, rows, {
    name: lanesName(lanes),
    latencyMs: LATENCY_MS,
    flags: ["--lanes", String(lanes)],
    ...more,
  });

const asked = (bench: Bench, flag: "--version" | "--help"): Contender => ({
  name: flag,
  command: (work) => tool(bench, work, [flag]),
});

/** In milliseconds. */
const above =
  (one: string, other: string) =>
  (figures: Figures): number =>
    (middle(figures, one) - middle(figures, other)) * 1000;

const STOPPED_AT = 150;

/** A run of 200 chunks is stopped at the 150th. */
function resumed(bench: Bench, rows: number): Contender {
  const settings = { TICKETS_CHUNK_SIZE: String(Math.min(5000, Math.ceil(rows / 200))) };
  return {
    name: "resume",
    prepare: (work) =>
      measure(
        { ...streamed(bench, work, salesOf(bench, { rows }), [], settings), endsWith: [143] },
        { moment: bench.service.be({ reportAt: STOPPED_AT }), signal: "SIGTERM" },
      ),
    command: (work) => tool(bench, work, ["resume", "--env", "bench", "-q"]),
    untilFirstRequest: true,
  };
}

/** All but entering, and all with it; the service stands at the first request. */
function entered(bench: Bench, rows: number, more: Streaming & { readonly behind: string }): readonly Contender[] {
  const { behind, ...others } = more;
  const { actions: _, ...streaming } = toStream(bench, rows, others);
  const dry = toStream(bench, rows, { ...others, flags: ["--dry-run"], actions: 0 });
  return [
    { ...dry, name: `dry run, ${behind}` },
    { ...streaming, name: `to the first request, ${behind}`, untilFirstRequest: true },
  ];
}

/** In microseconds an action. */
const entering =
  (behind: string): Goal["value"] =>
  (figures, rows) =>
    ((middle(figures, `to the first request, ${behind}`, "cpuSeconds") -
      middle(figures, `dry run, ${behind}`, "cpuSeconds")) /
      countOf(rows)) *
    MILLION;

const tenthOf = (rows: number): number => Math.floor(rows / 10);

/** An export of a tenth of what is known, of which one row of 100 is new. */
const exported = (bench: Bench, known: number, name: string, place?: string): Contender => ({
  name,
  ...(place !== undefined && { place }),
  command: (work) => {
    const files = salesOf(bench, { rows: tenthOf(known), first: Math.floor(known * 0.901) });
    return tool(bench, work, ["plan", ...files, "--env", "bench", "-o", "export.ndjson", "-q"]);
  },
});

export const CASES = {
  plan: {
    title: "Plan",
    rounds: 3,
    rows: 100_000,
    contenders: (bench, rows) =>
      KIND_NAMES.flatMap((kind) => [toPlan(bench, { kind, rows }), toRead(bench, { kind, rows })]),
    goals: [
      { what: "the slowest table against csv-parse", most: 0.7, value: worst(TABLES, againstReader) },
      { what: "the shop against csv-parse", most: 0.8, value: againstReader("shop") },
      { what: "the slower NDJSON against JSON.parse", most: 3, value: worst(LINES, againstReader) },
      { what: "CPU, the dearest kind against the cheapest", most: 2.5, value: dearest },
    ],
  },
  odd: {
    title: "Plan of odd rows",
    rounds: 2,
    rows: 100_000,
    contenders: (bench, rows) =>
      KIND_NAMES.flatMap((kind) =>
        [undefined, "unusual" as const, "invalid" as const].map((odd) =>
          toJudge(bench, { kind, rows, ...(odd !== undefined && { odd }) }),
        ),
      ),
    goals: [
      { what: "5 % unusual against none, the dearest kind", most: 1.15, value: worst(KIND_NAMES, against("unusual")) },
      { what: "1 % invalid against none, the dearest kind", most: 1.3, value: worst(KIND_NAMES, against("invalid")) },
    ],
  },
  send: {
    title: "Sending, no latency",
    rounds: 3,
    rows: 100_000,
    contenders: (bench, rows) => [
      toStream(bench, rows),
      naive(bench, rows, "Node"),
      naive(bench, rows, "Python"),
      curl(bench, rows),
    ],
    goals: [
      { what: "against naive Node", most: 0.55, value: over("tickets", "naive Node") },
      { what: "against naive Python", most: 0.6, value: over("tickets", "naive Python") },
      { what: "against curl", most: 4, value: over("tickets", "curl") },
      { what: "peak memory", most: 300, unit: "MiB", value: (figures) => middle(figures, "tickets", "peakMib") },
    ],
  },
  lanes: {
    title: "Sending, 200 ms a chunk",
    rounds: 1,
    rows: 200_000,
    contenders: (bench, rows) => [
      curl(bench, rows, LATENCY_MS),
      ...[1, 4, 16].map((lanes) => inLanes(bench, rows, lanes)),
      inLanes(bench, rows, 16, { name: lanesName(16, "one event"), files: salesOf(bench, { rows, events: 1 }) }),
      inLanes(bench, rows, 16, {
        name: lanesName(16, "events updated among sales"),
        files: [seasonFile(bench, rows)],
        actions: countOf(rows) + 2 * EVENTS,
      }),
    ],
    goals: [
      { what: "one lane against curl", most: 1.15, value: over(lanesName(1), "curl") },
      { what: "4 lanes against curl in one", most: 0.36, value: over(lanesName(4), "curl") },
      { what: "16 lanes against curl in one", most: 0.16, value: over(lanesName(16), "curl") },
      {
        what: "16 lanes and one event against curl in one",
        most: 0.18,
        value: over(lanesName(16, "one event"), "curl"),
      },
    ],
  },
  startup: {
    title: "Start-up",
    rounds: 20,
    rows: 0,
    contenders: (bench) => [
      { name: "empty script", command: (work) => script(work, "empty.mjs", []) },
      asked(bench, "--version"),
      asked(bench, "--help"),
    ],
    goals: [
      { what: "the version above an empty script", most: 15, unit: "ms", value: above("--version", "empty script") },
    ],
  },
  resume: {
    title: "Resuming",
    rounds: 2,
    rows: 100_000,
    contenders: (bench, rows) => [asked(bench, "--version"), resumed(bench, rows)],
    goals: [{ what: "first request above start-up", most: 300, unit: "ms", value: above("resume", "--version") }],
  },
  nights: {
    title: "Second night",
    rounds: 1,
    rows: 100_000,
    contenders: (bench, rows) => [
      toStream(bench, rows, { name: "first night", place: "nights" }),
      toStream(bench, rows, { name: "second night", place: "nights", actions: 0 }),
    ],
    goals: [],
  },
  entering: {
    title: "Entering",
    rounds: 3,
    rows: 100_000,
    contenders: (bench, rows) => entered(bench, rows, { behind: "none known" }),
    goals: [{ what: "CPU an action, empty ledger", most: 3, unit: "µs", value: entering("none known") }],
  },
  large: {
    title: "Ten times the rows",
    rounds: 1,
    rows: 10 * MILLION,
    isLarge: true,
    contenders: (bench, rows) => [
      toStream(bench, tenthOf(rows), { name: "a tenth sent" }),
      toStream(bench, rows, { name: "all sent", place: "large" }),
      exported(bench, rows, "export, none known"),
      exported(bench, rows, "export, all known", "large"),
      ...entered(bench, tenthOf(rows), {
        behind: "all known",
        place: "large",
        files: salesOf(bench, { rows: tenthOf(rows), first: 2 * rows }),
      }),
    ],
    goals: [
      { what: "peak memory against a tenth of them", most: 1.1, value: over("all sent", "a tenth sent", "peakMib") },
      {
        what: "plan of an export, all known against none",
        most: 2.5,
        value: over("export, all known", "export, none known"),
      },
      {
        what: "CPU of entering an action behind them",
        most: 5,
        unit: "µs",
        value: (figures, rows) => entering("all known")(figures, tenthOf(rows)),
      },
    ],
  },
} as const satisfies Record<string, Case>;

export type CaseName = keyof typeof CASES;
