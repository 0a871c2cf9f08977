import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Action, ActionData, ActionName } from "../../../src/actions/actions.ts";
import type { Severity } from "../../../src/actions/problem.ts";
import {
  CrossActionChecks,
  type CrossActionOptions,
  type KnownState,
  type KnownTicket,
  NOTHING_KNOWN,
} from "../../../src/checks/cross-action.ts";
import { normalId } from "../../../src/checks/ids.ts";
import { severityIn, severityTable } from "../../../src/checks/severity.ts";

const severities = (...given: Parameters<typeof severityTable>) => severityIn(severityTable(...given));

const of = (action: ActionName, data: ActionData): Action => ({ action, data });
const event = (eventId: string, currency = "EUR"): Action => of("newEvent", { eventId, currency });
const sale = (ticketId: string, more: ActionData = {}): Action =>
  of("soldTicket", { eventId: "e", ticketId, userId: "anna", price: "10", ...more });
const resale = (ticketId: string, userId: string, price = "10"): Action =>
  of("resoldTicket", { ticketId, userId, price });
const scan = (ticketId: string): Action => of("scannedTicket", { ticketId });
const checkin = (ticketId: string): Action => of("checkedInTicket", { ticketId });
const claim = (ticketId: string): Action => of("claimedTicket", { ticketId, userId: "carl" });
const invalidation = (ticketId: string): Action => of("invalidatedTicket", { ticketId });

interface Setting extends Partial<Omit<CrossActionOptions, "severityOf">> {
  readonly rules?: Readonly<Record<string, Severity>>;
}

function crossChecks(
  rows: readonly (readonly Action[])[],
  { rules = {}, ...options }: Setting = {},
): CrossActionChecks {
  const newEvents = rows
    .flat()
    .flatMap(({ action, data }) => (action === "newEvent" && data.eventId != null ? [data.eventId] : []));
  return new CrossActionChecks({
    knownState: NOTHING_KNOWN,
    complete: false,
    hasEnvironment: true,
    laterEvents: new Set(newEvents),
    severityOf: severities(rules),
    ...options,
  });
}

/** What each row finds, as `severity rule` with `; ` between findings; rows are lines of in.csv from 2. */
function found(rows: readonly (readonly Action[])[], setting?: Setting): readonly string[] {
  const checks = crossChecks(rows, setting);
  return rows.map((row, index) =>
    checks
      .row(row, { source: "in.csv", line: index + 2 })
      .flat()
      .map(({ rule, severity }) => `${severity} ${rule}`)
      .join("; "),
  );
}

function messages(rows: readonly (readonly Action[])[], setting?: Setting): readonly string[] {
  const checks = crossChecks(rows, setting);
  return rows.flatMap((row, index) =>
    checks
      .row(row, { source: "in.csv", line: index + 2 })
      .flat()
      .map(({ message }) => message),
  );
}

function memoryOf(
  tickets: Readonly<Record<string, KnownTicket>>,
  events: Readonly<Record<string, { currency?: string }>> = {},
): KnownState {
  return {
    ...NOTHING_KNOWN,
    event: (eventId) => events[eventId],
    ticket: (ref) => tickets["ticketId" in ref ? ref.ticketId : `nft:${ref.nftId}`],
  };
}

