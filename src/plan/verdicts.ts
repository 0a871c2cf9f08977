/**
 * What counts as already sent (docs/guarantees.md). Judged ticket by ticket, each kind of action by itself, by nothing but what
 * the input says and what the ledger knows. Marks are made in actions/identity.ts. An action is new until one of these says
 * otherwise, in this order:
 *
 * 1. sent: its row is bad, and the corrected one was accepted (rows.ts);
 * 2. held: another run still sends the same action;
 * 3. sent, changed or unclear, by its mark (`judgeMarks`);
 * 4. unclear, by its time beside those of this input and of what is missing here (`judgeTimes`);
 * 5. late or unclear, where the last action of its kind decides and a later one was accepted (`judgeOrder`);
 * 6. with `--resend` or `--adopt`, all but held and bad ones are new again (`sendAnyway`);
 * 7. held: another run still sends something of its ticket, or a bad row may have given something of it (`holdForBad`).
 *
 * Then across.ts checks what is new of the ticket, and held.ts spreads what is held over rows, tickets and events.
 */

import type { ActionName } from "../actions/actions.ts";
import { baseOf, comesBack, kindOfMark, overwrites, resentMark, timesOf } from "../actions/marks.ts";
import type { KnownAction, Position } from "../ledger/ledger.ts";

export type Verdict = "new" | "sent" | "changed" | "late" | "unclear" | "held";

/**
 * Why an action is unclear: its content came back; its ticket's accepted ones have another kind of mark; one that this input
 * should show is missing; times fall within the input; it was unclear before, and nothing of its row was changed in the
 * rejects, or these name a run that the ledger does not know; `--limit` leaves out whether an accepted one stands behind it. Why
 * it is held: a bad row, or another run. One that is sent may be but a copy of another one of this input. With `--resend`, why it is
 * new: it was sent before (`again`), or would be reported and not sent (`asked`).
 */
type Why =
  | "came-back"
  | "other-mark"
  | "missing"
  | "times-fall"
  | "left"
  | "unknown-run"
  | "cut"
  | "bad"
  | "pending"
  | "copy"
  | "again"
  | "asked";

/** An action of the input while it is judged, in the order of the input. */
export interface Item {
  readonly seq: number;
  readonly row: number;
  readonly input: number;
  readonly place: number;
  readonly kind: ActionName;
  readonly subject: string;
  /** Undefined of a bad row. */
  mark: string | undefined;
  readonly content: string;
  readonly time: number | undefined;
  /** The event that it names itself, for a sale; else the one that its row names. */
  readonly event: string | undefined;
  readonly owner: string | undefined;
  /** Of its price, as they are written. */
  readonly decimals: number | undefined;
  /** `bad`: an invalid row would have given it. */
  verdict: Verdict | "bad";
  /** It was accepted in a corrected version of its row, which is bad. */
  readonly isCorrected: boolean;
  /** Its row comes from a rejects file. */
  readonly isFromRejects: boolean;
  /** There it was unclear, and stands as it was. */
  readonly isLeft: boolean;
  /** Where it was first read; of one that stands before an accepted one, no later than that. */
  position: Position;
  why: Why | undefined;
  /** What it is judged against: an accepted action, or another one of this input. */
  other: KnownAction | Item | undefined;
  /** What it is held for: a bad row, or an unfinished run. */
  heldBy: number | string | undefined;
  /** What rejects say of one that is not sent. */
  reason: string | undefined;
}

/** The first and the last time of one kind in the whole input. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

export interface Judging {
  readonly spanOf: (kind: ActionName) => Span | undefined;
  /** Whether the source of an input usually shows again what was accepted. */
  readonly shows: (input: number) => boolean;
  /** `--resend` sends what was sent before; `--adopt` takes over what is not known. */
  readonly mode: "judge" | "resend" | "adopt";
  /** `--limit` leaves rows out. */
  readonly isCut: boolean;
}

/** The position of what is read now: behind everything that was accepted. */
export const THIS_RUN = Number.MAX_SAFE_INTEGER;

const isBefore = (one: Position, other: Position): boolean =>
  one.run === other.run ? one.seq < other.seq : one.run < other.run;

/** Judges the actions of one ticket or event. `known`: all that the ledger has of it. */
export function judge(items: readonly Item[], known: readonly KnownAction[], judging: Judging): void {
  const pending = known.filter(({ state }) => state === "pending");
  const accepted = pending.length === 0 ? known : known.filter(({ state }) => state === "sent");
  // One that another run still sends is not sent by this one.
  for (const item of pending.length === 0 ? [] : items) {
    const same = pending.find(({ kind, mark }) => kind === item.kind && baseOf(mark) === item.mark);
    if (same !== undefined && !item.isCorrected) hold(item, "pending", same.runId);
  }
  const kinds = items.length === 1 ? [items] : Map.groupBy(items, ({ kind }) => kind).values();
  for (const ofKind of kinds) judgeKind(ofKind, accepted, judging);
  const [first] = pending;
  for (const item of items) if (first !== undefined && item.verdict === "new") hold(item, "pending", first.runId);
  holdForBad(items);
}

