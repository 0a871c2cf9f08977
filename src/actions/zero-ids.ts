/** Ids that are numbers but for the zeros in front of them, which a spreadsheet takes off. */

export const isNumber = (id: string): boolean => /^\d+$/.test(id);

/**
 * The same number with other zeros in front: without any, and as long as an id that is known to begin with one. Of an id
 * that is no number there is none.
 *
 * @param lengths of ids that begin with a zero. An id without one has no other spelling where there are none.
 */
export function otherSpellings(id: string, lengths: ReadonlySet<number>): readonly string[] {
  if ((id.charCodeAt(0) !== 0x30 && lengths.size === 0) || !isNumber(id)) return NONE;
  const number = id.replace(/^0+(?=\d)/, "");
  const padded = [...lengths].filter((length) => length > number.length).map((length) => number.padStart(length, "0"));
  return [number, ...padded].filter((spelling) => spelling !== id);
}

const NONE: readonly string[] = [];
