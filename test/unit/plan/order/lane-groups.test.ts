import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type KnownState, type KnownTicket, NOTHING_KNOWN } from "../../../../src/checks/cross-action.ts";
import {
  createLaneGroups,
  type LaneAssignment,
  type Referring,
  RowEvents,
} from "../../../../src/plan/order/lane-groups.ts";

/** An action, and the event that its row names. */
interface Row extends Referring {
  readonly row?: string;
}

const BYTES = 100;

function assignment(
  rows: readonly Row[],
  lanes: number,
  knownState: Pick<KnownState, "ticket"> = NOTHING_KNOWN,
): LaneAssignment {
  const rowEvents = new RowEvents();
  const groups = createLaneGroups(knownState, rowEvents);
  for (const [at, { row }] of rows.entries()) if (row !== undefined) rowEvents.note(at + 1, row);
  for (const [at, action] of rows.entries()) groups.add(action, at + 1, BYTES);
  return groups.assignment(lanes);
}

const lanesOf = (rows: readonly Row[], lanes: number, knownState?: Pick<KnownState, "ticket">): readonly number[] => {
  const result = assignment(rows, lanes, knownState);
  expect(result.unknown).toBe(0);
  return rows.map((_, at) => result.of(at));
};

/** What the environment has accepted: events by ticketId, and what it told of nftIds. */
const remembers = (tickets: Readonly<Record<string, string>>, nfts: Readonly<Record<string, string>> = {}) => ({
  ticket: (ref: { readonly ticketId?: string; readonly nftId?: string }): KnownTicket | undefined => {
    const eventId = tickets[ref.ticketId ?? ""];
    const ticketId = nfts[ref.nftId ?? ""];
    if (eventId === undefined && ticketId === undefined) return undefined;
    return { state: "sold", ...(eventId !== undefined && { eventId }), ...(ticketId !== undefined && { ticketId }) };
  },
});

const event = (eventId: string): Row => ({ eventId });
const sale = (eventId: string, ticketId: string): Row => ({ eventId, ticketId });
const scan = (ticketId: string): Row => ({ ticketId });
const nft = (nftId: string, row?: string): Row => ({ nftId, ...(row !== undefined && { row }) });

describe("an action's lane", () => {
  test.each<[string, readonly Row[], Pick<KnownState, "ticket"> | undefined, string]>([
    ["events apart", [event("A"), event("B")], undefined, "A|B"],
    ["its eventId", [event("A"), event("B"), sale("A", "T"), sale("B", "U")], undefined, "A|B|A|B"],
    ["its row's event", [event("A"), event("B"), { ticketId: "T", row: "B" }], undefined, "A|B|B"],
    ["its own event before its row's", [event("A"), event("B"), { eventId: "A", row: "B" }], undefined, "A|B|A"],
    ["its ticket's sale in the plan", [sale("A", "T"), sale("B", "U"), scan("U"), scan("T")], undefined, "A|B|B|A"],
    ["its ticket's sale further down", [scan("U"), scan("T"), sale("A", "T"), sale("B", "U")], undefined, "A|B|B|A"],
    ["its ticket's sale in the ledger", [event("A"), event("B"), scan("T")], remembers({ T: "B" }), "A|B|B"],
    ["its own ticketId", [event("A"), event("B"), scan("T"), scan("T")], undefined, "A|B|C|C"],
    ["an nftId by its row's event", [event("A"), event("B"), nft("N", "B")], undefined, "A|B|B"],
    [
      "an nftId by the ticketId beside it",
      [event("A"), sale("B", "T"), { ticketId: "T", nftId: "N" }, nft("N")],
      undefined,
      "A|B|B|B",
    ],
    ["an nftId that the ledger knows", [event("A"), event("B"), nft("N")], remembers({ T: "B" }, { N: "T" }), "A|B|B"],
    [
      "events that share a ticket",
      [event("A"), event("B"), event("C"), sale("A", "T"), sale("C", "T")],
      undefined,
      "A|B|A|A|A",
    ],
    [
      "events that share a ticket, by way of a third",
      [sale("A", "T"), sale("B", "T"), sale("B", "U"), sale("C", "U"), event("D")],
      undefined,
      "A|A|A|A|B",
    ],
    ["a ticketId that is named like an event", [event("A"), scan("A")], undefined, "A|B"],
    ["a ticketId that is named like an nftId", [scan("A"), { ...nft("A"), row: "E" }, event("E")], undefined, "A|A|A"],
    [
      "a ticket of no known event, where another is known by nftId and event alone",
      [event("A"), event("B"), scan("T"), nft("N", "B")],
      undefined,
      "A|B|B|B",
    ],
    [
      "the sale in the ledger of a ticket that is joined to another event already",
      [nft("N", "A"), { ticketId: "T", nftId: "N" }, event("B")],
      remembers({ T: "B" }),
      "A|A|A",
    ],
    ["a number as its text", [{ eventId: 5 }, event("6"), { eventId: "5" }], undefined, "A|B|A"],
  ])("%s", (_, rows, knownState, expected) => {
    const found = lanesOf(rows, 64, knownState);
    const letters = new Map<number, string>();
    for (const lane of found) if (!letters.has(lane)) letters.set(lane, String.fromCharCode(65 + letters.size));
    expect(found.map((lane) => letters.get(lane)).join("|")).toBe(expected);
  });

  test("is not known for an nftId alone; those are counted", () => {
    expect(assignment([event("A"), nft("N"), nft("N"), nft("M"), nft("K", "A")], 4).unknown).toBe(3);
    expect(assignment([event("A"), {}], 4).unknown).toBe(1);
  });

  test("is asked of the ledger once a ticket, and not where the plan knows it", () => {
    const asked: unknown[] = [];
    const knownState = {
      ticket: (ref: unknown) => {
        asked.push(ref);
        return undefined;
      },
    };
    lanesOf([sale("A", "T"), scan("T"), scan("U"), scan("U"), { ticketId: "V", row: "A" }], 4, knownState);
    expect(asked).toEqual([{ ticketId: "U" }]);
  });
});

