/** One pass over all candidates, in order: what is sent, and which rows turn out to be invalid. */

import { type Action, actionSpec, withArticle } from "../../actions/actions.ts";
import { stringifyJson } from "../../actions/json.ts";
import type { Finding, Problem, Severity, SourceLine } from "../../actions/problem.ts";
import type { CrossActionChecks } from "../../checks/cross-action.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Pending } from "../../ledger/pending.ts";
import type { AskedAt } from "../../ledger/row-places.ts";
import { openActionText } from "../../mapping/open-actions.ts";
import type { InputFile } from "../../readers/input-file.ts";
import { actionOf, type BlockedRow, type Candidate } from "../candidates/candidates.ts";
import type { InvalidRowsTaker } from "../candidates/rows-not-sent.ts";
import { describeChange } from "../findings/changed-actions.ts";
import { reasonOf } from "../findings/findings-of-row.ts";
import { findingOf, heldBack, type KnownPlaces } from "../findings/findings-of-verdict.ts";
import { namingAction } from "../findings/name-action.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import { digestOfTold } from "../findings/told-warnings.ts";
import { hasHistory, historyOf } from "../identity/history-of-candidate.ts";
import { pendingAs } from "../identity/pending-deeds.ts";
import type { Verdicts } from "../identity/verdicts.ts";
import { Bits } from "./bits.ts";
import { type Fate, Fates, isSurelyDone, UNDECIDED } from "./fates.ts";
import { HeldHistories } from "./held-histories.ts";
import { causeOf, type HeldRows } from "./held-rows.ts";
import { type DecidedOf, type Passed, type Selection, SelectionTally } from "./selection.ts";

export interface PassOptions {
  readonly files: readonly Pick<InputFile, "isRejects">[];
  readonly compiled: DecidedOf;
  /** Takes the rows that are held back because of others. */
  readonly invalid: InvalidRowsTaker;
  /** What another run may still bring to the service. */
  readonly pending: Pending;
  /** What the sources of the config read rows as. */
  readonly sources: ReadonlySet<string>;
  readonly severityOf: (rule: string) => Severity;
  readonly signal: AbortSignal;
}

/** What is known before the pass. */
interface Known {
  /** Checks that know nothing of this input yet. */
  readonly crossChecks: CrossActionChecks;
  /** The ledger to compare with, if any. */
  readonly comparedWith: Ledger | undefined;
  readonly verdicts: Verdicts;
}

/** The rows that were found invalid, by now and by earlier passes. */
export interface FoundRows {
  readonly bits: Bits;
  /** What is to be said of them. */
  readonly problems: ProblemLog;
  readonly held: HeldRows;
}

/** Adjacent candidates of one row, and what becomes of them. */
interface RowFates {
  /** The first of them. */
  readonly head: Candidate;
  readonly at: SourceLine;
  readonly candidates: readonly Candidate[];
  readonly fates: readonly { readonly candidate: Candidate; readonly fate: Fate }[];
  /** Sent, unless the row is invalid. */
  readonly open: readonly Candidate[];
  readonly actions: readonly Action[];
  readonly undecided: readonly Candidate[];
}

/** Gives what is not sent and stands among the candidates, in order; undefined behind the last, or where more is still to come. */
type NextBlocked = () => Promise<BlockedRow | undefined>;

export class OnePass {
  readonly #options: PassOptions;
  readonly #known: Known;
  readonly #found: FoundRows;
  readonly #log: ProblemLog;
  readonly #crossChecks: CrossActionChecks;
  readonly #fates: Fates;
  readonly #heldHistories: HeldHistories;
  readonly #places: KnownPlaces;
  readonly #tally = new SelectionTally();
  readonly #nextBlocked: NextBlocked;
  #blocked: BlockedRow | undefined;
  /** Candidates of one row that stand together. */
  #together: Candidate[] = [];
  /** The rows of which an action was counted on. */
  readonly #countedOn = new Bits();
  /** Mended rows of which something waits. */
  readonly #waitingMends = new Set<number>();
  /** By mended row, what was accepted before and is of it. */
  readonly #knownOfMends = new Map<number, AskedAt[]>();
  #mustRepeat = false;

