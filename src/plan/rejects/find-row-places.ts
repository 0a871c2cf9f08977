/** Where rows that are not sent stand among what was accepted before, and among what the plan sends. */

import { ACTION_NAMES, type Action, type ActionName } from "../../actions/actions.ts";
import { acceptedDeeds } from "../../ledger/deeds.ts";
import { keyedDeeds } from "../../ledger/keyed-deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Pending } from "../../ledger/pending.ts";
import type { AskedAt, RowPlace } from "../../ledger/row-places.ts";
import {
  type BlockedRow,
  type Candidate,
  type CandidateLines,
  identityOf,
  readCandidates,
} from "../candidates/candidates.ts";
import type { PlacedRow } from "../candidates/rows-not-sent.ts";
import { contentAt } from "../files/index-file.ts";
import { historiesOf } from "../identity/blocked-deeds.ts";
import { hasHistory, historyOf, lastCounts } from "../identity/history-of-candidate.ts";
import { pendingAs } from "../identity/pending-deeds.ts";
import type { Verdicts } from "../identity/verdicts.ts";

/** The last deeds of an input that were accepted before, or that another run may bring. */
export interface LastAccepted {
  /** By history (hex). */
  readonly ofHistory: ReadonlyMap<string, Spot & { readonly deed: AskedAt }>;
  /** Of kinds of which the last deed counts. */
  readonly ofKind: ReadonlyMap<ActionName, Spot>;
  /** Whether what of a history (hex) was accepted could not be told. */
  readonly isUndecided: (history: string) => boolean;
  /** By history (hex): the last bad row that may be an accepted one. */
  readonly maybe: ReadonlyMap<string, Spot>;
  /** By history (hex): the last bad row that stands for an accepted one, so that no rejects hold it. */
  readonly inPlace: ReadonlyMap<string, Spot>;
}

/** A place before the candidate of this number. Of several there, the one of the later row is behind; the candidate is behind them all. */
interface Spot {
  readonly before: number;
  readonly row: number;
}

const isBehind = (one: Spot, other: Spot): boolean =>
  one.before === other.before ? one.row > other.row : one.before > other.before;

const NOTHING_ACCEPTED: LastAccepted = {
  ofHistory: new Map(),
  ofKind: new Map(),
  isUndecided: () => false,
  maybe: new Map(),
  inPlace: new Map(),
};

/** @param histories (hex) of the rows that are not sent. */
export async function findLastAccepted(options: {
  readonly directory: string;
  readonly ledger: Ledger | undefined;
  readonly pending: Pending;
  readonly lines: CandidateLines;
  readonly verdicts: Verdicts;
  readonly blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>;
  readonly histories: ReadonlySet<string>;
  /** Rows behind were left out (`--limit`). */
  readonly isCut: boolean;
}): Promise<LastAccepted> {
  const { directory, ledger, lines, verdicts, blockedRows, histories, isCut } = options;
  if (ledger === undefined) return NOTHING_ACCEPTED;
  const ofHistory = new Map<string, Spot & { readonly deed: AskedAt }>();
  const ofKind = new Map<ActionName, Spot>();
  const candidates = new Map<string, Candidate>();
  const undecided = new Set<string>();
  /** Contents, by history, of accepted deeds and of those that wait beside a bad row. Where both say the same, either may be the accepted one. */
  const contents = { accepted: new Set<string>(), held: new Set<string>() };
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const { action, seq, keyed, untimed } = candidate;
      const isUnclear = verdicts.detailOf(candidate)?.kind === "unclear";
      const isHeld = verdicts.of(candidate) === "held" && untimed && !keyed;
      if (!isUnclear && !isHeld && !KNOWN.has(verdicts.of(candidate))) continue;
      if (isUnclear) undecided.add(historyOf(candidate, lines).toString("hex"));
      if (lastCounts(action) && !isHeld) ofKind.set(action, { before: seq, row: Number.POSITIVE_INFINITY });
      // Others are a set, or told apart by their keys.
      else if (!hasHistory(action) || keyed || !untimed) continue;
      if (isUnclear) continue;
      const history = histories.size === 0 ? "" : historyOf(candidate, lines).toString("hex");
      if (!histories.has(history)) continue;
      if (!isHeld) candidates.set(history, candidate);
      contents[isHeld ? "held" : "accepted"].add(
        `${history} ${contentAt(candidate.block, candidate.at).toString("hex")}`,
      );
    }
  }
  for (const both of contents.held.intersection(contents.accepted)) undecided.add(both.split(" ", 1)[0] ?? "");
  for (const [history, candidate] of candidates) {
    const deed = deedOf(options, ledger, candidate, history);
    if (deed !== undefined) ofHistory.set(history, { before: candidate.seq, row: Number.POSITIVE_INFINITY, deed });
  }
  const maybe = new Map<string, Spot>();
  const inPlace = new Map<string, Spot>();
  const closed = new Set(verdicts.closed.map(({ row }) => row));
  for await (const { before, row, attempted, accepted } of blockedRows) {
    const spot = { before, row };
    if (accepted === undefined) {
      const isInPlace = closed.has(row);
      const spots = isInPlace ? inPlace : maybe;
      for (const history of historiesOf(attempted)) {
        const last = spots.get(history);
        const isOne = isInPlace || verdicts.missed.has(history);
        if (isOne && (last === undefined || isBehind(spot, last))) spots.set(history, spot);
      }
      continue;
    }
    const isLast = (other: Spot | undefined): boolean => other === undefined || isBehind(spot, other);
    for (const { action } of attempted as readonly Action[]) // as it was accepted
      if (lastCounts(action) && isLast(ofKind.get(action))) ofKind.set(action, spot);
    for (const history of historiesOf(attempted))
      if (histories.has(history) && isLast(ofHistory.get(history))) ofHistory.set(history, { ...spot, deed: accepted });
  }
  if (isCut)
    for (const action of ACTION_NAMES.filter(lastCounts))
      ofKind.set(action, { before: Number.POSITIVE_INFINITY, row: Number.POSITIVE_INFINITY });
  return { ofHistory, ofKind, isUndecided: (history) => isCut || undecided.has(history), maybe, inPlace };
}

