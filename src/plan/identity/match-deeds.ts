/** Which candidates are deeds that the environment has accepted already (docs/guarantees.md, What counts as already sent). */

import { actionSpec } from "../../actions/actions.ts";
import type { AcceptedDeed } from "../../ledger/deeds.ts";
import { hasKeyedDeeds } from "../../ledger/keyed-deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { actionOf, type Candidate } from "../candidates/candidates.ts";
import { contentAt } from "../files/index-file.ts";
import {
  deedsBeside,
  type FoundDeed,
  findUnderOtherKeys,
  type NewKeys,
  type SaidUnderSameKey,
} from "./accepted-under-other-keys.ts";
import { type BlockedDeed, type BlockedHistories, readBlockedHistories } from "./blocked-deeds.ts";
import { noteCameBack } from "./came-back.ts";
import { DeedGroup, type MatchOptions, triedOf } from "./deed-group.ts";
import { type Doubtful, gatherDoubtful, toDoubtful } from "./doubtful-candidates.ts";
import { lastCounts } from "./history-of-candidate.ts";
import { judgeClaims } from "./judge-claims.ts";
import { judgeByDigests } from "./judge-digests.ts";
import { JudgedHistory } from "./judge-history.ts";
import { KeyedDeeds } from "./judge-keyed.ts";
import { judgeOnce } from "./judge-once.ts";
import { judgeRetold, shiftsOfInputs } from "./judge-retold.ts";
import { findBesideBlocked, findOutOfOrder } from "./late-beside-keys.ts";
import { findLeftAccepted } from "./missing-accepted.ts";
import { findOnceUnderOtherKeys, findToldTwice } from "./new-under-several-keys.ts";
import { findSharedTimes } from "./overlapping-inputs.ts";
import { acceptedInInput, findRetoldKeys, placeOf } from "./retold-keys.ts";
import { findSoldTwice, sellsTicket } from "./sold-twice.ts";
import { inputsNewestFirst, inputsWithSeconds } from "./times-of-inputs.ts";
import { findTurned } from "./turned-rejects.ts";
import { FoundVerdicts, type Verdicts } from "./verdicts.ts";
import { findWithinRun } from "./within-run.ts";

/**
 * Judges all candidates, in their order.
 *
 * Of an export that is sent every night nearly all is known and unchanged, so that is asked first, for many at once, by the
 * digests in the index. What they leave open is gathered by identity in a second reading.
 */
export async function matchDeeds(options: MatchOptions): Promise<Verdicts> {
  const found = new FoundVerdicts(options.candidates);
  const blockedRows = await readBlockedHistories(options.blockedRows);
  await judgeByIdentity(options, blockedRows, found);
  const underOtherKeys = await judgeUnderOtherKeys(options, blockedRows, found);
  await judgeOfSameMinute(options, found);
  judgeRetold(found);
  await judgeOrderOfKeyed(options, blockedRows, found);
  await judgeSeveralKeys(options, found);
  await judgeTurned(options, found);
  const newestFirst = await newestFirstAmong(options, found);
  await judgeWithinRun(options, newestFirst, found);
  const missed = await missedOf(options, blockedRows, found);
  await holdBesideBlocked(options, blockedRows, missed, found);
  await judgeSoldTwice(options, underOtherKeys, found);
  found.followFirsts();
  return {
    of: ({ seq }) => found.of(seq),
    detailOf: ({ seq }) => found.detailOf(seq),
    isRepeated: ({ seq }) => found.isRepeated(seq),
    closed: found.closed,
    missed,
    newestFirst,
  };
}

async function judgeByIdentity(
  options: MatchOptions,
  blockedRows: BlockedHistories,
  found: FoundVerdicts,
): Promise<void> {
  const { directory, ledger, inputs } = options;
  const beside = ledger && deedsBeside(ledger);
  const byDigests = await judgeByDigests(options, blockedRows, beside, found);
  const doubtful = inputs.length > 1 ? byDigests.union(await findSharedTimes(directory)) : byDigests;
  if (doubtful.size === 0) return;
  for (const [identity, candidates] of await gatherDoubtful(directory, doubtful)) {
    const group = new DeedGroup(options, identity, candidates, triedOf(identity, candidates, inputs, beside));
    if (candidates[0]?.keyed === true) new KeyedDeeds(group, found).judge();
    else judgeByRule(group, blockedRows.get(identity) ?? [], found);
    // A row that is not sent may be what the others lack.
    if (candidates[0]?.keyed !== true && !blockedRows.has(identity)) noteCameBack(group, found);
  }
}

