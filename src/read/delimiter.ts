const CANDIDATES = [",", ";", "\t", "|"] as const;

/**
 * The delimiter of a CSV file, told from its header: whichever of `,` `;` TAB `|` stands there most often outside quotes.
 * A tie between the first two or none at all means `,`.
 */
export function detectDelimiter(headerText: string, quote = '"'): string {
  const counts = new Map<string, number>(CANDIDATES.map((candidate) => [candidate, 0]));
  let inQuotes = false;
  for (const character of headerText) {
    if (character === quote) inQuotes = !inQuotes;
    else if (!inQuotes) {
      const count = counts.get(character);
      if (count !== undefined) counts.set(character, count + 1);
    }
  }
  const [first, second] = [...counts].sort(([, one], [, other]) => other - one);
  return first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : ",";
}
