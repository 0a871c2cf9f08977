import fc from "fast-check";
import { expect, it } from "vitest";
import type { ActionData, ActionName } from "../../../src/actions/actions.ts";
import { digestOf, identityText } from "../../../src/actions/identity.ts";
import { normalId } from "../../../src/checks/ids.ts";
import { changeChunk } from "../../../src/ledger/chunks.ts";
import { acceptedDeeds } from "../../../src/ledger/deeds.ts";
import { noteKeyedDeed } from "../../../src/ledger/keyed-deeds.ts";
import { ledgerKnownState } from "../../../src/ledger/known-state.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { mergeOutcomes } from "../../../src/ledger/merge.ts";
import { insertOutcomes } from "../../../src/ledger/new-outcomes.ts";
import { NOTHING_PENDING } from "../../../src/ledger/pending.ts";
import { chunksOf, enterRun } from "../../../src/ledger/runs.ts";
import { describeBothLedgers } from "../../support/both-ledgers.ts";

const AT = "2026-11-21T03:00:00.000Z";

/** An action on one of few tickets and events, so that most are acted on several times. */
const action = fc.record({
  action: fc.oneof(
    { weight: 6, arbitrary: fc.constant("soldTicket") },
    { weight: 2, arbitrary: fc.constant("newEvent") },
    { weight: 3, arbitrary: fc.constantFrom("resoldTicket", "checkedInTicket", "invalidatedTicket", "updateEvent") },
  ),
  event: fc.nat(2),
  ticket: fc.nat(5),
  user: fc.constantFrom("ann", "bob", "cem"),
  currency: fc.constantFrom("EUR", "CHF", undefined),
  taken: fc.boolean(),
});
type Step = NonNullable<ReturnType<typeof action.generate>["value"]>;

/** Stretches of sales alone beside mixed ones. */
const history = fc.array(
  fc.oneof(
    fc.array(action, { maxLength: 8 }),
    fc.array(
      action.map((step) => ({ ...step, action: "soldTicket" as const })),
      { maxLength: 8 },
    ),
  ),
  { minLength: 1, maxLength: 6 },
);

const ticketKeyOf = ({ ticket }: Step) => `ticket:${String.fromCodePoint(0x7a - ticket)}`;

const dataOf = (step: Step) => ({
  eventId: `E-${step.event}`,
  ...(!step.action.endsWith("Event") && { ticketId: ticketKeyOf(step).slice(7), userId: step.user }),
  ...(step.currency && { currency: step.currency }),
});

const digestsOf = (step: Step, at: number, index: number) => ({
  identity: digestOf(identityText({ action: step.action as ActionName, data: dataOf(step) as ActionData })),
  content: Buffer.from([at, index, 0, 0, 0, 0, 0, 1]),
});

/** What the ledger tells of the tickets. */
function knownTickets(ledger: Ledger) {
  const { ticket } = ledgerKnownState(ledger, NOTHING_PENDING);
  return ["z", "y", "x", "w", "v", "u"].toReversed().flatMap((ticketId) => {
    const known = ticket({ ticketId });
    if (known === undefined) return [];
    const { eventId, holder, state } = known;
    return [{ ticket: `ticket:${ticketId}`, event_id: eventId ?? null, holder: holder ?? null, state }];
  });
}

/** What the ledger knows after the steps, told one by one. */
function told(steps: readonly Step[]) {
  const events = new Map<string, string | null>();
  const tickets = new Map<string, { event_id: string | null; holder: string | null; state: string }>();
  for (const step of steps.filter(({ taken }) => taken)) {
    const [key, event] = [ticketKeyOf(step), `E-${step.event}`];
    const known = tickets.get(key) ?? { event_id: null, holder: null, state: "sold" };
    if (step.action === "newEvent" && !events.has(event)) events.set(event, step.currency ?? null);
    if (step.action === "updateEvent") events.set(event, step.currency ?? events.get(event) ?? null);
    if (step.action === "soldTicket") tickets.set(key, { event_id: event, holder: step.user, state: "sold" });
    if (step.action === "resoldTicket") tickets.set(key, { ...known, holder: step.user });
    if (step.action === "checkedInTicket")
      tickets.set(key, { ...known, state: known.state === "sold" ? "checked-in" : known.state });
    if (step.action === "invalidatedTicket") tickets.set(key, { ...known, state: "invalidated" });
  }
  const sorted = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    events: sorted(events).map(([event_id, currency]) => ({ event_id, currency })),
    tickets: sorted(tickets).map(([ticket, rest]) => ({ ticket, ...rest })),
  };
}