/**
 * What the action of a bad row was is not known, so all that is new of its ticket waits. Of one that is refused beside others that
 * is known, and only what comes behind it waits.
 */
export function holdForBad(items: readonly Item[]): void {
  let bad = items.find(({ verdict, mark }) => verdict === "bad" && mark === undefined);
  for (const item of items) {
    if (item.verdict === "bad") bad ??= item;
    else if (bad !== undefined && item.verdict === "new") hold(item, "bad", bad.row);
  }
}

/** Returns false: it is not let through. */
export function hold(item: Item, why: "bad" | "pending", heldBy: number | string): false {
  item.verdict = "held";
  item.why = why;
  item.heldBy = heldBy;
  return false;
}

/** What was accepted under a mark, however often it was resent: as it was said last. */
type Accepted = ReadonlyMap<string, KnownAction>;

function judgeKind(items: readonly Item[], ofSubject: readonly KnownAction[], judging: Judging): void {
  const { kind } = items[0] ?? {};
  if (kind === undefined) return;
  const known = ofSubject.filter((one) => one.kind === kind).sort(byPosition);
  const accepted: Accepted = new Map(known.map((one) => [baseOf(one.mark), one]));
  judgeMarks(items, accepted, againIn(known));
  judgeTimes(items, accepted, judging);
  const newest = known.at(-1);
  if (overwrites(kind) && newest !== undefined) judgeOrder(items, accepted, newest, judging.isCut);
  if (judging.mode !== "judge") sendAnyway(items, known, judging.mode);
}

const byPosition = ({ position: one }: KnownAction, { position: other }: KnownAction): number =>
  one.run - other.run || one.seq - other.seq;

/**
 * Whether what comes back was sent or adopted again: a person decided so. Asked of one mark after the other: each that was
 * accepted stands for one item, and those behind it for what comes behind that.
 *
 * @param known in the order in which they were read.
 */
function againIn(known: readonly KnownAction[]): (mark: string) => boolean {
  const accepted = known.some(({ mark }) => timesOf(mark) > 1) ? known : [];
  let from = 0;
  return (asked) => {
    const found = accepted.findIndex(({ mark }, at) => at >= from && baseOf(mark) === asked);
    if (found !== -1) from = found + 1;
    return found !== -1;
  };
}

/** Sent, changed, or unclear, by marks alone. */
function judgeMarks(items: readonly Item[], accepted: Accepted, isAgain: (mark: string) => boolean): void {
  /** The first item of each mark. */
  const here = new Map<string, Item>();
  for (const [at, item] of items.entries()) {
    const { mark } = item;
    if (mark === undefined || item.verdict !== "new") continue;
    const first = here.get(mark);
    const known = accepted.get(mark);
    const isRepeated = items[at - 1]?.mark === mark;
    const wasAccepted = !isRepeated && isAgain(mark);
    if (item.isLeft && (known === undefined || (comesBack(mark) && isBefore(known.position, item.position)))) {
      set(item, "unclear", "left", known);
    } else if (first !== undefined) {
      const cameBack = comesBack(mark) && !isRepeated && !wasAccepted;
      if (first.content !== item.content) set(item, "changed", undefined, first);
      else if (cameBack) set(item, "unclear", "came-back", first);
      else set(item, "sent", known === undefined ? "copy" : undefined, first);
    } else if (known !== undefined) set(item, known.content === item.content ? "sent" : "changed", undefined, known);
    else if (accepted.size > 0) {
      const otherwise = firstOf(accepted, (_, other) => kindOfMark(other) !== kindOfMark(mark));
      if (otherwise !== undefined) set(item, "unclear", "other-mark", otherwise);
    }
    if (first === undefined) here.set(mark, item);
  }
}

function set(item: Item, verdict: Verdict, why: Why | undefined, other: Item["other"]): void {
  item.verdict = verdict;
  item.why = why;
  item.other = other;
}

function firstOf(accepted: Accepted, isIt: (known: KnownAction, mark: string) => boolean): KnownAction | undefined {
  for (const [mark, known] of accepted) if (isIt(known, mark)) return known;
  return undefined;
}

