/** Verdicts and checks across actions, ticket by ticket: the plan's actions in the order of their subjects, beside what the ledger knows. */

import { hash } from "node:crypto";
import type { ActionName } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { formOf } from "../actions/marks.ts";
import type { Finding, Problem, Severity, SourceLine } from "../actions/problem.ts";
import type { KnownAction, Ledger } from "../ledger/ledger.ts";
import { Across, type Checked, nearAnother, placeText, unknownEvent } from "./across.ts";
import { Events } from "./events.ts";
import type { Problems } from "./problems.ts";
import type { RowsRead } from "./rows.ts";
import { lineIn, type Store } from "./store.ts";
import { holdForBad, type Item, type Judging, judge, THIS_RUN } from "./verdicts.ts";
import { acceptedData, findingOf, type Lookups } from "./words.ts";

type KnownSoFar = Pick<Ledger, "actionsOf" | "near" | "body">;

export interface JudgeOptions {
  readonly ledger: KnownSoFar | undefined;
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
  readonly report: (
    of: Pick<Item, "row" | "input">,
    finding: Finding,
    severity: Problem["severity"],
    place: number,
  ) => void;
}

const BY_SUBJECT = `SELECT seq, row, input, kind, subject, mark, content, time, event, owner, decimals, place, run, at, verdict,
  why FROM action ORDER BY subject, place`;