describe("events", () => {
  it("finds nothing in an honest history", () => {
    const rows = [
      [event("e")],
      [sale("t")],
      [scan("t"), resale("t", "bert"), resale("t", "anna")],
      [of("updateTicket", { ticketId: "t" })],
      [checkin("t"), claim("t")],
      [of("updateEvent", { eventId: "e" })],
    ];
    expect(found(rows)).toEqual(["", "", "", "", "", ""]);
  });

  it("takes an event and its sale from one row", () => {
    expect(found([[event("e"), sale("t"), checkin("t")]])).toEqual([""]);
  });

  it("warns once per event that is not known", () => {
    const rows = [[sale("a")], [sale("b")], [of("updateEvent", { eventId: "f" })], [sale("c", { eventId: "f" })]];
    expect(found(rows)).toEqual(["warn event-not-registered", "", "warn event-not-registered", ""]);
  });

  it("warns of a newEvent of whose event only an update was accepted before", () => {
    const knownState: KnownState = { ...memoryOf({}, { e: {} }), isOnlyChanged: (eventId) => eventId === "e" };
    const rows = [[event("d")], [event("e")], [sale("t")]];
    expect(found(rows, { knownState })).toEqual(["", "warn event-registered-late", ""]);
    expect(found(rows, { knownState, rules: { "event-registered-late": "error" } })).toEqual([
      "",
      "error event-registered-late",
      "",
    ]);
    expect(messages(rows, { knownState })).toEqual([
      'This newEvent comes after an updateEvent of "e", which was accepted before this input.',
    ]);
  });

  it("says whether an environment was asked", () => {
    const hint = (hasEnvironment: boolean) =>
      crossChecks([], { hasEnvironment }).row([sale("a")], { source: "a.csv", line: 2 })[0]?.[0]?.hint;
    expect(hint(true)).toContain("complete: true");
    expect(hint(false)).toContain("--env");
  });

  it("refuses every sale that stands before its event", () => {
    const rows = [
      [sale("a")],
      [sale("b")],
      [of("updateEvent", { eventId: "e" })],
      [event("e")],
      [sale("c")],
      [scan("a")],
    ];
    const early = "error event-not-registered";
    expect(found(rows)).toEqual([early, early, early, "", "", "error depends-on-invalid"]);
  });

  it("refuses every sale of an unknown event where the environment is complete", () => {
    const rows = [[sale("a")], [sale("b")], [of("updateEvent", { eventId: "e" })]];
    expect(found(rows, { complete: true })).toEqual(Array(3).fill("error event-not-registered"));
  });

  it("knows the events of the environment", () => {
    const knownState = memoryOf({}, { e: {} });
    expect(found([[sale("a")], [of("updateEvent", { eventId: "e" })]], { knownState, complete: true })).toEqual([
      "",
      "",
    ]);
  });

  it("asks the environment once per event", () => {
    const asked: string[] = [];
    const knownState: KnownState = { ...NOTHING_KNOWN, event: (eventId) => void asked.push(eventId) };
    found([[sale("a")], [sale("b")], [sale("c")]], { knownState });
    expect(asked).toEqual(["e"]);
  });

  it("refuses a second registration, and nothing else for it", () => {
    const rows = [[event("e")], [event("e", "USD")], [sale("a")]];
    expect(found(rows)).toEqual(["", "error event-registered-twice", ""]);
    expect(messages(rows)[0]).toBe('Event "e" is already registered at in.csv:2.');
  });

  it("leaves an event that the environment holds to the identity check", () => {
    expect(found([[event("e")], [sale("a")]], { knownState: memoryOf({}, { e: {} }) })).toEqual(["", ""]);
  });
});

