/** Which candidates are deeds that the environment has accepted already (design, Identity). */

import { open } from "node:fs/promises";
import {
  type Action,
  type ActionData,
  type ActionName,
  actionSpec,
  registers,
  registersEvent,
} from "../actions/actions.ts";
import { contentText, digestHex, digestOf, identityText, recipientsAgree } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { hasKeyedDeeds, keyedDeeds, keySources } from "../ledger/keyed-deeds.ts";
import {
  type AcceptedDeed,
  acceptedData,
  acceptedDeeds,
  areAccepted,
  hasRepeats,
  type IndexedDeed,
  wasAgain,
} from "../ledger/known-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Pending } from "../ledger/pending.ts";
import type { MendedDeed, RejectedRows } from "../ledger/rejected-rows.ts";
import {
  type AskedAt,
  type Standing,
  type Standings,
  UNPLACED,
  type Unplaced,
  whyUnplaced,
} from "../ledger/row-places.ts";
import { openActionText } from "../mapping/open-actions.ts";
import type { LeftOut } from "./batch.ts";
import { type BlockedDeed, type BlockedHistories, readBlockedHistories } from "./blocked-histories.ts";
import {
  actionOf,
  type BlockedRow,
  type Candidate,
  type CandidateLines,
  candidateFiles,
  readRecords,
} from "./candidates.ts";
import { FACTS_BYTES, lineBytesAt } from "./facts.ts";
import type { Try } from "./first-tries.ts";
import {
  type DeedVerdict,
  type HistoryDeed,
  type InputDeed,
  type KnownDeed,
  type KnownInput,
  namingOf,
} from "./history.ts";
import { CONTENT_BYTES, contentAt, identityAt, RECORD_BYTES, type RecordOrigin, readOrigin } from "./index-file.ts";
import { findBesideBlocked, findOutOfOrder, replaces } from "./keyed-order.ts";
import { laterAccepted, timesOfKnown } from "./late-times.ts";
import { findLeftAccepted } from "./left-accepted.ts";
import { matchHistory } from "./match-history.ts";
import { type GivenKeyDeed, type KeyTry, type KeyVerdict, type KnownKeyDeed, matchKey } from "./match-key.ts";
import { type DeedsBeside, deedsBeside, type FoundDeed, findUnderOtherKeys, type InputKey } from "./other-keys.ts";
import { findCopies, findOverlaps, findSharedTimes, type TimedDeed } from "./overlaps.ts";
import { createProbableSet } from "./probable-set.ts";
import { historyDeed, plainlyPriced } from "./said.ts";
import { findOnceUnderOtherKeys, findToldTwice } from "./several-keys.ts";
import { type Compared, findRetold, retoldAmong, type TimedSaying } from "./told-otherwise.ts";
import { findTurned } from "./turned-rows.ts";

