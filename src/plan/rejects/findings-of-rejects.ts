/** What is wrong with rows that were mended or come from a rejects file, apart from their contents. */

import type { Finding, Severity } from "../../actions/problem.ts";
import { cleanText } from "../../actions/text.ts";
import { findRenumbered } from "../../mapping/action-rules.ts";
import type { Mapped } from "../../mapping/mapper.ts";
import { nthOfName, OPEN_ACTIONS_COLUMN, openActionText } from "../../mapping/open-actions.ts";
import type { MappingRule } from "../../mapping/rules.ts";
import type { OrderKey } from "../candidates/order-key.ts";
import { findingsOf } from "../findings/findings-of-row.ts";
import type { Given, MarkOfRejects, MendedMark, RejectedMark, RowMarks, StillOpen } from "./mended-rows.ts";

/** What a row of a rejects file is read by. */
interface ReadingOfRejects {
  readonly readAs: string;
  /** The actions that the source lists (action-rules.ts). */
  readonly rules: readonly string[];
}

/** For a row whose action can't be read: it gives one action at most, and one was accepted for it. */
export const NOTHING_OPEN: StillOpen = { names: new Set(), isUnsure: false, closed: 1, others: [] };

/** What a row of which a mended one was accepted gives now. */
export function givenBy(mapped: Mapped | undefined): Given {
  if (mapped === undefined || mapped.kind === "skipped") return { actions: [], nths: [], isSound: false };
  const isSound = mapped.kind === "actions";
  const actions = isSound ? mapped.actions : mapped.attempted;
  return { actions, nths: mapped.nths ?? nthOfName(actions), isSound };
}

/** Whether a row of a rejects file names just what is open of it, and can be read now: then it is sent as it is. */
export function isRestOf(mark: MendedMark, mapped: Extract<Mapped, { kind: "actions" }>, marks: RowMarks): boolean {
  if (mark.open === undefined) return false;
  const given = givenBy(mapped);
  const { names } = marks.openOf(mark, given);
  return given.actions.every(({ action }, at) => names.has(openActionText(action, given.nths[at] ?? 0)));
}

export const isOneOf = ({ names }: StillOpen, { action, nth }: OrderKey): boolean =>
  action !== undefined && names.has(openActionText(action, nth ?? 0));

/** What is wrong with a row of which a mended one was accepted, and which gives more since. */
function givesMore({ names, isUnsure }: StillOpen): Finding {
  const told = cleanText([...names].join(" "), 200);
  return {
    rule: "mended-gives-more" satisfies MappingRule,
    message: isUnsure
      ? `The row was mended, and what it gave was accepted; it gives more now, and which of these is new can't be told: ${told}.`
      : `The row was mended, and what it gave was accepted; what it now gives beside that was never sent: ${told}.`,
    hint: "Mend it in its rejects file and stream that: what was accepted is known, and only the rest is sent. To leave the rest out for good, remove it from the row there and empty tickets:actions.",
  };
}

const MENDED_UNSURE = {
  rule: "mended-unsure" satisfies MappingRule,
  message:
    "A row that reads like this one was mended and sent before, so this one is not; but it names no ticket or event, and may be another row.",
  hint: "If it is another one, stream it alone with its ids. Correct the rows at the source.",
} as const;

/** A mended row may say something else now, by its lookup or its mapping, or may always have done so: a person mended it. */
function saysElse({ others }: StillOpen, now: number, severityOf: (rule: string) => Severity): readonly Finding[] {
  const sound = others.filter((action) => findingsOf([action], now).every(({ rule }) => severityOf(rule) !== "error"));
  return sound.map(({ action }) => ({
    rule: "mended-unsure" satisfies MappingRule,
    message: `The row was mended, and its ${action} was accepted; this one says something else, and was never sent. Whether it is another one, or what was mended in it, can't be told.`,
    hint: "If it is another one, send it in its own row. If not, correct the row at the source.",
  }));
}

/** With these, what else a row gives is not known. */
const HIDING: ReadonlySet<string> = new Set<MappingRule>([
  "lookup-missing",
  "lookup-ambiguous",
  "each-unreadable",
  "list-missing",
]);

