/** A report in words: what a stream came to, or what the ledger knows of a run. */

import { hostname, release } from "node:os";
import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, type Failure } from "../failure.ts";
import type { Run } from "../ledger/ledger.ts";
import { type RunFigures, runFigures } from "../run/report.ts";
import type { RunEnd, Summary } from "../run/summary.ts";
import { cleanText, count, displayPath, number } from "../text.ts";
import { durationText } from "../write/report/figures.ts";
import type { Command, Report, Tile, Tone, Verdict } from "../write/report/report.ts";
import type { Context } from "./context.ts";
import { fullTime, localTime } from "./local-time.ts";
import { aboutSection, doubtSection, type Fact, inputSection, problemSection, runSections } from "./report-sections.ts";
import { describeStop, leadTo, NEXT } from "./run-end.ts";
import { describeActions, describeRows } from "./summary.ts";
import type { Trace } from "./trace.ts";

export interface Ended {
  readonly startedAt: Date;
  /** Either this, or why it failed. */
  readonly exitCode: number;
  readonly failure: Failure | undefined;
}

/** What a stream was asked, and did. */
export async function streamReport({ startedAt, exitCode, failure }: Ended, context: Context): Promise<Report> {
  const { environment, summary, checked, end, understood } = context.trace;
  const run = summary?.run ?? undefined;
  const result = failure === undefined && summary !== undefined ? resultOf(summary) : "failed";
  const subject: Subject = {
    ...{ environment, summary, checked, understood },
    title: `${environment?.name ?? "tickets stream"}, ${localTime(startedAt)}: ${result}`,
    made: `tickets stream${run === undefined ? "" : `, run ${run}`} · ${fullTime(startedAt)}`,
    verdict: failure === undefined ? streamVerdict(exitCode, context) : failedVerdict(failure),
    figures: run && environment ? await runFigures(context, environment, run) : undefined,
    inputs: (checked?.plan ?? end?.run)?.inputs ?? [],
    facts: [
      ["exit code", String(exitCode)],
      ["began", localTime(startedAt)],
      ["took", durationText(Date.now() - startedAt.getTime())],
      ["order", end && orderOf(end.run, end.lanes)],
    ],
  };
  return reportOf(subject, context);
}

/** What the ledger knows of a run. */
export function runReport(figures: RunFigures, environment: Environment, context: Context): Report {
  const { run, summary, chunks, counts } = figures;
  const { next, actions } = summary;
  const lead = actions.inDoubt > counts.inFlight ? NEXT["in doubt"] : NEXT.stopped;
  const subject: Subject = {
    ...{ environment, summary, figures, checked: undefined, understood: [] },
    title: `${environment.name}, ${localTime(run.createdAt)}: ${resultOf(summary)}`,
    made: `run ${run.run} as the ledger has it · ${fullTime(new Date())}`,
    verdict: verdictOf(summary, counts.inFlight, [], next === null ? [] : [{ lead, command: next }]),
    inputs: run.inputs,
    facts: [
      ["state", run.state],
      ["exit code", run.exitCode?.toString()],
      ["began", localTime(run.createdAt)],
      ["took", run.endedAt === undefined ? undefined : durationText(summary.durationMs)],
      ["order", orderOf(run, new Set(chunks.map(({ lane }) => lane)).size)],
    ],
  };
  return reportOf(subject, context);
}

/** What is known of a command or a run. */
interface Subject
  extends Pick<Report, "title" | "made" | "verdict">,
    Pick<Trace, "environment" | "summary" | "checked" | "understood"> {
  readonly figures: RunFigures | undefined;
  readonly inputs: Parameters<typeof inputSection>[0];
  readonly facts: readonly Fact[];
}

function reportOf({ title, made, verdict, summary, figures, ...subject }: Subject, context: Context): Report {
  const { environment, checked } = subject;
  const { cwd, verbose, version } = context;
  const { run = null, output = null, rejects = [] } = summary ?? {};
  const where = environment?.kind === "sandbox" ? "built in: nothing left this machine" : environment?.baseUrl;
  const system = `Node ${process.versions.node}, ${process.platform} ${cleanText(release())} on ${cleanText(hostname())}`;
  return {
    ...{ title, verdict },
    made: `${made} · ${verbose ? "userId and to are shown as they are" : "userId and to are masked"}`,
    tiles: summary === undefined ? [] : tilesOf(summary),
    sections: [
      ...(figures && environment ? doubtSection(figures, environment) : []),
      ...(checked === undefined ? [] : problemSection(checked, context)),
      ...(figures === undefined ? [] : runSections(figures)),
      ...inputSection(subject.inputs, subject.understood),
      ...aboutSection([
        ["run", run ?? undefined],
        ...subject.facts,
        ["environment", environment && `${environment.name} (${where})`],
        ["ledger", environment && ledgerPlace(environment, cwd)],
        ["promises", output === null ? undefined : displayPath(output, cwd)],
        ["rejects", rejects.map((path) => displayPath(path, cwd)).join(", ") || undefined],
        ["report made by", `tickets ${version()}, ${system}`],
      ]),
    ],
  };
}

const orderOf = ({ options }: Run, lanes: number): string =>
  `${String(options.order ?? "input")}${lanes > 1 ? `, over ${count(lanes, "lane")}` : ""}`;

