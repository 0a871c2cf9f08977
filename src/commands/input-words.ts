/** The words of an input: how it is read, what was found in it, what is new of it, and why nothing of it is sent. */

import { isFieldName } from "../actions/fields.ts";
import { andMore, cleanText, count, number, quoted } from "../actions/text.ts";
import type { CrossActionRule } from "../checks/rules.ts";
import { publicName } from "../mapping/columns.ts";
import type { PublicValues } from "../plan/candidates/public-values.ts";
import { isLeftToPerson, lanesOf, type Manifest, waitsForAnotherRun } from "../plan/files/manifest.ts";
import type { ProblemLog } from "../plan/findings/problem-log.ts";
import type { ToldWarnings } from "../plan/findings/told-warnings.ts";
import type { PlanResult } from "../plan/make-plan.ts";
import { INPUT_RULES } from "../readers/rules.ts";
import type { RunEvent, UnderstoodInput } from "../run/progress.ts";
import type { PlanEnding } from "../run/stream.ts";
import type { Summary } from "../run/summary.ts";
import type { Context } from "./context.ts";
import { PROBLEMS_SHOWN, tellProblems, tellSkipped } from "./problems.ts";
import type { Reporter } from "./reporter.ts";
import { tellRunsWithDoubts } from "./run-end.ts";
import { describeActions, describeRows, describeSent, tellChanged, tellVanished } from "./summary.ts";
import type { Trace } from "./trace.ts";
import { describeWaiting, tellWaiting } from "./waiting-words.ts";

/** `sales.csv → soldTicket by file name, 12 columns, 9 used, not used: seat, public: name ("Row A, seat 12"), price` */
export function describeUnderstanding({ file, understanding, input, values }: UnderstoodInput): readonly string[] {
  const { action, how, columns, used, unused, publicFields, notes } = understanding;
  const parts = [
    `${file.path === "-" ? "standard input" : cleanText(file.name, 200)} → ${action === undefined ? "actions" : action} ${how.startsWith("--") ? `by ${how}` : how}`,
  ];
  if (input.header !== undefined) {
    parts.push(`${count(columns, "column")}, ${used.length} used`);
    const { headerLine = 1 } = input;
    if (headerLine > 1) parts.push(`header in line ${headerLine}`);
    if (input.delimiter !== undefined && input.delimiter !== "," && input.format === "csv")
      parts.push(`delimiter ${input.delimiter === "\t" ? "TAB" : input.delimiter}`);
  } else if (input.bytesRead === 0) parts.push("empty");
  if (input.encoding !== "utf-8") parts.push(`encoding ${input.encoding}`);
  if (unused.length > 0) parts.push(`not used: ${listOf(unused)}`);
  const ofItems = [...values.fields].flatMap((field) => publicName(field) ?? []);
  const published = [...new Set([...publicFields, ...ofItems])];
  if (published.length > 0)
    parts.push(`public: ${published.map((name) => `${name}${exampleOf(name, values)}`).join(", ")}`);
  return [parts.join(", "), ...notes.map((note) => `  ${note}.`)];
}

/** ` ("Anna Schmidt")`: what a person would not have sent is seen by its first value. */
function exampleOf(name: string, { texts, traits }: PublicValues): string {
  if (name === "metadataAttributes" && traits.size > 0)
    return ` (${[...traits].map(([trait, text]) => `${cleanText(trait, 40)} ${quoted(text)}`).join(", ")})`;
  const text = isFieldName(name) ? texts.get(name) : undefined;
  return text === undefined ? "" : ` (${quoted(text)})`;
}

function listOf(names: readonly string[]): string {
  const clean = names.slice(0, 12).map((name) => cleanText(name, 40));
  return clean.join(" · ") + andMore(names.length - clean.length);
}

/** What was found in the input: problems, changed actions, skipped rows. */
export function tellChecked(
  { checked: { plan, problems }, maxProblems, wasTold }: Extract<RunEvent, { kind: "input checked" }>,
  { reporter, verbose, trace }: Context,
): void {
  const most = maxProblems ?? PROBLEMS_SHOWN;
  const told = wasTold && toldWarnings(wasTold, trace);
  const toldElsewhere = "changed" satisfies CrossActionRule;
  tellProblems(reporter, problems, { most, verbose, form: "line", heldFor: plan.heldFor, told, toldElsewhere });
  const isTold = problems.tallies.some(({ rule, severity }) => rule === toldElsewhere && severity === "warn");
  if (isTold) tellChanged(reporter, plan, verbose, told);
  if (plan.vanished !== undefined) tellVanished(reporter, plan.vanished, plan.rows, told);
  tellSkipped(reporter, plan);
  // What workers send before it anyway need not be looked at.
  const isAllAhead = plan.manifest !== undefined && plan.actions.waiting === 0 && !isLeftToPerson(plan.manifest);
  if (!isAllAhead) tellWaiting(reporter, plan, { most: maxProblems, verbose });
}

