/** The cells of a row as places in the memory: no text is made of them. */

/** What stands in a cell; the first four are what is beside printed ASCII. */
export const BEYOND_ASCII = 1;
/** Quotes that stand for one quote each. */
export const DOUBLED = 2;
/** A character that JSON writes in another way, or a control character. */
export const ODD = 4;
/** It stands there as JSON writes it. */
export const ESCAPED = 8;
export const STRANGE = BEYOND_ASCII | DOUBLED | ODD | ESCAPED;
export const DIGITS = 16;
export const LETTERS = 32;
export const HYPHENS = 64;
/** Any other mark or blank of ASCII. */
export const MARKS = 128;
/** A question mark, an @ or a control character, none of which words have. */
export const ASKING = 256;

const FIRST_PRINTED = 0x20;
const DELETE = 0x7f;

/** What each byte is, of the above. */
export const KINDS: Readonly<Uint16Array> = kindsOfBytes();

function kindsOfBytes(): Uint16Array {
  const kinds = new Uint16Array(256).fill(BEYOND_ASCII);
  kinds.fill(MARKS, FIRST_PRINTED, DELETE);
  kinds.fill(ODD | ASKING, 0, FIRST_PRINTED);
  for (const blank of Buffer.from("\t\n\r")) kinds[blank] = ODD;
  for (const odd of Buffer.from('"\\')) kinds[odd] = ODD;
  kinds[DELETE] = ODD | ASKING;
  kinds.fill(DIGITS, 0x30, 0x3a);
  kinds.fill(LETTERS, 0x41, 0x5b);
  kinds.fill(LETTERS, 0x61, 0x7b);
  for (const asking of Buffer.from("?@")) kinds[asking] = MARKS | ASKING;
  kinds[0x2d] = HYPHENS;
  return kinds;
}

export interface Cells {
  /** Where each cell begins and ends, its quotes left out; valid after `scan` gave true, until it is called again. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** What stands in each. */
  readonly flags: Uint16Array;
  /** Behind the row's line end. */
  readonly next: number;
  /** The physical line on which `next` lies. */
  readonly nextLine: number;
  /** Nothing but a line end. */
  readonly isBlank: boolean;
  /**
   * Finds the cells of the row at `at`, which begins on `line`. False where it is not plain: its quotes are not where they
   * belong, it has another number of cells than the header, a CR stands alone, a cell holds what may be rows of the table,
   * or it does not end before `end`.
   */
  scan(at: number, end: number, line: number): boolean;
}
