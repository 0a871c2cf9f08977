/**
 * What counts as already sent, the whole of it: the reference by which the worlds judge, written from the design and from
 * nothing of the product. `judge` gives every row of one input its verdict; the ledger is all that it may look at.
 */

import type { ActionName } from "../../../src/actions/actions.ts";

/**
 * - `new`: it is sent.
 * - `known`: it was accepted.
 * - `changed`: that action was accepted with other content.
 * - `late`: something later of its kind was accepted.
 * - `unclear`: it may be an accepted one that is written otherwise; neither time nor key says.
 * - `held`: it waits for a bad row of its ticket or event.
 * - `bad`: the row is invalid.
 */
export type Verdict = "new" | "known" | "changed" | "late" | "unclear" | "held" | "bad";

/** They happen once to their ticket or event. */
const ONCE: ReadonlySet<ActionName> = new Set(["newEvent", "soldTicket", "checkedInTicket", "invalidatedTicket"]);
/** The last one decides how things stand; a scan undoes nothing. */
export const OVERWRITES: ReadonlySet<ActionName> = new Set([
  "updateEvent",
  "updateTicket",
  "resoldTicket",
  "claimedTicket",
]);

export interface Row {
  /** Of what happened at the source, for the judge of a world; no rule looks at it. */
  readonly id: number;
  readonly kind: ActionName;
  /** Ticket or event. */
  readonly subject: string;
  readonly content: string;
  /** Of a claim: who claims. */
  readonly recipient?: string | undefined;
  readonly time?: number | undefined;
  readonly key?: string | undefined;
  readonly isValid: boolean;
  /** Where it stood, of a row from a rejects file. */
  readonly position?: Position | undefined;
  /** Of the bad text, of a bad row and of its corrected version. */
  readonly digest?: string | undefined;
  /** It was unclear, and stands in its rejects as it was. */
  readonly isLeft?: boolean | undefined;
}

/** Place of a row among all runs; a later one is larger. */
type Position = number;
export const positionOf = (run: number, place: number): Position => run * 1_000_000 + place;

/** What tells two actions of one kind of one ticket or event apart; its first word says what sort of mark it is. */
type Mark = `${"once" | "key" | "time" | "to" | "content"} ${string}`;
const sortOf = (mark: Mark): string => mark.slice(0, mark.indexOf(" "));
/** Neither a time nor a key says whether it is another one. */
const comesBack = (mark: Mark): boolean => ["content", "to"].includes(sortOf(mark));

interface Action {
  readonly content: string;
  readonly position: Position;
  readonly time: number | undefined;
}

export interface Judged {
  readonly row: Row;
  /** None of a bad row. */
  readonly mark: Mark | undefined;
  verdict: Verdict;
  position: Position;
}

export class Ledger {
  /** Accepted actions by subject and kind, then by mark. */
  readonly #actions = new Map<string, Map<Mark, Action>>();
  /** Bad rows whose corrected version was accepted. */
  readonly #corrected = new Map<string, Mark>();
  /** Of the exports behind the first: whether each row that could be read was accepted before. */
  readonly #nights: (readonly boolean[])[] = [];
  #isFirst = true;
  run = 0;

  /** Whether exports usually show again what was accepted: more than hardly any of it. Of an unknown source it is assumed. */
  showsAgain(): boolean {
    const isRecognised = this.#nights.slice(-2).flat();
    return isRecognised.filter((is) => is).length >= isRecognised.length / 10;
  }

