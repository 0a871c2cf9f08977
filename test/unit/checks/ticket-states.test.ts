import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TICKET_KINDS, TICKET_STATUSES, type TicketKind, TicketStates } from "../../../src/checks/ticket-states.ts";

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

  it("gives its memory back at once, and knows none then", () => {
    const states = new TicketStates();
    for (let number = 0; number < 100_000; number += 1)
      states.setStatus(states.locate("ticketId", `T${number}`), "sold");
    const held = states.bytes;
    const before = process.memoryUsage().arrayBuffers;
    states[Symbol.dispose]();
    expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(held * 0.9);
    expect([states.size, states.find("ticketId", "T1")]).toEqual([0, undefined]);
    expect(states.status(states.locate("ticketId", "T1"))).toBe("new");
  });
});
