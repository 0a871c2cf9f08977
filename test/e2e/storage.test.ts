// @module-tag long

/** Each place in which a disk can be full, read-only or damaged: said, nothing lost, and put right by the same command. */

import { readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Ended, Workplace } from "../support/bin.ts";
import { expectSpokenAsSpecified, openSales, type Service } from "../support/service.ts";
import { mountSmallDisk, WITHOUT_SMALL_DISKS } from "../support/small-disk.ts";
import { readPromises, readTable, salesTable } from "../support/tables.ts";

const SEND = ["stream", "sales.csv", "--env", "playground", "TICKETS_CHUNK_SIZE=500"];
const PROMISES = "promises.playground.ndjson";
/** The ballast, and room for ledger and plan of a few thousand actions. */
const STATE_KIB = 48 * 1024;

const tickets = (to: number) => Array.from({ length: to }, (_, at) => `T-${at + 1}`);
const sentTickets = (service: Service) => service.sent().map(({ data }) => data.ticketId);

/** Exit 10 with one sentence, what to do, and no stack. @param found what the command had found before, on standard output. */
function expectStorage({ exitCode, stderr, stdout }: Ended, sentence: RegExp, found = ""): void {
  expect(stderr).toMatch(sentence);
  expect(exitCode).toBe(10);
  expect(stderr).not.toMatch(/a fault in tickets|\n {4}at /);
  expect(stdout).toBe(found);
  const last = stderr.trimEnd().split("\n").slice(-2);
  expect(last[0], "the last but one line is the sentence").toMatch(/^error: [^\n]+\.$/);
  expect(last[1], "the last line says what to do").toMatch(/^[A-Z][^\n]+$/);
}

/** Everything was sent once, in order, and has its promise in the output. */
function expectAllOnce(place: Workplace, service: Service, rows: number, output = PROMISES): void {
  expectSpokenAsSpecified(service);
  expect(sentTickets(service)).toEqual(tickets(rows));
  expect(readPromises(place.read(output)).map(({ ticketId }) => ticketId)).toEqual(tickets(rows));
}

