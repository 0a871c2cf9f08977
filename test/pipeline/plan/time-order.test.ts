/** `--order time`: what is read in any order is sent in the order in which it happened. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { parseJson } from "../../../src/actions/json.ts";
import { makeContext, type Options, verbs } from "../../support/context.ts";
import { openFolder } from "../../support/folder.ts";
import { randomOf } from "../../support/random.ts";

const lines = (actions: readonly unknown[]): string => actions.map((action) => `${JSON.stringify(action)}\n`).join("");

/** The lines of a plan, or what the command said where there is none. */
async function planOf(
  folder: string,
  files: Readonly<Record<string, string>>,
  order: Options<"plan">["order"] = "time",
): Promise<readonly Action[] | string> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const asked = makeContext(folder, { HOME: folder });
  const command = { files: Object.keys(files), output: "plan.out", json: false, flags: {} };
  if ((await verbs.plan({ ...command, order }, asked.context)) !== 0) return asked.said();
  const written = join(folder, "plan.out");
  const text = readFileSync(written, "utf8");
  rmSync(written);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => parseJson(line) as Action); // compared with actions
}

/** `soldTicket T 10`: the action, what it is about, its time. */
const brief = ({ action, data }: Action): string =>
  [action, data.ticketId ?? data.nftId ?? data.eventId, data.orderTime].filter((part) => part !== undefined).join(" ");

/** The actions that `brief` names, one a row: `soldTicket T 10`, without a time `soldTicket T`. The event is E, or what stands before a slash. */
function actionsOf(briefs: string): readonly Action[] {
  return briefs.split(", ").map((text, at) => {
    const [name = "", id = "", time] = text.split(" ");
    const [event, ticketId] = id.includes("/") ? id.split("/") : ["E", id];
    const orderTime = time === undefined ? {} : { orderTime: Number(time) };
    const data = {
      newEvent: { eventId: id, currency: "EUR" },
      updateEvent: { eventId: id },
      soldTicket: { eventId: event, ticketId, userId: "u", price: "1", ...orderTime },
      resoldTicket: { ticketId, userId: `u${time}`, price: "1", ...orderTime },
      claimedTicket: { ticketId, userId: "u", ...orderTime },
      updateTicket: { ticketId, imageUrl: `https://cdn.example/${at}.png` },
    }[name] ?? { ticketId, ...orderTime };
    return { action: name, data } as Action; // one of the nine
  });
}

/** Events and what happened to their tickets, in the order of time. */
function seasonOf(random: () => number): readonly Action[] {
  const registered = new Set<number>();
  let time = 100;
  const rows: string[] = [];
  const later = (): number => (time += 1 + Math.floor(random() * 50));
  const sold: number[] = [];
  for (let ticket = 0; ticket < 30; ticket += 1) {
    const event = Math.floor(random() * 4);
    if (!registered.has(event)) rows.push(`newEvent E${event}`);
    registered.add(event);
    rows.push(`soldTicket E${event}/T${ticket} ${later()}`);
    sold.push(ticket);
    const old = sold[Math.floor(random() * sold.length)];
    rows.push(`${random() < 0.5 ? "scannedTicket" : "resoldTicket"} T${old} ${later()}`);
  }
  return actionsOf(rows.join(", "));
}

test("a shuffled season is planned in the order in which it happened, wherever its borders between files are", async () => {
  const folder = openFolder();
  for (let seed = 1; seed <= 8; seed += 1) {
    const random = randomOf(seed);
    const season = seasonOf(random);
    const shuffled = season.map((action) => ({ action, at: random() })).toSorted((one, other) => one.at - other.at);
    const rows = shuffled.map(({ action }) => action);
    const files = { "a.ndjson": lines(rows.slice(0, 5 * seed)), "b.ndjson": lines(rows.slice(5 * seed)) };
    expect(await planOf(folder, files), `seed ${seed}`).toEqual(season);
  }
});

