/**
 * How a source makes the ids that tell its deeds apart. Made in another way, accepted deeds would look new. So the ledger
 * keeps the ways, and a later config is compared with them.
 */

import { ACTION_NAMES, type ActionName, actionSpec, isActionName } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import type { ConditionMap, EachConfig, SourceConfig, WhenConfig } from "./source.ts";
import { templateParts } from "./template.ts";

/** Of one kind of action of a source. */
export interface IdRule {
  readonly action: ActionName;
  /** Each way in which its actions name their ticket or event. */
  readonly ways: readonly IdWay[];
}

/** Plain data. */
export interface IdWay {
  /** Such as `ticketId`. */
  readonly field: FieldName;
  /** The rule of the field: its templates, with what the names in them stand for. */
  readonly rule: unknown;
  /** What the names in it depend on besides, such as the rows of a lookup. */
  readonly more: readonly string[];
  /** Which rows the action takes: those that one of the maps takes. A map without columns takes all. */
  readonly when: readonly Readonly<Record<string, unknown>>[];
}

/** Ways as texts. */
export interface ChangeOfWays {
  readonly gone: readonly string[];
  readonly added: readonly string[];
}

/** The fields that name what an action is about. */
const IDS = { event: ["eventId"], ticket: ["ticketId", "nftId"] } as const satisfies Record<
  string,
  readonly FieldName[]
>;

const ALL_ROWS = [{}];

/** @throws `MappingError` for templates that can't be read. */
export function idRulesOf(source: SourceConfig): readonly IdRule[] {
  const ways = new Map<ActionName, Map<string, IdWay>>();
  const note = (action: ActionName, way: IdWay): void => {
    const others = ways.get(action) ?? new Map<string, IdWay>();
    ways.set(action, others.set(JSON.stringify(way), way));
  };
  for (const entry of source.actions ?? []) {
    for (const [action, rule] of Object.entries(entry)) {
      if (!isActionName(action)) continue;
      for (const field of IDS[actionSpec(action).about]) {
        const how = rule?.fields?.[field] ?? source.fields?.[field];
        if (how === undefined) continue;
        note(action, { field, ...wayOf(how, source, rule?.each), when: plainWhen(rule?.when, source) });
      }
    }
  }
  // Columns are used by their names.
  if (source.actions === undefined)
    for (const action of ACTION_NAMES.filter((name) => source.action === undefined || source.action === name))
      for (const field of IDS[actionSpec(action).about])
        note(action, { field, ...wayOf(`{${field}}`, source), when: ALL_ROWS });
  return [...ways].map(([action, of]) => ({ action, ways: [...of.values()] }));
}

/**
 * Undefined where no id changes: ways that were only added, or only removed, change none. Which rows a way is for matters
 * only beside another way.
 */
export function changeOfWays(then: readonly IdWay[], now: readonly IdWay[]): ChangeOfWays | undefined {
  const byRule = changeBetween(then, now, coversRule, textOfWay);
  const all = [...then, ...now];
  const areAlike = all.every((one) => all.every((other) => coversRule(one, other) || coversRule(other, one)));
  return byRule ?? (areAlike ? undefined : changeBetween(then, now, coversWay, textWithRows));
}

type Covers = (wide: IdWay, narrow: IdWay) => boolean;

function changeBetween(
  then: readonly IdWay[],
  now: readonly IdWay[],
  covers: Covers,
  textOf: (way: IdWay) => string,
): ChangeOfWays | undefined {
  const [gone, added] = [uncovered(then, now, covers), uncovered(now, then, covers)];
  return gone.length === 0 || added.length === 0
    ? undefined
    : { gone: [...new Set(gone.map(textOf))], added: [...new Set(added.map(textOf))] };
}

/** The ways that none of the others covers. */
export function uncovered(
  ways: readonly IdWay[],
  others: readonly IdWay[],
  covers: Covers = coversWay,
): readonly IdWay[] {
  return ways.filter((way) => !others.some((other) => covers(other, way)));
}

const coversWay: Covers = (wide, narrow) =>
  coversRule(wide, narrow) && narrow.when.every((rows) => wide.when.some((all) => takesAll(all, rows)));

/** Whether the wide way makes every id that the narrow one makes, and makes it the same. */
const coversRule: Covers = (wide, narrow) =>
  wide.field === narrow.field && isSame(wide.more, narrow.more) && coversValue(wide.rule, narrow.rule);

function coversValue(wide: unknown, narrow: unknown): boolean {
  if (typeof wide === "string" && typeof narrow === "string") return coversTemplate(wide, narrow);
  if (Array.isArray(wide) && Array.isArray(narrow))
    return wide.length === narrow.length && wide.every((each, at) => coversValue(each, narrow[at]));
  if (!isMap(wide) || !isMap(narrow)) return wide === narrow;
  const names = Object.keys(wide);
  if (!isSame(names, Object.keys(narrow))) return false;
  return names.every((name) => {
    const [all, some] = [wide[name], narrow[name]];
    // A value that the table lacks is a problem, unless there is an else.
    if (name === "map" && !names.includes("else") && isMap(all) && isMap(some)) return holdsAll(all, some);
    return coversValue(all, some);
  });
}

