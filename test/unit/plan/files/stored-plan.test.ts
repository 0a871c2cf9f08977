import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPostgres, type PostgresLedger } from "../../../../src/ledger/postgres/open-postgres.ts";
import { removeStoredPlan, storedPlanFile, storedPlans } from "../../../../src/ledger/postgres/plan-store.ts";
import { enterRun } from "../../../../src/ledger/runs.ts";
import { RECORD_BYTES } from "../../../../src/plan/files/index-file.ts";
import { type Manifest, manifestOf, NO_ACTIONS } from "../../../../src/plan/files/manifest.ts";
import { openPlan, planFiles } from "../../../../src/plan/files/plan.ts";
import { fetchPlan, openStoredPlan, storePlan } from "../../../../src/plan/files/stored-plan.ts";
import { openFolder } from "../../../support/planned.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../../../support/postgres.ts";

const RUN = "abcd1234";
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const asking = () => ({ onShare: () => undefined, signal: new AbortController().signal });

async function openLedger(): Promise<PostgresLedger> {
  const server = await startPostgres();
  const address = {
    ...{ url: server.url, tls: undefined, schema: server.newSchema() },
    ...{ application: "test", connectTimeoutMs: 10_000 },
  };
  const ledger = openPostgres({ address, boundTo: "https://tickets.example" });
  onTestFinished(() => ledger[Symbol.dispose]());
  return ledger;
}

/** A plan whose chunks' borders stand anywhere in the pieces that a ledger holds it in. */
function makePlan(folder: string, sizes: readonly number[]): { readonly directory: string; readonly manifest: string } {
  const directory = join(folder, "state", "runs", RUN);
  mkdirSync(directory, { recursive: true });
  const actions = sizes.map((size, at) => linesOf(size, at + 1));
  const index = sizes.map((_, at) => randomBytes(RECORD_BYTES * (at + 1)));
  let [first, offset] = [1, 0];
  const chunks: Manifest["chunks"] = sizes.map((length, at) => {
    const chunk = {
      ...{ lane: 0, first, count: at + 1, offset, length },
      ...{ sha256: sha256(actions[at] ?? Buffer.of()), indexSha256: sha256(index[at] ?? Buffer.of()) },
    };
    first += at + 1;
    offset += length;
    return chunk;
  });
  const manifest = JSON.stringify(
    manifestOf({
      ...{ run: RUN, createdAt: "2026-11-26T03:00:00.000Z", environment: "there", boundTo: "https://tickets.example" },
      ...{ inputs: [], mapping: "", rows: { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0, mended: 0 } },
      ...{ actions: NO_ACTIONS, repeated: 0, byAction: {}, problems: { errors: 0, warnings: 0 } },
      ...{ chunks, again: false, options: { directory: folder, safeCsv: false } },
    }),
  );
  const paths = planFiles(directory);
  writeFileSync(paths.actions, Buffer.concat(actions));
  writeFileSync(paths.index, Buffer.concat(index));
  writeFileSync(paths.manifest, `${manifest}\n`);
  return { directory, manifest };
}

/** So many bytes in so many lines, of which the last are empty. */
function linesOf(size: number, count: number): Buffer {
  const bytes = Buffer.from(randomBytes(size).toString("latin1").replaceAll("\n", " "), "latin1");
  return bytes.fill("\n", size - count);
}

const MIB = 1024 * 1024;
const PLANS: readonly (readonly number[])[] = [[1], [MIB], [10, MIB - 10, MIB + 1, 3 * MIB], [17 * MIB, 5], []];