  noteExport(judged: readonly Judged[]): void {
    const read = judged.filter(({ verdict }) => verdict !== "bad");
    if (read.length === 0) return;
    if (!this.#isFirst) this.#nights.push(read.map(({ verdict }) => verdict === "known" || verdict === "changed"));
    this.#isFirst = false;
  }

  accepted(row: Row): ReadonlyMap<Mark, Action> {
    return this.#actions.get(groupOf(row)) ?? new Map();
  }

  correctedMark({ isValid, digest = "" }: Row): Mark | undefined {
    return isValid ? undefined : this.#corrected.get(digest);
  }

  accept(judged: Judged, position: Position): void {
    const { row, mark } = judged;
    if (mark === undefined) throw new Error(`row ${row.id} is bad`);
    const actions = this.#actions.get(groupOf(row)) ?? new Map<Mark, Action>();
    this.#actions.set(groupOf(row), actions);
    actions.set(mark, { content: row.content, position, time: row.time });
    this.correct(judged);
  }

  /** Also of a row that was accepted before it was corrected. */
  correct({ row, mark }: Judged): void {
    const { digest, isValid } = row;
    if (isValid && digest !== undefined && mark !== undefined && this.accepted(row).has(mark))
      this.#corrected.set(digest, mark);
  }
}

const groupOf = ({ subject, kind }: Row): string => `${kind} ${subject}`;

function markOf({ kind, content, recipient, time, key }: Row): Mark {
  if (ONCE.has(kind)) return "once ";
  if (key !== undefined) return `key ${key}`;
  if (time !== undefined) return `time ${time}`;
  if (kind === "claimedTicket") return `to ${recipient}`;
  return OVERWRITES.has(kind) ? `content ${content}` : "once ";
}

/** @param isShownAgain whether this input should show what was accepted; rejects hold only what is left. */
export function judge(rows: readonly Row[], ledger: Ledger, isShownAgain: boolean): readonly Judged[] {
  const judged = rows.map((row, place): Judged => {
    const corrected = ledger.correctedMark(row);
    return {
      row,
      mark: corrected ?? (row.isValid ? markOf(row) : undefined),
      verdict: corrected !== undefined ? "known" : row.isValid ? "new" : "bad",
      position: row.position ?? positionOf(ledger.run, place),
    };
  });
  const bad = new Set(judged.flatMap(({ row, verdict }) => (verdict === "bad" ? [row.subject] : [])));
  const spans = spansOf(rows);
  for (const group of Map.groupBy(judged, ({ row }) => groupOf(row)).values()) {
    const [{ row }] = group as [Judged]; // no group is empty
    const actions = ledger.accepted(row);
    findKnown(group, actions);
    if (isShownAgain && isOneMissing(group, actions, spans.get(row.kind)))
      doubtTimes(group, ({ mark }) => mark !== undefined && sortOf(mark) === "time");
    if (OVERWRITES.has(row.kind)) {
      doubtTimes(group, ({ row }, latest) => row.time !== undefined && row.time < latest);
      if (actions.size > 0) findLate(group, actions);
    }
    if (bad.has(row.subject)) for (const each of group) if (each.verdict === "new") each.verdict = "held";
  }
  return judged;
}

function findKnown(group: readonly Judged[], actions: ReadonlyMap<Mark, Action>): void {
  const here = new Map<Mark, Row>();
  for (const [at, each] of group.entries()) {
    const { row, mark } = each;
    if (!row.isValid || mark === undefined) continue;
    const [earlier, accepted] = [here.get(mark), actions.get(mark)];
    // Nobody has said anything of it since.
    if (row.isLeft === true && (accepted === undefined || accepted.position < each.position)) each.verdict = "unclear";
    else if (earlier !== undefined) {
      const cameBack = comesBack(mark) && group[at - 1]?.mark !== mark;
      each.verdict = !saysTheSame(earlier, row) ? "changed" : cameBack ? "unclear" : "known";
    } else if (accepted !== undefined) each.verdict = saysTheSame(accepted, row) ? "known" : "changed";
    // Accepted without its time, or without its key.
    else if ([...actions.keys()].some((other) => sortOf(other) !== sortOf(mark))) each.verdict = "unclear";
    if (earlier === undefined) here.set(mark, row);
  }
}

const saysTheSame = (one: Pick<Row, "content" | "time">, other: Pick<Row, "content" | "time">): boolean =>
  one.content === other.content && one.time === other.time;

type Span = readonly [from: number, to: number];

/** From the first to the last time of each kind. */
function spansOf(rows: readonly Row[]): ReadonlyMap<ActionName, Span> {
  const spans = new Map<ActionName, Span>();
  for (const { kind, time, isValid } of rows) {
    if (!isValid || time === undefined) continue;
    const [from, to] = spans.get(kind) ?? [time, time];
    spans.set(kind, [Math.min(from, time), Math.max(to, time)]);
  }
  return spans;
}

/** Whether an accepted action that this input should show is not there: its time may have been corrected. */
function isOneMissing(
  group: readonly Judged[],
  actions: ReadonlyMap<Mark, Action>,
  [from, to]: Span = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
): boolean {
  const here = new Set(group.map(({ mark }) => mark));
  return [...actions].some(([mark, { time }]) => time !== undefined && from <= time && time <= to && !here.has(mark));
}

/** New rows of doubtful times; `latest` is the largest time of the rows before. */
function doubtTimes(group: readonly Judged[], isDoubtful: (judged: Judged, latest: number) => boolean): void {
  let latest = Number.NEGATIVE_INFINITY;
  for (const each of group) {
    const { time, isValid } = each.row;
    if (!isValid || time === undefined) continue;
    if (each.verdict === "new" && isDoubtful(each, latest)) each.verdict = "unclear";
    latest = Math.max(latest, time);
  }
}

/** Among actions of which the last decides, nothing is sent behind a later one. */
function findLate(group: readonly Judged[], actions: ReadonlyMap<Mark, Action>): void {
  const [lastMark, { position: newest }] = [...actions].reduce((one, other) =>
    other[1].position > one[1].position ? other : one,
  );
  const lastTime = Math.max(...[...actions.values()].map(({ time }) => time ?? Number.NEGATIVE_INFINITY));
  const showsLast = group.some(({ mark }) => mark === lastMark);
  // The position of the latest accepted action that stands behind a row here.
  let behind: Position | undefined;
  for (const each of group.toReversed()) {
    const { row, mark, verdict } = each;
    const accepted = mark && actions.get(mark);
    if (accepted !== undefined) behind = Math.max(behind ?? accepted.position, accepted.position);
    // So a bad row knows in its rejects where it stood.
    else if (behind !== undefined) each.position = Math.min(each.position, behind);
    if (verdict === "bad" && !showsLast) behind = newest; // it may be that one
    if (verdict !== "new") continue;
    const isLate =
      row.time !== undefined && lastTime !== Number.NEGATIVE_INFINITY ? row.time < lastTime : each.position <= newest;
    if (isLate) each.verdict = "late";
  }
  const last = group.at(-1);
  if (last?.mark === undefined || showsLast || last.row.position !== undefined) return;
  if (comesBack(last.mark) && actions.has(last.mark)) last.verdict = "unclear";
}
