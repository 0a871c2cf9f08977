/** A source for an export of a known system: its recipe, with what this file shows. */

import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { placeholder } from "../mapping/placeholder.ts";
import { amountsOf, readsAll } from "./amount-evidence.ts";
import { amountLines } from "./amount-rules.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { expectLines, type Skips, skipLines } from "./conditions.ts";
import { csvLine, matchLine, onlyThisFile } from "./file-settings.ts";
import type { Recipe } from "./recipes.ts";
import { type Evidence, hasColumn } from "./sample.ts";
import { timesFit, timesOf } from "./time-evidence.ts";
import { isTimeField, timeLines } from "./time-rules.ts";
import { ask, indented, MOST_VALUES, rowsText, valuesText, wrapped, yamlText } from "./words.ts";

export function fromRecipe(recipe: Recipe, evidence: Evidence): readonly string[] {
  const lines = recipe.notes.flatMap((note) => wrapped(note).map((line) => `# ${line}`));
  const expected: string[] = [];
  const aliases = new Set([...recipe.yaml.matchAll(/[{,]\s*([\w-]+): \[/g)].map(([, name]) => name ?? ""));
  const isKnown = (name: string) =>
    hasColumn(evidence, name) ||
    name === "n" ||
    aliases.has(name) ||
    /^(?:item|order)\./.test(name) ||
    (evidence.lists !== undefined && name.includes("."));
  const body = asInFile(recipe.yaml.trimEnd().split("\n"), evidence);
  const known = skipsOf(recipe, evidence);
  for (const written of body) {
    if (written.startsWith("match:")) {
      const isOneEvent = /^ *eventId: .*# FILL IN/m.test(recipe.yaml);
      lines.push(isOneEvent ? onlyThisFile(evidence.fileName) : matchLine(evidence.fileName));
      if (!recipe.yaml.includes("\ncsv:")) lines.push(...csvLine(evidence, false));
    } else if (written.startsWith("csv:")) lines.push(...csvLine(evidence, true));
    else if (written.startsWith("skip:")) continue;
    else if (written.startsWith("expect:"))
      expected.push(...expectOfRecipe(written, evidence).flatMap((line) => fillIn(line, evidence)));
    else {
      if (written === "actions:") {
        const deciding = evidence.columns.filter(({ name }) => decides(recipe.yaml, name));
        lines.push(...expectLines(expected, deciding), ...skipLines(known));
      }
      const line = withoutUnknown(written, isKnown);
      lines.push(...(asWritten(line, evidence) ?? fillIn(line, evidence)));
      const when = /when: \{?(.*)$/.exec(line)?.[1] ?? /^\s*- \{(.*)\}$/.exec(line)?.[1];
      if (when !== undefined) lines.push(...valuesTold(when, line, evidence, lines));
    }
  }
  return withoutEmptyParents(lines);
}

/** Whether a `when` of the recipe compares the column. */
const decides = (yaml: string, name: string): boolean =>
  yaml
    .split("\n")
    .some((line) => namedIn(/when: \{(.*?)\}/.exec(line)?.[1] ?? /^\s*- \{(.*)\}$/.exec(line)?.[1] ?? "").has(name));

/**
 * The recipe with the values of its conditions as they stand in this file, exactly so; of those that don't, a comment. An
 * action of which no value stands in the file becomes a comment: a value that comes later is told as one that nothing names.
 */
function asInFile(body: readonly string[], evidence: Evidence): readonly string[] {
  const lines: string[] = [];
  let isOff = false;
  for (const [at, line] of body.entries()) {
    if (/^ {2}- /.test(line)) {
      const rest = body.slice(at + 1);
      const next = rest.findIndex((below) => !/^ {4}/.test(below));
      const block = [line, ...(next === -1 ? rest : rest.slice(0, next))];
      const whens = block.flatMap((each) => conditionsIn(each));
      isOff = whens.length > 0 && whens.every((map) => emptyIn(map, evidence) !== undefined);
      const why = isOff ? emptyIn(whens[0] ?? "", evidence) : undefined;
      if (why !== undefined)
        lines.push(
          `  # No row of this file has ${why}; when one does, take the # away and write its value as it stands.`,
        );
    }
    if (isOff) {
      lines.push(line.replace(/^ {2}/, "  #").replace(/\s+# FILL IN.*$/, ""));
      continue;
    }
    const [map] = conditionsIn(line);
    if (map === undefined) lines.push(line);
    else if (emptyIn(map, evidence) !== undefined)
      continue; // one of several, of which others stand in the file
    else lines.push(line.replace(map, valuesAsInFile(map, evidence)));
  }
  return lines;
}

/** The maps of a condition in a line, without their braces. */
const conditionsIn = (line: string): readonly string[] => {
  const map = /when: \{(.*?)\}/.exec(line)?.[1] ?? /^ {8,}- \{(.*)\}$/.exec(line)?.[1];
  return map === undefined ? [] : [map];
};

/** `Status canceled`: a column of the map that the file has, and of whose values it has none. */
function emptyIn(map: string, evidence: Evidence): string | undefined {
  for (const [name, values] of namedIn(map)) {
    const column = evidence.column(name);
    if (column === undefined || column.values.size === 0 || values.some((value) => /[{<]/.test(value))) continue;
    if (values.every((value) => spellingsOf(value, column).length === 0))
      return `${cleanText(column.name, 40)} ${values.map((value) => cleanText(value, 40)).join(" or ")}`;
  }
  return undefined;
}

function valuesAsInFile(map: string, evidence: Evidence): string {
  return [...namedIn(map)]
    .map(([name, values]) => {
      const column = evidence.column(name);
      const own = column === undefined ? [] : [...new Set(values.flatMap((value) => spellingsOf(value, column)))];
      const written = own.length === 0 ? values : own;
      const texts = written.map((value) => (/[{<]/.test(value) ? value : asText(value)));
      return `${yamlText(name)}: ${texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`}`;
    })
    .join(", ");
}

/** YAML takes some plain words for other things, which a reader may as well. */
const asText = (value: string): string =>
  /^(?:yes|no|true|false|on|off|null|~|\d.*)$/i.test(value) ? JSON.stringify(value) : yamlText(value);

/** The texts of the column that say the same but for capitals, blanks and marks. */
const spellingsOf = (value: string, { values }: ColumnProfile): readonly string[] =>
  [...values.keys()].filter((text) => fold(text) === fold(value));

/** What the file does not have can't be expected of it. */
function expectOfRecipe(line: string, evidence: Evidence): readonly string[] {
  const [, pairs = "", rest = ""] = /^expect: \{(.*)\}(.*)$/.exec(line) ?? [];
  const kept = pairs.split(", ").filter((pair) => hasColumn(evidence, pair.replace(/: [^:]*$/, "")));
  return kept.length === 0 ? [] : [`expect: {${kept.join(", ")}}${rest}`];
}

/** For columns that every action's condition looks at: a value that none of them names gives nothing. */
function skipsOf({ yaml }: Recipe, { columns }: Evidence): readonly Skips[] {
  const [head = "", body = ""] = yaml.split("\nactions:\n");
  const known = namedIn(/^skip: \{(.*)\}/m.exec(head)?.[1] ?? "");
  const actions = body
    .split(/^ {2}- /m)
    .filter((action) => action !== "" && (!action.startsWith("newEvent:") || action.includes("when:")));
  const conditions = actions.map((action) =>
    namedIn(
      [
        ...(/when: \{(.*?)\}(?:\}|\n|$)/.exec(action)?.slice(1) ?? []),
        ...[...action.matchAll(/^ +- \{(.*)\}$/gm)].map(([, map]) => map ?? ""),
      ].join(", "),
    ),
  );
  return columns.flatMap((column) => {
    if (actions.length === 0 || !conditions.every((named) => named.has(column.name))) return [];
    const named = new Set(conditions.flatMap((each) => [...(each.get(column.name) ?? [])]));
    const nothing = [...new Set((known.get(column.name) ?? []).flatMap((value) => spellingsOf(value, column)))];
    const taken = new Set([...named].flatMap((value) => spellingsOf(value, column)));
    const open = [...column.values.keys()].filter((value) => !taken.has(value) && !nothing.includes(value));
    return nothing.length === 0 && open.length === 0 ? [] : [{ column, known: nothing, open }];
  });
}

/** `Status: [a, b], Kind: c` → the values by column. */
function namedIn(map: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [, column = "", list, only = ""] of map.matchAll(/(?:^|, )([^:,[\]]+): (?:\[([^\]]*)\]|([^,]+))/g)) {
    const values = (list ?? only).split(", ").map((value) => value.replace(/^"(.*)"$/, "$1"));
    found.set(column, [...(found.get(column) ?? []), ...values]);
  }
  return found;
}

/** Drops what an older or chosen layout does not have; a line that is left with nothing becomes a comment that says why. */
function withoutUnknown(line: string, isKnown: (name: string) => boolean): string {
  const code = line.replace(/\s# .*$/, "");
  const missing = [...code.matchAll(/"[^"]*"/g)]
    .flatMap(([text]) => [...text.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name ?? ""))
    .filter((name) => !isKnown(name));
  let rest = line;
  for (const name of missing) {
    const cell = `"\\{${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\}"`;
    rest = rest
      .replace(new RegExp(`(?<=[[,] ?)${cell}, `), "")
      .replace(new RegExp(`, ${cell}(?=[,\\]])`), "")
      .replace(new RegExp(`(?<=[{,] ?)[^{},:]+: ${cell}, `), "")
      .replace(new RegExp(`, [^{},:]+: ${cell}(?=[,}])`), "");
  }
  const still = missing.find((name) => rest.includes(`{${name}}`));
  if (still === undefined) return rest;
  const [, indent = "", text = ""] = /^(\s*)(.*)$/.exec(rest) ?? [];
  return `${indent}#${text}   ${NOT_THERE} ${still}`;
}

const NOT_THERE = "# this file has no column";

/** Amounts and times by what this file shows, where the recipe's way does not fit it, or is not the only one that does. */
function asWritten(line: string, evidence: Evidence): readonly string[] | undefined {
  const [, indent = "", field = "", plain, name = plain, rest = ""] =
    /^(\s*)(\w+): (?:"\{([^{}]+)\}"|\{from: "\{([^{}]+)\}"(, [^#]*)\})(?:\s+#.*)?$/.exec(line) ?? [];
  const column = name === undefined ? undefined : evidence.column(name);
  if (column === undefined || column.filled === 0) return undefined;
  if (field === "price") {
    const found = amountsOf(column);
    if (found === undefined) return undefined;
    const own = { decimal: /decimal: "(.)"/.exec(rest)?.[1] ?? ".", thousands: /thousands: "(.)"/.exec(rest)?.[1] };
    if (found.readings.length === 1 && readsAll(column, { ...own, signs: signsIn(rest) })) return undefined;
    const more = rest.replace(/, (?:decimal|thousands|sign): (?:"[^"]*"|\[[^\]]*\])/g, "");
    return indented(indent.length, amountLines(column, found, more));
  }
  const format = /, format: (?:"([^"]*)"|([\w-]+))/.exec(rest);
  const found = timesOf(column);
  if (format === null || found === undefined || !isTimeField(field)) return undefined;
  if (found.readings.length === 1 && timesFit(column, format[1] ?? format[2] ?? "")) return undefined;
  return indented(indent.length, timeLines(column, evidence.columns, field));
}

function signsIn(rest: string): readonly string[] {
  const list = /, sign: (?:\[([^\]]*)\]|("[^"]*"))/.exec(rest);
  return [...(list?.[1] ?? list?.[2] ?? "").matchAll(/"([^"]*)"/g)].map(([, sign]) => sign ?? "");
}

/** Asks for what the user must say, with what the file shows of it. */
function fillIn(line: string, evidence: Evidence): readonly string[] {
  const found = /^(\s*)(.*?)\s*# FILL IN(?: as \{(.+?)\})?(?: for each \{(.+?)\})?: (.*)$/.exec(line);
  if (found === null) return [line];
  const [, indent = "", text = "", as, each, why = ""] = found;
  const column = evidence.column(as ?? each ?? "");
  if (each !== undefined && column !== undefined) {
    const values = [...column.values].slice(0, MOST_VALUES);
    return [
      ...values.map(([value, times]) => `${indent}${yamlText(value)}: ${ask(`${why} (${rowsText(times)})`)}`),
      ...(column.values.size > values.length ? [`${indent}# and ${column.values.size - values.length} more`] : []),
    ];
  }
  const only = column?.values.size === 1 && column.filled === column.rows ? [...column.values.keys()][0] : undefined;
  if (only !== undefined && /^[A-Z]{3}$/.test(only))
    return [`${indent}${text.replace(/[A-Z]{3}(?=\}?$)/, only)}   # as in all ${column?.rows} rows: ${why}`];
  const isDate = /\d{4}-\d\d-\d\d(?= \{)/;
  const filled = isDate.test(text)
    ? text.replace(isDate, placeholder(why))
    : text.replace(/: (?:(\{.*: )[^{}]+\}|.*)$/, (_value, map?: string) =>
        map === undefined ? `: ${ask(why)}` : `: ${map}${ask(why)}}`,
      );
  return [`${indent}${filled}`];
}

/** The values of the columns that a condition looks at, told once. */
function valuesTold(when: string, line: string, { columns }: Evidence, told: readonly string[]): readonly string[] {
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  return columns.flatMap((column) => {
    if (!new RegExp(`(?:^|[{,] )${column.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}: `).test(when)) return [];
    const text = `# ${column.name} in this file: ${valuesText(column)}`;
    return told.some((known) => known.trim() === text) ? [] : [`${indent}${text}`];
  });
}

/** A key whose children are all comments about missing columns would be null. */
function withoutEmptyParents(lines: readonly string[]): readonly string[] {
  return lines.map((line, at) => {
    const indent = line.search(/\S/);
    if (indent === -1 || !/^[^#]*:$/.test(line.trim())) return line;
    let children = 0;
    for (const below of lines.slice(at + 1)) {
      if (below.search(/\S/) <= indent) break;
      if (!below.includes(NOT_THERE)) return line;
      children += 1;
    }
    return children === 0 ? line : `${line.slice(0, indent)}#${line.slice(indent)}`;
  });
}
