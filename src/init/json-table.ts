/** JSON rows as a table of the paths of their values, so that they are looked at like any other. */

import { ExactNumber } from "../actions/exact-number.ts";
import { withExactNumbers } from "../map/exact-numbers.ts";
import type { Row } from "../read/row.ts";
import type { Sample } from "./evidence.ts";
import { namesTicketList } from "./header-words.ts";

/** How deep values are looked for, and how many. */
const DEEPEST = 4;
const MOST_PATHS = 500;

/** The values of one row by their paths, and its lists. */
interface Flat {
  readonly values: ReadonlyMap<string, string>;
  readonly lists: ReadonlyMap<string, readonly unknown[]>;
}

/** A row for each ticket: where a list of each row holds them, its items are the rows. */
export function tableOfObjects(rows: readonly Row[]): Pick<Sample, "header" | "rows" | "lists" | "items"> {
  const flats = rows.flatMap((row) => (row.kind === "object" ? [flatten(withExactNumbers(row))] : []));
  const lists = [...new Set(flats.flatMap((flat) => [...flat.lists.keys()]))].slice(0, MOST_PATHS);
  const items = lists.find((path) => namesTicketList(path) && flats.some((flat) => flat.lists.get(path)?.length));
  const tickets = items === undefined ? flats : flats.flatMap((flat) => ofItems(flat, items));
  const header = [...new Set(tickets.flatMap(({ values }) => [...values.keys()]))].slice(0, MOST_PATHS);
  return { header, rows: tickets.map(({ values }) => header.map((path) => values.get(path) ?? "")), lists, items };
}

function flatten(row: unknown, root = ""): Flat {
  const values = new Map<string, string>();
  const lists = new Map<string, readonly unknown[]>();
  const walk = (value: unknown, path: string, depth: number): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) lists.set(path, value);
    else if (typeof value !== "object" || value instanceof ExactNumber) values.set(path, String(value));
    else if (depth < DEEPEST)
      for (const [key, inner] of Object.entries(value)) walk(inner, path === "" ? key : `${path}.${key}`, depth + 1);
  };
  walk(row, root, 0);
  return { values, lists };
}

const ofItems = ({ values, lists }: Flat, path: string): readonly Flat[] =>
  (lists.get(path) ?? []).map((item) => {
    const own = flatten(item, "item");
    return { values: new Map([...values, ...own.values]), lists };
  });
