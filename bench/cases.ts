/** The cases: what is run against what. Each gives every round's figures; the goals are judged elsewhere. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterPlan } from "./after-plan.ts";
import {
  type AllFigures,
  addTo,
  type Bench,
  type Contender,
  curlChunks,
  type Figures,
  inNewFolder,
  ledgerPath,
  missingPrograms,
  naiveNode,
  naivePython,
  race,
  runOne,
  script,
  sending,
  tool,
} from "./bench.ts";
import { actionCount, chunkCount, chunkFiles, eventsCsv, type Span, salesCsv, salesNdjson } from "./generate.ts";
import { fillLedger, nightsOf, removeLedger } from "./ledger.ts";
import { measure } from "./measure.ts";
import { measureOrder } from "./order.ts";
import { declaredConfig, declaredCsv } from "./plans.ts";
import { nightlyPostgres, workers } from "./shared.ts";

export interface CaseOutcome {
  readonly contenders: AllFigures;
  /** Figures that are no time, processor or memory of a contender, by name. */
  readonly figures?: Readonly<Record<string, number>>;
  readonly notes: readonly string[];
}

export interface Case {
  readonly title: string;
  readonly what: string;
  /** Rows of the full size, which the goals are about. */
  readonly rows: number;
  /** How often it is run; undefined: as often as asked for. */
  readonly rounds?: number;
  readonly run: (bench: Bench, rows: number) => Promise<CaseOutcome>;
}

const MILLION = 1_000_000;
const LATENCY_MS = 200;
const LANES = [1, 4, 16] as const;

export const lanesName = (lanes: (typeof LANES)[number]): string => `tickets, ${lanes} lane${lanes === 1 ? "" : "s"}`;

const spanOf = ({ seed }: Bench, rows: number): Span => ({ seed, first: 0, rows });

