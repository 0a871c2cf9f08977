/** The words of an input: how it is read, what was found in it, what is new of it, and why nothing of it is sent. */

import { isFieldName } from "../actions/fields.ts";
import { andMore, cleanText, count, number, quoted } from "../actions/text.ts";
import { publicName } from "../map/columns.ts";
import { INPUT_RULES } from "../read/rules.ts";
import type { CheckedInput, RunEvent, UnderstoodInput } from "../run/progress.ts";
import type { NothingSent } from "../run/stream.ts";
import type { Context } from "./context.ts";
import { reportProblems, reportSkipped } from "./problems.ts";
import type { Findings, Reporter } from "./reporter.ts";
import { describeBack, describeRows } from "./summary.ts";

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
function exampleOf(name: string, { texts, traits }: UnderstoodInput["values"]): string {
  if (name === "metadataAttributes" && traits.size > 0)
    return ` (${[...traits].map(([trait, text]) => `${cleanText(trait, 40)} ${quoted(text)}`).join(", ")})`;
  const text = isFieldName(name) ? texts.get(name) : undefined;
  return text === undefined ? "" : ` (${quoted(text)})`;
}

function listOf(names: readonly string[]): string {
  const clean = names.slice(0, 12).map((name) => cleanText(name, 40));
  return clean.join(" · ") + andMore(names.length - clean.length);
}

/** What was found in the input: problems, skipped rows, and what waits for other runs. */
export function tellChecked(
  { checked: { plan, problems }, shown }: Extract<RunEvent, { kind: "input checked" }>,
  { reporter, verbose, trace }: Context,
): void {
  reportProblems(reporter, problems, {
    ...{ verbose, heldFor: plan.held.heldFor, before: shown },
    // What this run shows is remembered once it has ended and said so.
    note: (digest) => trace.told.push(digest),
  });
  reportSkipped(reporter, plan);
  tellPending(reporter, plan);
}

/** What waits since another run may have sent it, or holds what it depends on. */
export function tellPending({ warn }: Findings, { held: { heldBy } }: Pick<CheckedInput["plan"], "held">): void {
  for (const [run, actions] of heldBy)
    warn(
      `${count(actions, "action")} ${actions === 1 ? "waits" : "wait"}: run ${run}, of which something is in doubt or still to send, holds ${actions === 1 ? "it or what it depends" : "them or what they depend"} on.`,
    );
}

/** What is about to be sent of it. */
export function tellPlanned({ plan }: Extract<RunEvent, { kind: "sending planned" }>, { reporter }: Context): void {
  const back = describeBack(plan.actions);
  reporter.info(
    `${describeRows(plan.rows)} → ${count(plan.actions.total, "action")}, ${back === "" ? "" : `${back}, `}${number(plan.actions.new)} to send${overLanes(plan)}.`,
    { event: "plan.made", counts: { ...plan.rows, ...plan.actions }, actions: plan.actions.new },
  );
}

/** Why nothing is sent: the input is invalid, nothing is new, or it is on purpose. */
export function tellNothingSent({ of, problems, otherwise, mode }: NothingSent, reporter: Reporter): void {
  const { rows, actions, isRefused, isUnfit } = of;
  if (isRefused) {
    const isAllowable = rows.mapped > 0 && !isUnfit;
    reporter.error(
      `${describeRows(rows)}. Nothing was sent. Fix the ${whatToFix(rows, problems)}${isAllowable ? `, or send the valid ones with --max-invalid ${rows.invalid}` : ""}.`,
    );
    return;
  }
  const back = describeBack(actions);
  if (rows.read === 0) reporter.info("The input has no rows: 0 actions, nothing to send.");
  else if (otherwise === "dry run")
    reporter.info(
      `Dry run: ${describeRows(rows)}; ${number(actions.new)} of ${count(actions.total, "action")} would be ${mode === "adopt" ? "recorded as already sent" : `sent${overLanes(of)}`}.`,
    );
  else
    reporter.info(
      rows.read === rows.mapped && actions.alreadySent === actions.total
        ? `Nothing new: ${actions.total === 1 ? "the one action was" : `all ${number(actions.total)} actions were`} sent before.`
        : `Nothing new: ${describeRows(rows)}; ${count(actions.total, "action")}${back === "" ? "" : `: ${back}`}.`,
    );
}

const overLanes = ({ lanes }: Pick<CheckedInput["plan"], "lanes">): string =>
  lanes > 1 ? ` over ${number(lanes)} lanes` : "";

/** `rows`, `rows and the input`; of an input that is read and sound, the mapping. */
function whatToFix(rows: CheckedInput["plan"]["rows"], { tallies }: CheckedInput["problems"]): string {
  const isInputWrong =
    rows.read === 0 || tallies.some(({ rule, severity }) => severity === "error" && Object.hasOwn(INPUT_RULES, rule));
  const wrong = [...(rows.invalid > 0 ? ["rows"] : []), ...(isInputWrong ? ["input"] : [])];
  return wrong.length === 0 ? "mapping" : wrong.join(" and the ");
}
