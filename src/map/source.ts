/**
 * The shape of `sources`: how rows of a real export become actions, as plain data, every leaf as the text that was written.
 * Its shape is checked here; what only a file's header can show is checked when a mapper is made.
 */

import * as z from "zod";
import { ACTION_NAMES, type ActionName } from "../actions/actions.ts";
import { FIELD_NAMES, type FieldName } from "../actions/fields.ts";
import { CODINGS } from "../actions/mangled.ts";
import { zoneFault } from "../actions/times.ts";
import { DECIMAL_MARKS, GROUP_MARKS, REMAINDERS } from "./amount.ts";
import { compilePattern } from "./pattern.ts";

// Pieces of schemas that say what they need in the words of this product, and never repeat the value.

export const IS_MISSING = "is missing";

/** The message of a value of the wrong type: "needs …", or that there is none. */
export const needs =
  (what: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? IS_MISSING : input === null ? "has no value" : `needs ${what}`;

export const textValue = (what = "text") => z.string({ error: needs(what) }).min(1, { error: "is empty" });

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: needs(`one of ${values.join(", ")}`) });

/** Parsed data that nobody may change. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** `Array.isArray` does not narrow readonly lists. */
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Marks what the config's reader takes as its source text, so that `0123` and `yes` are text without quotes. */
export const SOURCE_TEXT = "sourceText";

/** A piece that the JSON Schema defines once, under this name, however often it is used. */
const named = <S extends z.ZodType>(id: string, schema: S): S => schema.meta({ id });

const text = (what = "text") => textValue(what).meta({ [SOURCE_TEXT]: true });
const blankOrText = () => z.string({ error: needs("text") }).meta({ [SOURCE_TEXT]: true });
const listOf = <Item extends z.ZodType>(item: Item, error = needs("a list")) =>
  z.array(item, { error }).min(1, { error: "is empty" });
const texts = (what: string) => z.union([text(), listOf(text())], { error: needs(what) });
const mapOf = <V extends z.ZodType>(value: V) => z.record(z.string(), value, { error: needs("a map") });

const zone = named(
  "zone",
  text("a time zone").superRefine((name, context) => {
    const fault = zoneFault(name);
    if (fault === undefined) return;
    const { message, near } = fault;
    context.addIssue({ code: "custom", message, params: { didYouMean: near } });
  }),
);

const regularExpression = () =>
  text("a regular expression").superRefine((written, context) => {
    const pattern = compilePattern(written);
    if (typeof pattern === "string") context.addIssue({ code: "custom", message: pattern });
  });

const bound = () => text("a number").regex(/^-?\d{1,12}(?:\.\d{1,6})?$/, { error: "needs a number such as 0" });
const bounds = [z.strictObject({ below: bound() }), z.strictObject({ above: bound() })] as const;

/** What a column holds: an amount of some size, one of several texts, none of them, or whether it is empty. */
const test = named(
  "test",
  z.union(
    [
      blankOrText(),
      listOf(blankOrText()),
      z.strictObject({
        not: z.union([blankOrText(), z.array(blankOrText()), ...bounds], { error: needs("text or a list of texts") }),
      }),
      ...bounds,
      z.strictObject({ empty: oneOf(["true", "false"]).meta({ [SOURCE_TEXT]: true }) }),
    ],
    { error: needs("text, a list of texts, {not: ...}, {empty: true|false}, {below: 0} or {above: 0}") },
  ),
);

const values = named(
  "values",
  z.union([blankOrText(), listOf(blankOrText())], { error: needs('text or a list of texts; "" is an empty cell') }),
);

/** A map: all of its columns; a list of maps: any of them. */
const condition = named(
  "when",
  z.union([mapOf(test), listOf(mapOf(test))], {
    error: needs("a map of columns, or a list of such maps"),
  }),
);

const ONE_TEMPLATE = "one template; a list is not possible here";

/**
 * One becomes several: by a count, by the ends of a block of seats (`{n}` is the seat), by the items of a path (`{item.x}`
 * is a value of one), or by each match of a pattern, whose named groups are `{item.name}`. Elsewhere `{n}` is the index, from 1.
 */
const each = named(
  "each",
  z.union(
    [
      z.strictObject({ count: text() }),
      z.strictObject({ from: text(ONE_TEMPLATE), to: text(ONE_TEMPLATE) }),
      z.strictObject({ path: text() }),
      z.strictObject({ in: text(), match: regularExpression() }),
    ],
    { error: needs("{count: ...}, {from: ..., to: ...}, {path: ...} or {in: ..., match: ...}") },
  ),
);

