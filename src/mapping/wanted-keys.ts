/** Which of the keys that a source names occur in the rows of a JSON file. A key that no row has is a missing column. */

/** A key or path that a rule of the source reads. */
interface WantedKey {
  /** What the config calls it: its own name under `columns`, or the key itself. */
  readonly names: readonly string[];
  /** The path of the list in whose items it stands; undefined in the row itself. */
  readonly list: string | undefined;
  readonly isIn: (value: unknown) => boolean;
  /** Whether any row had it. */
  isFound: boolean;
}

export type WantedKeys = ReturnType<typeof createWantedKeys>;

export function createWantedKeys() {
  const wanted = new Map<string, WantedKey>();
  /** Keys that no row had yet. Once a file has shown all of them, rows cost nothing more. */
  let unmet: WantedKey[] = [];
  let hasRows = false;
  /** Paths of lists that had items. */
  const lists = new Set<string>();
  const look = (list: string | undefined, value: unknown): void => {
    let met = false;
    for (const key of unmet) {
      if (key.list !== list || !key.isIn(value)) continue;
      key.isFound = true;
      met = true;
    }
    if (met) unmet = unmet.filter(({ isFound }) => !isFound);
  };
  return {
    want(names: readonly string[], list: string | undefined, isIn: (value: unknown) => boolean): void {
      const id = JSON.stringify([list, names[0]]);
      if (wanted.has(id)) return;
      const key = { names, list, isIn, isFound: false };
      wanted.set(id, key);
      unmet.push(key);
    },
    /** Looks at a row, whatever actions it gives. */
    seeRow(value: unknown): void {
      hasRows = true;
      if (unmet.length > 0) look(undefined, value);
    },
    seeItems(list: string, items: readonly unknown[]): void {
      if (items.length > 0) lists.add(list);
      for (const item of items) {
        if (unmet.length === 0) return;
        look(list, item);
      }
    },
    /** The names of each key that no row had; keys of items only where there were items. */
    neverFound(): readonly (readonly string[])[] {
      return [...wanted.values()]
        .filter(({ isFound, list }) => !isFound && (list === undefined ? hasRows : lists.has(list)))
        .map(({ names }) => names);
    },
  };
}