/** A time was corrected, where an accepted one is missing that the input should show; and times that fall are a problem. */
function judgeTimes(items: readonly Item[], accepted: Accepted, { spanOf, shows }: Judging): void {
  let latest: Item | undefined;
  const isAsked = accepted.size > 0 && items.some((item) => item.verdict === "new" && isKnownByTime(item));
  const missing = isAsked ? missingOf(items, accepted, spanOf) : undefined;
  for (const item of items) {
    const { kind, time } = item;
    if (time === undefined || item.verdict === "bad" || item.isCorrected) continue;
    if (item.verdict === "new") {
      if (overwrites(kind) && time < (latest?.time ?? time)) set(item, "unclear", "times-fall", latest);
      else if (missing !== undefined && isKnownByTime(item) && shows(item.input))
        set(item, "unclear", "missing", missing);
    }
    if (time > (latest?.time ?? -1)) latest = item;
  }
}

/** A corrected time makes another action of it. Rejects hold what is left, and show nothing again. */
const isKnownByTime = ({ mark = "", time, isFromRejects }: Item): boolean =>
  time !== undefined && kindOfMark(mark) === "t" && !isFromRejects;

function missingOf(items: readonly Item[], accepted: Accepted, spanOf: Judging["spanOf"]): KnownAction | undefined {
  const span = items[0] && spanOf(items[0].kind);
  if (span === undefined) return undefined;
  const here = new Set(items.map(({ mark }) => mark));
  const isMissing = (known: KnownAction, mark: string): boolean => {
    const time = known.time === undefined ? -1 : Number(known.time);
    return time >= span.first && time <= span.last && !here.has(mark);
  };
  return firstOf(accepted, isMissing);
}

/** Among actions of which the last decides, nothing is sent behind a later one. */
function judgeOrder(items: readonly Item[], accepted: Accepted, newest: KnownAction, isCut: boolean): void {
  const last = baseOf(newest.mark);
  const timed = [...accepted.values()].filter(({ time }) => time !== undefined);
  const latest = timed.sort((one, other) => Number(one.time) - Number(other.time)).at(-1);
  const lastTime = latest === undefined ? undefined : Number(latest.time);
  const isLastHere = items.some(({ mark }) => mark === last);
  let behind: KnownAction | undefined;
  for (const item of items.toReversed()) {
    const known = item.mark === undefined ? undefined : accepted.get(item.mark);
    if (known !== undefined) {
      if (behind === undefined || isBefore(behind.position, known.position)) behind = known;
    } else if (behind !== undefined && isBefore(behind.position, item.position)) item.position = behind.position; // so a bad row's rejects know where it stood
    if (item.verdict === "bad" && !isLastHere) behind = newest; // it may be that one
    if (item.verdict !== "new") continue;
    if (item.time !== undefined && lastTime !== undefined) {
      if (item.time < lastTime) set(item, "late", undefined, latest);
    } else if (!isBefore(newest.position, item.position)) {
      if (item.position.run < 0) set(item, "unclear", "unknown-run", newest);
      else set(item, "late", undefined, newest);
    } else if (isCut && !isLastHere) set(item, "unclear", "cut", newest);
  }
  const end = items.at(-1);
  const known = end?.mark === undefined ? undefined : accepted.get(end.mark);
  if (end?.mark === undefined || known === undefined || !comesBack(end.mark)) return;
  // In an export that holds only what changed, it may say that the ticket is back to that.
  if (end.mark !== last && !end.isFromRejects && !isLastHere && end.verdict !== "held")
    set(end, "unclear", "came-back", newest);
}

/** A person says of all this that it is new, or that it is known. A mark that was used before gets the next number. */
function sendAnyway(items: readonly Item[], known: readonly KnownAction[], mode: "resend" | "adopt"): void {
  const times = new Map<string, number>();
  for (const { mark } of known) times.set(baseOf(mark), Math.max(times.get(baseOf(mark)) ?? 0, timesOf(mark)));
  const taken = new Set<string>();
  for (const item of items) {
    const { mark, verdict } = item;
    if (mark === undefined || item.isCorrected || verdict === "held" || verdict === "bad") continue;
    // Rejects hold what was left; a row that was sent since stays there, and is not sent once more with the next ones.
    const isDone = verdict === "sent" && (mode === "adopt" || item.isFromRejects || taken.has(mark));
    taken.add(mark);
    if (isDone) continue;
    const before = times.get(mark) ?? 0;
    const isSame = mode === "adopt" && verdict === "changed"; // what is known gets the content of now
    const now = isSame ? before : before + 1;
    times.set(mark, now);
    set(item, "new", undefined, undefined);
    if (mode === "resend" && verdict !== "new") item.why = verdict === "sent" ? "again" : "asked";
    item.mark = resentMark(mark, now);
  }
}
