/** Bytes of rows. */

export const LF = 10;
export const EMPTY: Buffer = Buffer.alloc(0);

/** A row or line longer than this (1 MiB, in UTF-8) is a problem instead of a row. */
export const MAX_ROW_BYTES = 1024 * 1024;

export function lineEndsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}
