/** How a chunk's actions, their origins and their outcomes are kept: some 60 bytes an action. */

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { parseJson, stringifyJson } from "../actions/json.ts";
import type { Answer, Item, Origin } from "./ledger.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** With a checksum, by which a changed bit is noticed. */
const PACKING = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

export const pack = async (bytes: Uint8Array): Promise<Uint8Array> => await compress(bytes, PACKING);
export const unpack = async (bytes: Uint8Array): Promise<Buffer> => await decompress(bytes);
export const packJson = (value: unknown): Promise<Uint8Array> => pack(Buffer.from(stringifyJson(value)));
export const unpackJson = async (bytes: Uint8Array): Promise<unknown> => parseJson((await unpack(bytes)).toString());

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A column each: what follows its like is packed well. */
export async function packOrigins(origins: readonly Origin[]): Promise<Uint8Array> {
  const column = <K extends keyof Origin>(name: K): readonly (Origin[K] | null)[] | null =>
    origins.some((origin) => origin[name] !== undefined) ? origins.map((origin) => origin[name] ?? null) : null;
  // Differences of numbers that rise repeat, and the numbers do not.
  const steps = (name: "line" | "row" | "seq"): readonly number[] =>
    origins.map((origin, at) => origin[name] - (origins[at - 1]?.[name] ?? 0));
  const numbers = { line: steps("line"), row: steps("row"), seq: steps("seq") };
  return await packJson({ ...Object.fromEntries(COLUMNS.map((name) => [name, column(name)])), ...numbers });
}

const COLUMNS = [
  ...(["input", "subject", "kind", "mark", "content", "digest", "time", "event", "owner", "position"] as const),
] satisfies readonly (keyof Origin)[];

export async function unpackOrigins(bytes: Uint8Array): Promise<readonly Origin[]> {
  // Only `packOrigins` writes it.
  const table = (await unpackJson(bytes)) as Record<string, readonly unknown[] | null>;
  const sums = { line: 0, row: 0, seq: 0 };
  return (table.subject ?? []).map((_, at) => {
    const origin: Record<string, unknown> = {};
    for (const name of COLUMNS) {
      const value = table[name]?.[at];
      if (value != null) origin[name] = value;
    }
    for (const name of ["line", "row", "seq"] as const) {
      sums[name] += Number(table[name]?.[at]);
      origin[name] = sums[name];
    }
    return origin as unknown as Origin; // as it was packed
  });
}

/** What is stored of a chunk's outcomes. See `tables` in schema.ts. */
export interface StoredOutcomes {
  readonly letters: string | null;
  readonly promises: Uint8Array | null;
  readonly promises_json: string | null;
  readonly responses: string | null;
}

const LETTERS = { accepted: "a", rejected: "r", moved: "m", settled: "s", "in doubt": "d" } as const;

export function toStored(
  answers: readonly (Answer | { readonly outcome: "settled" | "in doubt" | "moved"; readonly response?: string })[],
): StoredOutcomes {
  const promises = answers.flatMap((answer) => (answer.outcome === "accepted" ? [answer.promise] : []));
  const responses = answers.flatMap((answer, place) =>
    "response" in answer && answer.response !== undefined ? [[place, answer.response] as const] : [],
  );
  const isWhole = promises.length === answers.length;
  const bytes = toBytes(promises);
  return {
    letters: isWhole ? null : answers.map(({ outcome }) => LETTERS[outcome]).join(""),
    promises: bytes ?? null,
    promises_json: bytes === undefined ? JSON.stringify(promises) : null,
    responses: responses.length === 0 ? null : JSON.stringify(responses),
  };
}

/** In the form that the specification gives them. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

export const uuidToBytes = (promise: string): Buffer | undefined =>
  UUID.test(promise) ? Buffer.from(promise.replaceAll("-", ""), "hex") : undefined;

function toBytes(promises: readonly string[]): Uint8Array | undefined {
  const all = promises.map(uuidToBytes);
  const bytes = all.filter((each) => each !== undefined);
  return bytes.length === all.length ? Buffer.concat(bytes) : undefined;
}

const uuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/** Of all promises, in the order of the actions that were accepted. */
function promisesOf({ promises, promises_json: json }: StoredOutcomes): readonly string[] {
  if (json !== null) return JSON.parse(json) as string[]; // by toStored
  const hex = Buffer.from(promises ?? []).toString("hex");
  return Array.from({ length: hex.length / 32 }, (_, at) => uuid(hex.slice(32 * at, 32 * at + 32)));
}

/** @param otherwise the outcome of all, where none are stored. */
export function itemsOf(
  origins: readonly Origin[],
  stored: StoredOutcomes | undefined,
  otherwise: Item["outcome"],
): readonly Item[] {
  const promises = stored === undefined ? [] : promisesOf(stored);
  const responses = new Map<number, string>(stored?.responses == null ? [] : JSON.parse(stored.responses));
  let next = 0;
  return origins.map((origin, place) => {
    const outcome = stored === undefined ? otherwise : OUTCOMES[stored.letters?.[place] ?? "a"];
    const promise = outcome === "accepted" ? promises[next++] : undefined;
    return { origin, place, outcome: outcome ?? otherwise, promise, response: responses.get(place) };
  });
}

const OUTCOMES: Readonly<Record<string, Item["outcome"]>> = {
  a: "accepted",
  r: "rejected",
  m: "moved",
  s: "settled",
  d: "in doubt",
};

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

export const toBody = (elements: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([
    Buffer.from("["),
    ...elements.flatMap((element, at) => (at === 0 ? [element] : [Buffer.from(","), element])),
    Buffer.from("]"),
  ]);
