/** The names of rejects files, and which inputs a file of such a name may come from. */

/** Of all formats of inputs (read/formats.ts). */
const ENDINGS: readonly string[] = ["csv", "tsv", "ndjson", "jsonl", "json"];
const ENDING = new RegExp(`\\.(?:${ENDINGS.join("|")})(?:\\.(?:gz|zst))?$`, "i");
const REJECTS = /^(.+)\.rejects(?:\..+)?\.(csv|tsv|ndjson)(?:\.(?:gz|zst))?$/i;

/** By the ending of a rejects file, the endings that its input may have, unless --input-format named the format. */
const INPUTS_OF: Readonly<Record<string, readonly string[]>> = {
  csv: ["csv"],
  tsv: ["tsv"],
  ndjson: ["ndjson", "jsonl", "json"],
};

const STANDARD_INPUT = "stdin";

/** What the promises and the rejects of an input begin with. `inputName` is its base name, "" for standard input. */
export function stemOf(inputName: string): string {
  let stem = inputName === "" ? STANDARD_INPUT : inputName.replace(ENDING, "");
  if (Buffer.byteLength(stem) <= MOST_STEM_BYTES) return stem;
  for (const letters = [...stem]; Buffer.byteLength(stem) > MOST_STEM_BYTES; stem = letters.join("")) letters.pop();
  return stem;
}

/** A name may have 255 bytes, and what comes behind the stem is at most fifty long. */
const MOST_STEM_BYTES = 200;

/** Base names, the likelier ones in the earlier lists. */
export type LikelyNames = readonly (readonly string[])[];

/**
 * The names that the input of a rejects file may have, "" for standard input; for rejects of rejects, those of the first
 * input. Where the name can be read in several ways, nothing says which is right. None for a file not named like rejects.
 */
export function inputsOfRejects(fileName: string): readonly LikelyNames[] {
  const [, stem = "", ending = ""] = REJECTS.exec(fileName) ?? [];
  if (stem === "") return [];
  const earlier = inputsOfRejects(`${stem}.${ending}`);
  const own = namesOf(stem, ending.toLowerCase());
  if (earlier.length > 0) return earlier.map((names) => [...names, ...own]);
  // Of two inputs with the same name, the second has its number behind the stem.
  const [, numbered] = /^(.+)\.(?:[2-9]|[1-9]\d+)$/.exec(stem) ?? [];
  return numbered === undefined ? [own] : [own, namesOf(numbered, ending.toLowerCase())];
}

function namesOf(stem: string, ending: string): LikelyNames {
  if (stem === STANDARD_INPUT) return [[""]];
  const likely = INPUTS_OF[ending] ?? [];
  const others = ENDINGS.filter((each) => !likely.includes(each));
  const called = (endings: readonly string[]): readonly string[] => endings.map((each) => `${stem}.${each}`);
  return [called(likely), packed(called(likely)), [stem], called(others), packed(called(others))];
}

const packed = (names: readonly string[]): readonly string[] => names.flatMap((name) => [`${name}.gz`, `${name}.zst`]);
