/** What every case needs: the data, the service, the ways to run each contender, and the rounds. */

import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { actionCount, eventsCsv, type Span } from "./generate.ts";
import { type Command, type Measured, measure } from "./measure.ts";
import type { Order, Report, Served, ServiceOptions } from "./service.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const BIN = here("../bin/tickets.js");
const CURL_CONFIG = "curl.config";

/** The environment's name, as the variables spell it. */
const ENVIRONMENT = "bench";

export interface Bench {
  /** Where generated data is kept from one invocation to the next. */
  readonly folder: string;
  readonly seed: number;
  readonly rounds: number;
  readonly service: Service;
  /** Versions of the programs that are compared; undefined where one is not installed. */
  readonly python: string | undefined;
  readonly curl: string | undefined;
}

export interface Service extends AsyncDisposable {
  readonly baseUrl: string;
  /** From now on; counts start again. */
  be(options: Partial<ServiceOptions>): Promise<void>;
  /** What it was asked since it was last told how to be, or last told. */
  served(): Promise<Served>;
  /** Resolves when the first request since `be` comes, with its time in milliseconds since 1970. */
  firstRequest(): Promise<number>;
  /** Resolves when it has answered as many actions as it was told to tell of. */
  allAnswered(): Promise<void>;
  /** Resolves when it holds the request that it was told to hold, until `goOn`. */
  held(): Promise<void>;
  goOn(): void;
}

