/** The names of rejects files, and which inputs a file of such a name may come from. */

/** Of all formats of inputs (read/formats.ts). */
const ENDING = /\.(?:csv|tsv|ndjson|jsonl|json)(?:\.(?:gz|zst))?$/i;
const REJECTS = /^(.+?)(?:\.rejects)+(?:\..+)?\.(csv|tsv|ndjson)(?:\.(?:gz|zst))?$/i;

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

/** The names that the input of a rejects file may have; "" for standard input. None for a file not named like rejects. */
export function inputsOfRejects(fileName: string): readonly string[] {
  const [, stem = "", ending = ""] = REJECTS.exec(fileName.toLowerCase()) ?? [];
  if (stem === "") return [];
  if (stem === STANDARD_INPUT) return [""];
  // Of two inputs with the same name, the second has its number behind the stem.
  const stems = [stem, stem.replace(/\.(?:[2-9]|[1-9]\d+)$/, "")];
  const endings = ending === "ndjson" ? ["ndjson", "jsonl", "json"] : [ending];
  const called = endings.flatMap((last) => ["", ".gz", ".zst"].map((packed) => `.${last}${packed}`));
  return stems.flatMap((each) => [...called, ""].map((last) => each + last));
}
