import { ACTION_RULES, rulesOf } from "../actions/rules.ts";

/** What the readers find before any mapping: rows that can't be read. */
export const READER_RULES = rulesOf("error", {
  "cell-count": {
    reason: "The row has more or fewer cells than the header, so its values may stand under the wrong columns.",
    example: "12,50,EUR below price,currency",
  },
  "header-repeated": {
    reason:
      "A row of column names is the header of another file that was appended. If its order differs, the rows below it are not read.",
    example: "User ID,Ticket ID below ticketId,userId",
  },
  "csv-quotes": {
    reason:
      "Behind a quote that is not closed, not doubled or not at the edge of its cell, nothing says where the row ends: reading stops.",
    example: 't-1,5" single,EUR',
  },
  "lone-carriage-return": {
    reason: "Where lines end in LF or CRLF, a carriage return outside quotes joins two rows into one.",
    example: "t-1 CR t-2 LF",
  },
  "row-too-long": {
    reason: "A row over 1 MiB means a quote that never closes, or the wrong file.",
  },
  "json-invalid": { reason: "The text is not JSON." },
  "json-duplicate-key": ACTION_RULES["json-duplicate-key"],
  "json-not-object": {
    reason: "A row is a JSON object: {action, data}, or columns and values.",
    example: '["newEvent", "wave-26"]',
  },
});

export type ReaderRule = keyof typeof READER_RULES;

/** What the readers find in an input as a whole. */
export const INPUT_RULES = rulesOf("warn", {
  "input-empty": {
    severity: "error",
    reason:
      "A file of 0 bytes is more often a failed export than a quiet night; allowEmpty: true in its source accepts it.",
  },
  "input-no-rows": {
    reason: "An input without rows is a quiet night, or the export of another day.",
  },
  "looks-like-utf8": {
    severity: "error",
    reason:
      "Text in a legacy encoding is almost never valid UTF-8 by chance; read as declared, it becomes different text.",
    example: "UTF-8 with --encoding windows-1252, where Gärten becomes GÃ¤rten",
  },
  "rows-in-cell": {
    severity: "error",
    reason: "A quoted cell looks like rows of the table: a lone quote that another one closes rows later loses them.",
    example: 't-1,EUR,"call above t-2,EUR,seat " in three columns',
  },
  "rows-uneven": {
    reason:
      "Rows end in empty cells beyond the header, or lack its nameless last cell: a program that ends each line with a delimiter; rarely, a delimiter in a cell without quotes.",
    example: "e1,t1, below eventId,ticketId",
  },
  "last-line-unended": {
    reason: "The last line may be cut off, as in an export that was interrupted or is still being written.",
    example: "t-2,EUR,12.5 where t-2,EUR,12.50 was to be",
  },
});

export type InputRule = keyof typeof INPUT_RULES;
