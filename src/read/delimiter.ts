const CANDIDATES = [",", ";", "\t", "|"] as const;

/**
 * The delimiter of a CSV file, told from its header: whichever of `,` `;` TAB `|` stands there most often outside quotes.
 * A tie between the first two or none at all means `,`.
 */
export function detectDelimiter(headerText: string): string {
  const unquoted = headerText.replace(/"[^"]*(?:"|$)/g, "");
  const counts = CANDIDATES.map((candidate) => ({ candidate, count: unquoted.split(candidate).length }));
  const [first, second] = counts.sort((one, other) => other.count - one.count);
  return first !== undefined && first.count > (second?.count ?? 0) ? first.candidate : ",";
}
