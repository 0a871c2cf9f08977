import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hash128,
  TICKET_KINDS,
  TICKET_STATUSES,
  type TicketKind,
  TicketStates,
} from "../../../src/checks/ticket-states.ts";

const hashOf = (text: string, seed = 1): string => {
  const out = new Uint32Array(4);
  hash128(text, seed, out);
  return [...out].join(" ");
};

describe("the ticket table", () => {
  it("gives one number to one reference, and apart to the same text as ticketId and as nftId", () => {
    const states = new TicketStates();
    const a = states.locate("ticketId", "a");
    expect(states.locate("nftId", "a")).not.toBe(a);
    expect(states.locate("ticketId", "b")).not.toBe(a);
    expect(states.locate("ticketId", "a")).toBe(a);
    expect(states.size).toBe(3);
  });

  it("has nothing to say of a new ticket", () => {
    const states = new TicketStates();
    const ticket = states.locate("ticketId", "a");
    expect(states.status(ticket)).toBe("new");
    expect(states.isHeld(ticket)).toBe(false);
    expect(states.isSoldHere(ticket)).toBe(false);
    expect(states.isHeldBy(ticket, "u")).toBeUndefined();
    expect(states.event(ticket)).toBeUndefined();
    expect(states.place(ticket)).toBeUndefined();
  });

  it("behaves like a map of objects", () => {
    interface Model {
      status: string;
      held: boolean;
      soldHere: boolean;
      holder: string | undefined;
      event: number | undefined;
      place: { source: string; line: number } | undefined;
    }
    const id = fc.oneof(fc.constantFrom("", "a", "b", "a\0", "t-1", "t-2"), fc.string({ maxLength: 20 }));
    const step = fc.record({
      kind: fc.constantFrom<TicketKind>(...TICKET_KINDS),
      id,
      status: fc.option(fc.constantFrom(...TICKET_STATUSES), { nil: undefined }),
      hold: fc.boolean(),
      sell: fc.boolean(),
      holder: fc.option(fc.constantFrom("u", "v", ""), { nil: undefined }),
      event: fc.option(fc.nat(1000), { nil: undefined }),
      place: fc.option(
        fc.record({ source: fc.constantFrom("a.csv", "b.csv", "-"), line: fc.integer({ min: 1, max: 0xffffffff }) }),
        {
          nil: undefined,
        },
      ),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const states = new TicketStates();
        const model = new Map<string, Model>();
        for (const { kind, id: reference, status, hold, sell, holder, event, place } of steps) {
          const key = `${kind}:${reference}`;
          const expected = model.get(key) ?? {
            status: "new",
            held: false,
            soldHere: false,
            holder: undefined,
            event: undefined,
            place: undefined,
          };
          model.set(key, expected);
          const ticket = states.locate(kind, reference);
          if (status !== undefined) states.setStatus(ticket, status);
          if (hold) states.hold(ticket);
          if (sell) states.setSoldHere(ticket);
          if (holder !== undefined) states.setHolder(ticket, holder);
          if (event !== undefined) states.setEvent(ticket, event);
          if (place !== undefined) states.setPlace(ticket, place);
          expected.status = status ?? expected.status;
          expected.held ||= hold;
          expected.soldHere ||= sell;
          expected.holder = holder ?? expected.holder;
          expected.event = event ?? expected.event;
          expected.place = place ?? expected.place;
        }
        expect(states.size).toBe(model.size);
        for (const [key, expected] of model) {
          const kind = key.startsWith("ticketId") ? "ticketId" : "nftId";
          const ticket = states.locate(kind, key.slice(kind.length + 1));
          expect(states.status(ticket)).toBe(expected.status);
          expect(states.isHeld(ticket)).toBe(expected.held);
          expect(states.isSoldHere(ticket)).toBe(expected.soldHere);
          for (const user of ["u", "v", "", "w"])
            expect(states.isHeldBy(ticket, user)).toBe(
              expected.holder === undefined ? undefined : expected.holder === user,
            );
          expect(states.event(ticket)).toBe(expected.event);
          expect(states.place(ticket)).toEqual(expected.place);
        }
      }),
    );
  });

  it("finds 200,000 tickets again after growing, in at most 48 bytes each", () => {
    const states = new TicketStates();
    const count = 200_000;
    for (let at = 0; at < count; at += 1) expect(states.locate("ticketId", `ticket-${at}`)).toBe(at);
    for (let at = 0; at < count; at += 997) expect(states.locate("ticketId", `ticket-${at}`)).toBe(at);
    expect(states.size).toBe(count);
    expect(states.bytes / count).toBeLessThanOrEqual(48);
  });

  it("does not know a ticket that was never asked for", () => {
    expect(() => new TicketStates().status(0)).toThrow("no ticket");
  });
});

describe("the hash", () => {
  it("differs with the text, its length and the seed", () => {
    const texts = [
      "",
      "\0",
      "\0\0",
      "a",
      "a\0",
      "aaaaaaaa",
      "aaaaaaaa\0",
      "aaaaaaaab",
      "ab",
      "ba",
      "😀",
      "\ud83d",
      "A",
      "á",
    ];
    expect(new Set(texts.map((text) => hashOf(text))).size).toBe(texts.length);
    expect(hashOf("a", 1)).not.toBe(hashOf("a", 2));
  });

  it("spreads ids that differ little over all its bits", () => {
    const words: [number, number, number, number] = [0, 0, 0, 0];
    const buckets = new Uint32Array(256);
    const out = new Uint32Array(4);
    const count = 1 << 16;
    const seen = new Set<number>();
    for (let at = 0; at < count; at += 1) {
      hash128(`2026-WAVE-${String(at).padStart(8, "0")}`, 7, out);
      for (const word of [0, 1, 2, 3] as const) words[word] |= out[word] ?? 0;
      const bucket = (out[0] ?? 0) & 0xff;
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      seen.add((out[0] ?? 0) * 2 ** 21 + ((out[1] ?? 0) >>> 11));
    }
    expect(words).toEqual([-1, -1, -1, -1]);
    expect(seen.size).toBe(count);
    // 256 expected in each; six standard deviations are 96.
    expect(Math.min(...buckets)).toBeGreaterThan(256 - 96);
    expect(Math.max(...buckets)).toBeLessThan(256 + 96);
  });
});
