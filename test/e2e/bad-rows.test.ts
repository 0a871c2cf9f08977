/** A bad row: nothing is sent, or all but what depends on it; corrected, exactly what was missing is sent. */

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { openEngine } from "../../src/sandbox/engine.ts";
import { openWorkplace } from "../support/bin.ts";
import { openPlayground } from "../support/service.ts";
import { editTable, readTable, salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

test("what depends on a bad row is held back with it, and corrected with it", LONG, async () => {
  const place = openWorkplace();
  const resales = `eventId,ticketId,userId,price,orderTime
E-1,T-7,second,20.00,1700000100
E-1,T-3,other,20.00,1700000150
E-1,T-7,third,30.00,1700000200
`;
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  place.write("resales.csv", resales);
  const sound = salesTable(12);
  place.write("sales.csv", sound.replace("T-7,user-0,12.50", "T-7,user-0,1250x"));

  // Only the row that is bad itself is counted against --max-invalid.
  const first = await place.summary(["stream", "events.csv", "sales.csv", "resales.csv", "--max-invalid", "1"]);
  expect(first.summary).toMatchObject({
    exitCode: 4,
    rows: { read: 16, mapped: 13, skipped: 0, invalid: 1, held: 2 },
    actions: { total: 15, accepted: 13, notSent: 2 },
    rejects: [place.path("sales.rejects.csv"), place.path("resales.rejects.csv")],
    next: "tickets stream sales.rejects.csv resales.rejects.csv --env sandbox",
  });
  expect(first.stderr).toMatch(/resales\.csv:2, resales\.csv:4 wait for sales\.csv:\d+, which is invalid\./);
  expect(first.stderr).not.toContain("depends-on-invalid");
  const held = readTable(place.read("resales.rejects.csv"));
  expect(held.map(({ userId }) => userId)).toEqual(["second", "third"]);
  for (const row of held) expect(row["tickets:reason"]).toMatch(/depends-on-invalid.*sales\.csv:8/);

  const rejects = place.read("sales.rejects.csv");
  place.write(
    "sales.rejects.csv",
    editTable(rejects, (row) => ({ ...row, price: "12.50" })),
  );
  const second = await place.summary(wordsOf(first.summary.next ?? "").slice(1));
  expect(second.summary).toMatchObject({ exitCode: 0, actions: { total: 3, accepted: 3 } });

  // The sandbox holds what the sound files would have given it: each action once, each ticket's in order.
  place.write("sales.csv", sound);
  await place.tickets(["plan", "events.csv", "sales.csv", "resales.csv", "-o", "plan.ndjson"]);
  using engine = openEngine({ path: place.path(".tickets/sandbox/service.db") });
  const processed = [...engine.processed()];
  expect(processed.filter(({ status }) => status !== "success")).toEqual([]);
  const record = processed.map(({ action, data }) => `{"action":"${action}","data":${data}}`);
  const planned = place.read("plan.ndjson").trimEnd().split("\n");
  expect(record.toSorted()).toEqual(planned.toSorted());
  const ofTicket = (texts: readonly string[]) => texts.filter((each) => each.includes('"T-7"'));
  expect(ofTicket(record)).toEqual(ofTicket(planned));
});

test("more invalid rows than allowed: nothing is sent; a share of the rows may be allowed instead", LONG, async () => {
  const { place, service } = await openPlayground();
  place.write(
    "sales.csv",
    salesTable(50)
      .replace(",10.50,", ",?,")
      .replace(/,11\.50,/, ",??,"),
  );
  const command = ["stream", "sales.csv", "--env", "playground", "--max-invalid"];
  const invalid = await place.summary([...command, "1"], service);
  expect(invalid.exitCode).toBe(3);
  const next = wordsOf(invalid.summary.next ?? "").slice(1);
  expect(next, "problems that only a ledger shows are there, too").toContain("--env");
  expect(await place.tickets(next, service)).toMatchObject({ exitCode: 3 });
  expect(await place.tickets([...command, "3%"], service)).toMatchObject({ exitCode: 3 });
  expect(service.connections()).toBe(0);
  expect(await place.tickets([...command, "4%"], service)).toMatchObject({ exitCode: 4 });
  expect(service.sent()).toHaveLength(48);
});

test("each next command finds the ledger that the command before it used, up to the end of the run", LONG, async () => {
  const { place, service } = await openPlayground({ answer: () => ({ status: 500, body: "" }) });
  place.write("our config.yaml", `environments: {house: {baseUrl: "${service.baseUrl}", apiKey: {env: KEY}}}\n`);
  place.write("sales.csv", salesTable(3));
  const env = { KEY: service.key, TICKETS_STATE_DIR: "state here" };
  const flags = ["--env", "house", "--config", "our config.yaml"];
  const stopped = await place.summary(["stream", "sales.csv", ...flags], { env });
  expect(stopped.exitCode).toBe(6);
  service.behave({});
  const settled = await place.summary([...wordsOf(stopped.summary.next ?? "").slice(1), "--not-sent"], { env });
  expect(settled.exitCode).toBe(0);
  const resumed = await place.summary(wordsOf(settled.summary.next ?? "").slice(1), { env });
  expect(resumed.summary).toMatchObject({ exitCode: 0, actions: { accepted: 3 } });
});

/** The words of a command as a shell takes them. */
function wordsOf(command: string): readonly string[] {
  return execFileSync("sh", ["-c", `printf '%s\\0' ${command}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);
}

test("a file whose end can't be read as rows is not sent in part, whatever is allowed, and no allowance is offered", async () => {
  const { place, service } = await openPlayground();
  place.write("sales.csv", salesTable(10).replace(",10.50,", ',"10.50,'));
  for (const allowed of ["0", "100%"]) {
    const command = ["stream", "sales.csv", "--env", "playground", "--max-invalid", allowed];
    const { exitCode, stderr } = await place.tickets(command, service);
    expect(exitCode).toBe(3);
    expect(stderr).toContain("sales.csv:6 ");
    expect(stderr).not.toContain("--max-invalid");
  }
  expect(service.connections()).toBe(0);
});
