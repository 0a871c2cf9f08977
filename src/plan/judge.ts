/** Verdicts and checks across actions, ticket by ticket: the plan's actions in the order of their subjects, beside what the ledger knows. */

import type { ActionName } from "../actions/actions.ts";
import { formOf } from "../actions/marks.ts";
import { type Finding, placeText } from "../actions/problem.ts";
import type { KnownAction, Ledger } from "../ledger/ledger.ts";
import { Across, type Checked } from "./across.ts";
import { byCodePoints, Events, type Placed } from "./events.ts";
import type { RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import { holdForBad, type Judging, judge, THIS_RUN, type Verdict } from "./verdicts.ts";
import { type Accepted, acceptedData, closedEvent, findingOf, nearAnother, unknownEvent } from "./words.ts";

export interface JudgeOptions {
  readonly ledger: Pick<Ledger, "actionsOf" | "near" | "body"> | undefined;
  readonly mode: Judging["mode"];
  /** Whether the source of an input usually shows again what was accepted. */
  readonly shows: (input: number) => boolean;
  readonly complete: boolean;
  readonly hasEnvironment: boolean;
  readonly onJudged: (actions: number) => void;
  readonly signal: AbortSignal;
}

/** Actions that were judged, and those of which the ledger knew something. */
export interface Recognised {
  rows: number;
  recognised: number;
}

/** Sorted whole: read one by one in the order of their subjects, each would be a page of its own. */
const BY_SUBJECT = `SELECT subject, seq, row, input, kind, mark, content, time, event, owner, decimals, place, run, at, verdict, why
  FROM action ORDER BY subject, place`;
type Stored = readonly [
  ...[subject: string, seq: number, row: number, input: number, kind: ActionName, mark: string | null],
  ...[content: string | null, time: number | null, event: string | null, owner: string | null],
  ...[decimals: number | null, place: number, run: number | null, at: number | null],
  ...[verdict: "new" | "bad" | "sent", why: string | null],
];

const JUDGED = "UPDATE action SET verdict = ?, why = ?, cause = ?, reason = ?, mark = ?, run = ?, at = ? WHERE seq = ?";

/** Of a row of which something would be reported and not sent, a person who resends it means that, and not what else it gives. */
const ASKED_ALONE = `UPDATE action SET verdict = 'sent', why = NULL
  WHERE why = 'again' AND row IN (SELECT row FROM action WHERE why = 'asked')`;

const REPORTED: ReadonlySet<string> = new Set(["changed", "late", "unclear"]);

/** Subjects that are looked up at once. */
const SUBJECTS_AT_ONCE = 2000;
const SENT_AT_ONCE = 20_000;

const isOfEvent = (subject: string): boolean => subject.startsWith("e:");

export async function judgeActions(store: Store, read: RowsRead, options: JudgeOptions): Promise<Judge> {
  const judged = new Judge(store, read, options);
  let count = 0;
  for (const groups of bySubject(store)) {
    await judged.subjects(groups);
    for (const items of groups) count += items.length;
    options.onJudged(count);
    options.signal.throwIfAborted();
  }
  judged.end();
  return judged;
}

/** Another id that is written almost like one of this input. */
interface Near {
  readonly subject: string;
  /** Where it stands in this input; undefined where it was accepted. */
  readonly row: number | undefined;
}

const ODD = "SELECT subject, row FROM odd WHERE form = ? AND subject <> ? ORDER BY row LIMIT 1";

type Group = readonly [Checked, ...Checked[]];

/** The actions of each subject together, of many subjects at a time: of events, then of tickets. */
function* bySubject(store: Store): Generator<readonly Group[]> {
  let groups: [Checked, ...Checked[]][] = [];
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

function itemOf(stored: Stored): Checked {
  const [subject, seq, row, input, kind, mark, content, time, event, owner, decimals, place, run, at, verdict, why] =
    stored;
  return {
    seq,
    row,
    input,
    kind,
    subject,
    mark: mark ?? undefined,
    content: content ?? "",
    time: time ?? undefined,
    event: event ?? undefined,
    owner: owner ?? undefined,
    decimals: decimals ?? undefined,
    place,
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

class Judge {
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
  /** Events come before tickets. */
  #isAnyEventMoved = false;
  /** Actions that were sent, to be written down together: most nights these are almost all. */
  readonly #sent: number[] = [];

  constructor(store: Store, read: RowsRead, options: JudgeOptions) {
    const { ledger, mode, shows, complete } = options;
    this.#store = store;
    this.#read = read;
    this.#options = options;
    this.#events = new Events(store);
    this.#judging = { spanOf: (kind) => read.spans.get(kind), shows, mode, isCut: read.isCut };
    this.#accepted = acceptedData(ledger);
    this.#across = new Across({ read, events: this.#events, complete, isResend: mode !== "judge" });
  }

  /** Judges some subjects, all of events, or all of tickets. */
  async subjects(groups: readonly Group[]): Promise<void> {
    const subjects = groups.map(([{ subject }]) => subject);
    const known = await this.#known(subjects);
    await this.#learnEvents(groups, known);
    const near = await this.#near(subjects.filter((subject) => !known.has(subject)));
    for (const items of groups) {
      const [{ subject }] = items;
      const ofSubject = known.get(subject) ?? [];
      const another = near.get(subject);
      judge(items, ofSubject, this.#judging);
      if (another !== undefined) await this.#reportNear(items, another);
      this.#checkAcross(items, ofSubject);
      for (const item of items) if (REPORTED.has(item.verdict)) await this.#reportVerdict(item);
      holdForBad(items);
      for (const item of items) this.#write(item);
    }
    if (this.#sent.length >= SENT_AT_ONCE) this.#writeSent();
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

  #checkAcross(items: Group, known: readonly KnownAction[]): void {
    const [{ subject }] = items;
    if (isOfEvent(subject)) {
      const event = this.#events.of(subject.slice(2));
      this.#across.checkEvent(event, items, known);
      this.#events.keep(event);
      this.#isAnyEventMoved ||= event.isMoved;
    } else this.#across.checkTicket(items, known);
    if (this.#isAnyEventMoved) this.#nameEvent(items, known);
  }

  async #reportVerdict(item: Checked): Promise<void> {
    const finding = await findingOf(item, this.#read, this.#accepted);
    item.reason = `${finding.rule}: ${finding.message}`;
    this.#report(item, finding);
  }

  #report(item: Checked, finding: Finding): void {
    if (this.#read.add(item, finding)) item.verdict = "bad";
  }

  /** Beside its event's own actions a ticket keeps its place, though a scan of it names no event. */
  #nameEvent(items: Group, known: readonly KnownAction[]): void {
    const id = known.find(({ event }) => event !== undefined)?.event;
    if (id === undefined || this.#events.find(id)?.isMoved !== true) return;
    for (const { seq, event } of items)
      if (event === undefined) this.#store.run("UPDATE action SET event = ? WHERE seq = ?", id, seq);
  }

  /** Of whichever stands further down; of an accepted one, of the first that is new. */
  async #reportNear(items: Group, { subject: other, row }: Near): Promise<void> {
    const item = items.find(({ verdict }) => verdict === "new");
    if (item === undefined) return;
    const standsAt = (at: number): string => `stands at ${placeText(this.#read.lineOf(at))}`;
    if (row !== undefined && row > item.row) {
      this.#read.add({ row, place: row }, nearAnother(other, item.subject, standsAt(item.row)));
      this.isAnyHeld = true;
    } else {
      const where = row === undefined ? await this.#whereKnown(other) : standsAt(row);
      this.#report(item, nearAnother(item.subject, other, where));
    }
  }

  async #whereKnown(subject: string): Promise<string> {
    const [known] = (await this.#known([subject])).get(subject) ?? [];
    const state = known?.state === "pending" ? "is pending" : "was accepted";
    return `${state}${known === undefined ? "" : ` in the run ${known.runId}`}`;
  }

  /** Writes down what differs from what was stored. */
  #write(item: Checked): void {
    const { seq, verdict, isCorrected, isFromRejects, input, mark, heldBy, reason } = item;
    if (!isFromRejects && verdict !== "bad") this.#count(input, verdict); // rejects show nothing again
    if (verdict === "bad" || verdict === "held") this.isAnyHeld = true;
    const isAsStored = mark?.includes("#") !== true && item.why === undefined;
    if (verdict === "new" ? isAsStored : isCorrected && verdict === "sent") return;
    if (verdict === "sent" && item.why !== "copy") {
      this.#sent.push(seq);
      return;
    }
    const { run, seq: at } = item.position;
    const cause = heldBy === undefined ? null : String(heldBy);
    const position = run === THIS_RUN ? ([null, null] as const) : ([run, at] as const);
    const why = verdict === "bad" ? null : (item.why ?? null); // a copy that is bad waits for nothing
    this.#store.run(JUDGED, verdict, why, cause, reason ?? null, mark ?? null, ...position, seq);
  }

  #count(input: number, verdict: Verdict): void {
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

  /** All was judged. One problem for each event that is not registered, or may have been elsewhere. */
  end(): void {
    this.#writeSent();
    if (this.#options.mode === "resend") this.#store.run(ASKED_ALONE);
    const { hasEnvironment } = this.#options;
    const severity = this.#read.problems.severityOf("event-not-registered");
    for (const event of severity === "off" ? [] : this.#events.unknown()) {
      const { unknownAt, closedAt } = event;
      // Before what else is found of the action.
      const at = ({ row, place }: Placed): Placed => ({ row, place: place - 0.5 });
      if (unknownAt !== undefined) {
        const finding = unknownEvent(event.id, hasEnvironment, this.#read.isOfSource(unknownAt.row));
        this.#read.note(at(unknownAt), finding, "warn");
      }
      if (closedAt !== undefined)
        this.#read.note(at(closedAt), closedEvent(event, this.#read.isOfSource(closedAt.row)), severity);
    }
  }
}
