/** What a report says first: its title, its verdict and its tiles. */

import { resumeCommand, settleCommand } from "../actions/next-command.ts";
import { count, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, type Failure } from "../failure.ts";
import type { RunFigures } from "../run/report.ts";
import type { Summary } from "../run/summary.ts";
import type { Command, Report, Section, Tile, Tone } from "../write/report/report.ts";
import type { Context } from "./context.ts";
import type { Noted } from "./report-notes.ts";
import { leadTo, NEXT, tellStop } from "./run-end.ts";
import { describeActions } from "./summary.ts";

export interface Ended {
  readonly verb: string;
  readonly startedAt: Date;
  readonly noted: Noted;
  /** One of both. */
  readonly exitCode?: number;
  readonly failure?: Failure;
}

/** `production, 28 Nov 03:00: 51 rejected, 100 not sent` */
export function titleOf(what: string, at: Date, result: string): string {
  const time = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return `${what}, ${time.format(at).replace(",", "")}: ${result}`;
}

export function madeOf(at: Date, what: string, { verbose }: Context): string {
  const time = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" });
  return `${what} · ${time.format(at)} · ${verbose ? "userId and to are shown as they are" : "userId and to are masked"}`;
}

/** The rows and actions that were not sent, and are not known to be sent already. */
const unsentOf = ({ rows, actions: { notSent, changed, late, unclear } }: Summary) => ({
  "rows invalid": rows.invalid,
  "actions not sent": notSent,
  ...{ changed, late, unclear },
});
const sumOf = (parts: Readonly<Record<string, number>>): number => Object.values(parts).reduce((sum, n) => sum + n, 0);
const listed = (parts: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(parts).flatMap(([name, value]) => (value === 0 ? [] : [`${number(value)} ${name}`]));

/** What went wrong of an input, else what went well. */
export function resultOf({ summary, checked }: Pick<Partial<Noted>, "summary" | "checked">): string {
  if (summary === undefined) {
    const { errors = 0, warnings = 0 } = checked?.problems ?? {};
    return checked === undefined ? "nothing to do" : `${count(errors, "error")}, ${count(warnings, "warning")}`;
  }
  const { accepted, rejected, inDoubt } = summary.actions;
  const wrong = listed({ rejected, "in doubt": inDoubt, "not sent": sumOf(unsentOf(summary)) });
  if (wrong.length > 0) return wrong.join(", ");
  return accepted > 0 || summary.resumed === null ? `${number(accepted)} accepted` : "an earlier run finished";
}

/** @param sections those that a tile can lead to. */
export function tilesOf(summary: Summary, sections: readonly Section[]): readonly Tile[] {
  const { accepted, rejected, inDoubt, alreadySent } = summary.actions;
  const unsent = unsentOf(summary);
  const to = (...ids: readonly string[]): string =>
    ids.find((id) => sections.some((each) => each.id === id)) ?? "actions";
  const before = listed({ "already sent before": alreadySent });
  const tiles: readonly Tile[] = [
    { name: "accepted", value: accepted, tone: "good", leadsTo: to("actions"), notes: before },
    { name: "rejected", value: rejected, tone: "bad", leadsTo: to("rejected"), notes: [] },
    {
      name: "not sent",
      value: sumOf(unsent),
      tone: "warning",
      leadsTo: to("problems", "waiting"),
      notes: listed(unsent),
    },
  ];
  const doubt: Tile = { name: "in doubt", value: inDoubt, tone: "doubt", leadsTo: to("doubts"), notes: [] };
  return inDoubt === 0 ? tiles : [...tiles, doubt];
}

export const failedVerdict = ({ message, hint }: Failure): Report["verdict"] => ({
  tone: "bad",
  text: message,
  lines: hint === undefined ? [] : hint.split("\n"),
  commands: [],
});

export function verdictOf({ verb, noted }: Ended, exitCode: number, context: Context): Report["verdict"] {
  const { summary, checked } = noted;
  if (summary === undefined && checked === undefined)
    return {
      tone: "plain",
      text: "There was nothing to do.",
      lines: noted.said.map(({ text }) => text).slice(-1),
      commands: [],
    };
  if (summary === undefined || verb === "validate") return checkedVerdict(noted);
  const commands: Command[] = summary.next === null ? [] : [{ lead: leadOf(noted, summary), command: summary.next }];
  return {
    tone: TONES[exitCode] ?? "bad",
    text: headlineOf(summary, exitCode),
    lines: stopLines(noted, context),
    commands,
  };
}

/** Rejects are named only where there are some. */
function leadOf({ end }: Noted, summary: Summary): string {
  const stopped = end?.stops[0]?.kind ?? "finished";
  if (summary.exitCode === EXIT_CODES["in-doubt"]) return NEXT["in doubt"];
  if (stopped === "finished" && summary.rejects.length === 0) return "Fix the rows, then check them";
  return leadTo(summary, stopped);
}

/** What an earlier run sent is not said of this input. */
function headlineOf({ state, resumed }: Summary, exitCode: number): string {
  const headline = HEADLINES[state](exitCode);
  if (resumed === null || state === "finished" || state === "stopped") return headline;
  const { run, actions } = resumed;
  return `${headline.replace("nothing was sent", "nothing of this input was sent")} Run ${run} came first: ${describeActions(actions)}.`;
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
    exitCode === EXIT_CODES["in-doubt"]
      ? "It is not known what became of some actions."
      : "The run stopped before its end.",
  published: () => "Published: workers send it.",
  "nothing new": () => "Nothing new: nothing was sent.",
  invalid: () => "The input is invalid: nothing was sent.",
  "dry run": () => "Dry run: nothing was sent.",
  adopted: () => "Recorded as already sent: nothing was sent.",
  abandoned: () => "Closed: the rest is not sent.",
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
export function runVerdict(
  { run, summary, counts, questions }: RunFigures,
  environment: Environment,
): Report["verdict"] {
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
