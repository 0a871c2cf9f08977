/**
 * A chunk's life as one table: what can happen to a chunk, in which states, where that leads and what it writes. Every change
 * of the chunks table goes through `changeChunk`, which refuses an event that the chunk's state does not allow.
 */

import type { SQLInputValue } from "node:sqlite";
import type { Ledger } from "./ledger.ts";
import { type ChunkState, DECIDED_STATES } from "./states.ts";

/** The columns that events write, besides `state` and the chunk's key. */
type Column =
  | "lane"
  | "first"
  | "count"
  | "offset"
  | "length"
  | "parent"
  | "http_status"
  | "answered_at"
  | "detail"
  | "projected"
  | "rejects_written"
  | "merged";

/** What can happen to a chunk. */
export interface ChunkEvent {
  /** When it happens, for docs/ledger.md. */
  readonly when: string;
  /** The states in which it may find the chunk; none where the chunk begins with it. */
  readonly from: readonly ChunkState[];
  /** `same`: the state it had. */
  readonly to: ChunkState | "same";
  /** A fixed value, or `given` with the event. */
  readonly writes: Readonly<Partial<Record<Column, null | 0 | 1 | "given">>>;
}

const BORDERS = { lane: "given", first: "given", count: "given", offset: "given", length: "given" } as const;
const PART = { ...BORDERS, parent: "given", http_status: "given", detail: "given" } as const;
const CUT = { count: "given", length: "given" } as const;
const ATTEMPT_ENDED = { http_status: "given", detail: "given" } as const;

export const CHUNK_EVENTS = {
  plan: { from: [], to: "planned", writes: BORDERS, when: "a plan becomes a run" },
  addPlanned: { from: [], to: "planned", writes: PART, when: "a part of a chunk is to be sent by itself" },
  addDoubt: { from: [], to: "in doubt", writes: PART, when: "a part of a chunk is in doubt by itself" },
  addRefused: { from: [], to: "refused", writes: PART, when: "a person decided about the actions before this part" },
  addAbandoned: { from: [], to: "abandoned", writes: PART, when: "a part of a chunk is closed unsent" },

  intend: { from: ["planned"], to: "sending", writes: {}, when: "its request is about to leave" },
  answer: {
    from: ["sending"],
    to: "settled",
    writes: { http_status: "given", detail: null, answered_at: "given" },
    when: "the answer says what became of its actions",
  },
  giveBack: {
    from: ["sending"],
    to: "planned",
    writes: ATTEMPT_ENDED,
    when: "the service certainly took none of it",
  },
  refuse: { from: ["sending"], to: "refused", writes: ATTEMPT_ENDED, when: "the service refused it as a whole" },
  doubt: {
    from: ["sending"],
    to: "in doubt",
    writes: ATTEMPT_ENDED,
    when: "the answer was lost, or can't be understood",
  },
  hearLate: {
    from: ["in doubt"],
    to: "same",
    writes: { detail: "given" },
    when: "its answer came after all, from a sender that had been given up; a person is told what it says",
  },
  doubtLate: {
    from: ["planned"],
    to: "in doubt",
    writes: { detail: "given" },
    when: "the same, after it was planned again; the answer says that the service may have it",
  },
  split: {
    from: ["planned"],
    to: "split",
    writes: {},
    when: "it is too large for one request; its halves are planned",
  },
  rejectTooLarge: {
    from: ["sending"],
    to: "settled",
    writes: ATTEMPT_ENDED,
    when: "its only action is too large for a request",
  },
  reopen: {
    from: ["refused"],
    to: "planned",
    writes: { detail: null },
    when: "the config says that a refusal takes nothing (`refusalsAreWhole`)",
  },

  cut: {
    from: ["in doubt", "refused"],
    to: "same",
    writes: CUT,
    when: "its later actions became a chunk of their own",
  },
  settleSent: {
    from: ["in doubt", "refused"],
    to: "settled by hand",
    writes: { detail: null },
    when: "a person says that the service has it",
  },
  settleNotSent: {
    from: ["in doubt", "refused"],
    to: "planned",
    writes: { detail: null, http_status: null },
    when: "a person says that the service does not have it",
  },
  close: {
    from: ["planned", "in doubt", "refused"],
    to: "abandoned",
    writes: { detail: null },
    when: "the run is closed, and the service does not have it",
  },
  closeUnlisted: {
    from: ["planned", "sending", "in doubt", "refused"],
    to: "abandoned",
    writes: { detail: null, rejects_written: 1 },
    when: "the same, and the run's plan is lost, so its actions can't be listed",
  },

  foundUnsent: {
    from: ["planned"],
    to: "same",
    writes: CUT,
    when: "its later actions must not be sent, and became a chunk of their own",
  },
  foundClosed: {
    from: ["planned"],
    to: "abandoned",
    writes: CUT,
    when: "its first actions must not be sent: something accepted since rules it out",
  },

  project: {
    from: ["settled", "settled by hand"],
    to: "same",
    writes: { projected: 1 },
    when: "its lines are in the promises file",
  },
  collectAnew: {
    from: ["settled", "settled by hand"],
    to: "same",
    writes: { projected: 0 },
    when: "the run's promises go into another file from now on, all of them",
  },
  writeRejects: {
    from: DECIDED_STATES,
    to: "same",
    writes: { rejects_written: 1 },
    when: "the rows it left open are in the rejects files",
  },
  merge: {
    from: DECIDED_STATES,
    to: "same",
    writes: { merged: 1 },
    when: "its accepted actions are in the tables of deeds, events and tickets",
  },

  remember: {
    from: [],
    to: "settled",
    writes: { lane: 0, first: "given", count: "given", offset: 0, length: 0, projected: 1, rejects_written: 1 },
    when: "an imported promises file names a run that the ledger lacks",
  },
  rememberMore: {
    from: ["settled"],
    to: "same",
    writes: { first: "given", count: "given", merged: 0 },
    when: "a second file tells more about it",
  },
} as const satisfies Record<string, ChunkEvent>;

