/** The rows of all inputs and their actions: put into the plan's file as they are read, then what else is found of them. */

import { type ActionName, actionSpec } from "../actions/actions.ts";
import { type Draft, itemOf } from "../actions/draft.ts";
import { type Identity, identityOf } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { baseOf, formOf, withoutNul } from "../actions/marks.ts";
import type { Problem, SourceLine } from "../actions/problem.ts";
import type { Corrected, Guard, Ledger, Position } from "../ledger/ledger.ts";
import type { Input } from "../read/input.ts";
import { NO_RUN } from "../read/rejects-columns.ts";
import type { Severity } from "../rules.ts";
import type { Made } from "./made.ts";
import type { Problems } from "./problems.ts";
import type { Store } from "./store.ts";

/** An input as it was read. */
export interface ReadInput extends Pick<Input, "encoding" | "delimiter" | "header"> {
  readonly name: string;
  /** How its rows are written; `cells` for tables. */
  readonly format: "cells" | "ndjson" | "json";
  readonly sha256: string;
  readonly rows: number;
  readonly readAs: string;
  /** By the actions of a source in the config. */
  readonly isSource: boolean;
  /** How its source makes its actions, and what the ledger knows of that. */
  readonly made: readonly Made[];
  /** Of the first input of a source. */
  readonly guards: readonly Guard[];
}

/** Where in the plan an action stands, and so what is found of its row. */
export interface Placed {
  /** The `seq` of the row's first action. */
  readonly row: number;
  readonly place: number;
}

/** A row that gives a line of the plan, or several. */
export interface KeptRow {
  readonly input: number;
  readonly line: number;
  readonly text: string;
  /** Where it was first read, of a row from rejects. */
  readonly position: Position | undefined;
  /** It was unclear when it was put into its rejects, and stands there as it was. */
  readonly isLeft: boolean;
  /** Of a bad row, or of the bad one that it corrects. */
  readonly digest: string | undefined;
}

interface Options {
  readonly problems: Problems;
  readonly ledger: Pick<Ledger, "run"> | undefined;
  /** Actions are sorted by time later. */
  readonly isByTime: boolean;
}

export class RowsRead {
  readonly inputs: ReadInput[] = [];
  read = 0;
  skipped = 0;
  invalid = 0;
  readonly skipReasons = new Map<string, number>();
  /** By which ids tickets are resold. */
  readonly resoldBy = new Set<string>();
  /** Some subject differs from its normal form. */
  hasOdd = false;
  /** Some rows are from rejects: these say where they were first read. */
  hasPositions = false;
  /** The ids of the runs that positions name, by number. Of one that this ledger does not know, the number is below zero. */
  readonly runs = new Map([[0, NO_RUN]]);
  /** Rows behind the limit were left out. */
  isCut = false;
  /** What is said of a file as a whole is an error, or part of one can't be read as rows: no allowance helps. */
  isUnfit = false;
  readonly problems: Problems;
  readonly #store: Store;
  readonly #ledger: Options["ledger"];
  readonly #isByTime: boolean;
  readonly #put: ReturnType<Store["prepare"]>;
  /** The last time that the input gave. */
  #clock = 0;
  #seq = 0;
  /** The `seq` of the row's first action. */
  #first = 0;

