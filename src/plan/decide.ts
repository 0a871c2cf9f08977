/** Which candidates are sent: those that are new, and sound in their order beside all others. */

import { type Action, type ActionName, actionSpec, registersEvent, withArticle } from "../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import type { Finding, Problem, Severity } from "../actions/problem.ts";
import type { CrossActionChecks } from "../checks/cross-action.ts";
import { acceptedDeeds, hasDeeds, IMPORTED } from "../ledger/known-state.ts";
import { type Ledger, readMeta } from "../ledger/ledger.ts";
import type { Pending } from "../ledger/pending.ts";
import type { RejectedRows } from "../ledger/rejected-rows.ts";
import type { AskedAt } from "../ledger/row-places.ts";
import { openActionText } from "../mapping/open-actions.ts";
import { openBeside } from "./blocked-histories.ts";
import {
  actionOf,
  type BlockedRow,
  type Candidate,
  type CandidateLines,
  openCandidateLines,
  readCandidates,
} from "./candidates.ts";
import { type ChangedAction, describeChange } from "./changed.ts";
import type { Compiled } from "./compile.ts";
import { reasonOf } from "./compile-rows.ts";
import { causeOf, createHeldRows, type HeldFor, type HeldRows } from "./held-rows.ts";
import type { InvalidRow, InvalidRows } from "./invalid-rows.ts";
import { historyOf, replaces } from "./keyed-order.ts";
import { matchDeeds } from "./match-deeds.ts";
import type { ProblemLog } from "./problems.ts";
import { findLastAccepted, type LastAccepted } from "./row-places.ts";
import { digestOfTold } from "./told-warnings.ts";
import { findingOf, heldBack, type KnownPlaces } from "./verdict-findings.ts";
import { isUnknownContent, type Verdict, type Verdicts } from "./verdicts.ts";
import { createWaiting } from "./waiting.ts";

export interface Selection {
  /** Byte ranges of the candidates that are sent, in order, with how many actions each holds. */
  readonly kept: readonly {
    readonly start: number;
    readonly end: number;
    readonly first: number;
    readonly count: number;
  }[];
  readonly fresh: number;
  readonly alreadySent: number;
  /** Of those already sent, how many repeat a deed of their own input. */
  readonly repeated: number;
  readonly pending: number;
  /** Not sent because they depend on what is pending. */
  readonly waiting: number;
  /** Not sent because something later of their history was accepted already. */
  readonly late: number;
  /** Rejected earlier, and not sent because something later of their history was accepted since. */
  readonly superseded: number;
  /** Not sent because nobody can tell whether they were accepted, where the rule that says so is no error. */
  readonly unclear: number;
  readonly changed: { readonly count: number; readonly shown: readonly ChangedAction[] };
  readonly byAction: Readonly<Record<string, number>>;
  /** Of each input: the kinds of its actions that are sent, and those of which some were accepted before. */
  readonly kinds: readonly GivenKinds[];
  /** The rows that others are held for. */
  readonly heldFor: readonly HeldFor[];
  /** What is open of invalid rows of which a part was accepted already, by row; of the others, all is. */
  readonly openOfInvalid: ReadonlyMap<number, readonly string[]>;
  /** Beside which rows that are not sent have their places. */
  readonly lastAccepted: LastAccepted;
  /** Rows that were mended and of which nothing is left open but what is sent now. */
  readonly mends: Compiled["mends"];
}

interface GivenKinds {
  readonly sent: ReadonlySet<ActionName>;
  readonly known: ReadonlySet<ActionName>;
}

