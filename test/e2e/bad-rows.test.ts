/** A bad row: nothing is sent, or all but what depends on it; corrected, exactly what was missing is sent. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openEngine } from "../../src/sandbox/engine.ts";
import { fixture, openWorkplace } from "../support/bin.ts";
import { expectSpokenAsSpecified, type Item, startService } from "../support/service.ts";
import { editTable, readLines, readTable, salesTable } from "../support/tables.ts";

const SALES = readFileSync(fixture("sales.csv"), "utf8");
/** A sale that nothing follows in resales.csv, somewhere in the second chunk. */
const BAD_LINE = 7502;

/** The season's sales with a price on one line that is none; the line's row has no quotes or commas in its cells. */
function withBadPrice(line: number) {
  const lines = SALES.split("\n");
  const cells = lines[line - 1]?.split(",") ?? [];
  expect(cells, "a plain row").toHaveLength(12);
  const [ticketId = "", price = ""] = [cells[1], cells[3]];
  cells[3] = `${price.replace(".", "")}x`;
  lines[line - 1] = cells.join(",");
  return { text: lines.join("\n"), ticketId, price };
}

const plainLine = (from: number, ticketIds?: ReadonlySet<string>): number => {
  const lines = SALES.split("\n");
  for (let line = from; line < lines.length; line += 1) {
    const cells = lines[line - 1]?.split(",") ?? [];
    const isPlain = cells.length === 12 && !lines[line - 1]?.includes('"') && cells[3]?.includes(".");
    if (isPlain && (ticketIds === undefined || ticketIds.has(cells[1] ?? ""))) return line;
  }
  throw new Error("no such row");
};

const ticketIdsOf = (items: readonly Item[]) => items.map(({ data }) => data.ticketId);

