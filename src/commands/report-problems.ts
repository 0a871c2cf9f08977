/** The sections of a report about what checking found in an input. */

import type { Problem } from "../actions/problem.ts";
import { andMore, cleanText, count, number } from "../actions/text.ts";
import type { Plan } from "../plan/plan.ts";
import type { CheckedInput } from "../run/progress.ts";
import { ALL_RULES } from "../run/settings.ts";
import type { Block, Group, Section, Table } from "../write/report/report.ts";
import type { Context } from "./context.ts";
import { shown } from "./problems.ts";

export function problemSections({ plan, problems }: CheckedInput, { verbose }: Context): readonly Section[] {
  const groups = ruleGroups(problems, verbose);
  return [
    ...(groups.length === 0 ? [] : [{ id: "problems", title: "Problems", blocks: groups } satisfies Section]),
    ...unsentSection(plan),
    ...skippedSection(plan),
  ];
}

/** Examples of all rules together, so that a page of many rules stays small. */
const EXAMPLES = 150;
const MOST_OF_RULE = 5;

function ruleGroups({ tallies, kept }: CheckedInput["problems"], verbose: boolean): readonly Group[] {
  const most = Math.max(1, Math.min(MOST_OF_RULE, Math.floor(EXAMPLES / Math.max(1, tallies.length))));
  const examples = Map.groupBy(kept, ({ severity, rule }) => `${severity} ${rule}`);
  const sorted = [...tallies].sort(
    (one, other) => Number(other.severity === "error") - Number(one.severity === "error") || other.count - one.count,
  );
  return sorted.map(({ rule, severity, count: times, first, byAction }) => {
    const found = examples.get(`${severity} ${rule}`) ?? [first];
    const shownOnes = found.slice(0, most);
    const hints = new Set(shownOnes.flatMap(({ hint }) => hint ?? []));
    const kinds = [...byAction].sort(([, one], [, other]) => other - one);
    // Said once where all examples say the same.
    const [message, ...others] = new Set(shownOnes.map((problem) => problem.message));
    const sentence = others.length === 0 ? message : ALL_RULES[rule]?.reason;
    return {
      kind: "group",
      tone: severity === "error" ? "bad" : "warning",
      title: cleanText(sentence ?? rule, MESSAGE_SHOWN),
      amount: `${count(times, severity === "error" ? "error" : "warning")}${kinds.length < 2 ? "" : `: ${kinds.map(([action, of]) => `${number(of)} ${action}`).join(", ")}`}`,
      id: rule,
      blocks: [
        ...[...hints].map((hint) => ({ kind: "text", text: cleanText(hint, HINT_SHOWN) }) as const),
        exampleTable(shownOnes, times, verbose, others.length > 0),
      ],
    } satisfies Group;
  });
}

const MESSAGE_SHOWN = 400;
/** Code points of a remedy. */
const HINT_SHOWN = 500;

function exampleTable(examples: readonly Problem[], times: number, verbose: boolean, hasMessages: boolean): Table {
  const more = times - examples.length;
  return {
    kind: "table",
    caption: more > 0 ? `The first${examples.length === 1 ? "" : ` ${examples.length}`}` : "Where",
    columns: ["row", "field", "text", ...(hasMessages ? ["what is wrong"] : [])].map((name) => ({ name })),
    rows: examples.map(({ source, line, field, value, message }) => [
      `${cleanText(source, 200)}:${line}`,
      field === undefined ? "" : cleanText(field),
      value === undefined ? "" : shown(field, value, verbose),
      ...(hasMessages ? [cleanText(message, MESSAGE_SHOWN)] : []),
    ]),
    more: more > 0 ? `… and ${number(more)} more.` : undefined,
  };
}

/** Rows that wait: for a row that is invalid, or for another run. */
function unsentSection({ held: { heldFor, heldBy } }: Plan): readonly Section[] {
  const held: Table = {
    kind: "table",
    caption: "Rows that hold others; those are sent once they are fixed",
    columns: [{ name: "invalid row" }, { name: "rows held", isNumber: true }, { name: "the first of them" }],
    rows: heldFor
      .slice(0, LISTED)
      .map(({ source, line, rows, first }) => [
        `${cleanText(source, 200)}:${line}`,
        number(rows),
        `${first.slice(0, PLACES).map(placeOf).join(", ")}${andMore(rows - Math.min(PLACES, first.length))}`,
      ]),
    more: heldFor.length > LISTED ? `… and ${count(heldFor.length - LISTED, "more row")} that hold others.` : undefined,
  };
  const waiting = [...heldBy].map(
    ([run, actions]): Block => ({
      kind: "text",
      text: `${count(actions, "action")} ${actions === 1 ? "waits" : "wait"} for run ${run}, which is not finished.`,
    }),
  );
  const blocks: readonly Block[] = [...(heldFor.length === 0 ? [] : [held]), ...waiting];
  return blocks.length === 0 ? [] : [{ id: "waiting", title: "Rows that wait", blocks }];
}

const placeOf = ({ source, line }: Pick<Problem, "source" | "line">): string => `${cleanText(source, 200)}:${line}`;

/** Lines of a list, and places within one. */
const LISTED = 25;
const PLACES = 5;

function skippedSection({ skipReasons, eventOnlyReasons }: Plan): readonly Section[] {
  const table = (caption: string, reasons: ReadonlyMap<string, number>): readonly Table[] => {
    const sorted = [...reasons].sort(([, one], [, other]) => other - one);
    const rest = sorted.slice(LISTED);
    if (sorted.length === 0) return [];
    return [
      {
        kind: "table",
        caption,
        columns: [{ name: "reason" }, { name: "rows", isNumber: true }],
        rows: sorted.slice(0, LISTED).map(([reason, times]) => [cleanText(reason, 300), number(times)]),
        more:
          rest.length === 0
            ? undefined
            : `… and ${count(rest.length, "more reason")}, of ${count(
                rest.reduce((sum, [, times]) => sum + times, 0),
                "row",
              )}.`,
      },
    ];
  };
  const blocks = [
    ...table("Rows that gave nothing", skipReasons),
    ...table("Rows that gave only their event", eventOnlyReasons),
  ];
  return blocks.length === 0 ? [] : [{ id: "skipped", title: "Skipped rows", blocks }];
}
