/** Which of the keys that a source names occur in the rows of a JSON file. A key that no row has is a missing column. */

/** A key or path that a rule of the source reads. */
interface WantedKey {
  /** What the config calls it: its own name under `columns`, or the key itself. */
  readonly names: readonly string[];
  /** The path of the list in whose items it stands; undefined in the row itself. */
  readonly list: string | undefined;
  readonly isIn: (value: unknown) => boolean;
  /** Whether rows since the last look had it. */
  isFresh: boolean;
  /** Whether any joined row had it. */
  isFound: boolean;
}

/** What some rows had. Plain data. */
export interface FoundKeys {
  /** Any row at all. */
  readonly rows: boolean;
  readonly keys: readonly string[];
  /** Paths of lists that had items. */
  readonly lists: readonly string[];
}

export type WantedKeys = ReturnType<typeof createWantedKeys>;

export function createWantedKeys() {
  const wanted = new Map<string, WantedKey>();
  /** Keys that this mapper has not met yet. Once a file has shown all of them, rows cost nothing more. */
  let unmet: WantedKey[] = [];
  const fresh = { rows: false, lists: new Set<string>() };
  const known = { rows: false, lists: new Set<string>() };
  const look = (list: string | undefined, value: unknown): void => {
    let met = false;
    for (const key of unmet) {
      if (key.list !== list || !key.isIn(value)) continue;
      key.isFresh = true;
      met = true;
    }
    if (met) unmet = unmet.filter(({ isFresh }) => !isFresh);
  };
  return {
    want(names: readonly string[], list: string | undefined, isIn: (value: unknown) => boolean): void {
      const id = JSON.stringify([list, names[0]]);
      if (wanted.has(id)) return;
      const key = { names, list, isIn, isFresh: false, isFound: false };
      wanted.set(id, key);
      unmet.push(key);
    },
    /** Looks at a row, whatever actions it gives. */
    seeRow(value: unknown): void {
      fresh.rows = true;
      if (unmet.length > 0) look(undefined, value);
    },
    seeItems(list: string, items: readonly unknown[]): void {
      if (items.length > 0) fresh.lists.add(list);
      for (const item of items) {
        if (unmet.length === 0) return;
        look(list, item);
      }
    },
    takeFound(): FoundKeys {
      const keys = [...wanted].filter(([, { isFresh }]) => isFresh);
      for (const [, key] of keys) key.isFresh = false;
      const taken = { rows: fresh.rows, keys: keys.map(([id]) => id), lists: [...fresh.lists] };
      fresh.rows = false;
      fresh.lists.clear();
      return taken;
    },
    join({ rows, keys, lists }: FoundKeys): void {
      known.rows ||= rows;
      for (const list of lists) known.lists.add(list);
      for (const id of keys) {
        const key = wanted.get(id);
        if (key !== undefined) key.isFound = true;
      }
    },
    /** The names of each key that no joined row had; keys of items only where there were items. */
    neverFound(): readonly (readonly string[])[] {
      return [...wanted.values()]
        .filter(({ isFound, list }) => !isFound && (list === undefined ? known.rows : known.lists.has(list)))
        .map(({ names }) => names);
    },
  };
}
