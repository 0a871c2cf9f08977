import type { Severity } from "../actions/problem.ts";
import { ACTION_RULES, type Rule, rulesOf } from "../actions/rules.ts";

const ORDER = "specification, Limits: actions are processed in the order sent";
const NEVER_TWICE = "the promise that nothing is sent twice";
const STATES = "specification, States and transitions";
const LIMITS = "specification, Limits";
const FIELD_MEANINGS = "specification, Field meanings";
const LIKELY = "likely, not stated by the specification";

/** What is probably a mistake in one action, although the service's tables allow it. */
export const LIKELY_RULES = rulesOf("warn", LIKELY, {
  "order-time-missing": {
    reason: "Without orderTime the service stamps the time of sending, not the time at which it happened.",
    source: "specification, Field types: orderTime defaults to the current Unix time",
    example: "soldTicket without orderTime",
  },
  "looks-like-milliseconds": {
    reason: "Times are Unix seconds; as seconds this one is thousands of years away.",
    source: FIELD_MEANINGS,
    example: '"orderTime":1767225600000',
  },
  "id-looks-mangled": {
    reason:
      "Spreadsheets and scripts write such text in place of an id, or such signs around it. Several tickets may share it, or other exports may lack it.",
    example:
      '"ticketId":"1.84E+10", "123456789012345000", "####", "#WERT!", "TRUE", "-", "{{id}}-1", "=\\"00123\\"" or "\'00123"',
  },
  "text-looks-damaged": {
    reason:
      "The text has lost or misread a character, or contains markup, an escape, a placeholder or a failed formula. The wrong text would be registered, and several ids may have become one.",
    example:
      '"eventName":"CafÃ©", "Kaj?te", "Rock &amp; Roll", "<b>Live</b>", "#REF!" or "undefined"; https://example.com/{{seat}}',
  },
  "control-character": {
    reason:
      "The character is invisible: an id with it is not the id it looks like, and a public text keeps it forever.",
    example: '"ticketId":"T-1\\u0001"',
  },
  "update-without-change": {
    reason:
      "What an update leaves out is not changed, so one with only an id does nothing: its columns may have been renamed.",
    source: "specification, Null versus empty",
    example: '{"action":"updateTicket","data":{"ticketId":"T-1"}}',
  },
  "end-before-start": {
    reason: "The event ends before it starts.",
    example: '"startTime":1767225600,"endTime":1767222000',
  },
  "order-time-far": {
    reason:
      "A time before 2009, or more than 15 minutes in the future, was probably read from the wrong column, in the wrong zone or format.",
    example: '"orderTime":1000000000 (2001-09-09)',
  },
  "event-time-far": {
    reason: "An event that starts or ends more than ten years from now is probably a mistake.",
    example: '"startTime":4102444800 (2100-01-01)',
  },
  "url-with-login": {
    severity: "error",
    reason:
      "A URL is registered as it is, and most are public on the blockchain: a user name and password in it would be, too.",
    source: "RFC 9110, section 4.2.4 (such URLs are deprecated), and specification, Field meanings",
    example: "https://anna:secret@example.com/a.png",
  },
  "callback-not-public": {
    reason: "The service calls callbackUrl from outside, where this host is not reachable.",
    source: "specification, Field meanings: publicly reachable without authentication",
    example: "http://localhost:8080/hook",
  },
  "payload-too-long": {
    reason: "A request holds at most 5000 actions; tickets stream splits longer ones.",
    source: LIMITS,
    example: "a payload.json of 5001 items",
  },
});

/** What can only be seen across actions: in their order, and against what the environment has accepted. */
export const CROSS_ACTION_RULES = rulesOf("error", NEVER_TWICE, {
  "id-near-another": {
    reason:
      "It differs from an accepted id, or from one of this input, only in blanks, hyphens, Unicode forms, leading zeros or trailing decimals. Spreadsheets and programs change those, and what was accepted would look new.",
    example: '"ticketId":"123456789", where "000123456789" was accepted; "Mu\\u0308ller-1" beside "M\\u00fcller-1"',
  },
  "event-not-registered": {
    reason:
      "An event is registered before its tickets are. Where it may have been registered elsewhere, this is one warning per event; `complete: true` in the environment says that nothing was.",
    source: `${STATES}, rule 1`,
    example: "a soldTicket that stands before the newEvent of its event",
  },
  "event-registered-twice": {
    reason: "An event is registered once, and what is written to the blockchain stays.",
    example: "two newEvent with the same eventId in one input",
  },
  "event-registered-late": {
    severity: "warn",
    reason: "A newEvent that comes after an updateEvent of its event was accepted may undo that update.",
    source: LIKELY,
    example: "a newEvent that the service rejected yesterday, when it accepted the updateEvent behind it",
  },
  "ticket-sold-twice": {
    reason: "A ticket is registered by one soldTicket; when it changes hands, that is a resoldTicket.",
    example: "two soldTicket with the same ticketId in one input",
  },
  "ticket-not-sold": {
    severity: "warn",
    reason:
      "No sale of the ticket is known where all are known (`complete: true`), or its sale comes after this action.",
    source: LIKELY,
    example: "a scannedTicket that stands before the soldTicket of its ticket",
  },
  "resold-to-holder": {
    reason: "The buyer of a resale differs from the user who held the ticket.",
    source: `${STATES}, rule 2`,
    example: "a resoldTicket with the userId of the soldTicket before it",
  },
  "after-final": {
    severity: "warn",
    reason: "No action is expected after an invalidation; after a check-in, only a claim.",
    source: "public documentation of services of this kind",
    example: "a scannedTicket after an invalidatedTicket",
  },
  "currency-decimals": {
    severity: "warn",
    reason:
      "The price has more decimals than the event's currency. Three decimals may be thousands, even if the last is 0 or the currency is unknown. No currency has more than four: such a price was computed.",
    source: "ISO 4217, minor units",
    example:
      '"price":"12.505" or "1.250" for an event in EUR, "1.250" or "48.00000000000001" for one that was registered elsewhere',
  },
  "depends-on-invalid": {
    reason: "An earlier row of the same ticket, or the row that registers its event, is invalid and not sent.",
    source: ORDER,
    example: "the scannedTicket of a ticket whose soldTicket has no price",
  },
});

/** The rules beside those of the service's tables (`ACTION_RULES`). */
export const CHECK_RULES = { ...LIKELY_RULES, ...CROSS_ACTION_RULES } as const;

/** Every rule by id: those of this folder and of the actions, and `others`, which belong to layers this one can't see. */
export function allRules(...others: readonly Readonly<Record<string, Rule>>[]): Readonly<Record<string, Rule>> {
  return Object.assign({}, ACTION_RULES, CHECK_RULES, ...others);
}

/** How grave each rule's findings are: as the config's `rules` say, else as `rules` do. */
export function severityTable(
  overrides: Readonly<Record<string, Severity>>,
  rules: Readonly<Record<string, Rule>> = allRules(),
): ReadonlyMap<string, Severity> {
  const known = new Map<string, Severity>(Object.entries(rules).map(([id, { severity }]) => [id, severity]));
  for (const [id, severity] of Object.entries(overrides)) known.set(id, severity);
  return known;
}

/** An unknown rule is an error: a finding must never be lost because a table was not passed. */
export function severityIn(table: ReadonlyMap<string, Severity>): (rule: string) => Severity {
  return (rule) => table.get(rule) ?? "error";
}
