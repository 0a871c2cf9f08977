/** A chunk's life as one table. */

export const CHUNK_STATES = [
  "planned",
  "sending",
  "answered",
  "split",
  "refused",
  "in doubt",
  "settled",
  "abandoned",
] as const;
export type ChunkState = (typeof CHUNK_STATES)[number];

/**
 * What happens to a chunk: in which states it may, and where it leads.
 *
 * - `intend`: a request is about to leave. `giveBack`: the service has nothing of it (429, no connection).
 * - `answer`: what became of every action is known. `split`: smaller chunks hold its actions.
 * - `refuse`: 3xx, 4xx. `doubt`: what the service has is not known.
 * - `doubtLate`: an answer came after the attempt was given up, and the service may have what is planned again.
 * - `settleSent`, `settleNotSent`: a person's word. `abandon`: it will not be sent; `dropDoubt`: so says a person of what an
 *   abandoned run left in doubt, or refused: part of it may have been taken.
 */
export const TRANSITIONS = {
  intend: { from: ["planned"], to: "sending" },
  giveBack: { from: ["sending"], to: "planned" },
  answer: { from: ["sending"], to: "answered" },
  split: { from: ["planned"], to: "split" },
  refuse: { from: ["sending"], to: "refused" },
  doubt: { from: ["sending"], to: "in doubt" },
  doubtLate: { from: ["planned"], to: "in doubt" },
  /** What became of some of its actions only is known. */
  cut: { from: ["in doubt", "refused"], to: "split" },
  settleSent: { from: ["in doubt", "refused"], to: "settled" },
  settleNotSent: { from: ["in doubt", "refused"], to: "planned" },
  abandon: { from: ["planned"], to: "abandoned" },
  dropDoubt: { from: ["in doubt", "refused"], to: "abandoned" },
  /** A promises file tells what became of it, which this ledger, an older one, does not know. */
  import: { from: ["planned", "sending", "in doubt", "refused"], to: "answered" },
} as const satisfies Record<string, { readonly from: readonly ChunkState[]; readonly to: ChunkState }>;
export type ChunkEvent = keyof typeof TRANSITIONS;

type Listed = readonly ChunkState[];

/** Its actions are pending: no other run sends them, nor what depends on them. */
export const PENDING_STATES = ["planned", "sending", "refused", "in doubt"] as const satisfies Listed;
/** Something is left to send, or is being sent: a run that is closed has none of it. */
export const OPEN_STATES = ["planned", "sending"] as const satisfies Listed;
/** A person has to decide. */
export const QUESTION_STATES = ["in doubt", "refused"] as const satisfies Listed;
/** Every outcome is known. */
export const DECIDED_STATES = ["answered", "settled"] as const satisfies Listed;
