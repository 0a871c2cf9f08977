/** The fast path of the checks across actions against the checks themselves: whatever it takes, they have nothing to say of. */

import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Action, ActionData } from "../../../../src/actions/actions.ts";
import { CrossActionChecks, type CrossActionOptions, NOTHING_KNOWN } from "../../../../src/checks/cross-action.ts";
import type { PlainSale } from "../../../../src/checks/fast/plain-sales.ts";
import { severityIn, severityTable } from "../../../../src/checks/severity.ts";

const RUNS = Number(process.env.RUNS ?? 150);

const OPTIONS: CrossActionOptions = {
  knownState: NOTHING_KNOWN,
  complete: false,
  hasEnvironment: true,
  laterEvents: new Set(),
  severityOf: severityIn(severityTable({})),
};

const ALL_COUNTED = (): boolean => true;

const at = (line: number) => ({ source: "in.csv", line });

/** A sale as bytes, its texts one after the other and something before them. */
function bytesOf({ action, data }: Action, line: number): PlainSale {
  let text = "before";
  const place = (value: string | null | undefined): [number, number] => {
    if (value == null) return [-1, text.length];
    text += value;
    return [text.length - value.length, text.length];
  };
  const [eventFrom, eventTo] = place(data.eventId);
  const [ticketFrom, ticketTo] = place(data.ticketId);
  const [userFrom, userTo] = place(data.userId);
  const [priceFrom, priceTo] = place(data.price);
  const places = { eventFrom, eventTo, ticketFrom, ticketTo, userFrom, userTo, priceFrom, priceTo };
  return { action, bytes: Buffer.from(`${text}behind`), ...at(line), ...places };
}

/** Whether nothing is known of its ticket. */
const isUnsold = ({ knownState }: CrossActionOptions, { data }: Action): boolean =>
  typeof data.ticketId === "string" && knownState.ticket({ ticketId: data.ticketId }) === undefined;

const of = (action: Action["action"], data: ActionData): Action => ({ action, data });
const sale = (ticketId: string, more: ActionData = {}): Action =>
  of("soldTicket", { eventId: "e", ticketId, userId: "anna", price: "10", ...more });

describe("sales of which there is nothing to say", () => {
  it("are taken once their event is known", () => {
    const checks = new CrossActionChecks(OPTIONS);
    checks.row([of("newEvent", { eventId: "e", currency: "EUR" })], at(2));
    expect(checks.plainSale(bytesOf(sale("a"), 3), ALL_COUNTED, false)).toBe("sound");
    expect(checks.plainSale(bytesOf(sale("12"), 4), ALL_COUNTED, false)).toBe("sound");
    expect(checks.plainSale(bytesOf(sale("b", { price: "1.50", userId: null }), 5), ALL_COUNTED, false)).toBe("sound");
    expect(checks.row([of("resoldTicket", { ticketId: "a", userId: "anna" })], at(6))[0]?.[0]?.message).toBe(
      'Ticket "a" is resold to the user who already holds it, since in.csv:3.',
    );
  });

  it("are not those of an event that was not named, of a ticket that was, or with too many decimals", () => {
    const checks = new CrossActionChecks(OPTIONS);
    expect(checks.plainSale(bytesOf(sale("a"), 2), ALL_COUNTED, false)).toBeUndefined();
    checks.row([sale("a")], at(2));
    expect(checks.plainSale(bytesOf(sale("a"), 3), ALL_COUNTED, false)).toBeUndefined();
    expect(checks.plainSale(bytesOf(sale("b", { price: "1.500" }), 4), ALL_COUNTED, false)).toBeUndefined();
    expect(checks.plainSale(bytesOf(sale("b"), 5), ALL_COUNTED, false)).toBe("sound");
  });
});

