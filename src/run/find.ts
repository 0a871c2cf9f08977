/** All that was ever sent about a ticket, an event or a promise, in the order in which it was sent. Takes no lock. */

import type { Action } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import type { Failure } from "../failure.ts";
import { pastOfChunk } from "../ledger/chunk-past.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { type OutcomeRow, SUPERSEDED } from "../ledger/outcomes.ts";
import { readRunList } from "../ledger/run-list.ts";
import { isImportedRun, runNumbers, runOf } from "../ledger/runs.ts";
import {
  countOutcomes,
  doubtsWithPromise,
  fieldNaming,
  ID_FIELDS,
  type SentAction,
  sentAbout,
  similarIds,
  withPromise,
} from "../ledger/sent-about.ts";
import { rejectionText } from "../outputs/rejection-text.ts";
import type { RunContext } from "./context.ts";
import { type Undecided, undecidedAbout } from "./find-undecided.ts";
import { type FoundAction, type FoundAs, type FoundAt, itemOf, placeText, type Searched } from "./found-action.ts";
import { openLedgerToRead } from "./ledger-to-read.ts";
import { lostRunsFailure, lostRunsOf } from "./lost-runs.ts";
import { labelOf } from "./promises.ts";
import type { Settings } from "./settings.ts";

export interface Found {
  /** Why the ledger does not know everything that was sent. */
  readonly problem: Failure | undefined;
  readonly hasLedger: boolean;
  /** What the id was looked for as. */
  readonly lookedFor: readonly FoundAs[];
  readonly actions: readonly FoundAction[];
  /** Other spellings of the id of which something was sent; only where nothing was found. */
  readonly similar: readonly string[];
  /** Runs with actions of which only a plan tells that can't be read. */
  readonly unread: Undecided["unread"];
}

export interface FindSettings {
  readonly settings: Pick<Settings, "environment">;
  readonly id: string;
}

/** The form that the specification gives an actionPromise. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @throws Failure where the ledger can't be read, or belongs to another service. */
export async function find(context: RunContext, { settings, id }: FindSettings): Promise<Found> {
  const { environment } = settings;
  const list = readRunList(runListPath(environment.ledgerPath));
  using ledger = await openLedgerToRead(environment);
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger);
  const problem = lost.length === 0 ? undefined : await lostRunsFailure(lost, environment, context.cwd);
  if (ledger === undefined) return { problem, hasLedger: false, lookedFor: [], actions: [], similar: [], unread: [] };
  // A run that goes on meanwhile moves actions from one place to the next.
  return await ledger.snapshot(async () => {
    const searched = { ledger, environment, id };
    const decided = decidedAbout(searched);
    const { actions: undecided, unread } = await undecidedAbout(
      searched,
      new Set(doubtsWithPromise(ledger, id).map(placeText)),
    );
    const asIds = [...decided, ...undecided];
    const isPromise = UUID.test(id) || asIds.length === 0;
    const promised = isPromise ? await promisedAs(context, searched) : [];
    const actions = inOrderSent(ledger, [
      ...new Map([...promised, ...asIds].map((each) => [placeText(each.at), each])).values(),
    ]);
    return {
      problem,
      hasLedger: true,
      lookedFor: isPromise ? [...ID_FIELDS, "actionPromise"] : ID_FIELDS,
      actions: actions.map(({ found }) => found),
      similar: actions.length === 0 ? similarIds(ledger, id) : [],
      unread,
    };
  });
}

/** Actions that have an outcome. */
function decidedAbout(searched: Searched): readonly FoundAt[] {
  return sentAbout(searched.ledger, searched.id).map((action) => toFound(searched, action));
}

function toFound(searched: Searched, { runNo, ...outcome }: SentAction, as?: FoundAs): FoundAt {
  const { seq, chunk, source, line, action, at, status, actionPromise, response } = outcome;
  const data = parseJson(outcome.data) as Action["data"]; // written by the planner
  const { sentAt, ...past } = pastOfChunk(searched.ledger, runNo, chunk);
  const isSent = outcome.outcome !== "not sent";
  return {
    at: { runNo, seq },
    found: {
      ...labelOf(runOf(searched.ledger, runNo)),
      as: as ?? fieldNaming({ action: action as Action["action"], data }, searched.id) ?? "ticketId",
      ...{ seq, chunk, source, line, data, action, status, actionPromise, at, ...past },
      outcome: outcome.outcome,
      sentAt: isSent ? sentAt : undefined,
      reason: reasonOf(outcome),
      response: response === undefined ? undefined : itemOf(response),
    },
  };
}

function reasonOf(outcome: OutcomeRow): string | undefined {
  if (outcome.outcome === "rejected") return rejectionText(outcome);
  if (outcome.outcome !== "not sent") return undefined;
  return outcome.status === SUPERSEDED
    ? "closed unsent: a later action of its history had been accepted"
    : "closed unsent";
}

/** The actions that were given this promise. */
async function promisedAs({ progress, stop }: RunContext, searched: Searched): Promise<readonly FoundAt[]> {
  const { ledger, id } = searched;
  const [total, found]: [number, FoundAt[]] = [countOutcomes(ledger), []];
  let done = 0;
  for (const runNo of runNumbers(ledger)) {
    for (const look of withPromise(ledger, runNo, id)) {
      done += look.looked;
      for (const action of look.found) found.push(toFound(searched, action, "actionPromise"));
      progress.advanced({ doing: "looking at", done, total, unit: "promise" });
      await new Promise(setImmediate);
      stop.throwIfAborted();
    }
  }
  progress.advanced(undefined);
  return found;
}

/**
 * Within a run by the plan's order, and the runs as the ledger numbers them. One that an import brought has a number that says nothing: then they stand by what was first sent of them, by the clocks.
 */
function inOrderSent(ledger: Ledger, all: readonly FoundAt[]): readonly FoundAt[] {
  const begins = new Map<number, string>();
  for (const { at, found } of all) {
    const [time, first] = [found.sentAt ?? found.at, begins.get(at.runNo)];
    if (time !== undefined && (first === undefined || time < first)) begins.set(at.runNo, time);
  }
  const runs = new Set(all.map(({ at }) => at.runNo));
  const isByNumber = [...runs].every((runNo) => !isImportedRun(runOf(ledger, runNo)));
  const begin = ({ at }: FoundAt): string => (isByNumber ? "" : (begins.get(at.runNo) ?? "~"));
  const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
  return all.toSorted((a, b) => compare(begin(a), begin(b)) || a.at.runNo - b.at.runNo || a.at.seq - b.at.seq);
}
