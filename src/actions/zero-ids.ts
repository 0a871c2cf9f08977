/** Ids that are numbers but for the zeros in front of them, which a spreadsheet takes off, or behind them, which programs add. */

export const isNumber = (id: string): boolean => /^\d+$/.test(id);

/** `1001.0` and `1001,00` of `1001`: a program that fills gaps in a column reads it as decimals. */
const WITH_DECIMALS = /^(\d+)[.,]0+$/;

/** The digits of an id that is a whole number, also one with decimals that are zeros; undefined of any other. */
const digitsOf = (id: string): string | undefined => (isNumber(id) ? id : WITH_DECIMALS.exec(id)?.[1]);

export const isWholeNumber = (id: string): boolean => digitsOf(id) !== undefined;

/**
 * The same number without decimals, and with other zeros in front: without any, and as long as an id that is known to begin with
 * one. Of an id that is no number there is none.
 *
 * @param lengths of ids that begin with a zero. An id of digits without one has no other spelling where there are none.
 */
export function otherSpellings(id: string, lengths: ReadonlySet<number>): readonly string[] {
  const digits = digitsOf(id);
  if (digits === undefined || (digits === id && id.charCodeAt(0) !== 0x30 && lengths.size === 0)) return NONE;
  const number = digits.replace(/^0+(?=\d)/, "");
  const padded = [...lengths].filter((length) => length > number.length).map((length) => number.padStart(length, "0"));
  return [...new Set([digits, number, ...padded])].filter((spelling) => spelling !== id);
}

const NONE: readonly string[] = [];