export async function startService(): Promise<Service> {
  const child = fork(here("service.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  /** The next report of a kind; it is waited for before anything is asked for, so none is missed. */
  const next = <Kind extends Report["kind"]>(kind: Kind): Promise<Extract<Report, { kind: Kind }>> => {
    const { promise, resolve, reject } = Promise.withResolvers<Extract<Report, { kind: Kind }>>();
    const listen = (report: Report): void => {
      if (report.kind !== kind) return;
      end();
      resolve(report as Extract<Report, { kind: Kind }>); // of that kind
    };
    const fail = (): void => {
      end();
      reject(new Error("the service ended"));
    };
    const end = (): void => {
      child.off("message", listen);
      child.off("exit", fail);
    };
    child.on("message", listen);
    child.on("exit", fail);
    return promise;
  };
  const tell = (order: Order): void => {
    child.send(order);
  };
  const { port } = await next("listening");
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async be(options) {
      const ready = next("ready");
      tell({ kind: "be", options: { latencyMs: 0, holdAt: 0, tellAfter: 0, ...options } });
      await ready;
    },
    async served() {
      const served = next("served");
      tell({ kind: "tell" });
      return (await served).served;
    },
    firstRequest: async () => (await next("first request")).at,
    allAnswered: async () => {
      await next("all answered");
    },
    held: async () => {
      await next("held");
    },
    goOn: () => tell({ kind: "go on" }),
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** Every round's figures of one contender, in order. */
export interface Figures {
  readonly seconds: number[];
  readonly cpuSeconds: number[];
  readonly peakMib: number[];
}

export type AllFigures = Readonly<Record<string, Figures>>;

export function addTo(all: Record<string, Figures>, name: string, { seconds, cpuSeconds, peakMib }: Measured): void {
  all[name] ??= { seconds: [], cpuSeconds: [], peakMib: [] };
  const figures = all[name];
  figures.seconds.push(seconds);
  if (cpuSeconds !== undefined) figures.cpuSeconds.push(cpuSeconds);
  if (peakMib !== undefined) figures.peakMib.push(peakMib);
}

/** One who runs in a race. */
export interface Contender {
  readonly name: string;
  /** How the service is; none is needed where it is left out. */
  readonly service?: Partial<ServiceOptions>;
  /** How many actions must arrive. */
  readonly actions?: number;
  /** @param work a new folder, removed afterwards. */
  readonly command: (work: string) => Command;
}

/** Runs the contenders in turn, round after round. What one leaves to be written to disk is written before the next starts. */
export async function race(bench: Bench, contenders: readonly Contender[], rounds = bench.rounds): Promise<AllFigures> {
  const all: Record<string, Figures> = {};
  for (let round = 1; round <= rounds; round += 1) {
    for (const contender of contenders) addTo(all, contender.name, await runOne(bench, contender, round));
  }
  return all;
}

export async function runOne(bench: Bench, contender: Contender, round: number): Promise<Measured> {
  const { service } = bench;
  const measured = await inNewFolder(bench, async (work) => {
    if (contender.service !== undefined) await service.be(contender.service);
    return measure(contender.command(work));
  });
  if (contender.actions !== undefined) {
    const { actions } = await service.served();
    if (actions !== contender.actions)
      throw new Error(`${contender.name} sent ${actions} actions instead of ${contender.actions}`);
  }
  console.error(`  round ${round}  ${contender.name}: ${measured.seconds.toFixed(3)} s`);
  return measured;
}

export async function inNewFolder<T>({ folder }: Bench, work: (path: string) => Promise<T>): Promise<T> {
  const path = join(folder, "work");
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  spawnSync("sync");
  try {
    return await work(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

export function tool(
  { folder, service }: Pick<Bench, "folder" | "service">,
  work: string,
  args: readonly string[],
  options: { readonly state?: string } = {},
): Command {
  return {
    program: process.execPath,
    args: [BIN, ...args],
    cwd: work,
    env: {
      HOME: join(folder, "home"),
      TMPDIR: work,
      XDG_STATE_HOME: options.state ?? join(work, "state"),
      // Compiled code is kept from one start to the next, as it is for a user.
      XDG_CACHE_HOME: join(folder, "cache"),
      [`TICKETS_${ENVIRONMENT.toUpperCase()}_BASE_URL`]: service.baseUrl,
      [`TICKETS_${ENVIRONMENT.toUpperCase()}_API_KEY`]: "bench",
    },
  };
}

/** Where `tool` keeps its ledger below a state folder. */
export const ledgerPath = (state: string): string => join(state, "tickets", ENVIRONMENT, "ledger.db");

/** Everything that the real thing does: the whole check, identities, ledger, fsync. */
export const sending = (bench: Bench, name: string, span: Span, sales: string, options: SendingOptions): Contender => ({
  name,
  service: { latencyMs: options.latencyMs ?? 0 },
  actions: actionCount(span.rows),
  command: (work) =>
    tool(bench, work, ["stream", eventsCsv(bench.folder), sales, "--env", "bench", "-q", ...(options.flags ?? [])]),
});

interface SendingOptions {
  readonly latencyMs?: number;
  readonly flags?: readonly string[];
}

export const naiveNode = (bench: Bench, span: Span, sales: string, latencyMs = 0): Contender => ({
  name: "naive Node",
  service: { latencyMs },
  actions: actionCount(span.rows),
  command: (work) => ({
    program: process.execPath,
    args: [here("naive.mjs"), bench.service.baseUrl, "promises.ndjson", eventsCsv(bench.folder), sales],
    cwd: work,
  }),
});

/** Empty where there is no Python; the results say so. */
export const naivePython = (bench: Bench, span: Span, sales: string, latencyMs = 0): readonly Contender[] =>
  bench.python === undefined
    ? []
    : [
        {
          name: "naive Python",
          service: { latencyMs },
          actions: actionCount(span.rows),
          command: (work) => ({
            program: "python3",
            args: [here("naive.py"), bench.service.baseUrl, "promises.ndjson", eventsCsv(bench.folder), sales],
            cwd: work,
          }),
        },
      ];

/** Posts request bodies that are ready, over one connection. Empty where there is no curl. */
export const curlChunks = (bench: Bench, span: Span, chunks: readonly string[], latencyMs = 0): readonly Contender[] =>
  bench.curl === undefined
    ? []
    : [
        {
          name: "curl",
          service: { latencyMs },
          actions: actionCount(span.rows),
          command: (work) => {
            writeFileSync(join(work, CURL_CONFIG), curlConfig(bench.service.baseUrl, chunks));
            return { program: "curl", args: ["-K", CURL_CONFIG], cwd: work };
          },
        },
      ];

function curlConfig(baseUrl: string, chunks: readonly string[]): string {
  return chunks
    .map((path) =>
      [
        `url = "${baseUrl}/stream"`,
        `data-binary = "@${path}"`,
        'header = "Content-Type: application/json"',
        'header = "X-Api-Key: bench"',
        'header = "Expect:"', // which would cost a round trip
        'output = "/dev/null"',
        "silent",
        "show-error",
        "fail",
      ].join("\n"),
    )
    .join("\nnext\n");
}

/** What is left out of a race, for the reader. */
export const missingPrograms = ({ python, curl }: Bench): readonly string[] => [
  ...(python === undefined ? ["Without Python: python3 is not installed."] : []),
  ...(curl === undefined ? ["Without curl: it is not installed."] : []),
];

export const script = (name: string, args: readonly string[]): Pick<Command, "program" | "args"> => ({
  program: process.execPath,
  args: [here(name), ...args],
});

/** @returns what the built bin says, or undefined when it fails. */
export function ask(args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(process.execPath, [BIN, ...args], { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
