/** JSON rows as a table of the paths of their values, so that they are looked at like any other. */

import { ExactNumber } from "../actions/exact-number.ts";
import { withExactNumbers } from "../map/json-rows.ts";
import type { Row } from "../read/row.ts";
import type { Sample } from "./evidence.ts";
import { namesTicketList, namesTickets } from "./header-words.ts";

/** How deep values are looked for, and how many. */
const DEEPEST = 4;
const MOST_PATHS = 500;

/** The values of an object by their paths, and its lists. A text has the empty path. */
interface Flat {
  readonly values: ReadonlyMap<string, string>;
  readonly lists: ReadonlyMap<string, readonly unknown[]>;
}

/** A list in the rows, with the items of all of them. */
interface List {
  readonly name: string;
  readonly items: readonly Flat[];
}

/** A row for each ticket: where a list holds them, its items are the rows. */
export function tableOfObjects(rows: readonly Row[]): Pick<Sample, "header" | "rows" | "lists" | "items" | "inner"> {
  const flats = rows.flatMap((row) => (row.kind === "object" ? [flatten(withExactNumbers(row))] : []));
  const lists = listsIn(flats);
  const list = lists.find(holdsTickets) ?? lists.find((each) => innerOf(each) !== undefined) ?? lists.find(mayHold);
  const tickets = list === undefined ? flats : flats.flatMap((flat) => itemsOf(flat, list.name));
  const header = [...new Set(tickets.flatMap(({ values }) => [...values.keys()]))].slice(0, MOST_PATHS);
  return {
    header,
    rows: tickets.map(({ values }) => header.map((path) => values.get(path) ?? "")),
    lists: lists.map(({ name }) => name),
    items: list?.name,
    inner: list && innerOf(list),
  };
}

function flatten(row: unknown): Flat {
  const values = new Map<string, string>();
  const lists = new Map<string, readonly unknown[]>();
  const walk = (value: unknown, path: string, depth: number): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) lists.set(path, value);
    else if (typeof value !== "object" || value instanceof ExactNumber) values.set(path, String(value));
    else if (depth < DEEPEST)
      for (const [key, inner] of Object.entries(value)) walk(inner, path === "" ? key : `${path}.${key}`, depth + 1);
  };
  walk(row, "", 0);
  return { values, lists };
}

function listsIn(flats: readonly Flat[]): readonly List[] {
  const names = [...new Set(flats.flatMap(({ lists }) => [...lists.keys()]))].slice(0, MOST_PATHS);
  return names.map((name) => ({ name, items: flats.flatMap(({ lists }) => (lists.get(name) ?? []).map(flatten)) }));
}

const holdsTickets = ({ name, items }: List): boolean =>
  items.length > 0 && (namesTickets(name) || items.some(({ values }) => [...values.keys()].some(namesTickets)));

const mayHold = ({ name, items }: List): boolean => items.length > 0 && namesTicketList(name);

/** The list in the items of a list that may hold the tickets. */
const innerOf = ({ items }: List): string | undefined =>
  listsIn(items).find((list) => holdsTickets(list) || mayHold(list))?.name;

/** A row for each item, with what is around its list. */
const itemsOf = ({ values, lists }: Flat, list: string): readonly Flat[] =>
  (lists.get(list) ?? []).map((item) => {
    const own = [...flatten(item).values].map(
      ([path, value]) => [path === "" ? "item" : `item.${path}`, value] as const,
    );
    return { values: new Map([...values, ...own]), lists };
  });