describe.skipIf(WITHOUT_SMALL_DISKS)("a disk that is full", () => {
  test("while the plan is written: nothing is sent, and nothing of the plan keeps the disk full", async () => {
    const { place, service } = await openSales(4000);
    const disk = mountSmallDisk(place.path("disk"), STATE_KIB);
    const env = { ...service.env, TICKETS_STATE_DIR: disk.path };
    // A first run makes ledger and ballast.
    place.write("first.csv", salesTable(1, { first: 9001 }));
    expect(
      await place.tickets(
        ["stream", "first.csv", "--action", "soldTicket", "--env", "playground", "-o", "first.ndjson"],
        { env },
      ),
    ).toMatchObject({ exitCode: 0 });
    disk.fill(300);
    const state = () => readdirSync(place.path("disk/playground")).filter((name) => name.startsWith("plan-"));
    expectStorage(await place.tickets(SEND, { env }), /The disk is full: \S+\/playground\/\S+ can't be written\./);
    expect(service.requests).toHaveLength(1);
    expect(state()).toEqual([]);
    expect(place.files()).not.toContain(PROMISES);

    disk.makeRoom();
    expect(await place.tickets(SEND, { env })).toMatchObject({ exitCode: 0 });
    service.requests.shift();
    expectAllOnce(place, service, 4000);
  });

  test("when the ledger is made: nothing is sent", async () => {
    const { place, service } = await openSales(20);
    const disk = mountSmallDisk(place.path("disk"), STATE_KIB);
    const env = { ...service.env, TICKETS_STATE_DIR: disk.path };
    disk.fill(8 * 1024);
    expectStorage(await place.tickets(SEND, { env }), /The disk is full: \S+ledger\.db can't be written\./);
    expect(service.connections()).toBe(0);
    disk.makeRoom();
    expect(await place.tickets(SEND, { env })).toMatchObject({ exitCode: 0 });
    expectAllOnce(place, service, 20);
  });

  test("while the ledger grows: the answer that was on its way is stored in place of the ballast", async () => {
    const { place, service } = await openSales(5000);
    const disk = mountSmallDisk(place.path("disk"), STATE_KIB);
    const env = { ...service.env, TICKETS_STATE_DIR: disk.path };
    const ballast = place.path("disk/playground/ballast");
    service.behave({
      answer: ({ items }) => {
        if (items[0]?.data.ticketId === "T-1001") disk.fill();
        return undefined;
      },
    });
    const full = await place.tickets(SEND, { env });
    expectStorage(
      full,
      /The disk is full: \S+ledger\.db can't grow\. Every answer received is stored; nothing is in doubt\./,
    );
    const sent = service.sent().length;
    expect(sent).toBeGreaterThanOrEqual(1500);
    expect(sent).toBeLessThan(5000);

    disk.makeRoom();
    disk.fill();
    const status = await place.tickets(["status", "--env", "playground", "--json"], { env });
    expect(JSON.parse(status.stdout)).toMatchObject({
      runs: [{ actions: { accepted: sent, inDoubt: 0, notSent: 5000 - sent } }],
    });
    expectStorage(await place.tickets(SEND, { env }), /The disk is full/);
    expect(service.sent()).toHaveLength(sent);

    disk.makeRoom();
    const { summary } = await place.summary(SEND, { env });
    expect(summary).toMatchObject({ exitCode: 0, actions: { accepted: 5000 } });
    expect(statSync(ballast).size).toBe(32 * 1024 * 1024);
    expectAllOnce(place, service, 5000);
  });

  test("while the output grows: what was answered is in the ledger, and the output is completed", async () => {
    const { place, service } = await openSales(3000);
    const disk = mountSmallDisk(place.path("disk"), 4000);
    const command = [...SEND, "-o", "disk/promises.ndjson"];
    disk.fill(200);
    expectStorage(await place.tickets(command, service), /The disk is full: \S+promises\.ndjson can't be written\./);
    const sent = service.sent().length;
    expect(sent).toBeLessThan(3000);
    expectStorage(await place.tickets(command, service), /The disk is full: \S+promises\.ndjson can't be written\./);
    expect(service.sent(), "nothing is sent while promises can't be written").toHaveLength(sent);
    disk.makeRoom();
    expect(await place.tickets(command, service)).toMatchObject({ exitCode: 0 });
    expectAllOnce(place, service, 3000, "disk/promises.ndjson");
  });

  test("behind standard output: what it lacks comes with the same command, or stands in a file that is named", async () => {
    const { place, service } = await openSales(3000);
    const disk = mountSmallDisk(place.path("disk"), 4000);
    disk.fill(200);
    const command = [...SEND, "-o", "-"];
    const full = await place.tickets(command, { ...service, shell: '"$@" > disk/first' });
    expectStorage(full, /The disk is full: Standard output can't be written\./);
    expect(service.sent().length).toBeLessThan(3000);
    disk.makeRoom();
    const rest = await place.tickets(command, service);
    expect(rest.exitCode).toBe(0);
    expectSpokenAsSpecified(service);
    expect(sentTickets(service)).toEqual(tickets(3000));
    const first = place.read("disk/first");
    const whole = readPromises(first.slice(0, first.lastIndexOf("\n") + 1));
    const elsewhere = place.files().filter((name) => /^stdout\.playground\..*\.ndjson$/.test(name));
    const rests = [rest.stdout, ...elsewhere.map((name) => place.read(name))].flatMap(readPromises);
    const promises = new Set([...whole, ...rests].map(({ ticketId }) => ticketId));
    expect([...promises].toSorted()).toEqual(tickets(3000).toSorted());
  });

  test("while rejects are written: they are complete when there is room", async () => {
    const { place, service } = await openSales(1000);
    const [header = "", ...rows] = salesTable(1000).trimEnd().split("\n");
    place.write("sales.csv", [`${header},remark`, ...rows.map((row) => `${row},${"x".repeat(1500)}`), ""].join("\n"));
    service.behave({
      failureOf: ({ data }) =>
        Number(String(data.ticketId).slice(2)) % 20 === 0 ? { status: "no reason" } : undefined,
    });
    const disk = mountSmallDisk(place.path("disk"), 4000);
    disk.fill(40);
    const command = ["stream", "../sales.csv", "--env", "playground", "-o", "../promises.ndjson"];
    const options = { ...service, shell: 'cd disk && "$@"' };
    expectStorage(await place.tickets(command, options), /The disk is full: \S+sales\.rejects\.csv can't be written\./);
    disk.makeRoom();
    service.behave({});
    expect(await place.tickets(["resume", "--env", "playground"], options)).toMatchObject({ exitCode: 4 });
    const wanted = tickets(1000).filter((_, at) => (at + 1) % 20 === 0);
    expect(readTable(place.read("disk/sales.rejects.csv")).map(({ ticketId }) => ticketId)).toEqual(wanted);
    expect(sentTickets(service)).toEqual(tickets(1000));
    expect(readPromises(place.read("promises.ndjson"))).toHaveLength(1000);
  });

  test("where actions, results or a starter config go: said, and the same command then does it", async () => {
    const { place, service } = await openSales(1000);
    await place.tickets(SEND, service);
    const disk = mountSmallDisk(place.path("disk"), 1000);
    const found = (await place.tickets(["validate", "sales.csv"])).stdout;
    expect(found).toMatch(/^warning: event-not-registered: sales\.csv:2 [^\n]+\n\n?$/);
    for (const [command, problems] of [
      [["plan", "sales.csv", "-o", "disk/actions.ndjson"], found],
      [["results", "--env", "playground", "-o", "disk/again.csv"], ""],
      [["init", "sales.csv", "-o", "disk/tickets.config.yaml"], ""],
    ] as const) {
      disk.fill();
      const full = await place.tickets(command, service);
      expectStorage(full, /The disk is full: \S*disk\/\S+ can't be written\./, problems);
      disk.makeRoom();
      expect(await place.tickets(command, service)).toMatchObject({ exitCode: 0 });
    }
    expect(readTable(place.read("disk/again.csv"))).toHaveLength(1000);
  });
});

describe.skipIf(WITHOUT_SMALL_DISKS)("a state directory that is read-only", () => {
  test("takes no new ledger: one sentence, and nothing is sent", async () => {
    const { place, service } = await openSales(20);
    const disk = mountSmallDisk(place.path("disk"), STATE_KIB);
    disk.setReadOnly(true);
    const env = { ...service.env, TICKETS_STATE_DIR: disk.path };
    expectStorage(await place.tickets(SEND, { env }), /The folder \S+ can't be created \(/);
    expect(service.connections()).toBe(0);
  });

  test("stops what sends, and not what only looks", async () => {
    const { place, service } = await openSales(20);
    const disk = mountSmallDisk(place.path("disk"), STATE_KIB);
    const env = { ...service.env, TICKETS_STATE_DIR: disk.path };
    await place.tickets(SEND, { env });
    const { run } = JSON.parse((await place.tickets(["status", "--env", "playground", "--json"], { env })).stdout)
      .runs[0];
    disk.setReadOnly(true);
    place.write("sales.csv", salesTable(30));
    for (const command of [
      SEND,
      ["resume", "--env", "playground"],
      ["settle", run, "--abandon", "--env", "playground"],
    ])
      expectStorage(await place.tickets(command, { env }), /\S+ can't be written \(EROFS[^\n]*\)\.$/m);
    const looks = [["status"], ["status", run], ["results"], ["env", "playground"], ["validate", "sales.csv"]];
    for (const command of looks)
      expect(await place.tickets([...command, "--env", "playground"], { env })).toMatchObject({ exitCode: 0 });
    const dry = await place.summary([...SEND, "--dry-run"], { env });
    expect(dry.summary).toMatchObject({ exitCode: 0, actions: { alreadySent: 20, notSent: 10 } });
    expect(service.sent()).toHaveLength(20);

    disk.setReadOnly(false);
    expect(await place.tickets(SEND, { env })).toMatchObject({ exitCode: 0 });
    expectAllOnce(place, service, 30);
  });
});

test.skipIf(WITHOUT_SMALL_DISKS)("a full disk of temporary files is said", async () => {
  const { place, service } = await openSales(60_000);
  const disk = mountSmallDisk(place.path("disk"), 1024);
  // A process that has made a plan before remembers where its temporary files are.
  const ended = await place.tickets(["plan", "sales.csv"], {
    env: { ...service.env, TMPDIR: disk.path },
    isStarted: true,
  });
  expectStorage(ended, /The plan is a temporary file, and it can't be written \([^\n]*full[^\n]*\)\./);
  expect(ended.stderr).toContain("TMPDIR");
});

/** The ledger of a place in which one run has ended. */
const ledgerOf = (place: Workplace): string => place.path("home/state/tickets/playground/ledger.db");

describe("a damaged ledger stops the run and says what to do; it is never made anew in silence", () => {
  test.each<[string, (path: string) => void]>([
    ["bytes overwritten in the middle", (path) => overwrite(path, statSync(path).size / 2, 16 * 1024)],
    ["its first bytes overwritten", (path) => overwrite(path, 0, 64)],
    ["cut in half", (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ["cut to nothing", (path) => truncateSync(path, 0)],
    ["not SQLite", (path) => writeFileSync(path, "hello\n".repeat(10_000))],
  ])("%s", async (_what, damage) => {
    const { place, service } = await openSales(1200);
    await place.tickets(SEND, service);
    const path = ledgerOf(place);
    damage(path);
    const damaged = readFileSync(path);
    // Another output, so that nothing but the ledger itself can tell.
    const ended = await place.tickets([...SEND, "-o", "other.ndjson"], service);
    expectStorage(ended, /^error: The ledger \S+ledger\.db is damaged: [^\n]+\. Nothing more was sent\.$/m);
    expect(ended.stderr).toContain("tickets results --import");
    expect(readFileSync(path).equals(damaged), "the damaged file is left as it is").toBe(true);
    expect(service.sent()).toHaveLength(1200);

    // As it says.
    renameSync(path, `${path}.damaged`);
    for (const rest of ["-wal", "-shm"]) rmSync(path + rest, { force: true });
    const imported = await place.tickets(["results", "--import", PROMISES, "--env", "playground"], service);
    expect(imported.exitCode).toBe(0);
    const { summary } = await place.summary([...SEND, "-o", "other.ndjson"], service);
    expect(summary).toMatchObject({ exitCode: 0, actions: { alreadySent: 1200 } });
    expect(service.sent()).toHaveLength(1200);
  });

  test("also when it is only looked at", async () => {
    const { place, service } = await openSales(20);
    await place.tickets(SEND, service);
    writeFileSync(ledgerOf(place), "hello\n".repeat(10_000));
    for (const command of [["status"], ["results"], ["env", "playground"], ["validate", "sales.csv"]])
      expectStorage(await place.tickets([...command, "--env", "playground"], service), /The ledger \S+ is damaged: /);
  });
});

function overwrite(path: string, at: number, size: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0xa5, Math.floor(at), Math.min(bytes.length, Math.floor(at) + size));
  writeFileSync(path, bytes);
}
