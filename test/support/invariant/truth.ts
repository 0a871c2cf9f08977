/** What really happened, from the service's own record, held against the plan, the ledger and the promises files. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { contentText } from "../../../src/actions/identity.ts";
import { parseJson } from "../../../src/actions/json.ts";
import { defineActionsView } from "../../../src/ledger/actions-view.ts";
import { fromPlaced } from "../../../src/ledger/machine.ts";
import { wrap } from "../../../src/ledger/open-ledger.ts";
import { outcomesOfRun } from "../../../src/ledger/outcomes.ts";
import type { ProcessedAction } from "../../../src/sandbox/state.ts";
import type { SharedLedger } from "../both-ledgers.ts";
import { type PromiseLine, readPromises, readTable } from "../tables.ts";
import type { Rig } from "./rig.ts";

/** An action, and the row of the input that it stands in. */
export interface Placed {
  readonly source: string;
  readonly line: number;
  readonly action: Action;
}

/** A chunk whose fate a person must say, and what it really was. */
export interface Question {
  readonly run: string;
  readonly chunk: number;
  readonly state: "in doubt" | "refused";
  readonly answer: "sent" | "not-sent" | "partly";
}

export interface LedgerRun {
  readonly run: string;
  readonly state: string;
  readonly output: string | null;
  readonly lines: readonly string[];
  readonly chunks: readonly Chunk[];
  readonly outcomes: readonly Outcome[];
}

interface Chunk {
  readonly chunk: number;
  readonly lane: number;
  readonly first: number;
  readonly count: number;
  readonly state: string;
  readonly parent: number | null;
}

interface Outcome {
  readonly seq: number;
  readonly chunk: number;
  readonly source: string;
  readonly line: number;
  readonly action: string;
  readonly outcome: string;
  readonly status: string;
  readonly action_promise: string | null;
}

export interface Truth {
  readonly runs: readonly LedgerRun[];
  readonly questions: readonly Question[];
}

export interface TruthOptions {
  /** The service may swap promises of actions that nothing in its answer tells apart (the fault `shuffle`). */
  readonly shuffled?: boolean;
}

const OPEN = ["planned", "sending", "answered", "in doubt", "refused"];

/**
 * Reads what the ledger says and holds the service's record against it. Whatever the moment, so long as no process runs:
 *
 * - the requests that were processed are chunks of the plans, each at most once, and in each lane in their order;
 * - what is known of one event or ticket is in one lane, and no lane has more than one chunk whose fate is open;
 * - every action that the ledger calls accepted was processed, and has the promise that was given for it;
 * - every action that was processed is accepted, rejected, in doubt, refused or settled by hand;
 * - every action of a plan has one outcome, or stands in one chunk that is still open;
 * - every action comes from the row that it is said to come from, and no row's action was taken twice.
 */
