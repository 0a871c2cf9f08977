/** `tickets find` as it is typed: what people and programs get, and that it leaves the ledger as it was. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openSales } from "../support/service.ts";
import { readPromises } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const ENV = ["--env", "playground"];
const STATE = "home/state/tickets/playground";

const SEND = ["stream", "sales.csv", ...ENV, "TICKETS_CHUNK_SIZE=2", "TICKETS_RETRIES=0"];

async function openSix() {
  const { place, service } = await openSales(6);
  const find = async (id: string, ...more: readonly string[]) => {
    const ended = await place.tickets(["find", id, ...ENV, "--json", ...more], service);
    return { ...ended, document: JSON.parse(ended.stdout) };
  };
  return { place, service, find };
}

test("find: accepted, rejected, in doubt, not sent yet, settled, and by the promise; a program gets one document", async () => {
  const { place, service, find } = await openSix();
  service.behave({
    failureOf: ({ data }) =>
      data.ticketId === "T-2" ? { status: "error", error: { message: `no user ${data.userId}` } } : undefined,
    answer: ({ items }) => (items.some(({ data }) => data.ticketId === "T-3") ? { status: 500, body: "" } : undefined),
  });
  expect(await place.tickets(SEND, service)).toMatchObject({ exitCode: 6 });
  const [promise] = readPromises(place.read("promises.playground.ndjson"));

  const accepted = await find("T-1");
  expect(accepted).toMatchObject({ exitCode: 0, stderr: "" });
  expect(accepted.document).toMatchObject({
    ...{ id: "T-1", environment: "playground", foundAs: ["ticketId"] },
    actions: [
      {
        ...{
          as: "ticketId",
          action: "soldTicket",
          outcome: "accepted",
          source: "sales.csv",
          line: 2,
          seq: 1,
          chunk: 1,
        },
        ...{ actionPromise: promise?.actionPromise, run: promise?.run, environment: "playground", attempts: 1 },
        ...{ data: { ticketId: "T-1" }, reason: null, settlements: [] },
      },
    ],
  });
  const byPromise = await find(promise?.actionPromise ?? "");
  expect(byPromise.document).toMatchObject({
    foundAs: ["actionPromise"],
    actions: [{ as: "actionPromise", data: { ticketId: "T-1" } }],
  });

  const { data } = (await find("T-2")).document.actions[0];
  const forPeople = await place.tickets(["find", "T-2", ...ENV], service);
  expect(forPeople.stdout).toMatch(/rejected.*rejected by the service: no user /);
  expect(forPeople.stdout).not.toContain(data.userId);
  expect((await place.tickets(["find", "T-2", ...ENV, "--verbose"], service)).stdout).toContain(
    `userId ${data.userId}`,
  );

  const doubted = await find("T-3");
  expect(doubted.document.actions).toMatchObject([{ outcome: "in doubt", seq: 3, line: 4, actionPromise: null }]);
  expect(doubted.document.actions[0].sentAt).toMatch(/^20/);
  const waiting = await find("T-5");
  expect(waiting.document.actions).toMatchObject([{ outcome: "planned", seq: 5, sentAt: null }]);

  const settle = ["settle", promise?.run ?? "", ...ENV, "--sent", "--reason", "support has seen it"];
  await place.tickets(settle, service);
  const settled = await find("T-3");
  expect(settled.document.actions).toMatchObject([
    {
      outcome: "settled",
      seq: 3,
      settlements: [{ decision: "sent", reason: "support has seen it" }],
    },
  ]);
});

test("find: nothing is exit 4 with a document, and the ledger stays as it is", LONG, async () => {
  const { place, service, find } = await openSix();
  const never = await find("T-1");
  expect(never).toMatchObject({ exitCode: 4, document: { actions: [] } });
  expect(never.stderr).toContain("Nothing was ever sent to playground from here: there is no ledger");

  await place.tickets(SEND, service);
  const before = readFileSync(place.path(`${STATE}/ledger.db`));
  const other = await find(" T-1");
  expect(other).toMatchObject({ exitCode: 4, document: { actions: [] } });
  const strange = await place.tickets(["find", "T\u001b[31m-1", ...ENV], service);
  expect(strange).toMatchObject({ exitCode: 4, stdout: "" });
  expect(strange.stderr).not.toContain("\u001b");
  for (const args of [["find", ""], ["find"], ["find", "T-1", "--env", "nowhere"]])
    expect((await place.tickets([...args, ...(args.includes("--env") ? [] : ENV)], service)).exitCode).toBe(2);
  expect(readFileSync(place.path(`${STATE}/ledger.db`)).equals(before)).toBe(true);
});
