/** The sections of a report, the most urgent first. A section without content is left out. */

import type { Run } from "../ledger/ledger.ts";
import type { UnderstoodInput } from "../plan/rows.ts";
import { placeText } from "../read/file-names.ts";
import type { CheckedInput } from "../run/context.ts";
import type { RunDetails } from "../run/runs.ts";
import { cleanText, count, number } from "../text.ts";
import type { EventCount, Figures } from "../write/report/figures.ts";
import type { Block, Group, Section } from "../write/report/report.ts";
import type { Context } from "./context.ts";
import { chunkNumber } from "./describe.ts";
import { describeFile, describePublished } from "./input-words.ts";
import type { Fact } from "./layout.ts";
import { partsOf } from "./problems.ts";

type Sections = readonly Section[];

const text = (words: string) => ({ kind: "text", text: words }) as const;

const section = (id: string, title: string, blocks: readonly Block[]): Sections =>
  blocks.length === 0 ? [] : [{ id, title, blocks }];

const folded = (id: string, title: string, blocks: readonly Block[]): Sections =>
  section(id, title, blocks).map((open) => ({ ...open, isFolded: true }));

const moreOf = (more: number, what: string): string | undefined =>
  more > 0 ? `… and ${count(more, `more ${what}`)}.` : undefined;

const DOUBTS_SHOWN = 10;

/** The chunks that wait for a person; the command that decides stands at the top. */
export function doubtSection({ chunks }: Pick<RunDetails, "chunks">): Sections {
  const open = chunks.filter(({ state }) => state === "in doubt" || state === "refused");
  if (open.length === 0) return [];
  return section("doubts", "To be decided", [
    text(
      "The service may or may not have these actions. They are not sent again until you have looked there and decided.",
    ),
    {
      kind: "table",
      caption: "Chunks that wait for a decision",
      columns: [{ name: "chunk" }, { name: "actions", isNumber: true }, { name: "state" }, { name: "why" }],
      rows: open
        .slice(0, DOUBTS_SHOWN)
        .map((chunk) => [chunkNumber(chunk), number(chunk.count), chunk.state, cleanText(chunk.detail ?? "", 300)]),
      more: moreOf(open.length - DOUBTS_SHOWN, "chunk"),
    },
  ]);
}

/** What checking found: errors first, then the most frequent; each with what is wrong, where, and what to do. */
export function problemSection(checked: CheckedInput, { verbose }: Context): Sections {
  const sorted = [...checked.problems.tallies].sort(
    (one, other) => Number(other.severity === "error") - Number(one.severity === "error") || other.count - one.count,
  );
  const groups = sorted.map((tally): Group => {
    const { head, message, examples, remedies } = partsOf(tally, tally.count, checked, verbose);
    return {
      kind: "group",
      tone: tally.severity === "error" ? "bad" : "warning",
      title: message ?? cleanText(tally.first.message, 400),
      lines: [...remedies, ...examples.map((line) => line.replace(/:$/, ""))],
      small: head,
    };
  });
  return section("problems", "Problems", groups);
}

/** The result of sending: rejections, events, requests. */
export const runSections = ({ rejections, byEvent, times }: Figures): Sections => [
  ...rejectionSection(rejections),
  ...eventSection(byEvent),
  ...folded("sending", "Sending", times === undefined ? [] : [{ kind: "times", times }]),
];

const REJECTIONS_SHOWN = 20;

function rejectionSection(rejections: Figures["rejections"]): Sections {
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

/** The events with the most problems, then actions. Bars have the scale of these events alone, or they would be slivers. */
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
      more: rest.length === 0 ? undefined : `Not shown: ${rest.join("; ")}.`,
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

export const aboutSection = (facts: readonly Fact[]): Sections =>
  folded("about", "About this report", [
    {
      kind: "table",
      caption: "What it is about",
      columns: [{ name: "what" }, { name: "value" }],
      rows: facts.flatMap(([name, value]) => (value == null ? [] : [[name, value]])),
    },
  ]);
