import type { Severity } from "../actions/problem.ts";
import { ACTION_RULES, type Rule, rulesOf } from "../actions/rules.ts";

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

/** The rules beside those of the service's tables (`ACTION_RULES`). */
export const CHECK_RULES = { ...LIKELY_RULES, ...CROSS_ACTION_RULES } as const;

/** Every rule by id: those of this folder and of the actions, and `others`, which belong to layers this one can't see. */
export function allRules(...others: readonly Readonly<Record<string, Rule>>[]): Readonly<Record<string, Rule>> {
  return Object.assign({}, ACTION_RULES, CHECK_RULES, ...others);
}

/** How grave each rule's problems are: as the config's `rules` say, else as `rules` do. */
export function severityTable(
  overrides: Readonly<Record<string, Severity>>,
  rules: Readonly<Record<string, Rule>> = allRules(),
): ReadonlyMap<string, Severity> {
  const known = new Map<string, Severity>(Object.entries(rules).map(([id, { severity }]) => [id, severity]));
  for (const [id, severity] of Object.entries(overrides)) known.set(id, severity);
  return known;
}

/** An unknown rule is an error: a problem must never be lost because a table was not passed. */
export function severityIn(table: ReadonlyMap<string, Severity>): (rule: string) => Severity {
  return (rule) => table.get(rule) ?? "error";
}
