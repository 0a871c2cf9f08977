/** The command `validate` as a process: silent on what is good, plain about what is bad. Every good and bad file: golden-plans.test.ts. */

import { describe, expect, test } from "vitest";
import { fixture, openWorkplace } from "../support/bin.ts";
import { startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";

describe("a bad file", () => {
  test("is exit 3, with the text underlined that is wrong", async () => {
    const place = openWorkplace({ isWarm: true });
    const { exitCode, stdout, stderr } = await place.tickets(["validate", fixture("bad/sales-price-invalid.csv")]);
    expect(exitCode).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/sales-price-invalid\.csv:3\s+error\s+price-invalid\n {4}price: 12,50\n {11}\^{5}\n/);
    expect(stderr).toContain("decimal comma");
  });

  test("says what all rows lack a few times and how often, and whatever else there is", async () => {
    const place = openWorkplace({ isWarm: true });
    const rows = Array.from({ length: 100 }, (_, at) => `e-1,t-${at},${at === 90 ? "?" : "12.50"},1757879001`);
    place.write("sales.csv", ["eventId,ticketId,price,orderTime", ...rows, ""].join("\n"));
    const { exitCode, stderr } = await place.tickets(["validate", "sales.csv"]);
    expect(exitCode).toBe(3);
    expect(stderr.match(/ {2}sold-ticket-without-user\n/g)).toHaveLength(4);
    expect(stderr).toContain("sales.csv:92  error  price-invalid");
    expect(stderr).toContain(
      "… and 96 more problems: sold-ticket-without-user 100, price-invalid 1. validate --json lists them.",
    );
  });

  test("with more problems than are shown says how many there are", { tags: ["long"] }, async () => {
    const place = openWorkplace({ isWarm: true });
    place.write("sales.csv", salesTable(200).replace(/,1\d\.50,/g, ",?,"));
    const { exitCode, stderr } = await place.tickets(["validate", "sales.csv"]);
    expect(exitCode).toBe(3);
    expect(stderr.match(/price-invalid\n/g)).toHaveLength(50);
    expect(stderr).toContain("150 more");
    expect(stderr).toContain("200 invalid");
  });

  test("shows all problems of a row at once", { tags: ["long"] }, async () => {
    const place = openWorkplace({ isWarm: true });
    place.write("sales.csv", "eventId,ticketId,userId,price,orderTime,imageUrl\nE-1,T-1,,1x,soon,ftp://x\n");
    const { stdout } = await place.tickets(["validate", "sales.csv", "--json"]);
    const rules = new Set((JSON.parse(stdout).problems as { rule: string }[]).map(({ rule }) => rule));
    expect(rules).toEqual(new Set(["sold-ticket-without-user", "price-invalid", "time-unreadable", "url-invalid"]));
  });

  test("with a column that is mistyped names the one that is missing, and what stands in its place", {
    tags: ["long"],
  }, async () => {
    const place = openWorkplace({ isWarm: true });
    place.write("sales.csv", "eventId,ticketId,userId,prise\nE-1,T-1,u,1\n");
    const { exitCode, stderr } = await place.tickets(["validate", "sales.csv"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/\bprice\b/);
    expect(stderr).toMatch(/\bprise\b/);
  });
});

test("asks a ledger only when an environment is named", { tags: ["long"] }, async () => {
  const place = openWorkplace({ isWarm: true });
  const service = await startService();
  place.write("sales.csv", salesTable(3));
  await place.tickets(["stream", "sales.csv", "--env", "playground"], service);
  place.write(
    "resales.csv",
    "ticketId,userId,price,orderTime\nT-1,user-1,5,1800000000\n", // who holds it already
  );
  expect(await place.tickets(["validate", "resales.csv"], service)).toMatchObject({ exitCode: 0 });
  const named = await place.tickets(["validate", "resales.csv", "--env", "playground"], service);
  expect(named.exitCode).toBe(3);
  expect(named.stderr).toContain("resold-to-holder");
  expect(service.requests).toHaveLength(1);
});