describe.skipIf(WITHOUT_POSTGRES)(`plans in a shared ledger${NEEDS_POSTGRES}`, () => {
  it.each(PLANS.map((sizes) => ({ sizes })))("gives chunks of $sizes bytes back as they were", async ({ sizes }) => {
    const ledger = await openLedger();
    const folder = openFolder();
    const { directory, manifest } = makePlan(folder, sizes);
    const shares: number[] = [];
    await storePlan(ledger, RUN, directory, (share) => shares.push(share));
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    if (sizes.length > 0) expect(shares.at(-1)).toBe(1);

    const elsewhere = join(folder, "elsewhere", "runs", RUN);
    mkdirSync(join(folder, "elsewhere"));
    await Promise.all([1, 2, 3].map(() => fetchPlan(ledger, { run: RUN, manifest }, elsewhere, asking())));
    expect(readdirSync(elsewhere).toSorted()).toEqual([...readdirSync(directory), "fetched"].toSorted());
    for (const name of readdirSync(directory))
      expect(readFileSync(join(elsewhere, name)).equals(readFileSync(join(directory, name))), name).toBe(true);
    expect(existsSync(join(folder, "elsewhere", "fetching"))).toBe(false);

    // Piece by piece, without a folder.
    await using inFolder = await openPlan(directory, manifest);
    await using stored = openStoredPlan(ledger, { run: RUN, manifest }, join(folder, "nowhere"));
    for (const each of inFolder.manifest.chunks.toReversed()) {
      const lines = await stored.lines(each);
      expect(lines.length).toBe(each.count);
      expect(Buffer.concat(lines).equals(Buffer.concat(await inFolder.lines(each)))).toBe(true);
    }
    for (const path of [planFiles(directory).actions, planFiles(directory).index]) {
      const whole = readFileSync(path);
      const file = storedPlanFile(ledger, RUN, basename(path));
      const read = Buffer.alloc(whole.length + 1);
      let at = 0;
      for (let got = -1; got !== 0; at += got) got = await file.read(read.subarray(at), at);
      expect(read.subarray(0, at).equals(whole), path).toBe(true);
    }
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  it.each([
    { damage: "a piece is gone", sql: "DELETE FROM plan_files WHERE name = 'actions.ndjson' AND part = 1" },
    { damage: "the last piece is gone", sql: "DELETE FROM plan_files WHERE name = 'actions.index'" },
    {
      damage: "a piece stands in the place of another",
      sql: "UPDATE plan_files SET bytes = (SELECT bytes FROM plan_files WHERE name = 'actions.ndjson' AND part = 1) WHERE part = 0",
    },
  ])("refuses a plan of which $damage, and leaves no folder", async ({ sql }) => {
    const ledger = await openLedger();
    const folder = openFolder();
    const { directory, manifest } = makePlan(folder, [MIB, MIB, 10]);
    await storePlan(ledger, RUN, directory, () => undefined);
    ledger.run(sql);
    rmSync(directory, { recursive: true });
    await expect(fetchPlan(ledger, { run: RUN, manifest }, directory, asking())).rejects.toThrow("is damaged");
    expect(existsSync(directory)).toBe(false);
    expect(existsSync(join(folder, "state", "fetching"))).toBe(false);
    await using stored = openStoredPlan(ledger, { run: RUN, manifest }, directory);
    const reading = await Promise.allSettled(
      stored.manifest.chunks.flatMap((each) => [stored.lines(each), stored.records(each)]),
    );
    // The index of these plans tells of no actions; all that matters is that it is not read as another one.
    const refused = reading.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
    const told =
      /^Failure: The plan of run abcd1234 in postgres:\/\/.* (?:is damaged: |is shorter than its manifest says)/;
    expect(refused.filter((reason) => told.test(reason)).length).toBeGreaterThan(0);
  });

  it("has none to be read where the ledger has none", async () => {
    const ledger = await openLedger();
    const { directory, manifest } = makePlan(openFolder(), [10]);
    expect(() => openStoredPlan(ledger, { run: RUN, manifest }, directory)).toThrow("any more");
  });

  it("completes a folder of which the manifest is missing, over what a dead process left beside it", async () => {
    const ledger = await openLedger();
    const folder = openFolder();
    const { directory, manifest } = makePlan(folder, [MIB]);
    await storePlan(ledger, RUN, directory, () => undefined);
    const whole = readFileSync(planFiles(directory).actions);
    rmSync(planFiles(directory).manifest);
    writeFileSync(planFiles(directory).actions, "half");
    mkdirSync(join(folder, "state", "fetching"));
    writeFileSync(join(folder, "state", "fetching", "actions.ndjson"), "another half");
    await fetchPlan(ledger, { run: RUN, manifest }, directory, asking());
    expect(readFileSync(planFiles(directory).actions).equals(whole)).toBe(true);
    expect(readFileSync(planFiles(directory).manifest, "utf8")).toBe(`${manifest}\n`);
  });

  it("removes what is left of plans that never became runs, and keeps those of runs", async () => {
    const ledger = await openLedger();
    const { directory, manifest } = makePlan(openFolder(), [10]);
    await storePlan(ledger, "left0001", directory, () => undefined);
    await storePlan(ledger, RUN, directory, () => undefined);
    expect(storedPlans(ledger).map(({ run }) => run)).toEqual([RUN]);
    enterRun(ledger, { run: RUN, manifest, output: undefined, chunks: [], at: "2026-11-26T03:00:00.000Z" });
    await storePlan(ledger, "next0001", directory, () => undefined);
    expect(storedPlans(ledger).map(({ run }) => run)).toEqual([RUN, "next0001"]);
    removeStoredPlan(ledger, RUN);
    expect(storedPlans(ledger).map(({ run }) => run)).toEqual(["next0001"]);
  });
});
