/** Problems in words: where, what, the text it is about, what to do. */

import { isPersonal } from "../actions/fields.ts";
import type { Problem } from "../actions/problem.ts";
import { andMore, cleanText, count, masked, number, textWidth } from "../actions/text.ts";
import type { HeldFor } from "../plan/held.ts";
import type { Plan } from "../plan/plan.ts";
import type { Problems } from "../plan/problems.ts";
import type { Reporter } from "./reporter.ts";

/** Problems shown on a terminal; `--json` gives all that were kept. */
export const PROBLEMS_SHOWN = 50;

/** The longest remedy, and what it may quote of the input. */
const LONGEST_HINT = 900;

/** A value fit for a terminal, with all but its ends hidden where it names a person. */
export function shown(field: string | undefined, value: string, verbose: boolean): string {
  return shownIf(field !== undefined && isPersonal(field), value, verbose);
}

/** The same where it is known whether the value names a person, and no field stands for it. */
export function shownIf(isOfPerson: boolean, value: string, verbose: boolean): string {
  return isOfPerson && !verbose ? masked(value) : cleanText(value);
}

/** The problem in one line: `sales.csv:1042 price: "12,50" …`. */
function problemLine(problem: Problem, verbose: boolean): string {
  const { source, line, field, value, message, hint, rule } = problem;
  const what = value === undefined ? "" : `${JSON.stringify(shown(field, value, verbose))} `;
  return `${cleanText(source, 200)}:${line} ${field === undefined ? "" : `${cleanText(field)}: `}${what}${cleanText(message, 400)}${hint === undefined ? "" : ` ${cleanText(hint, LONGEST_HINT)}`} [${rule}]`;
}

/** The problem as a small block with the offending text underlined. */
function problemBlock(problem: Problem, verbose: boolean): string {
  const { source, line, field, pointer, value, message, hint, rule, severity } = problem;
  const head = `${cleanText(source, 200)}:${line}${pointer === undefined || pointer === "" ? "" : ` ${cleanText(pointer)}`}  ${severity === "warn" ? "warning" : "error"}  ${rule}`;
  const lines = [head];
  if (value !== undefined) {
    const label = `    ${field === undefined ? "" : `${cleanText(field)}: `}`;
    const text = shown(field, value, verbose);
    lines.push(`${label}${text}`, `${" ".repeat(textWidth(label))}${"^".repeat(Math.max(1, textWidth(text)))}`);
  }
  lines.push(`    ${cleanText(message, 400)}`);
  if (hint !== undefined) lines.push(`    ${cleanText(hint, LONGEST_HINT)}`);
  return lines.join("\n");
}

/** What programs are told of a problem; values stay in its words, where they are masked. */
const eventOf = ({ rule, source: file, line, field, action }: Problem) =>
  ({ event: "problem", rule, file, line, field, action }) as const;

/**
 * Of one rule no more than half of what is shown, so that one mistake in a column does not hide the others; and of those in
 * which nothing but the line differs, as where a column is missing, a few.
 */
function shownErrors(log: Problems, most: number): readonly Problem[] {
  const ofOneRule = errorTallies(log).length === 1 ? most : Math.max(1, Math.ceil(most / 2));
  const seen = new Map<string, number>();
  const isAmong = (key: string, limit: number): boolean => {
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times <= limit;
  };
  return log.kept
    .filter((problem) => {
      const { severity, rule, value, message, hint } = problem;
      if (severity !== "error" || isOfHeldRow(problem)) return false;
      const isTelling =
        value !== undefined || isAmong(JSON.stringify([rule, message, hint]), Math.ceil(most / ONE_ALIKE_IN));
      return isTelling && isAmong(rule, ofOneRule);
    })
    .slice(0, most);
}

/** Of so many problems that are shown, one may repeat another's words. */
const ONE_ALIKE_IN = 16;

const errorTallies = ({ tallies }: Problems): Problems["tallies"] =>
  tallies.filter(({ severity, first }) => severity === "error" && !isOfHeldRow(first));