describe("a sale whose event is registered nowhere", () => {
  const complete = { ...OPTIONS, complete: true };

  it("is held back where it is enough to count that, and so is what follows", () => {
    const checks = new CrossActionChecks(complete);
    expect(checks.plainSale(bytesOf(sale("a"), 2), ALL_COUNTED, false)).toBeUndefined();
    checks.row([sale("a")], at(2));
    expect(checks.plainSale(bytesOf(sale("b"), 3), () => false, false)).toBeUndefined();
    expect(checks.plainSale(bytesOf(sale("b"), 3), ALL_COUNTED, false)).toBe("event-not-registered");
    const [found] = checks.row([of("checkedInTicket", { ticketId: "b" })], at(4)).flat();
    expect(found).toMatchObject({ rule: "depends-on-invalid", cause: at(3) });
  });

  it("is left to the checks where more may be wrong with it, or its rule is no error", () => {
    const checks = new CrossActionChecks(complete);
    checks.row([sale("a")], at(2));
    expect(checks.plainSale(bytesOf(sale("a"), 3), ALL_COUNTED, false)).toBeUndefined();
    expect(checks.plainSale(bytesOf(sale("b", { price: "1.555" }), 4), ALL_COUNTED, false)).toBeUndefined();
    const severityOf = severityIn(severityTable({ "event-not-registered": "warn" }));
    const warned = new CrossActionChecks({ ...complete, severityOf });
    warned.row([sale("a")], at(2));
    expect(warned.plainSale(bytesOf(sale("b"), 3), ALL_COUNTED, false)).toBeUndefined();
  });
});

it("says of findings that are only counted no more than their rule and cause", () => {
  const checks = new CrossActionChecks({ ...OPTIONS, complete: true });
  const counted = checks.row([sale("a")], at(2), (rule) => rule === "event-not-registered").flat();
  expect(counted).toEqual([{ rule: "event-not-registered", severity: "error", message: "", hint: "" }]);
  const waits = checks.row([of("checkedInTicket", { ticketId: "a" })], at(3), (_, severity, hasCause) => {
    return severity === "error" && hasCause;
  });
  expect(waits.flat()).toEqual([
    { rule: "depends-on-invalid", severity: "error", message: "", hint: "", cause: at(2) },
  ]);
});

describe("sales that wait for a row", () => {
  it("which would have registered their event are not taken, also where the event was said to be unknown before", () => {
    const checks = new CrossActionChecks(OPTIONS);
    checks.row([sale("a")], at(2));
    checks.holdBack([of("newEvent", { eventId: "e" })], at(3));
    expect(checks.plainSale(bytesOf(sale("b"), 4), ALL_COUNTED, false)).toBeUndefined();
  });

  it("whose event lost its zeros are not taken", () => {
    const otherSpelling: CrossActionOptions["knownState"]["otherSpelling"] = (_, field, id) =>
      field === "eventId" && id === "7" ? { id: "07", isPending: true, run: undefined } : undefined;
    const checks = new CrossActionChecks({ ...OPTIONS, knownState: { ...NOTHING_KNOWN, otherSpelling } });
    expect(checks.row([sale("a", { eventId: "7" })], at(2)).flat()).toHaveLength(2);
    expect(checks.plainSale(bytesOf(sale("b", { eventId: "7" }), 4), ALL_COUNTED, false)).toBeUndefined();
  });
});

it.each([
  ["taken where nothing else is known of its ticket", "sound", undefined],
  ["not taken where something else is", undefined, { state: "checked-in" } as const],
])("a sale of which its deed says that none was accepted is %s", (_, verdict, known) => {
  const ticket: CrossActionOptions["knownState"]["ticket"] = (ref) => {
    if ("ticketId" in ref && ref.ticketId === "a") throw new Error("what is known not to be there was looked for");
    return undefined;
  };
  const knownState = { ...NOTHING_KNOWN, hasTickets: () => true, ticket, unsoldTicket: () => known };
  const checks = new CrossActionChecks({ ...OPTIONS, knownState });
  checks.row([of("newEvent", { eventId: "e", currency: "EUR" })], at(2));
  expect(checks.plainSale(bytesOf(sale("a"), 3), ALL_COUNTED, true)).toBe(verdict);
});

it("a sale that is known the other way round is not taken", () => {
  const knownState: CrossActionOptions["knownState"] = {
    ...NOTHING_KNOWN,
    hasTickets: () => true,
    ticket: (ref) =>
      "ticketId" in ref && ref.ticketId === "b" ? { eventId: "e", holder: "c", state: "sold" } : undefined,
  };
  const checks = new CrossActionChecks({ ...OPTIONS, knownState });
  checks.row([sale("a")], at(2));
  expect(checks.plainSale(bytesOf(sale("c", { userId: "d" }), 3), ALL_COUNTED, false)).toBe("sound");
  expect(checks.plainSale(bytesOf(sale("d", { userId: "b" }), 4), ALL_COUNTED, false)).toBe("sound");
  const other = new CrossActionChecks({ ...OPTIONS, knownState });
  other.row([sale("a")], at(2));
  expect(other.plainSale(bytesOf(sale("c", { userId: "b" }), 3), ALL_COUNTED, false)).toBeUndefined();
});

