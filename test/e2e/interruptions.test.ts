/** What others do to a run while it works: its output, its standard streams, its terminal. It goes on, and says so. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { BIN, type Workplace } from "../support/bin.ts";
import { expectSpokenAsSpecified, openSales, type Service } from "../support/service.ts";
import { type PromiseLine, readPromises, salesTable } from "../support/tables.ts";
import { LONG, testEach } from "../support/walks.ts";

const ROWS = 500;
const CHUNK = 100;
const SEND = [`TICKETS_CHUNK_SIZE=${CHUNK}`, "stream", "sales.csv", "--env", "playground"];
/** In which a run notes what it has written, on any machine. */
const NOTED_MS = 500;
const ALL = Array.from({ length: ROWS }, (_, at) => `T-${at + 1}`);

const ticketsOf = (promises: readonly PromiseLine[]) => promises.map(({ ticketId }) => ticketId);

/** Does something while the third request is in flight: promises of the first are in the output, and the run has much to do. */
function meanwhile(service: Service, act: () => void | Promise<void>): void {
  service.behave({
    answer: async ({ items }) => {
      if (items[0]?.data.ticketId === `T-${2 * CHUNK + 1}`) await act();
      return undefined;
    },
  });
}

/** Waits until the promises of two chunks are written: no others are before the third request is answered. */
async function atRest(path: string, act: () => void): Promise<void> {
  const written = () => readFileSync(path, "utf8").split("\n").length - 1;
  for (let turn = 0; turn < 1_000_000 && written() < 2 * CHUNK; turn += 1) await setImmediate();
  await setTimeout(NOTED_MS);
  act();
}

/** Every action was sent once, in order, and the ledger has every promise. */
async function expectAllOnce(place: Workplace, service: Service): Promise<void> {
  expectSpokenAsSpecified(service);
  expect(service.sent().map(({ data }) => data.ticketId)).toEqual(ALL);
  const { stdout } = await place.tickets(["results", "--all", "--env", "playground"], service);
  expect(ticketsOf(readPromises(stdout))).toEqual(ALL);
}

describe("an output file that others touch while the run writes it", () => {
  test.each<[string, (path: string) => void]>([
    ["deleted", (path) => rmSync(path)],
    ["moved away", (path) => renameSync(path, `${path}.moved`)],
    ["added to", (path) => appendFileSync(path, "hello\n")],
    ["cut", (path) => truncateSync(path, 100)],
    ["changed without another length", (path) => overwrite(path, "X")],
    ["replaced by another file", (path) => replace(path, (at) => writeFileSync(at, "mine\n"))],
    ["replaced by an empty file", (path) => replace(path, (at) => writeFileSync(at, ""))],
    ["replaced by a folder", (path) => replace(path, (at) => mkdirSync(at))],
    ["replaced by a link to another file", (path) => replace(path, (at) => symlinkSync("precious.txt", at))],
  ])("%s: the run goes on, and the rest goes elsewhere, said", LONG, async (_, touch) => {
    const { place, service } = await openSales(ROWS);
    place.write("precious.txt", "precious\n");
    const path = place.path("promises.ndjson");
    meanwhile(service, () => atRest(path, () => touch(path)));
    const { exitCode, stderr, summary } = await place.summary([...SEND, "-o", "promises.ndjson"], service);
    expect(exitCode).toBe(0);
    const rest = `promises.ndjson.${summary.run}.ndjson`;
    expect(summary).toMatchObject({ state: "finished", output: place.path(rest), actions: { accepted: ROWS } });
    expect(stderr).toContain(
      `promises.ndjson was changed by someone else while the run was writing it. The rest goes to ${rest}.`,
    );
    const promises = ticketsOf(readPromises(place.read(rest)));
    expect(promises).toHaveLength(ROWS - 2 * CHUNK);
    expect(promises).toEqual(ALL.slice(-promises.length));
    expect(place.read("precious.txt")).toBe("precious\n");
    await expectAllOnce(place, service);
  });

  test("as CSV, the rest is a table of its own", LONG, async () => {
    const { place, service } = await openSales(ROWS);
    meanwhile(service, () => rmSync(place.path("promises.csv")));
    const { summary } = await place.summary([...SEND, "-o", "promises.csv"], service);
    expect(summary.output).toBe(place.path(`promises.csv.${summary.run}.csv`));
    expect(place.read(`promises.csv.${summary.run}.csv`)).toMatch(/^source,line,action,/);
  });
});

