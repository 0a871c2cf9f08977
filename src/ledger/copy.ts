/** Copies a ledger into an empty one, of either kind, and compares the two row by row. */

import { randomUUID } from "node:crypto";
import { number } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { valueFor } from "./column-values.ts";
import { clearDeeds, tidyDeeds } from "./deed-rows.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { type LedgerTable, ledgerTables } from "./ledger-tables.ts";
import { copiedFrom, copiedTo, forgetNotes, type Mark, markCopiedFrom, markCopiedTo } from "./moved.ts";
import { finishRows, insertRows } from "./postgres/insert-rows.ts";
import { makeStatusTable } from "./promise-statuses.ts";
import { digestOf, hasDeedParts, isReadWhole, lastKey, pagesOf, type Signals, type TableDigest } from "./table-rows.ts";

export interface CopyResult {
  /** What every table holds, in both. */
  readonly tables: readonly TableDigest[];
  /** An earlier command had begun it. */
  readonly isResumed: boolean;
}

/** Whether one is a whole copy of the other already. What was sent since is in the copy alone. */
export function isCopied(source: Ledger, target: Ledger): boolean {
  const [to, from] = [copiedTo(source), copiedFrom(target)];
  return to !== undefined && from?.isWhole === true && to.copy === from.copy;
}

export interface CopyOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (work: { readonly doing: "copying" | "comparing"; readonly done: number }) => void;
  readonly at: string;
}

/**
 * Moves `source` to `target`; after this resolves, `target` is the ledger, and `source` can't be opened to send. Both are locked
 * by the caller. Interrupted, it goes on where it stopped, and until its end neither can be opened to send.
 *
 * @throws Failure `usage` where the target holds something, or the source was moved before; `storage` where the two differ in
 * the end.
 */
export async function copyLedger(source: Ledger, target: Ledger, options: CopyOptions): Promise<CopyResult> {
  const tables = ledgerTables();
  const { mark, isResumed } = begin(source, target, tables, options.at);
  const [copying, comparing] = [counter("copying", options), counter("comparing", options)];
  for (const table of tables) await copyTable(source, target, table, copying);
  if (target.kind === "postgres") finishRows(target, tables);
  const digests = await compare(source, target, tables, comparing);
  // In this order: killed in between, the same command finds that all is there, and until then neither is used.
  markCopiedTo(source, { ...mark, ledger: target.path, isWhole: true });
  target.transaction(() => markCopiedFrom(target, { ...mark, ledger: source.path, isWhole: true }));
  return { tables: digests, isResumed };
}

function counter(doing: "copying" | "comparing", { signal, onProgress }: CopyOptions): Signals {
  let done = 0;
  return {
    signal,
    onRows(rows) {
      done += rows;
      onProgress({ doing, done });
    },
  };
}

interface Begun {
  readonly mark: Omit<Mark, "ledger" | "isWhole">;
  readonly isResumed: boolean;
}

/** Has neither ledger be used from here on, and the target hold nothing but what is copied. */
function begin(source: Ledger, target: Ledger, tables: readonly LedgerTable[], at: string): Begun {
  const [to, from] = [copiedTo(source), copiedFrom(target)];
  if (to !== undefined && to.copy === from?.copy) return { mark: { copy: to.copy, at: to.at }, isResumed: true };
  const ofSource = copiedFrom(source);
  if (ofSource !== undefined && !ofSource.isWhole)
    throw new Failure("usage", `${source.path} is an unfinished copy itself. Nothing was copied.`, {
      hint: `Finish that first: its rows come from ${ofSource.ledger}.`,
    });
  if (to?.isWhole === true)
    throw new Failure("usage", `${source.path} was moved to ${to.ledger} at ${to.at}. Nothing was copied.`, {
      hint: `Copy what is kept there. If this one is to be used again, whatever the other knows: tickets ledger reopen --reason "…"`,
    });
  // An unfinished copy was never used.
  if (from === undefined || from.isWhole) refuseFilled(target, tables);
  const mark = { copy: randomUUID(), at };
  markCopiedTo(source, { ...mark, ledger: target.path, isWhole: false });
  target.transaction(() => {
    clear(target, tables);
    markCopiedFrom(target, { ...mark, ledger: source.path, isWhole: false });
  });
  return { mark, isResumed: false };
}

