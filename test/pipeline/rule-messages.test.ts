/**
 * The words of each rule that no bad file shows, by an input that breaks it (test/support/rule-triggers.ts): where, what, and
 * what to do, as `tickets plan` prints them. Those of the bad files are in test/e2e/golden-plans/.
 */

import { describe, expect, test } from "vitest";
import { verbs } from "../support/context.ts";
import { ended, fieldOf, TRIGGERS, triggerOf } from "../support/rule-triggers.ts";

interface Words {
  /** File, line, field or column, and the text there: cleaned and shortened, and masked where it names a person. */
  readonly where: string;
  readonly what: string;
  readonly todo: string;
}

/** FOLDER is the folder of the test, RUN the id of a run. */
const WORDS: Readonly<Record<string, Words>> = {
  "row-too-long": {
    where: "scans.ndjson:1",
    what: "The row is longer than 1 MiB.",
    todo: "Look for a quote that never closes, or check that it is the right file.",
  },
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
    todo: "What both say is sent once. If the same happened twice, give the rows times or their source a key.",
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
  "action-conflict": {
    where: 'x.csv:2 action: "soldTicket"',
    what: "The row names soldTicket, but all rows of the file are declared scannedTicket.",
    todo: "Leave --action (or the source's action) out: the rows name their actions.",
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
  "event-told-differently": {
    where: 'x.csv:3 eventName: "Gala 2026"',
    what: 'Line 2 says "Gala" about the event "e", but this row says "Gala 2026". The first row counts.',
    todo: "If the later one is right, correct the export or leave the first out with when; if they are two events, give each its own eventId.",
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
  "payload-too-long": {
    where: "p.json:1",
    what: "The payload has 5001 items; a request takes 5000.",
    todo: "tickets stream splits it.",
  },
  "event-registered-late": {
    where: 'x.ndjson:1 eventId: "E"',
    what: 'This newEvent comes after an updateEvent of "E", which was accepted before this input.',
    todo: "Sent now, it may undo that one: look at what the service has of the event. Next time, stream newEvent first.",
  },
  changed: {
    where: "sales.ndjson:1",
    what: "It was accepted with other content and is not sent again: price 1 → 2.",
    todo: "To change the ticket, send an updateTicket or a resoldTicket. If the new value is wrong, correct it at the source.",
  },
  late: {
    where: "updates.ndjson:2",
    what: "It was not accepted, but a later updateTicket of the same ticket was (run RUN): sent now, it would undo that one.",
    todo: "Leave it unsent to keep the current state. To send it all the same, stream its row alone with --resend.",
  },
  unclear: {
    where: "updates.ndjson:1",
    what: "It says what was accepted before, with another updateTicket in between (run RUN): whether it is a new one can't be told.",
    todo: "Give such rows a time or their source a key. If it is new, stream its row alone with --resend; if it is known, with --adopt.",
  },
  "mapping-changed": {
    where: "x.csv:1 eventId:",
    what: 'The source s makes the ids of newEvent differently than when some were sent. Then: eventId "{E}". Now: eventId "{E}-{T}". What was sent so far would look new and be sent again.',
    todo: "Undo that. If what was sent comes out the same, or the input holds nothing of it, set rules: {mapping-changed: warn} in the config for one run; the new way is then remembered.",
  },
  "nothing-recognised": {
    where: "x.csv:1",
    what: "Of 50 actions of the source s, none was sent before; on its last two nights it was 100 % and 100 %. Sent now, all would be registered once more.",
    todo: "Compare the file with last night's: another zone, lost zeros, other ids? If all of it is new, set rules: {nothing-recognised: warn} for one run.",
  },
};

describe("the words of", () => {
  test.each(Object.entries(WORDS))("%s", async (rule, { where, what, todo }) => {
    const { field, names } = await fieldOf(triggerOf(rule), "");
    const { said } = await ended(field, verbs.plan, names);
    const told = said.replaceAll(field.folder, "FOLDER").replaceAll(/\brun [0-9a-f]{8}\b/g, "run RUN");
    // A warning begins with its rule, and an error ends in it; a row that waits is told by the row that holds it.
    const ofRule = new RegExp(`^${rule}(?: \\(.*?\\))?: | \\[${rule}\\]$`);
    expect(told.split("\n").map((line) => line.replace(ofRule, ""))).toContain(`${where} ${what} ${todo}`);
  });

  test("every such rule are here", () => {
    expect(Object.keys(WORDS).toSorted()).toEqual(Object.keys(TRIGGERS).toSorted());
  });
});
