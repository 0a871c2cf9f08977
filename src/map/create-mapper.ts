/** Rows → actions: which mapping a file gets. */

import type { ActionName } from "../actions/actions.ts";
import { DEFAULT_CLEAR_WORD } from "../actions/draft.ts";
import type { LookupTable } from "./lookup.ts";
import type { Mapper } from "./mapper.ts";
import { NamedMapper } from "./named.ts";
import type { NamedSource } from "./source.ts";
import { SourceMapper } from "./source-mapper.ts";

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
  /** Ids of rules that the config turned off or down, so that the fields they refuse are used. */
  readonly relaxedRules?: ReadonlySet<string>;
}

/**
 * Throws `Failure("usage")` when the file can't be understood, saying how to name the action or the column, and
 * `MappingError` when the source's rules can't be carried out with its columns.
 */
export function createMapper({ fileName, header, source, action, ...options }: MapperOptions): Mapper {
  const clearWord = source?.config.clear ?? DEFAULT_CLEAR_WORD;
  const { relaxedRules = new Set<string>(), lookups = new Map<string, LookupTable>() } = options;
  const ofFile = { fileName, header, clearWord, relaxedRules };
  const actions = source?.config.actions;
  // --action overrides the rules of a source, but not how its file is written.
  if (source !== undefined && actions !== undefined && action === undefined)
    return new SourceMapper({ ...ofFile, name: source.name, config: { ...source.config, actions }, lookups });
  return new NamedMapper({ ...ofFile, action, source });
}
