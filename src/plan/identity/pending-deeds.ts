import { type Action, type ActionData, actionSpec, registersEvent } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import { Failure } from "../../failure.ts";
import { byPlace } from "../../ledger/deeds.ts";
import { ticketKey } from "../../ledger/known-state.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { takenUnmerged } from "../../ledger/outcomes.ts";
import type { Pending, PendingDeed, Standing } from "../../ledger/pending.ts";
import { openQuestions, type RunRecord, unmergedChunks, unmergedRuns } from "../../ledger/runs.ts";
import { type Candidate, identityOf } from "../candidates/candidates.ts";
import { contentAt } from "../files/index-file.ts";
import { type Plan, unreadableDoubt } from "../files/plan.ts";

/** Where plans of runs lie. */
export interface Plans {
  readonly folder: (run: string) => string;
  readonly open: (run: RunRecord) => Promise<Plan>;
}

export async function pendingIdentities(ledger: Ledger, plans: Plans): Promise<Pending> {
  const deeds = new Map<string, PendingDeed[]>();
  const tickets = new Map<string, string>();
  const newEvents = new Map<string, string>();
  const updatedEvents = new Set<string>();
  const held = { tickets: new Set<string>(), newEvents: new Set<string>(), updatedEvents: new Set<string>() };
  const standings = new Map<string, Standing>();
  for (const record of unmergedRuns(ledger)) {
    const { run } = record;
    const isAhead = isSentBefore(ledger, record);
    standings.set(run, standingOf(record, isAhead));
    for await (const { action, seq, identity, content, isTaken } of unmergedOf(ledger, record, plans)) {
      const { data } = action;
      const key = identity.toString("hex");
      const isDecidedByIdentity = actionSpec(action.action).identity === "once";
      const said = { content: content.toString("hex"), data: isDecidedByIdentity ? undefined : data };
      const deed = { run, runNo: record.runNo, seq, ...said, isTaken };
      const others = deeds.get(key);
      if (others === undefined) deeds.set(key, [deed]);
      else others.push(deed);
      const isTicket = actionSpec(action.action).about === "ticket";
      const isUpdate = actionSpec(action.action).effect === "change-event";
      if (registersEvent(action.action)) newEvents.set(String(data.eventId), run);
      if (isUpdate) updatedEvents.add(String(data.eventId));
      if (isTicket) tickets.set(ticketKey(data), run);
      if (isAhead) continue;
      if (registersEvent(action.action)) held.newEvents.add(String(data.eventId));
      if (isUpdate) held.updatedEvents.add(String(data.eventId));
      if (isTicket) held.tickets.add(ticketKey(data));
    }
  }
  for (const several of deeds.values()) if (several.length > 1) several.sort(byPlace);
  return { deeds, tickets, newEvents, updatedEvents, held, standings };
}

/**
 * What a candidate that is pending may be, in the order of the plans: what says the same, or else all of its identity.
 *
 * @param history its own (hex), which is its identity where it has no key.
 */
export function pendingAs({ deeds }: Pending, candidate: Candidate, history: string): readonly PendingDeed[] {
  const names = new Set([history, identityOf(candidate).toString("hex")]);
  const found = [...names].flatMap((each) => deeds.get(each) ?? []);
  const content = contentAt(candidate.block, candidate.at).toString("hex");
  const same = found.filter((deed) => deed.content === content);
  return same.length > 0 ? same : found;
}

function standingOf({ state }: RunRecord, isAhead: boolean): Standing {
  if (state === "abandoned") return "closed";
  return isAhead || state === "finished" ? "ahead" : "waits";
}

/** The machines that share a ledger send its runs one after the other, and none that waits for a person. */
const isSentBefore = (ledger: Ledger, { runNo, state, isClosing }: RunRecord): boolean =>
  ledger.kind === "postgres" && state === "open" && !isClosing && openQuestions(ledger, runNo).length === 0;

interface Unmerged extends Pick<PendingDeed, "seq" | "isTaken"> {
  readonly action: Action;
  readonly identity: Buffer;
  readonly content: Buffer;
}

/**
 * What was taken of a file's ledger, and then what nobody has decided.
 *
 * @throws Failure `storage` where the plan can't tell; it says what is left to do with the run.
 */
async function* unmergedOf(ledger: Ledger, run: RunRecord, plans: Plans): AsyncGenerator<Unmerged> {
  // Before what was taken: what a run under way settles meanwhile is among both, and not in neither.
  const chunks = unmergedChunks(ledger, run.runNo);
  if (ledger.kind === "sqlite") {
    for (const { seq, sent, identity, content } of takenUnmerged(ledger, run.runNo))
      yield { action: { action: sent.action, data: dataOf(sent.data) }, seq, identity, content, isTaken: true };
  }
  if (chunks.length === 0) return;
  try {
    await using plan = await plans.open(run);
    for (const chunk of chunks) {
      const [records, lines] = await Promise.all([plan.records(chunk), plan.lines(chunk)]);
      for (const [at, { identity, content }] of records.entries()) {
        const action = parseJson(lines[at]?.toString("utf8") ?? "") as Action; // written by the planner
        yield { action, seq: chunk.first + at, identity, content, isTaken: false };
      }
    }
  } catch (cause) {
    throw cause instanceof Failure && run.state !== "open" ? unreadableDoubt(plans.folder(run.run), cause) : cause;
  }
}

const dataOf = (text: string): ActionData => parseJson(text) as ActionData; // written by the planner
