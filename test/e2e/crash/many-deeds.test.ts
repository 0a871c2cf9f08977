/** Nights of so many deeds that each becomes a part (docs/ledger.md): a process that dies while they do forgets none of them. */

import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { emptyRig } from "../../support/interrupted.ts";
import type { Interruption, Ran, Rig } from "../../support/invariant/rig.ts";
import { EVENTS, summaryIn } from "../../support/invariant/sales.ts";
import { salesTable } from "../../support/tables.ts";

/** What is merged as a part, at least. */
const MANY = 20_000;
const NIGHTS = 4;

/** How many deeds each part has, and how many there are beside them. */
function deedsIn({ state }: Rig): { readonly parts: readonly number[]; readonly loose: number } {
  using database = new DatabaseSync(`${state}/ledger.db`, { readOnly: true });
  const parts = database.prepare("SELECT deeds FROM deed_parts ORDER BY part").all();
  const loose = database.prepare("SELECT count(*) AS n FROM loose_deeds").get();
  return { parts: parts.map(({ deeds }) => Number(deeds)), loose: Number(loose?.n) };
}

const stream = (...files: readonly string[]): readonly string[] => [
  ...["stream", ...files, "--env", "playground", "-o", "out.ndjson", "--json"],
];

const accepted = (ran: Ran): number => summaryIn<{ actions: { accepted: number } }>(ran).actions.accepted;

test("deeds are known that were merged as parts, and while parts become one", { tags: ["long"] }, async () => {
  const rig = await emptyRig();
  rig.place.write("events.csv", EVENTS);
  const nights = Array.from({ length: NIGHTS }, (_, night) => `sales-${night + 1}.csv`);
  for (const [night, name] of nights.entries()) rig.place.write(name, salesTable(MANY, { first: 1 + night * MANY }));
  expect(await rig.run(stream("events.csv"))).toMatchObject({ exitCode: 0 });

  for (const [night, name] of nights.entries()) {
    const isLast = night === NIGHTS - 1;
    const interruption: Interruption = { kind: "boundary", point: isLast ? "folding" : "merged", time: 1 };
    expect(await rig.run(stream(name), { interruption })).toMatchObject({ killed: true });
    expect(deedsIn(rig)).toEqual({ parts: Array(night + 1).fill(MANY), loose: 1 });
    const again = await rig.run(stream(name));
    expect(again, again.stderr).toMatchObject({ exitCode: 0 });
  }

  rig.place.write("sales-later.csv", salesTable(10, { first: 1 + NIGHTS * MANY }));
  const later = await rig.run(stream("sales-later.csv"));
  expect(accepted(later), later.stderr).toBe(10);
  expect(deedsIn(rig)).toEqual({ parts: [NIGHTS * MANY], loose: 11 });
  rig.place.write("sales-all.csv", salesTable(NIGHTS * MANY + 11));
  const all = await rig.run(stream("events.csv", "sales-all.csv"));
  expect(accepted(all), all.stderr).toBe(1);
  expect(rig.requests().flat()).toHaveLength(NIGHTS * MANY + 12);
  const found = await rig.run(["find", "T-30000", "--env", "playground", "--json"]);
  expect(found.stdout).toContain("sales-2.csv");
});
