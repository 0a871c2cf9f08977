/** What is found beside a row by itself: told, and an error makes its row bad. */

import { hash } from "node:crypto";
import { parseJson } from "../actions/json.ts";
import type { Finding, Problem, SourceLine } from "../actions/problem.ts";
import type { Problems } from "./problems.ts";
import type { RowsRead } from "./rows-read.ts";
import { lineIn, type Store } from "./store.ts";

/** What a finding is about: a row, and by which place it is put in order. */
export interface Offender {
  readonly row: number;
  readonly input: number;
  readonly place: number;
}

export class Findings {
  readonly lineOf: (row: number) => SourceLine;
  readonly #store: Store;
  readonly #read: RowsRead;
  readonly #problems: Problems;
  /** Number of the first row of each input, from 0. */
  readonly #firstRows: readonly number[];

  constructor(store: Store, read: RowsRead, problems: Problems) {
    this.#store = store;
    this.#read = read;
    this.#problems = problems;
    this.lineOf = lineIn(store, read.inputs);
    let rows = 0;
    this.#firstRows = read.inputs.map((input) => {
      rows += input.rows;
      return rows - input.rows;
    });
  }

  /** Tells what is found of one action; an error makes its row bad. */
  add(of: Offender, finding: Finding, severity: Problem["severity"]): void {
    this.tell(of, finding, severity);
    if (severity !== "error") return;
    const reason = `${finding.rule}: ${finding.message}`;
    const sql = "UPDATE row SET state = 'invalid', reason = ? WHERE row = ? AND state IS NULL";
    if (this.#store.run(sql, reason, of.row) === 1) this.#read.invalid += 1;
  }

  tell({ row, input, place }: Offender, finding: Finding, severity: Problem["severity"]): void {
    const { rule, ...rest } = finding;
    const { pointer, ...ofTable } = rest;
    const format = this.#read.inputs[input]?.format;
    const index = format === "json" ? `/${row - 1 - (this.#firstRows[input] ?? 0)}` : "";
    const found = pointer === undefined || format === "cells" ? ofTable : { ...rest, pointer: `${index}${pointer}` };
    const known = severity === "warn" && { mark: this.#markOf(row, rule) };
    this.#problems.add({ ...this.lineOf(row), rule, severity, ...found, ...known }, place);
  }

  inputOf(row: number): number {
    return this.#store.get<{ input: number }>("SELECT input FROM row WHERE row = ?", row)?.input ?? 0;
  }

  /** The data of an action. */
  dataOf(seq: number): Readonly<Record<string, unknown>> {
    const found = this.#store.get<{ json: string }>("SELECT json FROM body WHERE seq = ?", seq);
    return found === undefined ? {} : Object(parseJson(found.json)).data;
  }

  /** By it a warning about a row is known again in a later export. */
  #markOf(row: number, rule: string): string {
    const { text = "" } = this.#store.get<{ text: string }>("SELECT text FROM row WHERE row = ?", row) ?? {};
    return hash("sha256", `${rule} ${text}`).slice(0, 32);
  }
}
