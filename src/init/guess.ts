/**
 * Exports → a starter config, with a source for each. Known systems are recognised by their headers and get their recipe; for
 * others the columns are guessed by name and by what their cells look like. What can be read in more than one way, and what
 * no export says, is written as `<FILL IN: …>`, which every command refuses until it is replaced.
 */

import { Failure } from "../failure.ts";
import { matches } from "../map/select-source.ts";
import { unpackedName } from "../read/file-names.ts";
import { cleanText, quoted } from "../text.ts";
import { type Evidence, evidenceOf, hasColumn, type Sample } from "./evidence.ts";
import { fromColumns, type Source } from "./from-columns.ts";
import { fromRecipe, type Recipe, readRecipes } from "./from-recipe.ts";
import { comments, type Entry, type Line, linesOf, onlyHereIn } from "./yaml.ts";

/** With which an editor checks the config as it is typed: docs/schema/config.schema.json, copied there. */
const SCHEMA_LINE = "# yaml-language-server: $schema=tickets.schema.json";

const ENVIRONMENTS = `# Without an environment everything goes to the built-in sandbox.
#environments:
#  playground:
#    baseUrl: https://…
#    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}
`;

/** What `tickets init` writes without an export to look at. */
export const EXAMPLE = `${SCHEMA_LINE}
# A config of tickets. docs/tutorial.md makes one step by step, docs/recipes/ shows those of
# known systems, docs/mapping.md is the reference; tickets init FILE writes one from an export.

${ENVIRONMENTS}
#sources:
#  orders:
#    match: "orders*.csv"
#    zone: Europe/Berlin
#    fields: {eventId: my-event, ticketId: "{Ticket ID}"}
#    actions:
#      - soldTicket:
#          when: {Status: paid}
#          fields:
#            userId: "{Customer ID}"
#            price: {from: "{Price}", decimal: ","}
#            orderTime: {from: "{Date}", format: "d.M.yyyy HH:mm"}
`;

/** What one export was taken for. */
interface GuessedSource {
  /** Place of its file among the samples. */
  readonly at: number;
  readonly name: string;
  /** How it was understood, in words. */
  readonly taken: string;
}

export interface Guess {
  /** Files which register events come before sales, and those before the rest. */
  readonly sources: readonly GuessedSource[];
  /** The whole config. */
  readonly yaml: string;
  /** What has to be filled in before it can be used, with the line of the config; a line may ask twice. */
  readonly open: readonly { readonly line: number; readonly what: string }[];
  /** Lines of the config that are guesses. */
  readonly guesses: readonly number[];
}

/** @throws Failure("usage") for two files that no `match` can tell apart. */
export function guessConfig(...samples: readonly Sample[]): Guess {
  const sources = withMatches(withNames(draftsOf(samples))).sort((one, other) => rankOf(one) - rankOf(other));
  const block = sources.flatMap((source): readonly Line[] => [
    ...(sources.length === 1 ? [] : comments(headOf(source))),
    { key: source.name, lines: [...source.comments, source.match, ...source.rules] },
  ]);
  const lines = linesOf([...headOfAll(sources), { key: "sources", lines: block }]);
  // Texts of the file stand in double quotes or comments. A config that held U+FFFD itself would be taken for damaged.
  const yaml = `${lines.join("\n")}\n`.replaceAll("\ufffd", "\\ufffd");
  return { sources, yaml, ...toLookAt(yaml) };
}

