/** An environment given by two variables, and whatever a service that speaks the specification may answer. */

import { describe, expect, test } from "vitest";
import { expectSpokenAsSpecified, type Item, openSales, type Service } from "../support/service.ts";
import { readPromises, readTable, ticketIds } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const COMMAND = ["stream", "sales.csv", "--env", "playground", "TICKETS_CHUNK_SIZE=10"];

const ticketsOf = (service: Service) => service.sent().map(({ data }) => data.ticketId);

/** What a service might say of an action that it does not accept; the specification shows none. */
const FAILURES: readonly unknown[] = [
  { status: "error" },
  { status: "failed", ticketId: "T-13", error: { code: "ticket_exists", message: 'already "sold"\n\u001b[31m' } },
];

describe("an action that the service does not accept", () => {
  test.each(FAILURES)("%j is in the promises with its whole answer, and in the rejects", async (failure) => {
    const failureOf = ({ data }: Item) => (data.ticketId === "T-13" ? failure : undefined);
    const { place, service } = await openSales(25, { failureOf });
    const { exitCode, stderr, summary } = await place.summary(COMMAND, { env: service.env });
    expect(exitCode).toBe(4);
    expectSpokenAsSpecified(service);
    expect(ticketsOf(service), "later chunks are sent all the same").toEqual(ticketIds(1, 25));
    expect(summary).toMatchObject({
      state: "finished",
      actions: { total: 25, accepted: 24, rejected: 1 },
      rejects: [place.path("sales.rejects.csv")],
      next: "tickets stream sales.rejects.csv --env playground",
    });
    expect(stderr).toContain("sales.csv:14 soldTicket T-13");
    expect(stderr).toContain("tickets stream sales.rejects.csv --env playground");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may reach a terminal
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);

    const promises = readPromises(place.read("promises.playground.ndjson"));
    expect(promises.map(({ ticketId }) => ticketId)).toEqual(ticketIds(1, 25));
    const rejected = promises[12];
    expect(rejected).toMatchObject({ line: 14, ticketId: "T-13", chunk: 2 });
    expect(rejected?.response).toEqual(failure);
    expect(rejected).not.toHaveProperty("actionPromise");
    expect(rejected?.status).not.toBe("success");
    expect(promises.filter(({ response }) => response !== undefined)).toHaveLength(1);

    const [header, ...rows] = place.read("sales.rejects.csv").trimEnd().split("\n");
    expect(header).toBe("eventId,ticketId,userId,price,orderTime,tickets:reason,tickets:row");
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatch(/^E-1,T-13,user-6,13\.50,1700000013,.*rejected by the service.*,row@[0-9a-f]{8}:13$/);
  });

  test("is written to a CSV of promises with its answer as JSON", LONG, async () => {
    const failure = { status: "error", error: { message: 'taken, "again"' } };
    const failureOf = ({ data }: Item) => (data.ticketId === "T-2" ? failure : undefined);
    const { place, service } = await openSales(5, { failureOf });
    const { exitCode } = await place.summary([...COMMAND, "-o", "promises.csv"], { env: service.env });
    expect(exitCode).toBe(4);
    const rows = readTable(place.read("promises.csv"));
    expect(rows.map(({ line, status }) => `${line} ${status}`)).toEqual([
      "2 success",
      "3 error",
      "4 success",
      "5 success",
      "6 success",
    ]);
    expect(JSON.parse(rows[1]?.response ?? "")).toEqual(failure);
    expect(rows[1]?.actionPromise).toBe("");
    expect(rows[0]).toMatchObject({ response: "", source: "sales.csv", environment: "playground", ticketId: "T-1" });
    expect(rows[0]?.actionPromise).toMatch(/^[0-9a-f-]{36}$/);
  });
});

test("a base URL with a path and a slash at its end is added to, not replaced", LONG, async () => {
  const { place, service } = await openSales(3);
  const env = { ...service.env, TICKETS_PLAYGROUND_BASE_URL: `${service.baseUrl}/v1/tickets/` };
  expect(await place.tickets(COMMAND, { env })).toMatchObject({ exitCode: 0 });
  expect(service.requests.map(({ path }) => path)).toEqual(["/v1/tickets/stream"]);
});