describe("where an action stands", () => {
  it.each<[string, string, string]>([
    [
      "by its time",
      "newEvent E, soldTicket A 30, soldTicket B 10, soldTicket C 20",
      "newEvent E, soldTicket B 10, soldTicket C 20, soldTicket A 30",
    ],
    [
      "equal ones as read",
      "newEvent E, soldTicket B 10, soldTicket A 10",
      "newEvent E, soldTicket B 10, soldTicket A 10",
    ],
    [
      "equal times as a ticket lives",
      "invalidatedTicket D 9, claimedTicket C 9, checkedInTicket B 9, scannedTicket A 9, resoldTicket E 9, soldTicket F 9, newEvent E",
      "newEvent E, soldTicket F 9, resoldTicket E 9, scannedTicket A 9, checkedInTicket B 9, claimedTicket C 9, invalidatedTicket D 9",
    ],
    [
      "a newEvent before its first sale",
      "soldTicket X/A 30, soldTicket Y/B 20, newEvent Y, newEvent X",
      "newEvent Y, soldTicket B 20, newEvent X, soldTicket A 30",
    ],
    [
      "a sale before what depends on it, whatever its time says",
      "newEvent E, scannedTicket A 5, resoldTicket A 3, soldTicket A 10, soldTicket B 4",
      "newEvent E, soldTicket A 10, resoldTicket A 3, soldTicket B 4, scannedTicket A 5",
    ],
    [
      "a newEvent before a sale that was moved up",
      "soldTicket A 10, scannedTicket A 5, soldTicket B 7, newEvent E",
      "newEvent E, soldTicket A 10, scannedTicket A 5, soldTicket B 7",
    ],
    [
      "an update behind what it stood behind",
      "newEvent E, soldTicket A 10, scannedTicket A 20, updateTicket A, soldTicket B 15",
      "newEvent E, soldTicket A 10, soldTicket B 15, scannedTicket A 20, updateTicket A",
    ],
    [
      "an update before its sale, behind the sale",
      "updateTicket A, newEvent E, soldTicket B 10, soldTicket A 20",
      "newEvent E, soldTicket B 10, soldTicket A 20, updateTicket A",
    ],
    [
      "updates of a ticket in their own order",
      "newEvent E, soldTicket A 10, updateTicket A, resoldTicket A 5, updateTicket A",
      "newEvent E, soldTicket A 10, updateTicket A, resoldTicket A 5, updateTicket A",
    ],
    [
      "an update of the event behind the sales it stood behind",
      "newEvent E, soldTicket A 30, updateEvent E, soldTicket B 10, soldTicket C 40",
      "newEvent E, soldTicket B 10, soldTicket A 30, updateEvent E, soldTicket C 40",
    ],
    [
      "an update of the event right behind its newEvent",
      "updateEvent E, soldTicket A 30, newEvent E",
      "newEvent E, updateEvent E, soldTicket A 30",
    ],
    [
      "a sale without a time behind what was read before it",
      "newEvent E, soldTicket A 20, soldTicket B, soldTicket C 10, scannedTicket B 40",
      "newEvent E, soldTicket C 10, soldTicket A 20, soldTicket B, scannedTicket B 40",
    ],
    [
      "a sale without a time, all the same before what depends on it",
      "newEvent E, soldTicket A 20, soldTicket B, scannedTicket B 15",
      "newEvent E, soldTicket B, scannedTicket B 15, soldTicket A 20",
    ],
    [
      "files without any time as read",
      "newEvent E, soldTicket A, soldTicket B, updateTicket A, checkedInTicket B, checkedInTicket A",
      "newEvent E, soldTicket A, updateTicket A, checkedInTicket A, soldTicket B, checkedInTicket B",
    ],
    [
      "a scan of a ticket that was sold before, by its time",
      "newEvent E, soldTicket A 20, scannedTicket old 10",
      "scannedTicket old 10, newEvent E, soldTicket A 20",
    ],
    [
      "times beyond the exact numbers",
      "newEvent E, soldTicket A 9007199254740991, soldTicket B 4294967296, soldTicket C 4294967295",
      "newEvent E, soldTicket C 4294967295, soldTicket B 4294967296, soldTicket A 9007199254740991",
    ],
  ])("%s", async (_name, input, expected) => {
    const planned = await planOf(openFolder(), { "all.ndjson": lines(actionsOf(input)) });
    expect(typeof planned === "string" ? planned : planned.map(brief).join(", ")).toBe(expected);
  });

  test("u64 times that no number holds exactly as read", async () => {
    const sale = (ticketId: string, time: string): string =>
      `{"action":"soldTicket","data":{"eventId":"E","ticketId":"${ticketId}","userId":"u","price":"1","orderTime":${time}}}\n`;
    const planned = await planOf(openFolder(), {
      "a.ndjson": sale("A", "18446744073709551615") + sale("B", "18446744073709551614") + sale("C", "9007199254740993"),
    });
    expect(typeof planned === "string" ? planned : planned.map(({ data }) => data.ticketId)).toEqual(["A", "B", "C"]);
  });
});