/** Skip reasons told in one line; `tickets plan --preview` shows more. */
const SKIP_REASONS_TOLD = 8;

/** `3 rows skipped: Status = open (2), Status = lost (1).`; undefined when none was. */
function describeSkipped(skipped: number, reasons: ReadonlyMap<string, number>): string | undefined {
  return skipped === 0 ? undefined : `${count(skipped, "row")} skipped: ${describeReasons(reasons)}.`;
}

function describeReasons(reasons: ReadonlyMap<string, number>): string {
  const told = [...reasons].sort(([, one], [, other]) => other - one);
  const more = told.length > SKIP_REASONS_TOLD ? `, and ${told.length - SKIP_REASONS_TOLD} more reasons` : "";
  return `${told
    .slice(0, SKIP_REASONS_TOLD)
    .map(([reason, times]) => `${reason} (${number(times)})`)
    .join(", ")}${more}`;
}

/** Tells why rows gave nothing, or only their event; as a warning where no row gave anything else. */
export function tellSkipped(
  reporter: Reporter,
  { rows, skipReasons, eventOnlyReasons }: Pick<Plan, "rows" | "skipReasons" | "eventOnlyReasons">,
): void {
  const eventOnly = [...eventOnlyReasons.values()].reduce((sum, times) => sum + times, 0);
  const skipped = describeSkipped(rows.skipped, skipReasons);
  const say = rows.mapped === eventOnly ? reporter.warn : reporter.info;
  if (skipped !== undefined) say(skipped);
  const reasons = describeReasons(eventOnlyReasons);
  if (eventOnly > 0)
    say(`${count(eventOnly, "row")} ${eventOnly === 1 ? "gives" : "give"} only the event: ${reasons}.`);
}

/** A row that waits for another is reported with that other. */
const isOfHeldRow = ({ cause }: Problem): boolean => cause !== undefined;

/** `sales.csv:5 holds 40 rows that depend on it: resales.csv:7, resales.csv:9, resales.csv:12 and 37 more. …` */
function describeHeld({ source, line, rows, first }: HeldFor): string {
  const places = first.map((place) => `${cleanText(place.source, 200)}:${place.line}`);
  const more = andMore(rows - first.length);
  return `${cleanText(source, 200)}:${line} holds ${count(rows, "row")} that ${rows === 1 ? "depends" : "depend"} on it: ${places.join(", ")}${more}. ${rows === 1 ? "That row is" : "They are"} sent once ${rows === 1 ? "this one" : "it"} is corrected.`;
}

