/**
 * What the digests in the index tell about candidates, for many at once. In an export that is sent every night, nearly all
 * are known and unchanged.
 */

import { open } from "node:fs/promises";
import { type ActionName, actionSpec, type IdentityRule, registers } from "../../actions/actions.ts";
import { HOW } from "../../ledger/asked-deeds.ts";
import { acceptedDeeds } from "../../ledger/deeds.ts";
import { keySources } from "../../ledger/keyed-deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { candidateFiles } from "../candidates/candidates.ts";
import { contentAt, identityAt, RECORD_BYTES, type RecordOrigin, readOrigin } from "../files/index-file.ts";
import type { DeedsBeside } from "./accepted-under-other-keys.ts";
import type { BlockedHistories } from "./blocked-deeds.ts";
import { comesWithRows, type MatchOptions } from "./deed-group.ts";
import { lastCounts, replaces } from "./history-of-candidate.ts";
import { readAndAsk } from "./how-accepted.ts";
import { createProbableSet } from "./probable-set.ts";
import { SeenSales, sellsTicket } from "./sold-twice.ts";
import type { FoundVerdicts } from "./verdicts.ts";

/** @returns the identities (hex) whose candidates must be looked at together, or one by one. */
export async function judgeByDigests(
  options: MatchOptions,
  blockedRows: BlockedHistories,
  beside: DeedsBeside | undefined,
  found: FoundVerdicts,
): Promise<ReadonlySet<string>> {
  const { directory, candidates, ledger } = options;
  const judge = new DigestJudge(options, blockedRows, beside, found);
  await using index = await open(candidateFiles(directory).index, "r");
  for await (const { first, records, count, how } of readAndAsk(ledger, index, candidates))
    for (let number = 0; number < count; number += 1) {
      const at = number * RECORD_BYTES;
      judge.take(first + number, readOrigin(records, at), records, at, how?.[number]);
    }
  found.repeatedSales = await judge.sales.repeated(index);
  return judge.doubtful.union(judge.lacking());
}

/**
 * Whether the same deed once more in the input says something: newEvent and soldTicket that repeat have rules of their own, but
 * for those with a key.
 */
function repeatsMatter(
  { action, input, keyed }: Pick<RecordOrigin, "action" | "input" | "keyed">,
  options: Pick<MatchOptions, "isSentOnce" | "sources"> & { readonly inputs: readonly { readonly readAs: string }[] },
): boolean {
  return keyed || !registers(action) || options.isSentOnce(action) || comesWithRows({ action, input }, options);
}

/** A candidate as its record in the index has it. */
interface Indexed extends Pick<RecordOrigin, "action" | "keyed" | "further" | "untimed" | "row" | "input"> {
  readonly seq: number;
  /** A part of the block that is read: it is gone with the next block. */
  readonly identity: Buffer;
  readonly kind: IdentityRule;
  /** By which it is judged: a deed with a key happens once. */
  readonly rule: IdentityRule;
  /** Whether the same deed once more in the input says something. */
  readonly repeatsMatter: boolean;
  /** The service has it, with this content. */
  readonly isAccepted: boolean;
  /** It has nothing of its identity, as far as that is known already. */
  readonly isUnknown: boolean;
  /** Its content (likewise), where others of the same history were accepted too, and no times tell them. */
  readonly besideOthers: Buffer | undefined;
  /** Of what may happen more than once: the same stood before in the input. */
  readonly isRepeated: boolean;
}

/** What was accepted of a history. */
interface AcceptedContents {
  /** One of them was accepted more than once. */
  readonly hasRepeats: boolean;
  /** Oldest first, from 0. */
  readonly places: ReadonlyMap<string, number>;
}

/** A history of so many deeds is not read again for each of them. */
const LONG = 32;

class DigestJudge {
  /** Identities (hex). */
  readonly doubtful = new Set<string>();
  readonly sales: SeenSales;
  readonly #options: MatchOptions;
  readonly #blockedRows: BlockedHistories;
  readonly #beside: DeedsBeside | undefined;
  readonly #found: FoundVerdicts;
  readonly #seen = createProbableSet();
  /** By identity, of accepted ones: how many were accepted since the earliest of them, itself too, and how many the input has. */
  readonly #given = new Map<string, { since: number; given: number }>();
  /** By identity, of long histories: each of their deeds asks for them. */
  readonly #contents = new Map<string, AcceptedContents>();
  /** There is something that candidates may be, beside each other. */
  readonly #looksFurther: boolean;
  readonly #isOfSeveralSources: ReturnType<typeof severalSources>;
  readonly #hadKey: ReturnType<typeof sourcesThatHadKeys>;

