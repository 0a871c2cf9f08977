/** What the plain rows of a table are made into: actions as what writes their fields, and constant bytes. */

import { type ActionName, acceptedFields, actionSpec } from "../../actions/actions.ts";
import { type FieldName, isFieldName, relaxingRule } from "../../actions/fields.ts";
import type { Finding, Severity } from "../../actions/problem.ts";
import { recordOf } from "../../actions/schemas.ts";
import { judgeItem } from "../../checks/shape.ts";
import { FACT_FIELDS } from "../candidates/facts.ts";
import { PUBLIC_TEXTS } from "../candidates/public-values.ts";
import type { Piece, RowMemory } from "../candidates/row-memory.ts";
import type { AttributesContent } from "./attributes.ts";
import { NOT_PLAIN } from "./leaves.ts";
import type { RowText } from "./texts.ts";
import type { ValueWriter } from "./values.ts";

/** The rows of a table as far as they may be plain. */
export interface RowProgram {
  /** What the row in hand gives, whose values are still to be looked at; undefined where it is not plain. */
  outcomeOf(): RowOutcome | undefined;
  /** Notes a row of that outcome which was taken. */
  note?(outcome: RowOutcome, line: number, cells: () => readonly string[]): void;
}

export interface RowOutcome {
  /** Why the row gives nothing. */
  readonly skipped: string | undefined;
  readonly actions: readonly PlainAction[];
  /** The `nthOfName` of each. */
  readonly nths: readonly number[];
}

interface WrittenField {
  readonly name: FieldName;
  readonly write: ValueWriter;
}

export interface PlainField extends WrittenField {
  /** `,"name":` */
  readonly key: Piece;
  /** The reference has something to say where it is empty. */
  readonly isNeeded: boolean;
}

/** How rows of one action are written. */
export interface PlainAction {
  readonly action: ActionName;
  readonly code: number;
  /** The line up to its first field, and the content. */
  readonly head: Piece;
  readonly contentHead: Piece;
  /** In the order in which the line has them. */
  readonly fields: readonly PlainField[];
  /** The places of the fields in the order of their names, in which the content has them. */
  readonly byName: Int32Array;
  /** Columns that must be empty. */
  readonly refused: Int32Array;
  /** The place of metadataAttributes; -1 where it has none, as below. */
  readonly attributes: number;
  readonly attributesContent: AttributesContent;
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
  /** What is told of each that lacks a field, and goes all the same. */
  readonly lacking: readonly Lacking[];
  /** What a source says itself that identifies its rows. */
  readonly key: RowText | undefined;
  /** The identity (`identityText`, `ownKeyText`) up to its id or key. */
  readonly identityHead: Piece;
  readonly identityHeadOfNft: Piece;
}

export interface Lacking {
  /** -1 where no column gives the field. */
  readonly place: number;
  readonly told: readonly [Finding];
}

export interface ActionParts {
  readonly memory: RowMemory;
  readonly action: ActionName;
  readonly fields: readonly WrittenField[];
  readonly refused?: readonly number[];
  readonly key?: RowText | undefined;
  readonly attributesContent: AttributesContent;
  readonly severityOf: (rule: string) => Severity;
}

/** What only a relaxed rule lets in is the reference's to judge. */
const neverPlainValue: ValueWriter = () => NOT_PLAIN;

/**
 * Undefined where no row is plain: it lacks a field without which the reference has something to say, or it registers an
 * event, which the reference notes.
 */
export function compileAction(parts: ActionParts): PlainAction | undefined {
  const { memory, action, refused = [], attributesContent } = parts;
  const { required, anyOf, about, effect, code, updates } = actionSpec(action);
  if (effect === "register-event") return undefined;
  const { needed, told } = lackingOf(parts, required);
  if (!needed.every((name) => parts.fields.some((field) => field.name === name))) return undefined;
  const fields = parts.fields.map(
    ({ name, write }): PlainField => ({
      name,
      write: acceptedFields(action).includes(name) ? write : neverPlainValue,
      key: memory.keep(`,"${name}":`),
      isNeeded: needed.includes(name),
    }),
  );
  const placeOf = (name: FieldName): number => fields.findIndex((field) => field.name === name);
  const subject = about === "ticket" ? "ticket:" : "=";
  const isKeyed = parts.key !== undefined;
  return {
    action,
    code,
    head: memory.keep(`{"action":"${action}","data":{`),
    contentHead: memory.keep(`["${action}"`),
    fields,
    byName: Int32Array.from(
      fields
        .map(({ name }, at) => ({ name, at }))
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .map(({ at }) => at),
    ),
    refused: Int32Array.from(refused),
    attributes: placeOf("metadataAttributes"),
    attributesContent,
    places: recordOf(LOOKED_AT, placeOf),
    facts: Int32Array.from(FACT_FIELDS, placeOf),
    anyOf: anyOf.map(placeOf),
    publicTexts: PUBLIC_TEXTS.map((name) => ({ name, place: placeOf(name) })).filter(({ place }) => place !== -1),
    isAboutTicket: about === "ticket",
    updates,
    lacking: told.map(({ field, finding }) => ({ place: placeOf(field), told: [finding] })),
    key: parts.key,
    identityHead: memory.keep(isKeyed ? `["${action}","key","` : `["${action}","${subject}`),
    identityHeadOfNft: memory.keep(isKeyed ? `["${action}","key","` : `["${action}","nft:`),
  };
}

/**
 * Which fields it needs, so that the reference has nothing to say that is not told of the action itself. A rule may let one
 * out that the service's table requires.
 */
function lackingOf({ action, severityOf }: ActionParts, required: readonly FieldName[]) {
  const free = judgeItem({ action, data: {} }).flatMap((finding) => {
    const { rule, field } = finding;
    if (field === undefined || !isFieldName(field)) return [];
    return rule === "order-time-missing" || rule === relaxingRule(action, field) ? { field, finding } : [];
  });
  const of = (severity: Severity) => free.filter(({ finding }) => severityOf(finding.rule) === severity);
  const table = required.filter((name) => !free.some(({ field }) => field === name));
  return { needed: [...table, ...of("error").map(({ field }) => field)], told: of("warn") };
}

const LOOKED_AT = ["ticketId", "nftId", "price", "orderTime", "startTime", "endTime"] as const;
