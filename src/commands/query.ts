/** `tickets query`: a question in SQL to the ledger, which can't be changed by it. It takes no lock. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { cleanText, count, displayPath } from "../actions/text.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Cell, Query } from "../ledger/query.ts";
import { cellText, rowLines, rowObject } from "../outputs/row-lines.ts";
import { query as ask, refuseSameNames, writeRows } from "../run/query.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";
import { columnsOf, layOut, type TableRow } from "./table.ts";

export interface QueryOptions extends EnvironmentOptions {
  readonly sql: string;
  readonly output?: string | undefined;
  readonly json: boolean;
  readonly force: boolean;
  readonly safeCsv: boolean;
}

/** Rows go out as they are read; none are gathered but those by which a table is laid out. */
export async function query(options: QueryOptions, context: Context): Promise<number> {
  const { reporter, cwd, stdout, stop, hearSignals } = context;
  const { output, json } = options;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  // From here on a signal ends the process; one that came before was only heard.
  stop.throwIfAborted();
  using asked = await ask(core, { settings, sql: options.sql });
  if (output !== undefined && output !== "-") {
    const { path, rows } = await writeRows(asked, { ...options, path: output }, { cwd, stop, hearSignals });
    reporter.info(`${count(rows, "row")} written to ${displayPath(path, cwd)}.`);
    return EXIT_CODES.ok;
  }
  const told: Told = { rows: 0, failure: undefined };
  if (json || output === "-") refuseSameNames(asked.columns);
  const text = json
    ? document(asked, told)
    : output === "-"
      ? rowLines(asked, "ndjson", false)
      : table(asked, stdout, told);
  await pipeline(Readable.from(text), stdout, { end: false });
  if (told.failure !== undefined) {
    const { message, hint, code } = told.failure;
    reporter.error(hint === undefined ? message : `${message}\n${hint}`);
    return EXIT_CODES[code];
  }
  if (!json && output === undefined) reporter.info(`${count(told.rows, "row")}.`);
  return EXIT_CODES.ok;
}

interface Told {
  rows: number;
  /** What ended the rows before their end. */
  failure: Failure | undefined;
}

/** `{"columns", "rows"}`: one document, also where the query fails amid its rows. */
function* document({ columns, rows }: Query, told: Told): Generator<string> {
  yield `{"columns":${JSON.stringify(columns)},"rows":[`;
  try {
    for (const row of rows) {
      yield `${told.rows === 0 ? "" : ","}${rowObject(columns, row)}`;
      told.rows += 1;
    }
    yield "]}\n";
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    const { code, message, hint } = cause;
    told.failure = cause;
    const error = { code, message, hint: hint ?? null };
    yield `],"error":${JSON.stringify(error)},"exitCode":${EXIT_CODES[code]}}\n`;
  }
}

/** Rows by which a table is laid out, and which are written at once. */
const PAGE = 200;

function* table({ columns, rows }: Query, stdout: object, told: Told): Generator<string> {
  const names = columns.map((name) => cleanText(name, Number.POSITIVE_INFINITY));
  let lines: ((rows: readonly TableRow[]) => string) | undefined;
  let page: TableRow[] = [];
  const write = (): string => {
    const layout = lines === undefined ? layOut(names, page, columnsOf(stdout)) : undefined;
    lines ??= layout?.lines;
    return `${layout?.head ?? ""}${lines?.(page) ?? ""}`;
  };
  for (const row of rows) {
    page.push(row.map(toCell));
    told.rows += 1;
    if (page.length < PAGE) continue;
    yield write();
    page = [];
  }
  if (page.length > 0 || told.rows === 0) yield write();
}

const toCell = (cell: Cell) => ({
  text: cleanText(cellText(cell), Number.POSITIVE_INFINITY),
  isNumber: typeof cell === "bigint" || typeof cell === "number",
});
