/**
 * The fields of the service ("Field types" and "Field meanings" in the specification), one line each.
 *
 * Everything that knows a field derives from this table: TypeScript types, zod schemas, text coercion, JSON Schema, the
 * docs' tables, the sandbox's validation and the generators of the property tests. Adding a field is one line here and
 * its name in the actions that take it.
 */

import type { ExactNumber } from "./exact-number.ts";

import type { ActionRule } from "./rules.ts";

/** How a field is checked and coerced. */
export type FieldKind =
  | "id"
  | "text"
  | "url"
  | "currency"
  | "latitude"
  | "longitude"
  | "u64"
  | "nftId"
  | "price"
  | "wallet"
  | "metadata"
  | "uuid";

export interface FieldSpec {
  readonly kind: FieldKind;
  /** Longest value in Unicode code points. */
  readonly maxLength?: number;
  /** The value the service assumes when the field is left out, where it is a constant; sending it in an update clears the field. */
  readonly default?: "" | 0;
  /** What the service does when the field is left out, for the docs. */
  readonly whenOmitted: string;
  /** Whether the value is written to the public blockchain, and if so how. */
  readonly onChain: false | "as is" | "as SHA-256 hash";
  readonly meaning: string;
  /** It names a person. Problems and previews mask its value unless `--verbose` is given; sentences that compare it with what was accepted always do. */
  readonly personal?: true;
  /** Exports use its name for other things too, and it becomes public: only a column of exactly that name, beside a ticket's id, is it. */
  readonly exactName?: true;
  /**
   * Actions whose table says otherwise than a sample of the specification, or is not shown, and the rule by which their
   * field is accepted (or, for a required one, left out) where the service takes it. `any` is every action.
   */
  readonly relaxable?: Readonly<Record<string, ActionRule>>;
}

const BLANK = { default: "", whenOmitted: "blank string" } as const;
const ZERO = { default: 0, whenOmitted: "0" } as const;
const NONE = { whenOmitted: "none" } as const;
const PUBLIC = { onChain: "as is" } as const;
const OFF_CHAIN = { onChain: false } as const;
const ID_255 = { kind: "id", maxLength: 255, ...NONE } as const;
const URL_255 = { kind: "url", maxLength: 255 } as const;
const MEDIA = { ...URL_255, ...BLANK, ...OFF_CHAIN } as const;

