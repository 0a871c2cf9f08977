/**
 * Exports → a starter config, with a source for each. Known systems are told by their headers and get their recipe; of others the columns are
 * guessed by name and by what their cells look like. What could be read in more than one way, and what no export says, is
 * written as `<FILL IN: …>`, which every command refuses until it is replaced.
 */

import { ACTION_NAMES, ACTIONS, type ActionName, isActionName } from "../actions/actions.ts";
import { currencyDigits } from "../actions/currencies.ts";
import type { FieldName } from "../actions/fields.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { divideAmount } from "../mapping/amount.ts";
import { actionOfFileName, FILE_NAME_PATTERNS, fieldsOf, missingFields, readColumns } from "../mapping/columns.ts";
import {
  type AmountEvidence,
  type AmountReading,
  amountsOf,
  type ColumnProfile,
  clockOf,
  hasGuards,
  isUnique,
  profileColumn,
  readsAll,
  type TimeEvidence,
  timesFit,
  timesOf,
  unixOf,
} from "../mapping/evidence.ts";
import {
  actionInFileName,
  areLogStates,
  areStatuses,
  isLogStateName,
  isStatusName,
  mayTellSale,
  minorUnitsIn,
  runsOf,
  saysGone,
  saysIn,
  saysLetIn,
  saysSold,
  TRAITS,
  tellsLog,
  tellsLoss,
  tellsSale,
  tellsSurcharge,
  tellsTicketPrice,
  tellsTotal,
  timeKindOf,
  WORDS,
  wordsOf,
} from "../mapping/header-words.ts";
import { exactPattern, widePattern, withoutOverlap } from "../mapping/match-patterns.ts";
import { isTime, type OrderTime, orderTimeOf } from "../mapping/order-time.ts";
import { askedIn, placeholder } from "../mapping/placeholder.ts";
import { RECIPES, type Recipe } from "./recipes.ts";

/** The beginning of an export. */
export interface Sample {
  /** Base name of the file. */
  readonly fileName: string;
  /** Headers of a table; of JSON rows the paths of their values. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the file ends with these rows. */
  readonly isWhole: boolean;
  /** Paths of lists in JSON rows; undefined for a table. */
  readonly lists?: readonly string[] | undefined;
  /** Where it is not the comma. */
  readonly delimiter?: string | undefined;
  /** Where it is not UTF-8. */
  readonly encoding?: string | undefined;
}

/** What one export was taken for. */
export interface GuessedSource {
  readonly name: string;
  /** Base name of its file. */
  readonly fileName: string;
  /** Which system's export it is, where its headers tell. */
  readonly system: string | undefined;
  readonly how: How;
}

/**
 * What a source was made from: the recipe of its system; rows that name their own actions; columns called like fields, so that
 * nothing but the action had to be guessed; or the names and cells of unknown columns.
 */
type How = "recipe" | "actions" | "fields" | "columns";

export interface Guess {
  /** In the order of the samples. */
  readonly sources: readonly GuessedSource[];
  /** Places in the samples, so that what registers events comes before sales, and those before the rest. */
  readonly order: readonly number[];
  /** The whole config. */
  readonly yaml: string;
  /** What has to be filled in before it can be used, with the line of the config. */
  readonly open: readonly { readonly line: number; readonly what: string }[];
  /** Lines of the config that are guesses. */
  readonly guesses: readonly number[];
}

/** What only the user knows, as a quoted value. */
const ask = (what: string): string => JSON.stringify(placeholder(what));
const ONE_OF_THE_NEXT = ask("one of the next lines, without its #");

/** @throws Failure("usage") for two files that no `match` can tell apart. */
export function guessConfig(...samples: readonly Sample[]): Guess {
  const drafts = samples.map(draftOf);
  const order = drafts
    .map((draft, at) => ({ at, rank: rankOf(draft) }))
    .sort((one, other) => one.rank - other.rank || one.at - other.at)
    .map(({ at }) => at);
  const names = namesOf(drafts);
  const bodies = withOwnMatches(drafts);
  const sources = order.flatMap((at) => [
    ...(drafts.length === 1 ? [] : wrapped(headOf(drafts[at])).map((line) => `  # ${line}`)),
    `  ${names[at]}:`,
    ...(bodies[at] ?? []).map((line) => (line === "" ? "" : `    ${line}`)),
  ]);
  const lines = [
    ...(drafts.length === 1
      ? [
          ...headOfOne(drafts[0]),
          "# read in more than one way: put your own value there; until then it is refused. docs/mapping.md explains all of it.",
        ]
      : [
          `# What ${drafts.length} exports looked like to tickets init. What is marked FILL IN no export says, or it can be read in more`,
          "# than one way: put your own value there; until then it is refused. docs/mapping.md explains all of it.",
        ]),
    "",
    "# Without an environment everything goes to the built-in sandbox.",
    "#environments:",
    "#  playground:",
    "#    baseUrl: https://…",
    "#    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}",
    "",
    "sources:",
    ...sources,
  ];
  const open = lines.flatMap((line, at) => {
    const asked = /^\s*#/.test(line) ? undefined : askedIn(line);
    const key = /^\s*(?:- )?("[^"]*"|[^":{]+):/.exec(line)?.[1];
    return asked === undefined ? [] : [{ line: at + 1, what: `${key === undefined ? "" : `${key}: `}${asked}` }];
  });
  const guesses = lines.flatMap((line, at) => (/\S.* # guess/.test(line) ? [at + 1] : []));
  // Texts of the file stand in double quotes or comments. A config that held U+FFFD itself would be taken for damaged.
  const yaml = `${lines.join("\n")}\n`.replaceAll("\ufffd", "\\ufffd");
  return {
    sources: drafts.map(({ sample: { fileName }, system, how }, at) => ({
      name: names[at] ?? "",
      fileName,
      system,
      how,
    })),
    order,
    yaml,
    open,
    guesses,
  };
}

/** One export as a source, before it is known what stands beside it. */
interface Draft {
  readonly sample: Sample;
  readonly name: string;
  readonly system: string | undefined;
  readonly how: How;
  /** What its rows give. */
  readonly actions: readonly string[];
  /** Its lines, not indented; one of them is its `match`. */
  readonly body: readonly string[];
}

function draftOf(sample: Sample): Draft {
  const evidence = evidenceOf(sample);
  const recipe = RECIPES.find(({ headers }) => headers.every((header) => hasColumn(sample, header)));
  const name = recipe?.name ?? slug(sample.fileName);
  const draft = (how: How, body: readonly string[], actions = actionsIn(body)): Draft => ({
    sample,
    name,
    system: recipe?.title,
    how,
    actions,
    body,
  });
  if (recipe !== undefined) return draft("recipe", fromRecipe(recipe, evidence));
  const own = ownActions(evidence);
  if (own.length > 0) return draft("actions", fromOwnActions(evidence, own), own);
  const named = fromNames(evidence);
  return named === undefined ? draft("columns", fromColumns(evidence)) : draft("fields", named);
}

const actionsIn = (body: readonly string[]): readonly string[] =>
  body.flatMap((line) => /^(?: {2}- |action: )(\w+)/.exec(line)?.[1] ?? []);

const lookedAt = ({ isWhole, rows }: Sample): string =>
  `${isWhole ? "All" : "Its first"} ${rows.length} rows were looked at.`;

const headOfOne = (draft: Draft | undefined): readonly string[] =>
  draft === undefined
    ? []
    : [
        `# What ${quoted(draft.sample.fileName)} looked like to tickets init${draft.system === undefined ? "" : `: ${draft.system}`}.`,
        `# ${lookedAt(draft.sample)} What is marked FILL IN no export says, or it can be`,
      ];

const headOf = (draft: Draft | undefined): string =>
  draft === undefined
    ? ""
    : `${quoted(draft.sample.fileName)}${draft.system === undefined ? "" : `: ${draft.system}`}. ${lookedAt(draft.sample)}`;

/** What must be sent first has the smallest: what registers or changes events, then sales, then what happens to tickets. */
function rankOf({ actions }: Draft): number {
  if (actions.includes("soldTicket")) return 2;
  if (actions.includes("newEvent")) return 0;
  if (actions.includes("updateEvent")) return 1;
  return actions.length > 0 && actions.every((name) => name === "invalidatedTicket") ? 4 : 3;
}

/** A name for each source: that of its system, else of its file, with a number where it is taken. */
function namesOf(drafts: readonly Draft[]): readonly string[] {
  const taken = new Set<string>();
  return drafts.map(({ name, sample }) => {
    const isOnlyOne = drafts.filter((draft) => draft.name === name).length === 1;
    const wanted = isOnlyOne ? name : slug(sample.fileName);
    let own = wanted;
    for (let nth = 2; taken.has(own); nth += 1) own = `${wanted}-${nth}`;
    taken.add(own);
    return own;
  });
}

/** The bodies, with patterns of which none takes a file of another: that would stop every command. */
function withOwnMatches(drafts: readonly Draft[]): readonly (readonly string[])[] {
  const wanted = drafts.map(({ sample: { fileName }, body }) => ({
    fileName,
    pattern:
      body
        .flatMap((line) => /^match: ("(?:[^"\\]|\\.)*")/.exec(line)?.[1] ?? [])
        .map((text) => String(JSON.parse(text)))[0] ?? "",
  }));
  const found = withoutOverlap(wanted);
  if ("alike" in found) throw namesAlike(...found.alike.map((at) => wanted[at]?.fileName ?? ""));
  return drafts.map(({ body }, at) => {
    const [pattern = "", before = ""] = [found.patterns[at], wanted[at]?.pattern];
    if (pattern === before) return body;
    const own = `match: ${JSON.stringify(pattern)}   # as ${before} it could take a file of another source`;
    return body.map((line) => (line.startsWith("match: ") ? own : line));
  });
}

function namesAlike(one = "", other = ""): Failure {
  return new Failure(
    "usage",
    `${cleanText(one, 200)} and ${cleanText(other, 200)} can't be told apart by their names, and a source is chosen by the name of a file.`,
    { hint: "Rename one of them, or write a config for each: tickets init FILE -o NAME.yaml" },
  );
}

interface Evidence extends Sample {
  readonly columns: readonly ColumnProfile[];
  column(name: string): ColumnProfile | undefined;
}

function evidenceOf(sample: Sample): Evidence {
  const columns = sample.header.map((header, at) =>
    profileColumn(
      header.trim(),
      at,
      sample.rows.map((cells) => cells[at] ?? ""),
    ),
  );
  return { ...sample, columns, column: (name) => columns.find((column) => column.name === name) };
}

function hasColumn({ header, lists = [] }: Sample, name: string): boolean {
  return (
    header.some((known) => known.trim() === name || (lists.length > 0 && known.startsWith(`${name}.`))) ||
    lists.some((list) => list === name)
  );
}

/** `match` for this file alone: what its config says of the event is not true of the next one. */
const onlyThisFile = (fileName: string): string =>
  `match: ${JSON.stringify(exactPattern(fileName))}   # this file only: eventId below is that of one event`;

/** `match` for the file and its successors. */
const matchLine = (fileName: string): string => `match: ${JSON.stringify(widePattern(fileName))}`;

function slug(fileName: string): string {
  const text = fileName
    .replace(/\..*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-\d]+|[-\d]+$/g, "");
  return text === "" ? "export" : text;
}

