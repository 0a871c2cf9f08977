/**
 * An export → a starter config. Known systems are told by their headers and get their recipe; of others the columns are
 * guessed by name and by what their cells look like. What could be read in more than one way, and what no export says, is
 * written as comments: the config then says what is missing instead of reading something wrongly.
 */

import { ACTION_NAMES, type ActionName } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import { cleanText } from "../actions/text.ts";
import { actionOfFileName, fieldsOf, missingFields, readColumns } from "./columns.ts";
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
} from "./evidence.ts";
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

export interface Guess {
  /** Name of the source. */
  readonly source: string;
  /** Which system's export it is, where its headers tell. */
  readonly system: string | undefined;
  /** Whether the columns are called like fields, so that nothing but the action had to be guessed. */
  readonly isNamed: boolean;
  /** The whole config. */
  readonly yaml: string;
  /** What has to be filled in before it can be used, with the line of the config. */
  readonly open: readonly { readonly line: number; readonly what: string }[];
}

const FILL_IN = "# FILL IN";

export function guessConfig(sample: Sample): Guess {
  const evidence = evidenceOf(sample);
  const recipe = RECIPES.find(({ headers }) => headers.every((header) => hasColumn(sample, header)));
  const named = recipe === undefined ? namedActions(sample) : [];
  const name = recipe?.name ?? slug(sample.fileName);
  const body =
    recipe !== undefined
      ? fromRecipe(recipe, evidence)
      : named.length > 0
        ? fromNames(evidence, named)
        : fromColumns(evidence);
  const system = recipe?.title;
  const lines = [
    `# What ${quoted(sample.fileName)} looked like to tickets init${system === undefined ? "" : `: ${system}`}.`,
    `# ${sample.isWhole ? "All" : "Its first"} ${sample.rows.length} rows were looked at. What is marked FILL IN no export says, or it can be`,
    "# read in more than one way: remove the # before it, put your own value there. docs/mapping.md explains all of it.",
    "",
    "# Without an environment everything goes to the built-in sandbox.",
    "#environments:",
    "#  playground:",
    "#    baseUrl: https://…",
    "#    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}",
    "",
    "sources:",
    `  ${name}:`,
    ...body.map((line) => (line === "" ? "" : `    ${line}`)),
  ];
  const open = lines.flatMap((line, at) => {
    const found = new RegExp(`^\\s*#(.*?)\\s*${FILL_IN}[:?] (.*)$`).exec(line);
    return found === null ? [] : [{ line: at + 1, what: `${(found[1] ?? "").trim()}  ${found[2]}`.trim() }];
  });
  return { source: name, system, isNamed: named.length > 0, yaml: `${lines.join("\n")}\n`, open };
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

/** `match` for the file and its successors: digits of its name, such as a date, may differ. */
function matchOf(fileName: string): string {
  const plain = fileName.replace(/\.(?:gz|zst)$/i, "");
  const [, stem = plain, extension = ""] = /^(.*?)(\.[^.]+)?$/.exec(plain) ?? [];
  const named = stem.replace(/[*?{},[\]\\/]/g, "?");
  const pattern = named.replace(/\d[\d_.T:-]*/g, "*");
  return `${/\p{L}/u.test(pattern) ? `${pattern}*`.replace(/\*+/g, "*") : named}${extension}`;
}

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
  const lines = recipe.notes.map((note) => `# ${note}`);
  const aliases = new Set([...recipe.yaml.matchAll(/[{,]\s*([\w-]+): \[/g)].map(([, name]) => name ?? ""));
  const isKnown = (name: string) =>
    hasColumn(evidence, name) ||
    name === "n" ||
    aliases.has(name) ||
    /^(?:item|order)\./.test(name) ||
    (evidence.lists !== undefined && name.includes("."));
  const body = recipe.yaml.trimEnd().split("\n");
  for (const written of body) {
    if (written.startsWith("match:")) {
      lines.push(`match: ${JSON.stringify(matchOf(evidence.fileName))}`);
      if (!recipe.yaml.includes("\ncsv:")) lines.push(...csvLine(evidence, false));
    } else if (written.startsWith("csv:")) lines.push(...csvLine(evidence, true));
    else {
      const line = withoutUnknown(written, isKnown);
      lines.push(...(asWritten(line, evidence) ?? fillIn(line, evidence)));
      const when = /when: \{?(.*)$/.exec(line)?.[1] ?? /^\s*- \{(.*)\}$/.exec(line)?.[1];
      if (when !== undefined) lines.push(...valuesTold(when, line, evidence, lines));
    }
  }
  return withoutEmptyParents(lines);
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

/** Comments out what the user must say, with what the file shows of it. */
function fillIn(line: string, evidence: Evidence): readonly string[] {
  const found = /^(\s*)(.*?)\s*# FILL IN(?: as \{(.+?)\})?(?: for each \{(.+?)\})?: (.*)$/.exec(line);
  if (found === null) return [line];
  const [, indent = "", text = "", as, each, why = ""] = found;
  const column = evidence.column(as ?? each ?? "");
  if (each !== undefined && column !== undefined) {
    const values = [...column.values].slice(0, MOST_VALUES);
    return [
      ...values.map(([value, times]) => `${indent}#${yamlText(value)}:   ${FILL_IN}: ${why} (${rowsText(times)})`),
      ...(column.values.size > values.length ? [`${indent}# and ${column.values.size - values.length} more`] : []),
    ];
  }
  const only = column?.values.size === 1 && column.filled === column.rows ? [...column.values.keys()][0] : undefined;
  if (only !== undefined && /^[A-Z]{3}$/.test(only))
    return [`${indent}${text.replace(/[A-Z]{3}(?=\}?$)/, only)}   # as in all ${column?.rows} rows: ${why}`];
  return [`${indent}#${text}   ${FILL_IN}: ${why}`];
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

/** Actions for which the header has all that they need, the best first. */
function namedActions({ header, fileName, lists }: Sample): readonly ActionName[] {
  const { fields, action, conflict } = readColumns(header);
  if (conflict !== undefined || lists?.length) return [];
  if (action !== undefined) return [];
  const byName = actionOfFileName(fileName);
  const used = (name: ActionName) => [...fieldsOf(name, new Set())].filter((field) => fields.has(field)).length;
  return ACTION_NAMES.filter(
    (name) => missingFields(name, (field) => fields.has(field)).length === 0 && used(name) >= 2,
  ).sort((one, other) => Number(other === byName) - Number(one === byName) || used(other) - used(one));
}

function fromNames(evidence: Evidence, [best, ...others]: readonly ActionName[]): readonly string[] {
  const local = evidence.columns.some((column) => timesOf(column)?.readings.some(({ isLocal }) => isLocal) === true);
  return [
    "# The columns are called like fields, so they need no rules.",
    `match: ${JSON.stringify(matchOf(evidence.fileName))}`,
    ...csvLine(evidence),
    ...(local ? [`#zone: Europe/Berlin   ${FILL_IN}: the time zone of times without one`] : []),
    `action: ${best}   # guess: most of its fields are there${others.length === 0 ? "" : `; ${others.slice(0, 3).join(", ")} could be meant too`}`,
  ];
}

// ── An unknown layout ──

/** Words by which columns are found, the surest first; compared by their letters and digits only. */
const WORDS = {
  ticketId:
    "ticketid barcode ticketcode ticketbarcode ticketnumber ticketno ticketreference ticketsecret ticketnummer qrcode attendeeid publicid voucherid ticketref ticket code uuid guid id",
  eventId:
    "eventid eventslug eventcode eventreference showid performanceid event veranstaltungsid veranstaltung show evenement",
  userId:
    "userid customerid buyerid accountid memberid externalcustomerid kundennummer email emailaddress buyeremail customeremail mail",
  price:
    "ticketprice pricepaid paidprice price facevalue ticketvalue totalpaid amountpaid amount total totalamount paid preis betrag prix prijs gross",
  orderTime:
    "ordertime orderdate orderedat purchasedate purchasedat soldat soldon saledate dateofsale createdat createddate created bookingdate bookedat paidat datetime timestamp date time bestelldatum kaufdatum datum scannedat",
  status: "ticketstatus attendeestatus status orderstatus state paymentstatus zustand statut",
  quantity: "quantity qty tickets numberoftickets ticketspurchased anzahl menge count",
  currency: "currency currencycode paidcurrency waehrung wahrung devise",
  checkedIn: "checkedinat checkintime checkindate arrivaltime firstscannedat scannedat scantime checkedin",
  cancelled: "cancelledat canceledat refundedat invalidatedat ticketinvalidatedat voidedat",
  eventName: "eventname eventtitle event title veranstaltung",
  startTime: "eventstart startdate starttime startsat start begin beginn",
  endTime: "eventend enddate endtime endsat end ende",
} as const;
type Wanted = keyof typeof WORDS;

const TRAITS: Readonly<Record<string, string>> = {
  "Ticket type": "tickettype ticketname product category productname tarif kategorie",
  Section: "section seatzone zone block bereich",
  Row: "row seatrow reihe",
  Seat: "seat seatnumber seatno platz sitz",
};

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** Columns whose names fit, best first. */
function called(words: string, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const list = words.split(" ");
  const score = ({ name }: ColumnProfile): number => {
    const letters = lettersOf(name);
    const exact = list.indexOf(letters);
    if (exact !== -1) return 200 - exact;
    const part = list.findIndex((word) => word.length >= 5 && letters.includes(word));
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
  readonly ticket: ColumnProfile | undefined;
  readonly price: ColumnProfile | undefined;
  readonly time: ColumnProfile | undefined;
  readonly status: ColumnProfile | undefined;
  readonly currency: ColumnProfile | undefined;
  /** A number of tickets, beside the id of the order that they belong to. */
  readonly order: { readonly id: ColumnProfile; readonly quantity: ColumnProfile } | undefined;
  called(wanted: Wanted): readonly ColumnProfile[];
}

function columnsOf(evidence: Evidence): Columns {
  const counts = new Map<string, number>();
  for (const { name } of evidence.columns) counts.set(name, (counts.get(name) ?? 0) + 1);
  // Of a header that occurs twice nobody can say which is meant, and one with braces can't stand in a template.
  const all = evidence.columns.filter(
    ({ name, filled }) => /^[^{}]+$/.test(name) && counts.get(name) === 1 && filled > 0,
  );
  const find = (wanted: Wanted) => called(WORDS[wanted], all);
  const quantity = find("quantity").find(isQuantity);
  const id = all.find((column) => isUnique(column) && isIdName(column));
  const amounts = all.filter((column) => !isTime(column) && isMoney(column));
  const times = all.filter((column) => timesOf(column) !== undefined);
  const order = quantity === undefined || id === undefined ? undefined : { id, quantity };
  const isId = (column: ColumnProfile) => isUnique(column) && !isTime(column) && !amounts.includes(column);
  return {
    all,
    order,
    ticket: find("ticketId").find(isId) ?? all.find((column) => isId(column) && isIdName(column)),
    price:
      find("price").find((column) => amountsOf(column) !== undefined) ??
      (amounts.length === 1 ? amounts[0] : undefined),
    time: find("orderTime").find(isTime) ?? (times.length === 1 ? times[0] : undefined),
    // A status has few values; in a short file that says nothing.
    status: find("status").find(({ values, rows }) => values.size <= 30 && (rows < 20 || values.size <= rows / 2)),
    currency: find("currency").find(({ values }) => [...values.keys()].every((text) => /^[A-Za-z]{3}$/.test(text))),
    called: find,
  };
}

const isTime = (column: ColumnProfile): boolean =>
  timesOf(column) !== undefined || unixOf(column) !== undefined || clockOf(column) !== undefined;

/** Amounts that could be nothing else: with a sign, or two decimals. */
function isMoney(column: ColumnProfile): boolean {
  const found = amountsOf(column);
  return (
    found !== undefined && (found.signs.length > 0 || [...column.values.keys()].every((text) => /[.,]\d\d$/.test(text)))
  );
}

function isQuantity({ values }: ColumnProfile): boolean {
  const texts = [...values.keys()];
  return texts.every((text) => /^\d{1,3}$/.test(text)) && texts.some((text) => Number(text) > 1);
}

const isIdName = ({ name }: ColumnProfile): boolean =>
  /(?:^|[^a-z])(?:ids?|no|nr)(?:[^a-z]|$)|[a-z]I[dD](?:[^a-z]|$)|code|numm?er|#|\bref|reference|position|\bline|index|seat|platz/.test(
    name.replace(/^[A-Z]+|\b[A-Z]/g, (letters) => letters.toLowerCase()),
  );

function fromColumns(evidence: Evidence): readonly string[] {
  const columns = columnsOf(evidence);
  const { price, ticket, currency, all } = columns;
  const isEvents =
    price === undefined &&
    currency !== undefined &&
    columns.called("eventName").length > 0 &&
    columns.order === undefined;
  const isScans =
    price === undefined &&
    (/scan|entr|gate|access|check/i.test(evidence.fileName) || all.some(({ name }) => /gate|scan|entry/i.test(name)));
  const lists = evidence.lists ?? [];
  return [
    `match: ${JSON.stringify(matchOf(evidence.fileName))}`,
    ...csvLine(evidence),
    ...(lists.length === 0
      ? []
      : [
          `#each: {path: ${lists[0]}}   # rows hold lists (${lists.slice(0, 5).join(", ")}); with this line each item is a ticket, and {item.…} what is in it`,
        ]),
    ...zoneLines([columns.time, ...(["startTime", "checkedIn", "cancelled"] as const).flatMap(columns.called)]),
    ...(isEvents
      ? eventRules(columns)
      : [
          ...(columns.order === undefined || isScans
            ? []
            : [
                `each: {count: ${template(columns.order.quantity)}}   # guess: each row is an order of so many tickets`,
              ]),
          ...(currency === undefined ? [] : expectLine(currency)),
          "fields:",
          ...(isScans
            ? []
            : eventLine(columns.called("eventId").filter((column) => column !== ticket && !isTime(column)))),
          ...ticketLine(evidence, columns),
          "actions:",
          ...(isScans ? scanRules(columns) : saleRules(columns)),
        ]),
  ];
}

function scanRules({ status, time, all }: Columns): readonly string[] {
  return [
    "  - scannedTicket:                 # guess: the file holds scans",
    ...whenLines(status, statusWords(status).in),
    "      fields:",
    ...indented(8, timeLines(time, all)),
  ];
}

function saleRules(columns: Columns): readonly string[] {
  const { all, status, ticket, price, time, order } = columns;
  const words = statusWords(status);
  const [gone] = columns.called("cancelled").filter(isTime);
  return [
    "  - soldTicket:",
    ...whenLines(status, [...words.sold, ...words.gone, ...words.in]),
    "      fields:",
    ...indented(8, [
      ...userLine([...columns.called("userId"), ...all.filter(holdsEmails)].filter((column) => column !== ticket)),
      ...priceLines(price, order?.quantity),
      ...timeLines(time, all),
      ...publicLines(all),
    ]),
    ...entryLines(columns, words.in),
    ...(words.gone.length === 0 || status === undefined
      ? []
      : [
          "  - invalidatedTicket:             # guess: what these values mean",
          `      when: {${yamlText(status.name)}: [${words.gone.map(yamlText).join(", ")}]}`,
          ...(gone === undefined ? [] : ["      fields:", ...indented(8, timeLines(gone, all))]),
        ]),
  ];
}

/** Whether an entry is a scan or the end of a ticket's life is not for a file to say. */
function entryLines(columns: Columns, values: readonly string[]): readonly string[] {
  const { status, all } = columns;
  const [time] = columns.called("checkedIn").filter((column) => isTime(column) && column !== columns.time);
  const condition =
    values.length > 0 && status !== undefined
      ? `${yamlText(status.name)}: [${values.map(yamlText).join(", ")}]`
      : time === undefined
        ? undefined
        : `${yamlText(time.name)}: {empty: false}`;
  if (condition === undefined) return [];
  const fields =
    time === undefined
      ? []
      : [
          "fields:",
          ...indented(
            2,
            timeLines(time, all).map((line) =>
              line
                .replace(/^#(?! )/, "")
                .replace(`${FILL_IN}?`, "#")
                .replace(`${FILL_IN}:`, "#"),
            ),
          ),
        ];
  return [
    "  # Optional: checkedInTicket ends a ticket's life, scannedTicket is for tickets that may come again.",
    "  #- checkedInTicket:",
    ...[`when: {${condition}}`, ...fields].map((line) => `  #    ${line}`),
  ];
}

function eventRules({ all, status, currency, called: find }: Columns): readonly string[] {
  const id = find("eventId").find(isUnique) ?? all.find((column) => isUnique(column) && isIdName(column));
  const title = find("eventName").find((column) => column !== id);
  const field = (name: FieldName, column: ColumnProfile | undefined) =>
    column === undefined ? [] : [`${name}: ${template(column)}   # guess by name`];
  return [
    "actions:",
    "  - newEvent:                      # guess: the file holds events",
    ...(status === undefined
      ? []
      : [
          `      #when: {${yamlText(status.name)}: …}   # ${cleanText(status.name, 40)} in this file: ${valuesText(status)}`,
        ]),
    "      fields:",
    ...indented(8, [
      ...(id === undefined
        ? [`#eventId: "{…}"   ${FILL_IN}: no column is different in every row`]
        : field("eventId", id)),
      ...field("eventName", title),
      ...field("currency", currency),
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
  return [`#zone: Europe/Berlin   ${FILL_IN}: the time zone of ${quoted(local.name)} and other times that name none`];
}

function expectLine(currency: ColumnProfile): readonly string[] {
  const [only] = currency.values.keys();
  if (currency.values.size !== 1 || only === undefined || currency.filled < currency.rows)
    return [`# ${cleanText(currency.name, 40)} in this file: ${valuesText(currency)}. An event has one currency.`];
  return [
    `expect: {${yamlText(currency.name)}: ${yamlText(only)}}   # as in all ${rowsText(currency.rows)}; another one is then a problem`,
  ];
}

function eventLine([event, ...others]: readonly ColumnProfile[]): readonly string[] {
  if (event === undefined)
    return [`  #eventId: my-event-2026   ${FILL_IN}: the id of the event, which no column seems to hold`];
  return [
    `  eventId: ${template(event)}   # guess by name: ${event.values.size} different in ${rowsText(event.rows)}${others.length === 0 ? "" : `; also ${namesText(others)}`}`,
  ];
}

function ticketLine({ rows }: Evidence, { all, ticket, order }: Columns): readonly string[] {
  const total = rowsText(rows.length);
  if (order !== undefined)
    return [
      `  ticketId: ${JSON.stringify(`${inner(order.id)}-{n}`)}   # guess: ${quoted(order.id.name)} is different in all ${total}, {n} counts its tickets`,
    ];
  if (ticket !== undefined) {
    const others = all.filter((column) => column !== ticket && isUnique(column) && isIdName(column));
    return [
      `  ticketId: ${template(ticket)}   # guess: different in all ${total}${others.length === 0 ? "" : `, as also ${namesText(others)}`}`,
    ];
  }
  const ids = all.filter((column) => isIdName(column) && !isTime(column)).slice(0, 12);
  for (const [at, one] of ids.entries()) {
    for (const other of ids.slice(at + 1)) {
      if (!areUniqueTogether(one, other, rows)) continue;
      return [
        `  ticketId: ${JSON.stringify(`${inner(one)}-${inner(other)}`)}   # guess: only together are they different in all ${total}`,
      ];
    }
  }
  return [`  #ticketId: "{…}"   ${FILL_IN}: no column and no two of them are different in every row`];
}

function areUniqueTogether(one: ColumnProfile, other: ColumnProfile, rows: readonly (readonly string[])[]): boolean {
  if (one.filled < one.rows || other.filled < other.rows || one.values.size * other.values.size < rows.length)
    return false;
  const seen = new Set(rows.map((cells) => JSON.stringify([cells[one.index], cells[other.index]])));
  return seen.size === rows.length;
}

/** Words of statuses that need no explanation. Others are named in a comment, and their rows are skipped and counted. */
const SOLD =
  /^(?:paid|sold|complete|completed|confirmed|active|valid|attending|acquired|issued|success|successful|ok|bezahlt|verkauft)$/i;
const GONE = /^(?:cancell?ed|refunded|void|voided|invalid|invalidated|revoked|storniert|annull?iert|erstattet)$/i;
const IN = /^(?:checked[ _-]?in|arrived|scanned|entered|eingecheckt)$/i;

function statusWords(status: ColumnProfile | undefined) {
  const values = [...(status?.values.keys() ?? [])];
  return {
    sold: values.filter((value) => SOLD.test(value)),
    gone: values.filter((value) => GONE.test(value)),
    in: values.filter((value) => IN.test(value)),
  };
}

function whenLines(status: ColumnProfile | undefined, taken: readonly string[]): readonly string[] {
  if (status === undefined) return [];
  const rest = [...status.values.keys()].filter((value) => !taken.includes(value));
  const list = taken.map(yamlText).join(", ");
  const lines = [`      # ${cleanText(status.name, 40)} in this file: ${valuesText(status)}`];
  if (taken.length === 0)
    return [
      ...lines,
      `      when: {${yamlText(status.name)}: []}`,
      `      #   ${FILL_IN}: the values that mean a sale; rows with others are skipped and counted`,
    ];
  return [
    ...lines,
    `      when: {${yamlText(status.name)}: [${list}]}   # guess${rest.length === 0 ? "" : `; rows with ${rest.slice(0, 6).map(quoted).join(", ")} are skipped and counted`}`,
  ];
}

const holdsEmails = ({ values }: ColumnProfile): boolean => [...values.keys()].every((text) => /^\S+@\S+$/.test(text));

function userLine(candidates: readonly ColumnProfile[]): readonly string[] {
  const [user, ...others] = new Set(candidates);
  if (user === undefined) return [`#userId: "{…}"   ${FILL_IN}: the column that tells one buyer from another`];
  const rest = others.length === 0 ? "" : `; also ${namesText(others)}`;
  return [`userId: ${template(user)}   # guess: filled in ${user.filled} of ${rowsText(user.rows)}${rest}`];
}

function priceLines(price: ColumnProfile | undefined, quantity: ColumnProfile | undefined): readonly string[] {
  if (price === undefined) return [`#price: "{…}"   ${FILL_IN}: no column looks like an amount`];
  const evidence = amountsOf(price);
  if (evidence === undefined)
    return [`#price: ${template(price)}   ${FILL_IN}: its texts are no amounts in any one way`];
  const blank = price.filled < price.rows ? ', blank: "0"' : "";
  const blankNote = blank === "" ? "" : `; ${rowsText(price.rows - price.filled)} without one: is that 0?`;
  const divide = quantity === undefined ? "" : `, divide: ${template(quantity)}, places: 2`;
  if (evidence.isPlain && blank === "")
    return [
      divide === ""
        ? `price: ${template(price)}   # all ${rowsText(price.rows)} have digits with a decimal point or none, such as ${cleanText(evidence.example, 20)}`
        : `price: {from: ${template(price)}${divide}}   # guess: the column holds the total of the row`,
    ];
  return amountLines(price, evidence, `${blank}${divide}`, blankNote);
}

/** The ways in which a column's amounts can be read, as comments: even the only one is the user's to declare. */
function amountLines(
  column: ColumnProfile,
  { signs, readings, example }: AmountEvidence,
  more: string,
  note = "",
): readonly string[] {
  const sign = signs.length === 0 ? "" : `, sign: [${signs.map((text) => JSON.stringify(text)).join(", ")}]`;
  const rule = ({ decimal, thousands }: AmountReading) =>
    `{from: ${template(column)}, decimal: "${decimal}"${thousands === undefined ? "" : `, thousands: ${JSON.stringify(thousands)}`}${sign}${more}}`;
  return [
    `# How amounts are written is never guessed; ${quoted(column.name)} holds texts such as ${quoted(example)}. ${readings.length === 1 ? "One way fits" : "Keep the line that is true"}${note}:`,
    ...readings.map(
      (reading) =>
        `#price: ${rule(reading)}   ${FILL_IN}? reads ${reading.fits} of ${column.values.size} texts; this one as ${reading.example ?? "no amount"}`,
    ),
  ];
}

function timeLines(
  time: ColumnProfile | undefined,
  columns: readonly ColumnProfile[],
  field: TimeField = "orderTime",
): readonly string[] {
  if (time === undefined)
    return [`#${field}: "{…}"   # no column looks like a time; without one the service takes the time of sending`];
  const unix = unixOf(time);
  if (unix !== undefined)
    return [
      `${field}: {from: ${template(time)}, format: ${unix}}   # guess by name; all are whole numbers of that size`,
    ];
  if (clockOf(time) !== undefined)
    return [
      `#${field}: {from: "2026-05-09 ${inner(time)}", format: "yyyy-MM-dd ${clockOf(time)}", rollover: "06:00"}   ${FILL_IN}: the date; ${quoted(time.name)} holds times of day only`,
    ];
  const evidence = timesOf(time);
  if (evidence === undefined)
    return [`#${field}: ${template(time)}   ${FILL_IN}: its texts are no times in any one way`];
  const clock = clockBeside(time, evidence, columns);
  const from = clock === undefined ? template(time) : JSON.stringify(`${inner(time)} ${inner(clock.column)}`);
  const rules = evidence.readings.map(({ format, example, fits }) => ({
    rule: `${field}: {from: ${from}, format: ${JSON.stringify(clock === undefined ? format : `${format} ${clock.format}`)}}`,
    told: `${quoted(evidence.example)} is ${example}; fits ${fits} of ${time.values.size} texts`,
  }));
  const [only, ...others] = rules;
  if (only !== undefined && others.length === 0) return [`${only.rule}   # the only way that fits: ${only.told}`];
  return [
    `# Which of day and month comes first is never guessed. Keep the line that is true:`,
    ...rules.map(({ rule, told }) => `#${rule}   ${FILL_IN}? ${told}`),
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