export interface SelectOptions {
  readonly directory: string;
  readonly compiled: Compiled;
  /** Actions of invalid rows, at their places among the candidates; may be read again. */
  readonly blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>;
  /** Takes the rows that are held back for what stands around them. */
  readonly invalid: InvalidRows;
  /** Checks that know nothing of this input yet. */
  readonly crossChecks: () => CrossActionChecks;
  /** The ledger to compare with, undefined when no environment is named. */
  readonly ledger: Ledger | undefined;
  readonly again: boolean;
  /** What another run may still bring to the service. */
  readonly pending: Pending;
  /** Rows that an earlier run rejected. */
  readonly rejectedRows: RejectedRows;
  /** What the sources of the config read rows as. */
  readonly sources: ReadonlySet<string>;
  /** The rows were put into the order of their times. */
  readonly isByTime: boolean;
  readonly problems: ProblemLog;
  readonly severityOf: (rule: string) => Severity;
  readonly signal: AbortSignal;
}

/** The rows that were found invalid, by now and by earlier passes. */
interface FoundRows {
  /** One bit a row. */
  readonly bits: Uint8Array;
  /** What is to be said of them. */
  readonly problems: ProblemLog;
  readonly held: HeldRows;
}

/** How many changed actions are shown with both values. */
const CHANGED_SHOWN = 1000;

/**
 * Decides about every candidate, in order.
 *
 * A row is invalid whole if any of its actions is. Where the actions of a row don't stand together, one may turn out to
 * be invalid after others of its row have been counted on; then all is decided again, with the row known to be invalid
 * from the beginning, until nothing changes. Each time at least one row more is invalid, so that it ends.
 */
export async function select(options: SelectOptions): Promise<Selection> {
  const { directory, compiled, blockedRows, ledger, again, pending, problems } = options;
  const isAsked = hasDeedsOr(ledger, pending) || compiled.rejected.size > 0;
  const comparedWith = isAsked && !again ? ledger : undefined;
  using lines = openCandidateLines(directory);
  const given = new Set(compiled.rejected.values());
  const verdicts = await matchDeeds({
    directory,
    candidates: compiled.candidates,
    ledger: comparedWith,
    again,
    pending,
    // What is sent again on purpose is not compared with what stands around it.
    blockedRows: again ? [] : blockedRows,
    lines,
    inputs: compiled.inputs,
    sources: options.sources,
    isByTime: options.isByTime,
    isCut: compiled.isCut,
    // Where the config lets them pass, they are deeds that repeat like any other.
    isSentOnce: (action) =>
      options.severityOf(registersEvent(action) ? "event-registered-twice" : "ticket-sold-twice") !== "error",
    leftOut: (row) => compiled.leftOut.get(row) ?? [],
    rejected: (row) => {
      const key = compiled.rejected.get(row) ?? compiled.mended.get(row);
      return key === undefined ? undefined : options.rejectedRows.openSince(key);
    },
    isFromRejects: (row) => compiled.rejected.has(row),
    standingsOf: ({ row, nth }, action) => {
      const key = compiled.rejected.get(row);
      const name = openActionText(action.action, nth);
      return key === undefined ? undefined : options.rejectedRows.standingsOf(key, action, name, given);
    },
    askedOf: ({ row, action, nth }) => {
      const key = compiled.rejected.get(row);
      return key === undefined ? undefined : options.rejectedRows.askedOf(key, openActionText(action, nth));
    },
    mendedTo: (row) => {
      const key = compiled.rejected.get(row);
      return key === undefined ? [] : options.rejectedRows.deedsOf(key);
    },
    rejectedBeside: (history) => options.rejectedRows.runsOfOthers(history, given),
    hasRejected: compiled.rejected.size > 0,
  });
  const found = {
    bits: new Uint8Array((compiled.rows.read >> 3) + 1),
    problems: problems.fork(),
    held: createHeldRows(),
  };
  for (;;) {
    const log = problems.fork();
    log.absorb(found.problems);
    const selection = await decideOnce(options, comparedWith, verdicts, lines, found, log);
    if (selection === undefined) continue;
    problems.absorb(log);
    const lastAccepted = await findLastAccepted({
      directory,
      ledger: options.invalid.invalid + options.invalid.held > 0 ? comparedWith : undefined,
      pending,
      lines,
      verdicts,
      blockedRows,
      histories: options.invalid.histories,
      isCut: compiled.isCut,
    });
    return { ...selection, lastAccepted, openOfInvalid: await openBeside(verdicts.closed, blockedRows) };
  }
}