test.each<[string, (path: string) => void]>([
  ["deleted", (path) => rmSync(path)],
  ["moved away", (path) => renameSync(path, `${path}.moved`)],
  ["emptied", (path) => truncateSync(path)],
])("an output file that is %s before its run goes on: the rest goes elsewhere, said", LONG, async (_, touch) => {
  const { place, service } = await openSales(ROWS);
  const command = [...SEND, "-o", "promises.ndjson"];
  service.behave({ answer: () => (service.requests.length === 3 ? { status: 401, body: "" } : undefined) });
  const { exitCode, summary } = await place.summary(command, service);
  expect(exitCode).toBe(5);
  touch(place.path("promises.ndjson"));
  const { stderr } = await place.tickets(["resume", "--env", "playground"], service);
  const rest = `promises.ndjson.${summary.run}.ndjson`;
  expect(stderr).toContain(
    `promises.ndjson is not appended to: what the run wrote into it is gone. The rest goes to ${rest}.`,
  );
  expect(ticketsOf(readPromises(place.read(rest)))).toEqual(ALL.slice(2 * CHUNK));
  // The next run begins the file afresh.
  place.write("sales.csv", salesTable(ROWS + 1));
  expect(await place.tickets(command, service)).toMatchObject({ exitCode: 0 });
  expect(ticketsOf(readPromises(place.read("promises.ndjson")))).toEqual([`T-${ROWS + 1}`]);
});

test("a Ctrl-C counts too where the request in flight is refused: a person decides how it goes on", async () => {
  const { place, service } = await openSales(ROWS);
  let child: ChildProcess | undefined;
  service.behave({
    answer: async () => {
      if (service.requests.length !== 3) return undefined;
      child?.kill("SIGINT");
      // Given time, so that the program has heard it before the answer comes.
      await setTimeout(500);
      return { status: 403, body: "" };
    },
  });
  const stopped = await place.tickets(SEND, {
    ...service,
    onSpawn: (spawned) => {
      child = spawned;
    },
  });
  expect(stopped.exitCode, stopped.stderr).toBe(5);
  service.behave({});
  const next = await place.tickets(SEND, service);
  expect(next.exitCode, next.stderr).toBe(8);
  expect(await place.tickets(["resume", "--env", "playground"], service)).toMatchObject({ exitCode: 0 });
  const { stdout } = await place.tickets(["results", "--all", "--env", "playground"], service);
  expect(ticketsOf(readPromises(stdout))).toEqual(ALL);
});

test("a folder that is gone before its run goes on: the working directory takes its place, said", LONG, async () => {
  const { place, service } = await openSales(ROWS);
  mkdirSync(place.path("night"));
  const inFolder = (folder: string) => ({ ...service, shell: `cd ${folder}; "$@"` });
  service.behave({ answer: () => (service.requests.length === 3 ? { status: 401, body: "" } : undefined) });
  const { exitCode } = await place.tickets(SEND.with(2, "../sales.csv"), inFolder("night"));
  expect(exitCode).toBe(5);
  rmSync(place.path("night"), { recursive: true });
  service.behave({ failureOf: ({ data }) => (data.ticketId === `T-${ROWS}` ? { status: "error" } : undefined) });
  const { stderr } = await place.tickets(["resume", "--env", "playground"], service);
  const rest = place.files().find((name) => /^promises\.playground\.ndjson\.[0-9a-f]{8}\.ndjson$/.test(name)) ?? "";
  expect(stderr).toContain(`its folder is gone. The rest goes to ${rest}.`);
  expect(ticketsOf(readPromises(place.read(rest)))).toEqual(ALL.slice(2 * CHUNK));
  expect(place.read("sales.rejects.csv")).toContain(`T-${ROWS}`);
});

test("a chunk that is being sent is called in flight while the process lives", LONG, async () => {
  const { place, service } = await openSales(ROWS);
  let shown = "";
  meanwhile(service, async () => {
    shown = (await place.tickets(["status", "--env", "playground"], service)).stdout;
  });
  await place.tickets(SEND, service);
  expect(shown).toMatch(/ open, being sent .* in flight/);
  expect(shown).not.toContain("in doubt");
});

