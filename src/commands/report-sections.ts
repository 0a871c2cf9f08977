/** The sections of a report, the first to be acted upon first; one that has nothing to show is left out. */

import { type Problem, placeText } from "../actions/problem.ts";
import type { Environment } from "../config/environment.ts";
import type { Chunk, Run } from "../ledger/ledger.ts";
import { decideChunkCommand, statusCommand } from "../next-command.ts";
import type { CheckedInput } from "../run/progress.ts";
import type { EventCount, RunFigures } from "../run/report.ts";
import { ALL_RULES } from "../run/settings.ts";
import type { UnderstoodInput } from "../run/understood.ts";
import { cleanText, count, number } from "../text.ts";
import type { Block, Group, Section, Table } from "../write/report/report.ts";
import type { Context } from "./context.ts";
import { describeFile, describePublished } from "./input-words.ts";
import { shownIf } from "./problems.ts";
import { chunkNumber } from "./summary.ts";

type Sections = readonly Section[];

const text = (words: string) => ({ kind: "text", text: words }) as const;

const section = (id: string, title: string, blocks: readonly Block[]): Sections =>
  blocks.length === 0 ? [] : [{ id, title, blocks }];

const folded = (id: string, title: string, blocks: readonly Block[]): Sections =>
  section(id, title, blocks).map((open) => ({ ...open, isFolded: true }));

const moreOf = (more: number, what: string): string | undefined =>
  more > 0 ? `… and ${count(more, `more ${what}`)}.` : undefined;

const DOUBTS_SHOWN = 10;

/** The chunks that wait for a person, and the commands that decide. */
export function doubtSection({ run, chunks }: RunFigures, environment: Environment): Sections {
  const open = chunks.filter(({ state }) => state === "in doubt" || state === "refused");
  if (open.length === 0) return [];
  const more = moreOf(open.length - DOUBTS_SHOWN, "chunk");
  return section("doubts", "To be decided", [
    text(
      "The service may or may not have these actions. Nothing that could be one of them is sent until you have looked there and decided.",
    ),
    ...open.slice(0, DOUBTS_SHOWN).map((chunk) => doubtGroup(run.run, chunk, environment)),
    ...(more === undefined ? [] : [text(more)]),
  ]);
}

function doubtGroup(run: string, chunk: Chunk, environment: Environment): Group {
  const { chunk: number, detail, state } = chunk;
  const commands = [
    { lead: "All of its actions", command: statusCommand(environment, run, "--chunk", String(number)) },
    { lead: "If the service has this chunk", command: decideChunkCommand(run, number, environment, "--sent") },
    { lead: "If it does not", command: decideChunkCommand(run, number, environment, "--not-sent") },
  ];
  return {
    kind: "group",
    tone: "doubt",
    title: `Chunk ${chunkNumber(chunk)} is ${state}`,
    amount: count(chunk.count, "action"),
    blocks: [...(detail === undefined ? [] : [text(cleanText(detail, 300))]), { kind: "commands", commands }],
  };
}

/** Examples of all rules together, so that a page of many rules stays small; and of one rule. */
const [EXAMPLES, EXAMPLES_OF_RULE] = [150, 5];
/** Code points of a message or a remedy. */
const TEXT_SHOWN = 500;

/** What checking found: what is wrong, what to do, and the first rows. */
export function problemSection({ problems: { tallies }, namesPerson }: CheckedInput, { verbose }: Context): Sections {
  const textOf = (problem: Problem): string =>
    problem.value === undefined ? "" : shownIf(namesPerson(problem), problem.value, verbose);
  const most = Math.max(1, Math.min(EXAMPLES_OF_RULE, Math.floor(EXAMPLES / Math.max(1, tallies.length))));
  const sorted = [...tallies].sort(
    (one, other) => Number(other.severity === "error") - Number(one.severity === "error") || other.count - one.count,
  );
  const groups = sorted.map((tally): Group => {
    const { rule, severity, first, kept } = tally;
    const found = (kept.length === 0 ? [first] : kept).slice(0, most);
    // Said once where all examples say the same.
    const [message, ...others] = new Set(found.map((problem) => problem.message));
    const hints = new Set(found.flatMap(({ hint }) => hint ?? []));
    return {
      kind: "group",
      tone: severity === "error" ? "bad" : "warning",
      title: cleanText((others.length === 0 ? message : ALL_RULES[rule]?.reason) ?? rule, TEXT_SHOWN),
      amount: `${count(tally.count, severity === "error" ? "error" : "warning")} · ${rule}`,
      blocks: [
        ...[...hints].map((hint) => text(cleanText(hint, TEXT_SHOWN))),
        exampleTable(found, tally.count - found.length, others.length > 0, textOf),
      ],
    };
  });
  return section("problems", "Problems", groups);
}