function hasDeedsOr(ledger: Ledger | undefined, pending: Pending): boolean {
  return ledger !== undefined && (hasDeeds(ledger) || pending.deeds.size > 0);
}

/** What becomes of a candidate: `new` is sent, unless its row is invalid. */
type Fate = Exclude<Verdict, "repeated"> | "waiting" | "imported";

/** Of these nobody can tell whether they were accepted; none is ever sent, whatever the config makes of their rules. */
const UNDECIDED: ReadonlySet<Fate> = new Set(["unclear", "key shared", "imported"]);

/** How candidates that are not sent are counted. */
const COUNTED = {
  sent: "alreadySent",
  changed: "alreadySent",
  pending: "pending",
  waiting: "waiting",
  late: "late",
  superseded: "superseded",
  unclear: "unclear",
  "key shared": "unclear",
  imported: "unclear",
} as const satisfies Record<Exclude<Fate, "new" | "held">, string>;

/**
 * Decides about every candidate once. Rows that turn out to be invalid are added to `found`.
 *
 * @returns undefined when one of them had been counted on before.
 */
async function decideOnce(
  {
    directory,
    compiled,
    blockedRows,
    invalid,
    pending,
    sources,
    crossChecks: freshAcross,
    severityOf,
    signal,
  }: SelectOptions,
  comparedWith: Ledger | undefined,
  verdicts: Verdicts,
  lines: CandidateLines,
  found: FoundRows,
  log: ProblemLog,
): Promise<Omit<Selection, "openOfInvalid" | "lastAccepted"> | undefined> {
  const crossChecks = freshAcross();
  const imported = comparedWith !== undefined && readMeta(comparedWith, IMPORTED) !== undefined;
  /** One bit a row: whether an action of it was counted on. */
  const countedOn = new Uint8Array((compiled.rows.read >> 3) + 1);
  const kept: { start: number; end: number; first: number; count: number }[] = [];
  const shown: ChangedAction[] = [];
  const byAction: Record<string, number> = {};
  const kinds = compiled.inputs.map(() => ({ sent: new Set<ActionName>(), known: new Set<ActionName>() }));
  const counts = {
    fresh: 0,
    alreadySent: 0,
    repeated: 0,
    changed: 0,
    pending: 0,
    waiting: 0,
    late: 0,
    superseded: 0,
    unclear: 0,
  };
  let justFound: InvalidRow[] = [];
  let mustRepeat = false;
  /** Mended rows of which something waits. */
  const waitingMends = new Set<number>();
  /** By mended row, what was accepted before and is of it. */
  const knownOfMends = new Map<number, AskedAt[]>();
  /** First ones (by number) of repeated deeds, or those that stand in for them. */
  const brought = new Set<number>();
  const waiting = createWaiting(pending);
  /** Histories (hex) of which a deed of a row that is not sent stands before. */
  const heldHistories = new Map<string, Place>();
  const places: KnownPlaces = {
    comparedWith,
    lines,
    placeOf: ({ input, line }) => ({ source: sourceOf(compiled, input), line }),
    isOfSource: (input) => sources.has(compiled.inputs[input]?.readAs ?? ""),
  };

  const firstOf = (candidate: Candidate): number => {
    const detail = verdicts.detailOf(candidate);
    return detail?.kind === "repeated" ? detail.first : candidate.seq;
  };
  const fateOf = (candidate: Candidate, ofRow: readonly Candidate[]): Fate => {
    const fate = fateBeforeImport(candidate, ofRow);
    const isOpen = fate === "new" || fate === "held" || fate === "late" || fate === "superseded";
    const mayBeImported = imported && comparedWith !== undefined && isOpen;
    return mayBeImported && wasImported(comparedWith, candidate, actionOf(candidate, lines)) ? "imported" : fate;
  };
  const fateBeforeImport = (candidate: Candidate, ofRow: readonly Candidate[]): Fate => {
    const verdict = verdicts.of(candidate);
    // Where the config lets go what is held, it still waits for what is pending.
    if (verdict === "held" && waiting.has(candidate)) return "waiting";
    if (verdict !== "repeated" && verdict !== "new") return verdict;
    if (verdict === "repeated") {
      const first = firstOf(candidate);
      // An earlier one whose row is invalid is not sent, so this one is the first.
      if (brought.has(first) || ofRow.some((each) => each.seq < candidate.seq && firstOf(each) === first))
        return "sent";
    }
    return waiting.has(candidate) ? "waiting" : "new";
  };

  /** What is wrong with the actions of a row, beside the row itself and those before it. */
  const problemsOf = (candidate: Candidate, fate: Fate, at: Place): readonly Problem[] => {
    const { action } = candidate;
    const findings: Finding[] = [];
    if (fate === "imported") findings.push(importedHistory({ action }));
    else {
      const detail = verdicts.detailOf(candidate);
      const finding = detail === undefined ? undefined : findingOf(candidate, detail, places);
      if (finding !== undefined) findings.push(finding);
    }
    const mayBeHeld = fate === "new" && heldHistories.size > 0 && isInOrder(candidate);
    const before = mayBeHeld ? heldHistories.get(historyOf(candidate, lines).toString("hex")) : undefined;
    if (before !== undefined) findings.push(heldBack(before));
    return findings.flatMap((finding) => {
      const severity = severityOf(finding.rule);
      return severity === "off" ? [] : [{ ...at, severity, ...finding }];
    });
  };

  /** What follows an action of a row that is not sent waits for it. */
  const holdBack = (candidates: readonly Candidate[], actions: readonly Action[], at: Place): void => {
    crossChecks.holdBack(actions, at);
    for (const candidate of candidates) {
      if (!isInOrder(candidate)) continue;
      const history = historyOf(candidate, lines).toString("hex");
      if (!heldHistories.has(history)) heldHistories.set(history, at);
    }
  };

  /** Decides about candidates of one row that stand together. */
  const decide = (candidates: readonly Candidate[]): void => {
    const [head] = candidates;
    if (head === undefined) return;
    const { row, input, line } = head;
    const at: Place = { source: sourceOf(compiled, input), line };
    const inFile = itemPointer(compiled, input, row);
    const fates = candidates.map((candidate) => ({ candidate, fate: fateOf(candidate, candidates) }));
    // Where the rule that holds it back is turned off, it is sent all the same.
    const open = fates.flatMap(({ candidate, fate }) => (fate === "new" || fate === "held" ? [candidate] : []));
    const actions = open.map((candidate) => actionOf(candidate, lines));
    const undecided = fates.flatMap(({ candidate, fate }) => (UNDECIDED.has(fate) ? [candidate] : []));
    const undecidedActions = undecided.map((candidate) => actionOf(candidate, lines));
    if (hasBit(found.bits, row)) {
      holdBack([...open, ...undecided], [...actions, ...undecidedActions], at);
      return;
    }
    const problems = fates.flatMap(({ candidate, fate }) => problemsOf(candidate, fate, at));
    // What another run is about to bring counts as brought, for what follows it.
    const assumed = fates.flatMap(({ candidate, fate }) =>
      fate === "pending" || fate === "waiting" ? [candidate] : [],
    );
    if (assumed.length > 0)
      crossChecks.assume(
        assumed.map((candidate) => actionOf(candidate, lines)),
        at,
      );
    const repeatSeverity = severityOf(DEED_REPEATED.rule);
    if (repeatSeverity !== "off") {
      for (const { candidate, fate } of fates) {
        const { action } = candidate;
        if (fate !== "sent" || verdicts.of(candidate) !== "repeated") continue;
        const detail = verdicts.detailOf(candidate);
        if (detail?.kind === "repeated" && detail.isExpected) continue;
        problems.push({
          ...at,
          severity: repeatSeverity,
          ...DEED_REPEATED,
          message: `${action} of the same ${actionSpec(action).about} stands earlier in this input, and is sent once.`,
        });
      }
    }
    const isSound = !problems.some(isError);
    if (isSound)
      for (const findings of crossChecks.row(actions, at))
        for (const each of findings) problems.push({ ...at, ...placed(each, inFile) });
    for (const each of problems) log.add(isError(each) ? each : marked(each, candidates));
    const errors = problems.filter(isError);
    if (errors.length > 0) {
      const cause = causeOf(errors);
      holdBack([...open, ...undecided], isSound ? undecidedActions : [...actions, ...undecidedActions], cause ?? at);
      if (cause !== undefined) found.held.note(at, cause);
      const gives = candidates.map(({ action, nth }) => openActionText(action, nth));
      const ofHistories = candidates.filter(({ action }) => actionSpec(action).identity === "history");
      justFound.push({
        row,
        input,
        line,
        reason: reasonOf(errors, severityOf),
        isHeld: cause !== undefined,
        gives,
        before: head.seq,
        histories: [...new Set(ofHistories.map((each) => historyOf(each, lines).toString("hex")))],
      });
      setBit(found.bits, row);
      for (const each of problems) found.problems.add(each);
      if (hasBit(countedOn, row)) mustRepeat = true;
      return;
    }
    setBit(countedOn, row);
    for (const { candidate, fate } of fates) {
      const { action } = candidate;
      if (compiled.mends.has(row) && !open.includes(candidate) && !isSurelyDone(candidate, fate)) waitingMends.add(row);
      const detail = verdicts.detailOf(candidate);
      if (detail?.kind === "sent" && compiled.mends.has(row))
        knownOfMends.set(row, [...(knownOfMends.get(row) ?? []), detail.as]);
      byAction[action] = (byAction[action] ?? 0) + 1;
      if (fate === "waiting") waiting.add(candidate);
      if (fate === "new" || fate === "held") {
        if (verdicts.isRepeated(candidate) || verdicts.of(candidate) === "repeated") brought.add(firstOf(candidate));
        keep(candidate);
        kinds[input]?.sent.add(action);
        continue;
      }
      if (fate === "changed" || verdicts.of(candidate) === "sent") kinds[input]?.known.add(action);
      counts[COUNTED[fate]] += 1;
      if (fate === "sent" && verdicts.of(candidate) === "repeated") counts.repeated += 1;
      if (fate !== "changed") continue;
      counts.changed += 1;
      if (detail?.kind === "changed" && comparedWith !== undefined && shown.length < CHANGED_SHOWN)
        shown.push(describeChange(comparedWith, detail.from, candidate, lines, at.source));
    }
  };

  const marked = (problem: Problem, candidates: readonly Candidate[]): Problem => {
    if (log.capacity.keeps !== "all") return problem;
    // Whole: two scans of a ticket differ by their times alone.
    const actions = candidates.map((candidate) => lines.of(candidate).toString("utf8").trimEnd());
    return { ...problem, mark: digestOfTold(["actions", ...actions]) };
  };

  const keep = ({ start, length, seq }: Candidate): void => {
    const last = kept.at(-1);
    if (last !== undefined && last.end === start) {
      last.end = start + length;
      last.count += 1;
    } else kept.push({ start, end: start + length, first: seq, count: 1 });
    counts.fresh += 1;
  };

  await using held = holdsInOrder(blockedRows);
  let blocked = await held.next();
  const decideBesideBlocked = async (candidates: readonly Candidate[]): Promise<void> => {
    const [head] = candidates;
    for (; blocked !== undefined && head !== undefined && blocked.before <= head.seq; blocked = await held.next())
      if (blocked.accepted === undefined)
        crossChecks.holdBack(blocked.attempted, { source: sourceOf(compiled, blocked.input), line: blocked.line });
    decide(candidates);
    for (const row of justFound) invalid.add(row);
    justFound = [];
  };

  let together: Candidate[] = [];
  for await (const batch of readCandidates(directory)) {
    signal.throwIfAborted();
    for (const candidate of batch) {
      const [head] = together;
      if (head !== undefined && head.row !== candidate.row) {
        if (justFound.length > 0 || (blocked !== undefined && blocked.before <= head.seq))
          await decideBesideBlocked(together);
        else decide(together);
        together = [];
      }
      together.push(candidate);
    }
  }
  await decideBesideBlocked(together);
  if (mustRepeat) return undefined;
  const mends = new Map(
    [...compiled.mends]
      .filter(([row]) => !waitingMends.has(row) && !hasBit(found.bits, row))
      .map(([row, mend]) => [row, { ...mend, known: knownOfMends.get(row) ?? [] }]),
  );
  const { changed, ...rest } = counts;
  return { kept, ...rest, changed: { count: changed, shown }, byAction, kinds, heldFor: found.held.causes, mends };
}

