import type { FieldName, FieldValue } from "./fields.ts";

/**
 * How two actions on the same event or ticket are recognised as the same deed, so that it is not sent twice.
 *
 * - `once`: it happens once; one that was accepted is enough for ever.
 * - `recipient`: they are the same deed where `to` and userId agree as far as both give them.
 * - `history`: it happens again and again; which of them were accepted is told by their times, contents and order.
 */
type IdentityRule = "once" | "recipient" | "history";

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
  /** Which of the actions of this kind on its event or ticket (`about`) are the same deed. */
  readonly identity: IdentityRule;
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

/** The nine actions of the service ("Fields per action" in the specification), one entry each. */
export const ACTIONS = {
  newEvent: {
    about: "event",
    required: ["eventId", "currency"],
    exclusive: [],
    anyOf: [],
    optional: EVENT_DETAILS,
    updates: false,
    identity: "once",
    fileNames: ["events"],
    meaning: "Registers an event.",
  },
  updateEvent: {
    about: "event",
    required: ["eventId"],
    exclusive: [],
    anyOf: [],
    optional: ["currency", ...EVENT_DETAILS],
    updates: true,
    identity: "history",
    fileNames: [],
    meaning: "Changes an event.",
  },
  soldTicket: {
    about: "ticket",
    required: ["eventId", "ticketId", "userId", "price"],
    exclusive: [],
    anyOf: [],
    optional: ["imageUrl", "mediaUrl", "orderTime", "to", "metadataAttributes", "name", "description"],
    updates: false,
    identity: "once",
    fileNames: ["sales"],
    meaning: "Registers the sale of a ticket.",
  },
  updateTicket: {
    about: "ticket",
    required: [],
    exclusive: TICKET,
    anyOf: [],
    optional: ["imageUrl", "mediaUrl", "metadataAttributes"],
    updates: true,
    identity: "history",
    fileNames: ["updates"],
    meaning: "Changes a ticket.",
  },
  resoldTicket: {
    about: "ticket",
    required: ["userId", "price"],
    exclusive: TICKET,
    anyOf: [],
    optional: ["orderTime", "to"],
    updates: false,
    identity: "history",
    fileNames: ["resales"],
    meaning: "Registers the sale of a ticket by its holder to another user.",
  },
  scannedTicket: {
    about: "ticket",
    required: [],
    exclusive: TICKET,
    anyOf: [],
    optional: ["orderTime"],
    updates: false,
    identity: "history",
    fileNames: ["scans"],
    meaning: "Registers that a ticket was scanned; it stays valid.",
  },
  checkedInTicket: {
    about: "ticket",
    required: [],
    exclusive: TICKET,
    anyOf: [],
    optional: ["orderTime"],
    updates: false,
    identity: "once",
    fileNames: ["checkins"],
    meaning: "Registers that the holder of a ticket was let in.",
  },
  claimedTicket: {
    about: "ticket",
    required: [],
    exclusive: TICKET,
    anyOf: ["to", "userId"],
    optional: ["orderTime"],
    updates: false,
    identity: "recipient",
    fileNames: ["claims"],
    meaning: "Registers that a user took the ticket into a wallet.",
  },
  invalidatedTicket: {
    about: "ticket",
    required: [],
    exclusive: TICKET,
    anyOf: [],
    optional: ["orderTime"],
    updates: false,
    identity: "once",
    fileNames: ["invalidations", "refunds", "cancellations"],
    meaning: "Registers that a ticket is no longer valid.",
  },
} as const satisfies Record<string, ActionSpec>;

export type ActionName = keyof typeof ACTIONS;

export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[]; // the keys of a constant object literal

export function isActionName(name: string): name is ActionName {
  return Object.hasOwn(ACTIONS, name);
}

/** The table's entry with its optional properties visible. */
export function actionSpec(name: ActionName): ActionSpec {
  return ACTIONS[name];
}

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
export function acceptedFields(action: ActionName): readonly FieldName[] {
  return ACCEPTED.get(action) ?? [];
}
