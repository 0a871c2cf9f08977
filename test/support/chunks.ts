/** Chunks as `status RUN` tells them. */

export interface Chunk {
  readonly chunk: number;
  /** The planned chunk that it is a part of. */
  readonly whole: number | undefined;
  readonly state: string;
  /** How many actions. */
  readonly count: number;
}

/** In the order in which they are sent, without what was cut in two. */
export const chunksIn = (shown: string): readonly Chunk[] =>
  [...shown.matchAll(/^chunk (\d+)(?: \(a part of chunk (\d+)\))?: ([a-z ]+), ([\d,]+) actions?/gm)]
    .map(([, chunk, whole, state = "", count = ""]) => ({
      chunk: Number(chunk),
      whole: whole === undefined ? undefined : Number(whole),
      state,
      count: Number(count.replaceAll(",", "")),
    }))
    .filter(({ state }) => state !== "split");
