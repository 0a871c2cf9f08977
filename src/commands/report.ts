/** A report in words: what a command came to, or what the ledger knows of a run. */

import { hostname, release } from "node:os";
import { resumeCommand, settleCommand, validateCommand } from "../actions/next-command.ts";
import { cleanText, count, displayPath, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, type Failure } from "../failure.ts";
import type { Run } from "../ledger/ledger.ts";
import type { Plan } from "../plan/plan.ts";
import { type RunFigures, runFigures } from "../run/report.ts";
import type { Summary } from "../run/summary.ts";
import { durationText } from "../write/report/figures.ts";
import type { Command, Count, Message, Part, Report, Section, Table, Tone } from "../write/report/report.ts";
import type { Context } from "./context.ts";
import { describeUnderstanding } from "./input-words.ts";
import type { Noted } from "./report-notes.ts";
import { problemSections } from "./report-problems.ts";
import { requestCounts, runSections } from "./report-run.ts";
import { leadTo, NEXT, tellStop } from "./run-end.ts";
import { actionParts, describeActions, rowParts } from "./summary.ts";

export interface Ended {
  readonly verb: string;
  readonly startedAt: Date;
  readonly noted: Noted;
  /** One of both. */
  readonly exitCode?: number;
  readonly failure?: Failure;
}

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
  return {
    title: [
      `tickets ${verb}`,
      ...(environment === undefined ? [] : [environment.name]),
      ...(run === undefined ? [] : [`run ${run}`]),
    ].join(" · "),
    made: `${startedAt.toISOString()} · ${context.verbose ? "userId and to are shown as they are" : "userId and to are masked"}`,
    verdict: failure === undefined ? verdictOf(ended, exitCode, context) : failedVerdict(failure),
    counts: [...countsOf(summary, checked?.plan, 0), ...requestCounts(figures?.times)],
    sections: [
      ...(summary?.resumed == null ? [] : [resumedSection(summary.resumed)]),
      ...(ofRun?.toDecide ?? []),
      ...(checked === undefined ? [] : problemSections(checked, context)),
      ...(ofRun?.came ?? (checked === undefined ? [] : checkedActions(checked.plan))),
      ...(noted.said.length === 0 ? [] : [saidSection(noted)]),
      ...inputSections(checked?.plan ?? noted.end?.run, noted),
      factSection(about),
    ],
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
  return {
    title: `Run ${run.run} · ${environment.name}`,
    made: `as the ledger knew it at ${new Date().toISOString()} · ${context.verbose ? "userId and to are shown as they are" : "userId and to are masked"}`,
    verdict: runVerdict(figures, environment),
    counts: [...countsOf(summary, undefined, counts.inFlight), ...requestCounts(figures.times)],
    sections: [
      ...ofRun.toDecide,
      ...countedProblems(figures, environment),
      ...ofRun.came,
      ...inputSections(run, undefined),
      factSection(about),
    ],
  };
}

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
function checkedActions({ byAction }: Plan): readonly Section[] {
  const kinds = Object.entries(byAction);
  if (kinds.length === 0) return [];
  const table: Table = {
    kind: "table",
    caption: "Actions of the valid rows, by kind",
    columns: [{ name: "kind" }, { name: "actions", isNumber: true }],
    rows: kinds.map(([kind, actions]) => [kind, number(actions)]),
  };
  return [{ id: "actions", title: "Actions", blocks: [table] }];
}

/** What an exit code says, in short (docs/cli.md, Exit codes). */
const EXIT_WORDS: Readonly<Record<number, string>> = {
  [EXIT_CODES.ok]: "done",
  [EXIT_CODES.internal]: "a fault in tickets",
  [EXIT_CODES.usage]: "usage, configuration, or a file that can't be used",
  [EXIT_CODES["input-invalid"]]: "invalid input; nothing was sent",
  [EXIT_CODES["finished-with-rejects"]]: "finished, with rows or actions left open",
  [EXIT_CODES["not-let-in"]]: "authentication failed",
  [EXIT_CODES["in-doubt"]]: "in doubt",
  [EXIT_CODES["stopped-early"]]: "stopped early, nothing in doubt",
  [EXIT_CODES.busy]: "another run comes first",
  [EXIT_CODES.refused]: "refused, or too many rejections",
  [EXIT_CODES.storage]: "storage",
};

const failedVerdict = ({ message, hint }: Failure): Report["verdict"] => ({
  tone: "bad",
  text: message,
  lines: hint === undefined ? [] : hint.split("\n"),
  commands: [],
});

