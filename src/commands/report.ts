/** A report in words: what a command came to, or what the ledger knows of a run. */

import { hostname, release } from "node:os";
import { validateCommand } from "../actions/next-command.ts";
import { cleanText, count, displayPath, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES } from "../failure.ts";
import type { Run } from "../ledger/ledger.ts";
import type { Plan } from "../plan/plan.ts";
import { type RunFigures, runFigures } from "../run/report.ts";
import type { Summary } from "../run/summary.ts";
import { durationText } from "../write/report/figures.ts";
import type { Block, Command, Count, Message, Part, Report, Section, Table, Tone } from "../write/report/report.ts";
import type { Context } from "./context.ts";
import { describeUnderstanding } from "./input-words.ts";
import type { Noted } from "./report-notes.ts";
import { problemSections } from "./report-problems.ts";
import {
  type Ended,
  failedVerdict,
  madeOf,
  resultOf,
  runVerdict,
  tilesOf,
  titleOf,
  verdictOf,
} from "./report-result.ts";
import { runSections } from "./report-run.ts";
import { actionParts, describeActions, rowParts } from "./summary.ts";

/** What a command was asked, did and said. */
export async function commandReport(ended: Ended, context: Context): Promise<Report> {
  const { verb, startedAt, noted, failure } = ended;
  const { checked, opened, summary } = noted;
  const environment = noted.end?.environment ?? opened?.environment;
  const run = summary?.run ?? undefined;
  const figures = run === undefined || environment === undefined ? undefined : await runFigures(environment, run);
  const ofRun = figures && environment && runSections(figures, environment, context);
  const exitCode = failure === undefined ? (ended.exitCode ?? EXIT_CODES.ok) : EXIT_CODES[failure.code];
  const about = [
    ...(run === undefined ? [] : [["run", run] as const]),
    ["command", `tickets ${verb}`] as const,
    ["exit code", `${exitCode}, ${EXIT_WORDS[exitCode] ?? "stopped by a signal"}`] as const,
    ["began", startedAt.toISOString()] as const,
    ["took", durationText(Date.now() - startedAt.getTime())] as const,
    ...(environment === undefined ? [] : environmentFacts(environment, context)),
    ...(noted.end === undefined ? [] : planFacts(noted.end.run, noted.end.lanes)),
    ...outputFacts(summary, context),
    ...machineFacts(context),
  ];
  const verdict = failure === undefined ? verdictOf(ended, exitCode, context) : failedVerdict(failure);
  const sections = [
    ...(summary?.resumed == null ? [] : [resumedSection(summary.resumed)]),
    ...(ofRun?.toDecide ?? []),
    ...(checked === undefined ? [] : problemSections(checked, context)),
    ...actionSection(countsOf(summary, checked?.plan, 0), ofRun?.actions ?? checkedActions(checked?.plan)),
    ...(ofRun?.came ?? []),
    ...(noted.said.length === 0 ? [] : [saidSection(noted)]),
    ...inputSections(checked?.plan ?? noted.end?.run, noted),
    factSection(about),
  ];
  const result = failure === undefined ? resultOf(noted) : "failed";
  return {
    title: titleOf(environment?.name ?? `tickets ${verb}`, startedAt, result),
    made: madeOf(startedAt, `tickets ${verb}${run === undefined ? "" : `, run ${run}`}`, context),
    verdict,
    tiles: summary === undefined ? [] : tilesOf(summary, sections),
    sections,
  };
}

