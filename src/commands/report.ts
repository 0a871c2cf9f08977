/** A report in words: what a stream came to, or what the ledger knows of a run. */

import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { resultsCommand } from "../next-command.ts";
import { knownLedgerOf } from "../run/open.ts";
import { detailsOf, type RunDetails, runOfResults } from "../run/runs.ts";
import type { Summary } from "../run/summary.ts";
import { displayPath, durationText, number } from "../text.ts";
import { writeWhole } from "../write/output-file.ts";
import { type Figures, figuresOf } from "../write/report/figures.ts";
import { reportPage } from "../write/report/page.ts";
import type { Report, Tile, Tone, Verdict } from "../write/report/report.ts";
import type { Context, Trace } from "./context.ts";
import { describeActions, describeRows, localTime, localTimes } from "./describe.ts";
import { aboutSection, doubtSection, inputSection, problemSection, runSections } from "./report-sections.ts";
import { describeStop, leadTo } from "./run-end.ts";

interface RunFigures extends RunDetails, Figures {}

/**
 * @param id undefined: the only run that is open, else the last.
 * @throws Failure `usage` where there is no such run, or no ledger.
 */
async function runFigures(
  { cwd }: Pick<Context, "cwd">,
  environment: Environment,
  id: string | undefined,
): Promise<RunFigures> {
  await using ledger = await knownLedgerOf(environment, cwd);
  const run = await runOfResults(ledger, id, environment);
  const details = await detailsOf(ledger, run, environment);
  return { ...details, ...(await figuresOf(ledger, run, details.attempts)) };
}

/** What is known of a command or a run. */
interface Subject extends Pick<Trace, "environment" | "summary" | "checked" | "understood" | "end"> {
  readonly what: string;
  readonly startedAt: string;
  readonly exitCode: number | undefined;
  /** Why it failed, and what to do. */
  readonly failure: Pick<Failure, "message" | "hint"> | undefined;
  readonly tookMs: number | undefined;
  readonly figures: RunFigures | undefined;
}

/** Writes the report of a stream. Failing that is only a warning, and leaves the exit code as it is. */
export async function writeStreamReport(
  path: string,
  ended: Pick<Subject, "startedAt" | "exitCode" | "failure">,
  context: Context,
): Promise<void> {
  const { reporter, cwd, trace } = context;
  const { summary, environment } = trace;
  const run = summary?.run ?? undefined;
  try {
    const figures = run && environment ? await runFigures(context, environment, run) : undefined;
    const tookMs = Date.now() - Date.parse(ended.startedAt);
    await writePage(path, { ...trace, ...ended, what: "tickets stream", tookMs, figures }, context);
    reporter.info(`Report: ${displayPath(path, cwd)}`);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    reporter.warn(`The report was not written. ${cause.message} The command's result is not affected.`);
    if (run !== undefined && environment !== undefined)
      reporter.info(`To write it: ${resultsCommand(environment, run, "--report", "FILE.html")}`);
  }
}

/** Writes a page about one run, as the ledger knows it. @param run undefined: the only open one, else the last. */
export async function writeRunReport(
  path: string,
  run: string | undefined,
  environment: Environment,
  context: Context,
): Promise<void> {
  const figures = await runFigures(context, environment, run);
  const { summary } = figures;
  const subject: Subject = {
    ...{ environment, summary, figures, understood: [], failure: undefined },
    what: `run ${figures.run.run} as the ledger has it`,
    startedAt: figures.run.createdAt,
    exitCode: figures.run.exitCode,
    tookMs: figures.run.endedAt === undefined ? undefined : summary.durationMs,
  };
  await writePage(path, subject, context);
  context.reporter.info(`Report of run ${figures.run.run}: ${displayPath(path, context.cwd)}`);
}

const writePage = (path: string, subject: Subject, context: Context): Promise<void> =>
  writeWhole(path, reportPage(reportOf(subject, context)));

function reportOf(subject: Subject, context: Context): Report {
  const { environment, summary, checked, understood, end, figures, failure, startedAt, exitCode, tookMs } = subject;
  const { cwd, verbose, version } = context;
  const { run = null, output = null, rejects = [] } = summary ?? {};
  const where = environment?.kind === "sandbox" ? "built in: nothing left this machine" : environment?.baseUrl;
  const result = failure === undefined && summary !== undefined ? resultOf(summary) : "failed";
  const inputs = (checked?.plan ?? end?.run ?? figures?.run)?.inputs ?? [];
  const persons = verbose ? "userId and to are shown as they are" : "userId and to are masked";
  return {
    title: `${environment?.name ?? "tickets stream"}, ${localTime(startedAt)}: ${result}`,
    made: `${subject.what} · ${localTimes()(new Date())} · ${persons}`,
    verdict: verdictOf(subject, context),
    tiles: summary === undefined ? [] : tilesOf(summary),
    sections: [
      ...(figures === undefined ? [] : doubtSection(figures)),
      ...(checked === undefined ? [] : problemSection(checked, context)),
      ...(figures === undefined ? [] : runSections(figures)),
      ...inputSection(inputs, understood),
      ...aboutSection([
        ["run", run ?? undefined],
        ["exit code", exitCode?.toString()],
        ["began", localTime(startedAt)],
        ["took", tookMs === undefined ? undefined : durationText(tookMs)],
        ["environment", environment && `${environment.name} (${where})`],
        ["ledger", environment && ledgerPlace(environment, cwd)],
        ["promises", output === null ? undefined : displayPath(output, cwd)],
        ["rejects", rejects.map((path) => displayPath(path, cwd)).join(", ") || undefined],
        ["report made by", `tickets ${version()}`],
      ]),
    ],
  };
}