/** What is asked in a line of YAML, behind its key. */
const ASKED = /(?:("[^"]*"|[^",:{}[\]]+): )?["']?<FILL IN: ([^<>]*)>/g;

/** The lines that the user has to look at. */
function toLookAt(yaml: string): Pick<Guess, "open" | "guesses"> {
  const lines = yaml.split("\n");
  return {
    open: lines.flatMap((line, at) => {
      const asked = /^\s*#/.test(line) ? [] : [...line.matchAll(ASKED)];
      return asked.map(([, key, what]) => ({
        line: at + 1,
        what: key === undefined ? `${what}` : `${key.trim()}: ${what}`,
      }));
    }),
    guesses: lines.flatMap((line, at) => (/\S.* # guess/.test(line) ? [at + 1] : [])),
  };
}

/** One export as a source, before it is known what stands beside it. */
interface Draft extends GuessedSource, Source {
  readonly evidence: Evidence;
  /** The system that wrote it, if its headers show that. */
  readonly system?: string;
  /** The page about that export; for any other, the one that goes on from such a guess. */
  readonly page: string;
}

/** Sales propose a `newEvent` for their events, unless another of the files is a list of events. */
function draftsOf(samples: readonly Sample[]): readonly Draft[] {
  const recipes = readRecipes();
  const seen = samples.map((sample, at) => evidenceOf(sample, samples.toSpliced(at, 1)));
  const drafts = seen.map((evidence, at) => draftOf(evidence, at, recipes, true));
  if (!drafts.some(({ actions }) => actions.includes("newEvent") && !actions.includes("soldTicket"))) return drafts;
  return seen.map((evidence, at) => draftOf(evidence, at, recipes, false));
}

function draftOf(evidence: Evidence, at: number, recipes: readonly Recipe[], needsEvents: boolean): Draft {
  const recipe = recipes.find(({ headers }) => headers.every((header) => hasColumn(evidence, header)));
  if (recipe === undefined)
    return {
      evidence,
      at,
      name: slug(evidence.fileName),
      page: "docs/tutorial.md",
      ...fromColumns(evidence, needsEvents),
    };
  const { name, title: system, page } = recipe;
  const taken = `${system}, recognised by its headers; ${page} shows what it gives`;
  return { evidence, at, name, system, page, taken, ...fromRecipe(recipe, evidence) };
}

function headOfAll(drafts: readonly Draft[]): readonly Line[] {
  const [draft, ...others] = drafts;
  const from = draft === undefined || others.length > 0 ? `${drafts.length} exports.` : headOf(draft);
  const pages = [...new Set(drafts.map(({ page }) => page))].join(", ");
  const lines = [
    "# FILL IN marks what no export says, or what can be read in more than one way: put your own value there.",
    `# Until then every command refuses the config. How to go on: ${pages}.`,
    "",
    ...ENVIRONMENTS.split("\n"),
  ];
  const written = comments(`Written by tickets init from ${from}`);
  return [{ comment: SCHEMA_LINE }, ...written, ...lines.map((comment) => ({ comment }))];
}

const headOf = ({ system, evidence: { fileName, allRows } }: Draft): string =>
  `${quoted(fileName)}${system === undefined ? "" : `: ${system}`}. Looked at: ${allRows}.`;

/** The smallest rank is sent first: what registers or changes events, then sales, then what happens to tickets. */
function rankOf({ actions }: Draft): number {
  if (actions.includes("soldTicket")) return 2;
  if (actions.includes("newEvent")) return 0;
  if (actions.includes("updateEvent")) return 1;
  return actions.length > 0 && actions.every((name) => name === "invalidatedTicket") ? 4 : 3;
}

/** A name for each source: that of its system, else of its file, with a number where it is taken. */
function withNames(drafts: readonly Draft[]): readonly Draft[] {
  const taken = new Set<string>();
  return drafts.map((draft) => {
    const isOnlyOne = drafts.filter(({ name }) => name === draft.name).length === 1;
    const wanted = isOnlyOne ? draft.name : slug(draft.evidence.fileName);
    let name = wanted;
    for (let nth = 2; taken.has(name); nth += 1) name = `${wanted}-${nth}`;
    taken.add(name);
    return { ...draft, name };
  });
}

/**
 * `match` for each file and its successors; for a file alone where something is asked that holds for no other, or where the
 * pattern would take another's file, which would stop every command.
 */
function withMatches(drafts: readonly Draft[]): (Draft & { readonly match: Entry })[] {
  const wanted = drafts.map(({ evidence: { fileName }, rules }) => {
    const asked = onlyHereIn(rules);
    return { fileName, asked, pattern: asked === undefined ? widePattern(fileName) : exactPattern(fileName) };
  });
  const patterns = withoutOverlap(wanted);
  return drafts.map((draft, at) => {
    const { pattern, asked } = wanted[at] ?? {};
    const own = patterns[at] ?? "";
    const ofThisFile = asked && `this file only, as ${asked} below is`;
    const note = own === pattern ? ofThisFile : `as ${pattern} it could take a file of another source`;
    return { ...draft, match: { key: "match", value: own, note } };
  });
}

function slug(fileName: string): string {
  const text = fileName
    .replace(/\..*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-\d]+|[-\d]+$/g, "");
  return text === "" ? "export" : text;
}

/** The pattern for this file alone: what means something in a pattern becomes `?`, which is any character. */
const exactPattern = (fileName: string): string => withoutMarks(unpackedName(fileName));

/** The pattern for the file and its successors: digits of its name, such as a date, may differ, and more may follow. */
export function widePattern(fileName: string): string {
  const [, stem = "", extension = ""] = /^(.*?)(\.[^.]+)?$/s.exec(unpackedName(fileName)) ?? [];
  const named = withoutMarks(stem);
  const pattern = named.replace(/\d[\d_.T:-]*/g, "*");
  return `${/\p{L}/u.test(pattern) ? `${pattern}*`.replace(/\*+/g, "*") : named}${extension}`;
}

/**
 * The patterns, each narrowed to the name of its file where it takes the file of another.
 *
 * @throws Failure("usage") for two files that no pattern tells apart.
 */
export function withoutOverlap(
  wanted: readonly { readonly fileName: string; readonly pattern: string }[],
): readonly string[] {
  const otherTakenBy = (match: string, at: number) =>
    wanted.find(({ fileName }, index) => index !== at && matches({ match }, fileName));
  return wanted.map(({ fileName, pattern }, at) => {
    if (otherTakenBy(pattern, at) === undefined) return pattern;
    const exact = exactPattern(fileName);
    const other = otherTakenBy(exact, at);
    if (other === undefined) return exact;
    throw new Failure(
      "usage",
      `${cleanText(fileName, 200)} and ${cleanText(other.fileName, 200)} can't be distinguished by their names, and a source is chosen by the name of a file.`,
      { hint: "Rename one of them, or write a config for each: tickets init FILE -o NAME.yaml" },
    );
  });
}

const withoutMarks = (name: string): string => name.replace(/[*?{},[\]\\/]/g, "?");
