/** The command `validate` as a process: silent on what is good, plain about what is bad. Every good and bad file: golden-plans.test.ts. */

import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";

test("a bad file has one block for each rule and field: how often, three examples, and the remedy once", async () => {
  const place = openWorkplace();
  const rows = Array.from({ length: 200 }, (_, at) =>
    `e-1,t-${at},user-${at},${at === 90 ? "?" : "12,5"},`.replace(/(12,5)/, '"$1"'),
  );
  place.write(
    "sales.csv",
    ["eventId,ticketId,userId,price,orderTime", ...rows.slice(1), "e-1,t-0,,1,soon", ""].join("\n"),
  );
  const { exitCode, stdout } = await place.tickets(["validate", "sales.csv"]);
  expect(exitCode).toBe(3);
  expect(stdout.match(/^(error|warning): .*/gm)).toEqual([
    "error: price-invalid (199 times): price is not a decimal number such as 12.50.",
    expect.stringMatching(/^error: time-unreadable: sales\.csv:201 orderTime: "soon" /),
    expect.stringMatching(/^error: sold-ticket-without-user: sales\.csv:201 userId: /),
    expect.stringMatching(/^warning: /),
  ]);
  expect(stdout).toContain(
    `${[2, 3, 4].map((line) => `\n    sales.csv:${line} price: "12,5"`).join("")}\n    and 196 more\n  A decimal comma`,
  );
});

test("what was found is a result, and stands beside nothing else that a program reads", async () => {
  const place = openWorkplace();
  place.write("sales.csv", "eventId,ticketId,userId,price\nE,T-1,u,1\n");
  const on = async (...args: readonly string[]) => {
    const { stdout, stderr } = await place.tickets(args);
    return [stdout, stderr].map((text) => /^(warning|error): event-not-registered/m.test(text));
  };
  expect(await on("validate", "sales.csv")).toEqual([true, false]);
  expect(await on("validate", "sales.csv", "--quiet")).toEqual([true, false]);
  expect(await on("plan", "sales.csv", "--preview")).toEqual([true, false]);
  expect(await on("plan", "sales.csv", "-o", "actions.ndjson")).toEqual([true, false]);
  expect(await on("plan", "sales.csv")).toEqual([false, true]);
  expect(await on("validate", "sales.csv", "--json")).toEqual([false, true]);
  expect(await on("stream", "sales.csv", "--dry-run")).toEqual([false, true]);
});
