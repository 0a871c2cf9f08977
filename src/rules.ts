/** Every rule by its id, in one table for each step of a row. docs/reference.md#rules is made of them. */

export const SEVERITIES = ["off", "warn", "error"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How grave what it finds is, unless the config says otherwise, and why. */
export interface Rule {
  readonly severity: Severity;
  /** Why the rule exists, in one line. */
  readonly reason: string;
  /** Something that breaks it, where the reason doesn't show that. */
  readonly example?: string;
}

/** A table of rules: most have this severity, and the others say theirs. */
function rulesOf<Id extends string>(
  severity: Severity,
  rules: Readonly<Record<Id, Pick<Rule, "reason"> & Partial<Rule>>>,
): Readonly<Record<Id, Rule>> {
  const entries = Object.entries<Partial<Rule>>(rules).map(([id, rule]) => [id, { severity, ...rule }]);
  return Object.fromEntries(entries) as Record<Id, Rule>; // the same keys
}

// ---- rows to actions ----

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

// ---- actions ----

/** The rules of one action by itself. The sandbox refuses by these, too. */
export const ACTION_RULES = rulesOf("error", {
  "item-shape": {
    reason: "An item is an object with the keys action and data, nothing else.",
    example: '{"action":"newEvent"}',
  },
  "action-unknown": {
    reason: "The specification lists all actions.",
    example: '"action":"sellTicket"',
  },
  "field-unknown": { reason: "The service has no field of that name.", example: '"eventid"' },
  "field-not-accepted": {
    reason: "The field exists, but this action does not take it.",
    example: "price on scannedTicket",
  },
  "field-required": {
    reason: "All required fields must be sent.",
  },
  "ticket-reference-missing": {
    reason: "The ticket is named by ticketId or nftId.",
  },
  "ticket-reference-both": {
    reason: "No more than one of ticketId and nftId is accepted.",
  },
  "claim-recipient-missing": {
    reason: "A claim names the wallet (to), the user (userId) or both.",
  },
  "field-null": {
    reason: 'null means "leave unchanged", which only optional fields of updates can be.',
    example: '"price":null',
  },
  "field-type": { reason: "Each field has one JSON type.", example: '"price":12.5 (a number; prices are text)' },
  "too-long": {
    reason: "Lengths are limited, counted in Unicode code points.",
  },
  "text-not-unicode": {
    reason: "Half a surrogate pair can't be written in UTF-8, so a different text would arrive.",
    example: '"ticketId":"\\ud800"',
  },
  "id-empty": { reason: "An empty reference references nothing." },
  "url-invalid": { reason: "URLs are http or https.", example: "ftp://example.com/a.png" },
  "currency-unknown": { reason: "Currencies are ISO 4217 codes of exactly 3 characters.", example: "EURO" },
  "currency-withdrawn": {
    severity: "warn",
    reason:
      "The code is not in the current ISO 4217 list; the specification does not say which ones the service takes.",
    example: "DEM",
  },
  "latitude-range": { reason: "A latitude is a number from -90 to 90." },
  "longitude-range": { reason: "A longitude is a number from -180 to 180." },
  "u64-invalid": { reason: "Times are unsigned 64-bit integers, Unix seconds." },
  "price-invalid": { reason: "A price is a decimal number written as text.", example: "12,50" },
  "uuid-invalid": { reason: "The id is a UUID." },
  "nft-id-invalid": { reason: "An nftId has the form <CHAIN>-<number>-<number>.", example: "MATIC-12" },
  "wallet-invalid": {
    reason: "The wallet address is damaged; what is sent to it can't be recovered.",
    example: "0x52908400098527886E0F7030069857D2E4169Ee7 (checksum)",
  },
  "wallet-unusual": {
    severity: "warn",
    reason: "The address is not of the 0x form, so its correctness can't be checked here.",
    example: "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb",
  },
  "metadata-invalid": {
    reason: "Attributes are a list of objects with trait_type and value, optionally display_type.",
    example: '[{"trait":"Row"}]',
  },
  "json-duplicate-key": {
    reason: "A duplicate key silently drops one of its values.",
    example: '{"price":"1","price":"2"}',
  },
  "sold-ticket-without-user": {
    reason: "The table requires userId on soldTicket; a sample omits it.",
  },
  "update-ticket-name": {
    reason: "The table gives updateTicket no name; a sample sends it.",
  },
  "update-ticket-description": {
    reason: "The table gives updateTicket no description; a sample sends it.",
  },
  "update-event-image-url": {
    reason: "The table gives updateEvent no imageUrl; a sample sends it.",
  },
  "metadata-template-id": {
    reason: "The specification does not show which actions accept metadataTemplateId.",
  },
});

export type ActionRule = keyof typeof ACTION_RULES;

/** What is probably a mistake in one action, although the service's tables allow it. */
export const LIKELY_RULES = rulesOf("warn", {
  "order-time-missing": {
    reason: "Without orderTime the service stamps the time of sending, not the time at which it happened.",
  },
  "looks-like-milliseconds": {
    reason: "Times are Unix seconds; as seconds this one is thousands of years away.",
    example: '"orderTime":1767225600000',
  },
  "id-looks-mangled": {
    reason:
      "Spreadsheets and scripts write such text in place of an id, or such signs around it; several tickets may share it.",
    example:
      '"ticketId":"1.84E+10", "123456789012345000", "####", "#WERT!", "TRUE", "-", "{{id}}-1", "=\\"00123\\"" or "\'00123"',
  },
  "text-looks-damaged": {
    reason: "The text lost or misread a character, or holds markup, an escape, a placeholder or a failed formula.",
    example:
      '"eventName":"CafÃ©", "Kaj?te", "Rock &amp; Roll", "<b>Live</b>", "#REF!" or "undefined"; https://example.com/{{seat}}',
  },
  "control-character": {
    reason:
      "The character is invisible: an id with it is not the id it looks like, and a public text keeps it forever.",
    example: '"ticketId":"T-1\\u0001"',
  },
  "update-without-change": {
    reason: "An update with only an id changes nothing: its columns may have been renamed.",
  },
  "end-before-start": {
    reason: "The event ends before it starts.",
  },
  "order-time-far": {
    reason:
      "A time before 2009, or more than 15 minutes in the future, was probably read from the wrong column, zone or format.",
    example: '"orderTime":1000000000 (2001-09-09)',
  },
  "event-time-far": {
    reason: "The event starts or ends more than ten years from now.",
    example: '"startTime":4102444800 (2100-01-01)',
  },
  "url-with-login": {
    severity: "error",
    reason:
      "The user name and password of a URL would be registered with it, and most URLs are public on the blockchain.",
    example: "https://anna:secret@example.com/a.png",
  },
  "payload-too-long": {
    reason: "A request holds at most 5000 actions; tickets stream splits longer ones.",
  },
});

/** What can only be seen across actions: in their order, and against what the environment has accepted. */
export const CROSS_ACTION_RULES = rulesOf("error", {
  "id-near-another": {
    reason:
      "It differs from an accepted id, or from one of this input, only in blanks, hyphens, Unicode forms, leading zeros or trailing decimals, which spreadsheets and programs change.",
  },
  "event-not-registered": {
    reason:
      "An event is registered before its tickets. Where it may have been registered elsewhere, this is one warning per event; `complete: true` in the environment says that nothing was.",
    example: "a soldTicket before the newEvent of its event",
  },
  "event-registered-twice": {
    reason: "An event is registered once, and what is written to the blockchain stays.",
  },
  "ticket-sold-twice": {
    reason: "A ticket is registered by one soldTicket; when it changes hands, that is a resoldTicket.",
  },
  "resold-to-holder": {
    reason: "The buyer of a resale differs from the user who held the ticket.",
  },
  "after-final": {
    severity: "warn",
    reason: "No action is expected after an invalidation; after a check-in, only a claim.",
  },
  "currency-decimals": {
    severity: "warn",
    reason:
      "The price has more decimals than the event's currency. Three decimals may be thousands; more than four were computed.",
    example: '"price":"12.505" or "1.250" for an event in EUR, "48.00000000000001" for any',
  },
  "depends-on-invalid": {
    reason: "An earlier row of the same ticket, or the row that registers its event, is invalid and not sent.",
    example: "the scannedTicket of a ticket whose soldTicket has no price",
  },
});

// ---- rows and inputs, which borrow a rule of the actions ----

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

// ---- beside what was accepted ----

/** What the plan says of actions beside what was accepted, and of sources that are not what they were. */
export const PLAN_RULES = rulesOf("warn", {
  changed: {
    reason: "An accepted action is not sent again, but the input now says something else about it.",
    example: "a soldTicket whose price differs from the one that was accepted",
  },
  late: {
    reason: "Updates, resales and claims overwrite, so an older one is not sent after a newer one was accepted.",
    example: "an updateTicket row inserted before one that was accepted yesterday",
  },
  unclear: {
    reason: "Neither a time nor a key says whether the action is an accepted one, so it is not sent on a guess.",
    example: "updateTicket A, B and A again, without a key",
  },
  "times-fall": {
    severity: "error",
    reason: "Resales or claims of one ticket whose times fall within one input would be sent in the wrong order.",
    example: "an export that begins with the newest resale",
  },
  "mapping-changed": {
    severity: "error",
    reason: "Made in another way, the ids, times or keys of a source would make accepted actions look new.",
    example: 'ticketId: "{Event}-{Position}", which was "{Order}-{Position}"',
  },
  "nothing-recognised": {
    severity: "error",
    reason: "Most rows of the source were known on its last two nights, and now almost none are.",
    example: "an export in another time zone",
  },
});

/** The rules of all checks. */
export const ALL_RULES: Readonly<Record<string, Rule>> = {
  ...ACTION_RULES,
  ...LIKELY_RULES,
  ...CROSS_ACTION_RULES,
  ...READER_RULES,
  ...INPUT_RULES,
  ...MAPPING_RULES,
  ...PLAN_RULES,
};

/** Their ids, for the config's `rules`. */
export const KNOWN_RULES: readonly string[] = Object.keys(ALL_RULES);

/** How grave each rule's problems are: as the config's `rules` say, else as the tables do. */
export function severityTable(overrides: Readonly<Record<string, Severity>>): ReadonlyMap<string, Severity> {
  const own = Object.entries(ALL_RULES).map(([id, { severity }]) => [id, severity] as const);
  return new Map([...own, ...Object.entries(overrides)]);
}

/** An unknown rule is an error: a problem must never be lost because a table lacks it. */
export function severityIn(table: ReadonlyMap<string, Severity>): (rule: string) => Severity {
  return (rule) => table.get(rule) ?? "error";
}