/** The steps from a cell to a value, always in this order: from, decode, map, blank, parse, divide. */
const steps = named(
  "steps",
  z.strictObject({
    from: texts("a template or a list of templates"),
    /** Entities and tags become what a page shows (`html`); `\\'` and `\\u00df` what they stand for (`escapes`). */
    decode: z
      .union([oneOf(CODINGS), listOf(oneOf(CODINGS))], { error: needs("html, escapes, or a list of both") })
      .optional(),
    map: mapOf(blankOrText()).optional(),
    /** For what the map does not hold; without it that is a problem. */
    else: blankOrText().optional(),
    /** The value in place of an empty one. */
    blank: blankOrText().optional(),
    decimal: oneOf(DECIMAL_MARKS).optional(),
    thousands: oneOf(GROUP_MARKS).optional(),
    /** Text before or after an amount that is dropped, such as `$`. */
    sign: texts("text or a list of texts").optional(),
    /** Patterns of a time, tried in order: date patterns, `iso`, `unix`, `unix-ms`, `spreadsheet`. */
    format: texts("a date format or a list of formats").optional(),
    /** Of this time; otherwise the source's. */
    zone: zone.optional(),
    /** Times of day before this one belong to the day after the date. */
    rollover: text()
      .regex(/^([01]?\d|2[0-3]):[0-5]\d$/, { error: "needs a time of day such as 06:00" })
      .optional(),
    /** Template of what an amount is divided by. */
    divide: text().optional(),
    /** Decimals after a division; otherwise as many as the amount has. No currency has more than 18. */
    places: text("a whole number")
      .regex(/^(?:\d|1[0-8])$/, { error: "needs a whole number from 0 to 18" })
      .optional(),
    /**
     * What happens to a remainder: `error` (default), `round` (half up), `first` (the first tickets take one unit more each).
     */
    remainder: oneOf(REMAINDERS).optional(),
    /** In metadataAttributes: the attribute's display_type. */
    display: text().optional(),
  }),
);

const value = named(
  "value",
  z.union(
    [
      blankOrText(),
      z
        .array(z.union([blankOrText(), steps], { error: needs("a template or {from: ...}") }))
        .min(1, { error: "is empty" }),
      steps,
    ],
    { error: needs("a template, a list of templates or {from: ...}") },
  ),
);

/** `metadataAttributes` also takes a map from trait names to values; with `from` in it, it is the steps of one cell. */
const attributes = named(
  "attributes",
  z.union(
    [
      blankOrText(),
      listOf(blankOrText()),
      steps,
      mapOf(value).refine((traits) => !Object.hasOwn(traits, "from"), { error: "has keys that need a `from`" }),
    ],
    { error: needs("a map from trait names to templates") },
  ),
);

const fields = named(
  "fields",
  z.strictObject(
    Object.fromEntries(
      FIELD_NAMES.map((name) => [name, (name === "metadataAttributes" ? attributes : value).optional()]),
    ) as FieldsShape,
    { error: needs("a map from fields to templates") },
  ),
);
/** One entry per field, just built. */
type FieldsShape = {
  [F in FieldName]: z.ZodOptional<F extends "metadataAttributes" ? typeof attributes : typeof value>;
};

const mappedAction = named(
  "action",
  z.strictObject(
    {
      when: condition.optional(),
      /** Beside an `each` of the source it needs `path` or `in`; the source's item is then `{outer}`, and `{n}` stays the source's. */
      each: each.optional(),
      fields: fields.optional(),
    },
    { error: needs("a map with when, each and fields, or {}") },
  ),
);

/** One entry per action, just built. */
type ActionsShape = { [A in ActionName]: z.ZodOptional<typeof mappedAction> };
const actions = listOf(
  z
    .strictObject(Object.fromEntries(ACTION_NAMES.map((name) => [name, mappedAction.optional()])) as ActionsShape, {
      error: needs("a map with an action's name as its key"),
    })
    .refine((item) => Object.keys(item).length === 1, { error: "needs exactly one action; a dash begins the next" }),
  needs("a list of actions"),
);

const csv = named(
  "csv",
  z
    .strictObject(
      {
        delimiter: oneOf([",", ";", "\t", "|"]).optional(),
        encoding: text().optional(),
        /** `strip` removes the apostrophe or TAB that an exporter put before `= + - @ | %`. */
        guards: oneOf(["strip", "keep"]).optional(),
        escape: oneOf(["\\"])
          .optional()
          .describe("A quote behind it is part of a quoted cell, as one that is doubled."),
        comment: oneOf(["#"]).optional().describe("Lines that begin with it are passed over."),
        quotes: oneOf(["strict", "loose"])
          .optional()
          .describe("loose: a quote that neither begins nor ends a cell stands for itself. Needs delimiter."),
        header: text("a line number or none")
          .regex(/^(?:none|[1-9]\d{0,5})$/, { error: "needs a whole number from 1, or none" })
          .optional()
          .describe(
            "The physical line of the header; titles above it are passed over. none: columns are called 1, 2, ….",
          ),
      },
      { error: needs("a map with delimiter, encoding, guards, header, escape, comment and quotes") },
    )
    .refine(({ quotes, delimiter }) => quotes !== "loose" || delimiter !== undefined, {
      path: ["quotes"],
      error: "needs delimiter beside it: only that shows where a cell ends",
    }),
);

