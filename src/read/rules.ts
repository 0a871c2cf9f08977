import { ACTION_RULES, rulesOf } from "../actions/rules.ts";

const SERVICE_BODY = "specification, Request body";
const CSV = "RFC 4180";
const JSON_TEXT = "RFC 8259";

/** What the readers find before any mapping: rows that can't be read, or are hardly what they are read as. */
export const READER_RULES = rulesOf("error", CSV, {
  "cell-count": {
    reason:
      "A row with more or fewer cells than the header has a delimiter too many or too few, so its values are under the wrong columns.",
    example: "price,currency in the header, 12,50,EUR in the row",
  },
  "header-repeated": {
    reason:
      "A row of column names, in any order and spelling, is the header of another file that was appended to this one. Where the order differs, the values after it stand under the wrong columns and are not read.",
    example: "ticketId,userId in the header, and User ID,Ticket ID in a row",
  },
  "csv-quotes": {
    reason:
      "After a quote that is not closed, not doubled or not at the edge of its cell, the end of a row is unknown, so reading stops there.",
    example: 't-1,5" single,EUR',
  },
  "lone-carriage-return": {
    reason:
      "In a table whose lines end in LF or CRLF, a carriage return outside quotes is another program's line end: two rows are joined into one.",
    example: "t-1 CR t-2 LF in a table whose other lines end in LF",
  },
  "rows-in-cell": {
    reason:
      "A quoted cell whose lines look like rows of the table comes from a lone quote that another one closes rows later; the rows between would be lost.",
    example: 't-1,EUR,"call above t-2,EUR,seat " in a table of three columns',
  },
  "row-too-long": {
    reason:
      "A row over 1 MiB means a quote that never closes, or the wrong file: all fields of an action together are far shorter.",
    source: "specification, Field types (the longest field has 10240 characters)",
    example: "a cell that holds an image as base64",
  },
  "json-invalid": { reason: "The text is not JSON.", source: JSON_TEXT, example: '{"action": newEvent}' },
  "json-duplicate-key": ACTION_RULES["json-duplicate-key"],
  "json-not-object": {
    reason: "A row is a JSON object: {action, data}, or columns and values.",
    source: SERVICE_BODY,
    example: '["newEvent", "wave-26"]',
  },
});

export type ReaderRule = keyof typeof READER_RULES;

/** What the readers find in an input as a whole. */
export const INPUT_RULES = rulesOf("warn", "good practice", {
  "input-empty": {
    severity: "error",
    reason:
      "A table or payload of 0 bytes is more often a failed export than a night without sales; allowEmpty: true in its source accepts it.",
    example: "sales.csv of 0 bytes, where a quiet night has a header",
  },
  "input-no-rows": {
    reason: "An input without rows gives nothing to send; that may be right, or it is the export of another day.",
    example: "sales.csv with a header only",
  },
  "input-twice": {
    reason:
      "Two inputs with the same bytes are an export and its copy, or two nights on which the same happened. What both say is sent once, unless a rule takes something from the file's name.",
    example: "updates-10.csv and updates-11.csv, byte for byte",
  },
  "looks-like-utf8": {
    severity: "error",
    reason:
      "Text in a legacy encoding is almost never valid UTF-8 by chance; UTF-8 that is read in one becomes different text, on the blockchain too.",
    source: "WHATWG Encoding Standard; RFC 3629",
    example: "sales.csv in UTF-8 with --encoding windows-1252, where Gärten becomes GÃ¤rten",
  },
  "rows-uneven": {
    reason:
      "Rows that end in empty cells beyond the header, or without its last cell where that has no name, come from a program that ends each line with a delimiter; rarely, from a delimiter in a cell without quotes.",
    source: CSV,
    example: "eventId,ticketId in the header, and e1,t1, in each row",
  },
  "last-line-unended": {
    reason:
      "A last line without its line end may be cut off: an export that was interrupted, or is still being written, looks like that.",
    source: "RFC 4180, 2; NDJSON, 3.1",
    example: "t-2,EUR,12.5 at the very end, where t-2,EUR,12.50 was to be",
  },
});

export type InputRule = keyof typeof INPUT_RULES;
