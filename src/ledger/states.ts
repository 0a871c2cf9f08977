/** The states that runs, chunks and actions have in the ledger. */

export const RUN_STATES = ["open", "finished", "abandoned"] as const;
export type RunState = (typeof RUN_STATES)[number];

export const CHUNK_STATES = [
  "planned",
  "sending",
  "settled",
  "split",
  "refused",
  "in doubt",
  "settled by hand",
  "abandoned",
] as const;
export type ChunkState = (typeof CHUNK_STATES)[number];

/** Only a person can say what became of a chunk in one of these. */
export const QUESTION_STATES = ["in doubt", "refused"] as const satisfies readonly ChunkState[];

/** Actions of a chunk in one of these may have reached the service. */
export const PERHAPS_TAKEN_STATES = ["sending", ...QUESTION_STATES] as const satisfies readonly ChunkState[];

/** A lane with a chunk in one of these is not done. */
export const OPEN_STATES = ["planned", "sending"] as const satisfies readonly ChunkState[];

/** Actions of a chunk in one of these may still reach the service, or may have reached it. */
export const UNDECIDED_STATES = ["planned", ...PERHAPS_TAKEN_STATES] as const satisfies readonly ChunkState[];

/** The service, or a person, has said what became of a chunk in one of these. */
export const SETTLED_STATES = ["settled", "settled by hand"] as const satisfies readonly ChunkState[];

/** All actions of a chunk in one of these have an outcome. Those of one that was split stand in its halves. */
export const DECIDED_STATES = [...SETTLED_STATES, "abandoned"] as const satisfies readonly ChunkState[];

/** What has an outcome of its own; an action whose chunk is planned, refused or in doubt has none yet. */
export const OUTCOMES = ["accepted", "rejected", "settled by hand", "not sent"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What the service has. */
export const TAKEN_OUTCOMES = ["accepted", "settled by hand"] as const satisfies readonly Outcome[];
