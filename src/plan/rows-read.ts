/** What the rows of all inputs came to, and what is found of them once all were read. */

import type { ActionName } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import type { Finding, Severity, SourceLine } from "../actions/problem.ts";
import { NO_RUN } from "../actions/rejects-columns.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { InputFile } from "../read/input-file.ts";
import type { Problems, Where } from "./problems.ts";
import type { Store } from "./store.ts";
import type { Span } from "./verdicts.ts";

/** An input as it was read. */
export interface ReadInput {
  readonly name: string;
  readonly path: string;
  /** How its rows are written; `cells` for tables. */
  readonly format: "cells" | "ndjson" | "json";
  readonly compression: InputFile["compression"];
  readonly bytes: number;
  readonly sha256: string;
  readonly rows: number;
  readonly encoding: string;
  readonly delimiter: string | undefined;
  readonly headerLine: number | undefined;
  readonly header: readonly string[] | undefined;
  readonly readAs: string;
  readonly isSource: boolean;
}

/** What a finding is about: a row, and by which place it is put in order. */
export interface OfRow {
  readonly row: number;
  readonly place: number;
}

export class RowsRead {
  readonly inputs: ReadInput[] = [];
  read = 0;
  skipped = 0;
  invalid = 0;
  readonly skipReasons = new Map<string, number>();
  /** Rows that give their event and nothing else, by the reason for the latter. */
  readonly eventOnlyReasons = new Map<string, number>();
  readonly spans = new Map<ActionName, Span>();
  /** By which ids tickets are resold. */
  readonly resoldBy = new Set<string>();
  /** Some subject differs from its normal form. */
  hasOdd = false;
  /** Some rows are from rejects: these say where they were first read. */
  hasPositions = false;
  /** The runs that positions name. */
  readonly runs: RunNames;
  /** Rows behind the limit were left out. */
  isCut = false;
  /** What is said of a file as a whole is an error, or part of one can't be read as rows: no allowance helps. */
  isUnfit = false;
  readonly problems: Problems;
  readonly #store: Store;

  constructor(store: Store, problems: Problems, ledger: Pick<Ledger, "run"> | undefined) {
    this.#store = store;
    this.problems = problems;
    this.runs = new RunNames(ledger);
  }

  lineOf(row: number): SourceLine {
    const { source, line } = this.#whereIs({ row, place: 0 });
    return { source, line };
  }

  /** Whether the row is mapped by a source of the config. */
  isOfSource(row: number): boolean {
    const { input = 0 } = this.#store.get<{ input: number }>("SELECT input FROM row WHERE row = ?", row) ?? {};
    return this.inputs[input]?.isSource ?? false;
  }

  /** The data of an action. */
  dataOf(seq: number): Readonly<Record<string, unknown>> {
    const found = this.#store.get<{ json: string }>("SELECT json FROM body WHERE seq = ?", seq);
    return found === undefined ? {} : Object(parseJson(found.json)).data;
  }

  /** Reports what is found of a row, at most as grave as `gravest`; an error makes the row bad. @returns whether it is one. */
  add(of: OfRow, finding: Finding, gravest: "warn" | "error" = "error"): boolean {
    const configured = this.problems.severityOf(finding.rule);
    if (this.note(of, finding, configured === "error" ? gravest : configured) !== "error") return false;
    const reason = `${finding.rule}: ${finding.message}`;
    const sql = "UPDATE row SET state = 'invalid', reason = ? WHERE row = ? AND state IS NULL";
    if (this.#store.run(sql, reason, of.row) === 1) this.invalid += 1;
    return true;
  }

  /** Reports what is found of a row, and leaves the row as it is. */
  note(of: OfRow, finding: Finding, severity: Severity): Severity {
    return severity === "off" ? severity : this.problems.add(this.#whereIs(of), finding, severity);
  }

  #whereIs({ row, place }: OfRow): Where {
    type Found = { input: number; line: number; text: string };
    const sql = "SELECT input, line, text FROM row WHERE row = ?";
    const { input = 0, line = 0, text = "" } = this.#store.get<Found>(sql, row) ?? {};
    const before = this.inputs.slice(0, input).reduce((sum, { rows }) => sum + rows, 0);
    const { name = "", format = "cells" } = this.inputs[input] ?? {};
    return { source: name, line, text, item: pointerTo(format, row - 1 - before), place };
  }
}

/** JSON pointer to a row. @param index of the row in its file, from 0. */
export function pointerTo(format: ReadInput["format"], index: number): string | undefined {
  if (format === "cells") return undefined;
  return format === "json" ? `/${index}` : "";
}

/** The ids of runs by their numbers. Of one that this ledger does not know, the number is below zero. */
export class RunNames {
  readonly #ledger: Pick<Ledger, "run"> | undefined;
  readonly #ids = new Map<number, string>([[0, NO_RUN]]);
  readonly #numbers = new Map<string, number>([[NO_RUN, 0]]);

  constructor(ledger: Pick<Ledger, "run"> | undefined) {
    this.#ledger = ledger;
  }

  note(number: number, id: string): void {
    this.#ids.set(number, id);
    this.#numbers.set(id, number);
  }

  idOf(number: number): string {
    return this.#ids.get(number) ?? NO_RUN;
  }

  async numberOf(id: string): Promise<number> {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const number = (await this.#ledger?.run(id))?.number ?? -this.#ids.size;
    this.note(number, id);
    return number;
  }
}
