/** Chunks as `status RUN` tells them. */

export interface Chunk {
  readonly chunk: number;
  /** The chunk of the plan that its actions stood in; its own number where it is that one. */
  readonly whole: number;
  readonly state: string;
  readonly count: number;
}

/** In the order in which they are sent, without what was cut into others. */
export const chunksIn = (shown: string): readonly Chunk[] =>
  [...shown.matchAll(/^chunk (\d+)(?: \(a part of chunk (\d+)\))?: ([a-z ]+), ([\d,]+) actions?/gm)]
    .map(([, chunk, whole, state = "", count = ""]) => ({
      chunk: Number(chunk),
      whole: Number(whole ?? chunk),
      state,
      count: Number(count.replaceAll(",", "")),
    }))
    .filter(({ state }) => state !== "split");
