import { fold } from "../actions/nearest.ts";

/** How a row repeats the header: each name in its column, or in others, so that what follows stands under wrong columns. */
export type SecondHeader = "same columns" | "other columns";

/**
 * Tells whether a row is the header once more, as files that were put together have it: its cells are names of columns,
 * each once, compared as columns are (`fold`), and nothing else but blanks. Of several columns it names two at the least.
 */
export class HeaderAgain {
  readonly #names: readonly string[];
  /** By the first byte of a cell: whether it may be a name. Nearly every row has a cell that begins as no name does. */
  readonly beginnings = new Uint8Array(256);

  constructor(header: readonly string[]) {
    this.#names = header.map(fold);
    const known = this.#names.filter((name) => name !== "");
    if (known.length === 0) return;
    // What is folded away, and what is not ASCII.
    for (let byte = 0; byte < 256; byte += 1)
      if (byte <= 0x2d || byte === 0x5f || byte > 0x7e) this.beginnings[byte] = 1;
    for (const name of known) {
      this.beginnings[name.charCodeAt(0)] = 1;
      this.beginnings[name[0]?.toUpperCase().charCodeAt(0) ?? 0] = 1;
    }
  }

  /** @param cells that all begin so. */
  kindOf(cells: readonly string[]): SecondHeader | undefined {
    const left = this.#names.filter((name) => name !== "");
    const leastNamed = Math.min(2, left.length);
    let named = 0;
    let isInPlace = true;
    for (const [at, cell] of cells.entries()) {
      const name = fold(cell);
      if (name === "") continue;
      const found = left.indexOf(name);
      if (found === -1) return undefined;
      left.splice(found, 1);
      named += 1;
      if (this.#names[at] !== name) isInPlace = false;
    }
    if (named < leastNamed) return undefined;
    return isInPlace ? "same columns" : "other columns";
  }
}
