/** What really happened, from the service's own record, held against what the program tells and the promises files. */

import { existsSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { contentText } from "../../../src/actions/identity.ts";
import { parseJson } from "../../../src/actions/json.ts";
import type { ProcessedAction } from "../../../src/sandbox/state.ts";
import type { Chunk } from "../chunks.ts";
import { type PromiseLine, readPromises, readTable } from "../tables.ts";
import type { Rig } from "./rig.ts";
import { type Placed, placeText, readRuns, type ToldRun } from "./told-runs.ts";

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
}

/** A person, or the next command, has to say what became of it. */
const DOUBTFUL = ["sending", "in doubt", "refused"];
const UNSENT = ["planned", "abandoned"];
const OPEN = ["planned", ...DOUBTFUL];

/**
 * Asks the program and holds the service's record against it. Whatever the moment, so long as no process runs:
 *
 * - the requests that were processed are chunks of the runs, each at most once;
 * - nothing follows a chunk whose fate is open in what it tells of an event or ticket;
 * - what is known of one event or ticket is processed in the order of the input;
 * - every action that is called accepted was processed, and has the promise that was given for it;
 * - every action that was processed is accepted, rejected, in doubt, refused or settled by hand;
 * - every action of a run has one outcome, or stands in one chunk that is still open;
 * - every action comes from the row that it is said to come from, and no row's action was taken twice.
 */
