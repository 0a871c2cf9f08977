/** A machine whose clock is wrong for a while. */

import { cpSync, readdirSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { fastClock } from "../support/clock.ts";
import { openPlayground } from "../support/service.ts";
import { LONG } from "../support/walks.ts";

const line = (action: string, data: object): string => `${JSON.stringify({ action, data })}\n`;
const scan = (orderTime: number): string => line("scannedTicket", { ticketId: "T-1", orderTime });
const cover = (name: string): string =>
  line("updateTicket", { ticketId: "T-1", imageUrl: `https://cdn.example/${name}.png` });

const FIRST =
  line("newEvent", { eventId: "E-1", eventName: "Fair", currency: "EUR" }) +
  line("soldTicket", { eventId: "E-1", ticketId: "T-1", userId: "u-1", price: "10.00", orderTime: 1_700_000_000 }) +
  cover("a") +
  scan(1_700_000_000);

/** A workplace with a first input and this one, whose commands may run by the right clock or by one that is an hour fast. */
async function openClocks(then: string) {
  const { place, service } = await openPlayground();
  place.write("first.ndjson", FIRST);
  place.write("then.ndjson", then);
  const run = (args: readonly string[], nodeArgs: readonly string[] = []) =>
    place.tickets([...args, "--env", "playground"], { ...service, nodeArgs });
  return {
    ...{ place, service },
    right: (...args: readonly string[]) => run(args),
    fast: (...args: readonly string[]) => run(args, fastClock(1)),
  };
}

test("what was sent while the clock was an hour fast does not keep back what is planned once it is right", async () => {
  const { place, service, right, fast } = await openClocks(cover("b") + scan(1_700_000_500));
  place.write("back.ndjson", cover("a"));
  const summaryOf = ({ stdout }: { readonly stdout: string }): unknown => JSON.parse(stdout);
  const ahead = await fast("stream", "first.ndjson", "--json");
  expect(summaryOf(ahead)).toMatchObject({ exitCode: 0, actions: { accepted: 4 } });
  const then = await right("stream", "then.ndjson", "--json");
  expect(summaryOf(then)).toMatchObject({ exitCode: 0, actions: { total: 2, accepted: 2 } });
  const back = await right("stream", "back.ndjson", "--resend", "--json");
  expect(summaryOf(back), "a person says that it is to be sent").toMatchObject({
    ...{ exitCode: 0, actions: { accepted: 1 } },
  });
  expect(service.sent().map(({ action, data }) => ("imageUrl" in data ? data.imageUrl : action))).toEqual([
    ...["newEvent", "soldTicket", "https://cdn.example/a.png", "scannedTicket"],
    ...["https://cdn.example/b.png", "scannedTicket", "https://cdn.example/a.png"],
  ]);
});

test("an older ledger with a run that was planned by a fast clock sends nothing again", LONG, async () => {
  const { place, service, right, fast } = await openClocks(cover("b") + scan(1_700_000_500));
  expect((await right("stream", "first.ndjson")).exitCode).toBe(0);
  const ahead = await fast("stream", "then.ndjson", "--max-duration", "1ms");
  expect(ahead.exitCode).toBe(7);
  const [, run = ""] = /tickets resume (\w+)/.exec(ahead.stderr) ?? [];
  const state = place.path("home/state/tickets/playground");
  cpSync(state, place.path("copy"), { recursive: true });
  expect((await right("settle", run, "--abandon", "--yes")).exitCode).toBe(0);
  expect((await right("stream", "then.ndjson")).exitCode).toBe(0);
  const sent = service.sent();
  expect(sent).toHaveLength(6);

  // The list of runs beside the ledger stays.
  const removeLedger = (): void => {
    for (const name of readdirSync(state)) if (name.startsWith("ledger.db")) rmSync(`${state}/${name}`);
  };
  removeLedger();
  for (const name of readdirSync(place.path("copy")))
    if (name.startsWith("ledger.db")) cpSync(place.path(`copy/${name}`), `${state}/${name}`);
  const lost = await right("stream", "then.ndjson");
  expect([lost.exitCode, service.sent()]).toEqual([2, sent]);
  expect((await right("results", "--import", "promises.playground.ndjson")).exitCode).toBe(2);
  removeLedger();
  expect((await right("results", "--import", "promises.playground.ndjson")).exitCode).toBe(0);
  const again = await right("stream", "then.ndjson");
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining("all 2 actions were sent before")]);
  expect(service.sent()).toEqual(sent);
});

test("what was sent by a fast clock is found in its place, and its age is unknown", LONG, async () => {
  const { right, fast } = await openClocks(cover("b"));
  await fast("stream", "first.ndjson");
  const old = await right("status", "--max-age", "26h");
  expect(old.exitCode).toBe(4);
  expect(old.stderr).toMatch(/by a clock [^:]+ ahead of this one, so its age is unknown/);
  expect((await right("stream", "then.ndjson")).exitCode).toBe(0);
  expect((await right("status", "--max-age", "26h")).exitCode).toBe(0);
  const found = await right("find", "T-1", "--json");
  const { actions } = JSON.parse(found.stdout) as { readonly actions: readonly { readonly action: string }[] };
  expect(actions.map(({ action }) => action)).toEqual([
    ...["soldTicket", "updateTicket", "scannedTicket", "updateTicket"],
  ]);
});
