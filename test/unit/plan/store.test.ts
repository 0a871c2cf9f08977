import { expect, test } from "vitest";
import { Store } from "../../../src/plan/store.ts";

test("a plan that can't be written says so, whoever writes it and whoever reads what is sorted for a query", () => {
  using store = new Store();
  store.run("PRAGMA max_page_count = 30");
  const many = JSON.stringify(Array.from({ length: 50_000 }, (_, at) => at));
  const insert = "INSERT INTO spot SELECT value, 1, 1 FROM json_each(?)";
  const each = store.prepare(insert);
  for (const write of [
    () => store.run(insert, many),
    () => store.get(insert, many),
    () => store.all(insert, many),
    () => each(many),
    () => [...store.tuples(`${insert} RETURNING seq`, many)],
    () => [...store.batches(`${insert} RETURNING seq`, many)],
  ])
    expect(write).toThrow("The plan is a temporary file, and it can't be written (database or disk is full).");
});
