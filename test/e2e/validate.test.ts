/** The command `validate` as a process: silent on what is good, plain about what is bad. Every good and bad file: golden-plans.test.ts. */

import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";

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
