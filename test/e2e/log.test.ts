/** `TICKETS_LOG_FORMAT=json` and `--log`: every command tells what happens as lines of JSON, and nothing else. */

import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { linesOf } from "../support/log.ts";
import { startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";

const JSON_LINES = ["TICKETS_LOG_FORMAT=json"];

test("a run is logged event by event, on stderr and in the log file", async () => {
  const [place, service] = [openWorkplace({ isWarm: true }), await startService()];
  place.write("sales.csv", salesTable(3));
  const send = ["stream", "sales.csv", "--action", "soldTicket", "--env", "playground", "TICKETS_CHUNK_SIZE=2"];
  const { stderr, exitCode } = await place.tickets([...send, ...JSON_LINES, "--log", "logs/t.log"], service);
  expect(exitCode).toBe(0);
  const lines = linesOf(stderr);
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
  expect(place.read("logs/t.log")).toBe(stderr);

  const quiet = await place.tickets([...send, "--quiet", "--log", "logs/t.log"], service);
  expect(quiet.stderr).toBe("");
  const night = linesOf(place.read("logs/t.log").slice(stderr.length));
  expect(night.at(-1)).toMatchObject({ event: "command.ended", exitCode: 0, counts: { alreadySent: 3 } });
  expect(statSync(place.path("logs/t.log")).mode & 0o777).toBe(0o600);
});

test("what fails before anything is a line, too", async () => {
  const place = openWorkplace({ isWarm: true });
  const failures: readonly (readonly [readonly string[], RegExp])[] = [
    [["strem"], /unknown command/],
    [["stream", "sales.csv", "--limit", "x"], /Give a whole number/],
    [["stream", "missing.csv"], /There is no file missing\.csv/],
    [["validate", "missing.csv", "--config", "none.yaml"], /none\.yaml/],
    [["stream", "sales.csv", "--log", "."], /--log \. is a folder/],
  ];
  for (const [args, message] of failures) {
    const { stderr, exitCode } = await place.tickets([...args, ...JSON_LINES]);
    expect(exitCode).toBe(2);
    const failure = linesOf(stderr).find(({ event }) => event === "failure");
    expect(failure).toMatchObject({
      code: "usage",
      exitCode: 2,
      level: "error",
      message: expect.stringMatching(message),
    });
  }
  const byVariable = await place.tickets(["stream"], { env: { TICKETS_LOG_FORMAT: "json" } });
  expect(linesOf(byVariable.stderr)).toMatchObject([{ event: "failure", exitCode: 2 }]);
  const wrong = await place.tickets(["status"], { env: { TICKETS_LOG_FORMAT: "xml" } });
  expect(wrong).toMatchObject({
    exitCode: 2,
    stderr: 'error: TICKETS_LOG_FORMAT is "xml"; it must be pretty or json. Nothing was sent.\n',
  });
});

/** Its checksum is wrong. */
const WALLET = "0x52908400098527886e0F7030069857D2E4169EE7";

test("problems name their rule and place; who bought is masked, also with --verbose", { tags: ["long"] }, async () => {
  const [place, service] = [openWorkplace({ isWarm: true }), await startService()];
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
