/** What really happened, from the service's own record, held against what the program tells and the promises files. */

import { existsSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { draftOf } from "../../../src/actions/draft.ts";
import { identityOf } from "../../../src/actions/identity.ts";
import { parseJson } from "../../../src/actions/json.ts";
import type { ProcessedAction } from "../../../src/sandbox/state.ts";
import { type PromiseLine, readPromises, readTable } from "../tables.ts";
import type { Rig } from "./rig.ts";
import { MAYBE_SENT, type Placed, placeText, readRuns, type ShownRun } from "./runs.ts";

/** A chunk whose fate a person must say, and what it really was. */
export interface Question {
  readonly run: string;
  readonly chunk: number;
  readonly state: "in doubt" | "refused";
  readonly answer: "sent" | "not-sent" | "partly";
}

export interface Truth {
  readonly runs: readonly ShownRun[];
  readonly questions: readonly Question[];
}

export interface TruthOptions {
  /** The service may swap promises of actions that nothing in its answer tells apart (the fault `shuffle`). */
  readonly shuffled?: boolean;
  /** With several, only what is reported of one ticket or event has an order. */
  readonly inLanes?: boolean;
}

const OPEN = ["planned", ...MAYBE_SENT];

/**
 * Asks the program and holds the service's record against it. Whatever the moment, so long as no process runs:
 *
 * - every action that was processed stands in one row of the input, and none was taken twice;
 * - every action that was processed has an outcome, or stands in a chunk whose fate is open;
 * - every action that is called accepted was processed, and has the promise that was given for it;
 * - nothing follows a chunk whose fate is open in what it tells of an event or ticket;
 * - what is known of one event or ticket is processed in the order of the input; with one lane, all is;
 * - every action of a run has one outcome, or stands in one chunk that is still open.
 *
 * No two rows of the input may say the same.
 */
export async function readTruth(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Promise<Truth> {
  const runs = await readRuns(rig);
  const rows = new Map(input.map((each, at) => [placeText(each), rowOf(each, at)]));
  const records = recordsOf(rig, rows);
  const doubtful = new Map<string, Sent | undefined>();
  for (const [place, row] of rows) {
    const left = [...(records.get(place) ?? [])];
    for (const run of runs) {
      const line = run.lines.get(place);
      if (line !== undefined && line.status !== TOO_LARGE) expectSameFate(place, left.shift(), line, run, options);
      if (run.chunks.some((chunk) => isOpen(chunk) && chunk.rows.includes(place))) {
        const sent = left.shift();
        if (sent !== undefined) sent.run = run.run;
        doubtful.set(place, sent);
      }
    }
    if (left.length > 0)
      throw new Error(`${row.text} (${place}) was processed, but has no outcome and is not in doubt`);
  }
  for (const run of runs) {
    expectOneOutcomeEach(run);
    expectNothingAfterDoubts(run, rows);
    expectOrder(run, [...records.values()].flat(), options);
  }
  return { runs, questions: runs.flatMap((run) => questionsOf(run, doubtful)) };
}

/** So an action that was too large alone is rejected, of which the service has nothing. */
const TOO_LARGE = "too large";

const isOpen = ({ state }: { readonly state: string }): boolean => MAYBE_SENT.includes(state);

interface Row {
  /** Where in the input. */
  readonly at: number;
  /** What it says, and about what. */
  readonly text: string;
  /** The event or ticket that it is about. */
  readonly subject: string;
  /** Of its ticket. */
  readonly event: string | undefined;
}

const rowOf = ({ action }: Placed, at: number): Row => {
  const { subject, event } = identityOf(draftOf(action.action, action.data));
  return { at, text: textOf(action), subject, event: event === undefined ? undefined : `e:${event}` };
};

function textOf({ action, data }: Action): string {
  const { subject, content } = identityOf(draftOf(action, data));
  return `${action} ${subject} ${content}`;
}

/** An action as the service processed it. */
interface Sent {
  readonly record: ProcessedAction;
  readonly row: Row;
  /** All that was processed with it. */
  readonly request: readonly ProcessedAction[];
  /** In the order of the service. */
  readonly at: number;
  /** The run that it was sent by. */
  run?: string;
}

/** What was processed of each row, in order. */
function recordsOf(rig: Rig, rows: ReadonlyMap<string, Row>): Map<string, Sent[]> {
  const placeOf = new Map([...rows].map(([place, { text }]) => [text, place]));
  if (placeOf.size < rows.size) throw new Error("two rows of the input say the same");
  const found = new Map<string, Sent[]>();
  let at = 0;
  for (const request of rig.requests())
    for (const record of request) {
      const text = textOf(parseJson(`{"action":${JSON.stringify(record.action)},"data":${record.data}}`) as Action); // read by the sandbox
      const place = placeOf.get(text) ?? "";
      const row = rows.get(place);
      if (row === undefined) throw new Error(`${text} was processed, and stands in no row`);
      at += 1;
      const ofRow = found.get(place) ?? [];
      found.set(place, ofRow);
      ofRow.push({ record, row, request, at });
      if (ofRow.filter(isTaken).length > 1) throw new Error(`the action of ${place} was taken twice`);
    }
  return found;
}

const isTaken = ({ record: { status } }: Sent): boolean => status === "success";

/** What is reported of an action is what the service did. */
function expectSameFate(
  place: string,
  sent: Sent | undefined,
  { status, actionPromise }: PromiseLine,
  { run }: ShownRun,
  { shuffled = false }: TruthOptions,
): void {
  if (sent === undefined) throw new Error(`${place} is reported as ${status}, but was not processed`);
  sent.run = run;
  const { record, request } = sent;
  const given = shuffled ? request.filter((each) => echoOf(each) === echoOf(record)) : [record];
  const isSame = isTaken(sent) === (status === "success" || status === "settled");
  const isItsPromise = status !== "success" || given.some((each) => each.actionPromise === actionPromise);
  if (!isSame || !isItsPromise)
    throw new Error(
      `${place} is reported as ${status} with ${actionPromise}, but the service said ${record.status} with ${record.actionPromise}`,
    );
}

const echoOf = ({ action, eventId, ticketId, nftId }: ProcessedAction): string =>
  JSON.stringify([action, action === "soldTicket" || ticketId === null ? eventId : null, ticketId, nftId]);

/** Behind a chunk whose fate is open, nothing about the same event or ticket was begun. */
function expectNothingAfterDoubts({ run, chunks }: ShownRun, rows: ReadonlyMap<string, Row>): void {
  const doubted = new Map<Row, number>();
  for (const chunk of chunks) {
    const own = chunk.rows.flatMap((place) => rows.get(place) ?? []);
    for (const row of own)
      for (const [before, of] of doubted)
        if (isRelated(before, row))
          throw new Error(`${row.subject} is in chunk ${chunk.chunk} of ${run}, behind the open chunk ${of}`);
    if (isOpen(chunk)) for (const row of own) doubted.set(row, chunk.chunk);
  }
}

/** They are about the same ticket, or about the same event, and at least one of them about the event itself. */
const isRelated = (one: Row, other: Row): boolean =>
  one.subject === other.subject || one.event === other.subject || one.subject === other.event;

const EVERYTHING = "";

/** What a run sent came in the order of the input. */
function expectOrder({ run }: ShownRun, records: readonly Sent[], { inLanes = false }: TruthOptions): void {
  const sent = records.filter((each) => each.run === run && isTaken(each)).toSorted((one, other) => one.at - other.at);
  const last = new Map<string, Row>();
  const follow = (name: string, row: Row): void => {
    const before = last.get(name);
    if (before !== undefined && before.at > row.at)
      throw new Error(`${row.text} was processed behind ${before.text}, which stands behind it`);
  };
  for (const { row } of sent) {
    const { subject, event } = row;
    const ofAll = `all of ${event ?? subject}`;
    // An event's own actions keep their place among those of its tickets.
    const names = subject.startsWith("e:") ? [subject, ofAll] : [subject, ...(event === undefined ? [] : [event])];
    for (const name of inLanes ? names : [EVERYTHING]) follow(name, row);
    for (const name of [subject, ofAll, EVERYTHING]) if ((last.get(name)?.at ?? -1) < row.at) last.set(name, row);
  }
}

function questionsOf({ run, chunks }: ShownRun, doubtful: ReadonlyMap<string, Sent | undefined>): readonly Question[] {
  return chunks.flatMap(({ chunk, state, rows }): readonly Question[] => {
    if (state !== "in doubt" && state !== "refused") return [];
    const taken = rows.filter((place) => {
      const sent = doubtful.get(place);
      return sent !== undefined && isTaken(sent);
    });
    const processed = rows.filter((place) => doubtful.get(place) !== undefined);
    const answer = processed.length === 0 ? "not-sent" : taken.length === rows.length ? "sent" : "partly";
    return [{ run, chunk, state, answer }];
  });
}

/** Also when all is done: nothing is open, nothing is lost, and every outcome stands in its promises file exactly once. */
export async function expectAllShown(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Promise<Truth> {
  const truth = await readTruth(rig, input, options);
  expect(truth.questions).toEqual([]);
  const reported = new Set<string>();
  for (const run of truth.runs) {
    expect(run.state, `run ${run.run}`).toBe("finished");
    expect(run.chunks.filter(({ state }) => OPEN.includes(state))).toEqual([]);
    for (const place of run.lines.keys()) reported.add(place);
  }
  for (const each of input) if (!reported.has(placeText(each))) throw new Error(`${placeText(each)} is lost`);
  expectPromisesComplete(truth);
  return truth;
}

/** Each outcome of each run has exactly one line, with its promise, in the file that the program names. */
function expectPromisesComplete({ runs }: Truth): void {
  const lineText = ({ run, seq, chunk, source, line, action, status, actionPromise }: PromiseLine): string =>
    [run, seq, chunk, `${source}:${line}`, action, status, actionPromise ?? ""].join(" ");
  for (const [output, ofOutput] of Map.groupBy(runs, (run) => run.output)) {
    if (output === null) continue;
    const expected = ofOutput.flatMap(({ lines }) => [...lines.values()].map(lineText));
    expect(readOutput(output).map(lineText).toSorted(), output).toEqual(expected.toSorted());
  }
}

export function readOutput(path: string): readonly PromiseLine[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  if (!path.endsWith(".csv")) return readPromises(text);
  return readTable(text) as unknown as readonly PromiseLine[]; // numbers as text, which nobody here minds
}

function expectOneOutcomeEach({ run, chunks, lines, total }: ShownRun): void {
  const open = chunks.filter((chunk) => isOpen(chunk));
  const unsent = chunks.filter(({ state }) => state === "planned" || state === "abandoned");
  const count = [...open, ...unsent].reduce((sum, each) => sum + each.count, 0);
  expect(lines.size + count, `every action of ${run} has one outcome or stands in one open chunk`).toBe(total);
  for (const { rows, chunk } of open)
    for (const place of rows)
      if (lines.has(place)) throw new Error(`${place} has an outcome in ${run}, and stands in its open chunk ${chunk}`);
}