/** As the action's kind has it, without a key. */
function judgeByRule(group: DeedGroup, blockedRows: readonly BlockedDeed[], found: FoundVerdicts): void {
  const rule = actionSpec(group.action).identity;
  if (rule === "history") new JudgedHistory(group, blockedRows, found).judge();
  else if (rule === "recipient") judgeClaims(group, blockedRows, found);
  else judgeOnce(group, found);
}

/** In an input whose times have seconds, a whole minute is a time like any other: a row of it that stands twice may be a copy. */
async function judgeOfSameMinute({ directory, lines }: MatchOptions, found: FoundVerdicts): Promise<void> {
  const open = new Set(found.ofSameMinute.map(({ candidate }) => candidate.input));
  if (open.size === 0) return;
  const withSeconds = await inputsWithSeconds(directory, lines, open);
  for (const { candidate, other } of found.ofSameMinute)
    if (withSeconds.has(candidate.input)) found.set(candidate.seq, "unclear", { kind: "in two rows", other });
}

async function judgeUnderOtherKeys(
  options: MatchOptions,
  blockedRows: BlockedHistories,
  found: FoundVerdicts,
): Promise<readonly NewKeys<Doubtful>[]> {
  const { directory, ledger, lines, inputs } = options;
  if (ledger === undefined || !found.hasNewKeys) return [];
  // What repeats a deed of a history says the same, and is as old as it; of others, each copy is compared.
  const isOpen = ({ seq, action }: Candidate): boolean =>
    found.isNew(seq) || (found.of(seq) === "repeated" && actionSpec(action).identity !== "history");
  const asked = { lines, inputs, isOpen, take: toDoubtful };
  const { groups, underSameKey } = await findUnderOtherKeys(ledger, directory, asked);
  const underOthers = [...groups];
  for (const each of underOthers) {
    const group = new DeedGroup(options, each.identity, each.candidates, each.tried);
    judgeByRule(group, blockedRows.get(each.identity) ?? [], found);
  }
  await noteCameBackUnderKeys(options, ledger, underOthers, blockedRows, found);
  await judgeRetoldKeys(options, underSameKey, found);
  return underOthers;
}

/** What was accepted under the source's own key since then came later too, unless the input has it. */
async function noteCameBackUnderKeys(
  options: MatchOptions,
  ledger: Ledger,
  groups: readonly NewKeys<Doubtful>[],
  blockedRows: BlockedHistories,
  found: FoundVerdicts,
): Promise<void> {
  const open = groups.filter(({ identity, candidates }) => {
    const isSent = candidates.some(({ seq, untimed }) => untimed && found.of(seq) === "sent");
    return isSent && candidates.some(({ action }) => lastCounts(action)) && !blockedRows.has(identity);
  });
  const since = open.flatMap(({ underKey }) => underKey);
  const contents = since.map(({ content }) => content);
  const standing = since.length === 0 ? new Set() : await acceptedInInput(ledger, options.directory, contents);
  for (const { identity, candidates, tried, underKey } of open) {
    const lacking = underKey.filter((deed) => !standing.has(placeOf(deed)));
    const later = lacking.map((deed): FoundDeed => ({ ...deed, isOfAnotherSource: false }));
    const all = [...tried, ...later].sort((one, other) => one.runNo - other.runNo || one.seq - other.seq);
    noteCameBack(new DeedGroup(options, identity, candidates, all), found);
  }
}

async function judgeRetoldKeys(
  { directory, ledger, lines }: MatchOptions,
  underSameKey: readonly SaidUnderSameKey<Doubtful>[],
  found: FoundVerdicts,
): Promise<void> {
  const open = underSameKey.filter(({ candidate }) => found.isNew(candidate.seq));
  if (ledger === undefined || open.length === 0) return;
  for (const [{ seq }, accepted] of await findRetoldKeys(ledger, directory, { lines, open }))
    found.set(seq, "unclear", { kind: "under another key", accepted });
}

async function judgeOrderOfKeyed(
  options: MatchOptions,
  blockedRows: BlockedHistories,
  found: FoundVerdicts,
): Promise<void> {
  const { directory, ledger, lines, rejected, standingsOf, isCut } = options;
  if (ledger === undefined || !(found.hasNewKeys || hasKeyedDeeds(ledger))) return;
  const shiftOf = shiftsOfInputs(found);
  const changedFrom = (seq: number): AcceptedDeed | undefined => {
    const detail = found.detailOf(seq);
    return detail?.kind === "changed" ? detail.from : undefined;
  };
  const outOfOrder = await findOutOfOrder(ledger, directory, {
    lines,
    blockedRows,
    standingsOf: (candidate) => standingsOf(candidate, actionOf(candidate, lines)),
    isCut,
    isNew: (seq) => found.isNew(seq),
    isOld: (seq) => found.isOld(seq),
    boundTo: (seq) => found.bound.get(seq),
    changedFrom,
    shiftOf: (input) => shiftOf.get(input) ?? 0,
  });
  for (const [candidate, order] of outOfOrder) {
    const { seq, row } = candidate;
    if (order.kind === "late" || order.kind === "late in time" || order.kind === "stood before")
      found.set(seq, "late", order);
    else if (order.kind === "unplaced" || order.kind === "beside told otherwise") found.set(seq, "unclear", order);
    else if (order.kind === "unclear")
      found.set(seq, "unclear", { ...order, isCut, why: "repeats", given: [candidate] });
    else found.set(seq, "superseded", { ...order, isFromRejects: rejected(row) !== undefined });
  }
}