describe("lanes", () => {
  test("are no more than there are independent events, and none is empty", () => {
    expect(assignment([event("A"), event("B"), sale("B", "T")], 16).lanes).toEqual([
      { actions: 2, bytes: 2 * BYTES },
      { actions: 1, bytes: BYTES },
    ]);
    expect(assignment([], 16).lanes).toEqual([]);
  });

  test("get about as much each", () => {
    const rows = Array.from({ length: 200 }, (_, at) =>
      Array.from({ length: 1 + (at % 7) }, () => event(`E${at}`)),
    ).flat();
    const actions = assignment(rows, 8).lanes.map((lane) => lane.actions);
    expect(actions).toHaveLength(8);
    expect(Math.max(...actions) - Math.min(...actions)).toBeLessThanOrEqual(1);
  });

  test("hold a hundred thousand events and tickets", () => {
    const rows = Array.from({ length: 100_000 }, (_, at) => sale(`E${at % 1000}`, `T${at}`));
    const found = lanesOf(rows, 4);
    for (const [at, lane] of found.entries()) if (lane !== found[at % 1000]) throw new Error(`action ${at} is apart`);
    expect(new Set(found).size).toBe(4);
  });
});

const ids = (letter: string, many: number) => fc.integer({ min: 1, max: many }).map((number) => `${letter}${number}`);
const rowArbitrary: fc.Arbitrary<Row> = fc.oneof(
  ids("E", 12).map(event),
  fc.tuple(ids("E", 12), ids("T", 40)).map(([eventId, ticketId]) => sale(eventId, ticketId)),
  ids("T", 40).map(scan),
  fc.record({ ticketId: ids("T", 40), row: ids("E", 12) }),
  fc.record({ nftId: ids("N", 10), row: ids("E", 12) }),
  fc.record({ nftId: ids("N", 10), ticketId: ids("T", 40) }),
);

test("whatever the plan, all actions of one event, of one ticket and of one nftId are in one lane", () => {
  fc.assert(
    fc.property(
      fc.array(rowArbitrary, { maxLength: 120 }),
      fc.integer({ min: 2, max: 64 }),
      fc.dictionary(ids("T", 40), ids("E", 12)),
      (rows, lanes, known) => {
        const result = assignment(rows, lanes, remembers(known));
        const lane = new Map<string, number>();
        const together = (name: string, at: number): void => {
          const before = lane.get(name);
          if (before !== undefined && before !== result.of(at)) throw new Error(`${name} is in two lanes`);
          lane.set(name, result.of(at));
        };
        for (const [at, { eventId, ticketId, nftId, row }] of rows.entries()) {
          if (eventId !== undefined) together(`event ${eventId}`, at);
          else if (row !== undefined) together(`event ${row}`, at);
          if (ticketId !== undefined) together(`ticket ${ticketId}`, at);
          if (nftId !== undefined) together(`nft ${nftId}`, at);
        }
        for (const [at, { eventId, ticketId, row }] of rows.entries()) {
          const accepted = known[String(ticketId)];
          const isSoldHere = rows.some(
            (each) => each.ticketId === ticketId && (each.eventId ?? each.row) !== undefined,
          );
          if (eventId === undefined && row === undefined && accepted !== undefined && !isSoldHere)
            if (lane.has(`event ${accepted}`)) together(`event ${accepted}`, at);
        }
        expect(result.lanes.reduce((sum, { actions }) => sum + actions, 0)).toBe(rows.length);
        for (const [number, { actions }] of result.lanes.entries())
          expect(rows.filter((_, at) => result.of(at) === number)).toHaveLength(actions);
        // The same input, the same lanes.
        const again = assignment(rows, lanes, remembers(known));
        expect(rows.map((_, at) => again.of(at))).toEqual(rows.map((_, at) => result.of(at)));
      },
    ),
  );
});