describe("one bad row among 12,000", () => {
  const line = plainLine(BAD_LINE);
  const { text, ticketId, price } = withBadPrice(line);
  const sold = readTable(SALES).map((row) => row.ticketId);

  test("stops the run before anything is sent, and says where, what, why and what to do", {
    tags: ["long"],
  }, async () => {
    const place = openWorkplace({ isWarm: true });
    const service = await startService();
    place.write("sales.csv", text);
    const { exitCode, stderr, summary } = await place.summary(["stream", "sales.csv", "--env", "playground"], service);
    expect(exitCode).toBe(3);
    expect(service.connections()).toBe(0);
    expect(summary).toMatchObject({
      state: "invalid",
      rows: { read: 12_000, mapped: 11_999, invalid: 1 },
      actions: { total: 11_999, notSent: 11_999 },
      problems: { errors: 1 },
      output: null,
      rejects: [],
    });
    const said = stderr.split("\n").find((each) => each.includes(`sales.csv:${line} `)) ?? "";
    expect(said).toContain(`price: "${price.replace(".", "")}x"`);
    expect(said).toContain("price-invalid: ");
    expect(said).toContain("is not a decimal number");
    expect(said).toMatch(/such as|Write|Declare|must be/);
    expect(stderr).toContain("Nothing was sent.");
    expect(stderr).toContain("--max-invalid 1");
    expect(place.files().filter((name) => !/^(home|tmp)\//.test(name))).toEqual(["sales.csv"]);
    expect(
      place.files().filter((name) => /runs\//.test(name)),
      "no plan is left behind",
    ).toEqual([]);
  });

  test("with --max-invalid 1 the rest is sent, and the corrected rejects are exactly what is missing", {
    tags: ["long"],
  }, async () => {
    const place = openWorkplace({ isWarm: true });
    const service = await startService();
    place.write("sales.csv", text);
    const command = ["stream", "sales.csv", "--env", "playground", "--max-invalid", "1"];
    const first = await place.summary(command, service);
    expect(first.exitCode).toBe(4);
    expectSpokenAsSpecified(service);
    expect(service.requests.map(({ items }) => items.length)).toEqual([5000, 5000, 1999]);
    expect(ticketIdsOf(service.sent())).toEqual(sold.filter((each) => each !== ticketId));
    expect(first.summary).toMatchObject({
      state: "finished",
      rows: { read: 12_000, mapped: 11_999, invalid: 1 },
      actions: { total: 11_999, accepted: 11_999 },
      rejects: [place.path("sales.rejects.csv")],
      next: "tickets stream sales.rejects.csv --env playground",
    });
    const rejects = readTable(place.read("sales.rejects.csv"));
    expect(rejects).toHaveLength(1);
    expect(rejects[0]).toMatchObject({ ticketId, price: `${price.replace(".", "")}x` });
    expect(rejects[0]?.["tickets:reason"]).toContain("price-invalid");

    place.write(
      "sales.rejects.csv",
      editTable(place.read("sales.rejects.csv"), (row) => ({ ...row, price })),
    );
    const second = await place.summary(["stream", "sales.rejects.csv", "--env", "playground"], service);
    expect(second.summary).toMatchObject({ exitCode: 0, actions: { total: 1, accepted: 1 }, rejects: [] });
    expectSpokenAsSpecified(service);
    expect(service.requests.at(-1)?.items).toMatchObject([{ action: "soldTicket", data: { ticketId, price } }]);
    expect(ticketIdsOf(service.sent()).toSorted(), "each ticket once").toEqual(sold.toSorted());

    // The original, corrected as well, has nothing to add.
    place.write("sales.csv", SALES);
    const third = await place.summary(["stream", "sales.csv", "--env", "playground"], service);
    expect(third.summary).toMatchObject({ exitCode: 0, state: "nothing new", actions: { alreadySent: 12_000 } });
  });
});

test("what depends on a bad row is held back with it, and corrected with it", { tags: ["long"] }, async () => {
  const place = openWorkplace({ isWarm: true });
  const resold = readTable(readFileSync(fixture("resales.csv"), "utf8"));
  const times = Map.groupBy(resold, ({ ticketId }) => ticketId ?? "");
  const twice = new Set([...times].filter(([, rows]) => rows.length === 2).map(([ticketId]) => ticketId));
  const line = plainLine(2, twice);
  const { text, ticketId, price } = withBadPrice(line);
  place.write("sales.csv", text);
  const files = [fixture("events.csv"), "sales.csv", fixture("resales.csv")];

  // Only the row that is bad itself is counted against --max-invalid.
  const first = await place.summary(["stream", ...files, "--max-invalid", "1"]);
  expect(first.summary).toMatchObject({
    exitCode: 4,
    rows: { read: 12_690, mapped: 12_687, skipped: 0, invalid: 1, held: 2 },
    actions: { total: 12_689, accepted: 12_687, notSent: 2 },
    rejects: [place.path("sales.rejects.csv"), place.path("resales.rejects.csv")],
    next: "tickets stream sales.rejects.csv resales.rejects.csv --env sandbox",
  });
  const said = first.stderr.split("\n").filter((each) => each.includes(`sales.csv:${line} `));
  expect(said, "the problem, and one line for all that waits for it").toHaveLength(2);
  expect(said[1]).toMatch(/holds 2 rows that depend on it: \S*resales\.csv:\d+, \S*resales\.csv:\d+\./);
  expect(first.stderr).not.toContain("depends-on-invalid");
  const held = readTable(place.read("resales.rejects.csv"));
  expect(held.map((row) => row.ticketId)).toEqual([ticketId, ticketId]);
  for (const row of held) {
    expect(row["tickets:reason"]).toContain("depends-on-invalid");
    expect(row["tickets:reason"]).toContain(`sales.csv:${line}`);
  }

  place.write(
    "sales.rejects.csv",
    editTable(place.read("sales.rejects.csv"), (row) => ({ ...row, price })),
  );
  const second = await place.summary(first.summary.next?.split(" ").slice(1) ?? []);
  expect(second.summary).toMatchObject({ exitCode: 0, actions: { total: 3, accepted: 3 } });

  // What the sandbox holds now is what the sound files would have given it, each action once, each ticket's in order.
  const sound = [fixture("events.csv"), fixture("sales.csv"), fixture("resales.csv")];
  await place.tickets(["plan", ...sound, "-o", "plan.ndjson"]);
  const planned = (readLines(place.read("plan.ndjson")) as readonly Item[]).map(textOf); // as `plan` writes them
  using engine = openEngine({ path: place.path(".tickets/sandbox/service.db") });
  const processed = [...engine.processed()];
  expect(processed.filter(({ status }) => status !== "success")).toEqual([]);
  const record = processed.map(({ action, data }) => `${action} ${data}`);
  expect(record.toSorted()).toEqual(planned.toSorted());
  const ofTicket = (texts: readonly string[]) => texts.filter((each) => each.includes(JSON.stringify(ticketId)));
  expect(ofTicket(record)).toEqual(ofTicket(planned));
});

const textOf = ({ action, data }: Item): string => `${action} ${JSON.stringify(data)}`;

test("more invalid rows than allowed: nothing is sent; a share of the rows may be allowed instead", {
  tags: ["long"],
}, async () => {
  const place = openWorkplace({ isWarm: true });
  const service = await startService();
  place.write(
    "sales.csv",
    salesTable(50)
      .replace(",10.50,", ",?,")
      .replace(/,11\.50,/, ",??,"),
  );
  const command = ["stream", "sales.csv", "--env", "playground", "--max-invalid"];
  expect(await place.tickets([...command, "1"], service)).toMatchObject({ exitCode: 3 });
  expect(await place.tickets([...command, "3%"], service)).toMatchObject({ exitCode: 3 });
  expect(service.connections()).toBe(0);
  expect(await place.tickets([...command, "4%"], service)).toMatchObject({ exitCode: 4 });
  expect(service.sent()).toHaveLength(48);
});

test("each next command finds the ledger that the command before it used, up to the end of the run", {
  tags: ["long"],
}, async () => {
  const place = openWorkplace({ isWarm: true });
  const service = await startService({ answer: () => ({ status: 500, body: "" }) });
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

test("the next command of an input that only the ledger shows to be invalid shows the same problems", {
  tags: ["long"],
}, async () => {
  const place = openWorkplace({ isWarm: true });
  const service = await startService();
  place.write("sales.csv", salesTable(1));
  const env = { env: service.env };
  expect((await place.summary(["stream", "sales.csv", "--env", "playground"], env)).exitCode).toBe(0);
  const { ticketId = "", userId = "" } = readTable(place.read("sales.csv"))[0] ?? {};
  place.write("resales.csv", `ticketId,userId,price,orderTime\n${ticketId},${userId},9.50,1772000000\n`);
  const invalid = await place.summary(["stream", "resales.csv", "--env", "playground"], env);
  expect(invalid.exitCode).toBe(3);
  const shown = await place.tickets(wordsOf(invalid.summary.next ?? "").slice(1), env);
  expect(shown.exitCode).toBe(3);
  expect(shown.stderr).toContain("resold-to-holder");
});

/** The words of a command as a shell takes them. */
function wordsOf(command: string): readonly string[] {
  return execFileSync("sh", ["-c", `printf '%s\\0' ${command}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);
}

test("a file whose end can't be read as rows is not sent in part, whatever is allowed, and no allowance is offered", async () => {
  const place = openWorkplace({ isWarm: true });
  const service = await startService();
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

test("rejects of NDJSON rows keep the spelling of their numbers: a flat row's price is sent as it stands there", {
  tags: ["long"],
}, async () => {
  const place = openWorkplace({ isWarm: true });
  const service = await startService();
  const row = '{"eventId":"E-1","ticketId":"T-1","userId":"u","price":12.50,"orderTime":"soon"}';
  place.write("sales.ndjson", `${row}\n`);
  const first = await place.summary(["stream", "sales.ndjson", "--env", "playground", "--max-invalid", "1"], service);
  expect(first.summary).toMatchObject({ exitCode: 4 });
  expect(place.read("sales.rejects.ndjson")).toContain('"price":12.50,');
  place.write("sales.rejects.ndjson", place.read("sales.rejects.ndjson").replace('"soon"', "7"));
  await place.summary(["stream", "sales.rejects.ndjson", "--env", "playground"], service);
  expect(service.sent()).toMatchObject([{ data: { ticketId: "T-1", price: "12.50" } }]);
});