describe("tickets", () => {
  const known = memoryOf({ t: { state: "sold", holder: "anna", eventId: "e" } }, { e: { currency: "EUR" } });

  it("refuses a second sale and names the first", () => {
    const rows = [[event("e")], [sale("t")], [sale("t", { userId: "bert" })], [scan("t")]];
    expect(found(rows)).toEqual(["", "", "error ticket-sold-twice", "error depends-on-invalid"]);
    expect(messages(rows)[0]).toBe('Ticket "t" is already sold at in.csv:3.');
    expect(messages(rows)[1]).toBe("It depends on in.csv:4, which is invalid and not sent.");
  });

  it("refuses a second sale in the same row", () => {
    expect(found([[event("e"), sale("t"), sale("t")]])).toEqual(["error ticket-sold-twice"]);
  });

  it("leaves a ticket that the environment holds to the identity check", () => {
    expect(found([[sale("t")]], { knownState: known })).toEqual([""]);
  });

  it.each([
    ["the buyer of the sale", [[event("e")], [sale("t")], [resale("t", "anna")]], "error resold-to-holder"],
    ["another user", [[event("e")], [sale("t")], [resale("t", "bert")]], ""],
    [
      "the buyer of the last resale",
      [[event("e")], [sale("t"), resale("t", "bert")], [resale("t", "bert")]],
      "error resold-to-holder",
    ],
    ["an earlier holder", [[event("e")], [sale("t"), resale("t", "bert")], [resale("t", "anna")]], ""],
    ["who claimed it", [[event("e")], [sale("t")], [claim("t")], [resale("t", "carl")]], ""],
    [
      "the buyer, after a claim",
      [[event("e")], [sale("t")], [claim("t")], [resale("t", "anna")]],
      "error resold-to-holder",
    ],
    ["anybody, when no sale is known", [[resale("t", "anna")]], ""],
    [
      "the buyer of a resale whose sale is not known",
      [[resale("t", "anna")], [resale("t", "anna")]],
      "error resold-to-holder",
    ],
  ])("judges a resale to %s", (_, rows, last) => expect(found(rows).at(-1)).toBe(last));

  it("knows the holder of the environment", () => {
    expect(found([[resale("t", "anna")]], { knownState: known })).toEqual(["error resold-to-holder"]);
    expect(found([[resale("t", "bert")], [resale("t", "anna")]], { knownState: known })).toEqual(["", ""]);
  });

  it("asks the environment once per ticket", () => {
    const asked: unknown[] = [];
    const knownState: KnownState = { ...NOTHING_KNOWN, ticket: (ref) => void asked.push(ref) };
    found([[event("e")], [sale("t")], [scan("t")], [scan("u")], [scan("u")]], { knownState });
    expect(asked).toEqual([{ ticketId: "t" }, { ticketId: "u" }]);
  });

  it("keeps ticketId and nftId apart", () => {
    const rows = [[event("e")], [sale("A-1-2")], [of("resoldTicket", { nftId: "A-1-2", userId: "anna", price: "1" })]];
    expect(found(rows)).toEqual(["", "", ""]);
  });

  it("only warns of the holder where the ticket may have been resold under its other id", () => {
    const byNft = (userId: string) => of("resoldTicket", { nftId: "A-1-2", userId, price: "1" });
    const warned = "warn resold-to-holder";
    const start = [[event("e")], [sale("t")]];
    expect(found([...start, [byNft("bert")], [resale("t", "anna")]]).at(-1)).toBe(warned);
    expect(found([...start, [byNft("bert")], [resale("t", "carl")], [byNft("bert")]]).at(-1)).toBe(warned);
    expect(found([...start, [byNft("bert")], [byNft("bert")]]).at(-1)).toBe("error resold-to-holder");
    expect(found([[resale("t", "anna")]], { knownState: { ...known, hasHoldersByNftId: () => true } })).toEqual([
      warned,
    ]);
    expect(
      found([[byNft("anna")]], { knownState: memoryOf({ "nft:A-1-2": { state: "sold", holder: "anna" } }) }),
    ).toEqual([warned]);
  });

  it("takes both for one ticket where the environment says so", () => {
    const knownState = memoryOf({
      "nft:A-1-2": { state: "sold", ticketId: "t" },
      t: { state: "sold", holder: "anna" },
    });
    const byNft = (userId: string) => of("resoldTicket", { nftId: "A-1-2", userId, price: "1" });
    expect(found([[byNft("anna")]], { knownState })).toEqual(["error resold-to-holder"]);
    expect(found([[resale("t", "bert")], [byNft("bert")]], { knownState })).toEqual(["", "error resold-to-holder"]);
    expect(found([[of("invalidatedTicket", { nftId: "A-1-2" })], [scan("t")]], { knownState })).toEqual([
      "",
      "warn after-final",
    ]);
  });

  const others = [scan("t"), of("updateTicket", { ticketId: "t" }), resale("t", "bert"), invalidation("t")];
  it.each([
    ["check-in", checkin("t"), [...others, checkin("t")], [claim("t")]],
    ["invalidation", invalidation("t"), [...others, checkin("t"), claim("t")], []],
  ])("warns of what follows a %s", (_, last, warned, allowed) => {
    const before = [[event("e")], [sale("t")], [last]];
    for (const action of warned) expect(found([...before, [action]]).at(-1)).toBe("warn after-final");
    for (const action of allowed) expect(found([...before, [action]]).at(-1)).toBe("");
  });

  it("names the row that ended the ticket, or says that it was before", () => {
    expect(messages([[event("e")], [sale("t")], [checkin("t")], [scan("t")]])).toEqual([
      'Ticket "t" was checked in at in.csv:4; the service may not accept a scannedTicket after that.',
    ]);
    const knownState = memoryOf({ t: { state: "invalidated" } });
    expect(messages([[claim("t")]], { knownState })).toEqual([
      'Ticket "t" was invalidated before this input; the service may not accept a claimedTicket after that.',
    ]);
    expect(messages([[invalidation("t")]], { knownState })).toEqual([
      'Ticket "t" was invalidated before this input; the service may not accept an invalidatedTicket after that.',
    ]);
  });

  it("keeps an invalidation final", () => {
    expect(found([[invalidation("t")], [checkin("t")], [claim("t")]])).toEqual([
      "",
      "warn after-final",
      "warn after-final",
    ]);
  });

  it("warns of a ticket whose sale is not known only where all are known", () => {
    const rows = [[scan("t")], [checkin("t")], [of("scannedTicket", { nftId: "A-1-2" })]];
    expect(found(rows)).toEqual(["", "", ""]);
    expect(found(rows, { complete: true })).toEqual(["warn ticket-not-sold", "", ""]);
    expect(found([[scan("t")]], { complete: true, knownState: known })).toEqual([""]);
  });

  it("warns of a sale that stands after another action on its ticket", () => {
    const rows = [[event("e")], [scan("t")], [sale("t")], [scan("t")]];
    expect(found(rows)).toEqual(["", "", "warn ticket-not-sold", ""]);
    expect(messages(rows)).toEqual(['This sale comes after another action on ticket "t", at in.csv:3.']);
  });

  it("warns of a sale of whose ticket something else was accepted before", () => {
    const rows = [[event("e")], [sale("t")], [scan("t")]];
    const knownState = memoryOf({ t: { state: "invalidated", holder: "anna" } });
    expect(found(rows, { knownState })).toEqual(["", "warn ticket-not-sold", ""]);
    expect(messages(rows, { knownState })).toEqual([
      'This sale comes after another action on ticket "t", which was accepted before this input.',
    ]);
  });
});

