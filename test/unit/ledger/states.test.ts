import { expect, test } from "vitest";
import { CHUNK_STATES, DECIDED_STATES, UNDECIDED_STATES } from "../../../src/ledger/states.ts";

test("a chunk is undecided, decided, or stands in its halves", () => {
  expect([...UNDECIDED_STATES, ...DECIDED_STATES, "split"].toSorted()).toEqual(CHUNK_STATES.toSorted());
});