/** What went wrong, else what went well: `51 rejected, 100 not sent`. */
function resultOf(summary: Summary): string {
  const { state, actions } = summary;
  if (state === "published") return `${number(actions.notSent)} published`;
  if (state === "dry run") return `dry run, ${number(actions.notSent)} to send`;
  const [accepted, ...others] = tilesOf(summary).filter(({ name, value }) => name === "accepted" || value > 0);
  if (others.length > 0) return others.map(({ name, value }) => `${number(value)} ${name}`).join(", ");
  if (state === "adopted") return `${number(actions.alreadySent)} recorded as already sent`;
  return accepted === undefined || accepted.value === 0 ? "nothing new" : `${number(accepted.value)} accepted`;
}

/** The figures, with those of runs that were finished first. `not sent` counts invalid rows, but not what was already sent. */
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

const STOPS_SHOWN = 5;

/** How a stream or a run ended, or how it stands now, with the counts and words of the terminal. */
function verdictOf(subject: Subject, { env }: Context): Verdict {
  const { failure, summary, end, figures } = subject;
  if (failure !== undefined)
    return { tone: "bad", text: failure.message, lines: failure.hint?.split("\n") ?? [], commands: [] };
  if (summary === undefined) return { tone: "plain", text: "There was nothing to do.", lines: [], commands: [] };
  const { state, resumed, rows, actions, byAction, next } = summary;
  const exitCode = subject.exitCode ?? summary.exitCode;
  const inFlight = figures?.counts.inFlight ?? 0;
  const isDoubtful = actions.inDoubt > inFlight;
  const isUnderWay = state === "stopped" && exitCode === EXIT_CODES.ok;
  const tone = isUnderWay ? "warning" : (TONES[exitCode] ?? "bad");
  const kinds = Object.entries(byAction).map(([kind, times]) => `${number(times)} ${kind}`);
  return {
    tone: isDoubtful ? "doubt" : tone,
    text: headlineOf({ ...summary, exitCode }, inFlight),
    lines: [
      // Why it stopped, in the words of the terminal.
      ...(end?.stops.slice(0, STOPS_SHOWN).flatMap((stop, at) => describeStop(stop, end, env, at === 0)) ?? []),
      ...(resumed === null ? [] : [`Run ${resumed.run} came first: ${describeActions(resumed.actions)}.`]),
      `${describeRows(rows)}.`,
      `${describeActions(actions, inFlight)}.`,
      ...(kinds.length === 0 ? [] : [`By action: ${kinds.join(", ")}.`]),
    ],
    commands:
      next === null ? [] : [{ lead: leadTo(summary, isDoubtful ? "in doubt" : end?.stops[0]?.kind), command: next }],
  };
}

/** Exit code 0 of an unfinished run means that nothing has stopped it. */
function headlineOf({ state, exitCode, resumed, actions }: Summary, inFlight: number): string {
  if (actions.inDoubt > inFlight) return "Some actions are in doubt: the service may or may not have them.";
  if (inFlight > 0) return "The run is being sent.";
  const isOk = exitCode === EXIT_CODES.ok;
  if (state === "stopped" && isOk) return "The run is not finished yet.";
  if (state === "nothing new" && resumed !== null) return "An earlier run was finished; nothing else was new.";
  if (state !== "finished" || isOk) return HEADLINES[state];
  return exitCode === EXIT_CODES["in-doubt"]
    ? "Finished, but actions wait for a decision about another run."
    : "Finished, but some rows or actions were not accepted.";
}

const HEADLINES: Readonly<Record<Summary["state"], string>> = {
  finished: "Finished: everything that was new is accepted.",
  stopped: "The run stopped before its end.",
  published: "Published: workers send it.",
  "nothing new": "Nothing new: nothing of this input was sent.",
  invalid: "The input is invalid: nothing of it was sent.",
  "dry run": "Dry run: nothing was sent.",
  adopted: "Recorded as already sent: nothing was sent.",
  abandoned: "Closed: the rest is not sent.",
};

const TONES: Readonly<Record<number, Tone>> = {
  [EXIT_CODES.ok]: "good",
  [EXIT_CODES["finished-with-rejects"]]: "warning",
  [EXIT_CODES["stopped-early"]]: "warning",
  [EXIT_CODES["in-doubt"]]: "doubt",
};
