/** From files to a checked plan, whose new actions the ledger can enter: the whole way in some eight steps. */

import { ACTION_NAMES, type ActionName } from "../actions/actions.ts";
import { baseOf } from "../actions/marks.ts";
import type { Corrected, GuardNote, Ledger, NewAction, NewChunk } from "../ledger/ledger.ts";
import { createRowDigester } from "../map/row-digest.ts";
import { keptRow } from "../read/row.ts";
import { actionsByKey, bodiesOf, type ChunkLimits, cutChunks, type Sorting } from "./chunks.ts";
import { guardNotes, reportStrange } from "./guard.ts";
import type { Held } from "./held.ts";
import { Judge, type JudgeOptions } from "./judge.ts";
import { Rows, type RowsOptions } from "./rows.ts";
import type { ReadInput, RowsRead } from "./rows-read.ts";
import { Store } from "./store.ts";
import type { Verdict } from "./verdicts.ts";
import { dependsText } from "./words.ts";

/** In which order actions are sent (docs/nightly.md#the-same-export-again). */
export type Order = "input" | "time";

/** How many invalid rows a run bears. */
export type Allowance = { readonly rows: number } | { readonly percent: number };

export interface PlanOptions extends Omit<RowsOptions, "isByTime" | "ledger" | "now"> {
  readonly ledger: Pick<Ledger, "actionsOf" | "near" | "body" | "corrected" | "guard" | "run"> | undefined;
  /** Undefined where no environment is asked. */
  readonly environment: JudgeOptions["environment"];
  /** `--resend` and `--adopt`. */
  readonly mode: JudgeOptions["mode"];
  readonly order: Order;
  readonly lanes: number;
  readonly maxInvalid: Allowance;
  readonly now: () => Date;
  readonly onJudged: (actions: number) => void;
}

export interface RowCounts {
  readonly read: number;
  readonly mapped: number;
  readonly skipped: number;
  readonly invalid: number;
  readonly held: number;
}

/** They add up: `total` is the sum of all others. */
export type ActionCounts = Readonly<Record<"total" | "new" | "alreadySent" | Exclude<Verdict, "new" | "sent">, number>>;

/** A row that is invalid, held or unclear, for its rejects. */
interface RowNotSent {
  readonly input: number;
  readonly line: number;
  /** As `NewChunk.rows`. */
  readonly text: string;
  readonly isUnclear: boolean;
  readonly reason: string;
  /** Of a bad row, or of one that is unclear. */
  readonly digest: string | undefined;
  /** Where it was first read; the run's id undefined: in this one. */
  readonly position: { readonly run: string | undefined; readonly seq: number };
}

/** A checked plan. Disposed of, its file is gone. */
export interface Plan extends Disposable {
  readonly inputs: readonly ReadInput[];
  readonly rows: RowCounts;
  readonly actions: ActionCounts;
  /** All of them, and those that are new, by kind. */
  readonly byAction: Readonly<Record<string, number>>;
  readonly newByAction: Readonly<Record<string, number>>;
  readonly skipReasons: ReadonlyMap<string, number>;
  readonly held: Held;
  /** Lanes that are used. */
  readonly lanes: number;
  /** Nothing may be sent: too many rows are invalid, or a file as a whole is. */
  readonly isRefused: boolean;
  /** A file as a whole is invalid, or part of it can't be read as rows: no allowance helps. */
  readonly isUnfit: boolean;
  /** What the ledger remembers of the sources, once something is entered or all was known. */
  readonly guard: readonly GuardNote[];
  /** The new actions as chunks; to be read to the end before `byKey`. */
  readonly chunks: (limits: ChunkLimits) => AsyncGenerator<NewChunk>;
  /** The JSON of the new actions, many at a time. */
  readonly bodies: () => Generator<readonly string[]>;
  /** The new actions by identity, as the ledger enters or adopts them. */
  readonly byKey: () => AsyncGenerator<readonly NewAction[]>;
  /** Rows that go into rejects, in the order of the input. */
  readonly notSent: () => Generator<RowNotSent>;
  /** What the corrected versions of bad rows give, where all of it is sent by now, or new. */
  readonly corrected: () => readonly Corrected[];
  /** What is said of every action, and the line of its row; of a bad row that gives none, `bad`. */
  readonly verdicts: () => readonly { readonly line: number; readonly verdict: Verdict | "bad" }[];
}