export type ChunkEventName = keyof typeof CHUNK_EVENTS;

type WritesOf<E extends ChunkEventName> = (typeof CHUNK_EVENTS)[E]["writes"];
/** A value for each column that the event leaves open. */
type GivenOf<E extends ChunkEventName> = {
  readonly [C in keyof WritesOf<E> as WritesOf<E>[C] extends "given" ? C : never]: SQLInputValue | undefined;
};

/** Which chunk. */
export interface ChunkKey {
  readonly runNo: number;
  readonly chunk: number;
}

/**
 * Part of a transaction: applies the event to the chunk.
 *
 * @param given a value for each column that the event leaves open. Other keys are ignored; undefined becomes NULL.
 * @throws Error, and changes nothing, when the chunk's state does not allow the event.
 */
export function changeChunk<E extends ChunkEventName>(
  ledger: Ledger,
  event: E,
  { runNo, chunk }: ChunkKey,
  ...[given]: keyof GivenOf<E> extends never ? [] : [given: GivenOf<E>]
): void {
  const { sql, open } = STATEMENTS[event];
  const values: Readonly<Record<string, SQLInputValue | undefined>> = given ?? {};
  if (ledger.run(sql, ...open.map((column) => values[column] ?? null), runNo, chunk) === 1) return;
  const found = ledger.get("SELECT state FROM chunks WHERE run_no = ? AND chunk = ?", runNo, chunk)?.state;
  throw new Error(`chunk ${chunk} of run ${runNo} is ${found ?? "missing"}, so "${event}" can't happen to it`);
}

/** The statement of an event. Its values: the open columns, the run, the chunk, in this order. It changes one row, or none. */
interface Statement {
  readonly sql: string;
  readonly open: readonly string[];
}

const STATEMENTS: Readonly<Record<ChunkEventName, Statement>> = Object.fromEntries(
  Object.entries(CHUNK_EVENTS).map(([name, event]) => [name, toStatement(event)]),
) as Record<ChunkEventName, Statement>; // made of the entries of the same table

function toStatement({ from, to, writes }: ChunkEvent): Statement {
  const entries = Object.entries(writes);
  const open = entries.filter(([, value]) => value === "given").map(([column]) => column);
  const fixed = [
    ...(to === "same" ? [] : [["state", `'${to}'`]]),
    ...entries.filter(([, value]) => value !== "given").map(([column, value]) => [column, value ?? "NULL"]),
  ];
  if (from.length === 0) {
    const columns = [...open, "run_no", "chunk", ...fixed.map(([column]) => column)];
    const values = [...open, "run_no", "chunk"].map(() => "?").concat(fixed.map(([, value]) => String(value)));
    const sql = `INSERT INTO chunks (${columns.join(", ")}) VALUES (${values.join(", ")}) ON CONFLICT DO NOTHING`;
    return { sql, open };
  }
  const sets = [...open.map((column) => `${column} = ?`), ...fixed.map(([column, value]) => `${column} = ${value}`)];
  const guard = `run_no = ? AND chunk = ? AND state IN (${from.map((state) => `'${state}'`).join(", ")})`;
  return {
    sql: `UPDATE chunks SET ${sets.join(", ")} WHERE ${guard}`,
    open,
  };
}
