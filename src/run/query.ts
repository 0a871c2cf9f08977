/** Asks the ledger of an environment a question in SQL. Takes no lock. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { displayPath } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { openQuery, type Query } from "../ledger/query.ts";
import { promiseFormat } from "../outputs/promise-lines.ts";
import { rowLines } from "../outputs/row-lines.ts";
import type { RunContext } from "./context.ts";
import { boundToRead } from "./ledger-to-read.ts";
import { noLedger, writeFileWhole } from "./results.ts";
import type { Settings } from "./settings.ts";

export interface QuerySettings {
  readonly settings: Pick<Settings, "environment">;
  readonly sql: string;
}

/** @throws Failure where there is no ledger, or `usage` for a query that is wrong. */
export function query({ cwd }: RunContext, { settings: { environment }, sql }: QuerySettings): Query {
  if (!existsSync(environment.ledgerPath)) throw noLedger(environment, cwd);
  return openQuery({ path: environment.ledgerPath, boundTo: boundToRead(environment) }, sql);
}

export interface RowsFile {
  readonly path: string;
  /** Replace an existing file. */
  readonly force: boolean;
  readonly safeCsv: boolean;
}

/** Writes the rows into a file, whose ending says the format, whole or not at all. */
export async function writeRows(asked: Query, { path: name, force, safeCsv }: RowsFile, cwd: string) {
  const path = resolve(cwd, name);
  if (existsSync(path) && !force)
    throw new Failure("usage", `${displayPath(path, cwd)} already exists and is not overwritten.`, {
      hint: "Name another file, or replace it with --force.",
    });
  const format = promiseFormat(path);
  if (format === "ndjson") refuseSameNames(asked.columns);
  let rows = 0;
  const counted = function* (): Generator<string> {
    for (const line of rowLines(asked, format, safeCsv)) {
      rows += 1;
      yield line;
    }
  };
  await writeFileWhole(path, counted());
  return { path, rows: format === "csv" ? rows - 1 : rows };
}

/** An object keeps only one of two values of a name. */
export function refuseSameNames(columns: readonly string[]): void {
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined)
    throw new Failure("usage", `Two columns are called ${JSON.stringify(twice)}, and JSON would keep one of them.`, {
      hint: "Name one of them with AS.",
    });
}