const NEEDS_ACTIONS = ["fields", "each", "expect", "skip", "columns", "lookup", "optional", "key", "fillDown"] as const;

export const sourceSchema = z
  .strictObject(
    {
      match: texts("a file name pattern or a list of them")
        .refine((patterns) => ![patterns].flat().some((pattern) => /[/\\]/.test(pattern)), {
          error: "is compared with the base name of a file: leave the folder out",
        })
        .optional()
        .describe("Base names of the files that this source describes, such as orders*.csv."),
      action: oneOf(ACTION_NAMES as readonly [ActionName, ...ActionName[]]) // there are some
        .optional()
        .describe("The action of every row, where columns are named like fields."),
      csv: csv.optional().describe("How the file is written, where it should not be detected."),
      rows: text("a key")
        .optional()
        .describe("The list of rows in a JSON file that is an object, such as data or result.items."),
      allowEmpty: oneOf(["true", "false"])
        .meta({ [SOURCE_TEXT]: true })
        .optional()
        .describe("A file of 0 bytes is an input without rows (false)."),
      zone: zone.optional().describe("Time zone of local times."),
      clear: text().optional().describe("The word in a cell that clears a field in an update (default \\clear)."),
      key: texts("a template or a list of templates")
        .optional()
        .describe("What makes two rows the same action, instead of its time or content."),
      columns: mapOf(texts("a column or a list of columns"))
        .optional()
        .describe("Own names for columns: the first present of a list, Name#2, or a position."),
      lookup: mapOf(
        z.strictObject(
          {
            file: text("a file"),
            /** Column of the file → template over the row. All must be equal. */
            where: mapOf(text("a template")),
            csv: csv.optional(),
            /** What a row without a match means; `error` where it is not said. */
            missing: oneOf(["error", "empty"]).optional(),
          },
          { error: needs("{file: ..., where: {Column: template}}") },
        ),
      )
        .optional()
        .describe("Other files whose columns are joined by key."),
      expect: mapOf(values).optional().describe("Values that a column must have; anything else is a problem."),
      skip: z
        .record(z.string(), values, { error: needs("one map: a row is skipped that any of its columns names") })
        .optional()
        .describe("Values of columns whose rows are known to give nothing."),
      fillDown: texts("a column or a list of columns")
        .optional()
        .describe("Columns whose blank cells take the value of the row above."),
      optional: z
        .array(text("a key of JSON rows"))
        .optional()
        .describe("Keys and lists of JSON rows that a whole file may lack."),
      each: each.optional().describe("One row becomes several."),
      fields: fields.optional().describe("Values used by every action that accepts the field."),
      actions: actions.optional().describe("The actions that a row gives, in this order."),
    },
    { error: needs("a map") },
  )
  .superRefine(({ action, actions, ...rules }, context) => {
    const refuse = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    if (actions === undefined)
      for (const key of NEEDS_ACTIONS.filter((each) => rules[each] !== undefined))
        refuse(key, "needs actions: list what each row gives, such as actions: [soldTicket: {}]");
    else if (action !== undefined)
      refuse("action", "stands beside actions, and is for columns named like fields: keep one");
  });

/** One entry of `sources`. Texts are as they stand in the file; paths of lookup files are absolute. */
export type SourceConfig = DeepReadonly<z.output<typeof sourceSchema>>;
export interface NamedSource {
  readonly name: string;
  readonly config: SourceConfig;
}
/** Own names for columns. */
export type ColumnAliases = NonNullable<SourceConfig["columns"]>;
export type LookupConfig = NonNullable<SourceConfig["lookup"]>[string];
export type EachConfig = NonNullable<SourceConfig["each"]>;
/** A map with an action's name as its only key. */
export type SourceAction = NonNullable<SourceConfig["actions"]>[number];
export type ActionConfig = DeepReadonly<z.output<typeof mappedAction>>;
export type WhenConfig = DeepReadonly<z.output<typeof condition>>;
export type ConditionMap = Exclude<WhenConfig, readonly unknown[]>;
export type Condition = DeepReadonly<z.output<typeof test>>;
/** Of `metadataAttributes`, beside a rule. */
export type TraitRules = Readonly<Record<string, ValueRule>>;
/** A template; a list of rules, the first of which that is not empty counts; or steps. */
export type ValueRule = DeepReadonly<z.output<typeof value>>;
export type ValueSteps = DeepReadonly<z.output<typeof steps>>;
