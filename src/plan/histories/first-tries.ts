/**
 * A history in the order in which its deeds were first tried. One that was rejected and is asked for again later keeps the
 * place where it was tried first (docs/guarantees.md, Histories). Pure: it reads and sends nothing.
 */

/** A deed as it was sent to the service. */
export interface Try {
  readonly content: string;
  readonly isTaken: boolean;
  /** Number of its run. */
  readonly run: number;
  /** Whether its run was an `--again`, which may send what was sent, or what comes too late. */
  readonly isAgain: () => boolean;
}

/** A deed of a history, however often it was tried. */
interface PlacedTry {
  readonly content: string;
  /** Number of the try that the service took; undefined where it took none. */
  readonly taken: number | undefined;
  /** The last run that tried it. */
  readonly run: number;
}

/** A reading, and how the last `--again` of it was read: what one such run sent of taken deeds is all new, or all sent once more. */
interface Reading {
  readonly deeds: readonly PlacedTry[];
  readonly again: { readonly run: number; readonly isNew: boolean } | undefined;
}

/** What was tried, and where it stands in an input. */
export interface FoundTry {
  readonly at: number;
  readonly taken: number | undefined;
}

/** A history with more readings is given up. */
const MOST_READINGS = 32;

/**
 * Finds all that was tried in an input. Only an `--again` can be read in several ways: whether a person meant a deed that was
 * rejected, one that was taken, or another one that says the same, the ledger does not know. Then the way counts that has the
 * most deeds, and of those the last ones taken, so that the fewest are left to be sent.
 *
 * @param tries oldest first.
 * @param placesOf where contents stand in the input, in order; undefined where they don't all stand there.
 * @returns undefined where the input does not have it all.
 */
export function findTries(
  tries: readonly Try[],
  placesOf: (contents: readonly string[]) => readonly number[] | undefined,
): readonly FoundTry[] | undefined {
  const stand = (reading: readonly PlacedTry[]) => placesOf(reading.map(({ content }) => content));
  // What the service took last is the last of it: else what a person sent once more undid what stands behind it.
  const last = tries.findLast(({ isTaken }) => isTaken)?.content;
  const endsSo = (reading: readonly PlacedTry[]): boolean =>
    reading.findLast(({ taken }) => taken !== undefined)?.content === last;
  const readings = readTries(tries, (reading) => stand(reading) !== undefined);
  const found = (tries.every(({ isTaken }) => isTaken) ? readings.filter(endsSo) : readings).flatMap((reading) => {
    const places = stand(reading);
    return places === undefined ? [] : [reading.map(({ taken }, number) => ({ at: places[number] ?? -1, taken }))];
  });
  const most = Math.max(...found.map(({ length }) => length));
  return found.find(({ length }) => length === most);
}

/** Each way in which the tries can be read as deeds; none where there are too many. */
function readTries(
  tries: readonly Try[],
  fits: (reading: readonly PlacedTry[]) => boolean,
): readonly (readonly PlacedTry[])[] {
  let readings: readonly Reading[] = [{ deeds: [], again: undefined }];
  for (const [number, each] of tries.entries()) {
    readings = readings.flatMap((reading) => waysToRead(reading, each, number));
    if (readings.length > MOST_READINGS) readings = readings.filter(({ deeds }) => fits(deeds));
    if (readings.length > MOST_READINGS) return [];
  }
  return readings.map(({ deeds }) => deeds);
}

function waysToRead({ deeds: reading, again }: Reading, each: Try, number: number): readonly Reading[] {
  const as = (deeds: readonly PlacedTry[], how = again): Reading => ({ deeds, again: how });
  const { content, run } = each;
  const tried: PlacedTry = { content, taken: each.isTaken ? number : undefined, run };
  const asNew = takenFirst([...reading, tried]);
  const asRetry = (at: number): readonly PlacedTry[] => takenFirst(reading.with(at, tried));
  // What one run asks for twice are two deeds.
  const earlier = [...reading.keys()].filter((at) => reading[at]?.content === content && reading[at].run < run);
  const open = earlier.filter((at) => reading[at]?.taken === undefined);
  if (!each.isAgain()) {
    // Before a later one that was taken it would have been superseded.
    const lastOther = reading.findLastIndex((other) => other.taken !== undefined && other.content !== content);
    const retried = open.find((at) => at > lastOther);
    return [as(retried === undefined ? asNew : asRetry(retried))];
  }
  if (earlier.length === 0) return [as(asNew)];
  const known = again?.run === run ? again : undefined;
  return [
    ...(open.length > 0
      ? open.toReversed().map((at) => as(asRetry(at)))
      : known?.isNew === true
        ? []
        : [as(reading, { run, isNew: false })]),
    ...(known?.isNew === false ? [] : [as(asNew, { run, isNew: true })]),
  ];
}

/** Of equal ones between which nothing else was taken, the first count as taken: sending the others undoes nothing. */
function takenFirst(reading: readonly PlacedTry[]): readonly PlacedTry[] {
  const sorted = [...reading];
  for (const [at, each] of sorted.entries()) {
    const next = sorted.findIndex(({ taken }, place) => place > at && taken !== undefined);
    const other = sorted[next];
    if (each.taken !== undefined || other?.content !== each.content) continue;
    sorted[at] = other;
    sorted[next] = each;
  }
  return sorted;
}
