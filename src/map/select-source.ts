/** Which source of the config a file belongs to. */

import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { literalPattern } from "./literal-pattern.ts";
import { MappingError } from "./mapping-error.ts";
import { wholeMatcher } from "./pattern.ts";
import { inputsOfRejects, type LikelyNames } from "./rejects-names.ts";
import type { NamedSource, SourceConfig } from "./source.ts";

export type Sources = Readonly<Record<string, SourceConfig>>;

/**
 * The source that `--source` names, else the one whose `match` fits the file's base name, with or without its `.gz` or
 * `.zst`; undefined when none does. A rejects file belongs to the source of the input that it comes from: where it shows
 * that it is one, what that input was called counts before its own name, otherwise after it.
 * Throws `Failure("usage")` for an unknown name and for two sources that match.
 *
 * @param isRejects whether the file has columns of rejects.
 */
export function selectSource(
  sources: Sources,
  fileName: string,
  wanted: string | undefined,
  isRejects = false,
): NamedSource | undefined {
  const names = Object.keys(sources);
  if (wanted !== undefined) {
    const config = Object.hasOwn(sources, wanted) ? sources[wanted] : undefined;
    if (config !== undefined) return { name: wanted, config };
    const near = nearest(wanted, names);
    const known = names.length === 0 ? "The config has no sources." : `Sources are ${names.join(", ")}.`;
    throw new Failure("usage", `There is no source ${wanted}.`, {
      hint: near === undefined ? known : `Did you mean ${near}?`,
    });
  }
  const inputs = inputsOfRejects(fileName);
  if (!isRejects) return sourceMatching(sources, [fileName]) ?? sourceOfInputs(sources, inputs, fileName);
  const isOfStandardInput = inputs.some((names) => names[0]?.includes(""));
  const ofInput = sourceOfInputs(sources, inputs, fileName);
  // Standard input has no name, so whatever matches its rejects did not match it.
  return ofInput === undefined && !isOfStandardInput ? sourceMatching(sources, [fileName]) : ofInput;
}

/** The source of the input that a rejects file comes from. */
function sourceOfInputs(sources: Sources, inputs: readonly LikelyNames[], fileName: string): NamedSource | undefined {
  const found = inputs.flatMap((likely) => {
    for (const names of likely) {
      const source = sourceMatching(sources, names);
      if (source !== undefined) return [source];
    }
    return [];
  });
  const [first] = found;
  const other = found.find(({ name }) => name !== first?.name);
  if (first !== undefined && other !== undefined) throw twoSources(fileName, first, other);
  return first;
}

/** The one source that matches any of the names. */
function sourceMatching(sources: Sources, fileNames: readonly string[]): NamedSource | undefined {
  const [first, second] = Object.entries(sources).flatMap(([name, config]) => {
    const fileName = fileNames.find((each) => matches(config, each));
    return fileName === undefined ? [] : [{ name, config, fileName }];
  });
  if (first !== undefined && second !== undefined) throw twoSources(second.fileName, first, second);
  return first === undefined ? undefined : { name: first.name, config: first.config };
}

function twoSources(fileName: string, first: NamedSource, second: NamedSource): MappingError {
  return new MappingError(
    ["sources", second.name, "match"],
    `${fileName} matches two sources, ${first.name} and ${second.name}.`,
    "Narrow one match, or choose one with --source NAME.",
  );
}

/** What to do about a file that no source fits. */
export function hintOfNoSource(sources: Sources, fileName: string): string {
  const patterns = Object.entries(sources).map(
    ([name, { match }]) =>
      `${name}: ${[match ?? "no match"]
        .flat()
        .map((glob) => JSON.stringify(glob))
        .join(" or ")}`,
  );
  if (patterns.length === 0) return `Or describe it: tickets init ${fileName === "" ? "FILE" : fileName}`;
  return `No source matches ${fileName === "" ? "standard input" : fileName} (${patterns.slice(0, 8).join(", ")}${patterns.length > 8 ? ", …" : ""}). Give --source NAME, or widen match.`;
}

function matches({ match }: SourceConfig, fileName: string): boolean {
  const plain = fileName.replace(/\.(?:gz|zst)$/i, "");
  return [match ?? []].flat().some((glob) => {
    const fits = wholeMatcher(globPattern(glob));
    return fits(fileName) || fits(plain);
  });
}

/** `*`, `?` and `{a,b}` over one base name, compared ignoring case like the file names that tell an action. */
function globPattern(glob: string): string {
  let depth = 0;
  let pattern = "";
  for (const character of glob) {
    if (character === "*") pattern += "[^/]*";
    else if (character === "?") pattern += "[^/]";
    else if (character === "{") {
      depth += 1;
      pattern += "(?:";
    } else if (character === "}" && depth > 0) {
      depth -= 1;
      pattern += ")";
    } else if (character === "," && depth > 0) pattern += "|";
    else pattern += character === "/" || character === "-" ? character : literalPattern(character);
  }
  return depth === 0 ? pattern : literalPattern(glob);
}