  constructor(
    options: MatchOptions,
    blockedRows: BlockedHistories,
    beside: DeedsBeside | undefined,
    found: FoundVerdicts,
  ) {
    this.sales = new SeenSales(options.candidates);
    this.#options = options;
    this.#blockedRows = blockedRows;
    this.#beside = beside;
    this.#found = found;
    this.#looksFurther = options.ledger !== undefined || options.pending.deeds.size > 0;
    this.#isOfSeveralSources = severalSources(options);
    this.#hadKey = sourcesThatHadKeys(options);
  }

  /** The identities of which the input lacks what was accepted after something that it has. */
  lacking(): ReadonlySet<string> {
    const lacking = [...this.#given].filter(([, { since, given }]) => given < since);
    return new Set(lacking.map(([identity]) => Buffer.from(identity, "latin1").toString("hex")));
  }

  /** Each candidate once, in their order: those that repeat an earlier one are told from it. `how`: see `ReadRecords`. */
  take(seq: number, origin: RecordOrigin, block: Buffer, at: number, how: number | undefined): void {
    const candidate = this.#read(seq, origin, block, at, how);
    this.#noteKinds(candidate);
    const isSurelyNew = this.#isSurelyNew(candidate);
    if (!isSurelyNew && sellsTicket(origin.action)) this.sales.add(seq, block, at);
    if (this.#mayRepeatRow(candidate) || this.#hasOwnPlace(candidate)) this.#doubt(candidate);
    else if (isSurelyNew) return;
    else if (this.#isBesideOthers(candidate)) this.#doubt(candidate);
    else if (candidate.isAccepted) this.#takeAccepted(candidate);
    else if (this.#isPending(candidate)) this.#takePending(candidate, contentAt(block, at));
    else this.#takeUnknown(candidate);
  }

  #doubt({ identity }: Indexed): void {
    this.doubtful.add(identity.toString("hex"));
  }

  /** Remembers its content, where equal ones are looked for. */
  #read(seq: number, origin: RecordOrigin, block: Buffer, at: number, how: number = HOW.NOT): Indexed {
    const { action, keyed, further, untimed, row, input } = origin;
    const isAccepted = how === HOW.ACCEPTED || how === HOW.BESIDE_OTHERS;
    const besideOthers = how === HOW.BESIDE_OTHERS ? contentAt(block, at) : undefined;
    const kind = actionSpec(action).identity;
    const rule = keyed ? "once" : kind;
    const isRepeated =
      (besideOthers !== undefined || (kind === "history" && ((rule === "history" && !untimed) || isAccepted))) &&
      this.#seen.addAndTell(block.subarray(at + 16, at + RECORD_BYTES));
    const identity = identityAt(block, at);
    return {
      ...{ seq, action, keyed, further, untimed, row, input },
      identity,
      kind,
      rule,
      repeatsMatter: repeatsMatter(origin, this.#options),
      isAccepted,
      isUnknown: how === HOW.UNKNOWN,
      besideOthers,
      isRepeated,
    };
  }

  #noteKinds({ kind, action }: Indexed): void {
    if (kind === "history") this.#found.hasHistories = true;
    if (lastCounts(action)) this.#found.hasOrdered = true;
  }

  /** Equal ones with times may be a row that stands twice, whatever was accepted. */
  #mayRepeatRow({ rule, untimed, isRepeated }: Indexed): boolean {
    return rule === "history" && !untimed && isRepeated;
  }

  /** Rejects hold a row in each form that it had, whatever was accepted. */
  #hasOwnPlace({ rule, action, untimed, row }: Indexed): boolean {
    const { again, rejected, isFromRejects } = this.#options;
    if (again) return false;
    if (rule !== "history") return lastCounts(action) && isFromRejects(row);
    return rejected(row) !== undefined || ((replaces(action) || untimed) && isFromRejects(row));
  }

