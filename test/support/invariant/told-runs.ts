/** What the program tells of its runs, asked as a person would. */

import { expect } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { type Chunk, chunksIn } from "../chunks.ts";
import { type PromiseLine, readLines, readPromises } from "../tables.ts";
import type { Rig } from "./rig.ts";

/** An action, and the row of the input that it stands in. */
export interface Placed {
  readonly source: string;
  readonly line: number;
  readonly action: Action;
}

/** `sales.csv:2` */
export const placeText = ({ source, line }: Pick<Placed, "source" | "line">): string => `${source}:${line}`;

export interface ToldRun {
  readonly run: string;
  readonly state: string;
  readonly output: string | null;
  /** In the order of the plan. */
  readonly chunks: readonly Chunk[];
  /** What `results` says of each action, by its place in the plan. */
  readonly lines: ReadonlyMap<number, PromiseLine>;
  /** The rows of those and of all that may have been sent, by their places in the plan. */
  readonly places: ReadonlyMap<number, string>;
}

/** Every run, the oldest first. */
export async function readRuns(rig: Rig): Promise<readonly ToldRun[]> {
  const runs = await shortly(rig);
  if (runs.length === 0) return [];
  expect(runs.length, "status tells the last 20 runs").toBeLessThan(20);
  const lines = Map.groupBy(readPromises(await ask(rig, "results")), ({ run }) => run);
  const told: ToldRun[] = [];
  for (const { run, state, output } of runs) {
    const ofRun = new Map<number, PromiseLine>();
    for (const line of lines.get(run) ?? []) {
      expect(ofRun.has(line.seq), `action ${line.seq} of ${run} has one line`).toBe(false);
      ofRun.set(line.seq, line);
    }
    const chunks = await chunksOf(rig, run);
    const places = new Map([...ofRun].map(([seq, line]) => [seq, placeText(line)]));
    for (const { chunk, state, first } of chunks) {
      if (!MAYBE_SENT.includes(state)) continue;
      const actions = readLines(await ask(rig, "status", run, "--chunk", String(chunk))) as readonly Placed[]; // docs/cli.md
      for (const [at, action] of actions.entries()) places.set(first + at, placeText(action));
    }
    told.push({ run, state, output, chunks, lines: ofRun, places });
  }
  return told;
}

const MAYBE_SENT = ["sending", "in doubt", "refused"];

async function ask(rig: Rig, ...words: readonly string[]): Promise<string> {
  const { place, env } = rig;
  const { exitCode, stdout, stderr } = await place.tickets([...words, "--env", "playground"], { env, isWarm: true });
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

async function shortly(rig: Rig): Promise<readonly Pick<ToldRun, "run" | "state" | "output">[]> {
  const { runs } = JSON.parse(await ask(rig, "status", "--json")) as {
    readonly runs: readonly Pick<ToldRun, "run" | "state" | "output">[];
  };
  return runs.toReversed();
}

/** The chunks of the newest run. */
export async function newestChunks(rig: Rig): Promise<readonly Chunk[]> {
  const newest = (await shortly(rig)).at(-1);
  return newest === undefined ? [] : chunksOf(rig, newest.run);
}

const chunksOf = async (rig: Rig, run: string): Promise<readonly Chunk[]> => chunksIn(await ask(rig, "status", run));
