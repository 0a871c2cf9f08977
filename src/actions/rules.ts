import type { Problem, Severity } from "./problem.ts";

/** One rule of docs/reference.md#rules: what it finds, how grave that is unless the config says otherwise, and where it comes from. */
export interface Rule {
  readonly severity: Severity;
  /** Why the rule exists, in one line. */
  readonly reason: string;
  /** Something that breaks it, where the reason doesn't show that. */
  readonly example?: string;
}

/** A table of rules: most have this severity, and the others say theirs. */
export function rulesOf<Id extends string>(
  severity: Severity,
  rules: Readonly<Record<Id, Pick<Rule, "reason"> & Partial<Rule>>>,
): Readonly<Record<Id, Rule>> {
  const entries = Object.entries<Partial<Rule>>(rules).map(([id, rule]) => [id, { severity, ...rule }]);
  return Object.fromEntries(entries) as Record<Id, Rule>; // the same keys
}

/** The rules of one action by itself. The sandbox refuses by these same rules. */
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

/** Why a text or a value is none of its field. */
export interface Fault<Rule extends string = ActionRule> {
  readonly rule: Rule;
  /** JSON pointer inside the value; absent for the value itself. */
  readonly inside?: string;
  /** The end of a sentence that begins with the field. */
  readonly what: string;
  readonly hint: string;
}

/** A problem of `validateItem`. */
export interface ActionProblem extends Problem {
  readonly rule: ActionRule;
}