/** What went wrong of an input, else what went well: `51 rejected, 100 not sent`. */
function resultOf(summary: Summary): string {
  const { state, actions } = summary;
  if (state === "published") return `${number(actions.notSent)} published`;
  if (state === "dry run") return `dry run, ${number(actions.notSent)} to send`;
  const [accepted, ...others] = tilesOf(summary).filter(({ name, value }) => name === "accepted" || value > 0);
  if (others.length > 0) return others.map(({ name, value }) => `${number(value)} ${name}`).join(", ");
  if (state === "adopted") return `${number(actions.alreadySent)} recorded as already sent`;
  return accepted === undefined || accepted.value === 0 ? "nothing new" : `${number(accepted.value)} accepted`;
}

/**
 * With what the runs came to that were finished first. What was not sent counts invalid rows too, and leaves out what was sent
 * already. Each links to the section that says more.
 */
function tilesOf({ rows, actions, resumed }: Summary): readonly Tile[] {
  const runs = [actions];
  for (let earlier = resumed; earlier !== null; earlier = earlier.resumed) runs.push(earlier.actions);
  const sumOf = (count: "accepted" | "rejected" | "inDoubt"): number => runs.reduce((sum, run) => sum + run[count], 0);
  const { notSent, changed, late, unclear } = actions;
  const inDoubt = sumOf("inDoubt");
  return [
    { name: "accepted", value: sumOf("accepted"), tone: "good", leadsTo: ["events"] },
    { name: "rejected", value: sumOf("rejected"), tone: "bad", leadsTo: ["rejected"] },
    ...(inDoubt === 0 ? [] : [{ name: "in doubt", value: inDoubt, tone: "doubt", leadsTo: ["doubts"] } as const]),
    {
      ...{ name: "not sent", tone: "warning", leadsTo: ["problems", "doubts"] },
      value: rows.invalid + notSent + changed + late + unclear,
    },
  ];
}

const failedVerdict = ({ message, hint }: Failure): Verdict => ({
  ...{ tone: "bad", text: message, commands: [] },
  lines: hint === undefined ? [] : hint.split("\n"),
});

const STOPS_SHOWN = 5;

function streamVerdict(exitCode: number, { trace: { summary, end }, env }: Context): Verdict {
  if (summary === undefined) return { tone: "plain", text: "There was nothing to do.", lines: [], commands: [] };
  const { next } = summary;
  const commands = next === null ? [] : [{ lead: leadOf(end, summary), command: next }];
  // Why it stopped, in the words of the terminal.
  const why = end?.stops.slice(0, STOPS_SHOWN).flatMap((stop, at) => describeStop(stop, end, env, at === 0)) ?? [];
  return verdictOf({ ...summary, exitCode }, 0, why, commands);
}

/** Rejects are named only where there are some. */
function leadOf(end: RunEnd | undefined, summary: Summary): string {
  const stopped = end?.stops[0]?.kind ?? "finished";
  if (summary.exitCode === EXIT_CODES["in-doubt"]) return NEXT["in doubt"];
  if (summary.state === "published") return "To write its promises";
  if (stopped === "finished" && summary.rejects.length === 0) return "Fix the rows, then check them";
  return leadTo(summary, stopped);
}

/** How a stream or a run ended, or how the run stands now. The counts are those of the terminal, with the same names. */
function verdictOf(summary: Summary, inFlight: number, why: readonly string[], commands: readonly Command[]): Verdict {
  const { state, exitCode, resumed, rows, actions, byAction } = summary;
  const isDoubtful = actions.inDoubt > inFlight;
  const isUnderWay = state === "stopped" && exitCode === EXIT_CODES.ok;
  const kinds = Object.entries(byAction).map(([kind, times]) => `${number(times)} ${kind}`);
  return {
    tone: isDoubtful ? "doubt" : isUnderWay ? "warning" : (TONES[exitCode] ?? "bad"),
    text: headlineOf(summary, inFlight),
    lines: [
      ...why,
      ...(resumed === null ? [] : [`Run ${resumed.run} came first: ${describeActions(resumed.actions)}.`]),
      `${describeRows(rows)}.`,
      `${describeActions(actions, inFlight)}.`,
      ...(kinds.length === 0 ? [] : [`By action: ${kinds.join(", ")}.`]),
    ],
    commands,
  };
}

function headlineOf({ state, exitCode, resumed, actions }: Summary, inFlight: number): string {
  if (actions.inDoubt > inFlight) return "Some actions are in doubt: the service may or may not have them.";
  if (inFlight > 0) return "The run is being sent.";
  if (state === "nothing new" && resumed !== null) return "An earlier run was finished; nothing else was new.";
  return HEADLINES[state](exitCode);
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
        : "Finished, but some rows or actions were not accepted.",
  stopped: (exitCode) =>
    exitCode === EXIT_CODES.ok ? "The run is not finished yet." : "The run stopped before its end.",
  published: () => "Published: workers send it.",
  // An earlier run may have sent something.
  "nothing new": () => "Nothing new: nothing of this input was sent.",
  invalid: () => "The input is invalid: nothing of it was sent.",
  "dry run": () => "Dry run: nothing was sent.",
  adopted: () => "Recorded as already sent: nothing was sent.",
  abandoned: () => "Closed: the rest is not sent.",
};
