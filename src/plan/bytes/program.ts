/** What the plain rows of a table are made into: its header and its mapping as columns, leaves and constant bytes. */

import { type ActionName, acceptedFields, actionSpec } from "../../actions/actions.ts";
import { type FieldName, fieldSpec } from "../../actions/fields.ts";
import { recordOf } from "../../actions/schemas.ts";
import type { PlainColumns } from "../../mapping/create-mapper.ts";
import { FACT_FIELDS } from "../candidates/facts.ts";
import { PUBLIC_TEXTS } from "../candidates/public-values.ts";
import { type Leaf, type LeafOptions, leafOf, neverPlain } from "./leaves.ts";

interface PlainField {
  readonly name: FieldName;
  readonly column: number;
  readonly leaf: Leaf;
  /** `,"name":` of the line and `,"name",` of the content. */
  readonly key: Uint8Array;
  readonly contentKey: Uint8Array;
  /** The reference has something to say where it is empty. */
  readonly isNeeded: boolean;
}

/** How rows of one action are written. */
export interface PlainAction {
  readonly action: ActionName;
  readonly code: number;
  /** The line up to its first field, and the content. */
  readonly head: Uint8Array;
  readonly contentHead: Uint8Array;
  /** In the order of their columns, in which the line has them. */
  readonly fields: readonly PlainField[];
  /** The places of the fields in the order of their names, in which the content has them. */
  readonly byName: Int32Array;
  /** Columns that must be empty. */
  readonly refused: Int32Array;
  /** The place of metadataAttributes; -1 where it has none, as below. */
  readonly attributes: number;
  /** The places of the fields that are looked at again. */
  readonly places: Readonly<Record<(typeof LOOKED_AT)[number], number>>;
  /** The places of `FACT_FIELDS`. */
  readonly facts: Int32Array;
  /** Of these it needs one. */
  readonly anyOf: readonly number[];
  /** Free text that becomes public. */
  readonly publicTexts: readonly { readonly name: FieldName; readonly place: number }[];
  readonly isAboutTicket: boolean;
  readonly updates: boolean;
  /** The identity (`identityText`) up to its id. */
  readonly identityHead: string;
  readonly identityHeadOfNft: string;
}

/**
 * Undefined where no row is plain: it lacks a column without which the reference has something to say, or it registers an
 * event, which the reference notes.
 *
 * @param attributes the leaf of metadataAttributes.
 */
export function compileAction(
  columns: PlainColumns,
  action: ActionName,
  options: LeafOptions,
  attributes: Leaf,
): PlainAction | undefined {
  const read = columns.byAction.get(action);
  const { required, optional, anyOf, about, effect, code, updates } = actionSpec(action);
  if (read === undefined || effect === "register-event") return undefined;
  const accepted = acceptedFields(action);
  const needed = [...required, ...optional.filter((name) => name === "orderTime")];
  if (!needed.every((name) => read.used.some(({ field }) => field === name))) return undefined;
  const leafFor = (name: FieldName): Leaf => {
    // What only a relaxed rule lets in is the reference's to judge.
    if (!accepted.includes(name)) return neverPlain;
    return fieldSpec(name).kind === "metadata" ? attributes : leafOf(name, options);
  };
  const fields = read.used.map(
    ({ field, index }): PlainField => ({
      name: field,
      column: index,
      leaf: leafFor(field),
      key: bytesOf(`,"${field}":`),
      contentKey: bytesOf(`,"${field}",`),
      isNeeded: needed.includes(field),
    }),
  );
  const placeOf = (name: FieldName): number => fields.findIndex((field) => field.name === name);
  const subject = about === "ticket" ? "ticket:" : "=";
  return {
    action,
    code,
    head: bytesOf(`{"action":"${action}","data":{`),
    contentHead: bytesOf(`["${action}"`),
    fields,
    byName: Int32Array.from(
      fields
        .map(({ name }, at) => ({ name, at }))
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .map(({ at }) => at),
    ),
    refused: Int32Array.from(columns.fixed === undefined ? read.refused.map(({ index }) => index) : []),
    attributes: placeOf("metadataAttributes"),
    places: recordOf(LOOKED_AT, placeOf),
    facts: Int32Array.from(FACT_FIELDS, placeOf),
    anyOf: anyOf.map(placeOf),
    publicTexts: PUBLIC_TEXTS.map((name) => ({ name, place: placeOf(name) })).filter(({ place }) => place !== -1),
    isAboutTicket: about === "ticket",
    updates,
    identityHead: `["${action}","${subject}`,
    identityHeadOfNft: `["${action}","nft:`,
  };
}

const LOOKED_AT = ["ticketId", "nftId", "price", "orderTime", "startTime", "endTime"] as const;

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
