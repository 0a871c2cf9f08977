/** `--log`: every command tells what happens as lines of JSON. */

import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { openPlayground, openSales } from "../support/service.ts";
import { LONG } from "../support/walks.ts";

type Line = Readonly<Record<string, unknown>> & { readonly event: string };

/** Each line a JSON object with what all of them have; throws otherwise. */
function linesOf(log: string): readonly Line[] {
  return log
    .replace(/\n$/, "")
    .split("\n")
    .map((text) => {
      const line = JSON.parse(text) as Line; // judged here
      expect(line).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        event: expect.any(String),
        level: expect.stringMatching(/^(info|warn|error)$/),
        message: expect.any(String),
      });
      return line;
    });
}

test("a run is logged event by event", async () => {
  const { place, service } = await openSales(3);
  const send = ["stream", "sales.csv", "--action", "soldTicket", "--env", "playground", "TICKETS_CHUNK_SIZE=2"];
  const { exitCode } = await place.tickets([...send, "--log", "logs/t.log"], service);
  expect(exitCode).toBe(0);
  const first = place.read("logs/t.log");
  const lines = linesOf(first);
  expect(lines.map(({ event }) => event)).toEqual(
    expect.arrayContaining(["command.started", "ledger.opened", "input.read", "plan.made", "run.started", "run.ended"]),
  );
  expect(lines.filter(({ event }) => event === "chunk.sent")).toMatchObject([
    { environment: "playground", chunk: 1, attempt: 1, actions: 2 },
    { environment: "playground", chunk: 2, attempt: 1, actions: 1 },
  ]);
  expect(lines.filter(({ event }) => event === "chunk.settled")).toMatchObject([
    { chunk: 1, counts: { accepted: 2, rejected: 0 } },
    { chunk: 2, counts: { accepted: 1, rejected: 0 } },
  ]);
  expect(lines.at(-1)).toMatchObject({ event: "command.ended", exitCode: 0, counts: { accepted: 3 } });

  const quiet = await place.tickets([...send, "--quiet", "--log", "logs/t.log"], service);
  expect(quiet.stderr).toBe("");
  const night = linesOf(place.read("logs/t.log").slice(first.length));
  expect(night.at(-1)).toMatchObject({ event: "command.ended", exitCode: 0, counts: { alreadySent: 3 } });
  expect(statSync(place.path("logs/t.log")).mode & 0o777).toBe(0o600);
});

test("what fails before anything is read is a line, too", async () => {
  const place = openWorkplace();
  const failures: readonly (readonly [readonly string[], RegExp])[] = [
    [["stream", "missing.csv"], /There is no file missing\.csv/],
    [["validate", "missing.csv", "--config", "none.yaml"], /none\.yaml/],
  ];
  for (const [args, message] of failures) {
    const { exitCode } = await place.tickets([...args, "--log", "t.log"]);
    expect(exitCode).toBe(2);
    const failure = linesOf(place.read("t.log")).findLast(({ event }) => event === "failure");
    expect(failure).toMatchObject({
      code: "usage",
      exitCode: 2,
      level: "error",
      message: expect.stringMatching(message),
    });
  }
  const wrong = await place.tickets(["stream", "sales.csv", "--log", "."]);
  expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--log . is a folder") });
});

/** Its checksum is wrong. */
const WALLET = "0x52908400098527886e0F7030069857D2E4169EE7";

test("problems name their rule and place; who bought is masked, also with --verbose", LONG, async () => {
  const { place, service } = await openPlayground();
  place.write("sales.csv", `eventId,ticketId,to,price\nE1,T1,${WALLET},10\n`);
  const command = ["stream", "sales.csv", "--env", "playground", "--verbose", "--log", "t.log"];
  const { stderr, exitCode } = await place.tickets(command, service);
  expect(exitCode).toBe(3);
  const lines = linesOf(place.read("t.log"));
  expect(lines.find(({ event, rule }) => event === "problem" && rule === "wallet-invalid")).toMatchObject({
    ...{ level: "error", file: "sales.csv", line: 2, field: "to" },
  });
  expect(stderr + place.read("t.log")).not.toContain(WALLET);
});
