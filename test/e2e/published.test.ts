import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { summaryIn } from "../support/invariant/sales.ts";
import { ON_IT, openMachines, writeSales } from "../support/machines.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../support/postgres.ts";

const PUBLISH = ["publish", "sales.ndjson", ...ON_IT, "--chunk-size", "2", "-o", "out.ndjson"];

interface Published {
  readonly run: string;
  readonly state: string;
  readonly exitCode: number;
}

describe.skipIf(WITHOUT_POSTGRES)(`publish here, send there, collect here${NEEDS_POSTGRES}`, () => {
  it("sends nothing itself; another machine sends it, and its promises come back once", async () => {
    const { rig, add, lines } = await openMachines();
    const [here, there] = [add("here"), add("there")];
    writeSales(rig.place.path("sales.ndjson"), 1, 5);
    const published = await here.run([...PUBLISH, "--json"]);
    expect(published.stderr).toContain("wait for workers");
    const { run, state } = summaryIn<Published>(published);
    expect([state, published.exitCode, rig.requests()]).toEqual(["published", 0, []]);

    const sent = await there.run(["resume", run, ...ON_IT]);
    expect(sent.exitCode, sent.stderr).toBe(0);
    expect(rig.requests().flat()).toHaveLength(6);
    expect(existsSync(rig.place.path("out.ndjson"))).toBe(false);

    const collected = await here.run(["collect", ...ON_IT]);
    expect(collected.exitCode, collected.stderr).toBe(0);
    expect(lines("out.ndjson")).toHaveLength(6);
    const again = await here.run(["collect", run, ...ON_IT]);
    expect(again.stderr).toContain("nothing new to write");
    expect(lines("out.ndjson")).toHaveLength(6);
  });
});
