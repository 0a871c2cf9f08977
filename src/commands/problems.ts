/** Problems in words: one block for each rule and field, with how often, where, and what to do. */

import type { PlacedProblem } from "../actions/problem.ts";
import type { HeldFor } from "../plan/held.ts";
import type { Plan } from "../plan/plan.ts";
import type { Tally } from "../plan/problems.ts";
import { placeText } from "../read/file-names.ts";
import type { CheckedInput } from "../run/context.ts";
import { andMore, cleanText, count, masked, number } from "../text.ts";
import type { Messages } from "./reporter.ts";

/** Examples in a block; `--json` gives all that were kept. */
const EXAMPLES = 3;

/** The most that are named one by one. */
const MOST_NAMED = 50;

/** Each of its problems names values of its own file, so all are examples. */
const EACH_ITS_OWN = "value-not-named";

/** Rules that keep a row from being sent: each row is named. */
const NOT_SENT: ReadonlySet<string> = new Set(["changed", "late", "unclear"]);

/** The longest remedy, and what it may quote of the input. */
const LONGEST_HINT = 900;

/** A value fit for a terminal, with all but its ends hidden where it names a person. */
export const shownIf = (namesPerson: boolean, value: string, verbose: boolean): string =>
  namesPerson && !verbose ? masked(value) : cleanText(value);

type Found = Pick<CheckedInput, "plan" | "problems" | "decidedAt" | "namesPerson">;

export interface ProblemOptions {
  readonly verbose: boolean;
  /** Marks of warnings that an earlier run has shown; without it all are new. */
  readonly before?: ReadonlySet<string> | undefined;
  /** Gets the marks of what is shown now. */
  readonly note?: ((mark: string) => void) | undefined;
}

/** Reports errors, then what rows are held for, then warnings. */
export function sayProblems(reporter: Messages, found: Found, options: ProblemOptions): void {
  const { tallies } = found.problems;
  const { before, note, verbose } = options;
  const block = (tally: Tally, fresh: number): string => describeTally(tally, fresh, found, verbose);
  for (const tally of tallies) {
    // A row that waits for another is reported with that other.
    if (tally.severity === "warn" || tally.first.cause !== undefined) continue;
    reporter.error(block(tally, tally.count), eventOf(tally));
  }
  sayHeld(reporter, found.plan.held.heldFor);
  for (const tally of tallies) {
    if (tally.severity !== "warn") continue;
    for (const { mark } of tally.kept) if (mark !== undefined) note?.(mark);
    const kept = tally.kept.filter(({ mark }) => mark === undefined || before?.has(mark) !== true);
    // If not all are kept, all count as new.
    const isWhole = tally.kept.length === tally.count;
    if (isWhole && kept.length === 0) reporter.warnAgain(block(tally, tally.count), eventOf(tally));
    else {
      const fresh = isWhole ? { ...tally, kept } : tally;
      reporter.warn(block(fresh, isWhole ? kept.length : tally.count), eventOf(fresh));
    }
  }
}

/** A block in the log. Values stand only in its text, where they are masked. */
function eventOf({ count: times, first, kept }: Tally) {
  const { rule, source: file, line, field, action } = kept[0] ?? first;
  return { event: "problem", rule, file, line, field, action, count: times } as const;
}

/** `price-invalid: sales.csv:42 price: "12,50" …`; of several, first what they share, then three of them, then the remedies. */
function describeTally(tally: Tally, fresh: number, found: Found, verbose: boolean): string {
  const { head, message, examples, remedies } = partsOf(tally, fresh, found, verbose);
  const [only = "", ...others] = examples;
  if (others.length === 0) return [`${head}: ${only}`, message ?? "", ...remedies].join(" ");
  return [
    message === undefined ? head : `${head}: ${message}`,
    ...examples.map((line) => `    ${line.replace(/:$/, "")}`),
    ...remedies.map((text) => `  ${text}`),
  ].join("\n");
}

interface Parts {
  /** The rule, and how often. */
  readonly head: string;
  /** Undefined where each example has its own. */
  readonly message: string | undefined;
  /** Behind them, where there are more of them, how many. */
  readonly examples: readonly string[];
  readonly remedies: readonly string[];
}

