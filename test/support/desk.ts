/** An environment of a test's own: a folder, a ledger, and the sandbox on a real port. What it took is what its record says. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { onTestFinished } from "vitest";
import { Opened } from "../../src/disk/closing.ts";
import { BALLAST_BYTES } from "../../src/ledger/sqlite-file.ts";
import { type SettleOptions, type StreamOptions, type Surroundings, settle, stream } from "../../src/library.ts";
import type { SettleResult } from "../../src/run/settle.ts";
import type { StreamResult } from "../../src/run/stream.ts";
import { type Engine, openEngine } from "../../src/sandbox/engine.ts";
import type { FaultScript } from "../../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { configOf, sharedLedger } from "./shared-ledger.ts";

export interface Item {
  readonly action: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export const EVENT: Item = { action: "newEvent", data: { eventId: "E", eventName: "Fair", currency: "EUR" } };
export const sale = (ticketId: string, price = "18.00"): Item => ({
  action: "soldTicket",
  data: { eventId: "E", ticketId, userId: "u", price, orderTime: 1_600_000_000 },
});
export const imageOf = (ticketId: string, name: string): Item => ({
  action: "updateTicket",
  data: { ticketId, imageUrl: `https://cdn.example/${name}.png` },
});

export interface Desk extends AsyncDisposable {
  readonly sandbox: Sandbox;
  /** Writes an input of `{action, data}` lines, or of text as it is. */
  readonly write: (name: string, content: readonly Item[] | string) => void;
  readonly read: (name: string) => string;
  readonly exists: (name: string) => boolean;
  readonly remove: (name: string) => void;
  readonly stream: (name: string, more?: Partial<StreamOptions>) => Promise<StreamResult>;
  readonly settle: (options: SettleOptions) => Promise<SettleResult>;
  /** Streams in a process that is killed at a moment, as `settled:2`. */
  readonly streamAndDie: (
    name: string,
    moment: string,
    more?: Partial<StreamOptions>,
  ) => Promise<NodeJS.Signals | null>;
  /** Settles in a process that is killed at a moment. */
  readonly settleAndDie: (options: SettleOptions, moment: string) => Promise<NodeJS.Signals | null>;
  /** Whether the sandbox took an action with these data. */
  readonly has: (action: string, data: Readonly<Record<string, unknown>>) => boolean;
  readonly setFaults: (...rules: FaultScript["rules"]) => void;
  /** What the sandbox took, in order: `soldTicket a`. */
  readonly taken: () => readonly string[];
  /** The lines of the promises file. */
  readonly promises: () => readonly Readonly<Record<string, unknown>>[];
  /** Forgets the ledger, but not what is noted beside it. */
  readonly loseLedger: () => void;
}

/** No export that is being written just now, whose end would be watched. */
const A_WHILE_AGO = new Date(Date.now() - 3_600_000);

/** Two actions a request, so that a few make several chunks. */
const FLAGS = { chunkSize: 2, retries: 0, timeout: "5s" };

/**
 * @param config more than the place of the ledger, as YAML.
 * @param accept rules by which the sandbox would refuse an action.
 */
export async function openDesk(
  ledger: "sqlite" | "postgres" = "sqlite",
  { config = "", accept = [] }: { readonly config?: string; readonly accept?: readonly string[] } = {},
): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), "tickets-desk-"));
  const at = (name: string): string => join(folder, name);
  const engine = openEngine({ path: ":memory:", accept });
  const sandbox = await startSandbox({ engine });
  const opened = new Opened();
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  opened.defer(() => engine.close());
  opened.use(sandbox);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  makeBallast(at("state/playground"));
  const shared = ledger === "postgres" ? await sharedLedger() : undefined;
  const settings = `${shared === undefined ? "" : configOf("playground", shared)}${config}`;
  if (settings !== "") writeFileSync(at("tickets.config.yaml"), settings);
  const env = {
    TICKETS_PLAYGROUND_BASE_URL: sandbox.url,
    TICKETS_PLAYGROUND_API_KEY: sandbox.apiKey,
    TICKETS_STATE_DIR: at("state"),
    ...shared?.env,
  };
  const surroundings = { environment: "playground", cwd: folder, env, flags: FLAGS } satisfies Surroundings;
  const streaming = (name: string): StreamOptions => ({ ...surroundings, files: [name], output: "promises.ndjson" });
  return {
    sandbox,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    write: (name, content) => {
      writeFileSync(at(name), typeof content === "string" ? content : linesOf(content));
      utimesSync(at(name), A_WHILE_AGO, A_WHILE_AGO);
    },
    read: (name) => readFileSync(at(name), "utf8"),
    exists: (name) => existsSync(at(name)),
    remove: (name) => rmSync(at(name)),
    stream: (name, more) => stream({ ...streaming(name), ...more }),
    settle: (options) => settle({ ...surroundings, reason: "looked", ...options }),
    streamAndDie: (name, moment, more) => die("stream", { ...streaming(name), ...more }, moment),
    settleAndDie: (options, moment) => die("settle", { ...surroundings, ...options }, moment),
    setFaults: (...rules) => sandbox.setFaults({ rules }),
    has: (action, data) =>
      [...engine.processed()].some(
        (each) => each.status === "success" && each.action === action && isDeepStrictEqual(JSON.parse(each.data), data),
      ),
    taken: () => takenBy(engine),
    promises: () =>
      readFileSync(at("promises.ndjson"), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>), // one object a line
    loseLedger: () => {
      const state = at("state/playground");
      const journal = readFileSync(join(state, "journal.ndjson"));
      rmSync(state, { recursive: true });
      mkdirSync(state, { mode: 0o700 });
      writeFileSync(join(state, "journal.ndjson"), journal);
    },
  };
}

/** As large as the ledger's own, and empty: to write that out takes longer than most tests. */
function makeBallast(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, "ballast"), "");
  truncateSync(join(directory, "ballast"), BALLAST_BYTES);
}

const linesOf = (items: readonly Item[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join("");

function takenBy(engine: Engine): readonly string[] {
  const taken = [...engine.processed()].filter(({ status }) => status === "success");
  return taken.map(({ action, ticketId, eventId }) => `${action} ${ticketId ?? eventId}`);
}

const VICTIM = `
import * as library from ${JSON.stringify(new URL("../../src/library.ts", import.meta.url).href)};
await library[process.argv[1]](JSON.parse(process.argv[2]));
`;

async function die(
  verb: "stream" | "settle",
  options: StreamOptions | SettleOptions,
  moment: string,
): Promise<NodeJS.Signals | null> {
  const env = { ...process.env, TICKETS_TEST_CRASH_AT: moment };
  const args = ["--input-type=module", "--eval", VICTIM, "--", verb, JSON.stringify(options)];
  const victim = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  victim.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code, signal] = (await once(victim, "close")) as [number | null, NodeJS.Signals | null]; // as Node says
  if (code !== null && code !== 0) throw new Error(said);
  return signal;
}