function verdictOf({ verb, noted }: Ended, exitCode: number, context: Context): Report["verdict"] {
  const { summary, checked, end } = noted;
  if (summary === undefined && checked === undefined)
    return {
      tone: "plain",
      text: "There was nothing to do.",
      lines: noted.said.map(({ text }) => text).slice(-1),
      commands: [],
    };
  if (summary === undefined || verb === "validate") return checkedVerdict(noted);
  const first = end?.stops[0]?.kind ?? "finished";
  const commands: Command[] = summary.next === null ? [] : [{ lead: leadTo(summary, first), command: summary.next }];
  return {
    tone: TONES[exitCode] ?? "bad",
    text: HEADLINES[summary.state](exitCode),
    lines: stopLines(noted, context),
    commands,
  };
}

const TONES: Readonly<Record<number, Tone>> = {
  [EXIT_CODES.ok]: "good",
  [EXIT_CODES["finished-with-rejects"]]: "warning",
  [EXIT_CODES["stopped-early"]]: "warning",
  [EXIT_CODES["in-doubt"]]: "doubt",
};

const HEADLINES: Readonly<Record<Summary["state"], (exitCode: number) => string>> = {
  finished: (exitCode) =>
    exitCode === EXIT_CODES.ok
      ? "Finished: everything that was new is accepted."
      : exitCode === EXIT_CODES["in-doubt"]
        ? "Finished, but actions wait for a decision about another run."
        : "Finished, but some rows or actions are left open.",
  stopped: (exitCode) =>
    exitCode === EXIT_CODES["in-doubt"]
      ? "It is not known what became of some actions."
      : "The run stopped before its end.",
  published: () => "Published: workers send it.",
  "nothing new": () => "Nothing new: nothing was sent.",
  invalid: () => "The input is invalid: nothing was sent.",
  "dry run": () => "Dry run: nothing was sent.",
  adopted: () => "Recorded as already sent: nothing was sent.",
  abandoned: () => "Closed: what was not sent stays unsent.",
};

/** Why it stopped, in the words of the terminal. */
function stopLines({ end }: Noted, context: Context): readonly string[] {
  const lines: string[] = [];
  const reporter = { ...context.reporter, error: (text: string) => void lines.push(text) };
  for (const [at, stop] of (end?.stops ?? []).slice(0, STOPS_SHOWN).entries())
    if (end !== undefined) tellStop({ ...context, reporter }, end, stop, at === 0);
  return lines;
}

const STOPS_SHOWN = 5;

function checkedVerdict({ checked }: Noted): Report["verdict"] {
  const { errors = 0, warnings = 0 } = checked?.problems ?? {};
  const found = `${count(errors, "error")}, ${count(warnings, "warning")}.`;
  if (errors > 0) return { tone: "bad", text: `The input is invalid: ${found}`, lines: [], commands: [] };
  return { tone: warnings > 0 ? "warning" : "good", text: `The input is valid: ${found}`, lines: [], commands: [] };
}

/** How a run stands now. */
function runVerdict({ run, summary, counts, questions }: RunFigures, environment: Environment): Report["verdict"] {
  const undecided = counts.inDoubt + counts.refused;
  if (counts.inFlight > 0)
    return {
      tone: "plain",
      text: `The run is being sent: ${describeActions(summary.actions, counts.inFlight)}.`,
      lines: [],
      commands: [],
    };
  if (undecided > 0 || questions.length > 0)
    return {
      tone: "doubt",
      text: "It is not known what became of some actions; a person has to decide.",
      lines: [],
      commands: [{ lead: NEXT["in doubt"], command: summary.next ?? settleCommand(run.run, environment) }],
    };
  if (run.state === "open")
    return {
      tone: "warning",
      text: `The run is not finished: ${count(summary.actions.notSent, "action")} not sent.`,
      lines: [],
      commands: [{ lead: NEXT.stopped, command: summary.next ?? resumeCommand(run.run, environment) }],
    };
  const exitCode = run.exitCode ?? EXIT_CODES.ok;
  return { tone: TONES[exitCode] ?? "bad", text: HEADLINES[summary.state](exitCode), lines: [], commands: [] };
}

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
  const ofRows: readonly Count[] =
    rows === undefined ? [] : [{ unit: "rows", total: rows.read, parts: partsOf(rowParts(rows)), notes: [] }];
  if (summary === undefined)
    return plan === undefined
      ? ofRows
      : [...ofRows, { unit: "actions", total: plan.actions.total, parts: [], notes: ["of the rows that are valid"] }];
  const { actions } = summary;
  return [
    ...ofRows,
    { unit: "actions", total: actions.total, parts: partsOf(actionParts(actions, inFlight)), notes: [] },
  ];
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
  return [{ id: "inputs", title: "Inputs", blocks: [table, ...ways] }];
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
  blocks: [
    {
      kind: "table",
      caption: "What it is about",
      columns: [{ name: "what" }, { name: "value" }],
      rows: facts.map(([name, value]) => [name, value]),
    },
  ],
});
