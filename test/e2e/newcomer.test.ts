/** What a newcomer does with exports of systems that nobody has seen: init, an answer to each question, stream. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fixture, openWorkplace, type Workplace } from "../support/bin.ts";

/** Answers by words of the questions. */
type Answers = readonly (readonly [asked: string, answer: string])[];

const ANSWERS: Answers = [
  ["the time zone", "Europe/Berlin"],
  ["the currency", "EUR"],
];

function fillIn(yaml: string, answers: Answers): string {
  return yaml.replaceAll(/("?)<FILL IN: ([^>]*)>("?)/g, (asked, before: string, what: string, after: string) => {
    const answer = answers.find(([words]) => what.includes(words));
    if (answer === undefined) throw new Error(`no answer to ${asked}`);
    return before === "" || after === "" ? `${before}${answer[1]}${after}` : answer[1];
  });
}

/** From init to stream; gives what the service accepted, and how many answers that took. */
async function sendAsNewcomer(folder: string, answers: Answers, warned: readonly string[] = []) {
  const place = openWorkplace();
  for (const name of readdirSync(fixture(folder))) place.write(name, readFileSync(fixture(`${folder}/${name}`)));
  const names = readdirSync(fixture(folder));
  const written = await place.tickets(["init", ...names]);
  expect(written.exitCode).toBe(0);
  const inputs = /^Next: tickets plan (.*) --preview$/m.exec(written.stderr)?.[1]?.split(" ") ?? [];
  const asked = place.read("tickets.config.yaml");
  place.write("tickets.config.yaml", fillIn(asked, [...answers, ...ANSWERS]));
  const streamed = await place.tickets(["stream", ...inputs]);
  expect(streamed.exitCode).toBe(0);
  const warnings = [...streamed.stderr.matchAll(/^warning: (?!order-time-far)([\w-]+)/gm)].map(([, rule]) => rule);
  expect(warnings).toEqual(warned);
  return { accepted: acceptedIn(place), edits: asked.split("<FILL IN: ").length - 1 };
}

const acceptedIn = (place: Workplace): readonly string[] =>
  place
    .read("promises.sandbox.ndjson")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const { action, ticketId, eventId, status } = JSON.parse(line);
      return `${action} ${ticketId ?? eventId} ${status}`;
    });

test("a box office whose refunds are negative rows, but that of a free ticket, and the log of its doors", async () => {
  const { accepted, edits } = await sendAsNewcomer("newcomer/box-office", [["give this action", "OK"]]);
  expect(edits).toBe(4);
  expect(accepted).toEqual([
    "newEvent V77 success",
    "soldTicket 4006381001 success",
    "soldTicket 4006381002 success",
    "newEvent V78 success",
    "soldTicket 4006381003 success",
    "invalidatedTicket 4006381001 success",
    "soldTicket 4006381004 success",
    "soldTicket 4006381005 success",
    "invalidatedTicket 4006381005 success",
    "scannedTicket 4006381002 success",
    "scannedTicket 4006381002 success",
  ]);
});

test("the report of a cash desk: titles above its header, several tickets a row, a line of totals", async () => {
  const answers: Answers = [
    ["the id of the event", "sturm-2026-11-27"],
    ["what the event is called", "Der Sturm"],
    ["tells one buyer from another", '"{Bon}"'],
    ["{file.date}", "{file.date}"],
  ];
  const { accepted, edits } = await sendAsNewcomer("newcomer/cash-desk", answers);
  expect(edits).toBe(6);
  expect(accepted).toEqual([
    "newEvent sturm-2026-11-27 success",
    ...["701-1", "701-2", "702-1", "703-1", "703-2", "703-3", "704-1"].map((id) => `soldTicket ${id} success`),
  ]);
});

test("a web shop's JSON: orders in a list in an object, their tickets in lists, one cancelled", async () => {
  const answers: Answers = [
    ["are sales", "[paid, cancelled]"],
    ["mean that a ticket is no longer valid", "cancelled"],
    ["the currency", '"{event.currency}"'],
  ];
  const { accepted, edits } = await sendAsNewcomer("newcomer/web-shop", answers, ["order-time-missing"]);
  expect(edits).toBe(3);
  expect(accepted).toEqual([
    "newEvent ev-5 success",
    "soldTicket BN-000117 success",
    "soldTicket BN-000118 success",
    "soldTicket BN-000119 success",
    "soldTicket BN-000120 success",
    "invalidatedTicket BN-000120 success",
  ]);
});
