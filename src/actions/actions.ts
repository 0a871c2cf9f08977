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

/**
 * What an accepted action does. The sandbox performs it, the ledger folds it into what it knows, the checks follow it.
 *
 * - `register-event`, `sell-ticket`: there is such an event or ticket from now on; a sold ticket belongs to userId.
 * - `change-event`, `change-ticket`: fields get other values.
 * - `resell-ticket`: the ticket belongs to userId from now on.
 * - `scan-ticket`: the ticket stays as it is.
 * - `check-in-ticket`: its holder is in; only a claim is expected after it.
 * - `claim-ticket`: it is in a wallet; its holder stays.
 * - `invalidate-ticket`: nothing is expected after it.
 */
export type Effect =
  | "register-event"
  | "change-event"
  | "sell-ticket"
  | "change-ticket"
  | "resell-ticket"
  | "scan-ticket"
  | "check-in-ticket"
  | "claim-ticket"
  | "invalidate-ticket";

export interface ActionSpec {
  readonly about: "event" | "ticket";
  readonly effect: Effect;
  readonly required: readonly FieldName[];
  /** Exactly one of these is required. */
  readonly exclusive: readonly FieldName[];
  /** At least one of these is required. */
  readonly anyOf: readonly FieldName[];
  readonly optional: readonly FieldName[];
  /** Whether it changes what is registered: then `null` means "unchanged" and a field's default clears it. */
  readonly updates: boolean;
  readonly mark: MarkRule;
  /** Its place among the actions of one event or ticket where time does not decide; lower ones come first, 0 to 15. */
  readonly rank: number;
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

/** The actions of the service ("Fields per action" in the specification), one entry each. */
export const ACTIONS = {
  newEvent: {
    ...OF_EVENT,
    effect: "register-event",
    required: ["eventId", "currency"],
    optional: EVENT_DETAILS,
    mark: "none",
    rank: 0,
    fileNames: ["events"],
    meaning: "Registers an event.",
  },
  updateEvent: {
    ...OF_EVENT,
    effect: "change-event",
    required: ["eventId"],
    optional: ["currency", ...EVENT_DETAILS],
    updates: true,
    mark: "content",
    rank: 1,
    fileNames: [],
    meaning: "Changes an event.",
  },
  soldTicket: {
    ...OF_TICKET,
    effect: "sell-ticket",
    exclusive: [],
    required: ["eventId", "ticketId", "userId", "price"],
    optional: ["imageUrl", "mediaUrl", "orderTime", "to", "metadataAttributes", "name", "description"],
    mark: "none",
    rank: 2,
    fileNames: ["sales"],
    meaning: "Registers the sale of a ticket.",
  },
  updateTicket: {
    ...OF_TICKET,
    effect: "change-ticket",
    optional: ["imageUrl", "mediaUrl", "metadataAttributes"],
    updates: true,
    mark: "content",
    rank: 3,
    fileNames: ["updates"],
    meaning: "Changes a ticket.",
  },
  resoldTicket: {
    ...OF_TICKET,
    effect: "resell-ticket",
    required: ["userId", "price"],
    optional: ["orderTime", "to"],
    mark: "content",
    rank: 4,
    fileNames: ["resales"],
    meaning: "Registers the sale of a ticket by its holder to another user.",
  },
  scannedTicket: {
    ...OF_TICKET,
    effect: "scan-ticket",
    optional: ["orderTime"],
    mark: "time",
    rank: 5,
    fileNames: ["scans"],
    meaning: "Registers that a ticket was scanned; it stays valid.",
  },
  checkedInTicket: {
    ...OF_TICKET,
    effect: "check-in-ticket",
    optional: ["orderTime"],
    mark: "none",
    rank: 6,
    fileNames: ["checkins"],
    meaning: "Registers that the holder of a ticket was let in.",
  },
  claimedTicket: {
    ...OF_TICKET,
    effect: "claim-ticket",
    anyOf: ["to", "userId"],
    optional: ["orderTime"],
    mark: "recipient",
    rank: 7,
    fileNames: ["claims"],
    meaning: "Registers that a user took the ticket into a wallet.",
  },
  invalidatedTicket: {
    ...OF_TICKET,
    effect: "invalidate-ticket",
    optional: ["orderTime"],
    mark: "none",
    rank: 8,
    fileNames: ["invalidations", "refunds", "cancellations"],
    meaning: "Registers that a ticket is no longer valid.",
  },
} as const satisfies Record<string, ActionSpec>;

export type ActionName = keyof typeof ACTIONS;

export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[]; // the keys of a constant object literal

/** The actions that have one of the effects. */
export function actionsThat(...effects: readonly Effect[]): readonly ActionName[] {
  return ACTION_NAMES.filter((name) => effects.includes(ACTIONS[name].effect));
}

const EVENT_REGISTERING: ReadonlySet<unknown> = new Set(actionsThat("register-event"));

/** Whether it is the name of an action that registers an event. */
export const registersEvent = (action: unknown): boolean => EVENT_REGISTERING.has(action);

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

/** "eventId: present for event actions and for soldTicket" (specification, Response body): for those that take one. */
const ECHOES_EVENT: ReadonlySet<unknown> = new Set(
  ACTION_NAMES.filter((name) => acceptedFields(name).includes("eventId")),
);

/** Whether the service's answer to the action of this name says its eventId. */
export const echoesEvent = (action: unknown): boolean => ECHOES_EVENT.has(action);
