/** The words of an input: how it is read, what was found in it, what is new of it, and why nothing of it is sent. */

import { isFieldName } from "../actions/fields.ts";
import { allMarksOf, marksOf, publicOf } from "../plan/public-values.ts";
import type { UnderstoodInput } from "../plan/rows.ts";
import type { CheckedInput, RunEvent } from "../run/context.ts";
import type { Summary } from "../run/summary.ts";
import { andMore, cleanText, count, number, quoted } from "../text.ts";
import type { Context } from "./context.ts";
import { describeBack, describeRows } from "./describe.ts";
import { type ProblemOptions, sayProblems, saySkipped } from "./problems.ts";
import type { Messages, Reporter } from "./reporter.ts";

/** Marks of what earlier runs have shown of an input. Without any, all of it is shown. */
type Known = ReadonlySet<string>;

const NOTHING_KNOWN: Known = new Set();

/** The first lines: each file, then what becomes public. Unless `verbose`, what earlier runs have shown is only counted. */
export function sayUnderstood(
  { inputs, known }: Extract<RunEvent, { kind: "inputs understood" }>,
  { reporter, verbose, trace }: Context,
): void {
  trace.understood = inputs;
  const before = verbose ? NOTHING_KNOWN : known;
  for (const input of inputs) {
    const { file, understanding } = input;
    const about = { event: "input.read", file: file.name, action: understanding.action } as const;
    for (const line of describeFile(input, before)) reporter.info(line, about);
  }
  const published = describePublished(inputs, before);
  if (published !== undefined) reporter.info(published);
}

/** `sales.csv → soldTicket by file name, 12,000 rows, 9 of 12 columns used, not used: seat`; later only its new columns. */
export function describeFile(input: UnderstoodInput, known = NOTHING_KNOWN): readonly string[] {
  const { file, understanding, rows } = input;
  const { action, how, notes } = understanding;
  const name = file.path === "-" ? "standard input" : cleanText(file.name, 200);
  const parts = [
    `${name} → ${action === undefined ? how : `${action} by ${how}`}`,
    input.input.bytesRead === 0 ? "empty" : count(rows, "row"),
    ...describeColumns(input, known),
    ...describeReading(input),
  ];
  return [parts.join(", "), ...notes.map((note) => `  ${note}.`)];
}

/** The columns that no earlier run has shown; of a new file, those that are not used. */
function describeColumns(input: UnderstoodInput, known: Known): readonly string[] {
  const { columns, used, unused } = input.understanding;
  const marks = marksOf(input).columns;
  const added = [...marks].flatMap(([column, mark]) => (known.has(mark) ? [] : [column]));
  if (added.length === 0) return [];
  if (added.length < marks.size)
    return [`new columns: ${listOf(added.map((name) => (unused.includes(name) ? `${name} (not used)` : name)))}`];
  return [
    ...(input.input.header === undefined ? [] : [`${number(used.length)} of ${count(columns, "column")} used`]),
    ...(unused.length === 0 ? [] : [`not used: ${listOf(unused)}`]),
  ];
}

/** What is unusual about its form. */
function describeReading({ input }: UnderstoodInput): readonly string[] {
  const { header, headerLine = 1, delimiter, format, encoding } = input;
  const parts: string[] = [];
  if (header !== undefined && headerLine > 1) parts.push(`header in line ${headerLine}`);
  if (header !== undefined && delimiter !== undefined && delimiter !== "," && format === "csv")
    parts.push(`delimiter ${delimiter === "\t" ? "TAB" : delimiter}`);
  if (encoding !== "utf-8") parts.push(`encoding ${encoding}`);
  return parts;
}

/** `Public: eventName ("Gala"), price`; `Public: 9 fields, as before` where runs have shown them. */
export function describePublished(inputs: readonly UnderstoodInput[], known = NOTHING_KNOWN): string | undefined {
  const examples = new Map<string, string>();
  for (const input of inputs)
    for (const name of publicOf(input)) examples.set(name, examples.get(name) || exampleOf(name, input.values));
  if (examples.size === 0) return undefined;
  if (inputs.every((input) => known.has(marksOf(input).published)))
    return `Public: ${count(examples.size, "field")}, as before (--verbose lists ${examples.size === 1 ? "it" : "them"})`;
  return `Public: ${[...examples].map(([name, example]) => `${name}${example}`).join(", ")}`;
}

