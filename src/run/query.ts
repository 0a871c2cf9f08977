/** Asks the ledger of an environment a question in SQL. Takes no lock. */

import { closeSync, existsSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { displayPath } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { openQuery, type Query } from "../ledger/query.ts";
import { isPlainFile, makeWayFor } from "../outputs/output-file.ts";
import { promiseFormat } from "../outputs/promise-lines.ts";
import { rowLines } from "../outputs/row-lines.ts";
import type { RunContext } from "./context.ts";
import { openQueryOf } from "./ledger-of.ts";
import { boundToRead, noLedger } from "./ledger-to-read.ts";
import { writeFileWhole } from "./results.ts";
import type { Settings } from "./settings.ts";

export interface QuerySettings {
  readonly settings: Pick<Settings, "environment">;
  readonly sql: string;
}

/**
 * In the words of the database that holds the ledger.
 *
 * @throws Failure where there is no ledger, or `usage` for a query that is wrong.
 */
export async function query({ cwd }: RunContext, { settings: { environment }, sql }: QuerySettings): Promise<Query> {
  if (environment.ledgerServer !== undefined) {
    const asked = await openQueryOf(environment, boundToRead(environment), sql);
    if (asked === undefined) throw noLedger(environment, cwd);
    return asked;
  }
  if (!existsSync(environment.ledgerPath)) throw noLedger(environment, cwd);
  return openQuery({ path: environment.ledgerPath, boundTo: boundToRead(environment) }, sql);
}

export interface RowsFile {
  readonly path: string;
  /** Replace an existing file. */
  readonly force: boolean;
  readonly safeCsv: boolean;
}

interface Signals extends Pick<RunContext, "cwd" | "stop"> {
  /** While SQLite looks for rows a signal ends the process; from here on `stop` tells of it. */
  readonly hearSignals: () => void;
}

/** Writes the rows into a file, whose ending says the format, whole or not at all. A signal leaves nothing of it. */
export async function writeRows(
  asked: Query,
  { path: name, force, safeCsv }: RowsFile,
  { cwd, stop, hearSignals }: Signals,
) {
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
  if (await isPlainFile(path)) {
    await makeWayFor(path);
    using gathered = gather(path, counted());
    hearSignals();
    await writeFileWhole(path, gathered.parts(stop));
  } else await writeFileWhole(path, counted());
  return { path, rows: format === "csv" ? rows - 1 : rows };
}

/** Bytes that are read back at once. */
const PART_BYTES = 1024 * 1024;

/** Writes lines into a file beside `path` that has no name any more: it is gone with the process, however that ends. */
function gather(path: string, lines: Iterable<string>) {
  const place = `${path}.${process.pid}.tmp`;
  try {
    rmSync(place, { force: true });
    const file = openSync(place, "wx+");
    try {
      rmSync(place);
      for (const part of joined(lines)) writeFileSync(file, part);
    } catch (cause) {
      closeSync(file);
      throw cause;
    }
    return {
      *parts(stop: AbortSignal): Generator<Buffer> {
        for (let at = 0; ; ) {
          stop.throwIfAborted();
          const part = Buffer.allocUnsafe(PART_BYTES);
          const length = readSync(file, part, 0, PART_BYTES, at);
          if (length === 0) return;
          at += length;
          yield part.subarray(0, length);
        }
      },
      [Symbol.dispose]: () => closeSync(file),
    };
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

/** Lines together, since each write is a call of its own. */
function* joined(lines: Iterable<string>): Generator<string> {
  let text = "";
  for (const line of lines) {
    text += line;
    if (text.length < PART_BYTES) continue;
    yield text;
    text = "";
  }
  yield text;
}

/** An object keeps only one of two values of a name. */
export function refuseSameNames(columns: readonly string[]): void {
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined)
    throw new Failure("usage", `Two columns are called ${JSON.stringify(twice)}, and JSON would keep one of them.`, {
      hint: "Name one of them with AS.",
    });
}
