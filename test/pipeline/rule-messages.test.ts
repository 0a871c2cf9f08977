/**
 * The words of every rule, by an input that breaks it (test/support/rule-triggers.ts): where, what, and what to do, as
 * `tickets plan` prints them. The compiler asks for the words of a new rule.
 */

import { describe, expect, test } from "vitest";
import type { ActionRule } from "../../src/actions/rules.ts";
import type { CHECK_RULES } from "../../src/checks/rules.ts";
import { plan } from "../../src/commands/plan.ts";
import type { MAPPING_RULES } from "../../src/mapping/rules.ts";
import type { INPUT_RULES, READER_RULES } from "../../src/readers/rules.ts";
import { ALL_RULES } from "../../src/run/rules.ts";
import { ended, fieldOf, triggerOf } from "../support/rule-triggers.ts";

type RuleId =
  | ActionRule
  | keyof typeof CHECK_RULES
  | keyof typeof READER_RULES
  | keyof typeof INPUT_RULES
  | keyof typeof MAPPING_RULES;

interface Words {
  /** File, line, field or column, and the text there: cleaned and shortened, and masked where it names a person. */
  readonly where: string;
  readonly what: string;
  readonly todo: string;
}

/** FOLDER is the folder of the test, RUN the id of a run. */
const WORDS: Readonly<Record<RuleId, Words>> = {
  // Reading.
  "cell-count": {
    where: "sales-cell-count.csv:3",
    what: 'The row has 6 cells, the header has 5: cell 6 has no column, the last is Column 5 ("orderTime").',
    todo: "Put a cell that holds the delimiter (,) in quotes.",
  },
  "header-repeated": {
    where: "claims-header-repeated.csv:3",
    what: "The row is the header again.",
    todo: "Remove it: files that are put together need one header, at the top.",
  },
  "csv-quotes": {
    where: "sales-csv-quotes.csv:3",
    what: 'Column 6 ("name") has text after its closing quote. Nothing after this row was read.',
    todo: 'Put a cell that holds quotes in quotes and double those inside: "5"" single".',
  },
  "lone-carriage-return": {
    where: "claims-lone-carriage-return.csv:3",
    what: 'Column 2 ("userId") holds a carriage return outside quotes; the lines of this file end otherwise, so two rows may stand in one.',
    todo: "Give every line the same end (LF or CRLF), and put a cell that holds a line break in quotes.",
  },
  "rows-in-cell": {
    where: "claims-rows-in-cell.csv:2",
    what: 'Column 3 ("seat") holds what looks like rows of the table: its quote opens in line 2 and closes in line 4.',
    todo: 'Double a quote that stands for itself (5"" single), or take it out. If the cell is right as it is, say rules: {rows-in-cell: warn} in the config.',
  },
  "row-too-long": {
    where: "scans.ndjson:1",
    what: "The row is longer than 1 MiB.",
    todo: "Look for a quote that never closes, or check that it is the right file.",
  },
  "json-invalid": {
    where: "json-invalid.ndjson:2",
    what: 'The row is not JSON: a string never ends at column 53, before "ticketI.',
    todo: "Mend it at that place, or write the file again with a JSON library.",
  },
  "json-duplicate-key": {
    where: "json-duplicate-key.ndjson:2",
    what: "The key /data/price occurs twice; one of its values would be lost.",
    todo: "Remove one of the two.",
  },
  "json-not-object": {
    where: 'json-not-object.ndjson:2 "[\\"soldTicket\\",\\"T-1\\"]"',
    what: "A row is a JSON object, not a list.",
    todo: 'Write {"action": ..., "data": {...}}, or an object of columns and values.',
  },
  "json-not-array": {
    where: "json-not-array.json:1",
    what: "The file is one {action, data} object, not an array of them.",
    todo: "Put [ ] around it.",
  },

  // A whole input.
  "input-empty": {
    where: "scans.csv:1",
    what: "The file is empty: 0 bytes.",
    todo: "A table without rows has its header. Did the export fail? If an empty file is right, add --allow-empty.",
  },
  "input-no-rows": {
    where: "scans.csv:1",
    what: "The input has no rows: there is nothing to send.",
    todo: "If there should be some, check what wrote it and export again.",
  },
  "input-twice": {
    where: "scans-2.csv:1",
    what: "The input is the same as scans-1.csv, byte for byte.",
    todo: "If it is a copy, give only one of them: of updates, and of scans without times, each is sent.",
  },
  "looks-like-utf8": {
    where: "x.csv:2",
    what: 'The file is read as windows-1252, but all of it is valid UTF-8: "Gärten" would become "GÃ¤rten".',
    todo: "Leave --encoding out, or declare encoding: utf-8 in csv of its source. If it really is windows-1252, set this rule to off.",
  },
  "last-line-unended": {
    where: "scans.csv:2",
    what: "The last line has no line end, so it may be cut off.",
    todo: "Compare it with the system that wrote it. A whole export ends its last line too.",
  },

  // Rows to actions.
  "not-clearable": {
    where: 'updates-not-clearable.csv:3 metadataAttributes: "\\\\clear"',
    what: "metadataAttributes can't be cleared: the service has no default for it.",
    todo: "Leave the cell empty.",
  },
  "action-conflict": {
    where: 'x.csv:2 action: "soldTicket"',
    what: "The row names soldTicket, but all rows of the file are declared scannedTicket.",
    todo: "Leave --action (or the source's action) out: the rows name their actions.",
  },
  "column-ambiguous": {
    where: "scans-column-ambiguous.ndjson:2 ticketId:",
    what: '"ticketId" and "ticket_id" both mean ticketId.',
    todo: "Leave one out.",
  },
  "open-actions": {
    where: 'scans-open-actions.csv:3 tickets:actions: "soldTicket"',
    what: "tickets:actions names soldTicket, which the row does not give.",
    todo: "The row gives scannedTicket. Empty the cell to send all that it gives.",
  },
  "time-without-zone": {
    where: 'sales-time-without-zone.csv:3 orderTime: "2026-01-16 22:47:40"',
    what: "orderTime is a local time without a zone.",
    todo: "Write the offset, such as 2026-05-01T20:00:00+02:00, or declare the zone of the source in the config, such as zone: Europe/Berlin.",
  },
  "time-unreadable": {
    where: 'sales-time-unreadable.csv:3 orderTime: "03/04/2026 19:30"',
    what: "orderTime is neither Unix seconds nor a time such as 2026-05-01T20:00:00+02:00.",
    todo: 'Declare how the source writes it, such as format: "d.M.yyyy HH:mm" with its zone.',
  },
  "time-skipped": {
    where: 'x.csv:2 orderTime: "2026-03-29T02:30:00"',
    what: "orderTime is in the hour that the clocks skip.",
    todo: "Check that the zone is the one in which the file writes its times.",
  },
  "value-unknown": {
    where: 'x.csv:2 ticketId: "T-1"',
    what: "The value table of ticketId does not hold it.",
    todo: 'It holds "a". Add it to map, or declare else.',
  },
  "value-unexpected": {
    where: 'x.csv:2 Currency: "USD"',
    what: "The source expects EUR in Currency.",
    todo: "Does the row belong to another event or source? If not, add its value to expect.",
  },
  "amount-not-divisible": {
    where: 'x.csv:2 price: "10.00"',
    what: "price does not divide by 3 into equal amounts.",
    todo: "Declare places, or remainder: first (one unit more for the first tickets) or round.",
  },
  "each-unreadable": {
    where: 'x.csv:2 {Q}: "two"',
    what: "{Q} is not a whole number to count by.",
    todo: "Give a whole number from 0 to 10000; leave out rows without one with when.",
  },
  "list-missing": {
    where: "x.ndjson:2 codes:",
    what: "The row has no codes, from which its actions are made.",
    todo: "If rows without it give nothing, say so in the source: optional: [codes].",
  },
  "id-number-spelling": {
    where: 'scans-id-number-spelling.ndjson:2 ticketId: "1.5e3"',
    what: "ticketId is a number that another export may write otherwise, and so as another id.",
    todo: "Have the export give it as text, or without fraction and exponent.",
  },
  "key-missing": {
    where: "x.ndjson:1 At:",
    what: 'No row has "At", which the source reads.',
    todo: "Is it spelt as in the file? If a whole file may lack it, say so in the source: optional: [At].",
  },
  "lookup-missing": {
    where: 'x.csv:2 o: "2"',
    what: 'FOLDER/orders.csv has no row with this "Ref".',
    todo: "Is the file from the same export? Declare missing: empty if some rows have none.",
  },
  "lookup-ambiguous": {
    where: 'x.csv:2 o: "1"',
    what: 'FOLDER/orders.csv has several rows with this "Ref".',
    todo: "Join by columns that tell them apart.",
  },
  "lookup-fits-nothing": {
    where: 'x.csv:1 o: "2"',
    what: "FOLDER/orders.csv matches not even the one row that uses it, so what it should add is missing everywhere.",
    todo: "Is it from the same export, and are the values written the same way?",
  },
  "value-not-named": {
    where: "x.csv:3 In:",
    what: 'No when, skip or expect names "ja" (line 3).',
    todo: "Add each to the when whose action it should give, to skip if its rows give nothing, or to expect if it is known to need neither.",
  },
  "value-near": {
    where: 'x.csv:3 In: "refunded"',
    what: 'The source names it, but no row holds it; 1 row holds "Refunded".',
    todo: 'Did you mean "Refunded"? Values are compared exactly.',
  },
  "fill-down-empty": {
    where: "x.csv:2 At:",
    what: "At is empty, and no readable row above can fill it.",
    todo: "Write the value into the first row that has it.",
  },
  "totals-line": {
    where: 'sales-totals-line.csv:4 "Total"',
    what: 'The row is a line of totals: it is called "Total".',
    todo: 'Leave it out of the export, or name it in skip of the source: skip: {COLUMN: "Total"}.',
  },
  "event-told-differently": {
    where: 'x.csv:3 eventName: "Gala 2026"',
    what: 'Line 2 says "Gala" about the event "e", but this row says "Gala 2026". The first row counts.',
    todo: "If the later one is right, mend the export or leave the first out with when; if they are two events, give each its own eventId.",
  },
  "column-by-position": {
    where: "x.csv:1 ticket:",
    what: 'It is column 1, whatever its header; now that is "T".',
    todo: 'So that another column is never taken for it: ticket: {at: 1, named: "T"}.',
  },
  "nothing-mapped": {
    where: "x.csv:1",
    what: 'The one row gives no action, and the source names none of its values: In: "oui" (1).',
    todo: "Is it the right source? Add the values to when, or to skip if such rows give nothing.",
  },
  "one-event-of-two-files": {
    where: "x2.csv:1",
    what: "The source s also reads x1.csv, and gives every row the same eventId.",
    todo: "If they hold different events, give each its own source with a narrower match.",
  },
  "key-empty": {
    where: "x.csv:2 key:",
    what: "The key of the source is empty for its scannedTicket.",
    todo: "Leave such rows out with when, or name a column that is always filled.",
  },
  "rejects-misread": {
    where: "checkins.csv:2",
    what: "It was rejected when it was read as scannedTicket, and is read as checkedInTicket now, where the same cells mean another deed.",
    todo: "Stream the rejects under their original name, with the options of that run: --source NAME or --action NAME.",
  },
  "rejects-row-twice": {
    where: "scans.rejects.csv:3",
    what: "It has the tickets:row of line 2 but differs from it: which of them the bad row became can't be told.",
    todo: "Remove one of them, or empty its tickets:row if it is a separate row.",
  },
  "mended-gives-more": {
    where: "x.csv:2",
    what: "The row was mended, and what it gave was accepted; what it now gives beside that was never sent: checkedInTicket.",
    todo: "Mend it in its rejects file and stream that: what was accepted is known, and only the rest is sent. To leave the rest out for good, remove it from the row there and empty tickets:actions.",
  },
  "mended-unsure": {
    where: "scans.csv:2",
    what: "A row that reads like this one was mended and sent before, so this one is not; but it names no ticket or event, and may be another row.",
    todo: "If it is another one, stream it alone with its ids. Correct the rows at the source.",
  },

  // One action by itself.
  "item-shape": {
    where: "item-shape.json:3",
    what: "data is a list, not an object.",
    todo: 'Write {"action": ..., "data": {...}}.',
  },
  "action-unknown": {
    where: 'action-unknown.ndjson:2 "sellTicket"',
    what: "action is not one of the service's actions.",
    todo: "Did you mean soldTicket?",
  },
  "field-unknown": {
    where: 'field-unknown.ndjson:2 seat: "A7"',
    what: '"seat" is not a field.',
    todo: "Leave it out.",
  },
  "field-not-accepted": {
    where: 'field-not-accepted.ndjson:1 price: "39.00"',
    what: "scannedTicket takes no price.",
    todo: "It takes ticketId, nftId, orderTime.",
  },
  "field-required": {
    where: "sales-field-required.csv:3 price:",
    what: "soldTicket has no price, which is required.",
    todo: "Add price.",
  },
  "ticket-reference-missing": {
    where: "scans-ticket-reference-missing.csv:3 ticketId:",
    what: "scannedTicket names no ticket: exactly one of ticketId and nftId is required.",
    todo: "Add the ticketId, or the nftId that the service made.",
  },
  "ticket-reference-both": {
    where: "scans-ticket-reference-both.csv:3 nftId:",
    what: "scannedTicket has ticketId and nftId; exactly one is accepted.",
    todo: "Leave one out.",
  },
  "claim-recipient-missing": {
    where: "claims-claim-recipient-missing.csv:3 to:",
    what: "claimedTicket has neither to nor userId; at least one is required.",
    todo: "Add the wallet address (to), the userId or both.",
  },
  "field-null": {
    where: 'field-null.ndjson:2 imageUrl: "null"',
    what: 'imageUrl is null; only an update takes null, for "leave unchanged".',
    todo: "Leave the field out.",
  },
  "field-type": {
    where: 'field-type.ndjson:2 price: "39"',
    what: "price is a number, not text.",
    todo: 'Write it in double quotes, as "12.50".',
  },
  "too-long": {
    where:
      'sales-too-long.csv:3 name: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"',
    what: "name has 129 characters, 128 are allowed.",
    todo: "Shorten it in the export or the mapping.",
  },
  "text-not-unicode": {
    where: 'text-not-unicode.ndjson:2 ticketId: "T-1\\ud83c"',
    what: "ticketId holds half of a surrogate pair, which is not a character.",
    todo: "Export again: the text was cut or decoded wrongly before it came here.",
  },
  "id-empty": {
    where: 'id-empty.ndjson:2 ticketId: ""',
    what: "ticketId is empty.",
    todo: "Give the reference your own system uses.",
  },
  "url-invalid": {
    where: 'events-url-invalid.csv:3 shopUrl: "ftp://shop.example.com/ber"',
    what: "shopUrl is not an http or https URL.",
    todo: "Write it in full, such as https://example.com/a.png.",
  },
  "currency-unknown": {
    where: 'events-currency-unknown.csv:3 currency: "EURO"',
    what: "currency is not a currency code of exactly 3 characters.",
    todo: "Did you mean EUR?",
  },
  "currency-withdrawn": {
    where: 'events-currency-withdrawn.csv:3 currency: "HRK"',
    what: "currency is not in the current ISO 4217 list.",
    todo: "Check that the prices are in this currency, and that the service takes it.",
  },
  "latitude-range": {
    where: 'events-latitude-range.csv:3 latitude: "90.5"',
    what: "latitude is not between -90 and 90.",
    todo: "Give degrees as a decimal number.",
  },
  "longitude-range": {
    where: 'events-longitude-range.csv:3 longitude: "-180.5"',
    what: "longitude is not between -180 and 180.",
    todo: "Give degrees as a decimal number.",
  },
  "u64-invalid": {
    where: 'events-u64-invalid.csv:3 endTime: "18446744073709551616"',
    what: "endTime is not an unsigned 64-bit whole number.",
    todo: "Give Unix seconds, 0 to 18446744073709551615.",
  },
  "price-invalid": {
    where: 'sales-price-invalid.csv:3 price: "12,50"',
    what: "price is not a decimal number such as 12.50.",
    todo: 'A decimal comma must be declared in the mapping: decimal: ",".',
  },
  "uuid-invalid": {
    where: 'uuid-invalid.ndjson:2 metadataTemplateId: "template-7"',
    what: "metadataTemplateId is not a UUID.",
    todo: "Give the template's id, such as 6f1c2a52-7a41-4c0e-9d3e-52e0f6a1b0c7.",
  },
  "nft-id-invalid": {
    where: 'scans-nft-id-invalid.csv:3 nftId: "SANDBOX-1"',
    what: "nftId is not of the form <CHAIN>-<number>-<number>.",
    todo: "Use the nftId that the service made, or name the ticket by ticketId.",
  },
  "wallet-invalid": {
    where: 'claims-wallet-invalid.csv:3 to: "0x…ed"',
    what: "to has a wrong checksum (EIP-55), so one of its characters is wrong.",
    todo: "Copy the address again from the wallet.",
  },
  "wallet-unusual": {
    where: 'claims-wallet-unusual.csv:2 to: "tz…jb"',
    what: "to is not an address of the 0x form, so it can't be checked here.",
    todo: "Compare it with the wallet before you send it.",
  },
  "metadata-invalid": {
    where: 'sales-metadata-invalid.csv:3 metadataAttributes: "[{\\"trait\\":\\"Row\\",\\"value\\":7}]"',
    what: 'metadataAttributes attribute 1 has an unknown key "trait"; there are trait_type, value and display_type.',
    todo: 'Write [{"trait_type":"Row","value":"A"}].',
  },
  "sold-ticket-without-user": {
    where: "sales-sold-ticket-without-user.csv:3 userId:",
    what: "soldTicket has no userId, which is required.",
    todo: "Add userId. If your service takes a sale without it, set rules: {sold-ticket-without-user: off} in the config.",
  },
  "update-ticket-name": {
    where: 'update-ticket-name.ndjson:1 name: "Row 7"',
    what: "By the service's table updateTicket takes no name, although one of its samples sends it.",
    todo: "If your service takes it, set rules: {update-ticket-name: off} in the config.",
  },
  "update-ticket-description": {
    where: 'update-ticket-description.ndjson:1 description: "A seat"',
    what: "By the service's table updateTicket takes no description, although one of its samples sends it.",
    todo: "If your service takes it, set rules: {update-ticket-description: off} in the config.",
  },
  "update-event-image-url": {
    where: 'update-event-image-url.ndjson:2 imageUrl: "https://media.example.com/a.png"',
    what: "By the service's table updateEvent takes no imageUrl, although one of its samples sends it.",
    todo: "If your service takes it, set rules: {update-event-image-url: off} in the config.",
  },
  "metadata-template-id": {
    where: 'metadata-template-id.ndjson:2 metadataTemplateId: "6f1c2a52-7a41-4c0e-9d3e-52e0f6a1b0c7"',
    what: "The specification does not show which actions accept metadataTemplateId.",
    todo: "If your service takes it, set rules: {metadata-template-id: off} in the config.",
  },

  // Likely mistakes.
  "order-time-missing": {
    where: "scans-order-time-missing.csv:3 orderTime:",
    what: "scannedTicket has no orderTime, so the service takes the time of sending.",
    todo: "Map the column that holds the time, or leave it out if the export has none.",
  },
  "looks-like-milliseconds": {
    where: 'scans-looks-like-milliseconds.csv:3 orderTime: "1781280060000"',
    what: "orderTime looks like milliseconds; the service reads seconds.",
    todo: "Give 1781280060, which is 2026-06-12 16:01:00 UTC.",
  },
  "looks-like-no-unix-time": {
    where: 'scans-looks-like-no-unix-time.csv:3 orderTime: "20260612"',
    what: "orderTime looks like the digits of a date; the service reads Unix seconds, so 1970-08-23 11:56:52 UTC.",
    todo: 'Declare how the file writes it: format: "yyyyMMdd", with its zone.',
  },
  "id-looks-mangled": {
    where: 'scans-id-looks-mangled.csv:3 ticketId: "1.84E+11"',
    what: "ticketId looks like what a spreadsheet writes in place of an id.",
    todo: "Export again, and don't open and save the file in a spreadsheet.",
  },
  "text-looks-damaged": {
    where: 'events-text-looks-damaged.csv:3 eventName: "CafÃ© Ball"',
    what: "eventName holds Ã©, as UTF-8 that was read in another encoding.",
    todo: "Export again as UTF-8, and check that --encoding, or the encoding of the source, is the file's.",
  },
  "control-character": {
    where: 'scans-control-character.csv:3 ticketId: "T-2 "',
    what: "ticketId holds the control character U+0001.",
    todo: "It is invisible, but makes the text a different one. Find where it comes from, and export again without it.",
  },
  "update-without-change": {
    where: "update-without-change.ndjson:1",
    what: "updateTicket changes nothing: it has no field but its id.",
    todo: "Check whether a column was renamed or is empty; leave out rows that change nothing.",
  },
  "end-before-start": {
    where: 'events-end-before-start.csv:3 endTime: "1781285400"',
    what: "The event ends (2026-06-12 17:30:00 UTC) before it starts (2026-06-12 21:45:00 UTC).",
    todo: "Check whether the two are mixed up or their zones differ.",
  },
  "order-time-far": {
    where: 'scans-order-time-far.csv:3 orderTime: "1000000000"',
    what: "orderTime is 2001-09-09 01:46:40 UTC, before there were such tickets.",
    todo: "Check that the right column is mapped, and that its day, month, year and zone are read as intended.",
  },
  "event-time-far": {
    where: 'events-event-time-far.csv:3 startTime: "4102444800"',
    what: "startTime is 2100-01-01 00:00:00 UTC, more than ten years from now.",
    todo: "Check that the right column is mapped, and that its day, month, year and zone are read as intended.",
  },
  "url-with-login": {
    where: 'events-url-with-login.csv:3 coverImageUrl: "https://…@cdn.example.com/ball.png"',
    what: "coverImageUrl has a user name or password, which would be published with it.",
    todo: "Give the URL without the part before the @, and change that password if it was sent anywhere.",
  },
  "url-unusual": {
    where: 'events-url-unusual.csv:3 shopUrl: "https://shop..example.com/"',
    what: 'shopUrl names the host "shop..example.com", which no name server knows.',
    todo: "Open it in a browser to check it; a % itself is written %25.",
  },
  "callback-not-public": {
    where: 'events-callback-not-public.csv:3 callbackUrl: "http://192.168.1.20:8080/hook"',
    what: "callbackUrl leads to 192.168.1.20, which only your own machine or network can reach.",
    todo: "The service calls it from outside: give a public address, or leave it out.",
  },
  "payload-too-long": {
    where: "p.json:1",
    what: "The payload has 5001 items; a request takes 5000.",
    todo: "tickets stream splits it.",
  },

  // Across actions.
  "id-near-another": {
    where: 'sales-id-near-another.csv:3 ticketId: "Fo\u0308hn-1"',
    what: '"Fo\\u0308hn-1" differs from "F\\u00f6hn-1", which stands at sales-id-near-another.csv:2, only in how it is written: blanks, hyphens or the Unicode form of characters.',
    todo: "Have the export write it as it is there, and don't open and save the file in a spreadsheet. If it is another ticket, stream its row alone with --again.",
  },
  "event-not-registered": {
    where: 'event-not-registered.ndjson:1 eventId: "ber-2026"',
    what: 'Event "ber-2026" is registered only later in this input.',
    todo: "Put its newEvent before its tickets, or use --order time.",
  },
  "event-registered-twice": {
    where: 'events-event-registered-twice.csv:3 eventId: "ber-2026"',
    what: 'Event "ber-2026" is already registered at events-event-registered-twice.csv:2.',
    todo: "To change an event, use updateEvent.",
  },
  "event-registered-late": {
    where: 'x.ndjson:1 eventId: "E"',
    what: 'This newEvent comes after an updateEvent of "E", which was accepted before this input.',
    todo: "Sent now, it may undo that one: look at what the service has of the event. Next time, stream newEvent first.",
  },
  "ticket-sold-twice": {
    where: 'sales-ticket-sold-twice.csv:3 ticketId: "T-1"',
    what: 'Ticket "T-1" is already sold at sales-ticket-sold-twice.csv:2.',
    todo: "A later sale of it is a resoldTicket. If the id is that of an order, make one id per ticket in the mapping.",
  },
  "ticket-not-sold": {
    where: 'ticket-not-sold.ndjson:3 ticketId: "T-1"',
    what: 'This sale comes after another action on ticket "T-1", at ticket-not-sold.ndjson:2.',
    todo: "Put sales first, or use --order time.",
  },
  "resold-to-holder": {
    where: 'resold-to-holder.ndjson:3 userId: "gu…01"',
    what: 'Ticket "T-1" is resold to the user who already holds it, since resold-to-holder.ndjson:2.',
    todo: "userId is the new buyer's.",
  },
  "after-final": {
    where: 'after-final-invalidated.ndjson:4 ticketId: "T-1"',
    what: 'Ticket "T-1" was invalidated at after-final-invalidated.ndjson:3; the service may not accept a scannedTicket after that.',
    todo: "Check the order; --order time sorts by orderTime.",
  },
  "currency-decimals": {
    where: 'currency-decimals.ndjson:2 price: "39.50"',
    what: "price has 1 decimal, JPY has none.",
    todo: "Check that the event's currency is right and that the price is not a computed one.",
  },
  "depends-on-invalid": {
    where: "depends-on-invalid.ndjson:2",
    what: "holds 1 row that depends on it: depends-on-invalid.ndjson:3.",
    todo: "That row is sent once this one is mended.",
  },
  "deed-repeated": {
    where: "checkins-deed-repeated.csv:3",
    what: "checkedInTicket of the same ticket occurs earlier in this input; it is sent once.",
    todo: "Remove the row if it says nothing new.",
  },
  "same-minute": {
    where: "scans-same-minute.csv:3",
    what: "The same scannedTicket of this ticket, of the same minute, stands at scans-same-minute.csv:2 too: each is sent.",
    todo: "Remove the row if it is a copy of the other. Times with seconds tell deeds apart.",
  },
  "imported-history": {
    where: "scans.csv:2",
    what: "Before the ledger was lost, a scannedTicket of this ticket was accepted, and the imported promises don't say which one.",
    todo: "If this is a new one, send its rows alone with --again; if not, remove them. If an export brings them every night, let the others through with rules: {imported-history: warn}.",
  },
  changed: {
    where: "sales.ndjson:1",
    what: "It was accepted with other content and is not sent again: price 1 → 2.",
    todo: "To change the ticket, send an updateTicket or a resoldTicket. If the new value is wrong, correct it at the source.",
  },
  "history-late": {
    where: "updates.ndjson:2",
    what: "It was not accepted, but later updateTicket actions of the same ticket were, up to updates.ndjson:3: sent now, it would undo them.",
    todo: "Leave it unsent to keep the current state. To send it anyway, stream its row alone.",
  },
  "state-came-back": {
    where: "updates.ndjson:1",
    what: "It says what was accepted before (before.ndjson:3), so it is not sent. But another updateTicket of this ticket was accepted later (run RUN, before.ndjson:4), and this input lacks that one.",
    todo: "If the ticket is back to what this row says, stream the row alone with --again. A key of the source that changes with each change tells it by itself.",
  },
  "history-superseded": {
    where: "updates.ndjson:1",
    what: "The service did not take it, and has accepted another updateTicket of the same ticket since (updates.ndjson:2): sent now, it would undo that one.",
    todo: "Leave it unsent to keep the current state. To send it anyway, stream its row alone with --again.",
  },
  "history-unclear": {
    where: "updates.ndjson:1",
    what: "Which updateTicket actions of this ticket were accepted can't be told, since equal ones repeat. Accepted: imageUrl https://img.example.com/a.png; imageUrl https://img.example.com/b.png; imageUrl https://img.example.com/a.png. This input: imageUrl https://img.example.com/b.png.",
    todo: "To send the rows that are new and later than all that was accepted, stream them in a file of their own with --again. In the export, let the other rows through with rules: {history-unclear: warn}.",
  },
  "key-shared": {
    where: "x.csv:2",
    what: 'The key of this row is that of another ticket, "T-1", which was accepted under it (x-before.csv:2).',
    todo: "Make the source's key one that no two tickets share.",
  },
};

describe("the words of", () => {
  test.each(Object.entries(WORDS))("%s", async (rule, { where, what, todo }) => {
    const { field, names } = await fieldOf(triggerOf(rule), "");
    const { said } = await ended(field, plan, names);
    const told = said.replaceAll(field.folder, "FOLDER").replaceAll(/\brun [0-9a-f]{8}\b/g, "run RUN");
    // A warning begins with its rule, and an error ends in it; a row that waits is told by the row that holds it.
    const ofRule = new RegExp(`^${rule}(?: \\(.*?\\))?: | \\[${rule}\\]$`);
    expect(told.split("\n").map((line) => line.replace(ofRule, ""))).toContain(`${where} ${what} ${todo}`);
  });

  test("every rule are here", () => {
    expect(Object.keys(WORDS).toSorted()).toEqual(Object.keys(ALL_RULES).toSorted());
  });
});
