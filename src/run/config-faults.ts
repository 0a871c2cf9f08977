/** Faults of the config that show only when its rules meet an input. */

import { displayPath } from "../actions/text.ts";
import type { Config } from "../config/config.ts";
import { type ConfigDocument, positionAt } from "../config/document.ts";
import { Failure } from "../failure.ts";
import { MappingError } from "../map/mapping-error.ts";
import { hintOfNoSource } from "../map/select-source.ts";

/** A failure that names each rule of the config that can't be carried out, with its file, line and column. */
export function atItsPlace(config: Config, cause: unknown, cwd: string): unknown {
  if (!(cause instanceof MappingError)) return cause;
  const document = config.documents.find((each) => isDeclared(each, cause.keys));
  if (document === undefined) return cause;
  const faults = [cause, ...cause.others].map((fault) => {
    const { file, line, column } = positionAt(document, fault.keys);
    const hint = hintOfComments(document, fault) ?? fault.hint;
    return { line, column, hint, text: `${displayPath(file, cwd)}:${line}:${column} ${fault.message}` };
  });
  const [only] = faults;
  if (faults.length === 1 && only !== undefined) return new Failure("usage", only.text, { cause, hint: only.hint });
  const lines = faults
    .sort((one, other) => one.line - other.line || one.column - other.column)
    .map(({ text, hint }, at, all) => {
      // A hint shared by several in a row is given after the last of them.
      return hint === undefined || hint === all[at + 1]?.hint ? `  ${text}` : `  ${text}\n    ${hint}`;
    });
  const message = `${faults.length} problems in the config:\n${lines.join("\n")}`;
  return new Failure("usage", message, { cause, nothingSent: true });
}

/** `Line 19 holds it as a comment`, for fields without a rule. */
function hintOfComments(document: ConfigDocument, { keys, missing }: MappingError): string | undefined {
  const from = positionAt(document, keys.slice(0, 2), "key").line;
  const sources = keysOfSources(document).map((name) => positionAt(document, ["sources", name], "key").line);
  const to = Math.min(...sources.filter((line) => line > from), Number.POSITIVE_INFINITY);
  const found = missing.flatMap((field) => {
    const comment = document.commentedKeys.find(({ key, line }) => key === field && line > from && line < to);
    return comment === undefined ? [] : [`line ${comment.line} holds ${field} as a comment`];
  });
  if (found.length === 0) return undefined;
  const text = found.join(", ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}: fill it in and remove the #.`;
}

function keysOfSources({ value }: ConfigDocument): readonly string[] {
  const sources = typeof value === "object" && value !== null && "sources" in value ? value.sources : undefined;
  return typeof sources === "object" && sources !== null ? Object.keys(sources) : [];
}

function isDeclared({ value }: ConfigDocument, [top, name]: readonly (string | number)[]): boolean {
  const section =
    typeof value === "object" && value !== null ? (value as Record<string, unknown>)[String(top)] : undefined;
  return typeof section === "object" && section !== null && Object.hasOwn(section, String(name));
}

/** Adds the config's sources to a failure of an input that no source matched. */
export function withSourcesNamed(cause: unknown, config: Config, fileName: string): unknown {
  if (!(cause instanceof Failure) || cause.code !== "usage") return cause;
  const more = hintOfNoSource(config.sources, fileName);
  return cause.with({ hint: cause.hint === undefined ? more : `${cause.hint}\n${more}` });
}
