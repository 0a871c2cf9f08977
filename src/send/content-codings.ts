/** Content codings that a server may use although it was asked not to. */

import {
  brotliDecompressSync,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  zstdDecompressSync,
} from "node:zlib";
import type { Exchange } from "./exchange.ts";

/** The largest answer that is read. 5000 items with all ids at full length stay far below. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The codings of a Content-Encoding that change the body, in the order in which they were applied. */
const codingsOf = (header = ""): string[] =>
  header
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");

type Decoder = (bytes: Buffer, options: ZlibOptions) => Buffer;

const DECODERS: ReadonlyMap<string, readonly Decoder[]> = new Map<string, readonly Decoder[]>([
  ["gzip", [gunzipSync]],
  ["x-gzip", [gunzipSync]],
  // Servers send either form under this name.
  ["deflate", [inflateSync, inflateRawSync]],
  ["br", [brotliDecompressSync]],
  ["zstd", [(bytes, { maxOutputLength = MAX_ANSWER_BYTES }) => zstdDecompressSync(bytes, { maxOutputLength })]],
]);

/** As undici says it of an answer that comes too large. */
const TOO_LARGE = Object.assign(new Error("Response content exceeded max size"), {
  code: "UND_ERR_RES_EXCEEDED_MAX_SIZE",
});

/** Decodes the body by its Content-Encoding. What can't be decoded stays as it came: it may be none, and plain. */
export function decoded(result: Exchange): Exchange {
  if (result.kind !== "answer" || !result.whole || result.body.length === 0) return result;
  let { body } = result;
  let undecoded: string | undefined;
  for (const coding of codingsOf(result.headers.contentEncoding).reverse()) {
    const tried = decodeBy(DECODERS.get(coding) ?? [], body);
    if (tried === "too large") return { ...result, body: Buffer.alloc(0), whole: false, error: TOO_LARGE };
    if (Buffer.isBuffer(tried)) body = tried;
    else undecoded ??= `${coding}: ${tried.fault}`;
  }
  return { ...result, body, ...(undecoded !== undefined && { undecoded }) };
}

function decodeBy(decoders: readonly Decoder[], body: Buffer): Buffer | "too large" | { readonly fault: string } {
  const faults: (Error & { readonly code?: string })[] = [];
  for (const decode of decoders) {
    try {
      return decode(body, { maxOutputLength: MAX_ANSWER_BYTES });
    } catch (error) {
      faults.push(error as Error); // of zlib
    }
  }
  if (faults.some(({ code }) => code === "ERR_BUFFER_TOO_LARGE")) return "too large";
  // Where one of two forms ended too early, the body is in that form.
  const fault = faults.find(({ code }) => code === "Z_BUF_ERROR") ?? faults[0];
  return { fault: fault?.message ?? "not known here" };
}

/** How much of an answer is kept to be shown to a person. */
const MOST_SHOWN_BYTES = 64 * 1024;

/** The beginning of an answer as text; nothing of one that is still compressed. */
export function shownOf({ headers, body, whole, undecoded }: Extract<Exchange, { kind: "answer" }>): string {
  const shown = body.subarray(0, MOST_SHOWN_BYTES);
  const isCoded = codingsOf(headers.contentEncoding).length > 0 && (!whole || undecoded !== undefined);
  const isPlain = isCoded ? isBeginningOfUtf8(shown) : !shown.subarray(0, GZIP.length).equals(GZIP);
  return isPlain ? shown.toString("utf8") : "";
}

/** What gzip begins with, also where no header says so. */
const GZIP = Buffer.from([0x1f, 0x8b]);

function isBeginningOfUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
