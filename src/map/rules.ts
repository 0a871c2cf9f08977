import type { Problem } from "../actions/problem.ts";
import { rulesOf } from "../actions/rules.ts";

/** What can be wrong with a row before it is an action. Rules of actions (`ACTION_RULES`) are used where they fit. */
export const MAPPING_RULES = rulesOf("error", {
  "not-clearable": {
    reason: "Only an update clears a field, and only a field that has a default.",
    example: "\\clear in metadataAttributes",
  },
  "action-conflict": {
    reason: "The row names a different action from --action.",
    example: "--action soldTicket for action = newEvent",
  },
  "column-ambiguous": {
    reason: "Two names of the row mean the same field, and nothing says which one counts.",
    example: '{"ticketId":"a","ticket_id":"b"}',
  },
  "time-without-zone": {
    reason: "A local time is no instant until its zone is known, which is never guessed.",
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
      "All rows of a file give one ticket, though they differ: its id is a constant, or made of columns that are the same in each row.",
    example: "ticketId: wave-26, where {Barcode} was meant",
  },
  "value-unknown": {
    reason: "The value table lacks the value and declares no else.",
    example: "map: {VIP: 79.50} for Product = Crew",
  },
  "value-unexpected": {
    reason: "The column does not hold what the source's expect declares.",
    example: "expect: {Currency: EUR} for Currency = USD",
  },
  "amount-not-divisible": {
    reason: "The total does not divide into equal parts of that many decimals, and no remainder is declared.",
    example: "10.00 divided by 3",
  },
  "each-unreadable": {
    reason: "What each repeats by is no count and no list, or has text that its pattern does not match.",
    example: 'each: {count: "{Quantity}"} for Quantity = two',
  },
  "each-empty": {
    severity: "warn",
    reason:
      "A row that an action's when takes gives nothing but its event, since each finds nothing: it may be incomplete.",
    example: 'when: {Status: paid} and each: {path: tickets} for "tickets":[]',
  },
  "list-missing": {
    reason: "A missing list is not an empty one: the row may be incomplete.",
  },
  "id-number-spelling": {
    reason: "A JSON number with a fraction or an exponent can be written in several ways, and each makes another id.",
    example: '"ticketId":1.5e3, which is 1500 and 1500.0 too',
  },
  "key-missing": {
    reason: "No row of the file has a key that the source reads: it was renamed or misspelled.",
    example: '"{buyer.id}" for rows with buyer_id',
  },
  "lookup-missing": {
    reason: "No row of the lookup file fits this one.",
  },
  "lookup-ambiguous": {
    reason: "Several rows of the lookup file fit this one.",
  },
  "value-not-named": {
    severity: "warn",
    reason:
      "A column that a when compares holds a value that no when, skip or expect of the source names; or one that a skip or a not names is written otherwise.",
    example: "when: {checkin: yes} for checkin = ja",
  },
  "fill-down-empty": {
    reason: "A blank cell of a fillDown column has no row above to take its value from.",
  },
  "totals-line": {
    reason: "The row sums up the others: it is called Total or the like.",
    example: "Summe;;;1250.00 as the last row",
  },
  "event-described-differently": {
    severity: "warn",
    reason: "Rows of one event give its newEvent different fields; the first row counts.",
  },
  "column-by-position": {
    severity: "warn",
    reason: "A position means another column as soon as the export gains or loses one.",
    example: "columns: {seat: 7}",
  },
  "nothing-mapped": {
    reason: "No row of the file gives an action, and the source names none of their values: it fits another file.",
    example: "when: {Status: paid} for Status = Bezahlt in all rows",
  },
  "key-empty": {
    reason: "The source's key is empty, so nothing distinguishes the row from others.",
  },
});

export type MappingRule = keyof typeof MAPPING_RULES;

/** A problem about a whole file, with the line of the first row that shows it. */
export interface FileProblem extends Problem {
  readonly line?: number;
  /** It means nothing where only the first rows were read. */
  readonly isOfAllRows?: true;
}
