/** A signal ends every read and every wait, and nothing is left behind. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { BIN, openWorkplace, type Workplace } from "../support/bin.ts";
import { LONG, testEach } from "../support/walks.ts";

const SIGNALS = [
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const;

/** A command whose reading or waiting has no end of its own. */
const ENDLESS: readonly (readonly [string, readonly string[], string?])[] = [
  ["a pipe that nobody writes to", ["stream", "pipe.csv"]],
  ["a pipe that nobody writes to, to validate", ["validate", "pipe.csv"]],
  ["a packed pipe that nobody writes to", ["stream", "pipe.csv.gz"]],
  ["a pipe that nobody writes to, to guess from", ["init", "pipe.csv"]],
  ["standard input that does not end", ["stream", "-", "--action", "newEvent"], "pipe"],
  ["standard input that does not end, to plan", ["plan", "-", "--action", "newEvent"], "pipe"],
  ["a config that is such a pipe", ["stream", "events.csv", "--config", "pipe"]],
  ["a key that is such a pipe", ["stream", "events.csv", "--env", "live", "--config", "key.yaml"]],
  ["a lookup that is such a pipe", ["validate", "sales.csv", "--config", "lookup.yaml"]],
];

function prepare(place: Workplace): void {
  for (const name of ["pipe.csv", "pipe.csv.gz", "pipe"]) execFileSync("mkfifo", [place.path(name)]);
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  place.write("sales.csv", "Id\nA\n");
  place.write("key.yaml", "environments: {live: {baseUrl: 'http://127.0.0.1:9', apiKey: {file: pipe}, retries: 0}}\n");
  place.write(
    "lookup.yaml",
    "sources: {s: {match: sales.csv, lookup: {o: {file: pipe.csv, where: {Id: '{Id}'}}}, actions: [{scannedTicket: {fields: {ticketId: '{o.Id}'}}}]}}\n",
  );
}

/** Starts a command, and sends it the signal once it has nothing else to do than to wait. */
async function interrupted(
  place: Workplace,
  args: readonly string[],
  stdin: "ignore" | "pipe",
  signal: NodeJS.Signals,
) {
  const child: ChildProcess = spawn(process.execPath, [BIN, ...args], {
    cwd: place.folder,
    env: { PATH: process.env.PATH, HOME: place.path("home"), TMPDIR: place.path("tmp") },
    stdio: [stdin, "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const said: string[] = [];
  child.stderr?.on("data", (text: Buffer) => said.push(text.toString()));
  if (stdin === "pipe") child.stdin?.write("eventId,currency\n");
  await idle(child);
  child.kill(signal);
  const [code] = await once(child, "exit");
  return { code, said: said.join("") };
}

/** Waits until a process waits: its processor time stands still, as the system counts it. */
async function idle(child: ChildProcess): Promise<void> {
  let before = -1;
  for (let same = 0; same < 20; ) {
    const spent = Number(execFileSync("sh", ["-c", `cut -d' ' -f14 /proc/${child.pid}/stat`]).toString());
    same = spent === before && spent > 5 ? same + 1 : 0;
    before = spent;
  }
}

const WAITS = ENDLESS.map(([what, args, stdin], at) => {
  const [signal, code] = SIGNALS[at % SIGNALS.length] ?? SIGNALS[0];
  return { signal, what, args, stdin, code };
});

testEach(
  "$signal ends $what",
  WAITS,
  WAITS.length,
  async ({ signal, args, stdin, code }) => {
    const place = openWorkplace();
    prepare(place);
    const ended = await interrupted(place, args, stdin === "pipe" ? "pipe" : "ignore", signal);
    expect(ended).toMatchObject({
      code,
      said: expect.stringContaining(`Stopped by ${signal}. Nothing that this command sent is in doubt.`),
    });
    expect(readdirSync(place.path("tmp")).filter((name) => !/^tickets-\d+$/.test(name))).toEqual([]);
    const state = place.path(".tickets/sandbox");
    expect(existsSync(state) ? readdirSync(state).filter((name) => name.startsWith("plan-")) : []).toEqual([]);
  },
  { skip: process.platform !== "linux" },
);

test.skipIf(process.platform !== "linux").each(SIGNALS)(
  "%s ends the wait for another run",
  LONG,
  async (signal, code) => {
    const place = openWorkplace();
    prepare(place);
    expect((await place.tickets(["stream", "events.csv"])).exitCode).toBe(0);
    using lock = new DatabaseSync(place.path(".tickets/sandbox/environment.lock"));
    lock.exec("BEGIN EXCLUSIVE");
    const { code: ended, said } = await interrupted(
      place,
      ["stream", "events.csv", "--wait-lock", "1h"],
      "ignore",
      signal,
    );
    expect([ended, said]).toEqual([code, expect.stringContaining(`Stopped by ${signal}`)]);
  },
);

test("SIGTERM ends the reading of a large file", LONG, async () => {
  const place = openWorkplace();
  const note = "x".repeat(2000);
  const rows = Array.from({ length: 20_000 }, (_, at) => `E-1,T-${at},user-1,10.50,${1_700_000_000 + at},${note}\n`);
  place.write("sales.csv", `eventId,ticketId,userId,price,orderTime,note\n${rows.join("")}`);
  const stop = "setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300)";
  const nodeArgs = ["--import", `data:text/javascript,${stop}`];
  expect((await place.tickets(["validate", "sales.csv"], { nodeArgs })).exitCode).toBe(143);
});
