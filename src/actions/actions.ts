import type { FieldName, FieldValue } from "./fields.ts";

/**
 * What tells two actions of one kind of the same event or ticket apart, where their source has no key and they have no time.
 *
 * - `none`: nothing, whatever time they have: it happens once.
 * - `time`: nothing else.
 * - `recipient`: who claims.
 * - `content`: what they say.
 */
type MarkRule = "none" | "time" | "recipient" | "content";

export interface ActionSpec {
  readonly about: "event" | "ticket";
  readonly required: readonly FieldName[];
  /** Exactly one of these is required. */
  readonly exclusive: readonly FieldName[];
  /** At least one of these is required. */
  readonly anyOf: readonly FieldName[];
  readonly optional: readonly FieldName[];
  /** Whether it changes what is registered: then `null` means "unchanged" and a field's default clears it. */
  readonly updates: boolean;
  readonly mark: MarkRule;
  /** File name prefixes that mean this action when a file says nothing else. */
  readonly fileNames: readonly string[];
  readonly meaning: string;
}

const EVENT_DETAILS = [
  "eventName",
  "shopUrl",
  "coverImageUrl",
  "coverMediaUrl",
  "defaultNftImageUrl",
  "defaultNftMediaUrl",
  "latitude",
  "longitude",
  "startTime",
  "endTime",
  "callbackUrl",
] as const;
const TICKET = ["ticketId", "nftId"] as const;

/** Most actions that one request may hold ("Limits" in the specification). */
export const MAX_ACTIONS_PER_REQUEST = 5000;

/** What is true of an action unless its entry says otherwise. */
const USUAL = { required: [], exclusive: [], anyOf: [], updates: false } as const;
const OF_EVENT = { ...USUAL, about: "event" } as const;
const OF_TICKET = { ...USUAL, about: "ticket", exclusive: TICKET } as const;

/**
 * The actions of the service ("Fields per action" in the specification), one entry each. Those of one event or ticket come in
 * this order where time does not decide.
 */
export const ACTIONS = {
  newEvent: {
    ...OF_EVENT,
    required: ["eventId", "currency"],
    optional: EVENT_DETAILS,
    mark: "none",
    fileNames: ["events"],
    meaning: "Registers an event.",
  },
  updateEvent: {
    ...OF_EVENT,
    required: ["eventId"],
    optional: ["currency", ...EVENT_DETAILS],
    updates: true,
    mark: "content",
    fileNames: [],
    meaning: "Changes an event.",
  },
  soldTicket: {
    ...OF_TICKET,
    exclusive: [],
    required: ["eventId", "ticketId", "userId", "price"],
    optional: ["imageUrl", "mediaUrl", "orderTime", "to", "metadataAttributes", "name", "description"],
    mark: "none",
    fileNames: ["sales"],
    meaning: "Registers the sale of a ticket.",
  },
  updateTicket: {
    ...OF_TICKET,
    optional: ["imageUrl", "mediaUrl", "metadataAttributes"],
    updates: true,
    mark: "content",
    fileNames: ["updates"],
    meaning: "Changes a ticket.",
  },
  resoldTicket: {
    ...OF_TICKET,
    required: ["userId", "price"],
    optional: ["orderTime", "to"],
    mark: "content",
    fileNames: ["resales"],
    meaning: "Registers the sale of a ticket by its holder to another user.",
  },
  scannedTicket: {
    ...OF_TICKET,
    optional: ["orderTime"],
    mark: "time",
    fileNames: ["scans"],
    meaning: "Registers that a ticket was scanned; it stays valid.",
  },
  checkedInTicket: {
    ...OF_TICKET,
    optional: ["orderTime"],
    mark: "none",
    fileNames: ["checkins"],
    meaning: "Registers that the holder of a ticket was let in.",
  },
  claimedTicket: {
    ...OF_TICKET,
    anyOf: ["to", "userId"],
    optional: ["orderTime"],
    mark: "recipient",
    fileNames: ["claims"],
    meaning: "Registers that a user took the ticket into a wallet.",
  },
  invalidatedTicket: {
    ...OF_TICKET,
    optional: ["orderTime"],
    mark: "none",
    fileNames: ["invalidations", "refunds", "cancellations"],
    meaning: "Registers that a ticket is no longer valid.",
  },
} as const satisfies Record<string, ActionSpec>;

export type ActionName = keyof typeof ACTIONS;

export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[]; // the keys of a constant object literal

export const isActionName = (name: string): name is ActionName => Object.hasOwn(ACTIONS, name);

/** `a soldTicket`, `an updateTicket`. */
export const withArticle = (action: ActionName): string => `${/^[aeiou]/.test(action) ? "an" : "a"} ${action}`;

/** The table's entry with its optional properties visible. */
export const actionSpec = (name: ActionName): ActionSpec => ACTIONS[name];

/** The fields of an action, keyed by name; in update actions `null` means "leave unchanged". */
export type ActionData = { readonly [F in FieldName]?: FieldValue<F> | null };

/** `{action, data}` as the service takes it. */
export interface Action {
  readonly action: ActionName;
  readonly data: ActionData;
}

const ACCEPTED: ReadonlyMap<ActionName, readonly FieldName[]> = new Map(
  ACTION_NAMES.map((name) => {
    const { required, exclusive, anyOf, optional } = actionSpec(name);
    return [name, [...required, ...exclusive, ...anyOf, ...optional]];
  }),
);

/** All fields that an action takes, required ones first. */
export const acceptedFields = (action: ActionName): readonly FieldName[] => ACCEPTED.get(action) ?? [];

/** Whether the service's answer to the action of this name says its eventId ("Response body" in the specification). */
export const echoesEvent = (action: unknown): boolean =>
  ACTION_NAMES.some((name) => name === action && acceptedFields(name).includes("eventId"));