export const CASES = {
  send: {
    title: "Sending, no latency",
    what: "A million rows, checked whole, sent and their promises kept.",
    rows: MILLION,
    async run(bench, rows) {
      const span = spanOf(bench, rows);
      const sales = salesCsv(bench.folder, span);
      const contenders = await race(bench, [
        sending(bench, "tickets", span, sales, {}),
        naiveNode(bench, span, sales),
        ...naivePython(bench, span, sales),
        ...curlChunks(bench, span, chunkFiles(bench.folder, span)),
      ]);
      return { contenders, notes: missingPrograms(bench) };
    },
  },
  plan: {
    title: "Planning",
    what: "The plan of a million rows to a file, against csv-parse reading the same file into objects and doing nothing with them.",
    rows: MILLION,
    run: (bench, rows) => planning(bench, salesCsv(bench.folder, spanOf(bench, rows))),
  },
  declared: {
    title: "Planning a declared source",
    what: "A shop's own export, without quotes: templates, a zone, decimal commas, a table of values, attributes, two conditions; against csv-parse.",
    rows: MILLION,
    run: (bench, rows) =>
      planning(bench, declaredCsv(bench.folder, spanOf(bench, rows)), {
        flags: ["--config", declaredConfig(bench.folder)],
        delimiter: ";",
      }),
  },
  json: {
    title: "Planning NDJSON",
    what: "The plan of the rows as flat JSON lines, against JSON.parse of every line.",
    rows: MILLION,
    async run(bench, rows) {
      const sales = salesNdjson(bench.folder, spanOf(bench, rows));
      const contenders = await race(bench, [
        { name: "tickets plan", command: (work) => tool(bench, work, ["plan", sales, "-o", "actions.ndjson", "-q"]) },
        { name: "JSON.parse", command: (work) => ({ ...script("parse.mjs", [sales]), cwd: work }) },
      ]);
      return { contenders, notes: [] };
    },
  },
  validate: {
    title: "Validating",
    what: "Only the checks, of CSV and of the same rows as NDJSON.",
    rows: MILLION,
    async run(bench, rows) {
      const span = spanOf(bench, rows);
      const events = eventsCsv(bench.folder);
      const validating = (name: string, path: string): Contender => ({
        name,
        command: (work) => tool(bench, work, ["validate", events, path, "-q"]),
      });
      const contenders = await race(bench, [
        validating("CSV", salesCsv(bench.folder, span)),
        validating("NDJSON", salesNdjson(bench.folder, span)),
      ]);
      return { contenders, notes: [] };
    },
  },
  ndjson: {
    title: "Sending NDJSON, no latency",
    what: "The rows of the first case as flat JSON lines, sent.",
    rows: MILLION,
    async run(bench, rows) {
      const span = spanOf(bench, rows);
      const contenders = await race(bench, [
        sending(bench, "tickets", span, salesNdjson(bench.folder, span), {}),
        ...curlChunks(bench, span, chunkFiles(bench.folder, span)),
      ]);
      return { contenders, notes: missingPrograms(bench) };
    },
  },
  latency: {
    title: "Sending, 200 ms a chunk",
    what: "A million rows to a service that takes 200 ms for each request, with one lane, 4 and 16, against curl with one connection.",
    rows: MILLION,
    async run(bench, rows) {
      const span = spanOf(bench, rows);
      const sales = salesCsv(bench.folder, span);
      const contenders = await race(bench, [
        ...LANES.map((lanes) =>
          sending(bench, lanesName(lanes), span, sales, {
            latencyMs: LATENCY_MS,
            flags: ["--lanes", String(lanes)],
          }),
        ),
        ...curlChunks(bench, span, chunkFiles(bench.folder, span), LATENCY_MS),
      ]);
      return { contenders, notes: missingPrograms(bench) };
    },
  },
  after: {
    title: "Once the plan is made",
    what: "A million rows sent without latency: the processor time from the first request to the last answer, of the thread that sends and of all threads, as the system counts it.",
    rows: MILLION,
    async run(bench, rows) {
      return { ...(await afterPlan(bench, spanOf(bench, rows))), notes: [] };
    },
  },
  memory: {
    title: "Memory of ten times the rows",
    what: "Ten million rows sent, and a tenth of them; once, since only the peak of memory is asked for.",
    rows: 10 * MILLION,
    rounds: 1,
    async run(bench, rows) {
      const sizes = [Math.round(rows / 10), rows] as const;
      const contenders = await race(
        bench,
        sizes.map((size) => {
          const span = spanOf(bench, size);
          return sending(bench, `${size.toLocaleString("en")} rows`, span, salesCsv(bench.folder, span), {});
        }),
        1,
      );
      return { contenders, notes: [] };
    },
  },
  nightly: {
    title: "Every night the full export",
    what: "An export of a million rows of which 10,000 are new, streamed with a million tickets in the ledger, and with ten million, against planning the same file with an empty one. Each round is another night: its new rows are in the ledger afterwards.",
    rows: 10 * MILLION,
    run: nightly,
  },
  startup: {
    title: "Start-up",
    what: "Eight starts a round.",
    rows: 0,
    async run(bench) {
      const empty = join(bench.folder, "empty.mjs");
      writeFileSync(empty, "");
      const starts: readonly Contender[] = [
        { name: "empty script", command: (work) => ({ program: process.execPath, args: [empty], cwd: work }) },
        { name: "--version", command: (work) => tool(bench, work, ["--version"]) },
        { name: "--help", command: (work) => tool(bench, work, ["--help"]) },
      ];
      await race(bench, starts, 1); // compiles, which is kept
      return { contenders: await race(bench, starts, bench.rounds * 8), notes: [] };
    },
  },
  resume: {
    title: "Resuming",
    what: "A run of 200 chunks stopped at the 150th: from the start of resume to its first request at the service, beside the whole of a start that only prints the version.",
    rows: MILLION,
    run: resume,
  },
  workers: {
    title: "Workers, 200 ms a chunk",
    what: "A million rows of one run in 64 lanes, published into PostgreSQL, sent to a service that takes 200 ms for each request by 1, 2, 4 and 8 workers, each with one lane at a time.",
    rows: MILLION,
    run: workers,
  },
  "nightly-postgres": {
    title: "A night with the ledger in PostgreSQL",
    what: "A full export of a million rows, 10,000 of them new, with ten million tickets in the ledger: in PostgreSQL on the same machine, and the same in a file.",
    rows: 10 * MILLION,
    run: nightlyPostgres,
  },
  order: {
    title: "Order by time",
    what: "Three million shuffled actions planned as read and in the order of their times; the difference is what ordering costs.",
    rows: 3 * MILLION,
    rounds: 1,
    async run(bench, rows) {
      const { contenders, wrong } = await measureOrder(bench, rows);
      return { contenders, figures: { "actions before one of an earlier time": wrong }, notes: [] };
    },
  },
} as const satisfies Record<string, Case>;

export type CaseName = keyof typeof CASES;

