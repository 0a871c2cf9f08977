/** How a chunk's actions, their origins and their outcomes are kept: some 60 bytes an action. */

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import type { Item, Origin, Origins } from "./ledger.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** With a checksum, by which a changed bit is noticed. */
const PACKING = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

export const pack = async (bytes: Uint8Array): Promise<Uint8Array> => await compress(bytes, PACKING);
export const unpack = async (bytes: Uint8Array): Promise<Buffer> => await decompress(bytes);
export const packJson = (value: unknown): Promise<Uint8Array> => pack(Buffer.from(JSON.stringify(value)));
/** What `packJson` packed. It has no number that JSON.parse would change. */
export const unpackJson = async (bytes: Uint8Array): Promise<unknown> => JSON.parse((await unpack(bytes)).toString());

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const NUMBERS = ["line", "row", "seq"] as const;
const OTHERS = ["input", "subject", "kind", "mark", "content", "digest", "time", "event", "owner", "position"] as const;

type Growing<Columns> = { [Name in keyof Columns]: Columns[Name] extends readonly (infer Value)[] ? Value[] : never };

/** To be filled action by action. */
export const emptyColumns = (): Growing<Origins> => ({
  ...{ input: [], line: [], row: [], seq: [], subject: [], kind: [], mark: [], content: [] },
  ...{ digest: [], time: [], event: [], owner: [], position: [] },
});

export function columnsOf(origins: readonly Origin[]): Origins {
  const column = (name: keyof Origin): readonly unknown[] => origins.map((origin) => origin[name]);
  return Object.fromEntries([...NUMBERS, ...OTHERS].map((name) => [name, column(name)])) as unknown as Origins; // all of them
}

/** What follows its like is packed well. Of numbers that rise the differences repeat, and the numbers do not. */
export async function packOrigins(origins: Origins): Promise<Uint8Array> {
  const numbers = NUMBERS.map((name) => [name, origins[name].map((of, at) => of - (origins[name][at - 1] ?? 0))]);
  const others = OTHERS.map((name) => {
    const column: readonly unknown[] = origins[name];
    const isAnywhere = column.some((value) => value !== undefined && value !== null);
    const isLarge = column.some((value) => typeof value === "bigint");
    const kept = isLarge ? column.map((value) => (typeof value === "bigint" ? String(value) : value)) : column;
    return [name, isAnywhere ? kept : null];
  });
  return await packJson(Object.fromEntries([...others, ...numbers]));
}

export async function unpackOrigins(bytes: Uint8Array): Promise<readonly Origin[]> {
  const table = (await unpackJson(bytes)) as Record<string, readonly unknown[] | null>; // by packOrigins
  const sums = { line: 0, row: 0, seq: 0 };
  return (table.subject ?? []).map((_, at) => {
    const origin: Record<string, unknown> = {};
    for (const name of OTHERS) {
      const value = table[name]?.[at];
      if (value != null) origin[name] = name === "time" && typeof value === "string" ? BigInt(value) : value;
    }
    for (const name of NUMBERS) {
      sums[name] += Number(table[name]?.[at]);
      origin[name] = sums[name];
    }
    return origin as unknown as Origin; // as it was packed
  });
}

/** What is stored of a chunk's outcomes. See `tables` in schema.ts. */
export interface StoredOutcomes {
  readonly letters: string | undefined;
  readonly promises: Uint8Array | undefined;
  readonly promisesJson: string | undefined;
  readonly responses: string | undefined;
}

const LETTERS = { accepted: "a", rejected: "r", moved: "m", settled: "s", "in doubt": "d" } as const;
type Decided = keyof typeof LETTERS;
const OUTCOMES = new Map<string, Decided>(
  Object.entries(LETTERS).map(([outcome, letter]) => [letter, outcome as Decided]), // its keys
);

interface Outcome {
  readonly outcome: Decided;
  /** Of one that was accepted. */
  readonly promise?: string;
  readonly response?: string | undefined;
}

export function toStored(outcomes: readonly Outcome[]): StoredOutcomes {
  const promises = outcomes.flatMap(({ outcome, promise = "" }) => (outcome === "accepted" ? [promise] : []));
  const responses = outcomes.flatMap(({ response }, place) => (response === undefined ? [] : [[place, response]]));
  const areUuids = promises.every(isUuid);
  return {
    letters: promises.length === outcomes.length ? undefined : outcomes.map((of) => LETTERS[of.outcome]).join(""),
    promises: areUuids ? toBytes(promises.join("")) : undefined,
    promisesJson: areUuids ? undefined : JSON.stringify(promises),
    responses: responses.length === 0 ? undefined : JSON.stringify(responses),
  };
}

/** In the form that the specification gives them. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

const isUuid = (promise: string): boolean => UUID.test(promise);
const toBytes = (uuids: string): Buffer => Buffer.from(uuids.replaceAll("-", ""), "hex");

export const uuidToBytes = (promise: string): Buffer | undefined => (isUuid(promise) ? toBytes(promise) : undefined);

const PARTS = /(.{8})(.{4})(.{4})(.{4})(.{12})/g;

/** Of all promises, in the order of the actions that were accepted. */
function promisesOf({ promises = Buffer.of(), promisesJson }: StoredOutcomes): readonly string[] {
  if (promisesJson !== undefined) return JSON.parse(promisesJson) as string[]; // by toStored
  const hex = Buffer.from(promises).toString("hex");
  return Array.from(hex.matchAll(PARTS), ([, ...parts]) => parts.join("-"));
}

/** What the service said, by the places of the actions. */
export const responsesOf = (stored: StoredOutcomes | undefined): ReadonlyMap<number, string> =>
  new Map(JSON.parse(stored?.responses ?? "[]")); // by toStored

/** @param otherwise the outcome of all, where none are stored. */
export function itemsOf(
  origins: readonly Origin[],
  stored: StoredOutcomes | undefined,
  otherwise: Item["outcome"],
): readonly Item[] {
  const promises = stored === undefined ? [] : promisesOf(stored);
  const responses = responsesOf(stored);
  let next = 0;
  return origins.map((origin, place) => {
    const outcome = stored === undefined ? otherwise : (OUTCOMES.get(stored.letters?.[place] ?? "a") ?? otherwise);
    const promise = outcome === "accepted" ? promises[next++] : undefined;
    return { origin, place, outcome, promise, response: responses.get(place) };
  });
}

const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,');
const OPENING = new Set(Buffer.from("[{"));
const CLOSING = new Set(Buffer.from("]}"));

/** The elements of a JSON array, byte by byte as they stand there. */
export function elementsOf(body: Uint8Array): readonly Uint8Array[] {
  const elements: Uint8Array[] = [];
  let [depth, from, isText] = [0, 1, false];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) {
      depth -= 1;
      if (depth === 0 && at > from) elements.push(body.subarray(from, at));
    } else if (byte === COMMA && depth === 1) {
      elements.push(body.subarray(from, at));
      from = at + 1;
    }
  }
  return elements;
}

/** Each byte stays as it is. */
export const toBody = (elements: readonly Uint8Array[]): Uint8Array =>
  Buffer.from(`[${elements.map((element) => Buffer.from(element).toString("latin1")).join(",")}]`, "latin1");