describeBothLedgers("known state", ({ kind, newPlace }) => {
  it("is, of runs of any chunks, what it would be if they were told action by action", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(history, { minLength: 1, maxLength: 3 }), async (runs) => {
        using place = await newPlace();
        using ledger = place.open();
        for (const [at, spans] of runs.entries()) {
          const chunked = spans.filter(({ length }) => length > 0);
          let first = 1;
          const chunks = chunked.map(({ length: count }) => {
            first += count;
            return { lane: 0, first: first - count, count, offset: 0, length: count };
          });
          const run = `00000000000${at}`;
          enterRun(ledger, { run, manifest: "{}", output: undefined, chunks, at: AT });
          for (const chunk of chunksOf(ledger, at + 1)) {
            const steps = chunked[chunk.chunk - 1] ?? [];
            insertOutcomes(
              ledger,
              at + 1,
              steps.map((step, index) => ({
                seq: chunk.first + index,
                chunk: chunk.chunk,
                source: "sales.csv",
                line: index + 2,
                action: step.action,
                data: JSON.stringify(dataOf(step)),
                outcome: step.taken ? "accepted" : "rejected",
                status: step.taken ? "success" : "error",
                at: AT,
                ...digestsOf(step, at, index),
              })),
            );
            changeChunk(ledger, "foundSettled", chunk, chunk);
          }
          mergeOutcomes(ledger);
        }
        const { events, tickets } = told(runs.flat(2));
        expect(ledger.all("SELECT * FROM events ORDER BY event_id").map((row) => ({ ...row }))).toEqual(events);
        expect(knownTickets(ledger)).toEqual(tickets);
        expect(ledger.get("SELECT count(*) AS rows FROM deeds")?.rows).toBe(runs.flat(2).length);
      }),
      { numRuns: kind === "sqlite" ? 40 : 10 },
    );
  });

  it("of a ticket that a key of its source identifies is told, whatever its own id says", async () => {
    using place = await newPlace();
    using ledger = place.open();
    const data = { eventId: "E-1", ticketId: "T", userId: "ann" };
    const identity = digestOf(identityText({ action: "soldTicket", data }));
    const deed = { runNo: 1, seq: 1, identity: Buffer.alloc(16, 7), content: Buffer.alloc(8, 1), isTaken: true };
    ledger.transaction(() => {
      ledger.run("INSERT INTO deeds VALUES (?, 1, 1, ?, 1, NULL, NULL)", deed.identity, deed.content);
      const by = { source: "orders", key: "{Order}" };
      noteKeyedDeed(ledger, { ...deed, eventId: undefined, holder: "ann" }, { action: "soldTicket", data }, by);
    });
    expect(acceptedDeeds(ledger, identity)).toEqual([]);
    const { ticket } = ledgerKnownState(ledger, NOTHING_PENDING);
    expect(ticket({ ticketId: "T" })).toEqual({ state: "sold", holder: "ann" });
    expect(ticket({ ticketId: "other" })).toBeUndefined();
  });

  it("finds an accepted id by the one normal form, however either is written, and none of a rejected one", async () => {
    using place = await newPlace();
    using ledger = place.open();
    const accepted = ["007", "8", "Mu\u0308-1", "T 1"];
    const ids = [...accepted, "0099"];
    const chunks = [{ lane: 0, first: 1, count: ids.length, offset: 0, length: ids.length }];
    enterRun(ledger, { run: "000000000001", manifest: "{}", output: undefined, chunks, at: AT });
    const outcomes = ids.map((ticketId, index) => {
      const isTaken = accepted.includes(ticketId);
      const data = { eventId: "E-1", ticketId };
      return {
        ...{ seq: index + 1, chunk: 1, source: "sales.csv", line: index + 2, action: "soldTicket" as const, at: AT },
        ...{ data: JSON.stringify(data), identity: digestOf(identityText({ action: "soldTicket", data })) },
        content: Buffer.alloc(8, index),
        ...(isTaken
          ? { outcome: "accepted" as const, status: "success" }
          : { outcome: "rejected" as const, status: "error" }),
      };
    });
    insertOutcomes(ledger, 1, outcomes);
    for (const chunk of chunksOf(ledger, 1)) changeChunk(ledger, "foundSettled", chunk, chunk);
    mergeOutcomes(ledger);
    const { nearId } = ledgerKnownState(ledger, NOTHING_PENDING);
    const near = (id: string) => nearId("soldTicket", "ticketId", id, normalId(id))?.id;
    expect(["7", "0007", "7.0", "08", "M\u00fc-1", "T\u00a01"].map(near)).toEqual([
      ...["007", "007", "007", "8", "Mu\u0308-1", "T 1"],
    ]);
    expect([...accepted, "99", "70", "T1"].map(near)).toEqual(Array(7).fill(undefined));
  });
});
