/** One config file: its values, where each stands, and what is wrong with it. */

import * as z from "zod";
import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { MappingError } from "../map/mapping-error.ts";
import { IS_MISSING } from "../map/source.ts";
import { cleanText, displayPath } from "../text.ts";
import { VARIABLES } from "./settings.ts";

/** Keys and indexes from the top of a config. */
export type ConfigPath = readonly (string | number)[];

export interface Position {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units as editors count. */
  readonly column: number;
}

/** What is wrong at one place of a config. */
export interface ConfigProblem extends Position {
  readonly path: ConfigPath;
  /** A phrase that follows the path, without a full stop. */
  readonly message: string;
  /** The nearest known name. */
  readonly didYouMean?: string | undefined;
}

export interface ConfigDocument {
  /** Absolute path. */
  readonly file: string;
  readonly value: unknown;
  /** By `pathKey`; values, with their keys for what is wrong with a name. */
  readonly positions: ReadonlyMap<string, Position>;
  readonly keyPositions: ReadonlyMap<string, Position>;
  readonly problems: readonly ConfigProblem[];
}

/** How a path is written in the maps of a document. */
export const pathKey = (path: ConfigPath): string => JSON.stringify(path);

/** The place of the value at `path`, or of the nearest thing around it that stands in the file. */
export function positionAt(document: ConfigDocument, path: ConfigPath, of: "key" | "value" = "value"): Position {
  if (of === "key") {
    const key = document.keyPositions.get(pathKey(path));
    if (key !== undefined) return key;
  }
  for (let length = path.length; length >= 0; length -= 1) {
    const around = pathKey(path.slice(0, length));
    const value = document.positions.get(around);
    const found = length === path.length ? value : (document.keyPositions.get(around) ?? value);
    if (found !== undefined) return found;
  }
  return { file: document.file, line: 1, column: 1 };
}

/** What stands at `path` in a value. */
export function valueAt(value: unknown, path: ConfigPath): unknown {
  let found = value;
  for (const step of path) found = isRecord(found) ? Reflect.get(found, step) : undefined;
  return found;
}

/** The keys of the map at `path`, if there is one. */
export function keysAt(value: unknown, path: ConfigPath): readonly string[] {
  const found = valueAt(value, path);
  return isRecord(found) && !Array.isArray(found) ? Object.keys(found) : [];
}

/** The places in a value that fit a pattern such as `environments.*.output`, where `*` is each key that there is. */
export function placesIn(value: unknown, pattern: string): readonly ConfigPath[] {
  let places: readonly ConfigPath[] = [[]];
  for (const step of pattern.split("."))
    places = places.flatMap((path) => (step === "*" ? keysAt(value, path) : [step]).map((key) => [...path, key]));
  return places.filter((path) => valueAt(value, path) !== undefined);
}

/** An object or a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** What `schema` finds wrong with the document, each thing once, and nothing that the document's own problems explain. */
export function explainIssues(
  document: ConfigDocument,
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
): readonly ConfigProblem[] {
  const known = new Set(document.problems.map(({ path }) => pathKey(path)));
  const problems = new Map<string, ConfigProblem>();
  const found = issues.flatMap((issue) => flatten(issue, [], document, schema));
  for (const { path, message, of, didYouMean, isAboutWhole } of found) {
    if (path.some((_, index) => known.has(pathKey(path.slice(0, index + 1))))) continue;
    // A problem of the whole ("exactly one of ...") follows from those of its parts.
    if (isAboutWhole && found.some((other) => isBelow(other.path, path))) continue;
    const key = `${pathKey(path)} ${message}`;
    if (!problems.has(key)) problems.set(key, { ...positionAt(document, path, of), path, message, didYouMean });
  }
  return [...problems.values()];
}

/** A longer list would hide the sentence. */
const MOST_LISTED = 12;

interface Flat {
  readonly path: ConfigPath;
  readonly message: string;
  readonly of: "key" | "value";
  readonly didYouMean?: string | undefined;
  readonly isAboutWhole?: boolean;
}

function isBelow(path: ConfigPath, above: ConfigPath): boolean {
  return path.length > above.length && above.every((step, index) => step === path[index]);
}

