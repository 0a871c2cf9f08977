/**
 * Workers share a run whose ledger is in PostgreSQL, and die, freeze and lose the database meanwhile. Whatever happens, each
 * action comes to the service once, in the order of its lane, and what is not known is a doubt.
 *
 * `WORKER_ACTIONS=200000 WORKER_LANES=64 WORKERS=8 WORKER_SEEDS=5` does more; `WORKER_SEED=3 WORKER_SEEDS=1` repeats one.
 */

import { type ChildProcess, execFileSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Ended, openWorkplace, type RunOptions, type Workplace } from "../support/bin.ts";
import { NEEDS_POSTGRES, type PostgresServer, startOwnPostgres, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { type CuttingProxy, startProxy } from "../support/proxy.ts";
import { randomOf } from "../support/random.ts";
import { type Item, type Service, type ServiceRequest, startService } from "../support/service.ts";
import { sharedLedger } from "../support/shared-ledger.ts";
import { type PromiseLine, readLines } from "../support/tables.ts";
import { until } from "../support/until.ts";

const ENV = ["--env", "playground"];
const PUBLISH = ["stream", "sales.ndjson", ...ENV, "--publish"];
const ONLY_WITH = { skip: WITHOUT_POSTGRES };
/** What takes long, since requests and their margins have to run out: the long walk has it. */
const LONG = { ...ONLY_WITH, tags: ["long"] };
const named = (name: string): string => `${name}${NEEDS_POSTGRES}`;

/** As short as requests and their margin can be, since tests wait for both. */
const TIMEOUT = "1s";

/** For a worker that does not end by itself. */
const WAITING = "waiting";

interface Rig {
  readonly place: Workplace;
  /** The one that takes writes now. */
  readonly server: PostgresServer;
  readonly failOverTo: (server: PostgresServer) => void;
  readonly schema: string;
  readonly service: Service;
  readonly proxy: CuttingProxy;
  /** The actions of the input, in its order. */
  readonly input: readonly Item[];
  readonly run: string;
  readonly tickets: (args: readonly string[], options?: RunOptions) => Promise<Ended>;
  /** On a machine of its own. */
  readonly startWorker: (...args: readonly string[]) => Member;
}

/** A worker. */
interface Member {
  readonly child: ChildProcess;
  /** Resolves once it has said so. */
  readonly says: (what: string | RegExp) => Promise<void>;
  readonly ended: Promise<Ended>;
  /** Stops it where it is, until it is woken. */
  readonly freeze: () => void;
  /** Resolves once it has ended, or is frozen. */
  readonly rests: Promise<unknown>;
}

interface RigOptions {
  /** One of all tests if there is none. */
  readonly own?: PostgresServer;
  /** Of a request (`TIMEOUT`). */
  readonly timeout?: string;
  readonly maxRejected?: number;
  /** More settings of the environment. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Nothing is published yet. */
  readonly isEmpty?: boolean;
  readonly actions: number;
  readonly lanes: number;
  readonly chunkSize: number;
}

/** A run is published, unless nothing is, and nothing of it is sent. */
async function openRig(options: RigOptions): Promise<Rig> {
  const { actions, lanes, chunkSize, own, timeout = TIMEOUT, maxRejected = 100, more, isEmpty = false } = options;
  const [service, place] = [await startService(), openWorkplace()];
  const settings = Object.entries({ baseUrl: service.baseUrl, timeout, chunkSize, maxRejected, lanes, ...more });
  const ledger = await sharedLedger(
    own,
    "apiKey: {env: TICKETS_PLAYGROUND_API_KEY}",
    ...settings.map((each) => each.join(": ")),
  );
  const { schema } = ledger;
  let { server } = ledger;
  const proxy = await startProxy(server.port);
  const input = salesOf(actions, lanes);
  place.write("sales.ndjson", input.map((item) => `${JSON.stringify(item)}\n`).join(""));
  place.write("tickets.config.yaml", ledger.config);
  const tickets: Rig["tickets"] = (args, options = {}) =>
    place.tickets(args, {
      ...options,
      env: {
        ...{ ...service.env, TICKETS_LEDGER_URL: server.url, TICKETS_CONFIG: place.path("tickets.config.yaml") },
        ...options.env,
      },
    });
  let run: unknown = "";
  if (!isEmpty) {
    const published = await tickets(PUBLISH);
    expect(published.exitCode, published.stderr).toBe(0);
    [{ run } = { run }] = await server.query(`SELECT id AS run FROM ${schema}.runs`);
  }
  let members = 0;
  const startWorker: Rig["startWorker"] = (...args) => {
    members += 1;
    let child: ChildProcess | undefined;
    const mode = args.includes(WAITING) ? [] : ["--until-idle"];
    let said = "";
    const ended = tickets(["work", ...ENV, ...mode, ...args.filter((each) => each !== WAITING)], {
      env: {
        TICKETS_LEDGER_URL: server.url.replace(`:${server.port}/`, `:${proxy.port}/`),
        XDG_STATE_HOME: place.path(`machine-${members}`),
      },
      onSpawn: (spawned) => {
        child = spawned;
        spawned.stderr?.on("data", (text: Buffer) => {
          said += text;
        });
      },
    });
    if (child === undefined) throw new Error("no process was started");
    const { promise: isFrozen, resolve: onFrozen } = Promise.withResolvers<void>();
    const freeze = (): void => {
      child?.kill("SIGSTOP");
      onFrozen();
    };
    onTestFinished(() => void child?.kill("SIGKILL"));
    const says: Member["says"] = (what) =>
      until(() => (typeof what === "string" ? said.includes(what) : what.test(said)));
    return { child, ended, says, freeze, rests: Promise.race([ended, isFrozen]) };
  };
  return {
    ...{ place, schema, service, proxy, input, run: String(run), tickets, startWorker },
    get server() {
      return server;
    },
    failOverTo(next) {
      server = next;
      proxy.lead(next.port);
      proxy.cutAll();
    },
  };
}

/** Actions of each ticket: it is sold, then scanned three times. */
const OF_TICKET = 4;

/** Events, and what happens to their tickets, mixed. */
function salesOf(actions: number, events: number): readonly Item[] {
  const tickets = Math.ceil((actions - events) / OF_TICKET);
  return Array.from({ length: actions }, (_, at): Item => {
    if (at < events) return { action: "newEvent", data: { eventId: `E${at}`, eventName: "Wave", currency: "EUR" } };
    const [ticket, round] = [(at - events) % tickets, Math.floor((at - events) / tickets)];
    const data = { ticketId: `T${ticket}`, orderTime: 1_700_000_000 + round };
    if (round > 0) return { action: "scannedTicket", data };
    return { action: "soldTicket", data: { ...data, eventId: `E${ticket % events}`, userId: "u", price: "1.00" } };
  });
}

const keyOf = ({ action, data }: Item): string =>
  [action, data.ticketId ?? data.eventId, ...(action === "scannedTicket" ? [data.orderTime] : [])].join(" ");

/** Each action once at the service, in the order of its ticket and behind its event, and once in the results. */
async function expectEachOnce({ place, input, run, tickets }: Rig, processed: readonly Item[]): Promise<void> {
  expect(processed.map(keyOf).toSorted()).toEqual(input.map(keyOf).toSorted());
  const inOrder = (items: readonly Item[]) =>
    [...Map.groupBy(items, ({ data }) => data.ticketId ?? data.eventId)]
      .map(([subject, of]) => [subject, of.map(keyOf)])
      .toSorted();
  expect(inOrder(processed)).toEqual(inOrder(input));
  const known = new Set<unknown>();
  for (const { action, data } of processed) {
    if (action === "newEvent") known.add(data.eventId);
    if (action === "soldTicket") expect(known.has(data.eventId), keyOf({ action, data })).toBe(true);
  }
  expect((await tickets(["results", run, ...ENV, "-o", "all.ndjson"])).exitCode).toBe(0);
  const lines = readLines(place.read("all.ndjson")) as readonly (PromiseLine & { readonly mark: string })[];
  const reported = lines.map(({ action, ticketId, eventId, mark }) => keyFrom(action, ticketId ?? eventId, mark));
  expect(reported.toSorted()).toEqual(input.map(keyOf).toSorted());
  for (const { status, actionPromise } of lines) expect(status === "settled" || actionPromise !== undefined).toBe(true);
}

/** As `keyOf`, from what the ledger says of an action. */
const keyFrom = (kind: unknown, id: unknown, mark: unknown): string =>
  [kind, id, ...(kind === "scannedTicket" ? [String(mark).slice("t:".length)] : [])].join(" ");

const stateOf = async ({ server, schema }: Rig): Promise<unknown> =>
  (await server.query(`SELECT state, exit_code FROM ${schema}.runs`))[0];

/** A person looks which of the doubts the service has, and says so, until there are none. Returns how many there were. */
async function settleByTruth(rig: Rig, processed: readonly Item[]): Promise<number> {
  let all = 0;
  for (let before = -1; before !== all; ) {
    before = all;
    // A decision may find others.
    all += await settleSeen(rig, processed);
  }
  return all;
}

/** Decides about the doubts that there are. */
async function settleSeen({ server, schema, run, tickets }: Rig, processed: readonly Item[]): Promise<number> {
  const doubted = await server.query(
    `SELECT chunk, kind, subject, mark FROM ${schema}.actions JOIN ${schema}.chunks USING (run, chunk) WHERE state = 'in doubt'`,
  );
  const had = new Set(doubted.length === 0 ? [] : processed.map(keyOf));
  const doubts = Map.groupBy(doubted, ({ chunk }) => String(chunk));
  for (const [chunk, actions] of doubts) {
    const found = actions.filter(({ kind, subject, mark }) => had.has(keyFrom(kind, String(subject).slice(2), mark)));
    expect([0, actions.length], `the service has part of chunk ${chunk}`).toContain(found.length);
    const decision = found.length === 0 ? "--not-sent" : "--sent";
    const settled = await tickets(["settle", run, ...ENV, decision, "--chunk", chunk]);
    expect([0, 6], settled.stderr).toContain(settled.exitCode);
  }
  return doubts.size;
}

test(named("workers share a run, and whichever comes last ends it"), ONLY_WITH, async () => {
  const rig = await openRig({ actions: 400, lanes: 6, chunkSize: 10 });
  const ended = await Promise.all(["1", "2", "3"].map((lanes) => rig.startWorker("--lanes", lanes).ended));
  for (const { exitCode, stderr } of ended) expect(exitCode, stderr).toBe(0);
  expect(await stateOf(rig)).toEqual({ state: "finished", exit_code: "0" });
  await expectEachOnce(rig, rig.service.sent());
  const held = await rig.server.query(`SELECT lane FROM ${rig.schema}.lanes WHERE worker IS NOT NULL`);
  expect(held).toEqual([]);
});

test(named("the chunk of a killed worker waits for its time; until then a decision names it"), LONG, async () => {
  const rig = await openRig({ actions: 60, lanes: 1, chunkSize: 10 });
  const { service, startWorker, tickets, run } = rig;
  const killed = startWorker();
  service.behave({
    answer: () => {
      if (service.requests.length === 3) killed.child.kill("SIGKILL");
      return undefined;
    },
  });
  expect((await killed.ended).exitCode).toBe(null);
  const unseen = await tickets(["settle", run, ...ENV, "--not-sent"]);
  expect([unseen.exitCode, unseen.stderr]).toEqual([2, expect.stringContaining("may not have seen, so name one")]);
  const next = await startWorker().ended;
  expect([next.exitCode, service.requests.length], next.stderr).toEqual([6, 3]);
  expect(next.stderr).toContain("waits for a person to decide about chunk 3");
  const shown = await tickets(["settle", run, ...ENV]);
  expect(`${shown.stdout}${shown.stderr}`).toContain("the process ended before the answer came");
  expect(shown.stderr).toContain(`tickets settle ${run} --chunk 3 --sent --env playground`);
  const seen = await tickets(["settle", run, ...ENV, "--sent"]);
  expect(seen.stderr).toContain("Chunk 3: 10 actions settled as sent.");
  expect((await startWorker().ended).exitCode).toBe(0);
  await expectEachOnce(rig, service.sent());
});

test.each(["in doubt", "settled as not sent"])(
  named("the late answer of a frozen worker keeps what is %s from being sent again"),
  LONG,
  async (state) => {
    const rig = await openRig({ actions: 60, lanes: 1, chunkSize: 10 });
    const { service, startWorker, tickets, run, server, schema } = rig;
    const frozen = startWorker();
    service.behave({
      answer: () => {
        if (service.requests.length === 3) frozen.freeze();
        return undefined;
      },
    });
    await frozen.rests;
    const next = await startWorker().ended;
    expect([next.exitCode, service.requests.length], next.stderr).toEqual([6, 3]);
    const isSettled = state !== "in doubt";
    if (isSettled) expect((await tickets(["settle", run, ...ENV, "--not-sent"])).exitCode).toBe(0);
    frozen.child.kill("SIGCONT");
    const woken = await frozen.ended;
    expect([woken.exitCode, service.requests.length], woken.stderr).toEqual([6, 3]);
    expect(woken.stderr).toContain("came too late: another machine had given up on it");
    const [doubt] = await server.query(`SELECT detail FROM ${schema}.chunks WHERE state = 'in doubt'`);
    const said = /its answer came late, at .* \(HTTP 200\): 10 of 10 accepted$/;
    expect(doubt?.detail).toMatch(
      isSettled ? said : new RegExp(`^the process ended before the answer came; ${said.source}`),
    );
    const kept = await server.query(`SELECT answer FROM ${schema}.attempts WHERE answer IS NOT NULL`);
    expect(kept.map(({ answer }) => JSON.parse(String(answer)).data.length)).toEqual([10]);
    const shown = await tickets(["settle", run, ...ENV]);
    expect(`${shown.stdout}${shown.stderr}`).toContain("its answer came late");
    expect(await settleByTruth(rig, service.sent())).toBe(1);
    expect((await startWorker().ended).exitCode).toBe(0);
    await expectEachOnce(rig, service.sent());
  },
);

test(named("status shows who sends which lanes on all machines, and what is left"), LONG, async () => {
  const rig = await openRig({ actions: 60, lanes: 3, chunkSize: 10 });
  const { service, startWorker, tickets, run, server, schema } = rig;
  const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  service.behave({
    answer: async () => {
      if (service.requests.length === 2) onAsked();
      await mayAnswer;
      return undefined;
    },
  });
  // Two requests stay on their way while it is looked.
  const worker = startWorker("--lanes", "2", "TICKETS_TIMEOUT=10m");
  await isAsked;
  const shown = JSON.parse((await tickets(["status", ...ENV, "--json"])).stdout);
  expect(shown.workers).toMatchObject([
    { command: "tickets work", pid: worker.child.pid, seenAgoMs: expect.any(Number) },
  ]);
  const lanes: readonly Readonly<Record<string, number>>[] = shown.lanes;
  expect(lanes.map(({ run, lane, worker, inFlight = 0 }) => [run, lane, worker, inFlight > 0])).toEqual([
    ...[0, 1].map((lane) => [run, lane, shown.workers[0].worker, true]),
    [run, 2, undefined, false],
  ]);
  expect(lanes.reduce((sum, { actions = 0 }) => sum + actions, 0)).toBe(60);
  await server.query(
    `INSERT INTO ${schema}.workers (host, pid, command, started_ms, seen_ms)
      SELECT 'lost', 7, 'tickets work', seen_ms - 60000, seen_ms - 60000 FROM ${schema}.workers`,
  );
  const { stdout } = await tickets(["status", ...ENV]);
  expect(stdout).toMatch(
    new RegExp(`worker {8}\\S+ ${worker.child.pid} since \\d+ \\w+ \\d\\d:\\d\\d.*, lanes 0 1: tickets work`),
  );
  expect(stdout).toMatch(
    /worker {8}lost 7 since \d+ \w+ \d\d:\d\d.*, not seen for .* \(killed, or frozen\): tickets work/,
  );
  expect(stdout).toContain("to send       60 actions in 3 lanes, 1 of them without a worker");
  expect(stdout).toContain("in flight");
  answer();
  expect((await worker.ended).exitCode).toBe(0);
  const after = JSON.parse((await tickets(["status", ...ENV, "--json"])).stdout);
  expect(after).toMatchObject({ workers: [{ host: "lost", pid: 7 }], lanes: [] });
});

test(named("SIGTERM lets the request in flight end, and others go on"), ONLY_WITH, async () => {
  const rig = await openRig({ actions: 60, lanes: 2, chunkSize: 10 });
  const { service, startWorker } = rig;
  const stopped = startWorker();
  service.behave({
    answer: () => {
      if (!stopped.child.killed) stopped.child.kill("SIGTERM");
      return undefined;
    },
  });
  expect((await stopped.ended).exitCode).toBe(143);
  expect((await startWorker("--lanes", "2").ended).exitCode).toBe(0);
  await expectEachOnce(rig, service.sent());
});

test(named("stream sends what no worker sends, waits for the rest and writes the promises of all"), LONG, async () => {
  const rig = await openRig({ actions: 200, lanes: 4, chunkSize: 10 });
  const worker = rig.startWorker("--lanes", "2");
  const streamed = await rig.tickets(["resume", rig.run, ...ENV]);
  expect([streamed.exitCode, (await worker.ended).exitCode], streamed.stderr).toEqual([0, 0]);
  await expectEachOnce(rig, rig.service.sent());
  const promises = readLines(rig.place.read("promises.playground.ndjson"));
  expect(promises.length).toBe(200);
});

test(named("a run that a person stops while it is sent waits until it is resumed, for workers too"), LONG, async () => {
  const rig = await openRig({ actions: 60, lanes: 2, chunkSize: 10, timeout: "1m" });
  const { service, tickets, run, startWorker } = rig;
  let resuming: ChildProcess | undefined;
  service.behave({
    answer: () => {
      resuming?.kill("SIGINT");
      return undefined;
    },
  });
  const stopped = await tickets(["resume", run, ...ENV], {
    onSpawn: (child) => {
      resuming = child;
    },
  });
  expect(stopped.exitCode, stopped.stderr).toBe(130);
  const sent = service.requests.length;
  expect(sent).toBeLessThanOrEqual(2);
  const worker = await startWorker("--lanes", "2").ended;
  expect(worker.exitCode, worker.stderr).toBe(8);
  expect(worker.stderr).toContain("was stopped by a person");
  expect(service.requests.length).toBe(sent);
  resuming = undefined;
  expect((await tickets(["resume", run, ...ENV])).exitCode).toBe(0);
  await expectEachOnce(rig, service.sent());
});

test(named("a run that a person pauses while it is sent waits until it is resumed"), LONG, async () => {
  const rig = await openRig({ actions: 60, lanes: 2, chunkSize: 10, timeout: "1m" });
  const { service, tickets, run, startWorker } = rig;
  let paused: Promise<Ended> | undefined;
  service.behave({
    answer: async () => {
      paused ??= tickets(["settle", run, ...ENV, "--pause", "--reason", "wrong prices"]);
      await paused;
      return undefined;
    },
  });
  const stopped = await startWorker("--lanes", "2").ended;
  expect([stopped.exitCode, (await paused)?.exitCode], stopped.stderr).toEqual([8, 0]);
  expect(stopped.stderr).toContain("was stopped by a person");
  expect(service.requests.length).toBeLessThanOrEqual(2);
  expect((await tickets(["resume", run, ...ENV])).exitCode).toBe(0);
  await expectEachOnce(rig, service.sent());
});

test(named("a run that is closed waits for what is on its way, and is left alone by workers"), LONG, async () => {
  const rig = await openRig({ actions: 60, lanes: 1, chunkSize: 10, timeout: "1m" });
  const { service, startWorker, tickets, run, server, schema } = rig;
  const close = ["settle", run, ...ENV, "--abandon", "-y"];
  let early: Ended | undefined;
  service.behave({
    answer: async () => {
      if (service.requests.length === 3) early = await tickets(close);
      return undefined;
    },
  });
  const worker = await startWorker().ended;
  expect(worker.stderr).not.toContain("given up");
  expect([early?.exitCode, early?.stderr]).toEqual([8, expect.stringContaining("Workers are still sending 1 chunk")]);
  expect((await tickets(close)).exitCode).toBe(0);
  const states = await server.query(`SELECT state FROM ${schema}.chunks ORDER BY chunk`);
  expect(states.map(({ state }) => state)).toEqual([...Array(3).fill("answered"), ...Array(3).fill("abandoned")]);
  const idle = await startWorker("--json").ended;
  expect(JSON.parse(idle.stdout)).toEqual({
    ...{ environment: "playground", exitCode: 0, accepted: 0, rejected: 0, ended: [] },
  });
  expect(service.requests.length).toBe(3);
});

test(named("rejections that other workers met count, too"), LONG, async () => {
  const rig = await openRig({ actions: 400, lanes: 4, chunkSize: 10, maxRejected: 45, timeout: "1m" });
  const { service, startWorker, tickets, run, server, schema } = rig;
  service.behave({
    failureOf: () => ({ status: "error", message: "no" }),
    // As long as one may not know what others heard.
    answer: () => wait(1200, undefined),
  });
  const ended = await Promise.all(["1", "1", "1", "1"].map((lanes) => startWorker("--lanes", lanes).ended));
  expect(ended.map(({ exitCode }) => exitCode)).toContain(9);
  // Each for itself, they would send five chunks or more.
  const before = service.requests.length;
  expect(before).toBeLessThan(16);
  // A person has looked: as many again.
  service.behave({});
  const resumed = await tickets(["resume", run, ...ENV]);
  const [{ chunks } = {}] = await server.query(`SELECT count(*) AS chunks FROM ${schema}.chunks`);
  expect([resumed.exitCode, service.requests.length], resumed.stderr).toEqual([4, Number(chunks)]);
});

test(named("a rate is that of all together, and so is the pause that the service asks for"), LONG, async () => {
  const [RATE, PAUSE_S, CHUNKS] = [4, 600, 4];
  const rig = await openRig({ actions: CHUNKS, lanes: 2, chunkSize: 1, more: { rate: RATE } });
  const { service, startWorker, server, schema } = rig;
  const busy = { status: 429, body: "{}", headers: { "Retry-After": String(PAUSE_S) } };
  service.behave({ answer: () => (service.requests.length === CHUNKS ? busy : undefined) });
  const [{ now } = {}] = await server.query("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
  const workers = [startWorker(), startWorker()];
  // Each request moved it on by its share, whoever sent it.
  const least = Number(now) + ((CHUNKS - 1) / RATE + PAUSE_S) * 1000;
  await until(async () => {
    const [{ ms } = {}] = await server.query(`SELECT not_before_ms AS ms FROM ${schema}.pace`);
    return Number(ms) >= least;
  });
  for (const { child } of workers) child.kill("SIGTERM");
  await Promise.all(workers.map(({ ended }) => ended));
  expect(service.requests.length).toBe(CHUNKS);
});

test(named("a publisher that stands still keeps no worker from ending a run, and is named"), LONG, async () => {
  const rig = await openRig({ actions: 60, lanes: 2, chunkSize: 10 });
  const { place, tickets, startWorker, service, server, schema } = rig;
  execFileSync("mkfifo", [place.path("feed")]);
  const publisher = tickets(["stream", "-", ...ENV, "--publish", "--format", "ndjson"], {
    shell: 'cat feed | "$@"',
  });
  while ((await server.query(`SELECT 1 FROM ${schema}.locks WHERE command LIKE 'tickets stream -%'`)).length === 0);
  const worker = startWorker(WAITING);
  await worker.says("is done: 60 accepted.");
  const holder = /the ledger is locked by process \d+ on \S+ since \d+ \w{3,4} \d\d:\d\d: tickets stream -/;
  await worker.says(holder);
  expect(await stateOf(rig)).toEqual({ state: "finished", exit_code: "0" });
  const { stdout } = await tickets(["status", ...ENV]);
  expect(stdout).toMatch(/at work +process \d+ on \S+ since \d+ \w{3,4} \d\d:\d\d(?: \(\S+\))?: tickets stream -/);
  worker.child.kill("SIGTERM");
  expect((await worker.ended).exitCode).toBe(143);
  place.write("end", "");
  execFileSync("sh", ["-c", "cat end > feed"], { cwd: place.folder });
  await publisher;
  await expectEachOnce(rig, service.sent());
});

test(named("a worker that is started before anything was published says so, and sends what comes"), LONG, async () => {
  const { service, startWorker, tickets } = await openRig({ actions: 60, lanes: 2, chunkSize: 10, isEmpty: true });
  expect((await startWorker().ended).exitCode).toBe(0);
  const worker = startWorker(WAITING);
  await worker.says("Nothing was published yet. Waiting for a first run");
  expect((await tickets(PUBLISH)).exitCode).toBe(0);
  await worker.says("is done: 60 accepted.");
  worker.child.kill("SIGTERM");
  expect([(await worker.ended).exitCode, service.sent().length]).toEqual([143, 60]);
});

test.each(["refuse", "holdBack"] as const)(
  named("an idle worker says that the database is away, and hears SIGTERM: %s"),
  LONG,
  async (how) => {
    const { startWorker, proxy } = await openRig({ actions: 20, lanes: 1, chunkSize: 10 });
    const worker = startWorker(WAITING);
    await worker.says("No run is open");
    proxy[how](true);
    if (how === "refuse") proxy.cutAll();
    await worker.says("The database that holds the ledger does not answer.");
    worker.child.kill("SIGTERM");
    const { exitCode, stderr } = await worker.ended;
    expect(exitCode, stderr).toBe(143);
    proxy[how](false);
    const back = startWorker(WAITING);
    await back.says("No run is open");
    proxy[how](true);
    if (how === "refuse") proxy.cutAll();
    await back.says("does not answer");
    proxy[how](false);
    await back.says("The database is back.");
    back.child.kill("SIGTERM");
    expect((await back.ended).exitCode).toBe(143);
  },
);

test(named("a worker tells onEnd how each run stands, and writes metrics"), LONG, async () => {
  const { place, service, startWorker, tickets, run } = await openRig({
    ...{ actions: 60, lanes: 1, chunkSize: 10 },
    more: { onEnd: "[/bin/sh, -c, cat >> ended.ndjson]" },
  });
  service.behave({ answer: () => (service.requests.length === 3 ? { status: 503, body: "{}" } : undefined) });
  const work = ["--metrics", "work.prom"];
  expect((await startWorker(...work).ended).exitCode).toBe(6);
  expect(place.read("work.prom")).toMatch(/tickets_doubts?\S* 10\n/);
  expect((await tickets(["settle", run, ...ENV, "--not-sent"])).exitCode).toBe(0);
  expect((await startWorker(...work).ended).exitCode).toBe(0);
  const ends = readLines(place.read("ended.ndjson"));
  expect(ends).toMatchObject([
    { run, state: "published", exitCode: 0 },
    { run, exitCode: 6, actions: { inDoubt: 10 } },
    { run, state: "finished", exitCode: 0, actions: { accepted: 60 } },
  ]);
});

test(named("work needs a ledger that several machines share"), ONLY_WITH, async () => {
  const [service, place] = [await startService(), openWorkplace()];
  const ended = await place.tickets(["work", ...ENV], { env: service.env });
  expect([ended.exitCode, ended.stderr]).toEqual([2, expect.stringContaining("is a file of this machine")]);
});

const ACTIONS = Number(process.env.WORKER_ACTIONS);
const LANES = Number(process.env.WORKER_LANES);
const WORKERS = Number(process.env.WORKERS);
const FIRST_SEED = Number(process.env.WORKER_SEED);
const SEEDS = Array.from({ length: Number(process.env.WORKER_SEEDS) }, (_, at) => FIRST_SEED + at);

/** How many times a round begins anew before something is wrong. */
const MOST_ROUNDS = 200;

test.each(SEEDS)(
  named("workers, connections and the server are killed: each action once, by seed %i"),
  LONG,
  async (seed) => {
    const random = randomOf(seed);
    const own = await startOwnPostgres();
    const standby = seed % 2 === 0 ? await own.addStandby() : undefined;
    const rig = await openRig({
      own,
      // A busy machine takes longer than a second to answer eight workers, and each doubt begins a round anew.
      timeout: "4s",
      actions: ACTIONS,
      lanes: LANES,
      chunkSize: Math.max(5, Math.floor(ACTIONS / LANES / 12)),
    });
    const { service, proxy, startWorker, schema } = rig;
    const processed: Item[] = [];
    let awake: Member[] = [];
    let frozen: Member[] = [];
    let isCalm = false;
    const disturb = (): void => {
      const how = random();
      if (how < 0.4) {
        proxy.cutAll();
        return;
      }
      const at = Math.floor(random() * awake.length);
      const [member] = awake.splice(at, 1);
      if (member === undefined) return;
      if (how < 0.7) {
        member.child.kill("SIGKILL");
        return;
      }
      frozen.push(member);
      member.freeze();
    };
    let isServerWell = true;
    /** Once, in the middle of the run: the server is killed, and comes back or has its standby take its place. */
    const killServer = (): void => {
      isServerWell = false;
      own.stop("killed");
      if (standby === undefined) own.start();
      else {
        standby.promote();
        rig.failOverTo(standby);
      }
    };
    // Some tens of times in a run, however long it is.
    const often = Math.min(0.08, 40 / (LANES * 12));
    service.behave({
      answer: ({ items }: ServiceRequest) => {
        if (isServerWell && processed.length > ACTIONS / 3) killServer();
        const fault = isCalm ? 1 : random();
        if (fault < often / 2) return { status: 429, body: "", headers: { "Retry-After": "0" } };
        processed.push(...items);
        if (fault < often * 0.75) return { status: 503, body: "{}" };
        if (fault < often * 1.75) disturb();
        return;
      },
    });
    for (let round = 0; (await openRuns(rig)) > 0; round += 1) {
      expect(round).toBeLessThan(MOST_ROUNDS);
      isCalm = false;
      awake = Array.from({ length: WORKERS }, () => startWorker("--lanes", String(Math.ceil(LANES / WORKERS))));
      const team = [...awake];
      await Promise.all(team.map(({ rests }) => rests));
      isCalm = true;
      // Whatever a frozen one held is found, and decided about while it still sleeps.
      if (frozen.length > 0) expectWell(await startWorker("--lanes", String(LANES)).ended);
      await settleByTruth(rig, processed);
      for (const { child } of frozen) child.kill("SIGCONT");
      for (const { ended } of team) expectWell(await ended);
      frozen = [];
      await settleByTruth(rig, processed);
    }
    expect(isServerWell).toBe(false);
    await expectEachOnce(rig, processed);
    const [unasked] = await rig.server.query(
      `SELECT count(*) AS n FROM ${schema}.chunks WHERE state IN ('in doubt', 'sending')`,
    );
    expect(unasked?.n).toBe("0");
  },
);

/** Killed, done, or stopped by a doubt. */
function expectWell({ exitCode, stderr }: Ended): void {
  expect([null, 0, 6], stderr).toContain(exitCode);
}

const openRuns = async ({ server, schema }: Rig): Promise<number> =>
  Number((await server.query(`SELECT count(*) AS n FROM ${schema}.runs WHERE state = 'open'`))[0]?.n);
