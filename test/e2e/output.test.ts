/** Where results go, and what is left alone. */

import { existsSync, readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Workplace } from "../support/bin.ts";
import { openSales, type Service, startService } from "../support/service.ts";
import { readLines, readPromises, readTable, salesTable, ticketIds } from "../support/tables.ts";
import { LONG, testEach } from "../support/walks.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];

describe("standard output", () => {
  test("holds the promises as NDJSON and nothing else with --output -", async () => {
    const { place, service } = await openSales(12);
    const { exitCode, stdout } = await place.tickets([...SEND, "-o", "-", "TICKETS_CHUNK_SIZE=5"], service);
    expect(exitCode).toBe(0);
    expect(readPromises(stdout).map(({ ticketId }) => ticketId)).toEqual(ticketIds(1, 12));
    expect(readPromises(stdout).every(({ status, actionPromise }) => status === "success" && actionPromise)).toBe(true);
    expect(place.files().filter((name) => name.includes("promises"))).toEqual([]);
  });

  test("holds what is left of a run that stopped, too, and no file does", async () => {
    const { place, service } = await openSales(12);
    const command = [...SEND, "-o", "-", "TICKETS_CHUNK_SIZE=5"];
    service.behave({ answer: () => (service.requests.length > 1 ? { status: 403, body: "{}" } : undefined) });
    const begun = await place.tickets(command, service);
    expect(begun).toMatchObject({ exitCode: 5 });
    expect(readPromises(begun.stdout).map(({ ticketId }) => ticketId)).toEqual(ticketIds(1, 5));
    service.behave({});
    const ended = await place.tickets(command, service);
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(readPromises(ended.stdout).map(({ ticketId }) => ticketId)).toEqual(ticketIds(6, 12));
    expect(place.files().filter((name) => name.endsWith("-") || name.includes("promises"))).toEqual([]);
  });

  test.each([
    "stream sales.csv",
    "validate sales.csv",
    "plan sales.csv",
    "status",
    "resume",
    "settle 0badcafe",
    "prune",
  ])("holds one JSON document with --json where there is no result: %s", LONG, async (command) => {
    const { place, service } = await openSales(12);
    const { exitCode, stdout } = await place.tickets([...command.split(" "), "--json", "--env", "nowhere"], service);
    expect(exitCode).toBe(2);
    const error = { code: "usage", message: expect.stringContaining("nowhere"), hint: expect.any(String) };
    expect(JSON.parse(stdout)).toEqual({ error, exitCode: 2 });
  });
});

/** Check-ins of which a column's values say whether they are any. */
const CHECK_INS = `sources:
  ins:
    match: "*.csv"
    actions: [checkedInTicket: {when: {In: "yes"}, fields: {ticketId: "{T}", orderTime: "{At}"}}]
`;

