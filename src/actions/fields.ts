/**
 * The fields of the service ("Field types" and "Field meanings" in the specification), one entry each.
 *
 * Everything that knows a field derives from this table: TypeScript types, validators, zod schemas, JSON Schema, the docs'
 * tables, the sandbox's validation and the generators of the property tests. Adding a field is one entry here and its name
 * in the actions that take it.
 */

import type { ActionRule } from "../rules.ts";
import type { ExactNumber } from "./exact-number.ts";

/** A value of each kind of field. kinds.ts says how each is read and checked. */
interface ValueOfKind {
  id: string;
  text: string;
  url: string;
  currency: string;
  latitude: number | ExactNumber;
  longitude: number | ExactNumber;
  u64: number | ExactNumber;
  nftId: string;
  price: string;
  wallet: string;
  metadata: readonly MetadataAttribute[] | string;
  uuid: string;
}

export type FieldKind = keyof ValueOfKind;

export interface MetadataAttribute {
  readonly trait_type: string;
  readonly value: string | number | ExactNumber | boolean;
  readonly display_type?: string;
}

export interface FieldSpec {
  readonly kind: FieldKind;
  /** Longest value in Unicode code points. */
  readonly maxLength?: number;
  /** The value the service assumes when the field is left out, where it is a constant; sending it in an update clears the field. */
  readonly default?: "" | 0;
  /** What the service does when the field is left out, where it makes a value. */
  readonly whenOmitted?: string;
  /** How the value is written to the public blockchain. */
  readonly onChain?: "as is" | "as SHA-256 hash";
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

const ID = { kind: "id", maxLength: 255 } as const;
const URL = { kind: "url", maxLength: 255 } as const;
const MEDIA = { ...URL, default: "" } as const;
const PUBLIC = { onChain: "as is" } as const;
/** Zero says that it is not known. */
const PUBLIC_TIME = { kind: "u64", default: 0, ...PUBLIC } as const;

export const FIELDS = {
  eventId: { ...ID, meaning: "Your reference of the event." },
  eventName: { kind: "text", maxLength: 255, default: "", ...PUBLIC, meaning: "Public name of the event." },
  currency: {
    kind: "currency",
    ...PUBLIC,
    meaning: "Currency of all prices of the event.",
  },
  shopUrl: { ...MEDIA, ...PUBLIC, meaning: "Main shop or page where the tickets were sold." },
  coverImageUrl: { ...MEDIA, ...PUBLIC, meaning: "Main cover image of the event." },
  coverMediaUrl: { ...MEDIA, meaning: "Main cover media of the event, such as a video." },
  defaultNftImageUrl: { ...MEDIA, meaning: "Image of every ticket of the event that has no imageUrl of its own." },
  defaultNftMediaUrl: { ...MEDIA, meaning: "Media of every ticket of the event that has no mediaUrl of its own." },
  latitude: { kind: "latitude", default: 0, ...PUBLIC, meaning: "Place of the event, in degrees." },
  longitude: { kind: "longitude", default: 0, ...PUBLIC, meaning: "Place of the event, in degrees." },
  startTime: { ...PUBLIC_TIME, meaning: "Start of the event, in Unix seconds." },
  endTime: { ...PUBLIC_TIME, meaning: "End of the event, in Unix seconds." },
  callbackUrl: { ...URL, meaning: "Address the service calls back; publicly reachable without authentication." },
  ticketId: { ...ID, onChain: "as SHA-256 hash", meaning: "Your reference of the ticket." },
  userId: {
    ...ID,
    meaning: "Your reference of the user.",
    personal: true,
    relaxable: { soldTicket: "sold-ticket-without-user" },
  },
  nftId: { kind: "nftId", meaning: "The service's NFT id, an alternative to ticketId." },
  imageUrl: { ...MEDIA, meaning: "Main image of the ticket.", relaxable: { updateEvent: "update-event-image-url" } },
  mediaUrl: { ...MEDIA, meaning: "Main media of the ticket." },
  price: { kind: "price", ...PUBLIC, meaning: "Price at which the ticket was sold." },
  orderTime: {
    kind: "u64",
    whenOmitted: "current Unix time",
    ...PUBLIC,
    meaning: "Time of the sale, or of what happened, in Unix seconds.",
  },
  to: {
    kind: "wallet",
    ...PUBLIC,
    meaning: "Wallet address of the user; without it the ticket is minted to a new user wallet.",
    personal: true,
    exactName: true,
  },
  metadataAttributes: {
    kind: "metadata",
    ...PUBLIC,
    meaning: "Additional attributes of the ticket.",
  },
  metadataTemplateId: {
    kind: "uuid",
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

export type FieldValue<F extends FieldName = FieldName> = ValueOfKind[(typeof FIELDS)[F]["kind"]];

export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[]; // the keys of a constant object literal

export const isFieldName = (name: string): name is FieldName => Object.hasOwn(FIELDS, name);

/** The table's entry with its optional properties visible. */
export const fieldSpec = (name: FieldName): FieldSpec => FIELDS[name];

/** What the service does when the field is left out. */
export function whenOmitted(name: FieldName): string {
  const { whenOmitted, default: preset } = fieldSpec(name);
  if (whenOmitted !== undefined) return whenOmitted;
  return preset === undefined ? "none" : preset === "" ? "blank string" : "0";
}

/** Whether its value is written to the public blockchain, be it as it is or hashed. */
export const isPublic = (name: FieldName): boolean => fieldSpec(name).onChain !== undefined;

/** Whether the field names a person. */
export const isPersonal = (name: string): boolean => isFieldName(name) && fieldSpec(name).personal === true;

export const PERSONAL_FIELDS = FIELD_NAMES.filter(isPersonal);

/** The rule by which the action's field is accepted, or left out, although the table says otherwise. */
export function relaxingRule(action: string, name: FieldName): ActionRule | undefined {
  const { relaxable } = fieldSpec(name);
  return relaxable?.[action] ?? relaxable?.any;
}

/** One of something for each name of a table. */
export const recordOf = <Name extends string, T>(
  names: readonly Name[],
  make: (name: Name) => T,
): Readonly<Record<Name, T>> => Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>; // each of them