  #isSurelyNew({ rule, repeatsMatter }: Indexed): boolean {
    return !this.#looksFurther && (rule === "history" ? this.#blockedRows.size === 0 : !repeatsMatter);
  }

  /** A row that is not sent, another source, or what is left out of its row may have to do with it. */
  #isBesideOthers(candidate: Indexed): boolean {
    const { rule, identity, isAccepted, keyed, action, input, row } = candidate;
    if (rule !== "once" && this.#blockedRows.size > 0 && this.#blockedRows.has(identity.toString("hex"))) return true;
    if (!keyed) return isAccepted && this.#mayHaveComeBack(candidate);
    // What stands beside it in its row is done with, also where it says the same.
    return (isAccepted && this.#isOfSeveralSources(action, input)) || this.#options.leftOut(row).length > 0;
  }

  /** What was accepted under the key that its source had since then would have come later. */
  #mayHaveComeBack({ identity, untimed, action, input }: Indexed): boolean {
    return untimed && lastCounts(action) && this.#hadKey(action, input) && this.#beside?.has(identity) === true;
  }

  #takeAccepted(candidate: Indexed): void {
    const { seq, isRepeated, besideOthers } = candidate;
    this.#found.set(seq, "sent");
    // The same once more, on either side, is a deed of its own, perhaps.
    if (isRepeated || (besideOthers !== undefined && this.#repeatsIn(candidate, besideOthers))) this.#doubt(candidate);
  }

  /** Whether a content of its history was accepted more than once. Where none was, it is noted which of the accepted ones this is. */
  #repeatsIn({ identity, action }: Indexed, content: Buffer): boolean {
    const { ledger } = this.#options;
    if (ledger === undefined) return false;
    const name = identity.toString("latin1");
    const { hasRepeats, places } = this.#contents.get(name) ?? this.#readContents(ledger, identity, name);
    if (hasRepeats || !lastCounts(action)) return hasRepeats;
    const since = places.size - (places.get(content.toString("latin1")) ?? -1);
    const known = this.#given.get(name) ?? { since: 0, given: 0 };
    const now = { since: Math.max(known.since, since), given: known.given + 1 };
    // Mostly the input has all of them.
    if (now.given === places.size) this.#given.delete(name);
    else this.#given.set(name, now);
    return false;
  }

  #readContents(ledger: Ledger, identity: Buffer, name: string): AcceptedContents {
    const accepted = acceptedDeeds(ledger, identity).map((deed) => deed.content.toString("latin1"));
    const places = new Map(accepted.map((content, at) => [content, at]));
    const contents = { hasRepeats: places.size < accepted.length, places };
    if (accepted.length >= LONG) this.#contents.set(name, contents);
    return contents;
  }

  #isPending({ identity }: Indexed): boolean {
    const { deeds } = this.#options.pending;
    return deeds.size > 0 && deeds.has(identity.toString("hex"));
  }

  #takePending(candidate: Indexed, content: Buffer): void {
    if (candidate.kind === "once")
      this.#found.set(candidate.seq, this.#isTaken(candidate, content) ? "sent" : "pending");
    else this.#doubt(candidate);
  }

  /** Whether the service has accepted just this, and only the deeds do not have it yet. */
  #isTaken({ identity }: Indexed, content: Buffer): boolean {
    const deeds = this.#options.pending.deeds.get(identity.toString("hex")) ?? [];
    return deeds.every((deed) => deed.isTaken && deed.content === content.toString("hex"));
  }

  /** Neither accepted as it stands nor pending. Remembers a deed that is new, if it may happen only once. */
  #takeUnknown(candidate: Indexed): void {
    const { identity, isUnknown, keyed, further, kind, rule, repeatsMatter } = candidate;
    const { ledger } = this.#options;
    const deeds = ledger === undefined || isUnknown ? [] : acceptedDeeds(ledger, identity);
    const isKnown = deeds.length > 0 || (!keyed && this.#beside?.has(identity) === true);
    if (keyed && !isKnown) this.#found.hasNewKeys = true;
    if (isKnown) this.#doubt(candidate);
    // The first of its row was looked at.
    else if (further && kind === "history") return;
    else if (rule !== "history" && repeatsMatter && this.#seen.addAndTell(identity)) this.#doubt(candidate);
  }
}

/** Whether an input's source gave deeds of a kind while it had a key, which it has no more. */
function sourcesThatHadKeys({ ledger, inputs }: MatchOptions): (action: ActionName, input: number) => boolean {
  const known = new Map<ActionName, readonly string[]>();
  return (action, input) => {
    const of = inputs[input];
    if (ledger === undefined || of === undefined || of.key !== undefined) return false;
    const sources = known.get(action) ?? keySources(ledger, action);
    known.set(action, sources);
    return sources.includes(of.readAs);
  };
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