const oddTicket: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "1", "01", "12", "0012", "t-1");
const ticketId = fc.oneof({ weight: 2, arbitrary: fc.nat(99).map((n) => `t-${n}`) }, oddTicket);
const eventId: fc.Arbitrary<string> = fc.constantFrom("e", "f", "7", "07");
const given = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        ticketId,
        eventId,
        userId: fc.constantFrom("anna", "bert", "b", null),
        price: fc.constantFrom("10", "25", "1.5", "2.50", "1.500", "0.12345", "7.0", "100", null),
      })
      .map((data) => of("soldTicket", data)),
  },
  fc.record({ eventId, currency: fc.constantFrom("EUR", "JPY", "KWD") }).map((data) => of("newEvent", data)),
  fc.record({ eventId, currency: fc.constantFrom("EUR", "JPY", null) }).map((data) => of("updateEvent", data)),
  fc
    .record({ ticketId, userId: fc.constantFrom("anna", "bert"), price: fc.constantFrom("3", "3.25") })
    .map((data) => of("resoldTicket", data)),
  ticketId.map((id) => of("checkedInTicket", { ticketId: id })),
  ticketId.map((id) => of("invalidatedTicket", { ticketId: id })),
);

const settings = fc
  .record({
    complete: fc.boolean(),
    laterEvents: fc.uniqueArray(eventId),
    knownEvents: fc.uniqueArray(eventId),
    knownTickets: fc.oneof(fc.constant<string[]>([]), fc.uniqueArray(oddTicket)),
    zeros: fc.boolean(),
    isRepeatWarned: fc.boolean(),
  })
  .map(({ complete, laterEvents, knownEvents, knownTickets, zeros, isRepeatWarned }): CrossActionOptions => {
    const severities = severityTable(isRepeatWarned ? { "ticket-sold-twice": "warn" } : {});
    return {
      ...OPTIONS,
      complete,
      laterEvents: new Set(laterEvents),
      severityOf: severityIn(severities),
      knownState: {
        ...NOTHING_KNOWN,
        event: (id) => (knownEvents.includes(id) ? { currency: "JPY" } : undefined),
        ticket: (ref) =>
          "ticketId" in ref && knownTickets.includes(ref.ticketId)
            ? { state: "sold", ...(ref.ticketId === "b" ? { holder: "c" } : { eventId: "e" }) }
            : undefined,
        hasTickets: () => knownTickets.length > 0,
        otherSpelling: (_, field, id) =>
          zeros && field === "ticketId" && id === "12" ? { id: "0012", isPending: true, run: undefined } : undefined,
      },
    };
  });

test("whatever the fast path takes, the checks find the same, in it and in all that follows", () => {
  let [taken, refused] = [0, 0];
  const row = fc.record({
    actions: fc.oneof({ weight: 8, arbitrary: given.map((one) => [one]) }, fc.tuple(given, given)),
    isCounted: fc.boolean(),
    isHeld: fc.nat(40).map((n) => n === 0),
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40, size: "max" }), settings, (rows, options) => {
      const reference = new CrossActionChecks(options);
      const fast = new CrossActionChecks(options);
      for (const [number, { actions, isCounted, isHeld }] of rows.entries()) {
        const line = number + 2;
        if (isHeld) {
          for (const checks of [reference, fast]) checks.holdBack(actions, at(line));
          continue;
        }
        const expected = reference.row(actions, at(line));
        const [only] = actions;
        const isSale = actions.length === 1 && only?.action === "soldTicket";
        const verdict = isSale
          ? fast.plainSale(bytesOf(only, line), () => isCounted, isUnsold(options, only))
          : undefined;
        if (verdict !== undefined) {
          taken += 1;
          const rules = verdict === "sound" ? [] : [{ rule: verdict, severity: "error" }];
          expect(expected.flat().map(({ rule, severity }) => ({ rule, severity }))).toEqual(rules);
          if (verdict !== "sound") refused += 1;
        } else expect(fast.row(actions, at(line))).toEqual(expected);
      }
    }),
    { numRuns: RUNS },
  );
  expect(taken).toBeGreaterThan(RUNS);
  expect(refused).toBeGreaterThan(0);
});
