/** Statements as both databases take them: text with values in their places. */

export type Value = null | number | string | Uint8Array;
type Column = "text" | "int";

/** Many rows as one value: a table within a statement. */
export interface Rows {
  readonly columns: Readonly<Record<string, Column>>;
  readonly rows: readonly (readonly Value[])[];
}

export interface Sql {
  /** One more than there are values. */
  readonly texts: readonly string[];
  readonly values: readonly (Value | Rows)[];
}

/** A statement, or a part of one. Another part may stand where a value does; what is undefined is NULL. */
export function sql(texts: readonly string[], ...given: readonly (Value | Rows | Sql | undefined)[]): Sql {
  const all = [texts[0] ?? ""];
  const values: (Value | Rows)[] = [];
  for (const [at, value] of given.entries()) {
    const after = texts[at + 1] ?? "";
    if (isPart(value)) {
      all.push(`${all.pop()}${value.texts[0]}`, ...value.texts.slice(1));
      values.push(...value.values);
      all.push(`${all.pop()}${after}`);
    } else {
      values.push(value ?? null);
      all.push(after);
    }
  }
  return { texts: all, values };
}

/** Text that stands in a statement as it is. It never comes from outside. */
export const raw = (text: string): Sql => ({ texts: [text], values: [] });

/** `('a', 'b')`, for words of this program. */
export const words = (list: readonly string[]): Sql => raw(`(${list.map((word) => `'${word}'`).join(", ")})`);

/** A table of one column. */
export const listOf = (column: string, type: Column, values: readonly (string | number)[]): Rows => ({
  columns: { [column]: type },
  rows: values.map((value) => [value]),
});

/** What a row gets, by the names of this program: `httpStatus` is the column `http_status`. */
export type Columns = Readonly<Record<string, Value | Sql | undefined>>;

const columnOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `http_status = 200, detail = NULL` */
export const assigned = (columns: Columns): Sql =>
  joined(Object.entries(columns).map(([name, value]) => sql`${raw(columnOf(name))} = ${value}`));

/** One row. @param key where a row has it already, that one gets the other columns. @param anew what such a row gets instead. */
export function insertInto(
  table: string,
  row: Columns,
  key: readonly string[] = [],
  anew: Readonly<Record<string, string>> = {},
): Sql {
  const names = Object.keys(row).map(columnOf);
  const others = names
    .filter((name) => !key.includes(name))
    .map((name) => `${name} = ${anew[name] ?? `excluded.${name}`}`);
  const again = key.length === 0 ? "" : ` ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${others.join(", ")}`;
  const into = raw(`INSERT INTO ${table} (${names.join(", ")})`);
  return sql`${into} VALUES (${joined(Object.values(row))})${raw(again)}`;
}

const joined = (parts: readonly (Value | Sql | undefined)[]): Sql =>
  parts.reduce<Sql>((all, part, at) => (at === 0 ? sql`${part}` : sql`${all}, ${part}`), raw(""));

/** All conditions that are given. */
export const every = (...conditions: readonly (Sql | undefined)[]): Sql =>
  conditions.reduce<Sql>((all, each) => (each === undefined ? all : sql`${all} AND ${each}`), raw("1 = 1"));

const isPart = (value: unknown): value is Sql => typeof value === "object" && value !== null && "texts" in value;

export const isRows = (value: Value | Rows): value is Rows =>
  typeof value === "object" && value !== null && "rows" in value;

/** @param placeOf what stands for a value in the text; called for one after another. */
export const textOf = ({ texts, values }: Sql, placeOf: (value: Value | Rows) => string): string =>
  texts.map((text, at) => (at === 0 ? text : `${placeOf(values[at - 1] ?? null)}${text}`)).join("");