/** What this run tells is remembered once it has ended and said so. */
function toldWarnings(was: ToldWarnings["was"], trace: Trace): ToldWarnings {
  return {
    was,
    note: (digest) => {
      trace.told.push(digest);
    },
  };
}

/** What is about to be sent of it. */
export function tellPlanned(
  { plan, manifest }: Extract<RunEvent, { kind: "sending planned" }>,
  { reporter }: Context,
): void {
  const waiting = describeWaiting(plan);
  reporter.info(
    `${describeRows(plan.rows)} → ${count(plan.actions.total, "action")}, ${plan.actions.alreadySent === 0 ? "" : `${describeSent(plan)}, `}${waiting === "" ? "" : `${waiting}, `}${number(plan.actions.planned)} to send in ${describeChunks(manifest)}.`,
    {
      event: "plan.made",
      counts: { ...plan.rows, ...plan.actions },
      actions: plan.actions.planned,
      chunks: manifest.chunks.length,
    },
  );
}

/** Why nothing is sent: the input is invalid, nothing is new, or it is on purpose. */
export function tellNothingSent(
  {
    plan,
    problems,
    otherwise,
    doubts,
    environment,
    isSentByWorkers = false,
  }: PlanEnding & {
    /** Nobody has to decide about what is pending. */
    readonly isSentByWorkers?: boolean;
  },
  { actions }: Summary,
  reporter: Reporter,
): void {
  if (plan.manifest === undefined) {
    reporter.error(
      `${describeRows(plan.rows)}. Nothing was sent. Mend the ${toMend(plan, problems)}${plan.rows.mapped > 0 && !plan.isUnreadable ? `, or send the valid ones with --max-invalid ${plan.rows.invalid}` : ""}.`,
    );
    return;
  }
  if (plan.rows.read === 0) reporter.info("The input has no rows: 0 actions, nothing to send.");
  else if (isSentByWorkers) {
    const { pending, alreadySent, total } = plan.actions;
    const before = alreadySent === 0 ? "" : `, ${number(alreadySent)} sent before`;
    reporter.info(
      `Nothing new: ${describeRows(plan.rows)}; of ${count(total, "action")}, ${number(pending)} published before and still to be sent${before}.`,
    );
  } else if (otherwise === "nothing new")
    reporter.info(
      plan.rows.read === plan.rows.mapped && plan.actions.alreadySent === plan.actions.total
        ? `Nothing new: ${plan.actions.total === 1 ? "the one action was" : `all ${number(plan.actions.total)} actions were`} sent before.`
        : `Nothing new: ${describeRows(plan.rows)}; ${describeActions(actions, { repeated: plan.repeated })}.${plan.actions.waiting > 0 ? ` ${describeWaiting(plan)}.` : ""}`,
    );
  else
    reporter.info(
      `Dry run: ${describeRows(plan.rows)}; ${number(plan.actions.planned)} of ${count(plan.actions.total, "action")} would be sent${lanesOf(plan.manifest) > 1 ? ` in ${describeChunks(plan.manifest)}` : ""}.`,
    );
  if (waitsForAnotherRun(plan.actions) && !isSentByWorkers)
    tellRunsWithDoubts(reporter, doubts, environment, otherwise === "dry run" ? reporter.warn : reporter.error);
}

/** `rows`, `rows and the input`; of an input that is read and sound, the mapping. */
function toMend({ rows }: Pick<PlanResult, "rows">, { tallies }: Pick<ProblemLog, "tallies">): string {
  const isInputWrong =
    rows.read === 0 || tallies.some(({ rule, severity }) => severity === "error" && Object.hasOwn(INPUT_RULES, rule));
  const wrong = [...(rows.invalid > 0 ? ["rows"] : []), ...(isInputWrong ? ["input"] : [])];
  return wrong.length === 0 ? "mapping" : wrong.join(" and the ");
}

/** `12 chunks`, `12 chunks, over 4 lanes` */
export function describeChunks(manifest: Manifest): string {
  const lanes = lanesOf(manifest);
  return `${count(manifest.chunks.length, "chunk")}${lanes > 1 ? `, over ${lanes} lanes` : ""}`;
}
