/** What the names of input files say, how their rejects are called, and how people read where a row stands. */

import { cleanText } from "../text.ts";
import { headOf } from "./encoding.ts";

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

const ENDINGS = { csv: ["csv"], tsv: ["tsv"], ndjson: ["ndjson", "jsonl"], json: ["json"] } as const;
export type InputFormat = keyof typeof ENDINGS;
export const INPUT_FORMATS = Object.keys(ENDINGS) as readonly InputFormat[]; // the keys of a constant

export const FORMAT_OF_ENDING: ReadonlyMap<string, InputFormat> = new Map(
  INPUT_FORMATS.flatMap((format) => ENDINGS[format].map((ending) => [ending, format])),
);
const ENDING = new RegExp(`\\.(?:${[...FORMAT_OF_ENDING.keys()].join("|")})$`, "i");
const REJECTS = /^(.+?)(?:\.rejects)+(?:\..+)?\.(csv|tsv|ndjson)$/i;

const STANDARD_INPUT = "stdin";

/** What the promises and the rejects of an input begin with. `inputName` is its base name, "" for standard input. */
export function stemOf(inputName: string): string {
  const plain = unpackedName(inputName);
  const stem = ENDING.test(plain) ? plain.replace(ENDING, "") : inputName;
  return inputName === "" ? STANDARD_INPUT : headOf(stem, MOST_STEM_BYTES);
}

/** A name may have 255 bytes, and what comes behind the stem is at most fifty long. */
const MOST_STEM_BYTES = 200;

/** The names that the input of a rejects file may have; "" for standard input. None for a file not named like rejects. */
export function inputsOfRejects(fileName: string): readonly string[] {
  const [, stem = "", ending = ""] = REJECTS.exec(unpackedName(fileName.toLowerCase())) ?? [];
  if (stem === "") return [];
  if (stem === STANDARD_INPUT) return [""];
  // Of two inputs with the same name, the second has its number behind the stem.
  const stems = [stem, stem.replace(/\.(?:[2-9]|[1-9]\d+)$/, "")];
  const endings = ending === "ndjson" ? ["ndjson", "jsonl", "json"] : [ending];
  const called = endings.flatMap((last) => ["", ...PACKED_ENDINGS].map((packed) => `.${last}${packed}`));
  return stems.flatMap((each) => [...called, ""].map((last) => each + last));
}

const isArray = (source: string): boolean => /\.json$/i.test(unpackedName(source));

/** Where a row stands, as people read it: `sales.csv:12`; of a JSON array `sales.json[12]`; without a line, the file. */
export function placeText(
  { source, line }: { readonly source: string; readonly line: number | undefined },
  longest = 200,
): string {
  const place = line === undefined ? "" : isArray(source) ? `[${line}]` : `:${line}`;
  return `${cleanText(source, longest)}${place}`;
}

/** `line 12`; of a JSON array `item 12`. */
export const lineText = (source: string, line: number): string => `${isArray(source) ? "item" : "line"} ${line}`;
