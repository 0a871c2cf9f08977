/** Rows → actions: which mapping a file gets. */

import type { ActionName } from "../actions/actions.ts";
import { DEFAULT_CLEAR_WORD } from "./coerce.ts";
import type { LookupTable } from "./lookup.ts";
import type { Mapper } from "./mapper.ts";
import {
  type CompiledColumns,
  compileHeader,
  createNamedMapper,
  type NamedSettings,
  refuseRules,
  stripsGuards,
} from "./named.ts";
import { columnsOfKeys, createObjectMapper } from "./objects.ts";
import { type PlainSource, plainSourceOf } from "./plain-source.ts";
import type { NamedSource } from "./source.ts";
import { SourceMapper } from "./source-mapper.ts";
import type { SourceSettings } from "./source-rules.ts";
import { withTotals } from "./totals.ts";

export interface MapperOptions {
  /** Base name of the input file; its beginning may name the action. */
  readonly fileName: string;
  /** The header of a CSV or TSV file; left out for JSON rows. */
  readonly header?: readonly string[];
  /** `--action`. */
  readonly action?: ActionName;
  /** The source of the config that the file matches. */
  readonly source?: NamedSource;
  /** The lookup files of the source, by their names in it. */
  readonly lookups?: ReadonlyMap<string, LookupTable>;
  /** The file is a request body: every row is an `{action, data}` item, or should be. */
  readonly isPayload?: boolean;
  /** Default `\clear`. */
  readonly clearWord?: string;
  /** Ids of rules that the config turned off or down, so that the fields they refuse are used. */
  readonly relaxedRules?: ReadonlySet<string>;
}

/**
 * Throws `Failure("usage")` when the file can't be understood, saying how to name the action or the column, and
 * `MappingError` when the source's rules can't be carried out with its columns.
 */
export function createMapper(options: MapperOptions): Mapper {
  // A request body has no rows that sum up others.
  const mapper = mapperOf(options);
  return options.isPayload === true ? mapper : withTotals(mapper);
}

/** Whether a mapper reads each row without the rows above it. One with `fillDown` does not. */
export const readsRowsAlone = ({ source }: MapperOptions): boolean => source?.config.fillDown === undefined;

function mapperOf(options: MapperOptions): Mapper {
  const { header, source } = options;
  const settings = namedSettings(options);
  const ofSource = sourceSettings(options);
  if (ofSource !== undefined) return new SourceMapper(ofSource);
  if (source !== undefined) refuseRules(source);
  return header === undefined ? createObjectMapper(settings) : createNamedMapper({ ...settings, header });
}

/** Undefined where no rules of a source say what the rows are. */
function sourceSettings(options: MapperOptions): SourceSettings | undefined {
  const { fileName, header, source } = options;
  if (source?.config.actions === undefined || !isMappedBySource(options)) return undefined;
  const { clearWord, relaxedRules } = namedSettings(options);
  const config = { ...source.config, actions: source.config.actions };
  const lookups = options.lookups ?? new Map<string, LookupTable>();
  return { fileName, header, name: source.name, config, clearWord, relaxedRules, lookups };
}

/** --action overrides the rules of a source, but not how its file is written. */
const isMappedBySource = ({ source, action }: MapperOptions): boolean =>
  source?.config.actions !== undefined && action === undefined;

function namedSettings({ fileName, source, action, isPayload, ...options }: MapperOptions): NamedSettings {
  return {
    fileName,
    action,
    clearWord: source?.config.clear ?? options.clearWord ?? DEFAULT_CLEAR_WORD,
    relaxedRules: options.relaxedRules ?? new Set<string>(),
    isPayload: isPayload === true && source === undefined && action === undefined,
    source,
  };
}

/** The columns of a table whose cells are values of fields as they stand; undefined of all other inputs. */
export function columnsOfFields(options: MapperOptions): PlainColumns | undefined {
  const settings = namedSettings(options);
  if (options.header === undefined || isMappedBySource(options) || stripsGuards(settings)) return undefined;
  const { clearWord } = settings;
  return { ...compileHeader({ ...settings, header: options.header }), header: options.header, clearWord };
}

/**
 * How rows of JSON are read whose values are those of fields as they stand: `{action, data}` items, and flat rows by their
 * keys. Undefined of all other inputs, and of flat rows that only a mapper can read.
 */
export function objectsOfFields(options: MapperOptions): PlainObjects | undefined {
  const settings = namedSettings(options);
  if (options.header !== undefined || settings.isPayload === true || isMappedBySource(options)) return undefined;
  const { clearWord } = settings;
  return {
    clearWord,
    columnsOf(keys) {
      const compiled = columnsOfKeys(keys, settings);
      return compiled && { ...compiled, header: keys, clearWord };
    },
  };
}

/** A table that rules of a source read, where they have no part that only a mapper knows; undefined of all other inputs. */
export function plainSource(options: MapperOptions): PlainSource | undefined {
  const settings = sourceSettings(options);
  if (settings?.header === undefined) return undefined;
  return plainSourceOf({ ...settings, header: settings.header });
}

export interface PlainObjects {
  readonly clearWord: string;
  readonly columnsOf: (keys: readonly string[]) => PlainColumns | undefined;
}

export interface PlainColumns extends CompiledColumns {
  readonly header: readonly string[];
  readonly clearWord: string;
}