function flatten(
  issue: z.core.$ZodIssue,
  above: ConfigPath,
  document: ConfigDocument,
  schema: z.ZodType,
): readonly Flat[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === "number" ? step : String(step)))];
  const { message } = issue;
  const ofValue = { path, message, of: "value" } as const;
  switch (issue.code) {
    case "unrecognized_keys": {
      const names = knownKeys(schema, path);
      const list = names.length === 0 || names.length > MOST_LISTED ? "" : `; known here: ${names.join(", ")}`;
      return issue.keys.map((key) => {
        const didYouMean = nearest(key, names) ?? onlyLonger(key, names);
        const message = `is not a known key${didYouMean === undefined ? list : ""}`;
        return { path: [...path, key], of: "key", message, didYouMean };
      });
    }
    case "invalid_key":
      return [{ path, message, of: "key" }];
    case "invalid_value":
      return [{ ...ofValue, didYouMean: nearestValue(valueAt(document.value, path), issue.values) }];
    case "invalid_union": {
      // The alternative that was meant has the right type and the fewest problems.
      const meant = issue.errors
        .filter((errors) => !errors.some(({ path: at, code }) => at.length === 0 && code === "invalid_type"))
        .sort((one, other) => one.length - other.length)[0];
      return meant === undefined
        ? [ofValue]
        : withoutMisspelt(meant).flatMap((inner) => flatten(inner, path, document, schema));
    }
    case "custom": {
      const meant: unknown = issue.params?.didYouMean;
      return [{ ...ofValue, isAboutWhole: true, didYouMean: typeof meant === "string" ? meant : undefined }];
    }
    default:
      return [ofValue];
  }
}

/** In an alternative with an unknown key, a missing key is that one by its right name, or is of another alternative. */
function withoutMisspelt(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const unknown = issues.filter(({ code, path }) => code === "unrecognized_keys" && path.length === 0);
  if (unknown.length === 0) return issues;
  return issues.filter(({ path, message }) => !(path.length === 1 && message === IS_MISSING));
}

/** The one name that begins with a key: `userId` for `user`. */
function onlyLonger(key: string, names: readonly string[]): string | undefined {
  const [only, ...others] = names.filter((name) => name.startsWith(key));
  return others.length === 0 ? only : undefined;
}

function nearestValue(written: unknown, values: readonly unknown[]): string | undefined {
  const names = values.filter((value) => typeof value === "string" && value.length > 1);
  return typeof written === "string" ? nearest(written, names as string[]) : undefined; // filtered to strings one line above
}

/** The keys that `schema` takes at `path`, whichever alternative is meant. */
function knownKeys(schema: unknown, path: ConfigPath): readonly string[] {
  const [step, ...rest] = path;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly) return knownKeys(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => knownKeys(option, path));
  if (schema instanceof z.ZodObject) {
    return step === undefined ? Object.keys(schema.shape) : knownKeys(schema.shape[step], rest);
  }
  if (step === undefined) return [];
  if (schema instanceof z.ZodRecord) return knownKeys(schema.valueType, rest);
  if (schema instanceof z.ZodArray) return knownKeys(schema.element, rest);
  return [];
}

/**
 * One problem as a line: `tickets.config.yaml:3:5  environments.playground.chunksize: is not a known key. Did you mean
 * chunkSize?`. `file` is how the file is to be called.
 */
export function problemLine({ line, column, path, message, didYouMean }: ConfigProblem, file: string): string {
  const place = path.length === 0 ? "" : `${showPath(path)}: `;
  const hint = didYouMean === undefined ? "" : ` Did you mean ${didYouMean}?`;
  return `${file}:${line}:${column}  ${place}${message}.${hint}`;
}

/** Where secrets are named, below an environment. */
const SECRETS = VARIABLES.map((pattern) => pattern.split(".").slice(2, -1));

/** A path in dots and brackets. Below a secret only known names are shown: another may be the secret itself. */
function showPath(path: ConfigPath): string {
  const place = SECRETS.find((steps) => steps.every((step, index) => path[2 + index] === step));
  const end = 2 + (place?.length ?? 0);
  const isHidden = place !== undefined && !["env", "file", "command"].includes(String(path[end] ?? "env"));
  const shown = path[0] === "environments" && isHidden ? path.slice(0, end) : path;
  return shown
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${cleanText(step, 60)}`))
    .join("");
}

/** A failure that names each rule of the config that can't be carried out, with its file, line and column. */
export function atItsPlace(documents: readonly ConfigDocument[], cause: unknown, cwd: string): unknown {
  if (!(cause instanceof MappingError)) return cause;
  const document = documents.find((each) => isDeclared(each, cause.keys));
  if (document === undefined) return cause;
  const faults = [cause, ...cause.others].map((fault) => {
    const { file, line, column } = positionAt(document, fault.keys);
    return { line, column, hint: fault.hint, text: `${displayPath(file, cwd)}:${line}:${column} ${fault.message}` };
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

/** Whether it is this file that holds the source, or what else the keys begin with. */
const isDeclared = ({ value }: ConfigDocument, [top = "", name]: readonly (string | number)[]): boolean =>
  keysAt(value, [top]).includes(String(name));