function exampleTable(
  examples: readonly Problem[],
  more: number,
  hasMessages: boolean,
  textOf: (problem: Problem) => string,
): Table {
  return {
    kind: "table",
    caption: more > 0 ? `The first${examples.length === 1 ? "" : ` ${examples.length}`}` : "Where",
    columns: ["row", "field", "text", ...(hasMessages ? ["what is wrong"] : [])].map((name) => ({ name })),
    rows: examples.map((problem) => [
      placeText(problem),
      cleanText(problem.field ?? ""),
      textOf(problem),
      ...(hasMessages ? [cleanText(problem.message, TEXT_SHOWN)] : []),
    ]),
    more: more > 0 ? `… and ${number(more)} more.` : undefined,
  };
}

/** What sending came to: what the service said of actions that it rejected, the events, the requests. */
export const runSections = ({ rejections, byEvent, times }: RunFigures): Sections => [
  ...rejectionSection(rejections),
  ...eventSection(byEvent),
  ...folded("sending", "Sending", times === undefined ? [] : [{ kind: "times", times }]),
];

const REJECTIONS_SHOWN = 20;

function rejectionSection(rejections: RunFigures["rejections"]): Sections {
  if (rejections.length === 0) return [];
  const shown = rejections.slice(0, REJECTIONS_SHOWN);
  return section("rejected", "Rejected by the service", [
    {
      kind: "table",
      caption: "What it said, how often, and of which row first",
      columns: [{ name: "what it said" }, { name: "actions", isNumber: true }, { name: "first row" }],
      rows: shown.map(({ words, actions, first }) => [words, number(actions), placeText(first)]),
      more: moreOf(rejections.length - REJECTIONS_SHOWN, "answer"),
    },
  ]);
}

const EVENTS_SHOWN = 12;

/** The events with the most problems, then actions, to their own scale: all others together would make slivers of them. */
function eventSection(counts: readonly EventCount[]): Sections {
  const named = counts.filter(({ eventId }) => eventId !== undefined);
  const unnamed = counts.find(({ eventId }) => eventId === undefined)?.actions ?? 0;
  if (named.length === 0) return [];
  const others = named.slice(EVENTS_SHOWN);
  const ofOthers = others.reduce((sum, { actions }) => sum + actions, 0);
  const rest = [
    ...(others.length === 0 ? [] : [`${count(ofOthers, "action")} of ${count(others.length, "other event")}`]),
    ...(unnamed === 0 ? [] : [`${count(unnamed, "action")} that ${unnamed === 1 ? "names" : "name"} no event`]),
  ];
  const most = named.some(({ problems }) => problems > 0) ? "problems" : "actions";
  return section("events", "Events", [
    {
      kind: "bars",
      title: others.length === 0 ? "Actions by event" : `The ${EVENTS_SHOWN} events with the most ${most}`,
      bars: named
        .slice(0, EVENTS_SHOWN)
        .map(({ eventId = "", actions: value, problems }) => ({ name: cleanText(eventId), value, problems })),
      more: rest.length === 0 ? undefined : `Beside these: ${rest.join("; ")}.`,
    },
  ]);
}

const INPUTS_SHOWN = 60;

/** The files with their digests, and how they were understood. */
export function inputSection(
  inputs: readonly Pick<Run["inputs"][number], "name" | "rows" | "sha256">[],
  understood: readonly UnderstoodInput[],
): Sections {
  if (inputs.length === 0) return [];
  const nameOf = (name: string): string => (name === "-" ? "standard input" : cleanText(name, 200));
  const files = understood.slice(0, INPUTS_SHOWN).flatMap((input) => describeFile(input));
  const published = describePublished(understood);
  const how = published === undefined ? files : [...files, published];
  return folded("inputs", "Inputs", [
    {
      kind: "table",
      caption: "Files as they were read",
      columns: [{ name: "file" }, { name: "rows", isNumber: true }, { name: "SHA-256" }],
      rows: inputs.slice(0, INPUTS_SHOWN).map(({ name, rows, sha256 }) => [nameOf(name), number(rows), sha256]),
      more: moreOf(inputs.length - INPUTS_SHOWN, "file"),
    },
    ...how.map((line) => text(line.trim())),
  ]);
}

/** What is not known is left out. */
export type Fact = readonly [name: string, value: string | undefined];

export const aboutSection = (facts: readonly Fact[]): Sections =>
  folded("about", "About this report", [
    {
      kind: "table",
      caption: "What it is about",
      columns: [{ name: "what" }, { name: "value" }],
      rows: facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    },
  ]);
