import { fold } from "../actions/nearest.ts";

/** How a row repeats the header: each name in its column, or in others, so that what follows stands under wrong columns. */
export type SecondHeader = "same columns" | "other columns";

/**
 * Tells whether a row is the header once more, as files that were put together have it: its cells are names of columns,
 * each once, compared as columns are (`fold`), and nothing else but blanks. Of several columns it names two at the least.
 */
export function compileSecondHeader(header: readonly string[]): (cells: readonly string[]) => SecondHeader | undefined {
  const names = header.map(fold);
  const known = names.filter((name) => name !== "");
  if (known.length === 0) return () => undefined;
  const leastNamed = Math.min(2, known.length);
  const beginnings = new Set(known.map((name) => name.charCodeAt(0)));
  /** Nearly every row has a cell that begins as no name does, and nothing is folded for it. */
  const mayBeName = (cell: string): boolean => {
    const code = cell.charCodeAt(0);
    return (
      Number.isNaN(code) ||
      code <= 0x2d ||
      code === 0x5f ||
      code > 0x7e ||
      beginnings.has(code | 0x20) ||
      beginnings.has(code)
    );
  };
  return (cells) => {
    if (!cells.every(mayBeName)) return undefined;
    const left = [...known];
    let isInPlace = true;
    for (const [at, cell] of cells.entries()) {
      const name = fold(cell);
      if (name === "") continue;
      const found = left.indexOf(name);
      if (found === -1) return undefined;
      left.splice(found, 1);
      if (names[at] !== name) isInPlace = false;
    }
    if (known.length - left.length < leastNamed) return undefined;
    return isInPlace ? "same columns" : "other columns";
  };
}
