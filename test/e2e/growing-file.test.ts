/** A file that grows from night to night. */

import { describe, expect, test } from "vitest";
import type { Summary } from "../support/counts.ts";
import { emptyRig } from "../support/interrupted.ts";
import type { Rig } from "../support/invariant/rig.ts";
import { EVENTS, summaryIn } from "../support/invariant/sales.ts";
import { salesTable } from "../support/tables.ts";

describe("a file of 10,000 rows that grows", { tags: ["long"] }, () => {
  const ROWS = 10_000;
  const night = (text: string): string => {
    const grown =
      text +
      salesTable(200, { first: ROWS + 1 })
        .split("\n")
        .slice(1)
        .join("\n");
    const [header, ...rows] = grown.trimEnd().split("\n");
    const kept = rows.filter((_, at) => at % 1000 !== 17);
    return `${[header, ...kept.map((line, at) => (at === 4711 ? withPrice(line, "99.00") : line))].join("\n")}\n`;
  };
  const withPrice = (line: string, price: string): string => line.split(",").with(3, price).join(",");

  async function firstNight() {
    const rig = await emptyRig();
    rig.place.write("events.csv", EVENTS);
    rig.place.write("sales.csv", salesTable(ROWS));
    const command = ["stream", "events.csv", "sales.csv", "--env", "playground", "--json"];
    expect(summaryIn<Summary>(await rig.run(command)).actions).toMatchObject({ total: ROWS + 1, accepted: ROWS + 1 });
    return { rig, command };
  }

  const ticketsSent = (rig: Rig): readonly (string | null)[] =>
    rig
      .requests()
      .flat()
      .map(({ ticketId }) => ticketId);

  test.each<[string, (rig: Rig, text: string) => readonly string[]]>([
    ["as it is", (rig, text) => [rig.place.write("sales.csv", text)]],
    ["with another chunk size", (rig, text) => [rig.place.write("sales.csv", text), "TICKETS_CHUNK_SIZE=70"]],
    ["under another name", (rig, text) => [rig.place.write("sales-tonight.csv", text)]],
    [
      "with its columns in another order",
      (rig, text) => {
        const turned = text.replace(/^(.*?),(.*?),(.*?),(.*?),(.*?)$/gm, "$5,$3,$2,$4,$1");
        return [rig.place.write("sales.csv", turned)];
      },
    ],
  ])("sends what is new, %s", async (_, write) => {
    const { rig, command } = await firstNight();
    const args = write(rig, night(rig.place.read("sales.csv")));
    const second = ["stream", "events.csv", ...args, "--env", "playground", "--json"];
    const grown = await rig.run(second);
    expect(grown.exitCode).toBe(4);
    const total = ROWS + 200 - 11 + 1;
    expect(summaryIn<Summary>(grown).actions).toMatchObject({
      total,
      accepted: 199,
      alreadySent: total - 200,
      changed: 1,
    });
    expect(grown.stderr).toMatch(/changed: .*price \S+ → 99\.00/);
    const tickets = ticketsSent(rig);
    expect(new Set(tickets).size, "nothing is doubled").toBe(tickets.length);
    const again = summaryIn<Summary>(await rig.run(second));
    // What changed was reported.
    expect(again).toMatchObject({ exitCode: 0, actions: { accepted: 0, alreadySent: total - 1, changed: 1 } });
    expect(summaryIn<Summary>(await rig.run(command)).actions.accepted).toBe(0);
    expect(ticketsSent(rig)).toEqual(tickets);
  });
});