/** Holds one after the other; they are few beside the candidates. */
function holdsInOrder(blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>) {
  const iterator =
    Symbol.asyncIterator in blockedRows ? blockedRows[Symbol.asyncIterator]() : blockedRows[Symbol.iterator]();
  return {
    async next(): Promise<BlockedRow | undefined> {
      const { done, value } = await iterator.next();
      return done ? undefined : value;
    },
    async [Symbol.asyncDispose]() {
      await iterator.return?.();
    },
  };
}

type Place = Pick<Problem, "source" | "line">;

/** Where a row stands in the JSON array it was read from, as a pointer; undefined for rows of other formats. */
function itemPointer(compiled: Compiled, input: number, row: number): string | undefined {
  if (compiled.inputs[input]?.format === "cells") return undefined;
  if (compiled.inputs[input]?.format !== "json") return "";
  const before = compiled.inputs.slice(0, input).reduce((sum, { rows }) => sum + rows, 0);
  return `/${row - before - 1}`;
}

/** A finding whose pointer leads from the top of the file; columns of a table have none. */
function placed<F extends Finding>(finding: F, inFile: string | undefined): F {
  if (finding.pointer === undefined) return finding;
  if (inFile !== undefined) return { ...finding, pointer: `${inFile}${finding.pointer}` };
  const { pointer: _, ...rest } = finding;
  return rest as F; // only an optional key less
}

