/** The plan's index: for each action where it came from and what deed it is, in fixed-width binary records. */

import { ACTION_NAMES, type ActionName, actionSpec } from "../../actions/actions.ts";
import { DIGEST_BYTES } from "../../actions/identity.ts";

/** Bytes of the content digest; only compared for equality within one identity, so 64 bits are ample. */
export const CONTENT_BYTES = 8;

/** Layout of a record: input u32, line u32, row u32, action u32 with the marks (little endian), identity, content. */
export const RECORD_BYTES = 16 + DIGEST_BYTES + CONTENT_BYTES;

export interface IndexRecord {
  /** Number of the input file in the manifest, from 0. */
  readonly input: number;
  /** 1-based physical line where the row starts. */
  readonly line: number;
  /** Running number of the row; actions of one row share it. */
  readonly row: number;
  readonly action: ActionName;
  /** The action carries no orderTime, so that two equal ones can't be told apart by time. */
  readonly untimed: boolean;
  /** A key of the source itself says which deed it is, whatever kind of action it is. */
  readonly keyed: boolean;
  /** An earlier action of its row has the same kind and key, and so the same identity. */
  readonly further: boolean;
  /** Which of the actions of its kind in the row it is, from 1; 0 for the only one. */
  readonly nth: number;
  readonly identity: Buffer;
  readonly content: Buffer;
}

/** Marks beside the action's code. */
const UNTIMED = 0x100;
const KEYED = 0x200;
const FURTHER = 0x400;
/** The action's code and the marks; above them stands `nth`. */
const NTH_SHIFT = 12;
const CODE = (1 << NTH_SHIFT) - 1;
/** A row that gives more actions of a kind says of none which it is: then all of the kind are open if one is. */
const MOST_NTH = 2 ** (32 - NTH_SHIFT) - 1;

export type RecordOrigin = Omit<IndexRecord, "identity" | "content">;

const BY_CODE: ReadonlyMap<number, ActionName> = new Map(ACTION_NAMES.map((name) => [actionSpec(name).code, name]));

/** Writes a record but for its digests. */
export function writeOrigin(buffer: Buffer, at: number, origin: RecordOrigin): void {
  buffer.writeUInt32LE(origin.input, at);
  buffer.writeUInt32LE(origin.line, at + 4);
  buffer.writeUInt32LE(origin.row, at + 8);
  const marks = marksOf(origin.untimed, origin.keyed, origin.further);
  buffer.writeUInt32LE(withNth(actionSpec(origin.action).code | marks, origin.nth), at + 12);
}

const marksOf = (isUntimed: boolean, isKeyed: boolean, isFurther: boolean): number =>
  (isUntimed ? UNTIMED : 0) | (isKeyed ? KEYED : 0) | (isFurther ? FURTHER : 0);

const withNth = (codeAndMarks: number, nth: number): number =>
  (((nth > MOST_NTH ? 0 : nth) << NTH_SHIFT) | codeAndMarks) >>> 0;

/** The same with the code of an action in place of its name. */
export function writePlainOrigin(
  view: DataView,
  at: number,
  origin: Omit<RecordOrigin, "action" | "untimed" | "further"> & { readonly code: number },
  isUntimed: boolean,
  isFurther: boolean,
): void {
  view.setUint32(at, origin.input, true);
  view.setUint32(at + 4, origin.line, true);
  view.setUint32(at + 8, origin.row, true);
  const marks = marksOf(isUntimed, origin.keyed, isFurther);
  view.setUint32(at + 12, withNth(origin.code | marks, origin.nth), true);
}

/** As `readUInt32LE`, of which a pass over all candidates makes ten for each; there must be as many bytes. */
export const wordAt = (buffer: Buffer, at: number): number =>
  ((buffer[at] as number) |
    ((buffer[at + 1] as number) << 8) |
    ((buffer[at + 2] as number) << 16) |
    ((buffer[at + 3] as number) << 24)) >>>
  0;

/** The action of a record and all that is marked of it, as a number: the same for two that differ in none of it. */
export const marksAt = (buffer: Buffer, at: number): number => wordAt(buffer, at + 12);

/** The action of a record that has neither a key nor an `nth`; undefined for any other. */
export const plainActionAt = (buffer: Buffer, at: number): ActionName | undefined =>
  BY_CODE.get(wordAt(buffer, at + 12) & ~UNTIMED);

/** The action of any record. */
export function actionAt(buffer: Buffer, at: number): ActionName {
  const action = BY_CODE.get(buffer.readUInt32LE(at + 12) & CODE & ~(UNTIMED | KEYED | FURTHER));
  if (action === undefined) throw new Error("the plan's index is damaged");
  return action;
}

export const inputAt = (buffer: Buffer, at: number): number => wordAt(buffer, at);
export const lineAt = (buffer: Buffer, at: number): number => wordAt(buffer, at + 4);
/** Whether two records are of one input and one kind of action, with the same marks. */
export const areAlike = (buffer: Buffer, one: number, other: number): boolean =>
  isSameWord(buffer, one, other) && isSameWord(buffer, one + 12, other + 12);

const isSameWord = (buffer: Buffer, one: number, other: number): boolean =>
  buffer[one] === buffer[other] &&
  buffer[one + 1] === buffer[other + 1] &&
  buffer[one + 2] === buffer[other + 2] &&
  buffer[one + 3] === buffer[other + 3];

export const rowAt = (buffer: Buffer, at: number): number => wordAt(buffer, at + 8);

/** Counts the rows of records that were numbered from 1 on from `rows`. */
export function addRows(records: Buffer, rows: number): void {
  if (rows === 0) return;
  for (let at = 8; at < records.length; at += RECORD_BYTES) records.writeUInt32LE(records.readUInt32LE(at) + rows, at);
}

export function readOrigin(buffer: Buffer, at: number): RecordOrigin {
  const origin = findOrigin(buffer, at);
  if (origin === undefined) throw new Error("the plan's index is damaged");
  return origin;
}

/** Undefined where the bytes are no record. */
export function findOrigin(buffer: Buffer, at: number): RecordOrigin | undefined {
  const code = buffer.readUInt32LE(at + 12);
  const action = BY_CODE.get(code & CODE & ~(UNTIMED | KEYED | FURTHER));
  if (action === undefined) return undefined;
  return {
    input: buffer.readUInt32LE(at),
    line: buffer.readUInt32LE(at + 4),
    row: buffer.readUInt32LE(at + 8),
    action,
    untimed: (code & UNTIMED) !== 0,
    keyed: (code & KEYED) !== 0,
    further: (code & FURTHER) !== 0,
    nth: code >>> NTH_SHIFT,
  };
}

export const identityAt = (buffer: Buffer, at: number): Buffer => buffer.subarray(at + 16, at + 16 + DIGEST_BYTES);

/** The first bits of its identity, by which few others are like it. */
export const identityBitsAt = (buffer: Buffer, at: number): number => buffer.readUInt32LE(at + 16);

export const contentAt = (buffer: Buffer, at: number): Buffer =>
  buffer.subarray(at + 16 + DIGEST_BYTES, at + RECORD_BYTES);

export function readRecord(buffer: Buffer, at: number): IndexRecord {
  return { ...readOrigin(buffer, at), identity: identityAt(buffer, at), content: contentAt(buffer, at) };
}