describe("--quiet", () => {
  /** Only the lines that are no news of the first night. */
  const withoutNew = (stderr: string): string => stderr.replace(/^.* NEW( · .*)?\n/, "");
  const quietly = async (place: Workplace, service: Service) => place.tickets([...SEND, "--quiet"], service);

  test("holds back all but warnings, each once for its row", LONG, async () => {
    const { place, service } = await openSales(12);
    const first = await quietly(place, service);
    expect(first.exitCode).toBe(0);
    expect(first.stderr).toMatch(/^playground .* NEW · .*\nwarning: event-not-registered: [^\n]*\n$/);
    expect(await quietly(place, service)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    // A row of another night, and the old ones elsewhere in the file.
    const [header = "", ...rows] = salesTable(12).split(/(?<=\n)/);
    const undated = "E-9,T-99,user-1@example.org,10.00,\n";
    place.write("sales.csv", [header, undated, ...rows].join(""));
    const second = await quietly(place, service);
    expect(second.exitCode).toBe(0);
    expect(second.stderr).toContain("warning: order-time-missing: sales.csv:2 ");
    expect(second.stderr).toContain('"E-9" is not known here');
    expect(second.stderr).not.toContain('"E-1"');
    place.write("sales.csv", [header, ...rows, undated].join(""));
    expect(await quietly(place, service)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    // Another row with the very same text to say.
    place.write("sales.csv", [header, ...rows, undated, undated.replace("T-99", "T-100")].join(""));
    const third = await quietly(place, service);
    expect(third.stderr).toContain(
      "warning: order-time-missing (2 times, soldTicket, 1 of them reported before): sales.csv:15 ",
    );
    expect(service.sent()).toHaveLength(14);
  });

  test("values that nobody named are reported again as soon as they stand in another row", LONG, async () => {
    const { place, service } = await openSales(12);
    place.write("tickets.config.yaml", CHECK_INS);
    const night = async (...rows: readonly string[]): Promise<string> => {
      place.write("ins.csv", ["T,At,In", "A,1781280000,yes", ...rows, ""].join("\n"));
      return (await place.tickets(["stream", "ins.csv", "--env", "playground", "--quiet"], service)).stderr;
    };
    const [b, c, d] = ["B,1781280000,oui", "C,1781280000,oui", "D,1781280000,oui"] as const;
    expect(await night(b, c)).toContain('names "oui" (2 times, first in line 3)');
    expect(await night(b, c)).not.toContain("oui");
    expect(await night(c, "E,1781280000,yes", b)).not.toContain("oui");
    expect(await night(b, c, d)).toContain('names "oui" (3 times, first in line 3)');
    expect(await night(b, c, b)).toContain('names "oui" (3 times, first in line 3)');
    // An export of what is new alone.
    expect(await night(d)).toContain('names "oui" (line 3)');
    expect(await night(d)).not.toContain("oui");
  });

  test("a warning that was shown while nothing was sent is shown again by the night that sends", LONG, async () => {
    const { place, service } = await openSales(12);
    await place.tickets([...SEND, "--dry-run"], service);
    await place.tickets(["validate", "sales.csv", "--env", "playground"], service);
    const bad = salesTable(3).replaceAll(/,\d+\.\d\d,/g, ",?,");
    const good = place.read("sales.csv");
    place.write("sales.csv", bad);
    expect(await quietly(place, service)).toMatchObject({ exitCode: 3 });
    place.write("sales.csv", good);
    expect(withoutNew((await quietly(place, service)).stderr)).toMatch(/^warning: event-not-registered/);
  });

  test("that all went to the sandbox is always said", LONG, async () => {
    const { place } = await openSales(12);
    place.write("events.csv", "eventId,currency\nE-1,EUR\n");
    for (const before of ["sandbox (built in) · ledger .tickets/sandbox/ledger.db NEW\n", ""])
      expect(await place.tickets(["stream", "events.csv", "--quiet"])).toMatchObject({
        exitCode: 0,
        stderr: `${before}SANDBOX: nothing left this machine.\n`,
      });
  });
});

describe("an output file", () => {
  test("of an earlier night is appended to", LONG, async () => {
    const { place, service } = await openSales(12);
    await place.tickets([...SEND, "-o", "promises.ndjson"], service);
    const before = place.read("promises.ndjson");
    place.write("night2.csv", salesTable(6, { first: 10 }));
    const command = ["stream", "night2.csv", "--action", "soldTicket", "--env", "playground", "-o", "promises.ndjson"];
    const { summary } = await place.summary(command, service);
    expect(summary).toMatchObject({ exitCode: 0, actions: { total: 6, accepted: 3, alreadySent: 3 } });
    const after = place.read("promises.ndjson");
    expect(after.startsWith(before)).toBe(true);
    const promises = readPromises(after);
    expect(promises.map(({ ticketId }) => ticketId)).toEqual(ticketIds(1, 15));
    expect(promises.slice(12).map(({ source, line, run, seq }) => [source, line, run, seq])).toEqual([
      ["night2.csv", 5, summary.run, 4],
      ["night2.csv", 6, summary.run, 5],
      ["night2.csv", 7, summary.run, 6],
    ]);
  });

  test("as CSV has one header, and answers to rejections as JSON", LONG, async () => {
    const { place, service } = await openSales(12);
    await place.tickets([...SEND, "-o", "promises.csv", "TICKETS_CHUNK_SIZE=5"], service);
    const failure = { status: "error", error: { message: 'taken, "again"' } };
    service.behave({ failureOf: ({ data }) => (data.ticketId === "T-20" ? failure : undefined) });
    place.write("sales.csv", salesTable(20));
    await place.tickets([...SEND, "-o", "promises.csv"], service);
    const rows = readTable(place.read("promises.csv"));
    expect(rows.map(({ ticketId }) => ticketId)).toEqual(ticketIds(1, 20));
    expect(rows.map(({ status }) => status)).toEqual([...Array(19).fill("success"), "error"]);
    expect(JSON.parse(rows.at(-1)?.response ?? "")).toEqual(failure);
    expect(Object.keys(rows[0] ?? {})).toEqual(
      "source,line,action,eventId,ticketId,nftId,status,actionPromise,environment,run,seq,chunk,at,mark,content,time,owner,response".split(
        ",",
      ),
    );
  });

  test("that was changed since is exit 2 before anything is sent", LONG, async () => {
    const { place, service } = await openSales(12);
    await place.tickets([...SEND, "-o", "promises.ndjson"], service);
    const changed = place.read("promises.ndjson").replace("T-1", "T-X");
    place.write("promises.ndjson", changed);
    place.write("sales.csv", salesTable(20));
    const { exitCode } = await place.tickets([...SEND, "-o", "promises.ndjson"], service);
    expect(exitCode).toBe(2);
    expect(service.sent()).toHaveLength(12);
    expect(place.read("promises.ndjson")).toBe(changed);
  });

  test("of another environment is exit 2 before anything is sent; --move-aside sets it aside", LONG, async () => {
    const { place, service } = await openSales(12);
    const other = await startService();
    await place.tickets([...SEND, "-o", "promises.ndjson"], service);
    const command = ["stream", "sales.csv", "--env", "other", "-o", "promises.ndjson"];
    const env = { TICKETS_OTHER_BASE_URL: other.baseUrl, TICKETS_OTHER_API_KEY: other.key };
    const { exitCode, stderr } = await place.tickets(command, { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("promises.ndjson is not appended to: tickets did not write it for this environment.");
    expect(other.connections()).toBe(0);
    expect(await place.tickets([...command, "--move-aside"], { env })).toMatchObject({ exitCode: 0 });
  });

  testEach("that can't be written, %s, stops before sending", ["home", "sales.csv/out.ndjson"], 2, async (output) => {
    const { place, service } = await openSales(12);
    const { exitCode, stderr } = await place.tickets([...SEND, "-o", output], service);
    expect([2, 10]).toContain(exitCode);
    expect(stderr).toContain(output.split("/")[0]);
    expect(stderr).not.toContain("a fault in tickets itself");
    expect(service.connections()).toBe(0);
  });
});

describe("a pipe or a device in place of a file", () => {
  const isPipe = (place: Workplace) => statSync(place.path("pipe")).isFIFO();

  test.each<[string, readonly string[]]>([
    ["plan", ["plan", "sales.csv", "-o", "pipe"]],
    ["results", ["results", "--env", "playground", "-o", "pipe"]],
  ])("is written into by %s, and stays what it is", LONG, async (_, command) => {
    const { place, service } = await openSales(12);
    await place.tickets(SEND, service);
    const shell = 'mkfifo pipe; cat pipe >got & "$@"; code=$?; wait; exit $code';
    expect(await place.tickets(command, { ...service, shell })).toMatchObject({ exitCode: 0 });
    expect(isPipe(place)).toBe(true);
    expect(readLines(place.read("got"))).toHaveLength(12);
  });

  test("is not set aside by --move-aside: others need it where it is", LONG, async () => {
    const { place, service } = await openSales(12);
    const command = [...SEND, "-o", "pipe", "--move-aside"];
    const { exitCode, stderr } = await place.tickets(command, { ...service, shell: 'mkfifo pipe; "$@"' });
    expect({ exitCode, sent: service.sent() }).toEqual({ exitCode: 2, sent: [] });
    expect(stderr).toContain("pipe is not a file, and is not set aside. Nothing was sent.");
    expect(isPipe(place)).toBe(true);
  });
});

/** Every file below the folder with its time of change and bytes, but for what SQLite keeps beside a file that is open. */
function stateOf(place: Workplace) {
  return place
    .files()
    .filter((name) => !/-(shm|wal)$/.test(name))
    .map((name) => [name, statSync(place.path(name)).mtimeMs, readFileSync(place.path(name)).toString("base64")]);
}

describe("--dry-run", () => {
  test("touches nothing: no ledger, no output, no request", async () => {
    const { place, service } = await openSales(12);
    const before = stateOf(place);
    const { summary } = await place.summary([...SEND, "--dry-run"], service);
    expect(summary).toMatchObject({
      exitCode: 0,
      state: "dry run",
      actions: { total: 12, notSent: 12 },
      output: null,
    });
    expect(stateOf(place)).toEqual(before);
    expect(existsSync(place.path("home/state"))).toBe(false);
    expect(service.connections()).toBe(0);
  });

  test("leaves a ledger as it is, and counts what it knows", LONG, async () => {
    const { place, service } = await openSales(12);
    await place.tickets(SEND, service);
    place.write("sales.csv", salesTable(15));
    const before = stateOf(place);
    const { summary } = await place.summary([...SEND, "--dry-run"], service);
    expect(summary.actions).toMatchObject({ total: 15, alreadySent: 12, notSent: 3 });
    expect(stateOf(place)).toEqual(before);
    expect(service.sent()).toHaveLength(12);
  });
});
