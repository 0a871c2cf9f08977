/** Rows → actions: which mapping a file gets, and what is understood of it. */

import type { Action, ActionName } from "../actions/actions.ts";
import type { Finding } from "../actions/problem.ts";
import { DEFAULT_CLEAR_WORD } from "./coerce.ts";
import type { LookupTable } from "./lookup.ts";
import { createNamedMapper, namedSource } from "./named.ts";
import { createObjectMapper } from "./objects.ts";
import type { Row } from "./row.ts";
import type { SourceConfig } from "./source.ts";
import { createSourceMapper } from "./source-mapper.ts";
import type { ToldEvent } from "./told-events.ts";
import { type SeenAmounts, withTotals } from "./totals.ts";
import type { SeenValues } from "./value-watch.ts";
import type { FoundKeys } from "./wanted-keys.ts";

/** How a file was understood, for its first line of output. */
export interface Understanding {
  /** `by file name`, `--action`, `by column action`, `source orders`, `{action, data} lines`. */
  readonly how: string;
  /** The one action of all rows, where there is one. */
  readonly action?: ActionName;
  /** Number of columns; 0 for JSON rows, whose keys may differ from row to row. */
  readonly columns: number;
  readonly used: readonly string[];
  readonly unused: readonly string[];
  /** Fields that will be public on the blockchain, such as `price` and `ticketId (hashed)`. */
  readonly publicFields: readonly string[];
  /** What a user should know before trusting the reading, each a sentence without a full stop. */
  readonly notes: readonly string[];
}

/** What is said of a row that is mapped, whether all of it could be read or not. */
interface Noted {
  /** What is likely wrong with the cells of the row, and does not show in its actions. */
  readonly likely?: readonly Finding[];
  /** The word by which a part of its ticket's id calls the row a line of totals. */
  readonly totals?: string;
}

export type Mapped =
  | (Noted & {
      readonly kind: "actions";
      /** Never empty. Their data is as written: checking it is the next step's work. */
      readonly actions: readonly Action[];
      /** The event that the row names, also where its actions do not take an eventId. */
      readonly eventId?: string;
      /** The source's own `key` of each action, where it declares one. */
      readonly keys?: readonly string[];
      /** The `nthOfName` of each action in the whole row, where `tickets:actions` names only some of its actions. */
      readonly nths?: readonly number[];
      /** With a key, what `tickets:actions` leaves out of the row. */
      readonly leftOut?: readonly { readonly action: Action; readonly key: string }[];
      /** Why the row gives nothing else, where it only gives the event that it is the first row of. */
      readonly eventOnly?: string;
    })
  | { readonly kind: "skipped"; readonly reason: string }
  | (Noted & {
      readonly kind: "invalid";
      readonly findings: readonly Finding[];
      /** What the row would have been, as far as it could be read, to find what depends on it. */
      readonly attempted: readonly Action[];
      /** Which of the actions of its name each of `attempted` is (open-actions.ts), where the row gives others too. */
      readonly nths?: readonly number[];
      /** Set where not even the action could be read: `attempted` is then one that as much as possible depends on, and not to be checked. */
      readonly isGuess?: true;
    });

/** What is said of a whole file, with the line of the first row that shows it. */
export interface FileFinding extends Finding {
  readonly line?: number;
  /** It says nothing where only the first rows were read. */
  readonly isOfAllRows?: true;
}

/** What some rows of a file show of it. Plain data, so that those who read parts of a file can put it together. */
export interface Seen {
  readonly values?: SeenValues;
  readonly amounts?: SeenAmounts;
  /** How the rows tell the events that they name, for a newEvent which is given once. */
  readonly told?: readonly ToldEvent[];
  /** Keys of a source that were found in JSON rows. */
  readonly found?: FoundKeys;
  /** Number of rows that are `{action, data}`. */
  readonly items?: number;
  /** How flat JSON rows were understood, for each set of keys that was new. */
  readonly flat?: readonly Understanding[];
  /** The events that the rows name for a newEvent which is given once: whether it was given before them, and after. */
  readonly events?: readonly { readonly eventId: string; readonly before: boolean; readonly after: boolean }[];
}

export interface Mapper {
  /** For JSON rows: as far as the rows show that were joined. */
  readonly understanding: Understanding;
  /** Reads one row. What it gives may depend on earlier rows of the file. */
  map(row: Row): Mapped;
  /**
   * Takes back what `map` gave for a row that a later check refuses, so that a newEvent which a source gives once per
   * event comes with the next row of the event.
   */
  retract?(actions: readonly Action[]): void;
  /** What the rows since the last call show of the file. */
  takeSeen?(): Seen;
  /** Whether this mapper, which knows all rows before, would have given the same as one that knew some of them. */
  agrees?(seen: Seen): boolean;
  /** Adds to what is known of the file; in the order of its rows, whichever mapper read them. */
  join?(seen: Seen): void;
  /** What can be said only after the last row was joined. */
  findingsOfFile?(): readonly FileFinding[];
}

export interface MapperOptions {
  /** Base name of the input file; its beginning may name the action. */
  readonly fileName: string;
  /** The header of a CSV or TSV file; left out for JSON rows. */
  readonly header?: readonly string[];
  /** `--action`. */
  readonly action?: ActionName;
  /** The source of the config that the file matches. */
  readonly source?: { readonly name: string; readonly config: SourceConfig };
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

/** Whether a row says the same to a mapper that has not seen the rows above it: a cell that is filled from above does not. */
export function readsRowsAlone({ source }: MapperOptions): boolean {
  return source?.config.fillDown === undefined;
}

function mapperOf(options: MapperOptions): Mapper {
  const { fileName, header, source, action } = options;
  const clearWord = source?.config.clear ?? options.clearWord ?? DEFAULT_CLEAR_WORD;
  const relaxedRules = options.relaxedRules ?? new Set<string>();
  const lookups = options.lookups ?? new Map<string, LookupTable>();
  // --action comes before the rules of a source; how its file is written stays true.
  if (source?.config.actions !== undefined && action === undefined) {
    const config = { ...source.config, actions: source.config.actions };
    return createSourceMapper({ fileName, header, name: source.name, config, clearWord, relaxedRules, lookups });
  }
  const settings = {
    fileName,
    action,
    clearWord,
    relaxedRules,
    isPayload: options.isPayload === true && source === undefined && action === undefined,
    source: source === undefined ? undefined : namedSource(source.name, source.config),
  };
  return header === undefined ? createObjectMapper(settings) : createNamedMapper({ ...settings, header });
}