describe("standard streams", () => {
  test("a reader of the promises that goes away: the rest goes to a file, said", LONG, async () => {
    const { place, service } = await openSales(ROWS);
    const shell = '{ "$@"; echo $? > code; } | head -n 1';
    const { stdout, stderr } = await place.tickets([...SEND, "-o", "-"], { ...service, shell });
    expect(readPromises(stdout)).toMatchObject([{ ticketId: "T-1" }]);
    expect(place.read("code")).toBe("0\n");
    const rest = place.files().find((name) => /^stdout\.playground\.[0-9a-f]{8}\.ndjson$/.test(name)) ?? "";
    expect(stderr).toContain(`The reader of standard output closed it. The rest goes to ${rest}.`);
    const promises = ticketsOf(readPromises(place.read(rest)));
    expect(promises).toEqual(ALL.slice(-promises.length));
    await expectAllOnce(place, service);
  });

  test("a reader that is gone while several lanes send: no promise is written twice", LONG, async () => {
    const { place, service } = await openSales(40);
    const [, ...send] = SEND;
    const shell = '"$@" | head -c0';
    await place.tickets(["TICKETS_CHUNK_SIZE=1", ...send, "--lanes", "4", "-o", "-"], { ...service, shell });
    const rest = place.files().find((name) => name.startsWith("stdout.playground.")) ?? "";
    const promises = ticketsOf(readPromises(place.read(rest)));
    expect(promises.length).toBeGreaterThan(0);
    expect(new Set(promises).size).toBe(promises.length);
    expect(service.sent()).toHaveLength(40);
  });

  test.each([
    ["stdin", '"$@" <&-', "promises.ndjson"],
    ["stdout", '"$@" >&-', "promises.ndjson"],
    ["stdout, where promises go,", '"$@" >&-', "-"],
    ["stderr", '"$@" 2>&-', "promises.ndjson"],
    ["all three", '"$@" <&- >&- 2>&-', "promises.ndjson"],
  ])("%s closed: the run is as ever", LONG, async (_, shell, output) => {
    const { place, service } = await openSales(ROWS);
    expect(await place.tickets([...SEND, "-o", output], { ...service, shell })).toMatchObject({ exitCode: 0 });
    if (output !== "-") expect(ticketsOf(readPromises(place.read(output)))).toEqual(ALL);
    await expectAllOnce(place, service);
  });

  test("a reader of the log that goes away, or whose disk is full, stops nothing", LONG, async () => {
    for (const shell of ['"$@" 2>/dev/full', '{ "$@"; echo $? > code; } 2>&1 >/dev/null | head -n 1']) {
      const { place, service } = await openSales(ROWS);
      await place.tickets([...SEND, "--verbose", "-o", "promises.ndjson"], { ...service, shell });
      if (shell.includes("code")) expect(place.read("code")).toBe("0\n");
      expect(ticketsOf(readPromises(place.read("promises.ndjson")))).toEqual(ALL);
      await expectAllOnce(place, service);
    }
  });

  test.each([
    ["the summary", [...SEND, "--json"]],
    ["actions", ["plan", "sales.csv"]],
    ["results", ["results", "--env", "playground"]],
  ])("%s that a full disk does not take is exit 10, not a crash", LONG, async (_, command) => {
    const { place, service } = await openSales(ROWS);
    if (command[0] === "results") await place.tickets(SEND, service);
    const { exitCode, stderr } = await place.tickets(command, { ...service, shell: '"$@" >/dev/full' });
    expect(stderr).toMatch(/^error: Standard output can't be written \(ENOSPC[^\n]*\)\.$/m);
    expect(stderr).not.toMatch(/\n {4}at /);
    expect(exitCode).toBe(10);
  });

  test.each([
    ["actions", ["plan", "sales.csv"]],
    ["results", ["results", "--env", "playground"]],
  ])("a reader of %s that had enough is all right", LONG, async (_, command) => {
    const { place, service } = await openSales(ROWS);
    place.write("sales.csv", salesTable(4000));
    if (command[0] === "results") await place.tickets(["stream", "sales.csv", "--env", "playground"], service);
    const shell = '{ "$@"; echo $? > code; } | head -n 1';
    const { stdout, stderr } = await place.tickets(command, { ...service, shell });
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).not.toMatch(/a fault in tickets|EPIPE/);
    expect(place.read("code")).toBe("0\n");
  });
});