/** What the ledger knows of a run. */
export function runReport(figures: RunFigures, environment: Environment, context: Context): Report {
  const { run, summary, chunks, counts } = figures;
  const ofRun = runSections(figures, environment, context);
  const ended =
    run.endedAt === undefined
      ? []
      : [["ended", run.endedAt] as const, ["took", durationText(summary.durationMs)] as const];
  const about = [
    ["run", run.run] as const,
    ["state", run.state] as const,
    ...(run.exitCode === undefined
      ? []
      : [["exit code", `${run.exitCode}, ${EXIT_WORDS[run.exitCode] ?? "stopped by a signal"}`] as const]),
    ["began", run.createdAt] as const,
    ...ended,
    ...environmentFacts(environment, context),
    ...planFacts(run, new Set(chunks.map(({ lane }) => lane)).size),
    ...outputFacts(summary, context),
    ...machineFacts(context),
  ];
  const sections = [
    ...ofRun.toDecide,
    ...countedProblems(figures, environment),
    ...actionSection(countsOf(summary, undefined, counts.inFlight), ofRun.actions),
    ...ofRun.came,
    ...inputSections(run, undefined),
    factSection(about),
  ];
  return {
    title: titleOf(environment.name, new Date(run.createdAt), resultOf({ summary })),
    made: madeOf(new Date(), `run ${run.run} as the ledger has it`, context),
    verdict: runVerdict(figures, environment),
    tiles: tilesOf(summary, sections),
    sections,
  };
}

/** How many rows and actions there are, and what became of them. */
const actionSection = (counts: readonly Count[], more: readonly Block[]): readonly Section[] =>
  counts.length + more.length === 0 ? [] : [{ id: "actions", title: "Rows and actions", blocks: [...counts, ...more] }];

/** The ledger keeps how many problems there were; only a check shows each. */
function countedProblems({ summary, run }: RunFigures, environment: Environment): readonly Section[] {
  const { errors, warnings } = summary.problems;
  const { inputs, options } = run;
  if (errors + warnings === 0) return [];
  const files = inputs.map(({ name }) => name);
  const check: Command = {
    lead: "To see each",
    command: validateCommand(files, Array.isArray(options.flags) ? options.flags.map(String) : [], environment),
  };
  const text = `When the run was planned, checking found ${count(errors, "error")} and ${count(warnings, "warning")}. The ledger keeps only how many.`;
  const commands = files.includes("-") ? [] : [check];
  return [
    {
      id: "problems",
      title: "Problems",
      blocks: [
        { kind: "text", text },
        { kind: "commands", commands },
      ],
    },
  ];
}

/** Actions of an input of which nothing was sent. */
function checkedActions(plan: Plan | undefined): readonly Block[] {
  const kinds = Object.entries(plan?.byAction ?? {});
  if (kinds.length === 0) return [];
  return [
    {
      kind: "table",
      caption: "Actions of the valid rows, by kind",
      columns: [{ name: "kind" }, { name: "actions", isNumber: true }],
      rows: kinds.map(([kind, actions]) => [kind, number(actions)]),
    },
  ];
}

/** What an exit code says, in short (docs/commands.md, Exit codes). */
const EXIT_WORDS: Readonly<Record<number, string>> = {
  [EXIT_CODES.ok]: "done",
  [EXIT_CODES.internal]: "a fault in tickets",
  [EXIT_CODES.usage]: "usage, configuration, or a file that can't be used",
  [EXIT_CODES["input-invalid"]]: "invalid input; nothing was sent",
  [EXIT_CODES["finished-with-rejects"]]: "finished; some rows or actions were not accepted",
  [EXIT_CODES["not-let-in"]]: "authentication failed",
  [EXIT_CODES["in-doubt"]]: "in doubt",
  [EXIT_CODES["stopped-early"]]: "stopped early, nothing in doubt",
  [EXIT_CODES.busy]: "another run comes first",
  [EXIT_CODES.refused]: "refused, or too many rejections",
  [EXIT_CODES.storage]: "storage",
};

const PART_TONES: Readonly<Record<string, Tone>> = {
  mapped: "good",
  skipped: "plain",
  invalid: "bad",
  held: "warning",
  accepted: "good",
  rejected: "bad",
  "in doubt": "doubt",
  "in flight": "warning",
  "not sent": "warning",
  "already sent": "known",
  changed: "warning",
  late: "warning",
  unclear: "warning",
};

const partsOf = (parts: Readonly<Record<string, number>>): readonly Part[] =>
  Object.entries(parts)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => ({ name, value, tone: PART_TONES[name] ?? "plain" }));