describe("prices", () => {
  it.each([
    ["EUR", "12.5", ""],
    ["EUR", "12.50", ""],
    ["EUR", "12.505", "warn currency-decimals"],
    ["EUR", "1.250", "warn currency-decimals"],
    ["EUR", "1.000", "warn currency-decimals"],
    ["EUR", "12.500", "warn currency-decimals"],
    ["EUR", "950.00", ""],
    ["EUR", "9.5000", ""],
    ["EUR", "1000", ""],
    ["JPY", "1.000", "warn currency-decimals"],
    ["KWD", "1.250", ""],
    ["JPY", "1200", ""],
    ["JPY", "1200.00", ""],
    ["JPY", "12.5", "warn currency-decimals"],
    ["KWD", "1.125", ""],
    ["KWD", "1.1255", "warn currency-decimals"],
    ["XAU", "1.1234", ""],
    ["DEM", "1.1234", ""],
    ["DEM", "48.00000000000001", "warn currency-decimals"],
  ])("in %s may be %s: %s", (currency, price, expected) => {
    expect(found([[event("e", currency)], [sale("t", { price })]]).at(-1)).toBe(expected);
  });

  it.each([
    ["1.250", "If these are thousands (1250), write it so"],
    ["0.250", "Check that the event's currency is right"],
    ["12.505", "If these are thousands (12505), write it so"],
    ["12.5051", "Check that the event's currency is right"],
  ])("%s with too many decimals may be thousands, which is said where it is so", (price, hint) => {
    const rows = [[event("e", "EUR"), sale("t", { price })]];
    const [, [finding] = []] = crossChecks(rows).row(rows[0] ?? [], { source: "in.csv", line: 2 });
    expect(finding?.hint).toContain(hint);
  });

  it("of resales are in the currency of the ticket's event, as it is then", () => {
    const rows = [[event("e", "JPY")], [sale("t")], [resale("t", "bert", "1.5")]];
    expect(found(rows).at(-1)).toBe("warn currency-decimals");
    const changed = [
      [event("e", "JPY")],
      [sale("t")],
      [of("updateEvent", { eventId: "e", currency: "EUR" })],
      [resale("t", "bert", "1.5")],
    ];
    expect(found(changed).at(-1)).toBe("");
    const knownState = memoryOf({ t: { state: "sold", eventId: "e" } }, { e: { currency: "JPY" } });
    expect(found([[resale("t", "bert", "1.5")]], { knownState })).toEqual(["warn currency-decimals"]);
  });

  it.each([
    ["1.250", "warn currency-decimals"],
    ["12.505", "warn currency-decimals"],
    ["0.250", "warn currency-decimals"],
    ["1250.500", "warn currency-decimals"],
    ["1.25", ""],
    ["1.1234", ""],
    ["1.12345", "warn currency-decimals"],
    ["48.00000000000001", "warn currency-decimals"],
    ["47.99999999999999", "warn currency-decimals"],
    ["48.0000000", ""],
    ["1250", ""],
  ])("of an event without a known currency may be %s: %s", (price, expected) => {
    const known = memoryOf({ u: { state: "sold", eventId: "e" } }, { e: {} });
    expect(found([[sale("t", { price })]], { knownState: known })).toEqual([expected]);
    expect(found([[resale("u", "bert", price)]], { knownState: known })).toEqual([expected]);
    // Of a ticket that was sold elsewhere, the event is not known either.
    expect(found([[resale("v", "bert", price)]])).toEqual([expected]);
    expect(found([[event("e", "DEM")], [sale("t", { price })]]).at(-1)).toBe(expected);
  });

  it("with three decimals say why they are told where the currency is not known", () => {
    const [[finding] = []] = crossChecks([]).row([resale("v", "bert", "1.250")], { source: "in.csv", line: 2 });
    expect(finding?.message).toBe("price has 3 decimals, and the currency of its event is not known here.");
    expect(finding?.hint).toContain("If these are thousands (1250), write it so");
    const [, [other] = []] = crossChecks([]).row([event("e", "DEM"), sale("t", { price: "0.250" })], {
      source: "in.csv",
      line: 2,
    });
    expect(other?.message).toBe("price has 3 decimals, and how many DEM has is not known.");
    expect(other?.hint).toContain("Check that");
  });

  it("are not judged by the currency of a row that is held back", () => {
    const rows = [
      [event("e", "EUR")],
      [of("updateEvent", { eventId: "e", currency: "JPY" }), sale("t"), sale("t")],
      [sale("u", { price: "1.5" })],
    ];
    expect(found(rows)).toEqual(["", "error ticket-sold-twice", ""]);
  });
});

