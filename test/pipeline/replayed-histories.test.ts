/** Histories that were found to go wrong when hundreds of random ones were played (histories-of-nights.test.ts), in few words. */

import { expect, test } from "vitest";
import { type Field, openField } from "../support/context.ts";

/**
 * What is streamed, its rows in the order in which they are given, and the numbers of the actions that the service rejects. Of an
 * export `a`, or `a@2` with a time, or `a!` where a cell is bad, or `a=10` with a price of its own; of a rejects file the numbers of its rows, `0+` where
 * the bad cell is mended; `all` for all of them, mended.
 */
type Step = readonly [file: string, rows: string, rejected?: readonly number[]];

/** Of the one ticket: who it was sold on to, or what was said of it. */
const taken = ({ sandbox }: Field): string =>
  Array.from(sandbox.engine.processed())
    .filter(({ action, status }) => status === "success" && (action === "resoldTicket" || action === "updateTicket"))
    .map(({ data }) => {
      const { userId, imageUrl = "" } = JSON.parse(data) as Readonly<Record<string, string>>;
      return (userId ?? imageUrl).slice(-1);
    })
    .join(" ");

const HEADERS = { updates: "ticketId,imageUrl", resales: "ticketId,userId,price,orderTime" } as const;

function rowOf(kind: keyof typeof HEADERS, word: string): string {
  const [, who = "", time, bad, price = "10.00"] = /^(\w)(?:@(\d))?(!?)(?:=([\d.]+))?$/.exec(word) ?? [];
  const isBad = bad === "!";
  if (kind === "updates") return `T1,${isBad ? "bad-" : "https://img.example/"}${who}`;
  return `T1,user-${who},${isBad ? `bad-${who}` : price},${time === undefined ? "" : 1_760_000_000 + Number(time)}`;
}

/** @returns the name under which the rows of a rejects file are given. */
async function giveRejects(field: Field, kind: keyof typeof HEADERS, name: string, rows: string): Promise<string> {
  const [header, ...all] = (await field.read(name)).trimEnd().split("\n");
  const words = rows === "all" ? all.map((_, at) => `${at}+`) : rows.split(" ");
  const given = words.map((word) => {
    const row = all[Number.parseInt(word, 10)];
    expect(row, `${name} has row ${word}`).toBeDefined();
    return word.endsWith("+") ? row?.replace(/bad-(\w)/, kind === "updates" ? "https://img.example/$1" : "10.00") : row;
  });
  await field.write(`${kind}-m.csv`, `${[header, ...given].join("\n")}\n`);
  return `${kind}-m.csv`;
}

