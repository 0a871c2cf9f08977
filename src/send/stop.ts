/** Why sending ends, of a run or of one of its lanes. */

import type { StopSignal } from "../failure.ts";
import type { Chunk } from "../ledger/ledger.ts";

/** What the service said of a chunk: in a few words, and the beginning of its answer. */
interface Said {
  readonly chunk: Chunk;
  readonly detail: string;
  readonly body: string;
}

/** What keeps a run from being sent to its end. */
export type Stop =
  | ({ readonly kind: "in doubt" } & Said)
  /** `whole`: the environment vouches that nothing of the chunk was taken, so it can be sent again. */
  | ({ readonly kind: "refused"; readonly whole: boolean } & Said)
  | ({ readonly kind: "authentication failed" } & Said)
  /** `reached`: the service answered, with nothing but a request to come back later. */
  | ({ readonly kind: "not reachable"; readonly reached: boolean } & Omit<Said, "body"> & {
        readonly attempts: number;
        readonly waitMs?: number;
      })
  | { readonly kind: "too many rejections"; readonly rejected: number }
  /** A clean stop at a chunk's border. */
  | { readonly kind: "stopped"; readonly by: StopRequest };

/** `elsewhere`: a person, or another machine, stopped the run. */
export type StopRequest = StopSignal | "max-duration" | "elsewhere";

/** `halted`: another lane has ended all. `taken`: another worker sends it now. `disk full`: the ledger takes no further intent. */
export type LaneEnd = Stop | { readonly kind: "finished" | "halted" | "taken" | "disk full" };