/** How the file is written, where that is not the usual. */
function csvLine({ delimiter, encoding, columns }: Evidence, guards = columns.some(hasGuards)): readonly string[] {
  const parts = [
    ...(delimiter === undefined ? [] : [`delimiter: ${JSON.stringify(delimiter)}`]),
    ...(encoding === undefined ? [] : [`encoding: ${encoding}`]),
    ...(guards ? ["guards: strip"] : []),
  ];
  return parts.length === 0 ? [] : [`csv: {${parts.join(", ")}}   # as this file is written`];
}

// ── A known system ──

function fromRecipe(recipe: Recipe, evidence: Evidence): readonly string[] {
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

/** What `expect` does with a value that is not named. */
const OTHERS_TOLD =
  "all that stand in this file; a row with another is an error if it gives an action, and skipped with a warning if no when takes that value";

/**
 * `expect` of every column by whose values rows differ: all that stand in the file, exactly so. So a value that comes later
 * is told: as an error where its row gives an action, otherwise as a warning.
 *
 * @param more - lines `expect: {Column: value}` about other columns.
 */
function expectLines(
  more: readonly string[],
  columns: readonly ColumnProfile[],
  blanks: readonly ColumnProfile[] = [],
): readonly string[] {
  const own = more.flatMap((line) => {
    const [, pairs = "", comment = ""] = /^expect: \{(.*?)\}(\s*(?:#.*)?)$/.exec(line) ?? [];
    const each = pairs.split(/, (?=[^,]+: )/);
    return each.map((pair, at) => `  ${pair}${at === each.length - 1 ? comment : ""}`);
  });
  const statuses = columns
    .filter(({ values }) => values.size > 0 && values.size <= MOST_VALUES)
    .map((column) => {
      const values = [...column.values.keys(), ...(column.filled < column.rows ? [""] : [])];
      return `  ${yamlText(column.name)}: [${values.map(yamlText).join(", ")}]   # ${OTHERS_TOLD}`;
    });
  const empty = blanks.map(
    ({ name }) =>
      `  ${yamlText(name)}: ""   # as in all rows of this file; a row with something there that gives an action is an error`,
  );
  return statuses.length + empty.length === 0 ? more : ["expect:", ...own, ...statuses, ...empty];
}

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

/** A column by which rows give something or nothing. */
interface Skips {
  readonly column: ColumnProfile;
  /** Values whose rows are known to give nothing. */
  readonly known: readonly string[];
  /** Values of which that is to be said. */
  readonly open: readonly string[];
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

function skipLines(skips: readonly Skips[]): readonly string[] {
  if (skips.length === 0) return [];
  const lines = skips.flatMap(({ column, known, open }) => [
    `  ${yamlText(column.name)}:`,
    ...known.map((value) => `    - ${yamlText(value)}`),
    ...open
      .slice(0, MOST_VALUES)
      .map(
        (value) =>
          `    - ${ask(`no action takes ${cleanText(value, 40)} (${rowsText(column.values.get(value) ?? 0)}): write it here if it gives nothing, else in the when of its actions`)}`,
      ),
    ...(open.length > MOST_VALUES ? [`    # and ${open.length - MOST_VALUES} more`] : []),
  ]);
  return ["skip:   # rows with these give nothing", ...lines];
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

const TIME_FIELDS = ["orderTime", "startTime", "endTime"] as const;
type TimeField = (typeof TIME_FIELDS)[number];
const isTimeField = (field: string): field is TimeField => TIME_FIELDS.some((known) => known === field);

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

/** Values and names told in comments. */
const MOST_VALUES = 40;

/** The values of the columns that a condition looks at, told once. */
function valuesTold(when: string, line: string, { columns }: Evidence, told: readonly string[]): readonly string[] {
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  return columns.flatMap((column) => {
    if (!new RegExp(`(?:^|[{,] )${column.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}: `).test(when)) return [];
    const text = `# ${column.name} in this file: ${valuesText(column)}`;
    return told.some((known) => known.trim() === text) ? [] : [`${indent}${text}`];
  });
}

function valuesText({ values, filled, rows }: ColumnProfile): string {
  const shown = [...values].sort(([, one], [, other]) => other - one).slice(0, 12);
  return [
    ...shown.map(([value, times]) => `${cleanText(value, 30)} ${times}`),
    ...(values.size > shown.length ? [`${values.size - shown.length} more values`] : []),
    ...(filled < rows ? [`empty ${rows - filled}`] : []),
  ].join(", ");
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

// ── Columns that are called like fields ──

/** Which action the rows of a table with columns called like fields are. */
type Named =
  /** By the convention of file names, or the only one that fits. */
  | { readonly action: ActionName; readonly why: string }
  /** Nothing says which of them. */
  | { readonly among: readonly ActionName[] };

const AS_FILE_NAME = "# as the file's name says";

/** Undefined where what the action needs must be looked for in columns that are called otherwise. */
function namedAction(evidence: Evidence): Named | undefined {
  const { header, fileName, lists } = evidence;
  const { fields, action, conflict } = readColumns(header);
  if (conflict !== undefined || lists?.some((list) => list !== "metadataAttributes") || action !== undefined)
    return undefined;
  const used = (name: ActionName) => [...fieldsOf(name, new Set())].filter((field) => fields.has(field)).length;
  const has = (name: ActionName) => missingFields(name, (field) => fields.has(field)).length === 0 && used(name) >= 2;
  const said = actionOfFileName(fileName);
  // What the name says is sent as that or not at all, as without a config.
  if (said !== undefined) return has(said) ? { action: said, why: AS_FILE_NAME } : undefined;
  if (actionInFileName(fileName) !== undefined) return undefined;
  const isOfTickets = fields.has("ticketId") || fields.has("nftId");
  const [best, ...others] = ACTION_NAMES.filter(
    (name) => has(name) && (ACTIONS[name].about === "ticket") === isOfTickets,
  ).sort((one, other) => used(other) - used(one));
  if (best === undefined) return undefined;
  // Sales name their event, too; taken for a list of events they would be lost.
  if (ACTIONS[best].about === "event" && otherThan(best, evidence).some(({ name }) => mayTellSale(name)))
    return undefined;
  const why = `# guess: most of its fields are there${others.length === 0 ? "" : `; ${others.slice(0, 3).join(", ")} could be meant too`}`;
  const isSure = best === "soldTicket" || best === "updateTicket" || ACTIONS[best].about === "event";
  if (isSure || (best === "claimedTicket" && fields.has("to"))) return { action: best, why };
  // With an event or a price it may be a sale of which the rest is called otherwise, or has to be said.
  if (fields.has("eventId") || columnsOf(evidence).price !== undefined) return undefined;
  return { among: [best, ...others, ...scansToo(best, others)] };
}

/** Columns that are no field of the action. */
function otherThan(action: ActionName, { header, columns }: Evidence): readonly ColumnProfile[] {
  const takes = fieldsOf(action, new Set());
  const own = new Set([...readColumns(header).fields].flatMap(([field, index]) => (takes.has(field) ? [index] : [])));
  return columns.filter(({ index }) => !own.has(index));
}

/** Of a table of tickets and users or times it may be anything that happens to a ticket. */
const scansToo = (...named: readonly [ActionName, readonly ActionName[]]): readonly ActionName[] =>
  (["scannedTicket", "checkedInTicket", "invalidatedTicket"] as const).filter((name) => !named.flat().includes(name));

/** The actions that the rows name themselves in a column called action; none where one of them is no action. */
function ownActions({ header, columns, lists }: Evidence): readonly ActionName[] {
  const { action, fields, conflict } = readColumns(header);
  const column = action === undefined ? undefined : columns[action];
  if (column === undefined || conflict !== undefined || fields.size === 0) return [];
  if (lists?.some((list) => list !== "metadataAttributes")) return [];
  const named = [...column.values.keys()];
  return column.filled === column.rows && named.every(isActionName) ? named : [];
}

function fromOwnActions(evidence: Evidence, own: readonly ActionName[]): readonly string[] {
  const beside = besideFields(evidence).filter(({ name }) => fold(name) !== "action");
  const passed = new Set(
    own.flatMap((action) => {
      const { statuses, marks } = decidingOf(beside, action, evidence.rows);
      return [...statuses, ...marks];
    }),
  );
  return [
    `# The columns are called like fields, and each row names its action, so they need no rules${passed.size === 0 ? "." : ""}`,
    ...[...passed].map(
      (column, at) =>
        `# ${at === 0 ? "as long as a row means its action whatever these columns hold: " : ""}${cleanText(column.name, 40)}: ${valuesText(column)}`,
    ),
    matchLine(evidence.fileName),
    ...csvLine(evidence),
    ...zoneOfFields(evidence),
  ];
}

function zoneOfFields({ header, columns }: Evidence): readonly string[] {
  const isLocal = [...readColumns(header).fields].some(([field, index]) => {
    const column = isTimeField(field) ? columns[index] : undefined;
    return column !== undefined && timesOf(column)?.readings.some((reading) => reading.isLocal) === true;
  });
  return isLocal ? [`zone: ${ask("the time zone of times without one, such as Europe/Berlin")}`] : [];
}

/** Undefined where the columns are not called so, or rules are needed and a list would be left out of them. */
function fromNames(evidence: Evidence): readonly string[] | undefined {
  const named = namedAction(evidence);
  if (named === undefined) return undefined;
  const head = [matchLine(evidence.fileName), ...csvLine(evidence)];
  const beside = besideFields(evidence);
  if ("among" in named) {
    const { statuses, marks } = decidingOf(beside, "scannedTicket", evidence.rows);
    const unused = [...new Set([...statuses, ...marks, ...beside.filter(isTime)])];
    return [
      "# The columns are called like fields; nothing says which action the rows are.",
      ...(unused.length === 0
        ? []
        : [
            `# Their names alone leave out ${namesText(unused)}: call the file after its action (${FILE_NAME_PATTERNS}) and let tickets init look again.`,
          ]),
      ...head,
      ...zoneOfFields(evidence),
      `action: ${ask(`what the rows are: ${named.among.join(", ")}`)}`,
    ];
  }
  const { action, why } = named;
  const deciding = decidingOf(beside, action, evidence.rows);
  const { statuses, marks, blanks, entries } = deciding;
  const hasConditions = [statuses, marks, blanks, entries].some(({ length }) => length > 0);
  const isBlankNow = isDeed(action) && hasTimeNowAndThen(evidence);
  const { lines: rules, times } = rulesOfNamed(evidence, action, hasConditions || isBlankNow);
  if (rules.length > 0 && evidence.lists?.length) return undefined;
  if (rules.length === 0)
    return [
      "# The columns are called like fields, so they need no rules.",
      ...head,
      ...zoneOfFields(evidence),
      `action: ${action}   ${why}`,
    ];
  const isSale = action === "soldTicket";
  const ticket = rules.filter((line) => line.startsWith("ticketId:"));
  return [
    hasConditions || isBlankNow
      ? "# The columns are called like fields; what each status gives must be said."
      : "# The columns are called like fields; how some of them are written must be said.",
    ...head,
    ...zoneLines([...times, ...(isSale ? [...entries, ...marks] : [])]),
    ...expectLines([], statuses, blanks),
    ...skipLines(skipsOfStatuses(deciding, action)),
    "actions:",
    `  - ${action}:   ${why}`,
    ...whenLines(deciding, action, evidence.columns, times),
    "      fields:",
    ...indented(8, rules),
    ...(isSale
      ? [...entryLines(deciding, evidence.columns, ticket), ...invalidationLines(deciding, evidence.columns, ticket)]
      : []),
  ];
}

/** Something that happens to a ticket after its sale. */
const isDeed = (action: ActionName): boolean => action !== "soldTicket" && ACTIONS[action].about === "ticket";

/** Whether only some rows have a time: the others may stand for what did not happen. */
function hasTimeNowAndThen({ header, columns }: Evidence): boolean {
  const column = columns[readColumns(header).fields.get("orderTime") ?? -1];
  return column !== undefined && column.filled > 0 && column.filled < column.rows;
}

/** Columns that are no field, or of a name that a rule can't hold. */
function besideFields({ header, columns }: Evidence): readonly ColumnProfile[] {
  const used = new Set(readColumns(header).fields.values());
  const counts = new Map<string, number>();
  for (const { name } of columns) counts.set(name, (counts.get(name) ?? 0) + 1);
  return columns.filter(({ name, index }) => !used.has(index) && /^[^{}]+$/.test(name) && counts.get(name) === 1);
}

// ── An unknown layout ──

/** Whether all amounts are read without a rule, and could be read in no other way. */
const isAsFieldsAre = ({ readings: [only, ...others], signs }: AmountEvidence): boolean =>
  others.length === 0 && signs.length === 0 && only?.decimal === "." && only.thousands === undefined;

/**
 * Rules of columns called like fields, and the columns of their times; no rules where all are written as fields are read
 * without one, and nothing else is there, unless they are needed.
 */
function rulesOfNamed(
  evidence: Evidence,
  action: ActionName,
  isNeeded: boolean,
): { readonly lines: readonly string[]; readonly times: readonly ColumnProfile[] } {
  const { fields } = readColumns(evidence.header);
  let needsRules = isNeeded;
  const takes = fieldsOf(action, new Set());
  const times: ColumnProfile[] = [];
  const own = fields.get("orderTime");
  const given = own === undefined ? undefined : evidence.columns[own];
  const time = !takes.has("orderTime")
    ? undefined
    : orderTimeOf(action, {
        columns: [...besideFields(evidence), ...(given === undefined ? [] : [given])],
        rows: evidence.rows,
        events: eventColumns(evidence.columns),
        ids: idColumns(evidence.columns),
      });
  const isAsNamed = time === undefined || isTimeAsNamed(time, given, action);
  const lines = [...fields].flatMap(([field, index]) => {
    const column = evidence.columns[index];
    if (column === undefined || !takes.has(field) || /[{}]/.test(column.name)) return [];
    const prices = field === "price" ? pricesIn([column, ...besideFields(evidence)]) : [];
    if (areRivals(prices)) {
      needsRules = true;
      return choiceLines(
        prices.map((rival) => ({ column: rival, quantity: undefined })),
        undefined,
      );
    }
    const amount = field === "price" ? amountsOf(column) : undefined;
    if (amount !== undefined && !amount.isPlain && !isAsFieldsAre(amount)) {
      needsRules = true;
      return amountLines(column, amount, "");
    }
    if (field === "orderTime" && !isAsNamed) return [];
    if (isTimeField(field)) times.push(column);
    if (isTimeField(field) && unixOf(column) !== "unix") {
      const found = timesOf(column);
      const isRead = found?.readings.every(({ format }) => format === "iso") === true;
      if (column.filled > 0 && !isRead && (found !== undefined || unixOf(column) !== undefined)) {
        needsRules = true;
        return timeLines(column, evidence.columns, field);
      }
    }
    return [`${field}: ${template(column)}`];
  });
  if (action === "newEvent")
    for (const field of ["startTime", "endTime"] as const) {
      const [column] = fields.has(field) ? [] : called(WORDS[field], besideFields(evidence)).filter(isTime);
      if (column === undefined) continue;
      needsRules = true;
      times.push(column);
      lines.push(...timeLines(column, evidence.columns, field));
    }
  if (time !== undefined && time.kind !== "none" && !isAsNamed) {
    needsRules = true;
    times.push(...(time.kind === "column" ? [time.column] : time.columns));
    lines.push(...orderTimeLines(time, action, evidence.columns));
  }
  return { lines: needsRules ? lines : [], times };
}

/** Whether the column called orderTime holds the time as far as can be told, or there is none to speak of. */
function isTimeAsNamed(time: OrderTime, given: ColumnProfile | undefined, action: ActionName): boolean {
  if (time.kind === "none") return true;
  if (given === undefined || given.filled === 0) return false;
  if (time.kind === "column") return time.column === given;
  return action === "soldTicket" || (time.columns.length === 1 && time.columns[0] === given);
}

type Wanted = keyof typeof WORDS;

/** Columns whose names fit, best first. */
function called(words: string, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const list = words.split(" ");
  const score = ({ name }: ColumnProfile): number => {
    const exact = list.indexOf(wordsOf(name).join(""));
    if (exact !== -1) return 200 - exact;
    const runs = runsOf(name);
    const part = list.findIndex((word) => word.length >= 4 && runs.has(word));
    return part === -1 ? 0 : 100 - part;
  };
  return columns
    .map((column) => ({ column, score: score(column) }))
    .filter(({ score: points }) => points > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ column }) => column);
}

/** The columns of an unknown layout, by what they most likely are. */
interface Columns {
  readonly all: readonly ColumnProfile[];
  /** Those that are empty in all rows. */
  readonly empty: readonly ColumnProfile[];
  readonly rows: readonly (readonly string[])[];
  readonly ticket: ColumnProfile | undefined;
  readonly price: ColumnProfile | undefined;
  /** All that may be the price. */
  readonly prices: readonly ColumnProfile[];
  readonly currency: ColumnProfile | undefined;
  /** A number of tickets, beside the id of the order that they belong to. */
  readonly order: { readonly id: ColumnProfile; readonly quantity: ColumnProfile } | undefined;
  called(wanted: Wanted): readonly ColumnProfile[];
  timeOf(action: ActionName): OrderTime;
}

function columnsOf({ columns, rows }: Evidence): Columns {
  const counts = new Map<string, number>();
  for (const { name } of columns) counts.set(name, (counts.get(name) ?? 0) + 1);
  // Of a header that occurs twice nobody can say which is meant, and one with braces can't stand in a template.
  const usable = columns.filter(({ name }) => /^[^{}]+$/.test(name) && counts.get(name) === 1);
  const all = usable.filter(({ filled }) => filled > 0);
  const find = (wanted: Wanted) => called(WORDS[wanted], all);
  const quantity = find("quantity").find(isQuantity);
  const id = all.find((column) => isUnique(column) && isIdName(column) && mayBeId(column) && !isIdOfOther(column));
  const amounts = all.filter((column) => !isTime(column) && isMoney(column) && !tellsLoss(column.name));
  const order = quantity === undefined || id === undefined ? undefined : { id, quantity };
  const prices = pricesIn(all);
  const isId = (column: ColumnProfile) => isUnique(column) && mayBeId(column);
  return {
    all,
    empty: usable.filter(({ filled }) => filled === 0),
    rows,
    order,
    ticket:
      find("ticketId").find(isId) ?? all.find((column) => isId(column) && isIdName(column) && !isIdOfOther(column)),
    prices,
    price:
      prices[0] ??
      (amounts.length === 1 ? amounts[0] : undefined) ??
      all.find((column) => minorUnitsIn(column.name) !== undefined && amountsOf(column) !== undefined),
    currency: find("currency").find((column) => areMost(column, (text) => /^[A-Za-z]{3}$/.test(text))),
    called: find,
    timeOf: (action) => orderTimeOf(action, { columns: all, rows, events: eventColumns(all), ids: idColumns(all) }),
  };
}

/** Columns of amounts that are called like a price, what one ticket cost first. */
const pricesIn = (columns: readonly ColumnProfile[]): readonly ColumnProfile[] =>
  called(WORDS.price, columns)
    .filter((column) => amountsOf(column) !== undefined && !isTime(column))
    .filter((column) => isMoney(column) || called(WORDS.quantity, [column]).length === 0)
    .filter(({ name }) => !tellsLoss(name) && !tellsSurcharge(name))
    .sort((one, other) => Number(tellsTicketPrice(other.name)) - Number(tellsTicketPrice(one.name)));

/** Columns that tell one event from another, by id or by name. */
const eventColumns = (columns: readonly ColumnProfile[]): readonly ColumnProfile[] =>
  [...new Set([...called(WORDS.eventId, columns), ...called(WORDS.eventName, columns)])].filter(
    (column) => !isTime(column),
  );

/** Columns that are called like an id of whatever. */
const idColumns = (columns: readonly ColumnProfile[]): readonly ColumnProfile[] => [
  ...(["ticketId", "eventId", "userId"] as const).flatMap((id) => called(WORDS[id], columns)),
  ...columns.filter(isIdName),
];

/** The columns by which rows of one layout give different things. */
interface Deciding {
  /** With a few values each, the surest first. */
  readonly statuses: readonly ColumnProfile[];
  /** Of which it matters whether they hold something, such as the time of a refund. */
  readonly marks: readonly ColumnProfile[];
  /** Which would be one of these, and are empty in all rows. */
  readonly blanks: readonly ColumnProfile[];
  /** In a file of sales: times of entries, and columns that say whether there was one. */
  readonly entries: readonly ColumnProfile[];
  readonly rows: readonly (readonly string[])[];
}

const isLog = (action: ActionName): boolean => action === "scannedTicket" || action === "checkedInTicket";

const tellsLossAsTime = ({ name }: ColumnProfile): boolean => tellsLoss(name) && timeKindOf(name) !== "other";

function decidingOf(
  columns: readonly ColumnProfile[],
  action: ActionName,
  rows: readonly (readonly string[])[],
): Deciding {
  const all = columns.filter(({ filled }) => filled > 0);
  const known = statusesOf(all);
  if (ACTIONS[action].about === "event")
    return { statuses: known.filter(({ name }) => isStatusName(name)), marks: [], blanks: [], entries: [], rows };
  const isSale = action === "soldTicket";
  const ofLog = isLog(action)
    ? all.filter(
        (column) =>
          !known.includes(column) &&
          hasFewValues(column) &&
          (isLogStateName(column.name) || areLogStates([...column.values.keys()])),
      )
    : [];
  const flags = all.filter(
    (column) => !known.includes(column) && !ofLog.includes(column) && isFlag(column) && tellsLossAsTime(column),
  );
  // What is said of a ticket that is cancelled may be the reason, in whatever column.
  const statuses = [
    ...(isSale || isLog(action) ? [...known, ...ofLog] : known.filter(({ name }) => isStatusName(name))),
    ...(action === "invalidatedTicket" ? [] : flags),
  ];
  const isMark = (column: ColumnProfile): boolean =>
    (action !== "invalidatedTicket" &&
      tellsLossAsTime(column) &&
      (isTime(column) || column.filled < column.rows || column.values.size > 1)) ||
    (isLog(action) && isLogStateName(column.name) && !isTime(column) && !hasFewValues(column));
  const isBlank = (column: ColumnProfile): boolean =>
    column.filled === 0 &&
    (action === "invalidatedTicket"
      ? isStatusName(column.name) && !tellsLoss(column.name)
      : isStatusName(column.name) || tellsLossAsTime(column) || (isLog(action) && isLogStateName(column.name)));
  return {
    statuses,
    marks: all.filter((column) => isMark(column) && !statuses.includes(column)),
    blanks: columns.filter(isBlank),
    entries: isSale
      ? all.filter(
          (column) =>
            timeKindOf(column.name) === "entry" && !statuses.includes(column) && (isTime(column) || isFlag(column)),
        )
      : [],
    rows,
  };
}

/** Whether it says yes or no, in whatever words. */
const isFlag = (column: ColumnProfile): boolean =>
  column.values.size + (column.filled < column.rows ? 1 : 0) <= 2 && hasFewValues(column) && !isQuantity(column);

/** Columns of states: by their names, then by what their values say. */
function statusesOf(columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const known = new Set(called(WORDS.status, columns));
  const named = columns.filter((column) => !known.has(column) && isStatusName(column.name));
  const others = columns.filter(
    (column) => !known.has(column) && !named.includes(column) && areStatuses([...column.values.keys()]),
  );
  return [...known, ...named, ...others].filter(hasFewValues);
}

/** A status has few values, which are no times and no amounts; in a short file their number says nothing. */
function hasFewValues(column: ColumnProfile): boolean {
  const { values, rows } = column;
  if (values.size === 0 || values.size > 30 || (rows >= 20 && values.size > rows / 2)) return false;
  return !isTime(column) && !isMoney(column);
}

/** Names of amounts, which are whole numbers now and then. */
const AMOUNT_NAME =
  /^(?:fees?|price|prices|total|subtotal|amount|paid|tax|vat|cost|discount|refund(?:ed)?|balance|gebuehr|gebuhr|preis|betrag|prix|montant|frais|prezzo|importo|precio|importe|preco|valor|prijs|bedrag)$/;

/** Ids are short and stand for something: no time, no amount, no answer to a question. */
function mayBeId(column: ColumnProfile): boolean {
  const { name } = column;
  if (isTime(column) || isMoney(column) || isList(column)) return false;
  if (minorUnitsIn(name) !== undefined || wordsOf(name).some((word) => AMOUNT_NAME.test(word))) return false;
  if (name.includes("?") || wordsOf(name).length > 6) return false;
  return areMost(column, (text) => text.length <= 80 && !/[\n\r?]/.test(text) && !/^[$€£]|\d[.,]\d\d$/.test(text));
}

/** Amounts that could be nothing else: with a sign, or two decimals. */
function isMoney(column: ColumnProfile): boolean {
  const found = amountsOf(column);
  return found !== undefined && (found.signs.length > 0 || areMost(column, (text) => /[.,]\d\d$/.test(text)));
}

function isQuantity(column: ColumnProfile): boolean {
  const isCount = (text: string): boolean => /^\d{1,3}$/.test(text);
  return areMost(column, isCount) && [...column.values.keys()].some((text) => isCount(text) && Number(text) > 1);
}

/** Whether all cells are so, or all but a few of many: those are then told by their rows. */
function areMost({ values, filled }: ColumnProfile, test: (text: string) => boolean): boolean {
  let fits = 0;
  for (const [text, times] of values) if (test(text)) fits += times;
  return filled > 0 && fits >= filled * (filled < 40 ? 1 : 0.95);
}

/** Whether cells hold several values each, with marks between them. */
function isList({ values }: ColumnProfile): boolean {
  let lists = 0;
  for (const text of values.keys())
    if (/^\[.*\]$|[^\s,;|]\s*[,;|]\s*[^\s,;|]/.test(text) && !/^-?\d+,\d+$/.test(text)) lists += 1;
  return lists > 0 && lists * 20 >= values.size;
}

const ID_WORD =
  /^(?:n|num|numero|numer|codigo|codice|billet|biglietto|bilhete|ingresso|entrada|boleto|kenmerk|referencia|riferimento)$/;

const isIdName = ({ name }: ColumnProfile): boolean =>
  wordsOf(name).some((word) => ID_WORD.test(word)) ||
  /(?:^|[^a-z])(?:ids?|no|nr)(?:[^a-z]|$)|[a-z]I[dD](?:[^a-z]|$)|code|numm?er|#|\bref|reference|position|\bline|index|seat|platz/.test(
    name.replace(/^[A-Z]+|\b[A-Z]/g, (letters) => letters.toLowerCase()),
  );

/** What the rows of an unknown layout are taken for. */
interface Taken {
  readonly action: ActionName;
  readonly why: string;
  /** What must be said first, where the name of the file says it in no way that counts without a config. */
  readonly doubt: readonly string[];
}

function takenFor({ fileName, columns }: Evidence, { price, all, order, currency, called: find }: Columns): Taken {
  const taken = (action: ActionName, why: string, doubt: readonly string[] = []): Taken => ({ action, why, doubt });
  const said = actionOfFileName(fileName);
  if (said !== undefined) return taken(said, AS_FILE_NAME);
  const hinted = actionInFileName(fileName);
  if (hinted !== undefined)
    return taken(hinted, "# guess: by a word of the file's name", [
      `action: ${ask(`a word of the file's name means ${hinted}, as below: remove this line if so, else write sources of your own`)}`,
    ]);
  const mayBeEvents =
    find("eventName").length > 0 &&
    (currency !== undefined || (find("userId").length === 0 && find("startTime").some(isTime)));
  const speakOfSales = columns.filter(({ name }) => mayTellSale(name));
  const hasSales = price !== undefined || order !== undefined || speakOfSales.length > 0;
  if (mayBeEvents && !hasSales) return taken("newEvent", "# guess: the file holds events");
  const isScans =
    price === undefined &&
    (/scan|entr|gate|access|check/i.test(fileName) ||
      all.some(({ name }) => /gate|scan|entry/i.test(name)) ||
      // Whoever sells notes the device, too, and the buyer.
      (all.some(({ name }) => tellsLog(name)) &&
        order === undefined &&
        find("userId").length === 0 &&
        !all.some(({ name }) => timeKindOf(name) === "sale")));
  if (isScans)
    return taken(
      "scannedTicket",
      "# guess: the file holds scans; checkedInTicket, which ends a ticket's life, could be meant too",
    );
  const isSale = !mayBeEvents || speakOfSales.some(({ name }) => tellsSale(name));
  return isSale
    ? taken("soldTicket", "# guess: nothing says that the file holds anything but sales")
    : taken("soldTicket", "# guess: some of its columns may be of sales", [
        `action: ${ask("the rows may be sales, as below, or events: remove this line if they are sales, else write a source of newEvent")}`,
      ]);
}

function fromColumns(evidence: Evidence): readonly string[] {
  const columns = columnsOf(evidence);
  const { ticket, all } = columns;
  const { action, why, doubt } = takenFor(evidence, columns);
  const isEvents = action === "newEvent";
  const isSale = action === "soldTicket";
  const lists = evidence.lists ?? [];
  const event = eventLine(columns.called("eventId").filter((column) => column !== ticket && mayBeId(column)));
  const isOneEvent = isSale && event.some((line) => askedIn(line) !== undefined);
  const deciding = decidingOf([...all, ...columns.empty], action, evidence.rows);
  const time = columns.timeOf(action);
  const times = time.kind === "column" ? [time.column] : time.kind === "perhaps" ? time.columns : [];
  return [
    isOneEvent ? onlyThisFile(evidence.fileName) : matchLine(evidence.fileName),
    ...csvLine(evidence),
    ...(lists.length === 0
      ? []
      : [
          `#each: {path: ${lists[0]}}   # rows hold lists (${lists.slice(0, 5).join(", ")}); with this line each item is a ticket, and {item.…} what is in it`,
        ]),
    ...zoneLines(
      isEvents
        ? (["startTime", "endTime"] as const).flatMap(columns.called)
        : [...times, ...(isSale ? [...deciding.entries, ...deciding.marks] : [])],
    ),
    ...(isEvents
      ? eventRules(columns, why)
      : [
          ...(columns.order === undefined || !isSale
            ? []
            : [
                `each: {count: ${template(columns.order.quantity)}}   # guess: each row is an order of so many tickets`,
              ]),
          ...expectOf(columns, deciding),
          ...(isSale ? ["fields:", ...event, ...ticketLine(evidence, columns)] : []),
          ...skipLines(skipsOfStatuses(deciding, action)),
          ...doubt,
          "actions:",
          ...(isSale ? saleRules(columns, deciding, time, why) : deedRules(action, columns, deciding, time, why)),
        ]),
  ];
}

/** The values by which a row gives the action. */
function takenOf(status: ColumnProfile, action: ActionName): readonly string[] {
  const words = statusWords(status);
  if (action === "soldTicket") return [...words.sold, ...words.gone, ...words.in];
  if (action === "invalidatedTicket") return words.gone;
  return isLog(action) ? words.in : [];
}

/** Of several only the surest decides whether there was a sale. */
const conditioned = ({ statuses }: Deciding, action: ActionName): readonly ColumnProfile[] =>
  isLog(action) || !["soldTicket", "newEvent", "updateEvent"].includes(action) ? statuses : statuses.slice(0, 1);

/** Statuses whose words say nothing; where none says anything, `when` asks. */
function skipsOfStatuses(deciding: Deciding, action: ActionName): readonly Skips[] {
  return conditioned(deciding, action).flatMap((column) => {
    const taken = takenOf(column, action);
    const open = [...column.values.keys()].filter((value) => !taken.includes(value));
    return taken.length === 0 || open.length === 0 ? [] : [{ column, known: [], open }];
  });
}

/** An action of the list, with what stands under it. */
const actionLines = (
  action: ActionName,
  why: string,
  when: readonly string[],
  fields: readonly string[],
): readonly string[] => [`  - ${action}:`.padEnd(33) + why, ...when, "      fields:", ...indented(8, fields)];

/** What happens to a ticket that was sold before. */
function deedRules(
  action: ActionName,
  columns: Columns,
  deciding: Deciding,
  time: OrderTime,
  why: string,
): readonly string[] {
  const takes = fieldsOf(action, new Set());
  const times = time.kind === "column" ? [time.column] : [];
  const ticket = knownTicket(columns);
  return actionLines(action, why, whenLines(deciding, action, columns.all, times), [
    knownTicketLine(columns),
    ...(takes.has("userId")
      ? userLine(
          [...columns.called("userId"), ...columns.all.filter(holdsEmails)].filter((column) => column !== ticket),
          action === "claimedTicket"
            ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
            : undefined,
        )
      : []),
    ...(takes.has("price") ? priceLinesOf(columns, undefined) : []),
    ...(action === "updateTicket"
      ? [
          ...publicLines(columns.all),
          `metadataAttributes: ${ask("what changes: a map from names to columns, as in docs/mapping.md; or write imageUrl or mediaUrl instead")}`,
        ]
      : []),
    ...(takes.has("orderTime") ? orderTimeLines(time, action, columns.all) : []),
  ]);
}

/** A column of amounts, to be divided by the number of tickets or not. */
interface PriceChoice {
  readonly column: ColumnProfile;
  readonly quantity: ColumnProfile | undefined;
}

function priceLinesOf({ price, prices, currency }: Columns, quantity: ColumnProfile | undefined): readonly string[] {
  if (price === undefined) return priceLines(undefined, [], quantity, currency);
  const choices = (areRivals(prices) ? prices : [price]).flatMap((column): readonly PriceChoice[] => {
    if (quantity === undefined || tellsTotal(column.name)) return [{ column, quantity }];
    const each = { column, quantity: undefined };
    return tellsTicketPrice(column.name) ? [each] : [each, { column, quantity }];
  });
  const [only, ...more] = choices;
  if (more.length > 0 || only === undefined) return choiceLines(choices, currency);
  const others = prices.filter((column) => column !== price);
  return priceLines(only.column, others, only.quantity, currency);
}

/** Whether the columns say different things: what was paid in all, or without a fee, beside another amount. */
const areRivals = (prices: readonly ColumnProfile[]): boolean =>
  prices.length > 1 && prices.some(({ name }) => tellsTotal(name));

/** Every amount that may be what one ticket cost, for the user to choose from. */
function choiceLines(choices: readonly PriceChoice[], currency: ColumnProfile | undefined): readonly string[] {
  const names = new Set(choices.slice(0, 6).map(({ column }) => cleanText(column.name, 40)));
  return [
    `price: ${ask(`one of the next lines, without its #: what one ticket cost, by ${[...names].join(" or ")}`)}   # a price is public for good; remove this line`,
    ...choices.flatMap(({ column, quantity }) =>
      priceLines(column, [], quantity, currency).flatMap((line) => (line.startsWith("#") ? line : asChoice(line))),
    ),
  ];
}

/** A rule as a comment; what asks which rule is right is asked already. */
const asChoice = (line: string): readonly string[] =>
  line.includes(`: ${ONE_OF_THE_NEXT}`) ? [] : [`#${line.replace("# guess: ", "# ")}`];

function saleRules(columns: Columns, deciding: Deciding, time: OrderTime, why: string): readonly string[] {
  const { all, ticket, order } = columns;
  return [
    ...actionLines("soldTicket", why, whenLines(deciding, "soldTicket", all, []), [
      ...userLine([...columns.called("userId"), ...all.filter(holdsEmails)].filter((column) => column !== ticket)),
      ...priceLinesOf(columns, order?.quantity),
      ...orderTimeLines(time, "soldTicket", all),
      ...publicLines(all),
    ]),
    ...entryLines(deciding, all, []),
    ...invalidationLines(deciding, all, []),
  ];
}

/** Rows of sales that say that a ticket is void were sales before. */
function invalidationLines(
  { statuses, marks, rows }: Deciding,
  columns: readonly ColumnProfile[],
  fields: readonly string[],
): readonly string[] {
  const gone = statuses.map((column) => ({ column, values: statusWords(column).gone }));
  const isTold = (cells: readonly string[]): boolean =>
    gone.some(({ column, values }) => values.includes((cells[column.index] ?? "").trim()));
  const maps = [
    ...gone.flatMap(({ column, values }) =>
      values.length > 0
        ? [`{${yamlText(column.name)}: [${values.map(yamlText).join(", ")}]}`]
        : tellsLoss(column.name)
          ? [
              `{${yamlText(column.name)}: ${ask("the value that says that a ticket is no longer valid; remove this where none does")}}`,
            ]
          : [],
    ),
    ...marks
      .filter(({ index }) => !rows.every((cells) => (cells[index] ?? "").trim() === "" || isTold(cells)))
      .map(
        (column) =>
          `{${yamlText(column.name)}: ${ask(`${isTime(column) ? "{empty: false} where a time here says" : "what says, such as {empty: false} or {not: 0.00},"} that the ticket is no longer valid; else remove this`)}}`,
      ),
  ];
  if (maps.length === 0) return [];
  const time = marks.find(isTime);
  return [
    `  - invalidatedTicket:             ${gone.some(({ values }) => values.length > 0) ? "# guess: what these values mean" : "# remove it where nothing says that a ticket is no longer valid"}`,
    ...(maps.length === 1 ? [`      when: ${maps[0]}`] : ["      when:", ...maps.map((map) => `        - ${map}`)]),
    ...(fields.length === 0 && time === undefined ? [] : ["      fields:"]),
    ...indented(8, [...fields, ...(time === undefined ? [] : timeLines(time, columns))]),
  ];
}

/** Whether an entry is a scan or the end of a ticket's life is not for a file to say. */
function entryLines(
  { statuses: [status], entries }: Deciding,
  columns: readonly ColumnProfile[],
  ticket: readonly string[],
): readonly string[] {
  const values = statusWords(status).in;
  const time = entries.find(isTime);
  const flag = entries.find((column) => !isTime(column));
  const condition =
    values.length > 0 && status !== undefined
      ? `${yamlText(status.name)}: [${values.map(yamlText).join(", ")}]`
      : flag !== undefined
        ? `${yamlText(flag.name)}: …`
        : time === undefined
          ? undefined
          : `${yamlText(time.name)}: {empty: false}`;
  if (condition === undefined) return [];
  const rules = [
    ...ticket,
    ...(time === undefined ? [] : timeLines(time, columns).map((line) => line.replace(/^#(?! )/, ""))),
  ];
  const fields = rules.length === 0 ? [] : ["fields:", ...indented(2, rules)];
  return [
    "  # Optional: checkedInTicket ends a ticket's life, scannedTicket is for tickets that may come again.",
    ...(flag === undefined ? [] : [`  # ${cleanText(flag.name, 40)} in this file: ${valuesText(flag)}`]),
    "  #- checkedInTicket:",
    ...[`when: {${condition}}`, ...fields].map((line) => `  #    ${line}`),
  ];
}

function eventRules({ all, currency, called: find }: Columns, why: string): readonly string[] {
  const [status] = statusesOf(all);
  const id =
    find("eventId").find((column) => isUnique(column) || EVENT_ID_NAME.test(wordsOf(column.name).join(""))) ??
    all.find((column) => isUnique(column) && isIdName(column));
  const title = find("eventName").find((column) => column !== id && !isTime(column));
  const field = (name: FieldName, column: ColumnProfile | undefined) =>
    column === undefined ? [] : [`${name}: ${template(column)}   # guess by name`];
  return [
    "actions:",
    `  - newEvent:                      ${why}`,
    ...(status === undefined
      ? []
      : [
          `      #when: {${yamlText(status.name)}: …}   # ${cleanText(status.name, 40)} in this file: ${valuesText(status)}`,
        ]),
    "      fields:",
    ...indented(8, [
      ...(id === undefined
        ? [`eventId: ${ask("no column that is called like an id is different in every row")}`]
        : field("eventId", id)),
      ...field("eventName", title),
      ...(currency === undefined
        ? [`currency: ${ask("the currency of the events, such as EUR: no column is called so")}`]
        : field("currency", currency)),
      ...(["startTime", "endTime"] as const).flatMap((name) =>
        find(name)
          .slice(0, 1)
          .flatMap((column) => timeLines(column, all, name)),
      ),
    ]),
  ];
}

const indented = (blanks: number, lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${" ".repeat(blanks)}${line}`);

function zoneLines(columns: readonly (ColumnProfile | undefined)[]): readonly string[] {
  const local = columns.find(
    (column) =>
      column !== undefined &&
      (clockOf(column) !== undefined || timesOf(column)?.readings.some(({ isLocal }) => isLocal) === true),
  );
  if (local === undefined) return [];
  return [
    `zone: ${ask(`the time zone of ${cleanText(local.name, 40)} and other times that name none, such as Europe/Berlin`)}`,
  ];
}

function expectLine(currency: ColumnProfile): readonly string[] {
  const [only] = currency.values.keys();
  if (currency.values.size !== 1 || only === undefined || currency.filled < currency.rows)
    return [`# ${cleanText(currency.name, 40)} in this file: ${valuesText(currency)}. An event has one currency.`];
  return [
    `expect: {${yamlText(currency.name)}: ${yamlText(only)}}   # as in all ${rowsText(currency.rows)}; a row with another that gives an action is an error`,
  ];
}

/** The currency, and every column of states. */
function expectOf({ currency }: Columns, { statuses, blanks }: Deciding): readonly string[] {
  const lines = currency === undefined ? [] : expectLine(currency);
  const [comment, expected] = lines[0]?.startsWith("#") === true ? [lines, []] : [[], lines];
  return [...comment, ...expectLines(expected, statuses, blanks)];
}

/** Names of columns that hold the id of an event. A column that is only called Event may hold its title. */
const EVENT_ID_NAME =
  /^(?:event|show|performance|veranstaltungs?)(?:id|slug|code|reference|ref|nummer|nr)$|^(?:id|code|codice|codigo)(?:de|do|del|dell|della|d|l)?(?:evenement|evento|spectacle|spettacolo|seance|espectaculo|espetaculo)$/;

const OTHER_IDS: ReadonlySet<string> = new Set([...WORDS.eventId.split(" "), ...WORDS.userId.split(" ")]);

/** Whether it is called the id of an event or of a user, and so is none of a ticket, even where no two rows have the same. */
function isIdOfOther({ name }: ColumnProfile): boolean {
  const joined = wordsOf(name).join("");
  return OTHER_IDS.has(joined) || EVENT_ID_NAME.test(joined);
}

function eventLine([event, ...others]: readonly ColumnProfile[]): readonly string[] {
  if (event === undefined) return [`  eventId: ${ask("the id of the event: no column is called so")}`];
  const told = `${event.values.size} different in ${rowsText(event.rows)}${others.length === 0 ? "" : `; also ${namesText(others)}`}`;
  if (!EVENT_ID_NAME.test(wordsOf(event.name).join("")))
    return [`  eventId: ${ask("the id of the event")}   # or ${template(event)}, if that is one: ${told}`];
  return [`  eventId: ${template(event)}   # guess by name: ${told}`];
}

function ticketLine({ rows }: Evidence, { all, ticket, order }: Columns): readonly string[] {
  const total = rowsText(rows.length);
  if (order !== undefined)
    return [
      `  ticketId: ${JSON.stringify(`${inner(order.id)}-{n}`)}   # guess: ${quoted(order.id.name)} is different in all ${total}, {n} counts its tickets`,
    ];
  if (ticket !== undefined) {
    const others = all.filter((column) => column !== ticket && isUnique(column) && isIdName(column) && mayBeId(column));
    return [
      `  ticketId: ${template(ticket)}   # guess: different in all ${total}${others.length === 0 ? "" : `, as also ${namesText(others)}`}`,
    ];
  }
  const ids = all.filter((column) => isIdName(column) && mayBeId(column)).slice(0, 12);
  for (const [at, one] of ids.entries()) {
    for (const other of ids.slice(at + 1)) {
      if (!areUniqueTogether(one, other, rows)) continue;
      return [
        `  ticketId: ${JSON.stringify(`${inner(one)}-${inner(other)}`)}   # guess: only together are they different in all ${total}`,
      ];
    }
  }
  const unique = all.filter((column) => isUnique(column) && mayBeId(column));
  const [first] = unique;
  if (first !== undefined)
    return [
      `  ticketId: ${ask("the id of the ticket: no column is called so")}   # or ${template(first)}, if that is one: different in all ${total}${unique.length === 1 ? "" : `; so are ${namesText(unique.slice(1))}`}`,
    ];
  return [
    `  ticketId: ${ask("no column that may be an id, and no two that are called so, are different in every row")}`,
  ];
}

/** The ticket of something that may happen to it again and again, so it need not be different in every row. */
function knownTicket({ all, called: find }: Columns): ColumnProfile | undefined {
  const exact = WORDS.ticketId.split(" ");
  // An id and nothing more may be that of the scan, or of the refund.
  const isTicket = ({ name }: ColumnProfile): boolean => {
    const joined = wordsOf(name).join("");
    return exact.includes(joined) && !/^(?:id|uuid|guid)$/.test(joined);
  };
  const columns = find("ticketId").filter(mayBeId);
  return (
    columns.find(isTicket) ??
    columns.find((column) => isIdName(column) && !isIdOfOther(column) && wordsOf(column.name).length > 1) ??
    all.find((column) => fold(column.name) === "nftid" && mayBeId(column))
  );
}

function knownTicketLine(columns: Columns): string {
  const ticket = knownTicket(columns);
  if (ticket !== undefined)
    return `${fold(ticket.name) === "nftid" ? "nftId" : "ticketId"}: ${template(ticket)}   # guess by name: ${ticket.values.size} different in ${rowsText(ticket.rows)}`;
  const [first, ...others] = columns.all.filter((column) => (isUnique(column) || isIdName(column)) && mayBeId(column));
  return `ticketId: ${ask("the id of the ticket: no column is called so")}${first === undefined ? "" : `   # or ${template(first)}, if that is one: ${first.values.size} different in ${rowsText(first.rows)}${others.length === 0 ? "" : `; also ${namesText(others)}`}`}`;
}

function areUniqueTogether(one: ColumnProfile, other: ColumnProfile, rows: readonly (readonly string[])[]): boolean {
  if (one.filled < one.rows || other.filled < other.rows || one.values.size * other.values.size < rows.length)
    return false;
  const seen = new Set(rows.map((cells) => JSON.stringify([cells[one.index], cells[other.index]])));
  return seen.size === rows.length;
}

function statusWords(status: ColumnProfile | undefined) {
  const values = [...(status?.values.keys() ?? [])];
  return { sold: values.filter(saysSold), gone: values.filter(saysGone), in: values.filter(saysIn) };
}

/** The condition of an action: what each column by which rows differ must hold, as far as its words say so. */
function whenLines(
  deciding: Deciding,
  action: ActionName,
  columns: readonly ColumnProfile[],
  [time]: readonly ColumnProfile[],
): readonly string[] {
  const told: string[] = [];
  const entries: { readonly text: string; readonly isGuess: boolean }[] = [];
  for (const column of conditioned(deciding, action)) {
    const taken = takenOf(column, action);
    // What let all of them in is expected of all that come.
    if (isLog(action) && taken.length === 0 && saysOnlyLetIn(column)) continue;
    told.push(`# ${cleanText(column.name, 40)} in this file: ${valuesText(column)}`);
    entries.push(
      taken.length === 0
        ? {
            text: `${yamlText(column.name)}: ${ask("the value that gives this action, or a list of them: [one, other]")}`,
            isGuess: false,
          }
        : { text: `${yamlText(column.name)}: [${taken.map(yamlText).join(", ")}]`, isGuess: true },
    );
  }
  const filledIn = ({ name, filled, rows }: ColumnProfile) =>
    `# ${cleanText(name, 40)} is filled in ${filled} of ${rowsText(rows)}`;
  if (isDeed(action))
    for (const column of deciding.marks) {
      told.push(filledIn(column));
      entries.push({
        text: `${yamlText(column.name)}: ${ask("{empty: true} where a row with something there gives nothing; else remove this")}`,
        isGuess: false,
      });
    }
  if (
    isDeed(action) &&
    entries.length === 0 &&
    time !== undefined &&
    time.filled < time.rows &&
    columns.includes(time)
  ) {
    told.push(filledIn(time));
    entries.push({
      text: `${yamlText(time.name)}: ${ask("{empty: false} where a row without a time gives nothing; else remove this")}`,
      isGuess: false,
    });
  }
  const [only, ...more] = entries;
  if (only === undefined) return [];
  const note = ({ isGuess }: { readonly isGuess: boolean }) => (isGuess ? "   # guess" : "");
  return indented(6, [
    ...told,
    ...(more.length === 0
      ? [`when: {${only.text}}${note(only)}`]
      : [
          "when:",
          ...indented(
            2,
            entries.map((entry) => `${entry.text}${note(entry)}`),
          ),
        ]),
  ]);
}

const saysOnlyLetIn = ({ values, filled, rows }: ColumnProfile): boolean =>
  values.size === 1 && filled === rows && [...values.keys()].every(saysLetIn);

const holdsEmails = ({ values }: ColumnProfile): boolean => [...values.keys()].every((text) => /^\S+@\S+$/.test(text));

function userLine(
  candidates: readonly ColumnProfile[],
  what = "the column that tells one buyer from another, in braces",
): readonly string[] {
  const [user, ...others] = new Set(candidates);
  if (user === undefined) return [`userId: ${ask(what)}`];
  const rest = others.length === 0 ? "" : `; also ${namesText(others)}`;
  return [`userId: ${template(user)}   # guess: filled in ${user.filled} of ${rowsText(user.rows)}${rest}`];
}

function priceLines(
  price: ColumnProfile | undefined,
  others: readonly ColumnProfile[],
  quantity: ColumnProfile | undefined,
  currency: ColumnProfile | undefined,
): readonly string[] {
  if (price === undefined) return [`price: ${ask("no column looks like a price")}`];
  const evidence = amountsOf(price);
  if (evidence === undefined)
    return [`price: ${ask("its texts are no amounts in any one way")}   # perhaps ${template(price)}`];
  const blank = price.filled < price.rows ? ', blank: "0"' : "";
  const also = others.length === 0 ? "" : `; also ${namesText(others)}`;
  const blankNote = blank === "" ? "" : `; ${rowsText(price.rows - price.filled)} without one: is that 0?`;
  const unit = unitOf(price, currency);
  if (unit !== undefined && [...price.values.keys()].some((text) => /[.,]\d{1,2}\D*$/.test(text)))
    return [
      `price: ${ONE_OF_THE_NEXT}   # by its name it counts ${unit.said}, by its decimals it does not; remove this line`,
      ...amountRules(price, evidence, blank).map((rule) => `#price: ${rule}`),
      ...amountRules(price, evidence, `${blank}${dividedBy(unit, quantity)}`).map((rule) => `#price: ${rule}`),
    ];
  const divide =
    unit !== undefined
      ? dividedBy(unit, quantity)
      : quantity === undefined
        ? ""
        : `, divide: ${template(quantity)}, places: 2`;
  const unitNote = unit === undefined || unit.digits === 0 ? "" : `; by its name it counts ${unit.said}`;
  if (evidence.isPlain && blank === "")
    return [
      divide === ""
        ? `price: ${template(price)}   # guess: all ${rowsText(price.rows)} have digits with a decimal point or none, such as ${cleanText(evidence.example, 20)}${also}`
        : `price: {from: ${template(price)}${divide}}   # guess: ${quantity === undefined ? `by its name it counts ${unit?.said ?? ""}${inWhole(evidence.example, unit)}` : `the column holds the total of the row${unitNote}`}${also}`,
    ];
  return amountLines(price, evidence, `${blank}${divide}`, `${blankNote}${unitNote}${also}`);
}

/** The parts of a currency's unit that a column counts. */
interface Unit {
  readonly said: string;
  /** Decimals of the currency; undefined where they are not known. */
  readonly digits: number | undefined;
}

function unitOf({ name }: ColumnProfile, currency: ColumnProfile | undefined): Unit | undefined {
  const found = minorUnitsIn(name);
  if (found === undefined) return undefined;
  if (found === "hundredths") return { said: "hundredths", digits: 2 };
  const [only, ...others] = currency?.values.keys() ?? [];
  const digits = only === undefined || others.length > 0 ? undefined : currencyDigits(only.toUpperCase());
  return {
    said:
      digits === undefined || only === undefined
        ? "the currency's smallest unit"
        : `the smallest unit of ${only.toUpperCase()}`,
    digits,
  };
}

/** `, divide: "100", places: 2`; of an order of several tickets by their number, too. */
function dividedBy({ digits }: Unit, quantity: ColumnProfile | undefined): string {
  const number = quantity === undefined ? "1" : inner(quantity);
  if (digits === undefined)
    return `, divide: ${ask(`${number}00 for a currency with two decimals; ${number}000 and places: 3 for one with three; for one without, ${quantity === undefined ? "leave divide and places out" : `${number} and places: 0`}`)}, places: 2`;
  if (digits === 0) return quantity === undefined ? "" : `, divide: ${template(quantity)}, places: 0`;
  const zeros = "0".repeat(digits);
  return `, divide: ${JSON.stringify(`${number}${zeros}`)}, places: ${digits}`;
}

/** `; 2500 is 25.00` */
function inWhole(amount: string, unit: Unit | undefined): string {
  if (unit?.digits === undefined) return "";
  const found = divideAmount(amount, `1${"0".repeat(unit.digits)}`, unit.digits, "error", 1);
  return found.kind === "amount" ? `; ${cleanText(amount, 20)} is ${found.text}` : "";
}

/** Every way in which a column's amounts can be read. */
function amountRules(column: ColumnProfile, { signs, readings }: AmountEvidence, more: string): readonly string[] {
  const sign = signs.length === 0 ? "" : `, sign: [${signs.map((text) => JSON.stringify(text)).join(", ")}]`;
  return readings.map(
    ({ decimal, thousands }) =>
      `{from: ${template(column)}, decimal: "${decimal}"${thousands === undefined ? "" : `, thousands: ${JSON.stringify(thousands)}`}${sign}${more}}`,
  );
}

/** The only way in which a column's amounts can be read, or all of them as comments for the user to choose from. */
function amountLines(column: ColumnProfile, evidence: AmountEvidence, more: string, note = ""): readonly string[] {
  const { readings, example } = evidence;
  const rules = amountRules(column, evidence, more);
  const told = ({ fits, example: read }: AmountReading) =>
    `${fits} of ${column.values.size} texts; ${quoted(example)} is ${read ?? "no amount"}${note}`;
  const [only, ...others] = readings;
  if (only !== undefined && others.length === 0)
    return [`price: ${rules[0]}   # guess: the only way that fits, ${told(only)}`];
  return [
    `price: ${ONE_OF_THE_NEXT}   # how amounts are written is never guessed; remove this line`,
    ...readings.map((reading, at) => `#price: ${rules[at]}   # reads ${told(reading)}`),
  ];
}

const DEEDS: Readonly<Partial<Record<ActionName, string>>> = {
  soldTicket: "the sale",
  resoldTicket: "the resale",
  scannedTicket: "the scan",
  checkedInTicket: "the check-in",
  claimedTicket: "the claim",
  invalidatedTicket: "the cancellation",
};

function orderTimeLines(time: OrderTime, action: ActionName, columns: readonly ColumnProfile[]): readonly string[] {
  const deed = DEEDS[action] ?? "the deed";
  if (time.kind === "column") {
    const [line = "", ...more] = timeLines(time.column, columns);
    return [time.also.length === 0 ? line : `${line}; also ${namesText(time.also)}`, ...more];
  }
  if (time.kind === "perhaps")
    return [
      `orderTime: ${ask(`one of the next lines, without its #, where it is the time of ${deed}; else remove this line`)}   # ${time.why}`,
      ...time.columns.flatMap((column) =>
        timeLines(column, columns).map(
          (line) => `#${line.replace("# guess: ", "# ").replace("# guess by name; ", "# ")}`,
        ),
      ),
    ];
  const why =
    time.others.length === 0
      ? "no column looks like a time"
      : `no column is called like the time of ${deed} (${namesText(time.others)}: of something else)`;
  return [`#orderTime: "{…}"   # ${why}; without one the service takes the time of sending`];
}

function timeLines(
  time: ColumnProfile,
  columns: readonly ColumnProfile[],
  field: TimeField = "orderTime",
): readonly string[] {
  const unix = unixOf(time);
  if (unix !== undefined)
    return [
      `${field}: {from: ${template(time)}, format: ${unix}}   # guess by name; all are whole numbers of that size`,
    ];
  if (clockOf(time) !== undefined)
    return [
      `${field}: {from: ${JSON.stringify(`${placeholder("the date, such as 2026-05-09")} ${inner(time)}`)}, format: "yyyy-MM-dd ${clockOf(time)}", rollover: "06:00"}   # ${quoted(time.name)} holds times of day only`,
    ];
  const evidence = timesOf(time);
  if (evidence === undefined)
    return [
      `${field}: ${ask("its texts are no times in any one way; write the rule, or remove the line")}   # perhaps ${template(time)}`,
    ];
  const clock = clockBeside(time, evidence, columns);
  const from = clock === undefined ? template(time) : JSON.stringify(`${inner(time)} ${inner(clock.column)}`);
  const rules = evidence.readings.map(({ format, example, fits }) => ({
    format: clock === undefined ? format : `${format} ${clock.format}`,
    told: `${quoted(evidence.example)} is ${example}; fits ${fits} of ${time.values.size} texts`,
    example,
  }));
  const [only, ...others] = rules;
  const written = (format: string): string => `${field}: {from: ${from}, format: ${JSON.stringify(format)}}`;
  if (only !== undefined && others.length === 0)
    return [`${written(only.format)}   # guess: the only way that fits, ${only.told}`];
  return [
    `${written(placeholder(rules.map(({ format }) => format).join(" or ")))}   # ${quoted(evidence.example)} is ${rules.map(({ example }) => example.slice(0, 10)).join(" or ")}: which, is never guessed`,
  ];
}

/** The time of day that stands in a column of its own beside a date. */
function clockBeside(date: ColumnProfile, { readings }: TimeEvidence, columns: readonly ColumnProfile[]) {
  if (!readings.every(({ isDate }) => isDate)) return undefined;
  const clocks = columns.flatMap((column) => {
    const format = clockOf(column);
    return format === undefined ? [] : [{ column, format }];
  });
  const after = clocks.find(({ column }) => column.index === date.index + 1);
  return after ?? (clocks.length === 1 ? clocks[0] : undefined);
}

function publicLines(columns: readonly ColumnProfile[]): readonly string[] {
  const traits = Object.entries(TRAITS).flatMap(([trait, words]) => {
    const [column] = called(words, columns);
    return column === undefined ? [] : [`${yamlText(trait)}: ${template(column)}`];
  });
  if (traits.length === 0) return [];
  return [`#metadataAttributes: {${traits.join(", ")}}   # optional, and public on the blockchain`];
}

// ── Text ──

const WIDTH = 110;

function wrapped(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${WIDTH}}(?:\\s|$)`, "g"))?.map((line) => line.trimEnd()) ?? [];
}

/** A column in a template; braces of its own doubled, which no name may have. */
const inner = ({ name }: ColumnProfile): string => `{${name}}`;
const template = (column: ColumnProfile): string => JSON.stringify(inner(column));
const quoted = (text: string): string => JSON.stringify(cleanText(text, 40));
const rowsText = (rows: number): string => `${rows} ${rows === 1 ? "row" : "rows"}`;
const namesText = (columns: readonly ColumnProfile[]): string =>
  columns
    .slice(0, 4)
    .map(({ name }) => quoted(name))
    .join(", ");

/** A text of the file as a YAML key or value: plain where nothing in it has a meaning. */
function yamlText(text: string): string {
  return /^[\p{L}\p{N}](?:[\p{L}\p{N} _.()/–-]*[\p{L}\p{N})_])?$/u.test(text) ? text : JSON.stringify(text);
}