const VERDICTS = [
  "new",
  "sent",
  // Accepted with other content.
  "changed",
  // Another run may still bring it to the service.
  "pending",
  // The same deed stands earlier in this input; whether that one is sent, its row tells.
  "repeated",
  // What these four mean, match-history.ts says.
  "late",
  "superseded",
  "held",
  "unclear",
  // Its source's key belongs to another ticket or event.
  "key shared",
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Accepted, or perhaps so. */
const OLD: ReadonlySet<Verdict> = new Set(["sent", "changed", "pending"]);

/** Where a row stands: number of the input, line. */
export interface RowPlace {
  readonly input: number;
  readonly line: number;
}

/** A candidate, with where its line and its row stand. */
export type GivenPlace = RowPlace & Pick<Candidate, "start" | "length">;

/** What there is to say of a verdict. */
export type Detail =
  /** Of a row from a rejects file: the accepted deed that it is. */
  | { readonly kind: "sent"; readonly as: AcceptedDeed }
  | { readonly kind: "changed"; readonly from: AcceptedDeed }
  /** `isExpected`: nothing need be said of it. */
  | { readonly kind: "repeated"; readonly first: number; readonly isExpected: boolean }
  | { readonly kind: "late"; readonly before: RowPlace }
  /** This one of a later time was accepted. */
  | { readonly kind: "late in time"; readonly than: AcceptedDeed }
  /** Late: its row was rejected, and this stood behind it then. */
  | { readonly kind: "stood before"; readonly accepted: AcceptedDeed }
  /** Unclear: whether its row, which was rejected, stood before some of these. */
  | { readonly kind: "unplaced"; readonly why: Unplaced; readonly accepted: readonly AcceptedDeed[] }
  | { readonly kind: "superseded"; readonly since: AcceptedDeed; readonly isFromRejects: boolean }
  | { readonly kind: "held"; readonly by: RowPlace }
  | {
      readonly kind: "unclear";
      /** Perhaps only because rows behind were left out. */
      readonly isCut: boolean;
      /** A resale to someone to whom an accepted one went that the input lacks, and that says something else. */
      readonly ofHolder?: boolean;
      readonly accepted: readonly AcceptedDeed[];
      readonly given: readonly GivenPlace[];
    }
  /** Which of those that its row gives under its key are new, and which were changed. */
  | {
      readonly kind: "unclear of row";
      /** Under the key, and not in the row. */
      readonly accepted: readonly AcceptedDeed[];
      /** In the row, and not accepted as they are. */
      readonly given: readonly GivenPlace[];
    }
  /** Unclear: with a deed of another input that has its time, and says the same or something else. */
  | { readonly kind: "in two inputs"; readonly other: RowPlace; readonly isSame: boolean }
  /** Unclear: another row of its input has its time and says the same. */
  | { readonly kind: "in two rows"; readonly other: RowPlace }
  /** New: likewise, but their time has no seconds. */
  | { readonly kind: "same minute"; readonly other: RowPlace }
  /** Unclear: it may be this accepted one, told with another time. */
  | { readonly kind: "told otherwise"; readonly accepted: AcceptedDeed; readonly isCutShort: boolean }
  /** Unclear: in the run that rejected both rows, this one stood on the other side of that one; or no run had both. */
  | { readonly kind: "turned"; readonly other: RowPlace; readonly stood: "before" | "behind" | "unknown" }
  /** Unclear: another source says the same, now or before. */
  | { readonly kind: "in two sources"; readonly accepted?: AcceptedDeed; readonly at?: RowPlace }
  | { readonly kind: "key shared"; readonly accepted?: AcceptedDeed; readonly at?: RowPlace }
  /** With another deed of the same ticket or event, which says something else. */
  | { readonly kind: "key repeated"; readonly at: RowPlace }
  /** With a deed of another source. */
  | { readonly kind: "key of source"; readonly source: string };

/** One verdict per candidate; candidates may be asked for again and again. */
export interface Verdicts {
  of(candidate: Candidate): Verdict;
  /** Undefined where the verdict says all. */
  detailOf(candidate: Candidate): Detail | undefined;
  /** Whether the candidate's deed is repeated further on. */
  isRepeated(candidate: Candidate): boolean;
  /** Deeds of rows that are not sent which stand in the place of accepted ones. */
  readonly closed: readonly BlockedDeed[];
  /** Histories (hex) of bad rows of which an accepted deed is missing, so that it may be such a row. */
  readonly missed: ReadonlySet<string>;
}

export interface MatchOptions {
  readonly directory: string;
  readonly candidates: number;
  /** The ledger to compare with; undefined when there is none, or all is to be sent again. */
  readonly ledger: Ledger | undefined;
  /** A person sends all of it again: rows that say the same are several deeds. */
  readonly again: boolean;
  /** What another run may still bring to the service. */
  readonly pending: Pending;
  /** Rows that are not sent, whose deeds stand in histories. */
  readonly blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>;
  /** Of the candidates, for the few of which more than their digests is asked. */
  readonly lines: CandidateLines;
  /** Of all inputs, by number. */
  readonly inputs: readonly InputKey[];
  /** What the sources of the config read rows as. */
  readonly sources: ReadonlySet<string>;
  /** Of actions that register: whether the second of an input is left out, rather than a problem of the input. */
  readonly isSentOnce: (action: ActionName) => boolean;
  /** Rows behind were left out (`--limit`). */
  readonly isCut: boolean;
  /** The candidates stand in the order of their times. */
  readonly isByTime: boolean;
  /** Since when a row is open, where it comes from a rejects file of this ledger. */
  readonly rejected: (row: number) => ReturnType<RejectedRows["openSince"]>;
  /** When the service was asked for just this action of a row from a rejects file. */
  readonly askedOf: (candidate: Pick<Candidate, "row" | "action" | "nth">) => AskedAt | undefined;
  /** Whether a row comes from a rejects file, this ledger's or another's. */
  readonly isFromRejects: (row: number) => boolean;
  /** What accepted deeds of its history are beside it, where its row comes from a rejects file. */
  readonly standingsOf: (candidate: Pick<Candidate, "row" | "nth">, action: Action) => Standings | undefined;
  /** What was accepted of a row when it was mended, where it comes from a rejects file. */
  readonly mendedTo: (row: number) => readonly MendedDeed[];
  /** The runs that rejected rows of a history (hex) which are open still, and which the input lacks. */
  readonly rejectedBeside: (history: string) => ReadonlySet<number>;
  /** Whether any row comes from a rejects file. */
  readonly hasRejected: boolean;
  /** What `tickets:actions` leaves out of a row whose source has a key. */
  readonly leftOut: (row: number) => readonly LeftOut[];
}

/** A candidate that the digests alone do not decide about. */
interface Doubtful extends RecordOrigin {
  readonly seq: number;
  readonly content: Buffer;
  /** Where its line stands. */
  readonly start: number;
  readonly length: number;
}

interface ComparedCandidate extends Compared {
  readonly candidate: Doubtful;
  /** By their numbers in `retold`. */
  readonly acceptedAt: (of: number) => AcceptedDeed | undefined;
}

/** Verdicts while they are made. */
interface Found {
  set(seq: number, verdict: Verdict, detail?: Detail): void;
  /** Of a candidate that is repeated: the one that it repeats. */
  firstOf(seq: number): number | undefined;
  readonly closed: BlockedDeed[];
  /** First ones of the deeds that the input repeats. */
  readonly repeated: Set<number>;
  /** Under keys that several were accepted under: which of them a candidate is. */
  readonly bound: Map<number, AcceptedDeed>;
  /** Deeds that would be sent, beside accepted ones which their input does not have. */
  readonly compared: ComparedCandidate[];
  /** Whether some candidate with a key is none of what was accepted under it. */
  hasNewKeys: boolean;
}

/**
 * Judges all candidates, in their order.
 *
 * Of an export that is sent every night nearly all is known and unchanged, so that is asked first, for many at once, by the
 * digests in the index. What they leave open is gathered by identity in a second reading.
 */
export async function matchDeeds(options: MatchOptions): Promise<Verdicts> {
  const { directory, candidates, ledger, lines, inputs } = options;
  const beside = ledger && deedsBeside(ledger);
  const verdicts = new Uint8Array(candidates);
  const details = new Map<number, Detail>();
  const found: Found = {
    set(seq, verdict, detail) {
      verdicts[seq] = VERDICTS.indexOf(verdict);
      if (detail === undefined) details.delete(seq);
      else details.set(seq, detail);
    },
    firstOf(seq) {
      const detail = details.get(seq);
      return detail?.kind === "repeated" ? detail.first : undefined;
    },
    closed: [],
    repeated: new Set(),
    bound: new Map(),
    compared: [],
    hasNewKeys: false,
  };
  const blockedRows = await readBlockedHistories(options.blockedRows);
  const byDigests = await judgeByDigests(options, blockedRows, beside, found);
  const doubtful = inputs.length > 1 ? byDigests.union(await findSharedTimes(directory)) : byDigests;
  if (doubtful.size > 0) {
    for (const [identity, group] of await gather(directory, doubtful)) {
      const judged = new Group(options, identity, group, triedOf(identity, group, inputs, beside), found);
      if (group[0]?.keyed === true) judged.byKey();
      else judged.byRule(blockedRows.get(identity) ?? []);
    }
  }
  const verdictOf = (seq: number): Verdict => VERDICTS[verdicts[seq] ?? 0] ?? "new";
  const isNew = (seq: number): boolean => verdictOf(seq) === "new";
  if (ledger !== undefined && found.hasNewKeys) {
    // What repeats a deed of a history says the same, and is as old as it; of others, each copy is compared.
    const isOpen = ({ seq, action }: Pick<Candidate, "seq" | "action">): boolean =>
      isNew(seq) || (verdictOf(seq) === "repeated" && actionSpec(action).identity !== "history");
    for (const group of await findUnderOtherKeys(ledger, directory, { lines, inputs, isOpen, take: toDoubtful }))
      new Group(options, group.identity, group.candidates, group.tried, found).byRule(
        blockedRows.get(group.identity) ?? [],
      );
  }
  for (const ofFile of Map.groupBy(found.compared, ({ candidate }) => candidate.input).values()) {
    for (const [{ candidate, acceptedAt }, retold] of retoldAmong(ofFile)) {
      const accepted = acceptedAt(retold.of);
      if (accepted === undefined) continue;
      const isCutShort = retold.minutes === 0;
      found.set(candidate.seq, "unclear", { kind: "told otherwise", accepted, isCutShort });
    }
  }
  if (ledger !== undefined && (found.hasNewKeys || hasKeyedDeeds(ledger))) {
    const { rejected, standingsOf, isCut } = options;
    const outOfOrder = await findOutOfOrder(ledger, directory, {
      lines,
      blockedRows,
      standingsOf: (candidate) => standingsOf(candidate, actionOf(candidate, lines)),
      isCut,
      isNew,
      isOld: (seq) => OLD.has(verdictOf(seq)),
      boundTo: (seq) => found.bound.get(seq),
    });
    for (const [candidate, order] of outOfOrder) {
      const { seq, row } = candidate;
      if (order.kind === "late" || order.kind === "late in time" || order.kind === "stood before")
        found.set(seq, "late", order);
      else if (order.kind === "unplaced") found.set(seq, "unclear", order);
      else if (order.kind === "unclear") found.set(seq, "unclear", { ...order, isCut, given: [candidate] });
      else found.set(seq, "superseded", { ...order, isFromRejects: rejected(row) !== undefined });
    }
  }
  for (const [{ seq }, first] of await findOnceUnderOtherKeys(directory, { lines, inputs, isNew })) {
    found.set(seq, "repeated", { kind: "repeated", first, isExpected: false });
    found.repeated.add(first);
  }
  for (const [{ seq }, at] of await findToldTwice(directory, { lines, inputs, isNew }))
    found.set(seq, "unclear", { kind: "in two sources", at });
  if (ledger !== undefined && options.hasRejected) {
    for (const [{ seq }, order] of await findTurned(directory, {
      lines,
      rejected: options.rejected,
      rejectedBeside: options.rejectedBeside,
      isNew,
      isByTime: options.isByTime,
    }))
      found.set(seq, "unclear", { kind: "turned", ...order });
  }
  const acceptedAs = (candidate: Candidate): string | undefined => {
    if (!OLD.has(verdictOf(candidate.seq))) return undefined;
    const detail = details.get(candidate.seq);
    const content = detail?.kind === "changed" ? detail.from.content : contentAt(candidate.block, candidate.at);
    return content.toString("hex");
  };
  const { pending } = options;
  const missed =
    ledger === undefined
      ? new Set<string>()
      : await findLeftAccepted(directory, blockedRows, { ledger, pending, lines, acceptedAs, closed: found.closed });
  if (blockedRows.size > 0 && found.hasNewKeys) {
    for (const [{ seq }, by] of await findBesideBlocked(directory, blockedRows, { lines, isNew, missed }))
      found.set(seq, "held", { kind: "held", by });
  }
  followFirsts(details, verdictOf, found);
  return {
    of: ({ seq }) => verdictOf(seq),
    detailOf: ({ seq }) => details.get(seq),
    isRepeated: ({ seq }) => found.repeated.has(seq),
    closed: found.closed,
    missed,
  };
}

/** What repeats a deed that is not to be sent is what that one is, whichever look found it out. */
function followFirsts(
  details: ReadonlyMap<number, Detail>,
  verdictOf: (seq: number) => Verdict,
  found: Pick<Found, "set" | "firstOf" | "repeated">,
): void {
  for (const [seq, detail] of details) {
    if (detail.kind !== "repeated") continue;
    let { first } = detail;
    for (let next = found.firstOf(first); next !== undefined; next = found.firstOf(first)) first = next;
    const verdict = verdictOf(first);
    if (verdict !== "new" && verdict !== "held") found.set(seq, verdict, details.get(first));
    else if (first !== detail.first) {
      found.set(seq, "repeated", { ...detail, first });
      found.repeated.add(first);
    }
  }
}

const toDoubtful = (candidate: Candidate): Doubtful => ({
  ...candidate,
  content: Buffer.from(contentAt(candidate.block, candidate.at)),
});

/** What the service was asked for of an identity, oldest first. */
function triedOf(
  identity: string,
  [first]: readonly Doubtful[],
  inputs: readonly InputKey[],
  beside: DeedsBeside | undefined,
): readonly FoundDeed[] {
  const input = inputs[first?.input ?? -1];
  if (first === undefined || input === undefined || beside === undefined) return [];
  return beside.of(Buffer.from(identity, "hex"), first.action, input);
}

/** @returns the identities (hex) whose candidates have to be looked at together, or one by one. */
async function judgeByDigests(
  options: MatchOptions,
  blockedRows: BlockedHistories,
  beside: DeedsBeside | undefined,
  found: Found,
): Promise<ReadonlySet<string>> {
  const { directory, candidates, ledger, again, pending, isSentOnce, rejected, isFromRejects } = options;
  const doubtful = new Set<string>();
  const seen = createProbableSet();
  const looksFurther = ledger !== undefined || pending.deeds.size > 0;
  const isOfSeveralSources = severalSources(options);

  const judgeOne = (seq: number, block: Buffer, at: number, isAccepted: boolean): void => {
    const { action, keyed, further, untimed, row, input } = readOrigin(block, at);
    const kind = actionSpec(action).identity;
    const rule = keyed ? "once" : kind;
    // newEvent and soldTicket that repeat within one input have rules of their own, but for those with a key.
    const repeatsMatter =
      keyed || !registers(action) || isSentOnce(action) || comesWithRows({ action, input }, options);
    const isTimed = rule === "history" && !untimed;
    const isRepeated =
      kind === "history" && (isTimed || isAccepted) && seen.has(block.subarray(at + 16, at + RECORD_BYTES));
    // Equal ones with times may be a row that stands twice, whatever was accepted.
    if (isTimed && isRepeated) {
      doubtful.add(identityAt(block, at).toString("hex"));
      return;
    }
    const identity = identityAt(block, at);
    // Rejects hold a row in each form that it had, whatever was accepted.
    const hasPlace = rejected(row) !== undefined || ((replaces(action) || untimed) && isFromRejects(row));
    if (rule === "history" && !keyed && hasPlace && !again) {
      doubtful.add(identity.toString("hex"));
      return;
    }
    if (!looksFurther && (rule === "history" ? blockedRows.size === 0 : !repeatsMatter)) return;
    const key = blockedRows.size > 0 || pending.deeds.size > 0 ? identity.toString("hex") : "";
    if (rule === "history" && blockedRows.has(key)) {
      doubtful.add(key);
      return;
    }
    if (isAccepted && keyed && isOfSeveralSources(action, input)) {
      doubtful.add(identity.toString("hex"));
      return;
    }
    // What stands beside it in its row is done with, also where it says the same.
    if (keyed && options.leftOut(row).length > 0) {
      doubtful.add(identity.toString("hex"));
      return;
    }
    if (isAccepted) {
      found.set(seq, "sent");
      if (kind !== "history") return;
      // The same once more, on either side, is a deed of its own, perhaps.
      if (isRepeated || (!keyed && untimed && ledger !== undefined && hasRepeats(ledger, identity)))
        doubtful.add(identity.toString("hex"));
      return;
    }
    if (pending.deeds.has(key)) {
      if (kind === "once") found.set(seq, "pending");
      else doubtful.add(key);
      return;
    }
    const deeds = ledger === undefined ? [] : acceptedDeeds(ledger, identity);
    const isKnown = deeds.length > 0 || (!keyed && beside?.has(identity) === true);
    if (keyed && !isKnown) found.hasNewKeys = true;
    if (isKnown) doubtful.add(identity.toString("hex"));
    // The first of its row was looked at.
    else if (further && kind === "history") return;
    else if (rule !== "history" && repeatsMatter && seen.has(identity)) doubtful.add(identity.toString("hex"));
  };

  await using index = await open(candidateFiles(directory).index, "r");
  const block = Buffer.allocUnsafe(RECORD_BYTES * 8192);
  for (let seq = 0; seq < candidates; ) {
    const { bytesRead } = await index.read(block, 0, block.length, seq * RECORD_BYTES);
    if (bytesRead === 0) throw new Error("the candidates' index is shorter than it should be");
    const accepted = ledger === undefined ? undefined : areAccepted(ledger, deedsOf(block.subarray(0, bytesRead)));
    for (let number = 0; number < bytesRead / RECORD_BYTES; number += 1, seq += 1)
      judgeOne(seq, block, number * RECORD_BYTES, accepted?.[number] === 1);
  }
  return doubtful;
}

/** Whether a kind of deeds has keys of several sources, which may be the same for different deeds. */
function severalSources({ ledger, inputs, sources }: MatchOptions): (action: ActionName, input: number) => boolean {
  const known = new Map<ActionName, ReadonlySet<string>>();
  return (action, input) => {
    let of = known.get(action);
    if (of === undefined) {
      const keyed = ledger === undefined || actionSpec(action).identity === "once" ? [] : keySources(ledger, action);
      of = new Set(keyed.filter((source) => sources.has(source)));
      known.set(action, of);
    }
    return of.size > 1 || (of.size === 1 && !of.has(inputs[input]?.readAs ?? ""));
  };
}

function deedsOf(records: Buffer): readonly IndexedDeed[] {
  return Array.from({ length: records.length / RECORD_BYTES }, (_, number) => ({
    identity: identityAt(records, number * RECORD_BYTES),
    content: contentAt(records, number * RECORD_BYTES),
  }));
}

/** The candidates of the given identities, in order. */
async function gather(
  directory: string,
  identities: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Doubtful[]>> {
  const groups = new Map<string, Doubtful[]>();
  let start = 0;
  for await (const { first, count, records, facts } of readRecords(directory)) {
    for (let number = 0; number < count; number += 1) {
      const at = number * RECORD_BYTES;
      const length = lineBytesAt(facts, number * FACTS_BYTES);
      const identity = identityAt(records, at).toString("hex");
      if (identities.has(identity)) {
        const doubtful = {
          ...readOrigin(records, at),
          seq: first + number,
          content: Buffer.from(contentAt(records, at)),
          start,
          length,
        };
        const group = groups.get(identity);
        if (group === undefined) groups.set(identity, [doubtful]);
        else group.push(doubtful);
      }
      start += length;
    }
  }
  return groups;
}

/** The candidates of one identity, beside what the service was asked for of it. */
class Group {
  readonly #options: MatchOptions;
  readonly #identity: string;
  readonly #candidates: readonly Doubtful[];
  readonly #tried: readonly FoundDeed[];
  readonly #found: Found;

  /** @param tried what the service was asked for, oldest first. */
  constructor(
    options: MatchOptions,
    identity: string,
    candidates: readonly Doubtful[],
    tried: readonly FoundDeed[],
    found: Found,
  ) {
    this.#tried = tried;
    this.#options = options;
    this.#identity = identity;
    this.#candidates = candidates;
    this.#found = found;
  }

  #accepted(): readonly AcceptedDeed[] {
    return this.#tried.filter(({ isTaken }) => isTaken);
  }

  /** As the action's kind has it, without a key. */
  byRule(blockedRows: readonly BlockedDeed[]): void {
    const rule = actionSpec(this.#action()).identity;
    if (rule === "history") this.#asHistory(blockedRows);
    else if (rule === "recipient") this.#byRecipient();
    else this.#once();
  }

  #dataOf(deed: AcceptedDeed): ActionData | undefined {
    const { ledger } = this.#options;
    const text = ledger === undefined ? undefined : acceptedData(ledger, deed);
    return text === undefined ? undefined : (parseJson(text) as ActionData); // written by the sender
  }

  #dataOfLine(candidate: Doubtful): ActionData {
    return (parseJson(this.#options.lines.of(candidate).toString("utf8")) as Action).data; // written by compile
  }

  /** Accepted: sent, or changed. Else the first one is new. */
  #once(): void {
    const deeds = this.#accepted();
    let first: Doubtful | undefined;
    for (const candidate of this.#candidates) {
      const { seq, action, content } = candidate;
      const deed = deeds.find((each) => each.content.equals(content) || isUnknownContent(each)) ?? deeds.at(-1);
      if (deed !== undefined) this.#sentOrChanged(seq, content, deed);
      else if (first !== undefined && comesWithRows(candidate, this.#options) && first.content.equals(content))
        this.#repeated(seq, first.seq, true);
      // Two registrations of an event and two sales of a ticket are a problem of the input.
      else if (first !== undefined && (!registers(action) || this.#options.isSentOnce(action)))
        this.#repeated(seq, first.seq);
      first ??= candidate;
    }
  }

  #sentOrChanged(seq: number, content: Buffer, deed: AcceptedDeed): void {
    if (deed.content.equals(content) || isUnknownContent(deed)) this.#found.set(seq, "sent");
    else this.#found.set(seq, "changed", { kind: "changed", from: deed });
  }

  #repeated(seq: number, first: number, isExpected = false): void {
    this.#found.set(seq, "repeated", { kind: "repeated", first, isExpected });
    this.#found.repeated.add(first);
  }

  /** What the row says of those under its key, unless the key is not its own. */
  byKey(): void {
    const known = this.#knownUnderKey();
    const verdicts = matchKey(this.#rowsWithKey(), {
      known,
      tries: this.#triesUnderKey(known),
      rule: actionSpec(this.#action()).identity,
      isApart: (deed) => this.#isApart(deed),
    });
    const [first] = this.#candidates;
    for (const [{ isOpen, candidate, subject }, verdict] of verdicts) {
      if (!isOpen) continue;
      const of = verdict.kind === "known" ? known[verdict.of]?.accepted : undefined;
      const beside = of === undefined ? known.filter((deed) => deed.subject === subject) : [{ accepted: of }];
      const sources = (beside.length === 0 ? [undefined] : beside).map((each) =>
        this.#otherSource(candidate, each?.accepted, first),
      );
      const source = sources.find((each) => each !== undefined);
      if (source !== undefined && verdict.kind !== "pending")
        this.#found.set(candidate.seq, "key shared", { kind: "key of source", source });
      else this.#setUnderKey(candidate, verdict, known);
    }
  }

  /** Whether just this was rejected under the key, or accepted without it or under another one. */
  #isApart({ content, data }: GivenOfKey): boolean {
    const { inputs, ledger } = this.#options;
    const plain = digestOf(identityText({ action: this.#action(), data: data() })).toString("hex");
    const others = triedOf(plain, this.#candidates, inputs, ledger && deedsBeside(ledger));
    const apart = [...this.#tried.filter(({ isTaken }) => !isTaken), ...others.filter(({ isTaken }) => isTaken)];
    return apart.some((deed) => deed.content.toString("hex") === content);
  }

  #setUnderKey(candidate: Doubtful, verdict: KeyVerdict<GivenOfKey>, known: readonly KnownOfKey[]): void {
    const { seq, content } = candidate;
    switch (verdict.kind) {
      case "known": {
        const accepted = known[verdict.of]?.accepted;
        if (accepted === undefined) this.#found.set(seq, "pending");
        else {
          this.#sentOrChanged(seq, content, accepted);
          if (known.length > 1) this.#found.bound.set(seq, accepted);
        }
        return;
      }
      case "pending":
        this.#found.set(seq, "pending");
        return;
      case "new":
        this.#found.set(seq, "new");
        this.#found.hasNewKeys = true;
        return;
      case "repeated":
        this.#repeated(seq, verdict.first.seq);
        return;
      case "of another": {
        const accepted = known[verdict.of]?.accepted;
        this.#found.set(seq, "key shared", accepted && { kind: "key shared", accepted });
        return;
      }
      case "of another given":
        this.#found.set(seq, "key shared", { kind: "key shared", at: verdict.at.candidate });
        return;
      case "differs":
        this.#found.set(seq, "key shared", { kind: "key repeated", at: verdict.at.candidate });
        return;
      case "unclear":
        this.#found.set(seq, "unclear", {
          kind: "unclear of row",
          accepted: verdict.left.flatMap((at) => known[at]?.accepted ?? []),
          given: verdict.given.map((each) => each.candidate),
        });
        return;
    }
  }

  #triesUnderKey(known: readonly KnownOfKey[]): readonly KeyTry[] {
    return this.#tried.map((deed) => {
      const of = known.findIndex(({ accepted }) => accepted === deed);
      return {
        content: deed.content.toString("hex"),
        subject: subjectOf(this.#dataOf(deed) ?? {}),
        isTaken: deed.isTaken,
        of: of === -1 ? undefined : of,
        ...this.#runOf(deed),
      };
    });
  }

  /** What was accepted under the key, oldest first, then what is pending. */
  #knownUnderKey(): readonly KnownOfKey[] {
    const action = this.#action();
    const deedOf = (content: string, read: () => ActionData, accepted: FoundDeed | undefined): KnownOfKey => ({
      ...keyDeed(action, content, read),
      isPending: accepted === undefined,
      accepted,
    });
    return [
      ...this.#tried.flatMap((deed) =>
        deed.isTaken ? deedOf(deed.content.toString("hex"), () => this.#dataOf(deed) ?? {}, deed) : [],
      ),
      ...(this.#options.pending.deeds.get(this.#identity) ?? []).map(({ content, data = {} }) =>
        deedOf(content, () => data, undefined),
      ),
    ];
  }

  /** The candidates by row, each with what `tickets:actions` leaves out of it; of what happens once, each on its own. */
  #rowsWithKey(): readonly (readonly GivenOfKey[])[] {
    const given = this.#candidates.map(
      (candidate): GivenOfKey => ({
        ...keyDeed(candidate.action, candidate.content.toString("hex"), () => this.#dataOfLine(candidate)),
        seq: candidate.seq,
        isOpen: true,
        candidate,
      }),
    );
    if (actionSpec(this.#action()).identity === "once") return given.map((each) => [each]);
    return [...Map.groupBy(given, ({ candidate }) => candidate.row).values()].map((row) => {
      const done = row.slice(0, 1).flatMap(({ candidate, seq }) =>
        this.#options
          .leftOut(candidate.row)
          .filter(({ identity }) => identity === this.#identity)
          .map(({ action }): GivenOfKey => {
            const content = digestHex(contentText(action)).slice(0, CONTENT_BYTES * 2);
            return { ...keyDeed(action.action, content, () => action.data), seq, isOpen: false, candidate };
          }),
      );
      return [...done, ...row];
    });
  }

  /** The source of the deed that has the candidate's key, where it is another one that the config still has. */
  #otherSource(
    candidate: Doubtful,
    deed: AcceptedDeed | undefined,
    first: Pick<Doubtful, "input"> | undefined,
  ): string | undefined {
    const { ledger, inputs, sources } = this.#options;
    if (actionSpec(candidate.action).identity === "once") return undefined;
    const readAs = inputs[candidate.input]?.readAs;
    const inInput = first && inputs[first.input]?.readAs;
    if (deed === undefined || ledger === undefined) return inInput === readAs ? undefined : inInput;
    const data = this.#dataOf(deed);
    const plain = data && digestOf(identityText({ action: candidate.action, data }));
    const by =
      plain && keyedDeeds(ledger, plain).find((each) => each.runNo === deed.runNo && each.seq === deed.seq)?.by;
    // One that the config has no more was renamed.
    return by === undefined || by.source === readAs || !sources.has(by.source) ? undefined : by.source;
  }

  /** Claims: one deed where their recipients agree. */
  #byRecipient(): void {
    const deeds = this.#accepted().map((deed) => ({ deed, data: this.#dataOf(deed) ?? {} }));
    const pending = (this.#options.pending.deeds.get(this.#identity) ?? []).flatMap(({ data }) => data ?? []);
    const firsts: { readonly seq: number; readonly data: ActionData }[] = [];
    const found = new Map<number, (typeof deeds)[number]>();
    for (const candidate of this.#candidates) {
      const { seq, content } = candidate;
      const data = this.#dataOfLine(candidate);
      const known =
        deeds.find(({ deed }) => deed.content.equals(content)) ??
        deeds.findLast((each) => recipientsAgree(each.data, data)) ??
        // Under one key it is the same claim, whoever it names.
        found.get(this.#found.firstOf(seq) ?? seq);
      if (known !== undefined) found.set(seq, known);
      const first = firsts.find((each) => recipientsAgree(each.data, data));
      if (known !== undefined) this.#sentOrChanged(seq, content, known.deed);
      else if (pending.some((each) => recipientsAgree(each, data))) this.#found.set(seq, "pending");
      else if (first !== undefined) this.#repeated(seq, first.seq);
      else firsts.push({ seq, data });
    }
  }

  #asHistory(blockedRows: readonly BlockedDeed[]): void {
    const known = this.#known();
    const deeds = known.map(({ deed }) => deed);
    const input = this.#inOrder(blockedRows, known);
    const given = input.map(({ deed }) => deed);
    const verdicts = matchHistory(deeds, given, this.#options.isCut);
    const timeOf = timesOfKnown(deeds, given, verdicts);
    const held = blockedRows.find(({ accepted }) => accepted === undefined);
    const timed = timedDeeds(input, known, verdicts);
    const overlaps = this.#options.inputs.length > 1 ? findOverlaps(timed) : undefined;
    const copies = this.#options.again ? undefined : findCopies(timed);
    this.#noteRetold(input, known, verdicts, overlaps);
    for (const [at, { candidate, blocked, deed }] of input.entries()) {
      const overlap = overlaps?.get(at);
      const twin = overlap?.kind === "shared" ? input[overlap.with] : undefined;
      const other = twin?.candidate ?? twin?.blocked;
      if (overlap?.kind === "shared" && candidate !== undefined && other !== undefined) {
        this.#found.set(candidate.seq, "unclear", { kind: "in two inputs", other, isSame: overlap.isSame });
        continue;
      }
      const copy = overlap === undefined ? copies?.get(at) : undefined;
      const original = input[copy?.with ?? -1];
      const row = original?.candidate ?? original?.blocked;
      if (copy?.isByMinute === false && candidate !== undefined && row !== undefined) {
        this.#found.set(candidate.seq, "unclear", { kind: "in two rows", other: row });
        continue;
      }
      const verdict = overlap === undefined || overlap.kind === "shared" ? verdicts[at] : overlap;
      if (verdict === undefined) throw new Error("a deed of a history has no verdict");
      const accepted = "of" in verdict ? known[verdict.of]?.accepted : undefined;
      if (accepted?.isOfAnotherSource === true) {
        if (candidate !== undefined) this.#found.set(candidate.seq, "unclear", { kind: "in two sources", accepted });
        continue;
      }
      if (blocked !== undefined && verdict.kind === "unknown" && verdict.inPlaceOf !== undefined)
        this.#found.closed.push(blocked);
      if (candidate === undefined) continue;
      const than = known[laterAccepted(candidate.action, deed, verdict, deeds, timeOf) ?? -1]?.accepted;
      if (than !== undefined) this.#found.set(candidate.seq, "late", { kind: "late in time", than });
      else if (row !== undefined && verdict.kind === "new")
        this.#found.set(candidate.seq, "new", { kind: "same minute", other: row });
      else this.#setVerdict(candidate, verdict, known, input, held);
    }
  }

  /** Notes what may be an accepted deed, told with another time. */
  #noteRetold(
    input: readonly InputOfHistory[],
    known: readonly KnownOfHistory[],
    verdicts: readonly DeedVerdict[],
    overlaps: ReturnType<typeof findOverlaps> | undefined,
  ): void {
    const open = input.flatMap(({ candidate, deed }, at) => {
      const kind = verdicts[at]?.kind;
      const isOpen = (kind === "new" || kind === "held" || kind === "late") && overlaps?.has(at) !== true;
      if (!isOpen || candidate === undefined || deed.content === undefined || !deed.isTimed) return [];
      const rejectedAt = known.findLastIndex(
        (each) => each.accepted?.isTaken === false && each.deed.content === deed.content,
      );
      return sayingOf(at, deed).map((saying) => ({ ...saying, rejectedAt }));
    });
    if (open.length === 0) return;
    const had = new Set(verdicts.map(knownOf));
    const taken = known.flatMap(({ deed, accepted }, at) =>
      accepted?.isTaken === true ? sayingOf(at, deed).map((saying) => ({ ...saying, isMissing: !had.has(at) })) : [],
    );
    const acceptedAt = (of: number): AcceptedDeed | undefined => known[of]?.accepted;
    for (const each of findRetold(open, taken)) {
      const candidate = input[each.at]?.candidate;
      if (candidate !== undefined) this.#found.compared.push({ ...each, candidate, acceptedAt });
    }
  }

  /** Which known deeds are later than one of a row that was rejected. Timed scans are a set, of which one may come any time. */
  #placeOf(
    candidate: Doubtful,
    known: readonly KnownOfHistory[],
  ): Pick<KnownInput, "after" | "asked" | "behind" | "unplaced" | "became"> {
    const isReplaced = replaces(candidate.action);
    const standingOf = candidate.untimed || isReplaced ? this.#standingsOf(candidate) : undefined;
    if (standingOf === undefined) return {};
    const standings = this.#tried.map(standingOf);
    const isRowKnown = !standings.includes("unknown row");
    const those = (...which: readonly Standing[]): ReadonlySet<number> =>
      new Set([...standings.entries()].flatMap(([of, standing]) => (which.includes(standing) ? of : [])));
    const taken = new Set([...this.#tried.entries()].flatMap(([of, { isTaken }]) => (isTaken ? of : [])));
    if (!isRowKnown && !isReplaced) {
      // Each scan without a time says the same: it may be any of those accepted, or one more.
      const untimed = known.flatMap(({ deed }, of) => (taken.has(of) && deed.said().time === undefined ? of : []));
      return { unplaced: new Set(untimed) };
    }
    return {
      after: isRowKnown ? standings.length - those("since").size : undefined,
      asked: this.#askedAt(candidate),
      behind: those("stood behind", "sent behind").intersection(taken),
      ...(isReplaced && { unplaced: those(...UNPLACED).intersection(taken) }),
      became: this.#became(candidate),
    };
  }

  #askedAt(candidate: Doubtful): number | undefined {
    const asked = this.#options.askedOf(candidate);
    const of = this.#tried.findIndex(({ runNo, seq }) => runNo === asked?.runNo && seq === asked.seq);
    return of === -1 ? undefined : of;
  }

  #became({ row, action, nth }: Doubtful): KnownInput["became"] {
    return this.#options.mendedTo(row).flatMap(({ accepted, name }) => {
      const of = this.#tried.findIndex(({ runNo, seq }) => runNo === accepted.runNo && seq === accepted.seq);
      return of === -1 || name !== openActionText(action, nth) ? [] : of;
    });
  }

  #standingsOf(candidate: Doubtful): Standings | undefined {
    return this.#options.standingsOf(candidate, { action: candidate.action, data: this.#dataOfLine(candidate) });
  }

  #setVerdict(
    candidate: Doubtful,
    verdict: DeedVerdict,
    known: readonly KnownOfHistory[],
    input: readonly InputOfHistory[],
    held: RowPlace | undefined,
  ): void {
    const { seq, row } = candidate;
    const accepted = "of" in verdict ? known[verdict.of]?.accepted : undefined;
    switch (verdict.kind) {
      case "old":
        if (accepted === undefined) this.#found.set(seq, "pending");
        // The same price is written otherwise.
        else if (!accepted.content.equals(candidate.content))
          this.#found.set(seq, "changed", { kind: "changed", from: accepted });
        else
          this.#found.set(seq, "sent", this.#options.isFromRejects(row) ? { kind: "sent", as: accepted } : undefined);
        return;
      case "changed":
        if (accepted === undefined) this.#found.set(seq, "pending");
        else this.#found.set(seq, "changed", { kind: "changed", from: accepted });
        return;
      case "late": {
        const before = input[verdict.before];
        const place = before?.candidate ?? before?.blocked;
        this.#found.set(seq, "late", place && { kind: "late", before: place });
        return;
      }
      case "superseded": {
        const since = known[verdict.since]?.accepted;
        const isFromRejects = this.#options.rejected(row) !== undefined;
        const standing = since && this.#standingsOf(candidate)?.(since);
        if (since !== undefined && standing === "stood behind")
          this.#found.set(seq, "late", { kind: "stood before", accepted: since });
        else this.#found.set(seq, "superseded", since && { kind: "superseded", since, isFromRejects });
        return;
      }
      case "held":
        this.#found.set(seq, "held", held && { kind: "held", by: held });
        return;
      case "unclear":
        this.#found.set(seq, "unclear", {
          kind: "unclear",
          isCut: this.#options.isCut,
          ofHolder: verdict.ofHolder === true,
          accepted: known.flatMap(({ accepted: deed }) => (deed?.isTaken === true ? deed : [])),
          given: input.flatMap(({ candidate }) => candidate ?? []),
        });
        return;
      case "unplaced": {
        const taken = known.flatMap(({ accepted: deed }) => (deed?.isTaken === true ? deed : []));
        const standingOf = this.#standingsOf(candidate);
        const why = verdict.why ?? whyUnplaced(taken.map((deed) => standingOf?.(deed)));
        this.#found.set(seq, "unclear", { kind: "unplaced", why, accepted: taken });
        return;
      }
      case "new":
      case "unknown":
        this.#found.set(seq, "new");
        return;
    }
  }

  /** What the service was asked for of the history, oldest first; what is pending comes last. */
  #known(): readonly KnownOfHistory[] {
    const { pending } = this.#options;
    const action = this.#action();
    const deedBy = this.#deedBy();
    return [
      ...this.#tried.map((deed): KnownOfHistory => {
        const content = deed.content.toString("hex");
        const said = deedBy(action, content, () => this.#dataOf(deed));
        return {
          deed: {
            // Of two sources each may have its own price.
            ...(deed.isOfAnotherSource ? { ...said, said: () => ({ ...said.said(), holder: undefined }) } : said),
            ...this.#runOf(deed),
            state: deed.isTaken ? "accepted" : "rejected",
          },
          accepted: deed,
        };
      }),
      ...(pending.deeds.get(this.#identity) ?? []).map(
        ({ content, data }): KnownOfHistory => ({
          deed: {
            ...deedBy(action, content, () => data),
            run: Number.POSITIVE_INFINITY,
            isAgain: () => false,
            state: "pending",
          },
          accepted: undefined,
        }),
      ),
    ];
  }

  /** Prices of resales are looked at where neither side says just what the other does. */
  #deedBy(): typeof historyDeed {
    if (actionSpec(this.#action()).effect !== "resell-ticket") return historyDeed;
    const given = new Set(this.#candidates.map(({ content }) => content.toString("hex")));
    const known = new Set(this.#tried.map(({ content }) => content.toString("hex")));
    return given.isSubsetOf(known) || known.isSubsetOf(given) ? historyDeed : plainlyPriced;
  }

  #runOf({ runNo }: AcceptedDeed): Pick<Try, "run" | "isAgain"> {
    const { ledger } = this.#options;
    return { run: runNo, isAgain: () => ledger !== undefined && wasAgain(ledger, runNo) };
  }

  #action(): ActionName {
    const [first] = this.#candidates;
    if (first === undefined) throw new Error("a group of candidates is empty");
    return first.action;
  }

  /** The candidates, and the deeds of rows that are not sent where they stand among them. */
  #inOrder(blockedRows: readonly BlockedDeed[], known: readonly KnownOfHistory[]): readonly InputOfHistory[] {
    const deedBy = this.#deedBy();
    const given = this.#candidates.map((candidate): InputOfHistory => {
      const deed = deedBy(candidate.action, candidate.content.toString("hex"), () => this.#dataOfLine(candidate));
      const rejected = this.#options.rejected(candidate.row);
      const place = this.#options.isFromRejects(candidate.row) ? this.#placeOf(candidate, known) : {};
      return {
        candidate,
        blocked: undefined,
        deed: {
          ...deed,
          ...place,
          isTimed: !candidate.untimed,
          rejectedIn: rejected?.runNo,
          numbers: rejected?.numbers,
        },
      };
    });
    let passed = 0;
    const ordered: InputOfHistory[] = [];
    const standing = (blocked: BlockedDeed): readonly InputOfHistory[] => {
      const { accepted, time } = blocked;
      if (accepted === undefined) return [{ candidate: undefined, blocked, deed: { content: undefined, time } }];
      const is = known.findIndex(({ accepted: deed }) => deed?.runNo === accepted.runNo && deed.seq === accepted.seq);
      // Under a key that tells it apart, it is no deed of this history.
      const rejected = this.#options.rejected(blocked.row);
      const deed = { content: undefined, is, rejectedIn: rejected?.firstIn, numbers: rejected?.numbers };
      return is === -1 ? [] : [{ candidate: undefined, blocked, deed }];
    };
    for (const each of given) {
      for (; (blockedRows[passed]?.before ?? Infinity) <= (each.candidate?.seq ?? 0); passed += 1)
        ordered.push(...blockedRows.slice(passed, passed + 1).flatMap(standing));
      ordered.push(each);
    }
    return [...ordered, ...blockedRows.slice(passed).flatMap(standing)];
  }
}

