import { expect, test } from "vitest";
import { openField } from "../../support/context.ts";

test("an id that holds U+0000 is another one than what stands before it, and is known again", async () => {
  const field = await openField();
  const sale = (ticketId: string) => ({
    action: "soldTicket",
    data: { eventId: "E\u0000-1", ticketId, userId: "u\u0000", price: "1.00", orderTime: 1767225600 },
  });
  const event = { action: "newEvent", data: { eventId: "E\u0000-1", eventName: "Gala", currency: "EUR" } };
  await field.write("payload.json", JSON.stringify([event, sale("A"), sale("A\u0000B")]));
  const first = await field.stream(["payload.json"]);
  expect(first.summary?.actions.accepted, first.said).toBe(3);
  const lines = (await field.read("promises.local.ndjson")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line)).map(({ ticketId, eventId }) => [ticketId, eventId])).toEqual([
    [undefined, "E\u0000-1"],
    ["A", "E\u0000-1"],
    ["A\u0000B", "E\u0000-1"],
  ]);
  const again = await field.stream(["payload.json"]);
  expect(again.summary?.actions, again.said).toMatchObject({ accepted: 0, alreadySent: 3 });
  expect((await field.ask("find", { id: "A\u0000B", json: true })).out).toContain("A\\u0000B");
});
