/** Tables as tickets writes them. */

import { stringify } from "csv-stringify/sync";

/**
 * Each row as a line. A CR alone ends a row for some readers, ours too, so that a cell with one is quoted like one with any other
 * line end.
 */
export const csvText = (rows: readonly (readonly (string | number | undefined)[])[], delimiter: string): string =>
  stringify([...rows], { delimiter, record_delimiter: "unix", quoted_match: /\r/ });

/** How such a table is read: what ends its rows is known. Guessed, it would be the first CR of a heading. */
export const OWN_TABLE = { bom: true, record_delimiter: ["\r\n", "\n"] };