interface KnownOfHistory {
  readonly deed: KnownDeed;
  /** Undefined for what is pending. */
  readonly accepted: FoundDeed | undefined;
}

interface InputOfHistory {
  readonly candidate: Doubtful | undefined;
  readonly blocked: BlockedDeed | undefined;
  readonly deed: InputDeed;
}

/** Nothing where it has no time. */
function sayingOf(at: number, { said }: HistoryDeed): readonly TimedSaying[] {
  const all = said();
  const { time } = all;
  return time === undefined ? [] : [{ at, time, rest: namingOf(all) }];
}

/** The known deed that one of the input is, or stands in the place of. */
function knownOf(verdict: DeedVerdict): number | undefined {
  if (verdict.kind === "unknown") return verdict.inPlaceOf;
  return "of" in verdict ? verdict.of : undefined;
}

interface KnownOfKey extends KnownKeyDeed {
  /** Undefined for what is pending. */
  readonly accepted: FoundDeed | undefined;
}

interface GivenOfKey extends GivenKeyDeed {
  /** Of what is not open: one of its row. */
  readonly candidate: Doubtful;
}

function keyDeed(action: ActionName, content: string, read: () => ActionData) {
  let known: ActionData | undefined;
  const data = (): ActionData => {
    known ??= read();
    return known;
  };
  return { ...historyDeed(action, content, data), data, subject: subjectOf(data()) };
}

