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

/**
 * The record of an action.
 *
 * @param identity hex, of which the first bytes are kept, as of `content`.
 */
export function recordOf(origin: RecordOrigin, identity: string, content: string): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  const { untimed, keyed, further, nth } = origin;
  const marks = (untimed ? UNTIMED : 0) | (keyed ? KEYED : 0) | (further ? FURTHER : 0);
  const shownNth = nth > MOST_NTH ? 0 : nth;
  record.writeUInt32LE(origin.input, 0);
  record.writeUInt32LE(origin.line, 4);
  record.writeUInt32LE(origin.row, 8);
  record.writeUInt32LE(((shownNth << NTH_SHIFT) | actionSpec(origin.action).code | marks) >>> 0, 12);
  record.write(identity, 16, DIGEST_BYTES, "hex");
  record.write(content, 16 + DIGEST_BYTES, CONTENT_BYTES, "hex");
  return record;
}

/** The action of a record and all that is marked of it, as a number: the same for two that differ in none of it. */
export const marksAt = (buffer: Buffer, at: number): number => buffer.readUInt32LE(at + 12);

export const inputAt = (buffer: Buffer, at: number): number => buffer.readUInt32LE(at);
export const lineAt = (buffer: Buffer, at: number): number => buffer.readUInt32LE(at + 4);
export const rowAt = (buffer: Buffer, at: number): number => buffer.readUInt32LE(at + 8);

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