/** ` ("Anna Schmidt")`: a first value shows a person what should not become public. */
function exampleOf(name: string, { texts, traits }: UnderstoodInput["values"]): string {
  if (name === "metadataAttributes" && traits.size > 0)
    return ` (${[...traits].map(([trait, text]) => `${cleanText(trait, 40)} ${quoted(text)}`).join(", ")})`;
  const text = isFieldName(name) ? texts.get(name) : undefined;
  return text === undefined ? "" : ` (${quoted(text)})`;
}

function listOf(names: readonly string[]): string {
  const clean = names.slice(0, 12).map((name) => cleanText(name, 40).trim() || "(no name)");
  return clean.join(" · ") + andMore(names.length - clean.length);
}

/** What was found in the input that a stream has checked. */
export function sayChecked(
  checked: Extract<RunEvent, { kind: "input checked" }>,
  { reporter, verbose, trace }: Context,
): void {
  trace.checked = checked;
  sayFindings(reporter, checked, {
    ...{ verbose, before: checked.shown },
    // Remembered when the command ends.
    note: (digest) => trace.reported.push(digest),
  });
}

/** Problems, rows that give no action, and actions that wait. */
export function sayFindings(messages: Messages, checked: CheckedInput, options: ProblemOptions): void {
  sayProblems(messages, checked, options);
  saySkipped(messages, checked.plan);
  sayPending(messages, checked.plan);
}

/** Actions that wait for another run: it may have sent them, or what they depend on. */
function sayPending({ warn }: Messages, { held: { heldBy } }: Pick<CheckedInput["plan"], "held">): void {
  for (const [run, actions] of heldBy)
    warn(
      `${count(actions, "action")} ${actions === 1 ? "waits" : "wait"} for run ${run}, which is not finished and contains ${actions === 1 ? "it, or what it depends" : "them, or what they depend"} on.`,
    );
}

/** What is about to be sent of it. */
export function sayPlanned(
  { plan, understood }: Extract<RunEvent, { kind: "sending planned" }>,
  { reporter, trace }: Context,
): void {
  // Later runs only count what these first lines have shown.
  trace.reported.push(...allMarksOf(understood));
  const back = describeBack(plan.actions);
  reporter.info(
    `${describeRows(plan.rows)} → ${count(plan.actions.total, "action")}, ${back === "" ? "" : `${back}, `}${number(plan.actions.new)} to send${overLanes(plan)}.`,
    { event: "plan.made", counts: { ...plan.rows, ...plan.actions }, actions: plan.actions.new },
  );
}

/** Why nothing is sent: the input is invalid, nothing is new, or it is on purpose. */
export function sayNothingSent({ plan }: CheckedInput, { state }: Summary, adopts: boolean, reporter: Reporter): void {
  const { rows, actions, isRefused, isUnfit } = plan;
  if (isRefused && rows.read === 0) {
    reporter.error("Nothing was sent.");
    return;
  }
  if (isRefused) {
    const isAllowable = rows.mapped > 0 && !isUnfit;
    reporter.error(
      `${describeRows(rows)}. Nothing was sent. Fix the ${rows.invalid > 0 ? "rows" : "input or the mapping"}${isAllowable ? `, or send the valid ones with --max-invalid ${rows.invalid}` : ""}.`,
    );
    return;
  }
  const back = describeBack(actions);
  if (rows.read === 0) reporter.info("The input has no rows: 0 actions, nothing to send.");
  else if (state === "dry run")
    reporter.info(
      `Dry run: ${describeRows(rows)}; ${number(actions.new)} of ${count(actions.total, "action")} would be ${adopts ? "recorded as already sent" : `sent${overLanes(plan)}`}.`,
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