export function readTruth(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Truth {
  const runs = readLedger(rig);
  const places = new Map(
    input.map((each, at) => [`${each.source}:${each.line}`, { at, content: contentText(each.action) }]),
  );
  const requests = rig.requests();
  const questions: Question[] = [];
  const taken = new Set<number>();
  const unused = new Set(requests.keys());
  let firstOfRun = 0;
  for (const run of runs) {
    expectOneOutcomeEach(run);
    expectLanesApart(run);
    const outcomes = new Map(run.outcomes.map((outcome) => [outcome.seq, outcome]));
    const byNumber = new Map(run.chunks.map((chunk) => [chunk.chunk, chunk]));
    const open = new Set(openActions(run));
    let lastOfRun = firstOfRun - 1;
    for (const [lane, chunks] of Map.groupBy(run.chunks, (chunk) => chunk.lane)) {
      const linesOf = ({ first, count }: Chunk): readonly string[] => run.lines.slice(first - 1, first - 1 + count);
      const ofLane = new Set(chunks.flatMap(linesOf));
      let next = firstOfRun - 1;
      /** The lane's next request, or where there is none a place behind all. */
      const seek = (): number => {
        for (let at = next + 1; at < requests.length; at += 1) {
          const [head] = requests[at] ?? [];
          if (unused.has(at) && head !== undefined && ofLane.has(textOf(head))) return at;
        }
        return requests.length;
      };
      const take = (at: number): void => {
        unused.delete(at);
        next = at;
        lastOfRun = Math.max(lastOfRun, at);
      };
      let last = -1;
      let undecided = 0;
      for (const chunk of chunks) {
        const { state } = chunk;
        const isPart = byNumber.get(chunk.parent ?? 0)?.state === "settled";
        if (state === "split") continue;
        if (isPart) {
          // The answer said that it was taken, and only lacked the promise.
          if (state === "in doubt") questions.push({ run: run.run, chunk: chunk.chunk, state, answer: "sent" });
          continue;
        }
        if (["sending", "in doubt", "refused"].includes(state)) undecided += 1;
        expect(undecided, `chunks of lane ${lane} whose fate is open`).toBeLessThanOrEqual(1);
        const lines = linesOf(chunk);
        const found = seek();
        const request = requests[found] ?? [];
        const texts = request.map(textOf);
        const processed = texts.length > 0 && texts.every((text, at) => text === lines[at]);
        const unprocessed =
          outcomes.get(chunk.first)?.status === "too-large" ||
          ["planned", "abandoned"].includes(state) ||
          // Its sender was killed before it left; where others may send, the next command tells.
          (state === "sending" && !processed);
        if (state === "in doubt" || state === "refused") {
          const answer = !processed
            ? "not-sent"
            : texts.length === lines.length && allTaken(request)
              ? "sent"
              : "partly";
          questions.push({ run: run.run, chunk: chunk.chunk, state, answer });
          if (processed) take(found);
        } else if (!unprocessed) {
          expect(
            texts,
            `the service's request ${found + 1} is chunk ${chunk.chunk} of ${run.run}, which is ${state}`,
          ).toEqual(lines);
          take(found);
        }
        if (!processed || unprocessed) continue;
        for (const [at, record] of request.entries()) {
          const outcome = outcomes.get(chunk.first + at);
          expectSameFate(record, outcome, request, open.has(chunk.first + at), options);
          if (record.status !== "success") continue;
          const place = placeOf(run, chunk.first + at, outcome, places);
          if (place === undefined) continue;
          expect(place.at, "actions are processed in the order of the input").toBeGreaterThan(last);
          last = place.at;
          if (taken.has(place.at))
            throw new Error(`the action of ${outcome?.source}:${outcome?.line} was processed twice`);
          taken.add(place.at);
        }
      }
    }
    firstOfRun = lastOfRun + 1;
  }
  expect([...unused], "every request that was processed is a chunk of a plan").toEqual([]);
  expectNoneDoubled(requests, input);
  return { runs, questions };
}

/** Everything about an event, and everything about a ticket, is in one lane. */
function expectLanesApart({ run, lines, chunks }: LedgerRun): void {
  const lanes = new Map<string, number>();
  for (const { lane, first, count } of chunks) {
    for (const line of lines.slice(first - 1, first - 1 + count)) {
      const { eventId, ticketId, nftId } = (parseJson(line) as Action).data; // written by the planner
      for (const name of [eventId && `event ${eventId}`, ticketId && `ticket ${ticketId}`, nftId && `NFT ${nftId}`]) {
        if (!name) continue;
        const before = lanes.get(name) ?? lane;
        if (before !== lane) throw new Error(`${name} is in lanes ${before} and ${lane} of ${run}`);
        lanes.set(name, lane);
      }
    }
  }
}

/** Also when all is done: nothing is open, nothing is lost, and every outcome stands in its promises file exactly once. */
export function expectAllTold(rig: Rig, input: readonly Placed[], options: TruthOptions = {}): Truth {
  const truth = readTruth(rig, input, options);
  expect(truth.questions).toEqual([]);
  const done = new Map<string, string>();
  for (const run of truth.runs) {
    expect(run.state, `run ${run.run}`).toBe("finished");
    expect(run.chunks.filter(({ state }) => OPEN.includes(state))).toEqual([]);
    for (const { source, line, outcome } of run.outcomes) done.set(`${source}:${line}`, outcome);
  }
  for (const { source, line } of input) {
    const outcome = done.get(`${source}:${line}`);
    if (outcome === undefined || outcome === "not sent") throw new Error(`${source}:${line} is ${outcome ?? "lost"}`);
  }
  expectPromisesComplete(truth);
  return truth;
}

/** Each outcome of each run has exactly one line, with its promise, in the file that the ledger names. */
function expectPromisesComplete({ runs }: Truth): void {
  const outputs = Map.groupBy(runs, ({ output }) => output);
  for (const [output, ofOutput] of outputs) {
    if (output === null) continue;
    const expected = ofOutput.flatMap(({ run, outcomes }) =>
      outcomes
        .filter(({ outcome }) => outcome !== "not sent")
        .map(({ seq, chunk, source, line, action, outcome, status, action_promise }) =>
          [
            run,
            seq,
            chunk,
            `${source}:${line}`,
            action,
            outcome === "accepted" ? "success" : status,
            action_promise ?? "",
          ].join(" "),
        ),
    );
    const found = readOutput(output).map(({ run, seq, chunk, source, line, action, status, actionPromise }) =>
      [run, seq, chunk, `${source}:${line}`, action, status, actionPromise ?? ""].join(" "),
    );
    expect(found.toSorted(), output).toEqual(expected.toSorted());
  }
}

export function readOutput(path: string): readonly PromiseLine[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  if (!path.endsWith(".csv")) return readPromises(text);
  return readTable(text) as unknown as readonly PromiseLine[]; // numbers as text, which nobody here minds
}

/** Every run with its plan, its chunks and its outcomes. */
export function readLedger({ state, shared }: Rig): readonly LedgerRun[] {
  const tables = shared === undefined ? readFile(join(state, "ledger.db")) : readShared(shared);
  return tables.map(({ run_no: _, ...run }) => ({
    ...run,
    lines: readFileSync(join(state, "runs", run.run, "actions.ndjson"), "utf8")
      .split("\n")
      .slice(0, -1),
  }));
}

type RunTables = Omit<LedgerRun, "lines"> & { readonly run_no: number };

const RUNS = "SELECT run_no, run, state, output FROM runs ORDER BY run_no";
const CHUNKS = "SELECT chunk, lane, first, count, state, parent FROM chunks WHERE run_no = ? ORDER BY first, chunk";
const ACTIONS =
  "SELECT seq, chunk, source, line, action, outcome, status, action_promise FROM actions WHERE run_no = ? ORDER BY seq";

/** As any SQLite client sees them. */
function readFile(path: string): readonly RunTables[] {
  if (!existsSync(path)) return [];
  // A process that dies while it makes the file leaves one without tables.
  const ledger = new DatabaseSync(path);
  try {
    if (ledger.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'blocks'").get() === undefined) return [];
    defineActionsView(ledger, wrap(ledger, path));
    const all = <T>(sql: string, ...values: number[]): readonly T[] =>
      ledger.prepare(sql).all(...values) as unknown as readonly T[]; // as the columns say
    return all<Omit<RunTables, "chunks" | "outcomes">>(RUNS).map((run) => ({
      ...run,
      chunks: all<Chunk>(CHUNKS, run.run_no),
      outcomes: all<Outcome>(ACTIONS, run.run_no),
    }));
  } finally {
    ledger.close();
  }
}

/** No client of PostgreSQL sees what was sent, which is compressed. */
function readShared(shared: SharedLedger): readonly RunTables[] {
  using ledger = shared.find();
  if (ledger === undefined) return [];
  const all = <T>(sql: string, ...values: number[]): readonly T[] =>
    ledger.all(sql, ...values) as unknown as readonly T[]; // as the columns say
  return all<Omit<RunTables, "chunks" | "outcomes">>(RUNS).map((run) => ({
    ...run,
    // All machines of the test are this one.
    output: run.output === null ? null : fromPlaced(run.output).path,
    chunks: all<Chunk>(CHUNKS, run.run_no),
    outcomes: [...outcomesOfRun(ledger, run.run_no)]
      .flat()
      .map(({ actionPromise, ...outcome }) => ({ ...outcome, action_promise: actionPromise ?? null })),
  }));
}

/** The places of actions whose chunk is not settled yet. */
function openActions({ chunks }: LedgerRun): readonly number[] {
  return chunks
    .filter(({ state }) => OPEN.includes(state))
    .flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at));
}