  constructor(store: Store, { problems, ledger, isByTime }: Options) {
    this.#store = store;
    this.problems = problems;
    this.#ledger = ledger;
    this.#isByTime = isByTime;
    this.#put = store.prepare(
      `INSERT INTO action (seq, place, row, input, line, text, clock, json, kind, subject,
        mark, content, time, event, owner, decimals, verdict, why, run, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  skip(reason: string): void {
    this.skipped += 1;
    this.skipReasons.set(reason, (this.skipReasons.get(reason) ?? 0) + 1);
  }

  /** @param event that the row names. */
  putRow(row: KeptRow, drafts: readonly Draft[], event: string | undefined): void {
    this.#begin(row);
    for (const draft of drafts) {
      const identity = identityOf(draft, event);
      const { subject } = identity;
      this.#insert(row, draft.action, identity, "new", row.isLeft ? "left" : null);
      if (draft.action === "resoldTicket") this.resoldBy.add(subject.charAt(0));
      const form = formOf(subject);
      if (form === subject) continue;
      this.hasOdd = true;
      this.#store.run("INSERT OR IGNORE INTO odd VALUES (?, ?, ?)", form, subject, this.#first);
    }
  }

  /** Of a bad row, what its corrected version was accepted as. */
  putCorrected(row: KeptRow, accepted: readonly Corrected[]): void {
    this.#begin(row, "corrected");
    for (const { kind, subject, mark } of accepted)
      this.#insert(row, kind, { subject, mark: baseOf(mark) }, "sent", "corrected");
  }

  /**
   * What a bad row would have given, as far as that can be read: others wait for it. Which action it is is not known, so it has
   * no mark. One that can't be read gives nothing but its place.
   *
   * @param reason why it is invalid, for its rejects.
   */
  putBad(row: KeptRow, attempted: readonly Draft[], reason: string): void {
    this.#begin(row, "invalid", reason);
    for (const draft of attempted) {
      const { eventId, ticketId, nftId, orderTime } = itemOf(draft).data;
      const time = Number.isSafeInteger(orderTime) ? Number(orderTime) : undefined;
      const isOfEvent = actionSpec(draft.action).about === "event";
      const event = isOfEvent || typeof eventId !== "string" ? undefined : withoutNul(eventId);
      for (const [letter, id] of isOfEvent ? [["e", eventId]] : [["t", ticketId] as const, ["n", nftId] as const]) {
        if (typeof id !== "string") continue;
        this.#insert(row, draft.action, { subject: withoutNul(`${letter}:${id}`), time, event }, "bad", null);
      }
    }
    if (this.#seq < this.#first) this.#insert(row, null, {}, "bad", null);
  }

  #begin({ digest }: KeptRow, state?: "corrected" | "invalid", reason?: string): void {
    this.#first = this.#seq + 1;
    if (state === undefined && digest === undefined) return;
    const sql = "INSERT INTO row (row, state, reason, digest) VALUES (?, ?, ?, ?)";
    this.#store.run(sql, this.#first, state ?? null, reason ?? null, digest ?? null);
  }

  #insert(row: KeptRow, kind: ActionName | null, of: Partial<Identity>, verdict: string, why: string | null): void {
    const { input, line, text, position } = row;
    const { json = null, subject = null, mark = null, content = null, time, event, owner, decimals } = of;
    this.#seq += 1;
    if (time !== undefined) this.#clock = time;
    const seq = this.#seq;
    // A row that can't be read has no time: sorted by that, it may have stood before all.
    const place = this.#isByTime && kind === null ? 0 : seq;
    const clock = this.#isByTime ? this.#clock : null;
    const rowText = seq === this.#first ? text : null;
    const said = [json, kind, subject, mark, content, time ?? null, event ?? null, owner ?? null, decimals ?? null];
    const firstRead = [position?.run ?? null, position?.seq ?? null];
    this.#put(seq, place, this.#first, input, line, rowText, clock, ...said, verdict, why, ...firstRead);
  }

  /** Of bad rows that are equal each has its number, so that a row more of the same content is another one. */
  numberedDigest(digest: string): string {
    if (digest.includes("#")) return digest;
    const sql = "INSERT INTO bad VALUES (?, 1) ON CONFLICT (digest) DO UPDATE SET times = times + 1 RETURNING times";
    const { times = 1 } = this.#store.get<{ times: number }>(sql, digest) ?? {};
    return times === 1 ? digest : `${digest}#${times}`;
  }

  /** Undefined of what gave no row. */
  sourceOf(readAs: string | undefined): ReadInput | undefined {
    return this.inputs.find((input) => input.readAs === readAs);
  }

  /** Of a run that a position names. */
  async numberOfRun(id: string): Promise<number> {
    this.hasPositions = true;
    for (const [number, known] of this.runs) if (known === id) return number;
    const number = (await this.#ledger?.run(id))?.number ?? -this.runs.size;
    this.runs.set(number, id);
    return number;
  }

  lineOf(row: number): SourceLine {
    const { input, line } = this.#found(row);
    return { source: this.inputs[input]?.name ?? "", line };
  }

  /** Whether the row is mapped by the actions of a source in the config. */
  isOfSource(row: number): boolean {
    return this.inputs[this.#found(row).input]?.isSource ?? false;
  }

  /** The data of an action. */
  dataOf(seq: number): Readonly<Record<string, unknown>> {
    const found = this.#store.get<{ json: string }>("SELECT json FROM action WHERE seq = ?", seq);
    return found === undefined ? {} : Object(parseJson(found.json)).data;
  }

  /** Reports what is found of a row; an error makes the row bad. @returns whether it is one. */
  add(of: Placed, problem: Problem): boolean {
    this.note(of, problem, this.problems.severityOf(problem.rule));
    return this.spoil(of, problem);
  }

  /** Makes a row bad, where the rule is an error, for what is reported once of many rows. @returns whether it is. */
  spoil(of: Placed, problem: Problem): boolean {
    if (this.problems.severityOf(problem.rule) !== "error") return false;
    const reason = `${problem.rule}: ${problem.message}`;
    const sql = `INSERT INTO row (row, state, reason) VALUES (?, 'invalid', ?) ON CONFLICT (row)
      DO UPDATE SET state = excluded.state, reason = excluded.reason WHERE state IS NULL`;
    if (this.#store.run(sql, of.row, reason) === 1) this.invalid += 1;
    return true;
  }

  /** Reports what is found of a row, and leaves the row as it is. */
  note({ row, place }: Placed, problem: Problem, severity: Severity): void {
    if (severity === "off") return;
    const { input, line, text } = this.#found(row);
    const { name = "", format = "cells" } = this.inputs[input] ?? {};
    const where = { source: name, line, text, item: pointerTo(format, line), place };
    this.problems.add(where, problem, severity);
  }

  #found(row: number): { readonly input: number; readonly line: number; readonly text: string } {
    const sql = "SELECT input, line, text FROM action WHERE seq = ?";
    return this.#store.get(sql, row) ?? { input: 0, line: 0, text: "" };
  }
}

/** JSON pointer to a row. @param line of an array, its index. */
export function pointerTo(format: ReadInput["format"], line: number): string | undefined {
  if (format === "cells") return undefined;
  return format === "json" ? `/${line}` : "";
}
