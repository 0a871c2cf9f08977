/** The sections of a report about a run: its requests, its actions, what was rejected, and what waits for a person. */

import { isOnce } from "../actions/marks.ts";
import { decideChunkCommand, statusCommand } from "../actions/next-command.ts";
import { cleanText, count, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import type { EventCounts, Rejections, RunFigures } from "../run/report.ts";
import type { AskedAction, Question } from "../run/runs.ts";
import { durationText } from "../write/report/figures.ts";
import type { Block, Command, Count, Group, Part, Section, Table, Tone } from "../write/report/report.ts";
import type { EndCount, SendingTimes } from "../write/report/sending-times.ts";
import { chunkNumber, describeSettlement } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import { idsOf, tellingFields } from "./telling-fields.ts";

export function runSections(
  figures: RunFigures,
  environment: Environment,
  context: Context,
): { readonly toDecide: readonly Section[]; readonly actions: readonly Block[]; readonly came: readonly Section[] } {
  const { times, byAction, byEvent, rejections, questions } = figures;
  const sending: readonly Section[] =
    times === undefined
      ? []
      : [{ id: "sending", title: "Sending", isFolded: true, blocks: [requestCount(times), { kind: "times", times }] }];
  return {
    toDecide: [
      ...(questions.length === 0 ? [] : [doubtSection(figures, environment, context)]),
      ...(rejections.groups.length === 0 ? [] : [rejectionSection(rejections)]),
    ],
    actions: byAction.length === 0 ? [] : actionBlocks(byAction, byEvent),
    came: [...sending, ...pastSection(figures)],
  };
}

/** What a reader calls an answer, where the ledger calls it otherwise. */
const ANSWERS: Readonly<Record<string, string>> = {
  retry: "sent again, since the environment says that it was not taken",
  "not sent": "not reached",
};
const END_TONES: Readonly<Record<EndCount["end"], Tone>> = {
  answered: "good",
  "not taken": "warning",
  unknown: "doubt",
};
/** Kinds of answers: a service knows few. */
const ENDS_SHOWN = 12;

/** The requests by what became of them. */
function requestCount(times: SendingTimes): Count {
  const parts = times.ends.map(({ end, class: kind = "no answer known", httpStatus, requests }) => ({
    name: `${ANSWERS[kind] ?? kind}${httpStatus === undefined ? "" : `, HTTP ${httpStatus}`}`,
    value: requests,
    tone: END_TONES[end],
  }));
  const others = parts.slice(ENDS_SHOWN).reduce((sum, { value }) => sum + value, 0);
  const rest: readonly Part[] = others === 0 ? [] : [{ name: "others", value: others, tone: "plain" }];
  return { kind: "count", unit: "requests", total: times.requests, parts: [...parts.slice(0, ENDS_SHOWN), ...rest] };
}

function actionBlocks(byAction: RunFigures["byAction"], byEvent: EventCounts): readonly Block[] {
  const table: Table = {
    kind: "table",
    caption: "Actions that have an outcome, by kind",
    columns: [{ name: "kind" }, { name: "outcome" }, { name: "actions", isNumber: true }],
    rows: [...Map.groupBy(byAction, ({ action }) => action).values()]
      .flat()
      .map(({ action, outcome, actions }) => [action, outcome, number(actions)]),
  };
  return [table, eventBlock(byEvent)];
}

/** The events with the most problems, then actions, to their own scale: all others together would make slivers of them. */
function eventBlock({ first, others, unnamed }: EventCounts): Block {
  if (first.length === 0) return { kind: "text", text: "None of them names an event." };
  const bars = first.map(({ eventId, actions, problems }) => ({ name: cleanText(eventId), value: actions, problems }));
  const otherOnes =
    others.events === 0 ? [] : [`${count(others.actions, "action")} of ${count(others.events, "other event")}`];
  const unnamedOnes =
    unnamed === 0 ? [] : [`${count(unnamed, "action")} that ${unnamed === 1 ? "names" : "name"} no event`];
  const rest = [...otherOnes, ...unnamedOnes];
  const most = bars.some(({ problems }) => problems > 0) ? "problems" : "actions";
  return {
    kind: "bars",
    title: otherOnes.length === 0 ? "The same by event" : `The same by event: the ${bars.length} with the most ${most}`,
    bars,
    more: rest.length === 0 ? undefined : `Beside these: ${rest.join("; ")}.`,
  };
}

function rejectionSection({ groups, others }: Rejections): Section {
  const blocks = groups.map(
    ({ words, actions, examples }): Group => ({
      kind: "group",
      tone: "bad",
      title: words.replace(/^rejected by the service: /, ""),
      amount: count(actions, "action"),
      blocks: [
        {
          kind: "table",
          caption: actions > examples.length ? `The first ${number(examples.length)} of them` : "Where they stand",
          columns: [{ name: "row" }, { name: "action" }, { name: "id" }],
          rows: examples.map(({ source, line, action, id }) => [
            `${cleanText(source, 200)}:${line}`,
            action,
            cleanText(id),
          ]),
        },
      ],
    }),
  );
  const more: readonly Block[] =
    others === 0
      ? []
      : [
          {
            kind: "text",
            text: `… and ${count(others, "more action")} rejected in other words; the promises file has each answer.`,
          },
        ];
  return { id: "rejected", title: "Rejected by the service", blocks: [...blocks, ...more] };
}

function doubtSection(
  { run, questions, questionCount }: RunFigures,
  environment: Environment,
  { verbose }: Context,
): Section {
  const more = questionCount - questions.length;
  return {
    id: "doubts",
    title: "To be decided",
    blocks: [
      {
        kind: "text",
        text: "It is not known whether the service has these actions. Nothing that could be one of them is sent until somebody has looked there and says so.",
      },
      ...questions.map((question) => questionGroup(question, run.run, environment, verbose)),
      ...(more === 0 ? [] : [{ kind: "text", text: `… and ${count(more, "more chunk")}.` } as const]),
    ],
  };
}

function questionGroup(
  { chunk, actions: first }: Question,
  run: string,
  environment: Environment,
  verbose: boolean,
): Group {
  const { chunk: number } = chunk;
  const commands: readonly Command[] = [
    { lead: "All of its actions", command: statusCommand(environment, run, "--chunk", String(number)) },
    { lead: "If the service has this chunk", command: decideChunkCommand(run, number, environment, "--sent") },
    { lead: "If it does not", command: decideChunkCommand(run, number, environment, "--not-sent") },
  ];
  return {
    kind: "group",
    tone: "doubt",
    title: `Chunk ${chunkNumber(chunk)} is ${chunk.state}`,
    amount: count(chunk.count, "action"),
    blocks: [
      ...(chunk.detail === undefined ? [] : [{ kind: "text", text: cleanText(chunk.detail, 300) } as const]),
      doubtfulTable(first, chunk.count, verbose),
      { kind: "commands", commands },
    ],
  };
}

function doubtfulTable(first: readonly AskedAction[], total: number, verbose: boolean): Table {
  const fields = tellingFields(
    first.map(({ action }) => action),
    verbose,
  );
  const more = total - first.length;
  return {
    kind: "table",
    caption: "Actions, and whether the service would take them a second time",
    columns: ["row", "action", "ids", "fields", "a second time"].map((name) => ({ name })),
    rows: first.map(({ source, line, action }, at) => [
      `${cleanText(source, 200)}:${line}`,
      action.action,
      idsOf(action)
        .map((id) => cleanText(id))
        .join(" "),
      (fields[at] ?? []).map(({ name, text }) => `${name} ${text}`).join(", "),
      isOnce(action.action) ? "probably refused" : "registered twice",
    ]),
    more: more === 0 ? undefined : `… and ${count(more, "more action")}.`,
  };
}

/** Commands and decisions that are listed: the last ones. */
const MOST_PAST = 40;

/** What people and earlier commands did with the run. */
function pastSection({ settlements, commands }: RunFigures): readonly Section[] {
  const decided = settlements.slice(-MOST_PAST).map(({ chunk, ...how }) => ({
    tone: "plain" as const,
    text: `${chunk === undefined ? "The run" : `Chunk ${chunk}`} was settled ${describeSettlement(how)}`,
  }));
  const table: Table = {
    kind: "table",
    caption: "Commands that carried the run out",
    columns: [
      { name: "began" },
      { name: "command" },
      { name: "took", isNumber: true },
      { name: "exit code", isNumber: true },
      { name: "version" },
    ],
    rows: commands
      .slice(-MOST_PAST)
      .map(({ startedAt, command, durationMs, exitCode, version }) => [
        startedAt,
        command,
        durationText(durationMs),
        `${exitCode}`,
        version,
      ]),
  };
  if (decided.length + commands.length === 0) return [];
  const blocks: readonly Block[] = [
    ...(decided.length === 0 ? [] : [{ kind: "messages", messages: decided } as const]),
    ...(commands.length === 0 ? [] : [table]),
  ];
  return [{ id: "past", title: "What happened to the run", blocks }];
}