export const FIELDS = {
  eventId: {
    ...ID_255,
    ...OFF_CHAIN,
    meaning: "Your reference of the event, used in every action that needs the event.",
  },
  eventName: { kind: "text", maxLength: 255, ...BLANK, ...PUBLIC, meaning: "Public name of the event." },
  currency: {
    kind: "currency",
    ...NONE,
    ...PUBLIC,
    meaning: "Currency in which the tickets of the event are sold; all prices are amounts in it.",
  },
  shopUrl: { ...URL_255, ...BLANK, ...PUBLIC, meaning: "Main shop or page where the tickets were sold." },
  coverImageUrl: { ...URL_255, ...BLANK, ...PUBLIC, meaning: "Main cover image of the event." },
  coverMediaUrl: { ...MEDIA, meaning: "Main cover media of the event, such as a video." },
  defaultNftImageUrl: { ...MEDIA, meaning: "Image of every ticket of the event that has no imageUrl of its own." },
  defaultNftMediaUrl: { ...MEDIA, meaning: "Media of every ticket of the event that has no mediaUrl of its own." },
  latitude: { kind: "latitude", ...ZERO, ...PUBLIC, meaning: "Place of the event, in degrees from -90 to 90." },
  longitude: { kind: "longitude", ...ZERO, ...PUBLIC, meaning: "Place of the event, in degrees from -180 to 180." },
  startTime: { kind: "u64", ...ZERO, ...PUBLIC, meaning: "Start of the event, Unix timestamp in seconds." },
  endTime: { kind: "u64", ...ZERO, ...PUBLIC, meaning: "End of the event, Unix timestamp in seconds." },
  callbackUrl: {
    ...URL_255,
    ...NONE,
    ...OFF_CHAIN,
    meaning: "Address the service calls back; publicly reachable without authentication.",
  },
  ticketId: { ...ID_255, onChain: "as SHA-256 hash", meaning: "Your reference of the ticket." },
  userId: {
    ...ID_255,
    ...OFF_CHAIN,
    meaning: "Your reference of the user the ticket refers to.",
    personal: true,
    relaxable: { soldTicket: "sold-ticket-without-user" },
  },
  nftId: {
    kind: "nftId",
    ...NONE,
    ...OFF_CHAIN,
    meaning: "The service's NFT id <CHAIN>-<number>-<number>, an alternative to ticketId.",
  },
  imageUrl: { ...MEDIA, meaning: "Main image of the ticket.", relaxable: { updateEvent: "update-event-image-url" } },
  mediaUrl: { ...MEDIA, meaning: "Main media of the ticket." },
  price: {
    kind: "price",
    ...NONE,
    ...PUBLIC,
    meaning: "Price at which the ticket was sold, a decimal number written as text.",
  },
  orderTime: {
    kind: "u64",
    whenOmitted: "current Unix time",
    ...PUBLIC,
    meaning: "Time of the sale, or of what happened, Unix timestamp in seconds.",
  },
  to: {
    kind: "wallet",
    ...NONE,
    ...PUBLIC,
    meaning: "Wallet address of the user; without it the ticket is minted to a new user wallet.",
    personal: true,
    exactName: true,
  },
  metadataAttributes: {
    kind: "metadata",
    ...NONE,
    ...PUBLIC,
    meaning: "Additional ticket attributes: a list of {trait_type, value, display_type?}.",
  },
  metadataTemplateId: {
    kind: "uuid",
    ...NONE,
    ...OFF_CHAIN,
    meaning: "Id of a metadata template created in the service's studio tool.",
    relaxable: { any: "metadata-template-id" },
  },
  name: {
    kind: "text",
    maxLength: 128,
    whenOmitted: "{eventname}-{tokenid}",
    ...PUBLIC,
    meaning: "Public name of the ticket.",
    exactName: true,
    relaxable: { updateTicket: "update-ticket-name" },
  },
  description: {
    kind: "text",
    maxLength: 10240,
    whenOmitted: "generated text",
    ...PUBLIC,
    meaning: "Public description of the ticket.",
    exactName: true,
    relaxable: { updateTicket: "update-ticket-description" },
  },
} as const satisfies Record<string, FieldSpec>;

export type FieldName = keyof typeof FIELDS;

export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[]; // the keys of a constant object literal

export interface MetadataAttribute {
  readonly trait_type: string;
  readonly value: string | number | bigint | ExactNumber | boolean;
  readonly display_type?: string;
}

interface ValueOfKind {
  id: string;
  text: string;
  url: string;
  currency: string;
  latitude: number | bigint | ExactNumber;
  longitude: number | bigint | ExactNumber;
  /** A bigint only where a number would not be exact. */
  u64: number | bigint;
  nftId: string;
  price: string;
  wallet: string;
  metadata: readonly MetadataAttribute[] | string;
  uuid: string;
}

export type FieldValue<F extends FieldName = FieldName> = ValueOfKind[(typeof FIELDS)[F]["kind"]];

export const isFieldName = (name: string): name is FieldName => Object.hasOwn(FIELDS, name);

/** Whether the field names a person. */
export const isPersonal = (name: string): boolean => isFieldName(name) && fieldSpec(name).personal === true;

/** The rule by which the action's field is accepted, or left out, although the table says otherwise. */
export function relaxingRule(action: string, name: FieldName): ActionRule | undefined {
  const { relaxable } = fieldSpec(name);
  return relaxable?.[action] ?? relaxable?.any;
}

/** Whether its values are texts in JSON. */
export const holdsText = (name: FieldName): boolean =>
  !(["latitude", "longitude", "u64", "metadata"] as readonly FieldKind[]).includes(fieldSpec(name).kind);

/** One of something for each name of a table. */
export const recordOf = <Name extends string, T>(
  names: readonly Name[],
  make: (name: Name) => T,
): Readonly<Record<Name, T>> => Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>; // each of them

/** The table's entry with its optional properties visible. */
export const fieldSpec = (name: FieldName): FieldSpec => FIELDS[name];

export const PERSONAL_FIELDS = FIELD_NAMES.filter(isPersonal);
