/** A ledger as version 2 wrote it, brought up to date by the first command that sends; and whether it says the same. */

import { createHash, type Hash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { defineActionsView } from "../src/ledger/actions-view.ts";
import { deedRows } from "../src/ledger/deed-rows.ts";
import type { SqlRow } from "../src/ledger/ledger.ts";
import { openDatabase, wrap } from "../src/ledger/open-ledger.ts";
import { makeOlder } from "../test/support/older-ledger.ts";
import { type AllFigures, addTo, type Bench, type Contender, type Figures, ledgerPath, runOne, tool } from "./bench.ts";
import { actionCount, eventsCsv } from "./generate.ts";
import { fillLedger, removeLedger } from "./ledger.ts";

const OLDER = 2;
const DEEDS_AT_A_TIME = 20_000;

/** Both send nothing: the ledger knows the events. */
export async function migration(
  bench: Bench,
  rows: number,
): Promise<{ readonly contenders: AllFigures; readonly figures: Readonly<Record<string, number>> }> {
  const { seed, folder, service } = bench;
  const state = join(folder, `migration-${seed}-${rows}`);
  const path = ledgerPath(state);
  const bytesAnAction = (): number => statSync(path).size / actionCount(rows);
  const stream = (name: string): Contender => ({
    name,
    service: {},
    actions: 0,
    command: (work) => tool(bench, work, ["stream", eventsCsv(folder), "-e", "bench", "-q"], { state }),
  });
  removeLedger(path);
  try {
    fillLedger(path, { seed, first: 0, rows }, service.baseUrl);
    const before = contentOf(path);
    makeOlder(path, OLDER);
    const older = bytesAnAction();
    const contenders: Record<string, Figures> = {};
    for (const contender of [stream("the first stream, which migrates"), stream("the next")])
      addTo(contenders, contender.name, await runOne(bench, contender, 1));
    if (contentOf(path) !== before) throw new Error("the migrated ledger does not say what it said before");
    return {
      contenders,
      figures: { [`bytes an action, version ${OLDER}`]: older, "bytes an action, migrated": bytesAnAction() },
    };
  } finally {
    removeLedger(path);
  }
}

/** A digest of every run, chunk, action and deed, and of what is known of tickets and events. */
function contentOf(path: string): string {
  const database = openDatabase({ path, boundTo: undefined, readOnly: true });
  const ledger = wrap(database, path);
  try {
    defineActionsView(database, ledger);
    const hash = createHash("sha256");
    for (const select of SAID) for (const row of database.prepare(select).iterate()) add(hash, row);
    // One run after the other: what our functions give to a statement is kept until it ends.
    const actions = database.prepare(ACTIONS);
    for (const { run_no } of database.prepare("SELECT run_no FROM runs ORDER BY run_no").all())
      for (const row of actions.iterate(Number(run_no))) add(hash, row);
    for (
      let page = deedRows(ledger, undefined, DEEDS_AT_A_TIME);
      page.length > 0;
      page = deedRows(ledger, page.at(-1), DEEDS_AT_A_TIME)
    )
      for (const row of page) add(hash, row);
    return hash.digest("hex");
  } finally {
    database.close();
  }
}

const ACTIONS =
  "SELECT run_no, seq, chunk, source, line, action, data, outcome, status, action_promise, response, at FROM temp.actions WHERE run_no = ?";

const SAID = [
  "SELECT run, state, exit_code, created_at, ended_at, manifest FROM runs ORDER BY run_no",
  "SELECT run_no, chunk, first, count, state, merged FROM chunks ORDER BY run_no, chunk",
  "SELECT * FROM event_numbers ORDER BY event_no",
  "SELECT * FROM events ORDER BY event_id",
  "SELECT * FROM tickets ORDER BY ticket",
];

function add(hash: Hash, row: SqlRow): void {
  for (const value of Object.values(row)) hash.update(value instanceof Uint8Array ? value : `${value}`).update("\0");
}