describe("rows that give several actions", () => {
  const CONFIG = `sources:
  boxes:
    match: "boxes*.csv"
    fields: {ticketId: "{code}"}
    actions:
      - soldTicket: {fields: {eventId: E, userId: "{buyer}", price: "{price}", orderTime: "{sold}"}}
      - scannedTicket: {when: {scanned: {empty: false}}, fields: {orderTime: "{scanned}"}}
      - resoldTicket: {when: {resold: {empty: false}}, fields: {userId: "{to}", price: "1", orderTime: "{resold}"}}
`;
  const HEADER = "code,buyer,price,sold,scanned,resold,to\n";
  const EVENT = "eventId,currency\nE,EUR\n";

  async function planned(rows: string): Promise<{ readonly actions: string; readonly said: string }> {
    const folder = openFolder();
    writeFileSync(join(folder, "tickets.config.yaml"), CONFIG);
    writeFileSync(join(folder, "events.csv"), EVENT);
    writeFileSync(join(folder, "boxes.csv"), HEADER + rows);
    const asked = makeContext(folder, { HOME: folder });
    await verbs.plan(
      { files: ["boxes.csv", "events.csv"], order: "time", json: false, flags: {}, maxInvalid: { rows: 9 } },
      asked.context,
    );
    const actions = asked
      .out()
      .split("\n")
      .filter((line) => line !== "");
    return { actions: actions.map((line) => brief(parseJson(line) as Action)).join(", "), said: asked.said() };
  }

  test("are taken apart", async () => {
    const { actions } = await planned("A,ann,1,10,40,50,di\nB,ben,1,20,30,,\n");
    expect(actions).toBe(
      "newEvent E, soldTicket A 10, soldTicket B 20, scannedTicket B 30, scannedTicket A 40, resoldTicket A 50",
    );
  });

  test("are invalid whole when their last action is, and what came between is held back with it", async () => {
    const { actions, said } = await planned("A,ann,1,10,,50,ann\nB,ben,1,20,30,,\nC,cy,1,15,,35,di\n");
    expect(actions).toBe("newEvent E, soldTicket C 15, soldTicket B 20, scannedTicket B 30, resoldTicket C 35");
    expect(said).toContain("1 invalid");
    expect(said.match(/resold-to-holder/g)).toHaveLength(1);
  });

  test("hold back the later rows of their tickets, also those decided before they turned out invalid", async () => {
    // The row of A fails by its resale at 50; the second row of A, at 20, stands on its sale at 10.
    const { actions, said } = await planned("A,ann,1,10,,50,ann\nA,ann,1,10,20,,\nB,ben,1,5,,,\n");
    expect(actions).toBe("newEvent E, soldTicket B 5");
    expect(said).toContain("1 invalid, 1 held");
  });

  test("that were invalid by themselves hold back what comes after them in time, and not what comes before", async () => {
    // The price of A's sale can't be read, nor the buyer of C's resale at 30.
    const { actions, said } = await planned("A,ann,x,10,20,,\nC,cy,1,15,,,\nA,ann,1,40,,,\nB,ben,1,5,30,,\n");
    expect(actions).toBe("newEvent E, soldTicket B 5, soldTicket C 15, scannedTicket B 30");
    expect(said).toContain("1 invalid, 1 held");
  });
});