/** What a command notes that found a ledger and sent nothing. */
const NOTES: ReadonlySet<string> = new Set(["meta", "invocations", "told_warnings"]);

function refuseFilled(target: Ledger, tables: readonly LedgerTable[]): void {
  const filled = tables.find(({ name }) => !NOTES.has(name) && hasRows(target, name));
  if (filled === undefined) return;
  const moved = copiedTo(target);
  throw new Failure(
    "usage",
    `${target.path} holds a ledger already${moved === undefined ? "" : `, which was moved to ${moved.ledger} at ${moved.at}`}. Nothing was copied.`,
    {
      hint:
        target.kind === "postgres"
          ? "If it is no longer needed, have its schema renamed or dropped (ALTER SCHEMA … RENAME TO …), or name another one in the config."
          : "If it is no longer needed, move the file away.",
    },
  );
}

const hasRows = (ledger: Ledger, table: string): boolean =>
  (table !== "promise_statuses" || ledger.hasTable(table)) &&
  ledger.get(`SELECT 1 AS one FROM ${table} LIMIT 1`) !== undefined;

/** Part of a transaction. */
function clear(target: Ledger, tables: readonly LedgerTable[]): void {
  for (const table of tables.toReversed()) {
    if (!hasRows(target, table.name)) continue;
    if (hasDeedParts(target, table)) clearDeeds(target);
    else target.run(`DELETE FROM ${table.name}`);
  }
}

async function copyTable(source: Ledger, target: Ledger, table: LedgerTable, signals: Signals): Promise<void> {
  if (table.name === "promise_statuses" && hasRows(source, table.name)) makeStatusTable(target);
  const insert = inserterOf(target, table);
  if (isReadWhole(table)) {
    for await (const rows of pagesOf(source, table, signals))
      target.transaction(() => {
        if (table.name === "meta") forgetNotes(target);
        else target.run(`DELETE FROM ${table.name}`);
        insert(rows);
      });
    return;
  }
  // Every page is one transaction, so that all rows up to the last one are there.
  const after = hasRows(target, table.name) ? lastKey(target, table) : undefined;
  for await (const rows of pagesOf(source, table, signals, after)) target.transaction(() => insert(rows));
}

function inserterOf(target: Ledger, table: LedgerTable): (rows: readonly SqlRow[]) => void {
  if (target.kind === "postgres") return (rows) => insertRows(target, table, rows);
  const { name, columns } = table;
  const areDeeds = hasDeedParts(target, table);
  const sql = `INSERT INTO ${areDeeds ? "loose_deeds" : name} (${columns.map((column) => column.name).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  return (rows) => {
    for (const row of rows) target.run(sql, ...columns.map((column) => valueFor(target, row, column)));
    if (areDeeds) tidyDeeds(target);
  };
}

/** Looks at every row of both again. */
async function compare(
  source: Ledger,
  target: Ledger,
  tables: readonly LedgerTable[],
  signals: Signals,
): Promise<readonly TableDigest[]> {
  const digests: TableDigest[] = [];
  for (const table of tables) {
    const wanted = await digestOf(source, table, signals);
    const found = await digestOf(target, table, signals);
    if (found.rows !== wanted.rows || found.sha256 !== wanted.sha256)
      throw new Failure(
        "storage",
        `The copy differs from ${source.path} in the table ${table.name} (${number(found.rows)} of ${number(wanted.rows)} rows${found.rows === wanted.rows ? ", of other content" : ""}). It is not used.`,
        {
          hint: `Something else has changed one of the two. To begin again, have what is at ${target.path} removed, and run the same command.`,
        },
      );
    digests.push(wanted);
  }
  return digests;
}
