/**
 * The cells of one row that has quotes, when every quote stands where it belongs; undefined for any other row, which is
 * the reference's to judge.
 *
 * @param row without its line end.
 * @param delimiter one ASCII character, as is the quote.
 */
export function splitQuoted(row: string, delimiter: string, quote: string): readonly string[] | undefined {
  const delimiterCode = delimiter.charCodeAt(0);
  const quoteCode = quote.charCodeAt(0);
  const cells: string[] = [];
  let nextQuote = row.indexOf(quote);
  let at = 0;
  for (;;) {
    if (nextQuote !== -1 && nextQuote < at) nextQuote = row.indexOf(quote, at);
    if (nextQuote === at) {
      let close = row.indexOf(quote, at + 1);
      let hasDoubled = false;
      while (close !== -1 && row.charCodeAt(close + 1) === quoteCode) {
        hasDoubled = true;
        close = row.indexOf(quote, close + 2);
      }
      if (close === -1) return undefined;
      const inside = row.slice(at + 1, close);
      cells.push(hasDoubled ? inside.replaceAll(quote + quote, quote) : inside);
      if (close + 1 === row.length) return cells;
      if (row.charCodeAt(close + 1) !== delimiterCode) return undefined;
      at = close + 2;
    } else {
      const end = row.indexOf(delimiter, at);
      if (nextQuote !== -1 && (end === -1 || nextQuote < end)) return undefined;
      if (end === -1) {
        cells.push(row.slice(at));
        return cells;
      }
      cells.push(row.slice(at, end));
      at = end + 1;
    }
  }
}