/** The parts of a block. @param fresh how many of its problems are new, those that are kept among them. */
export function partsOf(
  tally: Tally,
  fresh: number,
  { decidedAt, namesPerson }: Pick<CheckedInput, "decidedAt" | "namesPerson">,
  verbose: boolean,
): Parts {
  const { rule, first, kept } = tally;
  const problems = kept.length === 0 ? [first] : kept;
  const messages = new Set(problems.map((problem) => cleanText(problem.message, 400)));
  const hints = new Set(problems.map((problem) => cleanText(problem.hint, LONGEST_HINT)));
  // What they share is printed once; a remedy stands beside its message.
  const isHintOwn = hints.size > (messages.size > 1 ? 1 : EXAMPLES);
  const lineOf = (problem: PlacedProblem): string =>
    [
      whereOf(problem, verbose || !namesPerson(problem)),
      ...(messages.size > 1 ? [cleanText(problem.message, 400)] : []),
      ...(isHintOwn ? [cleanText(problem.hint, LONGEST_HINT)] : []),
    ].join(" ");
  const lines = [...Map.groupBy(problems, lineOf)];
  const examples = lines.slice(0, rule === EACH_ITS_OWN ? MOST_NAMED : EXAMPLES);
  const named = new Set(examples.flatMap(([, alike]) => alike));
  const others = problems.filter((problem) => !named.has(problem));
  const more = lines.length === 1 ? 0 : fresh - problems.length + others.length;
  const moreText = NOT_SENT.has(rule) ? describeNotSent(others, more) : `and ${number(more)} more`;
  return {
    head: `${rule}${describeTimes(tally, fresh)}`,
    message: messages.size > 1 ? undefined : [...messages][0],
    examples: [
      ...examples.map(([line, alike]) =>
        alike.length > 1 && lines.length > 1 ? `${line.replace(/:$/, "")} (${number(alike.length)} times)` : line,
      ),
      ...(more === 0 ? [] : [moreText]),
    ],
    remedies: [...(isHintOwn ? [] : hints), ...describePlaces(problems, decidedAt)],
  };
}

/** `Set at tickets.config.yaml:14.`; nothing where no source decides. */
function describePlaces(problems: readonly PlacedProblem[], decidedAt: Found["decidedAt"]): readonly string[] {
  const places = new Set(problems.flatMap((problem) => decidedAt(problem)));
  return places.size === 0 ? [] : [`Set at ${[...places].slice(0, EXAMPLES).join(", ")}.`];
}

/** ` (1,400 times: 1,000 soldTicket, 400 resoldTicket, 3 of them reported before)`; of one kind ` (8 times, soldTicket)`. */
function describeTimes({ count: times, byAction }: Tally, fresh: number): string {
  if (times === 1) return "";
  const kinds = [...byAction].sort(([, one], [, other]) => other - one);
  const each = kinds.map(([action, actions]) => `${number(actions)} ${action}`).join(", ");
  const [[only, ofOnly] = ["", 0]] = kinds;
  const ofKinds = ofOnly === times ? `, ${only}` : `: ${each}`;
  const isPartlyNew = fresh > 0 && fresh < times;
  const before = isPartlyNew ? `, ${number(times - fresh)} of them reported before` : "";
  return ` (${number(times)} times${each === "" ? "" : ofKinds}${before})`;
}

/** `sales.csv:42 price: "12,50"` */
function whereOf({ source, line, field, value }: PlacedProblem, isShown: boolean): string {
  const place = placeText({ source, line });
  const name = field === undefined ? "" : ` ${cleanText(field)}:`;
  return `${place}${name}${value === undefined ? "" : ` ${JSON.stringify(shownIf(!isShown, value, false))}`}`;
}

/** `not sent either: resales.csv:7, orders.csv:9 and 8 more` */
function describeNotSent(others: readonly PlacedProblem[], more: number): string {
  const places = [...new Set(others.map((other) => placeText(other)))];
  const named = places.slice(0, MOST_NAMED);
  return `not sent either: ${named.join(", ")}${andMore(more - others.length + places.length - named.length)}`;
}

/** `resales.csv:7, resales.csv:9, resales.csv:12 and 37 more wait for sales.csv:5, which is invalid.` */
function sayHeld({ error }: Messages, heldFor: readonly HeldFor[]): void {
  for (const { source, line, rows, first } of heldFor.slice(0, MOST_NAMED)) {
    const places = `${first.map((place) => placeText(place)).join(", ")}${andMore(rows - first.length)}`;
    const wait = rows === 1 ? "waits" : "wait";
    error(`${places} ${wait} for ${placeText({ source, line })}, which is invalid.`, {
      ...{ event: "problem", file: source, line, count: rows },
    });
  }
  const rest = heldFor.slice(MOST_NAMED);
  const rows = rest.reduce((sum, each) => sum + each.rows, 0);
  if (rest.length > 0) error(`… and ${count(rows, "more row")} held for ${count(rest.length, "other row")}.`);
}

/** Reasons in one line; `tickets plan --preview` shows more. */
const REASONS_SHOWN = 8;

/** Says why rows gave no action; a warning if none of them did. */
export function saySkipped(reporter: Messages, { rows, skipReasons }: Pick<Plan, "rows" | "skipReasons">): void {
  if (rows.skipped === 0) return;
  const sorted = [...skipReasons].sort(([, one], [, other]) => other - one);
  const shown = sorted.slice(0, REASONS_SHOWN).map(([reason, times]) => `${reason} (${number(times)})`);
  const more = sorted.length > REASONS_SHOWN ? `, and ${sorted.length - REASONS_SHOWN} more reasons` : "";
  const say = rows.mapped === 0 ? reporter.warn : reporter.info;
  say(`${count(rows.skipped, "row")} skipped: ${shown.join(", ")}${more}.`);
}
