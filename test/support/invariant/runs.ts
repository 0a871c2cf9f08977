/** What the program tells of its runs, asked as a person would. */

import { expect } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { type Chunk, chunksIn } from "../chunks.ts";
import type { Summary } from "../counts.ts";
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

export interface ShownRun {
  readonly run: string;
  readonly state: string;
  readonly output: string | null;
  /** In the order in which they are sent. */
  readonly chunks: readonly ShownChunk[];
  /** What `results` says of each action, by its row. */
  readonly lines: ReadonlyMap<string, PromiseLine>;
  /** How many actions it has. */
  readonly total: number;
}

interface ShownChunk extends Chunk {
  /** The rows of its actions, in order; none where nothing of it can have been sent. */
  readonly rows: readonly string[];
}

/** Every run, the oldest first. */
export async function readRuns(rig: Rig): Promise<readonly ShownRun[]> {
  const runs = await shortly(rig);
  if (runs.length === 0) return [];
  expect(runs.length, "status tells the last 20 runs").toBeLessThan(20);
  const lines = Map.groupBy(readPromises(await ask(rig, "results", "--all")), ({ run }) => run);
  const reported: ShownRun[] = [];
  for (const { run, state, output, actions } of runs) {
    const ofRun = new Map<string, PromiseLine>();
    for (const line of lines.get(run) ?? []) {
      expect(ofRun.has(placeText(line)), `${placeText(line)} has one line in ${run}`).toBe(false);
      ofRun.set(placeText(line), line);
    }
    const chunks: ShownChunk[] = [];
    for (const chunk of await chunksOf(rig, run)) chunks.push({ ...chunk, rows: await rowsOf(rig, run, chunk, ofRun) });
    const { accepted, rejected, inDoubt, notSent } = actions;
    reported.push({ run, state, output, chunks, lines: ofRun, total: accepted + rejected + inDoubt + notSent });
  }
  return reported;
}

async function rowsOf(
  rig: Rig,
  run: string,
  { chunk, state }: Chunk,
  lines: ReadonlyMap<string, PromiseLine>,
): Promise<readonly string[]> {
  if (DECIDED.includes(state)) return [...lines].flatMap(([place, line]) => (line.chunk === chunk ? [place] : []));
  if (!MAYBE_SENT.includes(state)) return [];
  return (readLines(await ask(rig, "status", run, "--chunk", String(chunk))) as readonly Placed[]).map(placeText); // docs/commands.md
}

const DECIDED = ["answered", "settled"];
/** A person, or the next command, has to say what became of it. */
export const MAYBE_SENT = ["sending", "in doubt", "refused"];

async function ask(rig: Rig, ...words: readonly string[]): Promise<string> {
  const { place, env } = rig;
  const { exitCode, stdout, stderr } = await place.tickets([...words, "--env", "playground"], { env });
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

type Shortly = Pick<ShownRun, "run" | "state" | "output"> & Pick<Summary, "actions">;

async function shortly(rig: Rig): Promise<readonly Shortly[]> {
  const { runs } = JSON.parse(await ask(rig, "status", "--json")) as { readonly runs: readonly Shortly[] };
  return runs.toReversed();
}

/** The chunks of the newest run. */
export async function newestChunks(rig: Rig): Promise<readonly Chunk[]> {
  const newest = (await shortly(rig)).at(-1);
  return newest === undefined ? [] : chunksOf(rig, newest.run);
}

const chunksOf = async (rig: Rig, run: string): Promise<readonly Chunk[]> => chunksIn(await ask(rig, "status", run));
