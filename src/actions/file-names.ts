/** What the names of input files say. */

/** By the endings of packed files, which stand behind that of their format. */
export const COMPRESSIONS = { gz: "gzip", zst: "Zstandard" } as const;
export type Compression = keyof typeof COMPRESSIONS;

export const PACKED_ENDINGS = Object.keys(COMPRESSIONS).map((ending) => `.${ending}`);
const PACKED = new RegExp(`\\.(${Object.keys(COMPRESSIONS).join("|")})$`, "i");

/** A file's name without the ending of its compression. */
export const unpackedName = (name: string): string => name.replace(PACKED, "");

export function compressionOf(name: string): Compression | undefined {
  const [, ending] = PACKED.exec(name) ?? [];
  return ending?.toLowerCase() as Compression | undefined; // as the pattern says
}
