/** Verdicts and checks across actions, ticket by ticket: the plan's actions in the order of their subjects, beside what the ledger knows. */

import type { ActionName } from "../actions/actions.ts";
import { formOf } from "../actions/marks.ts";
import type { Problem } from "../actions/problem.ts";
import type { KnownAction, Ledger } from "../ledger/ledger.ts";
import { placeText } from "../read/file-names.ts";
import { Across } from "./across.ts";
import { byCodePoints, Events } from "./events.ts";
import { type Recognised, showsAgain } from "./guard.ts";
import type { RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import { holdForBad, type Item, type Judging, judge, type Span, THIS_RUN } from "./verdicts.ts";
import { type Accepted, acceptedData, closedEvent, nearAnother, problemOf, unknownEvent } from "./words.ts";

export interface JudgeOptions {
  readonly ledger: Pick<Ledger, "actionsOf" | "near" | "body"> | undefined;
  readonly mode: Judging["mode"];
  /** Undefined where no environment is asked. */
  readonly environment: { readonly complete: boolean } | undefined;
  readonly onJudged: (actions: number) => void;
  readonly signal: AbortSignal;
}

/** Sorted whole: read one by one in the order of their subjects, each would be a page of its own. */
const BY_SUBJECT = `SELECT subject, seq, row, input, kind, mark, content, time, event, owner, decimals, place, run, at, verdict, why
  FROM action WHERE subject IS NOT NULL ORDER BY subject, place`;
type Stored = readonly [
  ...[subject: string, seq: number, row: number, input: number, kind: ActionName, mark: string | null],
  ...[content: string | null, time: number | null, event: string | null, owner: string | null],
  ...[decimals: number | null, place: number, run: number | null, at: number | null],
  ...[verdict: "new" | "bad" | "sent", why: string | null],
];

const JUDGED = "UPDATE action SET verdict = ?, why = ?, cause = ?, reason = ?, mark = ?, run = ?, at = ? WHERE seq = ?";

/** Of what the input says itself: of a bad row no content is known. */
const SPAN = "SELECT min(time) AS first, max(time) AS last FROM action WHERE kind = ? AND content IS NOT NULL";

/** Of a row of which something would be reported and not sent, a person who resends it means that, and not what else it gives. */
const ASKED_ALONE = `UPDATE action SET verdict = 'sent', why = NULL
  WHERE why = 'again' AND row IN (SELECT row FROM action WHERE why = 'asked')`;

const REPORTED: ReadonlySet<string> = new Set(["changed", "late", "unclear"]);

/** Subjects that are looked up at once. */
const SUBJECTS_AT_ONCE = 2000;
const SENT_AT_ONCE = 20_000;

const isOfEvent = (subject: string): boolean => subject.startsWith("e:");

/** Another id that is written almost like one of this input. */
interface Near {
  readonly subject: string;
  /** Where it stands in this input; undefined where it was accepted. */
  readonly row: number | undefined;
}

const ODD = "SELECT subject, row FROM odd WHERE form = ? AND subject <> ? ORDER BY row LIMIT 1";

type Group = readonly [Item, ...Item[]];

/** The actions of each subject together, of many subjects at a time: of events, then of tickets. */
function* bySubject(store: Store): Generator<readonly Group[]> {
  let groups: [Item, ...Item[]][] = [];
  let last: string | undefined;
  for (const batch of store.tuples<Stored>(BY_SUBJECT))
    for (const stored of batch) {
      const item = itemOf(stored);
      const { subject } = item;
      if (subject === last) {
        groups.at(-1)?.push(item);
        continue;
      }
      const isFirstTicket = last !== undefined && isOfEvent(last) && !isOfEvent(subject);
      if (groups.length >= SUBJECTS_AT_ONCE || isFirstTicket) {
        yield groups;
        groups = [];
      }
      groups.push([item]);
      last = subject;
    }
  if (groups.length > 0) yield groups;
}

function itemOf(stored: Stored): Item {
  const [subject, seq, row, input, kind, mark, content, time, event, owner, decimals, place, run, at, verdict, why] =
    stored;
  return {
    seq,
    row,
    input,
    place,
    kind,
    subject,
    mark: mark ?? undefined,
    content: content ?? "",
    time: time ?? undefined,
    event: event ?? undefined,
    owner: owner ?? undefined,
    decimals: decimals ?? undefined,
    verdict,
    isCorrected: why === "corrected",
    isFromRejects: run !== null,
    isLeft: why === "left",
    position: { run: run ?? THIS_RUN, seq: at ?? place },
    why: undefined,
    other: undefined,
    heldBy: undefined,
    reason: undefined,
  };
}

export class Judge {
  /** By what the rows of an input are read as. */
  readonly recognised = new Map<string, Recognised>();
  readonly #events: Events;
  /** Something is bad or held, so that what depends on it is to be found. */
  isAnyHeld = false;
  readonly #store: Store;
  readonly #read: RowsRead;
  readonly #options: JudgeOptions;
  readonly #across: Across;
  readonly #judging: Judging;
  readonly #accepted: Accepted;
  readonly #spans = new Map<ActionName, Span>();
  #count = 0;
  /** Actions that were sent, to be written down together: most nights these are almost all. */
  readonly #sent: number[] = [];

  constructor(store: Store, read: RowsRead, options: JudgeOptions) {
    const { ledger, mode, environment } = options;
    this.#store = store;
    this.#read = read;
    this.#options = options;
    this.#events = new Events(store);
    const spanOf = (kind: ActionName): Span | undefined => this.#spanOf(kind);
    const shows = (input: number): boolean => showsAgain(read.sourceOf(read.inputs[input]?.readAs)?.guards ?? []);
    this.#judging = { spanOf, shows, mode, isCut: read.isCut };
    this.#accepted = acceptedData(ledger);
    const complete = environment?.complete === true;
    this.#across = new Across({ read, events: this.#events, complete, isResend: mode !== "judge" });
  }

  #spanOf(kind: ActionName): Span | undefined {
    const span = this.#spans.get(kind) ?? this.#store.get<Span>(SPAN, kind);
    if (span !== undefined) this.#spans.set(kind, span);
    return span;
  }

  /** Judges all actions of the plan, subject by subject. */
  async judgeAll(): Promise<void> {
    for (const groups of bySubject(this.#store)) {
      await this.#judge(groups);
      this.#options.signal.throwIfAborted();
    }
    this.#writeSent();
    if (this.#options.mode === "resend") this.#store.run(ASKED_ALONE);
    this.#reportMissedEvents();
  }

  /** Judges some subjects, all of events, or all of tickets. */
  async #judge(groups: readonly Group[]): Promise<void> {
    const subjects = groups.map(([{ subject }]) => subject);
    const known = await this.#known(subjects);
    await this.#learnEvents(groups, known);
    const near = await this.#near(subjects.filter((subject) => !known.has(subject)));
    for (const items of groups) {
      const [{ subject }] = items;
      const ofSubject = known.get(subject) ?? [];
      const another = near.get(subject);
      judge(items, ofSubject, this.#judging);
      if (another !== undefined) this.#reportNear(items, another);
      if (isOfEvent(subject)) this.#across.checkEvent(this.#events.of(subject.slice(2)), items);
      else this.#across.checkTicket(items, ofSubject);
      if (this.#events.isAnyMoved) this.#nameEvent(items, ofSubject);
      for (const item of items) if (REPORTED.has(item.verdict)) await this.#reportVerdict(item);
      holdForBad(items); // once more: by now others may be bad
      for (const item of items) this.#write(item);
      this.#count += items.length;
    }
    if (this.#sent.length >= SENT_AT_ONCE) this.#writeSent();
    this.#options.onJudged(this.#count);
  }

  /** What the ledger knows, by subject. @param subjects in the order of code points. */
  async #known(subjects: readonly string[]): Promise<ReadonlyMap<string, readonly KnownAction[]>> {
    const known = subjects.length === 0 ? [] : ((await this.#options.ledger?.actionsOf(subjects)) ?? []);
    for (const { position, runId } of known) this.#read.runs.set(position.run, runId);
    return Map.groupBy(known, ({ subject }) => subject);
  }

  /** Asks about the events that tickets name, so that all is known when these are checked. */
  async #learnEvents(groups: readonly Group[], known: ReadonlyMap<string, readonly KnownAction[]>): Promise<void> {
    const named = new Set<string>();
    for (const group of groups)
      for (const { subject, kind, event } of group) {
        if (isOfEvent(subject)) this.#events.learn(subject.slice(2), known.get(subject) ?? []);
        else if (event !== undefined) named.add(event);
        if (kind === "resoldTicket") for (const one of known.get(subject) ?? []) named.add(one.event ?? "");
      }
    named.delete("");
    const unknown = [...named].filter((id) => this.#events.find(id) === undefined).map((id) => `e:${id}`);
    const events = await this.#known(unknown.sort(byCodePoints));
    for (const subject of unknown) this.#events.learn(subject.slice(2), events.get(subject) ?? []);
  }

  /** By subject: another id that is written almost like its own. @param subjects which the ledger does not know. */
  async #near(subjects: readonly string[]): Promise<ReadonlyMap<string, Near>> {
    const { mode, ledger } = this.#options;
    const { problems, hasOdd } = this.#read;
    const near = new Map<string, Near>();
    const isAsked = mode === "judge" && problems.severityOf("id-near-another") !== "off";
    if (!isAsked || subjects.length === 0 || (ledger === undefined && !hasOdd)) return near;
    const forms = [...new Set(subjects.map(formOf))].sort(byCodePoints);
    const accepted = new Map(((await ledger?.near(forms)) ?? []).map(({ normal, subject }) => [normal, subject]));
    for (const subject of accepted.size === 0 && !hasOdd ? [] : subjects) {
      const form = formOf(subject);
      const other = accepted.get(form);
      const isAccepted = other !== undefined && other !== subject;
      const found = isAccepted ? { subject: other, row: undefined } : this.#store.get<Near>(ODD, form, subject);
      if (found !== undefined) near.set(subject, found);
    }
    return near;
  }

  async #reportVerdict(item: Item): Promise<void> {
    const problem = await problemOf(item, this.#read, this.#accepted);
    item.reason = `${problem.rule}: ${problem.message}`;
    this.#report(item, problem);
  }

  #report(item: Item, problem: Problem): void {
    if (this.#read.add(item, problem)) item.verdict = "bad";
  }

  /** Beside its event's own actions a ticket keeps its place, though a scan of it names no event. */
  #nameEvent(items: Group, known: readonly KnownAction[]): void {
    const id = known.find(({ event }) => event !== undefined)?.event;
    if (id === undefined || this.#events.find(id)?.isMoved !== true) return;
    for (const { seq, event } of items)
      if (event === undefined) this.#store.run("UPDATE action SET event = ? WHERE seq = ?", id, seq);
  }

  /** Of whichever stands further down; of an accepted one, of the first that is new. */
  #reportNear(items: Group, { subject: other, row }: Near): void {
    const item = items.find(({ verdict }) => verdict === "new");
    if (item === undefined) return;
    const { subject } = item;
    const standsAt = (at: number): string => `stands at ${placeText(this.#read.lineOf(at))}`;
    if (row !== undefined && row > item.row) {
      this.#read.add({ row, place: row }, nearAnother(other, subject, standsAt(item.row)));
      this.isAnyHeld = true;
    } else this.#report(item, nearAnother(subject, other, row === undefined ? "is in the ledger" : standsAt(row)));
  }

  /** Writes down what differs from what was stored. */
  #write(item: Item): void {
    const { seq, verdict, why, mark, position } = item;
    if (!item.isFromRejects && verdict !== "bad") this.#recognise(item); // rejects show nothing again
    if (verdict === "bad" || verdict === "held") this.isAnyHeld = true;
    if (verdict === "new" && why === undefined && mark?.includes("#") !== true) return;
    if (verdict === "sent" && item.isCorrected) return;
    if (verdict === "sent" && why !== "copy") {
      this.#sent.push(seq);
      return;
    }
    const { heldBy, reason = null } = item;
    const cause = heldBy === undefined ? null : String(heldBy);
    const [run, at] = position.run === THIS_RUN ? [null, null] : [position.run, position.seq];
    const said = verdict === "bad" ? null : (why ?? null); // a copy that is bad waits for nothing
    this.#store.run(JUDGED, verdict, said, cause, reason, mark ?? null, run, at, seq);
  }

  #recognise({ input, verdict }: Item): void {
    const { readAs = "" } = this.#read.inputs[input] ?? {};
    const counts = this.recognised.get(readAs) ?? { rows: 0, recognised: 0 };
    this.recognised.set(readAs, counts);
    counts.rows += 1;
    if (verdict === "sent" || verdict === "changed") counts.recognised += 1;
  }

  #writeSent(): void {
    const sent = JSON.stringify(this.#sent.splice(0).sort((one, other) => one - other));
    // OR FAIL: else SQLite would copy each page first, to undo the statement.
    this.#store.run("UPDATE OR FAIL action SET verdict = 'sent' WHERE seq IN (SELECT value FROM json_each(?))", sent);
  }

  /** One problem for each event that is not registered, or may have been elsewhere. */
  #reportMissedEvents(): void {
    const { environment } = this.#options;
    const severity = this.#read.problems.severityOf("event-not-registered");
    for (const event of severity === "off" ? [] : this.#events.missed()) {
      const { row = 0, place = 0 } = event.missedAt ?? {};
      const isOfSource = this.#read.isOfSource(row);
      const of = { row, place: place - 0.5 }; // before what else is found of the action
      const isSure = environment?.complete === true || event.registered !== undefined;
      if (isSure) this.#read.note(of, closedEvent(event, isOfSource), severity);
      else this.#read.note(of, unknownEvent(event.id, environment !== undefined, isOfSource), "warn");
    }
  }
}