const KNOWN: ReadonlySet<ReturnType<Verdicts["of"]>> = new Set(["sent", "changed", "pending"]);

/** Which deed an accepted or pending candidate is; of several that say the same, the last. */
function deedOf(
  { pending, verdicts }: Parameters<typeof findLastAccepted>[0],
  ledger: Ledger,
  candidate: Candidate,
  history: string,
): AskedAt | undefined {
  const detail = verdicts.detailOf(candidate);
  if (detail?.kind === "changed") return detail.from;
  if (verdicts.of(candidate) === "pending") return pendingAs(pending, candidate, history).at(-1);
  const content = contentAt(candidate.block, candidate.at);
  const identity = identityOf(candidate);
  const plain = Buffer.from(history, "hex");
  const deeds = [
    ...acceptedDeeds(ledger, plain),
    ...keyedDeeds(ledger, plain).filter(({ isTaken }) => isTaken),
    ...acceptedDeeds(ledger, identity),
  ];
  return deeds.findLast((deed) => deed.content.equals(content)) ?? deeds.at(-1);
}

/** Which candidates the plan sends, and how it orders them. */
export interface PlannedOrder {
  /** Numbers of candidates that are sent, in order. */
  readonly kept: readonly { readonly first: number; readonly count: number }[];
  /** How many actions each lane has. */
  readonly lanes: readonly number[];
  /** The lane of an action, by its place among those that are sent, from 0. */
  readonly laneOf: (action: number) => number;
  /** By row that is not sent, the candidate that it stands before; undefined where the input's order was kept. */
  readonly moved: ReadonlyMap<number, number> | undefined;
}

/** @returns tells the places of rows, which are asked for in the order of the input. */
export function createRowPlaces(accepted: LastAccepted, order: PlannedOrder): (row: PlacedRow) => RowPlace {
  const { moved } = order;
  const firstBehind = createFirstBehind(order);
  return ({ row, before: given, histories }) => {
    const spot = { before: moved?.get(row) ?? given, row };
    const kinds = [...accepted.ofKind].filter(([, last]) => moved !== undefined || isBehind(last, spot));
    return {
      // Where rows were put into another order, where one stands depends on the ticket, which may be mended too.
      firstBehind: moved === undefined ? firstBehind(given) : [],
      histories: histories.map((history) => {
        const last = accepted.ofHistory.get(history);
        const maybe = accepted.maybe.get(history);
        const inPlace = accepted.inPlace.get(history);
        return {
          history,
          ...(last !== undefined && isBehind(last, spot) && { behind: askedAt(last.deed) }),
          ...((accepted.isUndecided(history) || (inPlace !== undefined && isBehind(inPlace, spot))) && {
            isUndecided: true,
          }),
          ...(maybe !== undefined && isBehind(maybe, spot) && { isBeforeBad: true }),
        };
      }),
      kindsBehind: kinds.map(([action]) => action),
    };
  };
}

const askedAt = ({ runNo, seq }: AskedAt): AskedAt => ({ runNo, seq });

/** Tells, by lane, the number of the first action that stands behind what stands before a candidate. To be asked in order. */
function createFirstBehind({ kept, lanes, laneOf }: PlannedOrder): (before: number) => readonly number[] {
  const next: number[] = [];
  let first = 1;
  for (const actions of lanes) {
    next.push(first);
    first += actions;
  }
  let [range, inRange, action] = [0, 0, 0];
  return (before) => {
    for (; range < kept.length; range += 1, inRange = 0) {
      const { first, count } = kept[range] ?? { first: 0, count: 0 };
      for (; inRange < count && first + inRange < before; inRange += 1, action += 1) {
        const lane = laneOf(action);
        next[lane] = (next[lane] ?? 0) + 1;
      }
      if (inRange < count) break;
    }
    return [...next];
  };
}