export async function readTruth(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Promise<Truth> {
  const runs = await readRuns(rig);
  const record: ServiceRecord = {
    rows: rowsOf(input),
    requests: rig.requests(),
    unused: new Set(rig.requests().keys()),
  };
  const questions: Question[] = [];
  const taken = new Set<string>();
  let firstOfRun = 0;
  for (const run of runs) {
    expectOneOutcomeEach(run);
    expectNothingAfterDoubts(run, record);
    const sent: { readonly request: number; readonly chunk: Chunk }[] = [];
    const claim = (chunk: Chunk, request: number | undefined): void => {
      if (request === undefined) return;
      record.unused.delete(request);
      sent.push({ request, chunk });
    };
    const chunks = run.chunks.filter((chunk) => !isPartOfAnswered(run, chunk) && !isUnsent(run, chunk));
    const [known, doubtful] = [false, true].map((isDoubtful) =>
      chunks.filter(({ state }) => DOUBTFUL.includes(state) === isDoubtful),
    );
    for (const chunk of known ?? []) {
      const request = requestOf(run, chunk, record, firstOfRun);
      expect(request, `a request is chunk ${chunk.chunk} of ${run.run}, which is ${chunk.state}`).toBeDefined();
      claim(chunk, request);
    }
    for (const chunk of doubtful ?? []) {
      const request = requestOf(run, chunk, record, firstOfRun);
      claim(chunk, request);
      const { state } = chunk;
      if (state !== "in doubt" && state !== "refused") continue;
      const processed = record.requests[request ?? -1] ?? [];
      const isWhole = processed.length === chunk.count && allTaken(processed);
      const answer = request === undefined ? "not-sent" : isWhole ? "sent" : "partly";
      questions.push({ run: run.run, chunk: chunk.chunk, state, answer });
    }
    // The answer said that it was taken, and only lacked the promise.
    for (const chunk of run.chunks)
      if (isPartOfAnswered(run, chunk) && chunk.state === "in doubt")
        questions.push({ run: run.run, chunk: chunk.chunk, state: "in doubt", answer: "sent" });
    expectFates(run, sent, record, taken, options);
    firstOfRun = Math.max(firstOfRun, ...sent.map(({ request }) => request + 1));
  }
  expect([...record.unused], "every request that was processed is a chunk of a run").toEqual([]);
  expectNoneDoubled(record.requests, input);
  return { runs, questions };
}

interface Row {
  /** Where in the input. */
  readonly at: number;
  readonly content: string;
  /** Of the event and the ticket. */
  readonly names: readonly string[];
}

interface ServiceRecord {
  readonly rows: ReadonlyMap<string, Row>;
  /** What the service processed: one list a request, in order. */
  readonly requests: readonly (readonly ProcessedAction[])[];
  /** Those that no chunk accounts for yet. */
  readonly unused: Set<number>;
}

const rowsOf = (input: readonly Placed[]): ReadonlyMap<string, Row> =>
  new Map(
    input.map((each, at) => {
      const { eventId, ticketId, nftId } = each.action.data;
      const names = [eventId && `event ${eventId}`, ticketId && `ticket ${ticketId}`, nftId && `NFT ${nftId}`];
      return [
        placeText(each),
        { at, content: contentText(each.action), names: names.filter((name) => !!name) as string[] },
      ];
    }),
  );

/** Its parts are asked about one by one. */
const isPartOfAnswered = (run: ToldRun, { whole }: Chunk): boolean =>
  whole !== undefined && run.chunks.some(({ chunk, state }) => chunk === whole && state === "settled");

const isUnsent = (run: ToldRun, { state, first }: Chunk): boolean =>
  UNSENT.includes(state) || run.lines.get(first)?.status === "too-large";

/** The rows of a chunk, in order. */
const rowsOfChunk = (run: ToldRun, { first, count }: Chunk, { rows }: ServiceRecord): readonly Row[] =>
  Array.from({ length: count }, (_, at) => {
    const place = run.places.get(first + at) ?? "";
    const row = rows.get(place);
    if (row === undefined) throw new Error(`action ${first + at} of ${run.run} has no row: ${place}`);
    return row;
  });

/** The request that a chunk was, or was the beginning of; undefined where the service processed none. */
function requestOf(run: ToldRun, chunk: Chunk, record: ServiceRecord, from: number): number | undefined {
  const contents = rowsOfChunk(run, chunk, record).map(({ content }) => content);
  const isIt = (request: number, isWhole: boolean): boolean => {
    const processed = record.requests[request] ?? [];
    if (request < from || processed.length === 0 || (isWhole && processed.length !== contents.length)) return false;
    return processed.every((each, at) => contentOf(each) === contents[at]);
  };
  const promises = new Set(contents.map((_, at) => run.lines.get(chunk.first + at)?.actionPromise));
  const unused = [...record.unused];
  const answered = unused.filter((request) =>
    record.requests[request]?.some(({ actionPromise }) => actionPromise !== null && promises.has(actionPromise)),
  );
  return (
    answered.find((request) => isIt(request, true)) ??
    unused.find((request) => isIt(request, true)) ??
    (DOUBTFUL.includes(chunk.state) ? unused.find((request) => isIt(request, false)) : undefined)
  );
}

/** What is told of each action that a run had processed, in the order of the service. */
function expectFates(
  run: ToldRun,
  sent: readonly { readonly request: number; readonly chunk: Chunk }[],
  record: ServiceRecord,
  taken: Set<string>,
  options: TruthOptions,
): void {
  const open = new Set(openActions(run));
  const last = new Map<string, number>();
  for (const { request, chunk } of sent.toSorted((one, other) => one.request - other.request)) {
    const processed = record.requests[request] ?? [];
    const rows = rowsOfChunk(run, chunk, record);
    for (const [at, each] of processed.entries()) {
      const seq = chunk.first + at;
      expectSameFate(each, run.lines.get(seq), processed, open.has(seq), options);
      if (each.status !== "success") continue;
      const place = run.places.get(seq) ?? "";
      if (taken.has(place)) throw new Error(`the action of ${place} was processed twice`);
      taken.add(place);
      const row = rows[at];
      for (const name of row?.names ?? []) {
        expect(row?.at, `${name} is processed in the order of the input`).toBeGreaterThan(last.get(name) ?? -1);
        last.set(name, row?.at ?? 0);
      }
    }
  }
}

/** Behind a chunk whose fate is open, nothing about the same event or ticket was begun. */
function expectNothingAfterDoubts(run: ToldRun, record: ServiceRecord): void {
  const doubted = new Map<string, number>();
  for (const chunk of run.chunks) {
    if (isUnsent(run, chunk) || isPartOfAnswered(run, chunk)) continue;
    const names = new Set(rowsOfChunk(run, chunk, record).flatMap((row) => row.names));
    for (const name of names) {
      const before = doubted.get(name);
      if (before !== undefined)
        throw new Error(`${name} is in chunk ${chunk.chunk} of ${run.run}, behind the open chunk ${before}`);
    }
    if (DOUBTFUL.includes(chunk.state)) for (const name of names) doubted.set(name, chunk.chunk);
  }
}

/** Also when all is done: nothing is open, nothing is lost, and every outcome stands in its promises file exactly once. */
export async function expectAllTold(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Promise<Truth> {
  const truth = await readTruth(rig, input, options);
  expect(truth.questions).toEqual([]);
  const told = new Set<string>();
  for (const run of truth.runs) {
    expect(run.state, `run ${run.run}`).toBe("finished");
    expect(run.chunks.filter(({ state }) => OPEN.includes(state))).toEqual([]);
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

/** The places of actions whose chunk is not settled yet. */
const openActions = ({ chunks }: ToldRun): readonly number[] =>
  chunks.filter(({ state }) => OPEN.includes(state)).flatMap(seqsOf);

const seqsOf = ({ first, count }: Chunk): readonly number[] => Array.from({ length: count }, (_, at) => first + at);

function expectOneOutcomeEach(run: ToldRun): void {
  const unsent = run.chunks.filter(({ state }) => state === "abandoned").flatMap(seqsOf);
  const told = [...run.lines.keys(), ...openActions(run), ...unsent];
  const last = Math.max(0, ...run.chunks.map(({ first, count }) => first + count - 1));
  expect(
    told.toSorted((a, b) => a - b),
    `every action of ${run.run} has one outcome or stands in one open chunk`,
  ).toEqual(Array.from({ length: last }, (_, at) => at + 1));
}

/** What is told of an action that was processed. */
function expectSameFate(
  record: ProcessedAction,
  line: PromiseLine | undefined,
  request: readonly ProcessedAction[],
  isOpen: boolean,
  { shuffled = false }: TruthOptions,
): void {
  const text = textOf(record).slice(0, 300);
  if (line === undefined) {
    if (!isOpen) throw new Error(`${text} was processed, but has no outcome and is not in doubt`);
    return;
  }
  switch (line.status) {
    case "success": {
      const given = shuffled
        ? request.filter((each) => echoOf(each) === echoOf(record)).map(({ actionPromise }) => actionPromise)
        : [record.actionPromise];
      if (record.status !== "success" || !given.includes(line.actionPromise ?? null))
        throw new Error(`${text} is accepted with ${line.actionPromise}, but the service gave ${given}`);
      return;
    }
    case "settled-by-hand":
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

const allTaken = (request: readonly ProcessedAction[]): boolean => request.every(({ status }) => status === "success");

const textOf = ({ action, data }: ProcessedAction): string => `{"action":${JSON.stringify(action)},"data":${data}}`;

const contentOf = (record: ProcessedAction): string => contentText(parseJson(textOf(record)) as Action); // read by the sandbox

const echoOf = ({ action, eventId, ticketId, nftId }: ProcessedAction): string =>
  JSON.stringify([action, action === "soldTicket" || ticketId === null ? eventId : null, ticketId, nftId]);
