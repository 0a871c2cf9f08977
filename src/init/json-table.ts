/** JSON rows as a table of the paths of their values, so that they are looked at like any other. */

import { ExactNumber } from "../actions/exact-number.ts";
import { withExactNumbers } from "../map/exact-numbers.ts";
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

/** A list in the rows, or in the items of the lists before it. */
interface List {
  readonly path: readonly string[];
  readonly items: readonly Flat[];
}

/** A row for each ticket: where a list holds them, however deep, its items are the rows. */
export function tableOfObjects(rows: readonly Row[]): Pick<Sample, "header" | "rows" | "lists" | "items" | "beside"> {
  const flats = rows.flatMap((row) => (row.kind === "object" ? [flatten(withExactNumbers(row))] : []));
  const lists = listsIn(flats);
  const { path: items } = lists.find(holdsTickets) ?? deepest(lists.filter(mayHoldTickets)) ?? {};
  const tickets = items === undefined ? flats : flats.flatMap((flat) => ofItems(flat, items));
  const header = [...new Set(tickets.flatMap(({ values }) => [...values.keys()]))].slice(0, MOST_PATHS);
  const [list = ""] = items?.slice(-1) ?? [];
  return {
    header,
    rows: tickets.map(({ values }) => header.map((path) => values.get(path) ?? "")),
    lists: lists.flatMap(({ path: [name = "", ...deeper] }) => (deeper.length === 0 ? [name] : [])),
    items,
    beside: tickets.map(({ lists }) => lists.get(list)?.length ?? 0),
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

function listsIn(flats: readonly Flat[], around: readonly string[] = []): readonly List[] {
  const names = [...new Set(flats.flatMap(({ lists }) => [...lists.keys()]))].slice(0, MOST_PATHS);
  return names.flatMap((name) => {
    const items = flats.flatMap(({ lists }) => (lists.get(name) ?? []).map(flatten));
    const path = [...around, name];
    return [{ path, items }, ...listsIn(items, path)];
  });
}

const holdsTickets = ({ path, items }: List): boolean =>
  items.length > 0 &&
  (namesTickets(path.at(-1) ?? "") || items.some(({ values }) => [...values.keys()].some(namesTickets)));

const mayHoldTickets = ({ path, items }: List): boolean => items.length > 0 && namesTicketList(path.at(-1) ?? "");

const deepest = (lists: readonly List[]): List | undefined =>
  lists.toSorted((one, other) => other.path.length - one.path.length)[0];

/** A row for each item, with what is around it: of the list that it is in `item.…`, of the list around that `outer.…`. */
function ofItems({ values, lists }: Flat, [list = "", ...deeper]: readonly string[]): readonly Flat[] {
  const name = ["item", "outer"][deeper.length];
  return (lists.get(list) ?? []).flatMap((item) => {
    const own = flatten(item);
    const named = [...own.values].map(([path, value]) => [path === "" ? name : `${name}.${path}`, value] as const);
    const all = new Map([...values, ...(name === undefined ? [] : named)]) as Flat["values"];
    return deeper.length === 0 ? { values: all, lists } : ofItems({ values: all, lists: own.lists }, deeper);
  });
}
