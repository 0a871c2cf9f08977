import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { summaryIn } from "../support/interrupted.ts";
import { openRig, type Rig } from "../support/invariant/rig.ts";
import { NEEDS_POSTGRES, type PostgresServer, startOwnPostgres, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { sharedLedger } from "../support/shared-ledger.ts";
import { LONG } from "../support/walks.ts";

const ON_IT = ["--env", "playground"];
const DOWN_MS = 9_000;
const publishTo = (output: string, ...more: readonly string[]): readonly string[] => [
  ...["stream", "sales.ndjson", "--publish", ...ON_IT, "TICKETS_CHUNK_SIZE=2", "-o", output, ...more],
];
const PUBLISH = publishTo("out.ndjson");
const FOLLOW = ["results", "--follow", ...ON_IT];
const WORK = ["work", "--until-idle", ...ON_IT];

interface Published {
  readonly run: string;
  readonly state: string;
  readonly actions: { readonly total: number; readonly notSent: number; readonly inDoubt: number };
}

interface Followed {
  readonly runs: readonly { readonly run: string; readonly state: string; readonly rejects: readonly string[] }[];
}

/**
 * Machines that share a ledger: each with state, home and host name of its own, in the folder of one test.
 *
 * @param of the server that they share; without one, that of this worker.
 */
async function openMachines(of?: PostgresServer) {
  const ledger = await sharedLedger(of);
  const { server, schema } = ledger;
  const rig = await openRig({ shared: ledger });
  const { place } = rig;
  return {
    rig,
    /** One that has never been there. */
    add(host: string): Pick<Rig, "run"> {
      mkdirSync(place.path(host));
      const named = place.write(
        join(host, "host.mjs"),
        `import os from "node:os";\nimport { syncBuiltinESMExports } from "node:module";\nos.hostname = () => ${JSON.stringify(host)};\nsyncBuiltinESMExports();\n`,
      );
      const env = { TICKETS_STATE_DIR: place.path(join(host, "state")), NODE_OPTIONS: `--import=${named}` };
      return { run: (args, options = {}) => rig.run(args, { ...options, env: { ...env, ...options.env } }) };
    },
    /** Asks the ledger's database as its administrator; tables are named with `@` in front. */
    query: (sql: string) => server.query(sql.replaceAll("@", `"${schema}".`)),
    /** Loses the ledger. */
    lose: () => server.query(`DROP SCHEMA "${schema}" CASCADE`),
    /** Lines of a file of promises. */
    lines: (name: string) => readFileSync(place.path(name), "utf8").trimEnd().split("\n").filter(Boolean),
  };
}

/** A machine that publishes, one that sends, and sales 1 to `tickets`, published and not sent. */
async function published(tickets: number) {
  const machines = await openMachines();
  const [here, there] = [machines.add("here"), machines.add("there")];
  writeSales(machines.rig, tickets);
  const ran = await here.run([...PUBLISH, "--json"]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  return { ...machines, here, there, ...summaryIn<Published>(ran) };
}

/** Publishes events, one a chunk. */
async function publishEvents({ rig, here }: Awaited<ReturnType<typeof published>>, name: string, ...events: string[]) {
  writeActions(
    rig,
    `${name}.ndjson`,
    events.map((eventId) => ({ eventId })),
  );
  const args = [`${name}.ndjson`, ...ON_IT, "TICKETS_CHUNK_SIZE=1", "-o", `${name}.promises.ndjson`, "--json"];
  const ran = await here.run(["stream", "--publish", ...args]);
  return { ...summaryIn<Published>(ran), exitCode: ran.exitCode, stderr: ran.stderr };
}

/** Every line of a file of promises is about another action. */
function expectOnce(lines: readonly string[], actions: number): void {
  const places = lines.map((line) => {
    const { run, seq } = JSON.parse(line) as { readonly run: string; readonly seq: number };
    return `${run} ${seq}`;
  });
  expect(places).toHaveLength(actions);
  expect(new Set(places).size).toBe(actions);
}

/** `PUBLISH_ROUNDS=500` does more; how many else: `vitest.config.ts`. */
const ROUNDS = Number(process.env.PUBLISH_ROUNDS);

/** Events that get a ticket each round: the new one, and those before it. */
const SELLING = 3;

/** A new event, or a sale of its ticket. */
interface Row {
  readonly eventId: string;
  readonly ticketId?: string;
}

/** An export after so many rounds, all that it had before and what is new: actions in order of time. */
const exportOf = (rounds: number): readonly Row[] =>
  Array.from({ length: rounds }, (_, at) => at + 1).flatMap((round) => [
    { eventId: `E${round}` },
    ...Array.from({ length: Math.min(SELLING, round) }, (_, back) => ({
      eventId: `E${round - back}`,
      ticketId: `T${round}-${round - back}`,
    })),
  ]);

function writeActions({ place }: Rig, name: string, rows: readonly Row[]): void {
  const lines = rows.map(({ eventId, ticketId }, at) =>
    JSON.stringify(
      ticketId === undefined
        ? { action: "newEvent", data: { eventId, eventName: eventId, currency: "EUR" } }
        : {
            action: "soldTicket",
            data: { eventId, ticketId, userId: "u1", price: "10", orderTime: 1_767_225_600 + at },
          },
    ),
  );
  place.write(name, lines.map((line) => `${line}\n`).join(""));
}

/** An event and so many sales of it. */
const writeSales = (rig: Rig, tickets: number): void =>
  writeActions(rig, "sales.ndjson", [
    { eventId: "E1" },
    ...Array.from({ length: tickets }, (_, at) => ({ eventId: "E1", ticketId: `T${at + 1}` })),
  ]);

const ticketsOf = ({ rig }: { readonly rig: Rig }): readonly unknown[] =>
  rig.requests().flatMap((request) => request.map(({ ticketId, eventId }) => ticketId ?? eventId));

describe.skipIf(WITHOUT_POSTGRES)(`publish here, send there, write promises here${NEEDS_POSTGRES}`, () => {
  it.each([
    ["another machine had sent it", "there"],
    ["it had sent it itself", "here"],
  ] as const)("notices that the ledger with its run is gone, though %s", async (_, sender) => {
    const machines = await published(4);
    const { here, there, rig } = machines;
    const worked = await { here, there }[sender].run(WORK);
    expect(worked.exitCode, worked.stderr).toBe(0);
    const sent = rig.requests().flat().length;
    await machines.lose();
    for (const command of [publishTo("other.ndjson"), ["stream", "sales.ndjson", ...ON_IT]]) {
      const again = await here.run(command);
      expect(again.exitCode, again.stderr).toBe(2);
      expect(again.stderr).toContain("was lost");
    }
    expect(rig.requests().flat().length).toBe(sent);
  });

  it("waits for a database that is down for a while, before it is asked for the first time", LONG, async () => {
    const server = await startOwnPostgres();
    const { rig, add } = await openMachines(server);
    const [here, there] = [add("here"), add("there")];
    writeSales(rig, 4);
    for (const run of [() => here.run(PUBLISH), () => there.run(WORK)]) {
      server.stop("at once");
      const running = run();
      // Longer than a command waits that only reads.
      await new Promise((resolve) => setTimeout(resolve, DOWN_MS));
      server.start();
      const { exitCode, stderr } = await running;
      expect(exitCode, stderr).toBe(0);
    }
    expect(rig.requests().flat().length).toBe(5);
  });

  it("sends nothing itself; another machine sends it, and its promises come back once", async () => {
    const { rig, lines, here, there, run, state, actions } = await published(5);
    expect([state, actions.notSent, rig.requests()]).toEqual(["published", 6, []]);
    const sent = await there.run(WORK);
    expect(sent.exitCode, sent.stderr).toBe(0);
    expect(ticketsOf({ rig })).toEqual(["E1", "T1", "T2", "T3", "T4", "T5"]);
    expect(existsSync(rig.place.path("out.ndjson"))).toBe(false);

    const followed = await here.run(FOLLOW);
    expect(followed.exitCode, followed.stderr).toBe(0);
    expectOnce(lines("out.ndjson"), 6);
    const again = await here.run(FOLLOW);
    expect(again.stderr).toContain("every promise is written");
    expectOnce(lines("out.ndjson"), 6);
    const results = await there.run(["results", run, ...ON_IT]);
    expect(results.stdout.trimEnd().split("\n")).toEqual(lines("out.ndjson"));
  });

  it.each(["planned", "entered"] as const)("puts right what a kill left when the run was %s", LONG, async (point) => {
    const { rig, add, query } = await openMachines();
    const [here, there] = [add("here"), add("there")];
    writeSales(rig, 5);
    const killed = await here.run(PUBLISH, { interruption: { kind: "boundary", point, time: 1 } });
    expect(killed.killed).toBe(true);
    const again = await here.run([...PUBLISH, "--json"]);
    // What is pending is not sent by another run.
    expect(again.exitCode, again.stderr).toBe(point === "entered" ? 4 : 0);
    expect(await query("SELECT id FROM @runs")).toHaveLength(1);
    const sent = await there.run(["resume", ...ON_IT]);
    expect(sent.exitCode, sent.stderr).toBe(0);
    expect(ticketsOf({ rig })).toEqual(["E1", "T1", "T2", "T3", "T4", "T5"]);
  });

  it("writes each line once although it was killed amid that", LONG, async () => {
    const { rig, lines, here, there } = await published(5);
    await there.run(WORK);
    const killed = await here.run(FOLLOW, { interruption: { kind: "boundary", point: "projected", time: 2 } });
    expect(killed.killed).toBe(true);
    // The next night writes into the same file.
    writeSales(rig, 7);
    const next = await here.run(PUBLISH);
    expect(next.exitCode, next.stderr).toBe(0);
    expectOnce(lines("out.ndjson"), 6);
    await there.run(WORK);
    const followed = await here.run(FOLLOW);
    expect(followed.exitCode, followed.stderr).toBe(0);
    expectOnce(lines("out.ndjson"), 8);
    expect(ticketsOf({ rig })).toHaveLength(8);
  });

  it.each(["work --until-idle", "resume"])(
    "follows a run to its end, while another sends it by %s",
    LONG,
    async (how) => {
      const { lines, here, there, run } = await published(9);
      const [followed, sent] = await Promise.all([
        here.run(["results", run, "--follow", "--json", ...ON_IT]),
        (how === "resume" ? here : there).run([...how.split(" "), ...ON_IT]),
      ]);
      expect([followed.exitCode, sent.exitCode], followed.stderr + sent.stderr).toEqual([0, 0]);
      expect(summaryIn<Followed>(followed).runs).toMatchObject([{ run, state: "finished" }]);
      expectOnce(lines("out.ndjson"), 10);
    },
  );

  it("enters a run behind one that is still to be sent, without what that holds", LONG, async () => {
    const machines = await published(3);
    const { rig, lines, here, there } = machines;
    writeSales(rig, 6);
    // The others are tickets of an event that is not registered yet.
    const early = await there.run(publishTo("there.ndjson", "--json"));
    expect(early.exitCode, early.stderr).toBe(4);
    expect(summaryIn<Published>(early)).toMatchObject({ state: "nothing new", actions: { total: 7, notSent: 7 } });
    const other = await publishEvents(machines, "other", "E2");
    expect([other.exitCode, other.stderr]).toEqual([0, expect.stringContaining("behind 1 open run")]);
    const sent = await here.run(WORK);
    expect(sent.exitCode, sent.stderr).toBe(0);
    expect(ticketsOf({ rig })).toEqual(["E1", "T1", "T2", "T3", "E2"]);
    expect((await there.run(publishTo("there.ndjson"))).exitCode).toBe(0);
    expect((await here.run(WORK)).exitCode).toBe(0);
    for (const machine of [here, there]) expect((await machine.run(FOLLOW)).exitCode).toBe(0);
    expectOnce(lines("out.ndjson"), 4);
    expectOnce(lines("there.ndjson"), 3);
  });

  it("enters each action once where two machines publish at the same moment", async () => {
    const { rig, add, query } = await openMachines();
    const [here, there] = [add("here"), add("there")];
    writeSales(rig, 40);
    const ran = await Promise.all([
      here.run([...PUBLISH, "--wait-lock", "10m", "--json"]),
      there.run(publishTo("there.ndjson", "--wait-lock", "10m", "--json")),
    ]);
    expect(ran.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 4]);
    expect(ran.map((each) => summaryIn<Published>(each).state).toSorted()).toEqual(["nothing new", "published"]);
    expect(await query("SELECT sum(count) AS actions FROM @chunks")).toEqual([{ actions: "41" }]);
  });

  it(
    `sends each action once where two machines publish the same exports at the same moment and four work, ${ROUNDS} times`,
    LONG,
    async () => {
      const { rig, lines, add } = await openMachines();
      const publishers = ["one", "other"].map((host) => ({ ...add(host), output: `${host}.ndjson` }));
      const working = ["a", "b", "c", "d"].map((host) => {
        let child: ChildProcess | undefined;
        const ended = add(host).run(["work", "--lanes", "2", ...ON_IT], {
          onSpawn: (spawned) => {
            child = spawned;
          },
        });
        return { ended, stop: () => child?.kill("SIGTERM") };
      });
      for (let round = 1; round <= ROUNDS; round += 1) {
        writeActions(rig, "sales.ndjson", exportOf(round));
        const ran = await Promise.all(
          publishers.map(({ run, output }) => run(publishTo(output, "--lanes", "4", "--wait-lock", "10m", "--json"))),
        );
        // What the last round published may hold some of it.
        for (const { exitCode, stderr } of ran) expect([0, 4], stderr).toContain(exitCode);
      }
      const last = add("last");
      for (let isDone = false; !isDone; ) {
        expect([0, 4]).toContain((await last.run(WORK)).exitCode);
        const again = await last.run(publishTo("last.ndjson", "--json"));
        isDone = again.exitCode === 0 && summaryIn<Published>(again).state === "nothing new";
      }
      for (const { stop } of working) stop();
      for (const { ended } of working) expect([0, 143], (await ended).stderr).toContain((await ended).exitCode);
      const all = exportOf(ROUNDS);
      const sent = rig.requests().flat();
      expect(sent).toHaveLength(all.length);
      const known = new Set<unknown>();
      for (const { eventId, ticketId = null } of sent) {
        if (ticketId === null) known.add(eventId);
        expect(known.has(eventId), `${ticketId}`).toBe(true);
      }
      const writers = [...publishers, { ...last, output: "last.ndjson" }];
      for (const { run } of writers) expect([0, 4]).toContain((await run(FOLLOW)).exitCode);
      expectOnce(
        writers.flatMap(({ output }) => (existsSync(rig.place.path(output)) ? lines(output) : [])),
        all.length,
      );
    },
  );

  it("enters a run behind one that a person has to decide about, without what that holds", LONG, async () => {
    const { rig, lines, here, there, run, query } = await published(5);
    const killed = await there.run([...WORK, "TICKETS_TIMEOUT=1s"], {
      interruption: { kind: "request", request: 2, when: "before" },
    });
    expect(killed.killed).toBe(true);
    // Once the time of its request has passed, the chunk is in doubt for whoever comes.
    const found = await there.run([...WORK, "TICKETS_TIMEOUT=1s"]);
    expect(found.exitCode, found.stderr).toBe(6);
    writeSales(rig, 7);
    const behind = await here.run([...PUBLISH, "--json"]);
    expect(behind.stderr).toContain("behind 1 open run");
    expect(summaryIn<Published>(behind).actions).toMatchObject({ total: 8, notSent: 6, alreadySent: 2 });
    const waits = await there.run(WORK);
    expect(waits.exitCode).toBe(6);
    const [{ chunk } = {}] = await query("SELECT chunk FROM @chunks WHERE state = 'in doubt'");
    expect(waits.stderr).toContain(`waits for a person to decide about chunk ${chunk}.`);
    const settled = await here.run(["settle", run, "--sent", "--chunk", String(chunk), ...ON_IT]);
    expect(settled.exitCode, settled.stderr).toBe(0);
    expect([0, 4]).toContain((await there.run(WORK)).exitCode);
    expect(ticketsOf({ rig })).toEqual(["E1", "T1", "T2", "T3", "T4", "T5", "T6", "T7"]);
    expect([0, 4]).toContain((await here.run(FOLLOW)).exitCode);
    expectOnce(lines("out.ndjson"), 8);
  });

  it.each([
    ["not-sent", 1],
    ["sent", 0],
  ] as const)("goes by what a person says of a closed run's doubt: %s", LONG, async (decision, times) => {
    const machines = await published(1);
    const { rig, here, there, query, run: first } = machines;
    await query("UPDATE @chunks SET state = 'in doubt', detail = 'no answer'");
    expect((await here.run(["settle", first, "--abandon", "--yes", ...ON_IT])).exitCode).toBe(6);
    expect((await publishEvents(machines, "other", "E2")).exitCode).toBe(0);
    const both = await publishEvents(machines, "both", "E1", "E3");
    expect(both.stderr).toContain(`tickets settle ${first}`);
    expect((await there.run(WORK)).exitCode).toBe(6);
    const settled = await here.run(["settle", first, `--${decision}`, ...ON_IT]);
    expect(settled.exitCode, settled.stderr).toBe(0);
    await publishEvents(machines, "both", "E1", "E3");
    expect((await there.run(WORK)).exitCode).toBe(0);
    const sent = ticketsOf({ rig });
    expect([sent.filter((id) => id === "E1").length, sent.filter((id) => id === "E3").length]).toEqual([times, 1]);
  });

  it("writes the rejects of what workers heard, and of bad rows", async () => {
    const { rig, lines, add } = await openMachines();
    const [here, there] = [add("here"), add("there")];
    const row = (ticketId: string, price: string): string =>
      JSON.stringify({ eventId: "E1", ticketId, userId: "u1", price, orderTime: 1_767_225_600 });
    rig.place.write("events.csv", "eventId,currency,eventName\nE1,EUR,One\n");
    rig.place.write("sales.ndjson", `${row("T1", "10")}\n${row("T2", "ten")}\n`);
    rig.place.write("scans.ndjson", '{"ticketId":"T9","orderTime":1767225700}\n');
    const ran = await here.run([
      "stream",
      "events.csv",
      "scans.ndjson",
      ...PUBLISH.slice(1),
      "--max-invalid",
      "1",
      "--json",
    ]);
    expect(ran.exitCode, ran.stderr).toBe(4);
    const { run } = summaryIn<Published>(ran);
    expect(lines("sales.rejects.ndjson")).toEqual([expect.stringContaining("T2")]);
    expect((await there.run(WORK)).exitCode).toBe(4);
    const followed = await here.run(["results", run, "--follow", "--json", ...ON_IT]);
    expect([followed.exitCode, summaryIn<Followed>(followed).runs[0]?.rejects.length], followed.stderr).toEqual([4, 2]);
    expect(lines("scans.rejects.ndjson")).toEqual([expect.stringContaining("T9")]);
  });

  it("has no promises for standard output", LONG, async () => {
    const { rig, add } = await openMachines();
    writeSales(rig, 1);
    const refused = await add("here").run(publishTo("-"));
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("standard output")]);
  });
});