/** Tells errors one by one and what rows are held for, each up to `most`, and warnings in one line per rule. */
export function tellProblems(
  reporter: Reporter,
  log: Problems,
  options: {
    readonly most: number;
    readonly verbose: boolean;
    readonly form: "line" | "block";
    readonly heldFor: readonly HeldFor[];
    /** Marks of warnings that an earlier run told; without it none counts as told before. */
    readonly told?: ReadonlySet<string> | undefined;
    /** Takes the marks of what is told now. */
    readonly note?: ((mark: string) => void) | undefined;
  },
): void {
  const { heldFor } = options;
  const form = options.form === "line" ? problemLine : problemBlock;
  const errors = shownErrors(log, options.most);
  for (const problem of errors) reporter.error(form(problem, options.verbose), eventOf(problem));
  const ofRows = errorTallies(log);
  const hidden = ofRows.reduce((sum, { count: times }) => sum + times, 0) - errors.length;
  if (hidden > 0) {
    reporter.error(
      `… and ${count(hidden, "more problem")}: ${ofRows
        .map(({ rule, count: times }) => `${rule} ${number(times)}`)
        .join(", ")}. validate --json lists them.`,
      { event: "problem", count: hidden },
    );
  }
  for (const each of heldFor.slice(0, options.most))
    reporter.error(describeHeld(each), {
      ...{ event: "problem", file: each.source, line: each.line, count: each.rows },
    });
  if (heldFor.length > options.most) {
    const others = heldFor.slice(options.most).reduce((sum, { rows }) => sum + rows, 0);
    reporter.error(`… and ${count(others, "more row")} held for ${count(heldFor.length - options.most, "other row")}.`);
  }
  for (const { severity, rule, count: times, first, byAction } of log.tallies) {
    const kinds = [...byAction].sort(([, one], [, other]) => other - one);
    const each = kinds.map(([action, of]) => `${number(of)} ${action}`).join(", ");
    if (severity !== "warn") continue;
    const fresh = freshOf(log, rule, times, options);
    const before = times - fresh.count;
    const known = before > 0 && fresh.count > 0 ? `, ${number(before)} of them reported before` : "";
    const often = times === 1 ? "" : ` (${number(times)} times${each === "" ? "" : `: ${each}`}${known})`;
    const say = fresh.count === 0 ? reporter.warnAgain : reporter.warn;
    if (SAYS_ITS_OWN.has(rule) && fresh.all.length > 1) {
      for (const problem of fresh.all.slice(0, options.most))
        say(`${rule}: ${problemLine(problem, options.verbose).replace(` [${rule}]`, "")}`);
      if (times > options.most) say(`${rule}: ${number(times)} times in all. validate --json lists them.`);
      continue;
    }
    const named = fresh.first ?? fresh.kept[0] ?? first;
    const line = problemLine(named, options.verbose).replace(` [${rule}]`, "");
    const isNotSent = TELLS_WHAT_IS_NOT_SENT.has(rule);
    const others = isNotSent ? alsoNotSent(fresh.kept, named, times, options.most) : "";
    say(`${rule}${often}: ${line}${others}`, { ...eventOf(named), count: times });
  }
}

/** Rules whose findings each name values of their own file, so that one example can't stand for all. */
const SAYS_ITS_OWN: ReadonlySet<string> = new Set(["value-not-named", "value-near"]);

/** Rules by which a row is not sent: each one is named. */
const TELLS_WHAT_IS_NOT_SENT: ReadonlySet<string> = new Set(["changed", "late", "unclear"]);

/** ` Not sent either: resales.csv:7, orders.csv:9 (scannedTicket) and 8 more.` Names what is of another kind, or of the same row. */
function alsoNotSent(all: readonly Problem[], named: Problem, times: number, most: number): string {
  const others = all.filter((problem) => problem !== named);
  const placeOf = ({ source, line }: Problem): string => `${cleanText(source, 200)}:${line}`;
  // A row may have several of them.
  const places = [...Map.groupBy(others, placeOf)].map(([place, ofRow]) => {
    const kinds = new Set(ofRow.flatMap(({ action }) => action ?? []));
    const isPlain = place !== placeOf(named) && [...kinds].every((kind) => kind === named.action);
    return isPlain || kinds.size === 0 ? place : `${place} (${[...kinds].join(", ")})`;
  });
  const shown = places.slice(0, most);
  const more = places.length - shown.length + times - all.length;
  return shown.length === 0 ? "" : ` Not sent either: ${shown.join(", ")}${andMore(more)}.`;
}

/** The warnings of a rule that no earlier run reported. Where not all are kept, all count as new. */
function freshOf(
  { kept }: Problems,
  rule: string,
  times: number,
  {
    told,
    note,
  }: { readonly told?: ReadonlySet<string> | undefined; readonly note?: ((mark: string) => void) | undefined },
): {
  readonly count: number;
  readonly first: Problem | undefined;
  /** The new ones; where none is, all that are kept. */
  readonly all: readonly Problem[];
  readonly kept: readonly Problem[];
} {
  const ofRule = kept.filter((problem) => problem.severity === "warn" && problem.rule === rule);
  const fresh = ofRule.filter(({ mark }) => mark === undefined || told?.has(mark) !== true);
  for (const { mark } of ofRule) if (mark !== undefined) note?.(mark);
  if (ofRule.length < times) return { count: times, first: undefined, all: ofRule, kept: ofRule };
  return { count: fresh.length, first: fresh[0], all: fresh.length === 0 ? ofRule : fresh, kept: ofRule };
}
