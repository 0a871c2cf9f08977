/** Two commands at the same moment. */

import { expect, test } from "vitest";
import { openWorkplace } from "../../support/bin.ts";
import { startService } from "../../support/service.ts";
import { readPromises, salesTable } from "../../support/tables.ts";

/** `RACE_ROUNDS=500` does more; how many else: `vitest.config.ts`. */
const ROUNDS = Number(process.env.RACE_ROUNDS);

test.each([
  ["one runs, the other exits 8", []],
  ["one runs, the other waits and finds nothing new", ["--wait-lock", "1h"]],
] as const)("two commands at the same moment: %s", { tags: ["both"] }, async (_, more) => {
  const waits = more.length > 0;
  const place = openWorkplace();
  let held = Promise.withResolvers<void>();
  const service = await startService({ answer: () => held.promise.then(() => undefined) });
  const tickets = Array.from({ length: ROUNDS * 10 }, (_none, at) => `T-${at + 1}`);
  for (let round = 0; round < ROUNDS; round += 1) {
    place.write("sales.csv", salesTable(10, { first: round * 10 + 1 }));
    const command = ["stream", "sales.csv", "--env", "playground", "TICKETS_CHUNK_SIZE=5", ...more];
    held = Promise.withResolvers();
    // The one that waits has no end to go by; which of the two is first, and by how much, is left to the machine.
    if (waits) held.resolve();
    const both = [place.summary(command, service), place.summary(command, service)];
    // The service answers the winner only when the other one has ended.
    await Promise.race(both);
    held.resolve();
    const ended = (await Promise.all(both)).toSorted((a, b) => Number(a.exitCode) - Number(b.exitCode));
    expect(
      ended.map(({ exitCode }) => exitCode),
      ended.map(({ stderr }) => stderr).join("\n"),
    ).toEqual(waits ? [0, 0] : [0, 8]);
    if (waits) expect(ended.map(({ summary }) => summary.state).toSorted()).toEqual(["finished", "nothing new"]);
    else
      expect(ended[1]?.stderr).toMatch(/Another run holds the ledger|process \d+, since .*tickets stream sales\.csv/);
  }
  expect(service.sent().map(({ data }) => data.ticketId)).toEqual(tickets);
  const promises = readPromises(place.read("promises.playground.ndjson"));
  expect(promises.map(({ ticketId }) => ticketId)).toEqual(tickets);
});