/** `script` of util-linux, which every Linux has, gives the run a terminal of its own. */
test.skipIf(process.platform !== "linux")(
  "a terminal that goes away stops the run, and the same command completes it",
  async () => {
    const { place, service } = await openSales(ROWS);
    // The program outlives whoever started it; its fourth stream tells when it heard of that, and how it ends.
    place.write(
      "report.mjs",
      `import fs from "node:fs";
       const say = (text) => fs.writeSync(3, text);
       process.on("SIGHUP", () => say("hung up "));
       process.on("exit", (code) => say(String(code)));`,
    );
    const [setting = "", ...send] = SEND;
    const command = `${setting} exec '${process.execPath}' --import ./report.mjs '${BIN}' ${send.join(" ")} -o promises.ndjson`;
    const home = { HOME: place.path("home"), XDG_STATE_HOME: place.path("home/state"), TMPDIR: place.path("tmp") };
    const terminal = spawn("script", ["--quiet", "--command", command, "/dev/null"], {
      cwd: place.folder,
      env: { PATH: process.env.PATH, SHELL: "/bin/sh", TERM: "xterm", ...home, ...service.env },
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const reports = terminal.stdio[3] as Readable; // a pipe, as asked for above
    const heard = once(reports, "data");
    meanwhile(service, async () => {
      terminal.kill("SIGKILL");
      await heard;
    });
    let said = "";
    reports.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await once(reports, "end");
    expect(said).toBe("hung up 129");
    expect(service.requests).toHaveLength(3);
    service.behave({});
    const { summary } = await place.summary([...SEND, "-o", "promises.ndjson"], service);
    expect(summary).toMatchObject({ exitCode: 0, actions: { accepted: ROWS } });
    expect(ticketsOf(readPromises(place.read("promises.ndjson")))).toEqual(ALL);
    await expectAllOnce(place, service);
  },
);

const SIGNALS: readonly (readonly [
  what: string,
  signals: readonly NodeJS.Signals[],
  exitCode: number,
  inDoubt: number,
])[] = [
  ["Ctrl-C behind a hangup gives the request up", ["SIGHUP", "SIGINT"], 6, CHUNK],
  ["three hangups, as one closed window sends them, are one request to stop", ["SIGHUP", "SIGHUP", "SIGHUP"], 129, 0],
  ["a hangup behind Ctrl-C does not give the request up", ["SIGINT", "SIGHUP"], 130, 0],
  ["a hangup behind SIGTERM does not give the request up", ["SIGTERM", "SIGHUP"], 143, 0],
  ["SIGTERM behind a hangup gives the request up", ["SIGHUP", "SIGTERM"], 6, CHUNK],
];
const ON_LINUX = { skip: process.platform !== "linux" };

testEach(
  "%s",
  SIGNALS,
  SIGNALS.length,
  async ([, signals, exitCode, inDoubt]) => {
    const { place, service } = await openSales(ROWS);
    // Signals that come together may be heard as one: each is sent when the one before was heard.
    place.write(
      "report.mjs",
      `import fs from "node:fs";
     for (const name of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(name, () => fs.writeSync(2, "heard " + name + "\\n"));`,
    );
    let child: ChildProcess | undefined;
    let said = "";
    meanwhile(service, async () => {
      for (const [at, signal] of signals.entries()) {
        child?.kill(signal);
        while (said.split("heard SIG").length - 1 <= at) await setImmediate();
      }
    });
    const { summary } = await place.summary([...SEND, "-o", "promises.ndjson"], {
      ...service,
      nodeArgs: ["--import", place.path("report.mjs")],
      onSpawn: (spawned) => {
        child = spawned;
        spawned.stderr?.on("data", (text: Buffer) => {
          said += text.toString();
        });
      },
    });
    expect(summary).toMatchObject({ exitCode, actions: { accepted: 3 * CHUNK - inDoubt, inDoubt } });
  },
  ON_LINUX,
);

/** Writes a byte into the first line, and nothing else; as a person would, not within a tick of the last change. */
function overwrite(path: string, byte: string): void {
  const { mtimeNs } = statSync(path, { bigint: true });
  const file = openSync(path, "r+");
  do writeSync(file, byte, 0);
  while (statSync(path, { bigint: true }).mtimeNs === mtimeNs);
  closeSync(file);
}

function replace(path: string, make: (path: string) => void): void {
  rmSync(path);
  make(path);
}

test("an update that takes the program's own files away while it works is reported, and the same command goes on", async () => {
  const { place, service } = await openSales(ROWS);
  for (const part of ["bin", "dist", "package.json"])
    cpSync(join(dirname(BIN), "..", part), place.path(`opt/${part}`), { recursive: true });
  symlinkSync(join(dirname(BIN), "../node_modules"), place.path("opt/node_modules"));
  // The key is asked for when all is planned, and before what sends is loaded.
  const key = `[sh, -c, 'mv opt/dist opt/old; echo ${service.env.TICKETS_PLAYGROUND_API_KEY}']`;
  const config = `environments: {playground: {baseUrl: ${service.baseUrl}, apiKey: {command: ${key}}}}\n`;
  place.write("night.yaml", config);
  const ofCopy = `program=$1; shift 2; exec "$program" opt/bin/tickets.js "$@"`;
  const send = [...SEND, "--config", "night.yaml"];
  const stopped = await place.tickets(send, { shell: ofCopy });
  expect(stopped.exitCode).toBe(10);
  expect(stopped.stderr).toContain(
    "error: Files of tickets itself are gone: it was updated or removed while this command ran.\nInstall it again, then run the same command",
  );
  expect(service.requests).toHaveLength(0);
  expect((await place.tickets(send)).exitCode).toBe(0);
  await expectAllOnce(place, service);
});