function expectOneOutcomeEach(run: LedgerRun): void {
  const told = [...run.outcomes.map(({ seq }) => seq), ...openActions(run)];
  expect(
    told.toSorted((a, b) => a - b),
    `every action of ${run.run} has one outcome or stands in one open chunk`,
  ).toEqual(run.lines.map((_, at) => at + 1));
}

/** What the ledger says of an action that was processed. */
function expectSameFate(
  record: ProcessedAction,
  outcome: Outcome | undefined,
  request: readonly ProcessedAction[],
  isOpen: boolean,
  { shuffled = false }: TruthOptions,
): void {
  const text = textOf(record).slice(0, 300);
  if (outcome === undefined) {
    if (!isOpen) throw new Error(`${text} was processed, but has no outcome and is not in doubt`);
    return;
  }
  switch (outcome.outcome) {
    case "accepted": {
      const given = shuffled
        ? request.filter((each) => echoOf(each) === echoOf(record)).map(({ actionPromise }) => actionPromise)
        : [record.actionPromise];
      if (record.status !== "success" || !given.includes(outcome.action_promise))
        throw new Error(`${text} is accepted with ${outcome.action_promise}, but the service gave ${given}`);
      return;
    }
    case "rejected":
      expect(record.status, text).toBe("error");
      return;
    case "settled by hand":
      expect(record.status, text).toBe("success");
      return;
    default:
      throw new Error(`${text} was processed, but is ${outcome.outcome}`);
  }
}

