/** One row → several: by a count, by a list inside a JSON row, by the matches of a pattern. */

import { typeName } from "../actions/exact-number.ts";
import type { MappingRule } from "../rules.ts";
import { JsonKeys, leafAt } from "./json-rows.ts";
import { MappingError, quote, type RulePath } from "./mapping-error.ts";
import type { Columns, EachNames } from "./names.ts";
import { compilePattern, type Matches } from "./pattern.ts";
import type { Names, Read, Scope } from "./scope.ts";
import type { EachConfig } from "./source.ts";
import { compileTemplate } from "./template.ts";

export interface Each {
  /** One per repetition. Undefined where a problem says what can't be read, or the source that rows may lack the list. */
  readonly items: (scope: Scope) => readonly unknown[] | undefined;
  readonly names: EachNames;
  /** What it repeats by, in words: for a row that it repeats zero times. */
  readonly by: string;
  /** The condition of a `when` that takes only rows with items, as a config writes it. */
  readonly whereFilled: string;
  /** Its items are the seats of a block, which `{n}` then is. */
  readonly givesSeats?: true;
}

/** What an `each` needs to know of the source. */
interface EachContext {
  readonly columns: Columns;
  /** Keys and lists that rows of JSON may lack. */
  readonly optional: ReadonlySet<string>;
  readonly names: Names;
  /** What an `each` around this one adds to the names. */
  readonly outer: EachNames | undefined;
}

export function compileEach(config: EachConfig, context: EachContext, path: RulePath): Each {
  if ("path" in config) return byPath(config.path, context, [...path, "path"]);
  const { names } = context;
  if ("from" in config) return byRange(config, names, path);
  if ("count" in config) return byCount(config.count, names, [...path, "count"]);
  return byMatch(config.in, config.match, names, path);
}

/** Reports what can't be repeated by. */
function refuse({ problems }: Scope, field: string, value: string | undefined, what: string, hint: string): undefined {
  const rule = "each-unreadable" satisfies MappingRule;
  problems.push({ rule, field, ...(value !== undefined && { value }), message: `${field} ${what}.`, hint });
}

/** The column that a template is; the template itself where it is more. */
const columnIn = (template: string): string => /^\{([^{}]+)\}$/.exec(template)?.[1] ?? template;

const whereFilled = (template: string, test: string): string => `{${quote(columnIn(template))}: {${test}}}`;

/** A larger count comes from a wrong column, and would fill the memory. */
const MOST_REPETITIONS = 10_000;

function byCount(template: string, names: Names, path: RulePath): Each {
  const read = compileTemplate(template, names, path, "any column is");
  const name = columnIn(template);
  const noneRule = path.includes("actions")
    ? `when: {${name}: {not: ""}} at this action`
    : `skip: {${name}: ""} in its source`;
  return {
    by: template,
    whereFilled: whereFilled(template, "above: 0"),
    names: {},
    items: (scope) => {
      const text = read(scope);
      const count = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
      if (count !== undefined && count <= MOST_REPETITIONS) return new Array(count).fill(undefined);
      const what = count === undefined ? "is not a whole number to count by" : "is too large a count";
      const hint =
        text === ""
          ? `If an empty cell means none, write ${noneRule}.`
          : `Give a whole number from 0 to ${MOST_REPETITIONS}.`;
      return refuse(scope, template, text, what, hint);
    },
  };
}

/** `from` and `to` of a block: `A07` to `A12` are six, called so however the block is cut. */
function byRange(range: { readonly from: string; readonly to: string }, names: Names, path: RulePath): Each {
  const first = compileTemplate(range.from, names, [...path, "from"], "any column is");
  const last = compileTemplate(range.to, names, [...path, "to"], "any column is");
  const by = `${range.from} to ${range.to}`;
  return {
    by,
    whereFilled: whereFilled(range.from, "empty: false"),
    names: {},
    givesSeats: true,
    items: (scope) => {
      const [from, to] = [first(scope), last(scope)];
      const hint =
        "Give two numbers, the smaller first, with the same letters before them; a single seat stands in both.";
      return seatsBetween(from, to) ?? refuse(scope, by, `${from} to ${to}`, "are not the ends of a block", hint);
    },
  };
}