/** Those that may be the same in two inputs. A key tells by itself; a row that was mended gives the deed that was accepted for it. */
function timedDeeds(
  input: readonly InputOfHistory[],
  known: readonly KnownOfHistory[],
  verdicts: readonly DeedVerdict[],
): readonly TimedDeed[] {
  return input.flatMap(({ candidate, blocked, deed }, at) => {
    const verdict = verdicts[at];
    const place = candidate ?? blocked;
    if (candidate?.untimed === true || candidate?.keyed === true || place === undefined) return [];
    const said = "is" in deed ? known[deed.is]?.deed : deed.content === undefined ? undefined : deed;
    if (said === undefined || verdict === undefined || verdict.kind === "unclear") return [];
    const { time } = said.said();
    if (time === undefined && candidate === undefined) return [];
    return [
      { at, row: place.row, input: place.input, time: String(time ?? said.content), content: said.content, verdict },
    ];
  });
}

/** Each file of a source gives the event with whichever of its rows comes first. */
function comesWithRows(
  { action, input }: Pick<Doubtful, "action" | "input">,
  { inputs, sources }: MatchOptions,
): boolean {
  return registersEvent(action) && sources.has(inputs[input]?.readAs ?? "");
}

function subjectOf({ eventId, ticketId, nftId }: ActionData): string {
  if (ticketId != null) return `ticket:${ticketId}`;
  return nftId == null ? `event:${eventId ?? ""}` : `nft:${nftId}`;
}

/** An imported deed, of which only the ids are known. */
export function isUnknownContent({ content }: AcceptedDeed): boolean {
  return content.every((byte) => byte === 0);
}
