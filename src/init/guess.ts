/**
 * Exports → a starter config, with a source for each. Known systems are recognised by their headers and get their recipe; for
 * others the columns are guessed by name and by what their cells look like. What can be read in more than one way, and what
 * no export says, is written as `<FILL IN: …>`, which every command refuses until it is replaced.
 */

import { cleanText, quoted } from "../actions/text.ts";
import { askedIn } from "../map/template.ts";
import { evidenceOf, hasColumn, type Sample } from "./evidence.ts";
import { SCHEMA_LINE } from "./example.ts";
import { type Body, fromColumns } from "./from-columns.ts";
import { fromRecipe } from "./from-recipe.ts";
import { exactPattern, widePattern, withoutOverlap } from "./match-patterns.ts";
import { pageOf, RECIPES } from "./recipes.ts";
import { comments, type Entry, inQuotes, type Line, linesOf, onlyHereIn } from "./yaml.ts";

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
  const order = [...drafts.keys()].sort((one, other) => rankOf(drafts[one]) - rankOf(drafts[other]) || one - other);
  const names = namesOf(drafts);
  const matches = matchesOf(drafts);
  const sources = order.flatMap((at): readonly Line[] => {
    const draft = drafts[at];
    const match = matches[at];
    if (draft === undefined || match === undefined) return [];
    const block = [...draft.comments, match, ...draft.rules];
    return [...(drafts.length === 1 ? [] : comments(headOf(draft))), { key: names[at] ?? "", value: { block } }];
  });
  const lines = linesOf({ block: [...headOfAll(drafts), { key: "sources", value: { block: sources } }] });
  // Texts of the file stand in double quotes or comments. A config that held U+FFFD itself would be taken for damaged.
  const yaml = `${lines.join("\n")}\n`.replaceAll("\ufffd", "\\ufffd");
  return { sources: drafts.map((draft, at) => ({ ...draft, name: names[at] ?? "" })), order, yaml, ...toLookAt(yaml) };
}

/** A key in a line of YAML. */
const KEY = /(?:^ *(?:- )?|[{,] *)("[^"]*"|[^",:{}[\]]+): /g;

/** The lines that the user has to look at. */
function toLookAt(yaml: string): Pick<Guess, "open" | "guesses"> {
  const lines = yaml.split("\n");
  return {
    open: lines.flatMap((line, at) => {
      const asked = /^\s*#/.test(line) ? undefined : askedIn(line);
      const keys = new Set([...(line.split("<FILL IN")[0] ?? "").matchAll(KEY)].map(([, key = ""]) => key.trim()));
      const place = [...keys].filter((_key, nth) => nth === 0 || nth === keys.size - 1).join(" ");
      return asked === undefined ? [] : [{ line: at + 1, what: `${place === "" ? "" : `${place}: `}${asked}` }];
    }),
    guesses: lines.flatMap((line, at) => (/\S.* # guess/.test(line) ? [at + 1] : [])),
  };
}

/** One export as a source, before it is known what stands beside it. */
interface Draft extends GuessedSource, Body {
  readonly sample: Sample;
  /** What its rows give. */
  readonly actions: readonly string[];
}

/** Sales propose a `newEvent` for their events, unless another of the files is a list of events. */
function draftsOf(samples: readonly Sample[]): readonly Draft[] {
  const drafts = samples.map((sample) => draftOf(sample, true));
  if (!drafts.some(({ actions }) => actions.includes("newEvent") && !actions.includes("soldTicket"))) return drafts;
  return samples.map((sample) => draftOf(sample, false));
}

function draftOf(sample: Sample, needsEvents: boolean): Draft {
  const evidence = evidenceOf(sample);
  const { fileName } = sample;
  const recipe = RECIPES.find(({ headers }) => headers.every((header) => hasColumn(sample, header)));
  const draft = { sample, name: recipe?.name ?? slug(fileName), fileName, system: recipe?.title };
  if (recipe === undefined) return { ...draft, page: "docs/tutorial.md", ...fromColumns(evidence, needsEvents) };
  return { ...draft, page: pageOf(recipe), how: "recipe", ...fromRecipe(recipe, evidence) };
}

function headOfAll(drafts: readonly Draft[]): readonly Line[] {
  const [draft, ...others] = drafts;
  const from = draft === undefined || others.length > 0 ? `${drafts.length} exports.` : headOf(draft);
  const pages = [...new Set(drafts.map(({ page }) => page))].join(", ");
  const lines = [
    "# FILL IN marks what no export says, or what can be read in more than one way: put your own value there.",
    `# Until then every command refuses the config. How to go on: ${pages}.`,
    "",
    "# Without an environment everything goes to the built-in sandbox.",
    "#environments:",
    "#  playground:",
    "#    baseUrl: https://…",
    "#    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}",
    "",
  ];
  const written = comments(`Written by tickets init from ${from}`);
  return [{ comment: SCHEMA_LINE }, ...written, ...lines.map((comment) => ({ comment }))];
}

function headOf({ fileName, system, sample: { isWhole, rows, items } }: Draft): string {
  const what = items === undefined ? "rows" : `items of ${cleanText(items, 40)}`;
  const lookedAt =
    items === undefined && isWhole && rows.length === 1
      ? "Its only row was looked at."
      : `${isWhole ? "All" : "Its first"} ${rows.length} ${what} were looked at.`;
  return `${quoted(fileName)}${system === undefined ? "" : `: ${system}`}. ${lookedAt}`;
}

/** The smallest rank is sent first: what registers or changes events, then sales, then what happens to tickets. */
function rankOf(draft: Draft | undefined): number {
  const actions = draft?.actions ?? [];
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

/**
 * `match` for each file and its successors; for a file alone where something is asked that holds for no other, or where the
 * pattern would take another's file, which would stop every command.
 */
function matchesOf(drafts: readonly Draft[]): readonly Entry[] {
  const wanted = drafts.map(({ fileName, rules }) => {
    const asked = onlyHereIn({ block: rules });
    return { fileName, asked, pattern: asked === undefined ? widePattern(fileName) : exactPattern(fileName) };
  });
  const patterns = withoutOverlap(wanted);
  return wanted.map(({ pattern, asked }, at) => {
    const own = patterns[at] ?? pattern;
    const ofThisFile = asked && `this file only, as ${asked} below is`;
    const note = own === pattern ? ofThisFile : `as ${pattern} it could take a file of another source`;
    return { key: "match", value: inQuotes(own), note };
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
