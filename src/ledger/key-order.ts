/** The order in which deeds are written and asked: that of the table's pages. */

/** The most that are looked at: among so many, neighbours stand on one page even in a table of fifty million. */
const MOST_BITS = 20;

/**
 * Places of keys in the order of their first bits, which is as good for the pages of a table as the order of all bits, where
 * keys are evenly spread, as digests are.
 *
 * @param keys the first 32 bits of each.
 */
export function inKeyOrder(keys: Uint32Array): Uint32Array {
  const bits = Math.min(MOST_BITS, 34 - Math.clz32(keys.length));
  const shift = 32 - bits;
  const ends = new Uint32Array(2 ** bits);
  for (let at = 0; at < keys.length; at += 1) count(ends, (keys[at] ?? 0) >>> shift, 1);
  let before = 0;
  for (let first = 0; first < ends.length; first += 1) {
    const here = ends[first] ?? 0;
    ends[first] = before;
    before += here;
  }
  const places = new Uint32Array(keys.length);
  for (let at = 0; at < keys.length; at += 1) places[count(ends, (keys[at] ?? 0) >>> shift, 1)] = at;
  return places;
}

/** @returns what it was before. */
function count(counts: Uint32Array, at: number, more: number): number {
  const before = counts[at] ?? 0;
  counts[at] = before + more;
  return before;
}

/** As `filter`, which takes several times as long for a million. */
export function filterPlaces(places: Uint32Array, isOne: (place: number) => boolean): Uint32Array {
  const found = new Uint32Array(places.length);
  let count = 0;
  for (let at = 0; at < places.length; at += 1) {
    const place = places[at] ?? 0;
    if (isOne(place)) found[count++] = place;
  }
  return found.subarray(0, count);
}

/** How far a place is moved before all are sorted in another way, which takes longer, and no longer however they stand. */
const FAR = 64;

/**
 * Sorts, in their own memory, places that stand near to where they belong.
 *
 * @param compare never finds two alike.
 */
export function sortNeighbours(places: Uint32Array, compare: (one: number, other: number) => number): Uint32Array {
  for (let at = 1; at < places.length; at += 1) {
    const place = places[at] ?? 0;
    let to = at;
    while (to > 0 && compare(places[to - 1] ?? 0, place) > 0) {
      places[to] = places[to - 1] ?? 0;
      to -= 1;
    }
    places[to] = place;
    if (at - to > FAR) return places.sort(compare);
  }
  return places;
}
