/** What really happened, from the service's own record, held against what the program tells and the promises files. */

import { existsSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { contentText } from "../../../src/actions/identity.ts";
import { parseJson } from "../../../src/actions/json.ts";
import type { ProcessedAction } from "../../../src/sandbox/state.ts";
import { type PromiseLine, readPromises, readTable } from "../tables.ts";
import type { Rig } from "./rig.ts";
import { type Placed, placeText, readRuns, type ToldChunk, type ToldRun } from "./told-runs.ts";

/** A chunk whose fate a person must say, and what it really was. */
export interface Question {
  readonly run: string;
  readonly chunk: number;
  readonly state: "in doubt" | "refused";
  readonly answer: "sent" | "not-sent" | "partly";
}

export interface Truth {
  readonly runs: readonly ToldRun[];
  readonly questions: readonly Question[];
}

export interface TruthOptions {
  /** The service may swap promises of actions that nothing in its answer tells apart (the fault `shuffle`). */
  readonly shuffled?: boolean;
  /** Several lanes send: only what is about one ticket, or an event's own, keeps its order. */
  readonly inLanes?: boolean;
}

/** A person, or the next command, has to say what became of it. */
const DOUBTFUL = ["sending", "in doubt", "refused"];
const UNSENT = ["planned", "abandoned"];

/**
 * Asks the program and holds the service's record against it. Whatever the moment, so long as no process runs:
 *
 * - every action that was processed is told by a run as accepted, rejected, in doubt, refused or settled, and as often as it was;
 * - every action that is called accepted was processed, and has the promise that was given for it;
 * - a request holds actions of one chunk;
 * - what is known of one event or ticket is processed in the order of the input;
 * - nothing follows an action whose fate is open in what it tells of an event or ticket;
 * - every action of a run has one outcome, or stands in one chunk that is still open;
 * - every action comes from the row that it is said to come from, and no row's action was taken twice.
 */
export async function readTruth(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Promise<Truth> {
  const runs = await readRuns(rig);
  const rows = rowsOf(input, options);
  const told = runs.flatMap((run) => toldOf(run, rows));
  match(told, rig.requests());
  for (const run of runs) {
    const ofRun = told.filter((each) => each.run === run);
    expectOneOutcomeEach(run);
    expectNothingAfterDoubts(ofRun);
    expectOrder(ofRun);
  }
  for (const [request, ofRequest] of Map.groupBy(told, ({ processed }) => processed?.request)) {
    if (request === undefined) continue;
    const chunks = new Set(ofRequest.map(({ run, chunk }) => `${run.run} ${chunk.whole ?? chunk.chunk}`));
    expect([...chunks], `request ${request} is one chunk`).toHaveLength(1);
    const records = ofRequest.flatMap(({ processed }) => processed?.record ?? []);
    for (const each of ofRequest) expectSameFate(each, records, options);
  }
  expectNoneDoubled(rig.requests(), input);
  return { runs, questions: runs.flatMap((run) => questionsOf(run, told)) };
}

interface Row {
  readonly place: string;
  /** Where in the input. */
  readonly at: number;
  readonly content: string;
  /** What it must come behind, and what it is one of. */
  readonly after: readonly string[];
  readonly as: readonly string[];
}

/** An action that a run may have sent, and the service's record of it. */
interface ToldAction {
  readonly run: ToldRun;
  readonly chunk: ToldChunk;
  readonly row: Row;
  readonly line: PromiseLine | undefined;
  processed?: { readonly request: number; readonly nth: number; readonly record: ProcessedAction };
}

const rowsOf = (input: readonly Placed[], { inLanes = false }: TruthOptions): ReadonlyMap<string, Row> =>
  new Map(
    input.map((each, at) => {
      const { action, data } = each.action;
      const { eventId, ticketId, nftId } = data;
      const isOwn = action === "newEvent" || action === "updateEvent";
      const [own, ofTickets] = [`event ${eventId}`, `tickets of event ${eventId}`];
      const same = [ticketId && `ticket ${ticketId}`, nftId && `NFT ${nftId}`, inLanes ? "" : "the only lane"];
      const names = same.filter((name) => !!name) as string[];
      const order = isOwn ? { after: [own, ofTickets], as: [own] } : { after: [own], as: [ofTickets] };
      const ofEvent = eventId == null ? { after: [], as: [] } : order;
      const place = placeText(each);
      const row = { place, at, content: contentText(each.action) };
      return [place, { ...row, after: [...names, ...ofEvent.after], as: [...names, ...ofEvent.as] }];
    }),
  );

/** What became of its actions may be known to the service. */
const toldOf = (run: ToldRun, rows: ReadonlyMap<string, Row>): readonly ToldAction[] =>
  run.chunks.flatMap((chunk) =>
    (UNSENT.includes(chunk.state) ? [] : chunk.rows).flatMap((place) => {
      const row = rows.get(place);
      if (row === undefined) throw new Error(`an action of ${run.run} has no row: ${place}`);
      const line = run.lines.get(place);
      return line?.status === "too large" ? [] : [{ run, chunk, row, line }];
    }),
  );

const isDoubtful = ({ chunk }: ToldAction): boolean => DOUBTFUL.includes(chunk.state);

/** Finds for each record the action that is told of it: the same content, in the order in which it was sent again. */
function match(told: readonly ToldAction[], requests: readonly (readonly ProcessedAction[])[]): void {
  const left = Map.groupBy(told, ({ row }) => row.content);
  let nth = 0;
  for (const [request, records] of requests.entries())
    for (const record of records) {
      const ofContent = left.get(contentOf(record)) ?? [];
      const isGiven = ({ line }: ToldAction): boolean =>
        record.actionPromise !== null && line?.actionPromise === record.actionPromise;
      const found = ofContent.find(isGiven) ?? ofContent[0];
      if (found === undefined) throw new Error(`${textOf(record).slice(0, 300)} was processed, and no run tells of it`);
      nth += 1;
      found.processed = { request, nth, record };
      ofContent.splice(ofContent.indexOf(found), 1);
    }
  for (const each of [...left.values()].flat())
    if (!isDoubtful(each))
      throw new Error(`${each.row.place} is ${each.line?.status} in ${each.run.run}, but was not processed`);
}

/** What a person has to say of each open chunk, and what is true. */
function questionsOf(run: ToldRun, told: readonly ToldAction[]): readonly Question[] {
  return run.chunks.flatMap((chunk) => {
    const { state } = chunk;
    if (state !== "in doubt" && state !== "refused") return [];
    const records = told.flatMap((each) => (each.chunk === chunk ? [each.processed?.record] : []));
    const isWhole = records.every((record) => record?.status === "success");
    const answer = isWhole ? "sent" : records.every((record) => record === undefined) ? "not-sent" : "partly";
    return [{ run: run.run, chunk: chunk.chunk, state, answer }];
  });
}

/** What was taken of one ticket, or of one event, was processed in the order of the input. */
function expectOrder(told: readonly ToldAction[]): void {
  const last = new Map<string, number>();
  for (const { row, processed } of told.toSorted((one, other) => nthOf(one) - nthOf(other))) {
    if (processed?.record.status !== "success") continue;
    for (const name of row.after)
      expect(row.at, `${row.place}: ${name} is processed in the order of the input`).toBeGreaterThan(
        last.get(name) ?? -1,
      );
    for (const name of row.as) last.set(name, Math.max(row.at, last.get(name) ?? -1));
  }
}

const nthOf = ({ processed }: ToldAction): number => processed?.nth ?? -1;

/** Behind an action whose fate is open, nothing about the same event or ticket was begun. */
function expectNothingAfterDoubts(told: readonly ToldAction[]): void {
  const doubted = new Map<string, ToldAction>();
  for (const each of told.toSorted((one, other) => one.row.at - other.row.at)) {
    for (const name of each.row.after) {
      const before = doubted.get(name);
      if (before === undefined || before.chunk === each.chunk || isOfOneRequest(before, each)) continue;
      throw new Error(`${each.row.place} was begun behind ${before.row.place} of the open chunk ${before.chunk.chunk}`);
    }
    if (isDoubtful(each)) for (const name of each.row.as) doubted.set(name, each);
  }
}

const isOfOneRequest = (one: ToldAction, other: ToldAction): boolean =>
  one.processed !== undefined && one.processed.request === other.processed?.request;
/** Also when all is done: nothing is open, nothing is lost, and every outcome stands in its promises file exactly once. */
export async function expectAllTold(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Promise<Truth> {
  const truth = await readTruth(rig, input, options);
  expect(truth.questions).toEqual([]);
  const told = new Set<string>();
  for (const run of truth.runs) {
    expect(run.state, `run ${run.run}`).toBe("finished");
    expect(run.chunks.filter(({ state }) => state === "planned" || DOUBTFUL.includes(state))).toEqual([]);
    for (const line of run.lines.values()) told.add(placeText(line));
  }
  for (const each of input) if (!told.has(placeText(each))) throw new Error(`${placeText(each)} is lost`);
  expectPromisesComplete(truth);
  return truth;
}

/** Each outcome of each run has exactly one line, with its promise, in the file that the program names. */
function expectPromisesComplete({ runs }: Truth): void {
  const textOf = ({ run, seq, chunk, source, line, action, status, actionPromise }: PromiseLine): string =>
    [run, seq, chunk, `${source}:${line}`, action, status, actionPromise ?? ""].join(" ");
  for (const [output, ofOutput] of Map.groupBy(runs, (run) => run.output)) {
    if (output === null) continue;
    const expected = ofOutput.flatMap(({ lines }) => [...lines.values()].map(textOf));
    expect(readOutput(output).map(textOf).toSorted(), output).toEqual(expected.toSorted());
  }
}

export function readOutput(path: string): readonly PromiseLine[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  if (!path.endsWith(".csv")) return readPromises(text);
  return readTable(text) as unknown as readonly PromiseLine[]; // numbers as text, which nobody here minds
}

function expectOneOutcomeEach(run: ToldRun): void {
  for (const { chunk, state, count, rows } of run.chunks) {
    if (UNSENT.includes(state)) continue;
    expect(rows.length, `chunk ${chunk} of ${run.run} tells of all its actions`).toBe(count);
    if (DOUBTFUL.includes(state))
      for (const row of rows) expect(run.lines.has(row), `${row} has an outcome in ${run.run}`).toBe(false);
  }
}

/** What is told of an action that was processed. */
function expectSameFate(
  { line, processed }: ToldAction,
  request: readonly ProcessedAction[],
  { shuffled = false }: TruthOptions,
): void {
  if (line === undefined || processed === undefined) return;
  const { record } = processed;
  const text = textOf(record).slice(0, 300);
  switch (line.status) {
    case "success": {
      const given = shuffled
        ? request.filter((each) => echoOf(each) === echoOf(record)).map(({ actionPromise }) => actionPromise)
        : [record.actionPromise];
      if (record.status !== "success" || !given.includes(line.actionPromise ?? null))
        throw new Error(`${text} is accepted with ${line.actionPromise}, but the service gave ${given}`);
      return;
    }
    case "settled":
      expect(record.status, text).toBe("success");
      return;
    default:
      expect(record.status, text).toBe("error");
  }
}

/** Also without any word of the program: nothing was taken more often than it stands in the input. */
function expectNoneDoubled(requests: readonly (readonly ProcessedAction[])[], input: readonly Placed[]): void {
  const left = new Map<string, number>();
  for (const { action } of input) left.set(contentText(action), (left.get(contentText(action)) ?? 0) + 1);
  for (const record of requests.flat()) {
    if (record.status !== "success") continue;
    const content = contentOf(record);
    const count = left.get(content) ?? 0;
    if (count === 0) throw new Error(`taken more often than it stands in the input: ${textOf(record).slice(0, 300)}`);
    left.set(content, count - 1);
  }
}

const textOf = ({ action, data }: ProcessedAction): string => `{"action":${JSON.stringify(action)},"data":${data}}`;

const contentOf = (record: ProcessedAction): string => contentText(parseJson(textOf(record)) as Action); // read by the sandbox

const echoOf = ({ action, eventId, ticketId, nftId }: ProcessedAction): string =>
  JSON.stringify([action, action === "soldTicket" || ticketId === null ? eventId : null, ticketId, nftId]);