/** The wide one may name more headers behind those of the narrow one: of a list, the first present one counts. */
function coversTemplate(wide: string, narrow: string): boolean {
  const [parts, others] = [wide.split(NAMES), narrow.split(NAMES)];
  return (
    parts.length === others.length &&
    parts.every((part, at) => {
      const other = others[at] ?? "";
      return part === other || (/^\{[^{}]/.test(other) && part.startsWith(`${other.slice(0, -1)}${OR}`));
    })
  );
}

const OR = " or ";
const NAMES = /(\{\{|\}\}|\{[^{}]*\})/;

/** Whether rows that meet the second conditions also meet the first, as far as the config shows. */
function takesAll(all: Readonly<Record<string, unknown>>, rows: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(all).every(([column, condition]) => {
    const [, other] = Object.entries(rows).find(([name]) => coversTemplate(column, name)) ?? [];
    if (!Array.isArray(condition) || !Array.isArray(other)) return isSame(condition, other);
    return other.every((value) => condition.includes(value));
  });
}

const holdsAll = (all: Readonly<Record<string, unknown>>, some: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(some).every(([name, value]) => Object.hasOwn(all, name) && coversValue(all[name], value));

/** Of plain data with its keys in order. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Such as `ticketId "{Order}-{Position}"`. */
export const textOfWay = ({ field, rule, more }: IdWay): string =>
  [`${field} ${JSON.stringify(rule)}`, ...more].join(", ");

function textWithRows(way: IdWay): string {
  if (isSame(way.when, ALL_ROWS)) return textOfWay(way);
  const rows = JSON.stringify(way.when.length === 1 ? way.when[0] : way.when);
  return `${textOfWay(way)} when ${rows.replaceAll(/"\{([^{}]*)\}":/g, '"$1":')}`;
}

/** The values that a column may have as a list in order, also one; columns as templates, by what they stand for. */
function plainWhen(when: WhenConfig | undefined, source: SourceConfig): IdWay["when"] {
  if (when === undefined) return ALL_ROWS;
  const maps: readonly ConditionMap[] = [when].flat();
  return maps.map((map) =>
    sorted(
      Object.fromEntries(
        Object.entries(map).map(([column, condition]) => [
          column.includes("{") ? plainTemplate(column, source) : plainName(column, source),
          typeof condition === "string" || Array.isArray(condition) ? plainValues(condition) : condition,
        ]),
      ),
    ),
  );
}

const plainValues = (values: string | readonly string[]): readonly string[] =>
  [...new Set([values].flat().map((value) => value.trim()))].sort();

/** Equal for rules that differ only in how they are written. */
function wayOf(rule: unknown, source: SourceConfig, each?: EachConfig): Pick<IdWay, "rule" | "more"> {
  const names = new Set<string>();
  const plain = plainRule(rule, (template) => plainTemplate(template, source, names));
  const heads = new Set([...names].map((name) => name.split(".")[0] ?? ""));
  const lookups = Object.entries(source.lookup ?? {}).filter(([name]) => heads.has(name));
  const repeats = ["n", "item", "outer"].some((name) => heads.has(name)) ? [source.each, each] : [];
  const more = [
    ...lookups.map(([name, { where }]) => `${name} where ${JSON.stringify(sorted(where))}`),
    ...repeats.flatMap((repeat) => (repeat === undefined ? [] : `each ${JSON.stringify(sorted(repeat))}`)),
    ...(source.csv?.guards === "strip" ? ["guards strip"] : []),
  ];
  return { rule: plain, more };
}

/** A list of one becomes its item, and steps with nothing but `from` become that. */
function plainRule(rule: unknown, plain: (template: string) => string): unknown {
  if (typeof rule === "string") return plain(rule);
  if (Array.isArray(rule)) {
    const choices = rule.map((choice) => plainRule(choice, plain));
    return choices.length === 1 ? choices[0] : choices;
  }
  if (typeof rule !== "object" || rule === null) return rule;
  const given = Object.entries(sorted(rule)).map(
    ([name, value]) => [name, name === "map" ? plainTable(value, plain) : plainRule(value, plain)] as const,
  );
  const [first] = given;
  return given.length === 1 && first?.[0] === "from" ? first[1] : Object.fromEntries(given);
}

const plainTable = (table: unknown, plain: (template: string) => string): unknown =>
  isMap(table)
    ? Object.fromEntries(Object.entries(table).map(([known, value]) => [known, plainRule(value, plain)]))
    : table;

/** Keeps `{{`, and replaces the source's own names by what they stand for: `{Ticket ID or Barcode}`, `{#3}`. */
function plainTemplate(template: string, source: SourceConfig, names = new Set<string>()): string {
  const parts = templateParts(template, []).map((part) => {
    if (typeof part === "string") return part.replaceAll(/[{}]/g, "$&$&");
    names.add(part.name);
    return plainName(part.name, source);
  });
  return parts.join("").trim();
}

function plainName(name: string, { columns = {} }: SourceConfig): string {
  const own = Object.hasOwn(columns, name) ? columns[name] : undefined;
  const isPosition = typeof own === "object" && !Array.isArray(own) && "at" in own;
  return `{${own === undefined ? name : isPosition ? `#${own.at}` : [own].flat().join(OR)}}`;
}

/** Plain data with its keys in order. */
function sorted(value: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, typeof each === "object" && !Array.isArray(each) ? sorted(each) : each]),
  );
}
