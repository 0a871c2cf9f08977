/** Contenders that take turns, and what each of them runs on. */

import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { actionsOf, EVENTS, eventLines, KINDS, linesOf, type Sample, seasonOf } from "./kinds.ts";
import { type Command, type Measured, measure } from "./measure.ts";
import type { Service } from "./service.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const BIN = here("../bin/tickets.js");

export interface Bench {
  /** For everything that is written; it goes at the end. */
  readonly folder: string;
  readonly seed: number;
  readonly service: Service;
}

/** One who takes part. */
export interface Contender {
  readonly name: string;
  /** @param work a folder of its own, or one that it shares with those of the same `place` in its round. */
  readonly command: (work: string) => Command;
  readonly place?: string;
  readonly latencyMs?: number;
  /** How many actions must arrive at the service. */
  readonly actions?: number;
  /** What happens before, unmeasured. */
  readonly prepare?: (work: string) => Promise<unknown>;
  /** It is measured until its first request, and killed there. */
  readonly untilFirstRequest?: boolean;
}

/** Every round's figures, by contender. */
export type Figures = Readonly<Record<string, readonly Measured[]>>;

/** Runs the contenders in turn, round after round. */
export async function race(bench: Bench, contenders: readonly Contender[], rounds: number): Promise<Figures> {
  const figures: Record<string, Measured[]> = {};
  for (let round = 1; round <= rounds; round += 1) {
    for (const [at, contender] of contenders.entries()) {
      const work = join(bench.folder, "round", contender.place ?? String(at));
      const measured = await run(bench, contender, work);
      if (contender.place === undefined) rmSync(work, { recursive: true });
      figures[contender.name] = [...(figures[contender.name] ?? []), measured];
      console.error(`  ${round}  ${contender.name}: ${measured.seconds.toFixed(2)} s, CPU ${measured.cpuSeconds} s`);
    }
    rmSync(join(bench.folder, "round"), { recursive: true, force: true });
  }
  return figures;
}

async function run({ service }: Bench, contender: Contender, work: string): Promise<Measured> {
  const { name, command, latencyMs = 0, actions, prepare, untilFirstRequest = false } = contender;
  mkdirSync(work, { recursive: true });
  const ready = command(work); // makes its data
  await prepare?.(work);
  spawnSync("sync"); // nobody pays for what another left to be written
  const first = service.be({ latencyMs, ...(untilFirstRequest && { reportAt: 1 }) });
  const measured = untilFirstRequest
    ? await measure({ ...ready, endsWith: ["SIGKILL"] }, { moment: first, signal: "SIGKILL" })
    : await measure(ready);
  if (actions !== undefined && service.actions !== actions)
    throw new Error(`${name} sent ${service.actions} actions instead of ${actions}`);
  return measured;
}

/** Makes the file of a name unless it is there. */
function made({ folder }: Bench, name: string, lines: Iterable<string>): string {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const file = openSync(path, "w");
  let waiting = "";
  for (const line of lines) {
    waiting += line;
    if (waiting.length < 1 << 20) continue;
    writeSync(file, waiting);
    waiting = "";
  }
  writeSync(file, waiting);
  closeSync(file);
  return path;
}

export type Part = Omit<Sample, "seed">;

const nameOf = ({ kind, rows, first = 0, events, odd }: Part): string => [kind, rows, first, events, odd].join("-");

/** The file of a sample. */
export function dataOf(bench: Bench, part: Part): string {
  const [stem, end] = KINDS[part.kind].file.split(".");
  return made(bench, `${stem}-${nameOf(part)}.${end}`, linesOf({ ...part, seed: bench.seed }));
}

/** What a source needs beside its file. */
export function flagsOf(bench: Bench, part: Part): readonly string[] {
  const kind = KINDS[part.kind];
  return "config" in kind ? ["--config", made(bench, `${part.kind}.config.yaml`, [kind.config])] : [];
}

function* asLines(actions: Iterable<unknown>): Generator<string> {
  for (const action of actions) yield `${JSON.stringify(action)}\n`;
}

export const seasonFile = (bench: Bench, rows: number): string =>
  made(bench, `season-${rows}.ndjson`, asLines(seasonOf({ seed: bench.seed, rows })));

/** Keeps its ledger and its promises in the folder. */
export function tool(
  { folder, service }: Bench,
  work: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Command {
  return {
    program: process.execPath,
    args: [BIN, ...args],
    cwd: work,
    env: {
      HOME: join(folder, "home"),
      TMPDIR: work,
      XDG_STATE_HOME: join(work, "state"),
      // Compiled code is kept from one start to the next, as it is for a user.
      XDG_CACHE_HOME: join(folder, "cache"),
      TICKETS_BENCH_BASE_URL: service.baseUrl,
      TICKETS_BENCH_API_KEY: "bench",
      ...settings,
    },
  };
}

export const streamed = (
  bench: Bench,
  work: string,
  files: readonly string[],
  flags: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Command => tool(bench, work, ["stream", ...files, "--env", "bench", "-q", ...flags], settings);

export const script = (work: string, name: string, args: readonly string[]): Command => ({
  program: process.execPath,
  args: [here(name), ...args],
  cwd: work,
});

/** Events, then sales with metadata: what naive scripts can send as well. */
export const salesOf = (bench: Bench, part: Omit<Part, "kind">): readonly string[] => [
  made(bench, "events.csv", eventLines()),
  dataOf(bench, { kind: "metadata", ...part }),
];

export const countOf = (rows: number): number => EVENTS + rows;

/** An afternoon's script. */
export const naive = (bench: Bench, rows: number, language: "Node" | "Python"): Contender => ({
  name: `naive ${language}`,
  actions: countOf(rows),
  command(work) {
    const args = [bench.service.baseUrl, "promises.ndjson", ...salesOf(bench, { rows })];
    return language === "Node"
      ? script(work, "naive.mjs", args)
      : { program: "python3", args: [here("naive.py"), ...args], cwd: work };
  },
});

/** Posts request bodies that are ready, over one connection; the answers are thrown away. */
export const curl = (bench: Bench, rows: number, latencyMs = 0): Contender => ({
  name: "curl",
  latencyMs,
  actions: countOf(rows),
  command: (work) => ({
    program: "curl",
    args: ["-K", made(bench, `curl-${rows}.config`, curlConfig(bench, rows))],
    cwd: work,
  }),
});

const CHUNK = 5000;

/** One request after the other; writes their bodies as it goes. */
function* curlConfig(bench: Bench, rows: number): Generator<string> {
  let chunk: unknown[] = [];
  let count = 0;
  for (const action of actionsOf({ seed: bench.seed, rows })) {
    chunk.push(action);
    count += 1;
    if (chunk.length < CHUNK && count < countOf(rows)) continue;
    const body = made(bench, `chunk-${rows}-${count}.json`, [JSON.stringify(chunk)]);
    chunk = [];
    if (count > CHUNK) yield "next\n";
    yield `url = "${bench.service.baseUrl}/stream"\ndata-binary = "@${body}"\noutput = "/dev/null"\n`;
    yield 'header = "Content-Type: application/json"\nheader = "X-Api-Key: bench"\n';
    yield 'header = "Expect:"\nsilent\nshow-error\nfail\n'; // to expect would cost a round trip
  }
}