async function judgeSeveralKeys({ directory, lines, inputs }: MatchOptions, found: FoundVerdicts): Promise<void> {
  const isNew = (seq: number): boolean => found.isNew(seq);
  for (const [{ seq }, first] of await findOnceUnderOtherKeys(directory, { lines, inputs, isNew }))
    found.setRepeated(seq, first);
  for (const [{ seq }, at] of await findToldTwice(directory, { lines, inputs, isNew }))
    found.set(seq, "unclear", { kind: "in two sources", at });
}

async function judgeTurned(options: MatchOptions, found: FoundVerdicts): Promise<void> {
  const { directory, ledger, lines, rejected, rejectedBeside, isByTime, hasRejected } = options;
  if (ledger === undefined || !hasRejected) return;
  const isNew = (seq: number): boolean => found.isNew(seq);
  for (const [{ seq }, order] of await findTurned(directory, { lines, rejected, rejectedBeside, isNew, isByTime }))
    found.set(seq, "unclear", { kind: "turned", ...order });
}

/** Of what is a set, the order says nothing. */
async function newestFirstAmong(
  { directory, lines, inputs, blockedRows }: MatchOptions,
  { hasOrdered }: FoundVerdicts,
): Promise<ReadonlySet<number>> {
  return hasOrdered ? inputsNewestFirst(directory, lines, inputs.length, blockedRows) : new Set();
}

async function judgeWithinRun(
  options: MatchOptions,
  newestFirst: ReadonlySet<number>,
  found: FoundVerdicts,
): Promise<void> {
  const { directory, lines, inputs, isByTime, rejected, newestFirstIn, again } = options;
  if (again || !((inputs.length > 1 && found.hasHistories) || found.hasOrdered)) return;
  const isNew = (seq: number): boolean => found.isNew(seq);
  const isLateByPlace = (seq: number): boolean => found.detailOf(seq)?.kind === "late";
  const runsOf = (row: number): ReadonlySet<number> | undefined => {
    const since = rejected(row);
    return since && new Set(since.numbers.keys());
  };
  const asked = { lines, inputs, isNew, isLateByPlace, isByTime, runsOf, newestFirst, newestFirstIn };
  for (const [{ seq }, detail] of await findWithinRun(directory, asked)) found.set(seq, "unclear", detail);
}

/** Where it is no problem of the input that a ticket is sold twice, it is sold once. */
async function judgeSoldTwice(
  options: MatchOptions,
  underOtherKeys: readonly NewKeys<Doubtful>[],
  found: FoundVerdicts,
): Promise<void> {
  const sales = underOtherKeys.filter(({ candidates: [first] }) => first !== undefined && sellsTicket(first.action));
  if (found.repeatedSales.size === 0 && sales.length === 0) return;
  for (const [{ seq, action }, at] of await findSoldTwice(options, sales, found))
    if (!options.isSentOnce(action)) found.set(seq, "sold twice", { kind: "sold twice", at });
}

/** See `Verdicts.missed`. */
async function missedOf(
  { directory, ledger, pending, lines }: MatchOptions,
  blockedRows: BlockedHistories,
  found: FoundVerdicts,
): Promise<ReadonlySet<string>> {
  if (ledger === undefined) return new Set();
  const acceptedAs = ({ seq, block, at }: Candidate): string | undefined => {
    if (!found.isOld(seq)) return undefined;
    const detail = found.detailOf(seq);
    return (detail?.kind === "changed" ? detail.from.content : contentAt(block, at)).toString("hex");
  };
  return findLeftAccepted(directory, blockedRows, { ledger, pending, lines, acceptedAs, closed: found.closed });
}

async function holdBesideBlocked(
  { directory, lines }: MatchOptions,
  blockedRows: BlockedHistories,
  missed: ReadonlySet<string>,
  found: FoundVerdicts,
): Promise<void> {
  if (blockedRows.size === 0 || !found.hasNewKeys) return;
  const isNew = (seq: number): boolean => found.isNew(seq);
  for (const [{ seq }, by] of await findBesideBlocked(directory, blockedRows, { lines, isNew, missed }))
    found.set(seq, "held", { kind: "held", by });
}