type Stored = readonly [
  ...[seq: number, row: number, input: number, kind: ActionName, subject: string, mark: string | null],
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

export async function judgeActions(store: Store, read: RowsRead, options: JudgeOptions): Promise<Judged> {
  const judged = new SubjectJudge(store, read, options);
  let group: Checked[] = [];
  let groups: Checked[][] = [];
  let count = 0;
  for (const batch of store.tuples<Stored>(BY_SUBJECT)) {
    for (const stored of batch) {
      const item = itemOf(stored);
      if (group.length > 0 && group[0]?.subject !== item.subject) {
        groups.push(group);
        group = [];
      }
      group.push(item);
    }
    if (groups.length >= SUBJECTS_AT_ONCE) {
      await judged.groups(groups);
      groups = [];
    }
    count += batch.length;
    options.onJudged(count);
    options.signal.throwIfAborted();
  }
  if (group.length > 0) groups.push(group);
  await judged.groups(groups);
  judged.end();
  return judged;
}

function itemOf(stored: Stored): Checked {
  const [seq, row, input, kind, subject, mark, content, time, event, owner, decimals, place, run, at, verdict, why] =
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

class SubjectJudge implements Judged {
  readonly recognised: readonly Recognised[];
  readonly events: Events;
  isAnyHeld = false;
  readonly #store: Store;
  readonly #read: RowsRead;
  readonly #options: JudgeOptions;
  readonly #across: Across;
  readonly #judging: Judging;
  readonly #update: ReturnType<Store["prepare"]>;
  /** Events come before tickets. */
  #isAnyEventMoved = false;
  readonly #lineOf: (row: number) => SourceLine;
  readonly #lookups: Lookups;
  /** Actions that were sent, to be written down together: most nights these are almost all. */
  readonly #sent: number[] = [];
  /** Of the present subject, by seq: what rejects say of an action that is not sent. */
  readonly #reasons = new Map<number, string>();
  /** Number of the first row of each input, from 0. */
  readonly #firstRows: readonly number[];

  constructor(store: Store, read: RowsRead, options: JudgeOptions) {
    this.#store = store;
    this.#read = read;
    this.#options = options;
    this.events = new Events(store);
    this.recognised = read.inputs.map(() => ({ rows: 0, recognised: 0 }));
    this.#judging = {
      spanOf: (kind) => read.spans.get(kind),
      shows: options.shows,
      mode: options.mode,
      isCut: read.isCut,
    };
    this.#update = store.prepare(JUDGED);
    let rows = 0;
    this.#firstRows = read.inputs.map((input) => {
      rows += input.rows;
      return rows - input.rows;
    });
    this.#lineOf = lineIn(store, read.inputs);
    this.#lookups = {
      lineOf: this.#lineOf,
      dataOf: (seq) => this.#dataOf(seq),
      accepted: acceptedData(options.ledger),
    };
    this.#across = new Across({
      ...options,
      events: this.events,
      isResend: options.mode !== "judge",
      resoldBy: read.resoldBy,
      lineOf: this.#lineOf,
      isOfSource: (input) => read.inputs[input]?.isSource ?? false,
      priceOf: (seq) => String(this.#dataOf(seq).price),
      report: (item, finding, severity) => this.#reportAcross(item, finding, severity),
    });
  }

  /** Judges some subjects, of which each is whole. */
  async groups(groups: readonly (readonly Checked[])[]): Promise<void> {
    const subjects = groups.map(([first]) => first?.subject ?? "");
    const known = await this.#known(subjects);
    await this.#learnEvents(groups, known);
    const near = await this.#near(subjects, known);
    for (const items of groups) {
      const { subject } = items[0] as Checked; // a group is never empty
      const ofSubject = known.get(subject) ?? [];
      judge(items, ofSubject, this.#judging);
      const other = ofSubject.length > 0 ? undefined : this.#nearOther(subject, near);
      if (other !== undefined) await this.#tellNear(items, other);
      if (subject.startsWith("e:")) {
        const event = this.events.of(subject.slice(2));
        this.#across.checkEvent(event, items, ofSubject);
        this.events.keep(event);
        this.#isAnyEventMoved ||= event.own.length > 0;
      } else this.#across.checkTicket(items, ofSubject);
      if (this.#isAnyEventMoved) this.#nameEvent(items, ofSubject);
      for (const item of items) if (TOLD.has(item.verdict)) await this.#tell(item);
      holdForBad(items);
      this.#write(items);
    }
    if (this.#sent.length >= SENT_AT_ONCE) this.#writeSent();
  }

  /** Beside its event's own actions a ticket keeps its place, though a scan of it names no event. */
  #nameEvent(items: readonly Checked[], known: readonly KnownAction[]): void {
    const id = known.find(({ event }) => event !== undefined)?.event;
    if (id === undefined || (this.events.find(id)?.own.length ?? 0) === 0) return;
    for (const { seq, event } of items)
      if (event === undefined) this.#store.run("UPDATE action SET event = ? WHERE seq = ?", id, seq);
  }

  #writeSent(): void {
    const sent = JSON.stringify(this.#sent.splice(0).sort((one, other) => one - other));
    // OR FAIL: else SQLite would copy each page first, to undo the statement.
    this.#store.run("UPDATE OR FAIL action SET verdict = 'sent' WHERE seq IN (SELECT value FROM json_each(?))", sent);
  }

  async #known(subjects: readonly string[]): Promise<ReadonlyMap<string, readonly KnownAction[]>> {
    if (this.#options.ledger === undefined || subjects.length === 0) return new Map();
    const known = await this.#options.ledger.actionsOf(subjects);
    for (const { position, runId } of known) this.#read.runs.note(position.run, runId);
    return Map.groupBy(known, ({ subject }) => subject);
  }

  /** Asks about the events that sales of these groups name, so that all is known when they are checked. */
  async #learnEvents(
    groups: readonly (readonly Checked[])[],
    known: ReadonlyMap<string, readonly KnownAction[]>,
  ): Promise<void> {
    const unknown = new Set<string>();
    const own = new Map<string, readonly KnownAction[]>();
    const note = (id: string | undefined): void => {
      if (id !== undefined && !unknown.has(id) && this.events.find(id) === undefined) unknown.add(id);
    };
    for (const items of groups) {
      const [{ subject } = { subject: "" }] = items;
      if (subject.startsWith("e:")) own.set(subject.slice(2), known.get(subject) ?? []);
      else for (const { event } of items) note(event);
      if (items.some(({ kind }) => kind === "resoldTicket"))
        for (const { event } of known.get(subject) ?? []) note(event);
    }
    for (const [id, ofEvent] of own) this.events.learn(id, ofEvent);
    for (const id of own.keys()) unknown.delete(id);
    const asked = [...unknown].map((id) => `e:${id}`).sort(byCodePoints);
    const ofEvents = await this.#known(asked);
    for (const subject of asked) this.events.learn(subject.slice(2), ofEvents.get(subject) ?? []);
  }

  /** Known subjects by normal form, of those that may be one of these, which are not known. */
  async #near(
    subjects: readonly string[],
    known: ReadonlyMap<string, readonly KnownAction[]>,
  ): Promise<ReadonlyMap<string, string>> {
    const near = new Map<string, string>();
    const { ledger, mode } = this.#options;
    if (ledger === undefined || mode !== "judge") return near;
    const forms = [...new Set(subjects.filter((subject) => !known.has(subject)).map(formOf))].sort(byCodePoints);
    if (forms.length === 0) return near;
    for (const { normal, subject } of await ledger.near(forms)) near.set(normal, subject);
    return near;
  }

  /** Another id that is written almost like this one: accepted, or in this input. */
  #nearOther(subject: string, near: ReadonlyMap<string, string>): Near | undefined {
    const { mode, severityOf } = this.#options;
    if (mode !== "judge" || (near.size === 0 && !this.#read.hasOdd) || severityOf("id-near-another") === "off") return;
    const form = formOf(subject);
    const accepted = near.get(form);
    if (accepted !== undefined && accepted !== subject) return { subject: accepted, row: undefined };
    if (!this.#read.hasOdd) return undefined;
    const sql = "SELECT subject, row FROM odd WHERE form = ? AND subject <> ? ORDER BY row LIMIT 1";
    return this.#store.get<Near>(sql, form, subject);
  }

  /** Told of whichever stands further down; of an accepted one, of the first that is new. */
  async #tellNear(items: readonly Checked[], { subject: other, row }: Near): Promise<void> {
    const item = items.find(({ verdict }) => verdict === "new");
    const severity = this.#options.severityOf("id-near-another");
    if (item === undefined || severity === "off") return;
    if (row !== undefined && row > item.row) {
      const { input = 0 } = this.#store.get<{ input: number }>("SELECT input FROM row WHERE row = ?", row) ?? {};
      const where = `stands at ${placeText(this.#lineOf(item.row))}`;
      this.#reportAcross({ row, input, place: row }, nearAnother(other, item.subject, where), severity);
      this.isAnyHeld = true;
      return;
    }
    const [known] = row === undefined ? ((await this.#known([other])).get(other) ?? []) : [];
    const state = known?.state === "pending" ? "is pending" : "was accepted";
    const where =
      row === undefined
        ? `${state}${known && ` in the run ${known.runId}`}`
        : `stands at ${placeText(this.#lineOf(row))}`;
    this.#reportAcross(item, nearAnother(item.subject, other, where), severity);
    if (severity === "error") item.verdict = "bad";
  }

  /** Tells what is found of one action; an error makes its row bad. */
  #reportAcross(item: Offender, finding: Finding, severity: Problem["severity"]): void {
    this.report(item, finding, severity, item.place);
    if (severity !== "error") return;
    const reason = `${finding.rule}: ${finding.message}`;
    const sql = "UPDATE row SET state = 'invalid', reason = ? WHERE row = ? AND state IS NULL";
    if (this.#store.run(sql, reason, item.row) === 1) this.#read.invalid += 1;
  }

  /** @param place by which problems that are found across rows are put in order. */
  report(
    { row, input }: Pick<Item, "row" | "input">,
    finding: Finding,
    severity: Problem["severity"],
    place: number,
  ): void {
    const { rule, ...rest } = finding;
    const { pointer, ...ofTable } = rest;
    const format = this.#read.inputs[input]?.format;
    const index = format === "json" ? `/${row - 1 - (this.#firstRows[input] ?? 0)}` : "";
    const found = pointer === undefined || format === "cells" ? ofTable : { ...rest, pointer: `${index}${pointer}` };
    const known = severity === "warn" && { mark: this.#markOf(row, rule) };
    this.#options.problems.add({ ...this.#lineOf(row), rule, severity, ...found, ...known }, place);
  }

  /** By it a warning about a row is known again in a later export. */
  #markOf(row: number, rule: string): string {
    const { text = "" } = this.#store.get<{ text: string }>("SELECT text FROM row WHERE row = ?", row) ?? {};
    return hash("sha256", `${rule} ${text}`).slice(0, 32);
  }

  #dataOf(seq: number): Readonly<Record<string, unknown>> {
    const found = this.#store.get<{ json: string }>("SELECT json FROM body WHERE seq = ?", seq);
    return found === undefined ? {} : Object(parseJson(found.json)).data;
  }

  /** Tells why one is not sent. Times that fall are an error of its row. */
  async #tell(item: Checked): Promise<void> {
    const finding = await findingOf(item, this.#lookups);
    if (finding === undefined) return;
    this.#reasons.set(item.seq, `${finding.rule}: ${finding.message}`);
    const severity = this.#options.severityOf(finding.rule);
    if (severity === "off") return;
    this.#reportAcross(item, finding, severity);
    if (severity === "error") item.verdict = "bad";
  }

  /** Writes down what differs from what was stored. */
  #write(items: readonly Checked[]): void {
    for (const item of items) {
      const { seq, verdict, isCorrected, isFromRejects, input, mark, heldBy } = item;
      const counted = isFromRejects ? undefined : this.recognised[input]; // rejects show nothing again
      if (counted !== undefined && verdict !== "bad") {
        counted.rows += 1;
        if (verdict === "sent" || verdict === "changed") counted.recognised += 1;
      }
      if (verdict === "bad" || verdict === "held") this.isAnyHeld = true;
      const isAsStored = mark?.includes("#") !== true && item.why === undefined;
      if (verdict === "new" ? isAsStored : isCorrected && verdict === "sent") continue;
      if (verdict === "sent" && item.why !== "copy") {
        this.#sent.push(seq);
        continue;
      }
      const { run, seq: at } = item.position;
      const reason = this.#reasons.get(seq) ?? null;
      const cause = heldBy === undefined ? null : String(heldBy);
      const isEarlier = run !== THIS_RUN;
      const position = isEarlier ? ([run, at] as const) : ([null, null] as const);
      this.#update.run(verdict, item.why ?? null, cause, reason, mark ?? null, ...position, seq);
    }
    this.#reasons.clear();
  }

  /** All was judged. One warning for each event that may have been registered elsewhere. */
  end(): void {
    this.#writeSent();
    if (this.#options.mode === "resend") this.#store.run(ASKED_ALONE);
    const severity = this.#options.severityOf("event-not-registered");
    if (severity === "off") return;
    for (const { id, told } of this.events.told()) {
      const found = this.#store.get<{ input: number }>("SELECT input FROM row WHERE row = ?", told.row);
      const finding = unknownEvent(id, this.#options.hasEnvironment);
      // Before what else is found of the action.
      this.report({ row: told.row, input: found?.input ?? 0 }, finding, "warn", told.place - 0.5);
    }
  }
}

type Offender = Pick<Checked, "row" | "input" | "place">;

interface Near {
  readonly subject: string;
  /** Where it stands in this input; undefined where it was accepted. */
  readonly row: number | undefined;
}

/** As SQLite and PostgreSQL order text. */
const byCodePoints = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
