import type { Finding } from "../actions/problem.ts";
import { rulesOf } from "../actions/rules.ts";

const ROWS = "how rows become actions: docs/mapping.md";

/** What can be wrong with a row before it is an action. Rules of actions (`ACTION_RULES`) are used where they fit. */
export const MAPPING_RULES = rulesOf("error", ROWS, {
  "not-clearable": {
    reason: "The clear word sends a field's default, which only an update does, and only for fields that have one.",
    source: "specification, Null versus empty and the defaults of Field types",
    example: "\\clear in metadataAttributes",
  },
  "action-conflict": {
    reason: "The row names a different action from --action.",
    example: "--action soldTicket for a row with action = newEvent",
  },
  "column-ambiguous": {
    reason: "Two names of the row mean the same field, and nothing says which one counts.",
    example: '{"ticketId":"a","ticket_id":"b"}',
  },
  "time-without-zone": {
    reason: "A local time is not an instant until its zone is known, which is never guessed.",
    example: "2026-05-01 20:00:00",
  },
  "time-unreadable": {
    reason: "The text is in none of the declared time formats. Day and month are never guessed.",
    example: "3/4/26 without a declared format",
  },
  "time-skipped": {
    reason: "The clocks of the zone skip this hour, so this local time never existed.",
    example: "2026-03-29 02:30:00 in Europe/Berlin",
  },
  "value-looks-constant": {
    reason:
      "All rows of a file give one ticket, though they differ: three rows or more of an action that a ticket has once, ten of another. Its id is a constant, or made of columns that are the same in each row.",
    example: "ticketId: wave-26, where {Barcode} was meant",
  },
  "value-unknown": {
    reason: "The value table lacks the value and declares no else.",
    example: "map: {VIP: 79.50} for a row with Product = Crew",
  },
  "value-unexpected": {
    reason: "The column does not hold what the source's expect declares.",
    example: "expect: {Currency: EUR} for a row with Currency = USD",
  },
  "amount-not-divisible": {
    reason: "The total does not divide into equal parts of that many decimals, and the source declares no remainder.",
    example: "10.00 divided by 3",
  },
  "each-unreadable": {
    reason: "What each repeats by is not a count, not a list, or has text that its pattern does not match.",
    example: 'each: {count: "{Quantity}"} for a row with Quantity = two',
  },
  "list-missing": {
    reason: "A missing list is not the same as an empty one: the row may be incomplete.",
    example: "each: {path: barcodes} for a row without the key barcodes",
  },
  "id-number-spelling": {
    reason:
      "A JSON number with a fraction or an exponent can be written in several ways, and each makes another id. If the next export writes it differently, what was accepted would look new.",
    source: "RFC 8259, section 6, and the promise that nothing is sent twice",
    example: '"ticketId":1.5e3 in a flat row, which is 1500 and 1500.0 too',
  },
  "key-missing": {
    reason: "No row of the file has a key that the source reads: it was renamed or misspelled.",
    example: '"{buyer.id}" for a file whose rows have buyer_id',
  },
  "lookup-missing": {
    reason: "The lookup file has no row for this one.",
    example: "an attendee whose order is not in orders.csv",
  },
  "lookup-ambiguous": {
    reason: "The lookup file has several rows for this one, and nothing says which one counts.",
    example: "two orders of the same reference in orders.csv",
  },
  "lookup-fits-nothing": {
    severity: "warn",
    reason:
      "A lookup with missing: empty finds nothing for any row, so its file may be the wrong one, or its values written differently.",
    example: 'where: {Code: "{Voucher}"} for discounts.csv with early, and rows with EARLY',
  },
  "value-not-named": {
    severity: "warn",
    reason:
      "A column that a when compares holds a value that no when, skip or expect of the source names, so its meaning may be lost.",
    example: "when: {checkin: yes} for rows with checkin = ja",
  },
  "value-near": {
    severity: "warn",
    reason:
      "A value looks like another spelling of one that the source names, but a not, a skip or the else of a map treats it like any other.",
    example: "when: {Status: refunded} for rows with Status = Refunded",
  },
  "fill-down-empty": {
    reason: "A blank cell of a fillDown column has no row above to take its value from.",
    example: "fillDown: Order for a first row without Order",
  },
  "totals-line": {
    reason:
      "The row sums up the others, as at the end of reports: its ticket has a word such as Total for an id, alone or before a colon and a number, or the last amount is the sum of all before it: of ten amounts or more, or of three or more where the row also leaves two cells empty that all others fill. Otherwise that may be chance.",
    example: "Summe;;;1250.00 as the last row",
  },
  "event-described-differently": {
    severity: "warn",
    reason:
      "Rows of one event give its newEvent different fields; the first row counts, and nothing says that it is right.",
    example: "Gala and Gala 2026 as eventName in two rows of the event e7",
  },
  "column-by-position": {
    severity: "warn",
    reason: "A position means another column as soon as the export gains or loses one.",
    example: "columns: {seat: 7} without the header that is expected there",
  },
  "nothing-mapped": {
    reason:
      "No row of the file gives an action, and all have values that the source names nowhere: the source fits another file.",
    example: "when: {Status: paid} for a file with Status = Bezahlt in all rows",
  },
  "one-event-of-two-files": {
    severity: "warn",
    reason: "A source with a constant eventId reads several files, and nothing says that they belong to one event.",
    example: 'match: "attendees*.csv" for attendees-gala.csv and attendees-ball.csv',
  },
  "key-empty": {
    reason: "The source's key is empty for the row, so nothing distinguishes it from others.",
    example: 'key: "{Barcode}" for a row without barcode',
  },
});

export type MappingRule = keyof typeof MAPPING_RULES;

/** A finding about a whole file, with the line of the first row that shows it. */
export interface FileFinding extends Finding {
  readonly line?: number;
  /** It means nothing where only the first rows were read. */
  readonly isOfAllRows?: true;
}
