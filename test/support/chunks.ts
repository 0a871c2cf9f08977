/** Chunks as `status RUN` tells them. */

export interface Chunk {
  readonly chunk: number;
  /** The planned chunk that it is a part of. */
  readonly whole: number | undefined;
  readonly state: string;
  readonly first: number;
  readonly count: number;
}

/** In the order of the plan, without what was cut in two. */
export const chunksIn = (shown: string): readonly Chunk[] =>
  [...shown.matchAll(/^chunk (\d+)(?: \(a part of chunk (\d+)\))?: ([a-z ]+), actions (\d+) to (\d+)/gm)]
    .map(([, chunk, whole, state = "", first, last]) => ({
      chunk: Number(chunk),
      whole: whole === undefined ? undefined : Number(whole),
      state,
      first: Number(first),
      count: Number(last) - Number(first) + 1,
    }))
    .filter(({ state }) => state !== "split")
    .toSorted((one, other) => one.first - other.first || one.chunk - other.chunk);