describe("what depends on an invalid row", () => {
  const at = (line: number) => ({ source: "in.csv", line });
  const depends = (checks: CrossActionChecks, action: Action, line: number): string | undefined =>
    checks.row([action], at(line))[0]?.find(({ rule }) => rule === "depends-on-invalid")?.message;

  it("is every later action on its tickets, by the first such row", () => {
    const checks = crossChecks([]);
    checks.holdBack([{ action: "soldTicket", data: { eventId: "e", ticketId: "t", price: "x" } }], at(2));
    checks.holdBack([{ action: "scannedTicket", data: { ticketId: "t", price: "x" } }], at(3));
    expect(depends(checks, resale("t", "bert"), 4)).toContain("in.csv:2,");
    expect(depends(checks, sale("t"), 5)).toContain("in.csv:2,");
    expect(depends(checks, scan("u"), 6)).toBeUndefined();
  });

  it("is every sale of its event, and all that follows from them, by the row that is to be mended", () => {
    const checks = crossChecks([]);
    checks.holdBack([{ action: "newEvent", data: { eventId: "e" } }], at(2));
    expect(depends(checks, of("updateEvent", { eventId: "e" }), 3)).toContain("in.csv:2,");
    expect(depends(checks, sale("t"), 4)).toContain("in.csv:2,");
    expect(depends(checks, scan("t"), 5)).toContain("in.csv:2,");
    expect(depends(checks, event("e"), 6)).toContain("in.csv:2,");
    expect(depends(checks, sale("u", { eventId: "f" }), 7)).toBeUndefined();
  });

  it("is the whole row of an action that depends", () => {
    const checks = crossChecks([]);
    checks.holdBack([{ action: "soldTicket", data: { ticketId: "a" } }], at(2));
    expect(checks.row([scan("b"), scan("a")], at(3)).map((list) => list.length)).toEqual([0, 1]);
    expect(depends(checks, checkin("b"), 4)).toContain("in.csv:2,");
  });

  it("is not an event that is registered all the same, nor one that is only updated", () => {
    const checks = crossChecks([], { knownState: memoryOf({}, { known: {} }) });
    checks.row([event("e")], at(2));
    checks.holdBack(
      [
        { action: "newEvent", data: { eventId: "e" } },
        { action: "newEvent", data: { eventId: "known" } },
      ],
      at(3),
    );
    checks.holdBack([{ action: "updateEvent", data: { eventId: "e" } }], at(4));
    expect(depends(checks, sale("t"), 5)).toBeUndefined();
    expect(depends(checks, sale("u", { eventId: "known" }), 6)).toBeUndefined();
  });

  it("is what a row found invalid across actions would have registered", () => {
    const checks = crossChecks([], { laterEvents: new Set(["e", "f"]) });
    checks.row([event("f"), sale("t", { eventId: "f" }), sale("t", { eventId: "f" })], at(2));
    expect(depends(checks, sale("u", { eventId: "f" }), 3)).toContain("in.csv:2,");
  });

  it("takes partial actions and anything else", () => {
    const checks = crossChecks([]);
    const partial = [
      undefined,
      null,
      7,
      "x",
      [],
      {},
      { action: "newEvent" },
      { data: null },
      { action: "newEvent", data: { eventId: 7 } },
    ];
    checks.holdBack(
      [...partial, { data: { ticketId: "t" } }, { action: "scannedTicket", data: { nftId: "A-1-2" } }],
      at(2),
    );
    expect(depends(checks, scan("t"), 3)).toContain("in.csv:2,");
    expect(depends(checks, of("scannedTicket", { nftId: "A-1-2" }), 4)).toContain("in.csv:2,");
  });

  it("holds back a ticket by its ticketId too, where the environment knows the nftId", () => {
    const checks = crossChecks([], { knownState: memoryOf({ "nft:A-1-2": { state: "sold", ticketId: "t" } }) });
    checks.holdBack([{ action: "scannedTicket", data: { nftId: "A-1-2" } }], at(2));
    expect(depends(checks, scan("t"), 3)).toContain("in.csv:2,");
  });
});

