/** Statements as both databases take them: text with values in their places. */

export type Value = null | number | bigint | string | Uint8Array;
type Column = "text" | "int";

/** Many rows as one value: a table within a statement. */
export interface Rows {
  readonly columns: Readonly<Record<string, Column>>;
  readonly rows: readonly (readonly (string | number | null)[])[];
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

export const rowsOf = (columns: Rows["columns"], rows: Rows["rows"]): Rows => ({ columns, rows });

const isPart = (value: unknown): value is Sql => typeof value === "object" && value !== null && "texts" in value;

export const isRows = (value: Value | Rows): value is Rows =>
  typeof value === "object" && value !== null && "rows" in value;
