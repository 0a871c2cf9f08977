/**
 * Exports → a starter config, with a source for each. Known systems are recognised by their headers and get their recipe; for
 * others the columns are guessed by name and by what their cells look like. What can be read in more than one way, and what
 * no export says, is written as `<FILL IN: …>`, which every command refuses until it is replaced.
 */

import { cleanText, quoted } from "../actions/text.ts";
import { askedIn } from "../map/source.ts";
import { configText, type Line } from "./config-text.ts";
import { evidenceOf, hasColumn, type Sample } from "./evidence.ts";
import { SCHEMA_LINE } from "./example.ts";
import { fromColumns } from "./from-columns.ts";
import { actionsIn, fromRecipe } from "./from-recipe.ts";
import { withoutOverlap } from "./match-patterns.ts";
import { wrapped } from "./notes.ts";
import { pageOf, RECIPES } from "./recipes.ts";

/** What one export was taken for. */
export interface GuessedSource {
  readonly name: string;
  /** Base name of its file. */
  readonly fileName: string;
  /** The system that wrote it, if its headers show that. */
  readonly system: string | undefined;
  /** The page about that export; for any other, the one that goes on from such a guess. */
  readonly page: string;
  readonly how: How;
}

/**
 * What a source was made from: the recipe of its system; rows that name their own actions; columns named like fields, so that
 * only the action had to be guessed; or the names and cells of unknown columns.
 */
type How = "recipe" | "actions" | "fields" | "columns";

export interface Guess {
  /** In the order of the samples. */
  readonly sources: readonly GuessedSource[];
  /** Places in `samples`, ordered so that files which register events come before sales, and those before the rest. */
  readonly order: readonly number[];
  /** The whole config. */
  readonly yaml: string;
  /** What has to be filled in before it can be used, with the line of the config. */
  readonly open: readonly { readonly line: number; readonly what: string }[];
  /** Lines of the config that are guesses. */
  readonly guesses: readonly number[];
}

/** @throws Failure("usage") for two files that no `match` can tell apart. */
export function guessConfig(...samples: readonly Sample[]): Guess {
  const drafts = draftsOf(samples);
  const order = drafts
    .map((draft, at) => ({ at, rank: rankOf(draft) }))
    .sort((one, other) => one.rank - other.rank || one.at - other.at)
    .map(({ at }) => at);
  const names = namesOf(drafts);
  const bodies = withOwnMatches(drafts);
  const isAlone = drafts.length === 1;
  const sources = order.flatMap((at): readonly Line[] => [
    ...(isAlone ? [] : wrapped(headOf(drafts[at])).map((line) => ({ comment: `# ${line}` }))),
    { key: names[at] ?? "", value: { block: bodies[at] ?? [] } },
  ]);
  // Texts of the file stand in double quotes or comments. A config that held U+FFFD itself would be taken for damaged.
  const yaml = configText([...headOfAll(drafts), "", ...ENVIRONMENTS], sources).replaceAll("\ufffd", "\\ufffd");
  return { sources: drafts.map((draft, at) => ({ ...draft, name: names[at] ?? "" })), order, yaml, ...toLookAt(yaml) };
}

const ENVIRONMENTS = [
  "# Without an environment everything goes to the built-in sandbox.",
  "#environments:",
  "#  playground:",
  "#    baseUrl: https://…",
  "#    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}",
];

const FILL_IN = "<FILL IN";
/** A key in a line of YAML. */
const KEY = /(?:^ *(?:- )?|[{,] *)("[^"]*"|[^",:{}[\]]+): /g;

