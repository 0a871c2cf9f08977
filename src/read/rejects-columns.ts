/** The columns, or keys, that `tickets` adds to the rows of a rejects file, and of a table for a spreadsheet. */

export const REASON_COLUMN = "tickets:reason";
/**
 * `<digest>@<run>:<seq>`: of a bad row its digest (row-digest.ts), of an unclear one the same behind a `?`, else `row`; and its
 * position, where it was first read. Of the run it has the id, which no other ledger gives.
 */
export const ROW_COLUMN = "tickets:row";

/** Stands for the run in a position before any. */
export const NO_RUN = "0";

export interface RowKey {
  readonly digest: string | undefined;
  readonly isUnclear?: boolean;
  readonly run: string;
  readonly seq: number;
}

/** Text for a spreadsheet too, which would take a bare `@1:2` for a formula. */
export const rowKeyText = ({ digest = "row", isUnclear, run, seq }: RowKey): string =>
  `${isUnclear === true ? "?" : ""}${digest}@${run}:${seq}`;

const ROW_KEY = /^(\?)?(?:row|([0-9a-f]{32}(?:#\d+)?))@([0-9a-f]{8}|0):(\d+)$/;

/** Undefined of what `rowKeyText` did not write. */
export function parseRowKey(written: unknown): RowKey | undefined {
  const [, isUnclear, digest, run, seq] = (typeof written === "string" && ROW_KEY.exec(written.trim())) || [];
  if (run === undefined) return undefined;
  return { digest, ...(isUnclear !== undefined && { isUnclear: true }), run, seq: Number(seq) };
}

const REJECTS_COLUMNS = [REASON_COLUMN, ROW_COLUMN] as const;

/** Whether a header, or the keys of a row, are those of a rejects file. */
export const showRejects = (names: readonly string[]): boolean =>
  REJECTS_COLUMNS.some((column) => names.some((name) => name.trim() === column));

/**
 * The columns or keys that the beginning of a file shows, by which promises and rejects are known: of the first line, and of
 * the first item of an array, which may begin in the next.
 */
export function firstNames(beginning: string): readonly string[] {
  const [line = ""] = beginning.replace(/^\ufeff?\s*(?:\[\s*(?=\{))?/, "").split(/[\r\n]/, 1);
  return line.startsWith("{")
    ? Array.from(line.matchAll(/"([^"]*)"\s*:/g), ([, key = ""]) => key)
    : line.split(/[,;|\t]/).map((cell) => cell.replace(/^\s*"?|"?\s*$/g, ""));
}

// `safeCsv`: an apostrophe before what a spreadsheet would take for a formula. A file that is guarded says so by a column of its own,
// so that nothing is taken off where nothing was put on.

/** Stands in the header of a guarded file, and has `yes` in each row. */
export const GUARDED_COLUMN = "tickets:guarded";

export const GUARDED = "yes";

/** Apostrophes before it count too: otherwise nothing would show whether the first of them is the guard. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;

export const guardCell = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** The cell as it was before `guardCell`. */
export const unguardCell = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;

/** Our own columns, which say nothing about the row's actions. */
export const OWN_COLUMNS: ReadonlySet<string> = new Set([...REJECTS_COLUMNS, GUARDED_COLUMN]);
