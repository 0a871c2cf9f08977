import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { summaryIn } from "../support/invariant/sales.ts";
import { type Machines, ON_IT, openMachines, writeSales } from "../support/machines.ts";
import { NEEDS_POSTGRES, startOwnPostgres, WITHOUT_POSTGRES } from "../support/postgres.ts";

const DOWN_MS = 9_000;
const PUBLISH = ["publish", "sales.ndjson", ...ON_IT, "--chunk-size", "2", "-o", "out.ndjson"];

interface Published {
  readonly run: string;
  readonly state: string;
  readonly actions: { readonly total: number; readonly notSent: number; readonly inDoubt: number };
}

interface Collected {
  readonly runs: readonly {
    readonly run: string;
    readonly state: string;
    readonly collected: number;
    readonly rejects: readonly string[];
    readonly rejectsOn: string | null;
  }[];
}

/** A machine that publishes, one that sends, and sales 1 to `tickets`, published and not sent. */
async function published(tickets: number) {
  const machines = await openMachines();
  const [here, there] = [machines.add("here"), machines.add("there")];
  writeSales(machines.rig.place.path("sales.ndjson"), 1, tickets);
  const ran = await here.run([...PUBLISH, "--json"]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  return { ...machines, here, there, ...summaryIn<Published>(ran) };
}

/** Publishes events, one a chunk. */
async function publishEvents({ rig, here }: Awaited<ReturnType<typeof published>>, name: string, ...events: string[]) {
  const rows = events.map((eventId) => ({
    action: "newEvent",
    data: { eventId, eventName: eventId, currency: "EUR" },
  }));
  rig.place.write(`${name}.ndjson`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const args = [`${name}.ndjson`, ...ON_IT, "--chunk-size", "1", "-o", `${name}.promises.ndjson`, "--json"];
  const ran = await here.run(["publish", ...args]);
  return { ...summaryIn<Published>(ran), exitCode: ran.exitCode, stderr: ran.stderr };
}

/** Sends what is published, and collects a run; with which exit code, and what is said of its actions. */
async function sentAndCollected({ here, there }: Awaited<ReturnType<typeof published>>, run: string) {
  const worked = await there.run(["work", "--until-idle", ...ON_IT]);
  expect(worked.exitCode, worked.stderr).toBe(0);
  const { exitCode } = await here.run(["collect", run, ...ON_IT]);
  const shown = await here.run(["status", run, ...ON_IT, "--json"]);
  const { actions } = JSON.parse(shown.stdout);
  return { exitCode, accepted: actions.accepted, notSent: actions.notSent, alreadySent: actions.alreadySent };
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

/** An export after so many rounds, all that it had before and what is new: actions in order of time. */
function exportOf(
  rounds: number,
): readonly { readonly action: string; readonly eventId: string; readonly ticketId?: string }[] {
  return Array.from({ length: rounds }, (_, at) => at + 1).flatMap((round) => [
    { action: "newEvent", eventId: `E${round}` },
    ...Array.from({ length: Math.min(SELLING, round) }, (_, back) => ({
      action: "soldTicket",
      eventId: `E${round - back}`,
      ticketId: `T${round}-${round - back}`,
    })),
  ]);
}

function writeExport(path: string, rounds: number): void {
  const lines = exportOf(rounds).map(({ action, eventId, ticketId }, at) => {
    const own = ticketId
      ? { ticketId, userId: "u1", price: "10", orderTime: 1_767_225_600 + at }
      : { eventName: eventId, currency: "EUR" };
    return `${JSON.stringify({ action, data: { eventId, ...own } })}\n`;
  });
  writeFileSync(path, lines.join(""));
}

const ticketsOf = ({ rig }: Pick<Machines, "rig">): readonly unknown[] =>
  rig.requests().flatMap((request) => request.map(({ ticketId, eventId }) => ticketId ?? eventId));

/** What takes long: the long walk has it. */
const LONG = { tags: ["long"] };

describe.skipIf(WITHOUT_POSTGRES)(`publish here, send there, collect here${NEEDS_POSTGRES}`, () => {
  it.each([
    ["another machine had sent it", "there"],
    ["it had sent it itself", "here"],
  ] as const)("notices that the ledger with its run is gone, though %s", async (_, sender) => {
    const machines = await published(4);
    const { here, there, rig } = machines;
    const worked = await { here, there }[sender].run(["work", "--until-idle", ...ON_IT]);
    expect(worked.exitCode, worked.stderr).toBe(0);
    const sent = rig.requests().flat().length;
    await machines.lose();
    for (const command of [
      [...PUBLISH.slice(0, -1), "other.ndjson"],
      ["stream", "sales.ndjson", ...ON_IT],
    ]) {
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
    writeSales(rig.place.path("sales.ndjson"), 1, 4);
    for (const run of [() => here.run(PUBLISH), () => there.run(["work", "--until-idle", ...ON_IT])]) {
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
    const sent = await there.run(["resume", run, ...ON_IT]);
    expect(sent.exitCode, sent.stderr).toBe(0);
    expect(ticketsOf({ rig })).toEqual(["E1", "T1", "T2", "T3", "T4", "T5"]);
    expect(existsSync(rig.place.path("out.ndjson"))).toBe(false);

    const collected = await here.run(["collect", ...ON_IT]);
    expect(collected.exitCode, collected.stderr).toBe(0);
    expectOnce(lines("out.ndjson"), 6);
    const again = await here.run(["collect", run, ...ON_IT]);
    expect(again.stderr).toContain("nothing new to write");
    expectOnce(lines("out.ndjson"), 6);
    const results = await there.run(["results", run, ...ON_IT]);
    expect(results.stdout.trimEnd().split("\n")).toEqual(lines("out.ndjson"));
  });

  it("gives back what the plan takes in the ledger and on other machines", LONG, async () => {
    const { rig, here, there, run, query } = await published(5);
    await there.run(["resume", run, ...ON_IT]);
    expect(existsSync(rig.place.path(`there/state/playground/runs/${run}`))).toBe(true);
    expect(await query("SELECT DISTINCT run FROM @plan_files")).toEqual([{ run }]);
    const early = await here.run(["prune", "--older-than", "0s", ...ON_IT, "--dry-run"]);
    expect(early.stderr).toContain("1 plan of an ended run in the ledger");
    await there.run(["prune", ...ON_IT]);
    expect(existsSync(rig.place.path(`there/state/playground/runs/${run}`))).toBe(false);
    // The rejects of it could not be written any more.
    expect(existsSync(rig.place.path(`here/state/playground/runs/${run}`))).toBe(true);
    await here.run(["collect", ...ON_IT]);
    await here.run(["prune", "--older-than", "0s", ...ON_IT]);
    expect(await query("SELECT run FROM @plan_files")).toEqual([]);
    expect(existsSync(rig.place.path(`here/state/playground/runs/${run}`))).toBe(false);
  });

  it.each(["planned", "plan shared", "entered"] as const)(
    "puts right what a kill left when the run was %s",
    LONG,
    async (point) => {
      const { rig, add, query } = await openMachines();
      const [here, there] = [add("here"), add("there")];
      writeSales(rig.place.path("sales.ndjson"), 1, 5);
      const killed = await here.run(PUBLISH, { interruption: { kind: "boundary", point, time: 1 } });
      expect(killed.killed).toBe(true);
      const again = await here.run([...PUBLISH, "--json"]);
      expect(again.exitCode, again.stderr).toBe(0);
      expect(again.stderr).toContain(point === "entered" ? "has just this input" : "wait for workers");
      const runs = await query("SELECT run FROM @runs");
      expect(runs).toHaveLength(1);
      expect(await query("SELECT DISTINCT run FROM @plan_files")).toEqual(runs);
      const sent = await there.run(["resume", ...ON_IT]);
      expect(sent.exitCode, sent.stderr).toBe(0);
      expect(ticketsOf({ rig })).toEqual(["E1", "T1", "T2", "T3", "T4", "T5"]);
    },
  );

  it.each(["projected", "recorded", "rejects written"] as const)(
    "collects each line once although it was killed when something was %s",
    LONG,
    async (point) => {
      const { rig, lines, here, there, run } = await published(5);
      await there.run(["resume", run, ...ON_IT]);
      const interruption = { kind: "boundary", point, time: 2 } as const;
      const killed = await here.run(["collect", ...ON_IT], point === "rejects written" ? {} : { interruption });
      expect(killed.killed).toBe(point !== "rejects written");
      // The next night writes into the same file.
      writeSales(rig.place.path("sales.ndjson"), 1, 7);
      const next = await here.run(PUBLISH);
      expect(next.exitCode, next.stderr).toBe(0);
      expectOnce(lines("out.ndjson"), 6);
      await there.run(["resume", ...ON_IT]);
      const collected = await here.run(["collect", ...ON_IT]);
      expect(collected.exitCode, collected.stderr).toBe(0);
      expectOnce(lines("out.ndjson"), 8);
      expect(ticketsOf({ rig })).toHaveLength(8);
    },
  );

  it("follows a run until it has ended", LONG, async () => {
    const { lines, here, there, run } = await published(9);
    const [followed, sent] = await Promise.all([
      here.run(["collect", run, "--follow", "--json", ...ON_IT]),
      there.run(["resume", run, ...ON_IT]),
    ]);
    expect([followed.exitCode, sent.exitCode], followed.stderr + sent.stderr).toEqual([0, 0]);
    expect(summaryIn<Collected>(followed).runs).toMatchObject([{ run, state: "finished", collected: 10 }]);
    expectOnce(lines("out.ndjson"), 10);
  });

  it("enters a run behind one that is still to be sent, without what that holds", LONG, async () => {
    const { rig, lines, here, there } = await published(3);
    writeSales(rig.place.path("sales.ndjson"), 1, 6);
    const next = await there.run([...PUBLISH.slice(0, -1), "there.ndjson", "--json"]);
    expect(next.exitCode, next.stderr).toBe(0);
    expect(next.stderr).toContain("behind 1 run that is still open");
    expect(summaryIn<Published>(next).actions).toMatchObject({ total: 7, notSent: 3, inDoubt: 4 });
    const sent = await here.run(["work", "--until-idle", ...ON_IT]);
    expect(sent.exitCode, sent.stderr).toBe(0);
    expect(ticketsOf({ rig })).toEqual(["E1", "T1", "T2", "T3", "T4", "T5", "T6"]);
    for (const machine of [here, there]) expect((await machine.run(["collect", ...ON_IT])).exitCode).toBe(0);
    expectOnce(lines("out.ndjson"), 4);
    expectOnce(lines("there.ndjson"), 3);
  });

  it("enters each action once where two machines publish at the same moment", async () => {
    const { rig, add, query } = await openMachines();
    const [here, there] = [add("here"), add("there")];
    writeSales(rig.place.path("sales.ndjson"), 1, 40);
    const ran = await Promise.all([
      here.run([...PUBLISH, "--wait-lock", "10m", "--json"]),
      there.run([...PUBLISH.slice(0, -1), "there.ndjson", "--wait-lock", "10m", "--json"]),
    ]);
    expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
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
        writeExport(rig.place.path("sales.ndjson"), round);
        const ran = await Promise.all(
          publishers.map(({ run, output }) =>
            run([...PUBLISH.slice(0, -1), output, "--lanes", "4", "--wait-lock", "10m", "--json"]),
          ),
        );
        for (const { exitCode, stderr } of ran) expect(exitCode, stderr).toBe(0);
        const summaries = ran.map((each) => summaryIn<Published>(each));
        expect(summaries.map(({ state }) => state).toSorted()).toEqual(["nothing new", "published"]);
      }
      expect((await add("last").run(["work", "--until-idle", ...ON_IT])).exitCode).toBe(0);
      for (const { stop } of working) stop();
      for (const { ended } of working) expect([0, 143], (await ended).stderr).toContain((await ended).exitCode);
      const all = exportOf(ROUNDS);
      const sent = rig.requests().flat();
      expect(sent).toHaveLength(all.length);
      const byEvent = Map.groupBy(sent, ({ eventId }) => eventId);
      for (const [event, ofEvent] of Map.groupBy(all, ({ eventId }) => eventId)) {
        const ids = ofEvent.map(({ ticketId = null }) => ticketId);
        expect(byEvent.get(event)?.map(({ ticketId }) => ticketId)).toEqual(ids);
      }
      for (const { run } of publishers) expect((await run(["collect", ...ON_IT])).exitCode).toBe(0);
      expectOnce(
        publishers.flatMap(({ output }) => (existsSync(rig.place.path(output)) ? lines(output) : [])),
        all.length,
      );
    },
  );

  it(
    "names who is publishing, and since when, to one that may not wait, and takes its turn where it may",
    LONG,
    async () => {
      const { rig, add, query } = await openMachines();
      const [here, there] = [add("here"), add("there")];
      writeSales(rig.place.path("sales.ndjson"), 1, 5);
      // Whoever publishes holds the lock until the end of its input comes.
      const feed = rig.place.path("feed");
      execFileSync("mkfifo", [feed]);
      const first = here.run(["publish", "-", ...PUBLISH.slice(2), "--input-format", "ndjson"], {
        shell: 'cat feed | "$@"',
      });
      const isHeld = async (): Promise<boolean> => {
        const [tables] = await query("SELECT to_regclass('@locks') AS locks");
        return tables?.locks != null && (await query("SELECT host FROM @locks")).length > 0;
      };
      while (!(await isHeld()));
      const busy = await there.run(PUBLISH);
      expect(busy.exitCode, busy.stderr).toBe(8);
      expect(busy.stderr).toMatch(
        /Another run holds the ledger of playground \(process \d+ on here, since 20\d\d-[^:]+:[^:]+:[^:]+: tickets publish -/,
      );
      const waiting = there.run([...PUBLISH.slice(0, -1), "there.ndjson", "--wait-lock", "10m"], {
        onSpawn: (child) =>
          child.stderr?.on("data", (text: Buffer) => {
            if (text.includes("Waiting for another run")) void writeFile(feed, rig.place.read("sales.ndjson"));
          }),
      });
      expect((await first).exitCode).toBe(0);
      const waited = await waiting;
      expect([waited.exitCode, waited.stderr]).toEqual([
        0,
        expect.stringContaining("6 published before and still to be sent"),
      ]);
    },
  );

  it("tells of a run that a person has to decide about as stream does, and publishes nothing", LONG, async () => {
    const { rig, here, there, run, query } = await published(5);
    const killed = await there.run(["resume", run, ...ON_IT, "--timeout", "1s"], {
      interruption: { kind: "request", request: 2, when: "before" },
    });
    expect(killed.killed).toBe(true);
    // Once the time of its request has passed, the chunk is in doubt for whoever comes.
    const found = await here.run(["resume", run, ...ON_IT, "--timeout", "1s"]);
    expect(found.exitCode, found.stderr).toBe(6);
    writeSales(rig.place.path("sales.ndjson"), 1, 7);
    const refused = await here.run(PUBLISH);
    expect(refused.exitCode, refused.stderr).toBe(6);
    expect(refused.stderr).toContain(`Run ${run} of`);
    expect(refused.stderr).toContain(`tickets settle ${run} --env playground`);
    const followed = await here.run(["collect", run, "--follow", ...ON_IT]);
    expect(followed.exitCode, followed.stderr).toBe(6);
    expect(await query("SELECT run FROM @runs")).toEqual([{ run }]);
  });

  it.each([
    ["not-sent", { exitCode: 4, accepted: 1, notSent: 1, alreadySent: 0 }],
    ["sent", { exitCode: 0, accepted: 1, notSent: 0, alreadySent: 1 }],
  ] as const)(
    "goes by what a person says of a closed run's doubt, though an unrelated run is sent before: %s",
    LONG,
    async (decision, came) => {
      const machines = await published(1);
      const { here, query, run: first } = machines;
      await query("UPDATE @chunks SET state = 'in doubt', detail = 'no answer'");
      expect((await here.run(["settle", first, "--abandon", "--yes", ...ON_IT])).exitCode).toBe(6);
      expect((await publishEvents(machines, "other", "E2")).exitCode).toBe(0);
      const { run, exitCode, stderr } = await publishEvents(machines, "both", "E1", "E3");
      expect(exitCode, stderr).toBe(6);
      expect(stderr).toContain("both.ndjson:1");
      expect(stderr).toContain(`tickets settle ${first} --env playground`);
      const settled = await here.run(["settle", first, `--${decision}`, ...ON_IT]);
      expect(settled.exitCode, settled.stderr).toBe(0);
      expect(await sentAndCollected(machines, run)).toEqual(came);
    },
  );

  it("does not take for sent what a run held that was closed without its plan", async () => {
    const machines = await published(1);
    const { rig, here, query, run: first } = machines;
    const { run, exitCode, stderr } = await publishEvents(machines, "both", "E1", "E3");
    expect(exitCode, stderr).toBe(0);
    await query(`DELETE FROM @plan_files WHERE run = '${first}'`);
    rmSync(rig.place.path(`here/state/playground/runs/${first}`), { recursive: true });
    const closed = await here.run(["settle", first, "--abandon", "--yes", ...ON_IT]);
    expect(closed.exitCode, closed.stderr).toBe(0);
    expect(await sentAndCollected(machines, run)).toEqual({ exitCode: 4, accepted: 1, notSent: 1, alreadySent: 0 });
  });

  it("writes only on the machine that the promises belong to, until they are moved", LONG, async () => {
    const { rig, lines, here, there, run } = await published(5);
    await there.run(["resume", run, ...ON_IT]);
    await here.run(["collect", ...ON_IT]);
    const refused = await there.run(["collect", run, ...ON_IT]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(`The promises of run ${run} belong to here (here:`);
    const moved = await there.run(["collect", run, ...ON_IT, "-o", "moved.ndjson", "--json"]);
    expect(moved.exitCode, moved.stderr).toBe(0);
    expect(lines("moved.ndjson")).toEqual(lines("out.ndjson"));
    const again = await there.run(["collect", run, ...ON_IT, "-o", "moved.ndjson"]);
    expect(again.stderr).toContain("nothing new to write");
    const former = await here.run(["collect", run, ...ON_IT]);
    expect(former.exitCode).toBe(2);
    expect(former.stderr).toContain("belong to there (there:");
    expect(rig.requests().flat()).toHaveLength(6);
  });

  it("writes rejects where the inputs are, and says so elsewhere", async () => {
    const { rig, lines, add } = await openMachines();
    const [here, there] = [add("here"), add("there")];
    const row = (ticketId: string, price: string): string =>
      JSON.stringify({ eventId: "E1", ticketId, userId: "u1", price, orderTime: 1_767_225_600 });
    rig.place.write("events.csv", "eventId,currency,eventName\nE1,EUR,One\n");
    rig.place.write("sales.ndjson", `${row("T1", "10")}\n${row("T2", "ten")}\n`);
    const ran = await here.run(["publish", "events.csv", ...PUBLISH.slice(1), "--max-invalid", "1", "--json"]);
    expect(ran.exitCode, ran.stderr).toBe(4);
    const { run } = summaryIn<Published>(ran);
    const sent = await there.run(["resume", run, ...ON_IT]);
    expect(sent.exitCode, sent.stderr).toBe(4);
    expect(rig.place.files().filter((name) => name.includes("rejects"))).toEqual([]);
    const moved = await there.run(["collect", run, ...ON_IT, "-o", "moved.ndjson", "--json"]);
    expect(summaryIn<Collected>(moved).runs).toMatchObject([{ collected: 2, rejects: [], rejectsOn: "here" }]);
    const collected = await here.run(["collect", run, ...ON_IT]);
    expect(collected.stderr).toContain("Rejects: ");
    const [rejects = ""] = rig.place.files().filter((name) => name.includes("rejects"));
    expect(lines(rejects)).toHaveLength(1);
    expect(lines(rejects)[0]).toContain("T2");
  });

  it("has no promises for standard output", LONG, async () => {
    const { rig, add } = await openMachines();
    writeSales(rig.place.path("sales.ndjson"), 1, 1);
    const refused = await add("here").run(["publish", "sales.ndjson", ...ON_IT, "-o", "-"]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining("no promises to write to standard output"),
    ]);
  });
});
