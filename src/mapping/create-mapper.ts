/** Rows → actions: which mapping a file gets. */

import type { ActionName } from "../actions/actions.ts";
import { DEFAULT_CLEAR_WORD } from "./coerce.ts";
import type { LookupTable } from "./lookup.ts";
import type { Mapper } from "./mapper.ts";
import { createNamedMapper, type NamedSettings, refuseRules } from "./named.ts";
import { createObjectMapper } from "./objects.ts";
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