/** The plan of a table to a file, against csv-parse reading it. */
async function planning(
  bench: Bench,
  table: string,
  { flags = [], delimiter = "," }: { readonly flags?: readonly string[]; readonly delimiter?: string } = {},
): Promise<CaseOutcome> {
  const contenders = await race(bench, [
    {
      name: "tickets plan",
      command: (work) => tool(bench, work, ["plan", table, "-o", "actions.ndjson", "-q", ...flags]),
    },
    { name: "csv-parse, objects", command: (work) => ({ ...script("read.mjs", [table, delimiter]), cwd: work }) },
  ]);
  return { contenders, notes: [] };
}

/** Ledgers of a million and of all tickets, each with nights of its own. */
async function nightly(bench: Bench, rows: number): Promise<CaseOutcome> {
  const contenders: Record<string, Figures> = {};
  for (const known of [Math.round(rows / 10), rows]) {
    const state = join(bench.folder, `ledger-${bench.seed}-${known}`);
    await fillLedger(ledgerPath(state), { seed: bench.seed, first: 0, rows: known }, bench.service.baseUrl);
    const fresh = Math.ceil(rows / 1000);
    try {
      for (let round = 1; round <= bench.rounds; round += 1)
        await night(bench, { state, known, fresh, round }, contenders);
    } catch (error) {
      removeLedger(ledgerPath(state)); // it may hold half a night
      throw error;
    }
  }
  return { contenders, notes: [] };
}

interface Night {
  readonly state: string;
  /** Tickets in the ledger before the first night. */
  readonly known: number;
  /** New tickets a night; an export has a hundred times as many. */
  readonly fresh: number;
  readonly round: number;
}

export const nightName = (known: number): string => `stream, ${known.toLocaleString("en")} known`;

async function night(
  bench: Bench,
  { state, known, fresh, round }: Night,
  contenders: Record<string, Figures>,
): Promise<void> {
  const end = known + ((await nightsOf(ledgerPath(state))) + 1) * fresh;
  const span: Span = { seed: bench.seed, first: end - fresh * 100, rows: fresh * 100 };
  const sales = salesCsv(bench.folder, span);
  const events = eventsCsv(bench.folder);
  const planning = (name: string, folder?: string): Contender => ({
    name,
    command: (work) =>
      tool(bench, work, ["plan", events, sales, "-e", "bench", "-o", "actions.ndjson", "-q"], {
        ...(folder !== undefined && { state: folder }),
      }),
  });
  const streaming: Contender = {
    name: nightName(known),
    service: {},
    actions: fresh,
    command: (work) => tool(bench, work, ["stream", events, sales, "-e", "bench", "-q"], { state }),
  };
  try {
    for (const contender of [
      planning("plan, empty ledger"),
      planning(`plan, ${known.toLocaleString("en")} known`, state),
      streaming,
    ])
      addTo(contenders, contender.name, await runOne(bench, contender, round));
  } finally {
    rmSync(sales);
  }
}

async function resume(bench: Bench, rows: number): Promise<CaseOutcome> {
  const span = spanOf(bench, rows);
  const sales = salesCsv(bench.folder, span);
  const events = eventsCsv(bench.folder);
  // Fewer rows make smaller chunks rather than fewer of them.
  const chunkSize = rows >= MILLION ? 5000 : Math.ceil(actionCount(rows) / 200);
  const stopAt = Math.floor((rows >= MILLION ? chunkCount(rows) : 200) * 0.75);
  const contenders: Record<string, Figures> = {};
  for (let round = 1; round <= bench.rounds; round += 1) {
    await inNewFolder(bench, async (work) => {
      await bench.service.be({ holdAt: stopAt });
      const held = bench.service.held();
      await measure({
        ...tool(bench, work, ["stream", events, sales, "-e", "bench", "-q", "--chunk-size", String(chunkSize)]),
        endsWith: [143],
        onSpawn: async (child) => {
          await held;
          child.kill("SIGTERM");
          bench.service.goOn();
        },
      });
      addTo(contenders, "--version", await measure(tool(bench, work, ["--version"])));
      await bench.service.be({});
      const first = bench.service.firstRequest();
      let seconds = Number.NaN;
      const { cpuSeconds, peakMib } = await measure({
        ...tool(bench, work, ["resume", "-e", "bench", "-q"]),
        endsWith: ["SIGKILL"],
        onSpawn: async (child, spawnedAt) => {
          seconds = ((await first) - spawnedAt) / 1000;
          child.kill("SIGKILL");
        },
      });
      addTo(contenders, "resume, first request", { seconds, cpuSeconds, peakMib });
      console.error(`  round ${round}  resume, first request: ${seconds.toFixed(3)} s`);
    });
  }
  return { contenders, notes: [] };
}
