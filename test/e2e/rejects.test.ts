/** Rejects files: the rows that are still open, each with a reason and with exactly its open actions. */

import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { type Item, type Service, startService } from "../support/service.ts";
import { readPromises, readTable, salesTable } from "../support/tables.ts";

const ENV = ["--env", "playground"];

/** One row, two updates of its ticket. */
const TWO_UPDATES = `sources:
  covers:
    match: "covers*.csv"
    actions:
      - updateTicket: {fields: {ticketId: "{Ticket}", imageUrl: "https://cdn.example/{Front}"}}
      - updateTicket: {fields: {ticketId: "{Ticket}", mediaUrl: "https://cdn.example/{Back}"}}
`;

const sentOf = (service: Service): readonly Item["data"][] => service.sent().map(({ data }) => data);

test("of two updates in a row the rejected one alone is open, and stays so when it is rejected again", async () => {
  const place = openWorkplace();
  const service = await startService({
    failureOf: ({ data }) => ("mediaUrl" in data ? { status: "error" } : undefined),
  });
  place.write("tickets.config.yaml", TWO_UPDATES);
  place.write("covers.csv", "Ticket,Front,Back\nT-1,a.png,b.png\n");
  const first = await place.summary(["stream", "covers.csv", ...ENV], service);
  expect(first.summary).toMatchObject({ exitCode: 4, actions: { accepted: 1, rejected: 1 } });
  const again = ["stream", "covers.rejects.csv", ...ENV];
  for (let time = 1; time <= 2; time += 1) {
    expect(readTable(place.read("covers.rejects.csv")).map((row) => row["tickets:actions"])).toEqual([
      "2:updateTicket",
    ]);
    expect((await place.summary(again, service)).summary).toMatchObject({
      exitCode: 4,
      actions: { total: 1, rejected: 1 },
    });
  }
  const rejectedTwice = place.files().filter((name) => name.startsWith("covers.rejects.rejects"));
  expect(rejectedTwice).toEqual(["covers.rejects.rejects.csv"]);
  expect(readTable(place.read("covers.rejects.rejects.csv")).at(-1)).toMatchObject({
    "tickets:actions": "2:updateTicket",
  });
  service.behave({});
  const last = await place.summary(["stream", "covers.rejects.rejects.csv", ...ENV], service);
  expect(last.summary).toMatchObject({ exitCode: 0, actions: { total: 1, accepted: 1 } });
  const [front, back] = [
    { ticketId: "T-1", imageUrl: "https://cdn.example/a.png" },
    { ticketId: "T-1", mediaUrl: "https://cdn.example/b.png" },
  ];
  expect(sentOf(service), "the accepted one is sent once").toEqual([front, back, back, back, back]);
});

test("a reason is a sentence; the service's answer stands in the promises alone", async () => {
  const place = openWorkplace();
  const failure = { status: "error", ticketId: "T-2", error: { code: "event_not_found", message: "No such event" } };
  const service = await startService({ failureOf: ({ data }) => (data.ticketId === "T-2" ? failure : undefined) });
  place.write("sales.csv", salesTable(3));
  const { stderr } = await place.summary(["stream", "sales.csv", ...ENV], service);
  const [row] = readTable(place.read("sales.rejects.csv"));
  const reason = "soldTicket rejected by the service: No such event (event_not_found).";
  expect(row).toMatchObject({ ticketId: "T-2", "tickets:reason": reason });
  expect(stderr).toContain("sales.csv:3 soldTicket T-2 rejected by the service: No such event (event_not_found).");
  expect(stderr).not.toContain('"error"');
  expect(readPromises(place.read("sales.playground.promises.ndjson"))[1]?.response).toEqual(failure);
});

test("--abandon names the rejects that it wrote, and how many rows they hold", async () => {
  const place = openWorkplace();
  const service = await startService();
  place.write(
    "tickets.config.yaml",
    "environments: {house: {baseUrl: '$URL', apiKey: {env: TICKETS_KEY}, chunkSize: 2}}\n".replace(
      "$URL",
      service.baseUrl,
    ),
  );
  place.write("sales.csv", salesTable(5));
  service.behave({
    answer: ({ items }) =>
      items.some(({ data }) => data.ticketId === "T-3") ? { status: 403, body: "{}" } : undefined,
  });
  const env = { env: { TICKETS_KEY: service.key } };
  const stopped = await place.summary(["stream", "sales.csv", "--env", "house"], env);
  expect(stopped.exitCode).toBe(5);
  const abandon = ["settle", stopped.summary.run ?? "", "--abandon", "--env", "house"];
  expect((await place.tickets(abandon, env)).stderr).toContain(
    "Rejects: sales.rejects.csv holds 3 rows that are still open.",
  );
  expect(readTable(place.read("sales.rejects.csv")).map(({ ticketId }) => ticketId)).toEqual(["T-3", "T-4", "T-5"]);
  expect((await place.tickets(abandon, env)).stderr).toContain("Rejects: sales.rejects.csv.");
});