function seatsBetween(from: string, to: string): readonly string[] | undefined {
  const [[, letters, start = ""] = [], [, same, end = ""] = []] = [from, to].map(
    (text) => /^(.*?)(\d{1,9})$/s.exec(text) ?? [],
  );
  const length = Number(end) - Number(start) + 1;
  if (letters === undefined || letters !== same || length < 1 || length > MOST_REPETITIONS) return undefined;
  // Numbers without zeros before them grow; those with some keep their width.
  const width = start.startsWith("0") ? start.length : 1;
  return Array.from({ length }, (_, at) => letters + String(Number(start) + at).padStart(width, "0"));
}

function byPath(listPath: string, { columns, optional, outer }: EachContext, path: RulePath): Each {
  if (!(columns instanceof JsonKeys))
    throw new MappingError(path, "needs rows of JSON; cells hold no lists", "Use in with match.");
  const listOfItem = /^item(?:\.|$)/.test(listPath) ? outer?.item?.list : undefined;
  const isOfItem = listOfItem !== undefined;
  const listOf = (value: unknown): unknown => leafAt(isOfItem ? { item: value } : value, listPath);
  columns.want({ name: listPath, choices: [listPath], list: listOfItem, isIn: (value) => listOf(value) !== undefined });
  return {
    by: listPath,
    whereFilled: whereFilled(`${isOfItem ? listPath.replace("item", "outer") : listPath}.length`, "above: 0"),
    names: { item: { list: listPath } },
    items: (scope) => {
      const list = listOf(isOfItem ? scope.item : scope.value);
      if (Array.isArray(list)) {
        columns.seeItems(listPath, list);
        return list;
      }
      if (list === undefined && !optional.has(listPath))
        scope.problems.push({
          rule: "list-missing" satisfies MappingRule,
          field: listPath,
          message: `The row has no ${listPath}, from which its actions are made.`,
          hint: `If rows without it give nothing, say so in the source: optional: [${listPath}].`,
        });
      if (list === null) return [];
      if (list === undefined) return undefined;
      const what = `is ${typeName(list)}, not a list`;
      return refuse(scope, listPath, undefined, what, "Name the list that holds the tickets.");
    },
  };
}

function byMatch(template: string, written: string, names: Names, path: RulePath): Each {
  const read = compileTemplate(template, names, [...path, "in"], "all columns are");
  const pattern = compilePattern(written);
  if (typeof pattern === "string") throw new MappingError([...path, "match"], pattern);
  // An expectation asks again for each item.
  let last: { readonly text: string; readonly found: Matches | undefined } = { text: "", found: NOTHING };
  const matchesIn = (text: string): Matches | undefined => {
    if (text !== last.text) last = { text, found: pattern.matchesIn(text) };
    return last.found;
  };
  const count: Read = (scope) => String(matchesIn(read(scope))?.items.length ?? "");
  const column = columnIn(template);
  return {
    by: template,
    whereFilled: whereFilled(template, "empty: false"),
    names: {
      item: { groups: pattern.groups },
      length: column === template ? undefined : { name: `${column}.length`, read: count },
    },
    items: (scope) => {
      const text = read(scope);
      const found = matchesIn(text);
      if (found === undefined) {
        const what = `is too long for its match (${text.length} characters)`;
        return refuse(scope, template, text, what, "Is the right column named?");
      }
      if (/[\p{L}\p{N}]/u.test(found.rest)) {
        const what = `holds text that its match does not cover: ${JSON.stringify(found.rest.trim().slice(0, 60))}`;
        const hint = "Widen match until only marks and blanks are left between its matches.";
        refuse(scope, template, text, what, hint);
      }
      return found.items;
    },
  };
}

const NOTHING: Matches = { items: [], rest: "" };