/**
 * Whether just this deed was taken before, so that the bad row that it mends is done with. One of a history may also be another
 * deed that says the same (A, B, A), or much the same: then the bad row is told of again, rather than never.
 */
function isSurelyDone({ action, untimed, keyed }: Candidate, fate: Fate): boolean {
  const isOneOfMany = !keyed && actionSpec(action).identity === "history";
  return fate === "sent" ? !(isOneOfMany && untimed) : fate === "changed" && !isOneOfMany;
}

/** Whether promises were imported that may be those of this very action. */
function wasImported(comparedWith: Ledger, { keyed }: Candidate, action: Action): boolean {
  // They don't hold the key of a source either, so there is only what would name the deed without one.
  const text = importedIdentityText(action) ?? (keyed ? identityText(action) : undefined);
  return text !== undefined && acceptedDeeds(comparedWith, digestOf(text)).some(isUnknownContent);
}

const DEED_REPEATED = { rule: "deed-repeated", hint: "Take the row out if it says nothing new." } as const;

function importedHistory({ action }: Pick<Action, "action">): Finding {
  return {
    rule: "imported-history",
    message: `Before the ledger was lost, ${withArticle(action)} of this ${actionSpec(action).about} was accepted, and the imported promises don't say which one.`,
    hint: "If this is a new one, send its rows alone with --again; if not, take them out. Where an export brings them every night, let the others go with rules: {imported-history: warn}.",
  };
}

/** Whether it must not come before what stands before it in its history: with a key, a scan is told apart from all others. */
const isInOrder = ({ action, keyed }: Candidate): boolean =>
  actionSpec(action).identity === "history" && (!keyed || replaces(action));

const isError = ({ severity }: Problem): boolean => severity === "error";

function sourceOf(compiled: Compiled, input: number): string {
  return compiled.inputs[input]?.name ?? "?";
}

const hasBit = (bits: Uint8Array, at: number): boolean => (((bits[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;

function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
}