/** What to say of a mended row that may give more, as far as it can be read. */
function hidesMore(mapped: Mapped | undefined): readonly Finding[] {
  if (mapped?.kind !== "invalid") return [];
  const cause = mapped.findings.find(({ rule }) => HIDING.has(rule));
  if (cause === undefined) return [];
  return [
    {
      rule: "mended-unsure" satisfies MappingRule,
      message: `The row was mended, and what it gave was accepted; whether it gives more now can't be read (${cause.rule}): ${cause.message}`,
      hint: "Correct the row at the source, and what it refers to.",
    },
  ];
}

function namesSomething({ data }: OrderKey): boolean {
  return [data.ticketId, data.nftId, data.eventId].some((id) => typeof id === "string" && id !== "");
}

/** What is wrong with a row because of the rejects file from which it comes. */
export function findingsOfMark(
  mark: NonNullable<ReturnType<RowMarks["of"]>>,
  { readAs, rules }: ReadingOfRejects,
): readonly Finding[] {
  const renumbered = mark.kind === "rejected" || mark.kind === "mended" ? renumberedIn(mark, rules) : undefined;
  if (renumbered !== undefined) return [renumbered];
  if (mark.kind !== "rejected") return [];
  const findings: Finding[] = [];
  if (mark.readAs !== undefined && mark.readAs !== readAs)
    findings.push({
      rule: "rejects-misread" satisfies MappingRule,
      message: `It was rejected when it was read as ${cleanText(mark.readAs, 100)}, and is read as ${cleanText(readAs, 100)} now, where the same cells mean another deed.`,
      hint: "Stream the rejects under their original name, with the options of that run: --source NAME or --action NAME.",
    });
  if (mark.twin !== undefined) findings.push(isTwin(mark.twin));
  return findings;
}

function isTwin({ line, open }: NonNullable<RejectedMark["twin"]>): Finding {
  const rule = "rejects-row-twice" satisfies MappingRule;
  if (open === undefined)
    return {
      rule,
      message: `It has the tickets:row of line ${line} but differs from it: which of them the bad row became can't be told.`,
      hint: "Remove one of them, or empty its tickets:row if it is a separate row.",
    };
  const both =
    open.length === 0 ? "empty the cell of line" : `write ${JSON.stringify(open.join(" "))} into that of line`;
  return {
    rule,
    field: OPEN_ACTIONS_COLUMN,
    message: `It is the row of line ${line} once more, and names actions of it that are open and that line does not name: taken by themselves they may be sent out of their order.`,
    hint: `Put the two together: ${both} ${line}, and remove this line.`,
  };
}

/** What `tickets:actions` names may be another action by the mapping of now. */
function renumberedIn({ open, rules: written }: MarkOfRejects, rules: readonly string[]): Finding | undefined {
  if (open === undefined) return undefined;
  for (const then of written) {
    const found = findRenumbered(open, then, rules);
    if (found === undefined) continue;
    return {
      rule: "rejects-misread" satisfies MappingRule,
      field: OPEN_ACTIONS_COLUMN,
      value: open,
      message: `The mapping lists other ${found.action} actions than when this was written, so which one ${found.name} means can't be told.`,
      hint: "Empty the cell for all actions of the row: what was accepted of them is known, and is not sent again. Or stream it with the old mapping.",
    };
  }
  return undefined;
}

/**
 * What to say of a row of which a mended one was accepted.
 *
 * @param mapped what it gives now, `still` what of it is open.
 */
export function findingsOfMended(
  mapped: Mapped | undefined,
  attempted: readonly OrderKey[],
  still: StillOpen,
  options: {
    readonly rules: readonly string[];
    readonly now: number;
    readonly severityOf: (rule: string) => Severity;
  },
): readonly Finding[] {
  const isClosed = still.names.size === 0;
  return [
    // Any row that lacks the same values may read like this one.
    ...(attempted.some(namesSomething) ? [] : [MENDED_UNSURE]),
    ...(isClosed ? [] : [givesMore(still)]),
    ...(isClosed && options.rules.length > still.closed ? hidesMore(mapped) : []),
    ...saysElse(still, options.now, options.severityOf),
  ];
}