/** The same counts as the summary, with the same names. */
function countsOf(summary: Summary | undefined, plan: Plan | undefined, inFlight: number): readonly Count[] {
  const rows = summary?.rows ?? plan?.rows;
  const counts: Count[] = [];
  if (rows !== undefined)
    counts.push({ kind: "count", unit: "rows", total: rows.read, parts: partsOf(rowParts(rows)) });
  if (summary !== undefined) {
    const parts = partsOf(actionParts(summary.actions, inFlight));
    counts.push({ kind: "count", unit: "actions", total: summary.actions.total, parts });
  }
  return counts;
}

const resumedSection = (resumed: Summary): Section => ({
  id: "before",
  title: "An earlier run came first",
  blocks: [{ kind: "text", text: `Run ${resumed.run}: ${resumed.state}; ${describeActions(resumed.actions)}.` }],
});

function saidSection({ said, unnoted }: Noted): Section {
  const messages = said.map(
    ({ tone, text }): Message => ({ tone, text: text.length > SAID_SHOWN ? `${text.slice(0, SAID_SHOWN)}…` : text }),
  );
  const more = unnoted === 0 ? [] : [{ kind: "text", text: `… and ${count(unnoted, "more message")}.` } as const];
  return { id: "messages", title: "Messages", blocks: [{ kind: "messages", messages }, ...more] };
}

/** Characters of a message in a report. */
const SAID_SHOWN = 900;

/** Inputs that are listed. */
const INPUTS_SHOWN = 60;

/** The files with their digests, and how they were understood. */
function inputSections(plan: Pick<Run | Plan, "inputs"> | undefined, noted: Noted | undefined): readonly Section[] {
  if (plan === undefined || plan.inputs.length === 0) return [];
  const shown = plan.inputs.slice(0, INPUTS_SHOWN);
  const more = plan.inputs.length - shown.length;
  const table: Table = {
    kind: "table",
    caption: "Files as they were read",
    columns: [{ name: "file" }, { name: "rows", isNumber: true }, { name: "SHA-256" }],
    rows: shown.map(({ name, rows, sha256 }) => [
      name === "-" ? "standard input" : cleanText(name, 200),
      number(rows),
      sha256,
    ]),
    more: more === 0 ? undefined : `… and ${count(more, "more file")}.`,
  };
  const understood = (noted?.inputs ?? []).slice(0, INPUTS_SHOWN).flatMap(describeUnderstanding);
  const ways =
    understood.length === 0
      ? []
      : [
          {
            kind: "messages",
            messages: understood.map((text): Message => ({ tone: "plain", text: text.trim() })),
          } as const,
        ];
  return [{ id: "inputs", title: "Inputs", isFolded: true, blocks: [table, ...ways] }];
}

type Fact = readonly [name: string, value: string];

function environmentFacts(environment: Environment, { cwd }: Context): readonly Fact[] {
  const { name, kind, baseUrl } = environment;
  return [
    ["environment", `${name} (${kind === "sandbox" ? "built in: nothing left this machine" : baseUrl})`],
    ["ledger", ledgerPlace(environment, cwd)],
  ];
}

function planFacts({ options }: Run, lanes: number): readonly Fact[] {
  return [["order", `${String(options.order ?? "input")}${lanes > 1 ? `, over ${count(lanes, "lane")}` : ""}`]];
}

function outputFacts(summary: Summary | undefined, { cwd }: Context): readonly Fact[] {
  const { output = null, rejects = [] } = summary ?? {};
  return [
    ...(output === null ? [] : [["promises", displayPath(output, cwd)] as const]),
    ...(rejects.length === 0 ? [] : [["rejects", rejects.map((path) => displayPath(path, cwd)).join(", ")] as const]),
  ];
}

const machineFacts = ({ version }: Context): readonly Fact[] => [
  [
    "report made by",
    `tickets ${version()}, Node ${process.versions.node}, ${process.platform} ${cleanText(release())} on ${cleanText(hostname())}`,
  ],
];

const factSection = (facts: readonly Fact[]): Section => ({
  id: "about",
  title: "About this report",
  isFolded: true,
  blocks: [
    {
      kind: "table",
      caption: "What it is about",
      columns: [{ name: "what" }, { name: "value" }],
      rows: facts.map(([name, value]) => [name, value]),
    },
  ],
});