function placeOf(
  run: LedgerRun,
  seq: number,
  outcome: Outcome | undefined,
  places: ReadonlyMap<string, { readonly at: number; readonly content: string }>,
): { readonly at: number } | undefined {
  if (outcome === undefined) return undefined;
  const place = places.get(`${outcome.source}:${outcome.line}`);
  if (place === undefined) throw new Error(`there is no row ${outcome.source}:${outcome.line}`);
  const sent = parseJson(run.lines[seq - 1] ?? "") as Action; // written by the planner
  if (contentText(sent) !== place.content)
    throw new Error(`${outcome.source}:${outcome.line} does not hold ${run.lines[seq - 1]?.slice(0, 300)}`);
  return place;
}

/** Also without any word of the ledger: nothing was taken more often than it stands in the input. */
function expectNoneDoubled(requests: readonly (readonly ProcessedAction[])[], input: readonly Placed[]): void {
  const left = new Map<string, number>();
  for (const { action } of input) left.set(contentText(action), (left.get(contentText(action)) ?? 0) + 1);
  for (const record of requests.flat()) {
    if (record.status !== "success") continue;
    const content = contentText(parseJson(textOf(record)) as Action); // accepted by the sandbox
    const count = left.get(content) ?? 0;
    if (count === 0) throw new Error(`taken more often than it stands in the input: ${textOf(record).slice(0, 300)}`);
    left.set(content, count - 1);
  }
}

const allTaken = (request: readonly ProcessedAction[]): boolean => request.every(({ status }) => status === "success");

const textOf = ({ action, data }: ProcessedAction): string => `{"action":${JSON.stringify(action)},"data":${data}}`;

const echoOf = ({ action, eventId, ticketId, nftId }: ProcessedAction): string =>
  JSON.stringify([action, action === "soldTicket" || ticketId === null ? eventId : null, ticketId, nftId]);
