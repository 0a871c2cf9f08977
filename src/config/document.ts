/** One config file as plain values that know where they stand. */

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