/** Makes a plan: `validate` walks the same way without a ledger. The inputs are not needed any more after it resolves. */
export async function makePlan(options: PlanOptions): Promise<Plan> {
  const { order, mode } = options;
  const at = options.now();
  const now = Math.floor(at.getTime() / 1000);
  const store = new Store();
  try {
    const read = await new Rows(store, { ...options, now, isByTime: order === "time" }).readAll();
    if (read.hasPositions || order === "time") {
      const { orderByPosition, orderByTime } = await import("./order.ts");
      if (read.hasPositions) orderByPosition(store);
      if (order === "time") orderByTime(store);
    }
    const judge = new Judge(store, read, options);
    await judge.judgeAll();
    const isWhole = mode === "judge" && !read.isCut;
    if (isWhole) reportStrange(judge.recognised, read);
    // Loaded only where there is need: most nights there is none.
    const held = judge.isAnyHeld ? (await import("./held.ts")).spreadHeld(store, read) : NOTHING_HELD;
    const lanes = options.lanes > 1 ? (await import("./lanes.ts")).spreadOverLanes(store, options.lanes) : 1;
    const sorting: Sorting =
      lanes > 1 ? "stage, lane, place" : order === "input" && !read.hasPositions ? "action.seq" : "place";
    const { inputs, skipReasons, skipped, invalid, isUnfit } = read;
    const mapped = read.read - skipped - invalid - held.rows;
    return {
      ...{ inputs, rows: { read: read.read, mapped, skipped, invalid, held: held.rows } },
      ...{ ...countActions(store), skipReasons, held, lanes },
      ...{ isUnfit, isRefused: isUnfit || invalid > allowedRows(options.maxInvalid, read.read) },
      guard: guardNotes(judge.recognised, read, isWhole ? at.toISOString() : undefined),
      chunks: (limits) => cutChunks(store, sorting, limits, read.runs),
      bodies: () => bodiesOf(store, sorting),
      byKey: () => actionsByKey(store),
      notSent: () => rowsNotSent(store, read),
      corrected: () => correctedIn(store),
      verdicts: () => store.all(VERDICTS),
      [Symbol.dispose]: () => store[Symbol.dispose](),
    };
  } catch (cause) {
    store[Symbol.dispose]();
    throw cause;
  }
}

const NOTHING_HELD: Held = { heldFor: [], heldBy: new Map(), rows: 0 };

const allowedRows = (allowance: Allowance, read: number): number =>
  "rows" in allowance ? allowance.rows : Math.floor((read * allowance.percent) / 100);

function countActions(store: Store): Pick<Plan, "actions" | "byAction" | "newByAction"> {
  const actions = { total: 0, new: 0, alreadySent: 0, changed: 0, late: 0, unclear: 0, held: 0 };
  const byAction: Record<string, number> = {};
  const newByAction: Record<string, number> = {};
  const found = store.all<{ kind: ActionName; verdict: Verdict; actions: number }>(
    "SELECT kind, verdict, count(*) AS actions FROM action WHERE verdict <> 'bad' GROUP BY kind, verdict",
  );
  for (const kind of ACTION_NAMES)
    for (const { verdict, actions: count } of found.filter((each) => each.kind === kind)) {
      actions.total += count;
      actions[verdict === "sent" ? "alreadySent" : verdict] += count;
      byAction[kind] = (byAction[kind] ?? 0) + count;
      if (verdict === "new") newByAction[kind] = count;
    }
  return { actions, byAction, newByAction };
}

/** Several rows may correct one: it counts once all of them do. */
const CORRECTING = `
SELECT digest, subject, kind, mark, verdict FROM row JOIN action USING (row)
WHERE digest IS NOT NULL AND digest NOT IN (
  SELECT digest FROM row JOIN action USING (row)
  WHERE digest IS NOT NULL AND (state IS NOT NULL OR verdict NOT IN ('new', 'sent'))
)`;

function correctedIn(store: Store): readonly Corrected[] {
  const found = store.all<Corrected & { readonly verdict: Verdict }>(CORRECTING);
  // What was sent before has the mark that it had then, though a resend may have given it the next one.
  return found.map(({ verdict, mark, ...of }) => ({ ...of, mark: verdict === "sent" ? baseOf(mark) : mark }));
}

/** Of a row's actions, the one that stands first counts for its position. */
const NOT_SENT = `
SELECT action.input, action.line, first.text, digest, state IS NULL AS isUnclear,
  coalesce(row.reason, action.reason, CASE WHEN action.why = 'pending' THEN 'held: the run ' || action.cause || ' is not finished.' END) AS reason,
  CAST(action.cause AS INTEGER) AS cause, action.run, coalesce(action.at, action.place) AS seq, min(action.place) AS place
FROM action JOIN action AS first ON first.seq = action.row LEFT JOIN row ON row.row = action.row
WHERE action.verdict IN ('bad', 'held', 'unclear')
GROUP BY action.row ORDER BY action.row`;

function* rowsNotSent(store: Store, read: RowsRead): Generator<RowNotSent> {
  interface Found extends Pick<RowNotSent, "input" | "line" | "text"> {
    digest: string | null;
    isUnclear: 0 | 1;
    reason: string | null;
    cause: number | null;
    run: number | null;
    seq: number;
  }
  for (const batch of store.batches<Found>(NOT_SENT))
    for (const { input, line, text, digest, isUnclear, reason, cause, run, seq } of batch)
      yield {
        ...{ input, line, text },
        isUnclear: isUnclear === 1,
        reason: reason ?? `depends-on-invalid: ${dependsText(read.lineOf(cause ?? 0))}`,
        digest: isUnclear === 1 ? digestOf(text, line, read.inputs[input]) : (digest ?? undefined),
        position: { run: run === null ? undefined : read.runs.get(run), seq },
      };
}

function digestOf(text: string, line: number, input: ReadInput | undefined): string {
  const { header, delimiter, readAs = "" } = input ?? {};
  return createRowDigester(header, readAs)(keptRow(text, line, { header, delimiter }));
}

const VERDICTS = "SELECT line, verdict FROM action ORDER BY seq";
