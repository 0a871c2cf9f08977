/** Rejects of a run that was interrupted. */

import { describe, expect, test } from "vitest";
import type { CrashPoint } from "../../../src/disk/crash-points.ts";
import { dies, processedCount, salesRig, summaryIn } from "../../support/interrupted.ts";
import { openRig } from "../../support/invariant/rig.ts";
import { LONG } from "../../support/walks.ts";

describe("a process that dies while it adds to a rejects file of an earlier night", () => {
  const REJECTED = ["T-3", "T-5", "T-7"];

  /** The first night has one sale alone, which the service rejects; the second night has all. */
  const isWhole = async (
    first: string,
    [point, time]: readonly [CrashPoint, number],
    tear: (text: string, before: string) => string = (text) => text,
  ): Promise<void> => {
    const rig = await salesRig(20);
    const all = rig.place.read("sales.csv");
    const [header = "", ...rows] = all.trimEnd().split("\n");
    const one = rows.find((row) => row.split(",").includes(first)) ?? "";
    rig.place.write("sales.csv", `${header}\n${one}\n`);
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [1], on: { request: 1 } }] });
    expect((await rig.run(rig.stream())).exitCode).toBe(4);
    const before = rig.place.read("sales.rejects.csv");

    rig.place.write("sales.csv", all);
    // The event was sent.
    const items = REJECTED.map((ticketId) => rows.findIndex((row) => row.split(",").includes(ticketId)));
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items, on: { request: 1 } }] });
    await dies(rig, rig.stream(), point, time);
    rig.place.write("sales.rejects.csv", tear(rig.place.read("sales.rejects.csv"), before));
    expect((await rig.run(rig.stream())).exitCode).toBe(4);

    const standing = rig.place.read("sales.rejects.csv").trimEnd().split("\n").slice(1);
    expect(standing.map((row) => REJECTED.find((ticketId) => row.split(",").includes(ticketId)))).toEqual([
      first,
      ...REJECTED.filter((ticketId) => ticketId !== first),
    ]);
    expect(rig.place.files().filter((name) => name.includes(".rejects."))).toEqual(["sales.rejects.csv"]);
    const corrected = ["stream", "sales.rejects.csv", "--action", "soldTicket", "--env", "playground"];
    expect((await rig.run(corrected)).exitCode).toBe(0);
    expect(processedCount(rig)).toBe(20 + 1 + REJECTED.length);
  };

  // The first append is that of the promises.
  test.each<readonly [CrashPoint, number]>([
    ["rejects placed", 1],
    ["projected", 2],
    ["rejects written", 1],
  ])("at %s: each row stands there once", LONG, (...point) => isWhole("T-5", point));

  test("of what it added half is on disk: the same", LONG, () =>
    isWhole("T-3", ["projected", 2], (text, before) => text.slice(0, before.length + 30)),
  );

  test("what it added is on disk whole: the same", LONG, () =>
    isWhole("T-7", ["projected", 2], (text, before) => {
      expect(text.length).toBeGreaterThan(before.length);
      return text;
    }),
  );
});

test("rejects of a command that was killed before it entered its run are sent in their place", LONG, async () => {
  const rig = await salesRig(3);
  const { place } = rig;
  expect((await rig.run(rig.stream())).exitCode).toBe(0);
  place.write("resales.csv", "ticketId,userId,price,orderTime\n,u2,10.00,\nT-1,u3,10.00,\n");
  const stream = (file: string): readonly string[] => [
    "stream",
    file,
    "--action",
    "resoldTicket",
    "--env",
    "playground",
  ];
  await dies(rig, [...stream("resales.csv"), "--max-invalid", "1"], "rejects placed");
  place.write("resales.rejects.csv", place.read("resales.rejects.csv").replace("\n,u2", "\nT-1,u2"));
  expect((await rig.run(stream("resales.rejects.csv"))).exitCode).toBe(0);
  const night = summaryIn(await rig.run([...stream("resales.csv"), "--json"]));
  expect(night.actions).toMatchObject({ accepted: 1, alreadySent: 1 });
  expect(
    rig
      .requests()
      .slice(-2)
      .flat()
      .map(({ data }) => JSON.parse(data).userId),
  ).toEqual(["u2", "u3"]);
});

test("a run that is resumed names the rejects of before, too", LONG, async () => {
  const rig = await salesRig(20);
  rig.sandbox.setFaults({
    rules: [
      { fault: "failure-items", items: [2], on: { request: 1 } },
      { fault: "status", status: 403, on: { request: 2 } },
    ],
  });
  expect((await rig.run(rig.stream("TICKETS_CHUNK_SIZE=5"))).exitCode).toBe(5);
  const resumed = await rig.run(["resume", "--env", "playground", "--json"]);
  expect(resumed.exitCode).toBe(4);
  expect(summaryIn(resumed)).toMatchObject({ rejects: [rig.place.path("sales.rejects.csv")] });
  expect(summaryIn(resumed).next).toContain("sales.rejects.csv");
});

test("a bad row whose corrected version was not entered yet does not count as sent, though a part of it was", async () => {
  const rig = await openRig();
  const { place } = rig;
  place.write(
    "tickets.config.yaml",
    `sources:
  box:
    match: [box.csv, box.rejects.csv]
    fields: {ticketId: "{Ticket}"}
    actions:
      - soldTicket: {fields: {eventId: E, userId: u, price: "1", orderTime: "1780000000"}}
      - scannedTicket: {when: {At: {empty: false}}, fields: {orderTime: "{At}"}}
`,
  );
  place.write("events.csv", "eventId,currency\nE,EUR\n");
  const stream = (...files: readonly string[]) => ["stream", ...files, "--env", "playground"];
  place.write("box.csv", "Ticket,At\nt1,\n");
  expect((await rig.run(stream("events.csv", "box.csv"))).exitCode).toBe(0);
  place.write("box.csv", "Ticket,At\nt1,20:00\n");
  expect((await rig.run([...stream("box.csv"), "--max-invalid", "1"])).exitCode).toBe(4);
  place.write("box.rejects.csv", place.read("box.rejects.csv").replace("20:00", "1780000100"));
  const interruption = { kind: "boundary", point: "planned", time: 1 } as const;
  expect((await rig.run(stream("box.rejects.csv"), { interruption })).killed).toBe(true);
  expect((await rig.run(stream("box.csv"))).exitCode).toBe(3);
  // Killed once more, between the answer and the end.
  await dies(rig, stream("box.rejects.csv"), "settled");
  expect((await rig.run(stream("box.rejects.csv"))).exitCode).toBe(0);
  expect((await rig.run(stream("box.csv"))).exitCode).toBe(0);
  expect(processedCount(rig)).toBe(3);
});
