/** Any question in PostgreSQL's SQL to a ledger there, in a transaction that can't change it. */

import { cleanText } from "../../actions/text.ts";
import { Failure } from "../../failure.ts";
import { type Cell, EXPLAINS, type Query, refuseOther, tablesHint, wouldWrite } from "../query.ts";
import { ServerError } from "./connection.ts";
import type { TextTable } from "./exchange.ts";
import { serverFailure } from "./failures.ts";
import { withNul } from "./nul.ts";
import type { PostgresLedger } from "./open-postgres.ts";

export { refuseOther };

/** Rows that are fetched at a time. */
const PAGE = 1000;

/**
 * @param ledger ends with the query.
 * @throws Failure `usage` for what is not one statement that only reads, or that PostgreSQL does not understand.
 */
export function openServerQuery(ledger: PostgresLedger, sql: string): Query {
  try {
    ledger.look("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    // Of a plan there is no cursor.
    const isPlan = EXPLAINS.test(sql);
    if (!isPlan) ledger.look(`DECLARE asked NO SCROLL CURSOR FOR ${sql}`);
    const first = ledger.look(isPlan ? sql : FETCH);
    return {
      columns: first.columns.map(({ name }) => name),
      rows: rowsOf(ledger, first, isPlan),
      [Symbol.dispose]: () => ledger[Symbol.dispose](),
    };
  } catch (cause) {
    const failure = queryFailure(ledger, cause);
    ledger[Symbol.dispose]();
    throw failure;
  }
}

const FETCH = `FETCH ${PAGE} FROM asked`;

function* rowsOf(ledger: PostgresLedger, first: TextTable, isWhole: boolean): Generator<readonly Cell[]> {
  const readers = first.columns.map(({ type }) => READERS.get(type) ?? withNul);
  const read = (cell: string | null, at: number): Cell => (cell === null ? null : (readers[at]?.(cell) ?? null));
  try {
    for (let { rows } = first; ; { rows } = ledger.look(FETCH)) {
      for (const row of rows) yield row.map(read);
      if (isWhole || rows.length < PAGE) return;
    }
  } catch (cause) {
    throw queryFailure(ledger, cause);
  }
}

/** By the OID of a type (pg_type.dat); what is not here stays the text that the server writes. */
const READERS = new Map<number, (text: string) => Cell>([
  [16, (text) => (text === "t" ? 1n : 0n)], // boolean, as a ledger in SQLite has it
  [17, (text) => Uint8Array.from(Buffer.from(text.slice(2), "hex"))],
  ...[20, 21, 23, 26].map((type) => [type, (text: string) => BigInt(text)] as const),
  ...[700, 701].map((type) => [type, Number] as const),
  [1700, (text) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text))], // numeric: sums of integers, and averages
]);

/** Classes of what is wrong with the statement itself: its data, its words, its cursor (PostgreSQL, Appendix A). */
const OF_QUERY = /^(?:0A|21|22|34|42|44|54)/;

/** What the server says of the query is for the person who wrote it; what it says of itself is not. */
function queryFailure(ledger: PostgresLedger, cause: unknown): unknown {
  if (!(cause instanceof ServerError)) return cause;
  const { code = "", message } = cause;
  if (code === "25006" || /must not contain data-modifying/.test(message)) return wouldWrite(cause);
  if (!OF_QUERY.test(code) || code === "42501") return serverFailure(ledger.path, cause);
  if (/cannot insert multiple commands/.test(message))
    return new Failure("usage", "A query is one statement; here another one follows it.", {
      hint: "Run them one by one.",
      cause,
    });
  if (code === "42P01" && message.includes('"actions"'))
    return new Failure("usage", "A ledger in PostgreSQL shows no table actions: what was sent is compressed there.", {
      hint: "Counts by action and outcome are in tallies. All that was sent about one id: tickets find ID. Each action with its promise: tickets results",
      cause,
    });
  return new Failure("usage", `PostgreSQL can't run this: ${cleanText(message, 300)}.`, {
    hint: tablesHint(tablesOf(ledger)),
    cause,
  });
}

/** Names of the tables and views that a query can read. */
function tablesOf(ledger: PostgresLedger): readonly string[] {
  try {
    ledger.look("ROLLBACK");
    const { rows } = ledger.look(
      "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') ORDER BY relname",
    );
    return rows.map(([name]) => String(name));
  } catch (cause) {
    if (!(cause instanceof ServerError)) throw cause;
    return [];
  }
}