describe("actions that are left out because another run has them", () => {
  it("take effect unchecked", () => {
    const checks = crossChecks([[event("e")]]);
    checks.assume([event("e", "JPY"), sale("t")], { source: "in.csv", line: 2 });
    expect(
      checks.row([sale("u", { price: "1.5" })], { source: "in.csv", line: 3 })[0]?.map(({ rule }) => rule),
    ).toEqual(["currency-decimals"]);
    expect(checks.row([resale("t", "anna")], { source: "in.csv", line: 4 })[0]?.map(({ rule }) => rule)).toEqual([
      "resold-to-holder",
    ]);
  });
});

describe("severities", () => {
  it("are the config's, and what is off is not said and holds nothing back", () => {
    const rows = [[event("e")], [sale("t")], [resale("t", "anna")], [scan("t")]];
    expect(found(rows, { rules: { "resold-to-holder": "off" } })).toEqual(["", "", "", ""]);
    expect(found(rows, { rules: { "resold-to-holder": "warn" } })).toEqual(["", "", "warn resold-to-holder", ""]);
    expect(found(rows)).toEqual(["", "", "error resold-to-holder", "error depends-on-invalid"]);
  });

  it("can make an error of a warning, which then holds back", () => {
    const rows = [[checkin("t")], [scan("t")], [claim("t")]];
    expect(found(rows, { rules: { "after-final": "error" } })).toEqual([
      "",
      "error after-final",
      "error depends-on-invalid",
    ]);
  });

  it("can soften an event that is registered later", () => {
    const rows = [[sale("t")], [event("e")]];
    expect(found(rows, { rules: { "event-not-registered": "warn" } })).toEqual(["warn event-not-registered", ""]);
    expect(found(rows, { rules: { "event-not-registered": "off" } })).toEqual(["", ""]);
  });

  it("never make an error of an event that may be registered elsewhere", () => {
    expect(found([[sale("t")]], { rules: { "event-not-registered": "error" } })).toEqual(["warn event-not-registered"]);
  });
});

