/** The states that runs, chunks and actions have in the ledger. */

export const RUN_STATES = ["open", "finished", "abandoned"] as const;
export type RunState = (typeof RUN_STATES)[number];

export const CHUNK_STATES = [
  "planned",
  "sending",
  "answered",
  "settled",
  "split",
  "refused",
  "in doubt",
  "settled by hand",
  "abandoned",
] as const;
export type ChunkState = (typeof CHUNK_STATES)[number];

/** What has an outcome of its own; an action whose chunk is planned, refused or in doubt has none yet. */
export const OUTCOMES = ["accepted", "rejected", "settled by hand", "not sent"] as const;
export type Outcome = (typeof OUTCOMES)[number];