  /**
   * @param found takes rows that turn out to be invalid.
   * @param nextBlocked gives the actions of invalid rows one after the other, at their places among the candidates.
   */
  constructor(options: PassOptions, known: Known, found: FoundRows, log: ProblemLog, nextBlocked: NextBlocked) {
    const { compiled, sources } = options;
    const { verdicts, comparedWith, crossChecks } = known;
    this.#options = options;
    this.#known = known;
    this.#found = found;
    this.#log = log;
    this.#crossChecks = crossChecks;
    this.#nextBlocked = nextBlocked;
    this.#fates = new Fates(verdicts, comparedWith, options.pending);
    this.#heldHistories = new HeldHistories();
    this.#places = {
      comparedWith,
      placeOf: ({ input, line }) => ({ source: sourceOf(compiled, input), line }),
      isOfSource: (input) => sources.has(compiled.inputs[input]?.readAs ?? ""),
    };
  }

  /** Decides about the next candidates, but for those of the last row, which may have more of them. */
  async take(candidates: readonly Candidate[]): Promise<void> {
    this.#options.signal.throwIfAborted();
    this.#blocked ??= await this.#nextBlocked();
    for (const candidate of candidates) {
      const [head] = this.#together;
      if (head !== undefined && head.row !== candidate.row) await this.endRow();
      this.#together.push(candidate);
    }
  }

  /** Decides about the candidates of the last row, which has no more. */
  async endRow(): Promise<void> {
    const [head] = this.#together;
    for (; head !== undefined && this.#isBesideBlocked(head.seq); this.#blocked = await this.#nextBlocked()) {
      const blocked = this.#blocked;
      if (blocked !== undefined && blocked.accepted === undefined)
        this.#crossChecks.holdBack(blocked.attempted, this.#places.placeOf(blocked));
    }
    this.#decide(this.#together);
    this.#together = [];
  }

  #isBesideBlocked(seq: number): boolean {
    return this.#blocked !== undefined && this.#blocked.before <= seq;
  }

  /** Undefined when a row turned out to be invalid that had been counted on before. */
  get selection(): Passed | undefined {
    if (this.#mustRepeat) return undefined;
    return { ...this.#tally.selected, heldFor: this.#found.held.causes, mends: this.#mends() };
  }

  /** Decides about candidates of one row that stand together. */
  #decide(candidates: readonly Candidate[]): void {
    const row = this.#fatesOf(candidates);
    if (row === undefined) return;
    if (this.#found.bits.has(row.head.row)) {
      this.#holdBack(row, row.actions, row.at);
      return;
    }
    const problems = row.fates.flatMap(({ candidate, fate }) => this.#problemsOf(candidate, fate, row));
    this.#assume(row);
    problems.push(...this.#repeatsIn(row));
    const isSound = !problems.some(isError);
    if (isSound) this.#checkAcross(row, problems);
    for (const each of problems) this.#log.add(isError(each) ? each : this.#marked(each, candidates));
    const errors = problems.filter(isError);
    if (errors.length === 0) {
      this.#countedOn.set(row.head.row);
      for (const { candidate, fate } of row.fates) this.#count(candidate, fate, row.at);
      return;
    }
    this.#holdBack(row, isSound ? [] : row.actions, causeOf(errors) ?? row.at);
    this.#reject(row, errors);
    for (const each of problems) this.#found.problems.add(each);
  }

  #fatesOf(candidates: readonly Candidate[]): RowFates | undefined {
    const [head] = candidates;
    if (head === undefined) return undefined;
    const fates = candidates.map((candidate) => {
      const fate = this.#fates.of(candidate, candidates);
      // At once, since what depends on it may stand behind it in its own row; and in any case, since it is not sent now.
      if (fate === "waiting") this.#fates.wait(candidate);
      return { candidate, fate };
    });
    // Where the rule that holds it back is off, it is sent all the same.
    const open = fates.flatMap(({ candidate, fate }) => (fate === "new" || fate === "held" ? [candidate] : []));
    return {
      head,
      at: this.#places.placeOf(head),
      candidates,
      fates,
      open,
      actions: this.#actionsOf(open),
      undecided: fates.flatMap(({ candidate, fate }) => (UNDECIDED.has(fate) ? [candidate] : [])),
    };
  }

  #actionsOf(candidates: readonly Candidate[]): readonly Action[] {
    return candidates.map((candidate) => actionOf(candidate));
  }

  /** What is wrong with an action of a row, given the row itself and those before it. */
  #problemsOf(candidate: Candidate, fate: Fate, { at, open }: RowFates): readonly Problem[] {
    const findings: Finding[] = [];
    const rest = UNDECIDED.has(fate) ? open.map(({ action, nth }) => openActionText(action, nth)) : undefined;
    if (fate === "imported") findings.push(importedHistory(candidate));
    else {
      const detail = this.#known.verdicts.detailOf(candidate);
      const finding = detail === undefined ? undefined : findingOf(candidate, detail, this.#places);
      if (finding !== undefined) findings.push(finding);
    }
    const before = fate === "new" ? this.#heldHistories.before(candidate) : undefined;
    if (before !== undefined) findings.push(heldBack(before));
    return findings.flatMap((finding) => {
      const severity = this.#options.severityOf(finding.rule);
      return severity === "off" ? [] : [{ ...at, severity, ...this.#named(finding, candidate, rest) }];
    });
  }

  /** For what follows, what another run may still send counts as sent. */
  #assume({ fates, at }: RowFates): void {
    const assumed = fates.flatMap(({ candidate, fate }) =>
      fate === "pending" || fate === "waiting" ? [candidate] : [],
    );
    if (assumed.length > 0) this.#crossChecks.assume(this.#actionsOf(assumed), at);
  }

  #repeatsIn({ fates, at }: RowFates): readonly Problem[] {
    const severity = this.#options.severityOf(DEED_REPEATED.rule);
    if (severity === "off") return [];
    const { verdicts } = this.#known;
    return fates.flatMap(({ candidate, fate }) => {
      if (fate !== "sent" || verdicts.of(candidate) !== "repeated") return [];
      const detail = verdicts.detailOf(candidate);
      if (detail?.kind === "repeated" && detail.isExpected) return [];
      const { action } = candidate;
      const message = `${action} of the same ${actionSpec(action).about} occurs earlier in this input; it is sent once.`;
      return [{ ...at, severity, ...DEED_REPEATED, message }];
    });
  }

  #checkAcross({ head, open, actions, at }: RowFates, problems: Problem[]): void {
    const inFile = itemPointer(this.#options.compiled, head.input, head.row);
    for (const [index, findings] of this.#crossChecks.row(actions, at).entries())
      for (const each of findings) problems.push({ ...at, ...placed(this.#named(each, open[index] ?? head), inFile) });
  }

  #named<F extends Finding>(finding: F, candidate: Candidate, rest?: readonly string[]): F {
    const isOfSource = this.#places.isOfSource(candidate.input);
    const isOfRejects = this.#options.files[candidate.input]?.isRejects === true;
    return namingAction(finding, candidate, { isOfSource, isOfRejects, rest });
  }

  /** What follows an action of a row that is not sent waits for it. */
  #holdBack({ open, undecided }: RowFates, actions: readonly Action[], at: SourceLine): void {
    this.#crossChecks.holdBack([...actions, ...this.#actionsOf(undecided)], at);
    this.#heldHistories.hold([...open, ...undecided], at);
  }

  #reject({ head, at, candidates, fates }: RowFates, errors: readonly Problem[]): void {
    const { row, input, line, seq } = head;
    const cause = causeOf(errors);
    if (cause !== undefined) this.#found.held.note(at, cause);
    this.#options.invalid.add(cause !== undefined, () => {
      const open = fates.filter(({ fate }) => !NOT_OPEN.has(fate));
      // Named, so that --again, too, sends only what is meant.
      const isPart = open.length > 0 && open.length < fates.length;
      const ofHistories = candidates.filter(({ action }) => hasHistory(action));
      return {
        row,
        input,
        line,
        reason: reasonOf(errors, this.#options.severityOf),
        gives: (isPart ? open : fates).map(({ candidate: { action, nth } }) => openActionText(action, nth)),
        isPart,
        before: seq,
        histories: [...new Set(ofHistories.map((each) => historyOf(each).toString("hex")))],
      };
    });
    this.#find(row);
  }

  #find(row: number): void {
    this.#found.bits.set(row);
    if (this.#countedOn.has(row)) this.#mustRepeat = true;
  }

  /** Counts a candidate of a sound row. */
  #count(candidate: Candidate, fate: Fate, at: SourceLine): void {
    const { row } = candidate;
    const { verdicts, comparedWith } = this.#known;
    const detail = verdicts.detailOf(candidate);
    if (this.#options.compiled.mends.has(row)) {
      if (fate !== "new" && fate !== "held" && !isSurelyDone(candidate, fate)) this.#waitingMends.add(row);
      if (detail?.kind === "sent") this.#knownOfMends.set(row, [...(this.#knownOfMends.get(row) ?? []), detail.as]);
    }
    if (fate === "new" || fate === "held") {
      this.#fates.bring(candidate);
      this.#tally.keep(candidate.start, candidate.length, candidate.seq, candidate.action);
      return;
    }
    this.#tally.leave(candidate, fate, verdicts.of(candidate));
    if (fate === "pending" || fate === "waiting") this.#tally.name(fate, row, at);
    if (fate === "pending") this.#tally.hold(this.#holdersOf(candidate));
    if (fate === "changed" && detail?.kind === "changed" && comparedWith !== undefined)
      this.#tally.show(() => describeChange(comparedWith, detail.from, candidate, at.source));
  }

  /** The runs that may hold one that is pending; where nothing tells which, any of them. */
  #holdersOf(candidate: Candidate): Iterable<string> {
    const { pending } = this.#options;
    const deeds = pendingAs(pending, candidate, historyOf(candidate).toString("hex"));
    return deeds.length > 0 ? deeds.map(({ run }) => run) : pending.standings.keys();
  }

  #marked(problem: Problem, candidates: readonly Candidate[]): Problem {
    if (this.#log.capacity.keeps !== "all") return problem;
    // The whole actions: two scans of a ticket may differ only in their times.
    const actions = candidates.map(({ action, data }) => stringifyJson({ action, data }));
    return { ...problem, mark: digestOfTold(["actions", ...actions]) };
  }

  #mends(): Selection["mends"] {
    return new Map(
      [...this.#options.compiled.mends]
        .filter(([row]) => !this.#waitingMends.has(row) && !this.#found.bits.has(row))
        .map(([row, mend]) => [row, { ...mend, known: this.#knownOfMends.get(row) ?? [] }]),
    );
  }
}

/** JSON Pointer of a row in the array it was read from; undefined for rows of other formats. */
function itemPointer(compiled: DecidedOf, input: number, row: number): string | undefined {
  if (compiled.inputs[input]?.format === "cells") return undefined;
  if (compiled.inputs[input]?.format !== "json") return "";
  const before = compiled.inputs.slice(0, input).reduce((sum, { rows }) => sum + rows, 0);
  return `/${row - before - 1}`;
}

/** The finding with its pointer from the top of the file; columns of a table have none. */
function placed<F extends Finding>(finding: F, inFile: string | undefined): F {
  if (finding.pointer === undefined) return finding;
  if (inFile !== undefined) return { ...finding, pointer: `${inFile}${finding.pointer}` };
  const { pointer: _, ...rest } = finding;
  return rest as F; // only an optional key less
}

/** What was sent, may be sent by another run, or is told and left. */
const NOT_OPEN: ReadonlySet<Fate> = new Set(["sent", "changed", "pending", "late", "superseded"]);

const DEED_REPEATED = { rule: "deed-repeated", hint: "Remove the row if it says nothing new." } as const;

function importedHistory({ action }: Pick<Action, "action">): Finding {
  return {
    rule: "history-unclear",
    message: `Before the ledger was lost, ${withArticle(action)} of this ${actionSpec(action).about} was accepted, and the imported promises don't say which one.`,
    hint: "If this is a new one, send its rows alone with --again; if not, remove them. If an export brings them every night, let the others through with rules: {history-unclear: warn}.",
  };
}

const isError = ({ severity }: Problem): boolean => severity === "error";

function sourceOf(compiled: DecidedOf, input: number): string {
  return compiled.inputs[input]?.name ?? "?";
}
