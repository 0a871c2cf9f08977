/** Items of arrays that come one after the other. A wait for each item would cost more than what is done with it. */
export interface OneByOne<T> extends AsyncDisposable {
  /** The next item of the array in hand; undefined at its end. */
  readonly inHand: () => T | undefined;
  /** The next item, of the next array where the one in hand is at its end; undefined after the last. */
  readonly next: () => Promise<T | undefined>;
}

export function oneByOne<T extends object>(batches: AsyncGenerator<readonly T[], void>): OneByOne<T> {
  let batch: readonly T[] = [];
  let at = 0;
  const inHand = (): T | undefined => {
    const item = batch[at];
    at += 1;
    return item;
  };
  return {
    inHand,
    async next() {
      for (;;) {
        const item = inHand();
        if (item !== undefined) return item;
        const read = await batches.next();
        if (read.done) return undefined;
        batch = read.value;
        at = 0;
      }
    },
    async [Symbol.asyncDispose]() {
      await batches.return();
    },
  };
}
