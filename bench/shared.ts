/** What is measured of a ledger in PostgreSQL: workers that send one run together, and nights in a ledger that holds much. */

import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { openLedger } from "../src/ledger/open.ts";
import { type AllFigures, addTo, type Bench, type Figures, inNewFolder, ledgerPath, runOne, tool } from "./bench.ts";
import { actionCount, eventsCsv, salesCsv } from "./generate.ts";
import { fill, fillLedger } from "./ledger.ts";
import { type Command, type Measured, measure } from "./measure.ts";
import { type Database, startDatabase } from "./postgres.ts";

interface Outcome {
  readonly contenders: AllFigures;
  readonly notes: readonly string[];
}

const WITHOUT: Outcome = { contenders: {}, notes: ["Not measured: Debian's package postgresql is not installed."] };

/** A command whose ledger is a schema of the database. */
function shared(
  bench: Bench,
  { url }: Database,
  schema: string,
  work: string,
  args: readonly string[],
  options: { readonly state?: string } = {},
): Command {
  mkdirSync(work, { recursive: true });
  const ledger = `{postgres: {url: {env: TICKETS_LEDGER_URL}, schema: ${schema}}}`;
  writeFileSync(join(work, "tickets.config.yaml"), `environments: {bench: {ledger: ${ledger}}}\n`);
  const command = tool(bench, work, args, options);
  return { ...command, env: { ...command.env, TICKETS_LEDGER_URL: url } };
}

const WORKERS = [1, 2, 4, 8] as const;
const LATENCY_MS = 200;
/** More than all workers have, so that none waits for another's; for a quick look as few as that takes. */
const lanesFor = (rows: number): string => String(Math.min(64, Math.max(16, Math.ceil(rows / 5000))));

export const workersName = (workers: (typeof WORKERS)[number]): string =>
  `${workers} worker${workers === 1 ? "" : "s"}`;

/** From the start of the workers to the end of the last; the plan was published before. */
export async function workers(bench: Bench, rows: number): Promise<Outcome> {
  using database = await startDatabase(bench.folder);
  if (database === undefined) return WITHOUT;
  const span = { seed: bench.seed, first: 0, rows };
  const sales = salesCsv(bench.folder, span);
  const contenders: Record<string, Figures> = {};
  for (let round = 1; round <= bench.rounds; round += 1)
    for (const count of WORKERS) {
      const schema = `workers_${count}_${round}`;
      const measured = await inNewFolder(bench, async (work) => {
        const publish = [
          "stream",
          "--publish",
          eventsCsv(bench.folder),
          sales,
          "-e",
          "bench",
          "-q",
          "--lanes",
          lanesFor(rows),
        ];
        await measure(shared(bench, database, schema, join(work, "publisher"), publish));
        await bench.service.be({ latencyMs: LATENCY_MS });
        const args = ["work", "-e", "bench", "-q", "--until-idle"];
        const folders = Array.from({ length: count }, (_, at) => join(work, `worker-${at}`));
        return together(
          await Promise.all(folders.map((folder) => measure(shared(bench, database, schema, folder, args)))),
        );
      });
      const { actions } = await bench.service.served();
      if (actions !== actionCount(rows))
        throw new Error(`${count} workers sent ${actions} of ${actionCount(rows)} actions`);
      // The next ledger would be taken for one that the environment has forgotten.
      await dropSchema(database, schema);
      addTo(contenders, workersName(count), measured);
      console.error(`  round ${round}  ${workersName(count)}: ${measured.seconds.toFixed(3)} s`);
    }
  return { contenders, notes: [] };
}

async function dropSchema({ url }: Database, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.end();
}

/** Time until the last has ended, processor time of all, memory of the largest. */
function together(all: readonly Measured[]): Measured {
  const known = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined);
  const cpu = known(all.map(({ cpuSeconds }) => cpuSeconds));
  return {
    seconds: Math.max(...all.map(({ seconds }) => seconds)),
    cpuSeconds: cpu.length < all.length ? undefined : cpu.reduce((sum, value) => sum + value, 0),
    peakMib: Math.max(...known(all.map(({ peakMib }) => peakMib))),
  };
}

/**
 * A full export with new tickets in it, streamed with the ledger in PostgreSQL and with a ledger of the same content in a file.
 *
 * @param rows tickets that the ledger knows; an export has a tenth of them.
 */
export async function nightlyPostgres(bench: Bench, rows: number): Promise<Outcome> {
  using database = await startDatabase(bench.folder);
  if (database === undefined) return WITHOUT;
  const { seed, folder, rounds } = bench;
  // Of its own: the nights of other cases put what is new here into theirs.
  const filled = join(folder, `ledger-postgres-${seed}-${rows}`);
  const known = { seed, first: 0, rows };
  await fillLedger(ledgerPath(filled), known, bench.service.baseUrl);
  const state = join(folder, "nightly-postgres");
  rmSync(state, { recursive: true, force: true });
  cpSync(dirname(ledgerPath(filled)), dirname(ledgerPath(state)), { recursive: true });
  {
    const server = { url: database.url, tls: undefined, schema: SCHEMA, shown: "the database", application: "bench" };
    await using ledger = await openLedger({ place: { kind: "postgres", ...server }, boundTo: bench.service.baseUrl });
    await fill(ledger, known);
  }
  const contenders: Record<string, Figures> = {};
  const fresh = Math.ceil(rows / 1000);
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const end = rows + round * fresh;
      const sales = salesCsv(folder, { seed, first: end - fresh * 100, rows: fresh * 100 });
      const args = ["stream", eventsCsv(folder), sales, "-e", "bench", "-q"];
      const contender = { service: {}, actions: fresh };
      const inDatabase = (work: string): Command =>
        shared(bench, database, SCHEMA, work, args, { state: join(state, "machine") });
      const inFile = (work: string): Command => tool(bench, work, args, { state });
      for (const [name, command] of [
        ["PostgreSQL", inDatabase],
        ["SQLite", inFile],
      ] as const)
        addTo(contenders, name, await runOne(bench, { ...contender, name, command }, round));
      rmSync(sales);
    }
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
  return { contenders, notes: [] };
}

const SCHEMA = "nightly";
