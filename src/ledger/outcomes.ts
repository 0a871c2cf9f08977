/** How a chunk's body, origins and outcomes are kept. */

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import type { Item, Origin } from "./ledger.ts";

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

/** JSON has no integers as large as a time may be: such a one is kept as text. */
export const packOrigins = (origins: readonly Origin[]): Promise<Uint8Array> =>
  packJson(
    origins.map((origin) => (typeof origin.time === "bigint" ? { ...origin, time: String(origin.time) } : origin)),
  );

export async function unpackOrigins(bytes: Uint8Array): Promise<readonly Origin[]> {
  const origins = (await unpackJson(bytes)) as readonly (Origin & { readonly time?: unknown })[]; // by packOrigins
  return origins.map((origin) => (typeof origin.time === "string" ? { ...origin, time: BigInt(origin.time) } : origin));
}

/** What became of an action, as it is stored. */
export interface Outcome {
  readonly outcome: Exclude<Item["outcome"], "not sent">;
  readonly promise?: string | undefined;
  readonly response?: string | undefined;
}

/** Of an action that was accepted, which most are, only the promise. */
export const toStored = (outcomes: readonly Outcome[]): string =>
  JSON.stringify(
    outcomes.map(({ outcome, promise, response }) => (outcome === "accepted" ? { promise } : { outcome, response })),
  );
export const fromStored = (text: string): readonly Outcome[] =>
  (JSON.parse(text) as readonly Partial<Outcome>[]).map((each) => ({ outcome: "accepted", ...each })); // by toStored

/** @param otherwise the outcome of all, where none are stored. */
export const itemsOf = (
  origins: readonly Origin[],
  outcomes: readonly Outcome[] | undefined,
  otherwise: Item["outcome"],
): readonly Item[] =>
  origins.map((origin, place) => {
    const { outcome = otherwise, promise, response } = outcomes?.[place] ?? {};
    return { origin, place, outcome, promise, response };
  });
