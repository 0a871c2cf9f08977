/** Which source of the config a file belongs to. */

import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { inputsOfRejects, unpackedName } from "../read/file-names.ts";
import { MappingError } from "./mapping-error.ts";
import { literalPattern, wholeMatcher } from "./pattern.ts";
import type { NamedSource, SourceConfig } from "./source.ts";

export type Sources = Readonly<Record<string, SourceConfig>>;

/**
 * The source that `--source` names, else the one whose `match` fits the file's base name, packed or not;
 * undefined when none does. A rejects file belongs to the source of the input that it comes from: where it shows
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
  const ofInput = () => matching(sources, inputs);
  if (!isRejects) return matching(sources, [fileName]) ?? ofInput();
  // Standard input has no name, so whatever matches its rejects did not match it.
  return ofInput() ?? (inputs.includes("") ? undefined : matching(sources, [fileName]));
}

/** The one source that matches any of the names. */
function matching(sources: Sources, names: readonly string[]): NamedSource | undefined {
  const [first, second] = Object.entries(sources).flatMap(([name, config]) => {
    const fileName = names.find((each) => matches(config, each));
    return fileName === undefined ? [] : [{ name, config, fileName }];
  });
  if (first !== undefined && second !== undefined)
    throw new MappingError(
      ["sources", second.name, "match"],
      `${second.fileName} matches two sources, ${first.name} and ${second.name}.`,
      "Narrow one match, or choose one with --source NAME.",
    );
  return first && { name: first.name, config: first.config };
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
  if (patterns.length === 0) return `To write a first source: tickets init ${fileName === "" ? "FILE" : fileName}`;
  return `No source matches ${fileName === "" ? "standard input" : fileName} (${patterns.slice(0, 8).join(", ")}${patterns.length > 8 ? ", …" : ""}). Give --source NAME, or widen match.`;
}

/** Whether the source is that of a file of this base name. */
export function matches({ match }: Pick<SourceConfig, "match">, fileName: string): boolean {
  const plain = unpackedName(fileName);
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
    else pattern += literalPattern(character);
  }
  return depth === 0 ? pattern : literalPattern(glob);
}