/** The lines that the user has to look at. */
function toLookAt(yaml: string): Pick<Guess, "open" | "guesses"> {
  const lines = yaml.split("\n");
  return {
    open: lines.flatMap((line, at) => {
      const asked = /^\s*#/.test(line) ? undefined : askedIn(line);
      const keys = new Set([...(line.split(FILL_IN)[0] ?? "").matchAll(KEY)].map(([, key = ""]) => key.trim()));
      const [first, ...more] = keys;
      const place = [first, more.at(-1)].filter((key) => key !== undefined).join(" ");
      return asked === undefined ? [] : [{ line: at + 1, what: `${place === "" ? "" : `${place}: `}${asked}` }];
    }),
    guesses: lines.flatMap((line, at) => (/\S.* # guess/.test(line) ? [at + 1] : [])),
  };
}

/** One export as a source, before it is known what stands beside it. */
interface Draft extends GuessedSource {
  readonly sample: Sample;
  /** What its rows give. */
  readonly actions: readonly string[];
  /** What stands under its name. */
  readonly body: readonly Line[];
}

const TUTORIAL = "docs/tutorial.md";

/** Sales propose a `newEvent` for their events, unless another of the files is a list of events. */
function draftsOf(samples: readonly Sample[]): readonly Draft[] {
  const drafts = samples.map((sample) => draftOf(sample, true));
  if (!drafts.some(isListOfEvents)) return drafts;
  return samples.map((sample) => draftOf(sample, false));
}

function draftOf(sample: Sample, needsEvents: boolean): Draft {
  const evidence = evidenceOf(sample);
  const recipe = RECIPES.find(({ headers }) => headers.every((header) => hasColumn(sample, header)));
  const { fileName } = sample;
  const draft = { sample, name: recipe?.name ?? slug(fileName), fileName, system: recipe?.title };
  if (recipe !== undefined)
    return {
      ...draft,
      page: pageOf(recipe),
      how: "recipe",
      actions: actionsIn(recipe),
      body: fromRecipe(recipe, evidence),
    };
  return { ...draft, page: TUTORIAL, ...fromColumns(evidence, needsEvents) };
}

function lookedAt({ isWhole, rows, items }: Sample): string {
  if (items === undefined && isWhole && rows.length === 1) return "Its only row was looked at.";
  const what = items === undefined ? "rows" : `items of ${cleanText(items, 40)}`;
  return `${isWhole ? "All" : "Its first"} ${rows.length} ${what} were looked at.`;
}

function headOfAll(drafts: readonly Draft[]): readonly string[] {
  const [draft, ...others] = drafts;
  const pages = [...new Set(drafts.map(({ page }) => page))].join(", ");
  return [
    SCHEMA_LINE,
    ...(draft === undefined || others.length > 0
      ? [`# Written by tickets init from ${drafts.length} exports.`]
      : wrapped(`Written by tickets init from ${headOf(draft)}`).map((line) => `# ${line}`)),
    "# FILL IN marks what no export says, or what can be read in more than one way: put your own value there.",
    `# Until then every command refuses the config. How to go on: ${pages}.`,
  ];
}

const headOf = (draft: Draft | undefined): string =>
  draft === undefined
    ? ""
    : `${quoted(draft.fileName)}${draft.system === undefined ? "" : `: ${draft.system}`}. ${lookedAt(draft.sample)}`;

const isListOfEvents = ({ actions }: Draft): boolean => actions.includes("newEvent") && !actions.includes("soldTicket");

/** The smallest rank is sent first: what registers or changes events, then sales, then what happens to tickets. */
function rankOf({ actions }: Draft): number {
  if (actions.includes("soldTicket")) return 2;
  if (actions.includes("newEvent")) return 0;
  if (actions.includes("updateEvent")) return 1;
  return actions.length > 0 && actions.every((name) => name === "invalidatedTicket") ? 4 : 3;
}

/** A name for each source: that of its system, else of its file, with a number where it is taken. */
function namesOf(drafts: readonly Draft[]): readonly string[] {
  const taken = new Set<string>();
  return drafts.map(({ name, fileName }) => {
    const isOnlyOne = drafts.filter((draft) => draft.name === name).length === 1;
    const wanted = isOnlyOne ? name : slug(fileName);
    let own = wanted;
    for (let nth = 2; taken.has(own); nth += 1) own = `${wanted}-${nth}`;
    taken.add(own);
    return own;
  });
}

/** The bodies, with patterns that don't take each other's files, which would stop every command. */
function withOwnMatches(drafts: readonly Draft[]): readonly (readonly Line[])[] {
  const patterns = withoutOverlap(drafts.map(({ fileName, body }) => ({ fileName, pattern: patternIn(body) })));
  return drafts.map(({ body }, at) => {
    const [pattern = "", before] = [patterns[at], patternIn(body)];
    if (pattern === before) return body;
    const note = `as ${before} it could take a file of another source`;
    return body.map((line) =>
      "key" in line && line.key === "match" ? { key: line.key, value: { inQuotes: pattern }, note } : line,
    );
  });
}

function patternIn(body: readonly Line[]): string {
  const [value] = body.flatMap((line) => ("key" in line && line.key === "match" ? [line.value] : []));
  return typeof value === "object" && "inQuotes" in value ? value.inQuotes : "";
}

function slug(fileName: string): string {
  const text = fileName
    .replace(/\..*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-\d]+|[-\d]+$/g, "");
  return text === "" ? "export" : text;
}