test.each<[string, keyof typeof HEADERS, readonly Step[], string]>([
  [
    "a row that was mended and accepted, bad once more, beside the form that the service rejected another night",
    "updates",
    [
      ["updates.csv", "c b!"],
      ["updates.rejects.csv", "0 1+", [1]],
      ["updates.csv", "c b", [0]],
      ["updates-m.rejects.csv", "0"],
      ["updates.rejects.csv", "0 1 2"],
    ],
    "c b",
  ],
  [
    "a bad row before one that may be an accepted one, which another row of the rejects says it is",
    "updates",
    [
      ["updates.csv", "b", [0]],
      ["updates.csv", "b"],
      ["updates.csv", "a! b!"],
      ["updates.rejects.csv", "0 1+ 2+"],
    ],
    "b",
  ],
  [
    "a row that came late, before a bad one that may be an accepted one",
    "resales",
    [
      ["resales.csv", "a! b! d"],
      ["resales.csv", "a b d"],
      ["resales.csv", "a b c d!"],
      ["resales.rejects.csv", "0+ 1+ 2 3 4+"],
    ],
    "a b d",
  ],
  [
    "resales there and back whose prices are written otherwise, and of which the service rejected the second ones",
    "resales",
    [
      ["resales.csv", "c a"],
      ["resales.csv", "c=10 a=10"],
      ["resales.csv", "c=10 a=10 c=10 a=10", [0, 1]],
      ["resales.csv", "c=10 a=10 c=10 a=10"],
    ],
    "c a",
  ],
  [
    "rows that stand in the rejects without their times and with them, accepted without",
    "resales",
    [
      ["resales.csv", "a b!"],
      ["resales.csv", "a b"],
      ["resales.csv", "a@1! b@2!"],
      ["resales.rejects.csv", "0 1+ 2+ 3+"],
    ],
    "a b",
  ],
  [
    "a resale that came late and one that was superseded, once a spreadsheet has left out the zeros of all prices",
    "resales",
    [
      ["resales.csv", "a=18.50 b=20.00", [0]],
      ["resales.csv", "b=18.00 a=18.50 b=20.00"],
      ["resales.csv", "b=18 a=18.5 b=20"],
    ],
    "b",
  ],
  [
    "a resale whose price has no zeros any more, behind such as came late",
    "resales",
    [
      ["resales.csv", "b=18.00"],
      ["resales.csv", "b=20 a=19 b=18"],
    ],
    "b",
  ],
  [
    "rejects that are sorted where the first night sent nothing",
    "updates",
    [
      ["updates.csv", "a! b c"],
      ["updates.rejects.csv", "0+ 2 1"],
    ],
    "a",
  ],
  [
    "a row that came late, behind the bad form of one whose right form was taken out of the rejects",
    "resales",
    [
      ["resales.csv", "a b! d!"],
      ["resales.csv", "a b! c d"],
      ["resales.rejects.csv", "0 1+ 2+ 3"],
    ],
    "a b",
  ],
  [
    "a bad row before one that waits for it, and says what was accepted",
    "updates",
    [
      ["updates.csv", "a b! c a"],
      ["updates.rejects.csv", "0 1+ 2 3", [0, 2]],
      ["updates.csv", "a b c! a"],
      ["updates.rejects.csv", "3+"],
    ],
    "b a",
  ],
  [
    "a bad row before another one that has the time of an accepted one",
    "resales",
    [
      ["resales.csv", "c@3"],
      ["resales.csv", "a@1 b! c@3!"],
      ["resales.rejects.csv", "0+"],
    ],
    "c",
  ],
  [
    "a row before another one whose two forms stand around it in the rejects",
    "updates",
    [
      ["updates.csv", "b! c"],
      ["updates.csv", "a! b c"],
      ["updates.csv", "b! c"],
      ["updates.rejects.csv", "all"],
    ],
    "",
  ],
  [
    "a bad row before one that may be an accepted one, with a price that is written otherwise",
    "resales",
    [
      ["resales.csv", "a=10 c=10", [1]],
      ["resales.rejects.csv", "0"],
      ["resales.csv", "a=10 b! c!"],
      ["resales.rejects.csv", "0 1+ 2+"],
    ],
    "a c",
  ],
  [
    "a row before a bad one that was mended and had been accepted, and has a time",
    "resales",
    [
      ["resales.csv", "b@2"],
      ["resales.csv", "b@2!"],
      ["resales.rejects.csv", "0+"],
      ["resales.csv", "a b@2!"],
    ],
    "b",
  ],
  [
    "a row that a sorted file of rejects brought before another, which later nights had in order",
    "resales",
    [
      ["resales.csv", "b!"],
      ["resales.csv", "b! a!"],
      ["resales.rejects.csv", "1+ 0"],
      ["resales.csv", "b a!"],
      ["resales.csv", "b! a"],
      ["resales-m.rejects.csv", "0 1+"],
    ],
    "",
  ],
  [
    "resales of several nights whose times say that the rejects do not have them in order",
    "resales",
    [
      ["resales.csv", "b@2!"],
      ["resales.csv", "a@1!"],
      ["resales.rejects.csv", "0+ 1+"],
    ],
    "",
  ],
  [
    "rows that no night had bad together, of which the second was accepted at its source",
    "updates",
    [
      ["updates.csv", "b!"],
      ["updates.csv", "a b", [0, 1]],
      ["updates.csv", "b"],
      ["updates.rejects.csv", "0+ 1"],
    ],
    "b",
  ],
  [
    "a row whose successor was mended and sent by itself, put behind that",
    "resales",
    [
      ["resales.csv", "b! c!"],
      ["resales.rejects.csv", "1+"],
      ["resales.csv", "b c"],
      ["resales.rejects.csv", "1 0+"],
    ],
    "c",
  ],
  [
    "a row whose time came, beside the same one without its time, which was mended and accepted",
    "resales",
    [
      ["resales.csv", "a! b"],
      ["resales.rejects.csv", "0+"],
      ["resales.csv", "a@1! b@2 c@3"],
      ["resales.rejects.csv", "0 1 2+"],
    ],
    "a",
  ],
  [
    "a row behind one that may be either of two equal ones, accepted before it was bad and since",
    "updates",
    [
      ["updates.csv", "a c", [0]],
      ["updates.csv", "a c! b!"],
      ["updates.csv", "a c b c", [0]],
      ["updates.rejects.csv", "1+ 2+"],
    ],
    "c c",
  ],
  [
    "a row behind one that had been accepted and stood behind it in later nights",
    "updates",
    [
      ["updates.csv", "b!"],
      ["updates.csv", "b"],
      ["updates.rejects.csv", "0+"],
      ["updates.csv", "a b!"],
      ["updates.rejects.csv", "1+ 0"],
    ],
    "b",
  ],
  [
    "a row whose time came, of which the service rejected the form without it and accepted a later one",
    "resales",
    [
      ["resales.csv", "a! b! c"],
      ["resales.rejects.csv", "all", [1]],
      ["resales.csv", "a@1 b@2! c@3!"],
      ["resales.rejects.csv", "all"],
    ],
    "a c",
  ],
  [
    "rows of two nights, of which the later one stood before a bad form of the earlier one that is left out",
    "updates",
    [
      ["updates.csv", "b", [0]],
      ["updates.csv", "a b!"],
      ["updates.rejects.csv", "0 1"],
    ],
    "",
  ],
  [
    "a row before another one without its time, which had been mended and accepted with it",
    "resales",
    [
      ["resales.csv", "b@2!"],
      ["resales.rejects.csv", "0+"],
      ["resales.csv", "a b!"],
      ["resales.rejects.csv", "0 1 2+"],
    ],
    "b",
  ],
])("nothing is sent twice or behind what came after it: %s", { tags: ["long"] }, async (_, kind, steps, expected) => {
  const field = await openField();
  const sale = "soldTicket,E,,T1,user-z,10.00,1760000000";
  await field.write(
    "sales.csv",
    `action,eventId,currency,ticketId,userId,price,orderTime\nnewEvent,E,EUR,,,,\n${sale}\n`,
  );
  expect((await field.stream(["sales.csv"])).exitCode).toBe(0);
  for (const [name, rows, rejected] of steps) {
    const isRejects = name.includes(".rejects.");
    const given = isRejects ? await giveRejects(field, kind, name, rows) : name;
    const lines = rows.split(" ").map((word) => rowOf(kind, word));
    if (!isRejects) await field.write(name, `${[HEADERS[kind], ...lines].join("\n")}\n`);
    field.setFaults(...(rejected === undefined ? [] : [{ fault: "failure-items", items: rejected }]));
    const { exitCode, said } = await field.stream([given], { maxInvalid: { rows: 99 } });
    expect([0, 3, 4], said).toContain(exitCode);
  }
  expect(taken(field)).toBe(expected);
});
