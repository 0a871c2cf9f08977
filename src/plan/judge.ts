/** Verdicts and checks across actions, ticket by ticket: the plan's actions in the order of their subjects, beside what the ledger knows. */

import type { ActionName } from "../actions/actions.ts";
import { placeText } from "../actions/place.ts";
import type { Finding, Severity } from "../actions/problem.ts";
import type { KnownAction, Ledger } from "../ledger/ledger.ts";
import { Across, type Checked, nearAnother, unknownEvent } from "./across.ts";
import type { Events } from "./events.ts";
import { Findings } from "./findings.ts";
import { type Known, LedgerLooks, type Near } from "./known.ts";
import type { Problems } from "./problems.ts";
import type { RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import { holdForBad, type Judging, judge, THIS_RUN } from "./verdicts.ts";
import { acceptedData, findingOf, type Lookups } from "./words.ts";

export interface JudgeOptions {
  readonly ledger: Pick<Ledger, "actionsOf" | "near" | "body"> | undefined;
  readonly mode: Judging["mode"];
  /** Whether the source of an input usually shows again what was accepted. */
  readonly shows: (input: number) => boolean;
  readonly complete: boolean;
  readonly hasEnvironment: boolean;
  readonly severityOf: (rule: string) => Severity;
  readonly problems: Problems;
  readonly onJudged: (actions: number) => void;
  readonly signal: AbortSignal;
}

/** By input: actions that were judged, and those of which the ledger knew something. */
export interface Recognised {
  rows: number;
  recognised: number;
}

export interface Judged {
  readonly recognised: readonly Recognised[];
  /** Something is bad or held, so that what depends on it is to be found. */
  readonly isAnyHeld: boolean;
  readonly events: Events;
  readonly findings: Findings;
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

/** Of a row of which something would be told and not sent, a person who resends it means that, and not what else it gives. */
const ASKED_ALONE = `UPDATE action SET verdict = 'sent', why = NULL
  WHERE why = 'again' AND row IN (SELECT row FROM action WHERE why = 'asked')`;

const TOLD: ReadonlySet<string> = new Set(["changed", "late", "unclear"]);

/** Subjects that are looked up at once. */
const SUBJECTS_AT_ONCE = 2000;
const SENT_AT_ONCE = 20_000;

const isOfEvent = (subject: string): boolean => subject.startsWith("e:");

export async function judgeActions(store: Store, read: RowsRead, options: JudgeOptions): Promise<Judged> {
  const judged = new Judge(store, read, options);
  const groups: Checked[][] = [];
  let count = 0;
  let last: string | undefined;
  for (const batch of store.tuples<Stored>(BY_SUBJECT)) {
    for (const stored of batch) {
      const item = itemOf(stored);
      const { subject } = item;
      if (subject === last) {
        groups.at(-1)?.push(item);
        continue;
      }
      // All of the events comes before the first ticket.
      const isFull =
        groups.length >= SUBJECTS_AT_ONCE || (last !== undefined && isOfEvent(last) !== isOfEvent(subject));
      if (isFull) await judged.subjects(groups.splice(0));
      groups.push([item]);
      last = subject;
    }
    count += batch.length;
    options.onJudged(count);
    options.signal.throwIfAborted();
  }
  await judged.subjects(groups);
  judged.end();
  return judged;
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
  };
}

class Judge implements Judged {
  readonly recognised: readonly Recognised[];
  readonly findings: Findings;
  isAnyHeld = false;
  readonly #store: Store;
  readonly #options: JudgeOptions;
  readonly #looks: LedgerLooks;
  readonly #across: Across;
  readonly #judging: Judging;
  readonly #lookups: Lookups;
  readonly #hasOdd: boolean;
  /** Events come before tickets. */
  #isAnyEventMoved = false;
  /** Actions that were sent, to be written down together: most nights these are almost all. */
  readonly #sent: number[] = [];

  constructor(store: Store, read: RowsRead, options: JudgeOptions) {
    const { ledger, mode, shows, problems } = options;
    this.#store = store;
    this.#options = options;
    this.#looks = new LedgerLooks(store, ledger, read.runs);
    this.recognised = read.inputs.map(() => ({ rows: 0, recognised: 0 }));
    this.#judging = { spanOf: (kind) => read.spans.get(kind), shows, mode, isCut: read.isCut };
    this.#hasOdd = read.hasOdd;
    this.findings = new Findings(store, read, problems);
    const { lineOf } = this.findings;
    this.#lookups = { lineOf, dataOf: (seq) => this.findings.dataOf(seq), accepted: acceptedData(ledger) };
    this.#across = new Across({
      ...options,
      events: this.events,
      isResend: mode !== "judge",
      resoldBy: read.resoldBy,
      lineOf,
      isOfSource: (input) => read.inputs[input]?.isSource ?? false,
      priceOf: (seq) => String(this.findings.dataOf(seq).price),
      report: (item, finding, severity) => this.findings.add(item, finding, severity),
    });
  }

  get events(): Events {
    return this.#looks.events;
  }

  /** Judges some subjects, of which each is whole: of events, or of tickets. */
  async subjects(groups: readonly (readonly Checked[])[]): Promise<void> {
    const subjects = groups.map(([first]) => first?.subject ?? "");
    const known = await this.#looks.of(subjects);
    await this.#learnEvents(groups, known);
    const near = await this.#near(subjects.filter((subject) => !known.has(subject)));
    for (const items of groups) {
      const { subject } = items[0] as Checked; // a group is never empty
      await this.#judge(subject, items, known.get(subject) ?? [], near.get(subject));
    }
    if (this.#sent.length >= SENT_AT_ONCE) this.#writeSent();
  }

  async #judge(
    subject: string,
    items: readonly Checked[],
    known: readonly KnownAction[],
    near: Near | undefined,
  ): Promise<void> {
    judge(items, known, this.#judging);
    if (near !== undefined) await this.#tellNear(items, near);
    if (isOfEvent(subject)) {
      const event = this.events.of(subject.slice(2));
      this.#across.checkEvent(event, items, known);
      this.events.keep(event);
      this.#isAnyEventMoved ||= event.own.length > 0;
    } else this.#across.checkTicket(items, known);
    if (this.#isAnyEventMoved) this.#nameEvent(items, known);
    const reasons = new Map<number, string>();
    for (const item of items) {
      const finding = TOLD.has(item.verdict) ? await findingOf(item, this.#lookups) : undefined;
      if (finding === undefined) continue;
      reasons.set(item.seq, `${finding.rule}: ${finding.message}`);
      this.#add(item, finding);
    }
    holdForBad(items);
    for (const item of items) this.#write(item, reasons.get(item.seq));
  }

  /** Tells of one; an error makes it bad. */
  #add(item: Checked, finding: Finding): void {
    const severity = this.#options.severityOf(finding.rule);
    if (severity === "off") return;
    this.findings.add(item, finding, severity);
    if (severity === "error") item.verdict = "bad";
  }

  /** Beside its event's own actions a ticket keeps its place, though a scan of it names no event. */
  #nameEvent(items: readonly Checked[], known: readonly KnownAction[]): void {
    const id = known.find(({ event }) => event !== undefined)?.event;
    if (id === undefined || (this.events.find(id)?.own.length ?? 0) === 0) return;
    for (const { seq, event } of items)
      if (event === undefined) this.#store.run("UPDATE action SET event = ? WHERE seq = ?", id, seq);
  }

  /** Asks about the events that tickets name, so that all is known when these are checked. */
  async #learnEvents(groups: readonly (readonly Checked[])[], known: Known): Promise<void> {
    const named = new Set<string>();
    for (const group of groups)
      for (const { subject, kind, event } of group) {
        if (isOfEvent(subject)) this.events.learn(subject.slice(2), known.get(subject) ?? []);
        else if (event !== undefined) named.add(event);
        if (kind === "resoldTicket") for (const one of known.get(subject) ?? []) named.add(one.event ?? "");
      }
    named.delete("");
    await this.#looks.learn(named);
  }

  /** By subject: another id that is written almost like its own, accepted or in this input. */
  async #near(subjects: readonly string[]): Promise<ReadonlyMap<string, Near>> {
    const near = new Map<string, Near>();
    const { mode, severityOf } = this.#options;
    if (mode !== "judge" || severityOf("id-near-another") === "off") return near;
    const accepted = await this.#looks.near(subjects);
    if (accepted.size === 0 && !this.#hasOdd) return near;
    for (const subject of subjects) {
      const found = this.#looks.nearTo(subject, accepted, this.#hasOdd);
      if (found !== undefined) near.set(subject, found);
    }
    return near;
  }

  /** Told of whichever stands further down; of an accepted one, of the first that is new. */
  async #tellNear(items: readonly Checked[], { subject: other, row }: Near): Promise<void> {
    const item = items.find(({ verdict }) => verdict === "new");
    if (item === undefined) return;
    const { lineOf } = this.findings;
    if (row !== undefined && row > item.row) {
      const severity = this.#options.severityOf("id-near-another");
      const where = `stands at ${placeText(lineOf(item.row))}`;
      const of = { row, input: this.findings.inputOf(row), place: row };
      if (severity !== "off") this.findings.add(of, nearAnother(other, item.subject, where), severity);
      this.isAnyHeld = true;
      return;
    }
    const where = row === undefined ? await this.#whereKnown(other) : `stands at ${placeText(lineOf(row))}`;
    this.#add(item, nearAnother(item.subject, other, where));
  }

  async #whereKnown(subject: string): Promise<string> {
    const [known] = (await this.#looks.of([subject])).get(subject) ?? [];
    const state = known?.state === "pending" ? "is pending" : "was accepted";
    return `${state}${known === undefined ? "" : ` in the run ${known.runId}`}`;
  }

  /** Writes down what differs from what was stored. @param reason what rejects say of one that is not sent. */
  #write(item: Checked, reason: string | undefined): void {
    const { seq, verdict, isCorrected, isFromRejects, input, mark, heldBy } = item;
    const counted = isFromRejects ? undefined : this.recognised[input]; // rejects show nothing again
    if (counted !== undefined && verdict !== "bad") {
      counted.rows += 1;
      if (verdict === "sent" || verdict === "changed") counted.recognised += 1;
    }
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

  #writeSent(): void {
    const sent = JSON.stringify(this.#sent.splice(0).sort((one, other) => one - other));
    // OR FAIL: else SQLite would copy each page first, to undo the statement.
    this.#store.run("UPDATE OR FAIL action SET verdict = 'sent' WHERE seq IN (SELECT value FROM json_each(?))", sent);
  }

  /** All was judged. One warning for each event that may have been registered elsewhere. */
  end(): void {
    this.#writeSent();
    if (this.#options.mode === "resend") this.#store.run(ASKED_ALONE);
    if (this.#options.severityOf("event-not-registered") === "off") return;
    for (const { id, told } of this.events.told()) {
      const finding = unknownEvent(id, this.#options.hasEnvironment);
      // Before what else is found of the action.
      const of = { row: told.row, input: this.findings.inputOf(told.row), place: told.place - 0.5 };
      this.findings.tell(of, finding, "warn");
    }
  }
}
