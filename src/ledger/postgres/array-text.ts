/** A column of values as one value of a statement: an array as text (PostgreSQL, 8.15.6). */
export const arrayText = (items: readonly (string | number | null)[]): string => `{${items.map(itemText).join(",")}}`;

const itemText = (item: string | number | null): string =>
  typeof item === "string" ? `"${item.replaceAll(/["\\]/g, "\\$&")}"` : String(item ?? "NULL");
