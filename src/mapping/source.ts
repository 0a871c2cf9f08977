/** The shape of `sources.<name>` in the config, as the mapping takes it: plain data, every leaf as the text that was written. */

export interface SourceConfig {
  /** Glob or globs over base names of input files. */
  readonly match?: string | readonly string[] | undefined;
  /** The action of every row, where columns are used by their names. */
  readonly action?: string | undefined;
  readonly csv?: SourceCsv | undefined;
  /** IANA zone of local times. */
  readonly zone?: string | undefined;
  /** Own names for columns: a header, `Header#2`, a 1-based position, or a list of which the first present one counts. */
  readonly columns?: ColumnAliases | undefined;
  /** Other files that rows are joined with; `{order.Total}` is then the column `Total` of the row found. */
  readonly lookup?: Readonly<Record<string, LookupConfig>> | undefined;
  /** What columns must hold in every row that gives an action: texts, or templates over the row. */
  readonly expect?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Values of columns whose rows are known to give nothing, whatever the actions say. */
  readonly skip?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Keys and lists of JSON rows that a whole file may lack; any other that no row has is taken for a mistake. */
  readonly optional?: readonly string[] | undefined;
  /** Columns of a table whose blank cells take the value of the row above. */
  readonly fillDown?: string | readonly string[] | undefined;
  /** Expands a row before the actions. */
  readonly each?: EachConfig | undefined;
  /** Fields for every action of `actions` that takes them. */
  readonly fields?: FieldRules | undefined;
  /** In the order in which a row gives them. Without it columns are used by their names, as without a source. */
  readonly actions?: readonly SourceAction[] | undefined;
  /** What identifies a deed of this source, instead of the fields of the action table; of a list the first that is not empty. */
  readonly key?: string | readonly string[] | undefined;
  /** The word that clears a field in an update; default `\clear`. */
  readonly clear?: string | undefined;
}

export type ColumnAliases = Readonly<Record<string, string | readonly string[] | PositionConfig>>;

/** A column by its position, and the headers of which it must have one. */
export interface PositionConfig {
  /** From 1. */
  readonly at: string;
  readonly named?: string | readonly string[] | undefined;
}

interface SourceCsv {
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  /** The physical line of the header, from 1. */
  readonly header?: string | undefined;
  /** `strip` removes the apostrophe or TAB that an exporter put before `= + - @ | %`. */
  readonly guards?: string | undefined;
}

export interface LookupConfig {
  /** Path, relative to the config. */
  readonly file: string;
  /** Column of the lookup file → template over the row. All must be equal. */
  readonly where: Readonly<Record<string, string>>;
  readonly csv?: SourceCsv | undefined;
  /** What a row without a match means: `error` (default) or `empty`. */
  readonly missing?: string | undefined;
}

/** One of: `count`, `path`, or `in` with `match`. `{n}` is the 1-based index in all of them. */
export interface EachConfig {
  /** Template of a number of repetitions. */
  readonly count?: string | undefined;
  /** Path of a list inside a JSON row; `{item.x}` is then a value of the list's item, `{item}` the item itself. */
  readonly path?: string | undefined;
  /** Template of a text with many values. */
  readonly in?: string | undefined;
  /** Regular expression that finds one of them; its named groups are `{item.name}`. */
  readonly match?: string | undefined;
  /**
   * Repeats each of the repetitions: `{item}` is then of this one and `{outer}` of the one around it, which its `path`, `in`
   * and `count` call `{item}`. `{n}` counts on over all of the row.
   */
  readonly each?: EachConfig | undefined;
}

/** A map with an action's name as its only key. */
export type SourceAction = Readonly<Record<string, ActionConfig | undefined>>;

export interface ActionConfig {
  readonly when?: WhenConfig | undefined;
  /** Repeats this action. Beside an `each` of the source it needs `path` or `in`; the source's item is then `{outer}`, and `{n}` stays the source's. */
  readonly each?: EachConfig | undefined;
  readonly fields?: FieldRules | undefined;
}

/** Column → condition, all of which hold; a list of such maps, one of which holds. */
export type WhenConfig = ConditionMap | readonly ConditionMap[];
export type ConditionMap = Readonly<Record<string, Condition>>;
export type Condition = string | readonly string[] | ConditionSteps | undefined;

interface ConditionSteps {
  readonly not?: string | readonly string[] | undefined;
  /** `true` or `false`. */
  readonly empty?: string | undefined;
}

/** `metadataAttributes` is also a map from trait names to rules. */
export type FieldRules = Readonly<Record<string, ValueRule | TraitRules | undefined>>;
export type TraitRules = Readonly<Record<string, ValueRule | undefined>>;

/** A template; a list of rules, the first of which that is not empty counts; or steps. */
export type ValueRule = string | readonly ValueRule[] | ValueSteps;

/** Always in this order: from, map (with else), blank, parse, divide. */
export interface ValueSteps {
  readonly from: string | readonly ValueRule[];
  /** Value table; what it does not hold takes `else`, or is a problem. */
  readonly map?: Readonly<Record<string, string>> | undefined;
  readonly else?: string | undefined;
  /** What an empty value becomes. */
  readonly blank?: string | undefined;
  /** Decimal mark of an amount, `.` or `,`. */
  readonly decimal?: string | undefined;
  /** Mark between groups of three digits. */
  readonly thousands?: string | undefined;
  /** Text before or after an amount that is dropped, such as `$`. */
  readonly sign?: string | readonly string[] | undefined;
  /** Patterns of a time, tried in order: date patterns, `iso`, `unix`, `unix-ms`. */
  readonly format?: string | readonly string[] | undefined;
  /** IANA zone of this time; otherwise the source's. */
  readonly zone?: string | undefined;
  /** Times of day before this one (`HH:mm`) belong to the day after the date. */
  readonly rollover?: string | undefined;
  /** Template of what an amount is divided by. */
  readonly divide?: string | undefined;
  /** Decimals after a division; otherwise as many as the amount has. */
  readonly places?: string | undefined;
  /** What happens to what does not divide: `error` (default), `round` (half up), `first` (the first tickets take one unit more each). */
  readonly remainder?: string | undefined;
  /** In metadataAttributes: the attribute's display_type. */
  readonly display?: string | undefined;
}