describe("findings", () => {
  it("say which field, where in the action, and what to do", () => {
    const checks = crossChecks([]);
    checks.row([event("e"), sale("t")], { source: "a.csv", line: 2 });
    expect(checks.row([scan("x"), resale("t", "anna")], { source: "b.csv", line: 9 })).toEqual([
      [],
      [
        {
          rule: "resold-to-holder",
          severity: "error",
          field: "userId",
          pointer: "/data/userId",
          value: "anna",
          message: 'Ticket "t" is resold to the user who already holds it, since a.csv:2.',
          hint: "userId is the new buyer's.",
        },
      ],
    ]);
  });

  it("show ids cleaned and shortened", () => {
    const id = `\u001b[31m${"x".repeat(200)}`;
    const [message = ""] = messages([[event("e")], [sale(id)], [sale(id)]]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for control characters is the purpose
    expect(message).not.toMatch(/[\u0000-\u001f]/);
    expect(message.length).toBeLessThan(120);
  });

  it("are shared lists when there are none", () => {
    const checks = crossChecks([[event("e")]]);
    const first = checks.row([event("e")], { source: "a.csv", line: 2 });
    expect(checks.row([sale("t")], { source: "a.csv", line: 3 })).toBe(first);
  });
});

describe("any order of actions", () => {
  // The same rules said plainly, over whole histories of one ticket and one event.
  function reference(actions: readonly Action[]): readonly boolean[] {
    let registered = false;
    let sold = false;
    let holder: string | undefined;
    let held = false;
    return actions.map(({ action, data }) => {
      const isError =
        held ||
        (action === "soldTicket" && (!registered || sold)) ||
        (action === "resoldTicket" && holder !== undefined && holder === data.userId);
      if (action === "newEvent") {
        const twice = registered;
        registered = true;
        return twice;
      }
      if (isError) {
        held = true;
        return true;
      }
      if (action === "soldTicket") sold = true;
      if (action === "soldTicket" || action === "resoldTicket") holder = data.userId ?? undefined;
      return false;
    });
  }

  it("is judged as the rules say", () => {
    const user = fc.constantFrom("anna", "bert");
    const action = fc.oneof(
      fc.constant(event("e")),
      user.map((userId) => sale("t", { userId })),
      user.map((userId) => resale("t", userId)),
      fc.constantFrom(scan("t"), checkin("t"), claim("t"), invalidation("t")),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 12 }), (actions) => {
        const errors = found(
          actions.map((each) => [each]),
          { complete: true },
        ).map((text) => text.includes("error"));
        expect(errors).toEqual(reference(actions));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("an id that is another one but for how it is written", () => {
  const COMPOSED = "M\u00fcller-1";
  const DECOMPOSED = "Mu\u0308ller-1";
  const known = (...ids: readonly string[]): KnownState => ({
    ...NOTHING_KNOWN,
    nearId: (_action, _field, id, normal) => {
      const other = ids.find((each) => each !== id && normalId(each) === normal);
      return other === undefined || ids.includes(id) ? undefined : { id: other, isPending: false, run: "7f3a" };
    },
    isKnownId: (_action, _field, id) => ids.includes(id),
  });

  it("is no new ticket where the other was accepted, nor is what follows sent, and it shows how they differ", () => {
    const rows = [[event("e")], [sale(DECOMPOSED)], [scan(DECOMPOSED)], [sale("M\u00fcller-2")]];
    const setting = { knownState: known(COMPOSED) };
    expect(found(rows, setting)).toEqual(["", "error id-near-another", "error depends-on-invalid", ""]);
    const [finding] = crossChecks([], setting).row([sale(DECOMPOSED)], { source: "in.csv", line: 2 })[0] ?? [];
    expect(finding).toMatchObject({
      message:
        '"Mu\\u0308ller-1" differs from "M\\u00fcller-1", which was accepted in the run 7f3a, only in how it is written: blanks, hyphens or the Unicode form of characters.',
      hint: "Have the export write it as it is there, and don't open and save the file in a spreadsheet. If it is another ticket, stream its row alone with --again.",
    });
    expect(messages([[sale("123")]], { knownState: known("00123") })[0]).toBe(
      '"123" differs from "00123", which was accepted in the run 7f3a, only in how it is written: zeros in front or decimals of a number.',
    );
  });

  it("is no new event, for no row that names it", () => {
    const rows = ["t", "u", "v"].map((id) => [sale(id, { eventId: "42" })]);
    expect(found([...rows, [sale("w", { eventId: "43" })]], { knownState: known("042") })).toEqual([
      "error id-near-another; warn event-not-registered",
      "error depends-on-invalid",
      "error depends-on-invalid",
      "warn event-not-registered",
    ]);
    expect(found([[event("42"), sale("a", { eventId: "42" })]], { knownState: known("042") })).toEqual([
      "error id-near-another",
    ]);
  });

  it.each([
    ["00123", "123"],
    ["0123", "00123"],
    ["0", "00"],
    ["123", "123.0"],
    ["123", "123,00"],
    ["A-1", "A\u20111"],
    ["A\u2212\u20101", "A--1"],
    ["A 1", "A\u00a0 1"],
    ["A1", " A1"],
    ["A1", "A\u200b1"],
    [COMPOSED, DECOMPOSED],
    ["\u00fc-u\u0308", "u\u0308-\u00fc"],
    ["\ud55c", "\u1112\u1161\u11ab"],
    ["x\u00b2", "x2"],
    ["\uff11", "1"],
  ])("is told of two tickets and two events of one input: %j, %j, in either order", (...pair) => {
    for (const [one, other] of [pair, pair.toReversed()] as [string, string][]) {
      expect(found([[event("e")], [sale(one)], [scan(one)], [sale(other)], [scan(other)]])).toEqual([
        ...["", "", ""],
        "error id-near-another",
        "error depends-on-invalid",
      ]);
      expect(found([[event(one)], [event(other)], [sale("t", { eventId: other })]])).toEqual([
        "",
        "error id-near-another",
        "error depends-on-invalid",
      ]);
    }
  });

  it.each([
    [["0123", "0124", "1230"]],
    [["A-0123", "A-123", "A123", "A 123"]],
    [["123", "123.5", "123.", ".0", "A-123.0"]],
    [["\u00e4", "a", "A", "\u00c4"]],
  ])("is none that merely looks alike: %j", (ids) => {
    expect(found([[event("e")], ...ids.map((id) => [sale(id)])]).filter((text) => text !== "")).toEqual([]);
  });

  it("is told of a row whose other one is invalid by itself", () => {
    const checks = crossChecks([]);
    checks.holdBack([sale(DECOMPOSED), event(DECOMPOSED)], { source: "in.csv", line: 2 });
    const told = (action: Action) => checks.row([action], { source: "in.csv", line: 3 })[0]?.map(({ rule }) => rule);
    expect(told(event(COMPOSED))).toEqual(["id-near-another"]);
    expect(told(sale(COMPOSED))).toContain("id-near-another");
  });

  it("is no finding where it was accepted itself", () => {
    const rows = [[event("e")], [sale(COMPOSED)], [sale(DECOMPOSED)]];
    expect(found(rows, { knownState: known(COMPOSED, DECOMPOSED) })).toEqual(["", "", ""]);
  });

  it("is only told where its rule is a warning", () => {
    const rows = [[event("e")], [sale(COMPOSED)], [sale(DECOMPOSED)], [scan(DECOMPOSED)]];
    expect(found(rows, { rules: { "id-near-another": "warn" } })).toEqual(["", "", "warn id-near-another", ""]);
    expect(found(rows, { rules: { "id-near-another": "off" } })).toEqual(["", "", "", ""]);
  });
});
