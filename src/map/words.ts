/** How messages show names. */

import { quoted } from "../actions/text.ts";

/** A header. */
export const quote = (header: string): string => quoted(header, 60);

const MOST_LISTED = 30;

export function listed(names: readonly string[]): string {
  const more = names.length > MOST_LISTED ? `, ... (${names.length})` : "";
  return names.slice(0, MOST_LISTED).map(quote).join(", ") + more;
}
